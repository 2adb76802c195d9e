# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables of a model's layers: `mo.summary`."""

from __future__ import annotations

import threading

import metaops as mo
import numpy as np
import pytest
from metaops import _core, nn

pytestmark = pytest.mark.processor


class Net(nn.Module):
    """A layer that is called twice, one that is not, and a shared parameter."""

    def __init__(self):
        self.body = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8))
        self.head = nn.Linear(8, 8, bias=False)
        self.unused = nn.Linear(8, 2)
        self.tied = nn.Linear(8, 8, bias=False)
        self.tied.weight = self.head.weight
        self.drop = nn.Dropout(0.5)

    def execute(self, x, scale=1.0):
        y = self.body(x).mean((2, 3))
        return self.drop(self.head(self.head(y)) * scale), y


def test_layers_and_their_operations():
    told = mo.summary(Net(), mo.zeros((2, 3, 6, 6)))
    layers = {layer.name: layer for layer in told.layers}
    assert [*layers] == ["", "body", "body.0", "body.1", "head", "unused", "tied", "drop"]
    conv, head = layers["body.0"], layers["head"]
    # Multiplications and additions; the border of zeros is none of them.
    assert conv.flops == 2 * 2 * 8 * 36 * 27
    assert (head.flops, head.calls) == (2 * (2 * 2 * 8 * 8), 2)
    assert (layers["unused"].calls, layers["unused"].flops) == (0, 0)
    assert layers[""].outputs == [(2, 8), (2, 8)]
    assert conv.outputs == [(2, 8, 6, 6)]
    assert layers["body"].flops == conv.flops + layers["body.1"].flops
    assert told.flops == layers[""].flops > sum(layers[k].flops for k in ("body", "head", "drop"))
    assert (conv.parameters, head.parameters, layers["body"].parameters) == (216, 64, 232)
    # A shared parameter counts once.
    assert told.parameters == 216 + 16 + 64 + 18
    assert told.parameter_bytes == 4 * told.parameters
    assert told.buffer_bytes == 4 * 16 + 8


def test_the_table():
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU())
    assert str(mo.summary(model, mo.zeros((4, 8)))).splitlines() == [
        "layer        output   parameters  FLOPs",
        "Sequential   (4, 16)         144  1,088",
        "  0: Linear  (4, 16)         144  1,088",
        "  1: ReLU    (4, 16)           0      0",
        "144 parameters of 576 bytes, beside them 0 bytes; 1,088 FLOPs",
    ]
    text = str(mo.summary(Net(), mo.zeros((2, 3, 6, 6))))
    assert "head: Linear (x2)" in text and "not called" in text


def test_nothing_changes():
    model = Net()
    mo.seed(5)
    expected = mo.rand(4).numpy()
    before = {name: value.numpy() for name, value in model.state_dict().items()}
    stats = mo.stats()
    mo.seed(5)
    told = mo.summary(model, mo.zeros((2, 3, 6, 6)), scale=2.0)
    np.testing.assert_array_equal(mo.rand(4).numpy(), expected)
    for name, value in model.state_dict().items():
        np.testing.assert_array_equal(value.numpy(), before[name])
    assert mo.stats()["programs_compiled"] <= stats["programs_compiled"] + 1  # that of rand
    assert not any("_hooks" in vars(module) for module in model.modules())
    assert told.flops == mo.summary(model, np.zeros((2, 3, 6, 6), "float32")).flops


def test_models_that_are_used():
    model = Net()
    x = mo.zeros((2, 3, 6, 6))
    trained, used = mo.summary(model, x), mo.summary(model.eval(), x)
    assert used.flops < trained.flops


def test_loops_count_each_trip():
    flops = [mo.summary(nn.GRU(4, 8), mo.zeros((steps, 2, 4))).flops for steps in (10, 20, 30)]
    assert flops[1] - flops[0] == flops[2] - flops[1] >= 10 * 2 * (2 * 8 * 24 + 2 * 4 * 24)


def test_under_autocast_types_are_those_of_the_scope():
    with mo.amp.autocast("bfloat16"):
        told = mo.summary(nn.Linear(8, 4, bias=False), mo.zeros((2, 8)))
    assert told.flops == 2 * 2 * 8 * 4


def test_models_that_fail_leave_no_hook():
    model = nn.Sequential(nn.Linear(3, 4), nn.Linear(3, 4))
    with pytest.raises(ValueError, match=r"input has shape \(2, 4\)"):
        mo.summary(model, mo.zeros((2, 3)))
    assert not any("_hooks" in vars(module) for module in model.modules())

    class Asks(nn.Module):
        def execute(self, x):
            return x if x.sum().item() else -x

    with pytest.raises(RuntimeError, match="while a function is recorded"):
        mo.summary(Asks(), mo.zeros(3))
    with pytest.raises(TypeError, match=r"summary: model is .*, expected a module \("):
        mo.summary(mo.relu, mo.zeros(3))


