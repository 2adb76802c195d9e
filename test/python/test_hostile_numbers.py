# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Absurd integers in place of extents, dimensions, counts and flags."""

import random
import re

import metaops as mo
import numpy as np
import pytest

ABSURD = [
    sign * number
    for number in (2**31, 2**32, 2**40, 2**53 + 1, 2**61, 2**62, 2**63 - 1, 2**63, 2**64, 10**30)
    for sign in (1, -1)
] + [-1, 0, 10**6]
ALLOWED = (ValueError, TypeError, IndexError, OverflowError, MemoryError)

x = mo.array(np.arange(6, dtype="f4").reshape(2, 3))
index = mo.array([0, 1])

# Each takes one integer, and records; none computes anything large.
CALLS = {
    "append": lambda n: mo.append(x, x, n),
    "arange": lambda n: mo.arange(n),
    "arange from": lambda n: mo.arange(-n, n, 7),
    "arange by": lambda n: mo.arange(0, 10, n),
    "array +": lambda n: x + n,
    "array_split": lambda n: mo.array_split(x, n) if n < 10**5 or n > 10**6 else None,
    "at": lambda n: x.at[n, [0]].add(1),
    "affine_grid": lambda n: mo.nn.affine_grid(mo.ones((2, 2, 3)), (2, 1, n, n)),
    "argmax": lambda n: mo.argmax(x, n),
    "bernoulli": lambda n: mo.bernoulli(0.5, (n,)),
    "broadcast": lambda n: x.broadcast((n, 2, 3)),
    "concat": lambda n: mo.concat([x, x], n),
    "adaptive pool": lambda n: mo.nn.adaptive_avg_pool1d(mo.ones((1, 1, 4)), n),
    "avg_pool3d": lambda n: mo.nn.avg_pool3d(mo.ones((1, 1, 4, 4, 4)), 2, 1, n, True),
    "conv layer": lambda n: mo.nn.Conv1d(n, n, 1),
    "conv1d same": lambda n: mo.nn.conv1d(
        mo.ones((1, 1, 4)), mo.ones((1, 1, 2)), padding="same", dilation=n
    ),
    "conv_transpose1d": lambda n: mo.nn.conv_transpose1d(
        mo.ones((1, 1, 4)), mo.ones((1, 1, 2)), stride=n
    ),
    "conv_transpose1d padding": lambda n: mo.nn.conv_transpose1d(
        mo.ones((1, 1, 4)), mo.ones((1, 1, 2)), padding=n, output_padding=n, stride=n
    ),
    "circular border": lambda n: mo.nn.Conv1d(1, 1, 1, padding=n, padding_mode="circular")(
        mo.ones((1, 1, 4))
    ),
    "replicate border": lambda n: mo.nn.Conv1d(1, 1, 1, padding=n, padding_mode="replicate")(
        mo.ones((1, 1, 4))
    ),
    "conv2d dilation": lambda n: mo.nn.conv2d(
        mo.ones((1, 1, 4, 4)), mo.ones((1, 1, 2, 2)), dilation=n
    ),
    "conv2d groups": lambda n: mo.nn.conv2d(mo.ones((1, 1, 4, 4)), mo.ones((1, 1, 2, 2)), groups=n),
    "conv2d padding": lambda n: mo.nn.conv2d(
        mo.ones((1, 1, 4, 4)), mo.ones((1, 1, 2, 2)), padding=n
    ),
    "conv2d stride": lambda n: mo.nn.conv2d(mo.ones((1, 1, 4, 4)), mo.ones((1, 1, 2, 2)), stride=n),
    "delete": lambda n: mo.delete(x, n, 1),
    "diag": lambda n: mo.diag(x[0], n),
    "diagonal": lambda n: mo.diagonal(x, n, n),
    "embedding": lambda n: mo.nn.Embedding(n, n),
    "eye": lambda n: mo.eye(n, n, n),
    "embedding padding": lambda n: mo.nn.Embedding(5, 2, padding_idx=n),
    "flatten": lambda n: mo.flatten(x, n),
    "flip": lambda n: mo.flip(x, n),
    "fold": lambda n: mo.nn.fold(mo.ones((1, 4, 6)), (3, n), 2),
    "full": lambda n: mo.full((n,), n),
    "gather": lambda n: mo.gather(x, n, mo.array([[0], [0]])),
    "indices": lambda n: mo.indices((n, n)),
    "insert": lambda n: mo.insert(x, n, 1.0, 1),
    "interpolate": lambda n: mo.nn.interpolate(mo.ones((1, 1, 4, 4)), n),
    "interpolate by": lambda n: mo.nn.interpolate(
        mo.ones((1, 1, 4, 4)), scale_factor=(n, 2), mode="bilinear"
    ),
    "interpolate linearly": lambda n: mo.nn.interpolate(
        mo.ones((1, 1, 4)), n if n < 10**6 else -n, mode="linear"
    ),
    "iota": lambda n: mo.iota((n, 3), n),
    "item": lambda n: x[n],
    "item index": lambda n: x[index, n],
    "group norm": lambda n: mo.nn.GroupNorm(n, n),
    "layer norm": lambda n: mo.nn.LayerNorm(n),
    "linear": lambda n: mo.nn.Linear(n, n),
    "heads": lambda n: mo.nn.MultiheadAttention(4, n),
    "linspace": lambda n: mo.linspace(0, 1, n),
    "local response": lambda n: mo.nn.local_response_norm(mo.ones((1, 2, 3)), n),
    "logspace": lambda n: mo.logspace(0, 1, n),
    "lp_pool1d": lambda n: mo.nn.lp_pool1d(mo.ones((1, 1, 4)), n, 2, n),
    "max_pool1d": lambda n: mo.nn.max_pool1d(mo.ones((1, 1, 4)), 2, n, 1, 1, True, True),
    "max_unpool1d": lambda n: mo.nn.max_unpool1d(mo.ones((1, 2)), mo.zeros((1, 2), "int64"), n),
    "lengths": lambda n: mo.nn.GRU(3, 4)(x, lengths=n),
    "max_pool2d": lambda n: mo.nn.max_pool2d(mo.ones((1, 1, 4, 4)), n),
    "moveaxis": lambda n: mo.moveaxis(x, n, 0),
    "normal": lambda n: mo.normal((n, n)),
    "one_hot": lambda n: mo.one_hot(index, n),
    "ones": lambda n: mo.ones((3, n)),
    "pad": lambda n: mo.pad(x, ((n, n), (0, 0))),
    "pad and cut": lambda n: mo.pad(x, ((n, -n), (-n, n))),
    "pad by edges": lambda n: mo.pad(x, ((n, 0), (0, n)), "edge"),
    "pad by reflections": lambda n: mo.pad(x, ((0, 0), (n, 1)), "reflect"),
    "pad by ramps": lambda n: mo.pad(x, {0: (0, n)}, "linear_ramp"),
    "pixel_shuffle": lambda n: mo.nn.pixel_shuffle(mo.ones((4, 1, 1)), n),
    "rand": lambda n: mo.rand(n),
    "randint": lambda n: mo.randint(0, n, (3,)),
    "randint shape": lambda n: mo.randint(0, 3, (n, n)),
    "randn": lambda n: mo.randn(n, 2),
    "random": lambda n: mo.random((n,)),
    "recurrent": lambda n: mo.nn.GRU(n, n),
    "recurrent layers": lambda n: mo.nn.GRU(3, 4, n),
    "reindex": lambda n: x.reindex((n, 3), ("i0", "i1")),
    "reindex constant": lambda n: x.reindex((2, 3), (f"i0*{n}", f"i1+{n}")),
    "reindex_reduce": lambda n: x.reindex_reduce("add", (n, 3), ("i0", "i1")),
    "repeat": lambda n: mo.repeat(x, n, 0),
    "repeat along": lambda n: mo.repeat(x, 2, n),
    "reshape": lambda n: x.reshape((n,)),
    "reshape to more": lambda n: x.reshape((n, n, -1)),
    "reshape by": lambda n: x.reshape((-1, n)),
    "roll": lambda n: mo.roll(x, n, n),
    "seed": lambda n: mo.seed(n),
    "set_num_threads": lambda n: mo.set_num_threads(n),
    "sliding_window_view": lambda n: mo.sliding_window_view(x, n, 0),
    "slice": lambda n: x[n:],
    "slice step": lambda n: x[::n],
    "slice to": lambda n: x[-n:n:n],
    "softmax": lambda n: mo.softmax(x, n),
    "split": lambda n: mo.split(x, n, 1) if abs(n) < 10**5 or n > 2**62 else None,
    "squeeze": lambda n: mo.squeeze(x, n),
    "stack": lambda n: mo.stack([x, x], n),
    "sum": lambda n: x.sum(n),
    "swapaxes": lambda n: mo.swapaxes(x, 0, n),
    "take": lambda n: mo.take(x, index, n),
    "take clipped": lambda n: mo.take(x, n, 0, "clip"),
    "take wrapped": lambda n: mo.take(x, n, 0, "wrap"),
    "tile": lambda n: mo.tile(x, (n, n)),
    "transpose": lambda n: mo.transpose(x, (n, 0)),
    "tri": lambda n: mo.tri(n, 3, n),
    "tril": lambda n: mo.tril(x, n),
    "tril_indices": lambda n: mo.tril_indices(3, n, n) if abs(n) != 10**6 else None,
    "unflatten": lambda n: mo.nn.Unflatten(1, (n, -1))(x),
    "unfold": lambda n: mo.nn.unfold(mo.ones((1, 1, 4, 4)), 2, n, n, n),
    "uniform": lambda n: mo.uniform((n,)),
    "unsqueeze": lambda n: mo.unsqueeze(x, n),
    "unstack": lambda n: mo.unstack(x, n),
    "vander": lambda n: mo.vander(x[0], n),
    "zeros": lambda n: mo.zeros((n, n)),
    "flag memory_limit": lambda n: setattr(mo.flags, "memory_limit", n),
    "flag saved_values_budget": lambda n: setattr(mo.flags, "saved_values_budget", n),
    "flag fuse": lambda n: setattr(mo.flags, "fuse", n),
}


