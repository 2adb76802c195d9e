# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fourier transforms beside PyTorch's and NumPy's: times, errors, first calls.

Times are those of a call with one thread, recording included, by turns in one process. Errors
are root mean squares of the difference from NumPy's transform in f64, over those of the results.
First calls are of lengths that nobody has asked for before. PyTorch takes part where it is
installed.

    python bench/fourier.py [--quick] [--longest 24] [--output FOLDER]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

import metaops as mo
import numpy as np
from common import Table, compare_steps, repeated, seconds, write_report


class Row(NamedTuple):
    """A transform of numbers of a shape."""

    function: str
    shape: Sequence[int]

    def make(self) -> np.ndarray[Any, Any]:
        """Return numbers for it, in single precision."""
        rng = np.random.default_rng(0)
        x = rng.normal(size=self.shape)
        if self.function.startswith(("rfft", "stft", "dct")):
            return x.astype("float32")
        return (x + 1j * rng.normal(size=self.shape)).astype("complex64")

    def __str__(self) -> str:
        return f"{self.function} of {' x '.join(f'{n:,}' for n in self.shape)}"


ROWS = [
    Row("fft", (64, 1 << 10)),
    Row("fft", (1 << 20,)),
    Row("fft", (64, 1009)),
    Row("fft2", (16, 256, 256)),
    Row("fft", (1 << 10,)),
    Row("fft", (4096, 60)),
    Row("rfft", (64, 1 << 10)),
    Row("rfft", (1 << 20,)),
    Row("rfft2", (16, 256, 256)),
    Row("stft", (8, 1 << 15)),
    Row("dct", (64, 1 << 10)),
]

#: Windows of `stft`, and the elements from one to the next.
WINDOW, HOP = 512, 128


def windows(given: np.ndarray[Any, Any]) -> dict[str, Callable[[], object]]:
    """Return calls of the transform of windows, which NumPy does not have."""
    x, weights = mo.array(given), np.hanning(WINDOW + 1)[:-1].astype("float32")
    window = mo.array(weights)
    mo.sync([x, window])
    calls: dict[str, Callable[[], object]] = {
        "MetaOps": lambda: mo.sync(mo.fft.stft(x, WINDOW, HOP, window=window))
    }
    if find_spec("torch"):
        import torch

        torch.set_num_threads(1)
        y, theirs = torch.from_numpy(given), torch.from_numpy(weights)
        form = {"window": theirs, "return_complex": True}
        calls["PyTorch"] = lambda: torch.stft(y, WINDOW, HOP, **form)
        ours = mo.fft.stft(x, WINDOW, HOP, window=window).numpy()
        expected = torch.stft(y, WINDOW, HOP, **form).numpy()
        assert np.abs(ours - expected).max() < 1e-5 * np.abs(expected).max()
    return calls


def cosines(given: np.ndarray[Any, Any]) -> dict[str, Callable[[], object]]:
    """Return calls of the cosine transform, which PyTorch does not have."""
    x = mo.array(given)
    mo.sync(x)
    calls: dict[str, Callable[[], object]] = {"MetaOps": lambda: mo.sync(mo.fft.dct(x))}
    if find_spec("scipy"):
        from scipy.fft import dct

        calls["SciPy"] = lambda: dct(given)
    return calls


def libraries(row: Row) -> dict[str, Callable[[], object]]:
    """Return a call of each library's function, which ends when its values are there."""
    given = row.make()
    if row.function in ("stft", "dct"):
        return windows(given) if row.function == "stft" else cosines(given)
    ours, x = getattr(mo.fft, row.function), mo.array(given)
    mo.sync(x)
    calls: dict[str, Callable[[], object]] = {"MetaOps": lambda: mo.sync(ours(x))}
    if find_spec("torch"):
        import torch

        torch.set_num_threads(1)
        theirs, y = getattr(torch.fft, row.function), torch.from_numpy(given)
        calls["PyTorch"] = lambda: theirs(y)
    calls["NumPy"] = lambda: getattr(np.fft, row.function)(given)
    return calls


def measure_times(rounds: int, target: float) -> Table:
    """Return the milliseconds of a call."""
    names = [*libraries(ROWS[0]), "SciPy"]
    table = Table("Fourier transforms in f32, in milliseconds", ["transform", *names])
    for row in ROWS:
        steps = {name: repeated(call) for name, call in libraries(row).items()}
        times = compare_steps(steps, rounds, target)
        table.add(str(row), *(times[name] * 1e3 if name in times else "" for name in names))
    return table


def measure_errors(longest: int) -> Table:
    """Return errors in f32 and f64."""
    columns = ["length", "f32", "NumPy, f32", "f64", "NumPy, f64"]
    table = Table("Errors of transforms, by root mean squares", columns)
    lengths = [2**k for k in range(4, longest + 1, 4)]
    for n in (*lengths, 1000, 1009, 99991, 1000003):
        rng = np.random.default_rng(n)
        exact = rng.normal(size=n) + 1j * rng.normal(size=n)
        row: list[Any] = [f"{n:,}"]
        for dtype in ("complex64", "complex128"):
            given = exact.astype(dtype)
            # In extended precision, as exact as can be.
            expected = np.fft.fft(given.astype("clongdouble"))
            for result in (mo.fft.fft(mo.array(given)).numpy(), np.fft.fft(given)):
                error = np.sqrt(np.mean(np.abs(result - expected) ** 2))
                row.append(float(error / np.sqrt(np.mean(np.abs(expected) ** 2))))
        table.add(*row)
    return table


def measure_first_calls() -> Table:
    """Return the milliseconds of first calls, in order."""
    table = Table("First calls of lengths, in milliseconds", ["length", "MetaOps", "NumPy"])
    for n in (1000, 1 << 16, 99991, 1 << 20, 1000003):
        given = Row("fft", (n,)).make()
        x = mo.array(given)
        mo.sync(x)
        ours = seconds(lambda x=x: mo.sync(mo.fft.fft(x)))  # type: ignore[misc]
        theirs = seconds(lambda given=given: np.fft.fft(given))  # type: ignore[misc]
        table.add(f"{n:,}", ours * 1e3, theirs * 1e3)
    return table


def main() -> None:
    """Measure, and print tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer turns, shorter lengths")
    parser.add_argument("--longest", type=int, default=24, help="the largest power of 2")
    parser.add_argument("--output", help="a folder for the tables")
    arguments = parser.parse_args()
    rounds, target = (3, 0.05) if arguments.quick else (9, 0.2)
    mo.set_num_threads(1)
    tables = [
        measure_first_calls(),
        measure_times(rounds, target),
        measure_errors(16 if arguments.quick else arguments.longest),
    ]
    write_report("fourier", tables, arguments.output)


if __name__ == "__main__":
    main()
