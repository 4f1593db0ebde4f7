"""Completion in real shells: a person types beginnings and presses TAB, and the whole line runs."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pexpect
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.integration.places import Place, Server

STARTS = {
    "bash": ("bash", ["--norc", "-i"], 'eval "$(acai completion bash)"'),
    "zsh": ("zsh", ["-f", "-i"], 'autoload -U compinit; compinit -u; eval "$(acai completion zsh)"'),
    "fish": ("fish", ["--no-config", "-i"], "acai completion fish | source"),
}
ATTEMPTS = 5
"""A TAB is answered in half a second or not at all, which on a busy machine happens."""


@pytest.fixture(scope="module")
def place(server: Server) -> Place:
    """A home with the set digits:1."""
    place = server.place
    for number in range(3):
        place.write(f"digits/{number}.txt", str(number))
    assert place.acai("put", "digits", "/digits", "--as", "digits").returncode == 0
    return place


@pytest.fixture(params=STARTS)
def terminal(request: pytest.FixtureRequest, place: Place) -> Iterator[pexpect.spawn]:
    """A terminal with a shell that has read what `acai completion` says."""
    program, options, line = STARTS[request.param]
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not on this machine")
    environment = place.environment | {"TERM": "xterm", "PS1": "", "fish_greeting": ""}
    terminal = pexpect.spawn(program, options, env=environment, cwd=str(place.work), timeout=120, encoding="utf-8")
    terminal.sendline(f"{line}; echo re''ady")
    terminal.expect("ready")
    yield terminal
    terminal.close(force=True)


def test_what_is_begun_is_completed_and_runs(terminal: pexpect.spawn) -> None:
    said = (r"/digits/2.txt", r"acai[^\n]*: |There is no file set|No file set")
    for _ in range(ATTEMPTS):
        terminal.sendline("acai filese\tsho\tdigi\t--fil\t")
        if terminal.expect(list(said)) == 0:
            return
    pytest.fail(str(terminal.before))
