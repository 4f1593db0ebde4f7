"""How much of what somebody looked into fits into an entry of the audit log."""

from __future__ import annotations

from acai_server.credentials.audit import MAX_THING, joined


def test_few_things_are_all_named() -> None:
    assert joined(["file set a:1", "file /a\n.txt"]) == r"file set a:1, file /a\n.txt"


def test_of_many_the_others_are_counted() -> None:
    things = [f"file /clinical/{number:06}.txt" for number in range(1_000_000)]
    said = joined(things)
    assert len(said) <= MAX_THING
    named, _, count = said.removesuffix(" more").rpartition(" and ")
    shown = named.split(", ")
    assert shown == things[: len(shown)]
    assert int(count.replace(",", "")) == len(things) - len(shown)


def test_one_that_is_too_long_is_cut() -> None:
    assert joined(["file /" + "x" * 5000]).startswith("file /xxx")
    assert len(joined(["file /" + "x" * 5000, "file /b"])) <= MAX_THING
