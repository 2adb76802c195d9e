# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators with several results: what is computed, kept and differentiated of them.

A sort has two, the elements and where they were. Which of them anybody waits for decides
what its routine writes, so the bytes that it has written tell what was computed.
"""

import copy
import gc
import json
import os
import pickle
import subprocess
import sys
import weakref

import metaops as mo
import numpy as np
import pytest
from metaops import _core
from util import check_gradient, close, same

N = 1000


@pytest.fixture(autouse=True)
def nothing_is_left():
    """Drop what Vars of earlier tests, in cycles, hold: it would be computed along."""
    gc.collect()


@pytest.fixture
def x(rng):
    """Numbers in memory, of which none are equal."""
    x = mo.array(rng.permutation(N).astype("float32"))
    x.sync()
    return x


def sort(x, dim=0, descending=False):
    return _core.sort(x, dim, descending, 0, x.shape[dim])


def written():
    """Return the bytes that each sort of the last program has written, by element."""
    return [
        kernel.bytes_written // N
        for kernel in mo.last_program().kernels
        if "sort" in kernel.operators
    ]


def runs():
    return mo.stats()["programs_run"]


# Results


def test_both_are_one_operator(compiled, x):
    values, indices = sort(x)
    mo.sync([values, indices])
    assert written() == [12]
    same(values, np.sort(x.numpy()))
    same(indices, np.argsort(x.numpy()))


@pytest.mark.parametrize("kept", [0, 1])
def test_what_has_died_is_not_computed(compiled, x, kept):
    result = sort(x)[kept]
    result.sync()
    assert written() == [[4], [8]][kept]
    same(result, [np.sort, np.argsort][kept](x.numpy()))


@pytest.mark.parametrize("asked", [0, 1])
def test_what_is_held_is_computed_along(compiled, x, asked):
    results = sort(x)
    results[asked].sync()
    assert written() == [12]
    before = runs()
    same(results[1 - asked], [np.argsort, np.sort][asked](x.numpy()))
    assert runs() == before


def test_what_something_recorded_reads_is_computed_along(compiled, x):
    values, indices = sort(x)
    odd = indices * 2 + 1
    del indices
    values.sync()
    assert written() == [12]
    same(odd, np.argsort(x.numpy()) * 2 + 1)
    assert written() == []


def test_what_is_made_of_one_has_the_other_computed(compiled, x):
    values, indices = sort(x)
    total = (values * 2).sum()
    total.sync()
    assert written() == [12]
    before = runs()
    same(indices, np.argsort(x.numpy()))
    assert runs() == before


def test_fetches_of_each(x):
    values, indices = sort(x, 0, True)
    fetched = []
    values.fetch(lambda array: fetched.append(("values", array)))
    indices.fetch(lambda array: fetched.append(("indices", array)))
    mo.sync_all()
    results = dict(fetched)
    same(results["values"], np.sort(x.numpy())[::-1])
    same(results["indices"], np.argsort(-x.numpy()))


def test_without_laziness_both_are_computed_once(x):
    before = runs()
    mo.flags.lazy_execution = False
    try:
        values, indices = sort(x)
    finally:
        mo.flags.lazy_execution = True
    assert runs() == before + 1
    same(values, np.sort(x.numpy()))
    same(indices, np.argsort(x.numpy()))
    assert runs() == before + 1


# Keys of programs


def test_programs_are_found_again(compiled, rng):
    def step(extent, use):
        x = mo.array(rng.permutation(extent).astype("float32"))
        values, indices = sort(x)
        numbers = {"values": values, "indices": indices}[use]
        rest = numbers + 1
        del values, indices, numbers
        expected = {"values": np.sort, "indices": np.argsort}[use](x.numpy()) + 1
        same(rest, expected.astype(rest.numpy().dtype))

    for use in ("values", "indices"):
        step(50, use)
    before = mo.stats()["programs_compiled"]
    for use in ("indices", "values", "indices"):
        step(50, use)
    assert mo.stats()["programs_compiled"] == before


def test_results_of_one_type_are_told_apart(x):
    # The slices differ in which result of the sort is read.
    whole, ones = x.cast("int64"), mo.array(np.ones(N, "int64"))
    mo.sync([whole, ones])
    same(sort(whole)[0] + ones, np.arange(N) + 1)
    same(sort(whole)[1] + ones, np.argsort(x.numpy()) + 1)
    values, indices = sort(whole)
    same(indices - values, np.argsort(x.numpy()) - np.arange(N))


@pytest.mark.parametrize("length", [3, 40])
def test_lengths_that_grow(rng, length):
    numbers = rng.permutation(length + 12).astype("float32")
    for extent in range(length, length + 12):
        x = numbers[:extent]
        values, indices = sort(mo.array(x) * 2)
        total, last = (values * indices.cast("float32")).sum(), indices[-1]
        order = np.argsort(x)
        close(total, (2 * x[order] * order).sum(), rtol=1e-5)
        same(last, order[-1])
        top = mo.topk(mo.array(x) * 3, 3)
        same(top.indices, order[::-1][:3])
        same(top.values, x[order[::-1][:3]] * 3)


def test_stored_programs(compiled, tmp_path):
    """Values alone, indices alone, both, and a part of both come back as what they were."""
    code = """
