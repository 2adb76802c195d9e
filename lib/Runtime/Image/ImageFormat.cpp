//===- ImageFormat.cpp - Linked machine code as bytes ---------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An image, all numbers of which are little-endian and of 32 bits:
//
//   "MetaOpsI"                     8 bytes
//   version, architecture, size of pages
//   sizes of code, of constants, of pointers
//   numbers of entries, of imports, of bases
//   entries                        offset, length of the name, name
//   imports                        length of the name, number of slots, name,
//                                  slots
//   bases                          places
//   code, constants, pointers      their bytes
//   checksum of all before         32 bytes, BLAKE3
//
// Nothing lies between these parts; the gaps that segments have in memory are
// not in the bytes. Whoever reads an image runs its code, so the checksum tells
// damage, not malice. Still it is not relied upon: each number is compared with
// what it counts or points into before it is used, so that wrong bytes are an
// error whatever their checksum.
//
// The version changes when old images cannot be read any more, or new ones by
// old readers; both are then told from damage.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Image/ImageFormat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/DataExtractor.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

#include <utility>

using namespace metaops;
using llvm::ArrayRef;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

static constexpr StringRef kMagic = "MetaOpsI";
static constexpr uint32_t kVersion = 1;
/// The magic and nine numbers.
static constexpr uint64_t kHeaderBytes = 8 + 9 * 4;
static constexpr uint64_t kChecksumBytes = 32;
/// Bytes that an entry and an import need at least, with a name of one byte.
static constexpr uint64_t kMinEntryBytes = 4 + 4 + 1;
static constexpr uint64_t kMinImportBytes = 4 + 4 + 1 + 4;

StringRef metaops::getName(ImageArchitecture architecture) {
  return architecture == ImageArchitecture::X86_64 ? "x86_64" : "aarch64";
}

std::optional<ImageArchitecture> metaops::getHostArchitecture() {
#if defined(__x86_64__)
  return ImageArchitecture::X86_64;
#elif defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  return ImageArchitecture::AArch64;
#else
  return std::nullopt;
#endif
}

uint64_t ImageContents::getConstantsOffset() const {
  return llvm::alignTo(code.size(), pageBytes);
}

uint64_t ImageContents::getPointersOffset() const {
  return getConstantsOffset() + llvm::alignTo(constants.size(), pageBytes);
}

uint64_t ImageContents::getMappedBytes() const {
  return getPointersOffset() + llvm::alignTo(pointers.size(), pageBytes);
}

static llvm::BLAKE3Result<kChecksumBytes> sumOf(StringRef bytes) {
  llvm::BLAKE3 hasher;
  hasher.update(bytes);
  return hasher.final<kChecksumBytes>();
}

static Error damaged(const Twine &what) {
  return createStringError("the code image is damaged: " + what);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

/// Reads what stands between the magic and the checksum, once.
class Parser {
public:
  explicit Parser(StringRef bytes)
      : bytes(bytes), data(bytes, /*IsLittleEndian=*/true, /*AddressSize=*/8),
        cursor(kMagic.size()) {}

  Expected<ImageContents> parse();

private:
  /// The sizes and numbers of what follows the header.
  struct Counts {
    uint32_t code, constants, pointers, entries, imports, bases;
  };

  Error parseHeader(Counts &counts);
  Error parseEntries(uint32_t count, uint32_t codeBytes);
  Error parseImports(uint32_t count);
  Error parseBases(uint32_t count);
  Error parseSegments(const Counts &counts);
  Error checkSlots();

  uint64_t getBytesLeft() { return bytes.size() - cursor.tell(); }
  Error checkCount(uint32_t count, uint64_t minBytes, StringRef what);
  Error checkName(StringRef name, StringRef previous, StringRef what);
  /// Ends the reading of a part: fails if the bytes ended in it.
  Error checkEnd(StringRef what);

  StringRef bytes;
  llvm::DataExtractor data;
  llvm::DataExtractor::Cursor cursor;
  ImageContents contents;
};

} // namespace

Error Parser::checkCount(uint32_t count, uint64_t minBytes, StringRef what) {
  if (count <= getBytesLeft() / minBytes)
    return Error::success();
  return damaged("it counts " + Twine(count) + " " + what + ", and has " +
                 Twine(getBytesLeft()) + " bytes left for them");
}

