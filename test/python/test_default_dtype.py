# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The type of floats that are made where none is given."""

import inspect
import math
import threading

import metaops as mo
import numpy as np
import pytest
import typed_calls
import typed_nn_calls
from metaops import nn

SHAPE = (2, 3)

#: Calls that make floats, of the default type.
MADE = {
    "arange": lambda: mo.arange(0.0, 3.0, 0.5),
    "array of a list": lambda: mo.array([[0.1, 2], [3, 4.5]]),
    "array of a number": lambda: mo.array(0.1),
    "array of a tuple": lambda: mo.array((0.1, 2)),
    "array of nothing": lambda: mo.array([]),
    "asarray": lambda: mo.asarray([0.1]),
    "bartlett": lambda: mo.bartlett(5),
    "beta": lambda: mo.beta(SHAPE, 1.0, 2.0),
    "blackman": lambda: mo.blackman(5),
    "cauchy": lambda: mo.cauchy(SHAPE),
    "chisquare": lambda: mo.chisquare(SHAPE, 2.0),
    "dirichlet": lambda: mo.dirichlet((3,), [1.0, 2.0]),
    "empty": lambda: mo.empty(SHAPE),
    "exponential": lambda: mo.exponential(SHAPE),
    "eye": lambda: mo.eye(3),
    "full": lambda: mo.full(SHAPE, 0.1),
    "gamma": lambda: mo.gamma(SHAPE, 2.0),
    "geomspace": lambda: mo.geomspace(1.0, 9.0, 4),
    "gumbel": lambda: mo.gumbel(SHAPE),
    "hamming": lambda: mo.hamming(5),
    "hanning": lambda: mo.hanning(5),
    "identity": lambda: mo.identity(3),
    "init.constant": lambda: nn.init.constant(SHAPE, 0.1),
    "init.dirac": lambda: nn.init.dirac((2, 2, 3)),
    "init.eye": lambda: nn.init.eye(SHAPE),
    "init.kaiming_normal": lambda: nn.init.kaiming_normal(SHAPE),
    "init.orthogonal": lambda: nn.init.orthogonal(SHAPE),
    "init.sparse": lambda: nn.init.sparse(SHAPE, 0.5),
    "init.trunc_normal": lambda: nn.init.trunc_normal(SHAPE),
    "init.xavier_uniform": lambda: nn.init.xavier_uniform(SHAPE),
    "kaiser": lambda: mo.kaiser(5, 2.0),
    "laplace": lambda: mo.laplace(SHAPE),
    "linspace": lambda: mo.linspace(0, 1, 4),
    "logistic": lambda: mo.logistic(SHAPE),
    "lognormal": lambda: mo.lognormal(SHAPE),
    "logspace": lambda: mo.logspace(0, 1, 4),
    "mask of a transformer": lambda: nn.Transformer.generate_square_subsequent_mask(3),
    "normal": lambda: mo.normal(SHAPE),
    "one_hot": lambda: mo.one_hot([0, 2], 3),
    "ones": lambda: mo.ones(2, 3),
    "pareto": lambda: mo.pareto(SHAPE, 2.0),
    "rand": lambda: mo.rand(2, 3),
    "rand by a key": lambda: mo.rand(SHAPE, key=mo.Key(3)),
    "randn": lambda: mo.randn(2, 3),
    "random": lambda: mo.random(SHAPE),
    "rayleigh": lambda: mo.rayleigh(SHAPE),
    "student_t": lambda: mo.student_t(SHAPE, 3.0),
    "tri": lambda: mo.tri(3),
    "triangular": lambda: mo.triangular(SHAPE, 0.0, 0.5, 1.0),
    "truncated_normal": lambda: mo.truncated_normal(SHAPE, -1.0, 1.0),
    "uniform": lambda: mo.uniform(SHAPE),
    "weibull": lambda: mo.weibull(SHAPE, 2.0),
    "zeros": lambda: mo.zeros(SHAPE),
}

