# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""C++ of users as a function that the runtime can call.

The words behind ``@`` become accesses of memory: ``@in0(i, j)`` is
``in0_p[(i) * in0_stride0 + (j)]``. A source keeps its lines, and is in a function that
declares what it may name and catches what it throws. All extents, and the numbers of
``data``, are arguments of that function: one object serves all shapes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, NoReturn

from .._errors import at_line

__all__ = ["Place", "Signature", "Source", "Tensor", "translate"]

#: The types of elements in C++.
_TYPES = {
    "bool": "bool",
    "int8": "std::int8_t",
    "int16": "std::int16_t",
    "int32": "std::int32_t",
    "int64": "std::int64_t",
    "uint8": "std::uint8_t",
    "uint16": "std::uint16_t",
    "uint32": "std::uint32_t",
    "uint64": "std::uint64_t",
    "float16": "_Float16",
    "bfloat16": "__bf16",
    "float32": "float",
    "float64": "double",
}

#: The name of the function in the library.
SYMBOL = "metaops_code"

#: Changes when objects of before cannot be called any more.
ABI = 1


class Place(NamedTuple):
    """Where a source is written: a file and its line there."""

    file: str
    line: int


class Source(NamedTuple):
    """A text of a user's, and where it is, if that is known."""

    text: str
    place: Place | None


class Tensor(NamedTuple):
    """What is known of an argument or a result: all but its extents."""

    dtype: str
    rank: int
    #: Whether its extents are bounds, and the code says what is used.
    is_bounded: bool = False


class Signature(NamedTuple):
    """What a function is called with."""

    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    #: Other names of tensors, such as "dout" for "in1".
    aliases: tuple[tuple[str, str], ...]
    #: The names of numbers.
    data: tuple[str, ...]
    #: How many dimensions of the first output make up the range.
    parallel: int
    #: Whether it is called for all of the range at once.
    is_serial: bool
    #: Whether accesses are compared with extents.
    is_checked: bool

    def tensors(self) -> dict[str, Tensor]:
        """Return the tensors by their names, in the order of memory."""
        named = {f"in{number}": tensor for number, tensor in enumerate(self.inputs)}
        return named | {f"out{number}": tensor for number, tensor in enumerate(self.outputs)}


def _refuse(source: Source, offset: int, message: str) -> NoReturn:
    error = ValueError(f"code: {message}")
    if source.place is None:
        raise at_line(error)
    line = source.place.line + source.text.count("\n", 0, offset)
    raise ValueError(f"code: {message} ({source.place.file}:{line})")


# What is no code: comments, strings and characters.
_SKIPPED = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL)
_LOG = re.compile(r"\bLOG(?:[iwefgrd]|ir|v{1,4}|s)?\b(?=\s*(?:\(\))?\s*<<)")
_WORD = re.compile(r"@(\w+)")


class _Translator:
    """Replaces the words behind ``@`` of the sources of one function."""

    def __init__(self, signature: Signature) -> None:
        self.signature = signature
        self.tensors = signature.tensors()
        #: What a name stands for, the own names included.
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


_BEGINNING = """\
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <exception>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <vector>

namespace {
// A tensor, as `in0->shape[0]`, `in0->num` and `out0->set_shape({n})`.
struct MetaopsTensor {
  const char *name;
  void *memory;
  const std::int64_t *shape;
  int ndim;
  std::int64_t element;
  std::int64_t *used;
  std::int64_t num, size;

  MetaopsTensor(const char *name, void *memory, const std::int64_t *shape, int ndim,
                std::int64_t element, std::int64_t *used)
      : name(name), memory(memory), shape(shape), ndim(ndim), element(element), used(used),
        num(1) {
    for (int dim = 0; dim < ndim; ++dim)
      num *= shape[dim];
    size = num * element;
    if (used)
      std::copy(shape, shape + ndim, used);
  }

  template <typename T> T *ptr() const { return static_cast<T *>(memory); }

  void set_shape(std::initializer_list<std::int64_t> extents) const {
    if (!used)
      throw std::invalid_argument(std::string(name) +
                                  ".set_shape: its extents are no bounds; give negative ones");
    bool fits = static_cast<int>(extents.size()) == ndim;
    int dim = 0;
    for (std::int64_t extent : extents)
      fits = fits && extent >= 0 && extent <= shape[dim++];
    if (!fits)
      throw std::out_of_range(std::string(name) +
                              ".set_shape: the extents are not within the bounds");
    std::copy(extents.begin(), extents.end(), used);
  }
};
"""

