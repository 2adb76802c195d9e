# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exchange of tensors through DLPack, with structs made and read by ctypes.

The machine's PyTorch belongs to another Python. Its library needs none: loaded into this
process, it takes our tensors and gives its own by the functions that torch.from_dlpack
calls, and says itself where their elements are.
"""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import metaops as mo
import numpy as np

from .child import Record

NAME = b"dltensor_versioned"
CPU, CUDA = 1, 2
READ_ONLY = 1
#: DLPack's codes of dtypes, beside their bits.
CODES = {
    "int32": (0, 32),
    "int64": (0, 64),
    "uint8": (1, 8),
    "float16": (2, 16),
    "float32": (2, 32),
    "float64": (2, 64),
    "bfloat16": (4, 16),
    "bool": (6, 8),
}
SHAPES: tuple[tuple[int, ...], ...] = ((), (7,), (3, 4, 5), (0, 5))


class Tensor(ctypes.Structure):
    """DLTensor."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32),
        ("index", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
    )


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Managed(ctypes.Structure):
    """DLManagedTensorVersioned."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", DELETER),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    )


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype = ctypes.c_void_p
_pointer_of.argtypes = (ctypes.py_object, ctypes.c_char_p)
_rename = ctypes.pythonapi.PyCapsule_SetName
_rename.argtypes = (ctypes.py_object, ctypes.c_char_p)
TAKEN = b"used_dltensor_versioned"


class ExchangeError(Exception):
    """Tensors are not exchanged as they should be."""


class AbsentError(Exception):
    """There is nobody to exchange tensors with; the message says what is missing."""


def expect(given: object, expected: object, what: str) -> None:
    """Raise if something is not as it should be."""
    if given != expected:
        raise ExchangeError(f"{what}: {given}, expected {expected}")


def exported(var: Any) -> tuple[Any, Managed]:
    """Return a capsule of a tensor of ours, and the struct in it."""
    capsule = var.__dlpack__(max_version=(1, 0))
    return capsule, Managed.from_address(_pointer_of(capsule, NAME))


def address(var: Any) -> int:
    """Return where the elements of a tensor of ours are."""
    return int(exported(var)[1].tensor.data)


def capsule_of(struct: int) -> Any:
    """Return a capsule with a struct of somebody else."""
    return _new_capsule(struct, NAME, None)


def numbers(shape: Sequence[int]) -> np.ndarray:
    """Return numbers that every dtype has."""
    return (np.arange(int(np.prod(shape))) % 7).reshape(shape).astype("float32")


def row_major(shape: Sequence[int]) -> list[int]:
    """Return strides in elements."""
    return [int(np.prod(shape[dim + 1 :])) for dim in range(len(shape))]


def computed(device: str, function: Callable[[Any], Any], array: np.ndarray) -> Any:
    """Return what a device computes, where it leaves without a copy: on the CPU."""
    with mo.device(device):
        var = function(mo.array(array))
    var = var.to("cpu:0")
    var.sync()
    return var


# Checks


def check_structs(device: str) -> None:
    """Check what leaves: the struct of each dtype, and the elements that it points to."""
    for dtype, (code, bits) in CODES.items():
        for shape in SHAPES:
            what = f"{dtype} of shape {shape}"
            wide = numbers(shape)
            var = computed(device, lambda x, d=dtype: (x + 1.0).cast(d), wide)
            capsule, managed = exported(var)
            tensor = managed.tensor
            expect((managed.major, managed.flags & READ_ONLY), (1, READ_ONLY), f"{what}, flags")
            expect((tensor.device, tensor.index), (CPU, 0), f"{what}, device")
            expect((tensor.code, tensor.bits, tensor.lanes), (code, bits, 1), f"{what}, dtype")
            extents = tuple(tensor.shape[dim] for dim in range(tensor.rank))
            expect(extents, shape, f"{what}, shape")
            if 0 in shape:
                continue
            strides = [tensor.strides[dim] for dim in range(tensor.rank)]
            expect(strides, row_major(shape), f"{what}, strides")
            data = ctypes.string_at(tensor.data + tensor.offset, wide.size * bits // 8)
            expected = wide + np.float32(1)
            if dtype == "bfloat16":
                whole = (expected.view("uint32") >> 16).astype("uint16")
            else:
                whole = expected.astype(dtype)
            expect(data, whole.tobytes(), f"{what}, elements")
            if shape:
                # A single number is a constant, and not in memory of its own.
                expect(address(var), tensor.data, f"{what}, address when exported again")
            del capsule


def check_by_hand(device: str) -> None:
    """Check what comes: shared if it can be, released once, refused if on a GPU."""
    array = numbers((3, 4)) - 2.0
    released: list[int] = []

    def struct(strides: Sequence[int], where: int = CPU) -> Managed:
        shape = (ctypes.c_int64 * 2)(3, 4)
        managed = Managed(1, 0, None, DELETER(released.append), 0)
        tensor = Tensor(array.ctypes.data, where, 0, 2, 2, 32, 1, shape)
        tensor.strides = (ctypes.c_int64 * 2)(*strides)
        managed.tensor = tensor
        return managed

    managed = struct((4, 1))
    var = mo.from_dlpack(capsule_of(ctypes.addressof(managed)), copy=False)
    try:
        expect(address(var), array.ctypes.data, "address of what was imported")
        array[1, 2] = 41.0
        with mo.device(device):
            doubled = (var.to(device) * 2.0).numpy()
        expect(doubled.tolist(), (array * 2).tolist(), "twice what was imported")
        expect(released, [], "released while it is used")
    finally:
        # Its deleter is called while there is its struct, also where a check has failed.
        del var
        gc.collect()
        mo.sync_all()
    expect(len(released), 1, "times released")
    # Columns first: four rows of three, seen as their transpose.
    turned = struct((1, 3))
    var = mo.from_dlpack(capsule_of(ctypes.addressof(turned)))
    expect(var.numpy().tolist(), array.reshape(4, 3).T.tolist(), "elements of a transpose")
    on_gpu = struct((4, 1), CUDA)
    refuse(ctypes.addressof(on_gpu))
    # Neither was taken.
    expect(len(released), 1, "times released in the end")


def refuse(struct: int) -> None:
    """Check that a tensor on a GPU is refused by an error that says so."""
    try:
        mo.from_dlpack(capsule_of(struct))
    except BufferError as error:
        if "device (2, 0)" not in str(error):
            raise ExchangeError(f"a tensor on a GPU is refused by: {error}") from None
    else:
        raise ExchangeError("a tensor on a GPU is not refused")


# PyTorch


class Torch:
    """PyTorch's library, without its Python."""

    #: From the older to the newer ones, whose last argument is a std::function.
    TAKE = (
        "_ZN2at19fromDLPackVersionedEP24DLManagedTensorVersioned",
        "_ZN2at19fromDLPackVersionedEP24DLManagedTensorVersionedSt8functionIFvPvEE",
    )
    GIVE = "_ZN2at17toDLPackVersionedERKNS_6TensorE"

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)
        if not (self.folder / "libtorch_cpu.so").exists():
            raise AbsentError(f"no libtorch_cpu.so in {folder or 'any Python'}")
        try:
            for name in ("libtorch_global_deps.so", "libtorch_cpu.so"):
                if (self.folder / name).exists():
                    self.torch = ctypes.CDLL(str(self.folder / name), ctypes.RTLD_GLOBAL)
        except OSError as error:
            raise AbsentError(f"PyTorch's library cannot be loaded: {error}") from None
        known = [name for name in self.TAKE if hasattr(self.torch, name)]
        if not known or not hasattr(self.torch, self.GIVE):
            raise AbsentError("this PyTorch does not know DLPack 1.0")
        self._take, self._give = self.torch[known[0]], self.torch[self.GIVE]
        self._give.restype = ctypes.c_void_p
        self._libc = ctypes.CDLL(None)
        self._libc.malloc.restype = ctypes.c_void_p

    def take(self, struct: int) -> ctypes.c_void_p:
        """Return PyTorch's tensor of a struct, which is PyTorch's from now on."""
        # An at::Tensor is a pointer, and a std::function without a target has zeros.
        handle = ctypes.c_void_p(self._libc.malloc(8))
        nothing = (ctypes.c_uint64 * 4)()
        self._take(handle, ctypes.c_void_p(struct), nothing)
        return handle

    def give(self, handle: ctypes.c_void_p) -> int:
        """Return a new struct of a tensor of PyTorch."""
        return int(self._give(handle))

    def wrap(self, array: np.ndarray, strides: Sequence[int]) -> ctypes.c_void_p:
        """Return PyTorch's tensor of f32 in an array's memory."""
        handle = ctypes.c_void_p()
        extents = (ctypes.c_int64 * array.ndim)(*array.shape)
        steps = (ctypes.c_int64 * array.ndim)(*strides)
        dtype = self.torch.aoti_torch_dtype_float32()
        self._call(
            "create_tensor_from_blob", ctypes.c_void_p(array.ctypes.data),
            ctypes.c_int64(array.ndim), extents, steps, ctypes.c_int64(0), dtype,
            self.torch.aoti_torch_device_type_cpu(), 0, ctypes.byref(handle),
        )  # fmt: skip
        return handle

    def on_gpu(self) -> ctypes.c_void_p:
        """Return a tensor on the first GPU."""
        for name in ("libtorch_cuda.so", "libtorch.so"):
            ctypes.CDLL(str(self.folder / name), ctypes.RTLD_GLOBAL)
        handle = ctypes.c_void_p()
        extents, steps = (ctypes.c_int64 * 1)(6), (ctypes.c_int64 * 1)(1)
        self._call(
            "empty_strided", ctypes.c_int64(1), extents, steps,
            self.torch.aoti_torch_dtype_float32(),
            self.torch.aoti_torch_device_type_cuda(), 0, ctypes.byref(handle),
        )  # fmt: skip
        return handle

    def delete(self, handle: ctypes.c_void_p) -> None:
        """Release a tensor."""
        self._call("delete_tensor_object", handle)

    def describe(self, handle: ctypes.c_void_p) -> Record:
        """Return what PyTorch says of a tensor: its address, extents, strides, dtype."""
        data, rank = ctypes.c_void_p(), ctypes.c_int64()
        device, dtype = ctypes.c_int32(), ctypes.c_int32()
        sizes, strides = (ctypes.POINTER(ctypes.c_int64)() for _ in range(2))
        for what, place in (
            ("data_ptr", data),
            ("dim", rank),
            ("sizes", sizes),
            ("strides", strides),
            ("dtype", dtype),
            ("device_type", device),
        ):
            self._call(f"get_{what}", handle, ctypes.byref(place))
        return {
            "address": data.value,
            "shape": tuple(sizes[dim] for dim in range(rank.value)),
            "strides": [strides[dim] for dim in range(rank.value)],
            "is f32": dtype.value == self.torch.aoti_torch_dtype_float32(),
            "is on the CPU": device.value == self.torch.aoti_torch_device_type_cpu(),
        }

    def _call(self, function: str, *arguments: Any) -> None:
        if error := getattr(self.torch, f"aoti_torch_{function}")(*arguments):
            raise ExchangeError(f"aoti_torch_{function} failed with error {error}")


