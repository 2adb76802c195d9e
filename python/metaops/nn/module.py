# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The base class of models and layers."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar, overload

from .. import _core, io
from .._core import Var
from .._devices import device, kinds
from .._errors import at_line
from .._typing import DType, VarLike
from ..compat._names import Absent
from ..tracing.effects import perform
from .attributes import note_attribute
from .hooks import Hook, RegisteredHook, RemovableHandle, call_with_hooks
from .members import Members, complex_halves
from .modes import SetMode
from .states import IncompatibleKeys, load_state

__all__ = ["IncompatibleKeys", "Module"]

M = TypeVar("M", bound="Module")
P = ParamSpec("P")
R = TypeVar("R", covariant=True)


class _Executes(Protocol[P, R]):
    def execute(self, *args: P.args, **kwargs: P.kwargs) -> R: ...


class _Forwards(Protocol[P, R]):
    def forward(self, *args: P.args, **kwargs: P.kwargs) -> R: ...


_BACKWARD_HOOKS = Absent(
    "gradients are values: mo.grad(loss, [y]) returns the gradient of any y, such as a"
    " module's result"
)


class Module(Members):
    """A model or a layer: tensors and other modules in attributes, and a call.

    A subclass defines `execute` (or `forward`); calling the module calls it. It
    need not call ``super().__init__()``. Attributes that are modules, or lists,
    tuples or dicts of modules and tensors, belong to the module. Float tensors
    are its parameters, except those given to `register_buffer`; buffers and
    parameters together are its state.

    Attributes
    ----------
    is_train : bool
        Whether the module is being trained: what `train` and `eval` set.
    """

    is_train: bool = True
    _hooks: list[RegisteredHook]

    training = Absent("is_train says whether the module is being trained")
    zero_grad = Absent(
        "gradients are not added up: mo.grad(loss, parameters) returns them, and"
        " optimizer.step(loss) computes and applies them"
    )
    register_backward_hook = _BACKWARD_HOOKS
    register_full_backward_hook = _BACKWARD_HOOKS

    # A call returns what the subclass's `execute`, or `forward`, does.
    @overload
    def __call__(self: _Executes[P, R], *args: P.args, **kwargs: P.kwargs) -> R: ...
    @overload
    def __call__(self: _Forwards[P, R], *args: P.args, **kwargs: P.kwargs) -> R: ...
    @overload
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call `execute`, and the hooks before and after it."""
        if "_hooks" in self.__dict__:
            return call_with_hooks(self, self._hooks, args, kwargs)
        return self.execute(*args, **kwargs)  # type: ignore[attr-defined]

    if not TYPE_CHECKING:  # or any call, and any attribute, would pass

        def execute(self, *args: Any, **kwargs: Any) -> Any:
            """Compute the module's result; by default calls `forward`."""
            return self.forward(*args, **kwargs)

        def forward(self, *args: Any, **kwargs: Any) -> Any:
            """Compute the module's result; another name of `execute`."""
            raise at_line(TypeError(f"{type(self).__name__} defines neither execute nor forward"))

        def __getattr__(self, name: str) -> Any:
            """Compute a parameter that is one of `parametrizations`, see `metaops.nn.utils`."""
            if self._is_computed(name):
                return self.__dict__["parametrizations"][name]()
            return super().__getattribute__(name)  # raises again, what a property raised

    def __setattr__(self, name: str, value: Any) -> None:
        if self._is_computed(name):
            raise at_line(
                AttributeError(
                    f"{type(self).__name__}: {name!r} is computed, see `parametrizations`; call"
                    " remove_parametrizations before it is set"
                )
            )
        note_attribute(self, name, value)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        note_attribute(self, name)
        super().__delattr__(name)

    def _is_computed(self, name: str) -> bool:
        """Return whether an attribute is a parameter that is computed from others."""
        computed = self.__dict__.get("parametrizations")
        return isinstance(computed, dict) and name in computed

    # Hooks.

    def register_forward_pre_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Have ``hook(module, args)`` called before `execute`.

        If it returns something but None, that is the arguments: a tuple, or one.

        Parameters
        ----------
        hook
            The function.
        prepend
            Whether it is called before the other hooks, not after them.
        with_kwargs
            Whether it is called as ``hook(module, args, kwargs)`` and returns both.

        Returns
        -------
        RemovableHandle
            Its `remove` takes the hook away.
        """
        return RemovableHandle.add(self, "before", hook, prepend, with_kwargs)

    def register_forward_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Have ``hook(module, args, result)`` called after `execute`.

        If it returns something but None, that is the result.

        Parameters
        ----------
        hook
            The function.
        prepend
            Whether it is called before the other hooks, not after them.
        with_kwargs
            Whether it is called as ``hook(module, args, kwargs, result)``.

        Returns
        -------
        RemovableHandle
            Its `remove` takes the hook away.
        """
        return RemovableHandle.add(self, "after", hook, prepend, with_kwargs)

    # State.

    def state_dict(self) -> dict[str, Var]:
        """Return parameters and buffers by dotted name.

        One that is there under several names, as a tied weight, has them all.
        """
        return dict(self._all_names("", ()))

    def load_state_dict(
        self,
        state: Mapping[str, VarLike],
        strict: bool = True,
        *,
        rename: Mapping[str, str] | None = None,
        ignore: Iterable[str] = (),
    ) -> IncompatibleKeys:
        r"""Take values from a dict like that of `state_dict`.

        A Var of the right dtype is taken as it is, without a copy, and updates of the module
        leave it alone; arrays are copied, as others may write them. Where all names begin with
        ``module.`` or ``_orig_mod.``, as of a model that PyTorch has wrapped, that is left
        out.

        Parameters
        ----------
        state
            Vars or arrays by name. Values are converted to the dtype that the
            module's tensor has. Of a tensor with several names, one suffices, and
            `num_batches_tracked`, which older files lack, may be missing.
        strict
            Whether names and shapes must agree; else what does not is skipped.
        rename
            Texts that replace what regular expressions find in names of the state, in their
            order, as `re.sub` does: ``{r"^encoder\\.layer\\.": "layers."}``.
        ignore
            Regular expressions: names of the state that one of them finds something in are
            left out, after renaming.

        Returns
        -------
        IncompatibleKeys
            The names that were skipped.

        Raises
        ------
        KeyError
            If names do not agree and `strict` is set; the message has all differences, of
            shapes, too, and for an unknown name the nearest one.
        ValueError
            If shapes alone differ, or if names of one tensor have different values.
            Nothing is changed by a call that raises.
        """
        return load_state(self.state_dict(), state, strict, rename or {}, ignore)

    def save(self, path: io.Path) -> None:
        """Write the state to a file, see `metaops.save`."""
        io.save(self.state_dict(), path)

    def load(self, path: io.Path) -> None:
        """Take the state from a file that `save` wrote.

        Raises
        ------
        KeyError, ValueError, OSError
            As `load_state_dict` and `metaops.load`; also if the file holds no dict.
        """
        state = io.load(path)
        if not isinstance(state, dict):
            raise at_line(
                ValueError(f"load: {path} holds a {type(state).__name__}, expected a state")
            )
        self.load_state_dict(state)

    # Training or not.

    def train(self: M, mode: bool = True) -> M:
        """Say that this module and all within it are being trained; return it."""
        perform(SetMode(self, mode))
        return self

    def eval(self: M) -> M:
        """Say that this module and all within it are being used; return it."""
        return self.train(False)

    def is_training(self) -> bool:
        """Return whether the module is being trained."""
        return self.is_train

    def requires_grad_(self: M, requires_grad: bool = True) -> M:
        """Say whether optimisers move the parameters here and within; return the module.

        Gradients are values and flow through every tensor. What is switched off is
        that `parameters` returns these: they are state that is not trained.
        """
        for module in self.modules():
            module.__dict__.pop("_is_frozen", None)
            if not requires_grad:
                module.__dict__["_is_frozen"] = True
        return self

    # Types of elements, and devices.

    def to(self: M, destination: DType | device) -> M:
        """Convert all floats to a dtype, or bring all tensors to a device; return the module.

        The Vars, of parameters and buffers, stay the same ones. Optimisers are made
        afterwards. A `Complex` stays as it is beside float16 and bfloat16.

        Parameters
        ----------
        destination
            A float dtype, a device or the name of one.

        Raises
        ------
        TypeError
            If the dtype is none of floats.
        ValueError
            If there is no such device.
        """
        name = destination if isinstance(destination, str) else ""
        if isinstance(destination, device) or name.partition(":")[0] in kinds():
            for _, value, _ in self._named_tensors():
                value.assign(_core.transfer(value.detach(), device(name)))
            return self
        given = _core.dtype(destination)
        if "float" not in given:
            raise at_line(TypeError(f"to: dtype is {given}, expected a float dtype"))
        # No type of complex numbers has halves of 16 bits.
        kept = complex_halves(self) if given in ("float16", "bfloat16") else ()
        for _, value, _ in self._named_tensors():
            if "float" in value.dtype and value.dtype != given and id(value) not in kept:
                value.assign(value.detach().cast(given))
        return self

    def half(self: M) -> M:
        """Convert all floats to float16; return the module."""
        return self.to("float16")

    def bfloat16(self: M) -> M:
        """Convert all floats to bfloat16; return the module."""
        return self.to("bfloat16")

    def float(self: M) -> M:
        """Convert all floats to float32; return the module."""
        return self.to("float32")

    def double(self: M) -> M:
        """Convert all floats to float64; return the module."""
        return self.to("float64")

    def __deepcopy__(self: M, memo: dict[int, Any]) -> M:
        """Return a copy of the module, whose tensors have no history."""
        result = type(self).__new__(type(self))
        memo[id(self)] = result
        for _, value, _ in self._named_tensors():
            if type(value) is Var:
                memo.setdefault(id(value), value.detach())
        result.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return result

    def extra_repr(self) -> str:
        """Return what `repr` shows of this module beside its name and children."""
        return ""

    def __repr__(self) -> str:
        name, extra = type(self).__name__, self.extra_repr()
        lines = [f"({child}): {module!r}" for child, module in self.named_children()]
        if not lines:
            return f"{name}({extra})"
        text = "\n".join([extra, *lines] if extra else lines).replace("\n", "\n  ")
        return f"{name}(\n  {text}\n)"
