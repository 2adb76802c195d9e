//===- KernelFamily.h - Kernels of one skeleton -----------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_KERNELS_KERNELFAMILY_H
#define METAOPS_LIB_RUNTIME_KERNELS_KERNELFAMILY_H

#include "MetaOps/Conversion/KernelNumbers.h"
#include "MetaOps/Runtime/Kernels/KernelCache.h"
#include "llvm/ADT/SmallBitVector.h"

namespace metaops {

using Numbers = llvm::ArrayRef<int64_t>;
using NumberBindings = std::vector<mlir::metaop::NumberBinding>;

/// Code for some of the numbers that a skeleton is called with.
struct KernelForm {
  NumberBindings bindings;
  std::shared_ptr<const Kernel> kernel;

  /// Returns whether some numbers are arguments.
  bool isGeneral() const;
  /// The arguments to call the code with, if it computes for `numbers`.
  std::optional<std::vector<int64_t>> match(Numbers numbers) const;
};

/// Numbers of the kernels of one skeleton, and the forms compiled.
class KernelFamily {
public:
  /// `steps` marks the numbers that are steps of loops. Where extents vary,
  /// kernels will be called with ever other numbers. No form has more than
  /// `maxNumbers` as arguments.
  KernelFamily(llvm::SmallBitVector steps, bool isVarying, size_t maxNumbers)
      : steps(std::move(steps)), isVarying(isVarying), maxNumbers(maxNumbers) {}

  /// A form that computes for `numbers` and the arguments to call it with.
  /// Forms with more constants are preferred.
  const KernelForm *find(Numbers numbers,
                         std::vector<int64_t> &arguments) const;

  /// Bindings of the forms to compile for vectors of numbers that no form fits,
  /// all of which are different.
  std::vector<NumberBindings> plan(llvm::ArrayRef<Numbers> missing);

  /// Adds a form. A general one replaces those before.
  void add(KernelForm form);

  /// Notes numbers that the family's kernels have for another length.
  void seeOther(Numbers numbers);

private:
  void see(Numbers numbers);
  llvm::SmallBitVector widen();
  NumberBindings makeArguments(const llvm::SmallBitVector &which,
                               bool shares) const;
  std::optional<NumberBindings> generalise();

  llvm::SmallBitVector steps;
  bool isVarying;
  size_t maxNumbers;
  std::vector<KernelForm> forms;
  /// The first vector seen; which numbers were others since; and for each
  /// number the first one that has been equal to it every time.
  std::vector<int64_t> first;
  llvm::SmallBitVector varies;
  std::vector<unsigned> sameAs;
  bool knowsOthers = false;
  unsigned numWidened = 0;
};

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_KERNELS_KERNELFAMILY_H
