# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pair of real tensors that is a tensor of complex numbers.

It is a node of structures, as a dict of two tensors would be: whatever takes structures of
tensors takes it, and each half is a leaf.
"""

from __future__ import annotations

import copy
import inspect
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from .. import _core
from .._core import Var
from .._errors import at_line
from .declared import Attached

__all__ = ["Complex"]


class Complex(Attached):
    """A tensor of complex numbers: a pair of tensors of one shape, and one type of floats.

    It is no `Var`. Functions that know complex numbers take it, and the others raise a
    ``TypeError``. Each half is computed only where something reads it.

    Parameters
    ----------
    real
        The real parts: a tensor, an array or a number.
    imag
        The imaginary parts, which broadcast with the real ones. Halves are promoted to
        float32 or float64 in common; Vars of one shape and such a type are kept as they are.

    Raises
    ------
    TypeError
        If a half is complex, or no tensor.
    ValueError
        If the shapes do not broadcast together.

    Examples
    --------
    >>> z = mo.Complex([3.0, 0.0], [4.0, 1.0])
    >>> mo.abs(z)
    Var([5., 1.], dtype=float32)
    >>> z * 1j
    Complex([-4.+3.j, -1.+0.j], dtype=complex64)
    """

    __slots__ = ("__weakref__", "_imag", "_real")
    #: Names by which program files have the halves, as those of a named tuple.
    _fields = ("real", "imag")

    _real: Any
    _imag: Any

    def __init__(self, real: Any, imag: Any = 0) -> None:
        from .operands import fitted_halves

        self._real, self._imag = fitted_halves(real, imag)

    @classmethod
    def _of(cls, real: Any, imag: Any) -> Complex:
        """Return the pair of two objects as they are, tensors or what stands for them."""
        made = cls.__new__(cls)
        made._real, made._imag = real, imag
        return made

    # Parts

    @property
    def real(self) -> Var:
        """Return the real parts, the tensor itself."""
        half: Var = self._real
        return half

    @property
    def imag(self) -> Var:
        """Return the imaginary parts, the tensor itself."""
        half: Var = self._imag
        return half

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the extents of all dimensions."""
        return self.real.shape

    @property
    def ndim(self) -> int:
        """Return the number of dimensions."""
        return self.real.ndim

    @property
    def size(self) -> int:
        """Return the number of elements."""
        return self.real.size

    @property
    def dtype(self) -> Any:
        """Return the type of the elements, as `metaops.complex64`."""
        from .dtypes import of_halves

        return of_halves(self.real.dtype)

    @property
    def itemsize(self) -> int:
        """Return how many bytes an element takes."""
        return 2 * self.real.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Return how many bytes all elements take."""
        return self.size * self.itemsize

    @property
    def device(self) -> str:
        """Return where the elements are; see `metaops.device`."""
        place: str = self.real.device
        return place

    # Values

    def numpy(self) -> npt.NDArray[Any]:
        """Return the value as a NumPy array, a copy."""
        _core.sync([self.real, self.imag])
        made = np.empty(self.shape, str(self.dtype))
        made.real, made.imag = self.real.numpy(copy=False), self.imag.numpy(copy=False)
        return made

    def sync(self) -> Complex:
        """Compute both halves if need be, and return the tensor."""
        _core.sync([self.real, self.imag])
        return self

    def item(self) -> complex:
        """Return the only element as a number of Python's.

        Raises
        ------
        ValueError
            If there are several, or none.
        """
        if self.size != 1:
            raise at_line(
                ValueError(f"item: a tensor of shape {self.shape} is not a single number")
            )
        return complex(self.numpy().item())

    def tolist(self) -> Any:
        """Return the value as nested lists of Python's numbers, or as one number."""
        return self.numpy().tolist()

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """Return a copy of the value, as NumPy's protocol has memory.

        That is no `__array__`, by which operators of `Var` know an operand, and compute it.
        """
        # The package makes arrays of operands that it has no form for.
        if name := _called_function():
            raise at_line(
                TypeError(
                    f"{name}: given {self._described()}, expected real numbers, as its halves"
                    " z.real and z.imag"
                )
            )
        value = self.numpy()
        return {
            "shape": value.shape,
            "typestr": value.dtype.str,
            "data": value.data,
            "version": 3,
        }

    def __complex__(self) -> complex:
        return self.item()

    def __bool__(self) -> bool:
        return bool(self.item())

    def __float__(self) -> NoReturn:
        raise at_line(TypeError("float: given a complex number, expected a real one; see .real"))

    def __int__(self) -> NoReturn:
        raise at_line(TypeError("int: given a complex number, expected a real one; see .real"))

    def __len__(self) -> int:
        return len(self.real)

    def __iter__(self) -> Iterator[Complex]:
        return map(Complex._of, iter(self.real), iter(self.imag))

    def __hash__(self) -> int:
        return id(self) >> 4

    def _described(self) -> str:
        """Return what a message says of it; nothing is computed."""
        if isinstance(self._real, Var):
            return f"a Complex of shape {self.shape} and dtype {self.dtype}"
        return "a Complex"

    # Other libraries

    def __dlpack__(self, **options: Any) -> NoReturn:
        raise at_line(
            BufferError(
                "__dlpack__: the halves of a Complex are apart in memory; give away"
                " mo.view_as_real(z), or z.real and z.imag"
            )
        )

    def __dlpack_device__(self) -> NoReturn:
        self.__dlpack__()

    # Copies and pickles

    def clone(self) -> Complex:
        """Return another tensor of the same value, through which gradients flow."""
        return Complex._of(self.real.clone(), self.imag.clone())

    copy = __copy__ = clone

    def __deepcopy__(self, memo: dict[int, Any]) -> Complex:
        # Halves that something else has, too, stay shared.
        return Complex._of(copy.deepcopy(self.real, memo), copy.deepcopy(self.imag, memo))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.real, self.imag)

    def detach(self) -> Complex:
        """Return the same value, through which no gradient flows."""
        return Complex._of(self.real.detach(), self.imag.detach())

    # Other values for the same name

    def assign(self, value: Any) -> Complex:
        """Give both halves other values, and return the tensor; see `Var.assign`."""
        from .operands import is_number

        given = self._written(value, self.real.dtype if is_number(value) else None)
        self.real.assign(given.real)
        self.imag.assign(given.imag)
        return self

    def _written(self, value: Any, half: str | None) -> Complex:
        """Return a value that is to be written, as it was before.

        The second half is written when the first one is, of which it may be made.
        """
        from .operands import as_complex, called_beside

        given = called_beside(self.real, as_complex, (value, half), {})
        return Complex._of(
            given.real, given.imag.clone() if given.imag is self.real else given.imag
        )


