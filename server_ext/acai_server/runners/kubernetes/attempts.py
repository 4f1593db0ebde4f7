"""What lives in the cluster, put together from what two watches see. All of it happens on one event loop."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from acai_jupyter.contract.errors import AcaiError
from acai_server.runners.gangs import attempt_of
from acai_server.runners.kubernetes import calls, reasons
from acai_server.runners.kubernetes.api import Gone, Missing, Taken, decoded
from acai_server.runners.kubernetes.objects import ATTEMPT, CONTAINER, member_of, members_of, name_of, selector
from acai_server.runners.kubernetes.pod_logs import PodLog
from acai_server.runners.kubernetes.seen import Event, Listed, Pod
from acai_server.runners.protocol import Ended

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from pathlib import Path

    from acai_server.runners.kubernetes.api import Api
    from acai_server.runners.kubernetes.seen import Job
    from acai_server.runners.kubernetes.settings import KubernetesSettings

TEND_SECONDS = 1.0
_UNMADE_SECONDS = 1.5
"""A pod that is not there by then is asked about."""
_SEEN_SECONDS = 600.0
_LONGEST_ASKING_SECONDS = 30.0
_LONGEST_PAUSE_SECONDS = 5.0
_LAST_READS = 5
LOOK_SECONDS = 5.0
"""So often a log is read of which there is no stream, or less often where many are."""
_LOOKS_AT_ONCE = 8
_TROUBLE = (AcaiError, Missing, Taken, Gone)


@dataclass
class Attempt:
    """An agent whose Kubernetes Job was seen: that of an attempt, or one of its gang."""

    name: str
    log: PodLog
    job: Job | None = None
    pod: Pod | None = None
    put_at: float = field(default_factory=time.monotonic)
    asked: bool = False
    """Its end was asked for here."""
    end: Ended | None = None
    over: asyncio.Event = field(default_factory=asyncio.Event)
    """Its end is known, and all that it printed."""
    reader: asyncio.Task[None] | None = None
    is_sought: bool = False
    """Its Job is over and no pod was seen: it is being looked for."""
    why: str = ""
    """Why it has no pod yet, when that is known."""
    asked_about_at: float = 0.0
    asking_seconds: float = _UNMADE_SECONDS

    @property
    def has_begun(self) -> bool:
        """Whether its container runs or ran, or it has ended otherwise."""
        if self.end is not None:
            return True
        state = None if self.pod is None else reasons.container(self.pod)
        return state is not None and (state.running is not None or state.terminated is not None)


class Attempts:
    """Follows attempts from their Kubernetes Job to their end. `news` is told of ends, `lines` of what was printed."""

    def __init__(
        self,
        api: Api,
        settings: KubernetesSettings,
        folder: Path,
        *,
        news: Callable[[], None],
        lines: Callable[[], None],
    ) -> None:
        self._api = api
        self._settings = settings
        self._folder = folder
        self._news = news
        self._lines = lines
        self._known: dict[str, Attempt] = {}
        self._gangs: dict[str, list[str]] = {}
        """The names of each attempt's agents, by rank."""
        self._pods: dict[str, Pod] = {}
        self._cleaned: dict[str, float] = {}
        """Names whose Kubernetes Job may still be seen for a while, and since when."""
        self.is_ready = False
        self.unwanted: set[str] = set()
        """Names of which something may have been made that must not stay."""
        self._streams = asyncio.Semaphore(settings.max_streams)
        self._looks = asyncio.Semaphore(_LOOKS_AT_ONCE)
        self._tasks: set[asyncio.Task[Any]] = set()

    def of(self, attempt: str) -> list[Attempt]:
        """Return the agents of an attempt by rank, none of one that is not known. From any thread."""
        found = (self._known.get(name) for name in self._gangs.get(attempt, ()))
        return [one for one in found if one is not None]

    def all(self) -> list[Attempt]:
        """Return all agents."""
        return list(self._known.values())

    def names(self) -> list[str]:
        """Return the names of all attempts. From any thread."""
        return list(self._gangs)

    async def begin(self) -> None:
        """Judge what was seen: now all was that there is. Returns when all that had ended has been read."""
        self.is_ready = True
        for one in list(self._known.values()):
            self._look(one)
        await asyncio.gather(*(one.over.wait() for one in list(self._known.values()) if one.end is not None))

    def add(self, job: Job) -> None:
        """Know of a Kubernetes Job."""
        names = members_of(job)
        for name in names:
            one = self._known.get(name)
            if one is None:
                one = self._known[name] = Attempt(name, PodLog(self._folder / name), pod=self._pods.get(name))
            one.job = job
        self._gangs[attempt_of(names[0])] = names  # when all are known: others look from their threads
        for name in names:
            self._look(self._known[name])

    def forget(self, attempt: str) -> None:
        """Know of it no more."""
        names = self._gangs.pop(attempt, [])
        if names:
            self._cleaned[attempt] = time.monotonic()
        for name in names:
            one = self._known.pop(name)
            self._pods.pop(name, None)
            if one.reader is not None:
                one.reader.cancel()
            one.over.set()
        for name in names or [attempt]:
            PodLog(self._folder / name).remove()

    def take_job(self, job: Job) -> None:
        """See a Kubernetes Job that is new or other."""
        name = job.metadata.labels.get(ATTEMPT, "")
        if name and name not in self._cleaned:
            self.add(job)

    def drop_job(self, job: Job) -> None:
        """See a Kubernetes Job go."""
        name = job.metadata.labels.get(ATTEMPT, "")
        self._cleaned.pop(name, None)
        for one in self.of(name):
            one.job = None
            self._look(one)

    def fill_jobs(self, jobs: list[Job], asked_at: float) -> None:
        """See all Kubernetes Jobs that there are."""
        found = {job.metadata.labels.get(ATTEMPT, "") for job in jobs}
        for job in jobs:
            self.take_job(job)
        for one in list(self._known.values()):
            if attempt_of(one.name) not in found and one.put_at < asked_at:
                one.job = None
                self._look(one)

    def take_pod(self, pod: Pod) -> None:
        """See a pod that is new or other."""
        name = member_of(pod)
        if not name or attempt_of(name) in self._cleaned:
            return
        self._pods[name] = pod
        one = self._known.get(name)
        if one is not None:
            one.pod = pod
            self._look(one)

    def drop_pod(self, pod: Pod) -> None:
        """See a pod go; what was last seen of it counts."""
        name = member_of(pod)
        self._pods.pop(name, None)
        one = self._known.get(name)
        if one is not None and one.end is None:
            one.pod = pod
            end = reasons.end_of(pod, one.job, asked=one.asked, now=_now())
            self._ends(one, end or reasons.end_of_gone(pod, one.job, asked=one.asked), is_gone=True)

    def fill_pods(self, pods: list[Pod], asked_at: float) -> None:
        """See all pods that there are."""
        found = {member_of(pod) for pod in pods}
        for name, pod in list(self._pods.items()):
            one = self._known.get(name)
            if name not in found and (one is None or one.put_at < asked_at):
                self.drop_pod(pod)
        for pod in pods:
            self.take_pod(pod)

    async def tend(self) -> None:
        """Look now and then after what no watch tells: that time goes by."""
        while True:
            await asyncio.sleep(TEND_SECONDS)
            for one in list(self._known.values()):
                if one.end is None:
                    self._look(one)
                    if one.end is None and one.pod is None and one.job is not None and not one.job.spec.suspend:
                        self._ask_about(one)
            for name in list(self.unwanted):
                await self._quietly(self._remove_unwanted(name))
            long_ago = time.monotonic() - _SEEN_SECONDS
            self._cleaned = {name: at for name, at in self._cleaned.items() if at > long_ago}

    def run(self, work: Coroutine[Any, Any, Any]) -> None:
        """Have something done aside."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """End all that is done aside."""
        tasks = [*self._tasks, *(one.reader for one in self._known.values() if one.reader is not None)]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def remove(self, name: str) -> None:
        """Remove the Kubernetes Job of an attempt, and with it all that belongs to it."""
        await self.delete(calls.DELETE_JOB, name_of(self._settings.instance, name))

    async def delete(self, call: calls.Call, name: str, *, at_once: bool = False) -> None:
        """Delete an object, if it is there, and what belongs to it; a pod has its grace unless it is to go at once."""
        words = {"propagationPolicy": "Background"} | ({"gracePeriodSeconds": "0"} if at_once else {})
        try:
            await self._api.ask(call, name, words=words)
        except (Missing, Taken):  # taken: it is being deleted, and was changed meanwhile
            return

    def _look(self, one: Attempt) -> None:
        """See whether an attempt has ended, or its log can be followed."""
        if one.end is not None or not self.is_ready:
            return
        if one.pod is None:
            end = reasons.end_without_pod(one.job, asked=one.asked)
            if end is not None and one.job is not None and not one.is_sought:
                one.is_sought = True
                self.run(self._quietly(self._seek_pod(one, end)))
                return
        else:
            end = reasons.end_of(one.pod, one.job, asked=one.asked, now=_now())
            end = end or self._never_starts(one.pod)
            if reasons.container(one.pod).running is not None and one.reader is None:
                one.reader = asyncio.get_running_loop().create_task(self._follow(one, one.pod.metadata.name))
        if end is not None:
            self._ends(one, end)

    async def _seek_pod(self, one: Attempt, end: Ended) -> None:
        """Look for the pod of a Job that is over: the other watch may be behind."""
        try:
            ours = f"{selector(self._settings.instance)},{ATTEMPT}={attempt_of(one.name)}"
            text = await self._api.ask(calls.LIST_PODS, words={"labelSelector": ours})
        except AcaiError:
            one.is_sought = False  # seen to again at the next look
            return
        found = [pod for pod in decoded(text, Listed[Pod]).found if member_of(pod) == one.name]
        if found and one.pod is None:
            self.take_pod(found[0])
        elif one.end is None and one.pod is None:
            self._ends(one, end)

    def give_up(self, one: Attempt, end: Ended) -> None:
        """Let an attempt end that cannot go on."""
        if one.end is None:
            self._ends(one, end)

    def _ends(self, one: Attempt, end: Ended, *, is_gone: bool = False) -> None:
        one.end = replace(end, followed=True) if end.machine_failed and self._follows(one) else end
        self.run(self._finish(one, is_gone=is_gone))

    def _follows(self, one: Attempt) -> bool:
        """Whether another of its gang failed before: then the cluster has deleted its pod as well."""
        others = (other.end for other in self.of(attempt_of(one.name)) if other is not one)
        return any(end is not None and end.exit_code != 0 and not end.followed for end in others)

    async def _follow(self, one: Attempt, pod: str) -> None:
        """Take what a pod prints, as it comes; what breaks off goes on where it was.

        While there are as many streams as may be, it is read now and then: what its agent says is in it, too.
        """
        while self._streams.locked() and one.end is None:
            async with self._looks:
                await self._quietly(self._read(one, pod))
            await asyncio.sleep(LOOK_SECONDS)
        pause = 0.0
        async with self._streams:
            while one.end is None:
                try:
                    if await self._read(one, pod, follow="true"):
                        pause = 0.0
                except _TROUBLE:
                    pass  # its end, or the API server's answer, is seen elsewhere
                pause = min(_LONGEST_PAUSE_SECONDS, 2 * pause or 0.1)
                await asyncio.sleep(pause)

    async def _read(self, one: Attempt, pod: str, **options: str) -> bool:
        one.log.resume()
        words = {"container": CONTAINER, "timestamps": "true", **options}
        if one.log.since:
            words["sinceTime"] = one.log.since
        has_more = False
        async for piece in self._api.stream(calls.READ_LOG, pod, words):
            if one.log.take(piece):
                has_more = True
                self._lines()
        return has_more

    async def _finish(self, one: Attempt, *, is_gone: bool) -> None:
        """Read what is left of the log, then say that it is over."""
        if one.reader is not None:
            one.reader.cancel()
            await asyncio.gather(one.reader, return_exceptions=True)
        pod = one.pod
        if pod is not None and not is_gone and reasons.container(pod).terminated is not None:
            await self._read_last(one, pod.metadata.name)
        elif one.job is not None and not is_gone:  # it must not come to life after its end
            await self._quietly(self.delete(calls.DELETE_JOB, one.job.metadata.name))
        one.over.set()
        self._news()

    async def _read_last(self, one: Attempt, pod: str) -> None:
        for _ in range(_LAST_READS):
            try:
                await self._read(one, pod)
            except (Missing, Taken, Gone):
                return
            except AcaiError:
                await asyncio.sleep(0.5)
            else:
                return

    def _ask_about(self, one: Attempt) -> None:
        """Ask why there is no pod, at first soon, then seldom."""
        now = time.monotonic()
        if now - max(one.put_at, one.asked_about_at) < one.asking_seconds:
            return
        one.asked_about_at, one.asking_seconds = now, min(_LONGEST_ASKING_SECONDS, 2 * one.asking_seconds)
        self.run(self._quietly(self._learn_why(one)))

    async def _learn_why(self, one: Attempt) -> None:
        assert one.job is not None
        about = {"fieldSelector": f"involvedObject.uid={one.job.metadata.uid}"}
        events: list[Event] = decoded(await self._api.ask(calls.LIST_EVENTS, words=about), Listed[Event]).found
        events.sort(key=lambda event: event.metadata.creation_timestamp or _now())
        refused = reasons.never_made(events)
        one.why = reasons.why_not_made(events)
        if refused and one.end is None and one.pod is None:
            await self._quietly(self.delete(calls.DELETE_JOB, one.job.metadata.name))
            self._ends(one, Ended(None, refused))

    async def _remove_unwanted(self, name: str) -> None:
        await self.remove(name)
        self.unwanted.discard(name)
        self.forget(name)

    async def _quietly(self, work: Coroutine[Any, Any, object]) -> None:
        try:
            await work
        except _TROUBLE:
            return

    def _never_starts(self, pod: Pod) -> Ended | None:
        began = pod.metadata.creation_timestamp
        waited = 0.0 if began is None else (_now() - began).total_seconds()
        reason = reasons.never_starts(pod, waited, self._settings.image_patience_seconds)
        return Ended(None, reason) if reason else None


def _now() -> datetime:
    return datetime.now(UTC)
