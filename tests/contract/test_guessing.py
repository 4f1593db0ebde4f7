"""How long a check takes says nothing of how much of a guess was right: tokens, and signatures of URLs."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from acai_jupyter.contract.accounts import CreateProject
from acai_jupyter.contract.errors import NotAllowed, NotSignedIn, ProjectNotFound
from acai_jupyter.contract.ids import ObjectKey
from acai_jupyter.contract.queries import ObjectQuery
from acai_server.credentials.secrets import new_token
from acai_server.credentials.service import Credentials
from acai_server.objects.signing import UrlSigner

if TYPE_CHECKING:
    from collections.abc import Callable

    from acai_server.db.database import Database

ROUNDS, TRIES = 400, 10
LIKE = 0.15
"""What the same work takes in two turns of a busy machine is not less alike than this."""


def alike(near: Callable[[], object], far: Callable[[], object]) -> bool:
    """Whether two checks take as long: in turn, and of each what is not disturbed, the fastest fifth."""
    for _ in range(TRIES):
        seconds: tuple[list[float], list[float]] = ([], [])
        for turn in range(ROUNDS):
            for which in (0, 1) if turn % 2 else (1, 0):
                begun = time.perf_counter()
                with suppress(NotSignedIn, NotAllowed, ProjectNotFound):
                    (near, far)[which]()
                seconds[which].append(time.perf_counter() - begun)
        quick = [sum(sorted(one)[: ROUNDS // 5]) for one in seconds]
        if abs(quick[0] - quick[1]) < LIKE * max(quick):
            return True
    return False


def test_a_token_that_is_nearly_right_is_refused_as_soon_as_one_that_is_not(sqlite_database: Database) -> None:
    token = new_token()
    people = Credentials(sqlite_database, token)
    last = "A" if token[-1] != "A" else "B"
    near, far = token[:-1] + last, new_token()
    assert people.identify(token, None).token is not None
    for wrong in (near, far):
        with pytest.raises(NotSignedIn):
            people.identify(wrong, None)
    assert alike(lambda: people.identify(near, None), lambda: people.identify(far, None))


def test_of_a_project_that_is_not_ones_own_it_is_not_found_sooner_that_there_is_one(sqlite_database: Database) -> None:
    token = new_token()
    people = Credentials(sqlite_database, token)
    mine = people.identify(token, None)
    other = people.projects.create(mine, CreateProject("other", admin="eve")).issued
    assert other is not None
    for project in ("default", "nothing"):
        with pytest.raises(ProjectNotFound, match=f"no project '{project}'"):
            people.identify(other.secret, project)
    secret = other.secret
    assert alike(lambda: people.identify(secret, "default"), lambda: people.identify(secret, "nothing"))


def test_a_signature_that_is_nearly_right_is_refused_as_soon_as_one_that_is_not() -> None:
    signer = UrlSigner(b"secret", lambda: "http://127.0.0.1:1", lambda: 0.0)
    key = ObjectKey("p1/x")
    right = signer.url("GET", key).partition("signature=")[2].partition("&")[0]
    expires = 24 * 3600
    signer.check("GET", key, ObjectQuery(expires, right))
    near = ObjectQuery(expires, right[:-1] + ("0" if right[-1] != "0" else "1"))
    far = ObjectQuery(expires, "".join("0" if one != "0" else "1" for one in right))
    for wrong in (near, far):
        with pytest.raises(NotAllowed):
            signer.check("GET", key, wrong)
    assert alike(lambda: signer.check("GET", key, near), lambda: signer.check("GET", key, far))
