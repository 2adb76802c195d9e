# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parameters that are computed from others whenever a module uses them.

What is trained, and part of the state, are the others: the attribute `parametrizations` of
the module has a module for each parameter that is computed, see `Module.__getattr__`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

from ..._core import Var
from ..._domains import NOT_NEGATIVE
from ..._errors import at_line
from ..._typing import as_count, normalised_axis, shown, widened
from ...ops.elementwise.elementwise import clip
from ...ops.reduce import norms
from ...random import sampling
from ..conv_layers import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from ..module import Module

__all__ = ["remove_parametrizations", "spectral_norm", "weight_norm"]

M = TypeVar("M", bound=Module)


class _WeightNorm(Module):
    """A tensor as its norms, `original0`, and its directions, `original1`."""

    def __init__(self, weight: Var, dim: int | None) -> None:
        every = range(weight.ndim)
        self.dims = tuple(every) if dim is None else tuple(k for k in every if k != dim)
        self._keepdims = dim is not None
        self.original0 = self._norms(weight).cast(weight.dtype)
        self.original1 = weight

    def _norms(self, weight: Var) -> Var:
        return norms.norm(widened(weight)[0], 2, self.dims, self._keepdims)

    def execute(self) -> Var:
        """Return the directions, each scaled to its norm."""
        (norms, dtype), (directions, _) = widened(self.original0), widened(self.original1)
        return (directions * (norms / self._norms(directions))).cast(dtype)


class _SpectralNorm(Module):
    """A matrix divided by an estimate of its largest singular value.

    `_u` and `_v` approach the left and the right singular vector of it.
    """

    def __init__(self, weight: Var, n_power_iterations: int, eps: float, dim: int) -> None:
        self.original = weight
        self.n_power_iterations = n_power_iterations
        NOT_NEGATIVE.check("spectral_norm", eps=eps)
        self.eps = eps
        self.dim = dim
        self._buffer_names()["0"] = True
        if weight.ndim > 1:
            rows = weight.shape[dim]
            self._u = self._unit(sampling.randn(rows, dtype=self._dtype()))
            self._v = self._unit(sampling.randn(weight.size // max(rows, 1), dtype=self._dtype()))
            self._u, self._v = self._iterated(15)

    def _members(self) -> Iterator[tuple[str, Any]]:
        yield "original", self.original
        if self.original.ndim > 1:
            yield from (("0._u", self._u), ("0._v", self._v))

    def _dtype(self) -> str:
        return "float64" if self.original.dtype == "float64" else "float32"

    def _unit(self, vector: Var) -> Var:
        return vector / clip(norms.norm(vector), self.eps)

    def _matrix(self) -> Var:
        """Return the tensor as a matrix, whose rows are along `dim`."""
        weight, dim = widened(self.original)[0], self.dim
        order = (dim, *(k for k in range(weight.ndim) if k != dim))
        rows = weight.shape[dim]
        return weight.transpose(order).reshape(rows, weight.size // max(rows, 1))

    def _iterated(self, count: int) -> tuple[Var, Var]:
        """Return the singular vectors after more power iterations, as constants."""
        matrix, u, v = self._matrix().detach(), self._u, self._v
        for _ in range(count):
            u = self._unit(matrix @ v)
            v = self._unit(u @ matrix)
        return u.detach(), v.detach()

    def execute(self) -> Var:
        """Return the tensor divided by its spectral norm."""
        weight, dtype = widened(self.original)
        if weight.ndim == 1:
            return self._unit(weight).cast(dtype)
        u, v = self._u, self._v
        if self.is_train:
            u, v = self._iterated(self.n_power_iterations)
            self._u.update(u)
            self._v.update(v)
        return (weight / (u * (self._matrix() @ v)).sum()).cast(dtype)


def _parameter(function: str, module: Module, name: str) -> Var:
    """Return a parameter of a module, that is not computed already."""
    if not isinstance(module, Module):
        raise at_line(TypeError(f"{function}: given {shown(module)}, expected a Module"))
    value = vars(module).get(name) if isinstance(name, str) else None
    if not isinstance(value, Var) or "float" not in value.dtype:
        computed = name in vars(module).get("parametrizations", {})
        raise at_line(
            ValueError(
                f"{function}: {shown(name)} of a {type(module).__name__} is"
                f" {'computed already' if computed else shown(value)}, expected a parameter"
            )
        )
    return value


def _compute(module: Module, name: str, computation: Module) -> None:
    """Have a module compute a parameter."""
    delattr(module, name)
    vars(module).setdefault("parametrizations", {})[name] = computation


def weight_norm(module: M, name: str = "weight", dim: int | None = 0) -> M:
    """Have a module compute a parameter from norms and directions; return the module.

    Salimans and Kingma, "Weight Normalization", 2016. The state of the module has
    ``parametrizations.<name>.original0``, the norms, and ``.original1``, the directions, in
    place of the parameter.

    Parameters
    ----------
    module
        The module, which is changed.
    name
        Of the parameter.
    dim
        The dimension along which there is a norm for each index; None for one norm of all.

    Raises
    ------
    TypeError
        If it is no module.
    ValueError
        If it has no such parameter, or it is computed already, or `dim` is out of range.
    """
    weight = _parameter("weight_norm", module, name)
    axis = None if dim is None else normalised_axis(dim, weight.ndim)
    _compute(module, name, _WeightNorm(weight, axis))
    return module


def spectral_norm(
    module: M,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> M:
    """Have a module divide a parameter by its largest singular value; return the module.

    Miyato et al., "Spectral Normalization for Generative Adversarial Networks", 2018. The
    singular value is estimated: each use while the module is trained takes further power
    iterations, which gradients do not see. The state of the module has
    ``parametrizations.<name>.original`` in place of the parameter, and the buffers
    ``.0._u`` and ``.0._v``.

    Parameters
    ----------
    module
        The module, which is changed.
    name
        Of the parameter. One of one dimension is divided by its norm.
    n_power_iterations
        How many there are for each use.
    eps
        The least norm by which is divided.
    dim
        The dimension of the matrix's rows; all others are its columns. By default that of
        the outputs: 1 for transposed convolutions, else 0.

    Raises
    ------
    TypeError
        If it is no module.
    ValueError
        If it has no such parameter, or it is computed already, or a number is out of range.
    """
    weight = _parameter("spectral_norm", module, name)
    count = as_count("spectral_norm: n_power_iterations", n_power_iterations)
    if dim is None:
        dim = int(isinstance(module, ConvTranspose1d | ConvTranspose2d | ConvTranspose3d))
    axis = normalised_axis(dim, weight.ndim)
    _compute(module, name, _SpectralNorm(weight, count, eps, axis))
    return module


def remove_parametrizations(module: M, name: str = "weight") -> M:
    """Make a parameter that is computed one of its own, of the same value; return the module.

    Raises
    ------
    TypeError
        If it is no module.
    ValueError
        If the parameter is not computed.
    """
    if not isinstance(module, Module):
        raise at_line(
            TypeError(f"remove_parametrizations: given {shown(module)}, expected a Module")
        )
    computations = vars(module).get("parametrizations", {})
    if name not in computations:
        raise at_line(
            ValueError(
                f"remove_parametrizations: {shown(name)} of a {type(module).__name__} is not"
                " computed"
            )
        )
    value = getattr(module, name).detach()
    del computations[name]
    if not computations:
        del vars(module)["parametrizations"]
    setattr(module, name, value)
    return module
