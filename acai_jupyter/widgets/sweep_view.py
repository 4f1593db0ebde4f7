"""A sweep as a widget."""

from __future__ import annotations

import ipywidgets

from acai_jupyter.commands import markup
from acai_jupyter.widgets.buttons import button
from acai_jupyter.widgets.following import client_of_views, follower, show_changes
from acai_jupyter.widgets.list_models import SweepModel


class SweepView(ipywidgets.VBox):  # type: ignore[misc]  # ipywidgets ships no types
    """The jobs of a sweep with parameters and metrics, renewed as they end, how much is done, a button to end all."""

    def __init__(self, tag: str, *, project: str | None = None) -> None:
        self.model = SweepModel(client_of_views(project), tag)
        self._bar = ipywidgets.FloatProgress(max=1.0)
        self._kill = button("kill all", self._on_kill)
        self._said = ipywidgets.HTML()
        self._table = ipywidgets.HTML()
        super().__init__([ipywidgets.HBox([self._bar, self._kill]), self._said, self._table])
        self.model.on_change = self._show
        self._show()
        show_changes(self.model, self.model.client)

    def close(self) -> None:
        """Take it away."""
        follower(self.model.client).remove(self.model)
        super().close()

    def _show(self) -> None:
        self._bar.value = self.model.share
        for widget in (self._bar, self._kill):
            widget.layout.display = None if self.model.is_live else "none"
        self._table.value = self.model.html
        self._said.value = markup.below(self.model.error)

    def _on_kill(self) -> None:
        if self._kill.description == "kill all":
            self._kill.description = f"yes, end all jobs of {self.model.tag}"
            return
        self._kill.description = "kill all"
        self.model.kill()
