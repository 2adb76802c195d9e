//===- CheckMatrices.cpp - Failures for matrices --------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   attributes  message: texts; count: an integer
//   operands    codes, i64, of any shape
//   results     codes, the same
//
// A code is 0 where nothing is wrong with a matrix. Of matrix i of `count` that
// a library gives `info` of, it is `(count - i) * 2^32 + info`: the largest is
// that of the first matrix. Its message is the text of the number `info`, from
// 1 on, or the last. There, `{matrix}` stands for i, and `{info}` for that.
// More codes than `count` are those of examples that are computed at once; the
// message then says in which of these it is.
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

/// Returns the texts of the message; null where there are none.
static const RoutineAttribute::Texts *findMessages(const Routine &routine) {
  for (const RoutineAttribute &each : routine.attributes) {
    const auto *texts = std::get_if<RoutineAttribute::Texts>(&each.values);
    if (each.name == "message" && texts && !texts->empty())
      return texts;
  }
  return nullptr;
}

namespace {
class CheckPlan : public RoutinePlan {
public:
  CheckPlan(int64_t elements, int64_t count, RoutineAttribute::Texts messages)
      : RoutinePlan(estimate(elements)), elements(elements), count(count),
        messages(std::move(messages)) {}

  llvm::Expected<std::optional<int64_t>>
  run(const RoutineRun &run) const override {
    const auto *codes = static_cast<const int64_t *>(run.operands[0]);
    if (run.results[0] != run.operands[0])
      std::memcpy(run.results[0], codes, elements * sizeof(int64_t));
    const int64_t *worst = std::max_element(codes, codes + elements);
    if (elements == 0 || *worst <= 0)
      return std::nullopt;
    int64_t info = *worst & 0xffffffff;
    size_t number = std::clamp<int64_t>(info, 1, messages.size()) - 1;
    std::string text =
        replace(messages[number], "{matrix}", count - (*worst >> 32));
    text = replace(std::move(text), "{info}", info);
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
  RoutineAttribute::Texts messages;
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
        routine.attributes.size() == 2 && findMessages(routine) &&
        routine.findInteger("count");
    if (isSound)
      return llvm::Error::success();
    return llvm::createStringError(
        "it takes codes of matrices, messages and a count");
  }
  llvm::Expected<std::shared_ptr<const RoutinePlan>>
  plan(const Routine &routine) const override {
    return std::make_shared<CheckPlan>(routine.operands[0].countElements(),
                                       *routine.findInteger("count"),
                                       *findMessages(routine));
  }
};
} // namespace

std::shared_ptr<const RoutineImplementation> metaops::createCheckMatrices() {
  return std::make_shared<CheckMatrices>();
}
