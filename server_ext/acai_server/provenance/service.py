"""Questions to the graph. It is written by those who make things, in their own transactions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.contract.provenance import Action, ActionInput, Graph
from acai_jupyter.contract.specs import parse_set

if TYPE_CHECKING:
    from acai_jupyter.contract.ids import FileSetVersionId, ProjectId
    from acai_server.db.actions import StoredAction
    from acai_server.db.database import Database
    from acai_server.db.filesets import StoredFileSet


class Provenance:
    """Nodes are file set versions; edges are actions."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def origin(self, project: ProjectId, ref: str) -> Graph:
        """Return one step back: the action that made a set, and the sets that went into it."""
        with self._database.reading() as work:
            focus = work.file_sets.find(project, parse_set(ref))
            action = work.actions.of_output(focus.id)
            if action is None:
                return Graph(focus.public.ref, [focus.public], [])
            around = [version for version, _ in action.inputs] + action.outputs
            sets = work.file_sets.by_id(around)
        nodes = [sets[version].public for version in dict.fromkeys(around)]
        return Graph(focus.public.ref, nodes, [_public(action, sets)])


def _public(action: StoredAction, sets: dict[FileSetVersionId, StoredFileSet]) -> Action:
    return Action(
        id=action.id,
        kind=action.kind,
        created_at=action.created_at,
        creator=action.creator,
        inputs=[ActionInput(sets[version].public.ref, role) for version, role in action.inputs],
        outputs=[sets[version].public.ref for version in action.outputs],
        job=action.job,
    )
