# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A call reads what it reads; which of its results are made of that is told for each.

docs/History.md, "Gradients by what has moved". Each call here has a result that is made of b
alone, beside one of a, so that a loss of the first and of a former value of a is by that value.
"""

import metaops as mo
import numpy as np
import pytest
from util import close, floats

pytestmark = pytest.mark.processor


class Both(mo.Function):
    """Doubles two tensors."""

    def execute(self, b, a):
        return b * 2, a * 2

    def grad(self, by_b, by_a):
        return None if by_b is None else by_b * 2, None if by_a is None else by_a * 2


class BothByContext(mo.ContextFunction):
    """The same, given zeros for what is missing, which go through operations that shape them."""

    @staticmethod
    def forward(ctx, b, a):
        return b * 2, a * 2

    @staticmethod
    def backward(ctx, by_b, by_a):
        return by_b * 2, (by_a * 2).reshape(-1).reshape(by_a.shape) * mo.ones(3, dtype="float64")


@mo.custom_vjp
def both(b, a):
    return b * 2, a * 2


both.defvjp(lambda b, a: (both(b, a), None), lambda _, by: (by[0] * 2, by[1] * 2))


def in_checkpoint(b, a):
    return mo.checkpoint(lambda t: (t * 2, a * 2))(b)


def in_nested_checkpoints(b, a):
    return mo.checkpoint(lambda t: mo.checkpoint(lambda u: (u * 2, a * 2 + u))(t))(b)


def behind_a_stop(b, a):
    return mo.checkpoint(lambda t: (t * 2 + mo.stop_grad(a) - a.detach(), a * 2))(b)


def behind_integers(b, a):
    return mo.checkpoint(lambda t: (t * 2 + (a > 100).astype("float64"), a * 2))(b)


def in_branches(b, a):
    return mo.cond(mo.sum(b) > 0, lambda: (b * 2, a * 2), lambda: (b * 2, a * 3))


def in_switch(b, a):
    functions = [lambda: (b * 2, a * 2), lambda: (b * 2, a * 3), lambda: (b * 2, a)]
    return mo.switch(mo.array(2), functions)


def in_scan(b, a):
    step = lambda carry, _: ((carry[0] + b, carry[1] + a), None)  # noqa: E731
    return mo.scan(step, (b, b * 3), None, length=70)[0]


def in_rows_of_scan(b, a):
    rows = mo.stack([b, b * 2])
    last, made = mo.scan(lambda carry, row: (carry + a, row * 2), b, rows)
    return made.sum(0), last


def in_carries_that_move(b, a):
    """The first carry has what the second had two trips ago, and that no a."""
    step = lambda carry, _: ((carry[1], carry[2] * 2, b, carry[3] + a), None)  # noqa: E731
    made = mo.scan(step, (b, b + 1, b + 2, b), None, length=5)[0]
    return made[0], made[3]


def overwritten_carries(b, a):
    return mo.scan(lambda carry, _: ((b * 2, carry[1] + a), None), (a, a), None, length=3)[0]


def no_trip(b, a):
    return mo.scan(lambda carry, _: ((a * 2, carry[1] + a), None), (b, a), None, length=0)[0]


def in_while(b, a):
    step = lambda s: (s[0] * 1.5, s[1] + a, s[2] + 1)  # noqa: E731
    return mo.while_loop(lambda s: s[2] < 3, step, (b, b * 2, mo.array(0)), max_trips=4)


def in_fori(b, a):
    return mo.fori_loop(0, 40, lambda i, s: (s[0] + b * 2, s[1] + a), (b, b))


def branch_in_scan_in_checkpoint(b, a):
    def step(carry, _):
        return mo.cond(mo.sum(b) > 0, lambda: (carry[0] + b, a), lambda: (carry[0], b)), None

    return mo.checkpoint(lambda t: mo.scan(step, (t, t), None, length=3)[0])(b)


def in_function(b, a):
    return Both.apply(b, a)


def in_function_in_checkpoint(b, a):
    return mo.checkpoint(lambda t: Both.apply(t, a))(b)


def in_function_in_scan(b, a):
    return mo.scan(lambda s, _: (Both.apply(s[0], a), None), (b, b), None, length=3)[0]


def in_jit(b, a):
    function = mo.jit(lambda b, a: (b * 2, a * 2))
    return [function(b, a) for _ in range(4)][-1]


def checkpoint_in_jit(b, a):
    function = mo.jit(in_checkpoint)
    return [function(b, a) for _ in range(4)][-1]


def function_in_jit(b, a):
    function = mo.jit(in_function)
    return [function(b, a) for _ in range(4)][-1]


def in_vmap(b, a):
    return mo.vmap(lambda x, y: (x * 2, y * 2))(b, a)


CALLS = {
    call.__name__: call
    for call in (
        in_checkpoint,
        in_nested_checkpoints,
        behind_a_stop,
        behind_integers,
        in_branches,
        in_switch,
        in_scan,
        in_rows_of_scan,
        in_carries_that_move,
        overwritten_carries,
        no_trip,
        in_while,
        in_fori,
        branch_in_scan_in_checkpoint,
        in_function,
        in_function_in_checkpoint,
        in_function_in_scan,
        in_jit,
        checkpoint_in_jit,
        function_in_jit,
        in_vmap,
    )
}
CALLS["in_function_of_contexts"] = lambda b, a: BothByContext.apply(b, a)
CALLS["in_custom_vjp"] = both


@pytest.fixture
def start(rng):
    return floats(rng, (3,)).astype("float64") + 2, floats(rng, (3,)).astype("float64") + 4


@pytest.mark.parametrize("name", CALLS)
def test_the_gradient_is_by_the_value_that_the_loss_was_made_of(start, name):
    a, b = mo.array(start[0]), mo.array(start[1])
    former = a * a
    a += b
    result, other = CALLS[name](b, a)[:2]
    loss = (former * result).sum()
    by_former = mo.grad(loss, a)
    # The other result is made of the present value, which goes first.
    by_present = mo.grad(loss + (other * other).sum(), a)
    close(by_former, 2 * start[0] * result.numpy(), rtol=1e-12)
    assert np.abs(by_present.numpy() - by_former.numpy()).min() > 1e-3


@pytest.mark.parametrize("name", sorted(CALLS))
def test_a_result_that_is_not_made_of_a_target_says_so(start, name):
    a, b = mo.array(start[0]), mo.array(start[1])
    result = CALLS[name](b, a)[0]
    if "function" in name or "custom" in name:
        close(mo.grad(result.sum(), a, allow_unused=True), np.zeros(3))
        return
    with pytest.raises(ValueError, match="does not depend on any of the targets"):
        mo.grad(result.sum(), a)


def test_in_a_recorded_function(start):
    @mo.jit
    def gradient(a, b):
        former = a * a
        a += b
        result, _ = in_checkpoint(b, a)
        other, _ = in_function(b, a)
        return mo.grad((former * result * other).sum(), a)

    for _ in range(3):
        found = gradient(mo.array(start[0]), mo.array(start[1]))
        close(found, 8 * start[0] * start[1] ** 2, rtol=1e-12)


def test_second_derivatives_are_by_the_former_value(start):
    """Each value that a gradient computes again is made of one of its own."""

    def gradient_of_gradient(call):
        a, b = mo.array(start[0]), mo.array(start[1])
        former = a * a
        result, other = call(b, a)
        first = mo.grad((result * result * other).sum(), b)
        a += b
        return mo.grad((first * former).sum(), a)

    plain = gradient_of_gradient(lambda b, a: (mo.sin(b), mo.exp(a)))
    found = gradient_of_gradient(mo.checkpoint(lambda b, a: (mo.sin(b), mo.exp(a))))
    close(found, plain, rtol=1e-12)


def test_a_function_that_says_so_depends_on_what_it_does_not_read(start):
    """Its gradient is by the present value, though it has computed the result of none."""

    class Through(mo.Function):
        def execute(self, b, a):
            return b * 2, a * 2

        def grad(self, by_b, by_a):
            return None, by_b * 5

    a, b = mo.array(start[0]), mo.array(start[1])
    former = a * a
    a += b
    result, _ = Through.apply(b, a)
    close(mo.grad((former * result).sum(), a), 5 * start[0] ** 2, rtol=1e-12)


def test_of_several_older_values_the_youngest_is_meant(start):
    a, b = mo.array(start[0]), mo.array(start[1])
    oldest = a * 7
    a += b
    former = a * a
    a += b
    result, _ = Both.apply(b, a)
    expected = 2 * (start[0] + start[1]) * 2 * start[1]
    close(mo.grad((oldest * former * result).sum(), a), expected * 7 * start[0], rtol=1e-12)
    with pytest.raises(RuntimeError, match=r"jvp: an output is made of a former value"):
        mo.jvp([former * result], [a], [mo.ones(3, dtype="float64")])


class Doubled(mo.Function):
    """Doubles two tensors, and counts how often it is asked for derivatives."""

    asked = 0

    def execute(self, b, a):
        return b * 2, a * 2

    def grad(self, by_b, by_a):
        Doubled.asked += 1
        return None if by_b is None else by_b * 2, None if by_a is None else by_a * 2

    def jvp(self, of_b, of_a):
        return None if of_b is None else of_b * 2, None if of_a is None else of_a * 2


class Refuses(mo.Function):
    """Has no derivatives."""

    def execute(self, x):
        return x * 2


def test_what_a_value_is_made_of_is_no_other_value(start):
    """The derivative by it is through the value, for a function with several results, too."""
    a, b = mo.array(start[0]), mo.array(start[1])
    a += 1
    result, _ = Doubled.apply(a, b)
    (moved,) = mo.jvp([result], [a], [mo.ones(3, dtype="float64")])
    close(moved, [2, 2, 2])
    close(mo.grad(result.sum(), a), [2, 2, 2])


def test_functions_behind_the_value_are_not_asked(start):
    h, w = mo.array(start[0]), mo.array(start[1])
    for _ in range(4):
        h += Doubled.apply(h, w)[0]
        w += 1
    of_h, of_w = Doubled.apply(h, w)[0].sum(), Doubled.apply(w, h)[0].sum()
    Doubled.asked = 0
    close(mo.grad(of_h, h), [2, 2, 2])
    assert Doubled.asked == 1
    # Older values of w are in what h is made of; that by the present one is not zero.
    close(mo.grad(of_w, w), [2, 2, 2])
    assert Doubled.asked == 2


def test_functions_are_asked_for_older_values_where_they_may_be_meant(start):
    h, w = mo.array(start[0]), mo.array(start[1])
    h += w
    w += 1
    h += Refuses.apply(h)
    close(mo.grad(Doubled.apply(h, w)[0].sum(), h), [2, 2, 2])
    # The gradient by the present one is zero, as the function says.
    with pytest.raises(NotImplementedError, match="Refuses"):
        mo.grad(Doubled.apply(h, w)[0].sum(), w)


# --- Gradients for results that the loss is not made of --------------------


def zeros_for(by, like):
    return mo.zeros(like.shape, "float64") if by is None else by


#: Forms of a gradient by a, given that by the other result, if it is there, and by b's.
FORMS = {
    "none": lambda by_a, by_b: None if by_a is None else by_a * 2,
    "zeros": lambda by_a, by_b: zeros_for(by_a, by_b) * 2,
    "divided": lambda by_a, by_b: zeros_for(by_a, by_b) * 4 / 2,
    "chosen": lambda by_a, by_b: mo.where(by_b > -9, zeros_for(by_a, by_b), 0.0) * 2,
    "sliced": lambda by_a, by_b: (
        mo.concat([zeros_for(by_a, by_b)[i : i + 1] for i in range(3)]) * 2
    ),
    "by integers": lambda by_a, by_b: zeros_for(by_a, by_b) * mo.array([2, 2, 2]).astype("float64"),
    "highest": lambda by_a, by_b: mo.maximum(zeros_for(by_a, by_b), -100.0) * 2 + 0.0,
    "function": lambda by_a, by_b: mo.exp(zeros_for(by_a, by_b) * 0) * zeros_for(by_a, by_b) * 2,
    "rounded": lambda by_a, by_b: zeros_for(by_a, by_b).astype("float32").astype("float64") * 2,
    "looped": lambda by_a, by_b: mo.fori_loop(0, 3, lambda i, s: s / 1, zeros_for(by_a, by_b)) * 2,
    "with nothing of b": lambda by_a, by_b: zeros_for(by_a, by_b) / 0.5 + zeros_for(by_b, by_a) * 0,
}


class OfForm(mo.Function):
    """Doubles two tensors."""

    def __init__(self, form):
        self.form = form

    def execute(self, b, a):
        return b * 2, a * 2

    def grad(self, by_b, by_a):
        given = zeros_for(by_b, by_a)
        return given * 2, self.form(by_a, given)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("recorded", [False, True])
def test_a_gradient_of_any_form_that_is_made_of_nothing_is_not_meant(start, form, recorded):
    def gradient(a, b, *, adds):
        former = a * a
        a += b
        result, other = OfForm(FORMS[form])(b, a)
        loss = former * result
        return mo.grad((loss + other * other if adds else loss).sum(), a)

    call = mo.jit(gradient) if recorded else gradient
    for _ in range(3 if recorded else 1):
        found = call(mo.array(start[0]), mo.array(start[1]), adds=False)
        close(found, 4 * start[0] * start[1], rtol=1e-6)
        found = call(mo.array(start[0]), mo.array(start[1]), adds=True)
        close(found, 8 * (start[0] + start[1]), rtol=1e-6)


class First(mo.Function):
    """Has one result, which is made of its first argument to its gradient."""

    def execute(self, b, a):
        return b * 2 + a

    def grad(self, by):
        return by * 2, None

    def jvp(self, of_b, of_a):
        return None if of_b is None else of_b * 2


@pytest.mark.parametrize("calls", [1, 2])
def test_a_function_of_one_result_that_gives_none(start, calls):
    a, b = mo.array(start[0]), mo.array(start[1])
    former = a * a
    a += b
    result = b
    for _ in range(calls):
        result = First.apply(result, a)
    by_former = mo.grad((former * result).sum(), a)
    # Beside an operator that is made of the present value, that is meant.
    by_present = mo.grad((former * result * a).sum(), a)
    with pytest.raises(RuntimeError, match="jvp: an output is made of a former value"):
        mo.jvp([former * result], [a], [mo.ones(3, dtype="float64")])
    close(by_former, 2 * start[0] * result.numpy(), rtol=1e-12)
    close(by_present, start[0] ** 2 * result.numpy(), rtol=1e-12)
    # Nobody has held the former value while these were computed.
    with pytest.raises(RuntimeError, match=r"(?s)before it was rebound at .*keep a Var of its old"):
        mo.grad((former * result).sum(), a)
    # What is made of it behind that is its own.
    close(mo.grad((First.apply(b, a) * a).sum(), a), (First.apply(b, a)).numpy(), rtol=1e-12)


class Constant(mo.Function):
    """Says that its gradient is 1, whatever it is given."""

    def execute(self, b, a):
        return b * 2 + a

    def grad(self, by):
        return by * 2, mo.ones(3, dtype="float64")


@pytest.mark.parametrize("is_made_of_it", [False, True])
def test_what_no_linear_function_gives_is_added(start, is_made_of_it):
    a, b = mo.array(start[0]), mo.array(start[1])
    former = a * a
    a.assign(a + b if is_made_of_it else b * 2)
    result = Constant.apply(b, a)
    alone = mo.grad(result.sum(), a)
    both = mo.grad((former * result).sum(), a)
    close(alone, np.ones(3))
    close(both, 1 + 2 * start[0] * result.numpy(), rtol=1e-12)


class Reads(mo.Function):
    """Reads what it is given, and makes an array of it."""

    def execute(self, b, a):
        return b * 2, a * 2

    def grad(self, by_b, by_a):
        return by_b * 2, mo.array(np.zeros(3) if by_a is None else by_a.numpy() * 2)


def test_where_nobody_knows_what_a_gradient_is_made_of(start):
    a, b = mo.array(start[0]), mo.array(start[1])
    former = a * a
    a += b
    result, other = Reads.apply(b, a)
    close(mo.grad((result + other).sum(), a), [2, 2, 2])
    with pytest.raises(RuntimeError, match=r"(?s)several values of the target.*test_former.*None"):
        mo.grad((former * result).sum(), a)


# --- Values that trips make of what they carry ---------------------------------------------------


STEPS = {
    "shifts": lambda c, a: (c[1], c[2], a * 2),
    "exchanges": lambda c, a: (c[1], c[0], a * 2),
    "takes": lambda c, a: (c[1], a * 2, c[2]),
    "in turn": lambda c, a: (c[1], c[2] * 2, c[0]),
}


@pytest.mark.parametrize("trips", [0, 1, 2, 3, 5])
@pytest.mark.parametrize("name", STEPS)
def test_the_gradient_is_by_what_so_many_trips_have_made(start, name, trips):
    def run(a, b, loop):
        former = a * a
        a += b
        carried = loop(a, b)[0]
        return mo.grad((former * carried).sum(), a).numpy()

    def scanned(a, b):
        step = lambda c, _: (STEPS[name](c, a), None)  # noqa: E731
        return mo.scan(step, (b, b + 1, b + 2), None, length=trips)[0]

    def unrolled(a, b):
        carried = (b, b + 1, b + 2)
        for _ in range(trips):
            carried = STEPS[name](carried, a)
        return carried

    def in_loop(a, b):
        outer = lambda s, _: (scanned(a, s)[0], None)  # noqa: E731
        return [mo.scan(outer, b, None, length=2)[0]]

    def unrolled_in_loop(a, b):
        return [unrolled(a, unrolled(a, b)[0])[0]]

    for loop, plain in ((scanned, unrolled), (in_loop, unrolled_in_loop)):
        found, expected = (
            run(mo.array(start[0]), mo.array(start[1]), each) for each in (loop, plain)
        )
        close(found, expected, rtol=1e-12)


@pytest.mark.parametrize("trips", [1, 2, 3])
def test_rows_are_made_of_what_their_trips_began_with(start, trips):
    def run(a, b, loop):
        former = a * a
        a += b
        return mo.grad((former * loop(a, b).sum(0)).sum(), a).numpy()

    def scanned(a, b):
        step = lambda c, _: ((c[1], a * 2), c[0])  # noqa: E731
        return mo.scan(step, (b, b + 1), None, length=trips)[1]

    def unrolled(a, b):
        carried, rows = (b, b + 1), []
        for _ in range(trips):
            rows.append(carried[0])
            carried = carried[1], a * 2
        return mo.stack(rows)

    found, expected = (
        run(mo.array(start[0]), mo.array(start[1]), each) for each in (scanned, unrolled)
    )
    close(found, expected, rtol=1e-12)


class Twice(mo.Function):
    """Doubles two tensors, as its gradient does."""

    def execute(self, b, a):
        return b * 2, a * 2

    def grad(self, by_b, by_a):
        return None if by_b is None else by_b * 2, None if by_a is None else by_a * 2


def scanned(b, a):
    step = lambda carry, _: ((carry[0] * 2, carry[1] * 2), None)  # noqa: E731
    return mo.scan(step, (b, a), None, length=1)[0]


def looped(b, a):
    step = lambda state: (state[0] * 2, state[1] * 2, state[2] + 1)  # noqa: E731
    return mo.while_loop(lambda state: state[2] < 1, step, (b, a, mo.array(0)), max_trips=2)[:2]


TWO_AT_ONCE = {
    "scan": scanned,
    "while loop": looped,
    "checkpoint": lambda b, a: mo.checkpoint(lambda p, q: (p * 2, q * 2))(b, a),
    "branch": lambda b, a: mo.cond(mo.sum(b) > -9, lambda: (b * 2, a * 2), lambda: (b, a * 2)),
    "function": lambda b, a: Twice.apply(b, a),
}


@pytest.mark.parametrize("name", TWO_AT_ONCE)
def test_gradient_that_is_a_result_beside_one_of_the_loss(name):
    """It is zero, made of zeros alone, whatever the operation's other result is made of."""

    class Double(mo.Function):
        def execute(self, b, a):
            return b * 2, a * 2

        def grad(self, by_b, by_a):
            by_a = mo.zeros(by_b.shape, dtype="float64") if by_a is None else by_a
            return by_b * 2, TWO_AT_ONCE[name](by_b, by_a)[1]

    x, y = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0])
    a, b = mo.array(x), mo.array(y)
    former = a * a
    a += b
    result, _ = Double()(b, a)
    close(mo.grad((former * result).sum(), a), 4 * x * y)


