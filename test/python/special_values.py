# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes data/special_values.txt: special functions and their derivatives, in 60 digits.

    python test/python/special_values.py

It needs mpmath, which no test imports. A line has a function's name, its arguments, its value,
and by each argument in turn the first and the second derivative. All arguments are numbers of
float32.
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterator

import mpmath as mp
import numpy as np

PATH = pathlib.Path(__file__).parent / "data" / "special_values.txt"
mp.mp.dps = 60
RNG = np.random.default_rng(7)


def near(*seams: float) -> list[float]:
    """Return numbers of float32 at seams, and those beside them."""
    ends = [np.float32(x) for x in seams]
    sides = [np.nextafter(x, np.float32(s), dtype="f4") for x in ends for s in (-9e9, 9e9)]
    return [float(x) for x in [*ends, *sides]]


def uniform(low: float, high: float, count: int) -> list[float]:
    """Return uniform numbers."""
    return list(RNG.uniform(low, high, count))


def powers(low: float, high: float, count: int) -> list[float]:
    """Return powers of 10 with uniform exponents."""
    return list(10.0 ** RNG.uniform(low, high, count))


def both(x: list[float]) -> list[float]:
    """Return every other number with the other sign."""
    return [-y if k % 2 else y for k, y in enumerate(x)]


def bessel(order: int, is_scaled: bool) -> Callable[..., mp.mpf]:
    """Return a modified Bessel function, or that times ``exp(-abs(x))``."""
    return lambda x: mp.besseli(order, x) * (mp.exp(-abs(x)) if is_scaled else 1)


def share(x: mp.mpf) -> mp.mpf:
    """Return the share of normal numbers below x."""
    return mp.erfc(-x / mp.sqrt(2)) / 2


def quantile(p: mp.mpf) -> mp.mpf:
    """Return the inverse of `share`."""
    if p > 0.5:
        return -quantile(1 - p)
    guess = -mp.sqrt(-2 * mp.log(p) - mp.log(-4 * mp.pi * mp.log(p))) if p < 0.05 else p - 0.5
    return mp.findroot(lambda x: mp.log(share(x)) - mp.log(p), guess, solver="newton")


def log_share(x: mp.mpf) -> mp.mpf:
    """Return the logarithm of `share`, with all digits."""
    return mp.log1p(-share(-x)) if x > 0 else mp.log(share(x))


def gamma_share(a: mp.mpf, x: mp.mpf) -> mp.mpf:
    """Return the regularised lower incomplete gamma function."""
    return mp.gammainc(a, 0, x, regularized=True)


def gamma_rest(a: mp.mpf, x: mp.mpf) -> mp.mpf:
    """Return the upper one."""
    return mp.gammainc(a, x, mp.inf, regularized=True)


def beta_share(a: mp.mpf, b: mp.mpf, x: mp.mpf) -> mp.mpf:
    """Return the regularised incomplete beta function."""
    return mp.betainc(a, b, 0, x, regularized=True)


FUNCTIONS: dict[str, Callable[..., mp.mpf]] = {
    "betainc": beta_share,
    "entr": lambda x: -x * mp.log(x),
    "gammainc": gamma_share,
    "gammaincc": gamma_rest,
    "i0": bessel(0, False),
    "i0e": bessel(0, True),
    "i1": bessel(1, False),
    "i1e": bessel(1, True),
    "log_ndtr": log_share,
    "ndtr": share,
    "ndtri": quantile,
    "xlog1py": lambda x, y: x * mp.log1p(y),
    "zeta": lambda x, q: mp.zeta(x, q),
}


