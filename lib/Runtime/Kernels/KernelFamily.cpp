//===- KernelFamily.cpp - Kernels of one skeleton -------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels of one skeleton differ in numbers only. Those that come together, in
// one program, are compiled with their numbers as constants, if they are few.
// When later ones differ from all before, anti-unification takes place: the
// numbers that have differed become arguments of one general form (a form is a
// specialisation of the family's code), and numbers
// that have always been equal share one. The rest stays constant, so that small
// loops are unrolled and divisions by them are cheap.
//
// A general form may turn out to be not general enough. Each widening takes in
// what was seen; the third takes in all numbers that look like extents, the
// fourth lets none share, so a family comes to an end after a few forms.
//
// A family of kernels whose extents vary would go through all of that in vain.
// It has one general form from the beginning. Where its numbers for other
// lengths are known (StretchKernel.h), those that differ are arguments, else
// all but the steps of loops. Such families are apart: the kernels of programs
// whose extents stay never get their forms.
//
// If a target has no room for so many arguments, equal ones share one, and what
// has always been the same stays constant; where that is too much still, each
// kernel has code of its own.
//
//===----------------------------------------------------------------------===//

#include "KernelFamily.h"

#include <map>

using namespace mlir::metaop;

namespace metaops {

/// Kernels of one program that are compiled with all numbers constant.
static constexpr size_t kMaxSpecialised = 4;
/// Up to here a number is not taken for an extent that may vary: it is the size
/// of a window, or the number of a copy.
static constexpr int64_t kMaxFixedNumber = 8;
/// The widening from which on all extents are arguments, and the one from which
/// on none share.
static constexpr unsigned kWidenExtents = 3;
static constexpr unsigned kWidenAll = 4;

bool KernelForm::isGeneral() const {
  return llvm::any_of(bindings, [](const NumberBinding &binding) {
    return binding.kind == NumberBinding::Kind::Argument;
  });
}

std::optional<std::vector<int64_t>> KernelForm::match(Numbers numbers) const {
  std::vector<std::optional<int64_t>> arguments;
  for (auto [binding, number] : llvm::zip_equal(bindings, numbers)) {
    if (binding.kind == NumberBinding::Kind::Constant) {
      if (binding.value != number)
        return std::nullopt;
      continue;
    }
    size_t position = binding.value;
    if (position >= arguments.size())
      arguments.resize(position + 1);
    if (arguments[position].value_or(number) != number)
      return std::nullopt;
    arguments[position] = number;
  }
  std::vector<int64_t> values;
  for (std::optional<int64_t> argument : arguments)
    values.push_back(argument.value_or(0));
  return values;
}

const KernelForm *KernelFamily::find(Numbers numbers,
                                     std::vector<int64_t> &arguments) const {
  for (const KernelForm &form : forms)
    if (auto values = form.match(numbers)) {
      arguments = std::move(*values);
      return &form;
    }
  return nullptr;
}

void KernelFamily::add(KernelForm form) {
  if (form.isGeneral())
    llvm::erase_if(forms, [](const KernelForm &f) { return f.isGeneral(); });
  // The general form is the last.
  auto at =
      llvm::find_if(forms, [](const KernelForm &f) { return f.isGeneral(); });
  forms.insert(at, std::move(form));
}

void KernelFamily::seeOther(Numbers numbers) {
  knowsOthers = true;
  see(numbers);
}

/// Splits the sets of equal numbers by another vector.
void KernelFamily::see(Numbers numbers) {
  if (first.empty()) {
    first.assign(numbers.begin(), numbers.end());
    varies.resize(numbers.size());
    sameAs.assign(numbers.size(), 0);
    std::map<int64_t, unsigned> sets;
    for (auto [i, number] : llvm::enumerate(numbers))
      sameAs[i] = sets.try_emplace(number, i).first->second;
    return;
  }
  std::map<std::pair<unsigned, int64_t>, unsigned> sets;
  for (auto [i, number] : llvm::enumerate(numbers)) {
    sameAs[i] = sets.try_emplace({sameAs[i], number}, i).first->second;
    if (number != first[i])
      varies.set(i);
  }
}

/// The numbers that are to be arguments from now on.
llvm::SmallBitVector KernelFamily::widen() {
  llvm::SmallBitVector which = varies;
  if (isVarying && !knowsOthers) {
    llvm::SmallBitVector others = steps;
    which |= others.flip();
  } else if (++numWidened >= kWidenExtents)
    for (unsigned i = 0; i < first.size(); ++i)
      if (!steps.test(i) && std::abs(first[i]) > kMaxFixedNumber)
        which.set(i);
  return which;
}

/// Binds the others as constants. Equal ones share an argument if they may.
NumberBindings KernelFamily::makeArguments(const llvm::SmallBitVector &which,
                                           bool shares) const {
  NumberBindings bindings;
  llvm::DenseMap<unsigned, int64_t> arguments;
  for (unsigned i = 0; i < first.size(); ++i) {
    if (!which.test(i)) {
      bindings.push_back({NumberBinding::Kind::Constant, first[i]});
      continue;
    }
    unsigned set = shares ? sameAs[i] : i;
    int64_t argument =
        arguments.try_emplace(set, arguments.size()).first->second;
    bindings.push_back({NumberBinding::Kind::Argument, argument});
  }
  return bindings;
}

static size_t countArguments(const NumberBindings &bindings) {
  int64_t count = 0;
  for (const NumberBinding &binding : bindings)
    if (binding.kind == NumberBinding::Kind::Argument)
      count = std::max(count, binding.value + 1);
  return count;
}

/// A form for all that was seen; none where it would have too many arguments.
std::optional<NumberBindings> KernelFamily::generalise() {
  llvm::SmallBitVector which = widen();
  bool shares = !(isVarying && !knowsOthers) && numWidened < kWidenAll;
  NumberBindings bindings = makeArguments(which, shares);
  if (!shares && countArguments(bindings) > maxNumbers)
    bindings = makeArguments(which, /*shares=*/true);
  // Numbers that have been the same so far may be so in future.
  if (countArguments(bindings) > maxNumbers)
    bindings = makeArguments(varies, /*shares=*/true);
  if (countArguments(bindings) > maxNumbers)
    return std::nullopt;
  return bindings;
}

std::vector<NumberBindings>
KernelFamily::plan(llvm::ArrayRef<Numbers> missing) {
  bool isNew = first.empty();
  for (Numbers numbers : missing)
    see(numbers);
  if (isVarying || !isNew || missing.size() > kMaxSpecialised)
    if (auto general = generalise())
      return {*general};
  std::vector<NumberBindings> planned;
  for (Numbers numbers : missing) {
    NumberBindings &bindings = planned.emplace_back();
    for (int64_t number : numbers)
      bindings.push_back({NumberBinding::Kind::Constant, number});
  }
  return planned;
}

} // namespace metaops
