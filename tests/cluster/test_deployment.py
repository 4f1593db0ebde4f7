"""What `docs/operators/deploy` has is taken by a real API server, in a namespace that takes no privileged pod."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from acai_server.runners.kubernetes import calls

if TYPE_CHECKING:
    from tests.servers.cluster import Cluster

DEPLOY = Path(__file__).parents[2] / "docs" / "operators" / "deploy"
CHART = DEPLOY / "helm" / "acai"
_VALUE = re.compile(r"\{\{ \.Values\.([\w.]+)( \| quote)? \}\}")


def kustomized(cluster: Cluster, name: str) -> str:
    return cluster.ask("kustomize", str(DEPLOY / "kustomize" / name)).decode()


def charted() -> str:
    """Put the values into the chart's templates, which use nothing else of Helm's language."""
    values = yaml.safe_load((CHART / "values.yaml").read_text())

    def value(found: re.Match[str]) -> str:
        known: Any = values
        for key in found[1].split("."):
            known = known[key]
        return f'"{known}"' if found[2] else str(known)

    texts = [_VALUE.sub(value, path.read_text()) for path in sorted((CHART / "templates").iterdir())]
    assert not [text for text in texts if "{{ " in text]
    return "\n---\n".join(texts)


def objects(text: str) -> list[dict[str, Any]]:
    return [one for one in yaml.safe_load_all(text) if one]


def named(found: list[dict[str, Any]]) -> dict[tuple[str, str], dict[str, Any]]:
    return {(one["kind"], one["metadata"]["name"]): one for one in found}


@pytest.mark.parametrize("name", ["base", "trial", "chart"])
def test_what_is_deployed_is_taken_by_the_cluster_without_a_warning(shared_namespace: Cluster, name: str) -> None:
    text = charted() if name == "chart" else kustomized(shared_namespace, name)
    words = ["apply", "--server-side", "--dry-run=server", "--validate=strict", "--filename=-"]
    command = ["kubectl", f"--namespace={shared_namespace.namespace}", *words]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == len(objects(text))


def test_chart_and_manifests_are_the_same_server(shared_namespace: Cluster) -> None:
    chart, base = named(objects(charted())), named(objects(kustomized(shared_namespace, "base")))
    role = calls.role("", "acai-secrets")["rules"]
    assert chart["Role", "acai-runner"]["rules"] == base["Role", "acai-runner"]["rules"] == role
    servers = [found["Deployment", "acai"]["spec"]["template"]["spec"] for found in (chart, base)]
    assert [one["securityContext"] for one in servers] == [servers[0]["securityContext"]] * 2
    assert [one["serviceAccountName"] for one in servers] == ["acai", "acai"]
