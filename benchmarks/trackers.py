"""MLflow and ML Metadata with the runs of `runs.py` in them; runs in the peers' Python and prints seconds as JSON."""

import json
import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import islice
from statistics import median
from typing import Any

from benchmarks.runs import values

PARAMETERS = ("params.lr", "seed", "batch_size")
"""What a program would log as a parameter, which MLflow keeps as a text."""
LOGGED = 200
PATIENCE_SECONDS = 3.0


def main() -> None:
    name, address, count = sys.argv[1:]
    measured = {"mlflow": mlflow, "mlmd": ml_metadata}[name](address, int(count))
    print(json.dumps(measured))


def mlflow(uri: str, count: int) -> dict[str, float]:
    client: Any = import_module("mlflow").MlflowClient(uri)
    experiment = client.create_experiment("bench")
    measured = {"logging": _of_fresh(lambda: _log(client, experiment))}
    others = client.create_experiment("searched")
    _fill(uri, int(others), count)

    def search() -> int:
        wanted = "metrics.accuracy > 0.9 and params.`params.lr` = '0.01'"
        return len(client.search_runs([others], wanted, order_by=["metrics.accuracy DESC"], max_results=10))

    measured["search"] = _seconds(search, 10)
    if uri.startswith("sqlite"):
        _execute(uri, "ANALYZE")
        measured["search after ANALYZE"] = _seconds(search, 10)
    return measured


def _log(client: Any, experiment: str) -> float:
    words: Any = import_module("mlflow.entities")
    runs = [client.create_run(experiment).info.run_id for _ in range(LOGGED)]
    began = time.perf_counter()
    for number, run in enumerate(runs):
        numbers, texts = values(number)
        metrics = [words.Metric(key, value, 0, 0) for key, value in numbers.items() if key not in PARAMETERS]
        texts.update({key: str(numbers[key]) for key in PARAMETERS})
        client.log_batch(run, metrics, [words.Param(key, value) for key, value in texts.items()])
    return time.perf_counter() - began


def _fill(uri: str, experiment: int, count: int) -> None:
    """Write the rows that MLflow would have written, and let PostgreSQL do what it does by itself after a while."""
    from sqlalchemy import create_engine, insert

    tables: Any = import_module("mlflow.store.tracking.dbmodels.models")
    engine = create_engine(uri)
    with engine.begin() as connection:
        for page in _pages(iter(range(count)), 10_000):
            runs: list[dict[str, Any]] = []
            metrics: list[dict[str, Any]] = []
            parameters: list[dict[str, Any]] = []
            for number in page:
                run = f"{number:032x}"
                numbers, texts = values(number)
                texts.update({key: str(numbers.pop(key)) for key in PARAMETERS})
                runs.append(
                    {
                        "run_uuid": run,
                        "name": run,
                        "source_type": "LOCAL",
                        "source_name": "",
                        "entry_point_name": "",
                        "user_id": "you",
                        "status": "FINISHED",
                        "start_time": number,
                        "end_time": number,
                        "source_version": "",
                        "lifecycle_stage": "active",
                        "artifact_uri": f"/tmp/{run}",
                        "experiment_id": experiment,
                    }
                )
                shared = {"run_uuid": run, "timestamp": 0, "step": 0, "is_nan": False}
                metrics += [{"key": key, "value": value, **shared} for key, value in numbers.items()]
                parameters += [{"key": key, "value": value, "run_uuid": run} for key, value in texts.items()]
            connection.execute(insert(tables.SqlRun), runs)
            connection.execute(insert(tables.SqlMetric), metrics)
            connection.execute(insert(tables.SqlLatestMetric), metrics)
            connection.execute(insert(tables.SqlParam), parameters)
    engine.dispose()
    if not uri.startswith("sqlite"):
        _execute(uri, "VACUUM ANALYZE")


def _execute(uri: str, statement: str) -> None:
    from sqlalchemy import create_engine, text

    engine = create_engine(uri, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(statement))
    engine.dispose()


def ml_metadata(path: str, count: int) -> dict[str, float]:
    words: Any = import_module("ml_metadata.proto.metadata_store_pb2")
    library: Any = import_module("ml_metadata.metadata_store")
    settings = words.ConnectionConfig()
    settings.sqlite.filename_uri = path
    store = library.MetadataStore(settings)
    kind = store.put_execution_type(words.ExecutionType(name="run"))

    def execution(number: int) -> Any:
        made = words.Execution(type_id=kind, name=f"run-{number}")
        numbers, texts = values(number)
        for key, value in numbers.items():
            made.custom_properties[key.replace(".", "_")].double_value = value
        for key, text in texts.items():
            made.custom_properties[key].string_value = text
        return made

    began = time.perf_counter()
    store.put_executions([execution(number) for number in range(count, count + LOGGED)])
    measured = {"logging": time.perf_counter() - began}
    for page in _pages(iter(range(count)), 2000):
        store.put_executions([execution(number) for number in page])

    def search() -> int:
        wanted = "custom_properties.accuracy.double_value > 0.9 AND custom_properties.params_lr.double_value = 0.01"
        found = store.get_executions(library.ListOptions(filter_query=wanted))
        found.sort(key=lambda one: -one.custom_properties["accuracy"].double_value)  # which it cannot do itself
        return len(found[:10])

    measured["search"] = _seconds(search, 10)
    return measured


def _of_fresh(act: Callable[[], float]) -> float:
    return median([act() for _ in range(3)])


def _seconds(search: Callable[[], int], wanted: int) -> float:
    """Return the median of some searches, of fewer when they take long."""
    found: list[float] = []
    while len(found) < 11 and sum(found) < PATIENCE_SECONDS:
        began = time.perf_counter()
        assert search() == wanted
        found.append(time.perf_counter() - began)
    return median(found)


def _pages(numbers: Iterator[int], size: int) -> Iterator[list[int]]:
    while True:
        page = list(islice(numbers, size))
        if not page:
            return
        yield page


if __name__ == "__main__":
    main()
