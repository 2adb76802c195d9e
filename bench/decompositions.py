# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Factors and spectra of matrices beside NumPy, and beside LAPACK called with nothing around.

One thread each, in processor time: contestants take turns, and the median is shown. All of
ours is recorded anew in each call. The tables are those of docs/LinearAlgebra.md. In that of
small matrices, PyTorch takes part where it is installed.

    OPENBLAS_NUM_THREADS=1 python bench/decompositions.py
"""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from statistics import median
from typing import Any

import metaops as mo
import numpy as np
from common import calls_for, interleave, repeat

#: Matrices of these numbers of rows, and how many of them.
SIZES = [(64, 1), (256, 1), (1024, 1), (8, 1000)]
#: Functions of many small matrices, and the numbers of rows of these.
SMALL = ("cholesky", "solve", "inv", "det", "solve_triangular"), (4, 8, 16)
#: Lengths of texts are what Fortran takes behind all arguments.
LENGTH = ctypes.c_size_t(1)


class Lapack:
    """LAPACK's functions for float32, with the workspaces that it asks for."""

    def __init__(self) -> None:
        backend = mo.linalg.backend()
        self.library = ctypes.CDLL(backend.path)
        self.integer = np.int64 if backend.integer_bits == 64 else np.int32

    def call(self, name: str, arguments: list[Any]) -> Callable[[], None]:
        """Return a call by the address of each argument: text, array or integer."""
        forms = ("scipy_s{}_64_", "s{}_64_", "scipy_s{}_", "s{}_")
        names = [form.format(name) for form in forms]
        function = next(getattr(self.library, x) for x in names if hasattr(self.library, x))
        kept = [np.array(x, self.integer) if isinstance(x, int) else x for x in arguments]
        places: list[Any] = [
            ctypes.c_char_p(x) if isinstance(x, bytes) else ctypes.c_void_p(x.ctypes.data)
            for x in kept
        ]
        places += [LENGTH for x in kept if isinstance(x, bytes)]

        def run() -> None:
            function(*places)
            assert kept[-1] == 0

        return run

    def floats(self, *shape: int) -> np.ndarray:
        """Return room for float32."""
        return np.zeros(shape, "float32")

    def integers(self, count: int) -> np.ndarray:
        """Return room for integers."""
        return np.zeros(count, self.integer)

    def qr(self, a: np.ndarray) -> Callable[[], None]:
        """Return the factors of one matrix, in columns."""
        n, x = len(a), a.copy()
        tau, work, size = self.floats(n), self.floats(64 * n), 64 * n
        factor = self.call("geqrf", [n, n, x, n, tau, work, size, self.integers(1)])
        make = self.call("orgqr", [n, n, n, x, n, tau, work, size, self.integers(1)])

        def run() -> None:
            x[:] = a
            factor()
            make()

        return run

    def eigh(self, a: np.ndarray) -> Callable[[], None]:
        """Return the eigenvalues and vectors of one matrix."""
        n, x, values = len(a), a.copy(), self.floats(len(a))
        sizes = 2 * n * n + 64 * n + 1, 5 * n + 3
        work, integers = self.floats(sizes[0]), self.integers(sizes[1])
        arguments = [b"V", b"U", n, x, n, values, work, sizes[0], integers, sizes[1]]
        decompose = self.call("syevd", [*arguments, self.integers(1)])

        def run() -> None:
            x[:] = a
            decompose()

        return run

    def eig(self, a: np.ndarray) -> Callable[[], None]:
        """Return the eigenvalues and vectors of one matrix of any kind."""
        n, x, size = len(a), a.copy(), 64 * len(a)
        left, right = self.floats(1), self.floats(n, n)
        arguments = [b"N", b"V", n, x, n, self.floats(n), self.floats(n), left, 1, right, n]
        decompose = self.call("geev", [*arguments, self.floats(size), size, self.integers(1)])

        def run() -> None:
            x[:] = a.T
            decompose()

        return run

    def svd(self, a: np.ndarray) -> Callable[[], None]:
        """Return the singular values and vectors of one matrix."""
        n, x, values = len(a), a.copy(), self.floats(len(a))
        u, vh, size = self.floats(n, n), self.floats(n, n), 4 * n * n + 64 * n
        arguments = [b"S", n, n, x, n, values, u, n, vh, n, self.floats(size), size]
        decompose = self.call("gesdd", [*arguments, self.integers(8 * n), self.integers(1)])

        def run() -> None:
            x[:] = a
            decompose()

        return run


