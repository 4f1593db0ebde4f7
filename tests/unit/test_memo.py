"""What makes two jobs the same, which template a job has, and who claims a path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acai_jupyter.contract.environments import Lock
from acai_jupyter.contract.errors import JobRefused
from acai_jupyter.contract.filesets import Entry
from acai_jupyter.contract.ids import Sha256
from acai_jupyter.contract.jobs import CreateJob, Resources
from acai_jupyter.contract.templates import template_of
from acai_server.engine import memo
from acai_server.engine.claims import Source, check

if TYPE_CHECKING:
    from collections.abc import Iterator


def key_of(data: str = "data", code: str = "code", **asked: Any) -> bytes:
    return memo.memo_of(memo.parts(CreateJob(**{"command": ["true"]} | asked), data=data, code=code))


@pytest.mark.parametrize(
    "difference",
    [
        {"data": "other"},
        {"code": "other"},
        {"command": "true"},
        {"command": ["true", ""]},
        {"as_cell": True},
        {"parameters": {"a": 1}},
        {"environment": {"a": "1"}},
        {"secrets": {"a": "1"}},
        {"image": "python"},
        {"lock": Lock("numpy==2", "3.12")},
        {"output": "made"},
        {"output_root": "/made"},
        {"output_folder": "made"},
        {"code_root": "/code"},
        {"resources": Resources(gpus=1)},
        {"captured": {"python": "3.12"}},
        {"captured": {"packages": {"numpy": "2"}}},
    ],
)
def test_what_a_result_depends_on_makes_another_job(difference: dict[str, Any]) -> None:
    assert key_of(**difference) != key_of()


@pytest.mark.parametrize(
    "difference",
    [
        {"name": "x"},
        {"description": "x"},
        {"resources": Resources(4, 1, 0)},
        {"priority": 1},
        {"retries": 0},
        {"time_limit_seconds": 1.0},
        {"tags": ["x"]},
        {"attributes": {"x": 1}},
        {"cached": True},
        {"template": "x"},
        {"keep_partial": True},
        {"captured": {"git": {"commit": "abc"}, "platform": "Linux"}},
    ],
)
def test_what_a_result_does_not_depend_on_makes_the_same_job(difference: dict[str, Any]) -> None:
    assert key_of(**difference) == key_of()


def test_a_parameter_is_told_from_a_variable_of_the_same_name_and_a_number_from_a_text() -> None:
    assert len({key_of(parameters={"a": "1"}), key_of(environment={"a": "1"}), key_of(parameters={"a": 1})}) == 3
    assert key_of(parameters={"a": 1, "b": 2}) == key_of(parameters={"b": 2, "a": 1})


@pytest.mark.parametrize(
    ("asked", "template"),
    [
        ({"command": ["python", "train.py", "--epochs", "3"]}, "train.py ()"),
        ({"command": "cd x && python 'my train.py' | tee log", "parameters": {"n": 1, "lr": 2}}, "my train.py (lr, n)"),
        ({"command": ["true"]}, "true ()"),
        ({"command": "unbalanced ' quote"}, "unbalanced ()"),
        ({"command": ["x.py"], "template": "mine"}, "mine"),
    ],
)
def test_a_template_is_what_was_given_or_the_script_and_the_names_of_its_parameters(
    asked: dict[str, Any], template: str
) -> None:
    assert template_of(CreateJob(**asked)) == template


def source(name: str, files: dict[str, str], folder: str = "/") -> Source:
    entries = [Entry(path, 1, 1, Sha256(content)) for path, content in sorted(files.items())]

    def after(path: str) -> Iterator[Entry]:
        return (entry for entry in entries if entry.path > path)

    return Source(name, len(entries), after, folder)


NAMES = st.lists(st.sampled_from(["a", "b", "a-", "a0", "output", "b\ue000"]), min_size=1, max_size=3)
FILES = st.dictionaries(NAMES.map(lambda parts: "/" + "/".join(parts)), st.sampled_from(["1", "2"]), max_size=6)


def _disagree(sets: list[dict[str, str]], output: str) -> bool:
    """The same, thought of in the simplest way."""
    held: dict[str, str] = {}
    for files in sets:
        for path, content in files.items():
            if held.setdefault(path, content) != content:
                return True
    paths = [f"/{output}/", *(f"{path}/" for path in held)]
    crossing = any(one != other and other.startswith(one) for one in paths for other in paths)
    return crossing or f"/{output}" in held or any(path.startswith(f"/{output}/") for path in held)


def _is_possible(files: dict[str, str]) -> bool:
    """Whether it is a set that a folder of files can be made of."""
    return not any(other.startswith(f"{path}/") for path in files for other in files)


OUTPUTS = {"output": "the outputs"}


@given(st.lists(FILES.filter(_is_possible), max_size=3))
def test_sources_are_refused_exactly_when_they_differ_about_a_path(sets: list[dict[str, str]]) -> None:
    found = [source(str(number), files) for number, files in enumerate(sets)]
    try:
        check(found, OUTPUTS)
    except JobRefused:
        assert _disagree(sets, "output")
    else:
        assert not _disagree(sets, "output")


def test_code_stands_in_the_working_folder_without_its_root() -> None:
    data = source("data", {"/x/run.py": "1"})
    check([data, source("code", {"/x/run.py": "2"}, "/x/")], OUTPUTS)
    with pytest.raises(JobRefused, match=r"both code and data have a 'run\.py'"):
        check([source("data", {"/run.py": "1"}), source("code", {"/x/run.py": "2", "/y": "3"}, "/x/")], OUTPUTS)
