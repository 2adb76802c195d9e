# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What there is to compile is bounded per kernel, and grows as programs do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import metaops as mo
import numpy as np
import pytest
from metaops import nn

#: Operations of a kernel's loops. The largest of the workloads of bench/, a tile of
#: a transpose, is a third of it.
LARGEST_KERNEL = 12_000

Step = Callable[[mo.Var], mo.Var]


def measure(results: Sequence[mo.Var]) -> tuple[int, int, int]:
    """Return the kernels that are called, and the operations of all and the largest."""
    mo.sync(list(results))
    sizes = [kernel.loop_operations for kernel in mo.last_program().kernels]
    return len(sizes), sum(sizes), max(sizes, default=0)


def leaf(*shape: int, seed: int = 0) -> mo.Var:
    """Return a leaf of numbers between 0.1 and 0.9."""
    return mo.array(np.random.default_rng(seed).uniform(0.1, 0.9, shape).astype("float32"))


def assert_linear(make: Callable[[int], Sequence[mo.Var]], small: int = 8) -> None:
    """Check that four times the operators are at most about four times the work.

    Of programs that just fit one kernel, the longer may have one for each repetition.
    """
    kernels, operations, _ = measure(make(small))
    more_kernels, more_operations, largest = measure(make(4 * small))
    assert more_kernels <= 4 * max(kernels, small) + 4
    assert more_operations <= 5 * operations + 500
    assert largest <= LARGEST_KERNEL


# Every operator, again and again on its own result


def names(text: str) -> list[str]:
    """Return the words of a text."""
    return text.split()


def pairwise(name: str) -> Step:
    """Return a step of an operator on two tensors."""
    return lambda x: getattr(mo, name)(x, x * 0.5 + 0.25).cast("float32")


def alone(name: str) -> Step:
    """Return a step of an operator on one tensor, whose results stay in range."""
    return lambda x: getattr(mo, name)(x * 0.5 + 0.25).cast("float32")


def bits(name: str) -> Step:
    """Return a step of an operator on integers."""
    return lambda x: getattr(mo, name)((x * 8).cast("int32"), 3).cast("float32") * 0.125


def reduced(name: str) -> Step:
    """Return a step that takes a reduction of rows off the rows."""
    return lambda x: x - 0.1 * getattr(mo, name)(x, 1).cast("float32").reshape(-1, 1)


def halves(x: mo.Var) -> list[mo.Var]:
    """Return the left and the right half."""
    return [x[:, :6], x[:, 6:]]


PAIRWISE = names(
    "add subtract multiply divide pow maximum minimum mod floor_divide equal not_equal "
    "less less_equal greater greater_equal logical_and logical_or logical_xor"
)
ALONE = names(
    "abs ceil cos erf exp floor log logical_not negative round sign sin sqrt square tanh "
    "celu elu gelu hardshrink hardsigmoid hardswish hardtanh leaky_relu log_sigmoid mish relu "
    "relu6 selu sigmoid silu softplus softshrink softsign tanhshrink"
)
REDUCED = names("all any argmax argmin logsumexp max mean min norm prod std sum var")

