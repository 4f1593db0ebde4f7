"""Where settings come from.

The first that has one wins: command line, `ACAI_*` environment, the working folder's file `acai.toml` as far as it is
trusted (`working_folder.py`), Jupyter's configuration, the user's file, the site's file, the default.
"""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass, fields
from difflib import get_close_matches
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from acai_jupyter.contract.addresses import is_same_server
from acai_jupyter.contract.errors import BadSetting

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from acai_jupyter.contract.jobs import ResourceLimits
    from acai_server.runners.kubernetes.settings import KubernetesSettings
    from acai_server.runners.process import ProcessSettings
    from acai_server.spare import SpareRoom

PREFIX = "ACAI_"
OF_CLIENTS = frozenset({"URL", "TOKEN", "PROJECT", "JOB", "INPUT", "OUTPUT"})
"""Variables that tell a client where to go, or a program inside a job what it is."""
PARAMETER = "ACAI_PARAM_"
MAX_REGION = 64
_INSTANCE = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,18}[a-z0-9])?\Z")


@dataclass(frozen=True)
class Source:
    """Values from one place, and how to name that place to a person."""

    name: str
    values: dict[str, Any]


@dataclass(frozen=True)
class Settings:
    """All settings of a server, as read."""

    data_folder: Path
    url: str
    token: str
    project: str
    user: str
    database: str
    object_store: str
    s3_bucket: str
    s3_prefix: str
    s3_endpoint_url: str
    runner: str
    kubeconfig: str
    kubernetes_context: str
    kubernetes_namespace: str
    kubernetes_image: str
    kubernetes_instance: str
    kubernetes_secrets: str
    kubernetes_shared_secrets: str
    kubernetes_user: int
    kubernetes_queue: str
    kubernetes_gpu_resource: str
    kubernetes_gpu_type_label: str
    kubernetes_template: str
    kubernetes_grows: bool
    kubernetes_archives: str
    kubernetes_archives_gib: float
    endpoint_url_for_jobs: str
    event_bus: str
    public_url: str
    slow_reader_seconds: float
    heartbeat_seconds: float
    requests_per_second: float
    streams_per_user: int
    uploads_per_user: int
    max_body_kib: int
    header_timeout_seconds: float
    body_timeout_seconds: float
    log_format: str
    oidc_issuer: str
    oidc_client_id: str
    oidc_claim: str
    oidc_scope: str
    jupyterhub_api_url: str
    sign_in_days: float
    quota: int
    price_book: str
    region: str
    min_vcpu: float
    max_vcpu: float
    vcpu_step: float
    min_memory_mib: int
    max_memory_mib: int
    memory_step_mib: int
    max_gpus: int
    machine_vcpu: float
    reserved_memory_mib: int
    control_groups: bool
    max_processes: int
    reserved_disk_mib: int
    spare_disk_mib: int
    failed_folder_hours: float
    cache_folder: str
    cache_gib: float
    environments_gib: float
    upload_days: float
    check_delay_seconds: float
    scrub_days: float
    scrub_reads_s3: bool
    grace_days: float
    collect_days: float
    url_is_from_folder: bool = False
    """Not a setting: the working folder's file named `url`; no other token than its own may be sent there."""
    notices: tuple[str, ...] = ()
    """Not a setting: what the operator should know about how the settings were read."""

    def limits(self) -> ResourceLimits:
        """Return between what a job can choose its share of a machine."""
        from acai_jupyter.contract.jobs import MIB, ResourceLimits

        return ResourceLimits(
            min_vcpu=self.min_vcpu,
            max_vcpu=self.max_vcpu,
            vcpu_step=self.vcpu_step,
            min_memory_bytes=self.min_memory_mib * MIB,
            max_memory_bytes=self.max_memory_mib * MIB,
            memory_step_bytes=self.memory_step_mib * MIB,
            max_gpus=self.max_gpus,
        )

    def spare_room(self) -> SpareRoom:
        """Return what is held of the disk of the data folder for times when it is full."""
        from acai_server.spare import SpareRoom

        return SpareRoom(self.data_folder, self.spare_disk_mib * 1024**2)

    def of_this_machine(self) -> ProcessSettings:
        """Return what jobs may use of this machine."""
        from acai_server.runners.process import ProcessSettings

        cache = Path(self.cache_folder).expanduser() if self.cache_folder else self.data_folder / "cache"
        return ProcessSettings(
            cache=cache if self.cache_gib else None,
            cache_bytes=int(self.cache_gib * 1024**3),
            environments=self.data_folder / "environments" if self.environments_gib else None,
            environments_bytes=int(self.environments_gib * 1024**3),
            reserved_memory_bytes=self.reserved_memory_mib * 1024**2,
            vcpu=self.machine_vcpu,
            control_groups=self.control_groups,
            max_processes=self.max_processes,
            reserved_disk_bytes=self.reserved_disk_mib * 1024**2,
            failed_seconds=self.failed_folder_hours * 3600,
            secrets=self.data_folder / "secrets",
        )

    def of_the_cluster(self, instance: str) -> KubernetesSettings:
        """Return where jobs run in a cluster, and how their pods are made."""
        from acai_server.runners.kubernetes.settings import KubernetesSettings
        from acai_server.runners.kubernetes.template import read

        template = read(self.kubernetes_template)
        return KubernetesSettings(
            instance=instance,
            namespace=self.kubernetes_namespace,
            image=self.kubernetes_image,
            kubeconfig=self.kubeconfig,
            context=self.kubernetes_context,
            secrets=self.kubernetes_secrets,
            shared_secrets=frozenset(filter(None, map(str.strip, self.kubernetes_shared_secrets.split(",")))),
            run_as_user=self.kubernetes_user,
            queue=self.kubernetes_queue,
            gpu_resource=self.kubernetes_gpu_resource,
            gpu_type_label=self.kubernetes_gpu_type_label,
            template=template.every,
            profiles=template.profiles,
            archives=self.kubernetes_archives,
            archives_bytes=int(self.kubernetes_archives_gib * 1024**3),
            grows=self.kubernetes_grows,
        )


