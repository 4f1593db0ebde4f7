"""The words of a line, in the order in which argparse takes them: people write them in others too."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_LABEL = re.compile(r"-(?!-|h\Z)")
_WITH_VALUE = ("--where", "--project", "--columns", "--expect")


def parted(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Part a line at `--`: what follows is not ours."""
    ours = list(words)
    if "--" not in ours:
        return ours, []
    border = ours.index("--")
    return ours[:border], ours[border + 1 :]


def common_behind(words: Sequence[str]) -> list[str]:
    """Put the options of every verb behind it, where they stand before it."""
    at = after_common(words)
    return [*words[at:], *words[:at]]


def after_common(words: Sequence[str]) -> int:
    """Return where the verb stands: the options of every verb may stand before it."""
    at = 0
    while at < len(words) and (words[at] in ("--json", "--project") or words[at].startswith("--project=")):
        at += 2 if words[at] == "--project" else 1
    return min(at, len(words))


def tag_words(words: list[str]) -> tuple[list[str], list[str]]:
    """Put the options of `tag` first, as its other words have to follow each other; -LABEL only looks like one."""
    options, others = options_apart(words)
    labels = [word for word in others if _LABEL.match(word)]
    return ["tag", *options, *(word for word in others if not _LABEL.match(word))], labels


def options_apart(words: list[str]) -> tuple[list[str], list[str]]:
    """Part options with their values from the other words, where these can be many."""
    options: list[str] = []
    others: list[str] = []
    rest = iter(words)
    for word in rest:
        if word in _WITH_VALUE:
            options += [word, *islice(rest, 1)]
        else:
            (options if word.startswith("--") else others).append(word)
    return options, others
