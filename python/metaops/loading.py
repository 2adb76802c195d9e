# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loading exported programs; the compiler is imported for those that need it."""

from __future__ import annotations

import os

from . import _execute, execute
from .execute import Program

__all__ = ["load_program"]


def load_program(
    path: str | os.PathLike[str] | bytes,
    *,
    function: str | None = None,
    threads: int | None = None,
    verify: bool = False,
    code: bool = True,
) -> Program:
    """Open an exported program; compile it where it has no machine code.

    `metaops.execute.load_program` does so without the compiler, for files with code.
    Weights are mapped from the file, which must not be changed meanwhile. A file with
    machine code is trusted like any other program; with ``code=False``, nothing of the
    file is executed.

    Parameters
    ----------
    path : str, os.PathLike or bytes
        The file, or its contents.
    function : str, optional
        The name of the function to run, the file's first by default.
    threads : int, optional
        How many threads a run uses; as many as processors may be used by default.
    verify : bool
        Whether weights are compared with their checksums, too, which reads all of them.
    code : bool
        Whether the file's machine code runs, if it has any. If not, or if there is none
        in the file at all, its MLIR is compiled here.

    Returns
    -------
    Program
        The program.

    Raises
    ------
    OSError
        If there is no such file.
    ValueError
        If it is no program file, damaged, or for other processors; if it is to be
        compiled, and has no MLIR or such as cannot be.

    Examples
    --------
    >>> import metaops as mo
    >>> import numpy as np
    >>> mo.export(lambda x: x * 2, [mo.zeros((3,))], "/tmp/double.metaops", code=False)
    >>> program = mo.load_program("/tmp/double.metaops")
    >>> program(np.ones(3, "float32")).tolist()
    [2.0, 2.0, 2.0]
    """
    given = execute.load_program(path, function=function, verify=verify, code=False)
    if code and given.targets:
        return execute.load_program(path, function=function, threads=threads)
    return execute.load_compiled(path, _compile, function, threads)


def _compile(program: _execute.Program) -> execute.Supplied:
    """Return code that is compiled of a program's IR."""
    ir = program.read_ir()
    if ir is None:
        raise ValueError("load_program: the file has no MLIR to compile, only machine code")
    from . import _core, _session  # noqa: F401 (the session's settings)

    return _core.compile_ir(ir, program.signature, program.function)
