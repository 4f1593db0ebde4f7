"""The base handler: identity, permission, XSRF, one error shape, a request id; and work in threads."""

from __future__ import annotations

import asyncio
import logging
import math
import re
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import unquote
from uuid import uuid4

import msgspec
from jupyter_core.utils import ensure_async
from jupyter_server.auth.identity import User as JupyterUser
from jupyter_server.base.handlers import APIHandler
from tornado.web import HTTPError

from acai_jupyter.contract.endpoints import Access, Endpoint
from acai_jupyter.contract.errors import (
    AcaiError,
    BadRequest,
    MethodNotAllowed,
    NotAllowed,
    NotFound,
    NotSignedIn,
    ServerFault,
    TooLarge,
    TooManyRequests,
)
from acai_jupyter.contract.events import ErrorBody, ErrorDetail
from acai_server.api.audit import OPENING, entry_of
from acai_server.api.proxy import Upstream
from acai_server.api.wording import refusal
from acai_server.db.sight import Sight, seeing

if TYPE_CHECKING:
    from collections.abc import Callable

    from acai_server.api.call import Call
    from acai_server.db.projects import Member
    from acai_server.host import Host
    from acai_server.services import Services

_log = logging.getLogger("acai_server.api")
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}\Z")
TOKEN_PREFIX = "acai_"  # noqa: S105 (a prefix, by which scanners know our tokens)


