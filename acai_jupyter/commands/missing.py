"""What was probably meant: by keys of a query that nothing has, by paths where nothing is."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from acai_jupyter.contract import endpoints
from acai_jupyter.contract.foreign import one_line
from acai_jupyter.contract.query.builtin import SubjectKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from acai_jupyter.client.http import Client

TITLES = {SubjectKind.FILE: "file", SubjectKind.FILE_SET: "file set", SubjectKind.JOB: "job"}
MOST = 1000


def hints(client: Client, kind: SubjectKind, keys: Iterable[str]) -> list[str]:
    """Return a sentence for each key that no thing of this kind has."""
    return [_hint(client, kind, key) for key in keys if key not in _given(client, kind, key)]


def _hint(client: Client, kind: SubjectKind, key: str) -> str:
    said = f"No {TITLES[kind]} has '{key}'"
    others = [f"{TITLES[other]}s" for other in SubjectKind if other is not kind and key in _given(client, other, key)]
    if others:
        return f"{said}, but {' and '.join(others)} have."
    near = get_close_matches(key, _given(client, kind, ""), 1)
    return f"{said}; did you mean {near[0]}?" if near else f"{said}."


def _given(client: Client, kind: SubjectKind, prefix: str) -> list[str]:
    """Return keys that some thing has."""
    page = client.call(endpoints.LIST_KEYS, query={"kind": kind.value, "prefix": prefix, "limit": MOST})
    return [one.key for one in page.keys if one.source != "well_known"]


def no_path(what: str, path: str) -> str:
    """Say that there is no such file or folder here, and what is there that is called nearly so."""
    source = Path(path)
    try:
        names = [one.name for one in source.parent.iterdir()]
    except (OSError, ValueError):
        names = []
    near = get_close_matches(source.name, names, n=1)
    shown = str(source) if source.is_absolute() else f"./{source}"
    hint = f" Did you mean {shown.removesuffix(source.name)}{near[0]}?" if near else ""
    return one_line(f"No {what} {shown}.{hint}")
