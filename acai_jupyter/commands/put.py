"""`put`: files and folders into the project."""

from __future__ import annotations

import heapq
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import asdict

from acai_jupyter.client.ignoring import SECRET, excluding
from acai_jupyter.client.known import Memory
from acai_jupyter.client.sessions import Plan
from acai_jupyter.client.uploads import Watcher
from acai_jupyter.client.uploads import put as upload
from acai_jupyter.client.walking import Excluded, Found, LeftOut, walk
from acai_jupyter.commands import markup
from acai_jupyter.commands.missing import no_path
from acai_jupyter.commands.progress import Progress
from acai_jupyter.commands.results import Result
from acai_jupyter.commands.units import duration, files_of, size
from acai_jupyter.contract.errors import BadRequest, NotFound
from acai_jupyter.contract.foreign import one_line
from acai_jupyter.contract.specs import check_name
from acai_jupyter.contract.states import StorageClass
from acai_jupyter.contract.uploads import UploadResult

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Sequence

    from acai_jupyter.client.http import Client

NAMED = 3
"""This many names of what was left out are shown."""


class Put(UploadResult, frozen=True):
    """The result of an upload, with the left-out files that users may miss."""

    left_out: list[Excluded] = msgspec.field(default_factory=list)
    """Possible secrets and links, the first hundred."""
    left_out_count: int = 0
    """How many files and folders were left out, for any reason."""
    dropped: list[str] = msgspec.field(default_factory=list)
    """Paths that the last upload of the same line had, and that count as possible secrets now."""


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
    left_out = LeftOut()
    with Progress(quiet=arguments.no_progress) as progress:
        watcher = Watcher(on_file=progress.advance, on_gone=left_out.gone)
        files = _merged([_noting(walked, left_out) for walked in found])
        result = upload(
            client,
            files,
            plan,
            memory=_memory(client, arguments),
            watcher=watcher,
            again=lambda: _merged([_noting(_walked(source, arguments), LeftOut()) for source in arguments.sources]),
        )
    seconds = time.monotonic() - began
    put = Put(**asdict(result), left_out=left_out.missed, left_out_count=left_out.count, dropped=left_out.dropped)
    return Result("\n".join([_line(result, seconds), *_left_out(left_out, result.file_set)]), put, "upload")


def _noting(walked: Iterator[Found | Excluded], left_out: LeftOut) -> Iterator[Found]:
    """Pass the files on, and take note of what is left out."""
    for one in walked:
        if isinstance(one, Found):
            yield one
        else:
            left_out.take(one)


def _walked(source: str, arguments: Namespace) -> Iterator[Found | Excluded]:
    try:
        return walk(source, arguments.dest, excluding(arguments.exclude, arguments.include))
    except NotFound as error:
        raise NotFound(no_path("folder", source)) from error


def _merged(files: list[Iterator[Found]]) -> Iterator[Found]:
    """Bring several sources into the order of their paths."""
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
    how += ["--include", *arguments.include] if arguments.include else []
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
    files = list(_merged([(one for one in of_source if isinstance(one, Found)) for of_source in walked]))
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


def _left_out(left_out: LeftOut, file_set: str | None) -> Iterator[str]:
    """Name the first of what people may miss, and say how to send it."""
    if left_out.missed:
        named = ", ".join(f"{_shown(one)} ({one.reason})" for one in left_out.missed[:NAMED])
        more = left_out.count - min(left_out.missed_count, NAMED)
        others = f" and {more:,} more" if more else ""
        is_secret = any(one.reason == SECRET for one in left_out.missed)
        step = "--include sends what you name, --dry-run lists all" if is_secret else "--dry-run lists all"
        yield f"left out: {named}{others}; {step}"
    if left_out.dropped:
        named = ", ".join(one_line(path) for path in left_out.dropped[:NAMED])
        others = f" and {len(left_out.dropped) - NAMED:,} more" if len(left_out.dropped) > NAMED else ""
        where = f"not in {file_set} any more" if file_set else "not sent again"
        yield f"{where}: {named}{others}; earlier versions keep it, acai rm deletes it there"


def _line(result: UploadResult, seconds: float) -> str:
    total = result.new_files + result.unchanged_files
    if result.unchanged_files:
        parts = [f"{result.new_files:,} new, {result.unchanged_files:,} unchanged"]
    else:
        parts = [f"{files_of(total)}, {size(result.size_bytes)}"]
    if result.new_files and not result.sent_bytes:
        parts.append("nothing had to be sent")
    return " · ".join([*parts, duration(seconds), *([result.file_set] if result.file_set else [])])
