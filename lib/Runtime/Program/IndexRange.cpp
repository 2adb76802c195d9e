//===- IndexRange.cpp - What indices have to be ---------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Program/IndexRange.h"

using namespace metaops;

std::optional<std::string> metaops::describeOutOfRange(const IndexRange &range,
                                                       int64_t lowest,
                                                       int64_t highest) {
  if (range.contains(lowest) && range.contains(highest))
    return std::nullopt;
  std::string number =
      std::to_string(range.contains(highest) ? lowest : highest);
  std::string extent = std::to_string(range.extent);
  if (!range.dim)
    return "label " + number + " is out of range for " + extent + " classes";
  return "index " + number + " is out of range for dimension " +
         std::to_string(*range.dim) + " of extent " + extent;
}
