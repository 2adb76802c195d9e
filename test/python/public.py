# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What users call: all functions, classes and methods of the package."""

import inspect

import metaops as mo
from metaops.optim import lr_scheduler


def public_classes():
    """Return the classes that users see, by name, without abstract ones."""
    modules = [mo, mo.nn, mo.optim, lr_scheduler, mo.amp, mo.data, mo.linalg, mo.transforms]
    found = {name: getattr(module, name) for module in modules for name in module.__all__}
    return {
        name: value
        for name, value in found.items()
        if isinstance(value, type) and not inspect.isabstract(value)
    }


def public_callables():
    """Return functions, classes and their methods by qualified name."""
    result = {}
    owners = [mo, mo.nn, mo.nn.init, mo.nn.utils, mo.models, mo.optim, lr_scheduler]
    rooms = [mo.amp, mo.data, mo.fft, mo.linalg, mo.transforms, mo.transforms.functional]
    for module in [*owners, *rooms]:
        for name in module.__all__:
            value = getattr(module, name)
            if callable(value) and not inspect.isabstract(value):
                result[f"{module.__name__}.{name}"] = value
    classes = public_classes()
    for name, cls in classes.items():
        if issubclass(cls, str | tuple):
            continue  # has the methods of these
        bases = [base for base in cls.__mro__[1:] if base in classes.values()]
        for member in dir(cls):
            value = getattr(cls, member, None)
            # A member that another class gives is listed there.
            inherited = any(getattr(base, member, None) is value for base in bases)
            if not member.startswith("_") and callable(value) and not inherited:
                result[f"{name}.{member}"] = value
    return result


CALLABLES = public_callables()
