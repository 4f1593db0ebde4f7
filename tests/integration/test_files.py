"""Files as people put, read and remove them: by a shell, a magic and Python, over every kind of store."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import termios
from typing import TYPE_CHECKING

import pytest

from acai_jupyter.contract.errors import AcaiError, BadPath, BadRequest, Conflict, FileNotFound, NotFound
from tests.integration.lakes import Lake, lake
from tests.integration.places import BIN, Place
from tests.servers.proxy import Trouble, proxied

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MIB = 1024**2


@pytest.fixture(scope="module")
def digits(any_lake: Lake) -> Lake:
    """Two versions of a folder, each a set: one of its files is another in the second."""
    place = any_lake.place
    for name, text in {"1.txt": "one", "2.txt": "two", "sub/3.txt": "three", "sub/4@5:6%.txt": "odd"}.items():
        place.write(f"digits/{name}", text)
    any_lake.typed("put", "digits", "/digits", "--as", "digits")
    place.write("digits/2.txt", "TWO, the second time")
    any_lake.typed("put", "digits", "/digits", "--as", "digits")
    place.write("extra.txt", "extra")
    any_lake.typed("put", "extra.txt", "/extra.txt")
    return any_lake


def tree(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


NEW = {"1.txt": "one", "2.txt": "TWO, the second time", "sub/3.txt": "three", "sub/4@5:6%.txt": "odd"}
OLD = NEW | {"2.txt": "two"}
SUB = {"3.txt": "three", "4@5:6%.txt": "odd"}


def below(folder: str, files: dict[str, str]) -> dict[str, str]:
    return {f"{folder}/{name}": text for name, text in files.items()}


# -- every form of a spec


@pytest.mark.parametrize(
    ("spec", "content"),
    [
        ("/digits/2.txt", "TWO, the second time"),
        ("/digits/2.txt:1", "two"),
        ("/digits/2.txt:2", "TWO, the second time"),
        ("/digits/2.txt@digits", "TWO, the second time"),
        ("/digits/2.txt@digits:1", "two"),
        ("/digits/2.txt@digits:latest", "TWO, the second time"),
        ("/digits/sub/4%405%3A6%25.txt", "odd"),
        ("/digits/sub/4%405%3A6%25.txt:1", "odd"),
        ("/digits/sub/4%405%3A6%25.txt@digits:1", "odd"),
    ],
)
def test_a_file_is_read_by_every_form_of_a_spec(digits: Lake, tmp_path: Path, spec: str, content: str) -> None:
    assert digits.cat(spec) == content.encode()
    digits.typed("get", spec, str(tmp_path / "file"))
    assert (tmp_path / "file").read_text() == content
    assert [child.name for child in digits.typed("ls", spec).value.children] == [spec_name(spec)]


def spec_name(spec: str) -> str:
    return "4@5:6%.txt" if "%40" in spec else "2.txt"


@pytest.mark.parametrize(
    ("spec", "files", "children"),
    [
        ("/digits", NEW, ["1.txt", "2.txt", "sub/"]),
        ("/digits/", NEW, ["1.txt", "2.txt", "sub/"]),
        ("/digits/sub", SUB, ["3.txt", "4@5:6%.txt"]),
        ("@digits", below("digits", NEW), ["digits/"]),
        ("@digits:1", below("digits", OLD), ["digits/"]),
        ("/@digits:1", below("digits", OLD), ["digits/"]),
        ("digits:1", below("digits", OLD), ["digits/"]),
        ("/digits@digits:1", OLD, ["1.txt", "2.txt", "sub/"]),
        ("/digits/@digits:1", OLD, ["1.txt", "2.txt", "sub/"]),
        ("/digits/sub/@digits", SUB, ["3.txt", "4@5:6%.txt"]),
    ],
)
def test_a_folder_is_got_and_listed_by_every_form_of_a_spec(
    digits: Lake, tmp_path: Path, spec: str, files: dict[str, str], children: list[str]
) -> None:
    digits.typed("get", spec, str(tmp_path / "out"))
    assert tree(tmp_path / "out") == files
    assert digits.typed("ls", spec).text.splitlines() == children


def test_the_root_lists_what_is_in_the_project(digits: Lake) -> None:
    assert {"digits/", "extra.txt"} <= set(digits.typed("ls").text.splitlines())
    assert digits.typed("ls").text == digits.typed("ls", "/").text


def test_a_long_listing_has_size_version_and_time(digits: Lake) -> None:
    lines = digits.typed("ls", "/digits", "--long").text.splitlines()
    assert re.fullmatch(r" *3 B +:1 +\d{4}-\d\d-\d\d \d\d:\d\d +1\.txt", lines[0])
    assert re.fullmatch(r" *20 B +:2 +\d{4}-\d\d-\d\d \d\d:\d\d +2\.txt", lines[1])
    assert lines[2].strip() == "sub/"
    assert lines[0].index("1.txt") == lines[1].index("2.txt") == lines[2].index("sub/")


def test_versions_are_listed_with_the_newest_first(digits: Lake) -> None:
    first, second = digits.typed("versions", "/digits/2.txt").text.splitlines()
    assert re.fullmatch(r":2 +20 B +just now +\S+ +[0-9a-f]{12}", first)
    assert re.fullmatch(r":1 +3 B +just now +\S+ +[0-9a-f]{12}", second)


def test_a_folder_of_more_than_a_page_is_listed_whole(any_lake: Lake) -> None:
    for number in range(1100):
        any_lake.place.write(f"many/{number:04}.txt", "")
    any_lake.typed("put", "many", "/many", "--as", "many")
    wanted = [f"{number:04}.txt" for number in range(1100)]
    assert any_lake.typed("ls", "/many").text.splitlines() == wanted
    assert any_lake.typed("ls", "/many/@many").text.splitlines() == wanted


# -- what is said to what is not there, or cannot be


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("cat", "/digits"), 2, "'/digits' is a folder; name one file"),
        (("cat", "/digits/9.txt"), 3, "There is no file '/digits/9.txt'. Did you mean"),
        (("cat", "/digits/2.txt:9"), 3, "The latest is '/digits/2.txt:2'"),
        (("cat", "/extra.txt@digits"), 3, "It is not in file set digits:2"),
        (("cat", "/digits/2.txt@digts"), 3, "Did you mean digits"),
        (("cat", "/digits/2.txt@digits:9"), 3, "digits:2"),
        (("cat", "/digits/2.txt:0"), 2, "a version number"),
        (("cat", "/digits/2.txt:1@digits"), 2, "%3A"),
        (("ls", "/nothing/here"), 3, "There is no file '/nothing/here'"),
        (("ls", "no spaces"), 2, "cannot be the name of a file set"),
        (("get", "/digits/../etc", "out"), 2, "'.' and '..' are not allowed"),
        (("get", "/digits"), 2, "DEST"),
        (("versions", "/digits"), 3, "There is no file '/digits'. It is a folder."),
        (("versions", "/digits/"), 2, "versions belong to a path"),
        (("versions", "/digits/2.txt@digits"), 2, "versions belong to a path"),
        (("rm", "/digits"), 3, "There is no file '/digits'. It is a folder."),
        (("rm", "/digits/"), 2, "is not a file or one of its versions"),
        (("rm", "@digits"), 2, "is not a file or one of its versions"),
        (("rm", "/digits/2.txt:1"), 6, "'/digits/2.txt:1' is in file set digits:1"),
        (("rm", "/digits/2.txt:9"), 3, "The latest is '/digits/2.txt:2'"),
        (("uploads", "--abort", "nothing"), 3, "There is no upload session 'nothing'"),
        (("put", "digits", "/digits", "--storage", "tape"), 2, "--storage"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_cannot_be_is_one_sentence_and_an_exit_status(
    digits: Lake, words: tuple[str, ...], status: int, said: str
) -> None:
    if digits.kind in ("direct", "postgres"):  # what is said is the same; a shell for the one, this process for others
        assert said in digits.shell(*words, status=status)
        return
    with pytest.raises(AcaiError) as refused:
        digits.typed(*words)
    assert refused.value.exit_status == status
    assert said in refused.value.message


# -- shell, magic, Python


def test_the_shell_speaks_plainly_or_in_json(digits: Lake, tmp_path: Path) -> None:
    digits.place.write("spoken/a.txt", "a")
    digits.place.write("spoken/b.txt", "b")
    assert re.fullmatch(r"2 files, 2 B · [\d.]+ s · spoken:1\n", digits.shell("put", "spoken", "/s", "--as", "spoken"))
    assert re.fullmatch(
        r"0 new, 2 unchanged · [\d.]+ s · spoken:1\n", digits.shell("put", "spoken", "/s", "--as", "spoken")
    )
    assert digits.shell("ls", "/s") == "a.txt\nb.txt\n"
    assert digits.shell("cat", "/s/a.txt") == "a"
    assert json.loads(digits.shell("cat", "/s/a.txt", "--json")) == "a"
    assert re.fullmatch(r"2 files, 2 B · [\d.]+ s\n", digits.shell("get", "@spoken", str(tmp_path / "o")))
    again = json.loads(digits.shell("get", "@spoken", str(tmp_path / "o"), "--json"))
    assert again == {"files": 0, "size_bytes": 0, "unchanged_files": 2}
    listed = json.loads(digits.shell("ls", "/s", "--json"))
    assert [(child["name"], child["version"], child["size_bytes"]) for child in listed["children"]] == [
        ("a.txt", 1, 1),
        ("b.txt", 1, 1),
    ]
    put = json.loads(digits.shell("put", "spoken", "/s", "--as", "spoken", "--json"))
    assert (put["new_files"], put["unchanged_files"], put["file_set"]) == (0, 2, "spoken:1")
    (version,) = json.loads(digits.shell("versions", "/s/a.txt", "--json"))["versions"]
    assert (version["version"], version["storage"], version["deleted_at"]) == (1, "frequent", None)
    assert json.loads(digits.shell("uploads", "--json")) == {"uploads": [], "next": None}
    assert digits.shell("uploads") == "no pending uploads\n"


def test_bytes_that_are_no_text_come_out_of_a_shell_as_they_are(digits: Lake) -> None:
    content = bytes(range(256)) * 100
    digits.place.write("raw.bin", content)
    digits.typed("put", "raw.bin", "/raw.bin")
    command = [str(BIN / "acai"), "cat", "/raw.bin"]
    shown = subprocess.run(command, env=digits.place.environment, check=True, capture_output=True)
    assert shown.stdout == content


def test_a_secret_that_was_sent_before_leaves_the_set_and_is_named(digits: Lake) -> None:
    place = digits.place
    for name in ("plain.txt", ".env", ".ssh/config", "gone.txt"):
        place.write(f"secrets/{name}", name)
    rules = place.write("secrets/.acaiignore", "!.env\n!.ssh/\n")
    put = ("put", "secrets", "/secrets", "--as", "secrets")
    assert len(place.acai(*put).stdout.splitlines()) == 1, "nothing to say: it was asked for"
    rules.unlink()
    (place.work / "secrets" / "gone.txt").unlink()
    _, left_out, dropped = place.acai(*put).stdout.splitlines()
    assert left_out == (
        "left out: secrets/.env (it may hold a secret), secrets/.ssh/ (it may hold a secret); "
        "--include sends what you name, --dry-run lists all"
    )
    assert dropped == (
        "not in secrets:2 any more: /secrets/.env, /secrets/.ssh/config; "
        "earlier versions keep it, acai rm deletes it there"
    )
    assert place.acai("cat", "/secrets/.env@secrets:1").stdout == ".env"
    third = json.loads(place.acai(*put, "--include", ".env", "--json").stdout)
    assert (third["file_set"], [one["path"] for one in third["left_out"]]) == ("secrets:3", ["/secrets/.ssh"])


@pytest.fixture
def here(digits: Lake, monkeypatch: pytest.MonkeyPatch) -> Lake:
    """Python as it runs in a notebook of the server's user."""
    for name, value in digits.place.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(digits.place.work)
    return digits


