"""The small `acai_jupyter` of environments that lack the real one. Where there is a real one, it is that.

The agent's file carries this as the package of a folder of its own, which is the last place where a program looks.
"""

import importlib.util
import os
import sys
from importlib.machinery import ModuleSpec
from typing import Optional


def _real() -> Optional[ModuleSpec]:
    """Find what would have been imported without this."""
    name = "acai_jupyter"
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    known = sys.path
    sys.path = [place for place in known if os.path.abspath(place) != own]
    try:
        specs = (finder.find_spec(name, None) for finder in sys.meta_path if hasattr(finder, "find_spec"))
        return next((spec for spec in specs if spec is not None and spec.origin is not None), None)
    finally:
        sys.path = known


_spec = _real()
if _spec is not None and _spec.loader is not None:
    _module = importlib.util.module_from_spec(_spec)
    sys.modules["acai_jupyter"] = _module  # whoever imports gets what is here in the end
    _spec.loader.exec_module(_module)
else:
    from acai_jupyter.in_job import checkpoint_path, input_path, output_path, parameters, tag

    __all__ = ["checkpoint_path", "input_path", "output_path", "parameters", "tag"]
