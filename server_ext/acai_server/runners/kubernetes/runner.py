"""The runner of a cluster: a thread with an event loop that sees all, and what others ask of it from theirs."""

from __future__ import annotations

import asyncio
import logging
import secrets as random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from acai_jupyter.contract.errors import AcaiError, Unavailable
from acai_server.runners.gangs import attempt_of, together
from acai_server.runners.kubernetes import calls, objects
from acai_server.runners.kubernetes.agents import SharedAgent, packed
from acai_server.runners.kubernetes.api import Api, Missing, Taken, decoded
from acai_server.runners.kubernetes.attempts import Attempts
from acai_server.runners.kubernetes.credentials import find
from acai_server.runners.kubernetes.nodes import Nodes
from acai_server.runners.kubernetes.pod_logs import PodLog
from acai_server.runners.kubernetes.reasons import LOST, why_waiting
from acai_server.runners.kubernetes.secret_keys import SecretKeys
from acai_server.runners.kubernetes.seen import Job, Listed, Node, Pod
from acai_server.runners.kubernetes.watching import Watch
from acai_server.runners.protocol import Ended

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterable, Mapping
    from pathlib import Path

    from acai_jupyter.contract.environments import Lock
    from acai_jupyter.contract.jobs import Resources
    from acai_jupyter.contract.projects import Machine
    from acai_server.runners.kubernetes.attempts import Attempt
    from acai_server.runners.kubernetes.settings import KubernetesSettings
    from acai_server.runners.protocol import Meeting, Order, Runner

_log = logging.getLogger(__name__)
T = TypeVar("T")
SYNC_SECONDS = 10.0
"""So long after its start a runner is waited for to have seen what there is."""
NODES_SECONDS = 60.0
LINES_SECONDS = 0.1
FORCE_SECONDS = 15.0


