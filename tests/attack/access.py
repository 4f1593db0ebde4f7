"""Every route with every identity that may not use it: refused, and nothing has changed."""

from __future__ import annotations

import hashlib
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from acai_jupyter.contract.endpoints import ALL, Access, Endpoint
from acai_jupyter.contract.states import Role, Scope
from acai_server.credentials.permissions import ALLOWED, GLOBAL_ADMIN, SCOPES
from tests.integration.places import Answer, Place, Server
from tests.integration.routes import PARAMETERS

if TYPE_CHECKING:
    from tests.attack.campaign import Run

USERS = "/v1/projects/default/users"
ROUTES = [one for one in ALL if one.access not in (Access.NOTHING, Access.SIGNATURE) and one.name != "stream_events"]
EXISTING = {"ref": "digits:1", "user": "viewer", "token": "first", "job": "1", "alias": "best", "group": "clinic"}
"""What is there, so that a refusal is not only that of something missing."""
CHANGED_BY_USE = {"token": {"last_used_at"}}
NOTES_REFUSALS = "audit_entry"
ROUND = 150
SHORT_ROUND = 60
BODIES: tuple[Any, ...] = (None, {}, [], {"name": "mallory", "role": "admin"}, {"command": ["true"]}, b"\xff")


@dataclass(frozen=True)
class Identity:
    """A token, and what it may do in the project `default`; with None it is not in it, or opens nothing."""

    name: str
    token: str
    allowed: frozenset[Access] | None
    status: int = 403


def access(run: Run) -> None:
    """Ask all routes in random order as all identities."""
    with closing(Place(run.home / "home")) as place:
        place.write("digits/1.txt", "a secret of this project")
        server = place.start(program="acai")
        done = place.acai("put", "digits", "/digits", "--as", "digits")
        assert done.returncode == 0, done.stderr
        identities = _identities(server)
        for _ in run.rounds():
            pairs = [(endpoint, identity) for endpoint in ROUTES for identity in identities]
            for endpoint, identity in run.chance.sample(pairs, SHORT_ROUND if run.is_short else ROUND):
                _ask(run, server, endpoint, identity)
        if "Traceback" in server.log:
            run.violation("the server logged a traceback", server.log[server.log.index("Traceback") :][:2000])


def _ask(run: Run, server: Server, endpoint: Endpoint[Any], identity: Identity) -> None:
    is_allowed = identity.allowed is not None and endpoint.access in identity.allowed
    existing = {} if is_allowed else EXISTING  # what is allowed must not take away what others are refused
    path = endpoint.path.format(**PARAMETERS | existing)
    body = run.chance.choice(BODIES) if endpoint.body is not None else None
    before = None if is_allowed else _state(server.place)
    answer = _sent(server, identity.token, endpoint.method, path, body)
    run.figures["requests"] += 1
    line = f"{endpoint.method} {path} as {identity.name} with {body!r}: {answer.status} {answer.body[:200]!r}"
    if is_allowed and "{project}" in endpoint.path and answer.status in (401, 403):
        run.violation("an allowed request was refused", line)
    elif answer.status >= 500:
        run.violation("a request was a fault of the server", line)
    elif not is_allowed:
        run.figures["refusals"] += 1
        expected = identity.status if "{project}" in endpoint.path or identity.status == 401 else None
        if expected and answer.status != expected:
            run.violation("a request was not refused as documented", line)
        after = _state(server.place)
        if changed := [table for table in after if before is not None and before.get(table) != after[table]]:
            run.violation(f"a refused request changed {', '.join(changed)}", line)
        if b"a secret" in answer.body or b"digits" in answer.body:
            run.violation("a refusal told what is there", line)


def _sent(server: Server, token: str, method: str, path: str, body: Any = None) -> Answer:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return server.ask(method, path, body, token=None, headers=headers)


def _state(place: Place) -> dict[str, str]:
    """Digest all tables, but for what a refusal may change."""
    found = {}
    for (table,) in place.sql("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"):
        columns = [row[1] for row in place.sql(f'PRAGMA table_info("{table}")')]
        kept = ", ".join(f'"{name}"' for name in columns if name not in CHANGED_BY_USE.get(table, ()))
        if table != NOTES_REFUSALS:
            found[table] = hashlib.sha256(repr(place.sql(f'SELECT {kept} FROM "{table}"')).encode()).hexdigest()
    return found


def _identities(server: Server) -> list[Identity]:
    def secret(path: str, body: dict[str, Any]) -> str:
        answer = server.ask("POST", path, body)
        assert answer.status == 201, answer.body
        return str(answer.json.get("issued", answer.json)["secret"])

    nothing: frozenset[Access] = frozenset()
    found = [Identity("no token", "", None, 401), Identity("a made-up token", f"acai_{'a' * 43}", None, 401)]
    found += [Identity(f"a {role}", secret(USERS, {"name": role.value, "role": role}), ALLOWED[role]) for role in Role]
    for scope in Scope:
        token = secret(f"{USERS}/admin/tokens", {"name": f"to-{scope}", "scope": scope})
        found.append(Identity(f"an admin's token to {scope}", token, SCOPES[scope] & ALLOWED[Role.ADMIN]))
        wide = {"name": f"wide-{scope}", "scope": scope, "all_projects": True}
        token = secret("/v1/projects/default/tokens", wide)
        allowed = SCOPES[scope] & (ALLOWED[Role.ADMIN] | GLOBAL_ADMIN)
        found.append(Identity(f"the operator's token to {scope}", token, allowed))
    for name in ("expired", "revoked"):
        token = secret(f"{USERS}/admin/tokens", {"name": name, "scope": "admin", "expires_in_days": 1})
        found.append(Identity(f"an {name} token", token, None, 401))
    assert server.ask("DELETE", f"{USERS}/admin/tokens/revoked").status == 200
    server.place.sql("UPDATE token SET expires_at = '2020-01-01 00:00:00.000000' WHERE name = 'expired'")
    foreign = server.ask("POST", "/v1/projects", {"name": "other", "admin": "eve"}).json["issued"]["secret"]
    found.append(Identity("another project's admin", foreign, nothing, 404))
    server.ask("PUT", "/v1/projects/default/groups/clinic", {"users": ["viewer"]})
    return found
