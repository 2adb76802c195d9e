# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Formulas of optimisers that are recorded once."""

import threading

import metaops as mo
import numpy as np
import pytest
from metaops import optim
from metaops._core import record_function, replay

OPTIMISERS = {
    "SGD": {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1},
    "Adam": {"amsgrad": True, "weight_decay": 0.1},
    "AdamW": {},
    "Adamax": {},
    "NAdam": {},
    "RAdam": {},
    "Adagrad": {},
    "Adadelta": {},
    "RMSprop": {"momentum": 0.9, "centered": True},
    "Rprop": {},
    "ASGD": {},
    "Adafactor": {},
    "LAMB": {},
    "Lion": {"weight_decay": 0.1},
    "Muon": {},
}
SHAPES = [(4, 3), (4, 3), (5, 4)]


def steps(cls, options, dtype, count=8, **common):
    """Return the parameters and the state after some steps, and the programs compiled."""
    mo.sync_all()  # whatever is pending would be computed along with the first step
    rng = np.random.default_rng(7)
    parameters = [mo.array(rng.standard_normal(shape), dtype) for shape in SHAPES]
    optimiser = cls(parameters, 0.01, **options, **common)
    compiled = mo.stats()["programs_compiled"]
    kept = []  # a program may write over what nobody holds
    for step in range(count):
        gradients = [mo.array(rng.standard_normal(shape), dtype) for shape in SHAPES]
        kept.append(gradients)
        # Now of what is in memory, now of what is pending.
        if step % 3:
            gradients = [gradient * 2 for gradient in gradients]
        if step % 4 == 3:
            gradients[1] = None
        optimiser.apply(gradients)
    tensors = [*parameters, *optimiser._tensors().values()]
    arrays = mo.fetch_sync(tensors)
    return arrays, mo.stats()["programs_compiled"] - compiled


@pytest.mark.parametrize("name", OPTIMISERS)
@pytest.mark.parametrize(
    "common", [{}, {"maximize": True}, {"master": True}], ids=["plain", "maximize", "master"]
)
@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
def test_replays_give_what_recording_gives(own_kernels, name, common, dtype):
    cls = getattr(optim, name)
    assert cls.__dict__["is_recorded_once"]
    # A class that does not say so is recorded anew.
    inline = type("Inline" + name, (cls,), {})
    expected, _ = steps(inline, OPTIMISERS[name], dtype, **common)
    actual, compiled = steps(cls, OPTIMISERS[name], dtype, **common)
    for x, y in zip(actual, expected, strict=True):
        np.testing.assert_array_equal(x, y)
    # Its programs are those of the other.
    assert compiled == 0


_OUTSIDE = mo.ones((3,), "float64")


class Counting(optim.Optimizer):
    """Counts how often its formula is recorded."""

    is_recorded_once = True
    calls = 0

    def _numbers(self, group, step):
        return {"lr": group["lr"]}

    def _update(self, index, parameter, gradient, n):
        type(self).calls += 1
        return parameter - n["lr"] * gradient


def test_records_once_a_shape_and_dtype():
    Counting.calls = 0
    parameters = [mo.zeros(shape, dtype) for shape in SHAPES for dtype in ("float32", "float64")]
    optimiser = Counting(parameters, 0.5)
    for step in range(5):
        optimiser.lr = 0.5 + step
        optimiser.apply([mo.ones(p.shape, p.dtype) * 2 for p in parameters])
    assert Counting.calls == 4
    for parameter in parameters:
        np.testing.assert_array_equal(parameter.numpy(), -2 * sum(0.5 + k for k in range(5)))


def test_subclasses_say_so_themselves():
    Counting.calls = 0
    inline = type("Inline", (Counting,), {"calls": 0})
    optimiser = inline([mo.zeros((2,))], 0.5)
    for _ in range(3):
        optimiser.apply([mo.ones((2,)) * 2])
    assert inline.calls == 3


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (lambda p, g: p * float(g.sum()), "needs numbers"),
        (lambda p, g: p if g.sum() > 0 else g, "needs numbers"),
        (lambda p, g: p + mo.array(np.ones(3)), "makes an array a value"),
        (lambda p, g: p + _OUTSIDE, "uses a Var that is none of its arguments"),
        (lambda p, g: p[:2], "update: the value"),
    ],
    ids=["float", "if", "array", "outside", "shape"],
)
def test_what_a_formula_cannot_do_raises(body, message):
    cls = type(
        "Bad",
        (Counting,),
        {"is_recorded_once": True, "_update": lambda self, index, p, g, n: body(p, g)},
    )
    parameter = mo.array(np.arange(3.0))
    optimiser = cls([parameter], 0.5)
    for _ in range(2):
        with pytest.raises((RuntimeError, ValueError), match=message):
            optimiser.apply([mo.ones((3,), "float64")])
    assert optimiser.steps == 0
    np.testing.assert_array_equal(parameter.numpy(), np.arange(3.0))
    np.testing.assert_array_equal((parameter + 1).numpy(), np.arange(3.0) + 1)


