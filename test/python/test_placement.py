# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Concat, stack, split and assignment to windows: where tensors lie in others."""

import metaops as mo
import numpy as np
import pytest
from util import check_gradient, close, floats, same

DTYPES = ["float64", "float32", "float16", "int8", "uint16", "int64", "bool"]


def copies(program=None):
    """Return the kernels of the last program that are copies."""
    return [k for k in (program or mo.last_program()).kernels if k.name == "copy"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("dim", [0, 1, 2])
def test_concat_of_every_type_and_dimension(rng, dtype, dim):
    shapes = [[2, 3, 4] for _ in range(5)]
    for k, shape in enumerate(shapes):
        shape[dim] = k
    arrays = [(rng.random(shape) * 9 - 4).astype(dtype) for shape in shapes]
    given = [mo.array(x) for x in arrays]
    expected = np.concatenate(arrays, dim)
    same(mo.concat(given, dim), expected)
    # What a program computes, and what it is given.
    computed = [~x if dtype == "bool" else x + 1 for x in given[1::2]]
    mixed = [computed[0], given[2], computed[1], given[4]]
    plain = [~x if dtype == "bool" else (x + 1).astype(dtype) for x in arrays[1::2]]
    same(mo.concat(mixed, dim), np.concatenate([plain[0], arrays[2], plain[1], arrays[4]], dim))


def test_types_are_promoted(rng):
    a, b = floats(rng, (2, 2), "float32"), rng.integers(0, 9, (2, 2))
    same(mo.concat([mo.array(b), mo.array(a)]), np.concatenate([b.astype("float32"), a]))
    same(mo.stack([mo.array(b), mo.array(a)], 1), np.stack([b.astype("float32"), a], 1))


@pytest.mark.parametrize("parts", [1, 2, 9, 40])
def test_stack_along_each_dimension(rng, parts):
    arrays = [floats(rng, (3, 2, 5)) for _ in range(parts)]
    for dim in range(4):
        same(mo.stack([mo.array(x) for x in arrays], dim), np.stack(arrays, dim))
        same(
            mo.stack([mo.array(x) * 2.0 for x in arrays], dim - 4),
            np.stack([x * 2 for x in arrays], dim - 4),
        )


def test_errors_name_shapes_and_parts():
    a, b = mo.zeros((2, 3)), mo.zeros((2, 4))
    with pytest.raises(ValueError, match=r"concat: shapes \(2, 3\) and \(2, 4\) \(of part 1\)"):
        mo.concat([a, b])
    with pytest.raises(ValueError, match="concat: dimension 2 is out of range"):
        mo.concat([a, b], 2)
    with pytest.raises(ValueError, match="no tensors given"):
        mo.concat([])
    with pytest.raises(ValueError, match=r"stack: shapes \(2, 3\) and \(2, 4\) \(of part 1\)"):
        mo.stack([a, b])
    with pytest.raises(ValueError, match="stack: dimension 3 is out of range"):
        mo.stack([a, a], 3)
    with pytest.raises(ValueError, match="no tensors given"):
        mo.stack([])


def test_a_concat_of_what_is_in_memory_compiles_nothing(compiled, rng):
    """And keeps no key: a list may grow for ever."""
    parts = []
    same_programs = mo.stats()["programs_compiled"]
    for length in range(1, 30):
        parts.append(mo.array(floats(rng, (length % 4, 16))))
        expected = np.concatenate([part.numpy() for part in parts])
        whole = mo.concat(parts)
        same(whole, expected)
        square = [part for part in parts if part.shape[0] == 3]
        if square:
            same(mo.stack(square, 1), np.stack([part.numpy() for part in square], 1))
    assert mo.stats()["programs_compiled"] == same_programs


def test_what_kernels_make_is_not_copied(compiled, rng):
    a, b = floats(rng, (64, 16)), floats(rng, (32, 16))
    x, y = mo.array(a), mo.array(b)
    z = mo.concat([x * 2.0, y, mo.exp(y)])
    close(z, np.concatenate([a * 2, b, np.exp(b)]), rtol=1e-6)
    program = mo.last_program()
    assert [k.bytes_written for k in copies(program)] == [b.nbytes]
    assert len(program.kernels) == 3
    # Nothing but the result and what it was given is in memory.
    assert program.arena_bytes == 0


def test_parts_that_are_read_elsewhere(rng):
    a, b = floats(rng, (8, 5)), floats(rng, (7, 5))
    x, y = mo.array(a), mo.array(b)
    p, q = mo.tanh(x), mo.stop_fuse(mo.tanh(y))
    z = mo.concat([p, q, p])
    s = (p * p).sum(0) + q.sum(0)
    expected = np.concatenate([np.tanh(a), np.tanh(b), np.tanh(a)])
    mo.sync([z, s, q])
    close(z, expected, rtol=2e-6)
    close(s, (np.tanh(a) ** 2).sum(0) + np.tanh(b).sum(0), rtol=1e-5)
    close(q, np.tanh(b))


def test_random_graphs_of_placements(rng):
    """Concats, windows and element-wise ops in any order, against NumPy."""
    for _ in range(60):
        pool = [floats(rng, (rng.integers(1, 7), 4)) for _ in range(3)]
        pairs = [(mo.array(x), x) for x in pool]
        for _ in range(rng.integers(3, 12)):
            kind = rng.integers(0, 5)
            x, a = pairs[rng.integers(len(pairs))]
            if kind == 0:
                chosen = [pairs[k] for k in rng.integers(len(pairs), size=rng.integers(1, 5))]
                if sum(c.shape[0] for _, c in chosen) > 40:
                    continue
                pairs.append(
                    (mo.concat([v for v, _ in chosen]), np.concatenate([c for _, c in chosen]))
                )
            elif kind == 1:
                pairs.append((x * 0.5, a * np.float32(0.5)))
            elif kind == 2:
                first = rng.integers(0, a.shape[0])
                last = rng.integers(first + 1, a.shape[0] + 1)
                pairs.append((x[first:last], a[first:last]))
            elif kind == 3:
                first = rng.integers(0, a.shape[0])
                y, b = mo.array(x), a.copy()
                value, plain = pairs[rng.integers(len(pairs))]
                count = min(plain.shape[0], a.shape[0] - first)
                y[first : first + count, 1:3] = value[:count, 1:3]
                b[first : first + count, 1:3] = plain[:count, 1:3]
                pairs.append((y, b))
            else:
                pairs.append((mo.concat([x, -x], 1)[:, 2:6], np.concatenate([a, -a], 1)[:, 2:6]))
        mo.sync([v for v, _ in pairs[3:]])
        for var, expected in pairs:
            same(var, expected)


# Gradients


def test_gradients(rng):
    a, b = floats(rng, (2, 3), "float64"), floats(rng, (2, 2), "float64")
    check_gradient(lambda x, y: mo.concat([x * y.sum(), y, x], 1) ** 2, a, b)
    check_gradient(lambda x, y: mo.stack([x[:, 0], y[:, 1], x[:, 2] * y[:, 0]], 1) ** 3, a, b)
    check_gradient(lambda x: sum(k * p**2 for k, p in enumerate(x.split(1, 1))), a)
    check_gradient(lambda x: mo.concat([x[:, k : k + 2] ** 2 for k in range(2)], 0), a)


@pytest.mark.parametrize("count", [3, 12])
def test_gradients_of_many_windows(rng, count):
    """Tilings, gaps and overlaps; few of them and many."""
    x = floats(rng, (2 * count + 3, 2), "float64")
    check_gradient(lambda x: sum(x[k] * x[k] * k for k in range(x.shape[0])), x, order=1)
    check_gradient(lambda x: sum(x[2 * k] ** 2 * k for k in range(count)), x, order=2)
    check_gradient(lambda x: sum(x[k : k + 3] ** 3 for k in range(count)), x, order=2)
    check_gradient(lambda x: sum(x[k : k + 3] * x.sum() for k in range(count)), x, order=1)


def test_gradient_of_an_assignment(rng):
    a, b = floats(rng, (5, 4), "float64"), floats(rng, (2, 3), "float64")

    def assign(x, y):
        z = x * x
        z[1:3, 1:] = y * y
        z[0] += y[0, 0]
        return z * z

    check_gradient(assign, a, b)


# Growth


def work_of(result):
    """Return how many calls compute it, and how many kernels are compiled for it."""
    before = mo.stats()["kernels_compiled"]
    mo.sync(result)
    return len(mo.last_program().kernels), mo.stats()["kernels_compiled"] - before


@pytest.mark.parametrize("name", ["concat", "columns", "stack", "split", "slices"])
def test_work_is_linear_in_the_number_of_parts(compiled, rng, name):
    """Few kernels are compiled, whatever the number of parts; calls grow with it."""
    rows = [mo.array(floats(rng, (8, 16))) for _ in range(160)]

    def make(count):
        parts = [row * 2.0 for row in rows[:count]]
        if name == "concat":
            return mo.concat(parts)
        if name == "columns":
            return mo.concat(parts, 1)
        if name == "stack":
            return mo.stack(parts, 1)
        x = mo.array(floats(rng, (3 * count, 16)))
        if name == "split":
            return mo.grad(sum((p * k).sum() for k, p in enumerate(x.split(3))), x)
        return mo.grad(sum((x[2 * k : 2 * k + 4] ** 2).sum() for k in range(count)), x)

    few, _ = work_of(make(40))
    many, compiled_kernels = work_of(make(160))
    assert many <= 4 * few + 8
    assert compiled_kernels <= 4


def test_slices_of_a_concat_read_its_parts(compiled, rng):
    a, b = floats(rng, (4, 3)), floats(rng, (5, 3))
    x, y = mo.array(a) * 2.0, mo.array(b) * 3.0
    z = mo.concat([x, y])
    part = z[5:8, ::-1] + 1.0
    close(part, (b * 3)[1:4, ::-1] + 1)
    assert not copies()
    same(z[:4], a * 2)
    same(z[2:6], np.concatenate([a * 2, b * 3])[2:6])


def test_a_window_is_written_in_place(compiled, rng):
    """The cost of an assignment is that of the window, if nobody sees the rest."""
    a = floats(rng, (100, 16))
    x = (mo.array(a) * 2.0).sum(1)
    x[3:5] = mo.array(np.float32([7, 8]))
    x[9] = 1.0
    expected = (a * 2).sum(1)
    expected[3:5], expected[9] = [7, 8], 1
    close(x, expected, rtol=1e-5)
    assert sum(k.bytes_written for k in copies()) <= 16