_CHECKS = """\
template <bool isAddress, typename... Indices>
std::int64_t metaops_index(const MetaopsTensor &tensor, const char *file, int line,
                           Indices... given) {
  const std::int64_t indices[] = {static_cast<std::int64_t>(given)..., 0};
  std::int64_t place = 0;
  bool fits = true;
  for (int dim = 0; dim < tensor.ndim; ++dim) {
    std::int64_t index = dim < static_cast<int>(sizeof...(given)) ? indices[dim] : 0;
    fits = fits && index >= 0 && index <= tensor.shape[dim] - !isAddress;
    place = place * tensor.shape[dim] + index;
  }
  if (fits && place <= tensor.num - !isAddress)
    return place;
  std::string text = std::string("@") + tensor.name + "(";
  for (std::size_t dim = 0; dim < sizeof...(given); ++dim)
    text += (dim ? ", " : "") + std::to_string(indices[dim]);
  text += ") is outside of its extents (";
  for (int dim = 0; dim < tensor.ndim; ++dim)
    text += (dim ? ", " : "") + std::to_string(tensor.shape[dim]);
  throw std::out_of_range(text + "), at " + file + ":" + std::to_string(line));
}

// Memory between two zones that nobody may write to.
struct MetaopsGuarded {
  static constexpr std::size_t kZone = 4096;
  static constexpr unsigned char kMark = 0xA5;
  std::vector<unsigned char> bytes;
  std::size_t size;
  const char *name;

  MetaopsGuarded(const char *name, const void *from, std::size_t size)
      : bytes(size + 2 * kZone, kMark), size(size), name(name) {
    if (size)
      std::memcpy(data(), from, size);
  }
  unsigned char *data() { return bytes.data() + kZone; }
  void check() const {
    for (std::size_t i = 0; i < kZone; ++i)
      if (bytes[i] != kMark || bytes[kZone + size + i] != kMark)
        throw std::out_of_range(std::string("the code writes outside of ") + name);
  }
};
"""

_ENDING = """\
} // namespace

extern "C" __attribute__((visibility("default"))) int
metaops_code(void **buffers, const std::int64_t *scalars, std::int64_t begin,
             std::int64_t end, char *message, std::int64_t room) {
  try {
    metaops_run(buffers, scalars, begin, end);
    return 0;
  } catch (const std::exception &error) {
    int status = 0;
    char *name = abi::__cxa_demangle(typeid(error).name(), nullptr, nullptr, &status);
    std::snprintf(message, room, "code: %s: %s", name ? name : "an exception", error.what());
    std::free(name);
  } catch (...) {
    std::snprintf(message, room, "code: the source throws what is no std::exception");
  }
  return 1;
}
"""

#: Jittor's names of types.
_USING = "".join(
    f"  using {name} [[maybe_unused]] = {text};\n"
    for name, text in _TYPES.items()
    if name not in ("bool", "float16", "bfloat16")
)


def _declare(signature: Signature, names: Mapping[str, str]) -> str:
    """Return declarations of all that a source may name."""
    text, scalar, used = "", 0, 0
    for place, (name, tensor) in enumerate(signature.tensors().items()):
        kind = _TYPES[tensor.dtype]
        text += f"  using {name}_type [[maybe_unused]] = {kind};\n"
        text += f"  [[maybe_unused]] auto *const {name}_p = "
        text += f"static_cast<{name}_type *>(buffers[{place}]);\n"
        for dim in range(tensor.rank):
            text += f"  [[maybe_unused]] const std::int64_t {name}_shape{dim} = "
            text += f"scalars[{scalar + dim}];\n"
        for dim in reversed(range(tensor.rank)):
            is_last = dim == tensor.rank - 1
            stride = "1" if is_last else f"{name}_stride{dim + 1} * {name}_shape{dim + 1}"
            text += f"  [[maybe_unused]] const std::int64_t {name}_stride{dim} = {stride};\n"
        room = "nullptr"
        if tensor.is_bounded:
            last = len(signature.inputs) + len(signature.outputs)
            room = f"static_cast<std::int64_t *>(buffers[{last}]) + {used}"
            used += tensor.rank
        text += f'  const MetaopsTensor {name}_tensor("{name}", {name}_p, scalars + {scalar}, '
        text += f"{tensor.rank}, sizeof({name}_type), {room});\n"
        text += f"  [[maybe_unused]] const MetaopsTensor *const {name} = &{name}_tensor;\n"
        scalar += tensor.rank
    # What is used is told in one more result.
    scalar += any(tensor.is_bounded for tensor in signature.outputs)
    for alias, name in names.items():
        if alias != name:
            text += _declare_alias(alias, name, signature.tensors()[name].rank)
    return text + _declare_data(signature.data, scalar) + _declare_range(signature)


