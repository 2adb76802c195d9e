//===- ProgramFile.cpp - Programs in files of their own -------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program file, all numbers of which are little-endian:
//
//   header    magic, version, number of sections, size of the file, and the
//             checksum of all that and the table: 64 bytes
//   table     an entry of 64 bytes for each section: kind, target, offset,
//             size, function, the function's program, checksum
//   sections  in the order of the table, each at the next multiple of 64
//
// docs/ProgramFile.md has the details. Checksums tell damage, not malice:
// whoever may write a file has its code run. Still no number is used before it
// is compared with what it counts or points into, so that wrong bytes are an
// error whatever their checksums.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Export/ProgramFile.h"
#include "FileLayout.h"
#include "FileSource.h"
#include "WeightFormat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <utility>

using namespace metaops;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;
using llvm::support::endian::read32le;
using llvm::support::endian::read64le;

static Error damaged(const Twine &what) {
  return createStringError("the program file is damaged: " + what);
}

static Error damaged(Error error) {
  return damaged(llvm::toString(std::move(error)));
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

ProgramFile::ProgramFile(std::unique_ptr<FileSource> source)
    : source(std::move(source)) {}
ProgramFile::~ProgramFile() = default;
ProgramFile::ProgramFile(ProgramFile &&other) noexcept = default;
ProgramFile &ProgramFile::operator=(ProgramFile &&other) noexcept = default;

Expected<ProgramFile> ProgramFile::open(StringRef path) {
  auto source = FileSource::open(path);
  if (!source)
    return createStringError("the program file cannot be read: " +
                             llvm::toString(source.takeError()));
  return read(std::move(*source));
}

Expected<ProgramFile> ProgramFile::read(StringRef bytes) {
  auto source = FileSource::copy(bytes);
  if (!source)
    return createStringError("the program file cannot be read: " +
                             llvm::toString(source.takeError()));
  return read(std::move(*source));
}

Expected<ProgramFile> ProgramFile::read(std::unique_ptr<FileSource> source) {
  ProgramFile file(std::move(source));
  if (Error error = file.readHeader())
    return std::move(error);
  if (Error error = file.readSignature())
    return std::move(error);
  if (Error error = file.checkCode())
    return std::move(error);
  if (Error error = file.findWeights())
    return std::move(error);
  return std::move(file);
}

Error ProgramFile::readHeader() {
  uint64_t size = source->getSize();
  auto header = source->read(0, std::min(size, kFileHeaderBytes));
  if (!header)
    return header.takeError();
  if (!StringRef(*header).starts_with(kFileMagic))
    return createStringError("this is no program file; one starts with \"" +
                             kFileMagic + "\"");
  if (size < kFileHeaderBytes)
    return damaged("it has " + Twine(size) + " bytes, of " +
                   Twine(kFileHeaderBytes) + " at least");
  const char *numbers = header->data() + kFileMagic.size();
  uint32_t version = read32le(numbers);
  if (version != kFileVersion && version != kSortsFileVersion)
    return createStringError("the program file has version " + Twine(version) +
                             "; this program reads versions " +
                             Twine(kSortsFileVersion) + " and " +
                             Twine(kFileVersion));
  if (version == kSortsFileVersion)
    layout = ProgramLayout::SortsAlone;
  uint32_t count = read32le(numbers + 4);
  if (uint64_t expected = read64le(numbers + 8); expected != size)
    return damaged("it should have " + Twine(expected) + " bytes, and has " +
                   Twine(size));
  if (count > kMaxSections ||
      count > (size - kFileHeaderBytes) / kFileEntryBytes)
    return damaged("it counts " + Twine(count) + " sections, of " +
                   Twine(kMaxSections) + " at most, in " + Twine(size) +
                   " bytes");
  auto table = source->read(kFileHeaderBytes, count * kFileEntryBytes);
  if (!table)
    return table.takeError();
  StringRef front = StringRef(*header).take_front(kFileSummedBytes);
  if (sumFileBytes({front, *table}) !=
      StringRef(*header).drop_front(kFileSummedBytes))
    return damaged("the checksum of its header is wrong");
  return parseTable(*table);
}

Error ProgramFile::parseTable(StringRef table) {
  uint64_t end = kFileHeaderBytes + table.size();
  for (; !table.empty(); table = table.drop_front(kFileEntryBytes)) {
    Section section;
    section.kind = read32le(table.data());
    section.target = read32le(table.data() + 4);
    section.offset = read64le(table.data() + 8);
    section.size = read64le(table.data() + 16);
    section.function = read32le(table.data() + 24);
    section.program = read32le(table.data() + 28);
    section.checksum =
        table.substr(kFileEntryBytes - kFileChecksumBytes, kFileChecksumBytes)
            .str();
    if (Error error = addSection(std::move(section), end))
      return error;
  }
  return Error::success();
}

Error ProgramFile::addSection(Section section, uint64_t tableEnd) {
  uint64_t size = source->getSize(), end = tableEnd;
  if (!sections.empty())
    end = sections.back().offset + sections.back().size;
  if (section.offset % kSectionAlignment != 0 || section.offset < end ||
      section.offset > size || section.size > size - section.offset)
    return damaged("a section of " + Twine(section.size) + " bytes at " +
                   Twine(section.offset) + " is not in its place");
  auto [place, isNew] = places.try_emplace(
      {section.kind, section.function, section.target, section.program},
      sections.size());
  if (!isNew)
    return damaged("it has two sections of kind " + Twine(section.kind) +
                   " of function " + Twine(section.function) + " for target " +
                   Twine(section.target));
  sections.push_back(std::move(section));
  return Error::success();
}

const ProgramFile::Section *ProgramFile::find(uint32_t kind, uint32_t function,
                                              uint32_t target,
                                              uint32_t program) const {
  auto found = places.find({kind, function, target, program});
  return found == places.end() ? nullptr : &sections[found->second];
}

Expected<std::string> ProgramFile::readSection(const Section &section) const {
  auto bytes = source->read(section.offset, section.size);
  if (!bytes)
    return damaged(bytes.takeError());
  if (sumFileBytes(StringRef(*bytes)) != section.checksum)
    return damaged("the checksum of its section at " + Twine(section.offset) +
                   " is wrong");
  return bytes;
}

Expected<std::string> ProgramFile::readSection(uint32_t kind, uint32_t function,
                                               uint32_t target,
                                               uint32_t program) const {
  if (const Section *section = find(kind, function, target, program))
    return readSection(*section);
  return createStringError("the program file has no section of kind " +
                           Twine(kind) + " of function " + Twine(function) +
                           " for target " + Twine(target));
}

Error ProgramFile::readSignature() {
  if (!find(kSignatureSection))
    return damaged("it has no signature");
  auto text = readSection(kSignatureSection, 0, 0);
  if (!text)
    return text.takeError();
  auto read = metaops::readSignature(*text);
  if (!read)
    return damaged("in its signature, " + llvm::toString(read.takeError()));
  signature = std::move(*read);
  return Error::success();
}

Error ProgramFile::checkCode() const {
  // A count that is larger than that of sections ends at the first that lacks.
  for (auto [function, described] : llvm::enumerate(signature.functions))
    for (auto [target, processors] : llvm::enumerate(signature.targets)) {
      bool isThere = find(kImageSection, function, target);
      for (unsigned i = 0; isThere && i < described.getNumPrograms(); ++i)
        isThere = find(kProgramSection, function, target, i);
      if (!isThere)
        return damaged("it lacks a program or the code of its function '" +
                       described.name + "' for its target '" + processors.name +
                       "'");
    }
  return Error::success();
}

bool ProgramFile::hasIR(unsigned function) const {
  return find(kIRSection, function);
}

Expected<std::string> ProgramFile::readProgram(unsigned function,
                                               unsigned target,
                                               unsigned program) const {
  return readSection(kProgramSection, function, target, program);
}
Expected<std::string> ProgramFile::readImage(unsigned function,
                                             unsigned target) const {
  return readSection(kImageSection, function, target);
}
Expected<std::string> ProgramFile::readIR(unsigned function) const {
  return readSection(kIRSection, function, 0);
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

Error ProgramFile::findWeights() {
  const Section *section = find(kWeightSection);
  if (signature.weights.empty())
    return Error::success();
  if (!section || section->size < 8)
    return damaged("it has no weights, and its signature has");
  auto prefix = source->read(section->offset, 8);
  if (!prefix)
    return damaged(prefix.takeError());
  uint64_t headerBytes = read64le(prefix->data());
  if (headerBytes > section->size - 8)
    return damaged("the header of its weights is longer than these");
  // A copy: the mapping may change while it is looked at.
  auto header = source->read(section->offset + 8, headerBytes);
  if (!header)
    return damaged(header.takeError());
  uint64_t dataBytes = section->size - 8 - headerBytes;
  auto tensors = readWeightHeader(*header, dataBytes);
  if (!tensors)
    return damaged(tensors.takeError());
  for (const TensorSpec &expected : signature.weights) {
    auto found =
        llvm::partition_point(*tensors, [&](const PlacedTensor &placed) {
          return placed.tensor.name < expected.name;
        });
    if (found == tensors->end() || found->tensor.name != expected.name)
      return damaged("its weight '" + expected.name + "' is not there");
    if (Error error = checkWeight(expected, found->tensor))
      return error;
    uint64_t begin = 8 + headerBytes + found->begin;
    // The section begins at such a multiple.
    if (begin % kWeightAlignment != 0 ||
        llvm::alignTo(begin + expected.getBytes(), kWeightAlignment) >
            section->size)
      return damaged("its weight '" + expected.name +
                     "' is not aligned to 64 bytes, or not padded");
    weightOffsets.push_back(begin);
  }
  auto mapped = source->map(section->offset, section->size);
  if (!mapped)
    return createStringError("the weights of the program file: " +
                             llvm::toString(mapped.takeError()));
  weights = std::move(*mapped);
  return Error::success();
}

Error ProgramFile::checkWeight(const TensorSpec &expected,
                               const TensorSpec &found) const {
  if (expected.dtype == found.dtype && expected.shape == found.shape)
    return Error::success();
  return damaged("its weight '" + expected.name + "' is " + formatType(found) +
                 ", and " + formatType(expected) + " by its signature");
}

BufferRef ProgramFile::getWeight(unsigned number) const {
  char *data = const_cast<char *>(weights.get()) + weightOffsets[number];
  return Buffer::wrap(data, signature.weights[number].getBytes(),
                      [kept = weights] {});
}

Error ProgramFile::verify() const {
  for (const Section &section : sections) {
    if (section.kind == kWeightSection && weights) {
      // These may be more than fits into memory twice.
      if (sumFileBytes(StringRef(weights.get(), section.size)) ==
          section.checksum)
        continue;
      return damaged("the checksum of its weights is wrong");
    }
    auto bytes = readSection(section);
    if (!bytes)
      return bytes.takeError();
  }
  return Error::success();
}
