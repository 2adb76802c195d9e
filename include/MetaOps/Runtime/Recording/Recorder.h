//===- Recorder.h - Records meta-operators in a graph -----------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A recorder appends to a graph what an operator of the user's is made of:
// operands are promoted and broadcast, index strings parsed, shapes checked. It
// knows values by their nodes, and neither who holds them nor whether and where
// they are computed. So any graph can be recorded in.
//
// A node that nobody holds is there until the graph is next collected. Errors
// are SessionErrors; what was recorded until then is collected, too.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_RECORDING_RECORDER_H
#define METAOPS_RUNTIME_RECORDING_RECORDER_H

#include "MetaOps/Dialect/MetaOp/IR/MetaOpInterfaces.h"
#include "MetaOps/Runtime/Graph/Error.h"
#include "MetaOps/Runtime/Graph/Graph.h"
#include "MetaOps/Runtime/Graph/Operand.h"
#include "MetaOps/Runtime/Memory/Buffer.h"
#include "MetaOps/Runtime/Routines/Routine.h"
#include "MetaOps/Support/IndexRange.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace metaops {

struct ComputedIndex;
struct ConditionTree;

/// A call of code of a user's; see metaop.extern.
struct ExternCall {
  struct Output {
    std::vector<int64_t> shape;
    DType dtype;
  };

  std::string name;
  std::vector<Output> outputs;
  int64_t parallel = 0;
  bool isVectorized = false;
};

/// A call of a routine by its name; see metaop.routine.
struct RoutineRequest {
  std::string name;
  std::vector<ExternCall::Output> outputs;
  std::vector<RoutineAttribute> parameters;
  /// Of the inputs and then the outputs; empty where none has any.
  std::vector<std::string> roles;
  /// Of the outputs; empty where none is made over an input.
  std::vector<int64_t> over;
  bool isBatched = false;
  bool isTotal = false;
};

/// One position of an index like x[3, 1:5, ..., None].
struct IndexItem {
  enum class Kind { Integer, Slice, NewAxis, Ellipsis };
  Kind kind = Kind::Slice;
  /// An integer, or a slice's ends and step; absent ones are Python's None.
  std::optional<int64_t> start, stop, step;
  /// A 0-d tensor of integers that stands in the place of an integer.
  Node *place = nullptr;
};

/// Part of one dimension.
struct StridedRange;

class Recorder {
public:
  /// Records in a graph, which outlives the recorder. Loads the dialect into
  /// its context.
  explicit Recorder(Graph &graph);
  /// The same in a graph of the host's context, under the host's lock. What the
  /// host has looked up once is looked up for both.
  Recorder(Graph &graph, const Recorder &host);
  ~Recorder();
  Recorder(const Recorder &) = delete;
  Recorder &operator=(const Recorder &) = delete;

  Graph &getGraph() { return graph; }

  /// The user's line that what is recorded from here on belongs to.
  void setLine(mlir::Location location) { line = location; }
  mlir::Location getLine() const { return line; }
  mlir::Location makeLocation(llvm::StringRef file, unsigned line);
  /// The line is not known.
  void forgetLine();

  /// Returns whether gradients stop at what is recorded from here on.
  void setStopsGradients(bool stops) { graph.setStopsGradients(stops); }
  /// Returns what an operator gives its caller. One that changes nothing gives
  /// back its operand, through which gradients would flow as before.
  Node *applyStop(Node *node) {
    return graph.getStopsGradients() && !node->isStopped && isFloat(node->dtype)
               ? stopGrad(node)
               : node;
  }

  /// Sets how many bytes the trips of a scan may save for its gradient.
  void setSavedBytes(int64_t bytes) { savedBytes = bytes; }
  int64_t getSavedBytes() const { return savedBytes; }

  //===--------------------------------------------------------------------===//
  // Leaves (RecordLeaf.cpp)
  //===--------------------------------------------------------------------===//