def test_python_has_the_same_verbs(here: Lake, tmp_path: Path) -> None:
    import acai_jupyter as acai

    here.place.write("python/a.txt", "a")
    here.place.write("python/b.log", "b")
    result = acai.put("python", dest="/python", as_="python", exclude=["*.log"], storage="infrequent")
    assert (result.new_files, result.file_set) == (1, "python:1")
    assert acai.cat("/python/a.txt") == b"a"
    assert [child.name for child in acai.ls("/python").children] == ["a.txt"]
    (version,) = acai.versions("/python/a.txt").versions
    assert (version.version, version.storage) == (1, "infrequent")
    assert acai.get("@python", tmp_path / "out").files == 1
    assert tree(tmp_path / "out") == {"python/a.txt": "a"}
    acai.put("python/b.log", dest="/python/b.log")
    assert acai.rm("/python/b.log").versions == [1]
    with pytest.raises(FileNotFound, match="There is no file"):
        acai.cat("/python/b.log")
    assert acai.rm("/python/b.log", undo=True).versions == [1]
    assert acai.cat("/python/b.log") == b"b"


def test_wrong_words_in_python_are_our_errors_too(here: Lake) -> None:
    import acai_jupyter as acai

    del here
    with pytest.raises(BadRequest, match="tape"):
        acai.put("digits", dest="/digits", storage="tape")
    with pytest.raises(BadRequest, match="starts with '/'"):
        acai.put("digits", dest="digits")
    with pytest.raises(BadPath):
        acai.put("digits", dest="/../digits")
    with pytest.raises(NotFound, match=r"No folder \./nothing"):
        acai.put("nothing", dest="/digits")


