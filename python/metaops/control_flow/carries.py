# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Carries: the values that a loop hands on from trip to trip."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .._core import Var
from .._errors import at_line
from .._promotion import is_number
from .._typing import shown
from .bodies import Body
from .structures import describe_leaf, find_type, leaves_of, listed, make_leaf, rebuild, widened

__all__ = ["Carries"]


class Carries:
    """The values that a loop hands on from trip to trip.

    Parameters
    ----------
    what
        The function that makes the loop.
    tree
        The structure of the first values.
    """

    def __init__(self, what: str, tree: Any) -> None:
        self.what = what
        self.tree = tree
        self._given = leaves_of(what, "carry", tree)
        #: Tensors. The element types of numbers may turn out to be others.
        self.vars = [make_leaf(leaf, find_type(leaf)) for _, leaf in self._given]

    def check_any(self) -> None:
        """Raise an error where there are none."""
        if not self.vars:
            raise at_line(
                TypeError(
                    f"{self.what}: {shown(self.tree)} is to be carried, expected tensors or numbers"
                )
            )

    def get_tree(self) -> Any:
        """Return the structure, of tensors."""
        return rebuild(self.tree, self.vars)

    def record(
        self,
        function: Callable[..., Any],
        others: tuple[Any, ...] = (),
        leaves: Sequence[Var] = (),
        within: str = "result",
        rows: bool = False,
    ) -> Body:
        """Return the body, once numbers have element types that it returns again.

        Parameters
        ----------
        function
            The body.
        others
            What it is given behind the carries, structures of tensors.
        leaves
            The tensors in these, in their order.
        within
            The path of the next carries in what it returns.
        rows
            Whether it is given rows of those.
        """
        # An element type only widens: from booleans to integers to floats.
        for _ in range(3 * len(self.vars) + 1):
            body = Body(
                f"{self.what}: the body",
                function,
                (self.tree, *others),
                [*self.vars, *leaves],
                len(leaves) if rows else 0,
            )
            try:
                if not self._widen(body, within):
                    return body
            except BaseException:
                body.close()
                raise
            body.close()
        raise at_line(
            TypeError(f"{self.what}: the element types of numbers in the carry do not settle")
        )

    def _widen(self, body: Body, within: str) -> bool:
        """Have numbers take the element types that a body returns; False if all have them."""
        changed = False
        results = self._find_results(body, within)
        for place, ((path, given), result) in enumerate(zip(self._given, results, strict=True)):
            own = self.vars[place]
            is_var = isinstance(result, Var)
            dtype = result.dtype if is_var else widened(own.dtype, result)
            shape = result.shape if is_var else ()
            if shape != own.shape or (dtype != own.dtype and not is_number(given)):
                raise at_line(
                    TypeError(
                        f"{body.what}{body.line} returns {describe_leaf(result)} for {path}, which"
                        f" is {describe_leaf(own)}; expected the same"
                    )
                )
            if dtype != own.dtype:
                self.vars[place] = make_leaf(given, dtype)
                changed = True
        return changed

    def _find_results(self, body: Body, within: str) -> list[Any]:
        """Return the next carries that a body returns, in the order of the first ones.

        Dicts may have the same keys in another order.
        """
        own = [path.replace("carry", within, 1) for path, _ in self._given]
        found = {path: leaf for path, leaf in body.leaves if path.startswith(within)}
        if found.keys() != set(own):
            given = listed(path for path, _ in body.leaves)
            raise at_line(
                TypeError(
                    f"{body.what}{body.line} returns tensors at {given}, expected those of the"
                    f" carry at {listed(own)}"
                )
            )
        body.bring_first(own)
        return [found[path] for path in own]

    def get_types(self) -> list[str]:
        """Return the element types of the carries."""
        return [var.dtype for var in self.vars]
