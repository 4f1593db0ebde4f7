"""Restriction pairs: every route answers a user as if what is restricted to others had never been added.

Each case is asked before and after restricted files, sets and jobs are added. Bob, who may not read
them, must get the same answer twice; an admin must get two different ones, or the case would prove nothing.
"""

from __future__ import annotations

import json
import re
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from acai_jupyter.contract.endpoints import ALL, Endpoint
from acai_jupyter.contract.routes import Access
from acai_server.clock import Clock
from acai_server.db.database import Database
from tests.integration.places import Place
from tests.integration.restricted_project import MACHINE, PROJECT, RestrictedProject
from tests.integration.routes import route
from tests.servers.no_cluster import no_cluster

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.integration.places import Answer
    from tests.servers.postgres import Postgres
    from tests.servers.seaweedfs import Seaweedfs

pytestmark = pytest.mark.s3


@dataclass(frozen=True)
class Case:
    """A request to one endpoint."""

    query: str = ""
    body: Any = None
    parameters: Any = None

    def path(self, endpoint: Endpoint[Any]) -> str:
        return route(endpoint, **(self.parameters or {})) + self.query


def at(query: str = "", body: Any = None, **parameters: str) -> Case:
    return Case(query, body, parameters)


KINDS = ("file", "file_set", "job")
SETS = ("open:2", "patients:1", "patients", "joined:1", "raw:1", "report", "report:paper")
JOB = {"command": ["train"], "template": "net", "resources": MACHINE, "parameters": {"epoch": 3}}
RUNS = [{"parameters": {"epoch": epoch}, "resources": MACHINE} for epoch in (2, 30)]
HIDDEN_SETS = [at(ref=ref) for ref in ("patients:1", "patients", "patients:golden", "late", "joined:1", "raw:1")]
HIDDEN_JOBS = [at(job=job) for job in ("6", "14", "16", "17", "18")]

