# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that are recorded once: calls, containers and captured tensors."""

from __future__ import annotations

import cProfile
import gc
import inspect
import sys
from dataclasses import dataclass
from typing import Any, NamedTuple

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from recorded_functions import hits, leaf, recorded

# A warning that no test expects is an error.
pytestmark = pytest.mark.filterwarnings("error")


# Calls


def test_values_of_many_calls() -> None:
    calls = 0

    def f(x: mo.Var, y: mo.Var) -> mo.Var:
        nonlocal calls
        calls += 1
        return mo.tanh(x) * y + 1

    def plain(x: mo.Var, y: mo.Var) -> mo.Var:
        return mo.tanh(x) * y + 1

    jitted = mo.jit(plain)
    for i in range(20):
        x, y = leaf(i, 2), leaf(3, -i)
        assert np.array_equal(jitted(x, y).numpy(), plain(x, y).numpy())
    assert recorded(jitted) == 1
    # Calls 1, 2, 4 and 16 are recorded.
    assert hits(jitted) == 16


def test_decorator_with_options() -> None:
    @mo.jit(recheck=False)
    def double(x: mo.Var) -> mo.Var:
        """Return twice x."""
        return x * 2

    for _ in range(20):
        assert double(leaf(1, 2)).numpy().tolist() == [2, 4]
    assert hits(double) == 18
    assert double.__name__ == "double"
    assert double.__doc__ == "Return twice x."
    assert str(inspect.signature(double)) == "(x: 'mo.Var') -> 'mo.Var'"


def test_shapes_and_dtypes_have_recordings_of_their_own() -> None:
    double = mo.jit(lambda x: x * 2)
    for x in (leaf(1), leaf(1, 2), leaf(1).cast("int32"), leaf(1)):
        assert np.array_equal(double(x).numpy(), x.numpy() * 2)
        assert double(x).dtype == x.dtype
    info = mo.jit_info(double)
    assert len(info.records) == 3
    assert info.keys == 3
    assert [record.new for record in info.records] == ["", "x", "x"]
    assert "(1,)" in info.records[1].before
    assert "(2,)" in info.records[1].after
    assert "int32" in info.records[2].after
    assert "3 recordings kept" in str(info)


def test_static_arguments() -> None:
    calls = []

    def f(x: mo.Var, how: str, by: Any, **options: Any) -> mo.Var:
        return -x * by if how == "minus" else x * by + options.get("more", 0)

    jitted = mo.jit(f)
    for given in (("minus", 2), ("plus", 2), ("plus", 2.0), ("plus", True), ("plus", 3)):
        assert np.array_equal(jitted(leaf(1, 2), *given).numpy(), f(leaf(1, 2), *given).numpy())
    assert recorded(jitted) == 5
    assert jitted(leaf(1), "plus", 2, more=5).numpy().tolist() == [7]
    assert jitted(leaf(1), by=2, how="plus", more=5).numpy().tolist() == [7]
    assert not calls


def test_numbers_of_one_value_and_several_types() -> None:
    jitted = mo.jit(lambda x, by: x * by)
    given = leaf(1).cast("int32")
    assert jitted(given, 2).dtype == "int32"
    assert jitted(given, 2.0).dtype == "float32"
    assert np.signbit(jitted(leaf(1), -0.0).numpy()[0])
    assert not np.signbit(jitted(leaf(1), 0.0).numpy()[0])
    assert np.isnan(jitted(leaf(1), float("nan")).numpy()[0])
    count = recorded(jitted)
    jitted(leaf(1), float("nan"))
    assert recorded(jitted) == count


def test_arrays_are_copied() -> None:
    jitted = mo.jit(lambda x: x + 1)
    given = np.array([1.0, 2.0], "float32")
    for i in range(5):
        given[0] = i
        assert jitted(given).numpy().tolist() == [i + 1, 3]
    assert recorded(jitted) == 1


def test_device_and_gradients_are_part_of_the_key() -> None:
    weight = leaf(2)
    jitted = mo.jit(lambda x: x * weight)
    assert jitted(leaf(3)).numpy().tolist() == [6]
    with mo.no_grad():
        assert jitted(leaf(3)).numpy().tolist() == [6]
    assert recorded(jitted) == 2
    assert mo.jit_info(jitted).records[1].new == "whether gradients flow"


# Containers


class Pair(NamedTuple):
    """A named tuple of tensors."""

    first: Any
    second: Any


@dataclass(frozen=True)
class Batch:
    """A data class with tensors and something static."""

    x: Any
    y: Any
    name: str = "batch"


