//===- WriteProgramFile.cpp - Making program files ------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A section is a list of parts, so that weights are hashed and written from
// where they are. All sizes and checksums are known before the first byte goes
// out: the table stands in front.
//
//===----------------------------------------------------------------------===//

#include "BoundedJson.h"
#include "FileLayout.h"
#include "MetaOps/Runtime/Export/ProgramFile.h"
#include "WeightFormat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Alignment.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace metaops;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;
using llvm::support::endian::write32le;
using llvm::support::endian::write64le;

/// Bytes that fill parts up.
static constexpr char kZeros[kSectionAlignment] = {};

namespace {
struct Section {
  uint32_t kind, function, target;
  std::vector<StringRef> parts;
  /// Its place among those of the function.
  uint32_t program = 0;

  uint64_t getSize() const {
    uint64_t size = 0;
    for (StringRef part : parts)
      size += part.size();
    return size;
  }
};
} // namespace

/// Returns what takes `size` bytes to the next multiple of the alignment.
static StringRef getPadding(uint64_t size) {
  return StringRef(
      kZeros, llvm::offsetToAlignment(size, llvm::Align(kSectionAlignment)));
}

static Error checkFunctions(const ProgramFileContents &contents) {
  size_t numFunctions = contents.signature.functions.size();
  size_t numTargets = contents.signature.targets.size();
  size_t numPrograms = 0;
  for (const FunctionSignature &function : contents.signature.functions)
    numPrograms += function.getNumPrograms();
  // Of each function the IR, and for each target the code and programs; two
  // others.
  if (numPrograms > kMaxSections || numTargets > kMaxSections ||
      numFunctions * (numTargets + 1) + numPrograms * numTargets + 2 >
          kMaxSections)
    return createStringError("there are " + Twine(numPrograms) +
                             " programs for " + Twine(numTargets) +
                             " targets, too many for a program file");
  if (contents.functions.size() != numFunctions)
    return createStringError("the signature has " + Twine(numFunctions) +
                             " functions, given " +
                             Twine(contents.functions.size()));
  for (auto [signature, function] :
       llvm::zip_equal(contents.signature.functions, contents.functions)) {
    if (function.code.size() != numTargets)
      return createStringError("the signature has " + Twine(numTargets) +
                               " targets, and there is code for " +
                               Twine(function.code.size()));
    for (const ProgramFileContents::Code &code : function.code)
      if (code.programs.size() != signature.getNumPrograms())
        return createStringError(
            "the signature has " + Twine(signature.getNumPrograms()) +
            " programs of a function, given " + Twine(code.programs.size()));
  }
  return Error::success();
}

static Error checkWeights(const ProgramFileContents &contents) {
  const ProgramSignature &signature = contents.signature;
  if (contents.weights.size() != signature.weights.size())
    return createStringError(
        "the signature has " + Twine(signature.weights.size()) +
        " weights, given " + Twine(contents.weights.size()));
  for (auto [spec, given] :
       llvm::zip_equal(signature.weights, contents.weights)) {
    if (given.size() != size_t(spec.getBytes()))
      return createStringError(
          "the weight '" + spec.name + "' is " + formatType(spec) + " of " +
          Twine(spec.getBytes()) + " bytes, given " + Twine(given.size()));
    if (isGapName(spec.name))
      return createStringError("no weight can have the name '" + spec.name +
                               "', which program files use themselves");
  }
  return Error::success();
}

static Error checkContents(const ProgramFileContents &contents) {
  if (Error error = verifySignature(contents.signature))
    return error;
  if (Error error = checkFunctions(contents))
    return error;
  return checkWeights(contents);
}

/// Returns all sections, of which the first and the one of weights begin with
/// the given texts.
static std::vector<Section> listSections(const ProgramFileContents &contents,
                                         StringRef signature,
                                         StringRef weightHeader) {
  std::vector<Section> sections = {{kSignatureSection, 0, 0, {signature}}};
  for (auto [place, function] : llvm::enumerate(contents.functions)) {
    auto number = uint32_t(place);
    for (auto [target, code] : llvm::enumerate(function.code)) {
      auto to = uint32_t(target);
      for (auto [program, bytes] : llvm::enumerate(code.programs))
        sections.push_back(
            {kProgramSection, number, to, {bytes}, uint32_t(program)});
      sections.push_back({kImageSection, number, to, {code.image}});
    }
    if (!function.ir.empty())
      sections.push_back({kIRSection, number, 0, {function.ir}});
  }
  if (contents.weights.empty())
    return sections;
  Section &weights = sections.emplace_back();
  weights = {kWeightSection, 0, 0, {weightHeader}};
  for (llvm::ArrayRef<char> weight : contents.weights) {
    weights.parts.emplace_back(weight.data(), weight.size());
    weights.parts.push_back(getPadding(weight.size()));
  }
  return sections;
}

/// Returns everything in front of the first section.
static std::string writeFront(llvm::ArrayRef<Section> sections) {
  uint64_t tableBytes = sections.size() * kFileEntryBytes;
  uint64_t offset = kFileHeaderBytes + tableBytes;
  std::string front(offset, '\0');
  char *entry = front.data() + kFileHeaderBytes;
  for (const Section &section : sections) {
    uint64_t size = section.getSize();
    write32le(entry, section.kind);
    write32le(entry + 4, section.target);
    write64le(entry + 8, offset);
    write64le(entry + 16, size);
    write32le(entry + 24, section.function);
    write32le(entry + 28, section.program);
    sumFileBytes(section.parts)
        .copy(entry + kFileEntryBytes - kFileChecksumBytes, kFileChecksumBytes);
    offset = llvm::alignTo(offset + size, kSectionAlignment);
    entry += kFileEntryBytes;
  }
  kFileMagic.str().copy(front.data(), kFileMagic.size());
  write32le(front.data() + 8, kFileVersion);
  write32le(front.data() + 12, sections.size());
  write64le(front.data() + 16, offset);
  StringRef text = front;
  sumFileBytes(
      {text.take_front(kFileSummedBytes), text.drop_front(kFileHeaderBytes)})
      .copy(front.data() + kFileSummedBytes, kFileChecksumBytes);
  return front;
}

Error metaops::writeProgramFile(const ProgramFileContents &contents,
                                llvm::raw_ostream &stream) {
  if (Error error = checkContents(contents))
    return error;
  std::string signature = writeSignature(contents.signature);
  std::string weightHeader = writeWeightHeader(contents.signature.weights);
  if (std::max(signature.size(), weightHeader.size()) > kMaxJsonBytes)
    return createStringError("the names and shapes of tensors take more than " +
                             Twine(kMaxJsonBytes) + " bytes in a program file");
  std::vector<Section> sections =
      listSections(contents, signature, weightHeader);
  stream << writeFront(sections);
  for (const Section &section : sections) {
    for (StringRef part : section.parts)
      stream << part;
    stream << getPadding(section.getSize());
  }
  return Error::success();
}

Expected<std::string>
metaops::writeProgramFile(const ProgramFileContents &contents) {
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  if (Error error = writeProgramFile(contents, stream))
    return std::move(error);
  return bytes;
}