# -- what is left out


def test_a_dry_run_lists_what_would_go_and_what_not_and_sends_nothing(digits: Lake) -> None:
    place = digits.place
    place.write("dry/data.csv", "x" * 2000)
    place.write("dry/.git/config", "")
    place.write("dry/notes.log", "")
    place.write("dry/cache/a", "")
    place.write("dry/.acaiignore", "cache/\n")
    before = digits.stored()
    words = ("put", "dry", "/dry", "--dry-run", "--exclude", "*.log")
    lines = digits.typed(*words).text.splitlines()
    assert "2 KB  /dry/data.csv" in lines
    assert "left out  dry/.git/  (default: .git)" in lines
    assert "left out  dry/notes.log  (--exclude *.log)" in lines
    assert any(line.startswith("left out  dry/cache/  (") and ".acaiignore" in line for line in lines)
    assert re.fullmatch(r"would put 1 file, 2 KB · 4 left out", lines[-1])
    plan = json.loads(digits.shell(*words, "--json"))
    assert [file["path"] for file in plan["files"]] == ["/dry/data.csv"]
    assert {one["source"] for one in plan["excluded"]} == {"dry/.git", "dry/notes.log", "dry/cache", "dry/.acaiignore"}
    assert digits.stored() == before
    assert digits.pending() == []
    with pytest.raises(NotFound):
        digits.typed("ls", "/dry")
    digits.typed("put", "dry", "/dry", "--exclude", "*.log")
    assert digits.typed("ls", "/dry").text == "data.csv"


