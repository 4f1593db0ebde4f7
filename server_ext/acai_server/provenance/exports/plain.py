"""A lineage as one JSON document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acai_server.provenance.exports.lineage import Lineage, Step


def write(lineage: Lineage) -> Iterator[str]:
    """Write it."""
    document = {
        "project": lineage.project,
        "focus": lineage.focus,
        "is_cut": lineage.is_cut,
        "file_sets": [
            {
                "file_set": one.ref,
                "role": one.role,
                "file_count": one.file_count,
                "size_bytes": one.size_bytes,
                "created_at": one.created_at,
                "creator": one.creator,
                "deleted_at": one.deleted_at,
            }
            for one in lineage.sets.values()
        ],
        "actions": [_action(lineage, step) for step in lineage.steps.values()],
    }
    yield msgspec.json.format(msgspec.json.encode(document)).decode() + "\n"


def _action(lineage: Lineage, step: Step) -> dict[str, Any]:
    return {
        "kind": step.action.kind,
        "created_at": step.action.created_at,
        "creator": step.action.creator,
        "inputs": [{"file_set": lineage.sets[key].ref, "role": role} for key, role in step.inputs],
        "outputs": [lineage.sets[key].ref for key in step.outputs],
        "is_partial": step.is_partial,
        "job": step.job,
    }
