"""`put`: files and folders into the project."""

from __future__ import annotations

import heapq
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from acai_jupyter.client.ignoring import excluding
from acai_jupyter.client.known import Memory
from acai_jupyter.client.sessions import Plan
from acai_jupyter.client.uploads import Watcher
from acai_jupyter.client.uploads import put as upload
from acai_jupyter.client.walking import Excluded, Found, walk
from acai_jupyter.commands import markup
from acai_jupyter.commands.missing import no_path
from acai_jupyter.commands.progress import Progress
from acai_jupyter.commands.results import Result
from acai_jupyter.commands.units import duration, files_of, size
from acai_jupyter.contract.errors import BadRequest, NotFound
from acai_jupyter.contract.specs import check_name
from acai_jupyter.contract.states import StorageClass

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Sequence

    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.uploads import UploadResult


class DryRun(msgspec.Struct, frozen=True):
    """What `put` would take, and what it would leave out."""

    files: list[Found]
    size_bytes: int
    excluded: list[Excluded]


def put(client: Client, arguments: Namespace) -> Result:
    """Upload; a folder's contents go under DEST."""
    began = time.monotonic()
    if arguments.file_set is not None:
        check_name(arguments.file_set)
    found = [_walked(source, arguments) for source in arguments.sources]
    if arguments.dry_run:
        return _dry_run(found)
    plan = Plan(arguments.file_set, _storage(arguments.storage), _label(arguments))
    with Progress(quiet=arguments.no_progress) as progress:
        watcher = Watcher(on_file=progress.advance)
        result = upload(
            client,
            _merged(found),
            plan,
            memory=_memory(client, arguments),
            watcher=watcher,
            again=lambda: _merged([_walked(source, arguments) for source in arguments.sources]),
        )
    return Result(_line(result, time.monotonic() - began), result, "upload")


def _walked(source: str, arguments: Namespace) -> Iterator[Found | Excluded]:
    try:
        return walk(source, arguments.dest, excluding(arguments.exclude))
    except NotFound as error:
        raise NotFound(no_path("folder", source)) from error


def _merged(found: list[Iterator[Found | Excluded]]) -> Iterator[Found]:
    """Bring several sources into the order of their paths."""
    files = [(one for one in walked if isinstance(one, Found)) for walked in found]
    return files[0] if len(files) == 1 else _by_path(files)


def _by_path(files: Sequence[Iterator[Found]]) -> Iterator[Found]:
    """Two of them may not have one path."""
    last: Found | None = None
    for file in heapq.merge(*files, key=lambda file: file.path):
        if last is not None and file.path == last.path:
            raise BadRequest(
                f"{last.source} and {file.source} would both be {file.path}. Put them one after the other."
            )
        yield file
        last = file


def _memory(client: Client, arguments: Namespace) -> Memory:
    """What this machine knows of the same line. Another folder, project or option is another line."""
    where = client.status.data_folder or client.connection.url
    sources = [str(Path(source).absolute()) for source in arguments.sources]
    how = [arguments.file_set, arguments.storage, *arguments.exclude]
    return Memory(where, client.status.project, *sources, "→", arguments.dest, *how)


def _storage(name: str) -> StorageClass:
    try:
        return StorageClass(name)
    except ValueError as error:
        raise BadRequest(reason=f"storage '{name[:80]}' is none of {', '.join(StorageClass)}") from error


def _label(arguments: Namespace) -> str:
    return f"{' '.join(arguments.sources)} → {arguments.dest}"


def _dry_run(found: list[Iterator[Found | Excluded]]) -> Result:
    walked = [list(one) for one in found]
    files = list(_merged([iter(one) for one in walked]))
    left_out = [one for of_source in walked for one in of_source if isinstance(one, Excluded)]
    total = sum(file.size_bytes for file in files)
    widest = max((len(size(file.size_bytes)) for file in files), default=0)
    lines = [f"{size(file.size_bytes):>{widest}}  {file.path}" for file in files]
    lines += [f"left out  {_shown(one)}  ({one.reason})" for one in left_out]
    said = f"would put {files_of(len(files))}, {size(total)} · {len(left_out):,} left out"
    lines.append(said)

    def html() -> str:
        goes = markup.table(said, ("size", "path"), [[size(one.size_bytes), one.path] for one in files], sides="><")
        stays = markup.table("", ("left out", "why"), [[_shown(one), one.reason] for one in left_out])
        return goes + (stays if left_out else "")

    return Result("\n".join(lines), DryRun(files, total, left_out), "upload-plan", html=html)


def _shown(one: Excluded) -> str:
    return f"{one.source}{'/' if one.is_folder else ''}"


def _line(result: UploadResult, seconds: float) -> str:
    total = result.new_files + result.unchanged_files
    if result.unchanged_files:
        parts = [f"{result.new_files:,} new, {result.unchanged_files:,} unchanged"]
    else:
        parts = [f"{files_of(total)}, {size(result.size_bytes)}"]
    if result.new_files and not result.sent_bytes:
        parts.append("nothing had to be sent")
    return " · ".join([*parts, duration(seconds), *([result.file_set] if result.file_set else [])])
