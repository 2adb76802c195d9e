# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bad input gives an exception that says what, why and where; nothing is lost."""

import inspect
import pathlib

import metaops as mo
import numpy as np
import pytest
from util import close, on_processor, same

A = np.ones((2, 3), "float32")


def line():
    """Return the caller's next line as errors name it."""
    return f"test_errors.py:{inspect.currentframe().f_back.f_lineno + 1}"


# Calls, the exception, and what its message contains.
BAD = {
    "add": (lambda x: x + np.ones((4,), "float32"), ValueError, ["(2, 3)", "(4,)"]),
    "select": (lambda x: mo.where(x > 0, x, mo.zeros((5,))), ValueError, ["(2, 3)", "(5,)"]),
    "condition": (lambda x: mo.where(x, x, x), TypeError, ["float32", "bool"]),
    "matmul": (lambda x: x @ x, ValueError, ["(2, 3)", "inner"]),
    "matmul's batch": (
        lambda x: mo.zeros((2, 3, 4)) @ mo.zeros((3, 4, 5)),
        ValueError,
        ["(2, 3, 4)", "(3, 4, 5)"],
    ),
    "reshape": (lambda x: x.reshape(4, 2), ValueError, ["(2, 3)", "(4, 2)"]),
    "reshape with two unknown": (lambda x: x.reshape(-1, -1), ValueError, ["-1"]),
    "transpose": (lambda x: x.transpose(0, 0), ValueError, ["0"]),
    "transpose's length": (lambda x: x.transpose(0, 1, 2), ValueError, ["2"]),
    "dimension": (lambda x: x.sum(2), (ValueError, IndexError), ["2"]),
    "dimension twice": (lambda x: x.sum((0, -2)), ValueError, ["0"]),
    "broadcast": (lambda x: x.broadcast((2, 4)), ValueError, ["(2, 3)", "(2, 4)"]),
    "negative extent": (lambda x: mo.zeros((2, -3)), ValueError, ["zeros: shape (2, -3)"]),
    "negative number": (lambda x: mo.ones(-1), ValueError, ["ones: shape (-1,) has a negative"]),
    "negative extent of draws": (lambda x: mo.randn(-1), ValueError, ["randn: shape (-1,)"]),
    "negative extent by a key": (
        lambda x: mo.rand(-1, key=mo.Key(1)),
        ValueError,
        ["rand: shape (-1,)"],
    ),
    "negative extent of more": (lambda x: mo.gamma(-1, 2.0), ValueError, ["gamma: shape (-1,)"]),
    "a large integer": (lambda x: mo.array([1, 2**70]), OverflowError, ["array: given 11805916"]),
    "a large number": (lambda x: mo.array(-(2**70)), OverflowError, ["array: given -11805916"]),
    "squeeze": (lambda x: x.squeeze(0), ValueError, ["extent 1"]),
    "concat": (lambda x: mo.concat([x, mo.zeros((3, 2))]), ValueError, ["(2, 3)", "(3, 2)"]),
    "concat of nothing": (lambda x: mo.concat([]), ValueError, ["at least one"]),
    "stack": (lambda x: mo.stack([x, x[0]]), ValueError, ["(2, 3)", "(3,)"]),
    "split": (lambda x: mo.split(x, 2, 1), ValueError, ["2 parts", "extent 3", "array_split"]),
    "pad": (lambda x: mo.pad(x, [(1, 1)] * 3), ValueError, ["expected 2"]),
    "pad too much away": (lambda x: mo.pad(x, [(-3, 0), (0, 0)]), ValueError, ["-3"]),
    "arange": (lambda x: mo.arange(0, 3, 0), ValueError, ["step"]),
    "dtype": (lambda x: mo.zeros((2,), "float31"), (TypeError, ValueError), ["float31"]),
    "dtype of an array": (lambda x: mo.array(A.astype("complex256")), TypeError, ["complex256"]),
    "objects": (lambda x: mo.array([object()]), TypeError, []),
    "cast": (lambda x: x.cast("int7"), (TypeError, ValueError), ["int7"]),
    "bitwise and of floats": (lambda x: x & x, TypeError, ["float32"]),
    "complement of floats": (lambda x: ~x, TypeError, ["float32"]),
    "sum twice named": (lambda x: mo.sum(x, dim=0, axis=1), TypeError, ["dim"]),
    "grad of integers": (
        lambda x: mo.grad(x.cast("int32").sum(), x),
        TypeError,
        ["int"],
    ),
    "conv's rank": (lambda x: mo.nn.conv2d(x, x), ValueError, ["(2, 3)"]),
    "conv's channels": (
        lambda x: mo.nn.conv2d(mo.zeros((1, 3, 5, 5)), mo.zeros((2, 4, 3, 3))),
        ValueError,
        ["3 input channels", "(2, 4, 3, 3)"],
    ),
    "conv's kernel": (
        lambda x: mo.nn.conv2d(mo.zeros((1, 3, 2, 5)), mo.zeros((2, 3, 3, 3))),
        ValueError,
        ["does not fit"],
    ),
    "conv's groups": (lambda x: mo.nn.Conv2d(3, 4, 3, groups=2), ValueError, ["2 groups"]),
    "pool": (lambda x: mo.nn.max_pool2d(x, 2), ValueError, ["(2, 3)"]),
    "conv layer": (
        lambda x: mo.nn.Conv2d(3, 4, 3)(mo.zeros((1, 4, 5, 5))),
        ValueError,
        ["Conv2d(3, 4, ", "(1, 4, 5, 5)", "expected (N, 3, H, W)"],
    ),
    "conv's stride": (lambda x: mo.nn.Conv2d(3, 4, 3, (1, 2, 3)), ValueError, ["Conv2d: stride"]),
    "global pool": (lambda x: mo.nn.global_avg_pool2d(x), ValueError, ["(2, 3)", "(N, C, H, W)"]),
    "pool's kernel": (
        lambda x: mo.nn.MaxPool2d("2"),
        ValueError,
        ["MaxPool2d: kernel_size is '2'"],
    ),
    "linear": (
        lambda x: mo.nn.Linear(4, 2)(x),
        ValueError,
        [
            "Linear(in_features=4, out_features=2, bias=True): input has shape (2, 3)",
            "expected (..., 4)",
        ],
    ),
    "linear inside": (
        lambda x: mo.Sequential(mo.nn.Linear(3, 2), mo.nn.Linear(4, 2))(x),
        ValueError,
        ["Linear(in_features=4, out_features=2, bias=True): input has shape (2, 2)"],
    ),
    "instance norm": (lambda x: mo.nn.InstanceNorm2d(3)(x), ValueError, ["(2, 3)", "(N, 3, H, W)"]),
    "embedding": (lambda x: mo.nn.Embedding(3, 2)(x), TypeError, ["Embedding: input is float32"]),
    "softmax": (lambda x: mo.nn.Softmax(2)(x), ValueError, ["dimension 2", "2 dimensions"]),
    "flatten": (lambda x: mo.nn.Flatten(1, 5)(x), ValueError, ["dimension 5", "2 dimensions"]),
    "a layer of text": (lambda x: mo.nn.Linear(4, 2)("x"), TypeError, ["str"]),
    "a loss of text": (lambda x: mo.nn.mse_loss(x, "x"), TypeError, ["str"]),
    "vjp's shapes": (lambda x: mo.vjp([x], [x], [x[0]]), ValueError, ["(2, 3)", "(3,)"]),
    "gather": (lambda x: mo.gather(x, 0, [0]), ValueError, ["(1,)"]),
    "mask": (lambda x: x[[True, False, True]], IndexError, ["(3,)"]),
    "swapaxes": (lambda x: mo.swapaxes(x, 0, 2), ValueError, ["dimension 2"]),
    "reduction of nothing": (lambda x: mo.argmax(x[:0], 0), ValueError, ["(0, 3)"]),
    "randint": (lambda x: mo.randint(3, 3), ValueError, ["[3, 3)"]),
    "schedule": (
        lambda x: mo.optim.lr_scheduler.StepLR(mo.optim.SGD([x], 0.1), 0),
        ValueError,
        ["step_size is 0"],
    ),
    "batch norm": (lambda x: mo.nn.BatchNorm2d(3)(x), ValueError, ["(2, 3)"]),
    "layer norm": (lambda x: mo.nn.LayerNorm(4)(x), ValueError, ["(2, 3)", "4"]),
    "loss's shapes": (
        lambda x: mo.nn.cross_entropy_loss(x, mo.array([0, 1, 2])),
        ValueError,
        ["(2, 3)", "(3,)"],
    ),
    "loss's classes": (lambda x: mo.nn.cross_entropy_loss(x, x[:, 0]), TypeError, ["float32"]),
    "loss's target": (lambda x: mo.nn.mse_loss(x, x[:, :1]), ValueError, ["(2, 1)", "(2, 3)"]),
    "reduction": (lambda x: mo.nn.mse_loss(x, x, "median"), ValueError, ["median"]),
    "dropout": (lambda x: mo.nn.Dropout(1.5), ValueError, ["1.5"]),
    "optimiser": (lambda x: mo.optim.SGD([], 0.1), ValueError, ["no parameters"]),
    "optimiser's twins": (lambda x: mo.optim.SGD([x, x], 0.1), ValueError, ["twice"]),
    "optimiser's dtype": (
        lambda x: mo.optim.SGD([mo.array([1])], 0.1),
        TypeError,
        ["int64"],
    ),
    "optimiser's rate": (lambda x: mo.optim.Adam([x], -1.0), ValueError, ["-1.0"]),
    "phase": (lambda x: _phase(x), ValueError, ["nonsense"]),
}


