# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The examples of the documents are valid, do what the text says, and print what it shows."""

import ctypes.util
import pathlib
import re
import shutil
import subprocess
import sys

import metaops as mo
import numpy as np
import pytest

ROOT = pathlib.Path(__file__).parents[2]
TOOLS = ROOT / "build" / "release" / "bin"

needs_tools = pytest.mark.skipif(not TOOLS.exists(), reason="the tools are not built")


def examples(path, language):
    text = (ROOT / path).read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def run(*command, text=None, folder=None):
    result = subprocess.run(command, input=text, capture_output=True, text=True, cwd=folder)
    assert result.returncode == 0, result.stderr
    return result.stdout


# MLIR

FUNCTIONS = [text for text in examples("docs/Spec.md", "mlir") if text.startswith("func.func")]


@needs_tools
@pytest.mark.parametrize("text", FUNCTIONS, ids=[re.findall(r"@(\w+)", t)[0] for t in FUNCTIONS])
def test_spec(text):
    assert "metaop." in run(TOOLS / "metaop-opt", text=text)
    # What has leaves of a session is no program.
    if "metaop.buffer" not in text:
        assert "results agree" in run(TOOLS / "metaop-run", "-", "--compare", text=text)


@needs_tools
def test_functions_of_the_generated_pages():
    """Whole functions are read; fragments and those with omissions are for people."""
    whole = [
        text
        for page in ("docs/Passes.md", "docs/Dialect.md")
        for text in examples(page, "mlir")
        if text.startswith("func.func")
        and "..." not in text
        and "@kernel_" not in text
        # Some show how a function begins.
        and text.count("{") == text.count("}") > 0
    ]
    assert len(whole) >= 5
    for text in whole:
        assert "metaop." in run(TOOLS / "metaop-opt", text=text)


def passes_of(target):
    """The passes of the pipeline to a target, in order."""
    command = [TOOLS / "metaop-opt", f"--metaop-pipeline=target={target}", "--dump-pass-pipeline"]
    done = subprocess.run(
        [*command, ROOT / "test/Kernels/chain-of-4.mlir"],
        capture_output=True,
        text=True,
        check=True,
    )
    printed = re.findall(r"\b((?:metaop|convert-(?:metaop|kernels))-[\w-]+)", done.stderr)
    return [name for name in printed if name != "metaop-verify-phase"]


@needs_tools
def test_the_order_of_passes():
    page = (ROOT / "docs/Passes.md").read_text().split("\n## ")[0]
    cpu, cuda = page.split("behind them:")[1].split("With `target=cuda`")
    names = re.findall(r"`([\w-]+)`", cpu)
    assert names == passes_of("cpu")
    fusion = names[: names.index("metaop-recompute-far-values") + 1]
    assert fusion + re.findall(r"`((?:metaop|convert)-[\w-]+)`", cuda) == passes_of("cuda")


def words(line):
    """Return a line without what names and numbers of values, and indentation, are."""
    return re.sub(r"%\w+(:\d+)?", "%", " ".join(line.split()))


def assert_excerpt(shown, printed):
    """Fail unless all lines that are shown are printed in this order."""
    printed = words(printed)
    place = 0
    for part in re.split(r"\n\s*\.\.\.\n", shown):
        for line in words(part).split(" % = "):
            found = printed.find(line.removesuffix(" }"), place)
            assert found >= 0, f"not printed, or not here: {line}"
            place = found + len(line) - 2


@needs_tools
@pytest.mark.parametrize("phase", ["graph", "fused", "scheduled", "kernels", "loops"])
def test_excerpts_of_the_phases(phase):
    """Each line that docs/Architecture.md shows of a phase is printed, in this order."""
    text = (ROOT / "docs/Architecture.md").read_text()
    excerpt = re.search(
        rf"^\*\*{phase}\*\*:.*?^```mlir\n(.*?)^```$", text, re.DOTALL | re.MULTILINE
    )
    printed = run(
        TOOLS / "metaop-opt", ROOT / "examples/matmul.mlir", f"--metaop-pipeline=to={phase}"
    )
    # Maps are printed by their names; lines are broken for the page.
    for name, value in re.findall(r"^(#\w+) = (.*)$", printed, re.MULTILINE):
        printed = re.sub(rf"{name}\b", value, printed)
    assert_excerpt(excerpt[1], printed)


