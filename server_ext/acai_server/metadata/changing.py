"""Changing attributes: what may be set, what is different from before, and who did it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acai_jupyter.contract.errors import BadAttribute, BadRequest, Outdated
from acai_jupyter.contract.metadata import Time
from acai_jupyter.contract.query.builtin import BUILT_IN, PARAMETERS, TAGS, SubjectKind, is_reserved
from acai_jupyter.contract.specs import parse_set, parse_spec
from acai_server.db import sight
from acai_server.db.attributes import as_columns, fault_of

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from acai_jupyter.contract.ids import ProjectId, UserId
    from acai_jupyter.contract.metadata import ThingChange, Value
    from acai_server.db.work import Work
    from acai_server.metadata.things import Thing

_TOLD_THINGS = 100
_LOOKED_BACK = 100
"""Among so many of the last changes of a thing it is looked for who changed a key."""


def change(work: Work, project: ProjectId, user: UserId, wanted: list[tuple[Thing, ThingChange]]) -> list[str]:
    """Change things; returns the names of those that are different now."""
    seen: set[tuple[SubjectKind, int]] = set()
    for thing, one in wanted:
        if (thing.kind, thing.id) in seen:
            raise BadRequest(reason=f"{thing.name} is named twice; give all its changes at once")
        seen.add((thing.kind, thing.id))
        _refuse_closed(thing)
        _check(thing, one)
    changed: list[str] = []
    for kind in SubjectKind:
        changed += _change(work, project, user, kind, [pair for pair in wanted if pair[0].kind is kind])
    if changed:
        subject = _subject(changed[0]) if len(changed) == 1 else f"{len(changed)} things"
        work.events.record(project, "metadata_changed", subject, things=changed[:_TOLD_THINGS])
    return changed


def _refuse_closed(thing: Thing) -> None:
    """Refuse to change what is said of things that are closed to whoever asks."""
    if thing.kind is SubjectKind.FILE_SET:
        sight.refuse_set(parse_set(thing.name).name)
    elif thing.kind is SubjectKind.FILE:
        sight.refuse_paths([parse_spec(thing.name).path])


def _subject(name: str) -> str:
    return f"job {name}" if name.isdigit() else name


def _check(thing: Thing, wanted: ThingChange) -> None:
    for key, value in wanted.set.items():
        _check_key(thing, key, is_own=is_reserved(key))
        reason = fault_of(value)
        if reason is not None:
            raise BadAttribute(key=key, thing=thing.name, reason=reason)
    for key in wanted.delete:
        _check_key(thing, key, is_own=key in BUILT_IN[thing.kind] or key.startswith(PARAMETERS))
        if key in wanted.set:
            raise BadAttribute(key=key, thing=thing.name, reason="it is set and deleted at once")
    _check_expected(thing, wanted)
    for label in [*wanted.add_labels, *wanted.remove_labels]:
        if label != label.strip() or not label.isprintable() or label[:1] in "+-":
            raise BadAttribute(
                key=label[:80], thing=thing.name, reason="a label is one line of text and begins with neither + nor -"
            )


def _check_expected(thing: Thing, wanted: ThingChange) -> None:
    for key, before in wanted.expect.items():
        if key not in wanted.set and key not in wanted.delete:
            raise BadAttribute(key=key, thing=thing.name, reason="a value is expected of it, and it is not changed")
        fault = None if before is None else fault_of(before)
        if fault is not None:
            raise BadAttribute(key=key, thing=thing.name, reason=f"of the value that is expected, {fault}")


def _check_key(thing: Thing, key: str, *, is_own: bool) -> None:
    if key == TAGS:
        raise BadAttribute(key=key, thing=thing.name, reason="it is the list of labels; add one with +LABEL")
    if is_own:
        raise BadAttribute(
            key=key, thing=thing.name, reason="the name is one that the system gives itself; choose another"
        )


def _change(
    work: Work, project: ProjectId, user: UserId, kind: SubjectKind, wanted: list[tuple[Thing, ThingChange]]
) -> list[str]:
    if not wanted:
        return []
    _swap(work, project, kind, wanted)
    rows = [thing.id for thing, _ in wanted]
    given = work.attributes.of_many(project, kind, rows)
    labels = work.attributes.labels_of(project, kind, rows)
    changes = [(thing, one, _difference(one, given[thing.id] | one.expect, labels[thing.id])) for thing, one in wanted]
    changes = [change for change in changes if any(change[2].values())]
    _write(work, project, kind, [(thing.id, _without(found, one.expect)) for thing, one, found in changes])
    work.changes.add(project, kind, user, work.clock.now(), [(thing.id, found) for thing, _, found in changes])
    return [thing.name for thing, _, _ in changes]


def _swap(work: Work, project: ProjectId, kind: SubjectKind, wanted: list[tuple[Thing, ThingChange]]) -> None:
    """Write what is expected to have a value, in one order everywhere: PostgreSQL waits for who has a row."""
    swaps = [(thing, key, one) for thing, one in wanted for key in one.expect]
    if not swaps:
        return
    # New keys come first, and rows by the numbers of their keys, as in `write`, or two who wait for each other would.
    numbers = work.attributes.ensure(project, kind, (key for _, one in wanted for key in (*one.set, *one.expect)))
    for thing, key, one in sorted(swaps, key=lambda swap: (swap[0].id, numbers[swap[1]])):
        if not work.attributes.swap(project, kind, thing.id, key, (one.expect[key], one.set.get(key))):
            found = work.attributes.of_many(project, kind, [thing.id], [key])[thing.id].get(key)
            by = _last_of(work, thing, key)
            if isinstance(found, Time):
                raise Outdated.of(key, _subject(thing.name), by, found.time.isoformat(), type="time")
            raise Outdated.of(key, _subject(thing.name), by, found)


def _without(found: dict[str, Any], keys: Container[str]) -> dict[str, Any]:
    """Return what is left to be done when some keys are."""
    values = {key: value for key, value in found["set"].items() if key not in keys}
    return found | {"set": values, "deleted": [key for key in found["deleted"] if key not in keys]}


def _is_same(one: Value | None, other: Value | None) -> bool:
    return one is other if one is None or other is None else as_columns(one) == as_columns(other)


def _last_of(work: Work, thing: Thing, key: str) -> str:
    """Return who changed a key of a thing last."""
    changes = work.changes.of(thing.kind, thing.id, None, _LOOKED_BACK)
    return next((one.user for one in changes if key in one.set or key in one.deleted), "somebody")


def _difference(wanted: ThingChange, given: Mapping[str, Value | None], labels: list[str]) -> dict[str, Any]:
    """What is to be done; what is so already is not."""
    return {
        "set": {key: value for key, value in wanted.set.items() if not _is_same(given.get(key), value)},
        "deleted": [key for key in dict.fromkeys(wanted.delete) if given.get(key) is not None],
        "added_labels": [label for label in dict.fromkeys(wanted.add_labels) if label not in labels],
        "removed_labels": [
            label for label in dict.fromkeys(wanted.remove_labels) if label in labels and label not in wanted.add_labels
        ],
    }


def _write(work: Work, project: ProjectId, kind: SubjectKind, changes: list[tuple[int, dict[str, Any]]]) -> None:
    records = work.attributes
    records.write(project, kind, [(row, k, v) for row, found in changes for k, v in found["set"].items()])
    records.delete(project, kind, [(row, key) for row, found in changes for key in found["deleted"]])
    records.add_labels(project, kind, [(row, label) for row, found in changes for label in found["added_labels"]])
    records.remove_labels(project, kind, [(row, label) for row, found in changes for label in found["removed_labels"]])
