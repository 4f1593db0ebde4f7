"""What changes for a cell when it imports things that expect a notebook: IPython's `display`, matplotlib's `show`.

And `multiprocessing`, whose processes that are started afresh import the main program. Nothing of them is imported
here; each is mended after the program has imported it.
"""

import builtins
import os
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Callable, Dict, Optional, Sequence

from acai_jupyter.agent.display_functions import DisplayHandle, Functions, classes
from acai_jupyter.agent.displays import Displays, is_figure

_Hook = Callable[[ModuleType], None]
_MAIN = "init_main_from_path"
"""What `multiprocessing` calls the program that a process which is started afresh is to import."""


def install(displays: Displays, definitions: str) -> None:
    """Let this process show things in `displays`, and those that it starts find a cell's `definitions`."""
    functions = Functions(displays)
    named = functions.named()

    def mend_ipython(module: ModuleType) -> None:
        for name, function in named.items():
            if hasattr(module, name):
                setattr(module, name, function)

    def mend_pyplot(module: ModuleType) -> None:
        module.show = lambda *_, **__: show_figures(displays)  # type: ignore[attr-defined]

    def mend_spawn(module: ModuleType) -> None:
        prepared = module.get_preparation_data

        def get_preparation_data(*args: Any, **known: Any) -> Dict[str, Any]:
            found: Dict[str, Any] = prepared(*args, **known)
            return {**found, _MAIN: definitions} if _MAIN in found else found

        module.get_preparation_data = get_preparation_data  # type: ignore[attr-defined]

    hooks: Dict[str, _Hook] = {
        "IPython.core.display_functions": mend_ipython,
        "IPython.core.display": mend_ipython,
        "matplotlib.pyplot": mend_pyplot,
        "multiprocessing.spawn": mend_spawn,
        "joblib.externals.loky.backend.spawn": mend_spawn,
        "loky.backend.spawn": mend_spawn,
    }
    os.environ.setdefault("MPLBACKEND", "agg")
    builtins.display = functions.display  # type: ignore[attr-defined]
    sys.meta_path.insert(0, _Mending(hooks))
    sys.meta_path.append(_StandIn(named))


def show_figures(displays: Displays) -> None:
    """Show the figures of matplotlib that are open, and close them."""
    pyplot: Any = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return
    for number in pyplot.get_fignums():
        displays.show(pyplot.figure(number))
    pyplot.close("all")


def is_open(value: Any) -> bool:
    """Whether it is a figure that `show_figures` will show."""
    pyplot: Any = sys.modules.get("matplotlib.pyplot")
    return is_figure(value) and pyplot is not None and pyplot.fignum_exists(getattr(value, "number", -1))


class _Mending(MetaPathFinder):
    """Finds modules as others do, and has a hook called when they were executed."""

    def __init__(self, hooks: Dict[str, _Hook]) -> None:
        self._hooks = hooks

    def find_spec(
        self, fullname: str, path: Optional[Sequence[str]] = None, target: Optional[ModuleType] = None
    ) -> Optional[ModuleSpec]:
        """See `importlib`."""
        if fullname not in self._hooks:
            return None
        others = (finder for finder in sys.meta_path if finder is not self and hasattr(finder, "find_spec"))
        spec = next(filter(None, (finder.find_spec(fullname, path, target) for finder in others)), None)
        if spec is not None and spec.loader is not None:
            spec.loader = _Mended(spec.loader, self._hooks[fullname])
        return spec


class _Mended(Loader):
    """A loader, and what is to be done after it."""

    def __init__(self, loader: Any, hook: _Hook) -> None:
        self._loader = loader
        self._hook = hook

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> Optional[ModuleType]:
        """See `importlib`."""
        made: Optional[ModuleType] = self._loader.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        """See `importlib`."""
        self._loader.exec_module(module)
        self._hook(module)


class _StandIn(MetaPathFinder, Loader):
    """An `IPython` with only its `display`, found where there is no real one."""

    def __init__(self, functions: Dict[str, Any]) -> None:
        self._functions = functions

    def find_spec(
        self, fullname: str, path: Optional[Sequence[str]] = None, target: Optional[ModuleType] = None
    ) -> Optional[ModuleSpec]:
        """See `importlib`."""
        del path, target
        if fullname not in ("IPython", "IPython.display"):
            return None
        return ModuleSpec(fullname, self, is_package=fullname == "IPython")

    def create_module(self, spec: ModuleSpec) -> Optional[ModuleType]:
        """See `importlib`."""
        del spec
        return None

    def exec_module(self, module: ModuleType) -> None:
        """See `importlib`."""
        if module.__name__ == "IPython":
            module.__dict__.update(get_ipython=lambda: None, version_info=(0, 0), **self._functions)
        else:
            module.__dict__.update(classes(), DisplayHandle=DisplayHandle, **self._functions)
