"""Every error a user can meet, as one tree.

AcaiError
├── BadRequest                 400  usage
│   ├── BadSpec
│   │   └── BadName
│   ├── BadPath
│   ├── BadQuery
│   ├── BadAttribute
│   ├── BadSetting
│   └── JobRefused
├── NotSignedIn                401
├── NotAllowed                 403
├── NotFound                   404
│   ├── ProjectNotFound
│   ├── UserNotFound
│   ├── TokenNotFound
│   ├── GroupNotFound
│   ├── RestrictionNotFound
│   ├── FileSetNotFound
│   ├── FileNotFound
│   ├── JobNotFound
│   ├── SweepNotFound
│   ├── ProfileNotFound
│   ├── ModelNotFound
│   ├── UploadNotFound
│   └── ObjectNotFound
├── MethodNotAllowed           405
├── Conflict                   409
│   ├── HashMismatch
│   ├── Outdated
│   ├── BytesMissing
│   └── BlobQuarantined
├── TooLarge                   413
├── TooManyRows                413
├── TooManyKept                413
├── TooManyRequests            429
│   └── TooManyWaiting
├── TooManyStreams             429
├── TooManyUploads             429
├── SearchTooLong              422
├── ServerFault                500
├── Unavailable                503
│   ├── NotReady
│   ├── ServerUnreachable
│   │   └── ServerSilent   (client side: the server that was asked)
│   ├── ServerUntrusted    (client side: its certificate)
│   ├── SettingsBroken
│   ├── DatabaseNewer
│   ├── DatabaseBusy
│   ├── DatabaseBroken
│   ├── VersionMismatch
│   ├── StoreUnavailable
│   ├── StoreMismatch
│   ├── StoreUnclaimed
│   └── DeletionPaused
├── StoreFull                  507
├── NotWritten                 500 (client side: a file here)
└── JobFailed                  (client side: the job asked for did not finish)

A class's docstring is its message; the words in braces are its details. The code is stable, the sentence is not.
Over HTTP an error is ``{"error": {"code", "message", "details"}}``; `exit_status` is what a shell gets.
"""

from __future__ import annotations

from typing import Any, ClassVar

_SHOWN = 200


def printable(text: str) -> str:
    """Return a text so that it stands in one line, and a terminal does not obey it."""
    return text if text.isprintable() else ascii(text)[1:-1]


class AcaiError(Exception):
    """Something went wrong."""

    code: ClassVar[str] = "error"
    status: ClassVar[int] = 500
    exit_status: ClassVar[int] = 1

    def __init__(self, message: str | None = None, /, **details: Any) -> None:
        self.details = details
        self.message = message if message is not None else self._sentence(details)
        super().__init__(self.message)

    @classmethod
    def _sentence(cls, details: dict[str, Any]) -> str:
        return " ".join((cls.__doc__ or "").split()).format(**details)


class BadRequest(AcaiError):
    """The request is not understood: {reason}."""

    code, status, exit_status = "bad_request", 400, 2


class BadSpec(BadRequest):
    """'{spec}' is not a file spec: {reason}."""

    code = "bad_spec"

    @classmethod
    def _sentence(cls, details: dict[str, Any]) -> str:
        return super()._sentence(details | {"spec": printable(str(details["spec"]))})


class BadName(BadSpec):
    """'{spec}' cannot be the name of a file set or an alias: {reason}."""

    code = "bad_name"


class BadPath(BadRequest):
    """'{path}' cannot be a path in a project: {reason}."""

    code = "bad_path"


class BadQuery(BadRequest):
    """The query is not understood at column {column}: {reason}.{excerpt}"""

    code = "bad_query"


class BadAttribute(BadRequest):
    """'{key}' was not set on {thing}: {reason}."""

    code = "bad_attribute"


class BadSetting(BadRequest):
    """The setting {name} in {source} is not understood: {reason}."""

    code = "bad_setting"


class JobRefused(BadRequest):
    """The job was not submitted: {reason}."""

    code = "job_refused"


class NotSignedIn(AcaiError):
    """This needs a valid token. Set ACAI_TOKEN, or use a kernel or shell of the machine the server runs on."""

    code, status, exit_status = "not_signed_in", 401, 4