def check_to_torch(device: str, torch: Torch) -> None:
    """Check that PyTorch has our elements where they are, and releases them."""
    var = computed(device, lambda x: x * 3.0, numbers((3, 4)))
    capsule, managed = exported(var)
    there = managed.tensor.data
    struct = _pointer_of(capsule, NAME)
    _rename(capsule, TAKEN)
    handle = torch.take(struct)
    expected = {"address": there, "shape": (3, 4), "strides": [4, 1]}
    expected |= {"is f32": True, "is on the CPU": True}
    expect(torch.describe(handle), expected, "PyTorch's view of ours")
    del var, capsule, managed
    gc.collect()
    data = np.frombuffer(ctypes.string_at(there, 48), "float32")
    expect(data.tolist(), (numbers((12,)) * 3).tolist(), "what PyTorch holds on to")
    # Back, which shares the same memory.
    again = mo.from_dlpack(capsule_of(torch.give(handle)))
    torch.delete(handle)
    expect(address(again), there, "address of what came back")
    expect(again.numpy().reshape(-1).tolist(), data.tolist(), "what came back")


def check_from_torch(device: str, torch: Torch) -> None:
    """Check that we have PyTorch's elements where they are, or a copy of a transpose."""
    array = numbers((4, 6)) - 1.0
    handle = torch.wrap(array, (6, 1))
    var = mo.from_dlpack(capsule_of(torch.give(handle)), copy=False)
    torch.delete(handle)
    expect(address(var), array.ctypes.data, "address of PyTorch's tensor")
    array[2, 3] = 17.0
    with mo.device(device):
        sums = var.to(device).sum(1).numpy()
    expect(sums.tolist(), array.sum(1).tolist(), "sums of PyTorch's tensor")
    handle = torch.wrap(array, (1, 4))
    var = mo.from_dlpack(capsule_of(torch.give(handle)))
    torch.delete(handle)
    expect(var.numpy().tolist(), array.reshape(6, 4).T.tolist(), "PyTorch's transpose")


