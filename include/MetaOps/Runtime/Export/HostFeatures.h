//===- HostFeatures.h - What the processor has ------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_EXPORT_HOSTFEATURES_H
#define METAOPS_RUNTIME_EXPORT_HOSTFEATURES_H

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace metaops {

/// The features of this processor that code can ask for, its architecture
/// ("x86-64" or "aarch64") first. Names are those of LLVM.
std::vector<std::string> getHostFeatures();

/// Returns the features that code for a usual kind of processors asks for: of
/// "x86-64-v2", "x86-64-v3", "x86-64-v4" or "aarch64". Empty for any other
/// name.
std::vector<std::string> getTargetFeatures(llvm::StringRef target);

/// Of the names that there is code for (CodeTarget::find), the one with most
/// features that this processor has; empty where it has those of none.
std::string findHostTarget();

} // namespace metaops

#endif // METAOPS_RUNTIME_EXPORT_HOSTFEATURES_H
