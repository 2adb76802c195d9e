# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that know their derivatives, where they are called step by step."""

import gc
import re
import signal
import threading
import weakref

import metaops as mo
import numpy as np
import pytest


class Cube(mo.Function):
    """x ** 3, with what `execute` has computed kept."""

    def execute(self, x):
        self.square = x * x
        return self.square * x

    def grad(self, gradient):
        return 3 * self.square * gradient

    def jvp(self, tangent):
        return 3 * self.square * tangent


class Several(mo.Function):
    """Two results and a mask of two tensors, with a number between them."""

    given: list = []

    def execute(self, x, power, y):
        self.x, self.y, self.power = x, y, power
        return x * y, x**power, x > y

    def grad(self, product, powered, mask):
        self.given.append((product is not None, powered is not None, mask))
        by_x = by_y = None
        if product is not None:
            by_x, by_y = product * self.y, product * self.x
        if powered is not None:
            more = powered * self.power * self.x ** (self.power - 1)
            by_x = more if by_x is None else by_x + more
        return by_x, None, by_y


class Scaled(mo.Function):
    """A result that says by a call how often it was asked for gradients."""

    def __init__(self, scale, calls):
        self.scale, self.calls = scale, calls

    def execute(self, x):
        return x * self.scale

    def grad(self, gradient):
        self.calls.append(gradient)
        return gradient * self.scale


class Failing(mo.Function):
    error: BaseException = ValueError("no gradient today")

    def execute(self, x):
        return 2 * x

    def grad(self, gradient):
        raise self.error


def values(shape=(3, 4), seed=0, dtype="float64"):
    return mo.array(np.random.RandomState(seed).uniform(0.5, 2, shape), dtype)


def slope(function, x, step=1e-6):
    """Return the derivative of a sum by differences."""
    found = np.zeros_like(x)
    for place in np.ndindex(*x.shape):
        up, down = x.copy(), x.copy()
        up[place] += step
        down[place] -= step
        found[place] = (function(mo.array(up)).item() - function(mo.array(down)).item()) / (
            2 * step
        )
    return found


def test_the_gradient_is_the_functions_own():
    class Halved(Cube):
        def grad(self, gradient):
            return super().grad(gradient) / 2

    x = values()
    np.testing.assert_allclose(Cube.apply(x).numpy(), x.numpy() ** 3)
    np.testing.assert_allclose(mo.grad(Cube()(x).sum(), x).numpy(), 3 * x.numpy() ** 2)
    np.testing.assert_allclose(mo.grad(Halved()(x).sum(), x).numpy(), 1.5 * x.numpy() ** 2)


@pytest.mark.parametrize("computed", [False, True])
def test_gradients_of_gradients_go_through_what_execute_has_kept(computed):
    x = values()
    y = (Cube.apply(x) * x).sum()
    if computed:
        y.item()
    first = mo.grad(y, x)
    np.testing.assert_allclose(first.numpy(), 4 * x.numpy() ** 3)
    second = mo.grad((first * first).sum(), x)
    assert_like = slope(lambda v: (mo.grad((Cube.apply(v) * v).sum(), v) ** 2).sum(), x.numpy())
    np.testing.assert_allclose(second.numpy(), assert_like, rtol=1e-6)
    third = mo.grad(second.sum(), x)
    np.testing.assert_allclose(third.numpy(), 16 * 30 * x.numpy() ** 4)


def test_results_without_gradients_are_none():
    x, y = values(seed=1), values(seed=2)
    Several.given = []
    product, powered, mask = Several.apply(x, 3, y)
    assert (mask.numpy() == (x.numpy() > y.numpy())).all()
    by_x, by_y = mo.grad(product.sum() + powered.sum(), [x, y])
    np.testing.assert_allclose(by_x.numpy(), y.numpy() + 3 * x.numpy() ** 2)
    np.testing.assert_allclose(by_y.numpy(), x.numpy())
    np.testing.assert_allclose(mo.grad(powered.sum(), x).numpy(), 3 * x.numpy() ** 2)
    # None of grad is zero.
    by_x, by_y = mo.grad(powered.sum(), [x, y])
    assert (by_y.numpy() == 0).all()
    assert Several.given == [(True, True, None), (False, True, None), (False, True, None)]


