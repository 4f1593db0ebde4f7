"""Builds the agent: a zipapp of this package's files that need nothing but Python 3.8."""

import io
import zipfile
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
MAIN = "import sys\n\nfrom acai_jupyter.agent.main import main\n\nsys.exit(main())\n"
STAND_IN = '''"""The small acai_jupyter of environments that lack the real one."""

from acai_jupyter.in_job import parameters, tag

__all__ = ["parameters", "tag"]
'''
EPOCH = (1980, 1, 1, 0, 0, 0)


def contents() -> bytes:
    """Return the agent's bytes: the same for the same sources."""
    files = {"__main__.py": MAIN, "acai_jupyter/__init__.py": STAND_IN}
    carried = [*(PACKAGE / "agent").glob("*.py"), *(PACKAGE / "transfer").glob("*.py"), PACKAGE / "in_job.py"]
    carried += [PACKAGE / "contract" / "__init__.py", PACKAGE / "contract" / "loglines.py"]
    for path in carried:
        files[path.relative_to(PACKAGE.parent).as_posix()] = path.read_text()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            archive.writestr(zipfile.ZipInfo(name, EPOCH), files[name], zipfile.ZIP_DEFLATED)
    return out.getvalue()


def build(target: Path) -> None:
    """Write the agent where the server carries it."""
    target.write_bytes(contents())
