"""The services of ACAI, hosted inside a Jupyter server."""

from __future__ import annotations

from acai_jupyter._version import __version__

__all__ = ["__version__"]


def _jupyter_server_extension_points() -> list[dict[str, object]]:
    from acai_server.app import AcaiApp

    return [{"module": "acai_server.app", "app": AcaiApp}]