def test_values_of_others_raise():
    outside = mo.ones((3,))
    kept = []

    def uses(arguments):
        arguments[0].update(arguments[0] + outside)

    def leaks(arguments):
        kept.append(arguments[0] * 2)
        arguments[0].update(kept[0])

    # It is the argument, however the function comes to it.
    replay([record_function(uses, [outside])], [[outside]])
    np.testing.assert_array_equal(outside.numpy(), np.full(3, 2.0))
    record_function(leaks, [outside])
    assert kept[0].device == outside.device
    assert str(kept[0]) == repr(kept[0]) == "Var(recorded, shape=(3,), dtype=float32)"
    for use in (
        lambda: kept[0].numpy(),
        lambda: kept[0] + outside,
        lambda: mo.grad(kept[0], outside),
    ):
        with pytest.raises(RuntimeError, match="function"):
            use()
    np.testing.assert_array_equal((outside + 1).numpy(), np.full(3, 3.0))


def test_other_threads_go_on():
    inside, outside = threading.Event(), threading.Event()
    values = []

    def waits(arguments):
        inside.set()
        assert outside.wait(60)
        arguments[0].update(arguments[0] * 2)

    def computes():
        assert inside.wait(60)
        values.append((mo.ones((3,)) + 1).numpy())
        outside.set()

    other = threading.Thread(target=computes)
    other.start()
    function = record_function(waits, [mo.ones((3,))])
    other.join()
    np.testing.assert_array_equal(values[0], [2, 2, 2])
    assert function.num_operations() == 3  # with the number, and its broadcast


@pytest.mark.parametrize("name", ["Adam", "SGD"])
def test_parameters_may_become_of_another_dtype(name):
    class Inline(getattr(optim, name)):
        pass

    results = []
    for cls in (getattr(optim, name), Inline):
        parameter, other = mo.ones((3,)), mo.ones((3,))
        optimiser = cls([parameter, other], 0.1, master=True)
        for step in range(6):
            if step == 3:
                parameter.assign(parameter.cast("float16"))
            gradients = [mo.ones((3,), p.dtype) * (1 + step) for p in (parameter, other)]
            optimiser.apply(gradients)
        assert parameter.dtype == "float16"
        results.append(mo.fetch_sync([parameter, other, *optimiser._tensors().values()]))
    for x, y in zip(*results, strict=True):
        np.testing.assert_array_equal(x, y)
    assert len(results[0]) == (7 if name == "Adam" else 3)


def test_arguments_change_in_all_ways():
    def function(arguments):
        x, y, z = arguments
        alias = x.cast(x.dtype)
        x.assign(x + 1)
        x += 2
        x[0] = 7
        y.update(x * 10)
        alias.update(alias * 3)
        z.assign(alias)

    given = [mo.ones((3,)), mo.ones((3,)), mo.ones((3,))]
    recorded = record_function(function, given)
    expected = [mo.ones((3,)), mo.ones((3,)), mo.ones((3,))]
    for _ in range(3):
        replay([recorded], [given])
        function(expected)
    for x, y in zip(given, expected, strict=True):
        np.testing.assert_array_equal(x.numpy(), y.numpy())


def test_random_numbers_are_drawn_anew():
    def function(arguments):
        arguments[0].update(mo.random.uniform((3,)))
        arguments[1].update(mo.random.uniform((3,)) + arguments[0])

    given = [mo.ones((3,)), mo.ones((3,))]
    recorded = record_function(function, given)
    mo.seed(5)
    drawn = []
    for _ in range(3):
        replay([recorded], [given])
        drawn += [x.numpy() for x in given]
    mo.seed(5)
    for step in range(3):
        function(given)
        for x, y in zip(given, drawn[2 * step :], strict=False):
            np.testing.assert_array_equal(x.numpy(), y)


@pytest.mark.parametrize("is_once", [True, False])
def test_a_gradient_of_another_dtype_is_a_type_error(is_once):
    cls = optim.SGD if is_once else type("Inline", (optim.SGD,), {})
    parameters = [mo.ones((2,)), mo.ones((2,))]
    optimiser = cls(parameters, 0.1)
    with pytest.raises(TypeError, match="the value is float64, expected the Var's float32"):
        optimiser.apply([mo.ones((2,), "float64")] * 2)
    assert optimiser.steps == 0
    np.testing.assert_array_equal(parameters[0].numpy(), [1, 1])


def test_operators_that_run_at_once_are_recorded_in_line(monkeypatch):
    Counting.calls = 0
    monkeypatch.setattr(mo.flags, "lazy_execution", False)
    optimiser = Counting([mo.zeros((2,))], 0.5)
    for _ in range(3):
        optimiser.apply([mo.ones((2,)) * 2])
    assert Counting.calls == 4  # once to be replayed
    np.testing.assert_array_equal(optimiser.parameters[0].numpy(), [-3, -3])


def test_an_interrupt_leaves_the_thread_as_it_was():
    def fails(arguments):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        record_function(fails, [mo.ones((3,))])
    np.testing.assert_array_equal((mo.ones((3,)) + 1).numpy(), [2, 2, 2])


def test_formulas_with_constants_are_on_the_parameters_device():
    class Shifted(Counting):
        is_recorded_once = True

        def _update(self, index, parameter, gradient, n):
            return parameter - n["lr"] * gradient + mo.ones((3,)) + mo.arange(3)

    with mo.device("cpu:1"):
        parameter, gradient = mo.zeros((3,)), mo.ones((3,))
    optimiser = Shifted([parameter], 0.5)
    for _ in range(2):
        optimiser.apply([gradient])
    np.testing.assert_array_equal(parameter.numpy(), [1, 3, 5])
    assert parameter.device == gradient.device