LAYERS = {
    "BatchNorm2d": lambda: nn.BatchNorm2d(3),
    "Bilinear": lambda: nn.Bilinear(2, 3, 4),
    "Conv2d": lambda: nn.Conv2d(3, 4, 3),
    "ConvTranspose1d": lambda: nn.ConvTranspose1d(3, 4, 3),
    "Embedding": lambda: nn.Embedding(5, 3, padding_idx=0),
    "GRUCell": lambda: nn.GRUCell(3, 4),
    "GroupNorm": lambda: nn.GroupNorm(1, 4),
    "LSTM": lambda: nn.LSTM(3, 4),
    "LayerNorm": lambda: nn.LayerNorm(4),
    "Linear": lambda: nn.Linear(3, 4),
    "MultiheadAttention": lambda: nn.MultiheadAttention(4, 2),
    "PReLU": lambda: nn.PReLU(),
    "RMSNorm": lambda: nn.RMSNorm(4),
    "TransformerEncoderLayer": lambda: nn.TransformerEncoderLayer(4, 2, 8),
}

CALLS = {
    name: call
    for module in (typed_calls, typed_nn_calls)
    for table in ("MOVING", "ARITHMETIC", "STEPWISE", "SINGLE", "REAL", "DRAWN", "FLOATS_ALONE")
    for name, call in getattr(module, table, {}).items()
}


def leaves(result):
    if isinstance(result, mo.Var):
        return [result]
    return [leaf for part in result for leaf in leaves(part)]


@pytest.mark.parametrize("name", MADE)
def test_what_is_made(name):
    assert MADE[name]().dtype == "float32"
    for dtype in ("float64", "float16", "bfloat16"):
        with mo.default_dtype(dtype):
            assert MADE[name]().dtype == dtype
    assert MADE[name]().dtype == "float32"


@pytest.mark.parametrize("name", LAYERS)
def test_layers(name):
    with mo.default_dtype("float64"):
        module = LAYERS[name]()
    state = module.state_dict()
    assert {str(x.dtype) for x in state.values()} - {"int64"} == {"float64"}
    assert {x.dtype for x in LAYERS[name]().parameters()} == {mo.float32}


def test_a_step_in_float64():
    with mo.default_dtype("float64"):
        model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.BatchNorm1d(8), nn.Linear(8, 1))
        x, y = mo.rand(16, 3), mo.rand(16, 1)
        optimizer = mo.optim.Adam(model.parameters(), lr=0.01)
        first = nn.mse_loss(model(x), y)
        optimizer.step(first)
        second = nn.mse_loss(model(x), y)
    assert first.dtype == second.dtype == "float64"
    assert second.item() < first.item()
    assert {p.dtype for p in model.parameters()} == {mo.float64}


def test_numbers_are_not_rounded_in_between():
    with mo.default_dtype(mo.float64):
        assert mo.array(0.1).item() == 0.1
        assert mo.array([0.1, [0.2][0]]).tolist() == [0.1, 0.2]
        assert mo.full((1,), math.pi).tolist() == [math.pi]
        np.testing.assert_allclose(mo.linspace(0, 1, 7).numpy(), np.linspace(0, 1, 7), 3e-16)
        assert mo.array([1.5, 2**60 + 1]).tolist() == [1.5, float(2**60)]


