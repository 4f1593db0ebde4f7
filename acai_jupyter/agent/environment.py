"""What a program runs with, as far as it can be read without starting anything: Python, platform, packages."""

import os
import re
import sys
from contextlib import suppress
from typing import Any, Dict, Iterator, List, Mapping, Optional

_OF_BUILDS = re.compile(r"UV_|(?:(?:ALL|HTTPS?|NO)_PROXY|SSL_CERT_(?:DIR|FILE))\Z", re.IGNORECASE)
_PYTHON = re.compile(r"python[\d.]*\Z")
_WORD = re.compile(r"[^\s;&|()]+")
_INFO = re.compile(r"(.+?)-([^-]+?)(?:-py[\d.]+)?\.(?:dist|egg)-info\Z")


def of_programs(known: Mapping[str, str]) -> Dict[str, str]:
    """Return variables without those that a runner gives for builds: they may hold passwords of places of packages."""
    return {name: value for name, value in known.items() if not _OF_BUILDS.match(name)}


def seen(command: List[str], environment: Mapping[str, str], folder: str) -> Dict[str, Any]:
    """Return what the result record says of a program's environment."""
    system = os.uname()
    found: Dict[str, Any] = {
        "platform": "%s %s %s" % (system.sysname, system.release, system.machine),
        "agent": getattr(sys.modules.get("acai_jupyter"), "__version__", ""),
    }
    interpreter = _interpreter(command, environment, folder)
    if interpreter is not None:
        found["interpreter"] = interpreter
        with suppress(OSError):
            found.update(_of_python(interpreter))
    return found


def _of_python(interpreter: str) -> Dict[str, Any]:
    prefixes = _prefixes(interpreter)
    packages: Dict[str, str] = {}
    for prefix in reversed(prefixes):  # what is nearer counts
        for place in _site_packages(prefix):
            packages.update(_packages(place))
    return {"python": _version(interpreter, prefixes), "packages": dict(sorted(packages.items()))}


def _interpreter(command: List[str], environment: Mapping[str, str], folder: str) -> Optional[str]:
    """Return the Python that a command starts with, also when a shell is told to."""
    words = command
    if len(command) > 2 and command[1] == "-c" and os.path.basename(command[0]) in ("sh", "bash"):  # noqa: PLR2004
        words = [word for word in _WORD.findall(command[2]) if _PYTHON.match(os.path.basename(word))]
    if not words or not _PYTHON.match(os.path.basename(words[0])):
        return None
    word = words[0]
    places = [folder] if "/" in word else environment.get("PATH", os.defpath).split(os.pathsep)
    candidates = (os.path.join(place, word) for place in places)
    return next((path for path in candidates if os.path.isfile(path) and os.access(path, os.X_OK)), None)


def _prefixes(interpreter: str) -> List[str]:
    """The folders that a Python is installed in: a virtual environment, and what it is made of if it sees that."""
    prefix = os.path.dirname(os.path.dirname(os.path.abspath(interpreter)))
    settings = _settings(prefix)
    if settings is None:
        return [os.path.dirname(os.path.dirname(os.path.realpath(interpreter)))]
    if settings.get("include-system-site-packages") != "true":
        return [prefix]
    return [prefix, os.path.dirname(settings.get("home", ""))]


def _settings(prefix: str) -> Optional[Dict[str, str]]:
    """What a virtual environment's file says; None where there is no such file."""
    try:
        with open(os.path.join(prefix, "pyvenv.cfg"), encoding="utf-8", errors="replace") as file:
            pairs = [line.partition("=") for line in file]
    except OSError:
        return None
    return {name.strip().lower(): value.strip() for name, _, value in pairs}


def _site_packages(prefix: str) -> Iterator[str]:
    for lib in ("lib", "lib64"):
        with suppress(OSError):
            for name in sorted(os.listdir(os.path.join(prefix, lib))):
                if name.startswith("python3"):
                    yield os.path.join(prefix, lib, name, "site-packages")
                    yield os.path.join(prefix, lib, name, "dist-packages")


def _packages(place: str) -> Dict[str, str]:
    """Names and versions of the distributions in a folder: they are in the names of their records."""
    try:
        names = os.listdir(place)
    except OSError:
        return {}
    matches = filter(None, map(_INFO.match, names))
    return {match.group(1).replace("_", "-").lower(): match.group(2) for match in matches}


def _version(interpreter: str, prefixes: List[str]) -> str:
    if os.path.realpath(interpreter) == os.path.realpath(sys.executable):
        return "%d.%d.%d" % sys.version_info[:3]
    settings = _settings(prefixes[0]) or {}
    version = settings.get("version") or settings.get("version_info")
    if version:
        return ".".join(version.split(".")[:3])
    name = os.path.basename(os.path.realpath(interpreter))
    return name[len("python") :] if name.startswith("python") else ""
