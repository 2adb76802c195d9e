//===- metaop-opt.cpp - Runs passes on .mlir files ------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../ToolDialects.h"
#include "MetaOps/Pipelines/Pipelines.h"
#include "MetaOps/Target/AllTargets.h"
#include "mlir/Dialect/Func/Transforms/Passes.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registerToolDialects(registry);
  mlir::registerTransformsPasses();
  mlir::func::registerFuncPasses();
  auto targets = std::make_shared<mlir::metaop::TargetRegistry>();
  mlir::metaop::registerAllTargets(*targets);
  mlir::metaop::registerMetaOpsPasses(std::move(targets));
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "MetaOps: a compiler for tensor programs\n", registry));
}
