# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program as users write it, with types: type checkers find no fault in it.

What follows `assert_type` must be known to be of that type, and not of any.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import metaops as mo
import numpy as np
from metaops import nn
from metaops.optim.lr_scheduler import StepLR

if TYPE_CHECKING:
    from typing_extensions import assert_type
else:

    def assert_type(value, expected):
        return value


class Net(nn.Module):
    """A module with `execute`."""

    def __init__(self, width: int = 16) -> None:
        self.first = nn.Linear(4, width)
        self.second = nn.Linear(width, 3)
        self.drop = nn.Dropout(0.1)

    def execute(self, x: mo.Var) -> mo.Var:
        return self.second(self.drop(mo.relu(self.first(x))))


class Features(mo.Module):
    """A module with `forward`, and parameters of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, kernel_size=3, padding=1)
        self.scale = mo.ones(4)

    def forward(self, x: mo.Var, factor: float = 1.0) -> tuple[mo.Var, mo.Var]:
        y = self.conv(x) * self.scale[:, None, None]
        return y, y * factor


def batches() -> Iterator[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]:
    """Yield images and labels."""
    for _ in range(2):
        yield np.zeros((8, 4), "float32"), np.zeros(8, "int64")


def train(net: Net) -> float:
    """Return the last loss."""
    optimizer = mo.optim.Adam(net.parameters(), lr=0.01)
    schedule = StepLR(optimizer, step_size=3)
    last = 0.0
    for images, labels in batches():
        loss = nn.cross_entropy_loss(assert_type(net(mo.array(images)), mo.Var), mo.array(labels))
        gradients = assert_type(mo.grad(loss, net.parameters()), list[mo.Var])
        gradients, norm = mo.optim.clip_grad_norm(gradients, 1.0)
        optimizer.apply(gradients)
        schedule.step()
        last = float(loss) + norm.item()
    return last


def call_modules(x: mo.Var) -> None:
    """Check that a call is of the type of `execute`, or `forward`."""
    assert_type(nn.Linear(4, 3)(x), mo.Var)
    assert_type(Features()(mo.zeros(1, 3, 8, 8)), tuple[mo.Var, mo.Var])
    assert_type(Features()(mo.zeros(1, 3, 8, 8), factor=2.0), tuple[mo.Var, mo.Var])
    model = nn.Sequential(nn.Linear(4, 3), nn.ReLU())
    with mo.no_grad(), mo.flag_scope(fuse=False):
        scores: mo.Var = model.eval()(x)
    assert_type(scores, mo.Var)
    assert_type(model.state_dict(), dict[str, mo.Var])
    any_module: nn.Module = model
    any_module(x)


@mo.jit
def scaled(x: mo.Var, by: float) -> mo.Var:
    """Return x times a number."""
    return x * by


@mo.jit(recheck=False, donate="x")
def shifted(x: mo.Var) -> mo.Var:
    """Return x and one."""
    return x + 1


class Recorded:
    """A class with a method that is recorded once."""

    @mo.jit
    def method(self, x: mo.Var) -> mo.Var:
        """Return x."""
        return x


def use_recorded_functions(x: mo.Var) -> None:
    """Check that what is recorded once has the types of the function."""
    assert_type(scaled(x, 2.0), mo.Var)
    assert_type(shifted(x.copy()), mo.Var)
    assert_type(Recorded().method(x), mo.Var)
    assert_type(mo.jit(nn.Linear(4, 3)), nn.Linear)
    assert_type(scaled.lower(x, 2.0), mo.Explanation)
    hits: int = mo.jit_info(scaled).hits
    assert hits >= 0


def use_functions(x: mo.Var) -> None:
    """Check names of the package, and other spellings of parameters."""
    y = assert_type(mo.softmax(mo.relu(x), dim=1), mo.Var)
    assert_type(mo.random((2, 3), key=mo.Key(1)), mo.Var)
    assert_type(mo.random.normal((2, 3)), mo.Var)
    assert_type(mo.ops.sort.argsort(x, axis=1), mo.Var)
    assert_type(nn.functional.cross_entropy(x, mo.zeros(3, dtype="int64")), mo.Var)
    assert_type(mo.concat([y, mo.mean(y, dim=1, keepdims=True)], dim=1), mo.Var)
    assert_type(mo.mean(x, axis=1, keepdim=True), mo.Var)
    assert_type(mo.sum(x, axis=(0, 1), keepdims=True), mo.Var)
    assert_type(mo.full((2, 3), fill_value=3) + mo.full(size=(2, 3), value=1.0), mo.Var)
    assert_type(mo.var(x, ddof=1) + mo.std(x, unbiased=False), mo.Var)
    assert_type(mo.stack([x, x], axis=1), mo.Var)
    assert_type(mo.split(x, 2, axis=1), list[mo.Var])
    assert_type(mo.clip(x, min=0, max=1), mo.Var)
    assert_type(mo.transpose(x, axes=(1, 0)), mo.Var)
    assert_type(mo.pad(x, pad_width=[(1, 1), (0, 0)], constant_values=1.0), mo.Var)
    assert_type(mo.roll(x, shifts=1, dims=0), mo.Var)
    assert_type(mo.norm(x, p=2, dim=1), mo.Var)
    assert_type(mo.linspace(0, 1, steps=4), mo.Var)
    assert_type(mo.zeros((2, 3), "int32") + mo.rand(2, 3) + mo.ones(2, 3, dtype=mo.float64), mo.Var)
    assert_type(nn.dropout(x, 0.5, training=False), mo.Var)
    assert_type(mo.grad(x.sum(), x), mo.Var)
    values, places = mo.topk(x, 2)
    assert_type(values[places], mo.Var)


def use_methods(x: mo.Var) -> None:
    """Check methods, operators, indexing and attributes of tensors."""
    assert_type(x.mean(axis=1, keepdim=True) + x.sum(axis=0) - x.std(unbiased=False), mo.Var)
    assert_type(x.clip(min=0, max=1).unsqueeze(axis=0).squeeze(axis=0), mo.Var)
    assert_type(x.swapaxes(axis1=0, axis2=1).reshape(-1).reshape((2, 6)), mo.Var)
    assert_type(x[:, None] + x[..., :1] + x[mo.array([0])] + 1.5 + np.ones(4), mo.Var)
    assert_type(1.0 - x / 2 ** abs(x) @ x.T, mo.Var)
    assert_type(x.at[0].add(1.0), mo.Var)
    assert_type(x.shape, tuple[int, ...])
    assert_type(x.size + x.ndim + len(x), int)
    assert_type(bool((x > 0).all()), bool)
    assert_type(x.to("float32").cast(mo.int32).astype("float32").to(mo.device("cpu:0")), mo.Var)
    x = x + 0
    x += 1
    x[0] = 2.0
    for row in x:
        assert_type(row, mo.Var)


def main() -> None:
    """Run all of it."""
    x = mo.uniform((3, 4), key=mo.Key(3))
    train(Net())
    call_modules(x)
    use_functions(x)
    use_methods(x)
    with mo.profile_scope() as report:
        (x + 1).sync()
    print(report, mo.flags.memory_limit)


if __name__ == "__main__":
    main()
