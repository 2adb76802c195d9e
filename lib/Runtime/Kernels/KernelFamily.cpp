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
// A growing family, whose kernels are of a sequence that becomes longer, would
// go through all of that in vain. It has one form from the beginning, in which
// all numbers but the steps of loops are arguments. Such families are apart:
// the kernels of programs whose extents stay never get their forms.
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
static constexpr int64_t kMaxWindow = 8;
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

NumberBindings KernelFamily::widen() {
  ++numWidened;
  NumberBindings bindings;
  llvm::DenseMap<unsigned, int64_t> arguments;
  for (unsigned i = 0; i < first.size(); ++i) {
    bool isExtent = !steps.test(i) && std::abs(first[i]) > kMaxWindow;
    if (!varies.test(i) && !(numWidened >= kWidenExtents && isExtent)) {
      bindings.push_back({NumberBinding::Kind::Constant, first[i]});
      continue;
    }
    unsigned set = numWidened >= kWidenAll ? i : sameAs[i];
    int64_t argument =
        arguments.try_emplace(set, arguments.size()).first->second;
    bindings.push_back({NumberBinding::Kind::Argument, argument});
  }
  return bindings;
}

NumberBindings KernelFamily::generalise() const {
  NumberBindings bindings;
  int64_t arguments = 0;
  for (unsigned i = 0; i < first.size(); ++i) {
    if (steps.test(i) && !varies.test(i))
      bindings.push_back({NumberBinding::Kind::Constant, first[i]});
    else
      bindings.push_back({NumberBinding::Kind::Argument, arguments++});
  }
  return bindings;
}

std::vector<NumberBindings>
KernelFamily::plan(llvm::ArrayRef<Numbers> missing) {
  bool isNew = first.empty();
  for (Numbers numbers : missing)
    see(numbers);
  if (isGrowing)
    return {generalise()};
  if (!isNew || missing.size() > kMaxSpecialised)
    return {widen()};
  std::vector<NumberBindings> planned;
  for (Numbers numbers : missing) {
    NumberBindings &bindings = planned.emplace_back();
    for (int64_t number : numbers)
      bindings.push_back({NumberBinding::Kind::Constant, number});
  }
  return planned;
}

} // namespace metaops
