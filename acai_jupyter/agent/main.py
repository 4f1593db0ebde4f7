"""Entry of the agent: `python3 agent.pyz LAUNCH_URL WORK_FOLDER`."""

import json
import sys

from acai_jupyter.agent.attempt import Attempt
from acai_jupyter.transfer.targets import read


def main() -> int:
    """Run the attempt that the launch document describes; the exit status is the program's."""
    launch_url, work_folder = sys.argv[1:3]
    return Attempt(json.loads(read(launch_url).decode()), work_folder).run()
