#!/bin/sh
# Runs the unit and contract tests on the other Pythons that we promise, and those of transfer/ and agent/ on 3.8, each in a
# .venv-3.x; names those that are missing. Usage: pythons.sh UV [VERSION…]
set -eu
cd "$(dirname "$0")/.."
uv=$1 missing='' failed=''
shift

# Says where a Python of this version is that answers: pyenv puts programs on the PATH that do not.
find_python() {
  for python in "$(command -v "python$1")" "${PYENV_ROOT:-$HOME/.pyenv}/versions/$1".*/bin/python \
    "$("$uv" python find --quiet --managed-python "$1" 2>/dev/null)"; do
    "$python" -c 'import venv' 2>/dev/null && echo "$python" && return
  done
  return 1
}

for version in ${*:-3.8 3.12 3.13}; do
  python=$(find_python "$version") || { missing="$missing $version"; continue; }
  venv=.venv-$version
  echo "-- Python $version"
  "$uv" venv --quiet --allow-existing --python "$python" "$venv"
  if [ "$version" = 3.8 ]; then # what the agent carries; the newest libraries do not know this Python
    "$uv" pip install --quiet --python "$venv/bin/python" pytest pytest-timeout pytest-xdist hypothesis
    "$venv/bin/python" -m pytest -q -n 2 --noconftest --durations=0 --durations-min=1 tests/unit/test_transfer*.py \
      tests/unit/test_agent_*.py tests/unit/test_trees.py ||
      failed="$failed $version"
    continue
  fi
  "$uv" pip install --quiet --python "$venv/bin/python" --constraint constraints.txt --editable '.[dev]'
  "$venv/bin/python" -m pytest tests/unit tests/contract || failed="$failed $version"
done
[ -z "$missing" ] || echo "NOT RUN: this machine has no Python$missing"
[ -z "$failed" ] || { echo "FAILED on Python$failed" >&2; exit 1; }
