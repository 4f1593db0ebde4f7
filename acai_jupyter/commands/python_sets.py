"""The verbs as Python calls: those of file sets, attributes and garbage."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, Any, Literal, overload

from acai_jupyter.client import filesets as sets
from acai_jupyter.client import searches
from acai_jupyter.client.http import Client
from acai_jupyter.commands import filesets as set_verbs
from acai_jupyter.commands import gc as gc_verb
from acai_jupyter.commands import metadata as metadata_verbs
from acai_jupyter.commands import objects, python_help, tables
from acai_jupyter.commands.job_objects import Job
from acai_jupyter.commands.objects import Files, FileSet
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import BadRequest, NotFound
from acai_jupyter.contract.filesets import RemoveFileSets, Retention, UpdateFileSet
from acai_jupyter.contract.specs import check_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from acai_jupyter.commands.differences import Diff
    from acai_jupyter.contract.filesets import AliasPage, RemovedFileSets
    from acai_jupyter.contract.garbage import Collection
    from acai_jupyter.contract.metadata import ChangePage, Metadata


def find(
    kind: str,
    query: str = "",
    *,
    columns: Sequence[str] = (),
    conditions: Sequence[dict[str, Any]] = (),
    project: str | None = None,
) -> Any:
    """Return the files, filesets or jobs that a query, or a list of conditions in its place, is true of.

    That is a DataFrame when pandas is there, else a table with the same columns.
    """
    wanted = metadata_verbs.KINDS.get(kind)
    if wanted is None:
        raise BadRequest(f"There is nothing to find under '{kind}': there are files, filesets and jobs.")
    given = metadata_verbs.conditions_of(conditions)
    page = searches.find(Client(project=project), metadata_verbs.request(wanted, query, columns, given))
    return tables.table(page)


def metadata(thing: str | int, *, project: str | None = None) -> Metadata:
    """Return the attributes, labels and built-in keys of a job's number, a file set or a file version."""
    return Client(project=project).call(endpoints.GET_METADATA, query={"thing": thing})


def changes(thing: str | int, *, project: str | None = None) -> ChangePage:
    """Return who changed what on a thing, the newest first."""
    return Client(project=project).call(endpoints.LIST_CHANGES, query={"thing": thing})


@overload
def annotate(  # type: ignore[overload-overlap]  # a text is iterable, but it is one thing
    thing: str | int | FileSet | Job,
    values: dict[str, Any] | None = None,
    *,
    add: Sequence[str] = (),
    remove: Sequence[str] = (),
    delete: Sequence[str] = (),
    expect: dict[str, Any] | None = None,
    where: str | None = None,
    project: str | None = None,
) -> Metadata: ...


@overload
def annotate(
    thing: Iterable[str | int],
    values: dict[str, Any] | None = None,
    *,
    add: Sequence[str] = (),
    remove: Sequence[str] = (),
    delete: Sequence[str] = (),
    expect: dict[str, Any] | None = None,
    where: str | None = None,
    project: str | None = None,
) -> list[str]: ...


def annotate(  # noqa: PLR0913 (one for each kind of change)
    thing: str | int | FileSet | Job | Iterable[str | int],
    values: dict[str, Any] | None = None,
    *,
    add: Sequence[str] = (),
    remove: Sequence[str] = (),
    delete: Sequence[str] = (),
    expect: dict[str, Any] | None = None,
    where: str | None = None,
    project: str | None = None,
) -> Metadata | list[str]:
    """Set attributes of a thing, add and remove labels, delete attributes; returns what it has now.

    Of many things, as in a column of `find`, it returns the names of those that are different now. With `where` they
    are all `files`, `filesets` or `jobs` that a query is true of, and `thing` says which. With `expect`, values by key
    and None for nothing, nothing is written over what somebody else wrote meanwhile: `Outdated` says what it is.
    """
    client = Client(project=project)
    change = metadata_verbs.annotation(values or {}, list(add), list(remove), list(delete), expect)
    if where is not None:
        names = metadata_verbs.found_by(client, [str(thing)], where)
        return metadata_verbs.change_many(client, names, change)
    if isinstance(thing, str | FileSet) or not hasattr(thing, "__iter__"):
        name = str(getattr(thing, "ref", None) or getattr(thing, "number", thing))
        metadata_verbs.change_many(client, [name], change)
        return client.call(endpoints.GET_METADATA, query={"thing": name})
    return metadata_verbs.change_many(client, [str(one) for one in thing], change)


def fileset(ref: str, *, project: str | None = None) -> FileSet:
    """Return one version of a file set: `train`, `train:3`, `train:latest` or `train:paper`."""
    client = Client(project=project)
    return FileSet(client, client.call(endpoints.GET_FILE_SET, ref=sets.ref_of(ref)))