class NotAllowed(AcaiError):
    """{user} may not {action} here."""

    code, status, exit_status = "not_allowed", 403, 4


class NotFound(AcaiError):
    """There is nothing at {path}."""

    code, status, exit_status = "not_found", 404, 3


class ProjectNotFound(NotFound):
    """There is no project '{project}' for you."""

    code = "project_not_found"


class UserNotFound(NotFound):
    """There is no user '{user}' in this project."""

    code = "user_not_found"


class TokenNotFound(NotFound):
    """There is no token '{token}' of {user} in this project."""

    code = "token_not_found"


class GroupNotFound(NotFound):
    """There is no group '{group}' in this project."""

    code = "group_not_found"


class RestrictionNotFound(NotFound):
    """There is no restriction of '{what}' in this project."""

    code = "restriction_not_found"


class FileSetNotFound(NotFound):
    """There is no file set '{name}'.{hint}"""

    code = "file_set_not_found"


class FileNotFound(NotFound):
    """There is no file '{path}'.{hint}"""

    code = "file_not_found"


class JobNotFound(NotFound):
    """There is no job {job}."""

    code = "job_not_found"


class ProfileNotFound(NotFound):
    """No finished job has the profile '{template}'; 'acai profile list' names those there are."""

    code = "profile_not_found"


class ModelNotFound(NotFound):
    """The profile '{template}' has no model '{version}' that you may see; today's is '{latest}'."""

    code = "model_not_found"


class SweepNotFound(NotFound):
    """There is no job with the tag '{tag}'."""

    code = "sweep_not_found"


class UploadNotFound(NotFound):
    """There is no upload session '{upload}'."""

    code = "upload_not_found"


class ObjectNotFound(NotFound):
    """The object store has nothing under '{key}'."""

    code = "object_not_found"


class MethodNotAllowed(AcaiError):
    """{method} cannot be used on {path}."""

    code, status, exit_status = "method_not_allowed", 405, 2


class Conflict(AcaiError):
    """This cannot be done now: {reason}."""

    code, status, exit_status = "conflict", 409, 6


class HashMismatch(Conflict):
    """The bytes of {what} are not those that were announced (SHA-256 differs). Send them again."""

    code = "hash_mismatch"


class Outdated(Conflict):
    """'{key}' of {thing} was not changed: {by} {did} meanwhile. Look at it, then write again."""

    code = "outdated"

    @classmethod
    def of(cls, key: str, thing: str, by: str, found: str | float | None, **more: str) -> Outdated:
        """Say what somebody wrote; None where they took it away."""
        did = "took it away" if found is None else f"set it to '{printable(str(found))[:_SHOWN]}'"
        return cls(key=key, thing=thing, by=by, did=did, found=found, **more)


class BytesMissing(Conflict):
    """The bytes of '{path}' have not been sent, or the store has lost them. Run the same line again to send them."""

    code = "bytes_missing"


class BlobQuarantined(Conflict):
    """The stored bytes of '{what}', uploaded by {creator}, are damaged. Put a good copy of the file to heal it."""

    code = "blob_quarantined"


class SearchTooLong(AcaiError):
    """The search was ended after {seconds} s. Narrow it with another condition; '=' and '>' on a key are quick."""

    code, status, exit_status = "search_too_long", 422, 1


class TooLarge(AcaiError):
    """The request has {size_bytes} bytes; at most {limit_bytes} are taken."""

    code, status, exit_status = "too_large", 413, 2


class TooManyRequests(AcaiError):
    """{user} makes more than {limit} requests a second; the next one is taken in {seconds} s."""

    code, status, exit_status = "too_many_requests", 429, 5


class TooManyWaiting(TooManyRequests):
    """{limit} of your requests to the pool '{what}' are waiting already; ask again in {seconds} s."""

    code, status, exit_status = "too_many_waiting", 429, 5


class TooManyRows(AcaiError):
    """At most {limit} rows are answered at once; ask for so many, and then for those after the last."""

    code, status, exit_status = "too_many_rows", 413, 2


