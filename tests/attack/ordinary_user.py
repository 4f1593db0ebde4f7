"""Other campaigns by an account without rights: nothing of the server, the clients and the jobs needs root."""

from __future__ import annotations

import os
import pwd
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.attack.campaign import FIGURES
from tests.servers.process import ServerMissing

if TYPE_CHECKING:
    from tests.attack.campaign import Run

ACCOUNT = "nobody"
CAMPAIGNS = ("hostile-jobs", "lives", "power-loss")
SHORT_CAMPAIGNS = ("hostile-jobs",)
ROOT = Path(__file__).parents[2]
SCRIPT = """
set -e
folder=$1; account=$2; shift 2
mount -t tmpfs tmpfs "$folder"
while [ "$1" != -- ]; do
  place=$folder/$(echo "$1" | tr / _)
  mkdir "$place-upper" "$place-work"
  mount -t overlay overlay -o "lowerdir=$1,upperdir=$place-upper,workdir=$place-work" "$1"
  chmod a+x "$1"
  shift
done
shift
exec setpriv --reuid "$account" --clear-groups --regid nogroup "$@"
"""
"""In its own mount namespace, folders that lead to the interpreter are covered by copies that others may enter."""
_ROW = re.compile(r"^(\S+) +(\S+) +\d+ +(.+)$", re.MULTILINE)


def ordinary_user(run: Run) -> None:
    """Run other campaigns under an unprivileged account; only root can switch to one."""
    if os.geteuid():
        raise ServerMissing("this is an ordinary user already: all campaigns are")
    if not all(map(shutil.which, ("unshare", "setpriv"))):
        raise ServerMissing("there is no `unshare` or no `setpriv`")
    home = run.home / "home"
    home.mkdir()
    account = pwd.getpwnam(ACCOUNT)
    os.chown(home, account.pw_uid, account.pw_gid)
    closed = [str(folder) for folder in _on_the_way(home) if not folder.stat().st_mode & 0o001]
    inside = [name for name in closed if home.is_relative_to(name)]
    for name in inside:  # of this campaign's own temporary folders
        Path(name).chmod(0o711)
    (run.home / "overlays").mkdir()
    campaigns = SHORT_CAMPAIGNS if run.is_short else CAMPAIGNS
    seconds = f"{run.seconds / len(campaigns):.0f}"
    command = [sys.executable, "-m", "tests.attack", *campaigns, "--seed", run.seed, "--seconds", seconds]
    covered = [name for name in closed if name not in inside]
    variables = {"HOME": str(home), "TMPDIR": str(home), "USER": ACCOUNT, "LOGNAME": ACCOUNT}
    done = subprocess.run(
        [
            *("unshare", "--mount", "--propagation", "private"),
            *("sh", "-c", SCRIPT, "sh", str(run.home / "overlays"), ACCOUNT, *covered, "--", *command),
        ],
        cwd=ROOT,
        env=os.environ | variables | {"PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    run.say(done.stdout)
    if "mount" in done.stderr and not done.stdout:
        raise ServerMissing(f"folders cannot be mounted here: {done.stderr.strip().splitlines()[-1]}")
    rows = [(row[1], row[3].split()) for row in _ROW.finditer(done.stdout) if row[1] in campaigns]
    for _, figures in rows:
        for name, figure in zip(FIGURES, figures, strict=False):
            if figure.isdecimal():
                run.figures[name] += int(figure)
    if done.returncode or len(rows) < len(campaigns):
        run.violation(f"a campaign of an ordinary user ended with status {done.returncode}", done.stderr[-2000:])


def _on_the_way(home: Path) -> list[Path]:
    """Return the folders that lead to the interpreter, this project and the home, from the top."""
    places = {Path(sys.executable), Path(sys.base_prefix), Path(sys.executable).resolve(), ROOT / "tests", home}
    return sorted({folder for place in places for folder in place.parents})
