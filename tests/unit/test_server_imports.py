"""What a server loads when it starts: libraries that only some requests need wait for them."""

from __future__ import annotations

import subprocess
import sys

HEAVY = {
    "alembic",
    "boto3",
    "kubernetes",
    "networkx",
    "numpy",
    "pandas",
    "pyarrow",
    "scipy",
    "sqlalchemy",
    "statsmodels",
}
PROGRAM = """
import sys
import acai_server.api.routes, acai_server.app
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""


def test_a_server_starts_without_the_heavy_libraries() -> None:
    ran = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    loaded = set(ran.stdout.split())
    assert "acai_server" in loaded
    assert not HEAVY & loaded