NAMES = frozenset(one.name for one in fields(Settings)) - {"url_is_from_folder", "notices"}
"""The names of all settings."""


def from_environment(known: frozenset[str]) -> Source:
    """Return the settings in the environment; an unknown one is an error, as it is most likely a typing slip."""
    values: dict[str, Any] = {}
    for variable, value in os.environ.items():
        if not variable.startswith(PREFIX) or variable.startswith(PARAMETER):
            continue
        name = variable.removeprefix(PREFIX).lower()
        if name in known:
            values[name] = value
        elif variable.removeprefix(PREFIX) not in OF_CLIENTS:
            raise BadSetting(name=variable, source="the environment", reason=_nearest(name, known, PREFIX))
    return Source("the environment", values)


def from_mapping(place: str, values: Mapping[str, Any], known: frozenset[str]) -> Source:
    """Return the settings that Jupyter has read from a place."""
    for name in values:
        if name not in known:
            raise BadSetting(name=name, source=place, reason=_nearest(name, known, ""))
    return Source(place, dict(values))


def from_file(path: Path, known: frozenset[str]) -> Source:
    """Return the settings in a TOML file; a missing file has none."""
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return Source(str(path), {})
    except OSError as error:
        raise BadSetting(name="file", source=str(path), reason="it cannot be read") from error
    return from_text(path, content, known)


def from_text(path: Path, content: bytes, known: frozenset[str]) -> Source:
    """Return the settings in the content of a TOML file."""
    try:
        values = tomllib.loads(content.decode())
    except UnicodeDecodeError as error:
        raise BadSetting(name="file", source=str(path), reason="it cannot be read") from error
    except tomllib.TOMLDecodeError as error:
        raise BadSetting(name="file", source=str(path), reason=f"it is not TOML ({error})") from error
    for name in values:
        if name not in known:
            raise BadSetting(name=name, source=str(path), reason=_nearest(name, known, ""))
    return Source(str(path), values)


def token_for(url: str, sources: Sequence[Sequence[Source]], folder: Source) -> str:
    """Return the first token that belongs to a server's address; a token of another server is never sent there.

    `sources` are levels of equal rank, the highest first. A token belongs to the address that its own source names;
    where that names none, to the first address at its own level or at those below, where the folder's file has no say:
    what a folder calls `url` gets the folder's own `token` or none.
    """
    for rank, level in enumerate(sources):
        below = [one for lower in sources[rank:] for one in lower if one is not folder]
        for source in level:
            token = source.values.get("token")
            own = source.values.get("url")
            named = own or ("" if source is folder else _first(below, "url"))
            if token and named and is_same_server(str(named), url):
                return str(token)
    return ""


def _first(sources: Sequence[Source], name: str) -> Any:
    return next((one.values[name] for one in sources if one.values.get(name)), "")


