"""What of the composition is for a team: limits of one user, what is logged, and who signs in from outside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from traitlets import Float, Int, Unicode
from traitlets.config import Configurable

from acai_jupyter.contract.errors import SettingsBroken

if TYPE_CHECKING:
    from acai_jupyter.contract.sign_in import SignInWays
    from acai_server.identities.protocol import Identity
    from acai_server.settings import Settings


class TeamSettings(Configurable):
    """Set as those of `AcaiApp`."""

    public_url = Unicode(
        "",
        help="Address at which people reach this server, base URL included, like https://acai.example.org: what a "
        "'filesystem' object store signs for them begins with it. Empty: the address where the server listens.",
    ).tag(config=True)
    slow_reader_seconds = Float(
        15.0,
        min=0.1,
        help="Seconds after which a reader of events by WebSocket that does not take what was sent is disconnected; it "
        "can come back and resume. At least 0.1.",
    ).tag(config=True)
    heartbeat_seconds = Float(
        20.0,
        min=0.1,
        max=20.0,
        help="Seconds after which readers of events by WebSocket are sent an empty page when nothing happened, so that "
        "they know a quiet connection from a dead one. From 0.1 to 20.",
    ).tag(config=True)
    requests_per_second = Float(
        100.0,
        min=0.0,
        help="How many requests a second are accepted from one user on average, and ten times as many at once; more "
        "are refused with 429 and the time to wait. 0: there is no limit.",
    ).tag(config=True)
    streams_per_user = Int(
        100,
        min=0,
        help="How many WebSockets of events one user can have open at a server; one more is refused with 429. 0: there "
        "is no limit.",
    ).tag(config=True)
    uploads_per_user = Int(
        0,
        min=0,
        help="How many uploads of one user may be under way at once; one more is refused with 429. 0: as many as come.",
    ).tag(config=True)
    max_body_kib = Int(
        1024,
        min=64,
        help="Largest body of a request, in KiB; a larger one is refused with 413 before it is read. Routes that take "
        "pages of files allow 64 MiB, and signed URLs the size that was signed. At least 64.",
    ).tag(config=True)
    header_timeout_seconds = Float(
        120.0,
        min=0.1,
        help="Seconds after which 'jupyter acai' closes a connection on which no whole request header has arrived, an "
        "idle one too. It must exceed the idle time of a proxy in front, often 60; "
        "inside JupyterLab connections are Jupyter's. At least 0.1.",
    ).tag(config=True)
    body_timeout_seconds = Float(
        60.0,
        min=0.1,
        help="Seconds without a single byte after which a request whose body is still arriving is refused and its "
        "connection closed; a slow one that goes on is not. At least 0.1.",
    ).tag(config=True)
    log_format = Unicode(
        "text",
        help="How the server's log is written: 'text', as Jupyter does, or 'json', a document in each line and one for "
        "each request to ACAI, without anything that opens something.",
    ).tag(config=True)
    oidc_issuer = Unicode(
        "",
        help="Address of the OpenID Connect issuer at which people sign in, exactly as it calls itself, like "
        "https://login.example.org/realms/lab. Empty: nobody signs in that way.",
    ).tag(config=True)
    oidc_client_id = Unicode(
        "", help="As what the issuer knows ACAI; ID tokens must be given to it. Empty: there is no issuer."
    ).tag(config=True)
    oidc_claim = Unicode(
        "preferred_username",
        help="Which claim of an ID token is the user's name in ACAI. It has to be one that the issuer gives to one "
        "person only, and that people cannot change; 'email' counts if it is verified.",
    ).tag(config=True)
    oidc_scope = Unicode("openid profile email", help="What people's programs ask the issuer for.").tag(config=True)
    jupyterhub_api_url = Unicode(
        "",
        help="Address of the API of a JupyterHub, like http://hub:8081/hub/api, whose users sign in from their servers "
        "there under their names. Empty: nobody signs in that way.",
    ).tag(config=True)
    sign_in_days = Float(
        7.0, min=0.001, help="Days after which a token expires that was given for a sign-in. At least 0.001."
    ).tag(config=True)


def identities_of(settings: Settings) -> dict[str, Identity]:
    """Return who vouches for users, by how they come."""
    from acai_server.credentials.sign_ins import HUB, OIDC

    found: dict[str, Identity] = {}
    if settings.oidc_issuer:
        try:
            from acai_server.identities.oidc import OidcIdentity
        except ImportError as error:
            raise SettingsBroken(reason="OpenID Connect needs PyJWT; pip install 'acai-jupyter[oidc]'") from error
        found[OIDC] = OidcIdentity(settings.oidc_issuer, settings.oidc_client_id, settings.oidc_claim)
    if settings.jupyterhub_api_url:
        from acai_server.identities.jupyterhub import JupyterHubIdentity

        found[HUB] = JupyterHubIdentity(settings.jupyterhub_api_url)
    return found


def ways_of(settings: Settings) -> SignInWays:
    """Return what people's programs are told of it."""
    from acai_jupyter.contract.sign_in import SignInWays

    scope = settings.oidc_scope if settings.oidc_issuer else ""
    return SignInWays(settings.oidc_issuer, settings.oidc_client_id, scope, bool(settings.jupyterhub_api_url))
