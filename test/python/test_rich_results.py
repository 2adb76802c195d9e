# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reports and programs in notebooks: small tables, escaped, without styles."""

import html.parser

import metaops as mo
import numpy as np
import pytest
from metaops import _html


class Page(html.parser.HTMLParser):
    """Reads tables; fails where an element is not closed or has an attribute."""

    def __init__(self, text):
        super().__init__()
        self.heads, self.rows, self.texts, self.open = [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        assert not attributes
        assert tag in {"div", "p", "table", "tr", "th", "td", "pre"}
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data
        else:
            self.texts.append(data)


@pytest.fixture
def product(rng):
    x = mo.array(rng.standard_normal((8, 16)), "float32")
    w = mo.array(rng.standard_normal((16, 4)), "float32")
    return mo.relu(x @ w)


@pytest.mark.usefixtures("compiled")
def test_the_last_program(product):
    product.sync()
    program = mo.last_program()
    page = Page(program._repr_html_())
    assert page.texts == [program.summary()]
    assert page.rows[0] == ["kernel", "read", "written", "operators", "lines"]
    assert [row[0] for row in page.rows[1:]] == [kernel.name for kernel in program.kernels]
    assert [row[2] for row in page.rows[1:]] == [f"{k.bytes_written:,}" for k in program.kernels]
    assert all("test_rich_results.py" in row[4] for row in page.rows[1:])


@pytest.mark.usefixtures("compiled")
def test_explanations(product):
    explanation = mo.explain(product)
    page = Page(explanation._repr_html_())
    (total,) = page.texts
    assert str(explanation).splitlines()[-1] == total
    assert len(page.rows) == 1 + len(explanation.kernels)
    for kernel, row in zip(explanation.kernels, page.rows[1:], strict=True):
        assert row[0] == kernel.name
        assert row[1:4] == [
            f"{n:,}" for n in (kernel.bytes_read, kernel.bytes_written, kernel.flops)
        ]
        own = Page(kernel._repr_html_())
        assert own.rows[1] == row[1:6]
        assert own.rows[2] == ["space", "operators", "schedule"]
        assert [each[2] for each in own.rows[3:]] == [stage.schedule for stage in kernel.stages]
    product.sync()
    assert Page(mo.explain(product)._repr_html_()).texts[0].startswith("no kernels")


@pytest.mark.usefixtures("compiled")
def test_profiles(product):
    with mo.profile_scope() as report:
        product.sync()
    page = Page(report._repr_html_())
    assert page.texts == [report.summary()]
    # The cells are those of the text, whose columns are apart by two blanks.
    assert " ".join(page.rows[0]).split() == report.table().splitlines()[1].split()
    assert len(page.rows) == 1 + len(report.kernels)
    assert page.rows[1][0] == f"0.{report.kernels[0].name}"
    assert "test_rich_results.py" in page.rows[1][-1]


def test_memory():
    x = mo.zeros((64, 64)) + 1
    x.sync()
    summary = mo.memory_summary()
    assert isinstance(summary, str)
    page = Page(summary._repr_html_())
    counts = dict(page.rows[:13])
    assert counts["limit"] == "none"
    assert counts["in use"].replace(",", "").isdigit()
    rows = page.rows[page.rows.index(["bytes", "vars", "value", "line"]) + 1 :]
    assert "float32 (64, 64)" in [row[2] for row in rows]
    for row in rows:
        assert all(cell in summary for cell in row)
    assert Page(mo.memory_summary(0)._repr_html_()).rows == [
        list(count) for count in mo.memory_summary(0).counts
    ]


def test_programs_of_files(tmp_path):
    w = mo.array(np.ones((3, 2)), "float32")
    path = tmp_path / "linear.metaops"
    mo.export(lambda x: x @ w, [mo.zeros((4, 3))], path)
    with mo.load_program(path) as program:
        page = Page(program._repr_html_())
        assert page.texts == [f"program for {program.target}"]
        names = [("input", t) for t in program.inputs] + [("output", t) for t in program.outputs]
        assert page.rows[1:] == [[kind, t.name, t.dtype, str(t.shape)] for kind, t in names]
    closed = Page(program._repr_html_())
    assert closed.rows == page.rows


@pytest.mark.processor
@pytest.mark.usefixtures("compiled")
def test_tunings(product):
    tuning = mo.tune(lambda: product, budget=0.5)
    page = Page(tuning._repr_html_())
    assert " ".join(page.rows[0]).split() == str(tuning).splitlines()[0].split()
    assert len(page.rows) == 1 + len(tuning.kernels)
    assert page.texts == [str(tuning).splitlines()[-1]]


def test_all_text_is_escaped():
    text = _html.page(
        "<b>&", _html.table([("<script>", "a & b")], ("<i>", '"')), _html.preformatted("</pre>")
    )
    page = Page(text)
    assert page.texts == ["<b>&", "</pre>"]
    assert page.rows == [["<i>", '"'], ["<script>", "a & b"]]
    assert "<script>" not in text and "style" not in text and "&lt;script&gt;" in text


def test_long_tables_are_cut():
    page = Page(_html.table([(str(k),) for k in range(250)], ("n",)))
    assert len(page.rows) == 102
    assert page.rows[-1] == ["and 150 more"]
