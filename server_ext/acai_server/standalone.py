"""The Jupyter server under `jupyter acai`: it serves the API of ACAI and nothing of Jupyter's own.

Jupyter lets an extension bring its own `ServerApp`. This one offers no services, loads no other extension and accepts
neither a Jupyter token nor a cookie; handlers of ACAI answer every path.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_server.auth.identity import IdentityProvider
from jupyter_server.serverapp import ServerApp
from jupyter_server.services.contents.manager import AsyncContentsManager
from traitlets import Int, Unicode

from acai_jupyter.contract.endpoints import BASE
from acai_server import __version__

if TYPE_CHECKING:
    from jupyter_server.auth.identity import User
    from tornado.web import RequestHandler

PACKAGE = "acai_server"
MAX_BUFFER_BYTES = 1024 * 1024


class TokensOnly(IdentityProvider):
    """Identifies no user: the handlers identify callers by the tokens of ACAI."""

    token = Unicode("", help="Always empty: there is no Jupyter token.")
    """Not configurable, so that no option, file or variable brings one back."""

    def get_user(self, handler: RequestHandler) -> User | None:
        """Return no user, whatever token or cookie the request has."""
        del handler
        return None

    @property
    def login_available(self) -> bool:
        """There is no login page."""
        return False

    @property
    def logout_available(self) -> bool:
        """There is no session to end."""
        return False


class StandaloneServer(ServerApp):
    """A `ServerApp` without kernels, sessions, contents, terminals, login pages and other extensions."""

    default_services = ()  # type: ignore[assignment]  # Jupyter annotates the names of its own
    no_browser_open_file = True
    max_buffer_size = Int(MAX_BUFFER_BYTES, config=True, help="What one connection may hold that no handler has read.")

    def init_server_extensions(self) -> None:
        """Load ACAI only, whatever the configuration of the machine's JupyterLab names."""
        self.jpserver_extensions = {PACKAGE: True}
        super().init_server_extensions()

    def init_configurables(self) -> None:
        """Replace the parts that would add handlers or identities."""
        self.identity_provider_class = TokensOnly
        self.contents_manager_class = AsyncContentsManager
        self.extra_services = []
        super().init_configurables()
        self.contents_manager.files_handler_class = None

    def load_server_extensions(self) -> None:
        """Answer every other path too: tornado asks these handlers before those that Jupyter always adds."""
        from acai_server.api.routes import NothingHandler

        super().load_server_extensions()
        self.web_app.add_handlers(".*$", [(r".*", NothingHandler)])  # type: ignore[no-untyped-call]  # as it is in Jupyter

    def init_httpserver(self) -> None:
        """Close connections on which no request arrives; what else they may hold is small, as all handlers stream."""
        super().init_httpserver()
        app: Any = self.starter_app
        self.http_server.conn_params.header_timeout = app.read_settings().header_timeout_seconds

    def running_server_info(self, kernel_count: bool = True) -> str:  # noqa: FBT002 (as Jupyter declares it)
        """Say where the API is, and which file holds the token of the first admin."""
        del kernel_count
        app: Any = self.starter_app
        settings = app.read_settings()
        address = f"{self.connection_url.rstrip('/')}{BASE}"
        if settings.url:
            return f"ACAI {__version__} passes requests on from {address} to {settings.url}."
        token = settings.data_folder / "token"
        return f"ACAI {__version__} serves its API at {address}. The first admin's token is in the file {token}."
