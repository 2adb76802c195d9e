# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of one example, done for all examples at once."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .. import _core
from .._core import Var
from .._errors import at_line
from .._typing import as_count, shown
from ..control_flow.bodies import check_callable
from ..control_flow.scans import map as map_rows
from ..control_flow.structures import find_type, rebuild
from .examples import Example, Examples, check_dims, map_with_dims, move_dim

__all__ = ["vmap"]

_RANDOMNESS = ("error", "different", "same")


def vmap(
    fn: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """Return a function that does for all examples at once what one does for an example.

    As ``stack([fn(x) for x in xs])``, without the loop: what reads something that differs
    among examples gets a dimension in front, and all else is computed once. So ``x @ w``
    is one product of all rows, and gradients inside, also by parameters that all examples
    read, are those of each example. Results are recorded as if they were written so, and
    may be differentiated, and mapped again.

    Parameters
    ----------
    fn : callable
        Called once in each call, to be recorded, with tensors that have no values. It
        cannot ask for values, nor rebind its arguments or tensors from outside.
    in_dims : int, None or container
        Which dimension of an argument is that of the examples; None for what all are given.
        One for all arguments, or a tuple of one for each: an integer or None for all that is
        in a container, or a container with the same places. ``key.split(n)`` is a batch of n
        keys. Arguments by keyword are given to all.
    out_dims : int, None or container
        Where the results have that dimension. None says that a result is the same for all,
        and returned once.
    randomness : str
        What becomes of random numbers without a key: "error" raises, "different" gives each
        example those that it has in the loop, and "same" all those of the first, which
        cannot be with a `chunk_size`.
    chunk_size : int, optional
        How many examples are computed at once; a loop goes through them. By default all.

    Returns
    -------
    callable

    Raises
    ------
    TypeError
        If an argument is no function, or a dimension no integer; by calls, if something that
        has a dimension is no tensor.
    ValueError
        If `randomness` or `chunk_size` is none, or they do not go together; by calls, if
        tensors have no such dimension, other numbers of examples, or none.
    RuntimeError
        By calls, if the function draws random numbers, rebinds what it must not, asks for a
        value, or does what cannot be done for several examples.

    Examples
    --------
    >>> mo.vmap(lambda x, y: (x * y).sum())(mo.ones((3, 4)), mo.ones((3, 4))).numpy()
    array([4., 4., 4.], dtype=float32)
    >>> w = mo.array([1.0, 2.0])
    >>> def loss(x):
    ...     return ((x * w).sum() - 1) ** 2
    >>> mo.vmap(lambda x: mo.grad(loss(x), w))(mo.array([[1.0, 0.0], [0.0, 1.0]])).numpy()
    array([[0., 0.],
           [0., 2.]], dtype=float32)
    """
    check_callable("vmap", "fn", fn)
    check_dims("vmap", "in_dims", in_dims)
    check_dims("vmap", "out_dims", out_dims)
    if randomness not in _RANDOMNESS:
        raise at_line(
            ValueError(
                f"vmap: randomness is {shown(randomness)}, expected 'error', 'different' or 'same'"
            )
        )
    size = None if chunk_size is None else as_count("vmap: chunk_size", chunk_size)
    if size is not None and randomness == "same":
        raise at_line(
            ValueError(
                f"vmap: randomness is 'same' and chunk_size is {size}, and each trip of a loop"
                " draws other numbers; draw them outside of the function, give it one key with"
                " None in in_dims, or leave chunk_size out"
            )
        )
    return functools.wraps(fn, updated=())(
        map_examples("vmap", fn, in_dims, out_dims, randomness, size)
    )


def map_examples(
    what: str,
    fn: Callable[..., Any],
    in_dims: Any,
    out_dims: Any,
    randomness: str,
    size: int | None,
) -> Callable[..., Any]:
    """Return what `vmap` does, for the function of that name."""

    def mapped(*args: Any, **kwargs: Any) -> Any:
        examples = Examples(what, in_dims, args)
        extent = examples.find_extent()
        call = _Call(fn, examples, kwargs, randomness)
        if size is None or extent <= size:
            leaves = call.record(examples.vars, extent)
        else:
            leaves = call.record_chunks(extent, size)
        return _place(out_dims, call, leaves, extent)

    return mapped


class _Call:
    """A call of a mapped function."""

    def __init__(
        self, fn: Callable[..., Any], examples: Examples, kwargs: dict[str, Any], randomness: str
    ) -> None:
        self.fn, self.examples, self.kwargs, self.randomness = fn, examples, kwargs, randomness
        #: The structure of the results, without tensors, and which of them differ.
        self.structure: Any = None
        self.are_batched: list[bool] = []

    def record(self, vars: list[Var], extent: int) -> list[Var]:
        """Record the function for so many examples, and return its tensors."""
        results: list[Var] = []
        self.are_batched = []
        with Example(self.fn, self.examples, vars, self.kwargs) as body:
            self.structure = body.structure
            if body.leaves:
                made = body.finish([find_type(leaf) for _, leaf in body.leaves])
                results, self.are_batched = _core.record_mapped(
                    made, vars, self.examples.rows, extent, self.randomness
                )
        return results

    def record_chunks(self, extent: int, size: int) -> list[Var]:
        """Record a loop over parts of the examples, and return the tensors of all."""
        vars, rows = self.examples.vars, self.examples.rows
        whole = extent - extent % size

        def with_rows(parts: list[Var]) -> list[Var]:
            remaining = iter(parts)
            return [
                next(remaining) if is_row else var for var, is_row in zip(vars, rows, strict=True)
            ]

        def chunk(parts: list[Var]) -> list[Var]:
            results = self.record(with_rows(parts), size)
            return [x if own else x.reshape((1, *x.shape)) for x, own in self._paired(results)]

        batched = [var for var, is_row in zip(vars, rows, strict=True) if is_row]
        stacked = map_rows(chunk, [x[:whole].reshape((-1, size, *x.shape[1:])) for x in batched])
        results = [
            x.reshape((-1, *x.shape[2:])) if own else x[0, 0] for x, own in self._paired(stacked)
        ]
        if whole == extent:
            return results
        rest = self.record(with_rows([x[whole:] for x in batched]), extent - whole)
        return [
            _core.concat([x, last], 0) if own else x
            for (x, own), last in zip(self._paired(results), rest, strict=True)
        ]

    def _paired(self, results: list[Var]) -> list[tuple[Var, bool]]:
        return list(zip(results, self.are_batched, strict=True))


def _place(out_dims: Any, call: _Call, leaves: list[Var], extent: int) -> Any:
    """Return results in their structure, with the dimension where it is to be."""
    are_batched = iter(call.are_batched)

    def place(path: str, leaf: Var, dim: int | None) -> Var:
        is_batched = next(are_batched)
        if dim is None:
            if is_batched:
                raise at_line(
                    ValueError(
                        f"vmap: out_dims says None for {path}, which differs among examples;"
                        " expected a dimension"
                    )
                )
            return leaf
        ndim = leaf.ndim + (not is_batched)
        if not -ndim <= dim < ndim:
            raise at_line(
                ValueError(
                    f"vmap: out_dims says {dim} for {path}, which has {ndim} dimensions with that"
                    " of the examples"
                )
            )
        if not is_batched:
            leaf = leaf.broadcast((extent, *leaf.shape), (0,))
        return move_dim(leaf, 0, dim % ndim)

    results = rebuild(call.structure, leaves)
    return map_with_dims(place, out_dims, results, "result", "vmap: out_dims")
