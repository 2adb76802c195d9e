# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random graphs: what is compiled equals what the interpreter computes."""

import math

import metaops as mo
import numpy as np
import pytest

EXTENTS = [0, 1, 1, 2, 3, 5, 8, 17]


class Builder:
    """Makes a random graph; the same seed makes the same one.

    Floats go through continuous operators only: a comparison or a rounding of
    computed floats could turn a difference of one bit into a difference of one.
    Conditions and rounded numbers come from leaves and integers, which are exact.
    """

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.dtype = self.rng.choice(["float32", "float32", "float64"])
        self.shape = self.random_shape()
        self.floats = [self.leaf(self.shape) for _ in range(2)]
        self.integers = [self.integer_leaf(self.shape)]

    def random_shape(self):
        rank = self.rng.integers(0, 4)
        return tuple(int(n) for n in self.rng.choice(EXTENTS, rank))

    def leaf(self, shape):
        return mo.array(self.rng.uniform(-2, 2, shape).astype(self.dtype))

    def integer_leaf(self, shape):
        return mo.array(self.rng.integers(-5, 6, shape).astype("int32"))

    def pick(self):
        return self.floats[self.rng.integers(len(self.floats))]

    def like(self, shape):
        """Return a float tensor that broadcasts to a shape."""
        same = [x for x in self.floats if x.shape == shape]
        if same and self.rng.random() < 0.7:
            return same[self.rng.integers(len(same))]
        cut = shape[self.rng.integers(0, len(shape) + 1) :]
        return self.leaf(tuple(1 if self.rng.random() < 0.3 else n for n in cut))

    def step(self):
        kind = self.rng.choice(
            [
                "unary", "unary", "binary", "binary", "binary", "integer", "condition", "select",
                "transpose", "reshape", "slice", "pad", "broadcast", "reduce", "reduce",
                "reindex", "reindex_reduce", "gather", "scatter", "fuse", "iota", "matmul",
                "function", "function", "cumulative", "sort",
            ]
        )  # fmt: skip
        result = getattr(self, kind)(self.pick())
        if result is not None:
            self.floats.append(result)

    def unary(self, x):
        name = self.rng.choice(["exp", "tanh", "sin", "cos", "erf", "sqrt", "log", "abs", "neg"])
        if name == "exp":
            return mo.exp(mo.tanh(x))
        if name in ("sqrt", "log"):
            return getattr(mo, name)(abs(x) + 0.5)
        return -x if name == "neg" else getattr(mo, name)(x)

    def function(self, x):
        """Return a function whose derivatives are bounded where it is used."""
        inside, positive, y = mo.tanh(x) * 0.9, abs(x) + 0.5, self.like(x.shape)
        functions = [
            lambda: mo.atan(x), lambda: mo.asinh(x), lambda: mo.expm1(inside),
            lambda: mo.log1p(positive), lambda: mo.log2(positive), lambda: mo.log10(positive),
            lambda: mo.sinh(inside), lambda: mo.cosh(inside), lambda: mo.tan(inside),
            lambda: mo.exp2(inside), lambda: mo.asin(inside), lambda: mo.acos(inside),
            lambda: mo.atanh(inside), lambda: mo.acosh(positive + 1), lambda: mo.erfc(x),
            lambda: mo.erfinv(inside), lambda: mo.rsqrt(positive), lambda: mo.cbrt(positive),
            lambda: mo.hypot(x, abs(y) + 0.5), lambda: mo.atan2(x, abs(y) + 0.5),
            lambda: mo.logaddexp(x, y), lambda: mo.fma(inside, mo.tanh(y), y),
            lambda: mo.copysign(positive, mo.floor(self.leaf(x.shape))),
        ]  # fmt: skip
        return functions[self.rng.integers(len(functions))]()

    def cumulative(self, x):
        if x.ndim == 0:
            return None
        dim = int(self.rng.integers(x.ndim))
        options = {"reverse": bool(self.rng.random() < 0.5)}
        count = max(1, x.shape[dim])
        functions = [
            lambda: mo.cumsum(x / count, dim, exclusive=bool(self.rng.random() < 0.5), **options),
            lambda: mo.cumprod(mo.tanh(x) * 0.5 + 1, dim, **options) * 0.25**count,
            lambda: mo.cummax(x, dim, **options),
            lambda: mo.cummin(x, dim, **options),
            lambda: mo.logcumsumexp(mo.tanh(x), dim, **options),
            lambda: mo.linear_recurrence(mo.tanh(x) * 0.9, mo.tanh(x + 1), dim, **options),
        ]
        return functions[self.rng.integers(len(functions))]()

    def sort(self, x):
        # Of leaves: where numbers that were computed are nearly equal, their order is
        # that of their rounding.
        if x.ndim == 0:
            return None
        dim = int(self.rng.integers(x.ndim))
        y = mo.sort(self.leaf(x.shape), dim, descending=bool(self.rng.random() < 0.5))
        places = mo.argsort(self.integer_leaf(x.shape), dim)
        return x + y + places.cast(self.dtype) / max(1, x.shape[dim])

    def binary(self, x):
        y = self.like(x.shape)
        name = self.rng.choice(["add", "subtract", "multiply", "maximum", "minimum", "divide"])
        if name == "divide":
            return x / (abs(y) + 0.5)
        return mo.tanh(getattr(mo, name)(x, y)) if name == "multiply" else getattr(mo, name)(x, y)

    def integer(self, x):
        a = self.integers[self.rng.integers(len(self.integers))]
        b = self.integer_leaf(a.shape)
        operators = [
            lambda: a + b, lambda: a * b, lambda: a // b, lambda: a % b, lambda: a & b,
            lambda: a ^ b, lambda: mo.maximum(a, b), lambda: -a, lambda: mo.gcd(a, b),
            lambda: mo.fmod(a, b), lambda: mo.bitwise_left_shift(a, abs(b)),
            lambda: mo.bitwise_right_shift(a, b), lambda: mo.pow(a, abs(b)),
            lambda: mo.bitwise_count(a) + b,
        ]  # fmt: skip
        result = operators[self.rng.integers(len(operators))]()
        self.integers.append(result)
        return (result % 7).cast(self.dtype)

    def condition(self, x):
        # The floor of a leaf is exact.
        y = mo.floor(self.leaf(x.shape))
        return mo.where(y < 0, x, y)

    def select(self, x):
        condition = self.integer_leaf(x.shape) > 0
        return mo.where(condition, x, self.like(x.shape))

    def transpose(self, x):
        return x.transpose([int(k) for k in self.rng.permutation(x.ndim)])

    def reshape(self, x):
        if x.ndim == 0:
            return x.reshape(1, 1)
        return x.reshape(math.prod(x.shape)) if x.ndim > 1 else x.reshape(1, x.shape[0])

    def slice(self, x):
        key = []
        for n in x.shape:
            begin, end = sorted(self.rng.integers(0, n + 1, 2))
            step = int(self.rng.choice([1, 2, -1]))
            key.append(slice(int(begin), int(end), step) if step > 0 else slice(None, None, step))
        return x[tuple(key)]

    def pad(self, x):
        return mo.pad(
            x, [tuple(int(w) for w in self.rng.integers(0, 3, 2)) for _ in x.shape], value=0.5
        )

    def broadcast(self, x):
        if x.ndim > 3:
            return None
        dim = int(self.rng.integers(0, x.ndim + 1))
        shape = list(x.shape)
        shape.insert(dim, int(self.rng.choice([1, 2, 3])))
        return x.broadcast(shape, (dim,))

    def reduce(self, x):
        axes = [k for k in range(x.ndim) if self.rng.random() < 0.5]
        keepdims = bool(self.rng.random() < 0.5)
        count = max(1, math.prod(x.shape[k] for k in axes))
        name = self.rng.choice(["sum", "max", "min"])
        if name == "sum":
            return x.sum(axes, keepdims) / count
        # Nothing to choose from gives an infinity, which would spread as NaN.
        y = getattr(x, name)(axes, keepdims)
        return mo.clip(y, -9, 9)

    def reindex(self, x):
        if x.ndim == 0:
            return x.reindex((2, 3), (), 0)
        shape = tuple(int(n) for n in self.rng.integers(0, 6, max(1, min(3, x.ndim))))
        texts = []
        for _ in range(x.ndim):
            i = f"i{self.rng.integers(0, len(shape))}"
            forms = [i, f"{i}*2-1", f"{i}/2", f"{i}%3", f"3-{i}", f"{i}+i0-2", "1"]
            texts.append(forms[self.rng.integers(len(forms))])
        conditions = ("i0==1",) if self.rng.random() < 0.3 else ()
        return x.reindex(shape, texts, float(self.rng.integers(-1, 2)), conditions)

    def reindex_reduce(self, x):
        if x.ndim == 0:
            return None
        i = f"i{self.rng.integers(0, x.ndim)}"
        forms = [i, f"{i}/2", f"{i}%3", f"4-{i}", f"{i}+i0-2"]
        text = forms[self.rng.integers(len(forms))]
        y = x.reindex_reduce(self.rng.choice(["add", "max", "min"]), (5,), (text,))
        return mo.clip(y / max(1, x.size), -9, 9)

    def places(self, x):
        """Return expressions of x's indices, one of them out of a tensor."""
        dim = int(self.rng.integers(x.ndim))
        names = [f"i{k}" for k in range(x.ndim)]
        read = names[: int(self.rng.integers(dim, x.ndim)) + 1]
        extra = self.integer_leaf([x.shape[k] for k in range(len(read))])
        shift = int(self.rng.integers(0, 3))
        names[dim] = f"@e0({', '.join(read)}) + {shift}"
        return names, extra * 2 if self.rng.random() < 0.3 else extra

    def gather(self, x):
        if x.ndim == 0:
            return None
        names, extra = self.places(x)
        return x.reindex(x.shape, names, 0.5, extras=[extra])

    def scatter(self, x):
        if x.ndim == 0:
            return None
        names, extra = self.places(x)
        return mo.tanh(x.reindex_reduce("add", x.shape, names, extras=[extra]))

    def fuse(self, x):
        return mo.stop_fuse(x)

    def iota(self, x):
        if x.ndim == 0:
            return None
        return x + mo.iota(x.shape, int(self.rng.integers(0, x.ndim)), self.dtype) * 0.25

    def matmul(self, x):
        if x.ndim < 2:
            return None
        return mo.matmul(x, self.leaf((x.shape[-1], 3))) / max(1, x.shape[-1])


