"""The seam between users and those who vouch for them."""

from __future__ import annotations

from typing import Protocol


class Identity(Protocol):
    """Somebody outside who knows people, and whom the operator has named. Thread-safe; may ask over the network."""

    def whose(self, shown: str) -> str:
        """Return the user name of whoever was given what is shown.

        What is not valid, or was given for something else, raises `NotSignedIn`; who cannot be asked, `Unavailable`.
        """
        ...
