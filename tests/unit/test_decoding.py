"""Types are read in many threads at once, also when none of them has been read before."""

from __future__ import annotations

import subprocess
import sys

FIRST_USES = """
import importlib, pkgutil, sys, threading
import msgspec
import acai_jupyter.contract
from acai_jupyter.contract import decoding

for module in pkgutil.walk_packages(acai_jupyter.contract.__path__, "acai_jupyter.contract."):
    importlib.import_module(module.name)
kinds = [kind for kind in msgspec.Struct.__subclasses__() if kind.__module__.startswith("acai_jupyter.contract")]
kinds = [kind for kind in kinds if ".query." not in kind.__module__]  # trees of ours, which nobody sends
together = threading.Barrier(6)
sys.setswitchinterval(1e-6)

def use_all():
    for kind in kinds:
        together.wait()
        try:
            decoding.convert(dict.fromkeys(kind.__struct_encode_fields__, {}), kind)
        except msgspec.ValidationError:
            pass

threads = [threading.Thread(target=use_all) for _ in range(6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(kinds))
"""


def test_threads_that_meet_new_types_at_once_do_not_end_the_process() -> None:
    ran = subprocess.run([sys.executable, "-c", FIRST_USES], capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout) > 100