STEPS: dict[str, Step] = {
    **{name: pairwise(name) for name in PAIRWISE},
    **{name: alone(name) for name in ALONE},
    **{name: reduced(name) for name in REDUCED},
    **{name: bits(name) for name in ("bitwise_and", "bitwise_or", "bitwise_xor")},
    "softmax": lambda x: mo.softmax(x, 1),
    "softmin": lambda x: mo.softmin(x, 1),
    "log_softmax": lambda x: mo.log_softmax(x, 1),
    "glu": lambda x: mo.glu(mo.concat([x, x], 1), 1),
    "prelu": lambda x: mo.prelu(x - 0.5, x[0, 0]),
    "threshold": lambda x: mo.threshold(x * 0.5, 0.1, 0.2),
    "cast": lambda x: (x * 8).cast("int32").cast("float32"),
    "clip": lambda x: mo.clip(x * 1.25, 0.1, 0.9),
    "where": lambda x: mo.where(x > 0.5, x * 0.5, x + 0.25),
    "matmul": lambda x: mo.tanh(x @ x.transpose()) @ x * 0.1,
    "gather": lambda x: mo.gather(x, 1, mo.iota((8, 12), 1).cast("int64")),
    "take": lambda x: mo.take(x, mo.arange(8), 0),
    "scatter_add": lambda x: mo.scatter_add(x, 0, mo.zeros((8, 12), "int64"), x * 0.1),
    "broadcast": lambda x: x + x[0].broadcast((8, 12), (0,)),
    "broadcast_var": lambda x: x * 0.5 + mo.broadcast_var(x[:1], x),
    "reindex": lambda x: mo.exp(-x.reindex((8, 12), ("i0", "11-i1"))),
    "reindex_reduce": lambda x: x - 0.1 * x.reindex_reduce("add", (8, 12), ("i0", "i1")),
    "concat": lambda x: mo.concat(halves(x)[::-1], 1),
    "concatenate": lambda x: mo.concatenate(halves(x)[::-1], 1),
    "stack": lambda x: mo.stack(halves(x)[::-1], 1).reshape(8, 12),
    "split": lambda x: mo.concat(x.split(4, 1)[::-1], 1),
    "pad": lambda x: mo.exp(-mo.pad(x, ((1, 0), (0, 0)))[:8]),
    "flip": lambda x: mo.exp(-mo.flip(x, 1)),
    "transpose": lambda x: mo.transpose(mo.exp(-mo.transpose(x))),
    "permute": lambda x: mo.permute(mo.exp(-mo.permute(x, (1, 0))), (1, 0)),
    "swapaxes": lambda x: mo.swapaxes(mo.exp(-mo.swapaxes(x, 0, 1)), 0, 1),
    "reshape": lambda x: mo.exp(-mo.reshape(x, (12, 8))).reshape(8, 12),
    "flatten": lambda x: mo.exp(-mo.flatten(x)).reshape(8, 12),
    "expand_dims": lambda x: mo.exp(-mo.expand_dims(x, 0)).reshape(8, 12),
    "unsqueeze": lambda x: mo.exp(-mo.unsqueeze(x, 0)).reshape(8, 12),
    "squeeze": lambda x: mo.squeeze(mo.exp(-x.reshape(1, 8, 12)), 0),
    "one_hot": lambda x: mo.one_hot((x * 11).cast("int64")[:, 0], 12) * 0.5 + x * 0.1,
    "stop_grad": lambda x: mo.stop_grad(mo.exp(-x)),
    "stop_fuse": lambda x: mo.stop_fuse(mo.exp(-x)),
    "iota": lambda x: x + 0.01 * mo.iota((8, 12), 1, "float32"),
    "arange": lambda x: x + 0.01 * mo.arange(12).cast("float32"),
    "linspace": lambda x: x + mo.linspace(0.0, 0.1, 12),
    "full_like": lambda x: x * mo.full_like(x, 0.5),
    "zeros_like": lambda x: mo.exp(-x) + mo.zeros_like(x),
    "ones_like": lambda x: mo.exp(-x) * mo.ones_like(x),
    "uniform": lambda x: x * mo.uniform((8, 12)),
    "normal": lambda x: x * mo.normal((8, 12)),
    "bernoulli": lambda x: mo.where(mo.bernoulli(0.5, (8, 12)), x, x * 0.5),
    "rand_like": lambda x: x * mo.rand_like(x),
    "randn_like": lambda x: x * mo.randn_like(x),
}

#: Repetitions of those whose chains are unrolled from a certain length on only.
REPETITIONS = {"linspace": 40}

#: Functions that are no operators of tensors, or another name of one above.
OTHERS = names(
    "Var array asarray from_dlpack full random seed enable_grad grad hessian_vector_product "
    "is_grad_enabled jvp no_grad vjp Module Sequential nn optim load save fetch fetch_sync sync "
    "sync_all dump flag_scope flags get_num_threads set_num_threads Explanation "
    "KernelExplanation explain LastProgram last_program MemoryHolder estimate memory_holders "
    "TunedKernel Tuning tune tuned_schedules "
    "memory_stats memory_summary KernelProfile ProfileReport ProgramProfile profile_scope "
    "reset_peak stats ones zeros rand randint randn empty empty_like tensor cat clamp dtype "
    "bfloat16 float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64"
)


def test_every_operator_is_swept() -> None:
    missing = set(mo.__all__) - set(OTHERS) - STEPS.keys()
    assert not missing, f"STEPS has no step of {', '.join(sorted(missing))}"


@pytest.mark.parametrize("name", STEPS)
def test_chain_of_every_operator(name: str) -> None:
    def chain(count: int) -> list[mo.Var]:
        x = leaf(8, 12)
        for _ in range(count):
            x = STEPS[name](x)
        return [x]

    assert_linear(chain, REPETITIONS.get(name, 8))