  /// A tensor in memory, which belongs to the graph from here on.
  Node *buffer(DType dtype, llvm::ArrayRef<int64_t> shape, BufferRef buffer);
  /// An argument of a function that is recorded.
  Node *placeholder(DType dtype, llvm::ArrayRef<int64_t> shape);
  /// A number that is no part of programs.
  Node *scalar(Number value, DType dtype);
  Node *full(llvm::ArrayRef<int64_t> shape, Operand value, DType dtype);
  /// The same of a number that is part of programs.
  Node *constant(llvm::ArrayRef<int64_t> shape, Number value, DType dtype);
  Node *iota(llvm::ArrayRef<int64_t> shape, int64_t dimension, DType dtype);
  /// Uniform in [0, 1); uint32 gives all 32 bits.
  Node *random(llvm::ArrayRef<int64_t> shape, DType dtype);
  /// Begins another sequence of numbers.
  void seed(int64_t key);
  /// Returns what random numbers are made of: the key, and the counter of those
  /// that come behind so many.
  Node *randomKey();
  Node *randomCounter(int64_t offset);
  int64_t getRandomKey() const { return key; }
  int64_t getRandomCounter(int64_t offset) const;
  /// Has random numbers be made of a key, and of a counter of those that have
  /// been drawn before, which are values.
  void drawFrom(Node *key, Node *counter);
  /// Counts numbers as drawn.
  void skipRandom(int64_t count);
  int64_t getNumDrawn() const { return drawn; }
  /// Is told of keys and counters of random numbers.
  std::function<void(Node *number, bool isCounter)> onDraw;

  //===--------------------------------------------------------------------===//
  // Element-wise (RecordElementwise.cpp)
  //===--------------------------------------------------------------------===//

  /// By the dialect's mnemonics; operands are promoted and broadcast.
  Node *unary(llvm::StringRef name, Operand x);
  Node *binary(llvm::StringRef name, Operand x, Operand y);
  Node *ternary(llvm::StringRef name, Operand x, Operand y, Operand z);
  /// eq, ne, lt, le, gt, ge.
  Node *compare(llvm::StringRef predicate, Operand x, Operand y);
  Node *select(Operand condition, Operand onTrue, Operand onFalse);
  Node *cast(Operand x, DType dtype);
  /// The same bits as numbers of another type of the same width.
  Node *bitcast(Operand x, DType dtype);
  Node *stopGrad(Node *x);
  /// The same value in another device's memory.
  Node *transfer(Node *x, llvm::StringRef from, llvm::StringRef to);
  Node *stopFuse(Node *x);

  //===--------------------------------------------------------------------===//
  // Reindex and reduce (RecordReindex.cpp, RecordReduce.cpp)
  //===--------------------------------------------------------------------===//

  /// `extras` are integer tensors that the expressions read as `@eK(...)`.
  Node *reindex(Node *x, llvm::ArrayRef<int64_t> shape,
                llvm::ArrayRef<std::string> indexes, Number fill,
                llvm::ArrayRef<std::string> overflowConditions,
                llvm::ArrayRef<Node *> extras = {});
  Node *reindexReduce(Node *x, llvm::StringRef kind,
                      llvm::ArrayRef<int64_t> shape,
                      llvm::ArrayRef<std::string> indexes,
                      llvm::ArrayRef<std::string> overflowConditions,
                      llvm::ArrayRef<Node *> extras = {});
  /// `newDims` are dimensions of the result that x lacks; x's own dimensions
  /// are aligned with the others from the right.
  Node *broadcast(Operand x, llvm::ArrayRef<int64_t> shape,
                  llvm::ArrayRef<int64_t> newDims);
  /// One extent may be -1.
  Node *reshape(Node *x, llvm::ArrayRef<int64_t> shape);
  /// Without a permutation the dimensions are reversed.
  Node *transpose(Node *x, std::optional<llvm::ArrayRef<int64_t>> permutation);
  Node *pad(Node *x, llvm::ArrayRef<int64_t> low, llvm::ArrayRef<int64_t> high,
            Number fill);
  /// Moves elements along a dimension, those past its end to its start.
  Node *roll(Node *x, int64_t shift, int64_t dim);
  /// add, mul, max, min, and, or, xor; also sum, prod, mean, all and any, with
  /// NumPy's result types. No dimensions mean all.
  Node *reduce(llvm::StringRef kind, Node *x,
               std::optional<llvm::ArrayRef<int64_t>> dims, bool keepDims);
  /// Records the root of the sum of powers over `divisor`, of float32; powers
  /// are of magnitudes unless `isSigned`.
  Node *norm(Node *x, llvm::ArrayRef<int64_t> dims, bool keepDims,
             double divisor, double order, bool isSigned);
  /// (..., n, m) by (..., m, k), or (m) for a row or a column that the result
  /// then lacks. The leading dimensions broadcast; the type is that of x * y.
  Node *matmul(Node *x, Node *y);