Error Parser::checkName(StringRef name, StringRef previous, StringRef what) {
  if (name.empty())
    return damaged("the name of an " + what + " is empty");
  if (name.contains('\0'))
    return damaged("the name of an " + what + " contains a zero");
  if (name <= previous)
    return damaged("the name of an " + what + " is not behind the one before");
  return Error::success();
}

Error Parser::checkEnd(StringRef what) {
  if (cursor)
    return Error::success();
  llvm::consumeError(cursor.takeError());
  return damaged("it ends in its " + what);
}

Error Parser::parseHeader(Counts &counts) {
  uint32_t version = data.getU32(cursor);
  uint32_t architecture = data.getU32(cursor);
  contents.pageBytes = data.getU32(cursor);
  for (uint32_t Counts::*count :
       {&Counts::code, &Counts::constants, &Counts::pointers, &Counts::entries,
        &Counts::imports, &Counts::bases})
    counts.*count = data.getU32(cursor);
  if (Error error = checkEnd("header"))
    return error;
  if (version != kVersion)
    return createStringError("the code image has version " + Twine(version) +
                             "; this program reads version " + Twine(kVersion));
  contents.architecture = ImageArchitecture(architecture);
  if (contents.architecture != ImageArchitecture::X86_64 &&
      contents.architecture != ImageArchitecture::AArch64)
    return createStringError(
        "the code image is for an architecture of number " +
        Twine(architecture) + ", which this program does not know");
  if (!llvm::isPowerOf2_32(contents.pageBytes) ||
      contents.pageBytes < kMinImagePageBytes ||
      contents.pageBytes > kMaxImagePageBytes)
    return damaged("its pages have " + Twine(contents.pageBytes) + " bytes");
  if (counts.code == 0)
    return damaged("it has no code");
  for (uint32_t size : {counts.code, counts.constants, counts.pointers})
    if (size > kMaxSegmentBytes)
      return damaged("a segment has " + Twine(size) + " bytes, of " +
                     Twine(kMaxSegmentBytes) + " at most");
  if (counts.pointers % 8 != 0)
    return damaged("the size of its pointers, " + Twine(counts.pointers) +
                   ", is no multiple of 8");
  return Error::success();
}

Error Parser::parseEntries(uint32_t count, uint32_t codeBytes) {
  if (Error error = checkCount(count, kMinEntryBytes, "entries"))
    return error;
  unsigned align = contents.architecture == ImageArchitecture::AArch64 ? 4 : 1;
  StringRef previous;
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t offset = data.getU32(cursor);
    uint32_t length = data.getU32(cursor);
    StringRef name = data.getBytes(cursor, length);
    if (Error error = checkEnd("entries"))
      return error;
    if (Error error = checkName(name, previous, "entry"))
      return error;
    if (offset >= codeBytes || offset % align != 0)
      return damaged("an entry is at " + Twine(offset) + " of " +
                     Twine(codeBytes) + " bytes of code");
    contents.entries.push_back({name, offset});
    previous = name;
  }
  return Error::success();
}

Error Parser::parseImports(uint32_t count) {
  if (Error error = checkCount(count, kMinImportBytes, "imports"))
    return error;
  StringRef previous;
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t length = data.getU32(cursor);
    uint32_t slots = data.getU32(cursor);
    StringRef name = data.getBytes(cursor, length);
    if (Error error = checkEnd("imports"))
      return error;
    if (Error error = checkName(name, previous, "import"))
      return error;
    if (slots == 0)
      return damaged("an import has no places");
    if (Error error = checkCount(slots, 4, "places of an import"))
      return error;
    ImageContents::Import import{name, {}};
    for (uint32_t j = 0; j < slots; ++j)
      import.slots.push_back(data.getU32(cursor));
    contents.imports.push_back(std::move(import));
    previous = name;
  }
  return checkEnd("imports");
}

Error Parser::parseBases(uint32_t count) {
  if (Error error = checkCount(count, 4, "bases"))
    return error;
  for (uint32_t i = 0; i < count; ++i)
    contents.bases.push_back(data.getU32(cursor));
  return checkEnd("bases");
}