import json
import metaops as mo
import numpy as np

x = mo.array(np.random.default_rng(0).permutation(3000).reshape(30, 100).astype("float32"))
y = mo.array(np.arange(3000.0)[::-1].reshape(30, 100).copy())
results = [mo.sort(x + 1), mo.argsort(x + 1), *mo.topk(x * 2, 100), *mo.topk(y * 2, 7, 0)]
sums = []
for result in results:
    weight = mo.arange(result.size).reshape(result.shape).cast("float64")
    sums.append((result.cast("float64") * weight).sum().item())
print(json.dumps({"sums": sums, **mo.stats()}))
"""
    environment = {**os.environ, "METAOPS_CACHE_DIR": str(tmp_path)}
    first, second = (
        json.loads(subprocess.check_output([sys.executable, "-c", code], env=environment))
        for _ in range(2)
    )
    assert first["programs_compiled"] == second["programs_loaded"] > 0
    assert second["programs_compiled"] == 0
    assert first["sums"] == second["sums"]
    x = np.random.default_rng(0).permutation(3000).reshape(30, 100).astype("float32")
    place = np.arange(3000).reshape(30, 100)
    assert first["sums"][0] == (np.sort(x + 1) * place).sum()
    assert first["sums"][1] == (np.argsort(x) * place).sum()
    assert first["sums"][3] == (np.argsort(-x) * place).sum()


# Gradients


def test_gradient_reads_the_indices_in_memory(compiled, x):
    weight = mo.array(np.arange(N, dtype="float32"))
    values, indices = sort(x)
    loss = (values * weight).sum()
    mo.sync([loss, indices])
    gradient = mo.grad(loss, x)
    gradient.sync()
    assert written() == []
    expected = np.empty(N, "float32")
    expected[indices.numpy()] = np.arange(N)
    same(gradient, expected)


def test_gradient_where_the_indices_have_died(compiled, x):
    weight = mo.array(np.arange(N, dtype="float32"))
    loss = (sort(x)[0] * weight).sum()
    loss.sync()
    assert written() == [4]
    gradient = mo.grad(loss, x)
    gradient.sync()
    assert written() == [8]
    same(gradient, np.argsort(np.argsort(x.numpy())).astype("float32"))


def test_gradient_of_one_program_sorts_once(compiled, x):
    weight = mo.array(np.arange(N, dtype="float32"))
    loss = (sort(x)[0] * weight).sum()
    mo.sync([loss, mo.grad(loss, x)])
    assert written() == [12]


def test_no_gradient_flows_through_the_indices(x):
    values, indices = sort(x)
    loss = indices.cast("float32").sum()
    same(mo.grad(loss, x, allow_unused=True), np.zeros(N, "float32"))
    with pytest.raises(TypeError, match="the loss is int64"):
        mo.grad(indices, x)
    stopped = values.detach()
    same(mo.grad((stopped * values).sum(), x), x.numpy())


def test_both_modes_to_the_second_order(rng):
    numbers = rng.permutation(np.arange(12.0)).reshape(3, 4)

    def f(x):
        values, indices = sort(x, 1)
        return values**2 * (1 + indices.cast("float64"))

    check_gradient(f, numbers)
    x, tangent = mo.array(numbers), mo.array(rng.normal(size=(3, 4)))
    values, _ = sort(x, 1)
    (moved,) = mo.jvp([values], [x], [tangent])
    same(moved, np.take_along_axis(tangent.numpy(), np.argsort(numbers, 1), 1))


# Histories


@mo.flag_scope(history_bytes=8000)
def test_a_loop_does_not_grow(x):
    losses, sizes = [], []
    for _ in range(40):
        values, indices = sort(x)
        x = values * 0.5
        losses.append(values.sum() + indices[0].cast("float32"))
        losses[-1].sync()
        x.sync()
        sizes.append(mo.stats()["ops_in_block"])
    assert sizes[-1] - sizes[-20] < 20 * 8


def test_a_chain_ends_at_the_bound_of_histories(x):
    start = x
    held = []
    with mo.flag_scope(history_bytes=40_000):
        for _ in range(40):
            x, indices = sort(x * 0.5)
            held.append(indices)
            mo.sync([x, indices])
    with pytest.raises(
        RuntimeError, match=r"was let go, with the last Var of .* or when all histories"
    ):
        mo.grad(x.sum(), start)


def test_the_operator_goes_with_what_it_was_made_of(x):
    y = mo.exp(x * 0.001)
    y.sync()
    before = mo.stats()["ops_in_block"]
    values, indices = sort(y)
    mo.sync([values, indices])
    assert mo.stats()["ops_in_block"] > before
    # Indices have no gradient: alone they keep nothing.
    del values
    mo.sync([])
    assert mo.stats()["ops_in_block"] == before + 1
    same(indices, np.argsort(y.numpy(), kind="stable"))
    del indices
    mo.sync([])
    assert mo.stats()["ops_in_block"] == before


@pytest.mark.parametrize("first", [0, 1])
def test_handles_die_in_each_order(x, first):
    before = mo.stats()["ops_in_block"]
    results = list(sort(x))
    kept = results[1 - first]
    results[first] = None
    mo.sync([])
    kept.sync()
    results.clear()
    del kept
    mo.sync([])
    assert mo.stats()["ops_in_block"] == before


def test_cycles_of_handles(x):
    class Holder:
        pass

    before = mo.stats()["ops_in_block"]
    holder = Holder()
    holder.values, holder.indices = sort(x)
    holder.made = mo.array(np.zeros(N, "float32"))[holder.indices] + holder.values
    holder.self = holder
    holder.made.sync()
    alive = weakref.ref(holder)
    del holder
    gc.collect()
    assert alive() is None
    mo.sync([])
    assert mo.stats()["ops_in_block"] == before


# Updates


def test_update_of_one_while_the_other_waits(x):
    numbers = x.numpy().copy()
    values, indices = sort(x)
    for _ in range(4):
        values.update(values * 2)
    same(indices, np.argsort(numbers, kind="stable"))
    same(values, np.sort(numbers) * 16)


def test_update_of_the_source_while_both_wait(x):
    numbers = x.numpy().copy()
    for _ in range(4):
        values, indices = sort(x)
        x.update(x + indices.cast("float32"))
        same(x, numbers + np.argsort(numbers, kind="stable").astype("float32"))
        same(values, np.sort(numbers))
        same(indices, np.argsort(numbers, kind="stable"))
        numbers = x.numpy().copy()


def test_a_parameter_is_sorted_and_written_over(compiled, rng):
    parameter = mo.array(rng.permutation(N).astype("float32"))
    expected = parameter.numpy().copy()
    for _ in range(6):
        values, indices = sort(parameter)
        parameter.update(values[::-1] * 0.5 + parameter)
        expected = np.sort(expected)[::-1] * np.float32(0.5) + expected
        del values
    indices.sync()
    same(parameter, expected)


def test_steps_that_carry_one_of_the_results(compiled, rng):
    """A selection by magnitude, as of sparse training: one program for all steps."""
    start = rng.normal(size=200)
    w, numbers = mo.array(start), start.copy()
    seen = []
    for _ in range(12):
        top = mo.topk(mo.abs(w), 5)
        w = w - 0.1 * mo.zeros(200, "float64").at[top.indices].add(top.values)
        del top
        order = np.argsort(-np.abs(numbers), kind="stable")[:5]
        numbers[order] -= 0.1 * np.abs(numbers[order])
        close(w.sum(), numbers.sum(), rtol=1e-12)
        seen.append((mo.stats()["programs_compiled"], mo.stats()["ops_in_block"]))
    assert seen[-1] == seen[-6]
    close(w, numbers, rtol=1e-12)


def test_descent_by_a_sorted_loss(compiled, rng):
    """The distance of two samples' distributions, whose gradient sorts nothing again."""
    x, target = rng.normal(size=100), np.sort(rng.normal(size=100))
    w, numbers, wanted = mo.array(x), x.copy(), mo.array(target)
    seen = []
    with mo.flag_scope(history_bytes=8000):
        for _ in range(14):
            loss = ((sort(w)[0] - wanted) ** 2).sum()
            w -= 0.2 * mo.grad(loss, w)
            order = np.argsort(numbers)
            close(loss, ((numbers[order] - target) ** 2).sum(), rtol=1e-9)
            numbers[order] -= 0.4 * (numbers[order] - target)
            seen.append((mo.stats()["programs_compiled"], mo.stats()["ops_in_block"]))
    assert seen[-1] == seen[-6]
    close(w, numbers, rtol=1e-9)


