"""A lineage in GraphML: nodes are sets and actions, edges lead from what was used to what was made."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acai_server.provenance.exports.lineage import Lineage, Step

_KEYS = {
    "kind": ("node", "string"),
    "label": ("node", "string"),
    "creator": ("node", "string"),
    "created_at": ("node", "string"),
    "deleted_at": ("node", "string"),
    "file_count": ("node", "long"),
    "size_bytes": ("node", "long"),
    "job": ("node", "long"),
    "state": ("node", "string"),
    "cost_usd": ("node", "double"),
    "role": ("edge", "string"),
}
_NOT_XML = re.compile(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write(lineage: Lineage) -> Iterator[str]:
    """Write it."""
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    for name, (where, kind) in _KEYS.items():
        yield f'  <key id="{name}" for="{where}" attr.name="{name}" attr.type="{kind}"/>\n'
    yield f'  <graph id={quoteattr(lineage.focus)} edgedefault="directed">\n'
    for one in lineage.sets.values():
        known: dict[str, object] = {
            "kind": "file set",
            "label": one.ref,
            "creator": one.creator,
            "created_at": one.created_at.isoformat(),
            "deleted_at": None if one.deleted_at is None else one.deleted_at.isoformat(),
            "file_count": one.file_count,
            "size_bytes": one.size_bytes,
        }
        yield _node(one.ref, known)
    for step in lineage.steps.values():
        yield _action(step)
        for used, role in step.inputs:
            yield _edge(lineage.sets[used].ref, step.id, role.value)
        for made in step.outputs:
            yield _edge(step.id, lineage.sets[made].ref, "partial" if step.is_partial else "output")
    yield "  </graph>\n</graphml>\n"


def _action(step: Step) -> str:
    known: dict[str, object] = {
        "kind": step.action.kind.value,
        "label": step.name,
        "creator": step.action.creator,
        "created_at": step.action.created_at.isoformat(),
        "job": step.action.job,
        "state": step.action.state,
        "cost_usd": None if step.job is None else step.job.cost_usd,
    }
    return _node(step.id, known)


def _node(name: str, known: dict[str, object]) -> str:
    values = "".join(f'<data key="{key}">{_text(value)}</data>' for key, value in known.items() if value is not None)
    return f"    <node id={quoteattr(name)}>{values}</node>\n"


def _edge(source: str, target: str, role: str) -> str:
    ends = f"source={quoteattr(source)} target={quoteattr(target)}"
    return f'    <edge {ends}><data key="role">{role}</data></edge>\n'


def _text(value: object) -> str:
    return escape(_NOT_XML.sub("\N{REPLACEMENT CHARACTER}", str(value)))