def test_gradients_are_asked_for_once_with_their_sum():
    calls = []
    x = values()
    y = Scaled(3, calls)(x)
    loss = (y * y).sum() + (2 * y).sum() + y[0].sum()
    gradient = mo.grad(loss, x)
    assert len(calls) == 1
    expected = 2 * 3 * x.numpy() + 2
    expected[0] += 1
    np.testing.assert_allclose(calls[0].numpy(), expected)
    np.testing.assert_allclose(gradient.numpy(), 3 * expected)


def test_a_chain_of_functions_is_one_sweep():
    calls = []
    x = w = values((4,))
    h = x
    for _ in range(50):
        h = h + Scaled(0.01, calls)(h) * w
    mo.grad(h.sum(), x)
    assert len(calls) == 50


@pytest.mark.parametrize("computed", [False, True])
def test_results_may_be_arguments(computed):
    class Swap(mo.Function):
        def execute(self, x, y):
            return y, x, x

        def grad(self, *gradients):
            self.count = sum(gradient is not None for gradient in gradients)
            assert self.count == 2
            return 10 * gradients[1], 100 * gradients[0]

    x, y = values(seed=1), values(seed=2)
    first, second, _ = Swap.apply(x, y)
    assert first is not y
    loss = (first * 2 + second * 3).sum()
    if computed:
        np.testing.assert_array_equal(first.numpy(), y.numpy())
        loss.item()
    by_x, by_y = mo.grad(loss, [x, y])
    assert (by_x.numpy() == 30).all() and (by_y.numpy() == 200).all()


def test_integers_have_no_gradients():
    class Rounded(mo.Function):
        def execute(self, x, places):
            return x.astype("int32"), places

        def grad(self, *gradients):
            raise AssertionError("nobody asks")

    x = values()
    whole, places = Rounded.apply(x, mo.array([1, 2]))
    assert whole.dtype == "int32" and places.tolist() == [1, 2]
    with pytest.raises(ValueError, match="does not depend on"):
        mo.grad(x.sum() * 0 + whole.sum().astype("float64"), values(seed=3))


def test_an_object_may_be_called_again():
    double = Cube()
    x, y = values(seed=1), values(seed=2)
    first, second = double(x), double(y)
    by_x, by_y = mo.grad((first + second).sum(), [x, y])
    np.testing.assert_allclose(by_x.numpy(), 3 * x.numpy() ** 2)
    np.testing.assert_allclose(by_y.numpy(), 3 * y.numpy() ** 2)
    assert not hasattr(double, "square")


def test_arguments_may_be_given_by_name():
    x, y = values(seed=1), values(seed=2)
    product = Several()(y=y, x=x, power=2)[0]
    by_x, by_y = mo.grad(product.sum(), [x, y])
    np.testing.assert_allclose(by_x.numpy(), y.numpy())
    np.testing.assert_allclose(by_y.numpy(), x.numpy())
    for call in (Several.apply, Several()):
        with pytest.raises(TypeError, match=r"Several: missing a required argument: 'power'.*\d"):
            call(x, y=y)


def test_forward_mode_asks_for_tangents():
    x, tangent = values(seed=1), values(seed=2)
    moved = mo.jvp([Cube.apply(x) * x], [x], [tangent])[0]
    np.testing.assert_allclose(moved.numpy(), 4 * x.numpy() ** 3 * tangent.numpy())
    product = mo.hessian_vector_product(Cube.apply(x).sum(), [x], [tangent])[0]
    np.testing.assert_allclose(product.numpy(), 6 * x.numpy() * tangent.numpy())


