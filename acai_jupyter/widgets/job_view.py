"""One job as a widget."""

from __future__ import annotations

import ipywidgets

from acai_jupyter.commands import markup
from acai_jupyter.widgets.buttons import button
from acai_jupyter.widgets.following import client_of_views, follower, show_changes
from acai_jupyter.widgets.job_model import JobModel


class JobView(ipywidgets.VBox):  # type: ignore[misc]  # ipywidgets ships no types
    """A job's card, renewed as things happen: states, transfers, use, time and cost, and buttons for the rest."""

    def __init__(self, number: int, *, project: str | None = None) -> None:
        self.model = JobModel(client_of_views(project), number)
        self._card = ipywidgets.HTML()
        self._said = ipywidgets.HTML()
        self._below = ipywidgets.VBox()
        self._log: ipywidgets.HTML | None = None
        self._words: ipywidgets.Text | None = None
        self._kill = button("kill", self._on_kill)
        others = [
            button("log", self._on_log),
            button("provenance", self._on_provenance),
            button("run again", self._on_run_again),
        ]
        super().__init__([self._card, ipywidgets.HBox([*others, self._kill]), self._said, self._below])
        self.model.on_change = self._show
        self._show()
        show_changes(self.model, self.model.client)

    def close(self) -> None:
        """Take it away."""
        follower(self.model.client).remove(self.model)
        self._put_below()
        super().close()

    def _show(self) -> None:
        self._card.value = self.model.html
        self._kill.layout.display = None if self.model.is_live else "none"
        if self._log is not None and self._words is not None:
            self._log.value = self.model.log(self._words.value.strip())
        self._said.value = markup.below(self.model.error)

    def _on_log(self) -> None:
        if self._log is not None:
            self._put_below()
            self.model.forget_log()
            return
        log, words = ipywidgets.HTML(), ipywidgets.Text("", placeholder="search in the log")
        words.observe(lambda _: self._show(), "value")
        self._put_below(words, log)
        self._log, self._words = log, words
        self._show()

    def _on_provenance(self) -> None:
        drawn = self.model.provenance()
        if drawn is not None:
            self._put_below(ipywidgets.HTML(drawn))

    def _on_kill(self) -> None:
        if self._kill.description == "kill":
            self._kill.description = f"yes, end job {self.model.job.number}"
            return
        self._kill.description = "kill"
        self.model.kill()

    def _on_run_again(self) -> None:
        number = self.model.run_again()
        if number is not None:
            self._put_below(JobView(number, project=self.model.client.connection.project))

    def _put_below(self, *widgets: ipywidgets.Widget) -> None:
        """Show these in the place of what was there, which goes."""
        self._log = self._words = None
        before, self._below.children = self._below.children, widgets
        for one in before:
            one.close()
