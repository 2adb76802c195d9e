# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The error of f32 functions over all 2^32 arguments, in units in the last place.

The reference is computed in f64 by NumPy, and by SciPy for erf; its own error is
some 1e-9 of a unit of f32. A unit is the distance of the f32 numbers beside the
exact result. Where one of both is NaN or infinite the other has to be the same;
results below the normal numbers are told apart, as some flush.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

import metaops as mo
import numpy as np

Array = np.ndarray


def _erf(x: Array) -> Array:
    from scipy.special import erf

    return erf(x)


FUNCTIONS: dict[str, tuple[Callable[[mo.Var], mo.Var], Callable[[Array], Array]]] = {
    "exp": (mo.exp, np.exp),
    "log": (mo.log, np.log),
    "tanh": (mo.tanh, np.tanh),
    "erf": (mo.erf, _erf),
    "sin": (mo.sin, np.sin),
    "cos": (mo.cos, np.cos),
    "sqrt": (mo.sqrt, np.sqrt),
    "1 / x": (lambda x: 1 / x, lambda x: 1 / x),
    "1 / sqrt(x)": (lambda x: 1 / mo.sqrt(x), lambda x: 1 / np.sqrt(x)),
}

#: The smallest normal number and the smallest one of f32.
NORMAL, DENORMAL = float(np.finfo(np.float32).tiny), 2.0**-149


@dataclass
class Error:
    """The worst of many results.

    Attributes
    ----------
    ulps, at : float
        The largest error where the exact result and the argument are normal.
    tiny_ulps, tiny_at : float
        The same where one of them is not, in units of 2^-149 for results.
    wrong : int
        How often NaN or an infinity is on one side only.
    """

    ulps: float = 0.0
    at: float = 0.0
    tiny_ulps: float = 0.0
    tiny_at: float = 0.0
    wrong: int = 0

    def add(self, x: Array, given: Array, exact: Array) -> None:
        """Compare results with the exact ones."""
        with np.errstate(all="ignore"):
            rounded = exact.astype(np.float32)
            finite = np.isfinite(rounded) & np.isfinite(given)
            same = (rounded == given) | (np.isnan(rounded) & np.isnan(given))
            self.wrong += int(np.count_nonzero(~finite & ~same))
            unit = np.maximum(np.spacing(np.abs(rounded)).astype(np.float64), DENORMAL)
            ulps = np.where(finite, np.abs(given.astype(np.float64) - exact) / unit, 0.0)
        is_tiny = (np.abs(exact) < NORMAL) | (np.abs(x) < NORMAL)
        for tiny, most, place in ((False, "ulps", "at"), (True, "tiny_ulps", "tiny_at")):
            these = np.where(is_tiny == tiny, ulps, 0.0)
            worst = int(these.argmax())
            if these[worst] > getattr(self, most):
                setattr(self, most, float(these[worst]))
                setattr(self, place, float(x[worst]))


def measure(name: str, step: int = 1, chunk: int = 1 << 24) -> Error:
    """Return the error of a function over every `step`-th bit pattern of f32."""
    ours, reference = FUNCTIONS[name]
    error = Error()
    for start in range(0, 1 << 32, chunk * step):
        last = min(start + chunk * step, 1 << 32)
        x = np.arange(start, last, step, dtype=np.uint32).view(np.float32)
        with np.errstate(all="ignore"):
            exact = reference(x.astype(np.float64))
        error.add(x, ours(mo.array(x)).numpy(), exact)
    return error


def main() -> None:
    """Print a row for each function."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("functions", nargs="*", default=list(FUNCTIONS), metavar="function")
    parser.add_argument("--step", type=int, default=1, help="take every STEP-th argument")
    options = parser.parse_args()
    print("| function | largest error | at | with denormals | at | NaN or infinity wrong |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name in options.functions:
        error = measure(name, options.step)
        print(
            f"| `{name}` | {error.ulps:.2f} | {error.at:.9g} | {error.tiny_ulps:.3g}"
            f" | {error.tiny_at:.9g} | {error.wrong:,} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
