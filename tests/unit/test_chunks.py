"""Chunks that are remembered: those that were asked for last, within so many bytes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from acai_jupyter.contract.ids import ProjectId
from acai_server.db.chunks import ChunkMemory

ONE, OTHER = ProjectId(1), ProjectId(2)
NAMES = st.sampled_from([b"a", b"b", b"c", b"d", b"e"])


def test_what_was_not_asked_for_the_longest_is_forgotten() -> None:
    memory = ChunkMemory(most_bytes=30)
    for name in (b"a", b"b", b"c"):
        memory.add(ONE, name, name * 10)
    assert memory.get(ONE, b"a") == b"a" * 10
    memory.add(ONE, b"d", b"d" * 10)
    assert memory.get(ONE, b"b") is None
    assert memory.get(ONE, b"a") == b"a" * 10
    memory.add(ONE, b"e", b"e" * 31)
    assert memory.get(ONE, b"e") is None


def test_projects_remember_for_themselves() -> None:
    memory = ChunkMemory()
    memory.add(ONE, b"a", b"body")
    assert (memory.get(ONE, b"a"), memory.get(OTHER, b"a")) == (b"body", None)


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([ONE, OTHER]), NAMES)))
def test_however_it_is_used_it_says_what_it_was_told_and_keeps_its_size(
    steps: list[tuple[bool, ProjectId, bytes]],
) -> None:
    memory = ChunkMemory(most_bytes=50)
    told: dict[tuple[ProjectId, bytes], bytes] = {}
    for adds, project, name in steps:
        if adds:
            told[project, name] = (b"%d" % project + name) * (name[0] % 7 + 1)
            memory.add(project, name, told[project, name])
        assert memory.get(project, name) in (None, told.get((project, name)))
        remembered = [body for key, body in told.items() if memory.get(*key) is not None]
        assert memory.size_bytes == sum(map(len, remembered)) <= 50