CASES: dict[str, list[Case]] = {
    "get_project_status": [at()],
    "list_events": [at("?since=0"), at("?since=3")],
    "list_uploads": [at("?state=committed")],
    "list_folder": [
        *(at(f"?path={path}") for path in ("/", "/open", "/patients", "/loose", "/open/inner")),
        at("?path=/&limit=1"),
        at("?path=/&file_set=joined"),
    ],
    "list_files": [
        *(at(f"?spec={spec}") for spec in ("/", "/open/", "/patients/", "/loose/new.txt", "@patients", "@report")),
        *(at(f"?spec={spec}") for spec in ("/open/a.txt:3", "/open/a.txt", "@early", "/raw/out.tx")),
        at("?spec=/&limit=2"),
    ],
    "list_versions": [
        *(at(f"?path={path}") for path in ("/open/a.txt", "/patients/one.txt", "/loose/new.txt", "/open/inner/x.txt")),
        at("?path=/raw/out.txt"),
        at("?path=/open/a.txt&limit=1"),
    ],
    "fetch_files": [
        *(at(body={"spec": spec}) for spec in ("/", "/patients/", "@patients", "@joined", "/open/a.txt")),
        at(body={"spec": "/open/a.txt:3"}),
    ],
    "list_file_sets": [at(), at("?limit=2"), at("?after=open&limit=1")],
    "get_file_set": [*HIDDEN_SETS, at(ref="report"), at(ref="report:2"), at(ref="report:paper")],
    "list_entries": [*HIDDEN_SETS, at(ref="report")],
    "list_file_set_versions": [
        *(at(ref=name) for name in ("patients", "joined", "raw", "report")),
        at("?limit=1", ref="report"),
    ],
    "list_aliases": [at(ref="patients"), at(ref="report")],
    "resolve_sources": [
        *(at(body={"sources": [spec], "counted": True}) for spec in ("/", "@report", "@patients", "@joined")),
        at(body={"sources": ["/open/"], "counted": True, "limit": 0}),
    ],
    "compare_sources": [
        at(body={"before": ["@open:1"], "after": [after]}) for after in ("/", "@report", "@joined", "/open/")
    ],
    "get_overview": [at(), at("?limit=1")],
    "list_jobs": [at(), at("?limit=2"), at("?before=12")],
    "get_job": HIDDEN_JOBS,
    "get_log": HIDDEN_JOBS,
    "list_log_lines": [at("?text=a", job="6"), at("?first=1", job="6"), at("?error=true", job="14")],
    "download_log": HIDDEN_JOBS,
    "get_request": HIDDEN_JOBS,
    "get_displays": HIDDEN_JOBS,
    "explain_miss": HIDDEN_JOBS,
    "get_sweep": [at(sweep=tag) for tag in ("sweep-1", "sweep-6", "sweep-10", "profile-1", "hush", "gold")],
    "get_sweep_table": [at(sweep=tag) for tag in ("sweep-1", "sweep-6", "profile-1", "hush", "gold")],
    "plan_job": [
        at(body={"job": JOB}),
        at(body={"job": {**JOB, "memory_as_used": True}}),
        at(body={"job": {**JOB, "inputs": ["patients"]}}),
        at(body={"job": {**JOB, "inputs": ["report"]}}),
        at(body={"job": {**JOB, "template": "northern"}}),
        at(body={"job": {"command": ["memo"], "inputs": ["mixed"], "output": "answer", "cached": True}}),
        at(body={"job": {**JOB, "parameters": {}}, "values": {"epoch": [1, 2]}}),
    ],
    "list_profiles": [at(), at("?limit=1"), at("?before=9")],
    "get_profile": [at(f"?template={template}") for template in ("net", "northern")],
    "predict_runs": [at(body={"template": template, "runs": RUNS}) for template in ("net", "northern")],
    "provision_job": [
        at(body={"template": "net", "parameters": {"epoch": 3}}),
        at(body={"template": "net", "as_latest": True}),
        at(body={"template": "northern", "as_latest": True}),
    ],
    "get_costs": [at(f"?by={by}") for by in ("user", "notebook", "tag", "job", "day")] + [at("?by=job&limit=2")],
    "plan_profiling": [at(body={"job": {**JOB, "parameters": {}}, "values": {"epoch": [1, 2, 3]}})],
    "get_budget": [at()],
    "get_neighbourhood": [
        *(at("?back=9&forward=9", ref=ref) for ref in SETS),
        at("?back=0&forward=0", ref="open:2"),
        at("?back=2&forward=2", ref="6"),
    ],
    "get_origin": [at(ref=ref) for ref in SETS if ref != "open:2"],
    "get_sources": [at(ref=ref) for ref in ("joined:1", "report", "late")],
    "get_project_graph": [at(), at("?limit=1"), at("?names=2")],
    "list_uses": [at(ref=ref) for ref in ("open:2", "patients:1", "joined:1")] + [at("?limit=1", ref="open:2")],
    "draw_graph": [
        *(at(body={"focus": focus, "with_svg": True}) for focus in ("open:2", "patients:1", "6", "")),
        at(body={"focus": "open:2", "steps": [{"node": "open:2", "direction": "forward"}]}),
        at(body={"focus": "open:2", "query": "has(ward)"}),
        at(body={"focus": "open:2", "path_to": "raw:1"}),
    ],
    "get_closure": [
        at(f"?direction={direction}", ref=ref)
        for direction, ref in (("forward", "open:2"), ("back", "report"), ("back", "raw:1"))
    ],
    "get_paths": [at(f"?to={to}", ref="open:2") for to in ("raw:1", "joined:1", "report")],
    "get_affected": [at(ref="open:2"), at("?depth=1", ref="open:2"), at(ref="patients:1")],
    "export_lineage": [
        at(f"?format={form}&direction=forward", ref="open:2")
        for form in ("prov", "openlineage", "graphml", "dot", "json")
    ],
    "get_file_origin": [at(f"?spec={spec}") for spec in ("/open/a.txt", "/patients/one.txt", "/raw/out.txt")],
    "explain_difference": [
        *(at(f"?before=open:2&after={after}") for after in ("report", "joined:1", "patients:1")),
        at("?before=1&after=6"),
    ],
    "get_metadata": [at(f"?thing={thing}") for thing in ("/open/a.txt", "/patients/one.txt", "patients:1", "6")]
    + [at(f"?thing={thing}") for thing in ("report", "/open/a.txt@joined", "/open/a.txt:3")],
    "list_changes": [at(f"?thing={thing}") for thing in ("/open/a.txt", "/patients/one.txt", "patients:1", "6")],
    "list_keys": [at(f"?kind={kind}") for kind in KINDS]
    + [at(f"?kind={kind}&prefix={prefix}") for kind in KINDS for prefix in ("w", "gr")]
    + [at("?kind=job&prefix=params."), at("?kind=job&prefix=ward_")],
    "find_things": [
        *(at(body={"kind": kind, "query": query}) for kind in KINDS for query in ("", "has(ward)", "score > 0")),
        *(at(body={"kind": kind, "query": "'gold' in tags"}) for kind in KINDS),
        *(at(body={"kind": kind, "query": "order by score desc limit 1"}) for kind in KINDS),
        *(at(body={"kind": kind, "limit": 1, "columns": ["latest", "ward"]}) for kind in KINDS),
        at(body={"kind": "job", "query": "input = 'patients'"}),
        at(body={"kind": "job", "query": "cost_usd > 0.5 order by cost_usd"}),
        at(body={"kind": "file", "query": "path ~ '^/patients'"}),
    ],
    "count_things": [
        at(body={"kind": kind, "keys": ["ward", "grade", "tags", "creator", "created_at"]}) for kind in KINDS
    ]
    + [at(body={"kind": kind, "query": "grade = 1"}) for kind in KINDS],
}
"""What is asked of each route that answers questions."""