def test_forward_mode_without_jvp_is_an_error():
    x, y = values(seed=1), values(seed=2)
    product, _, _ = Several.apply(x, 2, y)
    with pytest.raises(RuntimeError, match=r"Several has no jvp.*test_own_derivatives.py:\d+"):
        mo.jvp([product], [x], [y])
    assert mo.jvp([x * y], [x], [y])[0].shape == x.shape


def test_reverse_mode_stands_in_for_tangents_of_gradients():
    x, vector = values(seed=1), values(seed=2)
    powered = Several.apply(x, 3, x.detach())[1]
    product = mo.hessian_vector_product((powered**2).sum(), [x], [vector])[0]
    np.testing.assert_allclose(product.numpy(), 30 * x.numpy() ** 4 * vector.numpy())


def test_without_gradients_execute_is_all_that_runs():
    x = values()
    with mo.no_grad():
        y = Failing.apply(x)
    np.testing.assert_allclose(y.numpy(), 2 * x.numpy())
    with pytest.raises(ValueError, match="does not depend on"):
        mo.grad(y.sum(), x)


# Errors.


def test_a_target_that_is_no_argument_is_an_error():
    x, w = values(seed=1), values(seed=2)

    class Reads(mo.Function):
        def execute(self, x):
            return x * w

        def grad(self, gradient):
            return gradient * w

    np.testing.assert_allclose(mo.grad(Reads.apply(x).sum(), x).numpy(), w.numpy())
    for targets in (w, [x, w]):
        with pytest.raises(RuntimeError, match=r"grad: Reads at .* is no argument of it"):
            mo.grad(Reads.apply(x).sum(), targets)
    made_of_w = w * 2

    class ReadsMore(Reads):
        def execute(self, x):
            return x * mo.exp(made_of_w)

    with pytest.raises(RuntimeError, match=r"ReadsMore at .* is no argument of it"):
        mo.grad(ReadsMore.apply(x).sum(), w)
    with pytest.raises(RuntimeError, match=r"jvp: Reads at .* is no argument of it"):
        mo.jvp([Reads.apply(x)], [w], [w])


def test_a_target_that_execute_has_made_is_an_error():
    class Keeps(Cube):
        kept = None

        def execute(self, x):
            result = super().execute(x)
            Keeps.kept = self.square
            return result

    x = values()
    y = (Keeps.apply(x) * x).sum()
    for targets in ([x, Keeps.kept], [Keeps.kept, x]):
        with pytest.raises(RuntimeError, match=r"the target from .* was made by Keeps at"):
            mo.grad(y, targets)
    y.item()
    with pytest.raises(RuntimeError, match=r"the target from .* was made by Keeps at"):
        mo.grad(y, [x, Keeps.kept])
    # The loss may use it beside the function, which says nothing of it.
    with pytest.raises(RuntimeError, match=r"the target from .* was made by Keeps at"):
        mo.grad(y + Keeps.kept.sum(), Keeps.kept)
    with pytest.raises(RuntimeError, match=r"jvp: the target from .* was made by Keeps at"):
        mo.jvp([y + Keeps.kept.sum()], [Keeps.kept], [x])
    # Without the function's results it is a value like others.
    np.testing.assert_allclose(mo.grad(Keeps.kept.sum(), x).numpy(), 2 * x.numpy())
    np.testing.assert_allclose(mo.grad(3 * Keeps.kept.sum(), Keeps.kept).numpy(), 3)


