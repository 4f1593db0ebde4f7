"""A real JupyterHub, where one is installed: `TEST_JUPYTERHUB` names its program. It is too heavy to be a dependency.

The hub starts no servers here, so its proxy is one that routes nothing.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import urllib3

from tests.servers.process import ServerMissing, free_ports, running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OPERATOR = "0" * 64
CONFIGURATION = """
from jupyterhub.proxy import Proxy

class NoProxy(Proxy):
    should_start = False
    routes = {{}}
    async def add_route(self, routespec, target, data):
        self.routes[routespec] = {{"routespec": routespec, "target": target, "data": data}}
    async def delete_route(self, routespec):
        self.routes.pop(routespec, None)
    async def get_all_routes(self):
        return dict(self.routes)
    async def check_routes(self, *arguments, **named):
        pass

c.JupyterHub.proxy_class = NoProxy
c.JupyterHub.hub_ip = "127.0.0.1"
c.JupyterHub.hub_port = {port}
c.JupyterHub.bind_url = "http://127.0.0.1:{unused}"
c.JupyterHub.authenticator_class = "dummy"
c.JupyterHub.spawner_class = "simple"
c.Authenticator.allow_all = True
c.JupyterHub.services = [{{"name": "operator", "api_token": "{token}"}}]
c.JupyterHub.load_roles = [{{"name": "operator", "services": ["operator"], "scopes": ["admin:users", "tokens",
                            "admin:servers", "access:servers"]}}]
"""


@dataclass(frozen=True)
class Hub:
    """Where its API is."""

    api_url: str

    def token(self, user: str, *scopes: str) -> str:
        """Make a user, and a token of theirs, as their server gets one."""
        self._ask("POST", f"/users/{user}", None)
        made = self._ask("POST", f"/users/{user}/tokens", {"scopes": list(scopes), "note": "of a test"})
        return str(made["token"])

    def _ask(self, method: str, path: str, body: Any) -> Any:
        headers = {"Authorization": f"token {OPERATOR}"}
        with urllib3.PoolManager(timeout=60, retries=False) as http:
            answer = http.request(method, self.api_url + path, body=json.dumps(body), headers=headers)
        assert answer.status in (200, 201, 409), answer.data
        return answer.json()


@contextmanager
def hub(folder: Path) -> Iterator[Hub]:
    """Run one on loopback."""
    program = os.environ.get("TEST_JUPYTERHUB")
    if not program:
        raise ServerMissing("TEST_JUPYTERHUB must name a program `jupyterhub`")
    port, unused = free_ports(2)
    file = folder / "jupyterhub_config.py"
    file.write_text(CONFIGURATION.format(port=port, unused=unused, token=OPERATOR))
    found = Hub(f"http://127.0.0.1:{port}/hub/api")

    def answers() -> bool:
        try:
            with urllib3.PoolManager(timeout=5, retries=False) as http:
                return http.request("GET", found.api_url).status == 200
        except urllib3.exceptions.HTTPError:
            return False

    with running([program, "--config", str(file)], answers, log=folder / "hub.log"):
        yield found
