"""`put`: files and folders into the project."""

from __future__ import annotations

import time
import unicodedata
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from acai_jupyter.client.uploads import LocalFile
from acai_jupyter.client.uploads import put as upload
from acai_jupyter.commands.results import Result
from acai_jupyter.commands.units import duration, size
from acai_jupyter.contract.errors import BadRequest, NotFound
from acai_jupyter.contract.specs import check_name, normal_path

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.uploads import UploadResult


def put(client: Client, arguments: Namespace) -> Result:
    """Upload; a folder's contents go under DEST."""
    began = time.monotonic()
    if arguments.file_set is not None:
        check_name(arguments.file_set)
    files = [file for source in arguments.sources for file in _files(Path(source), arguments.dest)]
    result = upload(client, files, file_set=arguments.file_set)
    return Result(_line(result, time.monotonic() - began), result, "upload")


def _files(source: Path, dest: str) -> Iterator[LocalFile]:
    base = normal_path("/" + dest.strip("/")) if dest.strip("/") else ""
    if not dest.startswith("/"):
        raise BadRequest(reason=f"DEST is a path in the project and starts with '/': /{dest}")
    if source.is_file():
        yield LocalFile(source, base + "/" + _nfc(source.name) if dest.endswith("/") or not base else base)
        return
    if not source.is_dir():
        raise NotFound(_missing(source))
    for path in sorted(source.rglob("*")):
        if path.is_file() and not path.is_symlink():
            yield LocalFile(path, normal_path(f"{base}/{_nfc(path.relative_to(source).as_posix())}"))


def _nfc(name: str) -> str:
    """The one normal form of a name; some file systems hand out another."""
    return unicodedata.normalize("NFC", name)


def _missing(source: Path) -> str:
    try:
        names = [path.name for path in source.parent.iterdir()]
    except OSError:
        names = []
    near = get_close_matches(source.name, names, n=1)
    shown = f"./{source}" if not source.is_absolute() else str(source)
    hint = f" Did you mean {shown.removesuffix(source.name)}{near[0]}?" if near else ""
    return f"No folder {shown}.{hint}"


def _line(result: UploadResult, seconds: float) -> str:
    total = result.new_files + result.unchanged_files
    if result.unchanged_files:
        first = f"{result.new_files:,} new, {result.unchanged_files:,} unchanged"
    else:
        first = f"{total:,} file{'s' if total != 1 else ''}, {size(result.size_bytes)}"
    return " · ".join(part for part in (first, duration(seconds), result.file_set) if part)