def gamma_points() -> Iterator[tuple[float, float]]:
    """Return points about the mean, far from it, and at the seams of the pieces."""
    for a in [*powers(-3, 4, 24), *near(4, 10)]:
        yield a, abs(a + RNG.normal(0, 2) * a**0.5) if a > 4 else RNG.uniform(0, 9)
    for a in powers(-2, 2, 10):
        yield a, a * 10.0 ** RNG.uniform(-1, 0.7)
    for x in near(0.3, 0.5):
        yield 0.2, x
        yield 0.6, x
    for x in near(2.5):
        yield 2.5, x
    for a in powers(-5, -1, 8):
        yield a, a * 10.0 ** RNG.uniform(0, 2)


def beta_points() -> Iterator[tuple[float, float, float]]:
    """Return the same in three dimensions."""
    for a, b in zip(powers(-2, 3, 30), powers(-2, 3, 30), strict=True):
        mean = a / (a + b)
        width = (mean * (1 - mean) / (a + b + 1)) ** 0.5
        yield a, b, min(max(mean + width * RNG.normal(0, 2), mean / 20), 1 - (1 - mean) / 20)
    for x in near(0.1, 0.5, 0.9):
        yield 0.3, 0.4, x
        yield 3, 20, x
    for a in near(4, 10):
        yield a, 12, 0.25
        yield 12, a, 0.75


def points() -> dict[str, list[tuple[float, ...]]]:
    """Return the arguments for each function."""
    numbers = [*near(8, -8), *uniform(-9, 9, 16), *both(powers(-6, 0, 8))]
    numbers += uniform(-88, 88, 12)
    normal = [*uniform(-6, 6, 24), *both(powers(-5, 0, 8)), *uniform(-12, -6, 8), 0.0]
    shares = [*uniform(0, 1, 16), *powers(-30, 0, 16), *near(0.075, 0.925), 0.5, 0.99999]
    pairs = zip([*powers(0.01, 1.2, 24), 1.001, 40], [*powers(-2, 4, 24), 1, 1], strict=True)
    far = [-20.0, -100.0, -1e4, -3e9]
    single = {
        "entr": [*powers(-30, 30, 24), 1.0],
        "i0": numbers,
        "i0e": [*numbers, *powers(2, 9, 8)],
        "i1": numbers,
        "i1e": [*numbers, *powers(2, 9, 8)],
        "log_ndtr": [*normal, *near(-16.0), *far, 9.0],
        "ndtr": [*normal, 9.0],
        "ndtri": shares,
    }
    above = [*uniform(-1, 5, 16), *both(powers(-9, -1, 8)), *powers(0, 9, 6)]
    products = zip(uniform(-3, 3, 30), above, strict=True)
    return {name: [(x,) for x in numbers] for name, numbers in single.items()} | {
        "betainc": list(beta_points()),
        "gammainc": list(gamma_points()),
        "gammaincc": list(gamma_points()),
        "xlog1py": list(products),
        "zeta": list(pairs),
    }


def along(f: Callable[..., mp.mpf], numbers: list[mp.mpf], k: int) -> list[mp.mpf]:
    """Return the first and the second derivative by one of several numbers."""
    # Numbers beside it are on the same side of a corner at 0.
    step = (abs(numbers[k]) or 1) * mp.mpf(10) ** -24
    with mp.workdps(150):
        return [
            mp.diff(lambda x: f(*numbers[:k], x, *numbers[k + 1 :]), numbers[k], n, h=step)
            for n in (1, 2)
        ]


def rows() -> Iterator[str]:
    """Return the lines of the file."""
    for name, arguments in sorted(points().items()):
        f = FUNCTIONS[name]
        for given in arguments:
            numbers = [mp.mpf(float(np.float32(x))) for x in given]
            row = [f(*numbers)]
            for k in range(len(numbers)):
                row += along(f, numbers, k)
            texts = [f"{x:.9g}" for x in map(float, numbers)] + [mp.nstr(x, 18) for x in row]
            yield " ".join([name, *texts])


if __name__ == "__main__":
    header = "# Written by special_values.py: a function, arguments, the value, derivatives.\n"
    PATH.write_text(header + "".join(f"{row}\n" for row in rows()))
