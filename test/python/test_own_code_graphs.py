# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random graphs in which code of the user's own stands between operators.

All is computed in integers of 64 bits, which wrap around in NumPy, too, so that values are
equal.
"""

import functools

import metaops as mo
import numpy as np
import pytest

pytestmark = pytest.mark.processor

N = 6

MIXED = """
    for (int64_t i = 0; i < 6; i++) {
        @out0(i) = @in0(5 - i) + 3 * @in1(i);
        @out1(i) = @in0(i) * (in0_p != out0_p && in1_p != out0_p && in0_p != out1_p);
    }
"""


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory):
    """Have what is compiled be kept beside the user's cache."""
    with mo.flag_scope(cache_dir=str(tmp_path_factory.mktemp("cache")), poison_memory=True):
        yield


def mixed(x, y):
    """Return what MIXED computes, for arrays."""
    return x[::-1] + 3 * y, x


def mixed_code(x, y):
    return mo.code([(N,)] * 2, ["int64"] * 2, [x, y], MIXED)


def summed(x):
    return np.cumsum(x)


def summed_call(x):
    return mo.host_call(summed, (N,), "int64", x)


def loop(x, y):
    """Return what is carried by four trips, and their rows; for arrays."""
    rows = []
    for _ in range(4):
        x, _ = mixed(x, y)
        rows.append(summed(x))
    return x, sum(rows)


def loop_scan(x, y):
    def step(carried, _):
        carried, _ = mixed_code(carried, y)
        return carried, summed_call(carried)

    last, rows = mo.scan(step, x, length=4)
    return last, rows.sum(0)


def chosen(x, y):
    return mixed(y, x)[0] if x.sum() % 2 else x - y


def chosen_cond(x, y):
    return mo.cond(x.sum() % 2 != 0, lambda: mixed_code(y, x)[0], lambda: x - y)


#: Functions of arrays, and the same of Vars; each of two, and how many results there are.
STEPS = [
    (lambda x, y: (x + y,), lambda x, y: (x + y,)),
    (lambda x, y: (x * 3 - y,), lambda x, y: (x * 3 - y,)),
    (lambda x, y: (x.reshape(2, 3).T.ravel(),), lambda x, y: (x.reshape((2, 3)).T.reshape((6,)),)),
    (
        lambda x, y: (np.concatenate([y[2:], x[:2]]),),
        lambda x, y: (mo.concat([y[2:], x[:2]]),),
    ),
    (lambda x, y: (np.sort(x),), lambda x, y: (mo.sort(x),)),
    (mixed, mixed_code),
    (mixed, mixed_code),
    (lambda x, y: (summed(x),), lambda x, y: (summed_call(x),)),
    (loop, loop_scan),
    (lambda x, y: (chosen(x, y),), lambda x, y: (chosen_cond(x, y),)),
]


def run(seed, which, first):
    """Return some of the values of a random graph, of arrays (0) or Vars (1)."""
    rng = np.random.default_rng(seed)
    values = [*first]
    for _ in range(rng.integers(4, 12)):
        step = STEPS[rng.integers(len(STEPS))][which]
        x, y = (values[k] for k in rng.integers(len(values), size=2))
        values.extend(step(x, y))
    return [values[k] for k in rng.integers(len(values), size=3)] + values[-1:]


@pytest.mark.parametrize("seed", range(40))
def test_random_graphs(seed):
    with np.errstate(over="ignore"):
        first = np.random.default_rng(seed + 1000).integers(-9, 9, (2, N))
        expected = run(seed, 0, first)
        recorded = mo.jit(functools.partial(run, seed, 1))
        for _ in range(2):
            for fn in (functools.partial(run, seed, 1), recorded):
                made = fn([mo.array(x) for x in first])
                for value, right in zip(made, expected, strict=True):
                    assert (value.numpy() == right).all()


@pytest.mark.parametrize("seed", range(10))
def test_random_updates(seed):
    rng = np.random.default_rng(seed)
    state, x = rng.integers(-9, 9, (2, N))
    held, given = mo.array(state), mo.array(x)
    with np.errstate(over="ignore"):
        for k in range(6):
            held.update(run(seed + k, 1, [held, given])[-1])
            state = run(seed + k, 0, [state, x])[-1]
            if k % 3 == 0:
                mo.sync_all()
        assert (held.numpy() == state).all()