def _phase(x):
    (x + 1).sync()
    mo.last_program().ir("nonsense")


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    action, exception, parts = BAD[name]
    x = mo.array(A)
    pending = x * 2
    with pytest.raises(exception) as raised:
        action(x)
    # What, and the user's line, which is in the table here.
    for part in [*parts, "test_errors.py:"]:
        assert part in str(raised.value)
    # Nothing computed or recorded earlier is lost.
    same(x, A)
    same(pending, A * 2)


def test_errors_name_the_line():
    x = mo.array(A)
    with pytest.raises(ValueError, match=r"test_errors\.py:"):
        x.reindex((2, 2), ("i0", "i9"))
    # The line is the user's, not one of the package's own.
    with pytest.raises(ValueError) as raised:
        mo.nn.conv2d(mo.zeros((1, 1, 4, 4)), mo.zeros((1, 1, 2, 2)), mo.zeros((1,)), padding=-1)
    assert "test_errors.py" in str(raised.value)


def test_errors_name_the_line_exactly():
    x = mo.array(A)
    try:
        where = line()
        x.reshape(5)
    except ValueError as error:
        assert where in str(error)
    else:
        raise AssertionError("no error")


STRINGS = {
    "unknown name": ("j0", ["j0"]),
    "index out of rank": ("i2", ["i2"]),
    "unfinished": ("i0+", ["i0+"]),
    "unbalanced": ("(i0", ["(i0"]),
    "empty": ("", []),
    "two expressions": ("i0 i1", ["i0 i1"]),
    "not affine": ("i0*i1", ["i0*i1"]),
    "division by zero": ("i0/0", ["i0/0"]),
    "division by an index": ("4/i0", ["4/i0"]),
    "strange sign": ("i0$1", ["$"]),
    "a float": ("i0*0.5", ["0.5"]),
    "huge number": ("i0+99999999999999999999", ["9999"]),
    "statement": ("i0; import os", [";"]),
}