def halves_of(value: Any) -> dict[str, Any] | None:
    """Return the halves of a Complex, a number or an array of complex numbers; None of others."""
    if isinstance(value, Complex):
        return {"real": value._real, "imag": value._imag}
    if isinstance(value, complex) or (
        isinstance(value, np.ndarray | np.generic) and value.dtype.kind == "c"
    ):
        return {"real": value.real, "imag": value.imag}
    return None


def made_of_halves(real: Any, imag: Any) -> Any:
    """Return the value of two halves: a number of two numbers, and a Complex of all others."""
    if isinstance(real, float) and isinstance(imag, float):
        return complex(real, imag)
    return Complex._of(real, imag)


def separated(values: Any) -> Any:
    """Return a list with the halves of each Complex in its place; the list itself without one."""
    # Nothing is called for each value: steps of optimisers come by.
    if not isinstance(values, list) or Complex not in set(map(type, values)):
        return values
    return [
        half
        for value in values
        for half in ((value.real, value.imag) if isinstance(value, Complex) else (value,))
    ]


def together(values: Sequence[Any], halves: Sequence[Any]) -> list[Any]:
    """Return a list of which `separated` of another one has made halves."""
    given = iter(halves)
    return [
        Complex._of(next(given), next(given)) if isinstance(value, Complex) else next(given)
        for value in values
    ]


def _called_function() -> str | None:
    """Return the function of the package that the user has called, if an operand is read in it.

    What chooses forms is none, but where nothing else is called.
    """
    frame = sys._getframe(2)
    name = None
    package, room = __name__.partition(".")[0], __name__.rpartition(".")[0]
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.partition(".")[0] != package:
            break
        if name is None or not module.startswith(room):
            name = frame.f_code.co_name
            if frame.f_code.co_flags & inspect.CO_NESTED:
                # A decorator's, which calls the function that is meant.
                name = getattr(frame.f_locals.get("function"), "__name__", name)
            if name in ("__call__", "__init__") and "self" in frame.f_locals:
                name = type(frame.f_locals["self"]).__name__
        frame = frame.f_back  # type: ignore[assignment]
    return name
