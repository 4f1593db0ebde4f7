"""What Git says of code, asked of real repositories, some of them hostile."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from acai_jupyter.client import git

if TYPE_CHECKING:
    from pathlib import Path


def run(folder: Path, *words: str) -> str:
    """Run Git as its user does."""
    who = ["-c", "user.name=n", "-c", "user.email=n@example.org", "-c", "commit.gpgsign=false"]
    return subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    run(folder, "init", "-q", "-b", "trunk")
    (folder / "a.py").write_text("one\n")
    (folder / "sub").mkdir()
    (folder / "sub" / "b.py").write_text("one\n")
    run(folder, "add", "-A")
    run(folder, "commit", "-q", "-m", "first")
    return folder


def test_a_clean_tree_has_a_commit_and_a_branch(repository: Path) -> None:
    commit = run(repository, "rev-parse", "HEAD").strip()
    assert git.seen(repository) == {"commit": commit, "branch": "trunk", "dirty": False}


def test_what_was_changed_and_not_committed_is_told_and_can_be_applied(repository: Path) -> None:
    (repository / "a.py").write_text("two\n")
    found = git.seen(repository)
    assert found is not None
    assert found["dirty"]
    run(repository, "checkout", "-q", "--", ".")
    subprocess.run(["git", "apply"], cwd=repository, input=found["difference"], check=True, text=True)
    assert (repository / "a.py").read_text() == "two\n"


def test_only_what_is_below_the_folder_counts(repository: Path) -> None:
    (repository / "a.py").write_text("two\n")
    found = git.seen(repository / "sub")
    assert found is not None
    assert not found["dirty"]


def test_staged_changes_count_too(repository: Path) -> None:
    (repository / "a.py").write_text("two\n")
    run(repository, "add", "-A")
    found = git.seen(repository)
    assert found is not None
    assert "+two" in found["difference"]


def test_secrets_are_not_told(repository: Path) -> None:
    (repository / "sub" / ".env").write_text("KEY=old\n")
    run(repository, "add", "-A")
    (repository / "sub" / ".env").write_text("KEY=new\n")
    found = git.seen(repository, [".env"])
    assert found is not None
    assert not found["dirty"]


def test_a_long_difference_is_cut(repository: Path) -> None:
    (repository / "a.py").write_text("line\n" * 100_000)
    found = git.seen(repository)
    assert found is not None
    assert found["difference_is_cut"]
    assert len(found["difference"]) == git.MAX_DIFFERENCE_BYTES


def test_a_head_that_is_on_no_branch_has_none(repository: Path) -> None:
    run(repository, "checkout", "-q", "--detach")
    found = git.seen(repository)
    assert found is not None
    assert found["branch"] is None


def test_nothing_is_told_without_a_commit_or_a_repository_or_git(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert git.seen(empty) is None
    run(empty, "init", "-q")
    assert git.seen(empty) is None
    (empty / ".git" / "HEAD").write_text("nonsense")
    assert git.seen(empty) is None
    monkeypatch.setenv("PATH", str(empty))
    assert git.seen(repository) is None


def test_what_a_shell_says_of_another_repository_does_not_count(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = run(repository, "rev-parse", "HEAD").strip()
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "nothing"))
    found = git.seen(repository)
    assert found is not None
    assert found["commit"] == commit


class Trap:
    """A program that a repository wants to be run, and whether it was."""

    def __init__(self, folder: Path) -> None:
        self.mark = folder / "was-run"
        self.program = folder / "trap"
        self.program.write_text(f"#!/bin/sh\ntouch '{self.mark}'\ncat 2>/dev/null\nexit 0\n")
        self.program.chmod(0o755)


@pytest.fixture
def trap(tmp_path: Path) -> Trap:
    return Trap(tmp_path)


SETTINGS = {
    "a monitor": ("core.fsmonitor", "*.none x"),
    "a filter": ("filter.trap.clean", "*.py filter=trap"),
    "a filter that is required": ("filter.trap.process", "*.py filter=trap"),
    "a filter whose name has a border in it": ("filter.a=b.clean", "*.py filter=a=b"),
    "an external difference": ("diff.external", "*.none x"),
    "a driver of differences": ("diff.trap.command", "*.py diff=trap"),
    "a driver that makes text": ("diff.trap.textconv", "*.py diff=trap"),
    "a pager": ("core.pager", "*.none x"),
}


@pytest.mark.parametrize("kind", SETTINGS)
def test_no_program_that_a_repository_names_is_run(repository: Path, trap: Trap, kind: str) -> None:
    key, attributes = SETTINGS[kind]
    (repository / ".gitattributes").write_text(f"{attributes}\n")
    (repository / "a.py").write_text("two\n")
    section, _, name = key.rpartition(".")
    subsection = section.partition(".")
    head = f'[{subsection[0]} "{subsection[2]}"]' if subsection[2] else f"[{section}]"
    with (repository / ".git" / "config").open("a") as config:
        config.write(f"{head}\n\t{name} = {trap.program}\n")
        if "filter" in key:
            config.write("\trequired = true\n")
    git.seen(repository)
    assert not trap.mark.exists()
    if key != "core.pager":  # which needs a terminal
        subprocess.run(["git", "diff", "HEAD"], cwd=repository, capture_output=True, check=False)
        assert trap.mark.exists()  # the trap works


def test_a_hook_is_not_run_and_the_index_stays_as_it_is(repository: Path, trap: Trap) -> None:
    hook = repository / ".git" / "hooks" / "post-index-change"
    hook.parent.mkdir(exist_ok=True)
    hook.write_bytes(trap.program.read_bytes())
    hook.chmod(0o755)
    index = repository / ".git" / "index"
    before = index.read_bytes()
    os.utime(repository / "a.py", (1, 1))
    git.seen(repository)
    assert not trap.mark.exists()
    assert index.read_bytes() == before
    subprocess.run(["git", "status"], cwd=repository, capture_output=True, check=True)
    assert trap.mark.exists()


def test_a_submodules_settings_do_not_count_either(repository: Path, trap: Trap, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    run(tmp_path, "clone", "-q", str(repository), str(inner))
    run(repository, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "module")
    run(repository, "commit", "-q", "-m", "module")
    run(repository / "module", "config", "core.fsmonitor", str(trap.program))
    (repository / "module" / "a.py").write_text("two\n")
    git.seen(repository)
    assert not trap.mark.exists()
    subprocess.run(["git", "status"], cwd=repository, capture_output=True, check=True)
    assert trap.mark.exists()


def test_a_git_that_hangs_is_given_up(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nsleep 600\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", str(slow.parent), prepend=os.pathsep)
    assert git.seen(repository) is None
