# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torchvision, also where it was built for another PyTorch.

Its operators of boxes are missing there, and its import fails where it describes them. Models
use none of them: they are declared, and never called.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
from functools import cache
from pathlib import Path
from types import ModuleType

import torch

_DESCRIBED = re.compile(r"""register_(?:fake\("torchvision::|meta\(")(\w+)""")


@cache
def import_models() -> ModuleType:
    """Return torchvision.models, whose operators are declared once."""
    spec = importlib.util.find_spec("torchvision")
    if spec is None or spec.origin is None:
        raise ImportError("torchvision is not installed")
    # Built for this PyTorch, it registers its operators itself.
    import_operators(Path(spec.origin).parent)
    return importlib.import_module("torchvision.models")


def import_operators(folder: Path) -> None:
    """Load torchvision's operators, or declare what its package describes of them."""
    for library in folder.glob("_C*.so"):
        try:
            torch.ops.load_library(library)
            return
        except OSError:
            pass
    declared = torch.library.Library("torchvision", "FRAGMENT")
    text = (folder / "_meta_registrations.py").read_text()
    for name in sorted(set(_DESCRIBED.findall(text))):
        declared.define(f"{name}(Tensor x) -> Tensor")
    declared.define("_cuda_version() -> int")
    _KEPT.append(declared)


#: Declarations live as long as this.
_KEPT: list[object] = []
