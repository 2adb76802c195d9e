# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The coefficients of lib/Conversion/VectorToLLVM.

With `--wide`, those of WideFunctions.cpp and of `erfinv`, of f64: interpolation at
Chebyshev nodes, which is next to the best, for an error far below a unit of f32. With
`--approximate`, those of ApproximateFunctions.cpp, of what is rounded to halves; without,
those of ElementaryFunctions.cpp, of f32. Each polynomial of these two makes the largest
error of a function least, relative to the function's value, on a grid that is dense at the
ends: a linear program. The coefficients are rounded to f32 one after another, from the
lowest power on, and each time the ones that are left are fitted anew, so that they make
up for it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from scipy.optimize import linprog
from scipy.special import erf, erfc, erfcinv, erfcx

Array = np.ndarray

#: End of the reduced argument of an exponential, and a little more.
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


def series(coefficients: list[float]) -> Callable[[Array], Array]:
    """Return the polynomial of these coefficients, that of the power 0 first."""
    return np.polynomial.Polynomial(coefficients)


def taylor(first: int, sign: float, count: int = 20) -> Callable[[Array], Array]:
    """Return the sum of ``sign**k x**k / (first + 2k)!``; of every factorial if sign is 0."""
    step = 2 if sign else 1
    terms, factorial = [], 1.0
    for n in range(1, first + 1):
        factorial *= n
    for k in range(count):
        terms.append((sign or 1.0) ** k / factorial)
        for n in range(first + step * k + 1, first + step * (k + 1) + 1):
            factorial *= n
    return series(terms)


def erfinv_of_log(w: Array) -> Array:
    """Return erfinv(x) / x where ``w = -log(1 - x**2)``."""
    x = np.sqrt(-np.expm1(-w))
    rest = np.exp(-w) / (1.0 + x)
    return np.where(w < 1e-14, np.sqrt(np.pi) / 2, erfcinv(rest) / np.where(x == 0, 1.0, x))


def asin_rest(z: Array) -> Array:
    """Return ``(asin(t) - t) / t**3`` of ``z = t**2`` up to 1 / 4."""
    total, term = np.zeros_like(z), 1.0
    for k in range(1, 60):
        term *= (2 * k - 1) / (2 * k)
        total += term / (2 * k + 1) * z ** (k - 1)
    return total


def atan_ratio(z: Array) -> Array:
    """Return ``atan(t) / t`` of ``z = t**2``."""
    t = np.sqrt(np.maximum(z, 1e-16))
    return np.arctan(t) / t


#: The names, domains and degrees of f64 polynomials, and what they are next to.
WIDE = {
    # e^r and (e^r - 1 - r) / r^2.
    "kExp": ((-HALF_LN2, HALF_LN2), 8, np.exp),
    "kExpm1": ((-HALF_LN2, HALF_LN2), 7, taylor(2, 0.0)),
    # (atanh(s) - s) / s^3 of s^2, doubled.
    "kLog": ((0.0, 0.0295), 6, series([2 / (2 * k + 3) for k in range(12)])),
    # (sin(r) - r) / r^3 and (cos(r) - 1 + r^2 / 2) / r^4 of r^2.
    "kSin": ((0.0, 0.62), 4, lambda z: -taylor(3, -1.0)(z)),
    "kCos": ((0.0, 0.62), 4, taylor(4, -1.0)),
    # (asin(t) - t) / t^3 of t^2 and atan(t) / t of t^2.
    "kAsin": ((0.0, 0.25), 9, asin_rest),
    "kAtan": ((0.0, 1.0), 12, atan_ratio),
    # (t + 4) e^(t^2) erfc(t) of (t - 4) / (t + 4), t <= 10.2.
    "kErfc": ((-1.0, 6.2 / 14.2), 14, lambda u: 8 / (1 - u) * erfcx(4 * (1 + u) / (1 - u))),
    # erfinv(x) / x of w - 2.5 and of w^(1/2) - 3, where w = -log(1 - x^2).
    "kErfinv": ((-2.5, 2.5), 13, lambda v: erfinv_of_log(v + 2.5)),
    "kErfinvTail": ((np.sqrt(5) - 3, 4.1 - 3), 12, lambda v: erfinv_of_log((v + 3) ** 2)),
}


def print_wide() -> None:
    """Print the f64 coefficients, as C++, that of the highest power first."""
    for name, (domain, degree, function) in WIDE.items():
        chebyshev = np.polynomial.Chebyshev.interpolate(function, degree, domain=domain)
        power = chebyshev.convert(kind=np.polynomial.Polynomial)
        x = grid(*domain, 4001)
        error = np.log2(np.abs(power(x) / function(x) - 1).max())
        print(f"/// Within 2^{error:.1f}.")
        print(f"static constexpr double {name}[] = {{")
        print(",\n".join(f"    {c:.17g}" for c in reversed(power.coef)) + "};")


def print_approximate() -> None:
    """Print the coefficients of what is rounded to halves."""
    x = grid(0.0, 0.5)
    x = x[x > 1e-3]
    ratio = np.tanh(x) / x
    fit("kTanh", x * x, range(3), (ratio - 1) / x**2, x * x / ratio)
    x = grid(0.0, 0.7)
    x = x[x > 1e-3]
    fit("kShortErf", x * x, range(4), erf(x) / x, x / erf(x))
    t = grid(0.7, 3.0, 3000)
    fit("kLongErf", t, range(5), -np.log2(erfc(t)), np.log(2) * erfc(t) / erf(t))


def print_elementary() -> None:
    """Print the coefficients of f32."""
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


def main() -> None:
    """Print the coefficients of polynomials, that of the highest power first."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--wide", action="store_true", help="those of f64")
    kinds.add_argument("--approximate", action="store_true", help="those of halves on GPUs")
    options = parser.parse_args()
    if options.wide:
        print_wide()
    elif options.approximate:
        print_approximate()
    else:
        print_elementary()


if __name__ == "__main__":
    main()