@pytest.mark.parametrize("name", ["scan", "moved", "while loop", "captured"])
def test_call_of_one_value_twice_says_nothing_of_the_next_call(name):
    def call(b, a, factor):
        if name == "scan":
            step = lambda c, _: ((c[0] * factor, c[1] * 3.0), None)  # noqa: E731
            return mo.scan(step, (b, a), None, length=3)[0][0]
        if name == "moved":
            step = lambda c, _: ((c[1] * factor, c[0] * 3.0), None)  # noqa: E731
            return mo.scan(step, (b, a), None, length=2)[0][0]
        if name == "captured":
            step = lambda c, _: ((c[0] * factor, a * 3.0), None)  # noqa: E731
            return mo.scan(step, (b, b), None, length=2)[0][0]
        body = lambda s: (s[0] * factor, s[1] * 3.0, s[2] + 1)  # noqa: E731
        return mo.while_loop(lambda s: s[2] < 2, body, (b, a, mo.array(0)), max_trips=3)[0]

    # A factor of each one's own, so that no other test has recorded the operation.
    factor = 1.0625 + 0.125 * len(name)
    x, y = np.array([1.0, 2.0]), np.array([3.0, 5.0])
    same = mo.array(x)
    call(same, same, factor).sync()
    a, b = mo.array(x), mo.array(y)
    former = a * a
    a += b
    result = call(b, a, factor)
    close(mo.grad((former * result).sum(), a), 2 * x * result.numpy())
