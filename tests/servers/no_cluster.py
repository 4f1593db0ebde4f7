"""A cluster that is away: it takes the jobs of many users, and starts none of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def no_cluster(folder: Path) -> dict[str, str]:
    """Return the settings of a server whose cluster does not answer."""
    nowhere = {
        "clusters": [{"name": "none", "cluster": {"server": "https://127.0.0.1:9"}}],
        "contexts": [{"name": "none", "context": {"cluster": "none", "user": "none"}}],
        "users": [{"name": "none", "user": {"token": "none"}}],
        "current-context": "none",
    }
    path = folder / "kubeconfig"
    path.write_text(json.dumps(nowhere))
    return {
        "ACAI_RUNNER": "kubernetes",
        "ACAI_KUBECONFIG": str(path),
        "ACAI_KUBERNETES_IMAGE": "none",
        "ACAI_ENDPOINT_URL_FOR_JOBS": "http://s3.example.org",
    }
