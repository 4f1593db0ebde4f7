"""Signing in without a token of ACAI's: anybody may ask, and somebody whom the operator has named answers for them."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, ClassVar

from jupyter_server.auth.decorator import allow_unauthenticated  # whoever comes here has nothing of ours to show
from jupyter_server.auth.identity import User as JupyterUser

from acai_jupyter.contract import sign_in as contract
from acai_jupyter.contract.errors import Unavailable
from acai_server.api.base import BaseHandler
from acai_server.api.proxy import forward

if TYPE_CHECKING:
    from acai_jupyter.contract.accounts import IssuedToken
    from acai_server.db.projects import Member

AT_ONCE = 4
"""Who vouches is asked over the network; a slow one is not to keep all threads."""
_places = threading.BoundedSemaphore(AT_ONCE)


class SignInHandler(BaseHandler):
    """Says which ways there are, and takes one of them."""

    endpoints: ClassVar[dict[str, Any]] = {"GET": contract.GET_SIGN_IN, "POST": contract.SIGN_IN}

    async def authenticate(self) -> None:
        """Admit every caller; another verb is refused."""
        self.current_user = self._jupyter_current_user = JupyterUser("nobody")
        assert self.endpoint
        await self._connect()

    @allow_unauthenticated
    async def get(self) -> None:
        """Say the ways."""
        if self.upstream is not None:
            await forward(self, self.upstream)
            return
        self.decode_query()
        self.answer(self.services.ways)

    @allow_unauthenticated
    async def post(self) -> None:
        """Let somebody in."""
        if self.upstream is not None:
            await forward(self, self.upstream)
            return
        self.decode_query()
        wanted = self.decode_body()
        assert isinstance(wanted, contract.SignIn)
        self.member, issued = await self.in_thread(self._sign_in, wanted)
        await self.write_down(self.endpoint.status)
        self.answer(issued, self.endpoint.status)

    def _sign_in(self, wanted: contract.SignIn) -> tuple[Member, IssuedToken]:
        if not _places.acquire(blocking=False):
            raise Unavailable(reason="too many sign in at once; try again in a moment")
        try:
            return self.services.sign_ins.sign_in(wanted)
        finally:
            _places.release()