def build(seed, steps, with_gradients):
    """Return values to compare."""
    builder = Builder(seed)
    inputs = list(builder.floats)
    for _ in range(steps):
        builder.step()
    count = min(4, len(builder.floats))
    outputs = [builder.floats[-1]]
    for index in builder.rng.choice(len(builder.floats), count, replace=False):
        outputs.append(builder.floats[index])
    outputs.append(builder.integers[-1])
    if with_gradients:
        # Of all values: most depend on some inputs only, and through dead ends.
        loss = mo.zeros((), builder.dtype)
        for value in builder.floats[len(inputs) :]:
            loss = loss + mo.tanh(value * 0.125).sum()
        gradients = mo.grad(loss, inputs)
        directions = [builder.leaf(x.shape) for x in inputs]
        moved = sum((g * d).sum() for g, d in zip(gradients, directions, strict=True))
        # Forward mode gives the same number.
        outputs += [*gradients, moved, mo.jvp([loss], inputs, directions)[0]]
    return outputs


def compare(seed, steps, with_gradients, rules="extended"):
    mo.flags.rules = rules
    mo.flags.backend = "compiled"
    compiled = mo.fetch_sync(build(seed, steps, with_gradients))
    mo.flags.backend = "interpreter"
    expected = mo.fetch_sync(build(seed, steps, with_gradients))
    if with_gradients:
        reverse, forward = expected[-2:]
        size = 1 + sum(np.abs(gradient).sum(dtype="float64") for gradient in expected[-4:-2])
        assert abs(reverse - forward) <= (1e-9 if reverse.dtype == "float64" else 1e-4) * size
    for number, (actual, reference) in enumerate(zip(compiled, expected, strict=True)):
        assert actual.dtype == reference.dtype
        assert actual.shape == reference.shape
        scale = np.abs(reference, dtype="float64").max(initial=1.0, where=np.isfinite(reference))
        tolerance = 1e-9 if reference.dtype == "float64" else 5e-5
        np.testing.assert_allclose(
            actual,
            reference,
            rtol=tolerance,
            atol=tolerance * scale,
            err_msg=f"seed {seed}, output {number}",
        )


@pytest.mark.parametrize("seed", range(60))
def test_values(compiled, seed):
    compare(seed, steps=4 + seed % 13, with_gradients=False)


@pytest.mark.parametrize("seed", range(100, 140))
def test_gradients(compiled, seed):
    compare(seed, steps=3 + seed % 9, with_gradients=True)


def test_most_gradients_are_not_zero():
    mo.flags.backend = "interpreter"
    counts = []
    for seed in range(100, 140):
        steps = 3 + seed % 9
        gradients = build(seed, steps, True)[len(build(seed, steps, False)) : -2]
        counts.append(sum(bool((value != 0).any()) for value in mo.fetch_sync(gradients)))
    assert sum(counts) > 50 and sum(count > 0 for count in counts) > 30, counts


@pytest.mark.parametrize("seed", range(200, 220))
def test_paper_rules(compiled, seed):
    compare(seed, steps=10, with_gradients=seed % 2 == 0, rules="paper")
