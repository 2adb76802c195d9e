# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled code that outlives the process.

Each run is a process of its own, on a folder of the test's. Whatever is done to
the folder, a run gives the bits that a run without a folder gives.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import metaops as mo
import pytest
from metaops import __main__ as command_line
from metaops import cache

pytestmark = pytest.mark.usefixtures("compiled")

# A training step and something with views, twice, so that programs, kernels that
# several programs share, donation and kernels of several sizes take part.
WORK = """
import hashlib, json, sys
import numpy as np
import metaops as mo
from metaops import nn

rng = np.random.default_rng(0)
model = mo.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(144, 5))
for parameter in model.parameters():
    parameter.assign(mo.array(rng.normal(size=parameter.shape).astype("float32") * 0.1))
optimizer = mo.optim.Adam(model.parameters(), lr=1e-2)
losses = []
for size in (4, 4, 6):
    x = mo.array(rng.normal(size=(size, 1, 6, 6)).astype("float32"))
    y = mo.array(rng.integers(5, size=size).astype("int32"))
    loss = nn.cross_entropy_loss(model(x), y)
    optimizer.step(loss)
    losses.append(loss.numpy())
values = [*losses, *(p.numpy() for p in model.parameters())]
z = mo.array(np.arange(30, dtype="float32").reshape(5, 6))
values.append((z[1:4].transpose(1, 0).exp() + z[0, 0]).sum(dims=(0,)).numpy())
bits = hashlib.sha256(b"".join(np.ascontiguousarray(v).tobytes() for v in values)).hexdigest()
print(json.dumps({"bits": bits, **mo.stats()}))
"""


