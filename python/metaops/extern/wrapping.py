# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that the runtime can call, around C++ of users.

A source is in a function that declares what it may name, and catches what it throws. All
extents, and the numbers of ``data``, are arguments: one object serves all of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from .sources import Signature, Source, Translator

__all__ = ["ABI", "SYMBOL", "SYMBOL_PLACE", "Translation", "translate"]

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
    "bfloat16": "metaops_bfloat16",
    "float32": "float",
    "float64": "double",
}

#: The name of the function in the library.
SYMBOL = "metaops_code"

#: Changes when objects of before cannot be called any more.
ABI = 1


_INCLUDES = """\
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
"""

# Older compilers have no `__bf16` that is a type of numbers: GCC before 13.
_BFLOAT16 = """\
namespace {
#if defined(__clang__) || defined(__BFLT16_DIG__)
using metaops_bfloat16 = __bf16;
#else
struct metaops_bfloat16 {
  std::uint16_t bits;

  metaops_bfloat16() = default;
  metaops_bfloat16(float value) {
    std::uint32_t whole;
    std::memcpy(&whole, &value, sizeof(whole));
    // To the nearest, of two the even one; what is no number stays none.
    bits = value != value ? (whole >> 16) | 0x40
                          : (whole + 0x7FFF + ((whole >> 16) & 1)) >> 16;
  }
  operator float() const {
    const std::uint32_t whole = std::uint32_t(bits) << 16;
    float value;
    std::memcpy(&value, &whole, sizeof(value));
    return value;
  }
  metaops_bfloat16 &operator+=(float value) { return *this = *this + value; }
  metaops_bfloat16 &operator-=(float value) { return *this = *this - value; }
  metaops_bfloat16 &operator*=(float value) { return *this = *this * value; }
  metaops_bfloat16 &operator/=(float value) { return *this = *this / value; }
};
#endif
} // namespace
"""

_TENSOR = """\
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

# The same where nothing may be thrown, nor how much is used be said.
_PLAIN = """\
namespace {
struct MetaopsTensor {
  void *memory;
  const std::int64_t *shape;
  int ndim;
  std::int64_t num, size;

  MetaopsTensor(const char *, void *memory, const std::int64_t *shape, int ndim,
                std::int64_t element, std::int64_t *)
      : memory(memory), shape(shape), ndim(ndim), num(1) {
    for (int dim = 0; dim < ndim; ++dim)
      num *= shape[dim];
    size = num * element;
  }