def check_torch_on_gpu(device: str, torch: Torch) -> None:
    """Check that PyTorch's tensors on a GPU are refused: ours are in the host's memory."""
    try:
        handle = torch.on_gpu()
    except (OSError, ExchangeError) as error:
        raise AbsentError(f"PyTorch makes no tensor on a GPU here: {error}") from None
    refuse(torch.give(handle))
    torch.delete(handle)


OWN: dict[str, Callable[[str], None]] = {
    "structs of ours": check_structs,
    "structs by hand": check_by_hand,
}
WITH_TORCH: dict[str, Callable[[str, Torch], None]] = {
    "ours to PyTorch": check_to_torch,
    "PyTorch's to ours": check_from_torch,
    "PyTorch's on a GPU": check_torch_on_gpu,
}
EXCHANGES = (*OWN, *WITH_TORCH)


def check(item: Record, device: str) -> Iterator[Record]:
    """Check an exchange, with PyTorch's library in the folder that the item names."""
    name = item["exchange"]
    try:
        if name in OWN:
            OWN[name](device)
        else:
            WITH_TORCH[name](device, Torch(item["library"]))
    except ExchangeError as error:
        yield {"difference": str(error)}
    except AbsentError as error:
        yield {"skipped": str(error)}
    else:
        yield {"difference": ""}
