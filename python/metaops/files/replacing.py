# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files that are replaced as a whole, once all of the new one is on the disk.

The new one is written beside the old one, under a name that nobody has, and locked as long
as its writer lives. So whoever writes next to it sees which of such files are those of
writers that were killed, and removes them.
"""

from __future__ import annotations

import contextlib
import fcntl
import glob
import os
import re
import secrets
from collections.abc import Iterator
from typing import BinaryIO

__all__ = ["replaced"]

_SUFFIX = re.compile(r"\.[0-9a-f]{8}\.part")


@contextlib.contextmanager
def replaced(path: str) -> Iterator[BinaryIO]:
    """Yield a file to be written, which becomes that of a path unless the scope fails."""
    _remove_abandoned(path)
    descriptor, name = _create_beside(path)
    with open(descriptor, "w+b") as file:
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise


def _create_beside(path: str) -> tuple[int, str]:
    """Create a file with the permissions of any new one; return its descriptor and name."""
    while True:
        name = f"{path}.{secrets.token_hex(4)}.part"
        with contextlib.suppress(FileExistsError):
            descriptor = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
            if _lock(descriptor, 0) and os.fstat(descriptor).st_nlink:
                return descriptor, name
            # Another writer has removed it before it was locked.
            os.close(descriptor)


def _lock(descriptor: int, flags: int) -> bool:
    """Lock a file; tell whether another process has it. Some file systems have no locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | flags)
    except BlockingIOError:
        return False
    except OSError:
        return not flags
    return True


def _remove_abandoned(path: str) -> None:
    """Remove what writers of a path have left that were killed."""
    for name in glob.iglob(f"{glob.escape(path)}.*.part"):
        if not _SUFFIX.fullmatch(name[len(path) :]):
            continue
        with contextlib.suppress(OSError):
            descriptor = os.open(name, os.O_RDWR | os.O_CLOEXEC)
            try:
                if _lock(descriptor, fcntl.LOCK_NB):
                    os.unlink(name)
            finally:
                os.close(descriptor)
