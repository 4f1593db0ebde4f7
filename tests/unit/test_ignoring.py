"""Patterns of `.acaiignore` and `--exclude`: what they mean, compared with git itself, and which are refused."""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from acai_jupyter.client.ignoring import IGNORE_FILE, Rules, excluding
from acai_jupyter.client.walking import Found, walk
from acai_jupyter.contract.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Iterator

# Long, because to git a character outside ASCII is several, and no pattern here may count them.
WORD = "\u00e4" * 12
NAMES = ("a", "b", "ab", "a.b", "-", "]", "!a", "#b", "[a]", "*", "\\b", "a ", " b", WORD, "B", "1", "^", ".a")
FOLDERS = ("", "a/", "ab/", "a/a/", "a/b/", "b.d/", "b.d/a/", "b.d/a/b/", f"{WORD} {WORD}/", "-/")
PATTERN_SIGNS = [
    "a", "b", "b", "ab", "A", "1", "*", "**", "?", "/", "/", "/**/", "[", "]", "[!", "[^", "-", "\\", "!", "#", " ",
    "a/", "[ab]", "[!a-]", "[]a]", "[a-b]", "[[:alpha:]]", "[[:", ":]", WORD, ".", ".d", "\t", "^",
]  # fmt: skip
PATTERNS = st.lists(st.sampled_from(PATTERN_SIGNS), min_size=1, max_size=7).map("".join)
CONTENTS = st.lists(PATTERNS, max_size=4).map("\n".join)
KNOWN_CORNERS = [
    "a", "/a", "a/", "/a/", "a/b", "a/*", "a/**", "**/a", "a/**/b", "**", "/**", "**/", "/", "//", "a//b", "*", "*/",
    "a**", "a**/b", "a/b**", "**a", "b.d/**/", "b.d/a**/b", "***", "a/***/b", "\\*", "\\[a]", "[[]a]", "[]]", "[!]]",
    "[]-a]", "[a-]", "[--a]", "[z-a]", "[!z-a]", "[b-a-]", "[a-b-]", "[\\]]", "[\\\\]b", "[[:upper:]]", "[![:alnum:]]",
    "[[:punct:]]", "[[:alpha:]-b]", "[a/b]", "a[/]b", "[[:a]", "[^a]", "[\\^]", "a\\ ", "a ", "a\\  ", " b", "\\ b",
    "\\!a", "\\#b", "#b", "!a", "*\n!a", "*\n!*/\n!b", "a/\n!a/b", "a/*\n!a/b", "*\r\n!b\r\n", "\ufeffa", "?", "??",
    "\\a", "*b", "*a*", "a?b", "*.*", "a/b/", "a/**\\/b", "a\\/b", WORD, f"{WORD}*/*", "-", "a\t", ".*", "[[:space:]]b",
]  # fmt: skip
REFUSED = {
    "[a": "is not closed",
    "a[]": "is not closed",
    "[^]": "is not closed",
    "[[:alpha:]": "is not closed",
    "[[:word:]]": "no kind of character called",
    "a\\": "nothing follows",
    "./a": "without './'",
    "../a": "without './'",
    "a/./b": "without './'",
}


def make_tree(root: Path) -> None:
    for folder in FOLDERS:
        (root / folder).mkdir(parents=True, exist_ok=True)
        for name in NAMES:
            if not (root / folder / name).exists() and f"{folder}{name}/" not in FOLDERS:
                (root / folder / name).touch()


class Tree:
    """Files of every kind of name, and git beside them to ask what it would leave out."""

    def __init__(self, place: Path) -> None:
        self.root, self.repository = place / "tree", place / "repository"
        make_tree(self.root)
        self.git("init", "--quiet")

    def git(self, *arguments: str) -> str:
        places = ("--git-dir", str(self.repository), "--work-tree", str(self.root), "-c", "core.excludesFile=/dev/null")
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.repository), "GIT_CONFIG_NOSYSTEM": "1"}
        run = subprocess.run(
            ["git", *places, *arguments], cwd=self.root, env=environment, capture_output=True, check=True
        )
        assert run.stderr == b""
        return run.stdout.decode()

    def taken_by_git(self, exclude: list[str]) -> set[str]:
        options = [f"--exclude={pattern}" for pattern in exclude]
        found = self.git("ls-files", "-z", "--others", f"--exclude-per-directory={IGNORE_FILE}", *options)
        return {path for path in found.split("\0") if path and not path.endswith(IGNORE_FILE)}

    def taken_by_us(self, rules: Rules) -> set[str]:
        found = [entry.path[1:] for entry in walk(str(self.root), "/", rules) if isinstance(entry, Found)]
        assert found == sorted(found)
        return {path for path in found if not path.endswith(IGNORE_FILE)}

    def write(self, contents: dict[str, str]) -> None:
        for folder in FOLDERS:
            (self.root / folder / IGNORE_FILE).unlink(missing_ok=True)
        for folder, content in contents.items():
            (self.root / folder / IGNORE_FILE).write_bytes(content.encode())


