# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A child: a process that answers items, one after another, until it is told no more.

Items come as lines of JSON on the input, and results go as lines of JSON, each at once.
The last line of an item says that it is done, and whether the child can go on: after an
illegal address nothing of the process runs on a GPU any more.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable
from typing import Any

Record = dict[str, Any]
#: Gives the results of an item.
Answer = Callable[[Record], Iterable[Record]]
#: Of absolute paths.
FOLDERS = re.compile(r"(?<![\w./])/(?:[^\s/:,'\"]+/)+")


def first_line(error: BaseException) -> str:
    """Return what an error says, shortly."""
    lines = f"{type(error).__name__}: {error}".splitlines()
    return lines[0][:300]


def without_folders(value: Any) -> Any:
    """Return a result whose texts name files alone: where a machine has them is its own."""
    if isinstance(value, str):
        return FOLDERS.sub("", value)
    if isinstance(value, dict):
        return {key: without_folders(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_folders(entry) for entry in value]
    return value


def file_name(title: str) -> str:
    """Return a title in letters that a file's name may have."""
    return re.sub(r"[^\w.-]+", "_", title)


def serve(answer: Answer, is_well: Callable[[], bool] = lambda: True) -> None:
    """Answer the items of the input; `is_well` is asked after an error."""
    results = os.fdopen(os.dup(1), "w")
    # What libraries print is no result.
    os.dup2(2, 1)

    def say(record: Record) -> None:
        results.write(json.dumps(record) + "\n")
        results.flush()

    say({"ready": True})
    for line in sys.stdin:
        item = json.loads(line)
        had_error = False
        try:
            for record in answer(item):
                had_error = had_error or "error" in record
                say(record)
        except Exception as error:
            had_error = True
            say({"error": first_line(error)})
        goes_on = not had_error or is_well()
        say({"done": True, "goes_on": goes_on})
        if not goes_on:
            return