UNRELATED = {
    "get_status": "is the status of the own project, which get_project_status covers",
    "get_health": "knows no project",
    "get_readiness": "knows no project",
    "get_openapi": "knows no project",
    "get_sign_in": "knows no project",
    "get_prices": "is a table of the operator",
    "get_checkup": "tries what the server stands on",
    "get_metrics": "is for global admins",
    "list_projects": "lists names of projects",
    "get_retention": "is a setting of the project",
    "get_upload": "has a random key, and only its user is answered",
    "report_damage": "names damaged ones of the files that the caller named and may read; none of these is damaged",
    "get_collection": "has a random key, and users who do not see everything are refused",
    "list_users": "lists names, roles and quotas",
    "list_tokens": "lists the caller's own",
    "list_restrictions": "lists restrictions, which are not restricted things",
    "get_object": "needs a signed URL, which fetch_files hands out",
    "stream_events": "sends what list_events answers; see test_access.py",
    "list_audit": "is for admins",
    "list_lifts": "is for admins",
    "list_groups": "is for admins",
    "list_user_tokens": "is for admins",
}
"""Routes that answer questions about nothing that can be restricted, and why."""

REFUSED: dict[str, list[Case]] = {
    "create_file_set": [
        at(body={"name": "mine", "sources": [spec]}) for spec in ("@patients", "/patients/", "@joined")
    ],
    "update_file_set": [at(body={"note": "n"}, ref=ref) for ref in ("joined:1", "report:2")],
    "remove_file_sets": [at(body={}, ref=ref) for ref in ("joined:1", "raw")],
    "set_alias": [at(ref=ref, alias="new") for ref in ("joined:1", "report:2", "raw")],
    "remove_alias": [at(ref="joined", alias="new"), at(ref="raw", alias="golden")],
    "remove_files": [at(body={"spec": spec}) for spec in ("/loose/new.txt", "/raw/out.txt", "/open/a.txt:3")],
    "change_metadata": [
        at(body={"changes": [{"thing": thing, "set": {"k": 1}}]})
        for thing in ("joined:1", "6", "/loose/new.txt", "/open/a.txt:3", "raw:latest")
    ],
    "create_job": [
        at(body={"command": ["x"], "inputs": [spec]}) for spec in ("patients", "job:6", "@joined", "report:2")
    ],
    "create_sweep": [at(body={"job": {"command": ["x"], "inputs": ["joined"]}, "values": {"epoch": [1, 2]}})],
    "create_profiling": [at(body={"job": {**JOB, "inputs": ["joined"]}, "values": {"epoch": [1]}, "vcpus": [1]})],
    "kill_job": [at(job=job) for job in ("6", "16", "17")],
    "kill_jobs": [at(body={"jobs": [16]})],
    "kill_sweep": [at(sweep=tag) for tag in ("sweep-6", "profile-1", "hush")],
    "remove_job": [at(body={}, job="6")],
}
"""Requests that would change something restricted: they are refused as if it did not exist."""

