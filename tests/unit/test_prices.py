"""The price book gives the sums of the original's tables; books of one's own are read, and wrong ones refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acai_jupyter.contract.errors import BadSetting, JobRefused
from acai_jupyter.contract.jobs import ResourceLimits
from acai_jupyter.contract.prices import MIB, MachineType, PriceBook, Rate
from acai_server.provisioner.catalogues import Catalogue
from acai_server.provisioner.prices import Tariff, check_holes, read_book

if TYPE_CHECKING:
    from pathlib import Path

BOOK = PriceBook()
GIB = 1024 * MIB
VCPUS = st.sampled_from([half / 2 for half in range(1, 17)])
MEMORIES = st.sampled_from([quarter * 256 * MIB for quarter in range(2, 33)])
SECONDS = st.floats(0, 10**6)
TABLE = "name,vcpu,memory_gb,usd_per_hour,gpus\nsmall,2,4,0.1,\nlarge,8,32,0.5,1\n"


def rates() -> st.SearchStrategy[Rate]:
    def made(usd: float, ends: tuple[float, float], factors: tuple[float, float]) -> Rate:
        return Rate(usd, *sorted(ends), *sorted(factors))

    some = st.floats(0, 100)
    return st.builds(made, some, st.tuples(some, some), st.tuples(some, some))


BOOKS = st.builds(PriceBook, vcpu=rates(), memory_gb=rates()) | st.just(
    PriceBook(machines=[MachineType("small", 2, 4 * GIB, 0.1), MachineType("large", 8, 32 * GIB, 0.5)])
)


@pytest.mark.parametrize(
    ("vcpu", "mib", "minutes", "usd"),
    [(7.5, 3584, 16.6, 0.08837), (8, 3328, 37.4, 0.21800), (2.5, 512, 140.4, 0.15946)],
)
def test_known_machines_cost_what_they_are_known_to_cost(vcpu: float, mib: int, minutes: float, usd: float) -> None:
    assert Tariff(BOOK).cost_usd(vcpu, mib * MIB, minutes * 60) == pytest.approx(usd, abs=0.000005)


@given(BOOKS, VCPUS, MEMORIES, SECONDS)
def test_more_of_anything_never_costs_less(book: PriceBook, vcpu: float, memory: int, seconds: float) -> None:
    cost = Tariff(book).cost_usd(vcpu, memory, seconds) * (1 - 1e-9)
    assert cost >= 0
    assert Tariff(book).cost_usd(vcpu + 0.5, memory, seconds) >= cost
    assert Tariff(book).cost_usd(vcpu, memory + 256 * MIB, seconds) >= cost
    assert Tariff(book).cost_usd(vcpu, memory, seconds + 1) >= cost


@given(VCPUS, MEMORIES, SECONDS)
def test_a_machine_of_twice_the_size_costs_at_least_twice_as_much(vcpu: float, memory: int, seconds: float) -> None:
    twice = Tariff(BOOK).cost_usd(vcpu * 2, memory * 2, seconds)
    assert twice >= 2 * Tariff(BOOK).cost_usd(vcpu, memory, seconds) * (1 - 1e-12)


def test_the_unit_price_doubles_from_the_smallest_machine_to_the_largest() -> None:
    small = Tariff(BOOK).usd_per_hour(0.5, 0) / 0.5
    assert Tariff(BOOK).usd_per_hour(8, 0) / 8 == pytest.approx(2 * small)


@pytest.mark.parametrize(
    ("gpus", "named", "found"), [(2, "a10", ("a10", 3.0)), (1, "h100", ("h100", 9.0)), (0, "", ("", 0.0))]
)
def test_gpus_cost_what_their_type_does(gpus: int, named: str, found: tuple[str, float]) -> None:
    tariff = Tariff(PriceBook(gpus={"a10": 1.5, "h100": 9.0}))
    of_type = tariff.gpu_type(gpus, named)
    more = tariff.usd_per_hour(1, GIB, gpus, of_type) - tariff.usd_per_hour(1, GIB)
    assert of_type == found[0]
    assert more == pytest.approx(found[1])


def test_the_only_type_of_gpus_need_not_be_named() -> None:
    tariff = Tariff(PriceBook(gpus={"a10": 1.5}))
    assert (tariff.gpu_type(1, ""), tariff.gpu_type(1, "a10"), tariff.gpu_type(0, "")) == ("a10", "a10", "")
    assert Tariff(BOOK).gpu_type(1, "") == ""


@pytest.mark.parametrize(
    ("book", "gpus", "named", "said"),
    [
        ({"a10": 1.5, "h100": 9.0}, 1, "", "it asks for 1 GPU, and there are a10 and h100; say of which type"),
        ({"a10": 1.5, "h100": 9.0}, 1, "b200", "there is no GPU of type b200; the price book has a10 and h100"),
        ({"a10": 1.5}, 1, "h100", "there is no GPU of type h100; the price book has a10"),
        ({}, 1, "h100", "there is no GPU of type h100; the price book has no types of GPUs; name none"),
        ({"a10": 1.5}, 0, "a10", "it names a10 as the type of its GPUs, and asks for none; say how many"),
    ],
)
def test_gpus_that_there_are_not_are_refused(book: dict[str, float], gpus: int, named: str, said: str) -> None:
    with pytest.raises(JobRefused, match=f"^The job was not submitted: {said}"):
        Tariff(PriceBook(gpus=book)).gpu_type(gpus, named)


def test_machine_types_have_types_of_gpus(tmp_path: Path) -> None:
    table = "name,vcpu,memory_gb,usd_per_hour,gpus,gpu_type\na,2,4,1,1,a10\nh,8,32,5,2,h100\nc,8,32,0.1,,\n"
    tariff = Tariff(read_book(written(tmp_path / "book.csv", table)))
    assert tariff.gpu_types == ["a10", "h100"]
    assert [tariff.usd_per_hour(1, GIB, *gpus) for gpus in ((1, "a10"), (1, "h100"), (0, ""), (2, "a10"))] == [
        1,
        5,
        0.1,
        5,
    ]


MACHINE_TYPES = st.builds(
    MachineType,
    name=st.just("x"),
    vcpu=st.integers(1, 6),
    memory_bytes=st.integers(1, 6),
    usd_per_hour=st.integers(0, 5),
    gpus=st.integers(0, 2),
    gpu_type=st.sampled_from(["", "a", "b"]),
)


@given(
    st.lists(MACHINE_TYPES, max_size=30),
    st.tuples(st.integers(0, 7), st.integers(0, 7), st.integers(0, 3), st.sampled_from(["", "a", "b"])),
)
def test_the_cheapest_machine_is_that_of_looking_at_all(
    machines: list[MachineType], share: tuple[int, int, int, str]
) -> None:
    vcpu, memory, gpus, kind = share
    holding = [
        one
        for one in machines
        if one.vcpu >= vcpu
        and one.memory_bytes >= memory
        and one.gpus >= gpus
        and (not gpus or not kind or one.gpu_type == kind)
    ]
    assert Catalogue(machines).cheapest(*share) is min(holding, key=lambda one: one.usd_per_hour, default=None)


def test_a_share_costs_what_the_cheapest_machine_does_that_holds_it(tmp_path: Path) -> None:
    book = read_book(written(tmp_path / "book.csv", TABLE))
    asked = [(1, GIB, 0), (2, 4 * GIB, 0), (2.5, GIB, 0), (1, 5 * GIB, 0), (1, GIB, 1)]
    assert [Tariff(book).usd_per_hour(*share) for share in asked] == [0.1, 0.1, 0.5, 0.5, 0.5]


@pytest.mark.parametrize(
    ("name", "family_of_it"),
    [
        ("m5.large", "m5"),
        ("n2-standard-4", "n2-standard"),
        ("large", "large"),
        (".x", ".x"),
        ("a100-80gb", "a100-80gb"),
    ],
)
def test_a_machine_is_of_the_family_that_its_name_begins_with(name: str, family_of_it: str) -> None:
    book = PriceBook(machines=[MachineType("dear", 2, 4 * GIB, 9.0), MachineType(name, 2, 4 * GIB, 0.1)])
    assert Tariff(book).family(1, GIB) == family_of_it
    assert Tariff(book).family(4, GIB) == Tariff(BOOK).family(1, GIB) == ""


def test_a_book_is_read_as_it_was_written(tmp_path: Path) -> None:
    book = PriceBook(vcpu=Rate(0.05, 1, 64, 1, 1), gpus={"a10": 1.1})
    assert read_book(written(tmp_path / "book.json", msgspec.json.encode(book).decode())) == book
    assert read_book("") == PriceBook()


def written(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.csv", "name,vcpu,memory_gb\nx,1,1\n", "has no column usd_per_hour"),
        ("a.csv", "name,vcpu,memory_gb,usd_per_hour,colour\n", "has a column colour"),
        ("a.csv", "name,vcpu,memory_gb,usd_per_hour\n", "no machine"),
        ("a.csv", "name,vcpu,memory_gb,usd_per_hour\nx,1,1,-0.1\n", "line 2"),
        ("a.csv", "name,vcpu,memory_gb,usd_per_hour\nx,1,1,\n", "line 2 has no number as its usd_per_hour"),
        ("a.csv", "name,vcpu,memory_gb,usd_per_hour\nx,1,1,nan\n", "line 2 has no number"),
        ("a.csv", "name,vcpu,memory_gb,usd_per_hour\nx,0,1,1\n", "line 2"),
        ("a.csv", "name,vcpu,memory_gb,usd_per_hour\nx,1,1,1\nx,2,2,2\n", "x twice"),
        ("a.json", "{", "truncated"),
        ("a.json", json.dumps({"vcpu": {"usd": -1, "smallest": 0, "largest": 1}}), "vcpu.usd"),
        ("a.json", json.dumps({"vcpu": {"usd": 1}}), "smallest"),
        ("a.json", json.dumps({"vcpu": {"usd": 1, "smallest": 2, "largest": 1}}), "less than the smallest"),
        ("a.json", json.dumps({"vcpu": {"usd": 1, "smallest": 1, "largest": 2, "low": 2, "high": 1}}), "cost less"),
        ("a.json", json.dumps({"gpus": {"a10": -1}}), "gpus"),
        ("a.json", json.dumps({"gpus": {"an a10": 1}}), "gpus"),
        ("a.json", json.dumps({"cheap": True}), "cheap"),
    ],
)
def test_a_book_with_holes_or_negative_prices_is_refused(tmp_path: Path, name: str, text: str, said: str) -> None:
    with pytest.raises(BadSetting) as refused:
        read_book(written(tmp_path / name, text))
    assert refused.value.message.startswith("The setting price_book ")
    assert said in refused.value.message


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(BadSetting, match=r"nowhere\.json: it cannot be read"):
        read_book("/nowhere.json")


@pytest.mark.parametrize(("limits", "fits"), [({}, False), ({"max_vcpu": 2, "max_memory_bytes": 4 * GIB}, True)])
def test_a_list_of_machines_that_none_of_which_holds_the_largest_job_is_refused(
    limits: dict[str, Any], *, fits: bool
) -> None:
    book, asked = PriceBook(machines=[MachineType("small", 2, 4 * GIB, 0.1)]), ResourceLimits(**limits)
    if fits:
        check_holes("book.csv", book, asked)
        return
    with pytest.raises(BadSetting, match="no machine in it holds 8 vCPU with 8 GB"):
        check_holes("book.csv", book, asked)
