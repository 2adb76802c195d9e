# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reference cycles: calls leave none, so memory is let go with the last name of it.

Python's collector counts objects and not their bytes: it may come long after a model of
gigabytes, which is part of a cycle, has lost its names.
"""

from __future__ import annotations

import ast
import contextlib
import gc
import pathlib

import metaops as mo
import numpy as np
import pytest
import training_loops
import typed_calls
from metaops import data, nn, optim
from test_types import CALLS, operands

pytestmark = pytest.mark.processor

PACKAGE = pathlib.Path(__file__).parents[2] / "python/metaops"


@pytest.fixture(autouse=True, scope="module")
def others():
    """Keep the collector from what the tests before have made: every collection would visit it."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()
    gc.collect()
    gc.freeze()


@contextlib.contextmanager
def collected():
    """Yield a list that gets what a block of code leaves to Python's collector, by its kind."""
    gc.collect()
    gc.disable()
    found = []
    try:
        yield found
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        found += sorted(getattr(x, "__qualname__", type(x).__name__) for x in gc.garbage)
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
        gc.collect()


def own_functions(node, around=None):
    """Yield the functions that are defined within others, and those."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef):
            if around is not None:
                yield child, around
            yield from own_functions(child, child)
        elif isinstance(child, ast.ClassDef):
            yield from own_functions(child)
        else:
            yield from own_functions(child, around)


def test_no_function_within_another_calls_itself():
    """Such a function is a cycle, which holds what the function around it has found."""
    found, within = [], 0
    for path in PACKAGE.rglob("*.py"):
        for function, around in own_functions(ast.parse(path.read_text())):
            within += 1
            names = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
            if function.name in names:
                found.append(f"{path.name}:{function.lineno} {around.name}.{function.name}")
    assert within > 50
    assert found == []


def test_a_cycle_is_found():
    with collected() as found:
        cycle = []
        cycle.append(cycle)
        del cycle
    assert found == ["list"]


def test_functions_leave_none(rng):
    found = {}
    for name, call in CALLS.items():
        dtype = "int32" if name in typed_calls.BITS else "float32"
        given = [mo.array(x) for x in operands(rng, call, dtype)]
        call[1](*given)
        with collected() as left:
            call[1](*given)
        if left:
            found[name] = left
    assert found == {}


@pytest.mark.parametrize("wrap", [lambda step: step, mo.jit], ids=["plain", "jit"])
def test_training_loops_leave_none(wrap):
    found = {}
    for name, make in training_loops.LOOPS.items():

        def run(make=make):
            loop = make(wrap)
            for number in range(3):
                loop.step(number)
            mo.sync_all()

        run()
        with collected() as left:
            run()
        if left:
            found[name] = left
    assert found == {}


class Net(nn.Module):
    def __init__(self):
        self.inner = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.ReLU())
        self.several = [nn.Linear(4, 4), nn.Dropout(0.5)]

    def execute(self, x):
        return self.several[1](self.several[0](self.inner(x)))


def visit_modules():
    net = Net()
    net.register_forward_hook(lambda module, given, result: None)
    net.load_state_dict({name: value.numpy() for name, value in net.state_dict().items()})
    net.apply(lambda module: None).eval().train()
    assert len(net.modules()) == 7 and len(net.parameters()) == 6
    mo.summary(net, mo.ones((3, 4)))
    optim.clip_grad_norm(mo.grad(net(mo.ones((3, 4))).sum(), net.parameters()), 1.0)


def transform():
    x = mo.array(np.linspace(-1, 1, 6).reshape(2, 3))

    def f(x):
        return (mo.sin(x) * x).sum()

    mo.vmap(mo.checkpoint(f))(x).numpy()
    mo.hessian(f)(x).numpy()
    mo.switch(mo.array(2), [mo.exp, mo.sin, mo.cos], x).numpy()
    mo.scan(lambda carry, row: (carry + row, carry * row), mo.zeros_like(x[0]), x)[1].numpy()
    mo.while_loop(lambda y: y.sum() < 9, lambda y: y + 1, x).numpy()
    mo.grad(mo.cond(x.sum() > 0, mo.exp, mo.sin, x).sum(), x).numpy()


class Doubled(mo.Function):
    def execute(self, x):
        self.kept = x * 2
        return self.kept

    def grad(self, cotangent):
        return cotangent * 2


def derive():
    x = mo.ones((3,))
    mo.grad(Doubled.apply(x).sum(), x).numpy()
    Doubled.apply(x)


def load():
    rows = data.TensorDataset(np.arange(12.0).reshape(6, 2), np.arange(6))
    assert len(list(data.DataLoader(rows, 2, shuffle=True))) == 3


def train():
    net = Net()
    optimizer = optim.Adam(net.parameters(), lr=0.1)
    scaler = mo.amp.GradScaler()
    with mo.amp.autocast("bfloat16"):
        loss = net(mo.ones((3, 4))).sum()
    scaler.step(optimizer, loss)
    scaler.update()
    mo.sync_all()


def search_lines():
    net = nn.Linear(4, 1)
    x = mo.ones((3, 4))
    optimizer = optim.LBFGS(net.parameters(), max_iter=3, line_search_fn="strong_wolfe")
    optimizer.step(lambda: (net(x) ** 2).sum())

    def fails():
        raise OSError("no data")

    with contextlib.suppress(OSError):
        optimizer.step(fails)
    optimizer.load_state_dict(optimizer.state_dict())


def average():
    net = nn.Linear(4, 1)
    optimizer = optim.SGD(net.parameters(), 0.1)
    schedule = optim.SWALR(optimizer, 0.05)
    averaged = optim.AveragedModel(net)
    optimizer.step(net(mo.ones((3, 4))).sum())
    averaged.update_parameters(net)
    schedule.step()
    mo.sync_all()


def sample():
    by_length = data.BucketBatchSampler([3, 1, 2, 5, 4], 2, drop_last=True)
    assert len(list(data.DataLoader(range(5), batch_sampler=by_length))) == 2
    part = data.DistributedSampler(range(5), 2, 1)
    assert len(list(data.DataLoader(range(5), sampler=part))) == 3


def summarise_steps():
    net = Net()
    optimizer = optim.Adam(net.parameters(), lr=0.1)
    x = mo.ones((3, 4))

    @mo.jit
    def step(x):
        loss = net(x).sum()
        optimizer.step(loss)
        return loss

    assert mo.summary(net, x, step=step).step.kernels > 0
    with contextlib.suppress(ValueError):
        mo.summary(net, x, step=lambda x: net(x[:, :2]))


TOOLS = [visit_modules, transform, derive, load, train]
TOOLS += [search_lines, average, sample, summarise_steps]


@pytest.mark.parametrize("run", TOOLS)
def test_tools_leave_none(run):
    run()
    with collected() as left:
        run()
    assert left == []