WRITES = (
    frozenset(
        one.name
        for one in ALL
        if one.access in (Access.ADMIN, Access.GLOBAL_ADMIN, Access.OWN, Access.NOTHING, Access.SIGNATURE)
        and one.method != "GET"
    )
    | {"create_upload", "stage_files", "create_targets", "add_objects", "commit_upload", "abort_upload"}
    | {
        "remove_many_files",
        "collect_garbage",
    }
)
"""Routes that change what the caller names or owns and answer no question about anything else."""

COUNTERS = {
    "list_events": {"last"},
    "resolve_sources": {"commit"},
    "compare_sources": {"commit"},
    "find_things": {"next"},
}
"""Numbers that continue over what is restricted, as docs/operators/access.md says; and a cursor that holds the time."""

NAMES = {endpoint.name: endpoint for endpoint in ALL}


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def project(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, s3_server: Seaweedfs
) -> Iterator[RestrictedProject]:
    home = tmp_path_factory.mktemp("home")
    url, variables = _database(request)
    variables |= s3_server.environment | no_cluster(home)
    variables |= {
        "ACAI_OBJECT_STORE": "s3",
        "ACAI_S3_BUCKET": s3_server.make_bucket(),
        "ACAI_S3_ENDPOINT_URL": s3_server.url,
    }
    with closing(Place(home)) as place:
        server = place.start(**variables)
        admin = {"Authorization": f"Bearer {server.token}"}
        users = [{"name": name, "quota": 0} for name in ("ann", "bob")]
        made = [server.ask("POST", f"{PROJECT}/users", user, token=None, headers=admin) for user in users]
        assert all(answer.status == 201 for answer in made), made
        tokens = [answer.json["issued"]["secret"] for answer in made]
        with closing(Database(url or f"sqlite:///{place.data / 'acai.db'}", Clock())) as database:
            yield RestrictedProject(server, database, *tokens)


def _database(request: pytest.FixtureRequest) -> tuple[str, dict[str, str]]:
    if request.param == "sqlite":
        return "", {}
    server: Postgres = request.getfixturevalue("postgres_server")
    url = server.create_database(request.getfixturevalue("postgres_template"))
    request.addfinalizer(lambda: server.drop_database(url))
    return url, {"ACAI_DATABASE": url}


@pytest.fixture(scope="module")
def pairs(project: RestrictedProject) -> dict[tuple[str, str], list[tuple[Any, Any]]]:
    """What Bob and an admin are answered before and after, by user and route, case by case."""
    project.add_open()
    before = _answers(project)
    project.add_restricted()
    after = _answers(project)
    return {key: list(zip(answers, after[key], strict=True)) for key, answers in before.items()}


def _answers(project: RestrictedProject) -> dict[tuple[str, str], list[Any]]:
    asked = [(user, name, cases) for user in ("bob", "admin") for name, cases in CASES.items()]
    asked += [("bob", name, cases) for name, cases in REFUSED.items()]
    return {(user, name): [_ask(project, user, name, case) for case in cases] for user, name, cases in asked}


