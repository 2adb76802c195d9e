# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Derivatives of the first to the third order where formulas have seams, ties or bounds."""

import math

import metaops as mo
import numpy as np
import pytest
from util import close, same

INF, NAN, PI = math.inf, math.nan, math.pi
L2, L10 = math.log(2), math.log(10)
EULER, ZETA3, ZETA5 = 0.5772156649015329, 1.2020569031595943, 1.0369277551433699
R = 2 / math.sqrt(PI)
#: Of the modified Bessel function of order 0 at 8, and where float32 and float64 end.
I0_AT_8 = [427.56411572180474, 399.87313678256009, 377.57997362398472, 358.9236578417893]
I0_AT_90 = [5.1392383455086476e37, 5.1106068215256e37, 5.0824538307e37, 5.054766057e37]
#: Of the normal distribution, at 0.
PHI = 1 / math.sqrt(2 * PI)
I0_AT_712 = [2.46841105775626e307, 2.46667701351676e307, 2.46494662e307, 2.46321988e307]


def _sinc_of_angle(a):
    """Return sin(a) / a and its derivatives by a / pi."""
    s, c = math.sin(a), math.cos(a)
    first = (a * c - s) / a**2
    second = (-a * a * s - 2 * a * c + 2 * s) / a**3
    third = (-(a**3) * c + 3 * a * a * s + 6 * a * c - 6 * s) / a**4
    return [s / a, PI * first, PI**2 * second, PI**3 * third]


