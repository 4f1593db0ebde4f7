"""Reading files: what a spec names, folders, versions, where to fetch bytes."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from typing import TYPE_CHECKING

from acai_jupyter.contract.errors import BadRequest, BlobQuarantined, FileNotFound, ObjectNotFound
from acai_jupyter.contract.files import (
    Child,
    ChildKind,
    FetchFiles,
    FetchPage,
    FolderPage,
    Place,
    VersionPage,
)
from acai_jupyter.contract.filesets import Entry, EntryPage
from acai_jupyter.contract.specs import Spec, encode_path, normal_path, parse_set, parse_spec
from acai_server.db import sight
from acai_server.lake import manifests
from acai_server.lake.filesets import Chunks, read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from acai_jupyter.contract.ids import ProjectId
    from acai_server.db.blobs import BlobPlace
    from acai_server.db.database import Database
    from acai_server.db.filesets import StoredFileSet
    from acai_server.db.work import Work
    from acai_server.lake.direct import DirectPath
    from acai_server.lake.integrity.damage import Damages
    from acai_server.objects.protocol import ObjectStore, Within

_NEIGHBOURS = 200
"""Among so many names in a folder of a set the nearest is looked for: to find each takes a few chunks."""


@dataclass(frozen=True)
class Selection:
    """What a spec names: one file, or all below a root."""

    root: str
    is_file: bool
    page: Callable[[str, int], list[Entry]]
    """Entries after a path."""


class Files:
    """Files by path and by spec."""

    def __init__(self, database: Database, objects: ObjectStore, direct: DirectPath | None, damages: Damages) -> None:
        self._database = database
        self._objects = objects
        self._direct = direct
        self._damages = damages

    def folder(self, project: ProjectId, path: str, file_set: str | None, after: str, limit: int) -> FolderPage:
        """Return a folder's children; of a file set, if one is named."""
        folder = "/" if path in ("", "/") else normal_path(path.rstrip("/")) + "/"
        with self._database.reading() as work:
            if file_set is None:
                found = work.files.children(project, folder, after, limit + 1)
            else:
                stored = work.file_sets.find(project, parse_set(file_set))
                found = _children_of_set(work, project, stored, folder, after, limit + 1)
            if not found and not after and folder != "/":
                return _as_child(work, project, folder.rstrip("/"), file_set)
        sight.look_into(f"{folder}{child.name}" for child in found[:limit] if child.kind is ChildKind.FILE)
        return FolderPage(folder, found[:limit], _mark(found[limit - 1]) if len(found) > limit else None)

    def entries(self, project: ProjectId, spec: str, after: str, limit: int) -> EntryPage:
        """Return a page of what a spec names."""
        with self._database.reading() as work:
            found = resolve(work, project, spec).page(after, limit + 1)
        sight.look_into(entry.path for entry in found[:limit])
        return EntryPage(found[:limit], found[limit - 1].path if len(found) > limit else None)

    def versions(self, project: ProjectId, path: str, before: int | None, limit: int) -> VersionPage:
        """Return the versions of a file, the newest first."""
        spec = parse_spec(path)
        if spec.file_set is not None or spec.version is not None or spec.is_folder:
            raise BadRequest(reason=f"'{path[:80]}' is not the path of a file; versions belong to a path")
        with self._database.reading() as work:
            found = work.files.versions(project, spec.path, before, limit + 1)
            if not found and before is None:
                raise not_found(work, project, spec.path, None)
        sight.look_into([spec.path])
        return VersionPage(spec.path, found[:limit], found[limit - 1].version if len(found) > limit else None)

    def fetch(self, project: ProjectId, request: FetchFiles) -> FetchPage:
        """Say where the bytes of a page of what a spec names can be fetched."""
        direct = self._direct is not None and self._direct.proved(request.proof)
        with self._database.reading() as work:
            selection = resolve(work, project, request.spec)
            found = selection.page(request.after, request.limit + 1)
            page = found[: request.limit]
            sight.look_into(entry.path for entry in page)
        places = self._places(project, [bytes.fromhex(entry.sha256) for entry in page])
        urls: dict[tuple[str, Within | None], int] = {}
        objects: list[str] = []
        files: list[Place] = []
        for entry in page:
            place = places.get(bytes.fromhex(entry.sha256))
            if place is None:
                raise ObjectNotFound(key=f"{entry.path}:{entry.version}")
            if place.is_wrong:
                raise BlobQuarantined(what=f"{entry.path}:{entry.version}", creator=place.creator)
            part = place.key, place.within if sight.unseen() else None
            if part not in urls:
                urls[part] = len(objects)
                objects.append(self._objects.sign_get(place.key, direct=direct, within=part[1]))
            number = urls[part]
            files.append(Place(entry.path, entry.version, entry.size_bytes, entry.sha256, number, place.offset))
        following = page[-1].path if len(found) > request.limit else None
        return FetchPage(selection.root, selection.is_file, files, objects, following)

    def _places(self, project: ProjectId, hashes: list[bytes]) -> dict[bytes, BlobPlace]:
        """Return where contents are; those that are marked as damaged are read once more before."""
        with self._database.reading() as work:
            places = work.blobs.places(project, set(hashes))
        damaged = [sha256 for sha256 in dict.fromkeys(hashes) if sha256 in places and places[sha256].is_wrong]
        if damaged and self._damages.look_again(project, damaged):
            with self._database.reading() as work:
                places |= work.blobs.places(project, damaged)
        return places


