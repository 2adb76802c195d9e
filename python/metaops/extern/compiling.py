# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The user's C++ compiler, and what it has made.

A library is known by all that it depends on: the text, the flags, the compiler, the
processor, and the contents of every header that was read. Which headers these are is only
known when it has been compiled, so a list of them, with their hashes, is kept by all else.
Both are written beside and renamed, and nothing is locked: processes that compile the same
at once write the same.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import platform
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from .._core import ExternCode, load_code
from .calls import SEARCH_VARIABLES
from .wrapping import ABI, SYMBOL, SYMBOL_PLACE, Translation

__all__ = [
    "CompilerError",
    "compile_library",
    "compile_object",
    "find_headers",
    "find_libraries",
    "remove_libraries",
]

#: Seconds that the compiler may take.
SECONDS = 300.0
#: Bytes that a folder is kept below.
MAX_BYTES = 1 << 28
#: Seconds after which what a killed process has left is removed.
_ABANDONED = 3600.0
#: Folders whose headers change with the compiler alone.
_SYSTEM = ("/usr/", "/lib/", "/opt/")


class CompilerError(RuntimeError):
    """The compiler is missing, or has not compiled a source."""


class Compiler(NamedTuple):
    """A program, and what tells it from others."""

    path: str
    identity: str


@functools.cache
def _identify(path: str, size: int, changed: int) -> str:
    made = subprocess.run(
        [path, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
    )
    return f"{path}\n{size}\n{changed}\n{made.stdout}"


def find_compiler() -> Compiler:
    """Return the first C++ compiler: METAOPS_CXX, clang++ or c++.

    Raises
    ------
    CompilerError
        If there is none.
    """
    given = os.environ.get("METAOPS_CXX")
    names = [given] if given else ["clang++", "c++"]
    for name in names:
        path = shutil.which(name)
        if path is None:
            continue
        status = os.stat(path)
        try:
            return Compiler(path, _identify(path, status.st_size, status.st_mtime_ns))
        except (OSError, subprocess.SubprocessError) as error:
            raise CompilerError(f"code: {path} --version fails: {error}") from None
    if given:
        raise CompilerError(f"code: METAOPS_CXX is {given!r}, and there is no such program")
    raise CompilerError(
        "code: there is no C++ compiler: neither clang++ nor c++ is in PATH; install one, or "
        "name it by METAOPS_CXX"
    )


@functools.cache
def _describe_processor() -> str:
    words = [platform.machine()]
    with contextlib.suppress(OSError), open("/proc/cpuinfo") as file:
        for line in file:
            name = line.partition(":")[0].strip()
            if name in ("model name", "flags", "Features", "CPU part"):
                words.append(line)
            elif not line.strip():
                break  # the next processor
    return "\n".join(words)


def _hash(*texts: str | bytes) -> str:
    made = hashlib.blake2b(digest_size=20)
    for text in texts:
        data = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
        made.update(len(data).to_bytes(8, "little"))
        made.update(data)
    return made.hexdigest()


# The folder.


def _is_safe(folder: str) -> bool:
    """Return whether nobody else could have written what is in a folder."""
    status = os.lstat(folder)
    is_own = status.st_uid == os.getuid() and os.path.isdir(folder)
    return is_own and not os.path.islink(folder) and status.st_mode & 0o022 == 0


@contextlib.contextmanager
def _open_folder(cache: str) -> Iterator[str]:
    """Give the folder of libraries in that of a cache; one for once where that is unsafe."""
    folder = os.path.join(cache, "code")
    try:
        if cache:
            os.makedirs(cache, mode=0o700, exist_ok=True)
            with contextlib.suppress(FileExistsError):
                os.mkdir(folder, mode=0o700)
        is_safe = bool(cache) and _is_safe(cache) and _is_safe(folder)
    except OSError:
        is_safe = False
    if is_safe and os.access(folder, os.W_OK):
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="metaops-") as once:
        yield once


