"""Our shortcuts clash with none of JupyterLab, as it is installed, nor of Notebook 7."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.packaging.distributions import ROOT

OURS = ROOT / "labextension" / "schema"
THEIRS = Path(sys.prefix) / "share" / "jupyter" / "lab" / "schemas"
# What Notebook 7 adds to JupyterLab's own, in its schemas of 7.6.5.
OF_NOTEBOOK = [
    {"command": "notebook:toggle-cell-outputs", "keys": ["O"]},
    {"command": "scratchpad:open", "keys": ["Accel B"]},
]
KEYS = {"mac": "macKeys", "linux": "linuxKeys", "win": "winKeys"}
# What browsers keep to themselves, and no page gets to see.
OF_BROWSERS = {"Ctrl N", "Ctrl T", "Ctrl W", "Ctrl Shift N", "Ctrl Shift T", "Ctrl Shift W", "Cmd N", "Cmd T", "Cmd W"}
# Loads the page anew in Safari, and so loses what stands in it.
OF_BROWSERS |= {"Cmd Alt R"}


def shortcuts(folder: Path) -> list[dict[str, Any]]:
    """What the schemas of a folder set, but for what they take back."""
    schemas = (json.loads(path.read_text()) for path in sorted(folder.rglob("*.json")))
    found = (one for schema in schemas for one in schema.get("jupyter.lab.shortcuts", []))
    return [one for one in found if not one.get("disabled")]


def pressed(shortcut: dict[str, Any], system: str) -> str:
    """The keys of a shortcut on a system, in one order; empty where it has none there."""
    keys = shortcut.get(KEYS[system]) or shortcut["keys"]
    accel = "Cmd" if system == "mac" else "Ctrl"
    return ", ".join(" ".join(sorted(key.replace("Accel", accel).split())) for key in keys if key)


def begins(some: str, other: str) -> bool:
    """Whether one has to be pressed on the way to the other."""
    return f"{other}, ".startswith(f"{some}, ")


@pytest.mark.parametrize("system", KEYS)
def test_no_shortcut_is_taken_or_stands_in_the_way_of_another(system: str) -> None:
    theirs = [one for one in [*shortcuts(THEIRS), *OF_NOTEBOOK] if pressed(one, system)]
    assert len(theirs) > 100
    ours = shortcuts(OURS)
    assert ours
    clashes = [
        (mine["command"], other["command"])
        for mine in ours
        for other in [*theirs, *(one for one in ours if one is not mine)]
        if begins(pressed(mine, system), pressed(other, system))
        or begins(pressed(other, system), pressed(mine, system))
    ]
    assert clashes == []
    assert not {pressed(one, system) for one in ours} & {" ".join(sorted(keys.split())) for keys in OF_BROWSERS}


def test_every_shortcut_is_of_a_command_of_ours_and_told_in_the_docs() -> None:
    commands = (ROOT / "labextension" / "src" / "commandIds.ts").read_text()
    told = (ROOT / "docs" / "users" / "panels.md").read_text()
    for one in shortcuts(OURS):
        assert f"'{one['command']}'" in commands
        *held, letter = one["keys"][0].replace("Accel", "Ctrl").split()
        assert f"{', '.join(held)} and {letter}" in told