@pytest.mark.parametrize(
    ("returned", "error", "message"),
    [
        (lambda g: (), ValueError, "Bad.grad has returned 0 derivatives, expected 2, one for each"),
        (lambda g: g, ValueError, "Bad.grad has returned 1 derivative, expected 2"),
        (lambda g: (g, g, g), ValueError, "Bad.grad has returned 3 derivatives, expected 2"),
        (lambda g: (g[0], None), ValueError, r"of argument 0 has shape \(4,\) .* \(3, 4\)"),
        (lambda g: (g, g.astype("float32")), ValueError, "of argument 1 .* dtype float32"),
        (lambda g: (g, 1.0), TypeError, "of argument 1 is a float, expected a Var or None"),
    ],
)
def test_gradients_that_do_not_fit_are_errors(returned, error, message):
    class Bad(mo.Function):
        def execute(self, x, y):
            return x * y

        def grad(self, gradient):
            return returned(gradient)

    x, y = values(seed=1), values(seed=2)
    with pytest.raises(error, match=message):
        mo.grad(Bad.apply(x, y).sum(), [x, y])


def test_gradients_by_what_is_no_tensor_are_errors():
    class Bad(mo.Function):
        def execute(self, x, count):
            return x * count

        def grad(self, gradient):
            return gradient, gradient

    x = values()
    with pytest.raises(TypeError, match=r"of argument 1 .* expected None, as that is no tensor"):
        mo.grad(Bad.apply(x, 2).sum(), x)


@pytest.mark.parametrize("returned", [3.0, "text", {"y": None}])
def test_results_are_tensors(returned):
    class Bad(mo.Function):
        def execute(self, x):
            return returned

    with pytest.raises(TypeError, match=r"Bad.execute has returned .*, expected a Var, or a tuple"):
        Bad.apply(values())


def test_arguments_are_not_changed_in_place():
    class Bad(mo.Function):
        def execute(self, x, y):
            y += 1
            return x * y

    with pytest.raises(RuntimeError, match=r"Bad.execute changes tensor 1 of its arguments"):
        Bad.apply(values(seed=1), values(seed=2))


def test_what_execute_keeps_is_what_it_was_given():
    """Also where the caller's tensor has another value since."""
    s = mo.array([1.0, 2.0])
    x = s * 1.0
    y = Several.apply(x, 2, mo.ones(2))[1]
    x += 10.0
    np.testing.assert_array_equal(mo.grad(y.sum(), s).numpy(), [2, 4])

    @mo.custom_jvp
    def square(x):
        return x * x

    square.defjvp(lambda primals, moved: (primals[0] ** 2, 2 * primals[0] * moved[0]))
    x = s * 1.0
    y = square(x)
    x += 10.0
    np.testing.assert_array_equal(mo.grad(y.sum(), s).numpy(), [2, 4])


def test_a_parameter_is_an_argument_of_a_recorded_function():
    """It is met as an argument first, and is a target."""
    p, x = mo.array([3.0, 4.0]), mo.array([1.0, 2.0])

    class Product(mo.Function):
        def execute(self, x, p):
            self.x, self.p = x, p
            return x * p

        def grad(self, gradient):
            return gradient * self.p, gradient * self.x

    def gradient(x):
        return mo.grad(Product.apply(x, p).sum(), p)

    np.testing.assert_array_equal(mo.jit(gradient)(x).numpy(), [1, 2])
    rows = mo.map(gradient, mo.array([[1.0, 2.0], [5.0, 6.0]]))
    np.testing.assert_array_equal(rows.numpy(), [[1, 2], [5, 6]])


@pytest.mark.parametrize("place", ["eager", "jit"])
def test_maps_of_bodies_that_call_functions(place):
    x = mo.array([[1.0, 2.0], [3.0, -4.0]])
    bodies = [
        lambda call, a: mo.cond(a.sum() > 0, lambda: call(a), lambda: a * 1.0),
        lambda call, a: mo.scan(lambda c, _: (call(c) * a, None), a, length=3)[0],
        lambda call, a: mo.while_loop(lambda c: c.sum() < 9, lambda c: call(c) + a, a, 9),
    ]
    for body in bodies:
        results = []
        for call in (Cube.apply, lambda a: a * a * a):
            mapped = mo.vmap(lambda a, body=body, call=call: body(call, a))
            y = (mo.jit(mapped) if place == "jit" else mapped)(x)
            results.append([y.numpy(), mo.grad(mo.tanh(y * 1e-3).sum(), x).numpy()])
        for one, other in zip(*results, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6)


