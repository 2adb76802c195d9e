//===- CheckMatrices.cpp - Failures for matrices --------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   attributes  message: a text; count: an integer
//   operands    codes, i64, of any shape
//   results     codes, the same
//
// A code is 0 where nothing is wrong with a matrix. Of matrix i of `count` that
// a library gives `info` of, it is `(count - i) * 2^32 + info`: the largest is
// that of the first matrix. In the message, `{matrix}` stands for i, and
// `{info}` for that. More codes than `count` are those of examples that are
// computed at once; the message then says in which of these it is.
//
//===----------------------------------------------------------------------===//

#include "CheckMatrices.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cstring>

using namespace metaops;

char InvalidMatrix::ID = 0;

static std::string replace(std::string text, llvm::StringRef name,
                           int64_t number) {
  size_t place = text.find(name.str());
  if (place != std::string::npos)
    text.replace(place, name.size(), std::to_string(number));
  return text;
}

/// Returns the one text of an attribute; null where it has none.
static const std::string *findText(const Routine &routine,
                                   llvm::StringRef name) {
  for (const RoutineAttribute &each : routine.attributes) {
    const auto *texts = std::get_if<RoutineAttribute::Texts>(&each.values);
    if (each.name == name && texts && texts->size() == 1)
      return &texts->front();
  }
  return nullptr;
}

namespace {
class CheckPlan : public RoutinePlan {
public:
  CheckPlan(int64_t elements, int64_t count, std::string message)
      : RoutinePlan(estimate(elements)), elements(elements), count(count),
        message(std::move(message)) {}

  llvm::Expected<std::optional<int64_t>>
  run(const RoutineRun &run) const override {
    const auto *codes = static_cast<const int64_t *>(run.operands[0]);
    if (run.results[0] != run.operands[0])
      std::memcpy(run.results[0], codes, elements * sizeof(int64_t));
    const int64_t *worst = std::max_element(codes, codes + elements);
    if (elements == 0 || *worst <= 0)
      return std::nullopt;
    std::string text = replace(message, "{matrix}", count - (*worst >> 32));
    text = replace(std::move(text), "{info}", *worst & 0xffffffff);
    // A file may say anything.
    if (count > 0 && elements > count)
      text += llvm::formatv(", in example {0} of {1}", (worst - codes) / count,
                            elements / count);
    return llvm::make_error<InvalidMatrix>(std::move(text));
  }

private:
  static RoutineEstimate estimate(int64_t elements) {
    RoutineEstimate known;
    known.work = 1000 * elements;
    known.mayFail = true;
    return known;
  }

  int64_t elements, count;
  std::string message;
};

class CheckMatrices : public RoutineImplementation {
public:
  llvm::StringRef getRoutine() const override { return "check_matrices"; }
  llvm::StringRef getLibrary() const override { return "host"; }
  llvm::StringRef getVersion() const override { return "1"; }

  llvm::Error accept(const Routine &routine) const override {
    auto isOfCodes = [&](const RoutineTensor &tensor) {
      return tensor.dtype == DType::I64 && tensor.isDense() &&
             tensor.shape == routine.operands[0].shape;
    };
    bool isSound =
        routine.operands.size() == 1 && routine.results.size() == 1 &&
        isOfCodes(routine.operands[0]) && isOfCodes(routine.results[0]) &&
        routine.attributes.size() == 2 && findText(routine, "message") &&
        routine.findInteger("count");
    if (isSound)
      return llvm::Error::success();
    return llvm::createStringError(
        "it takes codes of matrices, a message and a count");
  }
  llvm::Expected<std::shared_ptr<const RoutinePlan>>
  plan(const Routine &routine) const override {
    return std::make_shared<CheckPlan>(routine.operands[0].countElements(),
                                       *routine.findInteger("count"),
                                       *findText(routine, "message"));
  }
};
} // namespace

std::shared_ptr<const RoutineImplementation> metaops::createCheckMatrices() {
  return std::make_shared<CheckMatrices>();
}
