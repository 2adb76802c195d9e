//===- SpecialRegisters.cpp - Special registers of threads ----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Special registers are numbers in the thread, or in a table of its block.
// Masks of lanes follow from the lane. Clocks are no part of the emulator: it
// has no time.
//
//===----------------------------------------------------------------------===//

#include "SpecialRegisters.h"

using namespace mlir;
using namespace mlir::metaop;
using ::metaops::BlockRegister;
using ::metaops::ThreadRegister;

namespace {
struct OwnRow {
  StringLiteral name;
  ThreadRegister number;
};
struct BlockRow {
  StringLiteral name;
  BlockRegister number;
  /// True if there is one for each of x, y and z.
  bool hasDimensions = false;
};
} // namespace

static constexpr OwnRow ownRows[] = {{"tid.x", ThreadRegister::TidX},
                                     {"tid.y", ThreadRegister::TidY},
                                     {"tid.z", ThreadRegister::TidZ},
                                     {"laneid", ThreadRegister::LaneId},
                                     {"warpid", ThreadRegister::WarpId}};

static constexpr BlockRow blockRows[] = {
    {"ntid", BlockRegister::Ntid, true},
    {"ctaid", BlockRegister::Ctaid, true},
    {"nctaid", BlockRegister::Nctaid, true},
    {"clusterid", BlockRegister::ClusterId, true},
    {"nclusterid", BlockRegister::NclusterId, true},
    {"cluster.ctaid", BlockRegister::ClusterCtaid, true},
    {"cluster.nctaid", BlockRegister::ClusterNctaid, true},
    {"cluster.ctarank", BlockRegister::ClusterCtarank},
    {"cluster.nctarank", BlockRegister::ClusterNctarank},
    {"nwarpid", BlockRegister::NwarpId},
    {"warpsize", BlockRegister::WarpSize},
    {"smid", BlockRegister::SmId},
    {"nsmid", BlockRegister::NsmId},
    {"gridid", BlockRegister::GridId},
    {"total.smem.size", BlockRegister::TotalSharedSize},
    {"dynamic.smem.size", BlockRegister::DynamicSharedSize}};

static constexpr StringLiteral maskNames[] = {"eq", "le", "lt", "ge", "gt"};

/// lanemask.`kind` of a lane: the lanes that are so related to it.
static Value emitLaneMask(StringRef kind, Location loc,
                          KernelEmitter &emitter) {
  OpBuilder &b = emitter.getBuilder();
  Value one = emitter.emitConstant(1, 32), ones = emitter.emitConstant(-1, 32);
  Value lane = emitter.emitRegister(ThreadRegister::LaneId);
  Value equal = LLVM::ShlOp::create(b, loc, one, lane);
  if (kind == "eq")
    return equal;
  Value less = LLVM::SubOp::create(b, loc, equal, one);
  if (kind == "lt")
    return less;
  if (kind == "ge")
    return LLVM::XOrOp::create(b, loc, less, ones);
  Value lessOrEqual = LLVM::OrOp::create(b, loc, less, equal);
  if (kind == "le")
    return lessOrEqual;
  return LLVM::XOrOp::create(b, loc, lessOrEqual, ones);
}

/// The value of a register, or none if there is no such register. Nothing is
/// emitted without an emitter.
static bool find(Operation *op, KernelEmitter *emitter, Value &value) {
  StringRef name = op->getName().getStringRef();
  if (!name.consume_front("nvvm.read.ptx.sreg."))
    return false;
  for (const OwnRow &row : ownRows) {
    if (row.name != name)
      continue;
    if (emitter)
      value = emitter->emitRegister(row.number);
    return true;
  }
  for (const BlockRow &row : blockRows) {
    StringRef rest = name;
    if (!rest.consume_front(row.name))
      continue;
    size_t dimension = rest.size() == 2 ? StringRef("xyz").find(rest[1]) : 0;
    bool matches = row.hasDimensions
                       ? rest.size() == 2 && rest[0] == '.' && dimension < 3
                       : rest.empty();
    if (!matches)
      continue;
    if (emitter)
      value = emitter->emitRegister(row.number, dimension);
    return true;
  }
  if (!name.consume_front("lanemask.") || !llvm::is_contained(maskNames, name))
    return false;
  if (emitter)
    value = emitLaneMask(name, op->getLoc(), *emitter);
  return true;
}

bool metaop::isSpecialRegister(Operation *op) {
  Value none;
  return find(op, nullptr, none);
}

void metaop::emitSpecialRegister(Operation *op, KernelEmitter &emitter) {
  emitter.getBuilder().setInsertionPoint(op);
  Value value;
  find(op, &emitter, value);
  op->getResult(0).replaceAllUsesWith(value);
  op->erase();
}
