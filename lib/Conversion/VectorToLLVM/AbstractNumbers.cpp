//===- AbstractNumbers.cpp - Numbers of kernels as arguments --------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two kernels that differ in nothing but extents, strides and offsets are the
// same loops with other index constants. Each constant becomes an argument, in
// the order of the text, equal or not: which of them may share one is known
// only when several vectors of numbers have been seen. What is left, the
// skeleton, is then equal for both. Binding goes the other way.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Conversion/KernelNumbers.h"
#include "MetaOps/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

#include <map>

namespace mlir::metaop {
#define GEN_PASS_DEF_ABSTRACTNUMBERSPASS
#include "MetaOps/Conversion/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

static constexpr StringLiteral kNumbers = "metaop.numbers";
/// A kernel's range, [begin, end), stands behind its buffers and numbers.
static constexpr unsigned kNumBounds = 2;

/// The function's type follows its entry block's arguments.
static void updateType(func::FuncOp kernel) {
  kernel.setFunctionType(FunctionType::get(
      kernel.getContext(), kernel.getBody().front().getArgumentTypes(),
      kernel.getResultTypes()));
}

/// Buffers forget their lengths, which nothing in a kernel asks for.
static void forgetLengths(func::FuncOp kernel) {
  for (BlockArgument argument : kernel.getArguments())
    if (auto type = dyn_cast<MemRefType>(argument.getType()))
      argument.setType(MemRefType::get({ShapedType::kDynamic},
                                       type.getElementType(), type.getLayout(),
                                       type.getMemorySpace()));
}

LogicalResult metaop::abstractNumbers(func::FuncOp kernel) {
  if (kernel->hasAttr(kNumbers))
    return success();
  ArrayRef<Type> types = kernel.getArgumentTypes();
  if (kernel.isDeclaration() || types.size() < kNumBounds ||
      !llvm::all_of(types.take_back(kNumBounds),
                    [](Type type) { return type.isIndex(); }))
    return kernel.emitOpError("expects two bounds as last arguments of a "
                              "kernel");
  SmallVector<arith::ConstantOp> constants;
  kernel.walk([&](arith::ConstantOp constant) {
    if (constant.getType().isIndex())
      constants.push_back(constant);
  });
  Block &entry = kernel.getBody().front();
  unsigned position = entry.getNumArguments() - kNumBounds;
  SmallVector<int64_t> numbers;
  for (arith::ConstantOp constant : constants) {
    numbers.push_back(cast<IntegerAttr>(constant.getValue()).getInt());
    Value argument =
        entry.insertArgument(position++, constant.getType(), constant.getLoc());
    constant.replaceAllUsesWith(argument);
    constant.erase();
  }
  forgetLengths(kernel);
  updateType(kernel);
  kernel->setAttr(kNumbers,
                  DenseI64ArrayAttr::get(kernel.getContext(), numbers));
  return success();
}

void metaop::bindNumbers(func::FuncOp kernel,
                         ArrayRef<NumberBinding> bindings) {
  Block &entry = kernel.getBody().front();
  unsigned end = entry.getNumArguments() - kNumBounds;
  unsigned begin = end - bindings.size();
  int64_t numArguments = 0;
  for (const NumberBinding &binding : bindings)
    if (binding.kind == NumberBinding::Kind::Argument)
      numArguments = std::max(numArguments, binding.value + 1);

  OpBuilder b = OpBuilder::atBlockBegin(&entry);
  for (int64_t i = 0; i < numArguments; ++i)
    entry.insertArgument(end + i, b.getIndexType(), kernel.getLoc());
  std::map<int64_t, Value> constants;
  for (auto [i, binding] : llvm::enumerate(bindings)) {
    Value number;
    if (binding.kind == NumberBinding::Kind::Argument) {
      number = entry.getArgument(end + binding.value);
    } else {
      Value &constant = constants[binding.value];
      if (!constant)
        constant =
            arith::ConstantIndexOp::create(b, kernel.getLoc(), binding.value);
      number = constant;
    }
    entry.getArgument(begin + i).replaceAllUsesWith(number);
  }
  entry.eraseArguments(begin, bindings.size());
  updateType(kernel);
  kernel->removeAttr(kNumbers);
}

namespace {
struct AbstractNumbersPass
    : metaop::impl::AbstractNumbersPassBase<AbstractNumbersPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function->hasAttr("metaop.num_buffers") &&
          failed(abstractNumbers(function)))
        return signalPassFailure();
  }
};
} // namespace
