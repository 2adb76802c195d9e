//===- ImageLayout.h - Where link graphs lie in an image --------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_JIT_IMAGELAYOUT_H
#define METAOPS_LIB_RUNTIME_JIT_IMAGELAYOUT_H

#include "MetaOps/Runtime/Image/ImageFormat.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ExecutionEngine/JITLink/JITLink.h"
#include "llvm/Support/Error.h"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace metaops {

/// Fails if a graph, pruned, and before tables of addresses are made for it,
/// has what no image can hold.
llvm::Error verifyGraph(llvm::jitlink::LinkGraph &graph,
                        ImageArchitecture architecture);

/// The image that graphs are linked into.
class ImageLayout {
public:
  explicit ImageLayout(ImageArchitecture architecture)
      : architecture(architecture) {}

  /// Gives all blocks of all graphs their addresses, and the memory that they
  /// are linked in.
  llvm::Error place(llvm::ArrayRef<llvm::jitlink::LinkGraph *> graphs);

  /// The address that the linker is to use for a symbol that is external to a
  /// graph: its own if another graph defines it, else one far from all code.
  uint64_t getAddress(llvm::StringRef symbol) const;

  /// Notes the addresses in a graph that the loader has to put in, and fails if
  /// it could not. The graph's external symbols have been looked up.
  llvm::Error collectAddresses(llvm::jitlink::LinkGraph &graph);

  /// The bytes of the image, once all graphs are linked.
  llvm::Expected<std::string> write(llvm::ArrayRef<std::string> entries);

private:
  enum Segment : unsigned { Code, Constants, Pointers };

  uint32_t getPageBytes() const;
  static Segment getSegment(const llvm::jitlink::Section &section);
  llvm::Error assignOffsets(llvm::ArrayRef<llvm::jitlink::Block *> blocks,
                            Segment segment);
  void recordGlobals(llvm::ArrayRef<llvm::jitlink::LinkGraph *> graphs);
  llvm::Error collectAddress(const llvm::jitlink::LinkGraph &graph,
                             const llvm::jitlink::Block &block,
                             const llvm::jitlink::Edge &edge);
  llvm::Error addEntries(llvm::ArrayRef<std::string> names,
                         ImageContents &contents) const;
  /// The contents but for the entries. Makes words of `pointers` what the
  /// loader expects.
  ImageContents getContents();

  ImageArchitecture architecture;
  std::array<std::vector<char>, 3> segments;
  /// The first bytes of segments, from the start of the image.
  std::array<uint64_t, 3> starts = {};
  llvm::StringMap<uint64_t> globals;
  /// The places in the pointers, by the names of what they point to.
  std::map<std::string, std::vector<uint32_t>> imports;
  std::vector<uint32_t> bases;
};

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_JIT_IMAGELAYOUT_H
