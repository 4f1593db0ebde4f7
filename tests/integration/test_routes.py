"""Every route of the API over HTTP: who is let in, what is refused, and in which shape."""

from __future__ import annotations

import http.client
from contextlib import closing
from http.cookies import SimpleCookie
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
import websocket

from acai_jupyter.contract.endpoints import ALL, BASE, Access, Endpoint
from acai_jupyter.contract.projects import Health
from tests.integration.places import TOKEN, Answer, Server, fetch
from tests.integration.routes import route

if TYPE_CHECKING:
    from tests.integration.places import Place

SIGNED_IN = [endpoint for endpoint in ALL if endpoint.access not in (Access.NOTHING, Access.SIGNATURE)]
WITHOUT_STREAMS = [
    endpoint
    for endpoint in SIGNED_IN
    if endpoint.media_types == ("application/json",) and endpoint.name != "stream_events"
]
OPEN = [endpoint for endpoint in ALL if endpoint.access is Access.NOTHING and endpoint.response is Health]
CLOSED = [endpoint for endpoint in ALL if endpoint.access is not Access.NOTHING]
JSON_BODIES = [endpoint for endpoint in ALL if endpoint.body is not None]
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
STREAM = "/v1/projects/default/events/stream"


def name(endpoint: Endpoint[Any]) -> str:
    return endpoint.name


def raw(server: Server, method: str, path: str) -> Answer:
    """Send a path as it stands: clients tidy up what is hostile about one."""
    parts = urlsplit(server.root)
    with closing(http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=120)) as connection:
        connection.putrequest(method, f"{parts.path}{BASE}{path}", skip_accept_encoding=True)
        connection.putheader("Authorization", f"token {TOKEN}")
        connection.endheaders()
        answer = connection.getresponse()
        return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())


# -- strangers


@pytest.mark.parametrize("endpoint", OPEN, ids=name)
def test_a_stranger_learns_whether_the_server_is_there(server: Server, endpoint: Endpoint[Any]) -> None:
    for token in (None, "wrong", TOKEN):
        answer = server.ask("GET", route(endpoint), token=token)
        assert (answer.status, answer.json) == (200, {"status": "ok"})
    for method in METHODS[1:]:
        assert server.ask(method, route(endpoint), {}, token=None).code == "method_not_allowed"


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("endpoint", CLOSED, ids=name)
def test_a_stranger_is_refused_in_the_one_shape(server: Server, endpoint: Endpoint[Any], method: str) -> None:
    answer = server.ask(method, route(endpoint), {} if method != "GET" else None, token=None)
    if endpoint.access is Access.SIGNATURE and method in ("GET", "PUT"):
        assert (answer.status, answer.code) == (400, "bad_request")  # no signature at all
    else:
        assert answer.status in (401, 403)
        assert answer.code in ("not_signed_in", "not_allowed")


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/nothing", "/v2/status", "/openapi.json/x", "/v1/projects"])
@pytest.mark.parametrize("method", METHODS)
def test_a_stranger_learns_nothing_of_unknown_routes(server: Server, method: str, path: str) -> None:
    answer = server.ask(method, path, token=None)
    assert answer.status in (401, 403)
    assert answer.code in ("not_signed_in", "not_allowed")


@pytest.mark.parametrize("token", ["wrong", "acai_wrong", "acai_", ""])
@pytest.mark.parametrize("scheme", ["token", "Bearer"])
def test_a_wrong_token_is_refused(server: Server, scheme: str, token: str) -> None:
    answer = server.ask("GET", "/v1/status", headers={"Authorization": f"{scheme} {token}"})
    assert (answer.status, answer.code) == (401, "not_signed_in")


def test_acais_own_token_is_not_taken_from_the_address(server: Server) -> None:
    answer = server.ask("GET", f"/v1/status?token={server.token}", token=None)
    assert answer.status in (401, 403)
    assert answer.code in ("not_signed_in", "not_allowed")


def test_acais_own_token_opens_every_signed_in_route(server: Server) -> None:
    for endpoint in SIGNED_IN:
        answer = server.ask(
            endpoint.method, route(endpoint), token=None, headers={"Authorization": f"Bearer {server.token}"}
        )
        assert answer.status not in (401, 403), endpoint.name


def test_a_stranger_gets_no_websocket(server: Server) -> None:
    with pytest.raises(websocket.WebSocketBadStatusException) as refused, server.stream(token=None):
        pass
    assert refused.value.status_code in (401, 403)
    assert b'"error"' in (refused.value.resp_body or b"")


