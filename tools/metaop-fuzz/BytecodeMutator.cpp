//===- BytecodeMutator.cpp - Changes within sections ----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's bytecode is a magic number, a version, the producer's name, which ends
// in a zero, and sections: a byte for the kind, whose highest bit says that an
// alignment follows the length, and the bytes (mlir.llvm.org, "MLIR Bytecode
// Format"). Lengths are of the format's own variable-width integers: the lowest
// set bit of the first byte tells how many bytes follow.
//
// Only strings and the properties of operations are changed: what attributes of
// the dialect are read from. The reader of MLIR 22 itself believes the numbers
// of the other sections, and reads and writes beyond its memory where they are
// wrong.
//
//===----------------------------------------------------------------------===//

#include "Mutators.h"
#include "llvm/ADT/bit.h"

using namespace metaops::fuzz;
using llvm::StringRef;

static constexpr char magic[] = "ML\xefR";
static constexpr char stringSection = 0, propertiesSection = 8;

bool metaops::fuzz::isBytecode(StringRef data) {
  return data.starts_with(magic);
}

/// Reads an integer at the front and drops it; false where there is none.
static bool readInteger(StringRef &data, uint64_t &value) {
  if (data.empty())
    return false;
  unsigned more = llvm::countr_zero(static_cast<uint8_t>(data.front()));
  unsigned bytes = std::min(more, 8u) + 1;
  if (data.size() < bytes)
    return false;
  value = 0;
  for (unsigned i = std::min(bytes, 8u); i > 0; --i)
    value = value << 8 | static_cast<uint8_t>(data[bytes == 9 ? i : i - 1]);
  if (bytes < 9)
    value >>= bytes;
  data = data.drop_front(bytes);
  return true;
}

/// Appends an integer, in the longest form.
static void writeInteger(std::string &data, uint64_t value) {
  data.push_back(0);
  for (unsigned i = 0; i < 8; ++i)
    data.push_back(static_cast<char>(value >> (8 * i)));
}

namespace {
struct Section {
  char kind;
  bool isOf(char other) const { return (kind & 0x7f) == other; }
  std::string bytes;
};
} // namespace

/// Divides what follows the producer's name; false if it is no such thing.
static bool readSections(StringRef data, std::vector<Section> &sections) {
  while (!data.empty()) {
    char kind = data.front();
    data = data.drop_front();
    uint64_t length = 0, alignment = 0;
    if (!readInteger(data, length))
      return false;
    if (kind & 0x80) {
      if (!readInteger(data, alignment))
        return false;
      data = data.drop_while([](char c) { return c == '\xcb'; });
    }
    if (length > data.size())
      return false;
    sections.push_back({kind, data.take_front(length).str()});
    data = data.drop_front(length);
  }
  return !sections.empty();
}

/// The characters of the strings of a section, behind their number and lengths.
static size_t findCharacters(StringRef bytes) {
  StringRef rest = bytes;
  uint64_t count = 0, length = 0;
  bool isRead = readInteger(rest, count);
  for (; isRead && count > 0; --count)
    isRead = readInteger(rest, length);
  return isRead ? bytes.size() - rest.size() : bytes.size();
}

/// Changes one byte, and not how many there are. Strings keep their ends; most
/// numbers are indices, which take one byte that ends in a one.
static void mutateByte(Section &section, Random &random) {
  std::string &bytes = section.bytes;
  if (section.isOf(stringSection)) {
    size_t begin = findCharacters(bytes);
    size_t at = begin + draw(random, bytes.size() - begin);
    if (at < bytes.size() && bytes[at])
      bytes[at] = static_cast<char>(' ' + draw(random, '~' - ' '));
    return;
  }
  // MLIR's reader makes room for as many properties as the section says first.
  StringRef rest = bytes;
  uint64_t count = 0;
  if (!readInteger(rest, count) || rest.empty())
    return;
  char &byte = bytes[bytes.size() - 1 - draw(random, rest.size())];
  byte += draw(random, 4) ? static_cast<char>(2 * (int(draw(random, 5)) - 2))
                          : static_cast<char>(draw(random, 256));
}

std::string metaops::fuzz::mutateBytecode(StringRef data, Random &random) {
  StringRef rest = data.drop_front(sizeof(magic) - 1);
  uint64_t version = 0;
  std::vector<Section> sections;
  size_t nameEnd = 0;
  if (!readInteger(rest, version) ||
      (nameEnd = rest.find('\0')) == StringRef::npos)
    return data.str();
  StringRef header = data.drop_back(rest.size() - nameEnd - 1);
  if (!readSections(rest.drop_front(nameEnd + 1), sections))
    return data.str();
  std::vector<Section *> ours;
  for (Section &section : sections)
    if (!section.bytes.empty() &&
        (section.isOf(stringSection) || section.isOf(propertiesSection)))
      ours.push_back(&section);
  if (ours.empty())
    return data.str();
  for (size_t count = 1 + draw(random, 3); count > 0; --count)
    mutateByte(*ours[draw(random, ours.size())], random);
  std::string result = header.str();
  for (const Section &section : sections) {
    // Without its alignment: where the section starts may be another place now.
    result.push_back(section.kind & 0x7f);
    writeInteger(result, section.bytes.size());
    result += section.bytes;
  }
  return result;
}
