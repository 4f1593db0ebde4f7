"""Snapshots of programs: a text, a script, a folder or a zip becomes a file set of its own, in the role code.

The same content again is the same version. What is kept lies in the project below `CODE_FOLDER`, out of the way.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acai_jupyter import trees
from acai_jupyter.client import git
from acai_jupyter.client.archives import unpacked
from acai_jupyter.client.ignoring import DEFAULT, SECRET, SECRETS, Rules, excluding
from acai_jupyter.client.known import Memory
from acai_jupyter.client.sessions import Plan
from acai_jupyter.client.uploads import found_file
from acai_jupyter.client.uploads import put as upload
from acai_jupyter.client.walking import Excluded, Found, walk
from acai_jupyter.contract.errors import BadRequest, NotFound, TooLarge
from acai_jupyter.contract.foreign import one_line
from acai_jupyter.contract.plans import CodeFile
from acai_jupyter.contract.sizes import size

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from acai_jupyter.client.http import Client

CODE_FOLDER = "/.code"
ENVIRONMENT = ".environment.tar.gz"
"""Where among the code the agent finds an archive of packages."""
MAX_FILES = 10_000
MAX_BYTES = 256 * 1024**2
"""More than this is no program: it is data that lies beside it."""
MUCH_BYTES = 50 * 1024**2
MUCH_FILES = 2000
"""From here on it is said what is most of it."""
_OF_OUTPUTS = "the folder of the outputs"
_LARGEST = 3
_SLUG_LENGTH = 60


@dataclass(frozen=True)
class Part:
    """Something at the top of the code, and how much is in it."""

    name: str
    file_count: int
    size_bytes: int


@dataclass(frozen=True)
class Contents:
    """What is among the code, and what people may miss there."""

    file_count: int
    size_bytes: int
    modules: list[str] = field(default_factory=list)
    """Modules of the project that the program imports."""
    modules_bytes: int = 0
    largest: list[Part] = field(default_factory=list)
    """Where it is much, what is most of it."""
    left_out: list[Excluded] = field(default_factory=list)
    """Links, and what may hold a secret."""
    ignored: list[Excluded] = field(default_factory=list)
    """What else stays behind: by a file .acaiignore first, then by what is never taken."""


@dataclass(frozen=True)
class Code:
    """A program as it was kept; without a file set, as it would be."""

    file_set: str | None
    root: str
    """The folder of the project below which it lies: where it stands in a job's working folder, this is left off."""
    captured: dict[str, Any]
    """Where it is from: what of, and what Git says of that."""
    contents: Contents = field(default_factory=lambda: Contents(0, 0))
    files: list[CodeFile] = field(default_factory=list)
    """Only of what is not kept."""

    @property
    def left_out(self) -> list[Excluded]:
        """What people may miss."""
        return self.contents.left_out


@dataclass(frozen=True)
class Source:
    """A folder or zip to take, and texts and files to put beside what is in it."""

    place: Path | None = None
    texts: Mapping[str, str] = field(default_factory=dict)
    name: str = "program"
    """What its file set is called after, where no folder is taken."""
    output_folder: str = "output"
    needed: str | None = None
    """A file that has to be among them: the one that is to be run."""
    script: Path | None = None
    """One file, under its own name."""
    modules: Mapping[str, Path] = field(default_factory=dict)
    """Files that the program imports, by their paths beside it."""
    environment: Path | None = None
    """An archive of packages that goes along."""
    include: tuple[str, ...] = ()
    """Patterns of files of the folder that are to go along although they would be left out."""


@dataclass(frozen=True)
class _Gathered:
    root: str
    owner: str
    found: list[Found]
    contents: Contents


def keep(client: Client, source: Source) -> Code:
    """Keep a program."""
    with _gathered(source) as taken:
        name = taken.root.rpartition("/")[2]
        memory = _memory(client, source) if source.place is not None and source.place.is_dir() else None
        result = upload(client, taken.found, Plan(name, label=taken.owner), memory=memory)
    assert result.file_set is not None
    return Code(result.file_set, taken.root, _captured(source), taken.contents)