@pytest.fixture(scope="module")
def tree() -> Iterator[Tree]:
    with TemporaryDirectory() as place:
        yield Tree(Path(place))


@pytest.mark.parametrize("content", KNOWN_CORNERS, ids=map(ascii, KNOWN_CORNERS))
def test_a_pattern_leaves_out_what_git_leaves_out(tree: Tree, content: str) -> None:
    tree.write({"": content})
    assert tree.taken_by_us(Rules()) == tree.taken_by_git([])


@settings(max_examples=200, deadline=None)
@given(PATTERNS)
def test_a_pattern_is_understood_as_git_does_or_could_never_match(tree: Tree, pattern: str) -> None:
    tree.write({})
    try:
        rules = excluding([pattern])
    except BadRequest:
        assert tree.taken_by_git([pattern]) == tree.taken_by_us(Rules())
    else:
        assert tree.taken_by_us(rules) == tree.taken_by_git([pattern])


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.sampled_from(FOLDERS), CONTENTS, max_size=3), st.lists(PATTERNS, max_size=2))
@example({"": "*", "a/": "!a"}, [])
@example({"": "*\n!a/", "a/": "!*\nb"}, ["a"])
@example({"a/": "/b"}, ["!b"])
def test_a_deeper_file_wins_over_a_higher_and_the_command_line_over_all(
    tree: Tree, contents: dict[str, str], exclude: list[str]
) -> None:
    tree.write(contents)
    with suppress(BadRequest):
        assert tree.taken_by_us(excluding(exclude)) == tree.taken_by_git(exclude)


@pytest.mark.parametrize(("pattern", "fault"), REFUSED.items(), ids=REFUSED)
def test_a_pattern_that_could_never_match_is_refused_with_its_place(tmp_path: Path, pattern: str, fault: str) -> None:
    with pytest.raises(BadRequest, match=fault) as on_command_line:
        excluding([pattern])
    assert on_command_line.value.message.startswith("--exclude: ")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / IGNORE_FILE).write_text(f"# text\n{pattern}\n")
    with pytest.raises(BadRequest, match=fault) as in_file:
        list(walk(str(tmp_path), "/", Rules()))
    assert in_file.value.message.startswith("sub/.acaiignore, line 2: ")


def test_a_character_outside_ascii_is_one_character() -> None:
    rules = excluding(["?", "x[\u00e0-\u00ff]"])
    assert rules.verdicts(["\u00e4", "x\u00e4", "x\u03b1"], folders=False).keys() == {"\u00e4", "x\u00e4"}


def test_names_are_compared_in_their_composed_form() -> None:
    assert excluding(["e\u0301"]).verdicts(["\u00e9"], folders=False).keys() == {"\u00e9"}


def test_reasons_name_the_pattern_that_decided_and_where_it_stands() -> None:
    rules = excluding(["*.tmp"]).with_file(b"*.log\nraw/*.png\n!keep.log\n", ".acaiignore")
    names = ["a.tmp", "a.log", "keep.log", "a.png", "module.pyc"]
    assert rules.verdicts(names, folders=False) == {
        "a.tmp": "--exclude *.tmp",
        "a.log": "matched `*.log` of .acaiignore",
        "keep.log": None,
        "module.pyc": "default: *.pyc",
    }
    assert rules.below("raw").verdicts(["a.png"], folders=False) == {"a.png": "matched `raw/*.png` of .acaiignore"}


def test_defaults_know_files_from_folders() -> None:
    folders = Rules().verdicts([".git", "__pycache__", ".DS_Store", "x.pyc"], folders=True)
    files = Rules().verdicts([".git", "__pycache__", ".DS_Store", "x.pyc"], folders=False)
    assert folders == {".git": "default: .git", "__pycache__": "default: __pycache__"}
    assert files == {".git": "default: .git", ".DS_Store": "default: .DS_Store", "x.pyc": "default: *.pyc"}


