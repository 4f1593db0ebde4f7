"""Jobs on several nodes: what each agent is told, and what all of their ends mean together."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from acai_jupyter.contract.launch import read_launch
from acai_jupyter.contract.prices import PriceBook
from acai_server.db import schema
from acai_server.db.database import Database
from acai_server.provisioner.prices import Tariff
from acai_server.runners.gangs import together
from acai_server.runners.protocol import Ended
from acai_server.testing.lakes import key_of
from acai_server.testing.stages import JobUser, staged

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acai_jupyter.contract.launch import InputFile, LaunchDocument
    from acai_server.clock import Clock

LOST = Ended(None, "its machine is gone", machine_failed=True)
WELL = Ended(0)


@pytest.fixture
def user() -> Iterator[JobUser]:
    made: list[Database] = []

    def make(clock: Clock) -> Database:
        made.append(Database("sqlite://", clock))
        schema.migrate(made[0])
        return made[0]

    user = staged(make)
    with closing(made[0]):
        yield user


def documents(user: JobUser, number: int) -> list[tuple[LaunchDocument, list[InputFile]]]:
    order = user.runner.orders[user.attempt(number)]
    return [read_launch(user.objects.get(key_of(url))) for url in (order.launch_url, *order.others)]


def ends(user: JobUser, number: int, *each: Ended) -> None:
    end = together(each)
    assert end is not None
    user.runner.ends[user.attempt(number)] = end
    user.look()


def test_each_agent_is_told_its_rank_and_has_slots_of_its_own(user: JobUser) -> None:
    number = user.submit(nodes=3)
    user.schedule()
    told = [document for document, _ in documents(user, number)]
    assert [one.gang.rank for one in told if one.gang is not None] == [0, 1, 2]
    assert len({url for one in told for url in (*one.slots.log, *one.slots.packs, one.slots.result)}) == 3 * 65
    assert len({tuple(one.gang.programs) for one in told if one.gang is not None}) == 1


def test_all_nodes_have_to_find_room_at_once(user: JobUser) -> None:
    first, second = user.submit(nodes=40), user.submit(nodes=40)
    assert (len(user.schedule()), user.states(first, second)) == (1, ["launching", "queued"])
    waiting = user.job(second).waiting
    assert waiting is not None
    assert waiting.sentence.startswith("It waits for room: it asks for 40 vCPU and 24 of 64 are free")


def test_outputs_of_all_nodes_are_one_set_and_all_nodes_are_paid_for(user: JobUser) -> None:
    number = user.submit(nodes=2, output="made")
    user.schedule()
    user.time.pass_by(3600.0)
    user.leave(number, outputs={"a": b"zero", "both": b"0"}, billed_seconds=3600.0)
    user.leave(number, outputs={"b": b"one", "both": b"1"}, rank=1)
    ends(user, number, WELL, WELL)
    job = user.job(number)
    assert (job.state.value, job.output, job.nodes) == ("finished", "made:1", 2)
    assert user.lake.read("@made:1") == {"/made/a": b"zero", "/made/b": b"one", "/made/both": b"0"}
    assert job.attempts[0].warnings == ["both was written by several nodes; that of node 0 is kept"]
    assert job.attempts[0].cost_usd == pytest.approx(2 * Tariff(PriceBook()).cost_usd(1, 1024**3, 3600))


def test_the_node_that_failed_is_named_and_all_are_tried_again_from_the_checkpoint(user: JobUser) -> None:
    number = user.submit(nodes=2, retries=1)
    user.schedule()
    user.leave(
        number, 143, was_stopped=True, followed=True, reason="node 1 ended with status 3", checkpoint={"a": b"0"}
    )
    user.leave(number, 3, rank=1, checkpoint={"a": b"1", "b": b"1"})
    ends(user, number, Ended(143), Ended(3))
    assert user.states(number) == ["queued"]
    assert user.job(number).attempts[0].transitions[-1].reason == "node 1: exit 3"
    user.time.pass_by(10.0)
    user.schedule()
    for document, files in documents(user, number):
        assert [(file.path, file.is_code) for file in files] == [(".checkpoint/a", True), (".checkpoint/b", True)]
        assert [key_of(document.objects[file.object]).split("/")[-2:] for file in files] == [
            ["pack", "0"],
            ["pack_1", "0"],
        ]
        assert not document.keep_checkpoint
    user.leave(number, 3)
    user.leave(number, 143, was_stopped=True, followed=True, rank=1)
    ends(user, number, Ended(3), Ended(143))
    assert (user.states(number), user.job(number).reason) == (["failed"], "node 0: exit 3")


@pytest.mark.parametrize(
    ("each", "counts"),
    [
        ((WELL, None), None),
        ((WELL, WELL), WELL),
        ((Ended(143, followed=True), Ended(3)), Ended(3)),
        ((Ended(1), LOST), LOST),
        ((LOST, Ended(137, out_of_memory=True)), Ended(137, out_of_memory=True)),
    ],
)
def test_a_gang_ends_as_the_one_whose_end_made_the_others_end(
    each: tuple[Ended | None, ...], counts: Ended | None
) -> None:
    found = together(each)
    assert (None if found is None else (found.exit_code, found.reason)) == (
        None if counts is None else (counts.exit_code, counts.reason)
    )


def test_a_gang_that_a_machine_failed_has_crashed_whatever_its_programs_said(user: JobUser) -> None:
    number = user.submit(nodes=2, retries=0)
    user.schedule()
    user.leave(number, 1)
    ends(user, number, Ended(1), LOST)
    assert (user.states(number), user.job(number).reason) == (["crashed"], "node 1: its machine is gone")


def test_a_gang_that_did_not_come_together_has_crashed(user: JobUser) -> None:
    number = user.submit(nodes=2, retries=0)
    user.schedule()
    user.leave(
        number, 125, never_began=True, reason="its nodes could not begin together: 1 of 2 were ready within 600 s"
    )
    ends(user, number, Ended(125), Ended(None, "it was stopped before it began"))
    assert user.states(number) == ["crashed"]
    assert "could not begin together" in user.job(number).reason