def test_what_is_given_stays():
    """Types that are given, integers, booleans, arrays and tensors are as without it."""
    given = {
        "float32": [
            lambda: mo.zeros(SHAPE, "float32"),
            lambda: mo.ones(2, 3, dtype=mo.float32),
            lambda: mo.rand(SHAPE, "float32"),
            lambda: mo.arange(0.5, dtype="float32"),
            lambda: mo.array([1.5], "float32"),
            lambda: mo.array(np.ones(2, "float32")),
            lambda: mo.array([np.float32(1), np.float32(2)]),
            lambda: mo.array(np.float32(1)),
            lambda: mo.zeros_like(mo.array([1.5], "float32")),
            lambda: mo.array([mo.zeros(2, dtype="float32"), [1.5, 2.5]]),
            lambda: mo.one_hot([0, 1], 2, dtype="float32"),
        ],
        "float64": [lambda: mo.array(np.ones(2)), lambda: mo.array([np.float64(1)])],
        "int64": [
            lambda: mo.arange(3),
            lambda: mo.array([1, 2]),
            lambda: mo.full((2,), 3),
            lambda: mo.ones(3, int),
        ],
        "int32": [
            lambda: mo.zeros(2, 3, dtype="int32"),
            lambda: mo.ones(SHAPE, "int32"),
            lambda: mo.ones(3, np.int32),
            lambda: mo.empty(3, np.dtype("int32")),
            lambda: mo.zeros(SHAPE, mo.int32),
        ],
        "bool": [lambda: mo.array([True]), lambda: mo.bernoulli(0.5, SHAPE)],
    }
    for default in ("float32", "float16"):
        with mo.default_dtype(default):
            for dtype, calls in given.items():
                assert [call().dtype for call in calls] == [dtype] * len(calls)


@pytest.mark.parametrize("name", CALLS)
def test_what_is_computed_keeps_its_type(rng, name):
    tensors, function = CALLS[name]
    shapes = [(typed_calls.SHAPES[own[0]], own[1:]) for own in tensors.split()]
    arrays = [
        rng.uniform(0.0 if kind in ("p", "+") else -1.0, 1.0, shape).astype("float32")
        for shape, kind in shapes
    ]

    def computed():
        mo.seed(3)
        results = leaves(function(*map(mo.array, arrays)))
        return [(x.dtype, x.numpy()) for x in results]

    expected = computed()
    with mo.default_dtype("float64"):
        actual = computed()
    for (dtype, value), (other, reference) in zip(actual, expected, strict=True):
        assert dtype == other
        np.testing.assert_array_equal(value, reference)


def test_of_the_process_and_of_threads():
    seen = {}

    def look(name):
        seen[name] = mo.zeros(2).dtype

    try:
        mo.set_default_dtype("float64")
        assert mo.get_default_dtype() == mo.rand(2).dtype == "float64"
        with mo.default_dtype("float16"):
            look("scope")
            thread = threading.Thread(target=look, args=("thread",))
            thread.start()
            thread.join()
            # Those of a scope stay until it is left.
            mo.set_default_dtype("bfloat16")
            look("scope, set")
        look("after")
    finally:
        mo.set_default_dtype("float32")
    assert seen == {
        "scope": "float16",
        "thread": "float64",
        "scope, set": "float16",
        "after": "bfloat16",
    }
    assert mo.get_default_dtype() == "float32"


def test_scopes_end_with_errors_and_decorate():
    @mo.default_dtype("float64")
    def made():
        return mo.zeros(2)

    scope = mo.default_dtype("float64")
    with pytest.raises(KeyError), scope, scope:
        raise KeyError
    assert made().dtype == "float64"
    assert mo.zeros(2).dtype == "float32"


@pytest.mark.parametrize("function", [mo.set_default_dtype, mo.default_dtype])
def test_other_types_are_refused(function):
    with pytest.raises(TypeError, match=r"given int32, expected a type of floats.*\.py"):
        function("int32")
    with pytest.raises(TypeError):
        function("float12")
    assert mo.get_default_dtype() == "float32"


def test_the_array_api_knows_it():
    with mo.default_dtype("float64"):
        info = mo.__array_namespace_info__()
        assert info.default_dtypes()["real floating"] == "float64"


def test_no_function_has_a_type_of_its_own():
    """Types of new floats are None in signatures, so that the default one is taken."""
    for module in (mo, nn, nn.init):
        for name in module.__all__:
            function = getattr(module, name)
            if callable(function) and not isinstance(function, type):
                parameter = inspect.signature(function).parameters.get("dtype")
                assert parameter is None or parameter.default != "float32", name