# -- getting onto a disk that has something


def test_what_is_there_and_the_same_is_left_alone(digits: Lake, tmp_path: Path) -> None:
    out = tmp_path / "out"
    digits.typed("get", "@digits:1", str(out))
    before = {path: path.stat().st_ino for path in out.rglob("*") if path.is_file()}
    assert "4 were there already" in digits.typed("get", "@digits:1", str(out)).text
    assert {path: path.stat().st_ino for path in out.rglob("*") if path.is_file()} == before


def test_what_is_there_and_another_is_refused_before_anything_is_written(digits: Lake, tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / "sub").mkdir(parents=True)
    (out / "sub" / "3.txt").write_text("mine")
    with pytest.raises(Conflict, match=r"3\.txt is there already and is another file. Replace it with --force"):
        digits.typed("get", "/digits", str(out))
    assert tree(out) == {"sub/3.txt": "mine"}
    digits.typed("get", "/digits", str(out), "--force")
    assert tree(out) == NEW


def test_one_file_goes_to_a_path_or_into_a_folder(digits: Lake, tmp_path: Path) -> None:
    digits.typed("get", "/digits/2.txt:1", str(tmp_path / "a"))
    digits.typed("get", "/digits/2.txt:1", f"{tmp_path}/new/")
    (tmp_path / "old").mkdir()
    digits.typed("get", "/digits/2.txt:1", str(tmp_path / "old"))
    assert tree(tmp_path) == {"a": "two", "new/2.txt": "two", "old/2.txt": "two"}


