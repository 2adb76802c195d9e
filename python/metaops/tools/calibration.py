# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How fast this machine is, for predictions of time.

What is measured is told to nobody but `explain` and the profiler: kernels are
the same on a machine that was calibrated and on one that was not.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import _core, cache
from .._core import Var
from ..ops.elementwise import functions
from .profiler import profile_scope

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["calibrate", "load", "save"]

FILE_NAME = "machine.json"

#: Elements of the arrays that instructions are measured on: they stay in L1.
_ELEMENTS = 2048
#: Footprints in bytes in the middle of each level.
_FOOTPRINTS = (16 << 10, 512 << 10, 8 << 20, 512 << 20)


def _time(make: Callable[[], Var], repeats: int = 7) -> tuple[float, dict[str, int]]:
    """Return nanoseconds of the fastest call of a kernel, and its instructions."""
    from .explaining import explain

    (kernel,) = explain(make()).kernels
    with profile_scope(timeline=False) as report:
        for _ in range(repeats):
            make().sync()
    (measured,) = report.kernels
    return measured.min_seconds * 1e9, kernel.instructions


def _per_instruction(name: str, function: Callable[[Var], Var], figures: dict[str, Any]) -> float:
    """Return nanoseconds of an instruction of a class, from a short and a long array."""
    short, long = (_core.random((count,)) for count in (_ELEMENTS, 9 * _ELEMENTS))
    _core.sync([short, long])
    few, before = _time(lambda: function(short))
    many, after = _time(lambda: function(long))
    rest = sum(
        (after[other] - before[other]) * figures["nanoseconds"][other]
        for other in before
        if other != name
    )
    return max((many - few - rest) / max(after[name] - before[name], 1), 0.01)


def _polynomial(x: Var) -> Var:
    y = x
    for _ in range(64):
        y = y * x + 0.5
    return y


def _classes() -> dict[str, Callable[[Var], Var]]:
    return {
        "arithmetic": _polynomial,
        "divide": lambda x: functions.sqrt(x) / (x + 1.0),
        "exp": lambda x: functions.exp(x),
        "log": lambda x: functions.log(x + 1.0),
        "tanh": lambda x: functions.tanh(x),
        "erf": lambda x: functions.erf(x),
        "library_call": lambda x: functions.sin(x),
    }


def calibrate() -> dict[str, Any]:
    """Measure this machine, use the figures in this process, and return them.

    Takes some seconds, on one thread and best on a machine that does nothing
    else. `save` keeps the figures for later processes.

    Returns
    -------
    dict
        ``bandwidth`` in bytes per nanosecond from L1, L2, L3 and memory,
        ``nanoseconds`` of an instruction of each class, and of a call.
    """
    threads = _core.get_num_threads()
    _core.set_num_threads(1)
    try:
        figures: dict[str, Any] = _core.machine_figures()
        one = _core.random((16,))
        one.sync()
        figures["call_nanoseconds"] = _time(lambda: one + 1.0, 50)[0]
        for name, function in _classes().items():
            figures["nanoseconds"][name] = _per_instruction(name, function, figures)
        figures["bandwidth"] = [_bandwidth(size, figures) for size in _FOOTPRINTS]
    finally:
        _core.set_num_threads(threads)
    _core.set_machine_figures(figures)
    return figures


def _bandwidth(footprint: int, figures: dict[str, Any]) -> float:
    """Return bytes per nanosecond of a copy: as many are read as are written."""
    x = _core.random((footprint // 8,))
    x.sync()
    # The negative of a number takes no time beside its load and store.
    nanoseconds, _ = _time(lambda: -x)
    return footprint / max(nanoseconds - figures["call_nanoseconds"], 1.0)


def path(folder: str | None = None) -> Path | None:
    """Return the file of the figures, or None where nothing is kept on disk."""
    from pathlib import Path

    folder = cache.default_directory() if folder is None else folder
    return Path(folder) / FILE_NAME if folder else None


def save(figures: dict[str, Any], folder: str | None = None) -> Path | None:
    """Write figures to the cache folder, where later processes find them."""
    import json

    file = path(folder)
    if file:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = file.with_name(f"{file.name}.{os.getpid()}")
        temporary.write_text(json.dumps(figures, indent=2) + "\n")
        temporary.replace(file)
    return file


def load(folder: str | None = None) -> bool:
    """Use the figures of the cache folder, if there are any that can be read."""
    folder = cache.default_directory() if folder is None else folder
    file = os.path.join(folder, FILE_NAME)
    # Each import of the package looks for it, and most find none.
    if not (folder and os.path.exists(file)):
        return False
    import json

    try:
        with open(file) as opened:
            _core.set_machine_figures(json.load(opened))
    except (OSError, ValueError, TypeError, RuntimeError):
        return False
    return True
