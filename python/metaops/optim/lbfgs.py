# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""L-BFGS: steps by the curvature that the last gradients tell of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from .._core import Var, array, grad, sync, used_gradients
from .._devices import device_of
from .._domains import NOT_NEGATIVE
from .._errors import at_line
from .._typing import as_count, shown, unrounded
from ..gradients import enable_grad
from ..tracing.effects import forbid
from .keeping import numeric_of
from .line_search import Point, strong_wolfe
from .optimizer import Group, Optimizer

__all__ = ["LBFGS"]

_Array = npt.NDArray[Any]

#: The least product of a step and the change of the gradient that the history takes.
_LEAST_CURVATURE = 1e-10
#: The arrays of a state that has moved.
_ARRAYS = ("d", "prev_flat_grad", "old_dirs", "old_stps", "ro")
_NUMBERS = ("t", "prev_loss", "H_diag")
#: The attributes that an iteration sets.
_OF_ITERATION = ("n_iter", "_pairs", "_direction", "_before", "_length", "_loss", "_scale")


class _Pair(NamedTuple):
    """A step, the change of the gradient that it made, and the inverse of their product."""

    step: _Array
    change: _Array
    inverse: float


class LBFGS(Optimizer):
    """Limited-memory BFGS (Liu and Nocedal, 1989): a quasi-Newton method.

    `step` calls a function for the loss as often as it needs it, at other parameters each
    time, and reads it. So a step is no part of a function that is recorded, but the function
    may be one: ``optimizer.step(mo.jit(closure))``. Its vectors are NumPy's; they have the
    length of all parameters together, and there are two for each of `history_size`.

    Parameters
    ----------
    parameters
        As in `Optimizer`, but in one group.
    lr
        The length of a step, in that of Newton's method; with a line search the first one that
        is tried.
    max_iter
        How many iterations a call of `step` has at most.
    max_eval
        How often it calls the function at most, about; 5/4 of `max_iter` by default.
    tolerance_grad
        It ends where no number of the gradient is larger,
    tolerance_change
        or where no parameter, or the loss, changes by more.
    history_size
        How many changes of gradients are kept.
    line_search_fn
        "strong_wolfe" for steps that meet the strong Wolfe conditions; None for steps of one
        length.

    Raises
    ------
    ValueError
        As `Optimizer`, or if there is another line search, or several groups, or `maximize` or
        `master` of one.
    """

    def __init__(
        self,
        parameters: Iterable[Var] | Iterable[Group],
        lr: float = 1.0,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        max_iter = as_count("LBFGS: max_iter", max_iter)
        super().__init__(
            parameters,
            lr,
            max_iter=max_iter,
            max_eval=max_iter * 5 // 4 if max_eval is None else max_eval,
            tolerance_grad=tolerance_grad,
            tolerance_change=tolerance_change,
            history_size=history_size,
            line_search_fn=line_search_fn,
        )
        #: The iterations and the evaluations of all steps.
        self.n_iter = self.func_evals = 0
        self._pairs: list[_Pair] = []
        #: Of the last iteration the direction, the length of the step, the gradient and the
        #: loss before it, and the scale of the first guess of the inverse Hessian.
        self._direction = self._before = np.zeros(0)
        self._length, self._loss, self._scale = 0.0, 0.0, 1.0

    def _check_options(self, group: Group) -> None:
        super()._check_options(group)
        if self.param_groups:
            raise at_line(ValueError("LBFGS: several groups given, expected one"))
        _check(group)

    # Parameters as one vector

    def _gather(self, tensors: list[Var]) -> _Array:
        """Return tensors as one vector."""
        return np.concatenate([unrounded(tensor).numpy().ravel() for tensor in tensors])

    def _move_to(self, values: _Array) -> None:
        """Set the parameters."""
        begin = 0
        for parameter in self.parameters:
            part = values[begin : begin + parameter.size].reshape(parameter.shape)
            begin += parameter.size
            with device_of(parameter):
                value = array(part.astype(numeric_of(parameter)[0]))
                parameter.assign(value.cast(parameter.dtype))

    def _evaluate(self, closure: Callable[[], Var]) -> tuple[Var, float, _Array]:
        """Return the loss at the parameters, its value and its gradient."""
        with enable_grad():
            loss = closure()
        if not isinstance(loss, Var):
            raise at_line(
                TypeError(f"LBFGS.step: the closure returns {shown(loss)}, expected the loss")
            )
        whole = loss.sum() if loss.ndim else loss
        given = used_gradients(whole, self.parameters)
        if all(gradient is None for gradient in given):
            grad(whole, self.parameters)  # for its error
        gradients = [
            parameter * 0 if gradient is None else gradient
            for parameter, gradient in zip(self.parameters, given, strict=True)
        ]
        sync([whole, *gradients])
        self.func_evals += 1
        return loss, float(whole.item()), self._gather(gradients)

    # Steps

    def step(self, closure: Callable[[], Var]) -> Var:  # type: ignore[override]
        """Move the parameters, by several iterations.

        Parameters
        ----------
        closure
            Computes the loss, by the parameters as they are. Its elements are summed.

        Returns
        -------
        Var
            The loss before.

        Raises
        ------
        TypeError
            If it is no function, or returns no tensor.
        ValueError
            If the loss depends on no parameter, or an option was set to what it cannot be.
        RuntimeError
            If it is called within a function that is recorded.
        """
        if not callable(closure) or isinstance(closure, Var):
            raise at_line(
                TypeError(
                    f"LBFGS.step: closure is {shown(closure)}, expected a function that returns"
                    " the loss"
                )
            )
        forbid("LBFGS.step is called")
        options = self.param_groups[0]
        _check(options)
        first, loss, gradient = self._evaluate(closure)
        if np.abs(gradient).max(initial=0.0) > options["tolerance_grad"]:
            self._iterate(closure, options, loss, gradient)
        self._steps += 1
        return first

    def _iterate(
        self, closure: Callable[[], Var], options: Group, loss: float, gradient: _Array
    ) -> None:
        """Take iterations, until one of the limits is reached."""
        evaluations = self.func_evals - 1
        tolerance = options["tolerance_change"]
        for number in range(1, options["max_iter"] + 1):
            kept = {name: vars(self)[name] for name in _OF_ITERATION}
            self.n_iter += 1
            self._turn(gradient, options["history_size"])
            self._length = options["lr"]
            if self.n_iter == 1:
                self._length *= min(1.0, 1.0 / float(np.abs(gradient).sum()))
            slope = float(gradient @ self._direction)
            self._before, self._loss = gradient, loss
            if slope > -tolerance:
                return
            values = self._gather(self.parameters)
            start = Point(0.0, loss, gradient, slope)
            is_last = number == options["max_iter"]
            if options["line_search_fn"] is not None:
                most = options["max_eval"] - (self.func_evals - evaluations)
                try:
                    loss, gradient = self._search(closure, values, start, tolerance, most)
                except BaseException:
                    # The iteration has not been.
                    self._move_to(values)
                    vars(self).update(kept)
                    raise
            else:
                self._move_to(values + self._length * self._direction)
                if not is_last:
                    _, loss, gradient = self._evaluate(closure)
            if (
                is_last
                or self.func_evals - evaluations >= options["max_eval"]
                or np.abs(gradient).max() <= options["tolerance_grad"]
                or np.abs(self._length * self._direction).max() <= tolerance
                or abs(loss - self._loss) < tolerance
            ):
                return

    def _turn(self, gradient: _Array, most: int) -> None:
        """Set the direction: the gradient's, turned by the inverse Hessian of the history.

        Nocedal and Wright, "Numerical Optimization", 2006, algorithm 7.4.
        """
        if self.n_iter == 1:
            self._pairs, self._scale, self._direction = [], 1.0, -gradient
            return
        change, step = gradient - self._before, self._length * self._direction
        curvature = float(change @ step)
        if curvature > _LEAST_CURVATURE:
            self._pairs = [*self._pairs, _Pair(step, change, 1.0 / curvature)][-most:]
            self._scale = curvature / float(change @ change)
        q, shares = -gradient, []
        for pair in reversed(self._pairs):
            shares.append(float(pair.step @ q) * pair.inverse)
            q = q - shares[-1] * pair.change
        direction = q * self._scale
        for pair, share in zip(self._pairs, reversed(shares), strict=True):
            other = float(pair.change @ direction) * pair.inverse
            direction = direction + (share - other) * pair.step
        self._direction = direction

    def _search(
        self,
        closure: Callable[[], Var],
        values: _Array,
        start: Point,
        tolerance: float,
        most: int,
    ) -> tuple[float, _Array]:
        """Move to where the strong Wolfe conditions hold; return the loss and its gradient."""
        direction = self._direction

        def at(step: float) -> Point:
            self._move_to(values + step * direction)
            _, loss, gradient = self._evaluate(closure)
            return Point(step, loss, gradient, float(gradient @ direction))

        extent = tolerance / max(float(np.abs(direction).max()), np.finfo("float64").tiny)
        found = strong_wolfe(at, start, self._length, extent, most)
        self._length = found.step
        self._move_to(values + found.step * direction)
        return found.loss, found.gradient

    # States

    def state_dict(self) -> dict[str, Any]:
        """Return the options, the numbers of steps and evaluations, and the history."""
        state = {**super().state_dict(), "n_iter": self.n_iter, "func_evals": self.func_evals}
        if self.n_iter:
            rows = np.zeros((0, len(self._direction)), self._direction.dtype)
            state["d"], state["prev_flat_grad"] = self._direction, self._before
            state["old_dirs"] = np.stack([p.change for p in self._pairs]) if self._pairs else rows
            state["old_stps"] = np.stack([p.step for p in self._pairs]) if self._pairs else rows
            state["ro"] = np.array([pair.inverse for pair in self._pairs], "float64")
            state |= dict(zip(_NUMBERS, (self._length, self._loss, self._scale), strict=True))
        return state

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take what `state_dict` returned, or what was saved of it.

        Raises
        ------
        KeyError
            If a name is missing.
        ValueError
            If an array's shape differs, or an option is what it cannot be. Nothing is changed by
            a call that raises.
        """
        for group in state["param_groups"]:
            _check({**self.param_groups[0], **group})
        n_iter, func_evals = int(state["n_iter"]), int(state["func_evals"])
        arrays, numbers = {}, {}
        if n_iter:
            arrays = {name: _as_array(state[name]) for name in _ARRAYS}
            numbers = {name: float(state[name]) for name in _NUMBERS}
            size = sum(parameter.size for parameter in self.parameters)
            count = len(arrays["ro"])
            shapes = ((size,), (size,), (count, size), (count, size), (count,))
            for (name, found), shape in zip(arrays.items(), shapes, strict=True):
                if found.shape != shape:
                    raise at_line(ValueError(f"{name!r} has shape {found.shape}, expected {shape}"))
        super().load_state_dict(state)
        self.n_iter, self.func_evals = n_iter, func_evals
        if n_iter:
            self._direction, self._before = arrays["d"], arrays["prev_flat_grad"]
            rows = zip(arrays["old_stps"], arrays["old_dirs"], arrays["ro"].tolist(), strict=True)
            self._pairs = [_Pair(*row) for row in rows]
            self._length, self._loss, self._scale = (numbers[name] for name in _NUMBERS)

    # Steps by gradients, which other optimisers take

    def _step(self, *given: Any, **options: Any) -> None:
        raise at_line(
            TypeError("LBFGS: a step is by a loss that is scaled, expected step(closure)")
        )

    def _refuse(self, *given: Any, **options: Any) -> NoReturn:
        raise at_line(
            TypeError(
                "LBFGS: gradients are applied, but a step needs the loss at other parameters, too;"
                " expected step(closure)"
            )
        )

    _apply_given = _numbers = _update = _refuse


def _check(options: Group) -> None:
    """Raise an error unless a group's options make sense."""
    for name in ("max_iter", "max_eval", "history_size"):
        as_count(f"LBFGS: {name}", options[name])
    for name in ("tolerance_grad", "tolerance_change"):
        NOT_NEGATIVE.check("LBFGS", **{name: options[name]})
    for name in ("maximize", "master"):
        if options[name]:
            raise at_line(
                ValueError(
                    f"LBFGS: {name} is {shown(options[name])}, expected False; a closure may return"
                    " the negative loss, and compute it in float32"
                )
            )
    search = options["line_search_fn"]
    if not (search is None or (isinstance(search, str) and search == "strong_wolfe")):
        raise at_line(
            ValueError(f"LBFGS: line_search_fn is {shown(search)}, expected None or 'strong_wolfe'")
        )


def _as_array(value: Any) -> _Array:
    """Return an array of a state as one of NumPy that is its own."""
    return np.array(value.numpy() if isinstance(value, Var) else value)