def test_a_page_of_another_origin_gets_no_websocket(server: Server) -> None:
    cookie = signed_in_cookies(server)
    with (
        pytest.raises(websocket.WebSocketBadStatusException) as refused,
        server.stream(token=None, cookie=cookie, origin="http://evil.example"),
    ):
        pass
    assert refused.value.status_code == 403
    assert b'"not_allowed"' in (refused.value.resp_body or b"")


def test_the_stream_without_an_upgrade_is_refused_in_shape(server: Server) -> None:
    answer = server.ask("GET", STREAM)
    assert (answer.status, answer.code) == (400, "bad_request")


def test_a_websocket_of_another_project_is_refused_before_the_upgrade(server: Server) -> None:
    address = f"{server.root.replace('http', 'ws', 1)}{BASE}/v1/projects/other/events/stream"
    with pytest.raises(websocket.WebSocketBadStatusException) as refused:
        websocket.create_connection(address, header=[f"Authorization: token {TOKEN}"], timeout=120)
    assert refused.value.status_code == 404
    assert b'"project_not_found"' in (refused.value.resp_body or b"")


# -- browsers: cookies, XSRF, origins


def signed_in_cookies(server: Server) -> str:
    """Sign in as a browser does, and return its cookies."""
    cookies = SimpleCookie(fetch("GET", f"{server.root}/tree?token={TOKEN}").headers["set-cookie"])
    return "; ".join(f"{name}={cookie.coded_value}" for name, cookie in cookies.items())


def xsrf_of(cookies: str) -> str:
    return next(pair.split("=", 1)[1] for pair in cookies.split("; ") if pair.startswith("_xsrf="))


def submit_by_cookie(server: Server, **headers: str) -> Answer:
    cookies = signed_in_cookies(server)
    sent = {"Cookie": cookies} | {k: v.format(xsrf=xsrf_of(cookies)) for k, v in headers.items()}
    body = {"command": ["true"], "inputs": ["no-such-set"]}
    return server.ask("POST", "/v1/projects/default/jobs", body, token=None, headers=sent)


def test_a_cookie_reads_without_an_xsrf_token(server: Server) -> None:
    answer = server.ask("GET", "/v1/status", token=None, headers={"Cookie": signed_in_cookies(server)})
    assert answer.status == 200


def test_a_cookie_that_was_altered_or_made_up_opens_nothing(server: Server) -> None:
    name, _, value = next(
        one for one in signed_in_cookies(server).split("; ") if one.startswith("username-")
    ).partition("=")
    middle = len(value) // 2
    other = "A" if value[middle] != "A" else "B"
    for wrong in (f"{value[:middle]}{other}{value[middle + 1 :]}", value[:-2], "2|1:0|10:1|4:name|8:YWRtaW4=|0"):
        answer = server.ask("GET", "/v1/status", token=None, headers={"Cookie": f"{name}={wrong}"})
        assert (answer.status, answer.code) == (401, "not_signed_in"), wrong
    assert server.ask("GET", "/v1/status", token=None, headers={"Cookie": f"{name}={value}"}).status == 200


def test_a_cookie_does_not_write_without_the_xsrf_token(server: Server) -> None:
    answer = submit_by_cookie(server)
    assert (answer.status, answer.code) == (403, "not_allowed")


def test_a_cookie_writes_with_the_xsrf_token(server: Server) -> None:
    answer = submit_by_cookie(server, **{"X-XSRFToken": "{xsrf}"})
    assert answer.code == "file_set_not_found"  # it got as far as that


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_page_of_another_origin_is_refused(server: Server, method: str) -> None:
    cookies = signed_in_cookies(server)
    headers = {"Cookie": cookies, "X-XSRFToken": xsrf_of(cookies), "Origin": "http://evil.example"}
    path = "/v1/projects/default/jobs"
    answer = server.ask(method, path, {"command": ["true"]} if method == "POST" else None, token=None, headers=headers)
    assert (answer.status, answer.code) == (403, "not_allowed")
    assert server.get(path)["jobs"] == []


def test_a_foreign_host_name_is_refused(server: Server) -> None:
    answer = server.ask("GET", "/v1/status", headers={"Host": "evil.example"})
    assert answer.status in (401, 403)
    assert answer.code in ("not_signed_in", "not_allowed")


AUTHORIZER = """
from jupyter_server.auth import Authorizer

class NoWriting(Authorizer):
    def is_authorized(self, handler, user, action, resource):
        return not (resource == "acai" and action == "write")

c.ServerApp.authorizer_class = NoWriting
"""


