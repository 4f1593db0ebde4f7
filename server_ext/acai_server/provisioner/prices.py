"""Price books: what a share of a machine costs, read from files, kept by version."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from copy import copy
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from acai_jupyter.contract import decoding
from acai_jupyter.contract.errors import BadSetting, JobRefused
from acai_jupyter.contract.prices import MIB, MachineType, PriceBook, PriceBooks, PriceBookVersion
from acai_server.provisioner.catalogues import Catalogue

if TYPE_CHECKING:
    from acai_jupyter.contract.jobs import ResourceLimits
    from acai_jupyter.contract.prices import Rate
    from acai_server.db.database import Database

MAX_MACHINES = 10_000
_SIZE = re.compile(r"(?:\..*|-\d+)$")
_OPTIONAL = {"gpus", "gpu_type"}
_COLUMNS = {"name", "vcpu", "memory_gb", "usd_per_hour"} | _OPTIONAL


class Tariff:
    """What shares of machines cost by one book."""

    def __init__(self, book: PriceBook) -> None:
        self.book = book
        self._machines = Catalogue(book.machines)
        named = {one.gpu_type for one in book.machines if one.gpus} - {""}
        self.gpu_types = sorted(named) if book.machines else list(book.gpus)
        self._dearest_usd = max((one.usd_per_hour for one in book.machines), default=0.0)

    def cost_usd(self, vcpu: float, memory_bytes: int, seconds: float, gpus: int = 0, gpu_type: str = "") -> float:
        """Return what holding so much of a machine for so long costs."""
        return self.usd_per_hour(vcpu, memory_bytes, gpus, gpu_type) * seconds / 3600

    def usd_per_hour(self, vcpu: float, memory_bytes: int, gpus: int = 0, gpu_type: str = "") -> float:
        """Return the price of a share: by its parts, or of the cheapest machine that holds it, or else of the dearest.

        GPUs of a type that is not in the book, as one of another version may be, cost what the dearest do.
        """
        book = self.book
        if book.machines:
            held = self._machines.cheapest(vcpu, memory_bytes, gpus, gpu_type)
            return self._dearest_usd if held is None else held.usd_per_hour
        each = book.gpus.get(gpu_type, max(book.gpus.values(), default=0.0)) if gpus else 0.0
        return _parts(book.vcpu, vcpu) + _parts(book.memory_gb, memory_bytes / MIB / 1024) + gpus * each

    def family(self, vcpu: float, memory_bytes: int, gpus: int = 0, gpu_type: str = "") -> str:
        """Return the family of the machine that a share is priced as, as which it is as fast as others of it.

        That is the name without its size: `m5` of `m5.large`, `n2-standard` of `n2-standard-4`. Empty without machines.
        """
        held = self._machines.cheapest(vcpu, memory_bytes, gpus, gpu_type)
        return "" if held is None else _SIZE.sub("", held.name) or held.name

    def gpu_type(self, gpus: int, named: str) -> str:
        """Return of which type the GPUs of a job are: as it names them, or the only one that there is."""
        types = self.gpu_types
        told = " and ".join(types)
        if not gpus and named:
            raise JobRefused(reason=f"it names {named} as the type of its GPUs, and asks for none; say how many")
        if not gpus or (len(types) < 2 and named in ("", *types)):  # noqa: PLR2004 (one is clear by itself)
            return types[0] if gpus and types else ""
        if not named:
            raise JobRefused(reason=f"it asks for {gpus} GPU, and there are {told}; say of which type (--gpu-type)")
        if named not in types:
            there = f"the price book has {told}" if types else "the price book has no types of GPUs; name none"
            raise JobRefused(reason=f"there is no GPU of type {named}; {there}")
        return named


def _parts(rate: Rate, amount: float) -> float:
    span = rate.largest - rate.smallest
    share = 0.0 if span <= 0 else min(1.0, max(0.0, (amount - rate.smallest) / span))
    return amount * rate.usd * (rate.low + (rate.high - rate.low) * share)


def _holds(machine: MachineType, vcpu: float, memory_bytes: int, gpus: int) -> bool:
    return machine.vcpu >= vcpu and machine.memory_bytes >= memory_bytes and machine.gpus >= gpus


class Prices:
    """The price books of a server: the one that attempts run under now, and those that any ran under."""

    def __init__(self, database: Database, book: PriceBook, runner: str = "process", region: str = "") -> None:
        self._database = database
        self._today = Tariff(book)
        with database.writing() as work:
            self._version = work.prices.keep(runner, region, msgspec.to_builtins(book), work.clock.now())
        self._known = {self._version: self._today}

    @property
    def version(self) -> int:
        """The version of today's book."""
        return self._version

    @property
    def book(self) -> PriceBook:
        """Today's book."""
        return self._today.book

    @property
    def gpu_types(self) -> list[str]:
        """Of which types GPUs are by today's book."""
        return self._today.gpu_types

    def at(self, version: int) -> Prices:
        """Return the prices as they were when a version was today's."""
        then = copy(self)
        vars(then).update(_version=version, _today=self._of(version))
        return then

    def gpu_type(self, gpus: int, named: str) -> str:
        """Return of which type the GPUs of a job are by today's book; refuses what cannot be had or is not clear."""
        return self._today.gpu_type(gpus, named)

    def cost_usd(
        self,
        vcpu: float,
        memory_bytes: int,
        seconds: float,
        *,
        gpus: int = 0,
        gpu_type: str = "",
        version: int | None = None,
    ) -> float:
        """Return what holding so much for so long costs, by today's book or by one of before."""
        return self._of(version).cost_usd(vcpu, memory_bytes, seconds, gpus, gpu_type)

    def family(
        self, vcpu: float, memory_bytes: int, gpus: int = 0, gpu_type: str = "", version: int | None = None
    ) -> str:
        """Return which family of machines a share is of, by today's book or by one of before."""
        return self._of(version).family(vcpu, memory_bytes, gpus, gpu_type)

    def books(self) -> PriceBooks:
        """Return all versions, the newest first."""
        with self._database.reading() as work:
            kept = work.prices.all()
        versions = [
            PriceBookVersion(one.version, one.runner, one.region, _as_book(one.content), one.created_at) for one in kept
        ]
        return PriceBooks(self._version, versions)

    def _of(self, version: int | None) -> Tariff:
        if version is None:
            return self._today
        if version not in self._known:
            with self._database.reading() as work:
                found = work.prices.find(version)
            self._known[version] = self._today if found is None else Tariff(_as_book(found.content))
        return self._known[version]


