//===- IndexRange.h - What indices have to be -------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_SUPPORT_INDEXRANGE_H
#define METAOPS_SUPPORT_INDEXRANGE_H

#include <cstdint>
#include <optional>
#include <string>

namespace metaops {

/// A range that integers have to be in.
struct IndexRange {
  /// The dimension that they index; none for labels of classes, and for numbers
  /// of trips.
  std::optional<int64_t> dim;
  int64_t extent = 0;
  /// Negative ones count from the end.
  bool hasNegative = false;
  /// A label that may be out of range.
  std::optional<int64_t> ignored = std::nullopt;
  /// Set for numbers of a loop's trips, of which there may be fewer than
  /// `extent`.
  bool areTrips = false;

  /// Returns what the number of trips of a loop has to be.
  static IndexRange ofTrips(int64_t most) {
    IndexRange range;
    range.extent = most + 1;
    range.areTrips = true;
    return range;
  }

  bool contains(int64_t index) const {
    return (index >= (hasNegative ? -extent : 0) && index < extent) ||
           index == ignored;
  }
};

/// Returns what is wrong with indices of which these are the lowest and the
/// highest; nothing where both are in the range, or where the lowest is above
/// the highest: there are no indices then.
inline std::optional<std::string>
describeOutOfRange(const IndexRange &range, int64_t lowest, int64_t highest) {
  if (lowest > highest || (range.contains(lowest) && range.contains(highest)))
    return std::nullopt;
  std::string number =
      std::to_string(range.contains(highest) ? lowest : highest);
  if (range.areTrips)
    return "a loop is to make " + number + " trips, but its max_trips is " +
           std::to_string(range.extent - 1);
  std::string extent = std::to_string(range.extent);
  if (!range.dim)
    return "label " + number + " is out of range for " + extent + " classes";
  return "index " + number + " is out of range for dimension " +
         std::to_string(*range.dim) + " of extent " + extent;
}

} // namespace metaops

#endif // METAOPS_SUPPORT_INDEXRANGE_H
