"""What lines of `submit` and `%%acai run` mean, and what of them is refused before a server is asked."""

from __future__ import annotations

import inspect
import math
from argparse import ArgumentTypeError
from contextlib import chdir
from typing import TYPE_CHECKING, Any

import pytest
from msgspec import inspect as inspect_types

import acai_jupyter as acai
from acai_jupyter.commands import given, job_checks, job_options, verbs
from acai_jupyter.commands.completing import candidates
from acai_jupyter.commands.job_checks import check_command
from acai_jupyter.commands.job_requests import wanted
from acai_jupyter.commands.units import parse_duration
from acai_jupyter.contract.errors import AcaiError, BadRequest, NotFound
from acai_jupyter.contract.jobs import CreateJob, ResourceLimits

if TYPE_CHECKING:
    from pathlib import Path

    from acai_jupyter.client.http import Client

MIB = 1024**2


def asked(*words: str, limits: ResourceLimits | None = None) -> CreateJob:
    """Return what a line asks for."""
    return wanted(verbs.parse("acai", ["submit", *words]), limits or ResourceLimits())


def of_cell(*words: str) -> CreateJob:
    return wanted(verbs.cell_parser().parse_args(words), ResourceLimits())


@pytest.mark.parametrize(
    ("words", "field", "value"),
    [
        ("--input digits", "inputs", ["@digits"]),
        ("--input digits --input /a/@b:2", "inputs", ["@digits", "/a/@b:2"]),
        ("--input digits /x.csv:3 --output m", "inputs", ["@digits", "/x.csv:3"]),
        ("--output model", "output", "model"),
        ("--output-folder out/now", "output_folder", "out/now"),
        ("--output-root /kept", "output_root", "/kept"),
        ("-p lr=0.1 -p n=3 -p s=a=b", "parameters", {"lr": 0.1, "n": 3, "s": "a=b"}),
        ("-p a=007 -p b=nan -p c=1_0 -p d=", "parameters", {"a": "007", "b": "nan", "c": "1_0", "d": ""}),
        ("--env-var A=1 --env-var B=x=y", "environment", {"A": "1", "B": "x=y"}),
        ("--secret KEY --secret TOKEN=api-key", "secrets", {"KEY": "KEY", "TOKEN": "api-key"}),
        ("--tag stage=draft --tag +new --tag n=3", "attributes", {"stage": "draft", "n": 3}),
        ("--tag stage=draft --tag +new", "tags", ["new"]),
        ("--time-limit 1h30m", "time_limit_seconds", 5400.0),
        ("--retries 0", "retries", 0),
        ("--retry-failed", "retry_failed", True),
        ("--priority -5", "priority", -5),
        ("--cached", "cached", True),
        ("--memory 1Gi", "memory_as_used", False),
        ("--cpu 1", "memory_as_used", True),
        ("--keep-partial", "keep_partial", True),
        ("--image python:3.12", "image", "python:3.12"),
        ("--name n --description d", "description", "d"),
    ],
)
def test_an_option_is_the_same_for_scripts_and_cells(words: str, field: str, value: Any) -> None:
    assert getattr(asked(*words.split(), "--detach"), field) == value
    assert getattr(of_cell(*words.split(), "--detach"), field) == value


