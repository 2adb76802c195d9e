//===- Interpreter.cpp - Runs functions, blocks and ops -------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block is run by evaluating its ops in order, each through the function that
// a table holds for its name, with the values of its operands. The body of a
// stage or kernel is a block like that of a function: the structure says how a
// computation is compiled and never what it computes. The blocks of branches
// and loops share the values of the function around them.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Interpreter/Interpreter.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "OpTable.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace mlir::metaop;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;

//===----------------------------------------------------------------------===//
// Shared by the files of the interpreter
//===----------------------------------------------------------------------===//

SmallVector<int64_t> metaop::getIntegers(ArrayRef<Tensor> values) {
  return llvm::map_to_vector(
      values, [](const Tensor &value) { return value.get(0).getSigned(); });
}

Expected<Tensor> metaop::createResult(Value result, ArrayRef<Tensor> extents) {
  auto type = cast<RankedTensorType>(result.getType());
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<int64_t> dynamicExtents = getIntegers(extents);
  size_t next = 0;
  for (int64_t &extent : shape) {
    if (!ShapedType::isDynamic(extent))
      continue;
    if (next == dynamicExtents.size())
      return createStringError("lacks an extent for a dynamic dimension");
    extent = dynamicExtents[next++];
  }
  return Tensor::create(type.getElementType(), shape);
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

std::string metaop::describePlace(Operation *op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  Location loc = op->getLoc();
  if (auto file = loc->findInstanceOf<FileLineColLoc>())
    os << file.getFilename().getValue() << ':' << file.getLine() << ':'
       << file.getColumn() << ": ";
  os << '\'' << op->getName() << "' op ";
  return text;
}

Error metaop::makeOpError(Operation *op, const Twine &message) {
  return createStringError(describePlace(op) + message);
}

Error metaop::checkType(const Tensor &value, Type type, const Twine &what) {
  auto fail = [&]() -> Error {
    std::string text;
    llvm::raw_string_ostream os(text);
    os << what << " has to be " << type << ", given " << value.getType();
    return createStringError(text);
  };
  auto tensorType = dyn_cast<RankedTensorType>(type);
  Type elementType = tensorType ? tensorType.getElementType() : type;
  ArrayRef<int64_t> shape =
      tensorType ? tensorType.getShape() : ArrayRef<int64_t>();
  if (!value.getElementType())
    return createStringError(what + " has no value");
  if (value.getElementType() != elementType ||
      value.getRank() != static_cast<int64_t>(shape.size()))
    return fail();
  for (auto [given, expected] : llvm::zip_equal(value.getShape(), shape))
    if (!ShapedType::isDynamic(expected) && given != expected)
      return fail();
  return Error::success();
}

Error metaop::checkTypes(ArrayRef<Tensor> values, TypeRange types,
                         const Twine &what) {
  if (values.size() != types.size())
    return createStringError("takes " + Twine(types.size()) + " " + what +
                             "s, given " + Twine(values.size()));
  for (size_t i = 0; i < values.size(); ++i)
    if (Error error = checkType(values[i], types[i], what + " " + Twine(i)))
      return error;
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Interpreter
//===----------------------------------------------------------------------===//

Interpreter::Interpreter(LeafFunction leaf) {
  addElementwiseOps(functions);
  addPlacementOps(functions);
  addCheckOps(functions);
  addReindexOps(functions);
  addReduceOps(functions);
  addLeafOps(functions);
  addHostOps(functions);
  addPrefixOps(functions);
  addRoutineOps(functions);
  addFftOp(functions);

  OpFunction runBody = [this](Operation *op, ArrayRef<Tensor> operands) {
    Values values;
    return runBlock(op->getRegion(0).front(), operands, values);
  };
  functions[FusedOp::getOperationName()] = runBody;
  functions[KernelOp::getOperationName()] = runBody;
  functions[func::CallOp::getOperationName()] =
      [this](Operation *op, ArrayRef<Tensor> operands) {
        return runCall(op, operands);
      };

  OpFunction readLeaf = [leaf](Operation *op,
                               ArrayRef<Tensor>) -> Expected<Tensors> {
    if (!leaf)
      return createStringError("has a value that is not in the program");
    Expected<Tensor> value = leaf(op);
    if (!value)
      return value.takeError();
    return Tensors{std::move(*value)};
  };
  functions[BufferOp::getOperationName()] = readLeaf;
  functions[ScalarOp::getOperationName()] = readLeaf;
}

Expected<Tensors> Interpreter::evaluateAll(Operation *op,
                                           ArrayRef<Tensor> operands) {
  auto function = functions.find(op->getName().getStringRef());
  if (function == functions.end())
    return makeOpError(op, isBranchOrLoop(op)
                               ? "is run as a part of a function only"
                               : "is unknown to the interpreter");
  if (Error error = checkTypes(operands, op->getOperandTypes(), "operand"))
    return makeOpError(op, toString(std::move(error)));

  // Errors of ops in a called function or in a body say where they arose.
  bool hasOwnErrors = isa<func::CallOp>(op) || op->getNumRegions() != 0;
  Expected<Tensors> results = function->second(op, operands);
  if (!results && (hasOwnErrors || results.errorIsA<IndicesOutOfRange>()))
    return results;
  if (!results && results.errorIsA<ShortOfMemory>())
    return llvm::make_error<ShortOfMemory>(describePlace(op) +
                                           toString(results.takeError()));
  if (!results)
    return makeOpError(op, toString(results.takeError()));
  if (Error error = checkTypes(*results, op->getResultTypes(), "result"))
    return makeOpError(op, toString(std::move(error)));
  return results;
}

Expected<Tensor> Interpreter::evaluate(Operation *op,
                                       ArrayRef<Tensor> operands) {
  if (op->getNumResults() != 1)
    return makeOpError(op, "has " + Twine(op->getNumResults()) +
                               " results where one is asked for");
  Expected<Tensors> results = evaluateAll(op, operands);
  if (!results)
    return results.takeError();
  return std::move(results->front());
}

bool Interpreter::knows(Operation *op) const {
  return isBranchOrLoop(op) || functions.contains(op->getName().getStringRef());
}

static Tensors getOperands(Operation *op, const Interpreter::Values &values) {
  return llvm::map_to_vector(op->getOperands(),
                             [&](Value value) { return values.at(value); });
}

Expected<Tensors> Interpreter::evaluateAmong(Operation *op, Values &values) {
  try {
    Tensors operands = getOperands(op, values);
    return isBranchOrLoop(op) ? runBranchOrLoop(op, operands, values)
                              : evaluateAll(op, operands);
  } catch (const std::bad_alloc &) {
    return llvm::make_error<ShortOfMemory>(
        describePlace(op) + "no memory for its operands and results");
  }
}

Expected<Tensors> Interpreter::runBlock(Block &block,
                                        ArrayRef<Tensor> arguments,
                                        Values &values) {
  for (auto [argument, value] :
       llvm::zip_equal(block.getArguments(), arguments))
    values[argument] = value;

  for (Operation &op : block.without_terminator()) {
    Expected<Tensors> results = evaluateAmong(&op, values);
    if (!results)
      return results;
    for (auto [result, value] : llvm::zip_equal(op.getResults(), *results))
      values[result] = std::move(value);
  }
  return getOperands(&block.back(), values);
}

Expected<Tensors> Interpreter::runCall(Operation *op,
                                       ArrayRef<Tensor> operands) {
  auto call = cast<func::CallOp>(op);
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      op, call.getCalleeAttr());
  if (!callee)
    return makeOpError(op, "calls '" + call.getCallee() +
                               "', which is no function of the module");
  return run(callee, operands);
}

Expected<Tensors> Interpreter::run(func::FuncOp function,
                                   ArrayRef<Tensor> arguments) {
  std::string name = ("function '" + function.getSymName() + "' ").str();
  if (function.isExternal())
    return makeOpError(function, "has no body to run");
  if (!function.getBody().hasOneBlock())
    return makeOpError(function, "has branches, which are not interpreted");
  FunctionType type = function.getFunctionType();
  if (Error error = checkTypes(arguments, type.getInputs(), "argument"))
    return createStringError(name + toString(std::move(error)));

  if (callDepth == maxCallDepth)
    return makeOpError(function, "is called to a depth of more than " +
                                     Twine(maxCallDepth));
  ++callDepth;
  llvm::scope_exit leave([&] { --callDepth; });
  try {
    Values values;
    return runBlock(function.getBody().front(), arguments, values);
  } catch (const std::bad_alloc &) {
    return llvm::make_error<ShortOfMemory>(
        name + "has no memory for its arguments and results");
  }
}