def start(folder, code=WORK, command=(), **options):
    environment = {**os.environ, "METAOPS_CACHE_DIR": str(folder)}
    return subprocess.Popen(
        [*command, sys.executable, "-c", code],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def finish(process):
    output, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    return json.loads(output)


def run(folder, **options):
    return finish(start(folder, **options))


def entries(folder):
    return sorted(Path(folder).glob("*-*"))


def copy_entries(files, folder):
    folder.mkdir(mode=0o700)
    for file in files:
        target = folder / file.name
        target.write_bytes(file.read_bytes())
        target.chmod(0o600)
    return folder


@pytest.fixture(scope="module")
def expected():
    """The bits without any folder."""
    return run("")["bits"]


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A folder that a process has filled."""
    folder = tmp_path_factory.mktemp("filled") / "cache"
    run(folder)
    return folder


@pytest.fixture
def folder(filled, tmp_path):
    """A copy of that folder."""
    return copy_entries(entries(filled), tmp_path / "cache")


def test_the_second_process_compiles_nothing(tmp_path, expected):
    first = run(tmp_path / "cache")
    second = run(tmp_path / "cache")
    assert first["bits"] == second["bits"] == expected
    assert first["programs_compiled"] > 3
    assert first["kernels_compiled"] > 3
    assert first["programs_loaded"] == first["kernels_loaded"] == 0
    assert second["programs_compiled"] == second["kernels_compiled"] == 0
    assert second["programs_loaded"] == first["programs_compiled"]
    assert 0 < second["kernels_loaded"] <= first["kernels_compiled"]


def test_processes_share_a_folder(tmp_path, expected):
    processes = [start(tmp_path / "cache") for _ in range(4)]
    assert {finish(process)["bits"] for process in processes} == {expected}
    after = run(tmp_path / "cache")
    assert after["bits"] == expected
    assert after["programs_compiled"] == after["kernels_compiled"] == 0
    assert cache.info(tmp_path / "cache").temporaries == 0


def test_killed_processes_do_no_harm(tmp_path, expected):
    # From the first entry on, a process is killed when some more are there.
    rng = random.Random(0)
    for _ in range(10):
        process = start(tmp_path / "cache")
        wanted = len(entries(tmp_path / "cache")) + rng.randrange(1, 6)
        while process.poll() is None and len(entries(tmp_path / "cache")) < wanted:
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    result = run(tmp_path / "cache")
    assert result["bits"] == expected
    assert run(tmp_path / "cache")["programs_compiled"] == 0


def damage(kind, content, other, rng):
    """Return what becomes of a file."""
    at = rng.randrange(len(content))
    if kind == "flip":
        return content[:at] + bytes([content[at] ^ 1 << rng.randrange(8)]) + content[at + 1 :]
    if kind == "truncate":
        return content[:at]
    return {"empty": b"", "append": content + b"\0", "swap": other, "text": b"not one of these\n"}[
        kind
    ]


@pytest.mark.parametrize("seed", [0, 1])
def test_damaged_files_are_replaced(folder, expected, seed):
    rng = random.Random(seed)
    files = entries(folder)
    contents = [file.read_bytes() for file in files]
    for index, (file, content) in enumerate(zip(files, contents, strict=True)):
        kind = rng.choice(["flip", "flip", "truncate", "empty", "append", "swap", "text"])
        file.write_bytes(damage(kind, content, contents[index - 1], rng))
    damaged = run(folder)
    assert damaged["bits"] == expected
    assert damaged["programs_loaded"] == damaged["kernels_loaded"] == 0
    mended = run(folder)
    assert mended["bits"] == expected
    assert mended["programs_compiled"] == mended["kernels_compiled"] == 0


def test_any_file_may_be_missing(folder, expected):
    files = entries(folder)
    random.Random(0).shuffle(files)
    for file in files[::2]:
        file.unlink()
    assert run(folder)["bits"] == expected
    assert run(folder)["programs_compiled"] == 0


def test_files_of_others_stay(folder, expected):
    other = folder / "kernel-of-truth.txt"
    other.write_text("mine")
    (folder / "folder").mkdir()
    assert run(folder)["bits"] == expected
    cache.clear(folder)
    assert other.read_text() == "mine"


def test_a_folder_that_others_may_write_to_is_not_used(folder, expected):
    folder.chmod(0o777)
    before = entries(folder)
    result = run(folder)
    assert result["bits"] == expected
    assert result["programs_loaded"] == result["kernels_loaded"] == 0
    assert entries(folder) == before


@pytest.mark.parametrize("code", ["file", "missing/\0", "x" * 300])
def test_a_folder_that_cannot_be_is_none(tmp_path, expected, code):
    path = tmp_path / "file"
    path.write_text("in the way")
    if code == "file":
        result = run(path)
    elif "\0" in code:
        refused = f"""
import metaops as mo
try:
    mo.flags.cache_dir = {code!r}
except ValueError:
    pass
else:
    raise AssertionError("no folder has such a name")
"""
        result = run("", code=refused + WORK)
    else:
        result = run(tmp_path / code)
    assert result["bits"] == expected


@pytest.fixture
def disk(tmp_path):
    """Mount a small file system; where that is not allowed the test is skipped."""
    mount = tmp_path / "disk"
    mount.mkdir()
    arguments = ["mount", "-t", "tmpfs", "-o", "size=1m,mode=0700", "none", mount]
    try:
        subprocess.run(arguments, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("may not mount a file system")
    yield mount
    subprocess.run(["umount", mount], check=True)


def check_read_only(folder, expected, **how):
    before = entries(folder)
    result = run(folder, **how)
    assert result["bits"] == expected
    assert result["programs_loaded"] + result["kernels_loaded"] > 0
    assert result["kernels_compiled"] > 0
    assert entries(folder) == before


def test_a_read_only_folder_is_read(folder, expected):
    command = []
    if os.geteuid() == 0:
        # Root may write to every folder, but for that.
        command = ["setpriv", "--bounding-set", "-dac_override", "--"]
    for file in entries(folder)[::3]:
        file.unlink()
    folder.chmod(0o500)
    check_read_only(folder, expected, command=command)
    folder.chmod(0o700)


def test_a_read_only_file_system_is_read(folder, disk, expected):
    copy = copy_entries(entries(folder)[::3], disk / "cache")
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    check_read_only(copy, expected)


def test_a_full_disk_is_no_error(tmp_path, expected):
    # A limit on the size of files fails as a full disk does; Python ignores its signal.
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (2500, 2500))\n"
    result = run(tmp_path / "cache", code=limit + WORK)
    assert result["bits"] == expected
    assert cache.info(tmp_path / "cache").temporaries == 0
    assert run(tmp_path / "cache")["bits"] == expected


def test_a_full_file_system_is_no_error(disk, expected):
    (disk / "others").write_bytes(bytes(2**20 - 2**14))
    for _ in range(2):
        assert run(disk / "cache")["bits"] == expected
    assert 0 < cache.info(disk / "cache").bytes < 16384


def test_the_folder_may_change_and_end(tmp_path):
    x = mo.array([1.0, 2.0, 4.0])
    before = mo.flags.cache_dir
    try:
        mo.flags.cache_dir = str(tmp_path / "one")
        assert (x * 3 - 0.5).exp().sum().item() > 0
        assert cache.info(tmp_path / "one").programs == 1
        mo.flags.cache_dir = ""
        assert (x * 3 - 0.25).log().sum().item() > 0
        assert cache.info(tmp_path / "one").programs == 1
    finally:
        mo.flags.cache_dir = before


def test_slices_are_written_alike_in_all_processes(filled):
    # One process, one entry per program: equal slices have equal keys.
    programs = cache.info(filled).programs
    run(filled)
    assert cache.info(filled).programs == programs


# The folder and the command line


def test_default_directory(tmp_path):
    def directory(**environment):
        return cache.default_directory(environment)

    home = os.path.expanduser("~")
    assert directory() == os.path.join(home, ".cache", "metaops")
    assert directory(XDG_CACHE_HOME="/somewhere") == "/somewhere/metaops"
    assert directory(XDG_CACHE_HOME="relative") == os.path.join(home, ".cache", "metaops")
    assert directory(XDG_CACHE_HOME="/somewhere", METAOPS_CACHE_DIR="/here") == "/here"
    assert directory(METAOPS_CACHE_DIR="here") == os.path.abspath("here")
    assert directory(METAOPS_CACHE_DIR="~/here") == os.path.join(home, "here")
    assert directory(XDG_CACHE_HOME="/somewhere", METAOPS_CACHE_DIR="") == ""


def test_importing_makes_no_session(tmp_path):
    # A process may fork as long as nothing was computed.
    code = """
import os, sys
import metaops as mo
if (child := os.fork()) == 0:
    os._exit(0 if mo.array([1.0, 2.0]).sum().item() == 3 else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    process = start(tmp_path / "cache", code=code)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    assert cache.info(tmp_path / "cache").programs == 1


def command(capsys, *arguments):
    code = command_line.main(["cache", *arguments])
    captured = capsys.readouterr()
    return code, captured.out.strip(), captured.err.strip()


def test_the_command_line(folder, capsys):
    usage = cache.info(folder)
    assert usage.programs > 3 and usage.kernels > 3
    assert usage.bytes == sum(file.stat().st_size for file in entries(folder))
    text = f"{usage.programs:,} programs, {usage.kernels:,} kernels, {usage.bytes:,} bytes"
    assert command(capsys, "info", "--dir", str(folder)) == (0, f"{folder}: {text}", "")

    code, output, _ = command(
        capsys, "prune", "--dir", str(folder), "--max-bytes", str(usage.bytes // 2)
    )
    left = cache.info(folder)
    assert code == 0
    assert usage.bytes // 4 < left.bytes <= usage.bytes // 2
    assert f"{usage.bytes - left.bytes:,} bytes" in output

    assert command(capsys, "clear", "--dir", str(folder))[0] == 0
    assert entries(folder) == []
    text = "0 programs, 0 kernels, 0 bytes"
    assert command(capsys, "info", "--dir", str(folder / "no")) == (0, f"{folder}/no: {text}", "")


def test_the_command_line_tells_what_is_wrong(folder, capsys, monkeypatch):
    folder.chmod(0o770)
    message = f"error: other users may write to the folder {folder}; expected write permission"
    for action in ("info", "clear", "prune"):
        code, _, errors = command(capsys, action, "--dir", str(folder))
        assert code == 1
        assert errors.startswith(message)
    monkeypatch.setenv("METAOPS_CACHE_DIR", "")
    assert command(capsys, "info")[:2] == (0, "off: METAOPS_CACHE_DIR is empty")
    with pytest.raises(ValueError, match="METAOPS_CACHE_DIR is empty"):
        cache.info()
    for size in ("-1", "many", "1T"):
        with pytest.raises(SystemExit):
            command(capsys, "prune", "--max-bytes", size)


@pytest.mark.parametrize(
    ("text", "count"),
    [("0", 0), ("1000", 1000), ("2k", 2048), ("500M", 500 << 20), ("3G", 3 << 30)],
)
def test_sizes(text, count):
    assert command_line.parse_bytes(text) == count


def test_python_runs_the_command_line(folder):
    environment = {**os.environ, "METAOPS_CACHE_DIR": str(folder)}
    result = subprocess.run(
        [sys.executable, "-m", "metaops", "cache", "info"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.startswith(f"{folder}: ")
