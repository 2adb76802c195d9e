# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tables of script/bench, from rows with numbers that are known."""

import math
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

import charts
import common
import gpu_audit
import kept
import published
import report
import results_page
import rows as measured
import steps
from workloads import NOTES, WORKLOADS

PEERS = ["PyTorch", "NumPy"]


def row(name, size="large", ours=2.0, peers=(4.0,), moving=1.0, flops=0, **more):
    """Return a row whose kernels take half of the time, and as long as predicted."""
    kernel = {"operators": ["add"], "calls": 2.0, "predicted": ours / 4}
    kernel.update(seconds=ours / 2, bytes=100, flops=flops / 2)
    seconds = {"MetaOps": ours, **dict(zip(PEERS, peers, strict=False))}
    profile = {"seconds": ours / 2, "predicted": ours / 2, "flops": flops, "moved": 200}
    return {
        "name": name,
        "group": WORKLOADS[name].group if name in WORKLOADS else "others",
        "size": size,
        "bytes": 1 << 20,
        "first": dict.fromkeys(seconds, 1.0),
        "compiled": {"programs": 1, "kernels": 2, "seconds": 0.04},
        "skipped": {},
        "differences": {},
        "seconds": seconds,
        "moving": moving,
        "rounds": 5,
        "warm": [],
        "peak": 1e9,
        "flops": 0,
        "at_peak": {},
        "profile": {**profile, "kernels": [kernel]},
        **more,
    }


def contraction(name, peers=(1.0, 4.0), at_peak=(0.25, 0.5, 0.125), operations=1e9, **more):
    """Return a row of a contraction at its own size."""
    shares = dict(zip(["MetaOps", *PEERS], at_peak, strict=False))
    return {**row(name, "own", peers=peers, at_peak=shares, **more), "flops": operations}


def find(tables, title):
    (table,) = [table for table in tables if table.title == title]
    return [dict(zip(table.columns, line, strict=True)) for line in table.rows]


def test_ratios_and_their_means():
    faster, slow = row("softmax", peers=(8.0, 2.0)), row("GELU", peers=(1.0,))
    assert measured.speedup(faster, "PyTorch") == 4
    assert measured.speedup(slow, "NumPy") is None
    assert measured.slower(slow, PEERS) == {"PyTorch": 0.5}
    assert measured.geometric_mean([4, None, 1]) == pytest.approx(2)
    assert measured.spread([4, 1]) == pytest.approx(2)
    assert measured.geometric_mean([None]) is measured.spread([]) is None


def test_the_roof_is_memory_or_the_peak():
    assert measured.share(row("softmax")) == 0.5
    assert measured.bound(row("softmax")) == "memory"
    dear = row("softmax", flops=1.5e9)
    assert measured.share(dear) == 0.75
    assert measured.bound(dear) == "FMA"


def test_means_over_all_rows_come_first():
    runs = {
        cores: [row("softmax", "small"), row("softmax"), row("GELU", peers=(1.0, 2.0))]
        for cores in (1, 2)
    }
    tables = report.tables(runs, PEERS, quick=False)
    assert tables[0].title == "All workloads"
    lines = find(tables, "All workloads")
    assert [(line["size"], line["processors"], line["rows"]) for line in lines] == [
        ("small", 1, 1),
        ("large", 1, 2),
        ("small", 2, 1),
        ("large", 2, 2),
        ("both", 1, 3),
        ("both", 2, 3),
    ]
    assert lines[1]["PyTorch"] == "1.00 (2)"
    assert lines[1]["NumPy"] == "1.00 (1)"
    assert lines[1]["under 0.8"] == 1
    assert lines[1]["roof"] == "50%"
    assert lines[4]["all peers"] == pytest.approx(2 ** (1 / 4))


def test_a_share_above_the_roof_counts_as_the_roof():
    good, wrong = row("softmax", moving=0.5), row("RMS norm", moving=4.0)
    assert measured.share(wrong) == 2
    assert measured.mean_share([good, wrong]) == pytest.approx(0.5)
    assert measured.beyond([good, wrong, row("GELU", moving=2.08)]) == 1
    lines = find(report.tables({1: [good, wrong]}, PEERS, quick=True), "All workloads")
    assert lines[0]["roof"] == "50%"
    (line,) = find(
        report.tables({1: [good, wrong]}, PEERS, quick=False), "Share of the roof at the large size"
    )
    assert (line["mean"], line["rows over 105%"]) == ("50%", 1)


