"""`fileset …`: file sets made, listed, shown, named, annotated, deleted, and how long they are kept."""

from __future__ import annotations

import sys
from itertools import islice
from typing import TYPE_CHECKING

import msgspec

from acai_jupyter.client import filesets
from acai_jupyter.commands import markup, terminal
from acai_jupyter.commands.listings import Listing
from acai_jupyter.commands.results import Result
from acai_jupyter.commands.units import ago, columns, files_of, size
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import BadRequest
from acai_jupyter.contract.filesets import (
    CreateFileSet,
    Entry,
    FileSet,
    FileSetPage,
    RemoveFileSets,
    Retention,
    UpdateFileSet,
    VersionsPage,
    Without,
    check_files,
    check_note,
)
from acai_jupyter.contract.foreign import one_line
from acai_jupyter.contract.provenance import Action
from acai_jupyter.contract.specs import check_name, encode_path
from acai_jupyter.contract.states import ActionKind, InputRole

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable, Iterator

    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.filesets import AliasPage, CreatedFileSet, RemovedFileSets, Resolved, Source

SHOWN = 10
"""So many entries are shown of a set without `--files`."""


class WouldBe(msgspec.Struct, frozen=True):
    """The file versions that a set would have."""

    name: str
    file_count: int
    size_bytes: int
    made_from: list[str]
    entries: list[Entry]


class Shown(msgspec.Struct, frozen=True):
    """A file set version, the action that made it, and its first entries or all of them."""

    file_set: FileSet
    made_by: Action | None
    entries: list[Entry]


def create(client: Client, arguments: Namespace) -> Result:
    """Make the next version of a name."""
    sources = sources_of(arguments.specs, arguments.without)
    check_name(arguments.name)
    check_note(arguments.note)
    if arguments.dry_run:
        return _dry_run(client, arguments.name, sources, as_data=arguments.json)
    request = CreateFileSet(arguments.name, sources, arguments.note, arguments.if_changed)
    created = client.call(endpoints.CREATE_FILE_SET, request)
    return Result(_created(created), created, "created-file-set")


def sources_of(specs: Iterable[str], without: Iterable[str] = ()) -> list[Source]:
    """Read the words of a line."""
    chosen: list[Source] = [filesets.spec_of(text) for text in specs]
    left_out: list[Source] = [filesets.spec_of(text) for text in without]
    return [Without(chosen, left_out)] if left_out else chosen


def list_sets(client: Client, arguments: Namespace) -> Result:
    """List the newest version of each name, or all versions of one."""
    if arguments.name is not None:
        found = list(filesets.versions(client, filesets.ref_of(arguments.name)))
        listing = _listing(found)
        return Result(listing.text, VersionsPage(found), "file-set-versions", html=listing.html)
    found = list(filesets.newest(client))
    if not found:
        return Result("No file set yet. Make one: acai put ./data /data --as data", FileSetPage([]), "file-sets")
    listing = _listing(found)
    return Result(listing.text, FileSetPage(found), "file-sets", html=listing.html)


def _listing(found: list[FileSet]) -> Listing:
    return Listing([_row(one) for one in found], "<>><<<", ["file set", "files", "size", "made", "by", ""])


def show(client: Client, arguments: Namespace) -> Result:
    """Show one version: what it holds, who made it of what, its note and aliases."""
    file_set = client.call(endpoints.GET_FILE_SET, ref=filesets.ref_of(arguments.ref))
    action = origin(client, file_set)
    entries = _entries(client, file_set)
    if arguments.json:
        found = list(entries if arguments.files else islice(entries, SHOWN))
        return Result("", Shown(file_set, action, found), "file-set-details")
    head = "\n".join(_heading(file_set, action))
    if arguments.files:
        _print(head)
        for entry in entries:
            _print(f"  {line_of(entry)}")
        return Result("", None, "file-set-details")
    found = list(islice(entries, SHOWN))
    lines = [head, *(f"  {line}" for line in _lines_of(found))]
    if file_set.file_count > len(found):
        rest = f"{file_set.file_count - len(found):,} more"
        lines.append(f"  … and {rest}: acai fileset show {file_set.ref} --files")
    shown = Shown(file_set, action, found)
    return Result("\n".join(lines), shown, "file-set-details", html=lambda: _html(shown))


