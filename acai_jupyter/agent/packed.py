"""An environment that came as an archive of its packages: it becomes one of the Python that is here."""

import os
import sys
import tarfile
from typing import IO, Any, Dict

from acai_jupyter.agent.environments import BuildFailed

_SCRIPTS = "bin/"
_LONGEST = 1024 * 1024


def unpacked(archive: str, folder: str, lock: Dict[str, Any]) -> str:
    """Return the folder of the environment; the archive goes."""
    wanted, here = lock["python"].split(".")[:2], [str(number) for number in sys.version_info[:2]]
    if wanted != here:
        raise BuildFailed(
            "it is for Python %s, and the image has Python %s: name another --image, or submit from that Python"
            % (".".join(wanted), ".".join(here))
        )
    path = os.path.join(folder, "environment")
    python = os.path.realpath(sys.executable)
    packages = os.path.join(path, "lib", "python%s" % ".".join(here), "site-packages")
    for made in (packages, os.path.join(path, "bin")):
        os.makedirs(made)
    for name in ("python", "python3", "python%s" % ".".join(here)):
        os.symlink(python, os.path.join(path, "bin", name))
    with open(os.path.join(path, "pyvenv.cfg"), "w", encoding="utf-8") as file:
        file.write("home = %s\nversion = %d.%d.%d\n" % (os.path.dirname(python), *sys.version_info[:3]))
    try:
        with tarfile.open(archive, "r:gz") as tar:
            for member in tar:
                _place(tar, member, path, packages)
    except tarfile.TarError as error:
        raise BuildFailed("its archive cannot be read: %s" % error) from error
    os.remove(archive)
    return path


def _place(tar: tarfile.TarFile, member: tarfile.TarInfo, path: str, packages: str) -> None:
    """Write a file of the archive where it belongs; what would be outside is refused."""
    parts = member.name.split("/")
    source = tar.extractfile(member)
    if source is None or ".." in parts or "" in parts:
        raise BuildFailed("its archive has %r in it" % member.name)
    is_script = member.name.startswith(_SCRIPTS)
    target = os.path.join(path if is_script else packages, *parts)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "wb") as file:
        if is_script and member.size < _LONGEST:
            file.write(_own(source, os.path.join(path, "bin", "python")))
        else:
            while True:
                piece = source.read(_LONGEST)
                if not piece:
                    break
                file.write(piece)
    os.chmod(target, member.mode & 0o755)


def _own(source: IO[bytes], python: str) -> bytes:
    """Return a script that is run by the environment's Python, not by that of where it was packed."""
    first, end, rest = source.read().partition(b"\n")
    if not first.startswith(b"#!") or b"python" not in first:
        return first + end + rest
    return b"#!" + python.encode() + end + rest