@pytest.mark.parametrize("error", [ValueError("no gradient today"), KeyboardInterrupt()])
def test_a_gradient_that_fails_leaves_the_session_as_it_was(error):
    x = values()
    calls = []
    y = Scaled(2, calls)(Failing.apply(Scaled(3, calls)(x)))
    loss = (y * y).sum()
    loss.item()
    Failing.error = error
    mo.grad(Scaled(1, [])(x).sum(), x)
    counts = []
    for _ in range(4):
        with pytest.raises(type(error)):
            mo.grad(loss, x)
        calls.clear()
        # Of the frames with what they were given.
        error.__traceback__ = None
        gc.collect()
        (x + 1).numpy()
        counts.append(mo.stats()["ops_in_block"])
    # At first, what tests before have left goes, too.
    assert counts[1:] == counts[1:2] * 3 and counts[0] >= counts[1]
    np.testing.assert_allclose(mo.grad((x * x).sum(), x).numpy(), 2 * x.numpy())


def test_control_c_ends_a_sweep():
    class Interrupted(mo.Function):
        def execute(self, x):
            return x * 2

        def grad(self, gradient):
            signal.raise_signal(signal.SIGINT)
            for _ in range(1000):
                pass
            return gradient

    x = values()
    with pytest.raises(KeyboardInterrupt):
        mo.grad(Interrupted.apply(x).sum(), x)
    np.testing.assert_allclose(mo.grad((x * x).sum(), x).numpy(), 2 * x.numpy())


def test_grad_may_read_and_differentiate():
    class Looking(mo.Function):
        def execute(self, x):
            self.x = x
            return mo.sin(x)

        def grad(self, gradient):
            assert np.isfinite(gradient.numpy()).all()
            x = self.x.detach()
            return gradient * mo.grad(mo.sin(x).sum(), x)

    x = values()
    h = x
    for _ in range(4):
        h = mo.tanh(Looking.apply(h) * x)

    def plain(x):
        h = x
        for _ in range(4):
            h = mo.tanh(mo.sin(h) * x)
        return h.sum()

    np.testing.assert_allclose(
        mo.grad(h.sum(), x).numpy(), mo.grad(plain(x), x).numpy(), rtol=1e-12
    )


# Lives of objects, and threads.


def test_objects_die_with_their_results():
    alive = weakref.WeakSet()

    class Kept(mo.Function):
        def __init__(self):
            alive.add(self)

        def execute(self, x):
            self.y = x * 2
            return self.y

        def grad(self, gradient):
            return gradient * 2

    x = values()
    never, differentiated, computed = (Kept.apply(x) for _ in range(3))
    mo.grad(differentiated.sum(), x).numpy()
    computed.numpy()
    assert len(alive) == 3
    del never, differentiated, computed
    mo.sync_all()
    (x * 2).numpy()
    assert len(alive) == 0


def test_many_calls_keep_nothing():
    x = values()
    for _ in range(100):
        Cube.apply(x)
    before = mo.stats()
    for _ in range(2000):
        y = Cube.apply(x)
    after = mo.stats()
    assert after["ops_in_block"] <= before["ops_in_block"] + 8
    assert after["live_vars"] <= before["live_vars"] + 4
    assert after["signatures"] == before["signatures"]
    del y


def test_an_empty_function_adds_no_result():
    class Empty(mo.Function):
        def execute(self, x):
            return x

        def grad(self, gradient):
            return gradient

    def outputs(apply):
        x, w = values((64, 64), dtype="float32"), values((64, 64), seed=1, dtype="float32")
        h = x
        for _ in range(4):
            h = mo.tanh(apply(h @ w) * 0.01)
        loss = h.sum()
        loss.item()
        text = mo.last_program().ir("graph")
        gradient = mo.grad(loss, w).numpy()
        return re.search(r"return (.*) :", text)[1].count("%"), gradient

    count, gradient = outputs(Empty.apply)
    plain, expected = outputs(lambda x: x)
    assert count == plain
    np.testing.assert_allclose(gradient, expected, rtol=1e-5)


