# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The types that functions compute in under `metaops.amp.autocast`.

Each public function has a rule, by its name. It counts for the call that the user makes:
what a function calls itself is its own matter. So the extension hands such calls, and no
calls within them, to `_intercepted`, while there is a scope in some thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np

from . import _core
from ._core import Var
from .complex_numbers.pair import Complex

__all__ = [
    "RULES",
    "RULE_OF",
    "Rule",
    "Scoped",
    "computed",
    "enter_scope",
    "leave_scope",
    "low_dtype",
    "rule_of",
    "set_member_rules",
]

F = TypeVar("F", bound=Callable[..., Any])

#: In the scope's type, in float32, or as ever: in the type to which operands are promoted.
Rule: TypeAlias = Literal["low", "float32", "given"]

#: The functions that are not computed as ever, by their names, and layers that compute all
#: by themselves.
_TABLE: dict[Rule, str] = {
    "low": """
        conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d convolve correlate
        dot einsum inner matmul matrix_power matvec multi_dot outer scaled_dot_product_attention
        tensordot vdot vecdot vecmat
    """,
    "float32": """
        acos acosh arccos arccosh arcsin arcsinh arctan arctan2 arctanh asin asinh atan atan2 atanh
        average bce_loss bce_with_logits_loss cdist corrcoef cosh cosine_embedding_loss
        cosine_similarity cov cross_entropy_loss ctc_loss cumprod cumsum cumulative_prod
        cumulative_sum cumulative_trapezoid entr erfinv exp exp2 expm1 float_power gaussian_nll_loss
        gumbel_softmax hinge_embedding_loss huber_loss kl_div l1_loss log log10 log1p log2
        log_sigmoid log_softmax logaddexp logaddexp2 logcumsumexp logit logsumexp
        margin_ranking_loss matrix_norm mean mse_loss multi_margin_loss multilabel_margin_loss
        multilabel_soft_margin_loss nancumprod nancumsum nanmean nanprod nanstd nansum nanvar
        nll_loss norm normalize pairwise_distance pdist poisson_nll_loss pow prod reciprocal renorm
        rsqrt segment_logsumexp segment_mean segment_prod segment_sum sinh smooth_l1_loss
        soft_margin_loss softmax softmin softplus std sum tan trace trapezoid triplet_margin_loss
        triplet_margin_with_distance_loss var xlog1py xlogy
        AdaptiveLogSoftmaxWithLoss BCELoss BCEWithLogitsLoss CTCLoss CosineEmbeddingLoss
        CosineSimilarity CrossEntropyLoss GaussianNLLLoss HingeEmbeddingLoss HuberLoss KLDivLoss
        L1Loss LogSigmoid LogSoftmax MSELoss MarginRankingLoss MultiLabelMarginLoss
        MultiLabelSoftMarginLoss MultiMarginLoss NLLLoss PairwiseDistance PoissonNLLLoss
        SmoothL1Loss SoftMarginLoss Softmax Softmax2d Softmin Softplus TripletMarginLoss
        TripletMarginWithDistanceLoss
    """,
}

#: Those of packages beside, which are called as `metaops` functions are.
_BESIDE: dict[str, Rule] = {
    "adversarial_loss": "float32",
    "cycle_consistency_loss": "float32",
    "feature_transform_loss": "float32",
    "least_squares_loss": "float32",
    "vae_loss": "float32",
    "wasserstein_loss": "float32",
}
RULES = {rule: frozenset(names.split()) for rule, names in _TABLE.items()}

#: Functions that call the user's, whose calls of the package have rules of their own.
_CALLING = """
    LBFGS.step associative_scan checkpoint code cond estimate explain export fetch fori_loop
    functional_call gradient_penalty hessian host_call jacobian jit linearize map piecewise
    routine scan summary switch tree_map tune update_bn vmap wasserstein_critic_loss while_loop
"""
#: Operators of Python by the functions that they are.
_OPERATORS = {
    "matmul": "matmul",
    "rmatmul": "matmul",
    "pow": "pow",
    "rpow": "pow",
    "rtruediv": "reciprocal",
}

#: The same by name.
RULE_OF: dict[str, Rule] = {name: rule for rule, names in RULES.items() for name in names} | _BESIDE


def rule_of(name: str) -> Rule | None:
    """Return the rule of a public function; None if its calls' own calls have theirs.

    Parameters
    ----------
    name
        As "matmul", or "LBFGS.step" of a method.
    """
    return None if name in _CALLING.split() else RULE_OF.get(name, "given")


def computed(rule: Rule) -> Callable[[F], F]:
    """Return a decorator of functions that layers call, too, with their parameters.

    A layer is no function of its parameters, which it has itself: the rule is that of the
    function that it calls with them.
    """

    def decorate(function: F) -> F:
        wrapped = _core.wrap_function(function, function.__module__, function.__qualname__)
        marked: F = _core.set_rule(wrapped, rule)
        return marked

    return decorate


