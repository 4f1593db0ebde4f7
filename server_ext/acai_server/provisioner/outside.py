"""In what configurations differ from all that were run, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acai_server.provisioner.sentences import called, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from acai_server.provisioner.observations import Number, Space, Value, Word


class Outside:
    """Says it of many configurations that are alike: the same sentence is made once."""

    def __init__(self, space: Space) -> None:
        self._features: list[tuple[str, Callable[[Any, Value | None], str], Any]] = [
            *((one.name, _of_number, one) for one in space.numbers),
            *((one.name, _of_word, one) for one in space.words),
            *((one[0], _of_constant, one) for one in space.constants.items()),
        ]
        self._known: dict[tuple[str, Value | None], str] = {}

    def of(self, values: Mapping[str, Value]) -> list[str]:
        """Say it in a sentence for each feature."""
        said = []
        for name, say, feature in self._features:
            key = name, values.get(name)
            found = self._known.get(key)
            if found is None:
                found = self._known[key] = say(feature, key[1])
            if found:
                said.append(found)
        return said


def _of_number(number: Number, asked: Value | None) -> str:
    if isinstance(asked, int | float) and asked > number.high:
        return f"{called(number.name)} {asked:g} is more than was run, {number.high:g}"
    if isinstance(asked, int | float) and asked < number.low:
        return f"{called(number.name)} {asked:g} is less than was run, {number.low:g}"
    return ""


def _of_word(word: Word, asked: Value | None) -> str:
    return "" if str(asked) in word.seen else f"{called(word.name)} was never '{str(asked)[:40]}'"


def _of_constant(feature: tuple[str, Value], asked: Value | None) -> str:
    name, value = feature
    return "" if asked is None or asked == value else f"{called(name)} was always {shown(value)}"
