//===- RegionFixture.h - A graph of nodes with regions ----------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_UNITTESTS_RUNTIME_REGIONFIXTURE_H
#define METAOPS_UNITTESTS_RUNTIME_REGIONFIXTURE_H

#include "RegionText.h"

#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Runtime/Graph/Error.h"
#include "MetaOps/Runtime/Graph/Graph.h"
#include "MetaOps/Runtime/Graph/Slice.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"

#include <string>
#include <vector>

namespace metaops {

/// %a to %c are tensor<4xf32>, %d tensor<8xf32>, %e tensor<i1>, %f tensor<i64>
/// and %g tensor<i32>.
class RegionFixture : public testing::Test {
protected:
  RegionFixture() {
    context.loadDialect<mlir::metaop::MetaOpDialect, mlir::func::FuncDialect,
                        mlir::arith::ArithDialect, mlir::tensor::TensorDialect,
                        mlir::scf::SCFDialect, mlir::cf::ControlFlowDialect>();
    for (const char *type :
         {"tensor<4xf32>", "tensor<4xf32>", "tensor<4xf32>", "tensor<8xf32>",
          "tensor<i1>", "tensor<i64>", "tensor<i32>"})
      leaves.push_back(makeLeaf(type));
  }

  Node *makeLeaf(llvm::StringRef type) {
    Node *node = graph.adopt(mlir::metaop::BufferOp::create(
        graph.getBuilder(), mlir::UnknownLoc::get(&context),
        llvm::cast<mlir::RankedTensorType>(mlir::parseType(type, &context))));
    node->buffer = Buffer::wrap(nullptr, 0, {});
    graph.retainVar(node);
    return node;
  }

  Node *makeSum(Node *x, Node *y) {
    return graph.adopt(mlir::metaop::AddOp::create(
        graph.getBuilder(), mlir::UnknownLoc::get(&context), x->value(),
        y->value()));
  }

  Node *record(llvm::StringRef text, llvm::ArrayRef<Node *> given) {
    auto values = llvm::map_to_vector(
        given, [](Node *node) -> mlir::Value { return node->value(); });
    mlir::Operation *op = buildFromText(graph.getBuilder(), text, values);
    if (!op) {
      ADD_FAILURE() << "cannot parse " << text.str();
      return given.front();
    }
    return graph.adopt(op);
  }
  Node *record(llvm::StringRef text) { return record(text, leaves); }

  /// The message of the exception of adopting what a text says.
  std::string errorOf(llvm::StringRef text) {
    try {
      record(text);
    } catch (const SessionError &error) {
      graph.collectAll();
      return error.what();
    }
    return "no error";
  }

  Slice trace(llvm::ArrayRef<Node *> outputs) {
    Slice slice;
    traceSlice(graph, outputs, slice);
    finishKey(slice, {}, {});
    return slice;
  }

  /// The slice as generic text, without locations. It has to be valid.
  std::string print(llvm::ArrayRef<Node *> outputs) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(
        writeSlice(graph, trace(outputs)), mlir::ParserConfig(&context));
    if (!module || mlir::failed(mlir::verify(*module)))
      return "an invalid slice";
    std::string text;
    llvm::raw_string_ostream os(text);
    module->getOperation()->print(os,
                                  mlir::OpPrintingFlags().printGenericOpForm());
    return text;
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  Graph graph{&context};
  std::vector<Node *> leaves;
};

inline const std::string vec = " : tensor<4xf32>\n";

/// Where the order in which %a, %b and %c are captured is always the same.
inline std::string regionOf(llvm::StringRef body,
                            llvm::StringRef types = "tensor<4xf32>",
                            llvm::StringRef results = "%r") {
  return (results + " = scf.execute_region -> " + types + " {\n" +
          "%m = metaop.mul %a, %b" + vec + "%o = metaop.mul %b, %c" + vec +
          body + "\n}")
      .str();
}

inline std::string yield(llvm::StringRef value,
                         llvm::StringRef type = "4xf32") {
  return ("scf.yield %" + value + " : tensor<" + type + ">").str();
}

inline std::string ifOf(llvm::StringRef onTrue, llvm::StringRef onFalse,
                        llvm::StringRef name = "s") {
  return ("%t" + name + " = tensor.extract %e[] : tensor<i1>\n%" + name +
          " = scf.if %t" + name + " -> (tensor<4xf32>) {\n" + onTrue +
          "\n} else {\n" + onFalse + "\n}\n" + yield(name))
      .str();
}

inline const std::string add = "%s = metaop.add %a, %b" + vec;

} // namespace metaops

#endif // METAOPS_UNITTESTS_RUNTIME_REGIONFIXTURE_H