def test_means_without_what_peers_are_slow_at():
    rows = [row("softmax"), row("max pooling", peers=(32.0,)), row("var of 2-D, axis 0")]
    tables = report.tables({1: rows}, PEERS, quick=False)
    (every,) = find(tables, "All workloads")
    (kept,) = find(tables, "Without what peers are slow at")
    assert (every["rows"], every["PyTorch"]) == (3, "4.00 (3)")
    assert (kept["rows"], kept["PyTorch"]) == (1, "2.00 (1)")
    assert "2 workloads fewer" in next(t.note for t in tables if "Without" in t.title)
    titles = [table.title for table in report.tables({1: [row("softmax")]}, PEERS, quick=False)]
    assert "Without what peers are slow at" not in titles
    for pattern in measured.SLOW_PEERS:
        assert any(measured.is_slow_for_peers(row(name)) for name in WORKLOADS), pattern
        names = [name for name in WORKLOADS if name.startswith(pattern.strip("* "))]
        assert names and all(measured.is_slow_for_peers(row(name)) for name in names)
    assert not measured.is_slow_for_peers(row("average pooling"))


def test_captions_tell_how_it_was_measured():
    def note(title, **more):
        rows = {1: [row("softmax", **more)], 2: [row("softmax")]}
        return next(t.note for t in report.tables(rows, PEERS, quick=False) if t.title == title)

    assert "Caches on disk were empty" in note("First calls, seconds")
    warm = note("First calls, seconds", warm=["MetaOps"])
    assert "held what an earlier run had compiled: MetaOps (1 processors)" in warm
    assert note("Large size, 1 processor").startswith("The median of 5 turns.")
    assert note("Large size, 1 processor", rounds=3).startswith("The median of 3 turns.")
    rows = [row("softmax", rounds=rounds) for rounds in (15, 3, 4)]
    assert measured.turns_note(rows) == "The median of 3 to 15 turns."


def test_the_page_is_made_of_the_rows_that_are_kept(tmp_path):
    slow = row("GELU", peers=(1.5,), rounds=3)
    content = {
        "environment": {"processor": "P", "torch": "2"},
        "peers": ["PyTorch", "NumPy"],
        "runs": {
            "1": [row("softmax"), slow, row("max pooling", peers=(48.0,))],
            "2": [row("softmax", peers=(6.0,)), contraction("product 64", ours=4.0)],
        },
    }
    report.keep(content, tmp_path)
    report.keep_steps(
        {
            "tables": [
                {"title": "Training steps", "rows": []},
                {
                    "title": "A model",
                    "rows": [[1, "MetaOps", 2.0, 1, 9], [1, "PyTorch", 6.0, 3, 1]],
                },
            ]
        },
        tmp_path,
    )
    lines = kept.read(tmp_path / "kernels.csv")
    assert [line["workload"] for line in lines] == ["softmax", "GELU", "max pooling", "softmax"]
    assert (lines[1]["turns"], lines[1]["PyTorch"], lines[1]["NumPy"]) == (3, 0.75, None)
    assert lines[0]["roof"] == 0.5 and lines[0]["bound"] == "memory"
    (line,) = kept.read(tmp_path / "slow.csv")
    assert line["workload"] == "GELU"

    text = results_page.page(tmp_path)
    assert "in runs for 1 processor and for 2 processors. Left out: torch.compile, jax.jit." in text
    assert "processor P, torch 2.\n" in text
    assert "The median of 3 or 5 turns. Geometric means" in text
    # Means and medians of 2, 0.75 and 24, and of 3 alone.
    every, without = text.split("## Without what peers are slow at")
    assert re.search(r"\| large +\| +1 \| +3 \| +3\.30 \| +2\.00 \|", every)
    assert re.search(r"\| large +\| +2 \| +1 \| +3\.00 \| +3\.00 \|", every)
    assert re.search(r"\| large +\| +1 \| +2 \| +1\.22 \| +1\.38 \|", without)
    assert re.search(r"\| products +\| +2 \| +1 \| +0\.250 \| +0\.250 \|", text)
    assert re.search(r"\| A model +\| +1 \| +3 \|", text)
    for title in ("Groups", "Contractions", "The cost model", "First calls, seconds"):
        assert f"## {title}\n" in text
    assert "## What is missing" not in text


