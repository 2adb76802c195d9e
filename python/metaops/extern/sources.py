# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""C++ of users, and what stands for its words behind ``@``.

They become accesses of memory: ``@in0(i, j)`` is ``in0_p[(i) * in0_stride0 + (j)]``. A
source keeps its lines.
"""

from __future__ import annotations

import re
from typing import NamedTuple, NoReturn

from .._errors import at_line

__all__ = ["Place", "Signature", "Source", "Tensor", "Translator", "has_word"]


class Place(NamedTuple):
    """The place of a source: a file and its line there."""

    file: str
    line: int


class Source(NamedTuple):
    """A text of a user's, and where it is, if that is known."""

    text: str
    place: Place | None


class Tensor(NamedTuple):
    """An argument or a result, but for its extents."""

    dtype: str
    rank: int
    #: Set if its extents are bounds, and the code says what is used.
    is_bounded: bool = False


class Signature(NamedTuple):
    """The arguments of a call."""

    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    #: Other names of tensors, such as "dout" for "in1".
    aliases: tuple[tuple[str, str], ...]
    #: The names of numbers.
    data: tuple[str, ...]
    #: Number of dimensions of the first output that make up the range.
    parallel: int
    #: Set if it is called for all of the range at once.
    is_serial: bool
    #: Set if accesses are compared with extents.
    is_checked: bool

    def tensors(self) -> dict[str, Tensor]:
        """Return the tensors by their names, in the order of memory.

        Numbers of `data`, which are between them, are none.
        """
        named = {f"in{number}": tensor for number, tensor in enumerate(self.inputs)}
        return named | {f"out{number}": tensor for number, tensor in enumerate(self.outputs)}

    def places(self) -> list[int]:
        """Return the place of each tensor among the buffers."""
        count = len(self.inputs)
        behind = count + len(self.data)
        return [*range(count), *range(behind, behind + len(self.outputs))]


def _refuse(source: Source, offset: int, message: str) -> NoReturn:
    error = ValueError(f"code: {message}")
    if source.place is None:
        raise at_line(error)
    line = source.place.line + source.text.count("\n", 0, offset)
    raise ValueError(f"code: {message} ({source.place.file}:{line})")


_COMMENT = r"//[^\n]*|/\*.*?\*/"
_TEXT = r""""(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'"""
# Numbers have digits in parts, as in 1'000.
_NUMBER = r"(?<!\w)\d(?:'?\w)*"
# Comments, strings, characters and numbers, which have no words.
_SKIPPED = re.compile(f"{_COMMENT}|{_TEXT}|{_NUMBER}", re.DOTALL)
_LOG = re.compile(r"\bLOG(?:[iwefgrd]|ir|v{1,4}|s)?\b(?=\s*(?:\(\))?\s*<<)")
_WORD = re.compile(r"@(\w+)")


def has_word(text: str, word: str) -> bool:
    """Return whether code of a text, not a comment or string, has words of a pattern."""
    code = _SKIPPED.sub(" ", text)
    return re.search(rf"\b{word}", code) is not None


class Translator:
    """Replaces the words behind ``@`` of the sources of one function."""

    def __init__(self, signature: Signature) -> None:
        self.signature = signature
        self.tensors = signature.tensors()
        #: Tensors by their names and aliases.
        self.names = {name: name for name in self.tensors} | {"out": "out0"}
        self.names.update(signature.aliases)

    def translate(self, source: Source) -> str:
        """Return the text without ``@``, in as many lines."""
        text, done, at = source.text, "", 0
        while at < len(text):
            if skipped := _SKIPPED.match(text, at):
                done += skipped.group()
                at = skipped.end()
            elif log := _LOG.match(text, at):
                word = log.group()
                _refuse(source, at, f"{word} is Jittor's; write to std::cerr (#include <iostream>)")
            elif text[at] == "@":
                replaced, at = self._replace(source, done, at)
                done += replaced
            else:
                done += text[at]
                at += 1
        return done

    def _replace(self, source: Source, before: str, at: int) -> tuple[str, int]:
        """Return what stands for the word behind an ``@``, and where the text goes on."""
        word = _WORD.match(source.text, at)
        if not word:
            _refuse(source, at, "expected a name behind @")
        name, end = word[1], word.end()
        if source.text[end : end + 1] != "(":
            _refuse(source, at, f"@{name} is followed by no (; {self._expected()}")
        arguments, end = _split(source, end)
        lines = "\n" * source.text.count("\n", at, end)
        if name == "alias":
            return self._alias(source, at, arguments) + lines, end
        if name not in self.names:
            _refuse(source, at, f"@{name} is no tensor; {self._expected()}")
        inner = [self.translate(Source(text, source.place)) for text in arguments]
        return self._access(source, before, at, self.names[name], inner), end

    def _expected(self) -> str:
        known = ", ".join(f"@{name}(...)" for name in self.names)
        return f"expected one of {known}, or @alias(name, tensor)"

    def _alias(self, source: Source, at: int, arguments: list[str]) -> str:
        words = [text.strip() for text in arguments]
        if len(words) != 2 or words[1] not in self.names or not words[0].isidentifier():
            _refuse(source, at, f"@alias({', '.join(words)}) names no tensor; {self._expected()}")
        self.names[words[0]] = self.names[words[1]]
        return ""

    def _access(self, source: Source, before: str, at: int, tensor: str, indices: list[str]) -> str:
        rank = self.tensors[tensor].rank
        if len(indices) == 1 and not indices[0].strip():
            indices = []
        if len(indices) > rank:
            _refuse(source, at, f"{len(indices)} indices of {tensor}, which has {rank} dimensions")
        if self.signature.is_checked:
            # One past the end is an address as good as any.
            behind = before.rstrip()
            is_address = behind.endswith("&") and not behind.endswith("&&")
            given = "".join(f", {index}" for index in indices)
            place = f"metaops_index<{int(is_address)}>(*{tensor}, __FILE__, __LINE__{given})"
            return f"{tensor}_p[{place}]"
        if not indices:
            return f"{tensor}_p[0]"
        terms = [f"({index}) * {tensor}_stride{dim}" for dim, index in enumerate(indices)]
        if len(indices) == rank:
            terms[-1] = f"({indices[-1]})"
        return f"{tensor}_p[{' + '.join(terms)}]"


def _split(source: Source, begin: int) -> tuple[list[str], int]:
    """Return the arguments in the brackets that begin there, and where these end."""
    text, depth, at = source.text, 0, begin
    arguments, start = [], begin + 1
    while at < len(text):
        if skipped := _SKIPPED.match(text, at):
            at = skipped.end()
            continue
        character = text[at]
        depth += (character in "([{") - (character in ")]}")
        if depth == 0 or (depth == 1 and character == ","):
            arguments.append(text[start:at])
            start = at + 1
        at += 1
        if depth == 0:
            return arguments, at
    _refuse(source, begin, "a ( without its )")