def filesets(name: str | None = None, *, project: str | None = None) -> list[FileSet]:
    """Return the newest version of each set, or all versions of one, the newest first."""
    client = Client(project=project)
    found = sets.newest(client) if name is None else sets.versions(client, sets.ref_of(name))
    return [FileSet(client, one) for one in found]


@overload
def create_file_set(
    name: str,
    specs: str | Files | Iterable[str | Files],
    *,
    without: str | Sequence[str] = (),
    note: str = "",
    if_changed: bool = False,
    dry_run: Literal[False] = False,
    project: str | None = None,
) -> FileSet: ...


@overload
def create_file_set(
    name: str,
    specs: str | Files | Iterable[str | Files],
    *,
    without: str | Sequence[str] = (),
    note: str = "",
    if_changed: bool = False,
    dry_run: Literal[True],
    project: str | None = None,
) -> Files: ...


def create_file_set(
    name: str,
    specs: str | Files | Iterable[str | Files],
    *,
    without: str | Sequence[str] = (),
    note: str = "",
    if_changed: bool = False,
    dry_run: bool = False,
    project: str | None = None,
) -> FileSet | Files:
    """Make the next version of a set from specs, sets and files; with `dry_run` return what it would hold."""
    check_name(name)
    client = Client(project=project)
    files = objects.files_of(client, specs)
    if without:
        files -= objects.files_of(client, without)
    return files if dry_run else files.create(name, note=note, if_changed=if_changed)


def diff(before: str | Files | int | Job, after: str | Files | int | Job, *, project: str | None = None) -> Diff:
    """Return how the files of two sets or specs, or the outputs of two jobs, differ."""
    client = Client(project=project)
    first, second = (_output_of(client, one) if isinstance(one, int | Job) else one for one in (before, after))
    return objects.files_of(client, first).diff(second)


def _output_of(client: Client, job: int | Job) -> str:
    found = client.call(endpoints.GET_JOB, job=job.number if isinstance(job, Job) else job)
    if found.output is None:
        raise NotFound(f"Job {found.number} has no output to compare.")
    return f"@{found.output}"


@overload
def alias(ref: str | FileSet, alias: str, *, remove: Literal[False] = False, project: str | None = None) -> FileSet: ...


@overload
def alias(
    ref: str | FileSet, alias: str | None = None, *, remove: bool = False, project: str | None = None
) -> FileSet | AliasPage: ...


def alias(
    ref: str | FileSet, alias: str | None = None, *, remove: bool = False, project: str | None = None
) -> FileSet | AliasPage:
    """Let an alias stand for a version, and return that; take it away, or name none: return those that there are."""
    client = Client(project=project)
    if alias is None:
        return sets.aliases(client, _ref(ref))
    if remove:
        return client.call(endpoints.REMOVE_ALIAS, ref=_ref(ref), alias=alias)
    return FileSet(client, client.call(endpoints.SET_ALIAS, ref=_ref(ref), alias=alias))


def aliases(name: str, *, project: str | None = None) -> AliasPage:
    """Return what the aliases of a set are now, and for what they stood when."""
    return sets.aliases(Client(project=project), sets.ref_of(name))


def note(ref: str | FileSet, text: str, *, expect: str | None = None, project: str | None = None) -> FileSet:
    """Write what people should know of a version, in Markdown; with `expect` only in the place of that note."""
    client = Client(project=project)
    return FileSet(client, client.call(endpoints.UPDATE_FILE_SET, UpdateFileSet(text, expect), ref=_ref(ref)))


def remove_file_set(
    ref: str | FileSet, *, files: bool = False, undo: bool = False, project: str | None = None
) -> RemovedFileSets:
    """Delete a version, or all versions of a name; or bring them back."""
    return Client(project=project).call(
        endpoints.REMOVE_FILE_SETS, RemoveFileSets(undo=undo, files=files), ref=_ref(ref)
    )


def retention(
    *,
    keep_last: int | None = None,
    keep_days: float | None = None,
    files: bool = False,
    off: bool = False,
    project: str | None = None,
) -> Retention:
    """Return what the project keeps of old versions, after the change that is asked for."""
    asked = Namespace(keep_last=keep_last, keep_days=keep_days, files=files, off=off)
    found: Retention = set_verbs.retention(Client(project=project), asked).value
    return found


def gc(
    *, dry_run: bool = False, unknown: bool = False, yes: int | None = None, project: str | None = None
) -> Collection:
    """Free what nothing refers to any more, or only say what that is; returns when it is done.

    With `unknown`, list the objects that no record of the server's database owns instead; with `yes`, their number in
    that list, delete them.
    """
    asked = Namespace(dry_run=dry_run, unknown=unknown, yes=yes)
    *_, last = gc_verb.collections_of(Client(project=project), asked)
    return last


def _ref(ref: str | FileSet) -> str:
    return ref.ref if isinstance(ref, FileSet) else sets.ref_of(ref)


python_help.documented(globals())