class TooManyKept(AcaiError):
    """{owner} has {limit} {things}, which is the most. Take one away that is not needed any more."""

    code, status, exit_status = "too_many_kept", 413, 2


class TooManyStreams(AcaiError):
    """{user} has {limit} streams of events open, the most for one user. Close pages or widgets that are not in use."""

    code, status, exit_status = "too_many_streams", 429, 5


class TooManyUploads(AcaiError):
    """{user} has {limit} uploads under way; more are not taken at once. A broken one counts for {minutes} minutes."""

    code, status, exit_status = "too_many_uploads", 429, 5


class ServerFault(AcaiError):
    """The server failed at this; its log has the cause under request {request_id}."""

    code, status, exit_status = "server_fault", 500, 1


class Unavailable(AcaiError):
    """The service is not available: {reason}."""

    code, status, exit_status = "unavailable", 503, 5


class NotReady(Unavailable):
    """ACAI is still starting. Try again in a moment."""

    code = "not_ready"


class ServerUnreachable(Unavailable):
    """No ACAI server can be reached{where}. Start JupyterLab or `jupyter acai`, or set ACAI_URL and ACAI_TOKEN."""

    code = "server_unreachable"


class ServerSilent(ServerUnreachable):
    """The ACAI server{where} did not answer in time. It may have much to do, or be paused: try again in a moment."""

    code = "server_silent"


class ServerUntrusted(Unavailable):
    """The certificate of {url} is not trusted here: {reason}. SSL_CERT_FILE names a file of those that are."""

    code = "server_untrusted"


class SettingsBroken(Unavailable):
    """ACAI is not running: {reason}."""

    code = "settings_broken"


class DatabaseNewer(Unavailable):
    """The database was written by a newer ACAI (revision {found}; this one knows {known}). Upgrade acai-jupyter."""

    code = "database_newer"


class DatabaseBusy(Unavailable):
    """The database did not answer in time: {reason}. Nothing was changed; try again."""

    code = "database_busy"


class DatabaseBroken(Unavailable):
    """The database is damaged: {reason}. Put a copy of it back, or restore a backup into an empty place.

    A new database refuses the object store of this one, which keeps all content until the right one is back.
    """

    code = "database_broken"


class VersionMismatch(Unavailable):
    """The server runs ACAI {server} and this Python has {client}. Upgrade acai-jupyter in {older}."""

    code = "version_mismatch"


class StoreUnavailable(Unavailable):
    """The object store does not answer: {reason}. Nothing was recorded; try again."""

    code = "store_unavailable"


class StoreMismatch(Unavailable):
    """The object store belongs to another database, and nothing in it was changed.

    Put the right database back, set another bucket, prefix or data folder, or run `acai-server adopt-store`.
    """

    code = "store_mismatch"


class StoreUnclaimed(Unavailable):
    """The object store {state}, and nothing that this database names is in it. Nothing in it was changed.

    Put the right database back, set another bucket, prefix or data folder, or run `acai-server adopt-store`.
    """

    code = "store_unclaimed"


class DeletionPaused(Unavailable):
    """No object was deleted: {reason}."""

    code = "deletion_paused"


class StoreFull(AcaiError):
    """There is no space left for {what}. Nothing was recorded; free some space and run the same line again."""

    code, status, exit_status = "store_full", 507, 1


class NotWritten(AcaiError):
    """{reason}. Nothing else was changed."""

    code, status, exit_status = "not_written", 500, 1


class JobFailed(AcaiError):
    """job {job} {state}{reason}"""

    code, exit_status = "job_failed", 1


def _tree(root: type[AcaiError]) -> dict[str, type[AcaiError]]:
    found = {root.code: root}
    for child in root.__subclasses__():
        found |= _tree(child)
    return found


BY_CODE = _tree(AcaiError)


def from_body(body: Any, status: int) -> AcaiError:
    """Turn an error body that came over HTTP into the error it tells of."""
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict) or not isinstance(error.get("message"), str):
        return Unavailable(reason=f"it answered {status} in a form that is not ACAI's")
    kind = BY_CODE.get(str(error.get("code")), AcaiError)
    details = error.get("details")
    return kind(error["message"], **(details if isinstance(details, dict) else {}))
