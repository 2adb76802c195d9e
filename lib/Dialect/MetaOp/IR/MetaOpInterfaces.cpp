//===- MetaOpInterfaces.cpp - What an operation says of itself ------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/MetaOpInterfaces.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpAttributes.h"

using namespace mlir;
using namespace mlir::metaop;

#include "MetaOps/Dialect/MetaOp/IR/MetaOpEnums.cpp.inc"

#include "MetaOps/Dialect/MetaOp/IR/MetaOpInterfaces.cpp.inc"
