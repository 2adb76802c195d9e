# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Index strings against loops in Python with C's integer arithmetic."""

import ast
import math
import re

import metaops as mo
import numpy as np
import pytest
from util import close, floats, same


def c_divide(a, b):
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def c_modulo(a, b):
    return a - b * c_divide(a, b)


class CArithmetic(ast.NodeTransformer):
    """Replaces Python's / and % by C's."""

    def visit_BinOp(self, node):
        self.generic_visit(node)
        for kind, name in [(ast.Div, "c_divide"), (ast.Mod, "c_modulo")]:
            if isinstance(node.op, kind):
                return ast.Call(ast.Name(name, ast.Load()), [node.left, node.right], [])
        return node


def evaluator(text, names):
    """Return a function of the indices that computes an index expression."""
    text = text.replace("&&", " and ").replace("||", " or ")
    text = re.sub(r"!(?!=)", " not ", text)
    text = re.sub(r"^(.*)\?(.*):(.*)$", r"(\2) if (\1) else (\3)", text)
    tree = ast.fix_missing_locations(CArithmetic().visit(ast.parse(text.strip(), mode="eval")))
    code = compile(tree, text, "eval")
    scope = {"c_divide": c_divide, "c_modulo": c_modulo, **names}
    return lambda index: eval(code, scope, {f"i{k}": i for k, i in enumerate(index)})


def names_of(x_shape, y_shape):
    names = {"XDIM": len(x_shape), "YDIM": len(y_shape)}
    for letter, shape in [("x", x_shape), ("y", y_shape)]:
        for k, extent in enumerate(shape):
            names[f"{letter}shape{k}"] = extent
            names[f"{letter}stride{k}"] = math.prod(shape[k + 1 :])
    return names


def reindex_loops(x, shape, indexes, fill=0, conditions=()):
    names = names_of(x.shape, shape)
    maps = [evaluator(text, names) for text in indexes]
    guards = [evaluator(text, names) for text in conditions]
    y = np.full(shape, fill, x.dtype)
    for i in np.ndindex(*shape):
        j = tuple(int(f(i)) for f in maps)
        inside = all(0 <= a < n for a, n in zip(j, x.shape, strict=True))
        if inside and not any(guard(i) for guard in guards):
            y[i] = x[j]
    return y


START = {"add": 0, "mul": 1, "max": -np.inf, "min": np.inf}
COMBINE = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


def reindex_reduce_loops(x, op, shape, indexes, conditions=()):
    names = names_of(x.shape, shape)
    maps = [evaluator(text, names) for text in indexes]
    guards = [evaluator(text, names) for text in conditions]
    y = np.full(shape, START[op], "float64")
    for i in np.ndindex(*x.shape):
        j = tuple(int(f(i)) for f in maps)
        inside = all(0 <= a < n for a, n in zip(j, shape, strict=True))
        if inside and not any(guard(i) for guard in guards):
            y[j] = COMBINE[op](y[j], x[i])
    return y


# Shape of x, shape of y, index strings, overflow conditions.
CASES = {
    "transpose": ((3, 4), (4, 3), ("i1", "i0"), ()),
    "reverse": ((5,), (5,), ("xshape0-1-i0",), ()),
    "window": ((6,), (4, 3), ("i0+i1",), ()),
    "stride": ((9,), (4,), ("i0*2+1",), ()),
    "dilated": ((9,), (5, 3), ("i0+i1*2-2",), ()),
    "shifted out on both sides": ((4,), (9,), ("i0-3",), ()),
    "constant index": ((4, 3), (3,), ("2", "i0"), ()),
    "repeat": ((3,), (9,), ("i0/3",), ()),
    "tile": ((3,), (9,), ("i0%3",), ()),
    "division truncates": ((5,), (9,), ("(i0-4)/2+2",), ()),
    "remainder has the dividend's sign": ((6,), (9,), ("(i0-4)%3+2",), ()),
    "nested division": ((4,), (12,), ("i0/2/2+i0%4/3",), ()),
    "diagonal": ((4, 4), (4,), ("i0", "i0"), ()),
    "row-major": ((12,), (3, 4), ("i0*ystride0+i1",), ()),
    "flatten": ((3, 4), (12,), ("i0/xstride0", "i0%xstride0"), ()),
    "extents": ((4, 6), (4, 6), ("yshape0-1-i0", "(i1+XDIM)%xshape1"), ()),
    "pixel shuffle": ((1, 4, 2, 3), (1, 1, 4, 6), ("i0", "i2%2*2+i3%2", "i2/2", "i3/2"), ()),
    "condition": ((6, 6), (6, 6), ("i0", "i1"), ("i0>i1",)),
    "two conditions": ((6, 6), (6, 6), ("i0", "i1"), ("i0>i1", "i1>=4")),
    "either of two": ((8,), (8,), ("i0",), ("i0<2 || i0>5",)),
    "equality holds out a line": ((5, 5), (5, 5), ("i0", "i1"), ("i0!=i1",)),
    "negation": ((7,), (7,), ("i0",), ("!(i0>=2)",)),
    "minimum": ((4,), (7,), ("i0",), ("min(i0, 2) < 2",)),
    "decided choice": ((4,), (4,), ("i0 < 9 ? 3-i0 : 0",), ()),
    "from a number": ((), (3, 2), (), ()),
    "to a number": ((4, 4), (), ("1", "2"), ()),
    "empty result": ((3,), (0, 3), ("i1",), ()),
    "empty source": ((0, 3), (2, 3), ("i0", "i1"), ()),
    "extent 1": ((1, 3), (4, 1), ("0", "i0-1"), ()),
    "long": ((130,), (67, 5), ("i0*2+i1-3",), ()),
}