def _list(folder: str) -> list[tuple[int, int, str]]:
    """Return the files of libraries in a folder: when they were used, their bytes, paths."""
    files = []
    with contextlib.suppress(OSError):
        for entry in os.scandir(folder):
            if entry.name.startswith("code-"):
                status = entry.stat(follow_symlinks=False)
                files.append((status.st_mtime_ns, status.st_size, entry.path))
    return sorted(files)


def _remove_oldest(folder: str, max_bytes: int) -> tuple[int, int]:
    files = _list(folder)
    left, count, removed = sum(size for _, size, _ in files), 0, 0
    for _, size, path in files:
        if left <= max_bytes:
            break
        with contextlib.suppress(OSError):
            os.unlink(path)
            left, removed = left - size, removed + size
            count += path.endswith(".so")
    return count, removed


def find_libraries(cache: str) -> tuple[int, int]:
    """Return how many libraries the folder of a cache has, and their bytes."""
    files = _list(os.path.join(cache, "code"))
    return sum(path.endswith(".so") for *_, path in files), sum(size for _, size, _ in files)


def remove_libraries(cache: str, max_bytes: int) -> tuple[int, int]:
    """Remove what was used least recently from the folder of a cache, but for so many bytes.

    Returns
    -------
    tuple of int
        How many libraries have gone, and their bytes.
    """
    return _remove_oldest(os.path.join(cache, "code"), max_bytes)


def _remove_abandoned(folder: str) -> None:
    now = time.time()
    for entry in os.scandir(folder):
        with contextlib.suppress(OSError):
            if entry.name.startswith("making-") and now - entry.stat().st_mtime > _ABANDONED:
                shutil.rmtree(entry.path)


# Compiling.


def _run(command: Sequence[str], folder: str, name: str) -> None:
    """Run a compiler in a group of processes of its own, which ends with it."""
    # In a thread, for an interrupt of its start would leave a process that nobody knows.
    pool = ThreadPoolExecutor(1)
    starting = pool.submit(
        lambda: subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "LC_ALL": "C"},
            start_new_session=True,
        )
    )
    pool.shutdown(wait=False)
    try:
        process = starting.result()
        told, _ = process.communicate(timeout=SECONDS)
    except BaseException as error:
        if starting.exception() is not None:
            raise
        process = starting.result()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        if not isinstance(error, subprocess.TimeoutExpired):
            raise
        raise CompilerError(
            f"code: {command[0]} has not compiled {name} within {SECONDS:g} seconds"
        ) from None
    if process.returncode != 0:
        text = told.decode("utf-8", "replace").strip()
        raise CompilerError(
            f"code: {command[0]} has not compiled {name} (exit status {process.returncode}):\n"
            + text
        )


def _read_dependencies(path: str) -> list[str]:
    """Return the files that a rule of make depends on."""
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        text = file.read().replace("\\\n", " ").partition(":")[2]
    marked = text.replace("\\ ", "\0").replace("\\#", "#").replace("$$", "$")
    return [word.replace("\0", " ") for word in marked.split()]


