//===- GivenData.h - Numbers that were given as data ------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Few numbers that somebody has given, and that nothing computes or may change,
// can be looked at while what reads them is recorded. What is computed does not
// count, even if it happens to be there already: what is recorded, and what is
// an error, does not depend on time.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_RECORDING_GIVENDATA_H
#define METAOPS_RUNTIME_RECORDING_GIVENDATA_H

#include "MetaOps/Runtime/Graph/Graph.h"

#include <optional>

namespace metaops {

/// Returns whether a value is data in the host's memory that can be looked at.
bool isGivenData(const Node &node);

/// Returns the first element of given data, or of a number, that is not from
/// `lowest` to `highest`, if there is one.
std::optional<double> findOutside(const Node &node, double lowest,
                                  double highest);

} // namespace metaops

#endif // METAOPS_RUNTIME_RECORDING_GIVENDATA_H