SCHEDULED = examples("docs/Schedule.md", "mlir")


@needs_tools
@pytest.mark.parametrize("text", SCHEDULED, ids=[re.findall(r"\w+", t)[0] for t in SCHEDULED])
def test_schedules(text):
    """The loops that docs/Schedule.md shows are those of the stage that it names."""
    title, shown = text.split("\n\n", 1)
    name, *schedules = re.findall(r"^// (\w+)|^(#metaop.schedule<[^>]*>)$", title, re.M)
    path = ROOT / "test/Integration/schedules.mlir"
    (stages,) = re.findall(rf"^func.func @{name[0]}\(.*?^}}$", path.read_text(), re.S | re.M)
    given = re.findall(r"#metaop.schedule<[^>]*>", re.sub(r"\s+", " ", stages))
    assert given == [re.sub(r"\s+", " ", schedule) for _, schedule in schedules]
    passes = ["--convert-metaop-to-vector", "--canonicalize", "--cse"]
    printed = run(TOOLS / "metaop-opt", "-", *passes, text=stages)
    # Constants are shown as numbers.
    assert_excerpt(shown, re.sub(r"%c(\d+)\b", r"\1", printed))


@needs_tools
def test_commands_of_the_readme(tmp_path):
    """Those on .mlir files, in a folder that looks like the checkout."""
    blocks = [text for text in examples("README.md", "sh") if "examples/matmul.mlir" in text]
    assert len(blocks) == 3
    for name in ("examples", "build"):
        (tmp_path / name).symlink_to(ROOT / name)
    printed = run("bash", "-eu", "-c", "".join(blocks), folder=tmp_path)
    assert "results agree" in printed
    assert printed.count("metaop.fused") >= 3
    assert printed.count("nvvm.reqntid") >= 1
    assert printed.count(".entry") >= 1
    assert np.load(tmp_path / "y.npy").shape == (4, 16)


def test_the_program_of_embedding():
    """It is examples/embedding.cpp, which the unit tests build and run."""
    (shown,) = examples("docs/Embedding.md", "c\\+\\+")
    source = (ROOT / "examples/embedding.cpp").read_text()
    assert source.endswith(shown)
    assert "examples/embedding.cpp" in (ROOT / "unittests/Examples/CMakeLists.txt").read_text()


# Python


def test_the_first_example_of_the_readme(tmp_path):
    """Run the convolution and compare its report with the one shown, but for times."""
    convolution = examples("README.md", "python")[0]
    readme = (ROOT / "README.md").read_text()
    (shown,) = re.findall(r"^```\n(11 meta-operators.*?)^```$", readme, re.DOTALL | re.MULTILINE)
    (tmp_path / "conv.py").write_text(convolution)

    def table(text):
        text = re.sub(r"in [\d.]+ s\b", "in ? s", text)
        text = re.sub(r"\S*conv\.py", "conv.py", text)
        return [line.split() for line in text.splitlines()]

    printed = run(sys.executable, "conv.py", folder=tmp_path)
    assert table(printed) == table(shown)


def test_the_third_example_of_the_readme():
    """Losses fall from call to call of a step that is recorded once."""
    recorded = examples("README.md", "python")[2]
    shown = "\nprint(float(step(mo.ones((32, 16)), mo.zeros((32, 4)))), float(loss))"
    after, before = map(float, run(sys.executable, "-", text=recorded + shown).split())
    assert after < before


def test_the_fourth_example_of_the_readme():
    exporting = examples("README.md", "python")[3]
    shown = "\nprint(np.abs(y - model(mo.ones((8, 16))).numpy()).max(), y.shape)"
    assert run(sys.executable, "-", text=exporting + shown).split() == ["0.0", "(8,", "4)"]


def test_the_fifth_example_of_the_readme():
    """Sums of probabilities, computed on the emulator."""
    emulating = examples("README.md", "python")[4]
    printed = run(sys.executable, "-", text=emulating).strip(" []\n").split()
    assert len(printed) == 4
    np.testing.assert_allclose(np.array(printed, "float32"), 1, rtol=1e-6)


