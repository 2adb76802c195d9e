//===- ControlFlow.cpp - Runs branches and loops --------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A branch runs one of its blocks, or none, and a loop runs its blocks again
// and again: each time, the values of the ops inside take the place of those of
// the time before. Before each iteration somebody may stop the loop. What runs
// its block once is there for the numbers inside, which decide about others.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Interpreter/Interpreter.h"
#include "OpTable.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>

using namespace mlir;
using namespace mlir::metaop;
using llvm::Error;
using llvm::Expected;

char InterpreterStopped::ID = 0;

bool metaop::isBranchOrLoop(Operation *op) {
  return isa<scf::ExecuteRegionOp, scf::IfOp, scf::ForOp, scf::WhileOp, ScanOp>(
      op);
}

Error Interpreter::checkStop(Operation *loop) {
  if (!stop || !stop())
    return Error::success();
  return llvm::make_error<InterpreterStopped>(
      toString(makeOpError(loop, "was stopped")));
}

Expected<Tensors> Interpreter::runIf(scf::IfOp op, ArrayRef<Tensor> operands,
                                     Values &values) {
  bool isTrue = operands.front().get(0).isNonZero();
  Region &region = isTrue ? op.getThenRegion() : op.getElseRegion();
  if (region.empty())
    return Tensors();
  return runBlock(region.front(), {}, values);
}

Expected<Tensors> Interpreter::runFor(scf::ForOp op, ArrayRef<Tensor> operands,
                                      Values &values) {
  if (op.getUnsignedCmp())
    return makeOpError(op, "counts in signed numbers, given `unsigned`");
  SmallVector<int64_t> numbers = getIntegers(operands.take_front(3));
  int64_t counter = numbers[0], end = numbers[1], step = numbers[2];
  if (step <= 0)
    return makeOpError(op, "counts up, given a step of " + Twine(step));
  Tensors carried(operands.drop_front(3));
  while (counter < end) {
    if (Error error = checkStop(op))
      return std::move(error);
    Expected<Tensor> number = Tensor::fromScalar(op.getInductionVar().getType(),
                                                 Scalar::ofSigned(counter));
    if (!number)
      return number.takeError();
    Tensors arguments{std::move(*number)};
    llvm::append_range(arguments, carried);
    Expected<Tensors> yielded = runBlock(*op.getBody(), arguments, values);
    if (!yielded)
      return yielded;
    carried = std::move(*yielded);
    // Behind the largest number there is none.
    if (llvm::AddOverflow(counter, step, counter))
      break;
  }
  return carried;
}

Expected<Tensors> Interpreter::runWhile(scf::WhileOp op,
                                        ArrayRef<Tensor> operands,
                                        Values &values) {
  Tensors carried(operands);
  while (true) {
    if (Error error = checkStop(op))
      return std::move(error);
    Expected<Tensors> given = runBlock(*op.getBeforeBody(), carried, values);
    if (!given)
      return given;
    bool goesOn = given->front().get(0).isNonZero();
    given->erase(given->begin());
    if (!goesOn)
      return given;
    Expected<Tensors> yielded = runBlock(*op.getAfterBody(), *given, values);
    if (!yielded)
      return yielded;
    carried = std::move(*yielded);
  }
}

/// Returns one row of a tensor.
static Expected<Tensor> takeRow(const Tensor &tensor, int64_t row) {
  Expected<Tensor> taken =
      Tensor::create(tensor.getElementType(), tensor.getShape().drop_front());
  if (taken) {
    MutableArrayRef<char> bytes = taken->getMutableData();
    llvm::copy(tensor.getData().slice(row * bytes.size(), bytes.size()),
               bytes.begin());
  }
  return taken;
}

/// Returns what the loop makes row by row, yet without the rows.
static Expected<Tensors> createStacked(ScanOp op) {
  Tensors stacked;
  for (Type type : op.getStackedRows().getTypes()) {
    auto tensor = cast<RankedTensorType>(type);
    Expected<Tensor> made =
        Tensor::create(tensor.getElementType(), tensor.getShape());
    if (!made)
      return made.takeError();
    stacked.push_back(std::move(*made));
  }
  return stacked;
}

Expected<Tensors> Interpreter::runScan(ScanOp op, ArrayRef<Tensor> operands,
                                       Values &values) {
  unsigned numCarries = op.getNumCarries();
  ArrayRef<Tensor> rows =
      operands.slice(numCarries, op.getRowArguments().size());
  int64_t trips = op.getTrips().value_or(std::numeric_limits<int64_t>::max());
  if (op.getCount())
    trips = std::min(trips, getIntegers(operands.take_back()).front());
  Tensors carried(operands.take_front(numCarries));
  Expected<Tensors> stacked = createStacked(op);
  if (!stacked)
    return stacked;
  for (int64_t trip = 0; trip < trips; ++trip) {
    if (Error error = checkStop(op))
      return std::move(error);
    int64_t row = op.getReverse() ? trips - 1 - trip : trip;
    for (const Tensor &tensor : rows) {
      Expected<Tensor> taken = takeRow(tensor, row);
      if (!taken)
        return taken.takeError();
      carried.push_back(std::move(*taken));
    }
    Expected<Tensors> yielded = runBlock(op.getBody().front(), carried, values);
    if (!yielded)
      return yielded;
    ArrayRef<Tensor> made = ArrayRef(*yielded).drop_front(numCarries);
    for (auto [whole, part] : llvm::zip_equal(*stacked, made))
      llvm::copy(part.getData(),
                 whole.getMutableData().begin() + row * part.getData().size());
    yielded->truncate(numCarries);
    carried = std::move(*yielded);
  }
  llvm::append_range(carried, std::move(*stacked));
  return carried;
}

Expected<Tensors> Interpreter::runBranchOrLoop(Operation *op,
                                               ArrayRef<Tensor> operands,
                                               Values &values) {
  if (Error error = checkTypes(operands, op->getOperandTypes(), "operand"))
    return makeOpError(op, toString(std::move(error)));
  Expected<Tensors> results =
      llvm::TypeSwitch<Operation *, Expected<Tensors>>(op)
          .Case([&](scf::ExecuteRegionOp op) {
            return runBlock(op.getRegion().front(), {}, values);
          })
          .Case([&](scf::IfOp op) { return runIf(op, operands, values); })
          .Case([&](scf::ForOp op) { return runFor(op, operands, values); })
          .Case([&](ScanOp op) { return runScan(op, operands, values); })
          .Case(
              [&](scf::WhileOp op) { return runWhile(op, operands, values); });
  if (!results)
    return results;
  if (Error error = checkTypes(*results, op->getResultTypes(), "result"))
    return makeOpError(op, toString(std::move(error)));
  return results;
}