#: Functions that take any integer.
HARMLESS = {"array +", "flag fuse", "slice", "slice to", "take clipped", "take wrapped", "tril"}


@pytest.fixture(autouse=True)
def settings():
    names = ("memory_limit", "saved_values_budget", "fuse")
    before = {name: getattr(mo.flags, name) for name in names}
    threads = mo.get_num_threads()
    yield
    for name, value in before.items():
        setattr(mo.flags, name, value)
    mo.set_num_threads(threads)
    mo.seed(0)


def refused(call, *arguments):
    """Whether a call raises one of the documented exceptions, with a message of its own."""
    try:
        result = call(*arguments)
    except ALLOWED as error:
        message = str(error)
        assert message, (call, arguments)
        # These come of an overflow in between, or out of the depths.
        assert not re.search(r"index-sized|too big to convert|bad_alloc|C (long|int)", message)
        return True
    if isinstance(result, mo.Var):
        assert all(extent >= 0 for extent in result.shape)
        assert np.prod([float(extent or 1) for extent in result.shape]) < 2**60
    return False


@pytest.mark.parametrize("name", CALLS)
def test_an_absurd_integer_is_refused_or_harmless(name):
    outcomes = [refused(CALLS[name], n) for n in ABSURD]
    assert any(outcomes) or name in HARMLESS
    assert x.sum().item() == 15


