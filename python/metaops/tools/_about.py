# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The machine and its settings, for reports of bugs: ``python -m metaops info``."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
from importlib import metadata

from .. import __version__, _core, cache
from .._devices import devices, why_no_gpu
from . import toolkits

__all__ = ["describe_machine"]

#: Libraries that compute, whose tensors come and go, or that bring tools for GPUs.
_LIBRARIES = ("onednn-cpu-gomp", "ml_dtypes", "torch", "jax", "tensorflow", "cupy")
#: The package's folder.
_FOLDER = os.path.dirname(_core.__file__)
#: Variables that the package reads, see docs/Environment.md.
_VARIABLES = ("OMP_NUM_THREADS", "CUDA_HOME", "CUDA_PATH", "XDG_CACHE_HOME")


def _build() -> tuple[str, str, str]:
    """Return LLVM's version, the build, and the processors that code is compiled for.

    An exported program names them, so that the compiler has worked if they are there.
    """
    from ..exporting import export
    from ..loading import load_program
    from ..ops.create.creation import zeros

    try:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "program")
            export(lambda x: x + 1, [zeros(4)], path)
            with load_program(path) as program:
                _, version, *identities = program.producer.split()
                return version, " ".join(each[:12] for each in identities), program.target
    except Exception as error:  # what a report is about may be this
        return "unknown", f"compiling a program failed: {error}", "unknown"


def _processor() -> str:
    """Return the processor's name, or its architecture where nobody knows more."""
    try:
        with open("/proc/cpuinfo") as file:
            names = [line.partition(":")[2].strip() for line in file if "model name" in line]
    except OSError:
        names = []
    return names[0] if names else platform.processor() or platform.machine()


def _versions(names: tuple[str, ...]) -> str:
    found = []
    for name in names:
        try:
            found.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            continue
    return ", ".join(found) or "none"


def _own_defaults() -> dict[str, object]:
    """Return what flags are where no variable of the environment says otherwise."""
    code = (
        "import json; from metaops import _core;"
        " print(json.dumps({name: _core.get_flag(name) for name in _core.flag_names()}))"
    )
    # The folder that has this package comes first, as it did here.
    paths = [os.path.dirname(_FOLDER), *sys.path]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in paths if path)}
    process = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    defaults: dict[str, object] = json.loads(process.stdout)
    return defaults


def _flags() -> str:
    """Return the flags that differ from the defaults; the cache has a line of its own."""
    try:
        defaults = _own_defaults()
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        return f"unknown: {error}"
    values = ((name, _core.get_flag(name)) for name in _core.flag_names() if name != "cache_dir")
    changed = [f"{name}={value!r}" for name, value in values if defaults.get(name) != value]
    return ", ".join(changed) or "as by default"


def _cache() -> str:
    """Return the folder of compiled code, and what it holds."""
    folder = str(_core.get_flag("cache_dir"))
    if not folder:
        return "none"
    try:
        usage = cache.info(folder)
    except RuntimeError as error:
        return f"{folder}: {error}"
    return (
        f"{folder}: {usage.programs:,} programs, {usage.kernels:,} kernels, {usage.bytes:,} bytes"
    )


def _variables() -> str:
    names = sorted(name for name in os.environ if name.startswith("METAOPS_"))
    given = [name for name in (*names, *_VARIABLES) if name in os.environ]
    return ", ".join(f"{name}={os.environ[name]!r}" for name in given) or "none"


def describe_machine() -> list[tuple[str, str]]:
    """Return what there is of everything that a result may depend on, by name."""
    version, build, target = _build()
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else "unknown"
    return [
        ("metaops", f"{__version__} in {_FOLDER}"),
        ("build", build),
        ("LLVM", version),
        ("Python", f"{platform.python_implementation()} {platform.python_version()}"),
        ("NumPy", _versions(("numpy",)).removeprefix("numpy ")),
        ("other libraries", _versions(_LIBRARIES)),
        ("system", platform.platform()),
        ("processor", f"{_processor()}, code for {target}"),
        ("threads", f"{_core.get_num_threads()}, on {processors} processors"),
        ("devices", ", ".join(devices())),
        ("GPU", why_no_gpu() or "cuda:0 can be used"),
        *((name, path or "not found") for name, path in toolkits.find_tools().items()),
        ("cache", _cache()),
        ("flags", _flags()),
        ("environment", _variables()),
    ]