def _as_child(work: Work, project: ProjectId, path: str, file_set: str | None) -> FolderPage:
    """What is no folder may be a file: then it is shown as its folder shows it."""
    folder, _, name = path.rpartition("/")
    if file_set is not None:
        stored = work.file_sets.find(project, parse_set(file_set))
        entry = manifests.find(stored.root, Chunks(work, project), path)
        found = None if entry is None else Child(name, ChildKind.FILE, entry.version, entry.size_bytes)
    else:
        found = work.files.child(project, path)
    if found is None:
        raise not_found(work, project, path, file_set)
    sight.look_into([path])
    return FolderPage(f"{folder}/", [found])


def _mark(child: Child) -> str:
    """What a listing continues after: a file and a folder may have one name, and others stand between them."""
    return f"{child.name}/" if child.kind is ChildKind.FOLDER else child.name


def resolve(work: Work, project: ProjectId, text: str) -> Selection:
    """Find what a spec names, or say that there is nothing."""
    spec = parse_spec(text)
    return _in_set(work, project, spec) if spec.file_set is not None else _in_project(work, project, spec)


def _in_project(work: Work, project: ProjectId, spec: Spec) -> Selection:
    if spec.version is not None:
        return _one(_version(work, project, spec.path, spec.version))
    if not spec.is_folder:
        entry = work.files.latest(project, spec.path)
        if entry is not None:
            return _one(entry)
    folder = spec.path.rstrip("/") + "/"
    if folder != "/" and not work.files.below(project, folder, "", 1):
        raise not_found(work, project, spec.path, None)
    return Selection(folder, is_file=False, page=lambda after, limit: work.files.below(project, folder, after, limit))


def _in_set(work: Work, project: ProjectId, spec: Spec) -> Selection:
    assert spec.file_set is not None
    stored = work.file_sets.find(project, spec.file_set, with_aliases=False)
    if not spec.is_folder:
        entry = manifests.find(stored.root, Chunks(work, project), spec.path)
        if entry is not None:
            return _one(entry)
    folder = spec.path.rstrip("/") + "/"

    def page(after: str, limit: int) -> list[Entry]:
        following = read(work, project, stored, max(folder, after) if folder != "/" else after)
        return list(islice(_while_below(following, folder), limit))

    if folder != "/" and not page("", 1):
        raise not_found(work, project, spec.path, stored.public.ref)
    return Selection(folder, is_file=False, page=page)


def _while_below(entries: Iterable[Entry], folder: str) -> Iterable[Entry]:
    for entry in entries:
        if not entry.path.startswith(folder):
            return
        yield entry


def _one(entry: Entry) -> Selection:
    folder = entry.path[: entry.path.rindex("/") + 1]
    return Selection(folder, is_file=True, page=lambda after, limit: [entry][:limit] if after < entry.path else [])


def _version(work: Work, project: ProjectId, path: str, number: int) -> Entry:
    found = work.files.version(project, path, number)
    if found is None:
        latest = work.files.latest(project, path)
        if latest is None:
            raise not_found(work, project, path, None)
        raise FileNotFound(path=f"{path}:{number}", hint=f" The latest is '{path}:{latest.version}'.")
    entry, deleted_at = found
    if deleted_at is not None:
        back = f" It was deleted; bring it back with acai rm --undo {encode_path(path)}:{number}."
        raise FileNotFound(path=f"{path}:{number}", hint=back)
    return entry


def not_found(work: Work, project: ProjectId, path: str, ref: str | None) -> FileNotFound:
    """Say that there is no such file or folder, and which there may be instead."""
    hint = _hint(work, project, path.rstrip("/"), ref)
    if "*" in path or "?" in path:
        hint += f' Patterns belong to Python: files["{path}"].'
    if path.endswith("/"):
        return FileNotFound(f"There is no folder '{path}'.{hint}", path=path, hint=hint)
    return FileNotFound(path=path, hint=hint)


def _hint(work: Work, project: ProjectId, path: str, ref: str | None) -> str:
    folder = path[: path.rindex("/") + 1]
    if ref is not None:
        stored = work.file_sets.find(project, parse_set(ref))
        children = _children_of_set(work, project, stored, folder, "", _NEIGHBOURS)
        return f" It is not in file set {ref}.{_nearest(path, folder, children)}"
    if work.files.below(project, f"{path}/", "", 1):
        return " It is a folder."
    return _nearest(path, folder, work.files.children(project, folder, "", 1000))


def _nearest(path: str, folder: str, children: list[Child]) -> str:
    near = get_close_matches(path, [folder + child.name for child in children], n=1)
    return f" Did you mean {near[0]}?" if near else ""


def _children_of_set(
    work: Work, project: ProjectId, stored: StoredFileSet, folder: str, after: str, limit: int
) -> list[Child]:
    found: list[Child] = []
    border = folder + after + ("\U0010ffff" if after.endswith("/") else "")
    while len(found) < limit:
        entry = next(iter(read(work, project, stored, border)), None)
        if entry is None or not entry.path.startswith(folder):
            break
        name, slash, _ = entry.path[len(folder) :].partition("/")
        if slash:
            found.append(Child(name, ChildKind.FOLDER))
            border = f"{folder}{name}/\U0010ffff"
        else:
            found.append(Child(name, ChildKind.FILE, entry.version, entry.size_bytes))
            border = entry.path
    return found
