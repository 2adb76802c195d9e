# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that know their derivatives, where they are recorded once; rules as JAX's."""

import weakref
from collections import deque

import metaops as mo
import numpy as np
import pytest

#: One for each time that a `Cube` was asked for gradients. (A trace looks into lists.)
ASKED: deque = deque()


class Cube(mo.Function):
    """x ** 3, or a multiple."""

    def execute(self, x, scale=1):
        self.square, self.scale = x * x, scale
        return self.square * x * scale

    def grad(self, gradient):
        ASKED.append(True)
        by_x = 3 * self.scale * self.square * gradient
        return by_x if self.scale == 1 else (by_x, None)

    def jvp(self, *tangents):
        return 3 * self.scale * self.square * tangents[0]


class Sine(mo.Function):
    """Whose gradient is a function whose gradient is this one's."""

    def execute(self, x):
        self.x = x
        return mo.sin(x)

    def grad(self, gradient):
        return gradient * Cosine.apply(self.x)


class Cosine(mo.Function):
    def execute(self, x):
        self.x = x
        return mo.cos(x)

    def grad(self, gradient):
        return -gradient * Sine.apply(self.x)


def values(shape=(3, 4), seed=0):
    return mo.array(np.random.RandomState(seed).uniform(0.2, 0.9, shape), "float64")


def gradients(function, inputs):
    """Return gradients, of gradients too, and tangents of a function's sum."""
    loss = function(*inputs).sum()
    first = mo.grad(loss, inputs)
    second = mo.grad(sum((each * each).sum() for each in first), inputs)
    moved = mo.jvp([loss], inputs, [x.detach() for x in inputs])
    return [x.numpy() for x in (loss, *first, *second, *moved)]


def check(function, plain, inputs):
    for found, expected in zip(gradients(function, inputs), gradients(plain, inputs), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-10)


# Recorded functions.


def test_results_of_recorded_functions_are_differentiated_outside():
    x, y = values(seed=1), values(seed=2)
    recorded = mo.jit(lambda x, y: Cube.apply(x, 2) * y + Cube()(y))
    for _ in range(3):
        check(recorded, lambda x, y: 2 * x**3 * y + y**3, [x, y])


def test_gradients_inside_are_asked_for_when_the_function_is_recorded():
    x = values()
    step = mo.jit(lambda x: mo.grad((Cube.apply(x) * x).sum(), x))
    results = [step(x).numpy() for _ in range(2)]
    ASKED.clear()
    results.append(step(x).numpy())
    assert not ASKED
    for result in results:
        np.testing.assert_allclose(result, 4 * x.numpy() ** 3)


def test_a_step_of_training_is_recorded():
    def train(function, recorded):
        layer = mo.nn.Linear(4, 3)
        layer.weight.assign(values((3, 4), seed=3).astype("float32"))
        layer.bias.assign(mo.zeros(3))
        optimizer = mo.optim.SGD(layer.parameters(), 0.002)

        def step(x):
            loss = (function(layer(x)) ** 2).mean()
            optimizer.step(loss)
            return loss

        step = mo.jit(step) if recorded else step
        x = values((8, 4), seed=4).astype("float32")
        return [step(x).item() for _ in range(5)]

    expected = train(lambda x: x**3, False)
    np.testing.assert_allclose(train(Cube.apply, False), expected, rtol=1e-5)
    np.testing.assert_allclose(train(Cube.apply, True), expected, rtol=1e-5)


@pytest.mark.parametrize("trips", [5, 200])
def test_loops_go_through_functions(trips):
    rows, start = values((trips, 4), seed=1), values((4,), seed=2)

    def loop(cube):
        def body(carry, row):
            carry = 0.3 * cube(carry) + 0.5 * row
            return carry, carry.sum()

        def run(start, rows):
            last, sums = mo.scan(body, start, rows)
            return last.sum() + (sums * sums).sum()

        return run

    check(loop(Cube.apply), loop(lambda x: x**3), [start, rows])


def test_loops_that_count_their_trips_go_through_functions():
    def loop(cube):
        return lambda x: mo.while_loop(
            lambda y: y.sum() < 5, lambda y: cube(y) * 0.3 + y * 1.2, x, max_trips=20
        )

    x = values((4,))
    first = [mo.grad(loop(f)(x).sum(), x).numpy() for f in (Cube.apply, lambda x: x**3)]
    np.testing.assert_allclose(first[0], first[1], rtol=1e-10)


def test_branches_go_through_functions():
    x = values((4,))
    for sign in (1, -1):

        def branch(cube, sign=sign):
            return lambda x: mo.cond((sign * x).sum() > 0, cube, lambda x: 2 * x * x, x)

        check(branch(Cube.apply), branch(lambda x: x**3), [x])