def test_others_update_while_a_sweep_pauses():
    asked, updated = threading.Event(), threading.Event()
    w, x = values((8,), seed=1), values((8,), seed=2)
    w.numpy()

    class Waiting(mo.Function):
        def execute(self, h):
            return h * 2

        def grad(self, gradient):
            asked.set()
            assert updated.wait(60)
            return gradient * 2

    def update():
        assert asked.wait(60)
        for _ in range(3):
            w.update(w * 0 + 7)
            mo.sync_all()
            w.numpy()
        gc.collect()
        updated.set()

    old = w.numpy().copy()
    loss = (Waiting.apply(mo.sin(x * w)) * w).sum()
    thread = threading.Thread(target=update)
    thread.start()
    gradient = mo.grad(loss, x)
    thread.join()
    np.testing.assert_allclose(
        gradient.numpy(), 2 * old * np.cos(x.numpy() * old) * old, rtol=1e-12
    )
    assert (w.numpy() == 7).all()


def test_threads_differentiate_at_once():
    failures = []

    def work(seed):
        try:
            x = values(seed=seed)
            for _ in range(20):
                y = Cube.apply(Cube.apply(x))
                gradient = mo.grad(y.sum(), x)
                np.testing.assert_allclose(gradient.numpy(), 9 * x.numpy() ** 8, rtol=1e-9)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


class OfTwo(mo.Function):
    """sin(x) * y and x + y**2, either of which may be unused."""

    def execute(self, x, y):
        self.sine, self.x, self.y = mo.sin(x), x, y
        return self.sine * y, x + y * y

    def grad(self, product, total):
        by_x = by_y = None
        if product is not None:
            by_x, by_y = product * mo.cos(self.x) * self.y, product * self.sine
        if total is not None:
            by_x = total if by_x is None else by_x + total
            more = 2 * total * self.y
            by_y = more if by_y is None else by_y + more
        return by_x, by_y

    def jvp(self, x, y):
        x, y = (mo.zeros_like(self.x) if each is None else each for each in (x, y))
        return mo.cos(self.x) * self.y * x + self.sine * y, x + 2 * self.y * y


def of_two(x, y):
    return mo.sin(x) * y, x + y * y


def random_graph(seed, inputs, own, reads):
    """Return a loss of a graph in which some steps are functions with derivatives."""
    choose = np.random.RandomState(seed)
    pool = list(inputs)
    for _ in range(choose.randint(4, 14)):
        kind = choose.randint(5)
        x, y = (pool[choose.randint(len(pool))] for _ in range(2))
        if kind == 0:
            pool.append(mo.tanh(x) * y)
        elif kind == 1:
            pool.append(0.5 * x - y)
        elif kind == 2:
            pool.append(Cube.apply(mo.tanh(x)) if own else mo.tanh(x) ** 3)
        else:
            results = OfTwo.apply(x, y) if own else of_two(x, y)
            used = choose.randint(1, 4)
            pool += [mo.tanh(result) for k, result in enumerate(results) if used >> k & 1]
        if choose.randint(6) == 0 and reads:
            pool[-1].numpy()
    return (pool[-1] * pool[-2]).sum() + pool[choose.randint(len(pool))].sum()


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("recorded", [False, True])
def test_random_graphs_of_functions(seed, recorded):
    inputs = [values((3,), seed=100 + seed + k) for k in range(3)]
    found = []
    for own in (False, True):
        is_recorded = recorded and own

        def loss(*inputs, own=own, reads=not is_recorded):
            return random_graph(seed, inputs, own, reads)

        value = (mo.jit(loss) if is_recorded else loss)(*inputs)
        first = mo.grad(value, inputs, allow_unused=True)
        squares = sum((each * each).sum() for each in first)
        second = mo.grad(squares, inputs, allow_unused=True)
        moved = mo.jvp([value], inputs, [x.detach() for x in inputs])
        found.append([x.numpy() for x in (value, *first, *second, *moved)])
    for actual, expected in zip(*found, strict=True):
        np.testing.assert_allclose(expected, actual, rtol=1e-9, atol=1e-12)


