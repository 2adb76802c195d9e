# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `import metaops`, and the first use of it, imports beside itself and NumPy.

What few programs need is imported by the functions that need it: a module of the
standard library may bring twenty others.
"""

import subprocess
import sys

import pytest

#: Modules that take long, or bring many others.
HEAVY = """
    argparse asyncio concurrent csv ctypes dataclasses decimal difflib email fractions glob
    gzip html http inspect json locale logging lzma multiprocessing pathlib pdb pickle
    platform pydoc queue random secrets shutil signal socket sqlite3 ssl statistics
    subprocess tarfile tempfile tokenize traceback unittest urllib uuid xml zipfile
"""


@pytest.fixture(scope="module")
def imported():
    """Return the modules that are there after `import metaops`, but not after NumPy."""
    use = "import metaops; metaops.grad"
    code = f"import sys, numpy; a = {{*sys.modules}}; {use}; print(*{{*sys.modules}} - a)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    names = set(done.stdout.split())
    assert "metaops._core" in names
    return names


def test_nothing_heavy_is_imported(imported):
    assert not imported & set(HEAVY.split())


def test_little_of_the_standard_library_is_imported(imported):
    others = {name for name in imported if name.split(".")[0] not in ("metaops", "numpy")}
    assert len(others) <= 12, sorted(others)


def test_no_peer_is_imported(imported):
    assert not {name.split(".")[0] for name in imported} & {"jax", "matplotlib", "scipy", "torch"}
