# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""C++ of the user's own as operators."""

from __future__ import annotations

import linecache
import os
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._core import ExternCode, Var
from .._errors import at_line
from .._typing import DType, VarLike, as_count, as_integers, as_vars, shown
from ..func.derivatives import Function
from .sources import Place, Signature, Source, Tensor, has_word
from .wrapping import translate

__all__ = ["code"]

_PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep


def code(
    shapes: Sequence[Any],
    dtypes: DType | Sequence[DType],
    inputs: Sequence[VarLike] = (),
    cpu_src: str = "",
    cpu_grad_src: Sequence[str] = (),
    cpu_header: str = "",
    data: Mapping[str, float] | None = None,
    flags: Sequence[str] = (),
    *,
    parallel: int = 0,
    check: bool = False,
) -> Any:
    """Return what C++ of your own computes.

    The source is the body of a function. In it ``@in0(i, j)`` and ``@out(i)`` are elements
    of the inputs and of the output, ``in0_shape0`` and ``in0_stride0`` extents and strides,
    ``in0_p`` the memory and ``in0_type`` the type; outputs are ``out0``, ``out1``, ... where
    there are several. ``@alias(a, in0)`` gives a name. Tensors are in row-major order, and
    outputs share no memory with inputs; the code has to write all of their elements.

    The compiler is the first of ``METAOPS_CXX``, ``clang++`` and ``c++``. It is called once
    for all extents and numbers of `data`, and what it has made is kept on disk.

    Parameters
    ----------
    shapes : sequence of int, or of such
        The shape of the output, or of each. Negative extents are bounds:
        ``out0->set_shape({n, 3})`` says how much of each is used, and the call waits.
    dtypes : dtype or sequence of dtypes
        Of the output, or of each.
    inputs : sequence of tensors
        What the code reads.
    cpu_src : str
        The source. What it throws is a ``RuntimeError`` of whoever asks for the values.
    cpu_grad_src : sequence of str
        For each input, the source of the gradient by it, ``@out``, made of the inputs, the
        gradient ``@dout`` by an output and that output's value ``@pout``. A source is called
        for each output, and the results are added, unless it reads ``@dout0``, ``@dout1``, ...
        All values of outputs are ``@pout0``, ... An empty source is a gradient of zeros.
    cpu_header : str
        What stands before the function, such as ``#include``.
    data : mapping of str to numbers
        Numbers that the sources read as ``data["name"]``, of type double.
    flags : sequence of str
        Further arguments of the compiler, each as it is given.
    parallel : int
        How many dimensions of the first output, from the first on, are shared among
        threads: their points are numbered in row-major order, and the source computes those
        from ``begin`` to ``end``. By default it is called once.
    check : bool
        Compares the indices behind ``@`` with extents, and looks for writes outside of the
        memory of tensors. Slow.

    Returns
    -------
    Var or tuple of Vars

    Raises
    ------
    TypeError
        If an argument is none of these.
    ValueError
        If there is no source, shapes and dtypes do not go together, or a word behind ``@``
        is unknown.
    RuntimeError
        If there is no compiler, or it refuses the source; its words name lines of your
        file. If bounds are asked for in a recorded function.

    Examples
    --------
    >>> x = mo.array([1.0, 2.0, 3.0])
    >>> y = mo.code(x.shape, x.dtype, [x], cpu_src='''
    ...     for (int i = 0; i < in0_shape0; i++)
    ...         @out(i) = @in0(i) * @in0(i) * 2;
    ... ''', cpu_grad_src=['''
    ...     for (int i = 0; i < in0_shape0; i++)
    ...         @out(i) = @dout(i) * @in0(i) * 4;
    ... '''])
    >>> y, mo.grad(y, x)
    (Var([ 2,  8, 18], dtype=float32), Var([ 4,  8, 12], dtype=float32))
    """
    given = _take_inputs(inputs)
    outputs, is_single = take_outputs("code", shapes, dtypes)
    if not isinstance(cpu_src, str) or not cpu_src.strip():
        raise at_line(ValueError("code: cpu_src is empty; expected C++ that writes the outputs"))
    gradients = [cpu_grad_src] if isinstance(cpu_grad_src, str) else [*cpu_grad_src]
    if len(gradients) > len(given):
        raise at_line(
            ValueError(
                f"code: {len(gradients)} sources of gradients for {len(given)} inputs; expected"
                " one for each input, or fewer"
            )
        )
    _check_texts(cpu_header, gradients, flags)
    shared = as_count("code: parallel", parallel, 0)
    _check_parallel(shared, outputs)
    program = _Program(cpu_header, _take_data(data), tuple(flags), shared, bool(check))
    if any(gradients):
        call = _Differentiable(program, cpu_src, gradients, outputs, len(given))
        results = call(*given)
    else:
        results = program.call(cpu_src, given, outputs)
    results = _cut(outputs, results)
    return results[0] if is_single else results


class Output(NamedTuple):
    """A result: its extents, which may be bounds, and its dtype."""

    shape: tuple[int, ...]
    dtype: str
    is_bounded: bool


# Arguments.


