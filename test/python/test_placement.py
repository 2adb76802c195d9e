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
    # Values that a program computes, and those that it is given.
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


@pytest.mark.processor
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


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("width", [*range(1, 24), 31, 32, 33, 64, 70])
def test_rows_of_every_width_and_type(rng, dtype, width):
    """Parts of an inner dimension, made by kernels and given, are where they belong."""
    widths = [width, 3, 71 - width, 17]
    arrays = [(rng.random((5, 2, w)) * 9 - 4).astype(dtype) for w in widths]
    given = [mo.array(x) for x in arrays]
    made = [~x if dtype == "bool" else x + 1 for x in given]
    plain = [~x if dtype == "bool" else (x + 1).astype(dtype) for x in arrays]
    same(
        mo.concat([made[0], given[1], made[2], made[3]], 2),
        np.concatenate([plain[0], arrays[1], plain[2], plain[3]], 2),
    )


@pytest.mark.processor
def test_rows_that_kernels_make_are_not_copied(compiled, rng):
    a, b, c = (floats(rng, (9, width, 5)) for width in (4, 6, 8))
    x, y, z = mo.array(a), mo.array(b), mo.array(c)
    same(mo.concat([x * 2.0, -y, z, -(y * 0.5)], 1), np.concatenate([a * 2, -b, c, b * -0.5], 1))
    program = mo.last_program()
    assert [k.bytes_written for k in copies(program)] == [c.nbytes]
    assert program.arena_bytes == 0
    same(mo.stack([x + x, -x], 1), np.stack([a + a, -a], 1))
    assert copies() == []
    # Short rows are written by reductions alone.
    m, r = mo.array(a[0]), a[0]
    with mo.no_grad():
        whole = mo.concat([m.sum(1, keepdims=True), -m[:, :1]], 1)
    close(whole, np.concatenate([r.sum(1, keepdims=True), -r[:, :1]], 1), rtol=1e-5)
    assert [k.bytes_written for k in copies()] == [r[:, :1].nbytes]
    same(mo.concat([m[:, :2] * 2.0, -m[:, :3]], 1), np.concatenate([r[:, :2] * 2, -r[:, :3]], 1))
    assert [k.bytes_written for k in copies()] == [r[:, :5].nbytes]


@pytest.mark.processor
def test_a_program_says_where_rows_are(compiled, rng):
    x = mo.array(floats(rng, (4, 8)))
    mo.sync([mo.concat([mo.exp(x), -x], 1)])
    program = mo.last_program()
    assert "#metaop.rows<8, pitch = 16>" in program.ir("scheduled")
    assert "#metaop.slot<result, 0, offset = 32, row = 32, pitch = 64>" in program.ir("kernels")


@pytest.mark.processor
def test_equal_parts_share_a_kernel_and_pitches_share_code(compiled, rng):
    def join(rows, width, others):
        a = floats(rng, (rows, width))
        whole = mo.concat([mo.array(a) * 3.0 for _ in range(others)], 1)
        same(whole, np.concatenate([a * np.float32(3)] * others, 1))
        return mo.last_program()

    program = join(20, 8, 4)
    assert len(program.kernels) == 4
    assert len({k.name for k in program.kernels}) == 1
    for k in range(5, 9):
        program = join(20 + k, 8 + 4 * k, k)
    before = mo.stats()["kernels_compiled"]
    join(50, 100, 9)
    join(51, 104, 10)
    assert mo.stats()["kernels_compiled"] == before


