//===- Mutators.h - Programs that are nearly right --------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TOOLS_METAOP_FUZZ_MUTATORS_H
#define METAOPS_TOOLS_METAOP_FUZZ_MUTATORS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace metaops::fuzz {

using Random = std::minstd_rand;

/// A number in [0, count); 0 if there is none.
inline size_t draw(Random &random, size_t count) {
  return count ? random() % count : 0;
}

/// Words that programs are made of: names of operations and attributes.
using Dictionary = std::vector<std::string>;

/// A program's text with one to four changes of tokens or lines.
std::string mutateText(llvm::StringRef text, const Dictionary &words,
                       Random &random);

/// Returns whether this starts as MLIR's bytecode does.
bool isBytecode(llvm::StringRef data);

/// A program in bytecode with some bytes changed of which the dialect's own
/// attributes and properties are read. What cannot be divided into sections is
/// returned as given.
std::string mutateBytecode(llvm::StringRef data, Random &random);

} // namespace metaops::fuzz

#endif // METAOPS_TOOLS_METAOP_FUZZ_MUTATORS_H
