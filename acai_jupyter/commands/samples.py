"""`profile --sample`: a part of the inputs, as a file set of its own, on which runs are cheaper."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from acai_jupyter.client import filesets
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import BadRequest
from acai_jupyter.contract.filesets import CreateFileSet
from acai_jupyter.contract.profilings import Sample
from acai_jupyter.contract.specs import encode_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.filesets import Entry, Source


def taken(client: Client, name: str, inputs: Sequence[str], share: float, *, is_planned: bool) -> Sample:
    """Choose files of the inputs by the hashes of their paths, so that it is always the same ones, and keep them.

    For a plan nothing is kept: it is only said how much it would be.
    """
    if not inputs:
        raise BadRequest("--sample takes some of the files of --input; name one.")
    pages = list(filesets.resolve(client, list(inputs)))
    whole = [entry for page in pages for entry in page.entries]
    some = [entry for entry in whole if _place(entry.path) < share] or whole[:1]
    if len(whole) <= len(some):
        files = "one file" if len(whole) == 1 else f"{len(whole):,} files"
        raise BadRequest(f"--sample {share:g} of {files} is all of them; runs on the whole input need no --sample.")
    specs = [] if is_planned else [_kept(client, name, _specs(pages[0].pinned, some))]
    return Sample(specs, _bytes(some), len(some), _bytes(whole), len(whole))


def _place(path: str) -> float:
    return int.from_bytes(hashlib.sha256(path.encode()).digest()[:8], "big") / 2**64


def _bytes(entries: Sequence[Entry]) -> int:
    return sum(entry.size_bytes for entry in entries)


def _specs(pinned: Sequence[Source], some: Sequence[Entry]) -> list[Source]:
    """Name files by their set, where all are of one, so that provenance leads there."""
    one = pinned[0] if len(pinned) == 1 else None
    ref = one.rpartition("@")[2] if isinstance(one, str) and "@" in one else ""
    return [
        f"{encode_path(entry.path)}@{ref}" if ref else f"{encode_path(entry.path)}:{entry.version}" for entry in some
    ]


def _kept(client: Client, name: str, specs: list[Source]) -> str:
    word = re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-")
    called = f"{word if word[:1].isalpha() else f'profile-{word}'}-sample"
    note = f"Some files of the inputs of the profile {name}, to learn from."
    created = client.call(endpoints.CREATE_FILE_SET, CreateFileSet(called, specs, note, if_changed=True))
    return f"@{created.file_set.ref}"
