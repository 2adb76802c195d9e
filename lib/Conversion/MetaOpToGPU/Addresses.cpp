//===- Addresses.cpp - Memory that no memref reaches ----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Atomic accesses have an order and a scope, which those of memrefs cannot say.
// A cast is the address of a memref, whatever the width of indices is.
// No memref lies in another block: an address of this block's memory is mapped
// to that of the same memory there.
//
//===----------------------------------------------------------------------===//

#include "Addresses.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::metaop;

static Value emitInteger(OpBuilder &b, Location loc, Value index,
                         unsigned width) {
  return arith::IndexCastOp::create(b, loc, b.getIntegerType(width), index);
}

Value metaop::emitAddress(OpBuilder &b, Location loc, Value memory, Value place,
                          Type element) {
  auto type = cast<MemRefType>(memory.getType());
  auto pointer =
      LLVM::LLVMPointerType::get(b.getContext(), type.getMemorySpaceAsInt());
  auto base = UnrealizedConversionCastOp::create(b, loc, pointer, memory);
  return LLVM::GEPOp::create(
      b, loc, pointer, element ? element : type.getElementType(),
      base.getResult(0), ValueRange{emitInteger(b, loc, place, 64)});
}

Value metaop::emitClusterLoad(OpBuilder &b, Location loc, Value memory,
                              Value place, Value block) {
  auto shared = LLVM::LLVMPointerType::get(
      b.getContext(),
      static_cast<unsigned>(NVVM::NVVMMemorySpace::SharedCluster));
  Value there =
      NVVM::MapaOp::create(b, loc, shared, emitAddress(b, loc, memory, place),
                           emitInteger(b, loc, block, 32));
  Type element = cast<MemRefType>(memory.getType()).getElementType();
  return LLVM::LoadOp::create(b, loc, element, there);
}