def checked(settings: Settings) -> Settings:
    """Refuse settings that each are well formed but cannot be meant."""
    _check_numbers(settings)
    address = urlsplit(settings.url)
    if settings.url and (address.scheme not in ("http", "https") or not address.hostname):
        raise _refused("url", f"'{settings.url[:80]}' is not the address of a server, like https://acai.example.org")
    if settings.database and not settings.database.startswith(("postgresql://", "postgres://")):
        raise _refused("database", "it is the URL of a PostgreSQL database, postgresql://…, or empty for SQLite")
    if settings.min_vcpu > settings.max_vcpu:
        raise _refused("min_vcpu", f"{settings.min_vcpu:g} is more than max_vcpu, {settings.max_vcpu:g}")
    if settings.min_memory_mib > settings.max_memory_mib:
        raise _refused("min_memory_mib", f"{settings.min_memory_mib} is more than max_memory_mib")
    if settings.cache_folder and not Path(settings.cache_folder).expanduser().is_absolute():
        raise _refused("cache_folder", f"'{settings.cache_folder[:80]}' is not an absolute path")
    if len(settings.region) > MAX_REGION:
        raise _refused("region", f"it is longer than {MAX_REGION} characters")
    if settings.event_bus == "postgres" and not settings.database:
        raise _refused("event_bus", "'postgres' needs a PostgreSQL database, and `database` is empty")
    _check_team(settings)
    _check_cluster(settings)
    return settings


def _check_numbers(settings: Settings) -> None:
    """Refuse NaN, which is neither below nor above any bound, and infinity."""
    for one in fields(settings):
        value = getattr(settings, one.name)
        if isinstance(value, float) and not isfinite(value):
            raise _refused(one.name, f"{value:g} is no number that can be counted with")


def _check_team(settings: Settings) -> None:
    if settings.log_format not in ("text", "json"):
        raise _refused("log_format", f"'{settings.log_format[:80]}' is none of text or json")
    issuer, hub = settings.oidc_issuer, settings.jupyterhub_api_url
    if issuer and not is_private(issuer):
        raise _refused("oidc_issuer", f"'{issuer[:80]}' is not an https address, which nobody on the way can change")
    if bool(issuer) != bool(settings.oidc_client_id):
        raise _refused("oidc_client_id", "an issuer and the name that it knows ACAI by belong together")
    if settings.public_url and urlsplit(settings.public_url).scheme not in ("http", "https"):
        raise _refused("public_url", f"'{settings.public_url[:80]}' is not an address, like https://acai.example.org")
    if hub and urlsplit(hub).scheme not in ("http", "https"):
        raise _refused("jupyterhub_api_url", f"'{hub[:80]}' is not an address, like http://hub:8081/hub/api")


def is_private(url: str) -> bool:
    """Whether nobody on the way can read or change what is asked there: by TLS, or on this machine."""
    parts = urlsplit(url)
    is_here = parts.scheme == "http" and parts.hostname in ("localhost", "127.0.0.1", "::1")
    return bool(parts.hostname) and (parts.scheme == "https" or is_here)


def _check_cluster(settings: Settings) -> None:
    if settings.runner == "kubernetes" and settings.object_store != "s3":
        raise _refused("runner", "'kubernetes' needs an 's3' object_store: pods cannot reach any other")
    name = "endpoint_url_for_jobs" if settings.endpoint_url_for_jobs else "s3_endpoint_url"
    host = urlsplit(getattr(settings, name)).hostname or ""
    if settings.runner == "kubernetes" and (host in ("localhost", "::1") or host.startswith("127.")):
        raise _refused(name, f"in a pod '{host}' is the pod itself; give an address that pods reach")
    if settings.kubernetes_instance and not _INSTANCE.match(settings.kubernetes_instance):
        shown = settings.kubernetes_instance[:80]
        raise _refused("kubernetes_instance", f"'{shown}' is not a word of at most 20 of a-z, 0-9 and '-'")


def _refused(name: str, reason: str) -> BadSetting:
    return BadSetting(name=name, source="the settings", reason=reason)


def user_config() -> Path:
    """Return the user's configuration file."""
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "acai" / "config.toml"


def site_config() -> Path:
    """Return the site's configuration file."""
    return Path("/etc/acai/config.toml")


def _nearest(name: str, known: frozenset[str], prefix: str) -> str:
    near = get_close_matches(name, sorted(known), n=1)
    spelled = f"{prefix}{near[0].upper()}" if near and prefix else (near[0] if near else "")
    return f"there is no such setting; the nearest is {spelled}" if near else "there is no such setting"
