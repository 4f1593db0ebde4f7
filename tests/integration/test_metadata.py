"""Attributes over the whole path: a shell, Python and HTTP in front of a real server, and jobs that tag themselves."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from acai_jupyter.client.follow import wait
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.metadata import FindThings
from acai_jupyter.contract.query.builtin import SubjectKind
from acai_jupyter.contract.states import JobState
from tests.integration.places import until

if TYPE_CHECKING:
    from tests.integration.places import Place, Server

FIND = "/v1/projects/default/find"
METADATA = "/v1/projects/default/metadata"


def said(server: Server, *words: str, status: int = 0) -> str:
    done = server.place.acai(*words)
    assert done.returncode == status, (done.stdout, done.stderr)
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def tagged(server: Server) -> Server:
    """A server with the sets digits:1 and, made by a job with a parameter, model:1."""
    server.place.write("digits/a.txt", "a")
    said(server, "put", "digits", "/digits", "--as", "digits")
    server.place.write(
        "train.py", "import acai_jupyter as a\na.tag('accuracy', 0.97)\nopen('output/m', 'w').write('m')"
    )
    submitted = said(server, "submit", "train.py", "--input", "digits", "--output", "model", "-p", "lr=0.1", "--json")
    wait(server.client(), json.loads(submitted)["number"])
    return server


def test_what_is_tagged_is_found_in_a_shell(tagged: Server) -> None:
    line = said(tagged, "tag", "model:1", "stage=candidate", "accuracy=0.98", "+reviewed", "+old")
    assert line == "model:1 · accuracy 0.98 · stage candidate · tags old, reviewed\n"
    assert "tags reviewed" in said(tagged, "tag", "model", "-old", "stage=")
    history = said(tagged, "tag", "model", "--history").splitlines()
    assert [row.split(maxsplit=3)[3] for row in history] == [
        "stage= -old",
        "stage=candidate accuracy=0.98 +reviewed +old",
        "accuracy=0.97",
    ]
    query = "accuracy > 0.975 and 'reviewed' in tags and made_by = 'job' order by accuracy desc"
    listed = said(tagged, "find", "filesets", query, "--columns", "accuracy,file_count").splitlines()
    assert [row.split() for row in listed] == [["file", "set", "accuracy", "file_count"], ["model:1", "0.98", "1"]]
    assert said(tagged, "find", "filesets", "accuracy > 0.99") == "No file set found.\n"


def test_a_text_moves_nothing_in_a_shell(tagged: Server) -> None:
    line = said(tagged, "tag", "model:1", "esc=a\033[31mb\rc", "nl=one\ntwo")
    assert "esc a\\x1b[31mb\\rc · nl one\\ntwo" in line
    listed = said(tagged, "find", "filesets", "has(esc)", "--columns", "esc,nl").split("\n")
    assert listed[1:] == ["model:1   a\\x1b[31mb\\rc  one\\ntwo", ""]
    assert "esc=a\\x1b[31mb\\rc nl=one\\ntwo\n" in said(tagged, "tag", "model:1", "--history")
    said(tagged, "tag", "model:1", "esc=", "nl=")


def test_the_example_of_the_original_is_one_line_in_a_shell(tagged: Server) -> None:
    tagged.place.write("bert.py", "import acai_jupyter as a\na.tag('model', 'BERT')\na.tag('precision', 0.625)")
    number = json.loads(said(tagged, "submit", "bert.py", "--output", "bert", "--json"))["number"]
    creator = wait(tagged.client(), number).user
    query = f"created_at >= today() and creator = '{creator}' and model = 'BERT' and precision > 0.5"
    listed = said(tagged, "find", "filesets", query, "--columns", "model,precision,job").splitlines()
    assert [line.split() for line in listed[1:]] == [["bert:1", "BERT", "0.625", str(number)]]
    assert said(tagged, "find", "filesets", query.replace("0.5", "0.7")) == "No file set found.\n"


def test_the_same_change_is_made_on_many_things_in_a_shell(tagged: Server) -> None:
    for name in ("many-a", "many-b"):
        said(tagged, "put", "digits", "/digits", "--as", name)
    assert said(tagged, "tag", "many-a", "many-b", "/digits/a.txt", "wave=2", "+swept") == "3 changed\n"
    assert (
        said(tagged, "tag", "filesets", "--where", "wave = 2 and 'swept' in tags", "wave=3", "-swept") == "2 changed\n"
    )
    assert said(tagged, "tag", "filesets", "--where", "has(wave)", "wave=3") == "0 changed, 2 were so already\n"
    done = json.loads(said(tagged, "tag", "filesets", "--where", "has(wave)", "wave=", "--json"))
    assert sorted(done["things"]) == ["many-a:1", "many-b:1"]
    assert said(tagged, "tag", "jobs", "--where", "loss > 1e9", "+bad") == "Nothing found.\n"
    assert "wave 2 · tags swept" in said(tagged, "tag", "/digits/a.txt")


def test_a_word_of_the_language_is_a_key_in_double_quotes(tagged: Server) -> None:
    said(tagged, "tag", "digits", "limit=3", "and=x", "a.b-c=1")
    assert "digits:1" in said(tagged, "find", "filesets", '"limit" = 3 and "and" = \'x\' and a.b-c = 1')
    message = said(tagged, "find", "filesets", "limit = 3", status=2)
    assert 'as a key it stands in double quotes: "limit"' in message
    said(tagged, "tag", "digits", "limit=", "and=", "a.b-c=")


def test_jobs_are_found_by_parameter_input_and_tag(tagged: Server) -> None:
    found = json.loads(
        said(tagged, "find", "jobs", "params.lr = 0.1 and input = 'digits' and accuracy = 0.97", "--json")
    )
    assert [row["values"] for row in found["rows"]] == [[0.1, ["digits:1"], 0.97]]
    assert " finished " in said(tagged, "jobs", "state = 'finished' and exit_code = 0 and cost_usd > 0")
    assert said(tagged, "jobs", "state", "=", "'queued'") == "No job found.\n"


@pytest.mark.parametrize(
    ("query", "hints"),
    [
        ("state = 'finished'", " No file set has 'state', but jobs have."),
        ("acuracy > 0.5", " No file set has 'acuracy'; did you mean accuracy?"),
        ("params.lr > 1 and qqq = 1", " No file set has 'params.lr', but jobs have. No file set has 'qqq'."),
        ("accuracy > 2 and 'x' in tags", ""),
    ],
)
def test_a_key_that_nothing_has_is_named_when_nothing_is_found(tagged: Server, query: str, hints: str) -> None:
    assert said(tagged, "find", "filesets", query) == f"No file set found.{hints}\n"


def test_files_are_found_by_path_and_named_by_way_of_a_set(tagged: Server) -> None:
    assert "lang en" in said(tagged, "tag", "/digits/a.txt@digits", "lang=en")
    assert "/digits/a.txt:1" in said(tagged, "find", "files", "path ~ '^/digits/' and lang = 'en' and latest = true")


def test_a_syntax_error_shows_its_place(tagged: Server) -> None:
    message = said(tagged, "find", "jobs", "accuracy > and x", status=2).splitlines()
    assert message[0].endswith("column 12: expected a value after '>', found 'and'.")
    assert message[1:] == ["  accuracy > and x", "             ^"]
    answer = tagged.ask("POST", FIND, {"kind": "job", "query": "accuracy > and x"})
    assert (answer.status, answer.code, answer.error["details"]["column"]) == (400, "bad_query", 12)


def test_nothing_is_written_over_what_somebody_else_wrote(tagged: Server) -> None:
    tagged.place.write("own/a.txt", "own")
    said(tagged, "put", "own", "/own", "--as", "own")
    assert "stage draft" in said(tagged, "tag", "own", "stage=draft", "--expect", "stage=")
    told = said(tagged, "tag", "own", "stage=final", "--expect", "stage=", status=6)
    assert "'stage' of own:1 was not changed: " in told
    assert " set it to 'draft' meanwhile" in told
    said(tagged, "tag", "own", "stage=final", "--expect", "stage", status=2)
    change = {"thing": "own", "set": {"stage": "final"}, "expect": {"stage": "other"}}
    answer = tagged.ask("POST", METADATA, {"changes": [change]})
    assert (answer.status, answer.code) == (409, "outdated")
    assert (answer.error["details"]["key"], answer.error["details"]["found"]) == ("stage", "draft")
    change["expect"] = {"stage": "draft"}
    assert tagged.ask("POST", METADATA, {"changes": [change]}).json == {"things": ["own:1"]}
    program = (
        "import acai_jupyter as acai\n"
        "acai.annotate('own', {'stage': 'kept'}, expect={'stage': 'final'})\n"
        "from acai_jupyter.contract.errors import Outdated\n"
        "try: acai.annotate('own', delete=['stage'], expect={'stage': None})\n"
        "except Outdated as error: print(error.details['found'])\n"
        "acai.note('own', 'ours', expect='')\n"
        "try: acai.note('own', 'theirs', expect='')\n"
        "except Outdated as error: print(error.details['found'])\n"
    )
    assert run_python(tagged, program).split() == ["kept", "ours"]
    assert "set it to 'ours'" in said(tagged, "fileset", "note", "own", "x", "--expect", "theirs", status=6)


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("tag", "model", "nonsense"), 2),
        (("tag", "model", "nonsense", "a=1"), 3),
        (("tag", "model", "digits"), 2),
        (("tag", "model", "a b=1"), 2),
        (("tag", "model", "a=1e999"), 2),
        (("tag", "model", "--where", "a = 1", "b=1"), 2),
        (("tag", "jobs", "--where", "a = ", "b=1"), 2),
        (("tag", "jobs", "--where", "a = 1"), 2),
        (("find", "jobs", "--columns", "a b"), 2),
        (("tag", "model", "created_at=x"), 2),
        (("tag", "model", "sha256=x"), 2),
        (("tag", "model", "cost_usd=1"), 2),
        (("tag", "1", "path=x"), 2),
        (("tag", "/digits/a.txt", "params.lr=1"), 2),
        (("tag", "model", "sha256="), 0),
        (("tag", "model", "created_at="), 2),
        (("tag", "modle", "a=1"), 3),
        (("tag", "99", "a=1"), 3),
        (("tag", "/no/file", "a=1"), 3),
        (("find", "things", "a = 1"), 2),
        (("find", "jobs", "vcpu = 'many'"), 2),
    ],
)
def test_what_cannot_be_done_has_a_status(tagged: Server, words: tuple[str, ...], status: int) -> None:
    said(tagged, *words, status=status)


def test_python_finds_tables(tagged: Server) -> None:
    program = (
        "import acai_jupyter as acai, datetime as d\n"
        "m = acai.annotate('digits', {'source': 'mnist', 'checked': d.datetime(2026, 11, 1)}, add=['raw'])\n"
        "print(m.attributes['source'], m.tags)\n"
        "t = acai.find('filesets', \"source ~ 'mn' and checked >= 2026-11-01\", columns=['source', 'created_at'])\n"
        "print(type(t).__name__, t['file_set'].tolist(), t['created_at'].dt.year.tolist()[0] > 2000)\n"
        "print(acai.changes('digits').changes[0].added_labels, acai.metadata(1).parameters['lr'])\n"
        "which = acai.find('filesets', \"source = 'mnist' or name = 'model'\")['file_set']\n"
        "print(sorted(acai.annotate(which, {'seen': 1})), acai.annotate(which, {'seen': 1}))\n"
        "print(acai.annotate(acai.fileset('model'), {'seen': 2}).thing, acai.annotate(acai.job(1), add=['x']).tags)\n"
        "asked = [{'key': 'seen', 'range': [0, 2]}, {'key': 'source', 'regex': '^mn', 'best': 'max'}]\n"
        "print(acai.find('filesets', conditions=asked)['file_set'].tolist())\n"
    )
    assert run_python(tagged, program).splitlines() == [
        "mnist ['raw']",
        "DataFrame ['digits:1'] True",
        "['raw'] 0.1",
        "['digits:1', 'model:1'] []",
        "model:1 ['x']",
        "['digits:1']",
    ]


def test_the_list_of_conditions_of_the_original_is_taken_over_http(tagged: Server) -> None:
    conditions = [{"key": "accuracy", "range": [0.5, None]}, {"key": "state", "value": "finished"}]
    found = tagged.ask("POST", FIND, {"kind": "job", "conditions": conditions}).json
    assert (found["columns"], [row["thing"] for row in found["rows"]]) == (["accuracy", "state"], ["1"])
    for wrong in (
        [{"key": "a"}],
        [{"key": "a", "regex": "("}],
        [{"key": "a\n", "value": 1}],
        [{"key": "a", "value": "\0"}],
    ):
        assert tagged.ask("POST", FIND, {"kind": "job", "conditions": wrong}).status == 400


def run_python(server: Server, program: str) -> str:
    import subprocess
    import sys

    done = subprocess.run(
        [sys.executable, "-c", program], env=server.place.environment, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_many_things_are_changed_and_paged_over_http(tagged: Server) -> None:
    for _ in range(4):
        made = tagged.ask("POST", "/v1/projects/default/jobs", {"command": ["true"]}).json
        last: int = made["number"]
    things = [str(number) for number in range(last - 3, last + 1)]
    changes = [{"thing": thing, "set": {"batch": int(thing)}, "add_labels": ["many"]} for thing in things]
    assert tagged.ask("POST", METADATA, {"changes": changes}).json == {"things": things}
    assert tagged.ask("POST", METADATA, {"changes": changes}).json == {"things": []}
    asked: dict[str, Any] = {"kind": "job", "query": "'many' in tags order by batch", "limit": 3, "columns": ["batch"]}
    page = tagged.ask("POST", FIND, asked).json
    rest = tagged.ask("POST", FIND, asked | {"after": page["next"]}).json
    assert [row["thing"] for row in page["rows"] + rest["rows"]] == things
    assert rest["next"] is None
    keys = tagged.get("/v1/projects/default/metadata/keys?kind=job&prefix=ba")["keys"]
    assert [(one["key"], one["source"]) for one in keys] == [("batch", "used"), ("batch_size", "well_known")]


@pytest.mark.parametrize(
    "change",
    [
        {"set": {"a\n": 1}},
        {"set": {f"k{number}": number for number in range(1001)}},
        {"set": {"a": {"time": "9999-12-31T23:59:59.999999Z"}}},
        {"set": {"a": {"time": "0001-01-01T00:00:00+23:00"}}},
        {"set": {"a": {"time": "2026-11-01T00:00:00"}}},
        {"set": {"a": "x" * 501}},
        {"set": {"a": "\0"}},
        {"set": {"a": None}},
        {"delete": ["a b"]},
        {"add_labels": ["x" * 129]},
        {"add_labels": ["\n"]},
    ],
)
def test_what_could_not_be_kept_is_refused_and_nothing_is_harmed(tagged: Server, change: dict[str, Any]) -> None:
    answer = tagged.ask("POST", METADATA, {"changes": [{"thing": "1", **change}]})
    assert (answer.status, answer.code in ("bad_request", "bad_attribute")) == (400, True)
    assert tagged.get(f"{METADATA}?thing=1")["attributes"]["accuracy"] == 0.97


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("x" * 501, "its text has 501 characters; at most 500 are taken"),
        ("a\0", "its text has a NUL character or a surrogate"),
        (10**400, "the number is too large"),
        ({"time": "2026-11-01T12:00:00"}, "its time has no zone, like the Z of 2026-11-01T12:00:00Z"),
    ],
)
def test_the_one_rule_that_a_value_breaks_is_said(tagged: Server, value: Any, reason: str) -> None:
    answer = tagged.ask("POST", METADATA, {"changes": [{"thing": "digits", "set": {"v": value}}]})
    assert (answer.status, answer.error["message"]) == (400, f"'v' was not set on digits:1: {reason}.")


def test_a_thing_may_have_very_many_attributes(tagged: Server) -> None:
    number = tagged.ask("POST", "/v1/projects/default/jobs", {"command": ["true"]}).json["number"]
    values = {f"{'k' * 120}{at}": at for at in range(1000)}
    assert tagged.ask("POST", METADATA, {"changes": [{"thing": str(number), "set": values}]}).status == 200
    assert tagged.get(f"{METADATA}?thing={number}")["attributes"] == values
    asked = {"kind": "job", "query": f"{'k' * 120}7 = 7", "columns": list(values)[:100]}
    assert tagged.ask("POST", FIND, asked).json["rows"] == [{"thing": str(number), "values": list(range(100))}]


def test_one_wrong_change_lets_none_happen(tagged: Server) -> None:
    changes = [{"thing": "1", "set": {"half": 1}}, {"thing": "nobody", "set": {"half": 1}}]
    assert tagged.ask("POST", METADATA, {"changes": changes}).code == "file_set_not_found"
    assert "half" not in tagged.get(f"{METADATA}?thing=1")["attributes"]


@pytest.mark.parametrize(
    "query",
    ["x" * 10_000_000, "a = 1 and " * 50_000, "(" * 100_000, "(" * 9000, "a ~ '" + "(a{99}){99}" * 40 + "'", "a = 1\0"],
)
def test_a_monstrous_query_is_refused(tagged: Server, query: str) -> None:
    answer = tagged.ask("POST", FIND, {"kind": "job", "query": query})
    assert answer.status in (400, 413)
    assert answer.code in ("bad_query", "too_large")


def test_tags_appear_while_a_job_runs(place: Place) -> None:
    server = place.start()
    gate = place.work / "gate"
    place.write(
        "long.py",
        "import acai_jupyter, pathlib, time\n"
        "acai_jupyter.tag('epoch', 1)\n"
        "print('é [ACAI_TAG] job epoch:3', flush=True)\n"
        f"while not pathlib.Path({str(gate)!r}).exists(): time.sleep(0.01)\n"
        "acai_jupyter.tag('epoch', 2)\n",
    )
    assert "queued" in said(server, "submit", "long.py")
    client = server.client()

    def epoch() -> object:
        return client.call(endpoints.GET_JOB, job=1).attributes.get("epoch")

    until(lambda: client.call(endpoints.GET_JOB, job=1).state is JobState.RUNNING, "a job that runs")
    assert until(epoch, "a tag of a job that runs") == 1
    assert client.call(endpoints.FIND_THINGS, FindThings(SubjectKind.JOB, "epoch = 1 and state = 'running'")).rows
    job = until(
        lambda: next((one for one in [client.call(endpoints.GET_JOB, job=1)] if one.attempts[0].tag_misses), None),
        "a miss",
    )
    miss = "line 3 looks like a tag but something stands before it: é [ACAI_TAG] job epoch:3"
    assert (job.state.value, job.attempts[0].tag_misses) == ("running", [miss])
    gate.touch()
    wait(client, 1)
    assert epoch() == 2
    for words in (("job", "1"), ("wait", "1"), ("logs", "1"), ("logs", "1", "-f")):
        assert said(server, *words).count(miss) == 1, words
    assert miss not in server.place.acai("logs", "1").stdout
    told = [event["kind"] for event in server.get("/v1/projects/default/events?since=0")["events"]]
    assert "metadata_changed" in told


def test_a_tag_at_the_end_of_a_very_long_log_counts(place: Place) -> None:
    server = place.start()
    place.write(
        "talk.py",
        "line = 'x' * 1023\nfor _ in range(20_000): print(line)\nimport acai_jupyter\nacai_jupyter.tag('last', 1)",
    )
    said(server, "submit", "talk.py", "--output", "said")
    wait(server.client(), 1)
    assert said(server, "tag", "said") == "said:1 · last 1\n"
    assert said(server, "tag", "1") == "job 1 · last 1\n"
