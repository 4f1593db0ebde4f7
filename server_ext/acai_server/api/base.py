"""The base handler: identity, permission, XSRF, one error shape, a request id; and work in threads.

Callers are identified and their rights checked on the headers, before any of the body is read.
"""

from __future__ import annotations

import asyncio
import logging
import math
import re
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import unquote
from uuid import uuid4

import msgspec
from jupyter_core.utils import ensure_async
from jupyter_server.auth.identity import User as JupyterUser
from jupyter_server.base.handlers import APIHandler
from tornado.http1connection import HTTP1Connection
from tornado.iostream import StreamClosedError
from tornado.web import HTTPError, stream_request_body

from acai_jupyter.contract import decoding
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
from acai_jupyter.contract.ids import ObjectKey
from acai_server.api.audit import OPENING, entry_of
from acai_server.api.pools import Departure, Pool, pool_of
from acai_server.api.proxy import WITH_BODY, Relay, Upstream
from acai_server.api.request_body import DROPPED_BYTES, MEMORY_BYTES, RequestBody, announced_bytes
from acai_server.api.wording import refusal
from acai_server.db.sight import Sight, seeing
from acai_server.engine.read_limit import ClientLeft
from acai_server.objects.durable import translated

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable
    from mmap import mmap

    from acai_server.api.call import Call
    from acai_server.db.projects import Member
    from acai_server.host import Host
    from acai_server.services import Services

_log = logging.getLogger("acai_server.api")
UNLIMITED_BYTES = 2**60
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}\Z")
_SHOWN_PATH = 500
_CLIENT_LEFT = 499
"""What nginx logs for a client that closed its connection before it was answered."""
_SLOW_SECONDS = 1.0
"""After waiting this long for a body or a thread, access is checked again."""
TOKEN_PREFIX = "acai_"  # noqa: S105 (a prefix, by which scanners know our tokens)


