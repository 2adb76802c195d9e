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
#include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

#include <map>

namespace mlir::metaop {
#define GEN_PASS_DEF_ABSTRACTNUMBERSPASS
#define GEN_PASS_DEF_BINDNUMBERSPASS
#include "MetaOps/Conversion/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

static constexpr StringLiteral kNumbers =
    MetaOpDialect::NumbersAttrHelper::getNameStr();

/// Returns whether a function of either target is a kernel over buffers.
static bool isBufferKernel(FunctionOpInterface function) {
  if (auto onGpu = dyn_cast<gpu::GPUFuncOp>(*function))
    return onGpu.isKernel();
  return function->hasAttr(MetaOpDialect::KernelAttrHelper::getNameStr());
}

/// Returns `root`, or those inside of it.
static SmallVector<FunctionOpInterface, 2> findKernels(Operation *root) {
  SmallVector<FunctionOpInterface, 2> kernels;
  root->walk([&](FunctionOpInterface function) {
    if (isBufferKernel(function))
      kernels.push_back(function);
  });
  return kernels;
}

SmallVector<FunctionOpInterface, 2> metaop::collectKernels(ModuleOp module) {
  return findKernels(module);
}

/// On a CPU a kernel's range, [begin, end), stands behind its buffers and
/// numbers. What a block of a GPU does, it knows by its number.
static unsigned getNumBounds(FunctionOpInterface kernel) {
  return isa<gpu::GPUFuncOp>(*kernel) ? 0 : 2;
}

unsigned metaop::getFirstNumber(FunctionOpInterface kernel, unsigned count) {
  return kernel.getNumArguments() - getNumBounds(kernel) - count;
}

/// Buffers forget their lengths, which nothing in a kernel asks for. Behind the
/// arguments stands memory of a GPU's block, which keeps them.
static void forgetLengths(FunctionOpInterface kernel) {
  SmallVector<Type> types;
  for (BlockArgument argument :
       kernel.getArguments().take_front(kernel.getNumArguments())) {
    if (auto type = dyn_cast<MemRefType>(argument.getType()))
      argument.setType(MemRefType::get({ShapedType::kDynamic},
                                       type.getElementType(), type.getLayout(),
                                       type.getMemorySpace()));
    types.push_back(argument.getType());
  }
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

/// The function's own way of erasing arguments takes those behind them, memory
/// of a GPU's block, for arguments, too.
static void eraseNumbers(FunctionOpInterface kernel, unsigned begin,
                         unsigned end) {
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attributes;
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
    if (i >= begin && i < end)
      continue;
    types.push_back(kernel.getArgumentTypes()[i]);
    attributes.push_back(kernel.getArgAttrDict(i));
  }
  kernel.getFunctionBody().front().eraseArguments(begin, end - begin);
  kernel.setType(FunctionType::get(kernel->getContext(), types, {}));
  kernel.setAllArgAttrs(attributes);
}

/// Fails if the bounds are not where they are looked for.
static LogicalResult verifyBounds(FunctionOpInterface kernel) {
  unsigned bounds = getNumBounds(kernel);
  ArrayRef<Type> types = kernel.getArgumentTypes();
  if (kernel.isDeclaration() || types.size() < bounds ||
      !llvm::all_of(types.take_back(bounds),
                    [](Type type) { return type.isIndex(); }))
    return kernel->emitOpError("expects two bounds as last arguments of a "
                               "kernel");
  return success();
}

/// Fails if so many numbers are not where they are looked for.
static LogicalResult verifyNumbers(FunctionOpInterface kernel, size_t count) {
  ArrayRef<Type> types =
      kernel.getArgumentTypes().drop_back(getNumBounds(kernel));
  if (types.size() < count ||
      !llvm::all_of(types.take_back(count),
                    [](Type type) { return type.isIndex(); }))
    return kernel->emitOpError("lists ")
           << count << " numbers in " << kNumbers
           << ", but has not so many arguments of type index for them";
  return success();
}

LogicalResult metaop::abstractNumbers(ArrayRef<FunctionOpInterface> kernels) {
  SmallVector<SmallVector<arith::ConstantOp>> constants;
  SmallVector<Location> locations;
  SmallVector<int64_t> numbers;
  auto isAbstract = [](FunctionOpInterface kernel) {
    return kernel->hasAttr(kNumbers);
  };
  for (FunctionOpInterface kernel : kernels) {
    if (llvm::all_of(kernels, isAbstract))
      return success();
    if (isAbstract(kernel))
      return kernel->emitOpError("has ")
             << kNumbers << ", which other functions of its kernel lack";
    if (failed(verifyBounds(kernel)))
      return failure();
    auto &own = constants.emplace_back();
    kernel->walk([&](arith::ConstantOp constant) {
      if (!constant.getType().isIndex())
        return;
      own.push_back(constant);
      locations.push_back(constant.getLoc());
      numbers.push_back(cast<IntegerAttr>(constant.getValue()).getInt());
    });
  }
  unsigned next = 0;
  for (auto [kernel, own] : llvm::zip_equal(kernels, constants)) {
    FunctionOpInterface function = kernel;
    unsigned first = getFirstNumber(function, 0);
    insertNumbers(function, first, locations);
    for (arith::ConstantOp constant : own) {
      constant.replaceAllUsesWith(Value(function.getArgument(first + next++)));
      constant.erase();
    }
    forgetLengths(function);
    function->setAttr(kNumbers,
                      DenseI64ArrayAttr::get(function->getContext(), numbers));
  }
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
  eraseNumbers(kernel, begin, end);
  kernel->removeAttr(kNumbers);
}

namespace {
struct AbstractNumbersPass
    : metaop::impl::AbstractNumbersPassBase<AbstractNumbersPass> {
  void runOnOperation() override {
    // The functions of a GPU's kernel are in a module of their own.
    for (Operation &op : *getOperation().getBody())
      if (failed(abstractNumbers(findKernels(&op))))
        return signalPassFailure();
  }
};

struct BindNumbersPass : metaop::impl::BindNumbersPassBase<BindNumbersPass> {
  void runOnOperation() override {
    for (FunctionOpInterface kernel : findKernels(getOperation())) {
      auto numbers = kernel->getAttrOfType<DenseI64ArrayAttr>(kNumbers);
      if (!numbers)
        continue;
      if (failed(verifyBounds(kernel)) ||
          failed(verifyNumbers(kernel, numbers.size())))
        return signalPassFailure();
      SmallVector<NumberBinding> bindings;
      for (int64_t number : numbers.asArrayRef())
        bindings.push_back({NumberBinding::Kind::Constant, number});
      bindNumbers(kernel, bindings);
    }
  }
};
} // namespace