def _declare_alias(alias: str, name: str, rank: int) -> str:
    text = f"  using {alias}_type [[maybe_unused]] = {name}_type;\n"
    text += f"  [[maybe_unused]] auto *const {alias}_p = {name}_p;\n"
    text += f"  [[maybe_unused]] const MetaopsTensor *const {alias} = {name};\n"
    for dim in range(rank):
        for word in ("shape", "stride"):
            text += f"  [[maybe_unused]] const std::int64_t {alias}_{word}{dim} = "
            text += f"{name}_{word}{dim};\n"
    return text


def _declare_data(names: Sequence[str], first: int) -> str:
    if not names:
        return ""
    text = "  struct {\n    const std::int64_t *bits;\n"
    text += "    double operator[](const std::string &key) const {\n      double value;\n"
    for number, name in enumerate(names):
        quoted = name.encode("unicode_escape").decode().replace('"', '\\"')
        text += f'      if (key == "{quoted}")\n'
        text += f"        return std::memcpy(&value, bits + {number}, sizeof(value)), value;\n"
    text += '      throw std::out_of_range("data has no " + key);\n    }\n'
    return text + f"  }} const data{{scalars + {first}}};\n"


def _declare_range(signature: Signature) -> str:
    if not signature.is_serial:
        return ""
    extents = [f"out0_shape{dim}" for dim in range(signature.parallel)]
    return f"  begin = 0;\n  end = {' * '.join(extents) or '1'};\n"


def _guard(signature: Signature) -> str:
    """Return a function that calls the source on memory between zones."""
    text = "void metaops_run(void **given, const std::int64_t *scalars, std::int64_t begin,\n"
    text += "                 std::int64_t end) {\n  std::vector<MetaopsGuarded> guarded;\n"
    scalar = 0
    for place, (name, tensor) in enumerate(signature.tensors().items()):
        size = "".join(f" * scalars[{scalar + dim}]" for dim in range(tensor.rank))
        text += f'  guarded.emplace_back("{name}", given[{place}], '
        text += f"sizeof({_TYPES[tensor.dtype]}){size});\n"
        scalar += tensor.rank
    count, inputs = len(signature.tensors()), len(signature.inputs)
    text += f"  void *buffers[{count + 1}];\n"
    text += f"  for (int i = 0; i < {count}; ++i)\n    buffers[i] = guarded[i].data();\n"
    if any(tensor.is_bounded for tensor in signature.outputs):
        text += f"  buffers[{count}] = given[{count}];\n"
    text += "  metaops_body(buffers, scalars, begin, end);\n"
    text += f"  for (int i = 0; i < {count}; ++i) {{\n    guarded[i].check();\n"
    text += "    if (!guarded[i].size)\n      continue;\n"
    text += f"    if (i >= {inputs})\n"
    text += "      std::memcpy(given[i], guarded[i].data(), guarded[i].size);\n"
    text += "    else if (std::memcmp(given[i], guarded[i].data(), guarded[i].size) != 0)\n"
    text += '      throw std::logic_error(std::string("the code writes to ") +\n'
    text += "                             guarded[i].name);\n  }\n}\n"
    return text


def _locate(source: Source, name: str) -> str:
    if source.place is None:
        return f'\n#line 1 "{name}"\n'
    file = source.place.file.replace("\\", "\\\\").replace('"', '\\"')
    return f'\n#line {source.place.line} "{file}"\n'


def translate(signature: Signature, header: Source, source: Source) -> tuple[str, str]:
    """Return C++ of a function, and the same for whom lines do not matter.

    Raises
    ------
    ValueError
        If a word behind ``@`` is none that is known, with its line.
    """
    translator = _Translator(signature)
    head = translator.translate(header)
    body = translator.translate(source)
    text = _BEGINNING + (_CHECKS if signature.is_checked else "") + "} // namespace\n"
    rest = "namespace {\n"
    name = "metaops_body" if signature.is_checked else "metaops_run"
    rest += f"inline void {name}(void **buffers, const std::int64_t *scalars,\n"
    rest += "                 [[maybe_unused]] std::int64_t begin,\n"
    rest += "                 [[maybe_unused]] std::int64_t end) {\n"
    rest += _USING + _declare(signature, translator.names)
    end = '\n#line 1 "metaops"\n}\n'
    end += (_guard(signature) if signature.is_checked else "") + _ENDING
    located = text + _locate(header, "cpu_header") + head + '\n#line 1 "metaops"\n'
    located += rest + _locate(source, "cpu_src") + body + end
    return located, "\0".join((text, head, rest, body, end))
