"""What can go wrong when bytes are moved.

TransferError        it could not be done
├── Unreachable      the store did not answer, or stopped in the middle
├── Refused          the store answered that it will not
├── WrongBytes       what came is not what was recorded
├── LostBytes        the store's object is missing, unreadable or too short
├── Changed          the source became another while it was read
├── DiskFull         there is no room for it here
└── Stopped          somebody asked to stop
"""

import errno
import os

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT}
_LOST = {errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EIO}


class TransferError(Exception):
    """Bytes could not be moved. A store that refused has said so in `answer`."""

    status = 0
    answer = b""

    def about(self, path: str) -> "TransferError":
        """Return the same error with the file named."""
        named = type(self)("'%s' could not be transferred: %s" % (path, self))
        named.status, named.answer = self.status, self.answer
        return named


class Unreachable(TransferError):
    """The store did not answer, or its answer ended too early."""


class Refused(TransferError):
    """The store answered with something else than the bytes."""


class WrongBytes(TransferError):
    """The bytes that came are not those that were recorded."""


class LostBytes(TransferError):
    """The store's object is missing, cannot be read, or ends before the bytes that were asked for."""


class Changed(TransferError):
    """The source became another file while it was read."""


class DiskFull(TransferError):
    """There is no room for it on this disk."""


class Stopped(TransferError):
    """It was ended between two files or pieces, as was asked for."""

    def about(self, path: str) -> TransferError:
        """Return itself: no file is at fault."""
        del path
        return self


_NOT_THERE = {400, 404, 410, 416}
"""What stores answer for an object that is missing or shorter than recorded."""


def may_be_damage(error: TransferError) -> bool:
    """Whether an error suggests that the store has lost or changed the bytes."""
    return isinstance(error, (WrongBytes, LostBytes)) or (isinstance(error, Refused) and error.status in _NOT_THERE)


def not_written(what: str, error: OSError) -> TransferError:
    """Return what to say when something here cannot be written."""
    if error.errno in _NO_ROOM:
        return DiskFull("%s cannot be written: the disk is full" % what)
    return TransferError("%s cannot be written: %s" % (what, _cause(error)))


def not_stored(error: OSError) -> TransferError:
    """Return what to say when the store's file on this disk cannot be read."""
    kind = LostBytes if error.errno in _LOST else TransferError
    return kind("the store's file cannot be read: %s" % _cause(error))


def not_read(what: str, error: OSError) -> TransferError:
    """Return what to say when something here cannot be read."""
    return TransferError("%s cannot be read: %s" % (what, _cause(error)))


def _cause(error: OSError) -> str:
    return os.strerror(error.errno) if error.errno else str(error)