@pytest.mark.parametrize("case", CASES)
def test_reindex(rng, case):
    x_shape, y_shape, indexes, conditions = CASES[case]
    for dtype, fill in [("float32", 0), ("float32", -1.5), ("int16", 7)]:
        x = rng.integers(-99, 99, x_shape).astype(dtype)
        y = mo.array(x).reindex(y_shape, indexes, fill, conditions)
        same(y, reindex_loops(x, y_shape, indexes, fill, conditions))


# Shape of x, shape of y, index strings, overflow conditions.
REDUCE_CASES = {
    "rows": ((3, 4), (3,), ("i0",), ()),
    "columns": ((3, 4), (4,), ("i1",), ()),
    "all": ((3, 4), (), (), ()),
    "windows": ((6,), (3,), ("i0/2",), ()),
    "residues": ((7,), (3,), ("i0%3",), ()),
    "anti-diagonals": ((3, 4), (6,), ("i0+i1",), ()),
    "some are dropped": ((3, 8), (4,), ("i1-i0-2",), ()),
    "nothing reaches": ((3,), (5,), ("i0+1",), ()),
    "scatter": ((4, 3), (4, 9), ("i0", "i1*3+1"), ()),
    "transposed": ((2, 3, 4), (4, 2), ("i2", "i0"), ()),
    "condition": ((5, 5), (5,), ("i0",), ("i1>i0",)),
    "convolution's image gradient": ((2, 3, 2), (6,), ("i1*2+i2",), ()),
    "empty source": ((0, 3), (3,), ("i1",), ()),
    "empty result": ((3, 2), (0,), ("i0",), ()),
    "extent 1": ((1, 4), (1, 1), ("i0", "0"), ()),
    "long": ((3, 1000), (3,), ("i0",), ()),
}


@pytest.mark.parametrize("case", REDUCE_CASES)
@pytest.mark.parametrize("op", START)
def test_reindex_reduce(rng, case, op):
    x_shape, y_shape, indexes, conditions = REDUCE_CASES[case]
    x = floats(rng, x_shape, low=0.98, high=1.02)
    y = mo.array(x).reindex_reduce(op, y_shape, indexes, conditions)
    close(y, reindex_reduce_loops(x, op, y_shape, indexes, conditions), rtol=1e-5)


def test_reindex_reduce_of_integers_starts_from_the_identity():
    x = mo.array(np.array([3, 5], "int32"))
    same(x.reindex_reduce("max", (3,), ("i0",)), np.array([3, 5, -(2**31)], "int32"))
    same(x.reindex_reduce("min", (3,), ("i0",)), np.array([3, 5, 2**31 - 1], "int32"))
    same(x.reindex_reduce("and", (3,), ("i0",)), np.array([3, 5, -1], "int32"))
    same(x.reindex_reduce("or", (2,), ("0",)), np.array([7, 0], "int32"))
    same(x.reindex_reduce("xor", (2,), ("1",)), np.array([0, 6], "int32"))


def test_random_strings(rng):
    def expression(depth):
        kind = rng.integers(0, 4 if depth else 2)
        if kind == 0:
            return f"i{rng.integers(0, 2)}"
        if kind == 1:
            return str(rng.integers(0, 5))
        left = expression(depth - 1)
        if kind == 2:
            return f"({left} {rng.choice(['+', '-'])} {expression(depth - 1)})"
        return f"({left} {rng.choice(['*', '/', '%'])} {rng.integers(1, 4)})"

    for _ in range(25):
        indexes = (expression(3), expression(2))
        x = rng.integers(-99, 99, (4, 3)).astype("float32")
        y = mo.array(x).reindex((5, 4), indexes, -7)
        np.testing.assert_array_equal(
            y.numpy(), reindex_loops(x, (5, 4), indexes, -7), err_msg=str(indexes)
        )


