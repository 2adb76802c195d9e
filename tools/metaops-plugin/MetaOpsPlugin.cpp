//===- MetaOpsPlugin.cpp - The dialect and its passes for other tools -----===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.h"
#include "MetaOps/Pipelines/Pipelines.h"
#include "MetaOps/Target/AllTargets.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

static void registerPasses() {
  auto targets = std::make_shared<mlir::metaop::TargetRegistry>();
  mlir::metaop::registerAllTargets(*targets);
  mlir::metaop::registerMetaOpsPasses(std::move(targets));
}

static void registerDialect(mlir::DialectRegistry *registry) {
  registry->insert<mlir::metaop::MetaOpDialect>();
}

extern "C" LLVM_ATTRIBUTE_WEAK ::mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "MetaOps", "0.1", registerDialect};
}

extern "C" LLVM_ATTRIBUTE_WEAK ::mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "MetaOps", "0.1", registerPasses};
}