def alias(client: Client, arguments: Namespace) -> Result:
    """Let an alias stand for a version, take it away, or show which there are and were."""
    ref = filesets.ref_of(arguments.ref)
    name = ref.partition(":")[0]
    if arguments.alias is None:
        if arguments.remove:
            raise BadRequest(f"Which alias? Take one away by acai fileset alias {name} ALIAS --remove.")
        page = filesets.aliases(client, name)
        return Result(_aliases(name, page), page, "aliases")
    if arguments.remove:
        page = client.call(endpoints.REMOVE_ALIAS, ref=name, alias=arguments.alias)
        return Result(f"{name}:{arguments.alias} is taken away", page, "aliases")
    file_set = client.call(endpoints.SET_ALIAS, ref=ref, alias=arguments.alias)
    return Result(f"{name}:{arguments.alias} is {file_set.ref} now", file_set, "file-set")


def note(client: Client, arguments: Namespace) -> Result:
    """Write what people should know of a version."""
    ref = filesets.ref_of(arguments.ref)
    file_set = client.call(endpoints.UPDATE_FILE_SET, UpdateFileSet(arguments.text, arguments.expect), ref=ref)
    return Result(f"{file_set.ref} has {'this note now' if file_set.note else 'no note now'}", file_set, "file-set")


def rm(client: Client, arguments: Namespace) -> Result:
    """Delete a version, or all versions of a name; with `--undo` bring them back."""
    ref = filesets.ref_of(arguments.ref)
    request = RemoveFileSets(undo=arguments.undo, files=arguments.files)
    removed = client.call(endpoints.REMOVE_FILE_SETS, request, ref=ref)
    return Result(_removed(removed, ref, undo=arguments.undo), removed, "removed-file-sets")


def retention(client: Client, arguments: Namespace) -> Result:
    """Show or change what the project keeps of old versions."""
    wanted = Retention(arguments.keep_last, arguments.keep_days, arguments.files)
    if arguments.off and wanted != Retention():
        raise BadRequest("--off stands alone: without rules all versions are kept.")
    if wanted.files and wanted.keep_last is None and wanted.keep_days is None:
        raise BadRequest("--files says that a rule counts for files too: give --keep-last or --keep-days with it.")
    if arguments.off or wanted != Retention():
        kept = client.call(endpoints.SET_RETENTION, wanted)
    else:
        kept = client.call(endpoints.GET_RETENTION)
    return Result(_retention(kept), kept, "retention")


def line_of(entry: Entry) -> str:
    """Write a file version in one line."""
    return f"{one_line(encode_path(entry.path))}:{entry.version}  {size(entry.size_bytes)}"


def counted(file_count: int, size_bytes: int) -> str:
    """1,797 files, 3.1 MB."""
    return f"{files_of(file_count)}, {size(size_bytes)}"


def origin(client: Client, file_set: FileSet) -> Action | None:
    """Return the action that made a file set."""
    graph = client.call(endpoints.GET_ORIGIN, ref=file_set.ref)
    return next((action for action in graph.actions if file_set.ref in action.outputs), None)


def named(names: list[str]) -> str:
    """a, a and b, a, b and c; long lists are cut."""
    if len(names) > SHOWN:
        names = [*names[:SHOWN], f"{len(names) - SHOWN:,} more"]
    return " and ".join([*([", ".join(names[:-1])] if names[1:] else []), *names[-1:]])


def _dry_run(client: Client, name: str, sources: list[Source], *, as_data: bool) -> Result:
    pages = filesets.resolve(client, sources, counted=True)
    first = next(pages)
    check_files(first.file_count or 0)
    if as_data:
        entries = [*first.entries, *(entry for page in pages for entry in page.entries)]
        value = WouldBe(name, first.file_count or 0, first.size_bytes or 0, first.made_from, entries)
        return Result("", value, "file-set-plan")
    for entry in _each(first, pages):
        _print(line_of(entry))
    what = counted(first.file_count or 0, first.size_bytes or 0)
    return Result(" · ".join([f"{name} would hold {what}", *_of(first.made_from)]), None, "file-set-plan")


def _each(first: Resolved, rest: Iterator[Resolved]) -> Iterator[Entry]:
    yield from first.entries
    for page in rest:
        yield from page.entries


def _of(made_from: list[str]) -> list[str]:
    return [f"made from {named(made_from)}"] if made_from else []


def _created(created: CreatedFileSet) -> str:
    one = created.file_set
    if not created.is_new:
        return f"{one.ref} holds the same already · {counted(one.file_count, one.size_bytes)}"
    return " · ".join([one.ref, counted(one.file_count, one.size_bytes), *_of(created.made_from)])


def _row(one: FileSet) -> list[str]:
    left = ["deleted"] if one.deleted_at else [", ".join(one.aliases)]
    return [one.ref, files_of(one.file_count), size(one.size_bytes), ago(one.created_at), one.creator, *left]