def test_jupyters_authorizer_is_asked(place: Place) -> None:
    config = place.home / "jupyter" / "jupyter_server_config.py"
    config.parent.mkdir()
    config.write_text(AUTHORIZER)
    server = place.start()
    assert server.status().status == 200
    refused = server.ask("POST", "/v1/projects/default/jobs", {"command": ["true"]})
    assert (refused.status, refused.code) == (403, "not_allowed")
    assert server.get("/v1/projects/default/jobs")["jobs"] == []


# -- what is not understood


def allowed_on(path: str) -> set[str]:
    return {endpoint.method for endpoint in ALL if endpoint.path == path}


WRONG = [
    (endpoint, method)
    for endpoint in SIGNED_IN
    for method in (*METHODS, "HEAD", "TRACE", "BREW")
    if method not in allowed_on(endpoint.path)
]


@pytest.mark.parametrize(("endpoint", "method"), WRONG, ids=lambda value: getattr(value, "name", value))
def test_a_wrong_method_is_refused_and_the_right_ones_are_named(
    server: Server, endpoint: Endpoint[Any], method: str
) -> None:
    answer = server.ask(method, route(endpoint))
    assert answer.status == 405
    if method == "HEAD":
        assert answer.body == b""
    else:
        assert answer.code == "method_not_allowed"
    if method not in ("TRACE", "BREW"):  # no handler of ours is asked about these
        assert set(answer.headers["allow"].split(", ")) == allowed_on(endpoint.path)


@pytest.mark.parametrize("endpoint", ALL, ids=name)
def test_options_does_nothing(server: Server, endpoint: Endpoint[Any]) -> None:
    answer = server.ask("OPTIONS", route(endpoint))
    assert answer.status in (204, 405)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'"x"', b"\xff\xfe", b'{"a":', b"[" * 5000])
@pytest.mark.parametrize("endpoint", JSON_BODIES, ids=name)
def test_a_body_that_is_not_understood_is_refused(server: Server, endpoint: Endpoint[Any], body: bytes) -> None:
    answer = server.ask(endpoint.method, route(endpoint), body)
    assert (answer.status, answer.code) == (400, "bad_request")


@pytest.mark.parametrize("endpoint", JSON_BODIES, ids=name)
def test_an_unknown_field_is_named(server: Server, endpoint: Endpoint[Any]) -> None:
    answer = server.ask(endpoint.method, route(endpoint), {"surprise": 1})
    assert answer.status == 400
    assert "surprise" in answer.error["message"] or "required" in answer.error["message"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("command", ""),
        ("command", []),
        ("command", [1]),
        ("inputs", "digits"),
        ("inputs", ["x"] * 101),
        ("parameters", {"1bad": 1}),
        ("parameters", {"nested": {}}),
        ("resources", {"vcpu": 0.3}),
        ("resources", {"vcpu": -1}),
        ("resources", {"memory_bytes": 1}),
        ("resources", {"memory_bytes": 10**30}),
        ("environment", {"A": 1}),
        ("environment", {"A=B": "1"}),
        ("environment", {"A": "\0"}),
        ("output", "no spaces"),
        ("output", "latest"),
        ("code", "../x"),
        ("name", "x" * 201),
    ],
)
def test_a_job_with_a_wrong_field_is_refused(server: Server, field: str, value: object) -> None:
    answer = server.ask("POST", "/v1/projects/default/jobs", {"command": ["true"], field: value})
    assert answer.status == 400
    assert answer.code in ("bad_request", "bad_name", "job_refused")
    assert server.get("/v1/projects/default/jobs")["jobs"] == []


@pytest.mark.parametrize(
    "path", ["digits", "/a//b", "/a/", "/../etc/passwd", "/a/./b", "/a\0b", "/a\nb", "/e\u0301", "/" + "x" * 1025, ""]
)
def test_a_file_with_a_bad_path_is_refused(server: Server, path: str) -> None:
    file = {"path": path, "size_bytes": 1, "sha256": "0" * 64}
    answer = server.ask("POST", "/v1/projects/default/uploads", {"files": [file]})
    assert (answer.status, answer.code) == (400, "bad_path")


@pytest.mark.parametrize("endpoint", [e for e in WITHOUT_STREAMS if e.method == "GET"], ids=name)
def test_an_unknown_query_parameter_is_named(server: Server, endpoint: Endpoint[Any]) -> None:
    answer = server.ask("GET", f"{route(endpoint)}?surprise=1")
    assert answer.status == 400
    assert "surprise" in answer.error["message"]


