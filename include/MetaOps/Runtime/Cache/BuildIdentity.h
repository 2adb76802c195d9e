//===- BuildIdentity.h - Which compiler this is -----------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_CACHE_BUILDIDENTITY_H
#define METAOPS_RUNTIME_CACHE_BUILDIDENTITY_H

#include <optional>
#include <string>

namespace metaops {

/// A text that differs between any two builds of this library, LLVM or MLIR,
/// so that none reads what another has written. Nothing where one of them was
/// linked without a build ID: then they cannot be told apart.
std::optional<std::string> getBuildIdentity();

/// The build ID of the program or library that an address lies in; empty where
/// it was linked without one.
std::string getBuildId(const void *address);

} // namespace metaops

#endif // METAOPS_RUNTIME_CACHE_BUILDIDENTITY_H