def test_the_second_example_of_the_readme(capfd):
    """Train as the README does, and by NumPy from the same parameters."""
    training = examples("README.md", "python")[1]
    printed = [float(line) for line in run(sys.executable, "-", text=training).splitlines()]

    mo.seed(0)
    linear = mo.nn.Linear(16, 4)
    tensors = [linear.weight.numpy().astype("float64"), linear.bias.numpy().astype("float64")]
    means, squares = [[np.zeros_like(t) for t in tensors] for _ in range(2)]
    rng = np.random.default_rng(0)
    expected = []
    for step, length in enumerate((32, 20, 32, 27), 1):
        x = rng.random((length, 16), dtype="float32")
        y = rng.integers(0, 4, length)
        scores = x @ tensors[0].T + tensors[1]
        p = np.exp(scores - scores.max(1, keepdims=True))
        p /= p.sum(1, keepdims=True)
        expected.append(-np.log(p[np.arange(length), y]).mean())
        p[np.arange(length), y] -= 1
        for t, m, s, g in zip(tensors, means, squares, [p.T @ x / length, p.mean(0)], strict=True):
            m += 0.1 * (g - m)
            s += 0.001 * (g * g - s)
            t -= 0.01 * (m / (1 - 0.9**step)) / (np.sqrt(s / (1 - 0.999**step)) + 1e-8)
    np.testing.assert_allclose(printed, expected, rtol=1e-5)


def execute(page, number, **names):
    """Run one example with these names defined; return all names that it leaves."""
    scope = {"mo": mo, "np": np, "nn": mo.nn, **names}
    exec(compile(examples(page, "python")[number], f"{page}, example {number}", "exec"), scope)
    return scope


def trained(rng):
    """Return what the examples take for granted: a model, its optimiser, a batch."""
    model = mo.nn.Linear(6, 3)
    x, labels = mo.array(rng.random((8, 6), "float32")), mo.array(rng.integers(0, 3, 8))
    return {
        "model": model,
        "optimizer": mo.optim.Adam(model.parameters()),
        "x": x,
        "labels": labels,
    }


def test_exchanging_data(rng):
    frames = [rng.integers(0, 256, (480, 640, 3)).astype("uint8") for _ in range(3)]
    shown = []
    model = lambda x: mo.array(x, "int64").sum()  # noqa: E731
    execute("docs/ExchangingData.md", 0, camera=frames, model=model, show=shown.append)
    assert [int(total) for total in shown] == [int(frame.sum(dtype="int64")) for frame in frames]


def test_explain(rng, compiled, capsys, tmp_path, monkeypatch):
    execute("docs/Explain.md", 0)
    text = capsys.readouterr().out
    for word in ("S = 64x128", "unit stride", "reduced by add", "vectors of", "predicted"):
        assert word in text
    monkeypatch.chdir(tmp_path)
    y = mo.exp(mo.array(rng.random((64, 128), "float32"))).sum(dim=1)
    try:
        execute("docs/Explain.md", 1, y=y)
        text = capsys.readouterr().out
        for word in ("block", "thread", "registers", "predicted"):
            assert word in text
        execute("docs/Explain.md", 2, y=y)
        identity = r"[0-9a-f]{16}\.\d+ = #metaop\.schedule<\[parallel\(0\), step\(1, "
        assert re.search(identity, (tmp_path / "schedules.txt").read_text())
        assert all(s.override_line for k in mo.explain(y).kernels for s in k.stages)
    finally:
        mo.flags.schedule_file = ""


def test_history(rng, compiled):
    setting = trained(rng)
    model, seen = setting["model"], []
    batches = [(setting["x"] + k, setting["labels"]) for k in range(5)]

    def model_loss(x, y):
        return mo.nn.cross_entropy_loss(model(x), y)

    before = model.weight.numpy()
    execute(
        "docs/History.md", 0, batches=batches, log=seen.append, model_loss=model_loss, **setting
    )
    assert len(seen) == 5
    assert np.abs(model.weight.numpy() - before).max() > 1e-4