@pytest.mark.parametrize(
    "query",
    [
        *(
            "events?since=x",
            "events?since=-1",
            "events?wait_seconds=31",
            "events?wait_seconds=nan",
            "events?since=1e99",
        ),
        *("jobs?limit=0", "jobs?limit=x", "jobs?before=-1", "filesets?limit=x", "jobs/1/log?offset=-1"),
    ],
)
def test_a_wrong_query_value_is_refused(server: Server, query: str) -> None:
    answer = server.ask("GET", f"/v1/projects/default/{query}")
    assert (answer.status, answer.code) == (400, "bad_request")


def test_a_body_that_is_too_large_is_refused(server: Server) -> None:
    answer = server.ask("POST", "/v1/projects/default/jobs", {"command": ["x" * (1024 * 1024)]})
    assert (answer.status, answer.code) == (413, "too_large")
    assert answer.error["details"]["limit_bytes"] == 1024 * 1024


@pytest.mark.parametrize("endpoint", [e for e in WITHOUT_STREAMS if "{project}" in e.path], ids=name)
def test_another_project_is_as_good_as_none(server: Server, endpoint: Endpoint[Any]) -> None:
    answer = server.ask(endpoint.method, route(endpoint, project="other"))
    assert (answer.status, answer.code) == (404, "project_not_found")


HOSTILE = [
    "..",
    "%2e%2e",
    "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "..%5c..",
    "%00",
    "a%00b",
    "%ff%fe",
    "%0d%0aX-Evil:1",
    "%F0%9F%8D%87",
    "'%20OR%201=1--",
    "x" * 8000,
    "-1",
    "1e3",
    "%D9%A1",
    "9" * 40,
]


@pytest.mark.parametrize("value", HOSTILE, ids=lambda value: value[:30])
@pytest.mark.parametrize(
    "path",
    [
        *("/v1/projects/{}/jobs", "/v1/projects/default/jobs/{}", "/v1/projects/default/jobs/{}/log"),
        *("/v1/projects/default/filesets/{}", "/v1/projects/default/filesets/{}/entries"),
        *("/v1/projects/default/provenance/{}/back", "/v1/objects/{}", "/v1/objects/p1/{}"),
    ],
)
def test_a_hostile_name_in_a_path_is_refused_in_shape(server: Server, path: str, value: str) -> None:
    answer = raw(server, "GET", path.format(value))
    assert 400 <= answer.status < 500
    assert answer.error["message"]
    assert "x-evil" not in answer.headers
    assert "Traceback" not in answer.body.decode()


# -- request ids, and what is said of the unforeseen


@pytest.mark.parametrize("path", ["/v1/status", "/v1/nothing", "/v1/projects/other/jobs", "/openapi.json"])
def test_every_answer_has_a_request_id(server: Server, path: str) -> None:
    first, second = server.ask("GET", path), server.ask("GET", path)
    assert first.headers["x-request-id"] != second.headers["x-request-id"]


def test_a_request_id_that_was_brought_is_kept_unless_it_is_hostile(server: Server) -> None:
    kept = server.ask("GET", "/v1/nothing", headers={"X-Request-Id": "abc-1"})
    assert kept.error["details"]["request_id"] == "abc-1"
    changed = server.ask("GET", "/v1/nothing", headers={"X-Request-Id": "a b<script>"})
    assert "<" not in changed.headers["x-request-id"]


def test_an_unforeseen_error_says_nothing_of_the_inside(place: Place) -> None:
    server = place.start()
    assert server.get("/v1/projects/default/jobs")["jobs"] == []
    place.sql("ALTER TABLE job RENAME TO gone")
    answer = server.ask("GET", "/v1/projects/default/jobs", headers={"X-Request-Id": "find-me"})
    assert (answer.status, answer.code) == (500, "server_fault")
    assert not [word for word in ("job", "sql", "table", "/") if word in answer.error["message"].lower()]
    assert answer.error["details"] == {"request_id": "find-me"}
    assert "find-me" in server.log
    assert "no such table" in server.log
    place.sql("ALTER TABLE gone RENAME TO job")
    assert server.get("/v1/projects/default/jobs")["jobs"] == []


def test_no_token_and_no_signature_is_in_the_log(place: Place) -> None:
    server = place.start()
    place.write("a.txt", "a")
    assert place.acai("put", "a.txt", "/a.txt").returncode == 0
    server.ask("GET", "/v1/objects/p1/objects/ab/cd?expires=1&signature=not-to-be-seen")
    server.ask("GET", "/v1/status", headers={"Authorization": f"Bearer {server.token}x"})
    server.end()
    assert server.token not in server.log
    assert "not-to-be-seen" not in server.log
    assert "not-to-be-seen" not in server.log
