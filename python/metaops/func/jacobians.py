# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole Jacobians and Hessians: products with all basis vectors at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from .. import _core
from .._core import Var
from .._errors import at_line
from .._typing import as_count, shown
from ..control_flow.bodies import check_callable
from ..control_flow.structures import leaves_of, rebuild
from ..gradients import grad, jvp, vjp
from ..ops.create.creation import zeros
from ..trees import tree_leaves, tree_map
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
        element of the results. "auto" takes the mode of fewer.
    chunk_size : int, optional
        How many products are computed at once. By default as many as fit a budget of memory.

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
        By calls, as `vmap`, and where derivatives are errors.

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
        As `jacobian` has them. Products are those of forward over reverse mode.

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
        return _Jacobian("hessian", gradients, argnums, args, kwargs, size).compute("forward")

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
        self.what, self.fn, self.argnums, self.kwargs = what, fn, argnums, kwargs
        self.chunk_size = chunk_size
        chosen = _chosen(what, argnums, args)
        leaves = leaves_of(what, "argument", chosen)
        _check_floats(what, leaves)
        #: The tensors that are differentiated by, and their structure.
        self.inputs: list[Var] = [leaf for _, leaf in leaves]
        self.tree = rebuild(chosen, self.inputs)
        self.args = _replaced(args, argnums, self.tree)

    def compute(self, mode: str) -> Any:
        """Return the Jacobian."""
        if mode == "forward":
            return self._compute_forward()
        structure, results = self._measure()
        count = sum(math.prod(shape) for shape, _ in results)
        if mode == "auto" and sum(x.size for x in self.inputs) < count:
            return self._compute_forward()
        rows = [self._compute_reverse(place, *like) for place, like in enumerate(results)]
        return rebuild(structure, [self._like_inputs(row) for row in rows])

    def _measure(self) -> tuple[Any, list[tuple[tuple[int, ...], str]]]:
        """Return the structure of the function's results, and their shapes and types."""
        examples = Examples(self.what, None, self.args)
        with Example(self.fn, examples, examples.vars, self.kwargs) as body:
            _check_floats(body.what, body.leaves)
            return body.structure, [(leaf.shape, leaf.dtype) for _, leaf in body.leaves]

    def _call(self, args: tuple[Any, ...]) -> tuple[Any, list[Var], list[Var]]:
        """Return the function's results, these as tensors, and what they are of."""
        value = self.fn(*args, **self.kwargs)
        leaves = leaves_of(f"{self.what}: the function", "result", value)
        _check_floats(f"{self.what}: the function", leaves)
        inputs = tree_leaves(_chosen(self.what, self.argnums, args))
        return value, [leaf for _, leaf in leaves], inputs

    def _map(
        self, product: Callable[..., Any], extent: int, like: tuple[tuple[int, ...], str]
    ) -> Any:
        """Return what a function makes of the arguments and of each basis vector."""
        shape, dtype = like
        numbers = [_core.iota((extent, extent), dim, "int64") for dim in (0, 1)]
        basis = (numbers[0] == numbers[1]).cast(dtype).reshape((extent, *shape))
        dims = (*(None for _ in self.args), 0)
        size = self.chunk_size
        if size is None:
            own = sum(x.nbytes for x in self.inputs) + basis.nbytes // extent
            size = max(1, _BUDGET // (_MULTIPLE * own))
        return map_examples(self.what, product, dims, 0, "same", size)(*self.args, basis)

    def _compute_reverse(self, place: int, shape: tuple[int, ...], dtype: str) -> list[Var]:
        """Return the derivatives of a result by each of the inputs."""
        extent = math.prod(shape)
        if extent == 0:
            return [zeros((*shape, *x.shape), x.dtype) for x in self.inputs]

        def product(*given: Any) -> list[Var]:
            *args, cotangent = given
            _, outputs, inputs = self._call(tuple(args))
            return vjp([outputs[place]], inputs, [cotangent])

        rows = self._map(product, extent, (shape, dtype))
        return [row.reshape((*shape, *x.shape)) for row, x in zip(rows, self.inputs, strict=True)]

    def _compute_forward(self) -> Any:
        """Return the structure of the results, of derivatives by all inputs."""
        columns = [self._compute_column(place) for place in range(len(self.inputs))]
        return tree_map(lambda *parts: self._like_inputs(list(parts)), *columns)

    def _compute_column(self, place: int) -> Any:
        """Return the derivatives of the results by one of the inputs."""
        shape, dtype = self.inputs[place].shape, self.inputs[place].dtype
        if self.inputs[place].size == 0:
            structure, results = self._measure()
            return rebuild(structure, [zeros((*own, *shape), kind) for own, kind in results])

        def product(*given: Any) -> Any:
            *args, tangent = given
            value, outputs, inputs = self._call(tuple(args))
            return rebuild(value, jvp(outputs, [inputs[place]], [tangent]))

        rows = self._map(product, math.prod(shape), (shape, dtype))
        return tree_map(
            lambda row: move_dim(row, 0, row.ndim - 1).reshape((*row.shape[1:], *shape)), rows
        )

    def _like_inputs(self, parts: list[Var]) -> Any:
        return rebuild(self.tree, parts)
