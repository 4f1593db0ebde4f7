"""The peers, in an environment of their own, installed by name at the first benchmark that needs them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PEERS = ("jupyterlab>=4.6,<5", "jupyter-scheduler>=2.9", "mlflow>=3", "metaflow>=2.15")
FOLDER = Path(__file__).parents[1] / ".venv-peers"


def environment() -> Path:
    """Return the folder of the peers' environment, made at the first call."""
    done = FOLDER / ".done"
    if not done.exists():
        uv = str(Path(sys.executable).parent / "uv")
        subprocess.run([uv, "venv", "--quiet", "--allow-existing", "--python", sys.executable, str(FOLDER)], check=True)
        subprocess.run(
            [uv, "pip", "install", "--quiet", "--python", str(FOLDER / "bin" / "python"), *PEERS], check=True
        )
        done.touch()
    return FOLDER