@pytest.mark.processor
def test_rows_that_are_read_elsewhere(compiled, rng):
    a, b = floats(rng, (30, 18)), floats(rng, (30, 21))
    x, y = mo.array(a), mo.array(b)
    with mo.no_grad():
        p, q = mo.stop_fuse(-x), mo.stop_fuse(y + y)
        whole = mo.concat([p, q], 1)
        readers = [
            p.sum(1),
            mo.matmul(p.transpose(), q),
            p.transpose() * 2.0,
            p * p,
            q[3:9, ::2] + 1.0,
        ]
        readers.append(q.reindex((32, 21), ["i0 - 1", "i1"], 5.0) * 2.0)
    n, d = -a, b + b
    del p, q  # What a Var holds is a result of the program.
    mo.sync([whole, *readers])
    assert copies() == []
    same(whole, np.concatenate([n, d], 1))
    close(readers[0], n.sum(1), rtol=1e-4, atol=1e-5)
    close(readers[1], n.T @ d, rtol=1e-4, atol=1e-4)
    same(readers[2], n.T * 2)
    same(readers[3], n * n)
    same(readers[4], d[3:9, ::2] + 1)
    same(readers[5], np.pad(d, ((1, 1), (0, 0)), constant_values=5) * 2)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_rows_of_reductions_products_and_gathers(compiled, rng, threads):
    """Kernels of all kinds write rows: none writes between them."""
    before = mo.get_num_threads()
    mo.set_num_threads(threads)
    try:
        a, b = floats(rng, (40, 33)), floats(rng, (33, 19))
        index = rng.integers(0, 40, 40)
        x, y = mo.array(a), mo.array(b)
        scattered = np.zeros((40, 33), "float32")
        np.add.at(scattered, index, a)
        table = mo.array(a)
        parts = [
            (mo.matmul(x, y), a @ b),
            (x[mo.array(index)] * 2.0, a[index] * 2),
            (mo.softmax(x, 1), np.exp(a) / np.exp(a).sum(1, keepdims=True)),
            (mo.grad((table[mo.array(index)] * x).sum(), table), scattered),
            (x.astype("float16").astype("float32"), a.astype("float16").astype("float32")),
            (x - x.sum(0), a - a.sum(0)),
        ]
        mo.sync([y])
        for order in (parts, parts[::-1], parts[2:] + parts[:2]):
            whole = mo.concat([part for part, _ in order], 1)
            close(whole, np.concatenate([plain for _, plain in order], 1), rtol=1e-4, atol=1e-4)
    finally:
        mo.set_num_threads(before)


def test_rows_in_concats_in_concats(rng):
    a, b = floats(rng, (6, 9)), floats(rng, (3, 18))
    x, y = mo.array(a), mo.array(b)
    inner = mo.concat([-x, x * x], 1)
    outer = mo.concat([inner, -y], 0)
    plain = np.concatenate([np.concatenate([-a, a * a], 1), -b], 0)
    same(outer, plain)
    same(mo.concat([-outer, outer * outer], 1), np.concatenate([-plain, plain * plain], 1))
    again = mo.concat([mo.concat([-x, x], 0), mo.concat([x * 2.0, -x], 0)], 1)
    same(again, np.block([[-a, a * 2], [a, -a]]))


@pytest.mark.processor
def test_elementwise_ops_move_into_parts(compiled, rng):
    """What reads a concat is computed where its parts are: there is no concat between."""
    a, b, bias = floats(rng, (20, 9)), floats(rng, (20, 12)), floats(rng, (30,))
    x, y, z = mo.array(a), mo.array(b), mo.array(bias)
    with mo.no_grad():
        whole = mo.relu(mo.concat([mo.exp(x), y, -x], 1) + z) * 0.5
    plain = np.maximum(np.concatenate([np.exp(a), b, -a], 1) + bias, 0) * 0.5
    close(whole, plain, rtol=1e-5, atol=1e-6)
    program = mo.last_program()
    assert copies(program) == []
    assert program.arena_bytes == 0
    # The sum reads what it needs from the concat on the way.
    with mo.no_grad():
        total = mo.exp(mo.concat([mo.sin(x), y, -x], 1)).sum(1)
    close(total, np.exp(np.concatenate([np.sin(a), b, -a], 1)).sum(1), rtol=1e-5)
    assert [k.bytes_written for k in copies()] == [b.nbytes]