def test_resources_are_rounded_up_to_what_can_be_had() -> None:
    found = asked(
        "--cpu", "2.5", "--memory", "600Mi", "--max-memory", "1.9Gi", "--gpu", "1", "--gpu-type", "a10"
    ).resources
    assert found.gpu_type == "a10"
    assert (found.vcpu, found.memory_bytes, found.gpus, found.max_memory_bytes) == (2.5, 768 * MIB, 1, 2048 * MIB)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--cpu 0.3", "--cpu 0.3 cannot be had: a job has 0.5 to 8 vCPU, in steps of 0.5."),
        ("--cpu 9", "--cpu 9 cannot be had"),
        ("--cpu nan", "'nan' is not a number above 0"),
        ("--cpu -1", "--cpu"),
        ("--memory 9Gi", "--memory 9 GB cannot be had: a job has 512 MB to 8 GB of memory."),
        ("--memory 1", "--memory 1 B cannot be had"),
        ("--memory much", "'much' is not a size"),
        ("--memory 2Gi --max-memory 1Gi", "--max-memory 1 GB is less than --memory 2 GB"),
        ("--gpu 1 --gpu-type a/b", "'a/b' is no type of GPUs"),
        ("--gpu 99", "--gpu 99 cannot be had: a job has at most 8."),
        ("--nodes 0", "'0' is not a whole number from 1 to"),
        ("--time-limit soon", "'soon' is not a time"),
        ("--time-limit 1h30", "'1h30' is not a time"),
        ("--retries 21", "not a whole number from 0 to 20"),
        ("--priority 1e2", "not a whole number from -100 to 100"),
        ("-p 1=2", "'1=2' is not NAME=VALUE"),
        ("-p lr", "'lr' is not NAME=VALUE"),
        ("--env-var A-B=1", "not NAME=VALUE"),
        ("--secret A=", "neither NAME nor NAME=SECRET"),
        ("--tag stage", "none of KEY=VALUE"),
        ("--tag=-old", "nothing to take away"),
        ("--tag stage=", "nothing to take away"),
        ("--input a/b", "is not a file spec"),
        (f"--name {'x' * 201}", "--name has 201 characters; 200 is the most."),
        ("--memory 5", "of memory; a number without a unit is bytes, write it like 512Mi or 4Gi."),
        ("-p a=1 -p a=2", "-p a is given twice: 1, 2."),
        ("--env-var A=1 --env-var A=1", "--env-var A is given twice: '1', '1'."),
        ("--secret A --secret A=b", "--secret A is given twice: 'A', 'b'."),
        ("--input " + "a " * 101, "--input is given 101 times; 100 is the most."),
        (f"-p {'a' * 101}=1", "-p has a name of 101 characters; 100 is the most."),
        ("--env-file nothing.env", "No file ./nothing.env."),
        ("--inp digits", "--inp"),
    ],
)
def test_what_cannot_be_is_one_sentence(words: str, said: str) -> None:
    with pytest.raises(AcaiError) as told:
        asked(*words.split())
    assert said in told.value.message
    assert len(told.value.message.splitlines()) == 1


def test_the_servers_limits_count() -> None:
    limits = ResourceLimits(min_vcpu=1, max_vcpu=64, vcpu_step=1, max_gpus=0)
    assert asked("--cpu", "64", limits=limits).resources.vcpu == 64
    with pytest.raises(BadRequest, match="a job has 1 to 64 vCPU, in steps of 1"):
        asked("--cpu", "1.5", limits=limits)
    with pytest.raises(BadRequest, match="--gpu 1 cannot be had"):
        asked("--gpu", "1", limits=limits)


def test_a_file_of_variables_is_read_and_the_line_wins(tmp_path: Path) -> None:
    file = tmp_path / "some.env"
    file.write_text("# note\nA=1\n\nexport B='two words'\nC=\"x\"\nD=a=b # no note\n")
    found = asked("--env-file", str(file), "--env-var", "A=2").environment
    assert found == {"A": "2", "B": "two words", "C": "x", "D": "a=b # no note"}


def test_a_wrong_line_in_a_file_of_variables_is_named(tmp_path: Path) -> None:
    file = tmp_path / "some.env"
    file.write_text("A=1\nnothing\n")
    with pytest.raises(BadRequest, match="line 2, is not NAME=VALUE"):
        asked("--env-file", str(file))


