//===- SliceGraph.h - A slice as plain data ---------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_PROFILER_SLICEGRAPH_H
#define METAOPS_RUNTIME_PROFILER_SLICEGRAPH_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace metaops {

/// One operation of a slice.
struct SliceNode {
  /// Without the dialect's.
  std::string name;
  /// A position in the slice, or -1 - k for leaf k. Behind the operands proper
  /// stands what regions capture.
  std::vector<int64_t> operands;
  /// Shape and element type, as in "4x8xf32"; of several results "4xf32,
  /// 4xi64".
  std::string type;
};

struct SliceGraph {
  /// The types of the values that the slice starts from.
  std::vector<std::string> leaves;
  /// Each after its operands.
  std::vector<SliceNode> nodes;
  /// As operands of a node.
  std::vector<int64_t> outputs;
};

/// The structure of a slice that is given as MLIR bytecode.
llvm::Expected<SliceGraph> readSliceGraph(llvm::StringRef bytecode);

} // namespace metaops

#endif // METAOPS_RUNTIME_PROFILER_SLICEGRAPH_H