def test_random_ops_of_concats(compiled, rng):
    steps = [
        lambda v, m, row, all_: m.exp(-v) if m is mo else np.exp(-v),
        lambda v, m, row, all_: v + row,
        lambda v, m, row, all_: v * all_,
        lambda v, m, row, all_: m.maximum(v, 0.25 * v),
        lambda v, m, row, all_: m.where(v > 0.5, v, v - row),
        lambda v, m, row, all_: abs(v) * 0.5 - 1.0,
    ]
    for _ in range(60):
        dim, rank = int(rng.integers(0, 3)), 3
        shape = [int(n) for n in rng.integers(1, 7, rank)]
        parts = []
        for _ in range(rng.integers(2, 5)):
            shape[dim] = int(rng.integers(1, 30))
            parts.append(floats(rng, tuple(shape)))
        plain = np.concatenate([-p if k % 2 else p for k, p in enumerate(parts)], dim)
        row, all_ = floats(rng, plain.shape[2:]), floats(rng, plain.shape)
        given = mo.array(row), mo.array(all_)
        with mo.no_grad():
            made = [-mo.array(p) if k % 2 else mo.array(p) for k, p in enumerate(parts)]
            value = mo.concat(made, dim)
            del made
            for k in rng.integers(0, len(steps), 4):
                value = steps[k](value, mo, *given)
                plain = steps[k](plain, np, row, all_)
            if rng.random() < 0.5:
                value, plain = mo.transpose(value, (2, 0, 1)) + 1.0, plain.transpose(2, 0, 1) + 1
            mo.sync([value])
        close(value, plain, rtol=1e-4, atol=1e-4)


def test_parts_that_are_returned_as_well(rng):
    a = floats(rng, (5, 12))
    x = mo.array(a)
    p, q, r = -x, x * x, x + 1.0
    whole, twice = mo.concat([p, q], 1), mo.concat([r, r, q], 1)
    flat = mo.stop_fuse(r).reshape([-1]) * 2.0
    mo.sync([whole, p, twice, flat])
    same(whole, np.concatenate([-a, a * a], 1))
    same(p, -a)
    same(twice, np.concatenate([a + 1, a + 1, a * a], 1))
    same(flat, (a + 1).reshape(-1) * 2)


def test_rows_and_arguments_that_are_overwritten(compiled, rng):
    """A donated argument is not written over by a part of something larger."""
    a = floats(rng, (7, 10))
    x = mo.array(a)
    expected = a
    for _ in range(4):
        x = mo.concat([x * 0.5, -x], 1)[:, 3:13]
        expected = np.concatenate([expected * np.float32(0.5), -expected], 1)[:, 3:13]
        mo.sync([x])
    same(x, expected)
    y = mo.concat([mo.exp(mo.array(a)), -mo.array(a)], 1)
    y[1:3, 4:14] = 0.0
    plain = np.concatenate([np.exp(a), -a], 1)
    plain[1:3, 4:14] = 0
    close(y, plain, rtol=1e-6)


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


def test_random_graphs_of_rows(rng):
    """Concats along all dimensions of what is made, given, viewed and read twice."""
    for _ in range(40):
        shape = [int(n) for n in rng.integers(1, 6, 3)]
        shape[rng.integers(0, 3)] = int(rng.integers(1, 40))
        pool = [np.round(rng.random(shape) * 9 - 4).astype("float32") for _ in range(2)]
        pairs = [(mo.array(x), x) for x in pool]
        for _ in range(rng.integers(3, 10)):
            x, a = pairs[rng.integers(len(pairs))]
            dim = int(rng.integers(0, a.ndim))
            kind = rng.integers(0, 6)
            if kind <= 2:
                rest = [s for d, s in enumerate(a.shape) if d != dim]
                fitting = [
                    (y, b)
                    for y, b in pairs
                    if b.ndim == a.ndim and [s for d, s in enumerate(b.shape) if d != dim] == rest
                ]
                chosen = [fitting[k] for k in rng.integers(len(fitting), size=rng.integers(1, 4))]
                made = [(-y, -b) if rng.random() < 0.6 else (y, b) for y, b in chosen]
                if sum(b.size for _, b in made) > 5000:
                    continue
                pairs += [pair for pair in made if rng.random() < 0.3]
                pairs.append(
                    (
                        mo.concat([y for y, _ in made], dim),
                        np.concatenate([b for _, b in made], dim),
                    )
                )
            elif kind == 3 and a.ndim < 4:
                pairs.append((mo.stack([x + 1.0, -x], dim), np.stack([a + 1, -a], dim)))
            elif kind == 4:
                order = [int(d) for d in rng.permutation(a.ndim)]
                pairs.append((mo.transpose(x, order) + 1.0, a.transpose(order) + 1))
            else:
                pairs.append((x - mo.max(x, dim, keepdims=True), a - a.max(dim, keepdims=True)))
        mo.sync([v for v, _ in pairs[2:] if rng.random() < 0.7])
        for var, expected in pairs:
            same(var, expected)


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


