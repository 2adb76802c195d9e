# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays to exchange, and the holders of their memory."""

import gc
import weakref

import metaops as mo
import numpy as np
import pytest

DTYPES = [
    "bool",
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    "float16",
    "float32",
    "float64",
]
SHAPES = [(), (1,), (5,), (0, 3), (2, 3, 4), (3, 1, 2)]

# From then on NumPy knows DLPack 1.0.
KNOWS_FLAGS = np.lib.NumpyVersion(np.__version__) >= "2.1.0"
numpy2 = pytest.mark.skipif(not KNOWS_FLAGS, reason="needs NumPy 2.1")


def sample(dtype, shape, seed=0):
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    return np.asarray(
        rng.integers(0, 100, shape) if "int" in dtype else rng.normal(size=shape)
    ).astype(dtype)


def address(array):
    return array.__array_interface__["data"][0]


def settle():
    """Have dead Vars dropped, and what they held released."""
    gc.collect()
    mo.sync_all()
    # The interpreter empties the list of releases between two instructions.
    for _ in range(100):
        pass


def watched(array):
    """Return an array that owns its memory, and a reference that sees it die."""
    array = array.copy()
    return array, weakref.ref(array)


class Unversioned:
    """A tensor, as a library from before DLPack 1.0 gives it."""

    def __init__(self, x):
        self.x = x

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()

    def __dlpack__(self, stream=None):
        return self.x.__dlpack__()


class Elsewhere(Unversioned):
    def __dlpack_device__(self):
        return (2, 1)

    def __dlpack__(self, **arguments):
        if arguments.get("dl_device") == (1, 0):
            return self.x.__dlpack__(max_version=(1, 0))
        raise AssertionError("must not be asked")


def train(parameters, steps, loss):
    optimizer = mo.optim.SGD(parameters, 0.1)
    for _ in range(steps):
        optimizer.step(loss())
