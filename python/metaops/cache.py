# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The folder in which compiled code outlives the process."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from . import _core

__all__ = ["CacheUsage", "clear", "default_directory", "info", "prune"]

DEFAULT_MAX_BYTES: int = _core.cache_max_bytes
"""What the session itself keeps a folder below, roughly."""


class CacheUsage(NamedTuple):
    """What a folder holds, or what was removed from it.

    Attributes
    ----------
    kernels, programs : int
        Numbers of entries.
    temporaries : int
        Files that a process has not finished writing.
    bytes : int
        Size of all of these files.
    libraries : int
        Those of code of your own.
    """

    kernels: int
    programs: int
    temporaries: int
    bytes: int
    libraries: int = 0


def default_directory(environment: Mapping[str, str] = os.environ) -> str:
    """Return the folder that a new session uses, or "" for none.

    It is ``METAOPS_CACHE_DIR`` where that is set, and empty where that is;
    otherwise ``metaops`` in the user's folder for caches.
    """
    given = environment.get("METAOPS_CACHE_DIR")
    if given is not None:
        return os.path.abspath(os.path.expanduser(given)) if given else ""
    caches = environment.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(caches):  # as the standard asks
        caches = os.path.join(os.path.expanduser("~"), ".cache")
    # A user without a home has no cache.
    return os.path.join(caches, "metaops") if os.path.isabs(caches) else ""


def _resolve(folder: str | None) -> str:
    if folder is None:
        folder = default_directory()
    if not folder:
        raise ValueError("there is no cache folder: METAOPS_CACHE_DIR is empty")
    return os.path.abspath(folder)


def info(folder: str | None = None) -> CacheUsage:
    """Return what a folder holds.

    Parameters
    ----------
    folder
        By default that of `default_directory`.

    Raises
    ------
    RuntimeError
        If the folder cannot be read, or belongs to or can be written by other
        users, so that no session uses it.
    """
    from .extern.compiling import find_libraries

    usage = CacheUsage(**_core.cache_info(_resolve(folder)))
    count, size = find_libraries(_resolve(folder))
    return usage._replace(libraries=count, bytes=usage.bytes + size)


def clear(folder: str | None = None) -> CacheUsage:
    """Remove all compiled code from a folder, and return what it was.

    Other files in the folder stay. Sessions that use the folder go on. For the
    parameter and errors see `info`.
    """
    return _remove(_core.cache_clear(_resolve(folder)), folder, 0)


def prune(max_bytes: int = DEFAULT_MAX_BYTES, folder: str | None = None) -> CacheUsage:
    """Remove what was used least recently, and return what it was.

    Parameters
    ----------
    max_bytes
        How much may stay.
    folder
        See `info`, also for errors.

    Raises
    ------
    ValueError
        If `max_bytes` is negative.
    """
    return _remove(_core.cache_prune(_resolve(folder), max_bytes), folder, max_bytes)


def _remove(removed: Mapping[str, int], folder: str | None, max_bytes: int) -> CacheUsage:
    """Remove libraries, too, and return all that was."""
    from .extern.compiling import remove_libraries

    count, size = remove_libraries(_resolve(folder), max_bytes)
    usage = CacheUsage(**removed)
    return usage._replace(libraries=count, bytes=usage.bytes + size)