  //===--------------------------------------------------------------------===//
  // Indices (RecordIndirect.cpp, Indexing.cpp)
  //===--------------------------------------------------------------------===//

  /// The indices as int64, counted from the start of the dimension. What reads
  /// them fails where one is out of range.
  Node *checkIndices(Node *indices, IndexRange range);
  /// Returns the number of a loop's trips, 0 if it is less than that. The
  /// program fails where it is more than `most`.
  Node *checkTrips(Node *count, int64_t most);

  Node *getItem(Node *x, llvm::ArrayRef<IndexItem> items);
  /// x with a part replaced; x itself if the part has no elements.
  Node *replaceItem(Node *x, llvm::ArrayRef<IndexItem> items, Operand value);

  //===--------------------------------------------------------------------===//
  // Placement and routines (RecordPlacement.cpp, RecordRoutine.cpp)
  //===--------------------------------------------------------------------===//

  /// The parts one after the other along a dimension, with promoted types.
  Node *concat(llvm::ArrayRef<Node *> parts, int64_t dim);
  /// The same along a new dimension, of parts that have one shape.
  Node *stack(llvm::ArrayRef<Node *> parts, int64_t dim);

  /// By the names of the dialect's prefix operators; `factors` for `linear`,
  /// else null.
  Node *prefix(llvm::StringRef kind, Node *x, Node *factors, int64_t dim,
               bool reverse, bool exclusive);
  /// `count` places of the order, all by default, from `begin` on: the elements
  /// that come there, and, as the next result, where they were, int64.
  Node *sort(Node *x, int64_t dim, bool descending, int64_t begin = 0,
             std::optional<int64_t> count = std::nullopt);

  /// Calls code of a user's. Returns the first output.
  Node *callExtern(const ExternCall &call, llvm::ArrayRef<Node *> inputs);
  /// Calls a routine of the session's. Returns the first output.
  Node *callRoutine(const RoutineRequest &request,
                    llvm::ArrayRef<Node *> inputs);
  /// Gives values that are there when all are. Returns the first.
  Node *barrier(llvm::ArrayRef<Node *> values);

  //===--------------------------------------------------------------------===//
  // Operations with regions (RecordRegions.cpp)
  //===--------------------------------------------------------------------===//

  /// Records an operation with regions. `build` makes it at the builder's
  /// place: of the given values, which its regions may use as well as its
  /// operands. The dialects scf, arith and tensor are there. Graph::adopt says
  /// what it may be. Returns the first of its results; throws, and records
  /// nothing, where it is none.
  Node *recordRegions(llvm::ArrayRef<Node *> given,
                      llvm::function_ref<mlir::Operation *(
                          mlir::OpBuilder &, mlir::Location, mlir::ValueRange)>
                          build);

private:
  struct ElementwiseInfo;
  struct ParsedAccess;
  struct Tables;

  mlir::OpBuilder &at() { return graph.getBuilder(); }
  Node *adopt(mlir::Operation *op) { return graph.adopt(op); }
  mlir::RankedTensorType typeOf(llvm::ArrayRef<int64_t> shape, DType dtype);
  mlir::TypedAttr fillOf(Number value, DType dtype);
  Node *recordInteger(int64_t value);
  Node *recordZeroIndex();
  Node *recordSplat(llvm::ArrayRef<int64_t> shape, mlir::TypedAttr value);

