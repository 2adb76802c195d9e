# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""No function returns its argument: what is done to the result is not done to it."""

import copy

import metaops as mo
import numpy as np
import pytest
from metaops import nn
from metaops.compat import array_api
from metaops.ops.create import creation
from metaops.ops.elementwise import activations, closeness, elementwise, rounding
from metaops.ops.index import gathering
from metaops.ops.products import contraction, products
from metaops.ops.reduce import norms, reduction, segments
from metaops.ops.shape import diagonals, padding, repeating, shaping, splitting, stacking, windows
from metaops.ops.signal import differences, filters
from metaops.ops.statistics import histograms, statistics
from util import same

#: Methods that are documented to act in place and to return the Var.
IN_PLACE = {"assign", "update", "stop_grad", "sync"}

TENSORS = {
    "floats": np.arange(6, dtype="float32").reshape(2, 3),
    "integers": np.arange(6).reshape(2, 3),
    "booleans": np.arange(6).reshape(2, 3) % 2 == 0,
    "row": np.arange(3, dtype="float32"),
    "number": np.array(2.0, "float32"),
}

#: Arguments beside the tensor. Each function is called with all that it takes.
ARGUMENTS = [
    lambda x: (),
    lambda x: (x,),
    lambda x: (0,),
    lambda x: (1,),
    lambda x: ((),),
    lambda x: (None,),
    lambda x: (x.dtype,),
    lambda x: (x.shape,),
    lambda x: x.shape,
    lambda x: (tuple(range(x.ndim)),),
    lambda x: tuple(range(x.ndim)),
    lambda x: (0, 0),
    lambda x: (x.shape, [f"i{axis}" for axis in range(x.ndim)]),
    lambda x: ([(0, 0)] * x.ndim,),
    lambda x: ([x.shape[0]] if x.ndim else 1,),
]

OTHERS = ["Var", "array", "asarray", "broadcast", "broadcast_var", "matmul", "reindex"]
OTHERS += ["stop_fuse", "stop_grad"]
MODULES = (
    activations,
    array_api,
    closeness,
    contraction,
    creation,
    diagonals,
    differences,
    elementwise,
)
MODULES += (
    filters,
    gathering,
    histograms,
    norms,
    padding,
    products,
    reduction,
    repeating,
    rounding,
    segments,
)
MODULES += (segments, shaping, splitting, stacking, statistics, windows)
FUNCTIONS = {name: getattr(module, name) for module in MODULES for name in module.__all__}
FUNCTIONS |= {name: getattr(mo, name) for name in OTHERS}
FUNCTIONS |= {
    f"nn.{name}": f for name in nn.__all__ if name.islower() and callable(f := getattr(nn, name))
}
METHODS = [
    name for name in dir(mo.Var) if not name.startswith("_") and callable(getattr(mo.Var, name))
]
OPERATORS = ["pos", "neg", "abs", "add", "mul", "pow", "and", "truediv", "getitem", "copy"]


def vars_in(value):
    if isinstance(value, mo.Var):
        return [value]
    if isinstance(value, list | tuple):
        return [var for item in value for var in vars_in(item)]
    return []


def check(f, array):
    """Call a function of one Var if it takes it; return whether it gave Vars."""
    x = mo.array(array)
    try:
        results = vars_in(f(x))
    except (TypeError, ValueError, IndexError, AttributeError, OverflowError):
        return False
    for result in results:
        assert result is not x
        if result.dtype == "bool":
            result ^= True
        else:
            result += 1
    same(x, array)
    return bool(results)


def sweep(functions):
    """Call functions of a Var and more arguments; return the names of all that ran."""
    return {
        name
        for name, f in functions.items()
        for array in TENSORS.values()
        for arguments in ARGUMENTS
        if check(lambda x, f=f, arguments=arguments: f(x, *arguments(x)), array)
    }


def test_functions():
    done = sweep(FUNCTIONS)
    done |= sweep({name: lambda x, f=f: f([x]) for name, f in FUNCTIONS.items()})
    left = set(FUNCTIONS) - done
    # Of three arguments, of shapes of their own, or not of a tensor.
    others = {
        "arange",
        "can_cast",
        "full",
        "isdtype",
        "linspace",
        "result_type",
        "zeros",
        "ones",
        "empty",
        "scatter_add",
        "where",
    }
    others |= {"broadcast_shapes", "dsplit", "eye", "geomspace", "identity", "indices", "logspace"}
    others |= {"bincount", "einsum_path", "interp", "matrix_power", "multi_dot"}
    others |= {"put_along_axis", "tri", "tril_indices", "triu_indices"}
    others |= {"vecmat", "nn.ctc_loss"}
    others |= {"gather", "nn.global_avg_pool2d", *OF_IMAGES}
    others |= {"nn.affine_grid", "nn.fold", "nn.grid_sample", "nn.interpolate", "nn.unfold"}
    others |= {"nn.pixel_shuffle", "nn.pixel_unshuffle"}
    others |= {"nn.dropout2d", "nn.dropout3d", "nn.scaled_dot_product_attention"}
    others |= {"nn.cosine_embedding_loss", "nn.multilabel_margin_loss", "nn.triplet_margin_loss"}
    others |= {"nn.triplet_margin_with_distance_loss"}
    assert left <= others, left - others


