"""Small wheels, so that environments can be built without a network. Runs on Python 3.8."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_METADATA = "Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
_WHEEL = "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def wheel(folder: Path, name: str, version: str, text: str, *requires: str) -> Path:
    """Write a wheel with one module."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-{version}-py3-none-any.whl"
    about = f"{name}-{version}.dist-info"
    needs = "".join(f"Requires-Dist: {one}\n" for one in requires)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{name}.py", text)
        archive.writestr(f"{about}/METADATA", _METADATA.format(name=name, version=version) + needs)
        archive.writestr(f"{about}/WHEEL", _WHEEL)
        archive.writestr(f"{about}/RECORD", "")
    return path


def requirements(folder: Path, *names: str) -> str:
    """Return what names packages of a folder, and looks nowhere else."""
    return "\n".join(["--no-index", f"--find-links {folder}", *names, ""])
