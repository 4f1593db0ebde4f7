"""The hub of a JupyterHub, which knows whose server a token was given to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acai_jupyter.contract.errors import NotSignedIn, Unavailable
from acai_server.identities.asking import OK, ask

if TYPE_CHECKING:
    from acai_server.identities.protocol import Identity

_REFUSED = (401, 403, 404)


class JupyterHubIdentity:
    """Takes the token that the hub gives to a user's own server, or that a user made for themselves.

    A token by which somebody visits the server of another says who they are too, and that other has it in hand: it does
    not open their own server, and counts for nothing here.
    """

    def __init__(self, api_url: str) -> None:
        self._url = f"{api_url.rstrip('/')}/user"

    def whose(self, shown: str) -> str:
        """See the protocol: the hub is asked each time, so what it has revoked opens nothing."""
        if not shown.isascii() or not shown.isprintable() or " " in shown:
            raise NotSignedIn("That is no token of JupyterHub.")
        status, found = ask(self._url, {"Authorization": f"token {shown}"})
        if status in _REFUSED:
            raise NotSignedIn("JupyterHub does not know this token; restart your server there for a new one.")
        if status != OK:
            raise Unavailable(reason=f"JupyterHub does not say whose token this is ({status})")
        name = found.get("name")
        if found.get("kind") != "user" or not isinstance(name, str) or not _opens_own_server(name, found.get("scopes")):
            raise NotSignedIn("This token of JupyterHub was not given to a user's own server.")
        return name


def _opens_own_server(name: str, scopes: Any) -> bool:
    given = scopes if isinstance(scopes, list) else []
    own = (f"access:servers!user={name}", f"access:servers!server={name}/")
    return any(
        scope in ("access:servers", own[0]) or (isinstance(scope, str) and scope.startswith(own[1])) for scope in given
    )


if TYPE_CHECKING:
    _proof: type[Identity] = JupyterHubIdentity