class BaseHandler(APIHandler):
    """Every answer, an error included, has the contract's shape; every verb asks who calls and whether they may."""

    auth_resource = "acai"
    endpoints: ClassVar[dict[str, Endpoint[Any]]] = {}
    member: Member
    sight: Sight | None = None
    """What of the project is closed to the caller; none where nothing is restricted."""
    services: Services
    _looked = False
    """Whether work was done already for who waits; before, they were let in just now."""
    upstream: Upstream | None = None
    """Who answers instead, when this server is only attached; then there are neither services nor a member."""

    def initialize(self) -> None:
        """Give the request an id; one that the caller brings is kept, so that logs can be joined."""
        brought = self.request.headers.get("X-Request-Id", "")
        self.request_id = brought if _REQUEST_ID.match(brought) else uuid4().hex[:16]
        self.set_header("X-Request-Id", self.request_id)

    @property
    def host(self) -> Host:
        """The server this handler speaks for."""
        host: Host = self.settings["acai_host"]
        return host

    @property
    def endpoint(self) -> Endpoint[Any]:
        """What the contract says of this verb on this route."""
        try:
            return self.endpoints[self.request.method or ""]
        except KeyError:
            raise MethodNotAllowed(method=self.request.method, path=self.request.path) from None

    async def prepare(self) -> None:  # type: ignore[override]  # as Jupyter's own APIHandler does
        """Find out who calls; refuse what they may not do. A signed URL is checked by its own handler."""
        if "\0" in unquote(self.request.uri or ""):
            raise BadRequest(reason="its address has a NUL")
        token = self.bearer()
        if self.takes_signature():
            self.current_user = self._jupyter_current_user = JupyterUser("signed-url")
            await self._connect()
            return
        if token is None:
            await self._jupyter_identity()
        else:
            self.current_user = self._jupyter_current_user = JupyterUser("token")  # whose is not known yet
        await self._connect()
        if self.upstream is None and not self.is_let_in_later():
            await self.in_executor(self._let_in)

    def is_let_in_later(self) -> bool:
        """Whether this verb asks who calls in the thread where it does its work: going to one twice costs twice."""
        return False

    async def admit(self) -> None:
        """Let in who may do this now. Asked again by what lasts: a token may be revoked meanwhile."""
        await self.in_executor(self._enter)

    def _let_in(self) -> None:
        """Let in who may do this now, and not too often. Blocks."""
        self._enter()
        self._hold_back()
        if self.bearer() is not None:
            self.current_user = self._jupyter_current_user = JupyterUser(self.member.name)

    def _enter(self) -> None:
        credentials = self.services.credentials
        self.sight = None
        self.member = credentials.identify(self.bearer(), self.path_kwargs.get("project"))
        if self.endpoints:
            try:
                credentials.authorise(self.member, self.endpoint.access)
            except NotAllowed as error:
                self._write(error.status)
                raise
        if self.member.has_restrictions:
            self.sight = credentials.sight_of(self.member)

    def _hold_back(self) -> None:
        """Refuse what is more than one user may ask for."""
        seconds = self.host.limits.take(self.member.user_id)
        if seconds:
            limit = f"{self.host.limits.per_second:g}"
            raise TooManyRequests(user=self.member.name, limit=limit, seconds=math.ceil(seconds * 100) / 100)

    async def look(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """Do blocking work for who waits; they may have been shut out since the last time, which ends their waiting."""
        if self.upstream is not None or not self._looked:  # the other server looks at who waits there
            self._looked = True
            return await self.in_thread(work, *arguments)
        return await self.in_executor(self._look, work, *arguments)

    def _look(self, work: Callable[..., Any], *arguments: Any) -> Any:
        self._enter()
        return seeing(self.sight, work, *arguments)

    def perform(self, call: Callable[[], Call], operation: Callable[[Call], Any]) -> Any:
        """Let in who calls, do what they ask for, and write it down; all of it in the thread that this is called in."""
        with self.services.spare.lent() if self.endpoint.makes_room else nullcontext():
            self._let_in()
            asked = call()
            result = seeing(self.sight, operation, asked)
            seeing(self.sight, self._write_reads)
            seeing(self.sight, self._write, self.endpoint.status, asked.body, result)
            return result

    async def write_down(self, status: int, body: Any = None, result: Any = None) -> None:
        """Add a request that counts to the audit log, before it is answered."""
        if self.endpoint.is_audited:
            await self.in_thread(self._write, status, body, result)

    def _write(self, status: int, body: Any = None, result: Any = None) -> None:
        if self.endpoint.is_audited:
            self.services.credentials.audit.write(entry_of(self, status, body, result))

    async def write_down_reads(self) -> None:
        """Add to the audit log what of it was restricted, if contents were asked for."""
        if self.sight is not None and self.endpoint.name in OPENING:
            await self.in_thread(self._write_reads)

    def _write_reads(self) -> None:
        if self.sight is not None and self.endpoint.name in OPENING:
            self.services.credentials.audit.write_reads(entry_of(self, 200), self.sight.opened)

    async def _connect(self) -> None:
        """Find out who answers: our services, or the server that has the data."""
        found = await self.host.connect()
        if isinstance(found, Upstream):
            self.upstream = found
        else:
            self.services = found

    def takes_signature(self) -> bool:
        """Whether this verb on this route asks for a signature, and for nothing else."""
        endpoint = self.endpoints.get(self.request.method or "")
        return endpoint is not None and endpoint.access is Access.SIGNATURE

    async def _jupyter_identity(self) -> None:
        """Ask Jupyter's IdentityProvider and Authorizer, with XSRF and origin checks."""
        try:
            await super().prepare()
        except HTTPError as error:
            if self.current_user is None:
                raise NotSignedIn from error
            raise NotAllowed(f"The Jupyter server refused this: {error.log_message or error.reason}.") from error
        if self.current_user is None:
            raise NotSignedIn
        action = "read" if self.request.method in ("GET", "HEAD") else "write"
        if not await ensure_async(self.authorizer.is_authorized(self, self.current_user, action, self.auth_resource)):
            raise NotAllowed(user=self.current_user.username, action=action)

    def bearer(self) -> str | None:
        """ACAI's own token, if the caller brings one. It is never taken from the URL, which ends up in logs."""
        scheme, _, token = self.request.headers.get("Authorization", "").partition(" ")
        known = scheme.lower() in ("bearer", "token") and token.strip().startswith(TOKEN_PREFIX)
        return token.strip() if known else None

    async def in_thread(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """Do blocking work beside the event loop, as the caller may see things."""
        if self.sight is None:
            return await self.in_executor(work, *arguments)
        return await self.in_executor(seeing, self.sight, work, *arguments)

    async def in_executor(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """Do blocking work beside the event loop, that itself asks who calls."""
        return await asyncio.get_running_loop().run_in_executor(self.host.executor, work, *arguments)

    def decode_query(self) -> msgspec.Struct:
        """Decode what stands after the '?'; a bare number there is the time, which JupyterLab adds against caches."""
        values = {
            name: self.decode_argument(given[-1], name)  # as it was sent: a path may begin or end with a space
            for name, given in self.request.query_arguments.items()
            if name not in ("token", "_xsrf", "no_track_activity") and not name.isdecimal()
        }
        try:
            return msgspec.convert(values, self.endpoint.query, strict=False)
        except msgspec.ValidationError as error:
            raise refusal(error) from error

    def decode_body(self) -> msgspec.Struct | None:
        """Decode the body."""
        wanted = self.endpoint.body
        if len(self.request.body) > self.endpoint.max_bytes:
            raise TooLarge(size_bytes=len(self.request.body), limit_bytes=self.endpoint.max_bytes)
        if wanted is None:
            return None
        try:
            return msgspec.json.decode(self.request.body, type=wanted)
        except (msgspec.ValidationError, msgspec.DecodeError, UnicodeDecodeError) as error:
            raise refusal(error) from error
        except RecursionError as error:
            raise BadRequest(reason="its JSON is nested too deeply") from error

    def answer(self, result: object, status: int = 200) -> None:
        """Send a result as JSON."""
        self.set_status(status)
        self.set_header("Cache-Control", "no-store")
        self.finish(msgspec.json.encode(result))

    def log_exception(self, typ: Any, value: BaseException | None, tb: Any) -> None:
        """Say what failed: ours in one line, the unforeseen with its trace. No URL: it may hold a signature."""
        if isinstance(value, AcaiError) or (isinstance(value, HTTPError) and value.status_code < 500):  # noqa: PLR2004 (HTTP's own border)
            _log.warning("request %s: %s %s", self.request_id, type(value).__name__, value)
        else:
            _log.error("request %s failed", self.request_id, exc_info=(typ, value, tb))  # type: ignore[arg-type]

    def send_error(self, status_code: int = 500, **kwargs: Any) -> None:
        """Send one of our errors with its own status."""
        error = (kwargs.get("exc_info") or (None, None, None))[1]
        super().send_error(error.status if isinstance(error, AcaiError) else status_code, **kwargs)

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Write the one error shape."""
        error = self._as_ours(status_code, (kwargs.get("exc_info") or (None, None, None))[1])
        if isinstance(error, MethodNotAllowed):
            self.set_header("Allow", ", ".join(self.endpoints))
        if isinstance(error, TooManyRequests):
            self.set_header("Retry-After", str(math.ceil(error.details["seconds"])))
        details = {name: value for name, value in error.details.items() if isinstance(value, str | int | float | bool)}
        body = ErrorBody(ErrorDetail(error.code, error.message, details | {"request_id": self.request_id}))
        self.set_header("X-Request-Id", self.request_id)
        self.finish(msgspec.json.encode(body))

    def _as_ours(self, status_code: int, error: BaseException | None) -> AcaiError:
        if isinstance(error, AcaiError):
            return error
        by_status: dict[int, AcaiError] = {
            401: NotSignedIn(),
            403: NotAllowed("The Jupyter server refused this request."),
            404: NotFound(path=self.request.path),
            405: MethodNotAllowed(method=self.request.method, path=self.request.path),
        }
        if status_code in by_status:
            return by_status[status_code]
        if status_code < 500:  # noqa: PLR2004 (HTTP's own border)
            return BadRequest(reason=self._reason)
        return ServerFault(request_id=self.request_id)

    def compute_etag(self) -> str | None:
        """Nothing: answers are not to be stored, so nobody asks whether they are still the same."""
        return None

    def on_finish(self) -> None:
        """Count it."""
        endpoint = self.endpoints.get(self.request.method or "")
        name = "" if endpoint is None else endpoint.name
        self.host.requests.count(name, self.get_status(), self.request.request_time())
        super().on_finish()

    def set_default_headers(self) -> None:
        """JSON, and nothing a browser could mistake it for."""
        super().set_default_headers()
        self.set_header("Content-Type", "application/json")
        self.set_header("X-Content-Type-Options", "nosniff")
