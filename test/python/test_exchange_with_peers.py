# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors to and from PyTorch and JAX, where these are installed: script/test interop has them."""

import gc
import importlib
import os

import metaops as mo
import numpy as np
import pytest
from exchanged import sample, settle
from util import same


def peer(name):
    """Import a library that tensors are exchanged with; skip the test without it."""
    if os.environ.get("METAOPS_TEST_PEERS"):
        return importlib.import_module(name)
    return pytest.importorskip(name)


TORCH_DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "float16", "bfloat16"]


@pytest.mark.parametrize("dtype", [*TORCH_DTYPES, "float32", "float64"])
def test_torch_both_ways(dtype):
    torch = peer("torch")
    value = sample("float32" if dtype == "bfloat16" else dtype, (3, 5))
    tensor = torch.from_numpy(value).to(getattr(torch, dtype))
    x = mo.from_dlpack(tensor)
    assert x.dtype == dtype
    expected = tensor.float().numpy() if dtype == "bfloat16" else value
    same(x, expected)
    tensor[0, 0] = 0
    expected = tensor.float().numpy() if dtype == "bfloat16" else tensor.numpy()
    same(x, expected)
    same(mo.from_dlpack(tensor.T), expected.T)
    with pytest.raises(BufferError, match="row-major"):
        mo.from_dlpack(tensor.T, copy=False)

    y = mo.from_dlpack(tensor, copy=True)
    back = torch.from_dlpack(y)
    assert torch.equal(back, tensor)
    del y
    settle()
    assert torch.equal(back, tensor)
    assert torch.equal(torch.from_dlpack(x == x), torch.ones(3, 5, dtype=torch.bool))


def test_torch_memory_lives_and_is_released():
    torch = peer("torch")
    x = mo.from_dlpack(torch.arange(1000.0))
    gc.collect()
    torch.zeros(1000)
    same(x, np.arange(1000, dtype="float32"))
    with pytest.raises(BufferError):
        mo.from_dlpack(torch.ones(2, requires_grad=True))
    same(mo.asarray(torch.arange(3)), np.arange(3))


def test_jax_both_ways():
    jnp = peer("jax.numpy")
    value = np.arange(6, dtype="float32").reshape(2, 3)
    same(mo.from_dlpack(jnp.asarray(value)), value)
    back = jnp.from_dlpack(mo.array(value))
    same(np.asarray(back), value)
