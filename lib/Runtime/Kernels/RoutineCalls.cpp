//===- RoutineCalls.cpp - Operations as calls of routines -----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RoutineCalls.h"
#include "MetaOps/Runtime/Compiler/ElementTypes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace metaops {

/// Adds what an attribute, or an element of one, says to the list of its kind.
static bool addValue(Attribute attr, RoutineAttribute &attribute) {
  auto add = [&](auto value) {
    using List = std::vector<decltype(value)>;
    // The first element decides of what kind the list is.
    if (!std::holds_alternative<List>(attribute.values))
      attribute.values = List();
    std::get<List>(attribute.values).push_back(std::move(value));
    return true;
  };
  if (auto number = dyn_cast<IntegerAttr>(attr))
    return add(number.getInt());
  if (auto number = dyn_cast<FloatAttr>(attr))
    return add(number.getValueAsDouble());
  if (auto text = dyn_cast<StringAttr>(attr))
    return add(text.str());
  if (auto numbers = dyn_cast<DenseI64ArrayAttr>(attr))
    return llvm::all_of(numbers.asArrayRef(), add);
  if (auto numbers = dyn_cast<DenseF64ArrayAttr>(attr))
    return llvm::all_of(numbers.asArrayRef(), add);
  auto array = dyn_cast<ArrayAttr>(attr);
  return array && llvm::all_of(array, [&](Attribute each) {
           return addValue(each, attribute);
         });
}

static RoutineTensor makeTensor(StringRef role, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return makeDenseTensor(role, *fromElementType(type.getElementType()),
                         type.getShape());
}

/// Returns the routine that an operation is.
static llvm::Expected<Routine> makeRoutine(metaop::RoutineOpInterface op) {
  Routine routine;
  routine.name = op.getRoutineName().str();
  for (NamedAttribute each : op.getRoutineAttributes()) {
    RoutineAttribute &attribute = routine.attributes.emplace_back();
    attribute.name = each.getName().str();
    if (!addValue(each.getValue(), attribute))
      return llvm::createStringError("the attribute '" + attribute.name +
                                     "' of the routine '" + routine.name +
                                     "' is neither numbers nor texts");
  }
  for (auto [number, operand] : llvm::enumerate(op->getOperands()))
    routine.operands.push_back(makeTensor(op.getOperandRole(number), operand));
  for (OpResult result : op->getResults()) {
    if (!op.makes(result))
      continue;
    unsigned number = result.getResultNumber();
    RoutineTensor &made = routine.results.emplace_back(
        makeTensor(op.getResultRole(number), result));
    if (std::optional<unsigned> over = op.getOverwritten(number))
      made.over = *over;
  }
  return routine;
}

llvm::Expected<RoutineCall> makeRoutineCall(metaop::RoutineOpInterface op,
                                            const RoutineRegistry &routines) {
  auto routine = makeRoutine(op);
  if (!routine)
    return routine.takeError();
  auto planned = routines.plan(*routine);
  if (!planned)
    return planned.takeError();
  const RoutineImplementation &implementation = *planned->implementation;
  return RoutineCall{std::move(*routine), implementation.getLibrary().str(),
                     implementation.getVersion().str(),
                     std::move(planned->plan)};
}

std::optional<int64_t> findWork(metaop::RoutineOpInterface op,
                                const RoutineRegistry &routines) {
  auto call = makeRoutineCall(op, routines);
  if (call)
    return call->getEstimate().work;
  llvm::consumeError(call.takeError());
  return std::nullopt;
}

FailureOr<int64_t> countScratch(metaop::RoutineOpInterface op,
                                const RoutineRegistry &routines) {
  auto isStatic = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape();
  };
  // Code of users takes none. Programs of other shapes are refused later.
  if (op.getRoutineName().empty() ||
      !llvm::all_of(op->getOperandTypes(), isStatic) ||
      !llvm::all_of(op->getResultTypes(), isStatic))
    return 0;
  auto call = makeRoutineCall(op, routines);
  if (!call)
    return op->emitOpError(toString(call.takeError()));
  return call->getEstimate().scratchBytes;
}

} // namespace metaops