# Programs of other forms


def wide_sum(count: int) -> list[mo.Var]:
    """Return the sum of many leaves."""
    total = leaf(100)
    for k in range(count):
        total = total + leaf(100, seed=k)
    return [total]


def tree(count: int) -> list[mo.Var]:
    """Return the product of many leaves, by pairs."""
    level = [leaf(100, seed=k) for k in range(count)]
    while len(level) > 1:
        level = [a * b for a, b in zip(level[::2], level[1::2], strict=True)]
    return level


def outputs(count: int) -> list[mo.Var]:
    """Return many results of one leaf."""
    x = leaf(100)
    return [mo.exp(x * float(k)) for k in range(count)]


def slices(count: int) -> list[mo.Var]:
    """Return functions of many slices of one value."""
    x = mo.exp(leaf(10 * count))
    return [mo.tanh(x[10 * k : 10 * k + 10]) for k in range(count)]


def recurrence(count: int) -> list[mo.Var]:
    """Return the gradient of a recurrent network."""
    h, w = leaf(4, 8), leaf(8, 8, seed=1) * 0.1
    for _ in range(count):
        h = mo.tanh(h @ w)
    return mo.grad(h.sum(), [w])


def parameters(count: int) -> list[mo.Var]:
    """Return the step of an optimizer of many parameters."""
    weights = [leaf(16 + k % 5) for k in range(count)]
    return [w - 0.01 * (w * 0.9 + leaf(16 + k % 5)) for k, w in enumerate(weights)]


@pytest.mark.parametrize("form", [wide_sum, tree, outputs, slices, recurrence, parameters])
def test_growing_programs(form: Callable[[int], list[mo.Var]]) -> None:
    assert_linear(form, 32)


# Kernels that would be too large


def selected(parts: Sequence[mo.Var]) -> mo.Var:
    """Stack along axis 1 by a chain of pads and sums."""
    count = len(parts)
    total: Any = 0.0
    for k, part in enumerate(parts):
        total = total + mo.pad(part.reshape(8, 1, -1), ((0, 0), (k, count - 1 - k), (0, 0)))
    return total


@pytest.mark.parametrize("count", [16, 64, 128])
def test_a_chain_of_pads_gets_no_tiles(count: int) -> None:
    parts = [leaf(8, 128, seed=k) for k in range(count)]
    result = selected(parts)
    _, _, largest = measure([result])
    assert largest <= LARGEST_KERNEL
    np.testing.assert_array_equal(
        result.numpy(), np.stack([part.numpy() for part in parts], axis=1)
    )


def test_a_transposed_sum_of_functions_is_bounded() -> None:
    terms = [leaf(64, 96, seed=k) for k in range(40)]
    total: Any = 0.0
    for k, term in enumerate(terms):
        total = total + mo.tanh(term.transpose() if k % 2 else term.reshape(96, 64))
    _, _, largest = measure([total])
    assert largest <= LARGEST_KERNEL
    expected = sum(
        np.tanh((t.numpy().T if k % 2 else t.numpy().reshape(96, 64)).astype("float64"))
        for k, t in enumerate(terms)
    )
    np.testing.assert_allclose(total.numpy(), expected, rtol=1e-5, atol=1e-5)


def test_many_functions_are_several_kernels() -> None:
    x = leaf(1000)
    result = x
    for _ in range(300):
        result = mo.tanh(result)
    kernels, _, largest = measure([result])
    assert 5 <= kernels <= 30
    assert largest <= LARGEST_KERNEL


def test_a_reduction_of_many_terms_is_unrolled_less() -> None:
    x, w = leaf(32, 48), leaf(48, 64, seed=1)
    product: Any = 0.0
    for k in range(60):
        product = product + mo.tanh((x * float(k)).reshape(32, 48, 1) * w.reshape(1, 48, 64))
    _, _, largest = measure([product.sum(1)])
    assert largest <= LARGEST_KERNEL


def test_losses_of_many_batches() -> None:
    """A network's loss over many batches at once: no form of its own, but a usual one."""
    model = nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 4))

    def make(count: int) -> list[mo.Var]:
        losses = [
            nn.cross_entropy_loss(model(leaf(8, 12, seed=k)), mo.zeros((8,), "int32"))
            for k in range(count)
        ]
        return [sum(losses[1:], losses[0])]

    assert_linear(make, 4)
