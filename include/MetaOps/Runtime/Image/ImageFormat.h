//===- ImageFormat.h - Linked machine code as bytes -------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_IMAGE_IMAGEFORMAT_H
#define METAOPS_RUNTIME_IMAGE_IMAGEFORMAT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace metaops {

/// Architecture of an image's code. The values are those in the bytes.
enum class ImageArchitecture : uint32_t { X86_64 = 1, AArch64 = 2 };

/// As it is called in messages: "x86_64", "aarch64".
llvm::StringRef getName(ImageArchitecture architecture);

/// Returns the architecture of this process, if images can be made for it.
std::optional<ImageArchitecture> getHostArchitecture();

/// The sizes of the largest and of the smallest pages that an image may be made
/// for.
inline constexpr uint32_t kMaxImagePageBytes = 65536;
inline constexpr uint32_t kMinImagePageBytes = 4096;
/// No segment of an image is larger; so places in images have 32 bits.
inline constexpr uint32_t kMaxSegmentBytes = 1u << 29;

/// The parts of an image, whose texts and contents are views of memory that
/// somebody else keeps.
///
/// In memory the three segments follow each other in this order, each starting
/// on a page.
struct ImageContents {
  /// A function that is called from outside.
  struct Entry {
    llvm::StringRef name;
    /// From the start of the code.
    uint32_t offset;
  };
  /// A symbol from outside, and the places that hold its address.
  struct Import {
    llvm::StringRef name;
    /// From the start of the pointers.
    std::vector<uint32_t> slots;
  };

  ImageArchitecture architecture = ImageArchitecture::X86_64;
  /// Segments start at multiples of this, which the pages of the processor have
  /// to divide.
  uint32_t pageBytes = kMinImagePageBytes;
  /// Code, which is never written.
  llvm::ArrayRef<char> code;
  /// Data that is read only.
  llvm::ArrayRef<char> constants;
  /// Addresses, which are read only once they are known.
  llvm::ArrayRef<char> pointers;
  /// In the order of their names, which are unique, as are those of imports.
  std::vector<Entry> entries;
  std::vector<Import> imports;
  /// Places, from the start of the pointers and ascending, of 64-bit words that
  /// count from the start of the image, and become addresses.
  std::vector<uint32_t> bases;

  /// Return where segments start in memory, and where the last one's pages end.
  uint64_t getConstantsOffset() const;
  uint64_t getPointersOffset() const;
  uint64_t getMappedBytes() const;
};

/// Reads the bytes of an image, whose format is in ImageFormat.cpp. Whatever
/// the bytes are: what is returned has its places inside of segments, at
/// multiples of 8 and without overlaps, its names without zeros, and a checksum
/// that was right. It refers to `bytes`.
llvm::Expected<ImageContents> parseImage(llvm::ArrayRef<char> bytes);

/// The bytes of an image, the same ones for equal contents.
std::string writeImage(const ImageContents &contents);

} // namespace metaops

#endif // METAOPS_RUNTIME_IMAGE_IMAGEFORMAT_H