#: A function of one number: at points, its value and derivatives, as far as they are there.
UNARY = {
    "exp": (mo.exp, {0: [1, 1, 1, 1], -INF: [0, 0, 0, 0]}),
    "exp2": (mo.exp2, {0: [1, L2, L2**2, L2**3]}),
    "expm1": (mo.expm1, {0: [0, 1, 1, 1]}),
    "log": (mo.log, {1: [0, 1, -1, 2], 0: [-INF, INF, -INF, INF], INF: [INF, 0, 0, 0]}),
    "log2": (mo.log2, {1: [0, 1 / L2, -1 / L2, 2 / L2]}),
    "log10": (mo.log10, {1: [0, 1 / L10, -1 / L10, 2 / L10]}),
    "log1p": (mo.log1p, {0: [0, 1, -1, 2], -1: [-INF, INF, -INF, INF]}),
    "sqrt": (mo.sqrt, {1: [1, 0.5, -0.25, 0.375], 0: [0, INF, -INF, INF]}),
    "rsqrt": (mo.rsqrt, {1: [1, -0.5, 0.75, -1.875]}),
    "cbrt": (mo.cbrt, {1: [1, 1 / 3, -2 / 9, 10 / 27], 0: [0, INF], -1: [-1, 1 / 3, 2 / 9]}),
    "square": (mo.square, {0: [0, 0, 2]}),
    "reciprocal": (mo.reciprocal, {1: [1, -1, 2, -6]}),
    "sin": (mo.sin, {0: [0, 1, 0, -1]}),
    "cos": (mo.cos, {0: [1, 0, -1, 0]}),
    "tan": (mo.tan, {0: [0, 1, 0, 2]}),
    "asin": (mo.asin, {0: [0, 1, 0, 1], 1: [PI / 2, INF, INF, INF], -1: [-PI / 2, INF, -INF, INF]}),
    "acos": (
        mo.acos,
        {0: [PI / 2, -1, 0, -1], 1: [0, -INF, -INF, -INF], -1: [PI, -INF, INF, -INF]},
    ),
    "atan": (mo.atan, {0: [0, 1, 0, -2], 1: [PI / 4, 0.5, -0.5, 0.5], INF: [PI / 2, 0]}),
    "sinh": (mo.sinh, {0: [0, 1, 0, 1]}),
    "cosh": (mo.cosh, {0: [1, 0, 1, 0]}),
    "tanh": (mo.tanh, {0: [0, 1, 0, -2], INF: [1, 0, 0, 0]}),
    "asinh": (mo.asinh, {0: [0, 1, 0, -1]}),
    "acosh": (mo.acosh, {1: [0, INF, -INF, INF]}),
    "atanh": (mo.atanh, {0: [0, 1, 0, 2], 1: [INF, INF, INF, INF], -1: [-INF, INF, -INF, INF]}),
    "erf": (mo.erf, {0: [0, R, 0, -2 * R], INF: [1, 0]}),
    "erfc": (mo.erfc, {0: [1, -R, 0, 2 * R]}),
    "erfinv": (mo.erfinv, {0: [0, 1 / R, 0, PI**1.5 / 4], 1: [INF, INF, INF, INF]}),
    "lgamma": (
        mo.lgamma,
        {
            1: [0, -EULER, PI**2 / 6, -2 * ZETA3],
            2: [0, 1 - EULER, PI**2 / 6 - 1, 2 - 2 * ZETA3],
        },
    ),
    "digamma": (mo.digamma, {1: [-EULER, PI**2 / 6, -2 * ZETA3, PI**4 / 15]}),
    "polygamma": (
        lambda x: mo.polygamma(1, x),
        {1: [PI**2 / 6, -2 * ZETA3, PI**4 / 15, -24 * ZETA5]},
    ),
    "polygamma of a Var": (
        lambda x: mo.polygamma(mo.full((), 0, "int64"), x),
        {1: [-EULER, PI**2 / 6, -2 * ZETA3, PI**4 / 15]},
    ),
    "multigammaln": (lambda x: mo.multigammaln(x, 1), {1: [0, -EULER, PI**2 / 6, -2 * ZETA3]}),
    "i0": (
        mo.i0,
        {
            0: [1, 0, 0.5, 0],
            8: I0_AT_8,
            -8: [y * (-1) ** k for k, y in enumerate(I0_AT_8)],
            90: I0_AT_90,
            712: I0_AT_712,
            1000: [INF, INF, INF, INF],
            -1000: [INF, -INF, INF, -INF],
            INF: [INF, INF, INF, INF],
        },
    ),
    "i0e": (mo.i0e, {0: [1, 0], INF: [0, 0, 0, 0], -INF: [0, 0, 0, 0]}),
    "i1": (
        mo.i1,
        {
            0: [0, 0.5, 0, 0.375],
            8: I0_AT_8[1:],
            90: I0_AT_90[1:],
            1000: [INF, INF, INF, INF],
            -1000: [-INF, INF, -INF, INF],
        },
    ),
    "i1e": (mo.i1e, {0: [0, 0.5], INF: [0, 0, 0, 0], -INF: [0, 0, 0, 0]}),
    "ndtr": (mo.ndtr, {0: [0.5, PHI, 0, -PHI], INF: [1, 0, 0, 0], -INF: [0, 0, 0, 0]}),
    "log_ndtr": (
        mo.log_ndtr,
        {
            0: [-L2, 2 * PHI, -4 * PHI**2, 16 * PHI**3 - 2 * PHI],
            INF: [0, 0, 0, 0],
            -INF: [-INF, INF, -1, 0],
        },
    ),
    "ndtri": (
        mo.ndtri,
        {
            0.5: [0, 1 / PHI, 0, 1 / PHI**3],
            0: [-INF, INF, -INF, INF],
            1: [INF, INF, INF, INF],
            2: [NAN],
        },
    ),
    "entr": (
        mo.entr,
        {1: [0, -1, -1, 1], 0: [0, INF, -INF, INF], -1: [-INF, INF], INF: [-INF, -INF]},
    ),
    "zeta": (lambda q: mo.zeta(2, q), {1: [PI**2 / 6, -2 * ZETA3, PI**4 / 15, -24 * ZETA5]}),
    "gammainc": (lambda x: mo.gammainc(1, x), {0: [0, 1, -1, 1], INF: [1, 0, 0, 0]}),
    "gammaincc": (lambda x: mo.gammaincc(2, x), {0: [1, 0, -1, 2], INF: [0, 0, 0, 0]}),
    "betainc": (lambda x: mo.betainc(1, 3, x), {0: [0, 3, -6, 6], 1: [1, 0, 0, 6]}),
    "sinc": (
        mo.sinc,
        {
            0: [1, 0, -(PI**2) / 3, 0],
            1: [0, -1, 2, PI**2 - 6],
            0.1 / PI: _sinc_of_angle(0.1),
            math.nextafter(0.1 / PI, 1): _sinc_of_angle(0.1),
        },
    ),
    "logit": (
        mo.logit,
        {0.5: [0, 4, 0, 32], 0: [-INF, INF, -INF, INF], 1: [INF, INF, INF, INF], 2: [NAN]},
    ),
    "logit with bounds": (
        lambda x: mo.logit(x, 0.25),
        {
            0.25: [-math.log(3), 16 / 3, -128 / 9],
            0.75: [math.log(3), 16 / 3, 128 / 9],
            0: [-math.log(3), 0, 0],
        },
    ),
    "sigmoid": (mo.sigmoid, {0: [0.5, 0.25, 0, -0.125], INF: [1, 0, 0, 0], -INF: [0, 0, 0, 0]}),
    "softplus": (mo.softplus, {0: [L2, 0.5, 0.25, 0], INF: [INF, 1, 0, 0], -INF: [0, 0, 0, 0]}),
    "log_sigmoid": (mo.log_sigmoid, {0: [-L2, 0.5, -0.25, 0], -INF: [-INF, 1, 0, 0]}),
    "silu": (mo.silu, {0: [0, 0.5, 0.5, 0]}),
    "mish": (mo.mish, {0: [0, 0.6, 0.64, -0.096]}),
    "gelu": (mo.gelu, {0: [0, 0.5, math.sqrt(2 / PI), 0]}),
    "gelu by tanh": (lambda x: mo.gelu(x, "tanh"), {0: [0, 0.5, math.sqrt(2 / PI), 0]}),
    "tanhshrink": (mo.tanhshrink, {0: [0, 0, 0, 2]}),
    "softsign": (mo.softsign, {0: [0, 1, 0], 1: [0.5, 0.25, -0.25, 0.375]}),
    "elu": (mo.elu, {0: [0, 1, 1, 1]}),
    "celu": (lambda x: mo.celu(x, 2.0), {0: [0, 1, 0.5, 0.25]}),
    "hardswish": (mo.hardswish, {0: [0, 0.5, 1 / 3], -3: [0, 0], 3: [3, 1]}),
    "nan_to_num": (lambda x: mo.nan_to_num(x, 0, 9), {0: [0, 1], NAN: [0, 0], INF: [9, 0]}),
    "x ** 0": (lambda x: x**0, {0: [1, 0, 0, 0], 2: [1, 0, 0, 0]}),
    "x ** 2.0": (lambda x: mo.pow(x, 2.0), {0: [0, 0, 2, 0], -1: [1, -2, 2, 0]}),
    "x ** 3.0": (lambda x: mo.pow(x, 3.0), {0: [0, 0, 0, 6]}),
    "2 ** x": (lambda x: mo.pow(2.0, x), {0: [1, L2, L2**2, L2**3]}),
}
# Not told in float32, where 712 is infinite, and differences of near numbers lose digits.
DOUBLE_ONLY = {("i0", 712), ("sinc", 0.1 / PI), ("sinc", math.nextafter(0.1 / PI, 1))}


