# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What runs when a value is asked for, what waits, and what fuses with what."""

import gc

import metaops as mo
import numpy as np
import pytest
from util import close, floats


@pytest.fixture(autouse=True)
def nothing_is_left():
    """Drop what Vars of earlier tests, in cycles, hold: it would be computed along."""
    gc.collect()


def groups():
    """Return the operators of every kernel of the last program, broadcasts apart."""
    return [
        [name for name in kernel.operators if name != "broadcast"]
        for kernel in mo.last_program().kernels
    ]


def run_count():
    return mo.stats()["programs_run"]


@pytest.fixture
def leaves(rng):
    """Two matrices in memory, and the same as arrays."""
    a, b = floats(rng, (3, 4)), floats(rng, (4, 3))
    x, y = mo.array(a), mo.array(b)
    mo.sync([x, y])
    return x, y, a, b


# Out of order


def test_an_op_fuses_with_later_ones_and_runs_after_younger_ones(compiled, leaves):
    # Figure 8 of Hu et al. (2020): op1 waits while op2 to op4 run, then runs
    # with op5 and op6.
    x, y, a, b = leaves
    op1 = x * x
    op2 = y.transpose(1, 0)
    op3 = op2.exp()
    op4 = op3.sum(1)
    before = run_count()
    op4.sync()
    assert run_count() == before + 1
    assert groups() == [["transpose", "exp", "reduce"]]

    op5 = op1 + x
    op6 = op5.tanh()
    mo.sync(op6)
    assert groups() == [["mul", "add", "tanh"]]

    op7 = op6 * op4.broadcast((3, 4), dims=(1,))
    op8 = op7 - 1.0
    mo.sync(op8)
    assert groups() == [["mul", "sub"]]
    assert run_count() == before + 3

    expected4 = np.exp(b.T).sum(1)
    expected6 = np.tanh(a * a + a)
    close(op4, expected4)
    close(op6, expected6)
    close(op8, expected6 * expected4[:, None] - 1)
    assert run_count() == before + 3
    # Nobody asked for op1, so it is not in memory; now it is.
    close(op1, a * a)
    assert run_count() == before + 4
    assert groups() == [["mul"]]


@pytest.mark.processor
def test_asked_for_as_a_whole_the_same_graph_has_three_groups(compiled, leaves):
    x, y, a, b = leaves
    op4 = y.transpose(1, 0).exp().sum(1)
    op6 = (x * x + x).tanh()
    op8 = op6 * op4.broadcast((3, 4), dims=(1,)) - 1.0
    op8.sync()
    # Rule 2 ends the group of the sum. The rest is one group with its consumer.
    assert groups() == [["transpose", "exp", "reduce"], ["mul", "add", "tanh", "mul", "sub"]]
    close(op8, np.tanh(a * a + a) * np.exp(b.T).sum(1)[:, None] - 1)


# No more than is needed


def test_asking_runs_what_is_needed_and_no_more(compiled, leaves):
    x, _, a, _ = leaves
    wanted = x * 2.0
    other = x.exp()
    both = wanted + other
    before = run_count()
    close(wanted, a * np.float32(2))
    assert run_count() == before + 1
    assert groups() == [["mul"]]
    mo.sync(both)
    assert groups() == [["exp", "add"]]
    close(other, np.exp(a))
    assert groups() == [["exp"]]
    close(both, a * np.float32(2) + np.exp(a))


def test_shapes_types_and_recording_run_nothing(leaves):
    x, _, _, _ = leaves
    before = run_count()
    y = (x.transpose(1, 0) * 2).reshape(2, -1)[:, 1:]
    assert y.shape == (2, 5) and y.dtype == "float32" and y.ndim == 2 and y.size == 10
    assert len(y) == 2
    mo.grad(y.sum(), x)
    assert run_count() == before


def test_what_nobody_holds_never_runs(leaves):
    x, _, _, _ = leaves
    mo.sync_all()
    before = run_count()
    ops = mo.stats()["ops_in_block"]
    for _ in range(20):
        x.exp().sum()
    mo.sync_all()
    assert run_count() == before
    assert mo.stats()["ops_in_block"] == ops


def test_what_is_in_memory_runs_nothing(leaves):
    x, _, a, _ = leaves
    y = x + 1
    y.sync()
    before = run_count()
    close(y, a + 1)
    y.sync()
    mo.sync([y, x])
    close(y.reshape(12), (a + 1).reshape(12))
    assert run_count() == before


def test_values_asked_for_together_share_a_program(compiled, leaves):
    x, _, a, _ = leaves
    y, z = x * 2, x + 3
    before = run_count()
    mo.sync([y, z])
    assert run_count() == before + 1
    assert len(mo.last_program().kernels) == 1
    close(y, a * 2)
    close(z, a + 3)
    assert run_count() == before + 1


def test_sync_all_runs_what_is_held_in_one_program(leaves):
    x, _, a, _ = leaves
    held = [x * float(i) for i in range(4)]
    gone = x.tanh()
    del gone
    before = run_count()
    mo.sync_all()
    assert run_count() == before + 1
    for i, value in enumerate(held):
        close(value, a * np.float32(i))
    mo.sync_all()
    assert run_count() == before + 1


# Across iterations


def test_iterations_fuse_across(compiled, leaves):
    x, _, a, _ = leaves
    y, expected = x, a
    before = run_count()
    for i in range(5):
        y = y * 2.0 + float(i)
        expected = expected * np.float32(2) + np.float32(i)
    close(y, expected)
    assert run_count() == before + 1
    assert groups() == [["mul", "add"] * 5]