@pytest.mark.parametrize("name", STRINGS)
def test_index_strings(name):
    text, parts = STRINGS[name]
    x = mo.array(A)
    with pytest.raises(ValueError) as raised:
        x.reindex((2, 3), (text, "i1"))
    message = str(raised.value)
    for part in parts:
        assert part in message
    if text:
        # The place in the string is pointed at.
        assert "^" in message
    with pytest.raises(ValueError):
        x.reindex_reduce("add", (2,), (text,))
    with pytest.raises(ValueError):
        x.reindex((2, 3), ("i0", "i1"), 0, (text,) if name != "empty" else ("",))
    same(x.reindex((3, 2), ("i1", "i0")), A.T)


def test_reindex_arguments():
    x = mo.array(A)
    with pytest.raises(ValueError, match="2"):
        x.reindex((2, 3), ("i0",))
    with pytest.raises(ValueError, match="2"):
        x.reindex_reduce("add", (2, 3), ("i0",))
    with pytest.raises(ValueError, match="median"):
        x.reindex_reduce("median", (2,), ("i0",))
    with pytest.raises(ValueError, match="-2"):
        x.reindex((-2,), ("i0", "i0"))
    same(x, A)


def test_flags():
    with pytest.raises(AttributeError, match=r"nonsense.*rules"):
        mo.flags.nonsense
    with pytest.raises(AttributeError, match="nonsense"):
        mo.flags.nonsense = 1
    with pytest.raises(ValueError, match="nonsense"):
        mo.flags.rules = "nonsense"
    with pytest.raises(ValueError, match="nonsense"):
        mo.flags.backend = "nonsense"
    assert mo.flags.rules == "extended"
    assert not hasattr(mo.flags, "nonsense")
    budget = mo.flags.saved_values_budget
    mo.flags.saved_values_budget = 1 << 20
    assert mo.flags.saved_values_budget == 1 << 20
    mo.flags.saved_values_budget = budget