def test_broadcast(rng):
    x = floats(rng, (3, 1, 4))
    same(mo.array(x).broadcast((2, 3, 5, 4)), np.broadcast_to(x, (2, 3, 5, 4)))
    p = floats(rng, (2, 3))
    same(
        mo.array(p).broadcast((4, 2, 5, 3, 6), (0, 2, 4)),
        np.broadcast_to(p[None, :, None, :, None], (4, 2, 5, 3, 6)),
    )
    same(mo.array(p).broadcast((2, 3, 7), (-1,)), np.broadcast_to(p[..., None], (2, 3, 7)))
    other = mo.zeros((5, 2, 3))
    same(mo.array(p).broadcast_var(other), np.broadcast_to(p, (5, 2, 3)))
    same(
        mo.array(p).broadcast_var(mo.zeros((2, 5, 3)), (1,)),
        np.broadcast_to(p[:, None, :], (2, 5, 3)),
    )


def test_the_listings_spelling(rng):
    x = floats(rng, (3, 4))
    y = mo.array(x).reindex(shape=(4, 3), indices=("i1", "i0"))
    same(y, x.T)
    same(mo.reindex(mo.array(x), [4, 3], ["i1", "i0"]), x.T)


@pytest.mark.parametrize("op", ["add", "max", "multiply"])
@pytest.mark.parametrize(
    ("shape", "indexes", "size"),
    [
        ((30, 3), ["i0+i1"], [32]),
        ((30, 3), ["i0-i1"], [30]),
        ((9, 3), ["2*i0+i1-1"], [17]),
        ((9, 3), ["16-2*i0-i1"], [17]),
        ((9, 1), ["3*i0+1"], [25]),
        ((5, 6, 3, 2), ["2*i0+i2-1", "i1-i3"], [10, 6]),
        ((4, 5), ["i0+i1", "i0"], [8, 4]),
        ((9, 4), ["2*i0+3*i1-2"], [23]),
        ((9, 4), ["40-3*i0-5*i1"], [38]),
        ((9, 4), ["2*i0+4*i1+1"], [31]),
        ((9, 4), ["6*i0-9*i1+20"], [70]),
        ((7, 6, 3, 2), ["3*i0+2*i2-1", "2*i1+2*i3-2"], [21, 12]),
        ((3, 4), ["5*i0+10*i1-20"], [20]),
        ((4, 3), ["4*i0"], [16]),
    ],
)
def test_what_is_scattered_along_sums_of_indices(op, shape, indexes, size):
    """Gathered or not, it is what a loop adds up."""
    x = np.random.default_rng(len(shape)).uniform(0.5, 1.5, shape).astype("f4")
    start, combine = {
        "add": (0.0, np.add),
        "max": (-np.inf, np.maximum),
        "multiply": (1.0, np.multiply),
    }[op]
    expected = np.full(size, start)
    for place in np.ndindex(*shape):
        names = {f"i{dim}": index for dim, index in enumerate(place)}
        at = tuple(eval(index, {}, names) for index in indexes)
        if all(0 <= index < extent for index, extent in zip(at, size, strict=True)):
            expected[at] = combine(expected[at], x[place])
    result = mo.array(x).reindex_reduce(op, size, indexes)
    np.testing.assert_allclose(result.numpy(), expected, rtol=1e-5)


@pytest.mark.parametrize("seed", range(8))
def test_windows_of_strides_and_dilations(seed):
    """What each window has is added up where it came from, whatever is skipped."""
    rng = np.random.default_rng(seed)
    for _ in range(4):
        stride, dilation = rng.integers(1, 7, 2)
        count, taps, first = rng.integers([1, 1, -5], [20, 6, 6])
        reached = stride * (count - 1) + dilation * (taps - 1) + 1
        extent = int(max(reached + rng.integers(-4, 5), 1))
        stride, dilation = (stride, dilation) * rng.choice([-1, 1], 2)
        x = rng.integers(-50, 50, (2, count, taps)).astype("int32")
        i, j = np.indices((count, taps))
        at = stride * i + dilation * j
        first -= at.min()
        at += first
        index = f"({first})+({stride})*i1+({dilation})*i2"
        inside = (at >= 0) & (at < extent)
        for op, start, add in [("add", 0, np.add), ("min", np.iinfo("i4").max, np.minimum)]:
            expected = np.full((2, extent), start, "int32")
            for row in range(2):
                add.at(expected[row], at[inside], x[row][inside])
            same(mo.array(x).reindex_reduce(op, (2, extent), ["i0", index]), expected)


@pytest.mark.parametrize("size", [3, 4, 5, 6])
def test_windows_of_three_dimensions(rng, size):
    """More places than are emitted one after another have loops."""
    x = floats(rng, (2, 12, 12, 12))
    count = 13 - size
    windows = mo.array(x).reindex([2, *[count] * 3, *[size] * 3], ["i0", "i1+i4", "i2+i5", "i3+i6"])
    expected = np.lib.stride_tricks.sliding_window_view(x, (size,) * 3, axis=(1, 2, 3))
    np.testing.assert_array_equal(windows.max(dims=[4, 5, 6]).numpy(), expected.max((4, 5, 6)))
