"""Health, readiness, and numbers for Prometheus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from jupyter_server.auth.decorator import allow_unauthenticated  # there is nothing to refuse
from jupyter_server.auth.identity import User as JupyterUser

from acai_jupyter.contract import endpoints
from acai_jupyter.contract.projects import Health, Readiness
from acai_server import __version__
from acai_server.api.base import BaseHandler
from acai_server.api.proxy import Upstream
from acai_server.api.streams import StreamHandler

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from acai_server.api.call import Call
    from acai_server.db.metrics import Sample

_HELP = {
    "acai_info": ("gauge", "The version that runs."),
    "acai_requests_total": ("counter", "Requests that were answered, by the route's name and status."),
    "acai_request_seconds_total": ("counter", "How long they took together, waiting included."),
    "acai_open_streams": ("gauge", "Streams of events that are open."),
    "acai_jobs": ("gauge", "Jobs by where they are, those that have ended too."),
    "acai_cost_usd_total": ("counter", "What jobs have cost."),
    "acai_billed_seconds_total": ("counter", "How long jobs were billed for."),
    "acai_waited_seconds_total": ("counter", "How long jobs have waited from being submitted to their first start."),
    "acai_stored_bytes": ("gauge", "What the object store holds, by who sent it."),
}


class HealthHandler(BaseHandler):
    """Answers anybody, and says nothing else."""

    endpoints: ClassVar[dict[str, Any]] = {"GET": endpoints.GET_HEALTH}

    async def authenticate(self) -> None:
        """Admit every caller; another verb is refused."""
        self.current_user = self._jupyter_current_user = JupyterUser("nobody")
        assert self.endpoint

    @allow_unauthenticated
    async def get(self) -> None:
        """Answer."""
        self.decode_query()
        self.answer(Health())


class ReadinessHandler(HealthHandler):
    """Answers when requests would be served; what keeps them from it is the error."""

    endpoints: ClassVar[dict[str, Any]] = {"GET": endpoints.GET_READINESS}

    @allow_unauthenticated
    async def get(self) -> None:
        """Ask the database."""
        self.decode_query()
        found = await self.host.connect()
        if isinstance(found, Upstream):
            self.answer(Readiness())
            return
        await self.in_thread(found.checkups.is_ready)
        damaged = await self.in_thread(found.lake.damages.count)
        self.answer(Readiness(warning=found.spare.warning(), damaged_files=damaged))


class MetricsHandler(StreamHandler):
    """All numbers in the text format, by name."""

    endpoints: ClassVar[dict[str, Any]] = {"GET": endpoints.GET_METRICS}

    def content_type(self, query: Any) -> str:
        """The format's own."""
        del query
        return "text/plain; version=0.0.4; charset=utf-8"

    def pieces(self, call: Call) -> Iterator[bytes]:
        """Give the lines."""
        from acai_server.db.metrics import Sample  # it loads SQLAlchemy, which JupyterLab starts without

        here = [
            Sample("acai_info", {"version": __version__}, 1),
            Sample("acai_open_streams", {}, len(self.host.streams)),
            *(Sample(*one) for one in self.host.requests.samples()),
        ]
        yield "\n".join(_lines([*here, *call.services.checkups.samples()])).encode() + b"\n"


def _lines(samples: Iterable[Sample]) -> Iterator[str]:
    last = ""
    for sample in samples:
        if sample.name != last:
            last = sample.name
            kind, said = _HELP[last]
            yield f"# HELP {last} {said}"
            yield f"# TYPE {last} {kind}"
        labels = ",".join(f'{name}="{_escaped(value)}"' for name, value in sample.labels.items())
        yield f"{sample.name}{{{labels}}} {sample.value:.17g}" if labels else f"{sample.name} {sample.value:.17g}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