def test_absurd_shapes_are_refused_or_harmless():
    choose = random.Random(0)
    makers = [
        mo.zeros,
        mo.random,
        lambda shape: x.reshape(shape),
        lambda shape: x.broadcast(shape),
        lambda shape: x.reindex(shape, ("i0", "i1 + i0")),
        lambda shape: x.reindex_reduce("add", shape, ("i0",) * len(shape)),
        lambda shape: mo.pad(x, list(zip(shape, shape[::-1], strict=True))),
        lambda shape: mo.zeros(shape).reshape(shape[::-1]),
        lambda shape: mo.ones(shape).sum(),
    ]
    numbers = [*ABSURD, 1, 2, 3, 2**20, 2**30, 2**59]
    outcomes = [
        refused(
            choose.choice(makers), [choose.choice(numbers) for _ in range(choose.randint(1, 4))]
        )
        for _ in range(600)
    ]
    assert 300 < sum(outcomes) < 600
    assert x.sum().item() == 15


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: mo.pad(x, ((2**62, 2**62), (0, 0))),
            r"pad: widths 4611686018427387904 and 4611686018427387904 make too much "
            r"\(expected fewer than 2\*\*60 elements\) of the extent 2 of dimension 0",
        ),
        (
            lambda: mo.pad(x, ((-(2**63), -(2**63)), (0, 0))),
            "remove more than the extent 2 of dimension 0",
        ),
        (
            lambda: mo.zeros((2**40, 2**40)),
            r"shape \(1099511627776, 1099511627776\) has too many elements; "
            r"expected fewer than 2\*\*60",
        ),
        (lambda: mo.zeros((0, 2**40, 2**40)), "too many elements"),
        (lambda: mo.zeros((2**40, 1)) @ mo.zeros((1, 2**40)), "too many elements"),
        (lambda: x.reshape((2**32, 2**32, -1)), "has 6 elements, which do not fit the shape"),
        (lambda: mo.set_num_threads(10**6), "given 1000000, expected 1 to 4096"),
        (lambda: mo.set_num_threads(0), "given 0, expected 1 to 4096"),
        (lambda: mo.set_num_threads(-1), "given -1, expected 1 to 4096"),
        (lambda: mo.ones(2**70), "given 1180591620717411303424, expected an integer of 64 bits"),
        (
            lambda: setattr(mo.flags, "memory_limit", 2**63),
            "given 9223372036854775808, expected an integer of 64 bits",
        ),
    ],
)
def test_messages_say_what_was_given_and_expected(call, message):
    with pytest.raises((ValueError, OverflowError), match=message):
        call()


def test_a_number_of_threads_is_an_integer():
    for given in (1.5, "3", None, True):
        with pytest.raises(TypeError, match=r"set_num_threads: n is .*, expected an integer"):
            mo.set_num_threads(given)


def test_memory_that_is_not_there_is_told_by_its_size():
    huge = mo.zeros((2**40, 2**10))
    with pytest.raises(MemoryError, match=f"a buffer of {2**52} bytes was asked for"):
        huge.numpy()
    assert x.sum().item() == 15


def test_the_end_of_the_random_numbers_is_no_end():
    # Counters go on behind the largest one.
    for _ in range(20):
        mo.random((2**59,))
    values = mo.random((1000,)).numpy()
    assert 0 <= values.min() < 0.1 and 0.9 < values.max() < 1


def test_ranges_of_large_integers_are_exact():
    start = 2**62
    np.testing.assert_array_equal(mo.arange(start, start + 3), [start, start + 1, start + 2])
    np.testing.assert_array_equal(mo.arange(start + 3, start, -2), [start + 3, start + 1])