def _take_inputs(inputs: object) -> list[Var]:
    if isinstance(inputs, Var):
        raise at_line(TypeError("code: inputs is a Var, expected a list of tensors"))
    return as_vars("code", inputs)


def take_outputs(what: str, shapes: Any, dtypes: Any) -> tuple[tuple[Output, ...], bool]:
    """Return what there is to be made, and whether that is one tensor by itself."""
    is_single = not isinstance(dtypes, list | tuple)
    if not isinstance(shapes, Sequence) or isinstance(shapes, str):
        raise at_line(
            TypeError(f"{what}: shapes is {shown(shapes)}, expected a shape, or a list of shapes")
        )
    given = [shapes] if is_single else [*shapes]
    kinds = [dtypes] if is_single else [*dtypes]
    if len(given) != len(kinds) or not kinds:
        raise at_line(
            ValueError(
                f"{what}: {len(given)} shapes and {len(kinds)} dtypes; expected one of each for "
                "each output"
            )
        )
    outputs = []
    for shape, kind in zip(given, kinds, strict=True):
        if not isinstance(shape, Sequence):
            raise at_line(
                TypeError(f"{what}: a shape is {shown(shape)}, expected a sequence of integers")
            )
        extents = as_integers(what, "shapes", shape)
        outputs.append(
            Output(
                tuple(map(abs, extents)),
                str(_core.dtype(kind)),
                any(extent < 0 for extent in extents),
            )
        )
    return tuple(outputs), is_single


def _check_texts(header: object, gradients: Sequence[object], flags: object) -> None:
    for name, text in [("cpu_header", header), *(("cpu_grad_src", text) for text in gradients)]:
        if not isinstance(text, str):
            raise at_line(TypeError(f"code: {name} is {shown(text)}, expected a string"))
    if isinstance(flags, str) or not isinstance(flags, Sequence):
        raise at_line(
            TypeError(f"code: flags is {shown(flags)}, expected a list of strings, one for each")
        )
    for flag in flags:
        if not isinstance(flag, str):
            raise at_line(TypeError(f"code: a flag is {shown(flag)}, expected a string"))


def _check_parallel(shared: int, outputs: Sequence[Output]) -> None:
    if shared > len(outputs[0].shape):
        raise at_line(
            ValueError(
                f"code: parallel is {shared}, and the first output has "
                f"{len(outputs[0].shape)} dimensions"
            )
        )
    if shared and any(output.is_bounded for output in outputs):
        raise at_line(
            ValueError(
                f"code: parallel is {shared}, and negative extents are bounds that one call "
                "replaces; expected extents, or no parallel"
            )
        )


def _take_data(data: Mapping[str, float] | None) -> dict[str, float]:
    if data is None:
        return {}
    if not isinstance(data, Mapping):
        raise at_line(TypeError(f"code: data is {shown(data)}, expected a dict of numbers"))
    for name, number in data.items():
        is_number = isinstance(number, int | float | np.integer | np.floating | np.bool_)
        if not isinstance(name, str) or not is_number:
            raise at_line(
                TypeError(
                    f"code: data has {shown(name)}: {shown(number)}, expected numbers by strings"
                )
            )
    return {name: float(data[name]) for name in sorted(data)}


# Places of sources.


def _find_file() -> tuple[str, int]:
    """Return the file of whoever called the package, and the line."""
    frame: Any = sys._getframe(1)
    while frame.f_back and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def _locate(text: str) -> Source:
    """Return a source with the line of the caller's file where it begins, if it is there once.

    Of several places the nearest one before the end of the call is taken.
    """
    file, line = _find_file()
    whole = "".join(linecache.getlines(file))
    places, at = [], whole.find(text) if text.strip() else -1
    while at >= 0:
        places.append(whole.count("\n", 0, at) + 1)
        at = whole.find(text, at + 1)
    if not places:
        return Source(text, None)
    return Source(text, Place(file, min(places, key=lambda place: abs(place - line))))


# Calls.

#: Variables that decide beside the command where headers are looked for.
SEARCH_VARIABLES = ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH")
#: These, and those that decide which compiler it is.
_VARIABLES = ("METAOPS_CXX", "PATH", *SEARCH_VARIABLES)

#: Code that this process has, by all that decides but headers; and of each the user's own
#: headers, and what tells that they change.
_compiled: dict[Any, tuple[ExternCode, tuple[tuple[str, int, int], ...]]] = {}


def _is_current(headers: tuple[tuple[str, int, int], ...]) -> bool:
    if not headers:
        return True
    from .compiling import find_headers

    return find_headers([path for path, *_ in headers]) == headers