def test_containers_of_arguments_and_results() -> None:
    def f(pair: Pair, batch: Batch, rest: dict[str, Any], items: list[Any]) -> Any:
        total = pair.first + pair.second + batch.x * rest["w"] + items[0][1]
        return {"total": total, "batch": Batch(batch.y + 1, batch.x), "pair": Pair(1, (total,))}

    jitted = mo.jit(f)
    for i in range(5):
        given = (
            Pair(leaf(i), leaf(2)),
            Batch(leaf(3), leaf(i + 4)),
            {"w": leaf(5), "text": "static"},
            [(1, leaf(6)), None],
        )
        result, expected = jitted(*given), f(*given)
        assert type(result) is dict
        assert type(result["batch"]) is Batch
        assert result["pair"].first == 1
        assert np.array_equal(result["total"].numpy(), expected["total"].numpy())
        assert np.array_equal(result["batch"].x.numpy(), expected["batch"].x.numpy())
        assert np.array_equal(result["pair"].second[0].numpy(), expected["total"].numpy())
        # An argument is returned itself.
        assert result["batch"].y is given[1].x
    assert recorded(jitted) == 1
    given[2]["text"] = "another"
    jitted(*given)
    assert recorded(jitted) == 2
    record = mo.jit_info(jitted).records[1]
    assert (record.new, record.before, record.after) == ("rest['text']", "'static'", "'another'")


def test_gradients_beside_eager_ones() -> None:
    model = nn.Linear(3, 1)

    def f(x: mo.Var) -> Any:
        loss = mo.sum(model(x) ** 2)
        return loss, mo.grad(loss, list(model.parameters()))

    jitted = mo.jit(f)
    for i in range(6):
        x = leaf(i, 2, 3).reshape(1, 3)
        loss, grads = jitted(x)
        expected, others = f(x)
        assert np.allclose(loss.numpy(), expected.numpy())
        for grad, other in zip(grads, others, strict=True):
            assert np.allclose(grad.numpy(), other.numpy())
    assert (recorded(jitted), hits(jitted)) == (1, 3)


def test_random_numbers_are_those_of_eager_calls() -> None:
    layer = nn.Dropout(0.5)
    mo.seed(1)
    expected = [layer(mo.ones(16)).numpy().tolist() for _ in range(6)]
    jitted = mo.jit(nn.Dropout(0.5))
    mo.seed(1)
    assert [jitted(mo.ones(16)).numpy().tolist() for _ in range(6)] == expected
    assert len({tuple(values) for values in expected}) == 6


def test_gradients_of_results() -> None:
    weight = leaf(2)
    jitted = mo.jit(lambda x: mo.sum(weight * x * x))
    for _ in range(4):
        x = leaf(3)
        assert [grad.numpy().tolist() for grad in mo.grad(jitted(x), [x, weight])] == [[12], [9]]


def test_operators_that_run_at_once_are_not_recorded() -> None:
    jitted = mo.jit(lambda x: x * float(mo.sum(x)))
    with mo.flag_scope(lazy_execution=False):
        assert jitted(leaf(1, 2)).numpy().tolist() == [3, 6]
    assert mo.jit_info(jitted).calls == 0


def test_results_without_tensors() -> None:
    weight = leaf(1)

    def f(x: mo.Var) -> None:
        weight.update(weight + x)

    jitted = mo.jit(f)
    for _ in range(5):
        assert jitted(leaf(2)) is None
    assert weight.numpy().tolist() == [11]


def test_changed_containers_are_refused() -> None:
    given = [leaf(1)]

    def f(items: list[mo.Var]) -> mo.Var:
        items.append(items[0] * 2)
        return items[0] + 1

    with pytest.raises(ValueError, match=r"f changes items, a container .*\.py:\d+"):
        mo.jit(f)(given)
    assert len(given) == 1


def test_unhashable_arguments_are_refused() -> None:
    with pytest.raises(TypeError, match=r"jit: given .*set.*neither a tensor nor hashable.*\.py"):
        mo.jit(lambda x, names: x)(leaf(1), {"a"})


# Arguments and captured tensors


def test_arguments_are_rebound() -> None:
    def f(x: mo.Var, by: mo.Var) -> mo.Var:
        x += by
        return x * 2

    jitted = mo.jit(f)
    x = leaf(0, 1)
    for _ in range(6):
        result = jitted(x, leaf(1, 1))
    assert x.numpy().tolist() == [6, 7]
    assert result.numpy().tolist() == [12, 14]


