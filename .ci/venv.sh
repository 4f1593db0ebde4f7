#!/bin/sh
# Makes a virtual environment with uv in it, also where Debian's Python comes without venv or pip.
# Usage: venv.sh PYTHON FOLDER
set -eu
python=$1 venv=$2
say() { echo "$*" >&2; }
[ -n "$python" ] || { say "ACAI needs Python 3.11 or newer; on Debian or Ubuntu: apt-get install python3"; exit 1; }
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; elif sudo -n true 2>/dev/null; then sudo "$@"; else return 1; fi
}
[ -x "$venv/bin/uv" ] && exit 0
if command -v uv >/dev/null 2>&1; then
  uv venv --quiet --allow-existing --python "$python" "$venv"
  uv pip install --quiet --python "$venv/bin/python" uv
  exit 0
fi
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
  say "installing python3-venv"
  as_root sh -c 'apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3-venv' >/dev/null 2>&1 ||
    { say "Python's venv is missing and cannot be installed without root; run: apt-get install python3-venv"; exit 1; }
fi
"$python" -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check uv
