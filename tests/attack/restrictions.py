"""Pairs of restrictions: what each user can see is what both let through, whichever way they ask."""

from __future__ import annotations

import itertools
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tests.integration.places import Answer, Place, Server

if TYPE_CHECKING:
    from tests.attack.campaign import Run

PROJECT = "/v1/projects/default"
USERS = ("ann", "bob", "cay")
UPLOADS = {"alpha": ("/alpha/1.txt", "/alpha/in/2.txt"), "beta": ("/beta/3.txt",), "gamma": ("/gamma/4.txt",)}
MERGED = {"both": ("alpha", "beta"), "part": ("gamma",), "all": ("both", "part")}
"""Sets that are made of others."""
PLACES = ("@alpha", "@beta", "@both", "/alpha/", "/alpha/in/", "/beta/", "/gamma/")


@dataclass(frozen=True)
class Restriction:
    """What is restricted, and who may read it."""

    what: str
    readers: frozenset[str]

    def covers(self, name: str, path: str) -> bool:
        """Whether a file that was uploaded as a set is behind it."""
        return self.what == f"@{name}" or path.startswith(self.what)


def restrictions(run: Run) -> None:
    """Set two restrictions at a time, with readers drawn at random, and ask as each user."""
    with closing(Place(run.home / "home")) as place:
        server = place.start(program="acai")
        for name, paths in UPLOADS.items():
            for path in paths:
                place.write(path.lstrip("/"), f"content of {path}")
            done = place.acai("put", name, f"/{name}", "--as", name)
            assert done.returncode == 0, done.stderr
        for name, sources in MERGED.items():
            body = {"name": name, "sources": [f"@{one}" for one in sources]}
            assert server.ask("POST", f"{PROJECT}/filesets", body).status == 201
        tokens = {}
        for user in USERS:
            answer = server.ask("POST", f"{PROJECT}/users", {"name": user, "role": "member"})
            tokens[user] = answer.json["issued"]["secret"]
        pairs = list(itertools.combinations(PLACES, 2))
        for number in run.rounds():
            for pair in run.chance.sample(pairs, 3):
                _check_pair(run, server, tokens, [_drawn(run, what) for what in pair], number)
        if "Traceback" in server.log:
            run.violation("the server logged a traceback", server.log[server.log.index("Traceback") :][:2000])


def _drawn(run: Run, what: str) -> Restriction:
    return Restriction(what, frozenset(user for user in USERS if run.chance.random() < 0.5))


def _check_pair(run: Run, server: Server, tokens: dict[str, str], pair: list[Restriction], number: int) -> None:
    steps = []
    for one in pair:
        answer = server.ask("PUT", f"{PROJECT}/restrictions", {"what": one.what, "readers": sorted(one.readers)})
        assert answer.status == 200, answer.body
        steps.append(f"acai access limit {one.what} --read {' '.join(sorted(one.readers)) or '(no user)'}")
    for user, token in tokens.items():
        _check_user(run, server, token, user, pair, steps)
    for one in pair:
        assert server.ask("POST", f"{PROJECT}/restrictions/end", {"what": one.what}).status == 200
    if number == 0:
        _check_user(run, server, tokens[USERS[0]], USERS[0], [], ["all restrictions ended"])


def _check_user(run: Run, server: Server, token: str, user: str, pair: list[Restriction], steps: list[str]) -> None:
    closed = [one for one in pair if user not in one.readers]
    paths = {path: not any(one.covers(name, path) for one in closed) for name, all_ in UPLOADS.items() for path in all_}
    sets = {name: all(paths[path] for path in all_) for name, all_ in UPLOADS.items()}
    for name, sources in MERGED.items():
        sets[name] = all(sets[source] for source in sources) and not any(one.what == f"@{name}" for one in closed)

    def ask(method: str, path: str, body: Any = None) -> Answer:
        run.figures["requests"] += 1
        headers = {"Authorization": f"Bearer {token}"}
        answer = server.ask(method, f"{PROJECT}/{path}", body, token=None, headers=headers)
        run.figures["refusals"] += answer.status in (403, 404)
        return answer

    def hold(what: str, *, expected: bool, found: bool) -> None:
        if expected != found:
            seen = "is not shown" if expected else "is shown"
            run.violation(f"{what} {seen} to {user}", *steps)

    listed = {one["name"] for one in ask("GET", "filesets").json["file_sets"]}
    for name, expected in sets.items():
        hold(f"the set {name} in a list", expected=expected, found=name in listed)
        hold(f"the set {name}", expected=expected, found=ask("GET", f"filesets/{name}:1").status == 200)
        entries = ask("GET", f"filesets/{name}:1/entries")
        hold(f"what the set {name} holds", expected=expected, found=entries.status == 200)
        fetched = ask("POST", "files/fetch", {"spec": f"@{name}"})
        hold(f"the bytes of the set {name}", expected=expected, found=fetched.status == 200)
    for path, expected in paths.items():
        hold(f"the file {path}", expected=expected, found=ask("GET", f"versions?path={quote(path)}").status == 200)
        fetched = ask("POST", "files/fetch", {"spec": path})
        hold(f"the bytes of {path}", expected=expected, found=fetched.status == 200)
    overviews = b"".join(
        ask(method, path, body).body
        for method, path, body in (
            ("GET", "events?since=0", None),
            ("GET", "files?spec=/", None),
            ("POST", "find", {"kind": "file_set", "query": ""}),
            ("POST", "find", {"kind": "file", "query": ""}),
            ("GET", "provenance", None),
        )
    )
    hidden = [path for path, expected in paths.items() if not expected]
    hidden += [f'"{name}:1"' for name, expected in sets.items() if not expected]
    for word in hidden:
        if word.encode() in overviews:
            run.violation(f"{word} is named to {user}", *steps)