class InBodies(nn.Module):
    """Calls layers in bodies of control flow."""

    def __init__(self):
        self.point = nn.Checkpoint(nn.Sequential(nn.Linear(4, 4), nn.ReLU()))
        self.looped, self.first, self.second = (nn.Linear(4, 4) for _ in range(3))

    def execute(self, x):
        x = self.point(x)
        x, _ = mo.scan(lambda c, row: (self.looped(c), c), x, None, length=5)
        return mo.cond(x.sum() > 0, self.first, self.second, x)


def test_layers_in_bodies_have_the_operations_of_a_trip():
    model, x = InBodies(), mo.zeros((2, 4))
    one = mo.summary(nn.Linear(4, 4), x).flops
    told = {layer.name: layer.flops for layer in mo.summary(model, x).layers}
    for name in ("point", "point.module", "point.module.0", "looped", "first", "second"):
        assert told[name] == one, name
    assert told[""] >= 8 * one


def test_layers_are_counted_alone_in_long_models():
    layers = [nn.Linear(4, 4, bias=bool(number % 2)) for number in range(100)]
    told = mo.summary(nn.Sequential(*layers), mo.zeros((2, 4)))
    expected = [mo.summary(layer, mo.zeros((2, 4))).flops for layer in layers]
    assert [layer.flops for layer in told.layers[1:]] == expected
    assert told.flops == sum(expected)


def test_attributes_are_as_before():
    class Lazy(nn.Module):
        def __init__(self):
            self.linear, self.last, self.calls = None, None, 0

        def execute(self, x):
            self.calls += 1
            if self.linear is None:
                self.linear = nn.Linear(x.shape[1], 3)
            self.last = self.linear(x)
            return self.last

    model, x = Lazy(), mo.ones((2, 4))
    mo.summary(model, x)
    assert (model.linear, model.last, model.calls) == (None, None, 0)
    model(x)
    before = model.last
    assert mo.summary(model, x).layers[1].parameters == 15
    assert model.last is before and model.calls == 1
    assert model(x).numpy().shape == (2, 3)


def make_step(model, rate=1e-3):
    """Return a training step of a model, its optimiser and inputs that are in memory."""
    optimizer = mo.optim.Adam(model.parameters(), rate)
    y = mo.array(np.arange(8) % 3)

    @mo.jit
    def step(x):
        loss = nn.cross_entropy_loss(model(x), y)
        optimizer.step(loss)
        return loss

    x = mo.array(np.random.default_rng(0).normal(size=(8, 3, 12, 12)).astype("float32"))
    mo.sync([x, y, *model.state_dict().values()])
    return step, optimizer, x


def make_classifier():
    mo.seed(0)
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.Flatten(),
        nn.Dropout(0.5),
        nn.Linear(16 * 144, 3),
    )


def test_a_step_is_compiled_and_not_run():
    model = make_classifier()
    step, optimizer, x = make_step(model)
    before = {name: value.numpy() for name, value in model.state_dict().items()}
    state, runs = mo.get_rng_state(), mo.stats()["programs_run"]
    costs = mo.summary(model, x, step=step).step
    assert mo.get_rng_state() == state and optimizer.steps == 0
    for name, value in model.state_dict().items():
        np.testing.assert_array_equal(value.numpy(), before[name])
    assert not any({"execute", "forward"} & vars(layer).keys() for layer in model.modules())

    lowered = step.lower(x)
    assert costs.kernels == len(lowered.kernels) == sum(row.kernels for row in costs.rows)
    np.testing.assert_allclose(costs.predicted_seconds, lowered.predicted_seconds)
    assert sum(row.flops for row in costs.rows) == sum(kernel.flops for kernel in lowered.kernels)
    # Programs that make empty tensors are no step.
    assert mo.stats()["programs_run"] - runs <= len(before) + 3 * len(model.parameters()) + 4

    mo.sync_all()
    compiled = mo.stats()["programs_compiled"]
    mo.reset_peak()
    step(x).sync()
    mo.sync_all()
    assert mo.stats()["programs_compiled"] == compiled
    peak = mo.memory_stats()["peak"]
    assert abs(costs.memory_bytes - peak) <= 0.01 * peak


def test_kernels_of_the_same_lines_are_one_row():
    model, x = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4)), mo.zeros((3, 4))

    def step(x):
        y = model(x)
        return mo.exp(y), mo.sin(y).sum()

    told = mo.summary(model, x, step=step)
    kernels = mo.jit(step).lower(x).kernels
    assert [row.lines for row in told.step.rows] == list(
        dict.fromkeys(tuple(dict.fromkeys(kernel.lines)) for kernel in kernels)
    )
    assert {line.rpartition(":")[0] for row in told.step.rows for line in row.lines} == {__file__}
    table = str(told).split("\n\n")[1].splitlines()
    assert table[0].split() == ["kernels", "of", "kernels", "bytes", "FLOPs", "predicted", "us"]
    assert len(table) == len(told.step.rows) + 2
    assert table[1].startswith("test_summary.py:")
    assert table[-1].endswith(f"at most {told.step.memory_bytes:,} bytes in use")


def test_methods_of_layers_are_of_any_kind():
    class Static(nn.Module):
        @staticmethod
        def execute(x):
            return x * 2

    class OfClass(nn.Module):
        @classmethod
        def execute(cls, x):
            return x * 3

    model = nn.Sequential(Static(), OfClass())
    assert mo.summary(model, mo.ones(4), step=model).step.kernels == 1