@pytest.mark.parametrize(
    ("text", "seconds"), [("30s", 30), ("20m", 1200), ("1h30m", 5400), ("2D", 172_800), ("90", 90), ("0.5h", 1800)]
)
def test_times_are_read(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


# -- scripts and words


def test_a_script_among_inputs_is_found(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("")
    with chdir(tmp_path):
        found = verbs.parse("acai", ["submit", "--input", "digits", "train.py", "--", "--epochs", "3"])
        assert (found.input, found.script, found.args) == (["digits"], "train.py", ["--epochs", "3"])
        found = verbs.parse("acai", ["submit", "--input", "digits", "train.py", "--output", "m"])
        assert (found.input, found.script) == (["digits"], "train.py")
        found = verbs.parse("acai", ["submit", "--input", "digits", "extra"])
        assert (found.input, found.script) == (["digits", "extra"], None)


@pytest.mark.parametrize("words", [["train.py", "--cached"], ["--cached", "train.py"], ["--output", "m", "train.py"]])
def test_a_script_stands_anywhere(words: list[str]) -> None:
    assert verbs.parse("acai", ["submit", *words]).script == "train.py"


def test_words_for_the_script_without_dashes_are_pointed_behind_them() -> None:
    with pytest.raises(BadRequest, match=r"-- --epochs 3$"):
        verbs.parse("acai", ["submit", "train.py", "--epochs", "3"])


def test_values_of_an_option_that_takes_several_are_completed() -> None:
    def nobody() -> Client:
        raise NotFound(path="it is asked")

    for line in ("submit --input ", "submit --input a ", "run --input a ", "run --cached --input a b "):
        with pytest.raises(NotFound, match="it is asked"):
            candidates(line, nobody, of_cell=line.startswith("run"))
    assert "--output" in candidates("submit --input a --out", nobody).found


@pytest.mark.parametrize(("words", "said"), [([""], "The command is empty"), (["", "a"], "The command is empty")])
def test_a_command_without_a_program_is_refused(words: list[str], said: str) -> None:
    with pytest.raises(BadRequest, match=said):
        check_command(words if len(words) > 1 else words[0])


def test_what_is_refused_before_a_server_is_asked_is_what_it_would_refuse() -> None:
    def bare(of_field: Any) -> Any:
        return of_field.type if isinstance(of_field, inspect_types.Metadata) else of_field

    found: Any = inspect_types.type_info(CreateJob)
    fields = {field.name: bare(field.type) for field in found.fields}

    def most(name: str, kind: type, limit: str) -> Any:
        of_field = map(bare, getattr(fields[name], "types", [fields[name]]))
        return next(getattr(one, limit) for one in of_field if isinstance(one, kind))

    texts, lists = inspect_types.StrType, inspect_types.ListType
    assert {name: most(name, texts, "max_length") for name in job_checks.LONGEST} == job_checks.LONGEST
    assert {name: most(name, lists, "max_length") for name in job_checks.MOST} == job_checks.MOST
    assert most("command", texts, "max_length") == job_checks.LONGEST_COMMAND
    assert most("command", lists, "max_length") == job_checks.MOST_WORDS
    assert bare(fields["parameters"].key_type).max_length == job_checks.LONGEST_PARAMETER
    for name, reads in (("retries", job_options.RETRIES), ("priority", job_options.PRIORITY)):
        assert (reads(str(fields[name].ge)), reads(str(fields[name].le))) == (fields[name].ge, fields[name].le)
        for beyond in (fields[name].ge - 1, fields[name].le + 1):
            with pytest.raises(ArgumentTypeError):
                reads(str(beyond))


# -- Python's forms


def test_a_job_runs_either_a_script_or_a_command() -> None:
    assert given.command("train.py", None, []) is None
    assert given.command(None, "a | b", []) == "a | b"
    assert given.command(None, ["a", 1], []) == ["a", "1"]
    for script, command, args in ((None, None, []), ("a", "b", []), (None, "b", ["c"])):
        with pytest.raises(BadRequest):
            given.command(script, command, args)


def test_python_values_are_read() -> None:
    assert given.inputs("digits") == ["digits"]
    assert given.secrets({"A": "b"}) == [("A", "b")]
    assert given.secrets(["A"]) == [("A", "A")]
    assert (given.size("1Gi"), given.size(5 * MIB)) == (1024 * MIB, 5 * MIB)
    assert (given.seconds("2m"), given.seconds(1.5)) == (120, 1.5)
    with pytest.raises(TypeError, match="an input is a spec or a file set, not a int"):
        given.inputs([3])  # type: ignore[list-item]


def test_a_job_of_python_has_the_same_defaults_as_one_of_a_line() -> None:
    taken = {name: one.default for name, one in inspect.signature(acai.submit).parameters.items()}
    line = vars(verbs.parse("acai", ["submit", "train.py"]))
    taken |= {"p": taken.pop("parameters")}
    of_line = set(taken) - {"script", "command", "args"}
    assert {name: taken[name] or None for name in of_line} == {name: line[name] or None for name in of_line}
    assert set(line) - set(taken) == {"verb", "json", "detach", "sweep"}


def test_numbers_that_json_has_none_for_are_texts_as_on_a_line() -> None:
    values = {"a": math.nan, "b": -math.inf, "c": 2**70, "d": 0.5, "e": True}
    assert dict(given.parameters(values)) == {"a": "nan", "b": "-inf", "c": str(2**70), "d": 0.5, "e": True}