def ours(name: str, a: np.ndarray) -> Callable[[], object]:
    """Return the function of `mo.linalg`, whose results are waited for."""
    function = getattr(mo.linalg, name)
    x = mo.array(a)
    if name == "svd":
        return lambda: mo.sync(list(function(x, False)))
    if name == "eig":
        return lambda: mo.sync([half for z in function(x) for half in (z.real, z.imag)])
    return lambda: mo.sync(list(function(x)))


def numpys(name: str, a: np.ndarray) -> Callable[[], object]:
    """Return NumPy's function."""
    function = getattr(np.linalg, name)
    return (lambda: function(a, False)) if name == "svd" else (lambda: function(a))


def timer(run: Callable[[], object]) -> Callable[[], float]:
    """Return a function that measures the processor seconds of a call."""
    calls = calls_for(run, 0.05)

    def measured() -> float:
        begin = time.process_time()
        repeat(run, calls)
        return (time.process_time() - begin) / calls

    return measured


def measure(name: str, rows: int, count: int, rounds: int) -> list[float]:
    """Return milliseconds of the contestants: ours, NumPy, LAPACK."""
    a = np.random.default_rng(rows).normal(size=(count, rows, rows)).astype("float32")
    if name == "eigh":
        a = a + a.swapaxes(1, 2)
    lapack = Lapack()
    bare = [getattr(lapack, name)(each) for each in a]
    matrices = a if count > 1 else a[0]
    runs: dict[str, Callable[[], object]] = {
        "ours": ours(name, matrices),
        "numpy": numpys(name, matrices),
        "lapack": lambda: [run() for run in bare],
    }
    timed = {key: timer(run) for key, run in runs.items()}
    times = interleave(timed, rounds)
    return [median(times[key]) * 1e3 for key in runs]


def small(name: str, rows: int) -> dict[str, Callable[[], object]]:
    """Return a call of each library for a thousand matrices, whose results agree."""
    rng = np.random.default_rng(rows)
    a = rng.normal(size=(1000, rows, rows)).astype("float32")
    b = rng.normal(size=(1000, rows, 1)).astype("float32")
    if name in ("cholesky", "solve_triangular"):
        a = a @ a.swapaxes(1, 2) + np.eye(rows, dtype="float32")
    if name == "solve_triangular":
        a = np.linalg.cholesky(a)
    given = [a, b] if "solve" in name else [a]
    tensors, function = [mo.array(x) for x in given], getattr(mo.linalg, name)
    calls: dict[str, Callable[[], object]] = {"ours": lambda: mo.sync(function(*tensors))}
    numpys = getattr(np.linalg, name, None)
    if numpys:
        calls["numpy"] = lambda: numpys(*given)
    if find_spec("torch"):
        import torch

        torch.set_num_threads(1)
        others, theirs = [torch.from_numpy(x) for x in given], getattr(torch.linalg, name)
        form = {"upper": False} if name == "solve_triangular" else {}
        calls["torch"] = lambda: theirs(*others, **form)
        expected, result = theirs(*others, **form).numpy(), function(*tensors).numpy()
        error = np.abs(result - expected).max(tuple(range(1, result.ndim)))
        size = np.abs(expected).max(tuple(range(1, result.ndim)))
        # Of matrices that are nearly singular, neither has many digits.
        assert np.median(error / size) < 1e-5
    return calls


def print_small(rounds: int) -> None:
    """Print the table of small matrices."""
    print("| float32, 1000 of them | MetaOps, ms | NumPy, ms | PyTorch, ms |")
    print("| --- | ---: | ---: | ---: |")
    names, sizes = SMALL
    for name in names:
        for rows in sizes:
            timed = {key: timer(run) for key, run in small(name, rows).items()}
            times = interleave(timed, rounds)
            columns = [
                f"{median(times[key]) * 1e3:.3g}" if key in times else ""
                for key in ("ours", "numpy", "torch")
            ]
            print(f"| `{name}`, {rows} x {rows} | {' | '.join(columns)} |", flush=True)


def main(rounds: int = 9) -> None:
    """Print the tables."""
    mo.set_num_threads(1)
    print_small(rounds)
    print("\n| | MetaOps, ms | NumPy, ms | LAPACK, ms |")
    print("| --- | ---: | ---: | ---: |")
    for name in ("qr", "eigh", "svd", "eig"):
        for rows, count in SIZES:
            what = f"{rows} x {rows}" + (f", {count} of them" if count > 1 else "")
            columns = " | ".join(f"{x:.3g}" for x in measure(name, rows, count, rounds))
            print(f"| `{name}`, {what} | {columns} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