def orders_of(f, x, count):
    """Return the value and derivatives of `f` at a vector, by gradients of gradients."""
    y = f(x)
    found = [y.numpy()]
    for _ in range(count - 1):
        y = mo.grad(y.sum(), x) if depends(y, x) else mo.zeros_like(x)
        found.append(y.numpy())
    return found


def depends(y, x):
    """Return whether y has a gradient by x; a constant derivative has none."""
    try:
        mo.grad(y.sum(), x)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", UNARY)
def test_of_one_number(name, dtype):
    f, points = UNARY[name]
    for point, expected in points.items():
        if dtype == "float32" and (name, point) in DOUBLE_ONLY:
            continue
        # Two of them, so that nothing is a number.
        x = mo.array(np.full(2, point), dtype)
        actual = np.array(orders_of(f, x, len(expected)))
        rtol, atol = (2e-8, 1e-12) if dtype == "float64" else (1e-5, 3e-6)
        np.testing.assert_allclose(
            actual, np.array([expected, expected]).T, rtol=rtol, atol=atol, err_msg=f"at {point}"
        )


def partials(f, x, y):
    """Return the partial derivatives of f up to the third order, at one place."""
    x, y = mo.array(np.array([x])), mo.array(np.array([y]))
    found = {"": f(x, y)}
    for order in range(3):
        for key in [key for key in found if len(key) == order]:
            for name, by in (("x", x), ("y", y)):
                if not key or key[-1] <= name:
                    told = depends(found[key], by)
                    found[key + name] = mo.grad(found[key].sum(), by) if told else x * 0
    return {key: value.item() for key, value in found.items()}


def _powers(*orders):
    """Return the partials of a function of x - y, those of the orders but for the first 1/2."""
    value, second, third = orders
    return {
        "": value, "x": 0.5, "y": 0.5, "xx": second, "xy": -second, "yy": second,
        "xxx": third, "xxy": -third, "xyy": third, "yyy": -third,
    }  # fmt: skip


