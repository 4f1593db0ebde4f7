"""The keys that the system itself gives to things: read-only and without a prefix. And those that many use."""

from __future__ import annotations

from enum import StrEnum


class SubjectKind(StrEnum):
    """What attributes stand on."""

    FILE = "file"
    """A file version."""
    FILE_SET = "file_set"
    """A file set version."""
    JOB = "job"
    """A job."""


class ValueType(StrEnum):
    """What a value is. Values of different types are never equal, and neither is the greater."""

    BOOLEAN = "boolean"
    NUMBER = "number"
    TIME = "time"
    TEXT = "text"
    REFERENCE = "reference"
    """File sets that a built-in key names, like `digits:2`; without a version it stands for each of them."""
    LIST = "list"
    """The labels of `tags`."""


TAGS = "tags"
PARAMETERS = "params."
_OF_ALL = {"created_at": ValueType.TIME, "creator": ValueType.TEXT}

BUILT_IN: dict[SubjectKind, dict[str, ValueType]] = {
    SubjectKind.FILE: {
        "path": ValueType.TEXT,
        "version": ValueType.NUMBER,
        "latest": ValueType.BOOLEAN,
        **_OF_ALL,
        "size_bytes": ValueType.NUMBER,
        "sha256": ValueType.TEXT,
        "storage": ValueType.TEXT,
    },
    SubjectKind.FILE_SET: {
        "name": ValueType.TEXT,
        "version": ValueType.NUMBER,
        "latest": ValueType.BOOLEAN,
        **_OF_ALL,
        "file_count": ValueType.NUMBER,
        "size_bytes": ValueType.NUMBER,
        "made_by": ValueType.TEXT,
        "job": ValueType.NUMBER,
    },
    SubjectKind.JOB: {
        "number": ValueType.NUMBER,
        "name": ValueType.TEXT,
        "state": ValueType.TEXT,
        **_OF_ALL,
        "ended_at": ValueType.TIME,
        "input": ValueType.REFERENCE,
        "output": ValueType.REFERENCE,
        "vcpu": ValueType.NUMBER,
        "memory_bytes": ValueType.NUMBER,
        "run_seconds": ValueType.NUMBER,
        "billed_seconds": ValueType.NUMBER,
        "cost_usd": ValueType.NUMBER,
        "exit_code": ValueType.NUMBER,
        "attempts": ValueType.NUMBER,
        "template": ValueType.TEXT,
    },
}
"""By kind, in the order in which people see them. Users can set none of these names, on no kind."""

WELL_KNOWN = (
    "accuracy",
    "batch_size",
    "dataset",
    "description",
    "epochs",
    "f1",
    "learning_rate",
    "loss",
    "model",
    "optimizer",
    "precision",
    "recall",
    "seed",
    "stage",
    "test_accuracy",
    "test_loss",
    "training_accuracy",
    "training_loss",
    "validation_accuracy",
    "validation_loss",
)
"""What completion offers before anybody has used it."""


def is_reserved(key: str) -> bool:
    """Whether the system gives this key itself, to things of any kind."""
    return key == TAGS or key.startswith(PARAMETERS) or any(key in names for names in BUILT_IN.values())
