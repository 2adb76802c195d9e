# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The structs of DLPack, also where they are damaged."""

import copy as copying
import ctypes

import metaops as mo
import numpy as np
import pytest
from exchanged import address
from util import same


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class DLVersioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
        ("flags", ctypes.c_uint64),
        ("tensor", DLTensor),
    ]


def struct_of(capsule):
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype = ctypes.c_void_p
    pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    return DLVersioned.from_address(pointer(capsule, b"dltensor_versioned"))


@pytest.mark.host_memory
def test_the_struct_that_leaves():
    x = mo.array(np.arange(6, dtype="uint16").reshape(1, 2, 3))
    capsule = x.__dlpack__(max_version=(1, 0))
    struct = struct_of(capsule)
    tensor = struct.tensor
    assert (struct.major, struct.minor, struct.flags) == (1, 0, 1)
    assert (tensor.device_type, tensor.device_id, tensor.ndim) == (1, 0, 3)
    assert (tensor.code, tensor.bits, tensor.lanes, tensor.byte_offset) == (1, 16, 1, 0)
    assert tensor.shape[:3] == [1, 2, 3]
    assert tensor.strides[:3] == [6, 3, 1]
    assert tensor.data == address(np.asarray(x))
    assert struct_of(x.__dlpack__(max_version=(1, 0), copy=True)).flags == 2
    codes = {"bool": (6, 8), "bfloat16": (4, 16), "float64": (2, 64), "int32": (0, 32)}
    for dtype, expected in codes.items():
        tensor = struct_of(capsule := mo.zeros((1,), dtype).__dlpack__(max_version=(1, 0))).tensor
        assert (tensor.code, tensor.bits) == expected, (dtype, capsule)


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda s: setattr(s, "major", 2), r"DLPack 2\.0, expected 1\.x"),
        (lambda s: setattr(s.tensor, "device_type", 2), r"device \(2, 0\)"),
        (lambda s: setattr(s.tensor, "code", 5), "type code 5 with 32 bits"),
        (lambda s: setattr(s.tensor, "lanes", 4), "4 lanes"),
        (lambda s: setattr(s.tensor, "bits", 128), "128 bits"),
        (lambda s: setattr(s.tensor, "ndim", -1), "without a shape"),
        (lambda s: s.tensor.shape.__setitem__(0, -4), r"shape \(-4, 3\)"),
        (lambda s: s.tensor.shape.__setitem__(0, 1 << 62), "which no memory holds"),
        (lambda s: setattr(s.tensor, "data", None), "without memory"),
    ],
)
def test_damaged_structs_are_refused_and_freed(change, message):
    x = mo.array(np.ones((2, 3), "float32"))
    capsule = x.__dlpack__(max_version=(1, 0))
    struct = struct_of(capsule)
    saved = copying.copy(bytes(struct))
    extent = struct.tensor.shape[0]
    change(struct)
    with pytest.raises(BufferError, match=message):
        mo.from_dlpack(capsule)
    ctypes.memmove(ctypes.addressof(struct), saved, len(saved))
    struct.tensor.shape[0] = extent
    same(mo.from_dlpack(capsule), np.ones((2, 3), "float32"))


def test_a_struct_with_an_offset_and_without_strides():
    x = mo.array(np.arange(12, dtype="float32").reshape(4, 3))
    capsule = x.__dlpack__(max_version=(1, 0))
    struct = struct_of(capsule)
    struct.tensor.byte_offset = 12
    struct.tensor.shape[0] = 2
    struct.tensor.strides = ctypes.POINTER(ctypes.c_int64)()
    same(mo.from_dlpack(capsule), np.arange(3, 9, dtype="float32").reshape(2, 3))
    # One that is off by a byte is copied.
    capsule = x.__dlpack__(max_version=(1, 0))
    struct_of(capsule).tensor.byte_offset = 1
    struct_of(capsule).tensor.shape[0] = 3
    raw = np.arange(12, dtype="float32").tobytes()[1:37]
    with pytest.raises(BufferError, match="not aligned to elements of 4 bytes"):
        mo.from_dlpack(capsule, copy=False)
    taken = mo.from_dlpack(capsule).numpy()
    assert taken.tobytes() == raw