def test_gradients_of_rows(rng):
    a, b = floats(rng, (3, 5), "float64"), floats(rng, (3, 4), "float64")
    check_gradient(lambda x, y: mo.concat([mo.exp(x), mo.sin(y), x * x], 1) ** 2, a, b)
    check_gradient(lambda x: mo.stack([mo.exp(x), mo.sin(x)], 1) ** 2, a)

    def halves(x):
        first, second = mo.split(x, [2], 1)
        return mo.concat([mo.exp(second), mo.sin(first)], 1)

    check_gradient(halves, a)


def test_gradients(rng):
    a, b = floats(rng, (2, 3), "float64"), floats(rng, (2, 2), "float64")
    check_gradient(lambda x, y: mo.concat([x * y.sum(), y, x], 1) ** 2, a, b)
    check_gradient(lambda x, y: mo.stack([x[:, 0], y[:, 1], x[:, 2] * y[:, 0]], 1) ** 3, a, b)
    check_gradient(lambda x: sum(k * p**2 for k, p in enumerate(x.split(3, 1))), a)
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
            return mo.grad(sum((p * k).sum() for k, p in enumerate(x.split(count))), x)
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


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("kind", ["carry", "row", "branch", "while"])
def test_concats_in_bodies_are_not_copied(rng, kind, axis):
    """Kernels of a body make the parts where the concat is to be."""
    a, b = floats(rng, (32, 16), "float64"), floats(rng, (32, 16), "float64")
    x = floats(rng, (16, 32), "float64")

    def put(xp, h, a, b):
        parts = [xp.tanh(h @ a) * 0.5, xp.sin(h @ b)]
        return xp.concatenate(parts, axis).reshape(16, 32)

    v, w, start = mo.array(a), mo.array(b), mo.array(x)
    if kind == "carry":
        # Gradients would have each carry in a row, too.
        with mo.no_grad():
            result, _ = mo.scan(lambda h, _: (put(mo, h, v, w), None), start, length=5, unroll=1)
    elif kind == "row":
        rows = mo.stack([start, 2 * start, 3 * start]).sync()
        result = mo.scan(lambda _, h: (None, put(mo, h, v, w)), None, rows, unroll=1)[1][1]
    elif kind == "branch":
        result = mo.cond(start.sum() > 1e9, lambda: start * 0, lambda: put(mo, start, v, w)) + 1
    else:
        result = mo.while_loop(
            lambda c: c[0] < 5, lambda c: (c[0] + 1, put(mo, c[1], v, w)), (0, start)
        )[1]
    result.sync()
    assert not copies()
    expected = x
    if kind == "row":
        expected = put(np, 2 * x, a, b)
    elif kind == "branch":
        expected = put(np, x, a, b) + 1
    else:
        for _ in range(5):
            expected = put(np, expected, a, b)
    np.testing.assert_allclose(result.numpy(), expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("kind", ["scan", "rows", "while"])
def test_parts_that_are_the_same_in_all_trips_stay_in_concats(rng, kind):
    # Of what is around the loop; the tanh is computed part by part.
    table, start = floats(rng, (4, 64)), floats(rng, (4, 64))
    given = mo.array(table)

    def put(c):
        return mo.tanh(mo.concat([given[:, 8:], c[:, :8]], 1))

    expected = start
    for _ in range(50):
        expected = np.tanh(np.concatenate([table[:, 8:], expected[:, :8]], 1))
    first = mo.array(start)
    if kind == "scan":
        got = mo.scan(lambda c, _: (put(c), None), first, length=50, unroll=1)[0]
    elif kind == "rows":
        got = mo.scan(lambda c, _: (put(c),) * 2, first, length=50, unroll=1)[1][-1]
    else:
        got = mo.while_loop(
            lambda carry: carry[0] < 50, lambda carry: (carry[0] + 1, put(carry[1])), (0, first)
        )[1]
    close(got, expected, rtol=1e-5)
