"""Interrupts of somebody who submits: nothing half done, and nothing that goes on without being told."""

from __future__ import annotations

import signal

import pytest

from acai_jupyter.commands.interrupts import Interrupts, Unwatched
from acai_jupyter.commands.submitting import detached, whole
from acai_jupyter.contract.sweeps import Sweep

GIVEN = Sweep("sweep-7", [], {})


def interrupt() -> None:
    signal.raise_signal(signal.SIGINT)


def test_an_interrupt_waits_until_what_is_whole_is_done() -> None:
    done = []

    def act() -> int:
        interrupt()
        done.append(1)
        return 3

    with Interrupts() as interrupts:
        assert interrupts.whole(act) == 3
        assert done == [1]
        with pytest.raises(KeyboardInterrupt):
            interrupts.check()
        interrupts.check()  # it was raised once
    with pytest.raises(KeyboardInterrupt):  # and Python has them again
        interrupt()


def test_who_is_interrupted_while_submitting_is_told_what_was_submitted() -> None:
    def give(interrupts: Interrupts) -> Sweep:
        del interrupts
        interrupt()
        return GIVEN

    with pytest.raises(Unwatched, match=r"Still running as sweep-7\. Follow again: acai attach sweep-7"):
        detached(give, "acai")


def test_who_is_interrupted_right_after_it_too() -> None:
    with pytest.raises(Unwatched, match="End all: acai kill sweep-7"):
        detached(lambda _: GIVEN, "acai", lambda _: interrupt())


def test_a_second_interrupt_ends_the_waiting_for_a_server_that_does_not_answer() -> None:
    def give(interrupts: Interrupts) -> Sweep:
        del interrupts
        interrupt()
        interrupt()
        raise AssertionError("nobody waits any more")

    with Interrupts() as interrupts, pytest.raises(Unwatched, match="not known whether this was submitted; acai jobs"):
        whole(interrupts, give, "acai")


def test_between_two_tries_the_first_interrupt_is_enough() -> None:
    def give(interrupts: Interrupts) -> Sweep:
        interrupt()
        interrupts.pause(0.0)
        raise AssertionError("it is not tried again")

    with Interrupts() as interrupts, pytest.raises(Unwatched, match="not known"):
        whole(interrupts, give, "acai")
