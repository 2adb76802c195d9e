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
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/ADT/BitVector.h"

#include <map>

namespace mlir::metaop {
#define GEN_PASS_DEF_ABSTRACTNUMBERSPASS
#include "MetaOps/Conversion/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

static constexpr StringLiteral kNumbers = "metaop.numbers";

bool metaop::isBufferKernel(Operation *op) {
  return isa<FunctionOpInterface>(op) && op->hasAttr("metaop.num_buffers");
}

/// On a CPU a kernel's range, [begin, end), stands behind its buffers and
/// numbers. What a block of a GPU does, it knows by its number.
static unsigned getNumBounds(FunctionOpInterface kernel) {
  return isa<gpu::GPUFuncOp>(*kernel) ? 0 : 2;
}

unsigned metaop::getFirstNumber(FunctionOpInterface kernel, unsigned count) {
  return kernel.getNumArguments() - getNumBounds(kernel) - count;
}

/// Buffers forget their lengths, which nothing in a kernel asks for.
static void forgetLengths(FunctionOpInterface kernel) {
  for (BlockArgument argument : kernel.getArguments())
    if (auto type = dyn_cast<MemRefType>(argument.getType()))
      argument.setType(MemRefType::get({ShapedType::kDynamic},
                                       type.getElementType(), type.getLayout(),
                                       type.getMemorySpace()));
  SmallVector<Type> types;
  for (BlockArgument argument : kernel.getArguments())
    types.push_back(argument.getType());
  kernel.setType(FunctionType::get(kernel->getContext(), types, {}));
}

/// Arguments of type index behind the numbers that there are.
static void insertNumbers(FunctionOpInterface kernel, unsigned at,
                          ArrayRef<Location> locations) {
  MLIRContext *context = kernel->getContext();
  size_t count = locations.size();
  SmallVector<unsigned> places(count, at);
  SmallVector<Type> types(count, IndexType::get(context));
  SmallVector<DictionaryAttr> attributes(count, DictionaryAttr::get(context));
  // It cannot fail: no argument attribute is given.
  (void)kernel.insertArguments(places, types, attributes, locations);
}

LogicalResult metaop::abstractNumbers(FunctionOpInterface kernel) {
  if (kernel->hasAttr(kNumbers))
    return success();
  unsigned bounds = getNumBounds(kernel);
  ArrayRef<Type> types = kernel.getArgumentTypes();
  if (kernel.isDeclaration() || types.size() < bounds ||
      !llvm::all_of(types.take_back(bounds),
                    [](Type type) { return type.isIndex(); }))
    return kernel->emitOpError("expects two bounds as last arguments of a "
                               "kernel");
  SmallVector<arith::ConstantOp> constants;
  SmallVector<Location> locations;
  kernel->walk([&](arith::ConstantOp constant) {
    if (!constant.getType().isIndex())
      return;
    constants.push_back(constant);
    locations.push_back(constant.getLoc());
  });
  unsigned first = getFirstNumber(kernel, 0);
  insertNumbers(kernel, first, locations);
  SmallVector<int64_t> numbers;
  for (auto [i, constant] : llvm::enumerate(constants)) {
    numbers.push_back(cast<IntegerAttr>(constant.getValue()).getInt());
    constant.replaceAllUsesWith(Value(kernel.getArgument(first + i)));
    constant.erase();
  }
  forgetLengths(kernel);
  kernel->setAttr(kNumbers,
                  DenseI64ArrayAttr::get(kernel->getContext(), numbers));
  return success();
}

void metaop::bindNumbers(FunctionOpInterface kernel,
                         ArrayRef<NumberBinding> bindings) {
  unsigned begin = getFirstNumber(kernel, bindings.size());
  unsigned end = begin + bindings.size();
  int64_t numArguments = 0;
  for (const NumberBinding &binding : bindings)
    if (binding.kind == NumberBinding::Kind::Argument)
      numArguments = std::max(numArguments, binding.value + 1);

  insertNumbers(kernel, end,
                SmallVector<Location>(numArguments, kernel->getLoc()));
  OpBuilder b = OpBuilder::atBlockBegin(&kernel.getFunctionBody().front());
  std::map<int64_t, Value> constants;
  for (auto [i, binding] : llvm::enumerate(bindings)) {
    Value number;
    if (binding.kind == NumberBinding::Kind::Argument) {
      number = kernel.getArgument(end + binding.value);
    } else {
      Value &constant = constants[binding.value];
      if (!constant)
        constant =
            arith::ConstantIndexOp::create(b, kernel->getLoc(), binding.value);
      number = constant;
    }
    kernel.getArgument(begin + i).replaceAllUsesWith(number);
  }
  llvm::BitVector bound(kernel.getNumArguments());
  bound.set(begin, end);
  (void)kernel.eraseArguments(bound);
  kernel->removeAttr(kNumbers);
}

namespace {
struct AbstractNumbersPass
    : metaop::impl::AbstractNumbersPassBase<AbstractNumbersPass> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk([](FunctionOpInterface function) {
      if (isBufferKernel(function) && failed(abstractNumbers(function)))
        return WalkResult::interrupt();
      return WalkResult::skip();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