def test_a_module_without_execute():
    class Empty(mo.Module):
        pass

    with pytest.raises(TypeError, match="Empty"):
        Empty()(1)


def test_too_much_memory_is_an_error():
    x = mo.zeros((1 << 20, 1 << 20)) + mo.array(1.0)
    with pytest.raises((MemoryError, RuntimeError)):
        x.sync()
    close(mo.array(A) + 1, A + 1)


def test_a_child_process_is_told(tmp_path):
    import os

    mo.array(A).sync()
    report = tmp_path / "report"
    child = os.fork()
    if child == 0:
        try:
            (mo.array(A) + 1).sync()
            text = "no error"
        except RuntimeError as error:
            text = str(error)
        except BaseException as error:
            text = f"wrong kind: {error!r}"
        pathlib.Path(report).write_text(text)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert "fork" in report.read_text()
    same(mo.array(A) + 1, A + 1)


def test_dump_is_a_module():
    x = mo.array(A)
    y = mo.exp(x) * 2
    text = mo.dump()
    assert "func.func" in text
    assert "metaop.exp" in text
    assert "metaop.buffer" in text
    close(y, np.exp(A) * 2)


def test_last_program(compiled):
    x = mo.array(A).sync()
    y = (mo.exp(x) * 2).sum(1)
    y.sync()
    program = mo.last_program()
    assert len(program.kernels) == 1
    (kernel,) = program.kernels
    assert any("exp" in name for name in kernel.operators)
    assert any("test_errors.py:" in name for name in kernel.lines)
    assert kernel.bytes_read >= A.nbytes and kernel.bytes_written >= 8
    text = str(program)
    assert "meta-operators in 1 kernels" in text and kernel.name in text
    last = ["loops", "llvm"] if on_processor(x) else ["gpu", "nvvm"]
    for phase in ["graph", "fused", "scheduled", "kernels", *last]:
        assert program.ir(phase).strip()
    assert "metaop.exp" in program.ir("graph")
    assert "metaop.fused" in program.ir("fused")
    assert "llvm.func" in program.ir(last[-1])