def test_gradients_by_each_of_several_results():
    class Two(mo.Function):
        def execute(self, x):
            return x * 2, x * x

        def grad(self, first, second):
            return first * 2 + second * 2

    x = values()
    first, second = Two()(x)
    loss = (first * second).sum()
    np.testing.assert_allclose(mo.grad(loss, first).numpy(), second.numpy())
    np.testing.assert_allclose(mo.grad(loss, second).numpy(), first.numpy())
    by_both = mo.grad(loss, [second, first])
    np.testing.assert_allclose(by_both[1].numpy(), second.numpy())


def test_tensors_that_grad_assigns_are_forgotten():
    """They are made of the results, which keep the object."""

    class Keeps(mo.Function):
        def execute(self, x):
            self.x, self.seen = x, 0
            return x * x

        def grad(self, gradient):
            assert not hasattr(self, "gradient")
            self.gradient, self.all = gradient, {"a": [gradient]}
            self.seen += 1
            self.x, x = gradient, self.x
            return 2 * x * gradient

        def jvp(self, tangent):
            self.tangent = tangent
            return 2 * self.x * tangent

    x = mo.array(np.arange(4.0))
    counts = []
    for _ in range(60):
        function = Keeps()
        y = function(x)
        expected = 4 * x.numpy() ** 3
        np.testing.assert_allclose(mo.grad((y * y).sum(), x).numpy(), expected)
        np.testing.assert_allclose(mo.grad((y * y).sum(), x).numpy(), expected)
        np.testing.assert_allclose(
            mo.jvp([y * y], [x], [mo.ones(4, "float64")])[0].numpy(), expected
        )
        del y
        mo.sync_all()
        counts.append(mo.stats()["ops_in_block"])
    assert counts[-1] <= counts[10]


@pytest.mark.parametrize("has_jvp", [False, True])
def test_maps_of_functions(has_jvp):
    class Scaled(mo.Function):
        def execute(self, x, y):
            self.x, self.y = x, y
            return x * y, x + 1

        def grad(self, of_product, of_sum):
            zeros = mo.zeros(self.x.shape, "float64")
            by_x = zeros if of_product is None else of_product * self.y
            by_y = None if of_product is None else of_product * self.x
            return by_x if of_sum is None else by_x + of_sum, by_y

    if has_jvp:
        Scaled.jvp = lambda self, dx, dy: (
            (0 if dx is None else dx * self.y) + (0 if dy is None else dy * self.x),
            dx,
        )
    rng = np.random.default_rng(0)
    x, y = (mo.array(rng.standard_normal((3, 2, 4))) for _ in range(2))

    def plain(x, y):
        return x * y, x + 1

    def values(function):
        def loss(x, y):
            a, b = function(x, y)
            return (mo.sin(a) * b).sum()

        shared = mo.vmap(loss, (0, None))(x, y[0])
        inside = mo.vmap(lambda x, y: mo.grad(loss(x, y), [x, y]))(x, y)
        twice = mo.vmap(mo.vmap(function, (0, None)), (None, 0))(x[0], y[0])
        made = [shared, *inside, *twice, *mo.grad((shared * shared).sum(), [x, y])]
        nested = mo.vmap(mo.vmap(lambda x: mo.grad(loss(x, y[0, 0]), x)))(x)
        made += [nested, mo.grad((nested * nested).sum(), x)]
        if has_jvp:
            made += mo.jvp([shared], [x], [y])
        return [each.numpy() for each in made]

    for one, other in zip(values(Scaled.apply), values(plain), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10)