def images(name):
    """Return a call with images, that leaves them as they are where a function can."""
    function, rank = getattr(nn, name), int(name[-2]) if name[-1] == "d" else 1
    x = np.arange(6, dtype="float32").reshape(1, 2, 3, *(1,) * (rank - 1))
    weight = np.eye(2, dtype="float32").reshape(2, 2, *(1,) * rank)
    places = np.arange(3).reshape(1, 1, *x.shape[2:]).repeat(2, 1)
    others = {
        "conv": (weight,),
        "max_unpool": (places, 1),
        "lp_pool": (1, 1),
        "batch_norm": (np.zeros(2), np.ones(2)),
        "group_norm": (1,),
        "instance_norm": (),
        "local_response_norm": (1, 0.0),
        "adaptive": (x.shape[2:],),
        "fractional": (1, x.shape[2:]),
    }
    arguments = next((others[start] for start in others if name.startswith(start)), (1,))
    if name == "batch_norm":
        arguments = tuple(map(mo.array, arguments))
    return x, lambda v: function(v, *arguments)


#: Functions of images, and of those of one to three dimensions.
OF_IMAGES = {
    f"nn.{name}{rank}d"
    for name in (
        "adaptive_avg_pool",
        "adaptive_max_pool",
        "avg_pool",
        "conv",
        "conv_transpose",
        "lp_pool",
        "max_pool",
        "max_unpool",
    )
    for rank in (1, 2, 3)
} | {f"nn.{name}" for name in ("batch_norm", "group_norm", "instance_norm", "local_response_norm")}
OF_IMAGES |= {"nn.fractional_max_pool2d", "nn.fractional_max_pool3d"}


@pytest.mark.parametrize("name", sorted(OF_IMAGES))
def test_functions_of_images(name):
    x, call = images(name[3:])
    assert check(call, x)


def test_methods():
    methods = {name: getattr(mo.Var, name) for name in METHODS if name not in IN_PLACE}
    done = sweep(methods)
    assert len(done) >= 55, sorted(done)


def test_operators():
    operators = {name: getattr(mo.Var, f"__{name}__") for name in OPERATORS}
    assert sweep(operators) == set(OPERATORS)


#: Calls that have nothing to do. Each gives a fresh Var all the same.
NOTHING = {
    "+x": lambda x: +x,
    "x[...]": lambda x: x[...],
    "x[:]": lambda x: x[:],
    "x[()]": lambda x: x[()],
    "T of a row": lambda x: x[0].T,
    "clip": lambda x: x.clip(),
    "floor of integers": lambda x: mo.floor(x.cast("int32")),
    "reshape": lambda x: x.reshape(2, 3),
    "astype": lambda x: x.astype("float32"),
    "cast": lambda x: mo.cast(x, np.float32),
    "squeeze": lambda x: x.squeeze(),
    "squeeze of no dimensions": lambda x: x.squeeze(()),
    "flatten": lambda x: x.flatten(1),
    "transpose": lambda x: x.transpose(0, 1),
    "swapaxes": lambda x: x.swapaxes(1, 1),
    "flip": lambda x: mo.flip(x, ()),
    "pad": lambda x: mo.pad(x, [(0, 0), (0, 0)]),
    "pad by edges": lambda x: mo.pad(x, 0, "edge"),
    "broadcast": lambda x: x.broadcast((2, 3)),
    "sum": lambda x: x.sum(()),
    "mean": lambda x: x.mean(()),
    "power": lambda x: x**1,
    "concat": lambda x: mo.concat([x]),
    "split": lambda x: x.split(2),
    "full": lambda x: mo.full((2, 3), mo.array(1.0)),
    "array": mo.array,
    "array without a copy": lambda x: mo.array(x, copy=False),
    "asarray": mo.asarray,
    "Var": mo.Var,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "detach": lambda x: x.detach(),
    "stop_fuse": lambda x: x.stop_fuse(),
    "gradient by itself": lambda x: mo.grad(x, [x, x]),
    "dropout at evaluation": lambda x: nn.dropout(x, 0.5, is_train=False),
    "dropout of nothing": lambda x: nn.Dropout(0.0)(x),
    "Dropout at evaluation": lambda x: nn.Dropout().eval()(x),
    "dropout of channels at evaluation": lambda x: nn.Dropout1d().eval()(x),
    "alpha dropout at evaluation": lambda x: nn.AlphaDropout().eval()(x),
    "Identity": lambda x: nn.Identity()(x),
    "Unflatten": lambda x: nn.Unflatten(1, (3,))(x),
    "an image of its size": lambda x: nn.interpolate(x[None], 3),
    "an image of its size, linear": lambda x: nn.interpolate(x[None], 3, mode="linear"),
    "an image of its size, averaged": lambda x: nn.interpolate(x[None], 3, mode="area"),
    "no border": lambda x: nn.ReflectionPad1d(0)(x),
    "windows of one element": lambda x: mo.sliding_window_view(x, (1, 1)),
    "windows of one pixel": lambda x: nn.unfold(x[None, None], 1),
    "pixels that stay": lambda x: nn.pixel_shuffle(x[None], 1),
    "channels that stay": lambda x: nn.channel_shuffle(x, 1),
    "no layers": lambda x: mo.Sequential()(x),
    "identities": lambda x: mo.Sequential(nn.Identity(), nn.Flatten())(x),
    "under no_grad": lambda x: mo.no_grad()(lambda x: +x)(x),
}


@pytest.mark.parametrize("name", NOTHING)
def test_what_has_nothing_to_do(name):
    assert check(NOTHING[name], TENSORS["floats"])


def test_gradients_flow_through_what_has_nothing_to_do():
    for f in [lambda x: +x, mo.clip, nn.Identity(), nn.Dropout().eval(), mo.asarray, copy.copy]:
        x = mo.array([1.0, 2.0])
        y = f(x)
        y += x
        same(mo.grad(y, x), np.float32([2, 2]))


def test_stop_fuse_keeps_the_gradient_of_what_was_before():
    x = mo.array(2.0)
    y = x * 3
    z = x.stop_fuse()
    same(mo.grad(y + z * 0.5, x), np.float32(3.5))
    z += 1
    same(x, np.float32(2))