def test_bars_go_to_the_side_of_who_is_faster():
    drawn = charts.write_bars("<a>", [("b & c", [2.0, 0.25]), ("d", [None, 90.0])], ["P", "Q"])
    chart = ElementTree.fromstring(drawn)
    spaces = {"svg": "http://www.w3.org/2000/svg"}
    assert chart.find("svg:title", spaces).text == "<a>"
    rects = chart.findall("svg:rect", spaces)[3:]  # behind the ground and two of the legend
    bars = [(float(rect.get("x")), float(rect.get("width"))) for rect in rects]
    # The axis goes from 0.25 to 8: a bar for 2 is half as long as one for 0.25.
    (one, double), (left, quarter), (last, longest) = bars
    assert one == last == pytest.approx(left + quarter, abs=0.2)
    assert quarter == pytest.approx(2 * double, abs=0.2)
    assert longest == pytest.approx(3 * double, abs=0.2)
    texts = [text.text for text in chart.findall("svg:text", spaces)]
    assert {"b & c", "d", "2.00", "0.250", "90.0 →"} <= set(texts)


def test_cells_are_read_as_they_were_written(tmp_path):
    table = common.Table("", ["name", "count", "share", "none", "text"])
    table.add("exp, tanh", 3, 5.0, None, "**no note**")
    table.add("x", 0, 1.23456789, 1e-9, "1%")
    kept.write(tmp_path / "a.csv", table)
    first, second = kept.read(tmp_path / "a.csv")
    assert list(first.values()) == ["exp, tanh", 3, 5.0, None, "**no note**"]
    assert isinstance(first["share"], float) and isinstance(first["count"], int)
    assert list(second.values()) == ["x", 0, 1.2346, 1e-9, "1%"]


def test_the_page_of_kernels_on_gpus():
    function = gpu_audit.Function("f", 40, 0, 8, 2048, 128, 4, 0.5)
    rows = [
        gpu_audit.Audited(
            *("softmax", "norms", 2, 3, 4_000_000, {"H100": 2e-6}, 0.02, []),
            functions=[function, gpu_audit.Function("g", 20, 0, 0, occupancy=1.0)],
            cubin_seconds=0.04,
        ),
        gpu_audit.Audited("RMS norm", "norms", 0, 0, 0, {}, 0.0, [], failure="none\nat all"),
    ]
    lines = as_lines(gpu_audit.lines_of({("sm_90a", "float32"): rows}))
    text = gpu_audit.page(lines)
    assert re.search(r"\| sm_90a \| float32 \| +2 \| +1 \| +2 \| +3 \| +0 \| +2 \| +40 \|", text)
    assert re.search(r"\| memory-bound \| +1 \| +30\.0 \| +30\.0 \| +0 \|", text)
    assert re.search(r"\| norms \| +1 \| +2 \| +3 \| +2 \| +4\.00 \| +40\.0 \| +2\.00 \| 50%", text)
    table = gpu_audit.audit_table(lines, "float32", "sm_90a")
    assert table.note == "Without code: RMS norm: none" and len(table.rows) == 1


def as_lines(table):
    """Return the lines that a file of a table has."""
    return [dict(zip(table.columns, line, strict=True)) for line in table.rows]


def test_warm_caches_are_noticed(tmp_path, monkeypatch):
    for variable, name in common.CACHE_FOLDERS.values():
        monkeypatch.setenv(variable, str(tmp_path / name))
    assert common.warm_caches() == []
    (tmp_path / "metaops").mkdir()
    assert common.warm_caches() == []
    (tmp_path / "metaops" / "kernel-1").touch()
    assert common.warm_caches() == ["MetaOps"]


def test_the_prediction_stands_beside_the_time():
    runs = {1: [row("softmax"), row("GELU", ours=8.0)]}
    runs[1][1]["profile"]["predicted"] *= 4
    tables = report.tables(runs, PEERS, quick=True)
    lines = find(tables, "Large size, 1 processor")
    assert [(line["workload"], line["predicted/measured"]) for line in lines[:2]] == [
        ("softmax", 1.0),
        ("*norms*", 1.0),
    ]
    assert lines[0]["predicted us"] == 1e6
    (line,) = find(tables, "The cost model")
    assert line["predicted/measured"] == pytest.approx(2)
    assert line["spread"] == pytest.approx(2)
    assert line["highest"] == "4.00 GELU"


def test_rows_under_the_aim_are_named_by_group():
    runs = {1: [row("softmax", moving=1.9), row("RMS norm", moving=1.0), row("GELU", "small")]}
    (line,) = find(report.tables(runs, PEERS, quick=False), "Share of the roof at the large size")
    assert line["group"] == "norms"
    assert line["mean"] == f"{100 * math.sqrt(0.95 * 0.5):.0f}%"
    assert line["rows under 85%"] == "RMS norm 50%"