def test_memory(rng, compiled, capsys):
    setting = trained(rng)
    # The first iteration initialises parameters, and is another program.
    setting["optimizer"].step(
        mo.nn.cross_entropy_loss(setting["model"](setting["x"]), setting["labels"])
    )
    mo.sync_all()
    scope = execute("docs/Memory.md", 0, **setting)
    estimate = int(capsys.readouterr().out)
    mo.reset_peak()
    mo.sync([scope["loss"], *setting["model"].parameters()])
    mo.sync_all()
    assert 0.9 * estimate <= mo.stats()["peak_bytes"] <= estimate


def test_names():
    scope = execute("docs/Names.md", 0)
    shapes = [scope[name].shape for name in "xyzw"]
    assert shapes == [(2, 3), (2, 1), (4, 3), (2, 3)] and scope["w"].dtype is mo.float64
    # The comments have other ways to say it.
    others = [line.split("# or ") for line in examples("docs/Names.md", "python")[0].splitlines()]
    for statement, calls in (line for line in others if len(line) == 2):
        expected = scope[statement.split()[0]]
        for made in eval(f"({calls},)", scope):
            assert made.shape == expected.shape and made.dtype is expected.dtype
    execute("docs/Names.md", 1)


def test_profiling(rng, compiled, capsys):
    calls = []

    def train(x, y):
        calls.append((mo.array(x) * y).sum().sync())

    mo.sync_all()
    execute(
        "docs/Profiling.md", 0, batches=[(np.ones(5, "float32"), k) for k in range(3)], train=train
    )
    assert [float(total) for total in calls] == [0, 5, 10]
    assert re.search(r"^\d+ kernel calls? in 3 runs of", capsys.readouterr().out)


def test_tuning(compiled, capsys, tmp_path):
    with mo.flag_scope(cache_dir=str(tmp_path), schedule_file=""):
        execute("docs/Tuning.md", 0)
        assert "before us" in capsys.readouterr().out
        execute("docs/Tuning.md", 1)
        assert mo.flags.schedule_file == mo.tuned_schedules()


def test_data(tmp_path):
    """Two epochs by workers; a state is saved and loaded."""
    scope = execute("docs/Data.md", 0)
    assert scope["optimizer"].steps == 10
    exec(compile(examples("docs/Data.md", "python")[1], "docs/Data.md", "exec"), scope)
    scope["save"](tmp_path / "state")
    scope["loader"].load_state_dict({"seed": 1, "epoch": 0, "batches": 2})
    scope["resume"](tmp_path / "state")
    assert scope["loader"].state_dict()["epoch"] == 2
    scope["loader"].close()


def test_devices():
    with mo.device("cpu:0"):
        execute("docs/Devices.md", 0)
    other = mo.device("cpu:1")
    assert (other.num_threads, other.memory_limit) == (1, 1 << 30)
    other.num_threads, other.memory_limit = mo.get_num_threads(), 0


def test_program_files():
    for number in range(4):
        execute("docs/ProgramFile.md", number)


def test_mixed_precision():
    variables = execute("docs/MixedPrecision.md", 0)
    execute("docs/MixedPrecision.md", 1, **variables)


def test_array_api():
    variables = execute("docs/ArrayApi.md", 0)
    assert variables["standardised"](mo.rand(5, 3)).shape == (5, 3)
    execute("docs/ArrayApi.md", 1)


def test_gpus(capsys):
    execute("docs/Emulator.md", 0)
    (line,) = capsys.readouterr().out.splitlines()
    assert int(line.split()[1]) > 0 and line.endswith(" 0")
    if not ctypes.util.find_library("cuda"):
        with pytest.raises(RuntimeError, match=r"libcuda\.so\.1"):
            execute("docs/Gpu.md", 0)


@pytest.mark.parametrize(
    ("page", "number"),
    [
        ("docs/Fft.md", 0),
        ("docs/Fft.md", 1),
        ("docs/Libraries.md", 0),
        ("docs/LinearAlgebra.md", 0),
        ("docs/Routines.md", 0),
    ],
)
def test_routines_and_what_is_made_of_them(page, number, capsys):
    execute(page, number)
    assert f"```\n{capsys.readouterr().out}```" in (ROOT / page).read_text()