def look(source: Source) -> Code:
    """Return a program as it would be kept; nothing is sent."""
    with _gathered(source) as taken:
        files = [CodeFile(one.path[len(taken.root) + 1 :], _sha256(one.source)) for one in taken.found]
    return Code(None, taken.root, _captured(source), taken.contents, files)


@contextmanager
def _gathered(source: Source) -> Iterator[_Gathered]:
    """Find all that belongs to a program; texts are files only as long as this lasts."""
    with ExitStack() as until_kept:
        place = source.place
        if place is not None and not place.is_dir():
            place = until_kept.enter_context(unpacked(place, MAX_FILES, MAX_BYTES))
        owner = source.name if source.place is None else source.place.resolve().name.removesuffix(".zip")
        root = f"{CODE_FOLDER}/code.{_slug(owner)}"
        taken = _Taken() if place is None else _Taken.of(place, source, root)
        texts = until_kept.enter_context(_written(source.texts))
        modules = [found_file(str(file), f"{root}/{in_project(path)}") for path, file in sorted(source.modules.items())]
        beside = [*modules, *_below(texts, root), *_script(source, root)]
        if source.environment is not None:
            beside.append(found_file(str(source.environment), f"{root}/{ENVIRONMENT}"))
        found = sorted([*taken.files, *beside], key=lambda file: file.path)
        if source.needed is not None and f"{root}/{source.needed}" not in {file.path for file in found}:
            raise NotFound(f"There is no {one_line(source.needed)} among the code of {one_line(str(source.place))}.")
        if not found:
            raise BadRequest(f"There are no files in {one_line(str(source.place))} that could be a program.")
        contents = Contents(
            len(found),
            sum(file.size_bytes for file in found),
            [file.path[len(root) + 1 :] for file in modules],
            sum(file.size_bytes for file in modules),
            taken.largest,
            taken.told,
            sorted(taken.ignored, key=lambda one: one.reason.startswith(DEFAULT)),
        )
        yield _Gathered(root, owner, found, contents)


def _script(source: Source, root: str) -> Iterator[Found]:
    if source.script is None:
        return
    found = found_file(str(source.script), f"{root}/{in_project(source.script.name)}")
    if found.size_bytes > MAX_BYTES:
        raise TooLarge(
            f"{one_line(str(source.script))} is too much to be code: it has {size(found.size_bytes)}; code has at most "
            f"{size(MAX_BYTES)}."
        )
    yield found


def _sha256(file: str) -> str:
    with Path(file).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def in_project(name: str) -> str:
    """Return a path as a project has it: in Unicode's composed form."""
    return unicodedata.normalize("NFC", name)


def free_name(place: Path | None, wanted: str) -> str:
    """Return a name that no file at the top of a folder has."""
    while place is not None and (place / wanted).exists():
        wanted = f"_{wanted}"
    return wanted


class _Taken:
    """What of a folder belongs to the program, up to the limits; beyond them only its size is counted."""

    def __init__(self) -> None:
        self.files: list[Found] = []
        self.told: list[Excluded] = []
        self.ignored: list[Excluded] = []
        self._count = 0
        self._size_bytes = 0
        self._sizes: Counter[str] = Counter()
        self._counts: Counter[str] = Counter()

    @classmethod
    def of(cls, place: Path, source: Source, root: str) -> _Taken:
        """Walk a folder."""
        taken = cls()
        for one in walk(str(place), root, _rules(source)):
            if isinstance(one, Found):
                taken.add(one, root)
                continue
            name = one.source.removeprefix(f"{place}/")
            (taken.told if one.is_missed else taken.ignored).append(Excluded(name, one.reason, one.is_folder))
        if taken.is_too_much:
            raise TooLarge(taken.sentence(source.place or place))
        return taken

    @property
    def is_too_much(self) -> bool:
        return self._count > MAX_FILES or self._size_bytes > MAX_BYTES

    @property
    def largest(self) -> list[Part]:
        """What is most of it, by size or else by count, where it is much."""
        if self._size_bytes <= MUCH_BYTES and self._count <= MUCH_FILES:
            return []
        order = self._sizes if self._size_bytes > MUCH_BYTES else self._counts
        return [Part(name, self._counts[name], self._sizes[name]) for name, _ in order.most_common(_LARGEST)]

    def add(self, file: Found, root: str) -> None:
        self._count += 1
        self._size_bytes += file.size_bytes
        first, slash, _ = file.path[len(root) + 1 :].partition("/")
        self._sizes[first + slash] += file.size_bytes
        self._counts[first + slash] += 1
        if not self.is_too_much:
            self.files.append(file)

    def sentence(self, place: Path) -> str:
        largest = ", ".join(f"{one_line(name)} ({size(n)})" for name, n in self._sizes.most_common(_LARGEST))
        has = f"{self._count:,} files, {size(self._size_bytes)}"
        most = f"{MAX_FILES:,} files and {size(MAX_BYTES)}"
        return (
            f"{one_line(str(place))} is too much to be code: it has {has}; code is at most {most}. The largest in it: "
            f"{largest}. Leave out what is no program in a file .acaiignore; put data with 'acai put' and give it with "
            "--input."
        )


