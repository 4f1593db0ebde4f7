"""The file with which operators make pods other than they are made by themselves."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from acai_jupyter.contract.errors import BadSetting

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "kubernetes_template"
_PARTS = frozenset({"metadata", "spec"})
_PROFILES = "profiles"


@dataclass(frozen=True)
class Template:
    """What is laid over each pod template, and then what is over those of the jobs of a profile."""

    every: Mapping[str, Any] = field(default_factory=dict)
    profiles: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def read(path: str) -> Template:
    """Return what a file says; nothing without a file."""
    if not path:
        return Template()
    try:
        found = yaml.safe_load(Path(path).expanduser().read_text()) or {}
    except OSError as error:
        raise BadSetting(name=NAME, source=path, reason=f"it cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise BadSetting(name=NAME, source=path, reason="it is not YAML") from error
    profiles = found.pop(_PROFILES, None) or {} if isinstance(found, dict) else {}
    if not _is_pod_template(found):
        reason = "it has other keys than `profiles` and those of a pod template, `metadata` and `spec`"
        raise BadSetting(name=NAME, source=path, reason=reason)
    if not isinstance(profiles, dict) or not all(map(_is_pod_template, profiles.values())):
        reason = "`profiles` has names of profiles, each with `metadata` and `spec` as a pod template"
        raise BadSetting(name=NAME, source=path, reason=reason)
    return Template(found, {str(name): one for name, one in profiles.items()})


def _is_pod_template(found: Any) -> bool:
    return isinstance(found, dict) and _PARTS.issuperset(found)