@stream_request_body
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
    dropped_bytes = DROPPED_BYTES
    """The largest refused body that is read to its end, so that the connection can be used again."""
    _body: RequestBody | None = None
    relay: Relay | None = None
    """What passes this request on while its body comes, if it is large and another server answers."""
    _refusal: Exception | None = None
    _received = 0
    _limit = 0
    _is_let_in = False
    _is_reading = True
    """Whether the end of the body was not read yet; an answer then closes the connection."""
    _watch: asyncio.TimerHandle | None = None
    _is_storing = False
    _progressed_at = 0.0

    def initialize(self) -> None:
        """Give the request an id; one that the caller brings is kept, so that logs can be joined."""
        brought = self.request.headers.get("X-Request-Id", "")
        self.request_id = brought if _REQUEST_ID.match(brought) else uuid4().hex[:16]
        self.set_header("X-Request-Id", self.request_id)
        self.departure = Departure()

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
            raise MethodNotAllowed(method=self.request.method, path=self.shown_path) from None

    @property
    def shown_path(self) -> str:
        """The path of the request for messages and logs, without the end of a very long one."""
        path = self.request.path
        return path if len(path) <= _SHOWN_PATH else f"{path[:_SHOWN_PATH]}…"

    async def prepare(self) -> None:  # type: ignore[override]  # as Jupyter's own APIHandler does
        """Decide by the headers whether the body is read: tornado waits with it until this returns.

        A refusal of a request without a body, or with a small one, is answered when its end was read: the connection
        stays open. Any other is answered at once, and the connection closed.
        """
        announced = announced_bytes(self.request)
        try:
            await self.authenticate()
            await self._expect_body(announced)
        except Exception as error:  # whatever it is, it is answered
            awaits_word = self.request.headers.get("Expect", "").lower() == "100-continue"
            if announced is None or announced > self.dropped_bytes or (announced and awaits_word):
                raise
            self._refusal = error
            self._limit = self.dropped_bytes
        connection = self.request.connection
        assert isinstance(connection, HTTP1Connection)
        connection.set_max_body_size(UNLIMITED_BYTES)  # `data_received` counts; tornado would answer without a sentence
        verb = (self.request.method or "").lower()
        setattr(self, verb, partial(self._answer, getattr(self, verb)))
        if announced != 0:
            self._progressed_at = self._now()
            self._watch_progress()

    async def _answer(self, method: Callable[..., Awaitable[None] | None], *arguments: str, **params: str) -> None:
        """Do what a verb does, or refuse it, now that its body has been read to the end."""
        vars(self).pop((self.request.method or "").lower())  # or the handler would refer to itself
        self._stop_reading()
        if self._refusal is not None:
            raise self._refusal
        if (waiting := method(*arguments, **params)) is not None:
            await waiting

    def _stop_reading(self) -> None:
        self._is_reading = False
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None

    async def _expect_body(self, announced: int | None) -> None:
        self._limit = self.body_limit()
        if announced is not None and announced > self._limit:
            raise TooLarge(size_bytes=announced, limit_bytes=self._limit)
        is_large = announced is None or announced > MEMORY_BYTES
        if is_large and self.upstream is not None and self.request.method in WITH_BODY:
            self.relay = Relay(self, self.upstream, announced)
            await self.relay.start()

    def body_limit(self) -> int:
        """Return how many bytes the body may have."""
        endpoint = self.endpoints.get(self.request.method or "")
        return self.host.max_body_bytes if endpoint is None or endpoint.max_bytes is None else endpoint.max_bytes

    async def data_received(self, chunk: bytes) -> None:
        """Take a piece of the body. While it is stored no other one is read."""
        self._received += len(chunk)
        if self._received > self._limit:
            self._answer_early(self._refusal or TooLarge(size_bytes=self._received, limit_bytes=self._limit))
        elif self._refusal is None:
            self._is_storing = True
            try:
                await self.store(chunk)
            except AcaiError as error:
                self._answer_early(error)
            finally:
                self._is_storing = False
        self._progressed_at = self._now()

    async def store(self, chunk: bytes) -> None:
        """Keep a piece of a body, or pass it on."""
        if self.relay is not None:
            await self.relay.write(chunk)
            return
        endpoint = self.endpoints.get(self.request.method or "")
        if endpoint is None or endpoint.body is None:
            return
        if self._body is None:
            self._body = RequestBody(None if self.upstream is not None else self.services.data_folder)
        with translated(ObjectKey("the body of a request"), "what is being received, in the data folder"):
            await self._body.write(chunk, self.in_executor)

    def _answer_early(self, error: Exception) -> None:
        """Answer while the body still comes in, which closes the connection; tornado drops the rest."""
        if self._finished:
            return
        information = (type(error), error, None)
        self.log_exception(*information)
        self.send_error(error.status if isinstance(error, AcaiError) else 500, exc_info=information)

    def _watch_progress(self) -> None:
        """Answer when nothing of the body came for too long; look again when that could next be so."""
        patience = self.host.body_timeout_seconds
        if self._is_storing:
            self._progressed_at = self._now()
        left = self._progressed_at + patience - self._now()
        if left > 0:
            self._watch = asyncio.get_running_loop().call_later(left, self._watch_progress)
        else:
            self._answer_early(BadRequest(reason=f"its body stopped arriving: nothing came for {patience:g} s"))

    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    def on_connection_close(self) -> None:
        """Stop work in progress, and passing on a body that will never be whole."""
        self.departure.leave()
        if self._is_reading:
            self._stop_reading()
            self.free()
        elif self.relay is not None:  # the body may still be read by a thread
            self.relay.cancel()
        super().on_connection_close()

    def free(self) -> None:
        """Give back what the body holds: it was answered, or will never be whole."""
        if self._body is not None:
            self._body.close()
        if self.relay is not None:
            self.relay.cancel()

    async def authenticate(self) -> None:
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
        """Whether this request is authorised in the thread where its work is done: a second thread costs time.

        Never one with a body, which is not read before.
        """
        return False

    async def admit(self) -> None:
        """Let in who may do this now. Asked again by what lasts: a token may be revoked meanwhile."""
        await self.in_executor(self._enter)

    def _let_in(self) -> None:
        """Let in who may do this now, and not too often. Blocks."""
        self._enter()
        self._hold_back()
        self._is_let_in = True
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
        return await self._in_pool(partial(self._look, work, *arguments))

    def _look(self, work: Callable[..., Any], *arguments: Any) -> Any:
        self._enter()
        return seeing(self.sight, work, *arguments)

    async def perform(self, call: Callable[[], Call], operation: Callable[[Call], Any]) -> Any:
        """Let in who calls, do what they ask for, and write it down; all of it in one thread of the endpoint's pool."""
        return await self._in_pool(partial(self._perform, call, operation))

    def _perform(self, call: Callable[[], Call], operation: Callable[[Call], Any]) -> Any:
        if not self._is_let_in:
            self._let_in()
        with self.services.spare.lent() if self.endpoint.makes_room else nullcontext():
            if self.has_large_body() or self.request.request_time() > _SLOW_SECONDS:
                self._enter()  # the token may have been revoked while the body arrived, or the request waited
            asked = call()
            result = seeing(self.sight, operation, asked)
            seeing(self.sight, self._write_reads)
            seeing(self.sight, self._write, self.endpoint.status, asked.body, result)
            return result

    async def write_down(self, status: int, body: Any = None, result: Any = None) -> None:
        """Add a request that counts to the audit log, before it is answered."""
        if self.endpoint.is_audited:
            await self.in_executor(seeing, self.sight, self._write, status, body, result)

    def _write(self, status: int, body: Any = None, result: Any = None) -> None:
        if self.endpoint.is_audited:
            self.services.credentials.audit.write(entry_of(self, status, body, result))

    async def write_down_reads(self) -> None:
        """Add to the audit log what of it was restricted, if contents were asked for."""
        if self.sight is not None and self.endpoint.name in OPENING:
            await self.in_executor(seeing, self.sight, self._write_reads)

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
        """Do blocking work in a thread of the endpoint's pool, with the caller's view of the data."""
        return await self._in_pool(partial(seeing, self.sight, work, *arguments))

    async def _in_pool(self, work: Callable[[], Any]) -> Any:
        pool = pool_of(self.endpoint) if self.endpoints else Pool.INTERACTIVE
        large = self.host.large_bodies if self.has_large_body() else None
        if pool is not Pool.INTERACTIVE:
            return await self.host.pools[pool].run(self.share(), work, self.departure, also=large)
        if large is not None:
            return await large.hold(self.share(), partial(self.in_executor, work), self.departure)
        return await self.in_executor(work)

    def share(self) -> Hashable:
        """Return with whom this request shares the threads of a pool; forwarded requests have no member."""
        member = getattr(self, "member", None)
        return self.request.remote_ip if member is None else member.user_id

    async def in_executor(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """Do interactive work in a thread; it identifies the caller itself where it needs to."""
        return await asyncio.get_running_loop().run_in_executor(self.host.executor, work, *arguments)

    def decode_query(self) -> msgspec.Struct:
        """Decode what stands after the '?'; a bare number there is the time, which JupyterLab adds against caches."""
        values = {
            name: self.decode_argument(given[-1], name)  # as it was sent: a path may begin or end with a space
            for name, given in self.request.query_arguments.items()
            if name not in ("token", "_xsrf", "no_track_activity") and not name.isdecimal()
        }
        try:
            return decoding.convert(values, self.endpoint.query, strict=False)
        except msgspec.ValidationError as error:
            raise refusal(error) from error

    def has_large_body(self) -> bool:
        """Whether the body is on disk, so that decoding it takes memory that it has not taken yet."""
        return self._body is not None and self._body.size > MEMORY_BYTES

    def sent_body(self) -> bytes | mmap:
        """Return the body."""
        return b"" if self._body is None else self._body.read()

    def decode_body(self) -> msgspec.Struct | None:
        """Decode the body."""
        wanted = self.endpoint.body
        if wanted is None:
            return None
        try:
            return decoding.from_json(self.sent_body(), wanted)
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
        if isinstance(value, ClientLeft | StreamClosedError):
            _log.info("request %s: the client left", self.request_id)
        elif isinstance(value, AcaiError) or (isinstance(value, HTTPError) and value.status_code < 500):  # noqa: PLR2004 (HTTP's own border)
            _log.warning("request %s: %s %s", self.request_id, type(value).__name__, value)
        else:
            _log.error("request %s failed", self.request_id, exc_info=(typ, value, tb))  # type: ignore[arg-type]

    def send_error(self, status_code: int = 500, **kwargs: Any) -> None:
        """Send one of our errors with its own status."""
        error = (kwargs.get("exc_info") or (None, None, None))[1]
        if isinstance(error, ClientLeft | StreamClosedError):
            self.set_status(_CLIENT_LEFT, "Client Closed Request")
            self.finish()
            return
        if self._headers_written and not self._finished:
            self.abort(error.status if isinstance(error, AcaiError) else status_code)
            return
        super().send_error(error.status if isinstance(error, AcaiError) else status_code, **kwargs)

    def abort(self, status: int) -> None:
        """Close the connection in the middle of an answer: an end would make it look whole. Log and count it."""
        self.set_status(status)
        self.request.connection.stream.close()  # type: ignore[union-attr]
        self.finish()

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Write the one error shape."""
        error = self._as_ours(status_code, (kwargs.get("exc_info") or (None, None, None))[1])
        if self._is_reading:  # tornado closes then, and does not say so itself
            self.set_header("Connection", "close")
        if isinstance(error, MethodNotAllowed):
            self.set_header("Allow", ", ".join(self.endpoints))
        if error.status == TooManyRequests.status and "seconds" in error.details:
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
            404: NotFound(path=self.shown_path),
            405: MethodNotAllowed(method=self.request.method, path=self.shown_path),
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
        """Count it, and free what its body took."""
        self._stop_reading()
        self.free()
        endpoint = self.endpoints.get(self.request.method or "")
        name = "" if endpoint is None else endpoint.name
        self.host.requests.count(name, self.get_status(), self.request.request_time())
        super().on_finish()

    def set_default_headers(self) -> None:
        """JSON, and nothing a browser could mistake it for."""
        super().set_default_headers()
        self.set_header("Content-Type", "application/json")
        self.set_header("X-Content-Type-Options", "nosniff")
