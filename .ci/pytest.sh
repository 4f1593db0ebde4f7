#!/bin/sh
# Runs tests in parallel; those that fail once more, one by one in a new process, so that a machine that was busy is told from
# a fault. What failed first stays in the output above, and is named as such. Usage: pytest.sh PYTHON [ARGUMENT…]
set -u
python=$1
shift
status=0
"$python" -m pytest "$@" || status=$?
[ "$status" = 1 ] || exit "$status" # 0: all passed; 2 and above: not run to the end
echo "-- once more, one by one: what has failed"
"$python" -m pytest "$@" -n 0 --last-failed --last-failed-no-failures none