def _html(shown: Shown) -> str:
    """Write one version for a notebook."""
    one, action = shown.file_set, shown.made_by
    made = f"{ago(one.created_at)} by {one.creator}{_how(action) if action else ''}"
    notes = [("note" if number == 0 else "", line) for number, line in enumerate(one.note.expandtabs().splitlines())]
    rest = one.file_count - len(shown.entries)
    return markup.block(
        "file-set",
        markup.title(f"{one.ref} · {counted(one.file_count, one.size_bytes)}"),
        markup.facts([("made", made), *([("aliases", ", ".join(one.aliases))] if one.aliases else []), *notes]),
        markup.table("", ["file", "version", "size"], [cells(entry) for entry in shown.entries], sides="<>>"),
        markup.below(f"… {rest:,} more: %acai fileset show {one.ref} --files" if rest else ""),
    )


def cells(entry: Entry) -> list[str]:
    """Write a file version as a row: path, version, size."""
    return [encode_path(entry.path), str(entry.version), size(entry.size_bytes)]


def _entries(client: Client, file_set: FileSet) -> Iterator[Entry]:
    return (entry for page in filesets.resolve(client, [f"@{file_set.ref}"]) for entry in page.entries)


def _heading(one: FileSet, action: Action | None) -> list[str]:
    made = f"made {ago(one.created_at)} by {one_line(one.creator)}"
    lines = [f"{one.ref} · {counted(one.file_count, one.size_bytes)}", made + (_how(action) if action else "")]
    if one.aliases:
        lines.append(f"aliases {', '.join(one.aliases)}")
    if one.note:
        lines += ["note", *(f"  {one_line(line)}".rstrip() for line in one.note.expandtabs().splitlines())]
    return [*lines, "files"]


def _how(action: Action) -> str:
    what = "an upload" if action.kind is ActionKind.UPLOAD else "a creation"
    inputs = [one.file_set for one in action.inputs if one.role is InputRole.DATA]
    what = f"job {action.job.number}" if action.job else what
    return f", as {what}" + (f" from {named(inputs)}" if inputs else "")


def _lines_of(entries: list[Entry]) -> list[str]:
    rows = [[f"{encode_path(one.path)}:{one.version}", size(one.size_bytes)] for one in entries]
    return columns(rows, "<>").splitlines()


def _aliases(name: str, page: AliasPage) -> str:
    if not page.aliases and not page.changes:
        return f"{name} has no aliases. Give one: acai fileset alias {name}:1 paper"
    now = columns([[f"{name}:{one}", f"{name}:{version}"] for one, version in sorted(page.aliases.items())], "<<")
    rows = [
        [ago(one.at), one.creator, f"{one.alias} → {f'{name}:{one.version}' if one.version else 'taken away'}"]
        for one in page.changes
    ]
    return "\n".join(part for part in (now, "history", columns(rows, "<<<")) if part)


def _removed(removed: RemovedFileSets, ref: str, *, undo: bool) -> str:
    done = "back" if undo else "deleted"
    if not removed.file_sets:
        return f"nothing of {ref} {'was deleted' if undo else 'is there to be deleted'}"
    verb = ("is " if len(removed.file_sets) == 1 else "are ") if undo else ""
    parts = [f"{named(removed.file_sets)} {verb}{done}"]
    if removed.file_versions:
        count = removed.file_versions
        parts.append(f"{count:,} file version{'s' if count != 1 else ''} {done}")
    if removed.undo_until is not None and not undo:
        until = f"{removed.undo_until.astimezone():%Y-%m-%d %H:%M}"
        parts.append(f"can be brought back until {until}: acai fileset rm --undo {ref}")
    return " · ".join(parts)


def _retention(kept: Retention) -> str:
    rules = []
    if kept.keep_last is not None:
        rules.append(f"the newest {kept.keep_last:,} of each set" if kept.keep_last > 1 else "the newest of each set")
    if kept.keep_days is not None:
        rules.append(f"what is younger than {kept.keep_days:g} days")
    if not rules:
        return "All versions are kept. Change that: acai fileset retention --keep-last 10"
    files = "Files that no set holds follow the same rules." if kept.files else "Files are not touched."
    always = "What has an alias or a label, or an open job uses, is kept too, and so is the newest of each name."
    return f"Kept: {' and '.join(rules)}. {always} {files} Older versions go with the next acai gc."


def _print(text: str) -> None:
    """Write at once, so that a long list need not be held."""
    terminal.write(f"{text}\n", sys.stdout)