  // Element-wise
  const ElementwiseInfo &lookUpElementwise(llvm::StringRef name,
                                           unsigned arity);
  DType elementwiseType(const ElementwiseInfo &info, llvm::StringRef name,
                        DType dtype) const;
  Node *recordOperand(Operand operand, DType dtype,
                      llvm::ArrayRef<int64_t> shape);
  Node *recordCast(Node *x, DType dtype);
  Node *recordElementwise(mlir::OperationName name,
                          llvm::ArrayRef<Node *> operands);
  Node *recordSeveral(llvm::StringRef name, llvm::ArrayRef<Operand> operands);
  Node *recordPower(Operand x, Operand y);
  Node *recordSelect(Node *condition, Node *onTrue, Node *onFalse);

  // Reindex and reduce
  Node *recordBroadcast(Node *x, llvm::ArrayRef<int64_t> shape);
  Node *recordBroadcast(Node *x, llvm::ArrayRef<int64_t> shape,
                        llvm::ArrayRef<int64_t> dimensions);
  Node *recordReshape(Node *x, llvm::ArrayRef<int64_t> shape);
  Node *recordReduce(mlir::metaop::Combiner kind, Node *x,
                     llvm::ArrayRef<int64_t> dims, bool keepDims);
  const ParsedAccess &parseAccess(llvm::StringRef what,
                                  llvm::ArrayRef<int64_t> iteration,
                                  llvm::ArrayRef<int64_t> x,
                                  llvm::ArrayRef<int64_t> y,
                                  llvm::ArrayRef<std::string> indexes,
                                  llvm::ArrayRef<std::string> conditions,
                                  llvm::ArrayRef<Node *> extras);
  /// `computed` are the values of the dims behind those of `shape`.
  Node *recordMask(const ConditionTree &tree, llvm::ArrayRef<int64_t> shape,
                   llvm::ArrayRef<Node *> computed);
  Node *recordMasks(llvm::ArrayRef<ConditionTree> trees,
                    llvm::ArrayRef<int64_t> shape,
                    llvm::ArrayRef<Node *> computed);
  Node *recordAffine(mlir::AffineExpr expr, llvm::ArrayRef<int64_t> shape,
                     llvm::ArrayRef<Node *> computed);

  // Indices
  llvm::SmallVector<Node *> recordComputed(const ParsedAccess &parsed,
                                           llvm::ArrayRef<int64_t> iteration,
                                           llvm::ArrayRef<Node *> extras);
  Node *recordRead(const ComputedIndex &read, llvm::ArrayRef<int64_t> iteration,
                   llvm::ArrayRef<Node *> extras,
                   llvm::ArrayRef<Node *> computed);
  /// Indices that are in no range.
  Node *recordNowhere(llvm::ArrayRef<int64_t> shape);
  /// The quotient of int64 values, rounded towards zero, or its remainder.
  Node *recordDivision(Node *x, Node *y, bool isRemainder);
  Node *recordFromStart(Node *indices, IndexRange range);
  llvm::SmallVector<mlir::Value>
  recordStarts(llvm::ArrayRef<StridedRange> ranges,
               llvm::ArrayRef<int64_t> shape);
  /// The part of a concat that holds the indices `first` to `last` of a
  /// dimension, and where it begins; null if there is none.
  std::pair<Node *, int64_t> findPart(Node *node, int64_t dim, int64_t first,
                                      int64_t last) const;
  Node *narrow(Node *node, llvm::MutableArrayRef<StridedRange> ranges);

  // Placement
  Node *recordConcat(llvm::ArrayRef<mlir::Value> parts,
                     llvm::ArrayRef<int64_t> shape, int64_t dim);

  Graph &graph;
  mlir::MLIRContext *context;
  int64_t savedBytes = 0;
  mlir::Location line;
  std::shared_ptr<Tables> tables;
  /// The 0-d constant 0 that stands for the start of a whole dimension.
  Node *zeroIndex = nullptr;
  int64_t key = 0;
  /// The number of random numbers drawn since the last `seed`.
  int64_t drawn = 0;
  /// Null where these are the session's.
  Node *givenKey = nullptr, *givenCounter = nullptr;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_RECORDING_RECORDER_H