def read_book(path: str) -> PriceBook:
    """Read a book from a file: JSON, or a table of machine types as CSV. An empty path is the default."""
    if not path:
        return PriceBook()
    try:
        text = Path(path).expanduser().read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise _refused(path, "it cannot be read as a text") from error
    book = _of_table(path, text) if path.lower().endswith(".csv") else _of_json(path, text)
    _check(path, book)
    return book


def check_holes(path: str, book: PriceBook, limits: ResourceLimits) -> None:
    """Refuse a book of machine types none of which holds the largest share that a job can ask for."""
    largest = limits.max_vcpu, limits.max_memory_bytes
    if book.machines and not any(_holds(machine, *largest, 0) for machine in book.machines):
        share = f"{limits.max_vcpu:g} vCPU with {limits.max_memory_bytes / MIB / 1024:g} GB"
        raise _refused(path, f"no machine in it holds {share}, which a job can ask for; add one, or lower the limits")


def _of_json(path: str, text: str) -> PriceBook:
    try:
        return decoding.from_json(text, PriceBook)
    except msgspec.MsgspecError as error:
        raise _refused(path, str(error)) from error


def _of_table(path: str, text: str) -> PriceBook:
    table = csv.DictReader(io.StringIO(text))
    columns = set(table.fieldnames or ())
    missing, unknown = _COLUMNS - _OPTIONAL - columns, columns - _COLUMNS
    if missing or unknown:
        wrong = f"has no column {min(missing)}" if missing else f"has a column {min(map(str, unknown))}"
        had = "name, vcpu, memory_gb, usd_per_hour and, if you like, gpus and gpu_type"
        raise _refused(path, f"it {wrong}; its columns are {had}")
    return PriceBook(machines=[_machine(path, number, row) for number, row in enumerate(table, start=2)])


def _machine(path: str, number: int, row: dict[str | Any, str | Any]) -> MachineType:
    def read(column: str, default: float | None = None) -> float:
        text = (row.get(column) or "").strip()
        if not text and default is not None:
            return default
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not isfinite(value):
            raise _refused(path, f"line {number} has no number as its {column}")
        return value

    fields = {
        "name": (row.get("name") or "").strip(),
        "vcpu": read("vcpu"),
        "memory_bytes": round(read("memory_gb") * 1024 * MIB),
        "usd_per_hour": read("usd_per_hour"),
        "gpus": int(read("gpus", 0.0)),
        "gpu_type": (row.get("gpu_type") or "").strip(),
    }
    try:
        return decoding.convert(fields, MachineType)
    except msgspec.ValidationError as error:
        raise _refused(path, f"line {number}: {error}") from error


def _check(path: str, book: PriceBook) -> None:
    """Refuse what is well formed and cannot be meant."""
    for name, rate in (("vcpu", book.vcpu), ("memory_gb", book.memory_gb)):
        if not all(map(isfinite, (rate.usd, rate.smallest, rate.largest, rate.low, rate.high))):
            raise _refused(path, f"the price of {name} is no finite number")
        if rate.largest < rate.smallest:
            raise _refused(path, f"the largest {name}, {rate.largest:g}, is less than the smallest, {rate.smallest:g}")
        if rate.high < rate.low:
            raise _refused(path, f"more {name} would cost less: high, {rate.high:g}, is less than low, {rate.low:g}")
    names = Counter(machine.name for machine in book.machines)
    too_many = len(book.machines) > MAX_MACHINES
    twice = "" if too_many else next((name for name, count in names.items() if count > 1), None)
    if twice is not None:
        raise _refused(path, f"it has {twice} twice" if twice else f"it has more than {MAX_MACHINES:,} machines")
    if path.lower().endswith(".csv") and not names:
        raise _refused(path, "it has no machine")


def _as_book(content: dict[str, Any]) -> PriceBook:
    return decoding.convert(content, PriceBook)


def _refused(path: str, reason: str) -> BadSetting:
    return BadSetting(name="price_book", source="the settings", reason=f"{path}: {reason}")