def test_compiling_is_counted_by_kernels():
    runs = {1: [row("softmax"), row("GELU"), row("RMS norm")]}
    runs[1][1]["compiled"] = {"programs": 1, "kernels": 1, "seconds": 0.5}
    runs[1][2]["compiled"] = {"programs": 1, "kernels": 0, "seconds": 0.01}
    (line,) = find(report.tables(runs, PEERS, quick=True), "Compiling, milliseconds a kernel")
    assert (line["programs"], line["kernels"]) == (3, 3)
    assert [line[name] for name in ("median", "largest", "total")] == pytest.approx([20, 500, 550])


def test_a_slow_row_without_a_note_shows():
    name = next(iter(NOTES))
    runs = {1: [row(name, peers=(1.0,)), row("no such workload", peers=(1.5, 1.0))]}
    lines = find(report.tables(runs, PEERS, quick=False), "Rows under 0.8 of a peer")
    assert lines[0]["why"] == NOTES[name]
    assert lines[1]["why"] == "**no note**"
    assert lines[1]["ratios"] == "NumPy 0.50, PyTorch 0.75"


def test_what_differs_is_a_failure(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    good, bad = row("softmax"), row("GELU", differences={"PyTorch": "result 0 differs"})
    absent = row("RMS norm", seconds={}, first={}, skipped={"MetaOps": "MetaOps has none"})
    absent["profile"] = {}
    runs = {2: [good, bad, absent]}
    assert report.failures(runs) == ["GELU (large, 2 processors)", "RMS norm (large, 2 processors)"]
    report.write(runs, PEERS, str(tmp_path))
    assert {path.name for path in tmp_path.iterdir()} == {
        "kernels.md",
        "kernels.json",
        "kernels-rows.json",
        "kernels-large-2.svg",
    }
    assert "result 0 differs" in capsys.readouterr().out


# Contractions

GRADIENT = "convolution 1x1 64>64 at 56, batch 1 by image"


def test_contractions_have_tables_of_their_own():
    fast = contraction("product 64", peers=(8.0,), at_peak=(1.0, 0.25), rounds=3)
    runs = {1: [contraction("product 512"), fast, contraction(GRADIENT)], 2: [fast]}
    tables = report.tables(runs, PEERS, quick=False)
    lines = find(tables, "Contractions")
    assert [(line["group"], line["processors"], line["rows"]) for line in lines] == [
        ("products", 1, 2),
        ("convolutions by image", 1, 1),
        ("**all**", 1, 3),
        ("products", 2, 1),
        ("**all**", 2, 1),
    ]
    assert lines[0]["PyTorch"] == pytest.approx(math.sqrt(0.5 * 4))
    assert lines[0]["NumPy"] == pytest.approx(2)
    assert (lines[0]["peak"], lines[0]["peers' peak"]) == ("50%", "35%")
    assert lines[0]["under 0.8"] == 1
    assert lines[0]["peak, GFLOP/s"] == 1
    (slow, quick, mean) = find(tables, "Products, 1 processor")
    assert (slow["contraction"], slow["PyTorch"], slow["NumPy"]) == ("product 512", 0.5, 2)
    assert (slow["peak"], slow["peers' peak"]) == ("25%", "50%")
    assert (quick["NumPy"], quick["peers' peak"]) == (None, "25%")
    assert mean["PyTorch"] == lines[0]["PyTorch"]
    assert len(find(tables, "Convolutions by image, 1 processor")) == 2
    titles = {table.title: table for table in tables}
    assert titles["Products, 1 processor"].note.startswith("The median of 3 or 5 turns.")
    assert "All workloads" not in titles and "Own size, 1 processor" not in titles


def test_contractions_are_not_in_means_of_kernels():
    tables = report.tables({1: [row("softmax"), contraction("product 64")]}, PEERS, quick=False)
    (line,) = find(tables, "All workloads")
    assert (line["size"], line["rows"], line["PyTorch"]) == ("large", 1, "2.00 (1)")
    assert find(tables, "Rows under 0.8 of a peer") == []
    assert len(find(tables, "Contractions")) == 2
    titles = [table.title for table in report.tables({1: [row("softmax")]}, PEERS, quick=False)]
    assert "Contractions" not in titles


def test_the_roof_of_a_contraction_is_by_its_own_operations():
    # Kernels may compute more than what is asked for.
    dear = contraction("product 64", ours=4.0, moving=0.5, operations=2e9)
    dear["profile"]["flops"] = 8e9
    assert measured.share(dear) == 0.5
    assert measured.bound(dear) == "FMA"
    assert measured.at_peak(row("softmax"), "MetaOps") is None


def test_steps_are_compared_by_model():
    ours, theirs = {"first": 1.0, "step": 2.0}, {"first": 0.5, "step": 1.0}
    one = {"MetaOps": ours, "PyTorch": theirs}
    two = {"MetaOps": theirs, "PyTorch": {"first": 1.0, "step": 8.0}}
    table = steps.summary_table({"mlp": {1: one, 2: one}, "digits": {1: two}}, ["PyTorch"])
    assert [tuple(line) for line in table.rows] == [
        ("mlp", 1, 0.5),
        ("mlp", 2, 0.5),
        ("digits", 1, 8.0),
        ("**mean of 2 models**", 1, pytest.approx(2.0)),
        ("**mean of 1 model**", 2, 0.5),
    ]
    first, second = steps.steps_table("mlp", {1: one}).rows
    assert list(first) == [1, "MetaOps", 2e3, 1.0, 1.0, ""]
    assert list(second) == [1, "PyTorch", 1e3, 0.5, 0.5, ""]


def test_a_peer_that_fails_has_a_row_with_its_exception():
    times = {1: {"MetaOps": {"first": 1.0, "step": 2.0}, "PyTorch": {"failed": "OSError: no"}}}
    assert list(steps.steps_table("mlp", times).rows[1]) == [
        1,
        "PyTorch",
        None,
        None,
        None,
        "OSError: no",
    ]
    assert tuple(steps.summary_table({"mlp": times}, ["PyTorch"]).rows[0]) == ("mlp", 1, None)


def test_models_are_compared_over_steps():
    """Results of first calls more closely than losses after steps."""
    peer = [np.asarray(loss) for loss in (6.9, 6.5, 6.1)]
    published.compare([loss * (1 + 5e-4) for loss in peer], peer)
    for number, factor in ((0, 1.005), (1, 1.05), (2, 0.95)):
        own = [loss * (factor if k == number else 1) for k, loss in enumerate(peer)]
        with pytest.raises(AssertionError):
            published.compare(own, peer)
    scores = [np.array([1.0, -4.0])] * 3
    with pytest.raises(AssertionError):
        published.compare([*scores[:2], scores[2] + 0.02], scores)
    with pytest.raises(AssertionError):
        published.compare(peer[:1], peer[:1])


def test_models_have_a_row_of_speeds_and_one_of_first_calls():
    own = {"cold": 4.0, "warm": 0.25, "later": 0.5, "peak": 2.0**21}
    eager = {"cold": 1.0, "warm": 1.0, "later": 1.0, "peak": 2.0**22}
    one = {"MetaOps": own, "PyTorch": eager, "torch.compile": {"failed": "OSError: no"}}
    two = {**one, "torch.compile": {**eager, "later": 0.125}}
    measured = {"gpt2": {1: one}, "bert_base": {1: two}}
    peers = ["PyTorch", "torch.compile"]
    table = published.task_table("inference 1", measured, peers)
    assert [list(row) for row in table.rows] == [
        ["gpt2", 1, 5e2, 1e3, 2.0, "OSError: no", None, "256.0 tokens"],
        ["bert_base", 1, 5e2, 1e3, 2.0, 125.0, 0.25, "256.0 tokens"],
        ["**mean of 2 models**", 1, None, None, pytest.approx(2.0), None, 0.25, None],
    ]
    table = published.start_table("inference 1", measured, peers)
    assert list(table.rows[0]) == ["gpt2", 1, 4.0, 0.25, 2.0, 1.0, 1.0, 4.0, None, None, None]


def test_every_model_has_its_tasks():
    tasks = {
        name: [task for task in published.TASKS if published.has_task(name, task)]
        for name in published.NAMES
    }
    assert tasks["dcgan"] == tasks["wgan_gp"] == ["training 64"]
    assert tasks["gpt2"] == tasks["resnet50"] == ["inference 1", "inference 8", "training 8"]
    for name, own in tasks.items():
        first, again = (published.make_batch(name, own[0]) for _ in range(2))
        np.testing.assert_array_equal(first.x, again.x)
        assert len(first.x) == len(first.y) == len(first.share) == published.TASKS[own[0]]


def test_few_elements_of_a_large_result_are_compared():
    assert published.some_of(np.float32(2.5)) == 2.5
    assert published.some_of(np.arange(4).reshape(2, 2)) == [0, 1, 2, 3]
    found = published.some_of(np.arange(100_000))
    assert found == list(range(0, 100_000, 7))
