//===- FileLayout.h - Numbers of program files ------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_EXPORT_FILELAYOUT_H
#define METAOPS_LIB_RUNTIME_EXPORT_FILELAYOUT_H

#include "WeightFormat.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/BLAKE3.h"

#include <cstdint>
#include <string>

namespace metaops {

inline constexpr llvm::StringLiteral kFileMagic = "MetaOpsP";
inline constexpr uint32_t kFileVersion = 8;
/// The version in which programs had sorts and no other routines.
inline constexpr uint32_t kSortsFileVersion = 7;
inline constexpr uint64_t kFileHeaderBytes = 64;
inline constexpr uint64_t kFileEntryBytes = 64;
inline constexpr uint64_t kFileChecksumBytes = 32;
/// Of the header that the header's checksum is of.
inline constexpr uint64_t kFileSummedBytes =
    kFileHeaderBytes - kFileChecksumBytes;
/// Sections begin at multiples of it.
inline constexpr uint64_t kSectionAlignment = 64;
static_assert(kSectionAlignment % kWeightAlignment == 0);
/// For each function one, and for each of its targets one and its programs; and
/// two others.
inline constexpr uint32_t kMaxSections = 1 << 16;

/// Kinds of sections. Others are for later readers.
enum FileSectionKind : uint32_t {
  kSignatureSection = 1,
  kProgramSection = 2,
  kImageSection = 3,
  kIRSection = 4,
  kWeightSection = 5
};

/// The checksum of bytes that follow each other.
inline std::string sumFileBytes(llvm::ArrayRef<llvm::StringRef> parts) {
  llvm::BLAKE3 hasher;
  for (llvm::StringRef part : parts)
    hasher.update(part);
  auto sum = hasher.final<kFileChecksumBytes>();
  return std::string(sum.begin(), sum.end());
}

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_EXPORT_FILELAYOUT_H
