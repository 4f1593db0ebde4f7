"""Signing in at the server that this one is attached to, as the user whose server of JupyterHub this is."""

from __future__ import annotations

import os

import msgspec

from acai_jupyter.contract import decoding
from acai_jupyter.contract.accounts import IssuedToken
from acai_jupyter.contract.endpoints import BASE
from acai_jupyter.contract.errors import ServerUnreachable, from_body
from acai_jupyter.contract.sign_in import SIGN_IN, SignIn

TOKEN = "JUPYTERHUB_API_TOKEN"  # noqa: S105 (the name of a variable)
SECONDS = 20.0


def is_there() -> bool:
    """Whether a hub has started this server."""
    return bool(os.environ.get(TOKEN))


def sign_in(url: str) -> str:
    """Return a token of ACAI's, for the one that the hub has given to this server."""
    import urllib3

    body = msgspec.json.encode(SignIn(hub_token=os.environ.get(TOKEN)))
    headers = {"Content-Type": "application/json"}
    try:
        with urllib3.PoolManager(timeout=SECONDS, retries=False) as http:
            answer = http.request("POST", f"{url.rstrip('/')}{BASE}{SIGN_IN.path}", body=body, headers=headers)
    except urllib3.exceptions.HTTPError as error:
        raise ServerUnreachable(where=f" at {url}") from error
    try:
        if answer.status == SIGN_IN.status:
            return decoding.from_json(answer.data, IssuedToken).secret
        said = decoding.plain_json(answer.data)
    except msgspec.MsgspecError as error:
        raise ServerUnreachable(where=f" at {url}: what answers there is something else") from error
    raise from_body(said, answer.status)