BINARY = {
    "logaddexp": (
        mo.logaddexp,
        {
            (0, 0): _powers(L2, 0.25, 0),
            (700, 700): _powers(700 + L2, 0.25, 0),
            (-INF, -INF): {"": -INF, "x": 1, "y": 0},
            (INF, INF): {"": INF, "x": 1, "y": 0},
            (-INF, 0): {"": 0, "x": 0, "y": 1, "xx": 0, "xy": 0, "yy": 0},
            (3, INF): {"": INF, "x": 0, "y": 1, "xx": 0, "xy": 0, "yy": 0},
            (NAN, 0): {"": NAN},
            (0, NAN): {"": NAN},
        },
    ),
    "logaddexp2": (
        mo.logaddexp2,
        {
            (0, 0): _powers(1, L2 / 4, 0),
            (-INF, -INF): {"": -INF, "x": 1, "y": 0},
            (-INF, 2): {"": 2, "x": 0, "y": 1, "xx": 0},
        },
    ),
    "xlogy": (
        mo.xlogy,
        {
            (0, 2): {"": 0, "x": L2, "y": 0, "xx": 0, "xy": 0.5, "yy": 0, "xyy": -0.25},
            (0, 1): {"": 0, "x": 0, "y": 0, "xy": 1, "xyy": -1},
            (2, 1): {"": 0, "x": 0, "y": 2, "xy": 1, "yy": -2, "yyy": 4},
            (0, 0): {"": 0, "x": 0, "y": 0},
            (0, -1): {"": 0, "x": 0, "y": 0},
            (0, NAN): {"": NAN},
            (1, 0): {"": -INF, "x": -INF, "y": INF},
        },
    ),
    "xlog1py": (
        mo.xlog1py,
        {
            (0, 1): {"": 0, "x": L2, "y": 0, "xx": 0, "xy": 0.5, "yy": 0, "xyy": -0.25},
            (2, 0): {"": 0, "x": 0, "y": 2, "xy": 1, "yy": -2, "yyy": 4},
            (0, -1): {"": 0, "x": 0, "y": 0},
            (0, -2): {"": 0, "x": 0, "y": 0},
            (0, NAN): {"": NAN},
            (1, -1): {"": -INF, "x": -INF, "y": INF},
        },
    ),
    "hypot": (
        mo.hypot,
        {
            (0, 0): {"": 0, "x": 0, "y": 0},
            (0, 1): {"": 1, "x": 0, "y": 1, "xx": 1, "xy": 0, "yy": 0, "xxy": -1},
            (2, 0): {"": 2, "x": 1, "y": 0, "xx": 0, "yy": 0.5, "xyy": -0.25},
        },
    ),
    "atan2": (
        mo.atan2,
        {
            (0, 1): {"": 0, "x": 1, "y": 0, "xx": 0, "xy": -1, "yy": 0, "xxx": -2, "xyy": 2},
            (1, 0): {"": PI / 2, "x": 0, "y": -1, "xx": 0, "xy": 1, "yy": 0, "yyy": 2},
            (0, -1): {"": PI, "x": -1, "y": 0},
        },
    ),
    "pow": (
        mo.pow,
        {
            (2, 0): {"": 1, "x": 0, "y": L2, "xx": 0, "xy": 0.5, "yy": L2**2, "xxy": -0.25},
            (1, 0): {"": 1, "x": 0, "y": 0, "xy": 1, "xxy": -1},
            (0, 2): {"": 0, "x": 0, "y": 0, "xx": 2, "xxx": 0},
            (0, 1): {"": 0, "x": 1, "y": 0, "xx": 0},
        },
    ),
    "maximum": (mo.maximum, {(1, 1): {"": 1, "x": 0.5, "y": 0.5}}),
    "minimum": (mo.minimum, {(1, 1): {"": 1, "x": 0.5, "y": 0.5}}),
    "fmax": (mo.fmax, {(1, NAN): {"": 1, "x": 1, "y": 0}, (NAN, 1): {"": 1, "x": 0, "y": 1}}),
    "copysign": (mo.copysign, {(0, 1): {"": 0, "x": 0}, (1, -0.0): {"": -1, "x": -1, "y": 0}}),
    "lerp": (lambda x, y: mo.lerp(x, 3.0, y), {(1, 0): {"": 1, "x": 1, "y": 2, "xy": -1}}),
    "heaviside": (mo.heaviside, {(0, 0.5): {"": 0.5, "x": 0, "y": 1}}),
}