class _Program(NamedTuple):
    """The parts that the sources of one call have in common."""

    header: str
    data: dict[str, float]
    flags: tuple[str, ...]
    parallel: int
    is_checked: bool

    def call(
        self,
        source: str,
        inputs: Sequence[Var],
        outputs: Sequence[Output],
        aliases: tuple[tuple[str, str], ...] = (),
        is_serial: bool = False,
    ) -> tuple[Var, ...]:
        """Record a call of a source; returns its outputs, and what is used of bounded ones."""
        signature = Signature(
            tuple(Tensor(str(x.dtype), x.ndim) for x in inputs),
            tuple(Tensor(o.dtype, len(o.shape), o.is_bounded) for o in outputs),
            aliases,
            tuple(self.data),
            self.parallel,
            self.parallel > 0 and (is_serial or self.is_checked),
            self.is_checked,
        )
        made = [(o.shape, o.dtype) for o in outputs]
        count = sum(len(o.shape) for o in outputs if o.is_bounded)
        if count:
            made.append(((count,), "int64"))
        numbers = [_core.array(number, "float64") for number in self.data.values()]
        shared = 0 if signature.is_serial else self.parallel
        code = self._compile(signature, source)
        return _core.call_extern(code, [*inputs, *numbers], made, shared, False)

    def _compile(self, signature: Signature, source: str) -> ExternCode:
        flags = [*self.flags]
        if re.search(r'#\s*include\s*"', self.header + source):
            flags += ["-iquote", os.path.dirname(os.path.abspath(_find_file()[0]))]
        folder = os.getcwd() if flags else ""  # flags may name what is there
        variables = tuple(map(os.environ.get, _VARIABLES))
        key = (signature, self.header, source, *flags, folder, variables)
        found = _compiled.get(key)
        if found is None or not _is_current(found[1]):
            found = _compiled[key] = self._build(signature, source, flags)
        return found[0]

    def _build(
        self, signature: Signature, source: str, flags: list[str]
    ) -> tuple[ExternCode, tuple[tuple[str, int, int], ...]]:
        from .compiling import CompilerError, compile_library

        located = _locate(source)
        made = translate(signature, _locate(self.header), located)
        file, line = _find_file()
        where = f"{file}:{located.place.line if located.place else line}"
        cache = str(_core.get_flag("cache_dir") or "")
        try:
            if signature.is_checked:
                made = made._replace(content=made.text)  # what it says has lines
            return compile_library(cache, made, flags, f"the source at {where}")
        except CompilerError as error:
            raise RuntimeError(str(error)) from None


def _cut(outputs: Sequence[Output], results: Sequence[Var]) -> tuple[Var, ...]:
    """Return the outputs, of bounded ones what is used."""
    if not any(output.is_bounded for output in outputs):
        return tuple(results)
    used = iter(results[-1].numpy().tolist())
    cut = []
    for output, result in zip(outputs, results, strict=False):
        if output.is_bounded:
            extents = [next(used) for _ in output.shape]
            result = result[tuple(slice(extent) for extent in extents)]
        cut.append(result)
    return tuple(cut)


class _Differentiable(Function):
    """A call whose gradients are calls of other sources."""

    def __init__(
        self,
        program: _Program,
        source: str,
        gradients: Sequence[str],
        outputs: tuple[Output, ...],
        count: int,
    ) -> None:
        self.program = program
        self.source = source
        self.gradients = [*gradients, *[""] * (count - len(gradients))]
        self.outputs = outputs
        self.__name__ = "code"

    def execute(self, *inputs: Var) -> tuple[Var, ...]:
        """Call the source."""
        self.inputs = inputs
        results = self.program.call(self.source, inputs, self.outputs)
        self.values = results[: len(self.outputs)]
        return results

    def grad(self, *given: Var | None) -> tuple[Var | None, ...]:
        """Call the sources of the gradients by inputs of floats."""
        return tuple(
            self._pull_back(source, x, given) if source.strip() and "float" in x.dtype else None
            for source, x in zip(self.gradients, self.inputs, strict=True)
        )

    def _pull_back(self, source: str, x: Var, given: Sequence[Var | None]) -> Var | None:
        """Return the gradient by an input: of one call, or a sum of one for each output."""
        known = {k: given[k] for k in range(len(self.values)) if given[k] is not None}
        if has_word(source, r"dout\d"):
            for k, value in enumerate(self.values):
                known.setdefault(k, _core.full(value.shape, 0, value.dtype))
            return self._call(source, x, {f"dout{k}": known[k] for k in sorted(known)}, [])
        terms = [
            self._call(source, x, {"dout": gradient}, [("pout", f"in{len(self.inputs) + k}")])
            for k, gradient in known.items()
        ]
        return _add(terms) if terms else None

    def _call(
        self,
        source: str,
        x: Var,
        gradients: Mapping[str, Var | None],
        aliases: Sequence[tuple[str, str]],
    ) -> Var:
        """Call a source with the inputs, the outputs and gradients by some of these."""
        inputs = [*self.inputs]
        names = [*aliases]
        for name, tensor in [
            *((f"pout{k}", value) for k, value in enumerate(self.values)),
            *gradients.items(),
        ]:
            if tensor is not None:
                names.append((name, f"in{len(inputs)}"))
                inputs.append(tensor)
        output = Output(tuple(x.shape), str(x.dtype), is_bounded=False)
        program = self.program._replace(parallel=min(self.program.parallel, x.ndim))
        return program.call(source, inputs, [output], tuple(names), is_serial=True)[0]


def _add(terms: Sequence[Var]) -> Var:
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total
