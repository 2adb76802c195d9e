# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers that options of optimisers and schedules cannot be, as `bad_calls` has others."""

import metaops as mo
from bad_calls import FINITE, INF, LENGTH, NAN, NOT_NEGATIVE
from metaops import optim
from metaops.optim import lr_scheduler as S

AMOUNT = [-1.0, -1e-9, NAN, INF]
BELOW_ONE = [-0.1, 1.0, NAN]
EPOCHS = [-1, -(2**40), 1.5, NAN]


def parameters():
    return [mo.ones((2, 2))]


def sgd():
    return optim.SGD(parameters(), 0.1)


def option(cls, name, bad):
    """Return the row of an option of an optimiser."""
    make = getattr(optim, cls)
    if name == "lr":
        return f"{cls} lr", lambda n: make(parameters(), n), bad
    return f"{cls} {name}", lambda n: make(parameters(), 0.1, **{name: n}), bad


OPTIMISERS = [
    name
    for name in optim.__all__
    if isinstance(getattr(optim, name), type)
    and issubclass(getattr(optim, name), optim.Optimizer)
    and name != "Optimizer"
]

DECAYING = [name for name in OPTIMISERS if name not in ("LBFGS", "Rprop")]

#: The function and the parameter, a call, and what the parameter cannot be.
CALLS = [
    *[option(name, "lr", AMOUNT) for name in OPTIMISERS],
    *[option(name, "weight_decay", AMOUNT) for name in DECAYING],
    option("SGD", "momentum", AMOUNT),
    option("SGD", "dampening", FINITE),
    option("Adam", "eps", AMOUNT),
    option("RMSprop", "alpha", BELOW_ONE),
    option("Adadelta", "rho", BELOW_ONE),
    option("Adagrad", "lr_decay", AMOUNT),
    option("Adagrad", "initial_accumulator_value", AMOUNT),
    option("NAdam", "momentum_decay", AMOUNT),
    option("ASGD", "lambd", AMOUNT),
    option("ASGD", "alpha", AMOUNT),
    option("ASGD", "t0", NOT_NEGATIVE),
    ("Rprop step_sizes", lambda n: optim.Rprop(parameters(), step_sizes=(n, 1.0)), [*LENGTH, 2.0]),
    ("Rprop step_sizes", lambda n: optim.Rprop(parameters(), step_sizes=(0.1, n)), [*LENGTH, 0.01]),
    ("Adafactor eps", lambda n: optim.Adafactor(parameters(), eps=(n, 1e-3)), AMOUNT),
    ("Adafactor eps", lambda n: optim.Adafactor(parameters(), eps=(None, n)), [*AMOUNT, None]),
    ("Adafactor eps", lambda n: optim.Adafactor(parameters(), eps=n), [1e-3, -1.0, (1.0,)]),
    ("StepLR gamma", lambda n: S.StepLR(sgd(), 2, n), AMOUNT),
    ("MultiStepLR gamma", lambda n: S.MultiStepLR(sgd(), [1], n), AMOUNT),
    ("MultiStepLR milestones", lambda n: S.MultiStepLR(sgd(), [1, n]), EPOCHS),
    ("ConstantLR factor", lambda n: S.ConstantLR(sgd(), n), AMOUNT),
    ("LinearLR start_factor", lambda n: S.LinearLR(sgd(), n), AMOUNT),
    ("LinearLR end_factor", lambda n: S.LinearLR(sgd(), 1.0, n), AMOUNT),
    ("PolynomialLR power", lambda n: S.PolynomialLR(sgd(), 5, n), AMOUNT),
    ("ExponentialLR gamma", lambda n: S.ExponentialLR(sgd(), n), AMOUNT),
    ("CosineAnnealingLR eta_min", lambda n: S.CosineAnnealingLR(sgd(), 5, n), AMOUNT),
    (
        "CosineAnnealingWarmRestarts eta_min",
        lambda n: S.CosineAnnealingWarmRestarts(sgd(), 5, 1, n),
        AMOUNT,
    ),
    ("CyclicLR base_lr", lambda n: S.CyclicLR(sgd(), n, 0.5), [*AMOUNT, 0.6]),
    ("CyclicLR max_lr", lambda n: S.CyclicLR(sgd(), 0.1, n), [*AMOUNT, 0.05]),
    ("CyclicLR gamma", lambda n: S.CyclicLR(sgd(), 0.1, 0.5, gamma=n), AMOUNT),
    ("OneCycleLR max_lr", lambda n: S.OneCycleLR(sgd(), n, 10), AMOUNT),
    ("OneCycleLR div_factor", lambda n: S.OneCycleLR(sgd(), 1, 10, div_factor=n), LENGTH),
    (
        "OneCycleLR final_div_factor",
        lambda n: S.OneCycleLR(sgd(), 1, 10, final_div_factor=n),
        LENGTH,
    ),
    ("ReduceLROnPlateau factor", lambda n: S.ReduceLROnPlateau(sgd(), factor=n), [1.0, *AMOUNT]),
    ("ReduceLROnPlateau patience", lambda n: S.ReduceLROnPlateau(sgd(), patience=n), EPOCHS),
    ("ReduceLROnPlateau cooldown", lambda n: S.ReduceLROnPlateau(sgd(), cooldown=n), EPOCHS),
    ("ReduceLROnPlateau threshold", lambda n: S.ReduceLROnPlateau(sgd(), threshold=n), FINITE),
    ("ReduceLROnPlateau min_lr", lambda n: S.ReduceLROnPlateau(sgd(), min_lr=n), AMOUNT),
]
