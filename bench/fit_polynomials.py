# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The coefficients of lib/Conversion/VectorToLLVM/ElementaryFunctions.cpp.

Each polynomial makes the largest error of a function least, relative to the
function's value, on a grid that is dense at the ends: a linear program. The
coefficients are rounded to f32 one after another, from the lowest power on, and
each time the ones that are left are fitted anew, so that they make up for it.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog
from scipy.special import erf, erfc

Array = np.ndarray

#: Where the reduced argument of an exponential ends, and a little more.
HALF_LN2 = np.log(2) / 2 * 1.0005


def grid(low: float, high: float, count: int = 1500) -> Array:
    """Return the Chebyshev nodes of an interval."""
    angles = np.pi * (np.arange(count) + 0.5) / count
    return (low + high) / 2 + (high - low) / 2 * np.cos(angles)


def minimax(basis: Array, target: Array) -> Array:
    """Return the coefficients with the least largest error."""
    scale = np.abs(basis).max(axis=0)
    matrix = basis / scale
    count, terms = matrix.shape
    coefficients = np.zeros(terms)
    residual = target
    # The solver is accurate to 1e-7 or so: what is left is solved for again.
    for _ in range(4):
        size = np.abs(residual).max()
        bound = np.ones((count, 1))
        solution = linprog(
            np.append(np.zeros(terms), 1.0),
            A_ub=np.block([[matrix, -bound], [-matrix, -bound]]),
            b_ub=np.concatenate([residual, -residual]) / size,
            bounds=[(None, None)] * terms + [(0, None)],
        )
        better = residual - matrix @ solution.x[:-1] * size
        if np.abs(better).max() >= 0.999 * size:
            break
        coefficients += solution.x[:-1] * size
        residual = better
    return coefficients / scale


def fit(name: str, x: Array, powers: range, target: Array, weight: Array) -> None:
    """Print the polynomial of these powers of x that is next to `target`.

    The error is `weight` times that of the polynomial.
    """
    basis = np.stack([x**power for power in powers], axis=1) * weight[:, None]
    residual = target * weight
    coefficients: list[np.float32] = []
    for first in range(len(powers)):
        coefficients.append(np.float32(minimax(basis[:, first:], residual)[0]))
        residual = residual - np.float64(coefficients[-1]) * basis[:, first]
    error = np.log2(np.abs(residual).max())
    print(f"{name}: within 2^{error:.1f}")
    print("  " + ", ".join(f"{c:.9g}" for c in reversed(coefficients)))


def main() -> None:
    """Print the coefficients of all polynomials, that of the highest power first."""
    r = grid(-HALF_LN2, HALF_LN2)
    rest = np.expm1(r) - r
    fit("kExp, without its last two, which are 1", r, range(2, 7), rest, np.exp(-r))
    fit("kExpm1", r, range(2, 7), rest, 1 / np.abs(np.expm1(r)))

    t = grid(0.0, 3.95, 3000)
    t = t[t > 1e-3]
    with np.errstate(divide="ignore"):
        u = -np.where(t < 0.5, np.log1p(-erf(t)), np.log(erfc(t)))
    # erf = 1 - e^-u, so its relative error is that of u divided by e^u - 1.
    fit("kErf", t, range(1, 10), u - t, 1 / np.expm1(u))

    f = grid(np.sqrt(0.5) - 1 - 1e-4, np.sqrt(2) - 1 + 1e-4)
    log = np.log1p(f)
    fit(
        "kLog, without its last, which is -0.5",
        f,
        range(3, 11),
        log - f + f * f / 2,
        1 / np.abs(log),
    )


if __name__ == "__main__":
    main()
