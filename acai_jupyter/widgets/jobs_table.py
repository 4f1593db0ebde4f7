"""A list of jobs as a widget."""

from __future__ import annotations

import ipywidgets

from acai_jupyter.commands import markup
from acai_jupyter.widgets.following import client_of_views, follower, show_changes
from acai_jupyter.widgets.list_models import JobsModel


class JobsTable(ipywidgets.VBox):  # type: ignore[misc]  # ipywidgets ships no types
    """The jobs that a query is true of, renewed as things happen, and a field for another query."""

    def __init__(self, query: str = "", *, project: str | None = None) -> None:
        self.model = JobsModel(client_of_views(project), query)
        self._query = ipywidgets.Text(query, placeholder="which jobs, like: state = 'running'", continuous_update=False)
        self._query.layout.width = "440px"
        self._said = ipywidgets.HTML()
        self._table = ipywidgets.HTML()
        super().__init__([self._query, self._said, self._table])
        self._query.observe(lambda change: self._choose(change["new"]), "value")
        self.model.on_change = self._show
        self._show()
        show_changes(self.model, self.model.client)

    def close(self) -> None:
        """Take it away."""
        follower(self.model.client).remove(self.model)
        super().close()

    def _choose(self, query: str) -> None:
        self.model.choose(query)
        show_changes(self.model, self.model.client)

    def _show(self) -> None:
        self._table.value = self.model.html
        self._said.value = markup.below(self.model.error)
