"""Folders from a stranger: putting them takes no files from elsewhere along, and no line of theirs is obeyed."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tests.integration.places import Place, Server
from tests.servers.answers import Answer, service

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.attack.campaign import Run

SECRET = "the user's own secret"
TRAPS = 4


def hostile_folders(run: Run) -> None:
    """Put folders with several traps in them, and compare what came with what lies in the folder itself."""
    with closing(Place(run.home / "home")) as place:
        place.write("own/secret.txt", SECRET)
        server = place.start(program="acai")
        for number in run.rounds():
            names = run.chance.sample(list(FOLDER_TRAPS), TRAPS)
            folder = place.work / f"stranger{number}"
            folder.mkdir()
            (folder / "honest.txt").write_text("honest")
            for name in names:
                FOLDER_TRAPS[name](folder)
            _put(run, server, folder, names)
            shutil.rmtree(folder)
        _obeys_nobody(run, place)


def _put(run: Run, server: Server, folder: Path, names: list[str]) -> None:
    place, steps = server.place, (f"a folder with {', '.join(names)}",)
    done = place.acai("put", folder.name, f"/{folder.name}", "--as", folder.name)
    run.figures["requests"] += 1
    run.figures["refusals"] += done.returncode != 0
    if "Traceback" in done.stderr or done.returncode < 0:
        run.violation("putting a folder ended with a traceback", done.stderr[-800:], *steps)
    if not (done.stdout + done.stderr).replace("\n", "").replace("\t", "").isprintable():
        run.violation("a name of a file reached the terminal as it is", repr(done.stdout + done.stderr)[:500], *steps)
    if done.returncode:
        return
    target = place.home / "got"
    got = place.acai("get", f"@{folder.name}", str(target))
    found = {path.relative_to(target): path.read_bytes() for path in target.rglob("*") if path.is_file()}
    shutil.rmtree(target, ignore_errors=True)
    if got.returncode:
        run.violation("what was put cannot be got", got.stderr, *steps)
    if not any(path.name == "honest.txt" for path in found):
        run.violation("an honest file next to a trap is missing", *steps)
    if any(SECRET.encode() in content for content in found.values()):
        run.violation("a file from outside the folder went along", *steps)


def _obeys_nobody(run: Run, place: Place) -> None:
    """A shell in a stranger's folder must not send its token where a file in there says."""
    folder = place.work / "repository"
    folder.mkdir()
    with service(Answer(401, json.dumps({"error": {}}).encode())) as stranger:
        (folder / "acai.toml").write_text(f'url = "{stranger.url}"\nrunner = "process"\ntoken = "x"\n')
        before = place.work
        place.work = folder
        try:
            for words in (("status",), ("ls", "/")):
                place.acai(*words)
                run.figures["requests"] += 1
        finally:
            place.work = before
        if stranger.asked:
            run.violation("a file in a folder decided which server the client asks", *stranger.asked[:3])


def _link_to_secret(folder: Path) -> None:
    (folder / "link.txt").symlink_to(folder.parent / "own" / "secret.txt")


def _link_to_folder(folder: Path) -> None:
    (folder / "linked").symlink_to(folder.parent / "own", target_is_directory=True)


def _loop(folder: Path) -> None:
    (folder / "loop").symlink_to(folder, target_is_directory=True)


def _pipe(folder: Path) -> None:
    os.mkfifo(folder / "pipe")


def _deep(folder: Path) -> None:
    here = os.open(folder, os.O_RDONLY)
    try:
        for _ in range(300):
            os.mkdir("deep", dir_fd=here)
            inner = os.open("deep", os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = inner
        os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    finally:
        os.close(here)


def _no_text(folder: Path) -> None:
    with suppress(OSError):  # some file systems refuse such names
        Path(os.fsdecode(os.fsencode(folder) + b"/\xff\xfe.txt")).write_text("x")


def _escapes(folder: Path) -> None:
    (folder / "\x1b]0;owned\x07\x1b[31mred.txt").write_text("x")


def _ignored_secret(folder: Path) -> None:
    (folder / ".acaiignore").write_text("!.env\n!../own/secret.txt\n" + "*" * 200 + "\n" + "(a+)+$\n")
    (folder / ".env").write_text("TOKEN=x")


def _unreadable(folder: Path) -> None:
    (folder / "closed").mkdir(mode=0)


def _same_name(folder: Path) -> None:
    (folder / "caf\u00e9").write_text("composed")
    (folder / "cafe\u0301").write_text("decomposed")


FOLDER_TRAPS: dict[str, Callable[[Path], None]] = {
    "a link to a secret": _link_to_secret,
    "a link to a folder": _link_to_folder,
    "a link to itself": _loop,
    "a pipe": _pipe,
    "a deep tree": _deep,
    "a name that is no text": _no_text,
    "a name with escapes": _escapes,
    "an ignore list that undoes rules": _ignored_secret,
    "a folder that cannot be read": _unreadable,
    "two spellings of a name": _same_name,
}
