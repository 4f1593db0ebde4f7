"""A graph like that of `provenance.py` in ML Metadata; runs in the peers' Python and prints seconds as JSON."""

import json
import random
import sys
import time
from importlib import import_module
from typing import Any

NEAR = 50
PAGE = 500


def main() -> None:
    address, count = sys.argv[1], int(sys.argv[2])
    store_module: Any = import_module("ml_metadata.metadata_store.metadata_store")
    words: Any = import_module("ml_metadata.proto.metadata_store_pb2")
    config = words.ConnectionConfig()
    config.sqlite.filename_uri = address
    store = store_module.MetadataStore(config)
    last = _fill(store, words, count)
    seconds = []
    for _ in range(3):
        began = time.perf_counter()
        found = _closure(store, words, last)
        seconds.append(time.perf_counter() - began)
        assert found == count, found
    print(json.dumps({"closure": sorted(seconds)[1]}))


def _fill(store: Any, words: Any, count: int) -> int:
    chance = random.Random(7)
    kind = store.put_artifact_type(words.ArtifactType(name="file set"))
    action = store.put_execution_type(words.ExecutionType(name="action"))
    artifacts = list[int]()
    for start in range(0, count, 10_000):
        some = range(start, min(start + 10_000, count))
        made = store.put_artifacts([words.Artifact(type_id=kind, uri=f"closed:{n + 1}") for n in some])
        executions = store.put_executions([words.Execution(type_id=action) for _ in some])
        artifacts += made
        events = []
        for n, execution in zip(some, executions, strict=True):
            before = {max(0, n - 1 - chance.randrange(NEAR)), n - 1} if n else set()
            events += [
                words.Event(artifact_id=artifacts[at], execution_id=execution, type=words.Event.INPUT) for at in before
            ]
            events.append(words.Event(artifact_id=artifacts[n], execution_id=execution, type=words.Event.OUTPUT))
        store.put_events(events)
    return artifacts[-1]


def _closure(store: Any, words: Any, last: int) -> int:
    """Go back level by level with its queries by ids, many at a time."""
    seen, level = {last}, [last]
    while level:
        executions = {
            event.execution_id
            for start in range(0, len(level), PAGE)
            for event in store.get_events_by_artifact_ids(level[start : start + PAGE])
            if event.type == words.Event.OUTPUT
        }
        ids = sorted(executions)
        inputs = {
            event.artifact_id
            for start in range(0, len(ids), PAGE)
            for event in store.get_events_by_execution_ids(ids[start : start + PAGE])
            if event.type == words.Event.INPUT
        }
        level = sorted(inputs - seen)
        seen |= inputs
    return len(seen)


main()
