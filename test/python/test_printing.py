# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Vars as text and as tables: what NumPy prints, and no more computed than is shown."""

import html.parser
import re

import metaops as mo
import numpy as np
import pytest
from metaops import _core
from util import floats


class Var(np.ndarray):
    """An array that NumPy prints under the name of ours."""


def numpys(array):
    """Return NumPy's text, with the dtypes that it leaves out."""
    text = repr(array.view(Var))
    if "dtype=" not in text:
        with np.printoptions(linewidth=10**6):
            has_shape = "shape=" in repr(array.view(Var))
        extra = f"dtype={array.dtype})"
        if has_shape:
            before, shape = re.fullmatch(r"(.*,)\s+(shape=.*)\)", text, re.DOTALL).groups()
            extra = f"{shape}, {extra}"
        else:
            before = text[:-1] + ","
        line = before.rsplit("\n", 1)[-1]
        width = np.get_printoptions()["linewidth"]
        text = before + (" " if len(line) + len(extra) + 1 <= width else "\n    ") + extra
    return text


OPTIONS = [
    {},
    {"threshold": 5, "edgeitems": 2},
    {"threshold": 0},
    {"precision": 2, "suppress": True, "linewidth": 30},
    {"threshold": 20, "edgeitems": 1, "linewidth": 40, "floatmode": "fixed"},
]
SHAPES = [
    (),
    (1,),
    (0,),
    (0, 3),
    (7,),
    (3, 4),
    (5, 1, 9),
    (1200,),
    (40, 50),
    (2, 0, 2),
    (30, 2, 30),
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_text_is_numpys(rng, shape, options):
    array = floats(rng, shape, low=-300, high=300)
    with np.printoptions(**options):
        assert repr(mo.array(array)) == numpys(array)
        assert str(mo.array(array)) == str(array) == f"{mo.array(array)}"


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "int64", "float16", "float64"])
def test_types(rng, dtype):
    for shape in [(4,), (60, 70)]:
        array = floats(rng, shape, low=0, high=3).astype(dtype)
        assert repr(mo.array(array)) == numpys(array)
        assert str(mo.array(array)) == str(array)


def test_bfloat16(rng):
    array = mo.array(floats(rng, (50, 60))).bfloat16()
    with np.printoptions(threshold=9):
        assert repr(array) == numpys(array.numpy()).replace("float32", "bfloat16")


def test_special_numbers():
    array = np.array([np.nan, -np.inf, 0.0, -0.0, 1e-30, 3e38], "float32")
    assert repr(mo.array(array)) == numpys(array)


def test_a_subclass_shows_its_name():
    class Named(mo.Var):
        pass

    assert repr(Named([1, 2])) == "Named([1, 2], dtype=int64)"
    assert Named([1, 2])._repr_html_().startswith("<div><p>Named of shape (2,), int64</p>")


def written():
    return sum(kernel.bytes_written for kernel in mo.last_program().kernels)


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("show", [repr, str, mo.Var._repr_html_], ids=["repr", "str", "html"])
def test_only_the_edges_are_computed(show):
    """Of what reads tensors in memory through maps; 7 x 7 numbers of 4 bytes."""
    x = mo.arange(1_000_000, dtype="float32").reshape(1000, 1000).sync()
    for view in (x, x.T, x[5:, ::2], mo.ones((1000, 1000)), x[0].broadcast((1000, 1000), (0,))):
        text = show(view)
        assert written() == 7 * 7 * 4
        assert text == show(mo.array(view.numpy()))
    half = x.bfloat16().sync()
    show(half)
    assert written() == 7 * 7 * 2


@pytest.mark.usefixtures("compiled")
def test_work_is_done_once():
    """What has to be computed for its edges is kept."""
    x = mo.arange(10_000, dtype="float32").reshape(100, 100).sync()
    for y in ((x @ x), mo.softmax(x, 1), mo.cumsum(x, 1), mo.random((100, 100))):
        text = repr(y)
        assert not _core.plan_programs([y])
        assert text == numpys(y.numpy())


def test_a_random_tensor_is_what_was_shown():
    y = mo.rand(2000)
    with np.printoptions(edgeitems=1):
        text = repr(y)
        assert text == numpys(y.numpy())


def test_gradients_flow_through_what_was_shown(rng):
    array = floats(rng, (50, 50))
    x = mo.array(array)
    y = x * x
    repr(y)
    np.testing.assert_array_equal(mo.grad(y.sum(), x), 2 * array)


def test_formats():
    assert f"{mo.array(2.5):.3f}|{mo.array(7):4d}|{mo.array([[0.25]]):.1%}" == "2.500|   7|25.0%"
    assert f"{mo.array(2.5)}" == "2.5" and f"{mo.array([1, 2])}" == "[1 2]"
    with pytest.raises(ValueError, match=r"format: a tensor of shape \(3,\) is not a single"):
        format(mo.zeros(3), ".2f")
    with pytest.raises(ValueError, match="format code"):
        format(mo.array(1.5), "d")


class Table(html.parser.HTMLParser):
    """Reads rows of cells; fails where an element is not closed."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.open, self.texts = [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        assert not attributes
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1] == "td":
            self.rows[-1].append(data)
        else:
            self.texts.append(data)


def test_tables_in_notebooks(rng):
    array = floats(rng, (3, 4))
    table = Table(mo.array(array)._repr_html_())
    assert table.texts == ["Var of shape (3, 4), float32"]
    np.testing.assert_array_equal(np.array(table.rows).astype("float32"), array)
    assert Table(mo.array([1, 2, 3])._repr_html_()).rows == [["1", "2", "3"]]

    wide = Table(mo.arange(100_000).reshape(10, 10_000)._repr_html_())
    assert wide.texts == ["Var of shape (10, 10000), int64"]
    assert len(wide.rows) == 7 and {len(row) for row in wide.rows} == {7}
    assert wide.rows[0] == ["0", "1", "2", "...", "9997", "9998", "9999"]
    assert wide.rows[3] == ["..."] * 7 and wide.rows[6][6] == "99999"
    with np.printoptions(threshold=4, edgeitems=1):
        assert Table(mo.arange(9)._repr_html_()).rows == [["0", "...", "8"]]
        assert Table(mo.arange(9).reshape(9, 1)._repr_html_()).rows == [["0"], ["..."], ["8"]]


@pytest.mark.parametrize("shape", [(), (0,), (0, 4), (2, 3, 4)])
def test_other_shapes_in_notebooks_are_text(rng, shape):
    x = mo.array(floats(rng, shape))
    table = Table(x._repr_html_())
    assert table.texts == [f"Var of shape {shape}, float32", str(x)] and not table.rows


def test_html_is_escaped():
    with np.printoptions(formatter={"int": lambda value: f"<b>{value}</b>"}):
        table = Table(mo.array([1, 2])._repr_html_())
        assert table.rows == [["<b>1</b>", "<b>2</b>"]]
        assert Table(mo.array([[[3]]])._repr_html_()).texts[1] == "[[[<b>3</b>]]]"