def set_member_rules() -> None:
    """Give rules to functions and methods of the extension, which call no others."""
    for owner in (_core, Var):
        for name, member in [*vars(owner).items()]:
            word = _OPERATORS.get(name.strip("_")) if name.startswith("__") else name
            if isinstance(member, _core.Function) and word in RULE_OF:
                _core.set_rule(member, RULE_OF[word])


# Scopes


class Scoped:
    """A scope that a thread, or a task, is in.

    Tasks that begin in it have it in their contexts, where it may be when it has ended.
    """

    __slots__ = ("call", "dtype", "has_ended", "owner")

    def __init__(self, owner: object, dtype: str | None) -> None:
        self.owner = owner
        #: None where functions compute as ever.
        self.dtype = dtype
        self.has_ended = False
        #: The call that is intercepted in which it was entered; 0 for none.
        self.call = _core.call_within()


_scopes: ContextVar[tuple[Scoped, ...]] = ContextVar("autocast", default=())
_lock = threading.Lock()
#: The scopes in all threads.
_open: list[Scoped] = []


def low_dtype() -> str | None:
    """Return the type that calls are computed in which the thread makes, if there is one.

    Calls within one that is intercepted are computed as ever.
    """
    return None if not _scopes.get() or _core.call_within() else _dtype_of_scope()


def _dtype_of_scope() -> str | None:
    """Return the type of the scope that the thread is in, if there is one."""
    for scope in reversed(_scopes.get()):
        if not scope.has_ended:
            return scope.dtype
    return None


def enter_scope(owner: object, dtype: str | None) -> None:
    """Have functions compute by their rules, or as ever if there is no type."""
    scope = Scoped(owner, dtype)
    _scopes.set((*(each for each in _scopes.get() if not each.has_ended), scope))
    _core.set_call_within(0)
    with _lock:
        _open.append(scope)
        _core.set_interceptor(_intercepted)


def leave_scope(owner: object) -> bool:
    """End the last scope of an owner, also where others were entered in it and go on.

    It may have been entered elsewhere, as by a generator that another thread closes.

    Returns
    -------
    False if there is none.
    """
    with _lock:
        own = [each for each in _scopes.get() if each.owner is owner and not each.has_ended]
        found = own or [each for each in _open if each.owner is owner]
        if not found:
            return False
        scope = found[-1]
        scope.has_ended = True
        _open.remove(scope)
        _core.set_interceptor(_intercepted if _open else None)
    _scopes.set(tuple(each for each in _scopes.get() if not each.has_ended))
    # Nothing is left to go back to where the call has ended, or is another thread's.
    if scope.call:
        _core.set_call_within(scope.call)
    return True


# Calls


_HALVES: tuple[str, ...] = ("float16", "bfloat16")


def _intercepted(function: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Call a function that has a rule, with tensors of the type that it computes in."""
    low = _dtype_of_scope()
    # Halves of complex numbers have 32 bits at least.
    if low is None or function.rule == "given" or _has_complex(args):
        return function(*args, **kwargs)
    if function.rule == "float32":
        taken, dtype = _HALVES, "float32"
    else:
        taken, dtype = (*_HALVES, "float32"), low
        # Numbers of 64 bits are there for their digits.
        if _has_doubles([*args, *kwargs.values()]):
            return function(*args, **kwargs)
    given = [_cast(arg, taken, dtype) for arg in args]
    named = {name: _cast(value, taken, dtype) for name, value in kwargs.items()}
    return function(*given, **named)


def _has_complex(values: Any) -> bool:
    """Tell whether there is a Complex among values, or in lists of them."""
    return any(
        type(value) is Complex
        or (isinstance(value, np.ndarray | np.generic) and value.dtype.kind == "c")
        or (isinstance(value, list | tuple) and _has_complex(value))
        for value in values
    )


def _has_doubles(values: Any) -> bool:
    """Tell whether there are tensors of float64 among values, or in lists of them."""
    return any(
        value.dtype == "float64"
        if isinstance(value, Var | np.ndarray)
        else isinstance(value, list | tuple) and _has_doubles(value)
        for value in values
    )


def _cast(value: Any, dtypes: tuple[str, ...], dtype: str) -> Any:
    """Return a value with the tensors in it that are of some types in another one."""
    if isinstance(value, Var | np.ndarray):
        if value.dtype == dtype or str(value.dtype) not in dtypes:
            return value
        return _core.cast(value, dtype)
    if isinstance(value, list | tuple):
        items = [_cast(item, dtypes, dtype) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return value