def _ask(project: RestrictedProject, user: str, name: str, case: Case) -> tuple[int, str, Any]:
    endpoint = NAMES[name]
    answer = project.ask(user, endpoint.method, case.path(endpoint), case.body)
    hidden = COUNTERS.get(name, set()) | {"request_id"}
    return answer.status, answer.headers.get("content-type", ""), _comparable(answer, hidden)


def _comparable(answer: Answer, counters: set[str]) -> Any:
    """Leave out signatures of URLs, and of counters all but whether there is one."""
    text = re.sub(r"([?&]X-Amz-(?:Date|Signature|Credential)=)[^&\"]*", r"\1", answer.body.decode())
    if not answer.headers.get("content-type", "").startswith("application/json"):
        return text
    found = _without(json.loads(text), counters)
    if "events" in found:  # that restrictions have changed is no secret
        found["events"] = [event for event in found["events"] if event["kind"] != "access_changed"]
    return found


def _without(value: Any, keys: set[str]) -> Any:
    if isinstance(value, dict):
        return {key: one is None if key in keys else _without(one, keys) for key, one in value.items()}
    return [_without(one, keys) for one in value] if isinstance(value, list) else value


def test_every_route_has_a_case_or_a_reason() -> None:
    tables = [set(CASES), set(UNRELATED), set(REFUSED), set(WRITES)]
    assert set().union(*tables) == set(NAMES)
    assert sum(map(len, tables)) == len(NAMES), "a route is in two tables"
    assert all(CASES.values())


def _changed(before: Any, after: Any, where: str = "") -> list[str]:
    """Where two answers differ."""
    if isinstance(before, dict) and isinstance(after, dict) and before.keys() == after.keys():
        return [line for key in before for line in _changed(before[key], after[key], f"{where}.{key}")]
    if isinstance(before, list | tuple) and isinstance(after, list | tuple) and len(before) == len(after):
        pairs = enumerate(zip(before, after, strict=True))
        return [line for number, pair in pairs for line in _changed(*pair, f"{where}[{number}]")]
    return [] if before == after else [f"{where}: {before!r:.300} and then {after!r:.300}"]


@pytest.mark.parametrize("name", CASES)
def test_an_answer_does_not_depend_on_what_is_restricted(pairs: Any, name: str) -> None:
    leaks = [
        (case, lines) for case, pair in zip(CASES[name], pairs["bob", name], strict=True) if (lines := _changed(*pair))
    ]
    assert leaks == [], "\n".join(
        f"{case.query}{case.body or ''}{case.parameters or ''}: {lines}" for case, lines in leaks
    )
    unchanged = [case for case, pair in zip(CASES[name], pairs["admin", name], strict=True) if pair[0] == pair[1]]
    assert unchanged == [], "an admin sees no difference either: these cases prove nothing"


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_does_not_depend_on_what_is_restricted(pairs: Any, name: str) -> None:
    for case, (before, after) in zip(REFUSED[name], pairs["bob", name], strict=True):
        assert before == after, case
        assert before[0] >= 400, case


@pytest.mark.usefixtures("pairs")
def test_a_budget_counts_what_its_user_cannot_see(project: RestrictedProject) -> None:
    project.do("admin", "PATCH", "budget", {"total_usd": 3, "stops": True})
    total = next(one for one in project.do("bob", "GET", "budget")["left"] if one["name"] == "the project")
    assert (round(total["spent_usd"], 2), total["is_partial"]) == (1.05, True)
    refused = project.ask("bob", "POST", f"{PROJECT}/jobs", {"command": ["other"]})
    assert refused.status == 409
    assert refused.error["message"] == (
        "The budget of the project, $3.00, does not cover this. Jobs that you cannot see may have used part of it. "
        "An admin of the project can raise it: acai project budget."
    )
