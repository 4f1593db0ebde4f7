"""What was found as a table: a DataFrame when pandas is there, else one that shows itself as well."""

from __future__ import annotations

from datetime import datetime
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, overload

from acai_jupyter.commands import markup
from acai_jupyter.commands.metadata import shown
from acai_jupyter.commands.missing import TITLES
from acai_jupyter.commands.units import columns as aligned
from acai_jupyter.contract.metadata import FoundPage, Time
from acai_jupyter.contract.query.builtin import BUILT_IN, SubjectKind, ValueType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acai_jupyter.contract.metadata import Value

SHOWN_ROWS = 60
"""As many as pandas shows."""


class Table:
    """Rows of what was found: `table[0]` is one as a dictionary, `table["accuracy"]` a column as a list."""

    def __init__(self, page: FoundPage) -> None:
        self._title = TITLES[page.kind]
        self.columns = list(dict.fromkeys([page.kind.value, *page.columns]))
        self._rows = _rows(page)

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self._rows)

    @overload
    def __getitem__(self, which: str) -> list[Any]: ...
    @overload
    def __getitem__(self, which: int) -> dict[str, Any]: ...
    def __getitem__(self, which: str | int) -> Any:
        if isinstance(which, int):
            return self._rows[which]
        if which not in self.columns:
            raise KeyError(which)
        return [row.get(which) for row in self._rows]

    def __repr__(self) -> str:
        return "\n".join([aligned([self.columns, *self._cells()], self._sides), *self._rest()])

    @property
    def _sides(self) -> str:
        return "".join(">" if _is_of_numbers(self[column]) else "<" for column in self.columns)

    def _repr_html_(self) -> str:
        caption = f"{len(self):,} {self._title}{'s' if len(self) != 1 else ''}"
        return markup.table(caption, self.columns, self._cells(), "".join(self._rest()), self._sides)

    def _cells(self) -> list[list[str]]:
        return [[_cell(column, row.get(column)) for column in self.columns] for row in self._rows[:SHOWN_ROWS]]

    def _rest(self) -> list[str]:
        return [f"{len(self):,} rows, of which the first {SHOWN_ROWS} are shown"] if len(self) > SHOWN_ROWS else []


def table(page: FoundPage) -> Any:
    """Return one row for each thing, its name first."""
    found = Table(page)
    if find_spec("pandas") is None:
        return found
    import pandas as pd

    frame = pd.DataFrame(list(found), columns=found.columns)
    types = {page.kind.value: ValueType.NUMBER if page.kind is SubjectKind.JOB else ValueType.TEXT}
    for column in found.columns:
        frame[column] = _typed(frame[column], (types | BUILT_IN[page.kind]).get(column))
    return frame


def _typed(column: Any, known: ValueType | None) -> Any:
    """Give a type to a column that pandas cannot know by its values: one of nothing, or of booleans with gaps."""
    import pandas as pd

    given = column.dropna()
    if len(given):
        return column.astype("boolean") if set(map(type, given)) == {bool} else column
    if known is ValueType.TIME:
        return pd.to_datetime(column, utc=True)
    return column.astype("float64") if known is ValueType.NUMBER else column


def _rows(page: FoundPage) -> list[dict[str, Any]]:
    name = page.kind.value
    return [
        {name: _name(page.kind, row.thing)}
        | {key: _plain(value) for key, value in zip(page.columns, row.values, strict=True) if key != name}
        for row in page.rows
    ]


def _name(kind: SubjectKind, name: str) -> str | int:
    return int(name) if kind is SubjectKind.JOB else name


def _plain(value: Value | list[str] | None) -> Any:
    return value.time if isinstance(value, Time) else value


def _cell(column: str, value: Any) -> str:
    return shown(column, Time(value) if isinstance(value, datetime) else value)


def _is_of_numbers(values: list[Any]) -> bool:
    return all(value is None or (isinstance(value, int | float) and not isinstance(value, bool)) for value in values)
