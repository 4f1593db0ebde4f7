"""A server of another version: the client refuses, and says what to upgrade."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from acai_jupyter._version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.integration.places import Place

STATUS = {
    "mode": "serving",
    "project": "default",
    "user": {"name": "you", "role": "admin"},
    "data_folder": "/data",
    "backends": {"database": "sqlite", "object_store": "filesystem", "runner": "process", "event_bus": "memory"},
    "machine": {"cpus": 2, "memory_bytes": 1024},
    "started_at": "2026-01-01T00:00:00Z",
}


@contextmanager
def server_of(version: str, **fields: Any) -> Iterator[tuple[str, list[str]]]:
    """Serve only the status, as a server of some version does; also gives what it was asked."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(f"GET {self.path}")
            body = json.dumps(STATUS | {"version": version} | fields).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            asked.append(f"POST {self.path}")
            self.send_error(500)

        def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002 (its name there)
            del format, arguments

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as served:
        thread = threading.Thread(target=served.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{served.server_port}", asked
        finally:
            served.shutdown()
            thread.join()


def series(change: int) -> str:
    major, minor, *_ = __version__.split(".")
    return f"{major}.{int(minor) + change}.0" if int(minor) + change >= 0 else f"{int(major) - 1}.99.0"


@pytest.mark.parametrize("words", [("status",), ("job", "1"), ("put", "a.txt", "/a.txt")], ids=" ".join)
@pytest.mark.parametrize("project", [{}, {"ACAI_PROJECT": "default"}], ids=["any project", "a named project"])
def test_a_newer_server_asks_for_an_upgrade_here(place: Place, words: tuple[str, ...], project: dict[str, str]) -> None:
    place.write("a.txt", "a")
    with server_of(series(1)) as (url, asked):
        refused = place.acai(*words, ACAI_URL=url, ACAI_TOKEN="acai_x", **project)
        assert refused.returncode == 5
        assert series(1) in refused.stderr
        assert __version__ in refused.stderr
        assert "Upgrade acai-jupyter in this environment" in refused.stderr
        route = "projects/default/status" if project else "status"
        assert set(asked) == {f"GET /acai/api/v1/{route}"}  # nothing was done in a language only half understood


def test_an_older_server_asks_for_an_upgrade_there(place: Place) -> None:
    older = "0.0.9" if __version__ != "0.0.9" else "0.0.0"
    with server_of(older) as (url, _):
        refused = place.acai("status", ACAI_URL=url, ACAI_TOKEN="acai_x")
    assert refused.returncode == 5
    assert "Upgrade acai-jupyter in the server" in refused.stderr


def test_another_patch_of_the_same_series_is_fine(place: Place) -> None:
    patched = ".".join([*__version__.split(".")[:2], "99"])
    with server_of(patched, told_by_a_later_patch=True) as (url, _):
        assert place.acai("status", ACAI_URL=url, ACAI_TOKEN="acai_x").returncode == 0


def test_a_server_whose_status_is_not_understood_at_all_is_one_sentence(place: Place) -> None:
    with server_of("9.0.0", machine=None) as (url, _):
        refused = place.acai("status", ACAI_URL=url, ACAI_TOKEN="acai_x")
    assert refused.returncode == 5
    assert len(refused.stderr.strip().splitlines()) == 1