Error Parser::parseSegments(const Counts &counts) {
  uint64_t expected =
      uint64_t(counts.code) + counts.constants + counts.pointers;
  if (getBytesLeft() != expected)
    return damaged("its segments have " + Twine(expected) + " bytes, and " +
                   Twine(getBytesLeft()) + " are there");
  auto take = [&](uint32_t size) {
    StringRef text = data.getBytes(cursor, size);
    return ArrayRef<char>(text.data(), text.size());
  };
  contents.code = take(counts.code);
  contents.constants = take(counts.constants);
  contents.pointers = take(counts.pointers);
  return checkEnd("segments");
}

/// Words at multiples of 8 overlap where they are the same one.
Error Parser::checkSlots() {
  std::vector<bool> isTaken(contents.pointers.size() / 8);
  auto checkAll = [&](ArrayRef<uint32_t> places) -> Error {
    for (uint32_t place : places) {
      if (place % 8 != 0 || place / 8 >= isTaken.size())
        return damaged("an address is at " + Twine(place) + " of " +
                       Twine(contents.pointers.size()) +
                       " bytes of pointers, where a multiple of 8 is expected");
      if (isTaken[place / 8])
        return damaged("two addresses are at the same place, " + Twine(place));
      isTaken[place / 8] = true;
    }
    return Error::success();
  };
  for (const ImageContents::Import &import : contents.imports)
    if (Error error = checkAll(import.slots))
      return error;
  return checkAll(contents.bases);
}

Expected<ImageContents> Parser::parse() {
  Counts counts = {};
  Error error = parseHeader(counts);
  if (!error)
    error = parseEntries(counts.entries, counts.code);
  if (!error)
    error = parseImports(counts.imports);
  if (!error)
    error = parseBases(counts.bases);
  if (!error)
    error = parseSegments(counts);
  if (!error)
    error = checkSlots();
  if (error)
    return std::move(error);
  return std::move(contents);
}

Expected<ImageContents> metaops::parseImage(ArrayRef<char> bytes) {
  StringRef text(bytes.data(), bytes.size());
  if (!text.starts_with(kMagic))
    return createStringError("this is no code image; one starts with \"" +
                             kMagic + "\"");
  if (text.size() < kHeaderBytes + kChecksumBytes)
    return damaged("it has " + Twine(text.size()) + " bytes, of " +
                   Twine(kHeaderBytes + kChecksumBytes) + " at least");
  // Checksums of other versions may be elsewhere.
  uint32_t version =
      llvm::support::endian::read32le(text.data() + kMagic.size());
  StringRef sum = text.take_back(kChecksumBytes);
  text = text.drop_back(kChecksumBytes);
  if (version == kVersion &&
      ArrayRef(sum.bytes_begin(), kChecksumBytes) != ArrayRef(sumOf(text)))
    return damaged("its checksum is wrong");
  return Parser(text).parse();
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

std::string metaops::writeImage(const ImageContents &contents) {
  std::string bytes = kMagic.str();
  auto write = [&](uint64_t number) {
    char word[4];
    llvm::support::endian::write32le(word, uint32_t(number));
    bytes.append(word, 4);
  };
  write(kVersion);
  write(uint32_t(contents.architecture));
  write(contents.pageBytes);
  for (ArrayRef<char> segment :
       {contents.code, contents.constants, contents.pointers})
    write(segment.size());
  write(contents.entries.size());
  write(contents.imports.size());
  write(contents.bases.size());
  for (const ImageContents::Entry &entry : contents.entries) {
    write(entry.offset);
    write(entry.name.size());
    bytes += entry.name;
  }
  for (const ImageContents::Import &import : contents.imports) {
    write(import.name.size());
    write(import.slots.size());
    bytes += import.name;
    llvm::for_each(import.slots, write);
  }
  llvm::for_each(contents.bases, write);
  for (ArrayRef<char> segment :
       {contents.code, contents.constants, contents.pointers})
    bytes.append(segment.data(), segment.size());
  auto sum = sumOf(bytes);
  bytes.append(sum.begin(), sum.end());
  return bytes;
}