@pytest.mark.parametrize("force", [(), ("--force",)], ids=["", "force"])
@pytest.mark.parametrize("leads_to", ["a file", "nothing"])
def test_a_link_in_the_way_never_leads_bytes_elsewhere(
    digits: Lake, tmp_path: Path, leads_to: str, force: tuple[str, ...]
) -> None:
    out, target = tmp_path / "out", tmp_path / "target"
    out.mkdir()
    if leads_to == "a file":
        target.write_text("mine")
    (out / "2.txt").symlink_to(target)
    if force:
        digits.typed("get", "/digits", str(out), *force)
        assert tree(out) == NEW
        assert not (out / "2.txt").is_symlink()
    else:
        with pytest.raises(Conflict):
            digits.typed("get", "/digits", str(out))
    assert target.exists() == (leads_to == "a file")
    assert not target.exists() or target.read_text() == "mine"


@pytest.mark.parametrize("force", [(), ("--force",)], ids=["", "force"])
@pytest.mark.parametrize("in_the_way", ["a folder for a file", "a file for a folder"])
def test_what_cannot_be_replaced_is_said(digits: Lake, tmp_path: Path, in_the_way: str, force: tuple[str, ...]) -> None:
    out = tmp_path / "out"
    if in_the_way == "a folder for a file":
        (out / "2.txt" / "mine").mkdir(parents=True)
    else:
        out.mkdir()
        (out / "sub").write_text("mine")
    with pytest.raises(AcaiError, match=r"2\.txt|sub") as refused:
        digits.typed("get", "/digits", str(out), *force)
    assert "\n" not in refused.value.message
    assert (out / "2.txt" / "mine").exists() or (out / "sub").read_text() == "mine"


@pytest.mark.parametrize("path", ["/hostile/../../../evil", "/hostile//../evil", "/hostile/a\0b", "/elsewhere/evil"])
def test_a_server_cannot_lead_a_client_out_of_its_folder(
    place: Place, tmp_path_factory: pytest.TempPathFactory, path: str
) -> None:
    place.start()
    place.write("evil", "evil")
    assert place.acai("put", "evil", "/hostile/evil", "--as", "evil").returncode == 0
    place.sql("UPDATE file SET path = ? WHERE path = '/hostile/evil'", (path,))
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    out = elsewhere / "deep" / "er" / "out"
    done = place.acai("get", "/hostile", str(out))
    if path == "/elsewhere/evil":  # the server has no such folder any more
        assert done.returncode == 3
    else:
        assert done.returncode == 2, done.stdout
        assert len(done.stderr.strip().splitlines()) == 1
    assert not [found for found in elsewhere.rglob("*") if found.is_file()]


# -- removing


def test_a_version_that_was_removed_keeps_its_number_and_comes_back(any_lake: Lake) -> None:
    place = any_lake.place
    for text in ("first", "second", "third"):
        place.write("gone.txt", text)
        any_lake.typed("put", "gone.txt", "/rm/gone.txt")
    said = any_lake.shell("rm", "/rm/gone.txt:3")
    assert said == "1 version of /rm/gone.txt deleted · back: acai rm --undo /rm/gone.txt:3\n"
    assert any_lake.cat("/rm/gone.txt") == b"second"
    with pytest.raises(FileNotFound, match=r"bring it back with acai rm --undo /rm/gone\.txt:3"):
        any_lake.cat("/rm/gone.txt:3")
    lines = any_lake.typed("versions", "/rm/gone.txt").text.splitlines()
    assert ["deleted" in line for line in lines] == [True, False, False]
    place.write("gone.txt", "fourth")
    any_lake.typed("put", "gone.txt", "/rm/gone.txt")
    assert any_lake.cat("/rm/gone.txt:4") == b"fourth"
    assert any_lake.typed("rm", "/rm/gone.txt:3", "--undo").text == "1 version of /rm/gone.txt is back"
    assert any_lake.cat("/rm/gone.txt:3") == b"third"
    assert any_lake.cat("/rm/gone.txt") == b"fourth"


def test_a_file_that_was_removed_is_listed_nowhere_and_its_next_version_goes_on(any_lake: Lake) -> None:
    place = any_lake.place
    place.write("all.txt", "one")
    any_lake.typed("put", "all.txt", "/all/all.txt")
    assert "1 version of /all/all.txt deleted" in any_lake.typed("rm", "/all/all.txt").text
    with pytest.raises(NotFound):
        any_lake.typed("ls", "/all")
    with pytest.raises(NotFound):
        any_lake.typed("get", "/all", str(place.work / "never"))
    result = any_lake.typed("put", "all.txt", "/all/all.txt").value
    assert (result.new_files, result.sent_bytes) == (1, 0)
    assert [version.version for version in any_lake.typed("versions", "/all/all.txt").value.versions] == [2, 1]


