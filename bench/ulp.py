# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The error of f32 functions over all 2^32 arguments, in units in the last place.

The reference is computed in f64 by NumPy, and by SciPy for the error functions; its own error is
some 1e-9 of a unit of f32. A unit is the distance of the f32 numbers beside the
exact result. Where one of both is NaN or infinite the other has to be the same, and a zero
has to have its sign; arguments and results below the normal numbers are told apart.
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


def _erfc(x: Array) -> Array:
    from scipy.special import erfc

    return erfc(x)


def _erfinv(x: Array) -> Array:
    from scipy.special import erfinv

    # Each argument outside of the domain costs SciPy an exception.
    return erfinv(x, out=np.full_like(x, np.nan), where=abs(x) <= 1)


FUNCTIONS: dict[str, tuple[Callable[[mo.Var], mo.Var], Callable[[Array], Array]]] = {
    "exp": (mo.exp, np.exp),
    "exp2": (mo.exp2, np.exp2),
    "expm1": (mo.expm1, np.expm1),
    "log": (mo.log, np.log),
    "log2": (mo.log2, np.log2),
    "log10": (mo.log10, np.log10),
    "log1p": (mo.log1p, np.log1p),
    "tanh": (mo.tanh, np.tanh),
    "erf": (mo.erf, _erf),
    "sin": (mo.sin, np.sin),
    "cos": (mo.cos, np.cos),
    "tan": (mo.tan, np.tan),
    "asin": (mo.asin, np.arcsin),
    "acos": (mo.acos, np.arccos),
    "atan": (mo.atan, np.arctan),
    "sinh": (mo.sinh, np.sinh),
    "cosh": (mo.cosh, np.cosh),
    "asinh": (mo.asinh, np.arcsinh),
    "acosh": (mo.acosh, np.arccosh),
    "atanh": (mo.atanh, np.arctanh),
    "cbrt": (mo.cbrt, np.cbrt),
    "rsqrt": (mo.rsqrt, lambda x: 1 / np.sqrt(x)),
    "erfc": (mo.erfc, _erfc),
    "erfinv": (mo.erfinv, _erfinv),
    "sqrt": (mo.sqrt, np.sqrt),
    "1 / x": (lambda x: 1 / x, lambda x: 1 / x),
    "1 / sqrt(x)": (lambda x: 1 / mo.sqrt(x), lambda x: 1 / np.sqrt(x)),
    "sigmoid": (mo.sigmoid, lambda x: 1 / (1 + np.exp(-x))),
}

#: The smallest normal number of f32.
NORMAL = float(np.finfo(np.float32).tiny)


@dataclass
class Error:
    """The worst of many results, and their mean.

    Attributes
    ----------
    ulps, at : float
        The largest error where the exact result and the argument are normal.
    tiny_ulps, tiny_at : float
        The same where one of them is not, in units of 2^-149 for results.
    total, count : float, int
        The sum of the errors of the normal ones, and how many there are.
    wrong : int
        How often NaN or an infinity is on one side only, or a zero has the other sign.
    """

    ulps: float = 0.0
    at: float = 0.0
    tiny_ulps: float = 0.0
    tiny_at: float = 0.0
    total: float = 0.0
    count: int = 0
    wrong: int = 0

    @property
    def mean(self) -> float:
        """The mean error of the normal numbers."""
        return self.total / max(self.count, 1)

    def add(self, x: Array, given: Array, exact: Array) -> None:
        """Compare results with the exact ones."""
        with np.errstate(all="ignore"):
            rounded = exact.astype(np.float32)
            finite = np.isfinite(rounded) & np.isfinite(given)
            same = (rounded == given) | (np.isnan(rounded) & np.isnan(given))
            same &= (given != 0) | (np.signbit(rounded) == np.signbit(given)) | (rounded != 0)
            self.wrong += int(np.count_nonzero(~finite & ~same))
            self.wrong += int(np.count_nonzero((given == 0) & (rounded == 0) & ~same))
            unit = np.spacing(np.abs(rounded))
            ulps = np.where(finite, np.abs(given - exact) / unit, 0.0)
            is_tiny = (np.abs(exact) < NORMAL) | (np.abs(x) < NORMAL)
        normal = finite & ~is_tiny
        self.total += float(ulps.sum(where=normal))
        self.count += int(np.count_nonzero(normal))
        for these, most, place in ((normal, "ulps", "at"), (is_tiny, "tiny_ulps", "tiny_at")):
            masked = np.where(these, ulps, 0.0)
            worst = int(masked.argmax())
            if masked[worst] > getattr(self, most):
                setattr(self, most, float(masked[worst]))
                setattr(self, place, float(x[worst]))


def measure(name: str, every: int = 1, chunk: int = 1 << 14) -> Error:
    """Return the error of a function over every `every`-th bit pattern of f32."""
    ours, reference = FUNCTIONS[name]
    error = Error()
    for start in range(0, 1 << 32, chunk * every):
        last = min(start + chunk * every, 1 << 32)
        x = np.arange(start, last, every, dtype=np.uint32).view(np.float32)
        with np.errstate(all="ignore"):
            exact = reference(x.astype(np.float64))
        error.add(x, ours(mo.array(x)).numpy(), exact)
    return error


def main() -> None:
    """Print a row for each function."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("functions", nargs="*", default=list(FUNCTIONS), metavar="function")
    parser.add_argument(
        "--every", type=int, default=1, metavar="N", help="take every N-th argument"
    )
    options = parser.parse_args()
    print("| function | largest error | at | mean | with denormals | at | specials wrong |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name in options.functions:
        error = measure(name, options.every)
        print(
            f"| `{name}` | {error.ulps:.3f} | {error.at:.9g} | {error.mean:.3f}"
            f" | {error.tiny_ulps:.3f} | {error.tiny_at:.9g} | {error.wrong:,} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
