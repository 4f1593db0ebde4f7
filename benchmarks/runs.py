"""The runs that are searched: for each number the same ten numbers and five texts. Standard library only."""

import random

NUMBERS = ("accuracy", "loss", "f1", "precision", "recall", "epochs", "seed", "params.lr", "momentum", "batch_size")
NAMES = ("model", "dataset", "optimizer", "note", "stage")


def values(number: int) -> tuple[dict[str, float], dict[str, str]]:
    """Return the numbers and the texts of a run."""
    chance = random.Random(number)
    numbers = {key: round(chance.random(), 6) for key in NUMBERS[:5]}
    numbers.update(epochs=chance.randrange(100), seed=chance.randrange(50_000), momentum=chance.random())
    numbers.update({"params.lr": chance.randrange(20) / 1000, "batch_size": 2 ** chance.randrange(8)})
    texts = {"model": f"model-{chance.randrange(10)}", "dataset": f"dataset-{chance.randrange(5)}", "stage": "done"}
    texts.update(optimizer=chance.choice(["adam", "sgd", "lion"]), note=f"run-{chance.getrandbits(64):020}")
    return numbers, texts
