# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole Jacobians and Hessians: products with all basis vectors at once."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

from .. import _core
from .._core import Var
from .._errors import at_line
from .._typing import as_count, shown
from ..complex_numbers.pair import Complex
from ..control_flow.bodies import check_callable
from ..control_flow.structures import leaves_of, rebuild
from ..gradients import grad, jvp, vjp
from ..ops.create.creation import zeros
from ..trees import children_of, tree_leaves, tree_map
from .derivatives import NoForwardModeError
from .examples import Example, Examples, move_dim
from .vectorizing import map_examples

__all__ = ["hessian", "jacobian"]

_MODES = ("auto", "forward", "reverse")

#: Basis vectors are taken at once as long as this many bytes are enough, if each needs a
#: multiple of what the arguments and the results have.
_BUDGET, _MULTIPLE = 2**29, 16


def jacobian(
    fn: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    mode: str = "auto",
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """Return a function that returns the Jacobian of another one by some of its arguments.

    Parameters
    ----------
    fn : callable
        Returns a tensor of floats, or a structure of these.
    argnums : int or sequence of int
        The arguments by which is differentiated: tensors of floats, or structures of these.
    mode : str
        "forward" takes a product for each element of these arguments, "reverse" one for each
        element of the results. "auto" takes the mode of fewer; the other one where a
        `Function` that is called has no ``jvp``, or a loop has no gradient.
    chunk_size : int, optional
        How many products are computed at once. By default as many as fit a budget of memory.
        A function that draws random numbers without a key needs all at once.

    Returns
    -------
    callable
        Returns for each result the structure of the argument, or a tuple of those of several,
        of tensors whose first dimensions are those of the result, and the others those of the
        argument. It may be differentiated, and mapped by `vmap`.

    Raises
    ------
    TypeError
        If `fn` is no function; by calls, if arguments or results are no floats.
    ValueError
        If `mode` is none; by calls, if there is no such argument.
    RuntimeError
        By calls, as `vmap`, and where derivatives are errors, or random numbers would be drawn
        again for other products.

    Examples
    --------
    >>> mo.jacobian(lambda x: x * x)(mo.array([1.0, 2.0])).numpy()
    array([[2., 0.],
           [0., 4.]], dtype=float32)
    """
    check_callable("jacobian", "fn", fn)
    if mode not in _MODES:
        raise at_line(
            ValueError(f"jacobian: mode is {shown(mode)}, expected 'auto', 'forward' or 'reverse'")
        )
    size = None if chunk_size is None else as_count("jacobian: chunk_size", chunk_size)

    def differentiated(*args: Any, **kwargs: Any) -> Any:
        return _Jacobian("jacobian", fn, argnums, args, kwargs, size).compute(mode)

    return differentiated


def hessian(
    fn: Callable[..., Any], argnums: int | Sequence[int] = 0, chunk_size: int | None = None
) -> Callable[..., Any]:
    """Return a function that returns the Hessian of another one by some of its arguments.

    Parameters
    ----------
    fn : callable
        Returns a float without dimensions.
    argnums, chunk_size
        As `jacobian` has them. Products are those of forward over reverse mode, or of reverse
        over reverse where a `Function` that is called has no ``jvp``.

    Returns
    -------
    callable
        Returns the `jacobian` of gradients: for each argument, and each tensor in it, the
        structure of the arguments.

    Raises
    ------
    TypeError, ValueError, RuntimeError
        As `jacobian`; TypeError by calls, too, if the result is no float without dimensions.

    Examples
    --------
    >>> mo.hessian(lambda x: (x**3).sum())(mo.array([1.0, 2.0])).numpy()
    array([[ 6.,  0.],
           [ 0., 12.]], dtype=float32)
    """
    check_callable("hessian", "fn", fn)
    size = None if chunk_size is None else as_count("hessian: chunk_size", chunk_size)

    @functools.wraps(fn, updated=())
    def gradients(*args: Any, **kwargs: Any) -> Any:
        loss = fn(*args, **kwargs)
        if not isinstance(loss, Var) or loss.ndim or "float" not in loss.dtype:
            raise at_line(
                TypeError(
                    f"hessian: the function returns {shown(loss)}, expected a float without"
                    " dimensions"
                )
            )
        structure = _chosen("hessian", argnums, args)
        return rebuild(structure, grad(loss, tree_leaves(structure), allow_unused=True))

    def differentiated(*args: Any, **kwargs: Any) -> Any:
        call = _Jacobian("hessian", gradients, argnums, args, kwargs, size)
        return call.compute_preferring_forward()

    return differentiated


def _chosen(what: str, argnums: Any, args: tuple[Any, ...]) -> Any:
    """Return the argument of a number, or a tuple of those of several."""
    numbers = argnums if isinstance(argnums, tuple | list) else (argnums,)
    for number in numbers:
        if isinstance(number, bool) or not isinstance(number, int):
            raise at_line(
                TypeError(f"{what}: argnums has {shown(number)}, expected numbers of arguments")
            )
        if not -len(args) <= number < len(args):
            raise at_line(
                ValueError(
                    f"{what}: argnums has {number}, and {len(args)} arguments are given by position"
                )
            )
    found = tuple(args[number] for number in numbers)
    return found if isinstance(argnums, tuple | list) else found[0]


def _check_floats(what: str, leaves: list[tuple[str, Any]]) -> None:
    """Raise an error unless there are tensors of floats, and nothing else."""
    if not leaves:
        raise at_line(TypeError(f"{what}: there is no tensor, expected tensors of floats"))
    for path, leaf in leaves:
        if not isinstance(leaf, Var) or "float" not in leaf.dtype:
            raise at_line(
                TypeError(f"{what}: {path} is {shown(leaf)}, expected a tensor of floats")
            )


def _has_complex(structure: Any) -> bool:
    """Tell whether there is a Complex in a structure."""
    rest = [structure]
    while rest:
        value = rest.pop()
        if isinstance(value, Complex):
            return True
        rest += (children_of(value) or {}).values()
    return False


def _refusing_complex(what: str, fn: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function by whose halves or structures is differentiated, of real results.

    A pair of tensors may have derivatives for halves, and a pair of pairs or tuples is none.
    """

    @functools.wraps(fn, updated=())
    def checked(*args: Any, **kwargs: Any) -> Any:
        value = fn(*args, **kwargs)
        if _has_complex(value):
            raise at_line(
                TypeError(
                    f"{what}: the function returns a Complex, expected real results for an"
                    " argument that is no real tensor, as mo.view_as_real(z)"
                )
            )
        return value

    return checked


def _split(rows: Var, sizes: list[int]) -> list[Var]:
    """Return parts of the rows of a tensor, of so many each."""
    if len(sizes) == 1:
        return [rows]
    ends = list(itertools.accumulate(sizes))
    return [rows[end - size : end] for end, size in zip(ends, sizes, strict=True)]


def _replaced(args: tuple[Any, ...], argnums: Any, tree: Any) -> tuple[Any, ...]:
    """Return arguments with others in the place of some."""
    several = isinstance(argnums, tuple | list)
    made = list(args)
    for number, part in zip(*((argnums, tree) if several else ((argnums,), (tree,))), strict=True):
        made[number] = part
    return tuple(made)


class _Jacobian:
    """A call of a function that returns Jacobians."""

    def __init__(
        self,
        what: str,
        fn: Callable[..., Any],
        argnums: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        chunk_size: int | None,
    ) -> None:
        chosen = _chosen(what, argnums, args)
        if not isinstance(chosen, Var):
            fn = _refusing_complex(what, fn)
        self.what, self.fn, self.argnums, self.kwargs = what, fn, argnums, kwargs
        self.chunk_size = chunk_size
        leaves = leaves_of(what, "argument", chosen)
        _check_floats(what, leaves)
        #: The tensors that are differentiated by, and their structure.
        self.inputs: list[Var] = [leaf for _, leaf in leaves]
        self.tree = rebuild(chosen, self.inputs)
        self.args = _replaced(args, argnums, self.tree)
        self._measured: tuple[Any, list[tuple[tuple[int, ...], str]]] | None = None

    def compute(self, mode: str) -> Any:
        """Return the Jacobian."""
        if mode == "forward":
            return self._compute_forward()
        if mode == "reverse":
            return self._compute_reverse()
        if self._has_fewer_inputs():
            return self.compute_preferring_forward()
        return self._compute_preferring_reverse()

    def compute_preferring_forward(self) -> Any:
        """Return the Jacobian, in reverse mode if something that is called has no other."""
        try:
            return self._compute_forward()
        except NoForwardModeError:
            return self._compute_reverse()

    def _compute_preferring_reverse(self) -> Any:
        """Return the Jacobian, in forward mode if there is no other, as of unbounded loops."""
        try:
            return self._compute_reverse()
        except RuntimeError as error:
            try:
                return self._compute_forward()
            except RuntimeError:
                raise error from None

    def _has_fewer_inputs(self) -> bool:
        """Return whether forward mode takes fewer products than reverse mode."""
        _, results = self._measure()
        return sum(x.size for x in self.inputs) < sum(math.prod(shape) for shape, _ in results)

    def _measure(self) -> tuple[Any, list[tuple[tuple[int, ...], str]]]:
        """Return the structure of the function's results, and their shapes and types."""
        if self._measured is None:
            examples = Examples(self.what, None, self.args)
            with Example(self.fn, examples, examples.vars, self.kwargs) as body:
                _check_floats(body.what, body.leaves)
                results = [(leaf.shape, leaf.dtype) for _, leaf in body.leaves]
                self._measured = body.structure, results
        return self._measured

    def _call(self, args: tuple[Any, ...]) -> tuple[Any, list[Var], list[Var]]:
        """Return the function's results, these as tensors, and what they are of."""
        value = self.fn(*args, **self.kwargs)
        leaves = leaves_of(f"{self.what}: the function", "result", value)
        _check_floats(f"{self.what}: the function", leaves)
        inputs = tree_leaves(_chosen(self.what, self.argnums, args))
        return value, [leaf for _, leaf in leaves], inputs

    def _compute_reverse(self) -> Any:
        """Return the Jacobian of products of cotangents of all results at once."""
        structure, results = self._measure()
        sizes = [math.prod(shape) for shape, _ in results]

        def product(*given: Any) -> list[Var]:
            _, outputs, inputs = self._call(given[: len(self.args)])
            outputs = [x for x, size in zip(outputs, sizes, strict=True) if size]
            return vjp(outputs, inputs, given[len(self.args) :])

        made = (
            self._map(product, results)
            if sum(sizes)
            else [zeros((0, *x.shape), x.dtype) for x in self.inputs]
        )
        # For each result, its rows by each input.
        parts = zip(*(_split(rows, sizes) for rows in made), strict=True)
        return rebuild(
            structure,
            [
                rebuild(
                    self.tree,
                    [
                        row.reshape((*shape, *x.shape))
                        for row, x in zip(rows, self.inputs, strict=True)
                    ],
                )
                for rows, (shape, _) in zip(parts, results, strict=True)
            ],
        )

    def _compute_forward(self) -> Any:
        """Return the Jacobian of products of tangents of all inputs at once."""
        sizes = [x.size for x in self.inputs]

        def product(*given: Any) -> Any:
            value, outputs, inputs = self._call(given[: len(self.args)])
            inputs = [x for x, size in zip(inputs, sizes, strict=True) if size]
            return rebuild(value, jvp(outputs, inputs, given[len(self.args) :]))

        def place(column: Var) -> Any:
            """Return the derivatives of a result, whose products are rows of a tensor."""
            own = column.shape[1:]
            return rebuild(
                self.tree,
                [
                    move_dim(part, 0, part.ndim - 1).reshape((*own, *x.shape))
                    for part, x in zip(_split(column, sizes), self.inputs, strict=True)
                ],
            )

        if sum(sizes) == 0:
            structure, results = self._measure()
            return rebuild(structure, [place(zeros((0, *own), kind)) for own, kind in results])
        return tree_map(place, self._map(product, [(x.shape, x.dtype) for x in self.inputs]))

    def _map(self, product: Callable[..., Any], likes: list[tuple[tuple[int, ...], str]]) -> Any:
        """Return what a function makes of the arguments and of each basis vector.

        Parameters
        ----------
        product
            Takes the arguments, and the parts of a vector that have elements.
        likes
            The shapes and types of all parts.
        """
        extent = sum(math.prod(shape) for shape, _ in likes)
        basis, begin = [], 0
        for shape, dtype in likes:
            own = math.prod(shape)
            if own:
                row, column = (_core.iota((extent, own), dim, "int64") for dim in (0, 1))
                basis.append((row == column + begin).cast(dtype).reshape((extent, *shape)))
            begin += own
        size = self.chunk_size
        if size is None:
            each = sum(x.nbytes for x in self.inputs) + sum(x.nbytes for x in basis) // extent
            size = max(1, _BUDGET // (_MULTIPLE * each))
        if size < extent:
            self._refuse_random(extent)
        dims = (*(None for _ in self.args), *(0 for _ in basis))
        return map_examples(self.what, product, dims, 0, "same", size)(*self.args, *basis)

    def _refuse_random(self, extent: int) -> None:
        """Raise an error if the function draws random numbers: each part has others."""
        examples = Examples(self.what, None, self.args)
        with Example(self.fn, examples, examples.vars, self.kwargs) as body:
            if body.draws():
                raise at_line(
                    RuntimeError(
                        f"{body.what}{body.line} draws random numbers, which would be others in"
                        f" each part of the products; give it a key, or say chunk_size={extent},"
                        " which takes all at once"
                    )
                )
