//===- metaop-lsp-server.cpp - Editors' server for .mlir files ------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Speaks the Language Server Protocol, so that an editor shows errors, types
// and definitions in files of the dialect.
//
//===----------------------------------------------------------------------===//

#include "../ToolDialects.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registerToolDialects(registry);
  return failed(mlir::MlirLspServerMain(argc, argv, registry));
}