def _hash_file(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.blake2b(file.read(), digest_size=20).hexdigest()
    except OSError:
        return ""


def find_headers(files: Sequence[str]) -> tuple[tuple[str, int, int], ...]:
    """Return the headers of the user's own among files, and what tells that they change."""
    found = []
    for path in files:
        if not path.startswith(_SYSTEM):
            try:
                status = os.stat(path)
            except OSError:
                found.append((path, 0, 0))
            else:
                found.append((path, status.st_size, status.st_mtime_ns))
    return tuple(found)


def _find(folder: str, key: str) -> tuple[str, list[str]] | None:
    """Return a library that was made of the same, and its headers; None where there is none."""
    try:
        with open(os.path.join(folder, f"code-{key}.json"), encoding="utf-8") as file:
            kept = json.load(file)
        headers, name, checksum = kept["headers"], kept["library"], kept["checksum"]
        if any(_hash_file(path) != hashed for path, hashed in headers.items()):
            return None
        path = os.path.join(folder, name)
        return (path, list(headers)) if _hash_file(path) == checksum else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _make(
    folder: str, key: str, text: str, compiler: Compiler, flags: Sequence[str], name: str
) -> tuple[str, list[str]]:
    """Compile a library, and keep it with its headers."""
    _remove_abandoned(folder)
    _remove_oldest(folder, MAX_BYTES)
    made = tempfile.mkdtemp(prefix="making-", dir=folder)
    try:
        source, library = os.path.join(made, "code.cpp"), os.path.join(made, "code.so")
        rule = os.path.join(made, "code.d")
        with open(source, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
        options = ["-std=c++17", "-O3", "-march=native", "-fPIC", "-shared"]
        options += ["-fvisibility=hidden", "-w", "-MD", "-MF", rule]
        _run([compiler.path, *options, *flags, source, "-o", library], os.getcwd(), name)
        headers = [os.path.abspath(path) for path in _read_dependencies(rule)]
        hashes = {path: _hash_file(path) for path in headers if path != source}
        # Libraries that are loaded keep their names, whatever becomes of headers.
        named = f"code-{_hash(key, json.dumps(hashes, sort_keys=True))}.so"
        kept = {"headers": hashes, "library": named, "checksum": _hash_file(library)}
        notes = os.path.join(made, "code.json")
        with open(notes, "w", encoding="utf-8") as file:
            json.dump(kept, file)
        path = os.path.join(folder, named)
        os.replace(library, path)
        os.replace(notes, os.path.join(folder, f"code-{key}.json"))
        return path, list(hashes)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def compile_library(
    cache: str, source: Translation, flags: Sequence[str], name: str
) -> tuple[ExternCode, tuple[tuple[str, int, int], ...]]:
    """Return code made of a source, and the user's own headers that it was made of.

    Raises
    ------
    CompilerError
        If there is no compiler, or it refuses the source or does not end.
    """
    compiler = find_compiler()
    key = _hash(
        str(ABI),
        source.content,
        json.dumps([*flags]),
        compiler.identity,
        _describe_processor(),
        json.dumps([os.environ.get(name) for name in SEARCH_VARIABLES]),
        # Flags may name what is there.
        os.getcwd() if flags else "",
    )
    with _open_folder(cache) as folder:
        path, headers = _find(folder, key) or _make(folder, key, source.text, compiler, flags, name)
        with contextlib.suppress(OSError):
            os.utime(path)  # when it was used last
        known = os.path.basename(path).removesuffix(".so").replace("-", ".")
        again = functools.partial(compile_object, known, source.kernel, flags, name)
        try:
            code = load_code(known, path, SYMBOL, name, again)
        except RuntimeError as error:
            raise CompilerError(f"code: {name} cannot be loaded: {error}") from None
    return code, find_headers(headers)


def compile_object(symbol: str, text: str, flags: Sequence[str], name: str, target: str) -> bytes:
    """Return an object file with a kernel for a kind of processors.

    It is called within the session, and uses nothing of it.

    Raises
    ------
    CompilerError
        If the compiler refuses it, or there is none of the source.
    """
    if not text:
        raise CompilerError(
            f"{name} has check=True, or negative extents, which program files cannot have"
        )
    compiler = find_compiler()
    with tempfile.TemporaryDirectory(prefix="metaops-") as folder:
        source, made = os.path.join(folder, "code.cpp"), os.path.join(folder, "code.o")
        with open(source, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text.replace(SYMBOL_PLACE, symbol))
        options = ["-std=c++17", "-O3", f"-march={target}", "-fPIC", "-c", "-w"]
        options += ["-fno-exceptions", "-fno-rtti", "-fno-asynchronous-unwind-tables"]
        options += ["-fno-stack-protector", "-fvisibility=hidden"]
        _run([compiler.path, *options, *flags, source, "-o", made], os.getcwd(), name)
        with open(made, "rb") as file:
            return file.read()