  template <typename T> T *ptr() const { return static_cast<T *>(memory); }
};
"""

_MISSING = '      throw std::out_of_range("data has no " + key);\n'

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


def _declare(signature: Signature, names: Mapping[str, str], is_plain: bool) -> str:
    """Return declarations of all that a source may name."""
    text, scalar, used = "", 0, 0
    for place, (name, tensor) in zip(signature.places(), signature.tensors().items(), strict=True):
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
            room = f"static_cast<std::int64_t *>(buffers[{signature.places()[-1] + 1}]) + {used}"
            used += tensor.rank
        text += f'  const MetaopsTensor {name}_tensor("{name}", {name}_p, scalars + {scalar}, '
        text += f"{tensor.rank}, sizeof({name}_type), {room});\n"
        text += f"  [[maybe_unused]] const MetaopsTensor *const {name} = &{name}_tensor;\n"
        scalar += tensor.rank
    for alias, name in names.items():
        if alias != name:
            text += _declare_alias(alias, name, signature.tensors()[name].rank)
    return text + _declare_data(signature, is_plain) + _declare_range(signature)


def _declare_alias(alias: str, name: str, rank: int) -> str:
    text = f"  using {alias}_type [[maybe_unused]] = {name}_type;\n"
    text += f"  [[maybe_unused]] auto *const {alias}_p = {name}_p;\n"
    text += f"  [[maybe_unused]] const MetaopsTensor *const {alias} = {name};\n"
    for dim in range(rank):
        for word in ("shape", "stride"):
            text += f"  [[maybe_unused]] const std::int64_t {alias}_{word}{dim} = "
            text += f"{name}_{word}{dim};\n"
    return text


def _declare_data(signature: Signature, is_plain: bool) -> str:
    """Return what numbers are read by; where nothing may be thrown, by words alone."""
    if not signature.data:
        return ""
    key = "const char *key" if is_plain else "const std::string &key"
    text = "  struct {\n    void *const *numbers;\n"
    text += f"    double operator[]({key}) const {{\n"
    for number, name in enumerate(signature.data):
        quoted = _quote(name)
        same = f'__builtin_strcmp(key, "{quoted}") == 0' if is_plain else f'key == "{quoted}"'
        text += f"      if ({same})\n"
        text += f"        return *static_cast<const double *>(numbers[{number}]);\n"
    text += "      __builtin_trap();\n" if is_plain else _MISSING
    return text + f"    }}\n  }} const data{{buffers + {len(signature.inputs)}}};\n"


def _quote(text: str) -> str:
    """Return what is between the quotes of a string of C++ that is this text."""
    # Octal escapes have three digits at most, so that none goes on.
    return re.sub(r'[\x00-\x1f\x7f"\\?]', lambda found: f"\\{ord(found.group()):03o}", text)


def _declare_range(signature: Signature) -> str:
    if not signature.is_serial:
        return ""
    extents = [f"out0_shape{dim}" for dim in range(signature.parallel)]
    return f"  begin = 0;\n  end = {' * '.join(extents) or '1'};\n"


def _guard(signature: Signature) -> str:
    """Return a function that calls the source on memory between zones."""
    text = "void metaops_run(void **given, const std::int64_t *scalars, std::int64_t begin,\n"
    text += "                 std::int64_t end) {\n  std::vector<MetaopsGuarded> guarded;\n"
    scalar, places = 0, signature.places()
    for place, (name, tensor) in zip(places, signature.tensors().items(), strict=True):
        size = "".join(f" * scalars[{scalar + dim}]" for dim in range(tensor.rank))
        text += f'  guarded.emplace_back("{name}", given[{place}], '
        text += f"sizeof({_TYPES[tensor.dtype]}){size});\n"
        scalar += tensor.rank
    count, inputs, last = len(places), len(signature.inputs), places[-1]
    text += f"  const int places[] = {{{', '.join(map(str, places))}}};\n"
    text += f"  void *buffers[{last + 2}];\n"
    text += f"  for (int i = 0; i <= {last}; ++i)\n    buffers[i] = given[i];\n"
    text += f"  for (int i = 0; i < {count}; ++i)\n"
    text += "    buffers[places[i]] = guarded[i].data();\n"
    if any(tensor.is_bounded for tensor in signature.outputs):
        text += f"  buffers[{last + 1}] = given[{last + 1}];\n"
    text += "  metaops_body(buffers, scalars, begin, end);\n"
    text += f"  for (int i = 0; i < {count}; ++i) {{\n    guarded[i].check();\n"
    text += "    void *const own = given[places[i]];\n"
    text += "    if (!guarded[i].size)\n      continue;\n"
    text += f"    if (i >= {inputs})\n"
    text += "      std::memcpy(own, guarded[i].data(), guarded[i].size);\n"
    text += "    else if (std::memcmp(own, guarded[i].data(), guarded[i].size) != 0)\n"
    text += '      throw std::logic_error(std::string("the code writes to ") +\n'
    text += "                             guarded[i].name);\n  }\n}\n"
    return text


def _locate(source: Source, name: str) -> str:
    if source.place is None:
        return f'\n#line 1 "{name}"\n'
    file = source.place.file.replace("\\", "\\\\").replace('"', '\\"')
    return f'\n#line {source.place.line} "{file}"\n'


class Translation(NamedTuple):
    """C++ of a function."""

    #: The function as this process calls it.
    text: str
    #: The same for whom lines do not matter.
    content: str
    #: A kernel, which throws nothing, for other processes; "" where there is none. A word
    #: stands for the name of its symbol.
    kernel: str


#: Placeholder for the name of a kernel's symbol.
SYMBOL_PLACE = "metaops_symbol_place"

_KERNEL = f"""\
}} // namespace

extern "C" __attribute__((visibility("default"))) void
metaops_kernel(void **, const std::int64_t *, std::int64_t, std::int64_t)
    __asm__("{SYMBOL_PLACE}");
extern "C" void metaops_kernel(void **buffers, const std::int64_t *scalars,
                               std::int64_t begin, std::int64_t end) {{
  metaops_run(buffers, scalars, begin, end);
}}
"""


def translate(signature: Signature, header: Source, source: Source) -> Translation:
    """Return C++ of a function.

    Raises
    ------
    ValueError
        If a word behind ``@`` is none that is known, with its line.
    """
    translator = Translator(signature)
    head = translator.translate(header)
    body = translator.translate(source)
    located = [_locate(header, "cpu_header"), _locate(source, "cpu_src")]

    def put(first: str, between: str, last: str) -> str:
        text = first + located[0] + head + '\n#line 1 "metaops"\n'
        return text + between + located[1] + body + '\n#line 1 "metaops"\n}\n' + last

    is_checked = signature.is_checked
    has_bfloat16 = any(t.dtype == "bfloat16" for t in signature.tensors().values())
    shared = _BFLOAT16 if has_bfloat16 else ""
    first = _INCLUDES + shared + _TENSOR + (_CHECKS if is_checked else "") + "} // namespace\n"
    between = _open("metaops_body" if is_checked else "metaops_run")
    rest = between + _USING + _declare(signature, translator.names, is_plain=False)
    last = (_guard(signature) if is_checked else "") + _ENDING
    kernel = ""
    if not is_checked and not any(tensor.is_bounded for tensor in signature.outputs):
        inner = between + _USING + _declare(signature, translator.names, is_plain=True)
        kernel = put(_INCLUDES + shared + _PLAIN + "} // namespace\n", inner, _KERNEL)
    content = "\0".join((first, head, rest, body, last))
    return Translation(put(first, rest, last), content, kernel)


def _open(name: str) -> str:
    text = f"namespace {{\ninline void {name}(void **buffers, const std::int64_t *scalars,\n"
    text += "                 [[maybe_unused]] std::int64_t begin,\n"
    return text + "                 [[maybe_unused]] std::int64_t end) {\n"
