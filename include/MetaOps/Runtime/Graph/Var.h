//===- Var.h - A handle on a value of a session -----------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_GRAPH_VAR_H
#define METAOPS_RUNTIME_GRAPH_VAR_H

#include "MetaOps/Runtime/Graph/NodeRef.h"
#include "MetaOps/Runtime/Graph/Operand.h"
#include "MetaOps/Runtime/Memory/DType.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <memory>
#include <utility>
#include <vector>

namespace metaops {

class RecordingSession;
struct Node;

/// Holds a value of a session's block: as long as a Var does, the value may be
/// asked for and differentiated. May be destroyed on any thread at any moment.
class Var {
public:
  Var() = default;
  Var(Var &&other) noexcept { swap(other); }
  Var &operator=(Var &&other) noexcept {
    swap(other);
    return *this;
  }
  ~Var();

  explicit operator bool() const { return node; }
  operator Operand() const { return node; }
  /// The value, which the graph keeps as long as a Var holds it.
  Node *getNode() const { return node; }
  /// Values that it held before it was rebound, the youngest last, as far as
  /// they are floats: some of them may be gone.
  llvm::ArrayRef<NodeRef> getFormer() const { return former; }
  /// The place of its first value in the order of recording.
  uint64_t getFirstOrder() const { return firstOrder; }

  mlir::RankedTensorType getType() const { return type; }
  DType dtype() const { return elementType; }
  llvm::ArrayRef<int64_t> shape() const { return type.getShape(); }
  int64_t rank() const { return type.getRank(); }
  int64_t numElements() const { return getNumElements(shape()); }
  const std::shared_ptr<RecordingSession> &getSession() const {
    return session;
  }
  /// Returns whether a call was given it that may have written over its value:
  /// it has none any more.
  bool isGivenAway() const { return givenAway; }

private:
  friend class RecordingSession;
  /// The session, which is entered, has counted the Var.
  Var(std::shared_ptr<RecordingSession> session, Node *node);

  void swap(Var &other) noexcept {
    std::swap(session, other.session);
    std::swap(node, other.node);
    std::swap(type, other.type);
    std::swap(elementType, other.elementType);
    std::swap(former, other.former);
    std::swap(firstOrder, other.firstOrder);
    std::swap(givenAway, other.givenAway);
  }
  /// Has it hold the other's value, as a later one of its own.
  void rebind(Var &&other);

  std::shared_ptr<RecordingSession> session;
  Node *node = nullptr;
  // A value's type never changes, so these are read without a lock.
  mlir::RankedTensorType type;
  DType elementType = DType::F32;
  std::vector<NodeRef> former;
  uint64_t firstOrder = 0;
  bool givenAway = false;
};

/// The values that Vars hold.
inline llvm::SmallVector<Node *> getNodes(llvm::ArrayRef<const Var *> vars) {
  return llvm::map_to_vector(vars,
                             [](const Var *var) { return var->getNode(); });
}

} // namespace metaops

#endif // METAOPS_RUNTIME_GRAPH_VAR_H
