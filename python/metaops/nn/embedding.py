# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The layer that looks up rows of a table."""

from __future__ import annotations

from .. import _core
from .._core import Var
from .._errors import at_line
from .._typing import VarLike, as_var
from . import init
from .module import Module

__all__ = ["Embedding"]


class Embedding(Module):
    """Rows of a table by their numbers.

    Parameters
    ----------
    num_embeddings, embedding_dim
        The number of rows and the length of each.

    Attributes
    ----------
    weight : Var
        ``(num_embeddings, embedding_dim)``, float32, normal with deviation 1.
    """

    def __init__(self, num_embeddings: int, embedding_dim: int) -> None:
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.weight = init.normal((num_embeddings, embedding_dim))

    def execute(self, x: VarLike) -> Var:
        """Return the rows for x of integers, shape ``(*x.shape, embedding_dim)``.

        Raises
        ------
        IndexError
            When the result is waited for, if there is no such row. Negative
            numbers are none: unlike `metaops.take`, nothing counts from the end.
        TypeError
            If x holds no integers.
        """
        x = as_var(x)
        if "int" not in x.dtype:
            raise at_line(TypeError(f"Embedding: input is {x.dtype}, expected integers"))
        rows, columns = self.weight.shape
        place = ", ".join(f"i{axis}" for axis in range(x.ndim))
        return self.weight.reindex(
            (*x.shape, columns),
            (f"@e0({place})", f"i{x.ndim}"),
            extras=[_core.check_indices(x, 0, rows, False)],
        )

    def extra_repr(self) -> str:
        """Return the table's extents."""
        return f"{self.num_embeddings}, {self.embedding_dim}"
