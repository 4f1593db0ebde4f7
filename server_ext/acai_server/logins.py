"""The tokens that `acai login` has kept for a server: somebody who is in several projects there has one for each."""

from __future__ import annotations

import json
import os
from typing import Any

from acai_jupyter.contract.addresses import is_same_server
from acai_server.settings import user_config


def kept(url: str) -> dict[str, str]:
    """Return them by project. As for kernels, none counts beside a token in the environment."""
    if os.environ.get("ACAI_TOKEN"):
        return {}
    return {one["project"]: one["token"] for one in _all() if is_same_server(one["url"], url)}


def _all() -> list[dict[str, Any]]:
    try:
        found = json.loads(user_config().with_name("logins.json").read_text())
    except (OSError, ValueError):
        return []
    return [one for one in found if _is_login(one)] if isinstance(found, list) else []


def _is_login(one: object) -> bool:
    return isinstance(one, dict) and all(isinstance(one.get(name), str) for name in ("url", "project", "token"))