def test_functions_whose_gradients_are_functions_have_an_end():
    x = values()
    recorded = mo.jit(Sine.apply)
    found, expected = recorded(x), mo.sin(x)
    for _ in range(3):
        found, expected = (mo.grad(y.sum(), x) for y in (found, expected))
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-12)
    with pytest.raises(RuntimeError, match=r"derivatives of Cosine, recorded at .* are not known"):
        mo.grad(found.sum(), x)
    inside = mo.jit(lambda x: mo.grad(mo.grad(mo.grad(Sine.apply(x).sum(), x).sum(), x).sum(), x))
    fourth = mo.grad(inside(x).sum(), x)
    np.testing.assert_allclose(fourth.numpy(), np.sin(x.numpy()), rtol=1e-12)


def test_tensors_that_a_call_keeps_are_no_leaks():
    alive = weakref.WeakSet()

    class Kept(Cube):
        def __init__(self):
            alive.add(self)

        def grad(self, gradient):
            self.last = gradient
            return super().grad(gradient)

    recorded = mo.jit(lambda x: Kept.apply(x))
    x = values()
    for _ in range(3):
        np.testing.assert_allclose(mo.grad(recorded(x).sum(), x).numpy(), 3 * x.numpy() ** 2)
    ASKED.clear()
    mo.sync_all()
    assert len(alive) == 0


def test_a_target_that_is_no_argument_is_an_error_behind_a_trace():
    w, x = values((4,), seed=1), values((4,), seed=2)

    class Reads(mo.Function):
        def execute(self, x):
            return x * w

        def grad(self, gradient):
            return gradient * w

    def body(carry, row):
        return Reads.apply(carry), row

    recorded = mo.jit(Reads.apply)
    loop = mo.scan(body, x, values((100, 4), seed=3))[0]
    for result in (recorded(x), loop):
        with pytest.raises(RuntimeError, match=r"grad: Reads.*no argument of it.*or detach it"):
            mo.grad(result.sum(), w)
    np.testing.assert_allclose(mo.grad(recorded(x).sum(), x).numpy(), w.numpy())
    np.testing.assert_allclose(
        mo.grad(mo.scan(body, x, values((100, 4), seed=3))[0].sum(), x).numpy(),
        w.numpy() ** 100,
        rtol=1e-10,
    )


def test_forward_mode_without_jvp_is_an_error_behind_a_trace():
    x = values((4,))
    loop = mo.scan(lambda c, r: (Sine.apply(c), r), x, values((100, 4)))[0]
    for result in (mo.jit(Sine.apply)(x), loop):
        with pytest.raises(RuntimeError, match=r"jvp: Sine, recorded at .* has no jvp"):
            mo.jvp([result], [x], [x])


def test_reverse_mode_stands_in_for_tangents_behind_a_trace():
    x, vector = values((4,), seed=1), values((4,), seed=2)
    loss = (mo.jit(Sine.apply)(x) ** 2).sum()
    product = mo.hessian_vector_product(loss, [x], [vector])[0]
    np.testing.assert_allclose(product.numpy(), 2 * np.cos(2 * x.numpy()) * vector.numpy())


def test_without_grad_there_is_no_rule():
    class Plain(mo.Function):
        def execute(self, x):
            return 2 * x

    x = values()
    y = mo.jit(Plain.apply)(x)
    np.testing.assert_allclose(y.numpy(), 2 * x.numpy())
    with pytest.raises(RuntimeError, match=r"derivatives of Plain, recorded at .* has no grad"):
        mo.grad(y.sum(), x)
    with pytest.raises(NotImplementedError, match="Plain has no grad"):
        mo.grad(Plain.apply(x).sum(), x)


def test_a_rule_that_reads_is_an_error_in_a_trace():
    class Looking(mo.Function):
        def execute(self, x):
            return x * 2

        def grad(self, gradient):
            return gradient * float(gradient.sum())

    x = values()
    assert mo.grad(Looking.apply(x).sum(), x).shape == x.shape
    with pytest.raises(RuntimeError, match="while a function is recorded"):
        mo.jit(Looking.apply)(x)
    with mo.no_grad():
        np.testing.assert_allclose(mo.jit(Looking.apply)(x).numpy(), 2 * x.numpy())


def test_random_numbers_of_rules_are_their_own():
    class Noisy(mo.Function):
        def execute(self, x):
            return x + mo.rand(8, dtype="float64")

        def grad(self, gradient):
            return gradient * mo.rand(8, dtype="float64")

    x = values((8,))
    both = mo.jit(lambda x: (Noisy.apply(x), mo.rand(8, dtype="float64")))
    drawn = []
    for _ in range(3):
        y, after = both(x)
        noise = mo.grad(y.sum(), x)
        drawn += [(y - x).numpy(), noise.numpy(), after.numpy()]
    found = np.concatenate(drawn)
    assert ((found >= 0) & (found < 1)).all()
    assert len(np.unique(found.round(9))) == len(found)


