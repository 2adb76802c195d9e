# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files that are downloaded: whole, as their checksum tells, or not there."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from .._errors import at_line
from ..files.replacing import replaced

__all__ = ["check_file", "download"]

_PIECE = 1 << 20
_SECONDS = 60.0


def check_file(path: Path, md5: str) -> bool:
    """Return whether a file is there and has a checksum."""
    if not path.is_file():
        return False
    found = hashlib.md5(usedforsecurity=False)
    with open(path, "rb") as file:
        while piece := file.read(_PIECE):
            found.update(piece)
    return found.hexdigest() == md5


def download(urls: Sequence[str], path: Path, md5: str) -> None:
    """Download a file from the first of several places that has it.

    The file is there when all of it is, and is right.

    Parameters
    ----------
    urls
        The places.
    path
        Where it goes.
    md5
        Its checksum.

    Raises
    ------
    OSError
        If none has it, with what each said.
    """
    from http.client import HTTPException

    if check_file(path, md5):
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    failures = []
    for url in urls:
        try:
            _download_from(url, path, md5)
            return
        except (OSError, HTTPException) as error:
            failures.append(f"{url}: {error or type(error).__name__}")
    raise at_line(OSError(f"{path.name} is not downloaded: {'; '.join(failures)}"))


def _download_from(url: str, path: Path, md5: str) -> None:
    from urllib.request import urlopen

    found = hashlib.md5(usedforsecurity=False)
    with replaced(os.fspath(path)) as file, urlopen(url, timeout=_SECONDS) as source:
        while piece := source.read(_PIECE):
            found.update(piece)
            file.write(piece)
        if found.hexdigest() != md5:
            raise OSError(f"the checksum is {found.hexdigest()}, expected {md5}")