def test_batches_become_one_kernel(compiled, leaves, rng):
    x, _, a, _ = leaves
    outs = [mo.tanh(x * float(i) + 1.0) for i in range(3)]
    mo.sync(outs)
    assert len(mo.last_program().kernels) == 1
    for i, out in enumerate(outs):
        close(out, np.tanh(a * np.float32(i) + 1))


def train(steps, look=None):
    """Train a line on noise; return the parameters' history sizes and values."""
    rng = np.random.default_rng(3)
    data = mo.array(floats(rng, (steps * 8, 5)))
    goal = mo.array(floats(rng, (steps * 8, 2)))
    layer = mo.nn.Linear(5, 2)
    layer.weight.assign(mo.array(floats(rng, layer.weight.shape)))
    layer.bias.assign(mo.array(floats(rng, layer.bias.shape)))
    optimizer = mo.optim.SGD(layer.parameters(), 0.05, momentum=0.9)
    sizes = []
    for i in range(steps):
        rows = slice(8 * i, 8 * i + 8)
        loss = mo.nn.mse_loss(layer(data[rows]), goal[rows])
        if look:
            look(i, loss, layer)
        optimizer.step(loss)
        stats = mo.stats()
        sizes.append((stats["ops_in_block"], stats["live_vars"]))
    return sizes, layer.weight.numpy(), layer.bias.numpy()


def test_the_pending_graph_is_cut_at_updates():
    before = run_count()
    sizes, _, _ = train(50)
    # The second iteration still sees what made the parameters.
    assert len(set(sizes[2:])) == 1, sizes
    # One program an iteration; the parameters' first values, and the last look.
    assert 50 <= run_count() - before <= 54


@pytest.mark.parametrize("when", ["never", "loss", "weights", "everything", "now and then"])
def test_what_is_looked_at_changes_no_number(when):
    def look(i, loss, layer):
        if when == "loss":
            loss.item()
        elif when == "weights":
            layer.weight.sync()
        elif when == "everything":
            mo.sync_all()
        elif when == "now and then" and i % 3 == 1:
            loss.item()
            layer.bias.numpy()

    _, weight, bias = train(12, look)
    _, weight0, bias0 = train(12)
    close(weight, weight0, rtol=1e-5)
    close(bias, bias0, rtol=1e-5)


# Fusion, gradients, laziness that are stopped


def test_stop_fuse_ends_a_group(compiled, leaves):
    x, _, a, _ = leaves
    y = mo.stop_fuse(x * 2.0).exp()
    y.sync()
    assert groups() == [["mul"], ["exp"]]
    close(y, np.exp(a * np.float32(2)))
    z = (x * 2.0).exp()
    z.sync()
    assert groups() == [["mul", "exp"]]
    close(z, y)


def test_stop_fuse_lets_gradients_through(leaves):
    x, _, a, _ = leaves
    gradient = mo.grad((mo.stop_fuse(x * x) * 3.0).sum(), x)
    close(gradient, 6 * a, rtol=1e-5)


def test_stop_fuse_as_a_method(compiled, leaves):
    x, _, a, _ = leaves
    z = (x * 2.0).stop_fuse() + 1.0
    z.sync()
    assert groups() == [["mul"], ["add"]]
    close(z, a * 2 + 1)


def test_detach_keeps_the_value_and_cuts_the_gradient(leaves):
    x, _, a, _ = leaves
    y = x.exp()
    cut = y.detach()
    assert cut is not y
    gradient, none = mo.grad((cut * x).sum(), [x, y])
    close(gradient, np.exp(a), rtol=1e-5)
    close(none, np.zeros_like(a))
    # The value itself may still be differentiated.
    close(mo.grad((y * y).sum(), x), 2 * np.exp(2 * a), rtol=1e-5)


def test_detach_does_not_end_a_group(compiled, leaves):
    x, _, a, _ = leaves
    y = x.exp().detach() + 1.0
    y.sync()
    assert groups() == [["exp", "add"]]
    close(y, np.exp(a) + 1)


@pytest.mark.parametrize("rules", ["extended", "paper"])
def test_laziness_is_the_same_under_all_rules(leaves, rules):
    x, y, a, b = leaves
    mo.flags.rules = rules
    z = ((x @ y).exp() / 2.0).sum(0)
    w = z * 2 + 1
    close(z, (np.exp(a @ b) / 2).sum(0), rtol=1e-5)
    close(w, (np.exp(a @ b) / 2).sum(0) * 2 + 1, rtol=1e-5)


# One by one


@pytest.fixture
def eager():
    """Run every operator when it is recorded."""
    mo.flags.lazy_execution = False
    yield
    mo.flags.lazy_execution = True


def test_without_laziness_each_op_is_a_program(compiled, eager, leaves):
    x, _, a, _ = leaves
    before = run_count()
    y = x.exp()
    assert run_count() == before + 1
    z = y + x
    assert run_count() == before + 2
    assert len(mo.last_program().kernels) == 1
    close(z, np.exp(a) + a)
    assert run_count() == before + 2


def test_without_laziness_the_numbers_are_the_same(eager):
    mo.flags.lazy_execution = True
    _, weight0, bias0 = train(6)
    mo.flags.lazy_execution = False
    _, weight, bias = train(6)
    close(weight, weight0, rtol=1e-5)
    close(bias, bias0, rtol=1e-5)


def test_without_laziness_errors_are_the_same(eager, leaves):
    x, y, _, _ = leaves
    with pytest.raises(ValueError, match=r"\(3, 4\).*\(4, 3\)"):
        x + y
    close(x - x, np.zeros((3, 4)))
