"""Entry of the agent.

agent.pyz LAUNCH FOLDER [--cache FOLDER] [--cache-bytes N] [--environments FOLDER] [--environments-bytes N]
          [--cgroup PATH]… [--container PATH]
    runs an attempt; LAUNCH is a file with the URL of the launch document
agent.pyz cell FILE DISPLAYS PARAMETERS [SENT RECEIVED NAMES]
    runs a cell's text; PARAMETERS are a JSON object of variables, SENT is the folder of those it is sent, RECEIVED
    where to leave those of NAMES
agent.pyz notebook FILE DISPLAYS EXECUTED PARAMETERS
    runs a notebook; EXECUTED is where it is written as it goes, PARAMETERS are a JSON object
agent.pyz compile TARGET
    writes itself with bytecode for this Python
"""

import sys


def main() -> int:
    """Do what the arguments say; the exit status of an attempt is its program's."""
    words = sys.argv[1:]
    if words[0] == "cell":
        from acai_jupyter.agent.cell import run

        return run(*words[1:7])
    if words[0] == "notebook":
        from acai_jupyter.agent.notebook import run as run_notebook

        return run_notebook(*words[1:5])
    if words[0] == "compile":
        from acai_jupyter.agent.compiling import compiled

        with open(sys.argv[0], "rb") as source, open(words[1], "wb") as target:
            target.write(compiled(source.read()))
        return 0
    from acai_jupyter.agent.attempt import Attempt, options
    from acai_jupyter.agent.launch import Launch
    from acai_jupyter.agent.stopping import Stop

    around = options(words[1:])
    stop = Stop()
    stop.listen()
    return Attempt(Launch(words[0], stop), around, stop).run()
