"""Builds the agent into the server package: a zipapp of plain Python, made anew with every build of the package."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class AgentBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Hatch calls `initialize` before it collects files."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write `agent.pyz`."""
        del version, build_data
        build = runpy.run_path(str(Path(self.root) / "acai_jupyter" / "agent" / "build.py"))
        build["build"](Path(self.root) / "server_ext" / "acai_server" / "agent.pyz")