@pytest.mark.parametrize("name", BINARY)
def test_of_two_numbers(name):
    f, places = BINARY[name]
    for place, expected in places.items():
        actual = partials(f, *map(float, place))
        for key, value in expected.items():
            close(actual[key], value, rtol=1e-13, atol=1e-13)


def test_logaddexp_of_integers():
    for dtype in ("int8", "uint8", "uint64"):
        x, y = np.array([3, 7, 5], dtype), np.array([7, 3, 5], dtype)
        close(mo.logaddexp(x, y), np.logaddexp(x.astype("f8"), y))
        close(mo.logaddexp2(x, y), np.logaddexp2(x.astype("f8"), y))


def hessian(f, x):
    slope = mo.grad(f(x), x)
    return np.array([mo.grad(slope[k], x).numpy() for k in range(x.size)])


def test_sums_of_exponentials_of_equal_numbers():
    x = mo.array(np.array([1.0, 1.0, 2.0]))
    share = np.exp([1.0, 1.0, 2.0])
    share /= share.sum()
    expected = np.diag(share) - np.outer(share, share)
    for f in (mo.logsumexp, lambda x: mo.logcumsumexp(x, 0)[-1]):
        close(hessian(f, x), expected, rtol=1e-13, atol=1e-15)


def test_what_weighs_nothing_has_a_slope_by_its_weight():
    x, weights = np.array([1.0, 2.0, 3.0, 900.0]), np.array([0.0, 1.0, 2.0, 0.0])
    tensor, share = mo.array(x), mo.array(weights)
    total = (weights[:3] * np.exp(x[:3])).sum()
    result = mo.logsumexp(tensor, weights=share)
    by_x, by_weight = mo.grad(result, [tensor, share])
    close(result, np.log(total), rtol=1e-14)
    close(by_weight[:3], np.exp(x[:3]) / total, rtol=1e-13)
    close(by_x, weights * np.exp(np.minimum(x, 3)) / total, rtol=1e-13)
    mixed = mo.grad(by_weight[0], tensor).numpy()
    close(mixed[:1], np.exp(1.0) / total * np.ones(1), rtol=1e-13)
    # Nothing at all, and what is none.
    same(mo.logsumexp(tensor, weights=share * 0), np.array(-INF))
    same(mo.grad(mo.logsumexp(tensor, weights=share * 0), tensor), np.zeros(4))
    holes = mo.array(np.array([NAN, 2.0, INF]))
    close(mo.logsumexp(holes, weights=mo.array(np.array([0.0, 1, 0]))), np.array(2.0))


def test_quantiles_of_equal_elements_share_the_gradient():
    x = mo.array(np.array([1.0, 3.0, 3.0, 9.0]))
    for f in (mo.median, mo.nanmedian):
        same(mo.grad(f(x), x), np.array([0, 0.5, 0.5, 0]))
    for f in (mo.quantile, mo.nanquantile):
        for q in (0.4, np.array(0.4)):
            close(mo.grad(f(x, q), x), np.array([0, 0.8, 0.2, 0]), rtol=1e-12, atol=1e-12)
        same(mo.grad(f(x, 0.5, method="midpoint"), x), np.array([0, 0.5, 0.5, 0]))


def test_interpolation_has_a_slope_at_every_point():
    points, values = mo.array(np.array([0.0, 1.0, 3.0])), mo.array(np.array([2.0, 5.0, 1.0]))
    x = mo.array(np.array([0.0, 1.0, 3.0, 0.5, 2.75]))
    result = mo.interp(x, points, values)
    same(result, np.interp(x.numpy(), points.numpy(), values.numpy()))
    by_x, by_values = mo.grad(result.sum(), [x, values])
    same(by_x, np.array([3.0, -2, -2, 3, -2]))
    close(by_values, np.array([1.5, 1 + 0.5 + 0.125, 1 + 0.875]), rtol=1e-15)


def test_unwrapping_at_half_a_period():
    x = mo.array(np.array([0.0, 0.5, 0.2, 0.7]))
    by_x = mo.grad((mo.unwrap(x, period=1.0) * mo.arange(4)).sum(), x)
    same(by_x, np.arange(4.0))