def test_a_rule_that_does_not_fit_is_an_error_in_a_trace():
    class Bad(mo.Function):
        def execute(self, x):
            return x * 2

        def grad(self, gradient):
            return gradient, gradient

    with pytest.raises(ValueError, match=r"Bad.grad has returned 2 derivatives, expected 1"):
        mo.jit(Bad.apply)(values())


def test_programs_with_functions_are_exported(tmp_path):
    x = values((4,)).astype("float32")
    mo.export(lambda x: Cube.apply(x) + mo.grad(Cube.apply(x).sum(), x), [x], tmp_path / "f.mop")
    loaded = mo.load_program(tmp_path / "f.mop")
    np.testing.assert_allclose(
        np.asarray(loaded(x.numpy())), x.numpy() ** 3 + 3 * x.numpy() ** 2, rtol=1e-6
    )


# Rules.


def test_custom_vjp_takes_structures():
    @mo.custom_vjp
    def product(pair, options):
        return {"value": pair["x"] * pair["y"], "count": options["count"]}

    def forward(pair, options):
        return product(pair, options), (pair, options)

    def backward(residuals, gradient):
        pair, options = residuals
        assert options["count"] == 3 and gradient["count"] is None
        g = gradient["value"]
        return {"x": 10 * g * pair["y"], "y": 10 * g * pair["x"]}, None

    with pytest.raises(RuntimeError, match="product has no rules yet"):
        product({"x": 1, "y": 2}, {})
    product.defvjp(forward, backward)
    x, y = values(seed=1), values(seed=2)
    result = product({"x": x, "y": y}, {"count": 3})
    assert result["count"] == 3
    by_x, by_y = mo.grad(result["value"].sum(), [x, y])
    np.testing.assert_allclose(by_x.numpy(), 10 * y.numpy())
    np.testing.assert_allclose(by_y.numpy(), 10 * x.numpy())


def test_arguments_without_derivatives_come_first():
    @mo.custom_vjp
    def plain(x):
        return x

    def power(function, x, n):
        return function(x) ** n

    power = mo.custom_vjp(power, nondiff_argnums=(0, 2))
    power.defvjp(
        lambda function, x, n: (function(x) ** n, x),
        lambda function, n, x, g: (n * x ** (n - 1) * g * 100,),
    )
    x = values()
    found = mo.grad(power(mo.relu, x, n=3).sum(), x)
    np.testing.assert_allclose(found.numpy(), 300 * x.numpy() ** 2)
    with pytest.raises(RuntimeError, match="plain has no rules yet"):
        plain(x)


def test_the_function_itself_is_called_without_gradients():
    calls = []

    @mo.custom_vjp
    def noted(x):
        calls.append("function")
        return x * 2

    def forward(x):
        calls.append("forward")
        return x * 2, None

    noted.defvjp(forward, lambda _, g: (g * 2,))
    x = values()
    mo.grad(noted(x).sum(), x)
    with mo.no_grad():
        noted(x)
    assert calls == ["forward", "function"]


def test_custom_jvp_has_gradients_of_its_tangents():
    @mo.custom_jvp
    def scaled_sine(x, y):
        return mo.sin(x) * y, y

    @scaled_sine.defjvp
    def rule(primals, tangents):
        x, y = primals
        by_x, by_y = tangents
        moved = mo.cos(x) * y * by_x + mo.sin(x) * by_y
        return scaled_sine(x, y), (moved, by_y)

    x, y = values(seed=1), values(seed=2)

    def of(function):
        def both(x, y):
            first, second = function(x, y)
            return first * 2 + second * second

        return both

    check(of(scaled_sine), of(lambda x, y: (mo.sin(x) * y, y)), [x, y])
    recorded = mo.jit(of(scaled_sine))
    check(recorded, of(lambda x, y: (mo.sin(x) * y, y)), [x, y])


@pytest.mark.parametrize(
    ("backward", "message"),
    [
        (lambda _, g: g, r"bwd has returned a Var .*, expected a tuple of 1"),
        (lambda _, g: (g, g), "expected a tuple of 1, a gradient for each argument"),
        (lambda _, g: ({"x": g},), "bwd's gradient 0 is .*, expected the structure"),
        (lambda _, g: ([g, g[0]],), r"of argument 1 has shape \(4,\)"),
    ],
)
def test_rules_that_do_not_fit_are_errors(backward, message):
    function = mo.custom_vjp(lambda pair: pair[0] * pair[1])
    function.defvjp(lambda pair: (pair[0] * pair[1], None), backward)
    x, y = values(seed=1), values(seed=2)
    with pytest.raises((ValueError, TypeError), match=message):
        mo.grad(function([x, y]).sum(), x)


def test_a_rule_that_returns_one_thing_is_an_error():
    function = mo.custom_vjp(lambda x: x)
    function.defvjp(lambda x: x, lambda _, g: (g,))
    with pytest.raises(ValueError, match=r"fwd has returned .*, expected two things"):
        function(values())
    with pytest.raises(TypeError, match="custom_jvp: 3 is no function"):
        mo.custom_jvp(3)
