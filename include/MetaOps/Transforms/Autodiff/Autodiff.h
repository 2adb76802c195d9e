//===- Autodiff.h - Reverse and forward differentiation ---------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_AUTODIFF_AUTODIFF_H
#define METAOPS_TRANSFORMS_AUTODIFF_AUTODIFF_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

#include <optional>

namespace mlir::metaop {

class CustomDerivatives;

/// Choices that derivatives depend on beside values.
struct DerivativeOptions {
  /// Bytes that the trips of a scan may save for those of its gradient.
  int64_t savedBytes = kDefaultSavedBytes;
  /// No derivative flows through operations for which this holds.
  llvm::function_ref<bool(Operation *)> isStopped = nullptr;
  /// Returns which number a 0-d integer is, where that is known. A constant
  /// always is.
  llvm::function_ref<std::optional<int64_t>(Value)> getNumber = nullptr;
  /// Returns whether somebody holds a result of a checkpoint, and may ask for
  /// derivatives by it. Then derivatives read it rather than make it again.
  llvm::function_ref<bool(Value)> isHeld = nullptr;
  /// Knows derivatives that are in no program (CustomDerivatives.h).
  CustomDerivatives *custom = nullptr;

  static constexpr int64_t kDefaultSavedBytes = int64_t(1) << 30;
};

/// The gradient of `sum_k <outputs[k], seeds[k]>` with respect to each target,
/// of the target's type: zeros where no output depends on it.
///
/// All values belong to one block, as results of its operations or as values
/// from outside of it. Operations are emitted at the builder's insertion point,
/// which all outputs and seeds dominate, each with the location of the
/// operation whose derivative it belongs to. Of these, what no gradient needs
/// is erased again; nothing else changes.
///
/// A value of which many slices are read gets its gradient at once: the slices'
/// cotangents put together where they tile it, or inserted one after the other,
/// so that the cost is that of the elements.
///
/// No gradient flows through operations that are not differentiable, or are
/// stopped, and nothing before them is looked at. The cost is
/// that of the operations from which an output is computed, as far as gradients
/// flow back, whatever else the block holds.
///
/// Fails if a derivative is not known (CustomDerivatives.h), or, with nothing
/// emitted, if an output or a target is not a tensor of floats, if a seed is
/// not of its output's type, or if there is not one seed per output.
llvm::Expected<llvm::SmallVector<Value>>
differentiate(OpBuilder &builder, llvm::ArrayRef<Value> outputs,
              llvm::ArrayRef<Value> seeds, llvm::ArrayRef<Value> targets,
              DerivativeOptions options = {});

/// The tangent of each output, of its type, where the inputs move by
/// `tangents`: the Jacobian times these, in forward mode. Zeros where an output
/// depends on no input. An input that depends on another one moves by its own
/// tangent and with that.
///
/// All that is said of `differentiate` about blocks, places, cost and stopped
/// operations holds here, too.
///
/// Fails, with nothing emitted, if an output or an input is not a tensor of
/// floats, if a tangent is not of its input's type, or if there is not one
/// tangent per input.
llvm::Expected<llvm::SmallVector<Value>>
pushForward(OpBuilder &builder, llvm::ArrayRef<Value> outputs,
            llvm::ArrayRef<Value> inputs, llvm::ArrayRef<Value> tangents,
            DerivativeOptions options = {});

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_AUTODIFF_AUTODIFF_H