def test_every_example_in_python_is_run():
    """A new one needs its test above, which this reminds of."""
    pages = ["README.md", *sorted(f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md"))]
    counts = {page: len(examples(page, "python")) for page in pages}
    # Spec.md defines the operations by Python that the interpreter is written after.
    assert {page: count for page, count in counts.items() if count} == {
        "README.md": 5,
        "docs/ArrayApi.md": 2,
        "docs/Checkpoint.md": 3,
        "docs/Complex.md": 4,
        "docs/Data.md": 2,
        "docs/Devices.md": 1,
        "docs/Emulator.md": 1,
        "docs/ExchangingData.md": 1,
        "docs/Explain.md": 3,
        "docs/Fft.md": 2,
        # By test_guides.py.
        "docs/FromJax.md": 7,
        "docs/FromPyTorch.md": 7,
        "docs/Functions.md": 4,
        "docs/Gpu.md": 1,
        "docs/History.md": 1,
        "docs/Libraries.md": 1,
        "docs/LinearAlgebra.md": 1,
        "docs/Memory.md": 1,
        "docs/MixedPrecision.md": 2,
        "docs/Models.md": 3,
        "docs/Names.md": 2,
        "docs/ControlFlow.md": 2,
        "docs/Jit.md": 4,
        "docs/OwnKernels.md": 5,
        "docs/Profiling.md": 1,
        "docs/ProgramFile.md": 4,
        "docs/Routines.md": 1,
        "docs/Spec.md": 22,
        "docs/Transforms.md": 4,
        "docs/Tuning.md": 2,
        "docs/Tutorial.md": 20,
        "docs/Vmap.md": 9,
    }


# The operation that docs/AddingAnOp.md adds


@pytest.mark.skipif(
    shutil.which("git") is None or not (ROOT / ".git").exists(), reason="needs a checkout"
)
def test_the_new_operation_still_fits():
    """Every diff applies to the sources as they are."""
    diffs = examples("docs/AddingAnOp.md", "diff")
    # That of the table in Spec.md has no line numbers: its rows change often.
    (rows,) = [diff for diff in diffs if "@@ @@" in diff]
    around = [line[1:] for line in rows.split("@@ @@\n")[1].splitlines() if line[0] != "+"]
    assert "\n".join(around) in (ROOT / "docs/Spec.md").read_text()
    changes = [diff for diff in diffs if diff != rows]
    run("git", "apply", "--check", "-", text="".join(changes), folder=ROOT)


# Names

PAGES = [path for path in ["README.md", "CONTRIBUTING.md"] if (ROOT / path).exists()]
PAGES += sorted(f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md"))


@pytest.mark.parametrize("page", PAGES)
def test_names_in_the_documents_exist(page):
    """`mo.names`, source files, and metaop-... passes that a page speaks of are there."""
    text = (ROOT / page).read_text()
    for name in sorted(set(re.findall(r"`mo\.([\w.]*\w)", text))):
        value = mo
        for part in name.split("."):
            value = getattr(value, part)
    sources = {
        path.name
        for folder in (
            "lib",
            "include",
            "python",
            "tools",
            "bench",
            "test",
            "unittests",
            "examples",
        )
        for path in (ROOT / folder).rglob("*.*")
    }
    named = set(re.findall(r"`(?:[\w./{},]*/)?(\w+\.(?:cpp|h|py|td|mlir))`", text))
    assert named <= sources, named - sources
    passes = set(re.findall(r"\b(?:metaop|convert-metaop)-[a-z-]*[a-z]\b", text))
    known = "".join(path.read_text() for path in (ROOT / "include").rglob("Passes.td"))
    known += (ROOT / "lib/Pipelines/Registration.cpp").read_text()
    tools = {"metaop-compile", "metaop-fuzz", "metaop-opt", "metaop-run", "metaop-translate"}
    assert not {name for name in passes - tools if f'"{name}' not in known}


def test_every_flag_and_variable_is_listed():
    text = (ROOT / "docs/Environment.md").read_text()
    listed = set(re.findall(r"^\| `(\w+)` \| ", text, re.MULTILINE))
    assert set(mo._core.flag_names()) <= listed
    code = "".join(path.read_text() for path in (ROOT / "python/metaops").rglob("*.py"))
    assert set(re.findall(r"\bMETAOPS_[A-Z_]+\b", code)) <= listed