# Limits, failures, copies


def test_short_memory_leaves_both_to_be_asked_for_again(compiled, x):
    values, indices = sort(x.reshape((N, 1)) + mo.array(np.zeros((1, N), "float32")), 1)
    mo.flags.memory_limit = mo.memory_stats()["in_use"] + (1 << 20)
    try:
        with pytest.raises(MemoryError):
            values.sync()
    finally:
        mo.flags.memory_limit = 0
    same(indices.sum(), np.int64(N * (N * (N - 1) // 2)))
    same(values[:, 0], x.numpy())


def test_copies_and_pickles(x):
    values, indices = sort(x)
    for twin in (copy.deepcopy((values, indices)), pickle.loads(pickle.dumps((values, indices)))):
        same(twin[0], np.sort(x.numpy()))
        same(twin[1], np.argsort(x.numpy()))


def test_reports(compiled, x, tmp_path):
    values, indices = sort(x)
    assert mo.estimate([values, indices]) > 12 * N
    text = _core.dump()
    assert text.count("metaop.sort") == 1
    with mo.profile_scope() as profile:
        mo.sync([values, indices])
    profile.graph(tmp_path / "sort.dot")
    assert "1000xf32, 1000xi64" in (tmp_path / "sort.dot").read_text()
    holders = {(holder.dtype, holder.shape) for holder in mo.memory_holders()}
    assert {("float32", (N,)), ("int64", (N,))} <= holders


# Any order of everything


@pytest.mark.parametrize("seed", range(40))
def test_random_programs(seed):
    rng = np.random.default_rng(seed)
    start = rng.permutation(60).reshape(6, 10)
    pool = [(mo.array(start), start)]
    for _ in range(25):
        var, array = pool[rng.integers(len(pool))]
        choice = rng.integers(8)
        if choice < 3:
            axis, falls = int(rng.integers(2)), bool(rng.random() < 0.5)
            values, indices = sort(var, axis, falls)
            key = -array if falls else array
            order = np.argsort(key, axis, kind="stable")
            pool.append((values, np.take_along_axis(array, order, axis)))
            pool.append((indices, order))
        elif choice == 3:
            other = pool[rng.integers(len(pool))]
            pool.append(((var * 3 + other[0]) % 97, (array * 3 + other[1]) % 97))
        elif choice == 4:
            same(var, array)
        elif choice == 5 and len(pool) > 2:
            del pool[rng.integers(len(pool))]
        elif choice == 6:
            new = pool[rng.integers(len(pool))]
            pool = [(v, a) for v, a in pool if v is not var]
            var.update(new[0] if new[0] is not var else var + 1)
            pool.append((var, new[1] if new[0] is not var else array + 1))
        else:
            mo.sync([v for v, _ in pool if rng.random() < 0.3])
    del var
    for v, a in pool:
        same(v, a)
