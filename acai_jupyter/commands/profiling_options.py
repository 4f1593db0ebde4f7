"""What the making of a profile takes on a line."""

from __future__ import annotations

import argparse
from typing import Any

from acai_jupyter.commands import job_options


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add what `profile` takes."""
    parser.add_argument(
        "command", metavar="COMMAND", nargs="?", help="with a hint where a value goes: python train.py --epoch {1,2,3}"
    )
    parser.add_argument("--command_template", metavar="COMMAND", help="the same, as the original called it")
    add_shared(parser)


def add_shared(parser: argparse.ArgumentParser) -> None:
    """Add what a command and a cell take."""
    parser.add_argument("--name", "--template_name", default="", metavar="NAME", help="what to call the profile")
    job_options.add_data(parser)
    many: dict[str, Any] = {"action": "append", "default": []}
    parser.add_argument(
        "-p", type=job_options.parameter, metavar="NAME=VALUE", help="a parameter, or a hint: epoch={1,2,3}", **many
    )
    parser.add_argument(
        "--env-var", type=job_options.variable, metavar="NAME=VALUE", help="an environment variable", **many
    )
    parser.add_argument("--secret", type=job_options.secret, metavar="NAME", help="a variable with a secret", **many)
    parser.add_argument("--tag", metavar="K=V", help="an attribute of each run, or +LABEL; can be repeated", **many)
    parser.add_argument("--gpu", type=job_options.GPUS, default=0, metavar="N", help="GPUs of each run (default 0)")
    job_options.add_gpu_type(parser)
    parser.add_argument("--image", metavar="NAME", help="a container image, where jobs run in containers")
    parser.add_argument("--env", metavar="FILE", help="requirements.txt of an environment of its own, built by uv")
    parser.add_argument("--time-limit", type=job_options.time_limit, metavar="T", help="end a run after so long")
    parser.add_argument(
        "--design", choices=["adaptive", "full"], default="adaptive", help="as few runs as it takes, or all of them"
    )
    parser.add_argument("--cpus", type=_cpus, default=[], metavar="N,N", help="vCPU to try (default 0.5,1,2)")
    parser.add_argument(
        "--memories", type=_memories, default=[], metavar="SIZE,SIZE", help="memory to try (default 512Mi,1Gi,2Gi)"
    )
    parser.add_argument(
        "--sample", type=job_options.part, metavar="F", help="make runs also on so much of the input's files, like 0.1"
    )
    parser.add_argument("--max-time", type=job_options.time_limit, metavar="T", help="how long all of it may take")
    parser.add_argument("--max-cost", type=job_options.amount, metavar="USD", help="what all of it may cost")
    parser.add_argument("--yes", action="store_true", help="make many runs, or dear ones, without such a bound")
    parser.add_argument("--plan", action="store_true", help="only say how many runs it would be, and what they cost")


def complete(arguments: argparse.Namespace, **found: Any) -> argparse.Namespace:
    """Return it with what was found in it, and with what every job is asked and a profile is not."""
    parser = argparse.ArgumentParser(add_help=False)
    job_options.add_to(parser)
    job_options.add_cell(parser)
    known = vars(parser.parse_args([]))
    asked = {**known, "args": [], "script": None, "command": None, **vars(arguments), **found}
    bounds = {"max_time": None, "max_cost": None, "profile": arguments.name or None, "name": ""}
    return argparse.Namespace(**asked | bounds)


def _each(text: str, read: Any) -> list[Any]:
    return [read(word.strip()) for word in text.split(",")]


def _cpus(text: str) -> list[float]:
    return _each(text, job_options.amount)


def _memories(text: str) -> list[int]:
    return _each(text, job_options.memory)
