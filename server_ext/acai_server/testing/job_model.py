"""Any lives of jobs, against a simple model: what users, programs, machines and servers may do, in any order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import hypothesis
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from acai_jupyter.contract.errors import Conflict
from acai_jupyter.contract.jobs import Resources
from acai_jupyter.contract.states import END_STATES, JOB_TRANSITIONS, LIVE_STATES, JobState
from acai_server.testing.stages import MIB, JobUser, StagedRunner

if TYPE_CHECKING:
    from collections.abc import Callable

ORDER = ("launching", "downloading", "running", "uploading")


@dataclass
class Life:
    """What must be true of a job."""

    retries: int
    retry_failed: bool
    most_memory: int | None
    state: str = "queued"
    attempts: int = 0
    memory: int = 512
    killed: bool = False
    deleted: bool = False
    paused: bool = False
    steps: list[str] = field(default_factory=lambda: ["queued"])

    def to(self, state: str) -> None:
        """Go on."""
        self.state = state
        self.steps.append(state)

    def end(self, state: str, *, out_of_memory: bool = False) -> None:
        """End an attempt, and perhaps try again."""
        if self.killed and state != "finished":
            self.to("killed")
            return
        if state == "finished" and self.state != "uploading":
            self.to("uploading")
        self.to(state)
        if self.attempts > self.retries:
            return
        if out_of_memory:
            if self.most_memory is not None and self.most_memory > self.memory:
                self.memory = min(2 * self.memory, self.most_memory)
                self.to("queued")
        elif state == "crashed" or (state == "failed" and self.retry_failed):
            self.paused = True
            self.to("queued")


class Lives(RuleBasedStateMachine):
    """One user with a quota of two."""

    make: Callable[[], JobUser]
    jobs = Bundle("jobs")

    def __init__(self) -> None:
        super().__init__()
        self.user = type(self).make()
        self.lives: dict[int, Life] = {}

    @rule(target=jobs, retries=st.integers(0, 2), retry_failed=st.booleans(), most=st.sampled_from([None, 512, 1536]))
    def submit(self, retries: int, retry_failed: bool, most: int | None) -> int:
        share = Resources(1, 512 * MIB, 0, None if most is None else most * MIB)
        number = self.user.submit(resources=share, retries=retries, retry_failed=retry_failed)
        assert number == len(self.lives) + 1
        self.lives[number] = Life(retries, retry_failed, most)
        return number

    @rule()
    def schedule(self) -> None:
        started = [int(name.split("-")[2]) for name in self.user.schedule()]
        ready = [number for number, life in self.lives.items() if life.state == "queued" and not life.paused]
        room = 2 - len(self._live())
        assert started == ready[: max(0, room)]
        for number in started:
            self.lives[number].attempts += 1
            self.lives[number].to("launching")

    @rule(job=jobs, state=st.sampled_from(ORDER[1:]))
    def say(self, job: int, state: str) -> None:
        life = self.lives[job]
        if life.state not in ORDER or self._has_ended(job):
            return
        self.user.say(job, state=state)
        self.user.look()
        if ORDER.index(state) > ORDER.index(life.state):
            life.to(state)

    @rule(job=jobs, how=st.sampled_from(["finished", "failed", "memory", "crashed", "unseen"]))
    def end(self, job: int, how: str) -> None:
        life = self.lives[job]
        if life.state not in ORDER:
            return
        ends: dict[str, Callable[[], Any]] = {
            "finished": lambda: self.user.finish(job),
            "failed": lambda: self.user.finish(job, 1),
            "memory": lambda: self.user.finish(job, 137, ran_out_of_memory=True),
            "crashed": lambda: self.user.end(job),
            "unseen": lambda: self.user.end(job, None),
        }
        ends[how]()
        self.user.look()
        state = {"finished": "finished", "failed": "failed", "memory": "failed"}.get(how, "crashed")
        life.end(state, out_of_memory=how == "memory")

    @rule(job=jobs)
    def kill(self, job: int) -> None:
        life = self.lives[job]
        if JobState(life.state) in END_STATES:
            try:
                self.user.kill(job)
            except Conflict:
                return
            raise AssertionError("a job that has ended was killed")
        self.user.kill(job)
        if life.state == "queued":
            life.to("killed")
        else:
            life.killed = True

    @rule(job=jobs, undo=st.booleans())
    def remove(self, job: int, undo: bool) -> None:
        life = self.lives[job]
        try:
            self.user.remove(job, undo=undo)
        except Conflict:
            assert not undo
            assert JobState(life.state) not in END_STATES
            return
        life.deleted = not undo

    @rule()
    def let_time_pass(self) -> None:
        self.user.time.pass_by(400)
        for life in self.lives.values():
            life.paused = False

    @rule()
    def restart_the_server(self) -> None:
        self.user.engine = self.user.another_engine()

    @rule()
    def restart_the_machine(self) -> None:
        self.user.runner.forget()
        self.user.engine = self.user.another_engine()
        self.user.look()
        for number in self._live():
            self.lives[number].end("crashed")

    @rule()
    def look_twice_from_two_servers(self) -> None:
        if any(self._has_ended(number) for number in self._live()):  # who stops it does so in its own time
            return
        other = self.user.another_engine()
        other.monitor.step()
        self.user.look()

    @invariant()
    def jobs_are_as_the_model_says(self) -> None:
        listed = {job.number: job for job in self.user.engine.jobs(self.user.project, None, 1000).jobs}
        assert sorted(listed) == [number for number, life in self.lives.items() if not life.deleted]
        for number, job in listed.items():
            life = self.lives[number]
            assert (job.state.value, len(job.attempts)) == (life.state, life.attempts), number
            assert (job.ended_at is not None) is (job.state in END_STATES)

    @invariant()
    def every_step_was_told_once_and_is_in_the_table(self) -> None:
        for number, life in self.lives.items():
            told = [kind for kind in self.user.events(number) if kind in set(JobState)]
            assert told == [step for step in life.steps if step != "uploading"] or told == life.steps
            for before, after in zip(life.steps, life.steps[1:], strict=False):
                assert JobState(after) in JOB_TRANSITIONS[JobState(before)], (before, after)

    def _live(self) -> list[int]:
        return [number for number, life in self.lives.items() if JobState(life.state) in LIVE_STATES]

    def _has_ended(self, job: int) -> bool:
        """Whether a job's attempt was stopped meanwhile, by a kill that was noticed."""
        return self.lives[job].killed


def check_lives(make: Callable[[], JobUser], max_examples: int) -> None:
    """Live many lives, each in a project of its own."""
    machine = type("LivesHere", (Lives,), {"make": staticmethod(make)})
    settings = hypothesis.settings(
        max_examples=max_examples,
        stateful_step_count=30,
        deadline=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    run_state_machine_as_test(machine, settings=settings)


def in_new_projects(user: JobUser) -> Callable[[], JobUser]:
    """Return what makes users of new projects of the same database."""
    count = iter(range(1_000_000))

    def make() -> JobUser:
        with user.database.connect() as connection:  # an engine serves all projects, and is to see only this one
            connection.exec_driver_sql("UPDATE job SET state = 'killed', ended_at = created_at WHERE ended_at IS NULL")
            connection.commit()
        number = next(count)
        return JobUser(user.database, user.time, StagedRunner(), name=f"u{number}", project_name=f"p{number}", quota=2)

    return make
