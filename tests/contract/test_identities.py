"""Who vouches for users: ID tokens of a real issuer, well and in every way not, and tokens of a hub."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import jwt
import pytest

from acai_jupyter.contract.errors import NotSignedIn, SettingsBroken, Unavailable
from acai_server.identities.jupyterhub import JupyterHubIdentity
from acai_server.identities.oidc import KEPT_SECONDS, SOONEST_SECONDS, OidcIdentity
from tests.servers.answers import Answer, service
from tests.servers.issuer import CLIENT, Issuer, issuer, key
from tests.servers.process import free_ports

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

STRANGER = key()


class Time:
    """Time that goes on when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(scope="module")
def served() -> Iterator[Issuer]:
    with issuer() as made:
        yield made


@pytest.fixture
def identity(served: Issuer) -> OidcIdentity:
    return OidcIdentity(served.url, CLIENT, "preferred_username")


def test_an_id_token_of_the_issuer_says_who_somebody_is(served: Issuer, identity: OidcIdentity) -> None:
    assert identity.whose(served.token()) == "ann"
    assert identity.whose(served.token(aud=["other", CLIENT], azp=CLIENT)) == "ann"
    by_mail = OidcIdentity(served.url, CLIENT, "email")
    assert by_mail.whose(served.token(email="ann@lab.org", email_verified=True)) == "ann@lab.org"


def altered(token: str, **claims: Any) -> str:
    """The same signature under other claims."""
    head, _, signature = token.split(".")
    said = jwt.decode(token, options={"verify_signature": False}) | claims
    body = jwt.utils.base64url_encode(json.dumps(said).encode()).decode()
    return f"{head}.{body}.{signature}"


WRONG = ("claims", "expired", "early", "audience", "party", "issuer", "stranger", "unsigned", "secret", "no_exp")
NAMELESS = ("no_name", "nothing", "text", "mail")


@pytest.mark.parametrize("what", [*WRONG, *NAMELESS])
def test_what_the_issuer_did_not_give_to_acai_now_says_nothing(
    served: Issuer, identity: OidcIdentity, what: str
) -> None:
    now = int(time.time())
    published = served.keys["first"].public_key()
    made: dict[str, Callable[[], str]] = {
        "claims": lambda: altered(served.token(), preferred_username="bob"),
        "expired": lambda: served.token(iat=now - 900, exp=now - 120),
        "early": lambda: served.token(nbf=now + 600),
        "audience": lambda: served.token(aud="another-program"),
        "party": lambda: served.token(aud=[CLIENT, "other"], azp="other"),
        "issuer": lambda: served.token(iss="https://issuer.example.org"),
        "stranger": lambda: served.token(signed_by=STRANGER),
        "unsigned": lambda: served.token(algorithm="none"),
        "secret": lambda: served.token(signed_by=str(published.public_numbers().n) * 2, algorithm="HS256"),
        "no_exp": lambda: served.token(exp=None),
        "no_name": lambda: served.token(preferred_username=None),
        "nothing": lambda: "",
        "text": lambda: "a.b.c",
        "mail": lambda: served.token(email="ann@lab.org"),
    }
    shown = made[what]()
    checked = OidcIdentity(served.url, CLIENT, "email") if what == "mail" else identity
    assert checked.whose(served.token(email="ann@lab.org", email_verified=True))
    with pytest.raises(NotSignedIn):
        checked.whose(shown)


def test_keys_that_are_new_are_found_and_those_that_were_withdrawn_forgotten() -> None:
    with issuer() as served:
        clock = Time()
        identity = OidcIdentity(served.url, CLIENT, "preferred_username", clock)
        old = served.token()
        assert identity.whose(old) == "ann"
        served.keys = {"second": key(), "third": key()}
        for _ in range(3):
            with pytest.raises(NotSignedIn):
                identity.whose(served.token(kid="second"))
        assert served.asked.count("/keys") == 1, "who shows unknown keys does not make us ask each time"
        clock.now += SOONEST_SECONDS
        assert identity.whose(served.token(kid="second")) == "ann"
        clock.now += KEPT_SECONDS
        with pytest.raises(NotSignedIn):
            identity.whose(old)


def test_an_issuer_that_calls_itself_otherwise_or_is_away_is_said(served: Issuer) -> None:
    with pytest.raises(SettingsBroken, match="oidc_issuer has to be as it calls itself"):
        OidcIdentity(f"{served.url}/", CLIENT, "sub").whose(served.token())
    (port,) = free_ports(1)
    with pytest.raises(Unavailable, match="which says who people are, does not answer"):
        OidcIdentity(f"http://127.0.0.1:{port}", CLIENT, "sub").whose(served.token())


def told(**said: Any) -> Answer:
    return Answer(200, json.dumps({"kind": "user", "name": "ann"} | said).encode())


@pytest.mark.parametrize(
    "scope", ["access:servers!server=ann/", "access:servers!server=ann/gpu", "access:servers!user=ann"]
)
def test_the_token_of_ones_own_server_says_who_one_is(scope: str) -> None:
    with service(told(scopes=["read:users:name!user=ann", scope])) as hub:
        assert JupyterHubIdentity(f"{hub.url}/hub/api").whose("0123456789abcdef") == "ann"


@pytest.mark.parametrize(
    "answer",
    [
        told(scopes=["read:users:name!user=ann", "access:servers!server=bob/"]),
        told(scopes=["access:servers!server=anna/", "access:servers!user=anna"]),
        told(scopes=[]),
        told(),
        told(kind="service", scopes=["access:servers"]),
        told(name=7, scopes=["access:servers"]),
        Answer(403, b'{"message": "Missing or invalid credentials."}'),
    ],
)
def test_a_token_by_which_somebody_visits_another_says_nothing(answer: Answer) -> None:
    with service(answer) as hub, pytest.raises(NotSignedIn):
        JupyterHubIdentity(f"{hub.url}/hub/api").whose("0123456789abcdef")


def test_a_hub_that_is_not_well_is_said_and_one_is_asked_for_no_header_more() -> None:
    with service(Answer(500, b"")) as hub, pytest.raises(Unavailable, match="does not say whose token this is"):
        JupyterHubIdentity(f"{hub.url}/hub/api").whose("0123456789abcdef")
    with service(told(scopes=["access:servers"])) as hub:
        for shown in ("a\r\nX-Role: admin", "a b", "ä"):
            with pytest.raises(NotSignedIn):
                JupyterHubIdentity(f"{hub.url}/hub/api").whose(shown)