def _rules(source: Source) -> Rules:
    """What is left out: as with `put`, and the folder of the outputs."""
    return excluding((), source.include).with_default(f"/{source.output_folder.strip('/')}/", _OF_OUTPUTS)


@contextmanager
def _written(texts: Mapping[str, str]) -> Iterator[Path | None]:
    """Write texts as files into a temporary folder; without texts there is none."""
    if not texts:
        yield None
        return
    with trees.temporary_folder("acai-code-") as folder:
        for name, text in texts.items():
            (Path(folder) / name).write_text(text, encoding="utf-8", newline="")
        yield Path(folder)


def _below(folder: Path | None, root: str) -> Iterator[Found]:
    if folder is not None:
        yield from (found_file(str(path), f"{root}/{path.name}") for path in sorted(folder.iterdir()))


def _memory(client: Client, source: Source) -> Memory:
    where = client.status.data_folder or client.connection.url
    return Memory(where, client.status.project, "code", Path(str(source.place)).absolute(), *source.texts)


def _captured(source: Source) -> dict[str, Any]:
    if source.script is not None:
        script = source.script.absolute()
        return _with_git({"kind": "script", "source": str(script)}, script.parent)
    if source.place is None:
        return {"kind": "cell", "source": source.name}
    captured = {"kind": "folder" if source.place.is_dir() else "zip", "source": str(source.place.absolute())}
    return _with_git(captured, source.place.absolute()) if source.place.is_dir() else captured


def _with_git(captured: dict[str, Any], folder: Path) -> dict[str, Any]:
    patterns = (name.removeprefix("**/") for name in SECRETS if not name.startswith("!"))
    secret_files = [f"{pattern}**" if pattern.endswith("/") else pattern for pattern in patterns]
    found = git.seen(folder, secret_files)
    return captured if found is None else captured | {"git": found}


def told(left_out: Iterable[Excluded]) -> str:
    """Say in one line what was left out that people may miss; empty when nothing was."""
    ones = list(left_out)
    named = ", ".join(f"{one_line(one.source)} ({one.reason})" for one in ones[:_LARGEST])
    more = f" and {len(ones) - _LARGEST:,} more" if len(ones) > _LARGEST else ""
    step = "; --include sends what you name" if any(one.reason == SECRET for one in ones) else ""
    return f"left out of the code: {named}{more}{step}" if ones else ""


def told_much(contents: Contents) -> str:
    """Say in one line what is most of the code; empty where it is not much."""
    if not contents.largest:
        return ""
    parts = ", ".join(
        f"{one_line(one.name)} ({_files(one.file_count)}, {size(one.size_bytes)})" for one in contents.largest
    )
    return f"much code: {_files(contents.file_count)}, {size(contents.size_bytes)}; the largest in it: {parts}"


def _files(count: int) -> str:
    return f"{count:,} file{'s' if count != 1 else ''}"


def _slug(owner: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", owner.lower()).strip("-")[:_SLUG_LENGTH].rstrip("-") or "program"
