"""Who this server is for a cluster: a kubeconfig, or the account of the pod that it runs in."""

from __future__ import annotations

import base64
import json
import os
import ssl
import subprocess
import tempfile
import time
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml

from acai_jupyter.contract.errors import SettingsBroken

IN_POD = Path("/var/run/secrets/kubernetes.io/serviceaccount")
TOKEN_SECONDS = 60.0
"""So long a token that was read from a file is used: whoever writes it gives another in time."""
_EXEC_SECONDS = 60
_SECRETS = frozenset({"CONFIGPROXY_AUTH_TOKEN", "JUPYTERHUB_API_TOKEN", "JPY_API_TOKEN", "JUPYTER_TOKEN"})
"""Tokens in this server's environment that are not passed to the kubeconfig's programs, nor are ACAI's settings."""


class Access:
    """An API server, and what shows it who asks. A token may be renewed meanwhile."""

    def __init__(self, cluster: dict[str, Any], user: dict[str, Any], namespace: str, folder: Path) -> None:
        self.server = str(cluster.get("server", "")).rstrip("/")
        self.namespace = namespace
        self.proxy = cluster.get("proxy-url") or None
        self._cluster = cluster
        self._user = user
        self._folder = folder
        self._token = ""
        self._until = 0.0
        if not self.server:
            raise SettingsBroken(reason="the kubeconfig names no server for its cluster")
        try:
            self.ssl = self._ssl_context()
        except (OSError, ValueError) as error:
            raise SettingsBroken(reason=f"the certificates of the kubeconfig cannot be used: {error}") from error

    def authorization(self) -> str:
        """Return the header that shows who asks; empty with a certificate. May run a program."""
        if "username" in self._user:
            both = f"{self._user['username']}:{self._user.get('password', '')}"
            return "Basic " + base64.b64encode(both.encode()).decode()
        if time.time() >= self._until:
            self._token, self._until = self._read_token()
        return f"Bearer {self._token}" if self._token else ""

    def is_slow(self) -> bool:
        """Whether a program has to be run for it now."""
        return "exec" in self._user and time.time() >= self._until

    def renew(self) -> None:
        """Read a token anew at the next time: this one is not accepted."""
        self._until = 0.0

    def _ssl_context(self) -> ssl.SSLContext:
        authority = self._text(self._cluster, "certificate-authority")
        context = ssl.create_default_context(cadata=authority or None)
        if self._cluster.get("insecure-skip-tls-verify"):
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        certificate, key = self._text(self._user, "client-certificate"), self._text(self._user, "client-key")
        if certificate:
            with tempfile.NamedTemporaryFile("w") as file:  # the library reads it from a file only; mode 0600
                file.write(f"{certificate}\n{key}\n")
                file.flush()
                context.load_cert_chain(file.name)
        return context

    def _text(self, place: dict[str, Any], name: str) -> str:
        if f"{name}-data" in place:
            return base64.b64decode(place[f"{name}-data"]).decode()
        return (self._folder / place[name]).read_text() if name in place else ""

    def _read_token(self) -> tuple[str, float]:
        if "exec" in self._user:
            return self._run(self._user["exec"])
        if "tokenFile" in self._user:
            try:
                return (self._folder / self._user["tokenFile"]).read_text().strip(), time.time() + TOKEN_SECONDS
            except OSError as error:
                raise SettingsBroken(reason=f"the token of the kubeconfig cannot be read: {error.strerror}") from error
        return str(self._user.get("token", "")), float("inf")

    def _run(self, plugin: dict[str, Any]) -> tuple[str, float]:
        """Ask a program for a token, as a kubeconfig says: it answers with an ExecCredential."""
        version = plugin.get("apiVersion", "client.authentication.k8s.io/v1")
        asked = {"apiVersion": version, "kind": "ExecCredential", "spec": {"interactive": False}}
        added = {one["name"]: one["value"] for one in plugin.get("env") or []}
        inherited = {name: value for name, value in os.environ.items() if not _is_secret(name)}
        environment = inherited | added | {"KUBERNETES_EXEC_INFO": json.dumps(asked)}
        command = [str(plugin.get("command", "")), *(plugin.get("args") or [])]
        try:
            said = subprocess.run(  # noqa: S603 (the kubeconfig is the operator's, and this is what it says)
                command, env=environment, capture_output=True, timeout=_EXEC_SECONDS, check=True
            )
            status = json.loads(said.stdout)["status"]
            token = str(status["token"])
        except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError) as error:
            reason = f"'{command[0]}', which the kubeconfig names, gives no token; run it by hand, or sign in again"
            raise SettingsBroken(reason=reason) from error
        return token, _moment(status.get("expirationTimestamp"))


def _is_secret(name: str) -> bool:
    """Whether a variable may hold a secret of this server; among ACAI's settings are passwords in addresses."""
    return name.startswith("ACAI_") or name in _SECRETS


def find(kubeconfig: str, context: str) -> Access:
    """Return the access that settings and environment name; blocks while it reads files."""
    named = kubeconfig or os.environ.get("KUBECONFIG", "").split(os.pathsep)[0]
    path = Path(named or "~/.kube/config").expanduser()
    if named or path.is_file():
        return from_kubeconfig(path, context)
    if (IN_POD / "token").is_file():
        return in_pod()
    raise SettingsBroken(reason=f"no cluster is named: there is no {path}; set `kubeconfig`, or KUBECONFIG")


def from_kubeconfig(path: Path, context: str) -> Access:
    """Return the access that a kubeconfig describes."""
    try:
        found = yaml.safe_load(path.read_text())
        name = context or found["current-context"]
        chosen = _named(found, "contexts", "context", name)
        cluster = _named(found, "clusters", "cluster", chosen["cluster"])
        user = _named(found, "users", "user", chosen["user"]) if chosen.get("user") else {}
    except OSError as error:
        raise SettingsBroken(reason=f"the kubeconfig {path} cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, KeyError, TypeError, AttributeError, ValueError) as error:
        raise SettingsBroken(reason=f"the kubeconfig {path} is not understood: it lacks {error}") from error
    return Access(cluster, user, chosen.get("namespace") or "default", path.parent)


def in_pod(folder: Path = IN_POD) -> Access:
    """Return the access of a pod's own account."""
    host, port = os.environ.get("KUBERNETES_SERVICE_HOST", ""), os.environ.get("KUBERNETES_SERVICE_PORT", "443")
    host = f"[{host}]" if ":" in host else host
    namespace = "default"
    with suppress(OSError):
        namespace = (folder / "namespace").read_text().strip()
    cluster = {"server": f"https://{host}:{port}", "certificate-authority": "ca.crt"}
    return Access(cluster, {"tokenFile": "token"}, namespace, folder)


def _named(config: dict[str, Any], kind: str, part: str, name: str) -> dict[str, Any]:
    for one in config.get(kind) or []:
        if one["name"] == name:
            return dict(one[part] or {})
    raise KeyError(f"{part} '{name}'")


def _moment(text: str | None) -> float:
    """Return when a token ends, a little earlier."""
    if not text:
        return float("inf")
    return datetime.fromisoformat(text).timestamp() - TOKEN_SECONDS
