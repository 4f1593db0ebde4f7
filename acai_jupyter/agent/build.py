"""Builds the agent: a zipapp of this package's files that need nothing but Python 3.8."""

from __future__ import annotations

import argparse
import io
import re
import zipfile
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
CARRIED = PACKAGE.parent / "server_ext" / "acai_server" / "agent.pyz"
MAIN = "import sys\n\nfrom acai_jupyter.agent.main import main\n\nsys.exit(main())\n"
INIT = '"""What the agent carries of acai_jupyter."""\n\n__version__ = "%s"\n'
EPOCH = (1980, 1, 1, 0, 0, 0)
_VERSION = re.compile(r'__version__ = "([^"]+)"')


def contents() -> bytes:
    """Return the agent's bytes: the same for the same sources."""
    shared = [PACKAGE / "in_job.py", PACKAGE / "contract" / "__init__.py", PACKAGE / "contract" / "loglines.py"]
    own = [path for folder in ("agent", "transfer") for path in (PACKAGE / folder).glob("*.py")]
    files = {"__main__.py": MAIN, "acai_jupyter/__init__.py": INIT % _version()}
    carried = [*own, *shared, PACKAGE / "trees.py"]
    files.update({path.relative_to(PACKAGE.parent).as_posix(): path.read_text() for path in carried})
    files.update({"stand_in/" + path.relative_to(PACKAGE.parent).as_posix(): path.read_text() for path in shared})
    files["stand_in/acai_jupyter/__init__.py"] = files.pop("acai_jupyter/agent/stand_in.py")
    del files["acai_jupyter/agent/build.py"]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:  # not compressed: it is small, and starts faster
        for name in sorted(files):
            archive.writestr(zipfile.ZipInfo(name, EPOCH), files[name])
    return out.getvalue()


def build(target: Path) -> None:
    """Write the agent where the server carries it."""
    target.write_bytes(contents())


def _version() -> str:
    path = PACKAGE / "_version.py"
    found = _VERSION.search(path.read_text()) if path.exists() else None
    return found[1] if found else "unknown"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", nargs="?", type=Path, default=CARRIED, help="where to write it: %(default)s")
    build(parser.parse_args().target)