def test_other_threads_use_the_model_in_the_meantime():
    model = nn.Sequential(*[nn.Linear(4, 4) for _ in range(5)])
    x, seen = mo.ones((2, 4)), []
    expected = model(x).numpy()

    def run_elsewhere(function):
        def run():
            try:
                seen.append(function())
            except BaseException as error:
                seen.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        thread.join()

    def others():
        model[0].note = "kept"
        return model.eval()(x).numpy()

    class Slow(nn.Module):
        def __init__(self):
            self.model, self.note = model, "old"

        def execute(self, x):
            self.note = self.own = "of the recording"
            run_elsewhere(others)
            return self.model(x)

    slow = Slow()
    plain = mo.summary(model, x)
    told = mo.summary(slow, x, step=slow)
    for result in seen:
        np.testing.assert_array_equal(result, expected)
    assert len(seen) == 2 and model[0].note == "kept" and not model.is_train
    assert slow.note == "old" and not hasattr(slow, "own")
    assert told.flops == plain.flops and told.layers[1].calls == 1
    assert not any({"_hooks", "execute"} & vars(layer).keys() for layer in slow.modules())


def test_attributes_that_a_step_deletes_come_again():
    class Deletes(nn.Module):
        def __init__(self):
            self.first = 1

        def execute(self, x):
            y = x * self.first
            del self.first
            return y

    model = Deletes()
    mo.summary(model, mo.ones(3))
    assert model.first == 1


@pytest.fixture
def memory_limit():
    """Have the memory be limited, and then not."""
    limit = mo.flags.memory_limit
    yield lambda bytes: setattr(mo.flags, "memory_limit", bytes)
    mo.flags.memory_limit = limit


def test_memory_of_steps_that_have_no_room_twice(memory_limit):
    model, x = nn.Linear(512, 512), mo.zeros((2, 512))
    optimizer = mo.optim.SGD(model.parameters(), 0.1)
    mo.sync([x, *model.parameters()])

    @mo.jit
    def train(x):
        optimizer.step(model(x).sum())

    mo.sync_all()
    peaks = mo.summary(model, x, step=model).step.memory_bytes
    memory_limit(mo.memory_stats()["in_use"] + (512 << 10))
    # Tensors that are not updated are not there twice.
    assert mo.summary(model, x, step=model).step.memory_bytes == peaks
    told = mo.summary(model, x, step=train).step
    assert told.memory_bytes is None and told.kernels > 0
    assert str(told).endswith("us; memory is not known")


def test_random_numbers_of_other_threads_come_once(monkeypatch):
    model, x = nn.Sequential(nn.Dropout(0.5)), mo.ones(8)
    estimate, drawn = _core.estimate, []

    def draw_beside(tensors):
        thread = threading.Thread(target=lambda: drawn.append(mo.rand(4).numpy()))
        thread.start()
        thread.join()
        return estimate(tensors)

    monkeypatch.setattr(_core, "estimate", draw_beside)
    mo.summary(model, x, step=model)
    assert not np.array_equal(drawn[0], mo.rand(4).numpy())


def test_errors_are_of_one_recording():
    calls = []

    def step(x):
        calls.append(1)
        raise KeyError("own")

    with pytest.raises(KeyError, match="own"):
        mo.summary(nn.ReLU(), mo.ones(3), step=step)
    assert len(calls) == 1


def test_steps_are_functions_methods_and_modules():
    class Trainer:
        def __init__(self, model):
            self.model = model

        @mo.jit
        def recorded(self, x, scale=1.0):
            return self.model(x) * scale

        def plain(self, x, scale=1.0):
            return self.model(x) * scale

    class Scaled(nn.Module):
        def __init__(self):
            self.linear = nn.Linear(4, 4)

        def execute(self, x, scale=1.0):
            return self.linear(x) * scale

    model, x = Scaled(), mo.zeros((2, 4))
    trainer, jitted = Trainer(model), mo.jit(model)
    steps = [jitted, model, trainer.recorded, trainer.plain, mo.jit(trainer.plain)]
    rows = [mo.summary(model, x, step=step, scale=2.0).step.rows for step in steps]
    flops = [sum(row.flops for row in of_step) for of_step in rows]
    # Methods scale once more, by a number that is known.
    assert flops == [flops[0]] * 2 + [flops[0] + 8] * 3


def test_steps_that_fail():
    model, x = nn.Sequential(nn.Linear(4, 4)), mo.zeros((2, 4))
    with pytest.raises(TypeError, match=r"summary: step is 3, expected a function"):
        mo.summary(model, x, step=3)
    with pytest.raises(ValueError, match=r"input has shape \(2, 3\).*test_summary\.py:\d+\)"):
        mo.summary(model, x, step=lambda x: model(x[:, :3]))
    assert not any("execute" in vars(layer) for layer in model.modules())

    def asks(x):
        mo.summary(model, x, step=model)
        return x

    with pytest.raises(RuntimeError, match="while a function is recorded"):
        mo.jit(asks)(x)