@pytest.mark.parametrize("pattern", ["!.git", "!.git/", "!/.git/", "!.g*", "!**/.git"])
def test_a_default_is_taken_in_again_by_a_pattern_that_speaks_of_it(pattern: str) -> None:
    assert excluding([pattern]).verdicts([".git"], folders=True) == {".git": None}


@pytest.mark.parametrize("pattern", ["!*", "!*/", "!**", "!/**", "!**/*/"])
def test_a_pattern_of_stars_opens_folders_but_no_defaults(pattern: str) -> None:
    rules = excluding(["*", pattern])
    assert rules.verdicts([".git", "src"], folders=True) == {".git": "default: .git"}


def test_an_ignore_file_that_is_not_text_is_refused() -> None:
    with pytest.raises(BadRequest, match=r"^sub/\.acaiignore is not UTF-8 text"):
        Rules().with_file(b"\xff\xfe*", "sub/.acaiignore")


# -- names of secrets

KEPT_HOME = [
    *(
        ".env",
        ".env.local",
        ".envrc",
        ".npmrc",
        ".netrc",
        ".pypirc",
        ".vault-token",
        "id_rsa",
        "id_ed25519",
        "kaggle.json",
    ),
    *("server.pem", "server.key", "a.p12", "b.pfx", "prod.kubeconfig", "x/.env", "x/y/ca.key"),
    *(".kube/config", "x/.kube/config", ".docker/config.json", "x/.docker/config.json", ".streamlit/secrets.toml"),
    *(".ssh/config", "x/.ssh/known_hosts", ".aws/credentials", ".config/gcloud/credentials.db"),
]
SENT = [
    *(
        "env",
        ".env.example",
        ".env.sample",
        ".env.template",
        "key",
        "pem.txt",
        "monkey",
        "id_rsa.pub",
        "config",
        "config.json",
    ),
    *(".kube/notes.txt", ".docker/Dockerfile", "kube/config", "docker/config.json", "x.kube/config", "secrets.toml"),
]


def sent(rules: Rules, path: str) -> bool:
    """Whether a path gets through its folders and then itself."""
    *folders, name = path.split("/")
    for folder in folders:
        if rules.verdicts([folder], folders=True).get(folder):
            return False
        rules = rules.below(folder)
    return rules.verdicts([name, "other"], folders=False).get(name) is None


def test_files_that_often_hold_secrets_are_left_out_and_their_neighbours_are_not() -> None:
    assert [path for path in KEPT_HOME if sent(excluding([]), path)] == []
    assert [path for path in SENT if not sent(excluding([]), path)] == []


@pytest.mark.parametrize("path", KEPT_HOME)
def test_a_secret_is_sent_when_it_is_named(path: str) -> None:
    name = path.rpartition("/")[2]
    folder = next((part for part in path.split("/") if part in (".ssh", ".aws", "gcloud")), None)
    wanted = f"{folder}/" if folder else name
    assert sent(excluding([], [wanted]), path)
    assert sent(excluding([]).with_file(f"!{wanted}".encode(), ".acaiignore"), path)
    assert not sent(excluding([wanted], [wanted]), path), "leaving out wins"


@pytest.mark.parametrize("pattern", ["*", "**", "*/", "!*/", "!.env", "", "/"])
def test_a_pattern_that_names_nothing_includes_nothing(pattern: str) -> None:
    with pytest.raises(BadRequest, match="name what is to be sent"):
        excluding([], [pattern])


@pytest.mark.parametrize("pattern", ["!*", "!**", "!*/", "*\n!*/\n!*"])
def test_an_ignore_file_that_takes_in_everything_takes_in_no_secret(pattern: str) -> None:
    rules = excluding([]).with_file(pattern.encode(), ".acaiignore")
    assert [path for path in KEPT_HOME if sent(rules, path)] == []


def test_what_is_included_stands_above_ignore_files_and_fixed_defaults() -> None:
    rules = excluding([], ["*.log", ".cache/"]).with_file(b"*.log\n*.tmp", ".acaiignore")
    assert [sent(rules, path) for path in ("a.log", ".cache/x", "a.tmp")] == [True, True, False]
