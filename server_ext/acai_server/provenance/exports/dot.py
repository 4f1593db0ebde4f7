"""A lineage in Graphviz's language: sets are boxes, actions ellipses, from left to right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.contract.states import InputRole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acai_jupyter.contract.lineage import ClosureSet
    from acai_server.provenance.exports.lineage import Lineage, Step


def write(lineage: Lineage) -> Iterator[str]:
    """Write it. Sets that went in as code or variables are told in the label of the action."""
    drawn = lineage.data()
    yield f"digraph {_quoted(lineage.focus)} {{\n  rankdir=LR;\n"
    for key, one in drawn.items():
        yield f"  s{key} [shape=box, label={_quoted(_set(one))}{_style(one, lineage)}];\n"
    for key, step in lineage.steps.items():
        if step.outputs and not drawn.keys() & set(step.outputs):
            continue
        dashed = ", style=dashed" if step.is_partial else ""
        yield f"  a{key} [shape=ellipse, label={_quoted(_step(lineage, step))}{dashed}];\n"
        for used, role in step.inputs:
            if used in drawn and role is InputRole.DATA:
                yield f"  s{used} -> a{key};\n"
        for made in step.outputs:
            if made in drawn:
                yield f"  a{key} -> s{made}{' [style=dashed]' if step.is_partial else ''};\n"
    yield "}\n"


def _set(one: ClosureSet) -> str:
    files = f"{one.file_count:,} file{'' if one.file_count == 1 else 's'}"
    return f"{one.ref}\n{files}" + ("\ndeleted" if one.deleted_at else "")


def _style(one: ClosureSet, lineage: Lineage) -> str:
    if one.deleted_at is not None:
        return ", style=dotted"
    return ", penwidth=2" if one.ref == lineage.focus else ""


def _step(lineage: Lineage, step: Step) -> str:
    lines = [step.name if step.action.state is None else f"{step.name} {step.action.state.value}", step.action.creator]
    lines += [f"{role.value} {lineage.sets[key].ref}" for key, role in step.inputs if role is not InputRole.DATA]
    return "\n".join(lines)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