def test_bringing_back_what_was_not_removed_changes_nothing(any_lake: Lake) -> None:
    any_lake.place.write("kept.txt", "kept")
    any_lake.typed("put", "kept.txt", "/kept.txt")
    assert any_lake.typed("rm", "/kept.txt", "--undo").text == "nothing of /kept.txt was deleted"
    assert any_lake.cat("/kept.txt") == b"kept"


# -- storage classes


@pytest.mark.parametrize(("storage", "s3_class"), [("infrequent", "STANDARD_IA"), ("archive", "GLACIER_IR")])
def test_a_storage_class_is_set_on_the_object_and_shown(any_lake: Lake, storage: str, s3_class: str) -> None:
    any_lake.place.write(f"{storage}/a.txt", storage)
    before = any_lake.stored()
    any_lake.shell("put", storage, f"/{storage}", "--storage", storage)
    assert storage in any_lake.typed("versions", f"/{storage}/a.txt").text
    assert any_lake.cat(f"/{storage}/a.txt") == storage.encode()
    (new,) = set(any_lake.stored()) - set(before)
    if any_lake.s3 is not None:
        head = any_lake.s3.client().head_object(Bucket=any_lake.bucket, Key=new)
        assert head["StorageClass"] == s3_class


# -- the bar


def terminal_said(here: Lake, words: tuple[str, ...], url: str) -> tuple[str, str]:
    """Run the command line with a terminal for its errors; returns what that showed, and its standard output."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    environment = here.place.environment | {"ACAI_URL": url, "ACAI_TOKEN": here.server.token}
    process = subprocess.Popen(
        [str(BIN / "acai"), *words],
        env=environment,
        cwd=here.place.work,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
    )
    os.close(theirs)
    seen = b""
    try:
        while piece := os.read(ours, 4096):
            seen += piece
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0, seen
    return seen.decode(), out


@pytest.fixture
def slow_lake(place: Place) -> Iterator[Lake]:
    """A server that takes a second to say what it is, and a folder."""
    server = place.start()
    for number in range(100):  # more than is read ahead of a server that takes its time
        place.write(f"bar/{number}.bin", bytes([number]) * MIB)
    with proxied(server.root) as proxy:
        proxy.misbehave(Trouble.SLOW, "GET", "/status")
        yield Lake(server, "direct", url=proxy.url)


def test_a_terminal_shows_a_bar_and_a_log_shows_nothing(slow_lake: Lake, tmp_path: Path) -> None:
    url = slow_lake.url
    seen, out = terminal_said(slow_lake, ("put", "bar", "/bar"), url)
    assert "B/s" in seen
    assert out.startswith("100 files, ")
    seen, _ = terminal_said(slow_lake, ("get", "/bar", str(tmp_path / "out")), url)
    assert "B/s" in seen
    seen, _ = terminal_said(slow_lake, ("put", "bar", "/quiet", "--no-progress"), url)
    assert seen == ""
    logged = slow_lake.place.acai("put", "bar", "/logged", ACAI_URL=url, ACAI_TOKEN=slow_lake.server.token)
    assert (logged.returncode, logged.stderr) == (0, "")


def test_what_is_over_soon_shows_no_bar(here: Lake) -> None:
    seen, _ = terminal_said(here, ("put", "digits", "/soon"), here.server.root)
    assert seen == ""


@pytest.mark.s3
def test_s3_is_told_of_a_class_for_large_files_too(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    with lake("s3", tmp_path, request) as s3:
        (s3.place.work / "large.bin").write_bytes(os.urandom(70 * MIB))
        s3.typed("put", "large.bin", "/large.bin", "--storage", "infrequent")
        (key,) = s3.stored()
        assert s3.s3 is not None
        assert s3.s3.client().head_object(Bucket=s3.bucket, Key=key)["StorageClass"] == "STANDARD_IA"
        assert s3.typed("versions", "/large.bin").text.endswith("infrequent")
