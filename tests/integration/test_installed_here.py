"""What Jupyter itself says of this environment's extensions."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

from tests.integration.places import BIN

if TYPE_CHECKING:
    from tests.integration.places import Place


def listed(place: Place, *words: str) -> str:
    done = subprocess.run(
        [str(BIN / "jupyter"), *words], env=place.environment, capture_output=True, text=True, check=True
    )
    return re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr)


def test_the_server_extension_is_enabled_and_ok(place: Place) -> None:
    found = listed(place, "server", "extension", "list")
    assert re.search(r"acai_server enabled", found)
    assert re.search(r"acai_server \S+ OK", found)


def test_the_lab_extension_is_enabled_and_ok(place: Place) -> None:
    assert re.search(r"acai-jupyter v\S+ enabled OK", listed(place, "labextension", "list"))