class KubernetesRunner:
    """An attempt is a Kubernetes Job with a pod, found again by its labels. `folder` keeps what pods print."""

    name = "kubernetes"
    shares_disk = False
    starts_at_once = 8

    def __init__(self, folder: Path, agent: Path, settings: KubernetesSettings) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._folder = folder
        self._agent = packed(agent)
        self._settings = settings
        access = find(settings.kubeconfig, settings.context)
        self._changed = threading.Condition()
        self._woken = False
        self._is_closed = False
        self._patient_until = time.monotonic() + SYNC_SECONDS
        self._synced = threading.Event()
        self._nodes = Nodes()
        self._nodes_read = threading.Event()
        self._lines_at = 0.0
        self._lines_later: asyncio.TimerHandle | None = None
        self._loop = asyncio.new_event_loop()
        self._loop.set_default_executor(ThreadPoolExecutor(1, thread_name_prefix="acai-kubernetes-names"))
        self._thread = threading.Thread(target=self._loop.run_forever, name="acai-kubernetes", daemon=True)
        self._thread.start()
        self._run(self._open(access))

    @property
    def namespace(self) -> str:
        """Where in the cluster its objects are."""
        return self._api.namespace

    def trouble(self) -> str:
        """Return why nothing is seen of the cluster at the moment; empty when it is."""
        self._synced.wait(self._patience())
        return next(filter(None, (watch.trouble for watch in self._watches)), "")

    def machine(self) -> Machine:
        """See the protocol."""
        self._nodes_read.wait(self._patience())
        return self._nodes.machine()

    def machines(self) -> tuple[Machine, ...]:
        """See the protocol."""
        self._nodes_read.wait(self._patience())
        return self._nodes.room()

    def refuses(
        self,
        resources: Resources,
        *,
        nodes: int = 1,
        image: str | None = None,
        secrets: Iterable[str] = (),
        project: str = "",
    ) -> str:
        """See the protocol."""
        if not (image or self._settings.image):
            return "it names no image, and there is none for jobs that do not; give it one with --image"
        self._nodes_read.wait(self._patience())
        refused = self._nodes.refuses(resources, nodes)
        wanted = frozenset(secrets)
        if refused or not wanted:
            return refused
        try:
            return self._run(self._secrets.refuses(project, wanted))
        except AcaiError as error:
            return str(error.details.get("reason", error.message))

    def fits(self, resources: Resources) -> str:
        """See the protocol; the cluster queues by itself."""
        del resources
        return ""

    def is_built(self, lock: Lock) -> bool:
        """See the protocol; pods have what their images have."""
        del lock
        return False

    def meeting(self, attempt: str, nodes: int) -> Meeting:
        """See the protocol; a Service gives pods their names."""
        return objects.meeting(objects.name_of(self._settings.instance, attempt), nodes)

    def start(self, order: Order) -> None:
        """See the protocol."""
        self._run(self._start(self._with_keys(order) if order.secrets else order))

    def _with_keys(self, order: Order) -> Order:
        """Return the order with the keys of its secrets; refuse what its project cannot use any more."""
        wanted = frozenset(order.secrets.values())
        found = self._run(self._secrets.find(order.project, wanted))
        keys = {variable: key for variable, name in order.secrets.items() if (key := found[name]) is not None}
        if len(keys) < len(order.secrets):
            raise Unavailable(reason=self._run(self._secrets.refuses(order.project, wanted)))
        return replace(order, secrets=keys)

    def renew(self, attempt: str, launch_url: str, others: tuple[str, ...] = ()) -> None:
        """See the protocol."""
        self._run(self._patch(calls.PATCH_SECRET, attempt, objects.launch_urls(launch_url, others)))

    def machine_name(self, attempt: str) -> str:
        """See the protocol."""
        names = (one.pod.spec.node_name for one in self._attempts.of(attempt) if one.pod is not None)
        return ", ".join(dict.fromkeys(filter(None, names)))

    def why_waiting(self, attempt: str) -> str:
        """See the protocol; of a gang, what the first waits for that does."""
        return next(filter(None, map(self._why_waiting, self._attempts.of(attempt))), "")

    def _why_waiting(self, one: Attempt) -> str:
        if one.end is not None:
            return ""
        if one.pod is not None:
            return why_waiting(one.pod)
        if one.job is not None and one.job.spec.suspend:
            return f"It waits in the cluster's queue {self._settings.queue}.".replace(" .", ".")
        return one.why or "The cluster makes its pod."

    def printed(self, attempt: str, offset: int, rank: int = 0) -> bytes:
        """See the protocol."""
        names = [one.name for one in self._attempts.of(attempt)] or [attempt]
        return PodLog.read_at(self._folder / names[rank], offset) if rank < len(names) else b""

    def ended(self, attempt: str) -> Ended | None:
        """See the protocol. Costs a look into a table."""
        if not self._synced.is_set():
            self._synced.wait(self._patience())
        agents = self._attempts.of(attempt)
        if not agents:
            return LOST if self._synced.is_set() else None
        return together([one.end if one.over.is_set() else None for one in agents])

    def wait(self, attempts: list[str], seconds: float) -> None:
        """See the protocol. What an agent says is told soon, too: its words are read by who waits here."""
        until = time.monotonic() + seconds
        with self._changed:
            while not self._woken and (left := until - time.monotonic()) > 0:
                if any(self.ended(attempt) is not None for attempt in attempts):
                    break
                self._changed.wait(left)
            self._woken = False

    def wake(self) -> None:
        """See the protocol."""
        with self._changed:
            self._woken = True
            self._changed.notify_all()

    def stop(self, attempt: str) -> None:
        """See the protocol."""
        self._run(self._stop(attempt))

    def clean(self, attempt: str) -> None:
        """See the protocol."""
        self._run(self._clean(attempt))

    def known(self) -> list[str]:
        """See the protocol; all of an attempt goes with its Kubernetes Job."""
        self._synced.wait(self._patience())
        return sorted(self._attempts.names())

    def close(self) -> None:
        """See the protocol."""
        if self._is_closed:
            return
        self._run(self._close())
        self._is_closed = True
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _patience(self) -> float:
        return max(0.0, self._patient_until - time.monotonic())

    async def _open(self, access: Any) -> None:
        settings = self._settings
        self._api = Api(access, settings.namespace or access.namespace)
        self._attempts = Attempts(self._api, settings, self._folder, news=self._tell, lines=self._tell_of_lines)
        self._secrets = SecretKeys(self._api, settings.secrets, settings.shared_secrets)
        self._shared = SharedAgent(self._api, self._agent, settings, self._attempts)
        seen, selector = self._attempts, objects.selector(settings.instance)
        self._filled: set[str] = set()
        jobs = Watch(
            self._api,
            (calls.LIST_JOBS, calls.WATCH_JOBS),
            Job,
            selector,
            take=seen.take_job,
            drop=seen.drop_job,
            fill=lambda found, at: self._fill("jobs", seen.fill_jobs, found, at),
        )
        pods = Watch(
            self._api,
            (calls.LIST_PODS, calls.WATCH_PODS),
            Pod,
            selector,
            take=seen.take_pod,
            drop=seen.drop_pod,
            fill=lambda found, at: self._fill("pods", seen.fill_pods, found, at),
        )
        self._watches = (jobs, pods)
        loops = (jobs.run(), pods.run(), seen.tend(), self._see_nodes(), self._shared.tend())
        self._tasks = [asyncio.create_task(work) for work in loops]

    def _fill(self, kind: str, fill: Any, found: list[Any], asked_at: float) -> None:
        fill(found, asked_at)
        self._filled.add(kind)
        if len(self._filled) == len(self._watches) and not self._attempts.is_ready:
            self._attempts.run(self._sync())
            self._tell()

    async def _sync(self) -> None:
        """Judge what there was at the start; what had ended is known with all that it printed."""
        found = [one for one in self._attempts.all() if not one.has_begun]
        await asyncio.gather(*map(self._look_for_secret, found))
        await self._attempts.begin()
        self._synced.set()
        self._tell()

    async def _close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._attempts.close()
        await self._api.close()

    async def _see_nodes(self) -> None:
        while True:
            try:
                found = decoded(await self._api.ask(calls.LIST_NODES), Listed[Node]).found
                self._nodes = Nodes.of(found, self._settings.gpu_resource, grows=self._settings.grows)
            except AcaiError:
                self._nodes = self._nodes or Nodes()  # it may not be asked, or not now
            self._nodes_read.set()
            await asyncio.sleep(NODES_SECONDS)

    async def _start(self, order: Order) -> None:
        """Make the Kubernetes Job of an attempt, which nobody else can make, and then what belongs to it."""
        if self._attempts.of(order.attempt):
            raise Unavailable(reason=f"{order.attempt} was started before")
        async with self._shared.in_use():
            brought = asyncio.ensure_future(self._shared.bring())
            try:
                job = await self._make_job(order)
                await self._make_belongings(order, job, brought)
            finally:
                brought.cancel()
                await asyncio.gather(brought, return_exceptions=True)
            self._attempts.add(job)

    async def _make_belongings(self, order: Order, job: Job, brought: asyncio.Future[None]) -> None:
        """Make all that belongs to a Job, at once. What fails is told when nothing more is under way."""
        made = [self._make(calls.CREATE_SECRET, objects.secret(order, self._settings, job.metadata.uid))]
        if order.others:
            made += [self._make(calls.CREATE_SERVICE, objects.service(order, self._settings, job.metadata.uid))]
        try:
            faults = await asyncio.gather(brought, *made, return_exceptions=True)
        except BaseException:
            self._attempts.unwanted.add(order.attempt)
            raise
        for fault in filter(None, faults):
            self._attempts.unwanted.add(order.attempt)
            raise fault

    async def _make(self, call: calls.Call, body: dict[str, Any]) -> None:
        """Make what belongs to a Job of ours; it may be there by a try before, whose answer was lost."""
        with suppress(Taken):
            await self._api.ask(call, body=body)

    async def _make_job(self, order: Order) -> Job:
        mark = random.token_hex(8)
        try:
            text = await self._api.ask(
                calls.CREATE_JOB, body=objects.job(order, self._settings, self._shared.name, mark)
            )
            return decoded(text, Job)
        except Taken as taken:  # by the try before, whose answer was lost, or by somebody else
            found = [job for job in await self._jobs_of(order.attempt) if objects.mark_of(job) == mark]
            if not found:
                raise Unavailable(reason=f"{order.attempt} was started before") from taken
            return found[0]
        except Unavailable:  # it may have been made all the same
            self._attempts.unwanted.add(order.attempt)
            raise

    async def _look_for_secret(self, one: Attempt) -> None:
        """Give an attempt up whose start was broken off by the end of its server: it would wait for ever."""
        try:
            name = objects.name_of(self._settings.instance, attempt_of(one.name))
            await self._api.ask(calls.PATCH_SECRET, name, {})
        except Missing:
            self._attempts.give_up(one, Ended(None, "its start was broken off", machine_failed=True))
        except AcaiError as error:
            _log.warning("Whether %s was started is not known: %s", one.name, error.message)

    async def _patch(self, call: calls.Call, attempt: str, body: Mapping[str, Any]) -> None:
        try:
            await self._api.ask(call, objects.name_of(self._settings.instance, attempt), body)
        except Missing:
            return

    async def _jobs_of(self, attempt: str) -> list[Job]:
        selector = f"{objects.selector(self._settings.instance)},{objects.ATTEMPT}={attempt}"
        found: list[Job] = decoded(
            await self._api.ask(calls.LIST_JOBS, words={"labelSelector": selector}), Listed[Job]
        ).found
        return found

    async def _stop(self, attempt: str) -> None:
        """Stop all agents, which have their grace at the same time."""
        await asyncio.gather(*map(self._stop_one, self._attempts.of(attempt)))

    async def _stop_one(self, one: Attempt) -> None:
        """Delete the pod, which has its grace then; without one, the Job, so that none is made."""
        if one.end is not None:
            await one.over.wait()
            return
        one.asked = True
        name = objects.name_of(self._settings.instance, attempt_of(one.name))
        if one.pod is None:
            grace = 0.0
            await self._attempts.delete(calls.DELETE_JOB, name)
        else:
            grace = one.pod.spec.termination_grace_period_seconds
            await self._attempts.delete(calls.DELETE_POD, one.pod.metadata.name)
        try:
            await asyncio.wait_for(one.over.wait(), grace + FORCE_SECONDS)
        except TimeoutError:
            if one.pod is not None:
                await self._attempts.delete(calls.DELETE_POD, one.pod.metadata.name, at_once=True)
            await asyncio.wait_for(one.over.wait(), FORCE_SECONDS)

    async def _clean(self, attempt: str) -> None:
        await self._attempts.remove(attempt)
        self._attempts.forget(attempt)
        await self._shared.take_away()

    def _tell(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _tell_of_lines(self) -> None:
        """Wake who waits, at most so often: the first of some lines at once, the others together."""
        if self._lines_later is not None:
            return
        wait = self._lines_at + LINES_SECONDS - self._loop.time()
        self._lines_later = self._loop.call_later(max(0.0, wait), self._wake_for_lines)

    def _wake_for_lines(self) -> None:
        self._lines_later, self._lines_at = None, self._loop.time()
        self.wake()


if TYPE_CHECKING:
    _proof: type[Runner] = KubernetesRunner