def test_items_of_arguments_are_set() -> None:
    def f(x: mo.Var) -> mo.Var:
        x[0] = x[1] + 1
        return x

    jitted = mo.jit(f)
    x = leaf(0, 1)
    for _ in range(5):
        assert jitted(x) is x
    assert x.numpy().tolist() == [2, 1]


def test_captured_tensors_are_rebound() -> None:
    count = leaf(0)

    def f(x: mo.Var) -> mo.Var:
        count.update(count + 1)
        return x * count

    jitted = mo.jit(f)
    for i in range(1, 8):
        assert jitted(leaf(1)).numpy().tolist() == [i]
    assert count.numpy().tolist() == [7]


def test_one_tensor_as_two_arguments() -> None:
    def f(x: mo.Var, y: mo.Var) -> mo.Var:
        x += 1
        return x * y

    jitted = mo.jit(f)
    for _ in range(4):
        x, y = leaf(2), leaf(5)
        assert jitted(x, y).numpy().tolist() == [15]
        assert jitted(x, x).numpy().tolist() == [16]
    assert recorded(jitted) == 2
    assert mo.jit_info(jitted).records[1].new == "which arguments are one tensor"


def test_one_tensor_as_argument_and_captured() -> None:
    weight = leaf(2)

    def f(x: mo.Var) -> mo.Var:
        x += 1
        return x * weight

    jitted = mo.jit(f)
    for first in (True, False, True, True, False, False):
        expected = weight.numpy()
        if first:
            assert np.array_equal(jitted(weight).numpy(), (expected + 1) ** 2)
        else:
            assert np.array_equal(jitted(leaf(3)).numpy(), 4 * expected)
    assert weight.numpy().tolist() == [5]


def test_captured_tensors_that_died() -> None:
    holder = {"w": leaf(2)}
    jitted = mo.jit(lambda x: x * holder["w"])
    for _ in range(3):
        jitted(leaf(1))
    del holder["w"]
    gc.collect()
    with pytest.raises(KeyError):
        jitted(leaf(1))
    holder["w"] = leaf(7)
    assert jitted(leaf(1)).numpy().tolist() == [7]


# Recording


def test_steps_that_index_are_used_again() -> None:
    table, rows = mo.ones((4, 3)), mo.array([1, 2])
    jitted = mo.jit(lambda x: table[rows] * x + x[None, 0:1])
    for _ in range(6):
        jitted(leaf(1, 2, 3))
    assert (recorded(jitted), hits(jitted)) == (1, 3)


def test_modes_that_a_step_sets_itself() -> None:
    model = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5))

    def f(x: mo.Var) -> mo.Var:
        model.eval()
        result = model(x)
        model.train()
        return result

    jitted = mo.jit(f)
    for _ in range(6):
        jitted(leaf(1, 2, 3))
    assert (recorded(jitted), hits(jitted)) == (1, 3)


def test_variables_of_functions_that_did_not_run() -> None:
    seen: list[int] = []

    def f(x: mo.Var) -> mo.Var:
        def note() -> None:
            seen.append(1)

        return x * 2 if x.shape[0] < 3 else note()  # type: ignore[return-value, func-returns-value]

    jitted = mo.jit(f)
    for _ in range(6):
        jitted(leaf(1))
        seen.append(2)
    assert (recorded(jitted), hits(jitted)) == (1, 3)


def test_jit_in_jit_is_in_line() -> None:
    inner = mo.jit(lambda x: x * 2)
    outer = mo.jit(lambda x: inner(x) + inner(x + 1))
    for _ in range(4):
        assert outer(leaf(3)).numpy().tolist() == [14]
    assert mo.jit_info(inner).calls == 0


def test_profilers_go_on() -> None:
    seen: list[str] = []

    def f(x: mo.Var) -> mo.Var:
        return mo.tanh(x)

    def profile(frame: Any, event: str, argument: object) -> None:
        if event == "call":
            seen.append(frame.f_code.co_name)

    jitted = mo.jit(f)
    sys.setprofile(profile)
    try:
        jitted(leaf(1))
        assert sys.getprofile() is profile
    finally:
        sys.setprofile(None)
    assert "f" in seen
    profiler = cProfile.Profile()
    profiler.enable()
    mo.jit(f)(leaf(1))
    profiler.disable()
    assert any(getattr(entry.code, "co_name", "") == "f" for entry in profiler.getstats())
    assert sys.getprofile() is None
