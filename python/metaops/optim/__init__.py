# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Optimisers and learning-rate schedules."""

from .. import _session  # noqa: F401 (parts of it need all of a session)
from ..compat._names import publish as _publish
from . import lr_scheduler
from .adam import Adam, AdamW
from .adam_kin import Adamax, NAdam, RAdam
from .adaptive import Adadelta, Adagrad, RMSprop
from .annealing import SWALR
from .averaged import AveragedModel, update_bn
from .averaging import ASGD, Rprop
from .clipping import clip_grad_norm, clip_grad_value
from .factored import Adafactor, Muon
from .large_batches import LAMB, Lion
from .lbfgs import LBFGS
from .matching import groups_by_name
from .optimizer import Optimizer
from .sgd import SGD

__all__ = [
    "ASGD",
    "LAMB",
    "LBFGS",
    "SGD",
    "SWALR",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "AveragedModel",
    "Lion",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "clip_grad_norm",
    "clip_grad_value",
    "groups_by_name",
    "lr_scheduler",
    "update_bn",
]

_publish(vars(lr_scheduler), lr_scheduler.__all__)
_publish(vars(), __all__)
