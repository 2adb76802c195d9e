//===- Plugin.h - Routines of shared libraries ------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_ROUTINES_PLUGIN_H
#define METAOPS_RUNTIME_ROUTINES_PLUGIN_H

#include "MetaOps/Runtime/Routines/RoutineRegistry.h"

namespace metaops {

/// Loads a plugin (metaops-c/routine.h), for as long as the process lives, and
/// adds its implementations. Returns the names of their routines. Fails where
/// there is no such library, or it is no plugin of this version.
llvm::Expected<std::vector<std::string>>
loadRoutines(llvm::StringRef path, RoutineRegistry &registry);

} // namespace metaops

#endif // METAOPS_RUNTIME_ROUTINES_PLUGIN_H
