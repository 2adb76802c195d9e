//===- EmitcTarget.cpp - Kernels as C -------------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A target outside of the compiler: kernels in the EmitC dialect, which
// mlir-translate prints as C, for any compiler of the system. Each value is a
// variable: where MLIR forms expressions, the text of a value that is used
// twice is there twice, and a chain of maxima doubles with each link.
//
//   metaop-opt file.mlir --metaop-pipeline="target=emitc" |
//     mlir-translate --mlir-to-cpp
//
// Schedules are those of a processor without vectors, and so are the loops; the
// way from these to EmitC is MLIR's own. A function in C takes the buffers of
// its kernel, then the range of the parallel loop:
//
//   void kernel_0(float x[2368], float y[2368], size_t begin, size_t end);
//
// Numbers of kernels stay constants, as buffers in C have lengths. What MLIR
// cannot say in C is an error that names the operation, such as a bitcast.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Target/CPU/CpuTarget.h"
#include "MetaOps/Target/TargetRegistry.h"
#include "mlir/Conversion/ArithToEmitC/ArithToEmitC.h"
#include "mlir/Conversion/ConvertToEmitC/ConvertToEmitCPass.h"
#include "mlir/Conversion/FuncToEmitC/FuncToEmitC.h"
#include "mlir/Conversion/MathToEmitC/MathToEmitCPass.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToEmitC/MemRefToEmitC.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToEmitC/SCFToEmitC.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/EmitC/IR/EmitC.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::metaop;

namespace {

/// Takes off loops what the conversion to EmitC refuses and C does not need:
/// facts for a runtime, and the alignment of local memory. In C an index is a
/// size_t, and so is its quotient, whatever the operation says: what may be
/// negative is divided as a number with a sign, all else as it is.
struct PrepareForC : PassWrapper<PrepareForC, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PrepareForC)

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<emitc::EmitCDialect>();
    registerConvertArithToEmitCInterface(registry);
    registerConvertFuncToEmitCInterface(registry);
    registerConvertMemRefToEmitCInterface(registry);
    registerConvertSCFToEmitCInterface(registry);
  }
  StringRef getArgument() const override { return "prepare-for-c"; }

  template <typename OpT> void divideWithSign() {
    getOperation().walk([](OpT op) {
      if (!op.getType().isIndex())
        return;
      OpBuilder b(op);
      auto cast = [&](Type type, Value value) {
        return arith::IndexCastOp::create(b, op.getLoc(), type, value);
      };
      Value quotient =
          OpT::create(b, op.getLoc(), cast(b.getI64Type(), op.getLhs()),
                      cast(b.getI64Type(), op.getRhs()));
      op.replaceAllUsesWith(cast(b.getIndexType(), quotient).getResult());
      op.erase();
    });
  }

  template <typename Unsigned, typename Signed> void divideWithoutSign() {
    getOperation().walk([](Unsigned op) {
      if (!op.getType().isIndex())
        return;
      OpBuilder b(op);
      op.replaceAllUsesWith(
          Signed::create(b, op.getLoc(), op.getLhs(), op.getRhs()).getResult());
      op.erase();
    });
  }

  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      SmallVector<StringAttr> facts;
      for (NamedAttribute attr : op->getDiscardableAttrs())
        if (attr.getName().strref().starts_with("metaop."))
          facts.push_back(attr.getName());
      for (StringAttr name : facts)
        op->removeDiscardableAttr(name);
      if (auto local = dyn_cast<memref::AllocaOp>(op))
        local.removeAlignmentAttr();
    });
    divideWithSign<arith::DivSIOp>();
    divideWithSign<arith::RemSIOp>();
    divideWithoutSign<arith::DivUIOp, arith::DivSIOp>();
    divideWithoutSign<arith::RemUIOp, arith::RemSIOp>();
  }
};

/// Refuses what has not become EmitC.
struct VerifyC : PassWrapper<VerifyC, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(VerifyC)

  StringRef getArgument() const override { return "verify-c"; }

  void runOnOperation() override {
    Operation *refused = nullptr;
    getOperation().walk([&](Operation *op) {
      // Around what has no form in C are casts, which say nothing.
      bool isBetter = !refused || isa<UnrealizedConversionCastOp>(refused);
      if (isBetter && !isa<ModuleOp>(op) &&
          !isa<emitc::EmitCDialect>(op->getDialect()))
        refused = op;
    });
    if (!refused)
      return;
    refused->emitOpError("cannot be said in C, by target 'emitc'");
    signalPassFailure();
  }
};

class EmitcTarget final : public Target {
public:
  StringRef getName() const override { return "emitc"; }
  void print(raw_ostream &os) const override { os << getName(); }

  void addSchedules(OpPassManager &pm,
                    const ScheduleRequest &request) const override {
    scalar.addSchedules(pm, request);
  }
  LogicalResult verify(KernelOp kernel) const override {
    return scalar.verify(kernel);
  }
  /// Returns false: schedules of kernels belong to processors.
  bool owns(ScheduleAttr) const override { return false; }
  FailureOr<KernelMeasures> measure(KernelOp kernel) const override {
    return scalar.measure(kernel);
  }
  SmallVector<KernelSchedules>
  listNeighbours(ArrayRef<Stage> stages) const override {
    return scalar.listNeighbours(stages);
  }

  ArrayRef<StringRef> getPhases() const override {
    static constexpr StringRef phases[] = {"loops", "emitc"};
    return phases;
  }
  void addLoops(OpPassManager &pm) const override { scalar.addLoops(pm); }
  void addFamily(OpPassManager &) const override {}
  void addCode(OpPassManager &pm) const override;
  void insertDialects(DialectRegistry &registry) const override {
    scalar.insertDialects(registry);
    registry.insert<emitc::EmitCDialect>();
  }

private:
  CpuTarget scalar{cantFail(Processor::find("scalar"))};
};

void EmitcTarget::addCode(OpPassManager &pm) const {
  pm.addPass(arith::createArithExpandOpsPass());
  pm.addPass(std::make_unique<PrepareForC>());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createConvertMathToEmitC());
  pm.addPass(createConvertMathToLibmPass());
  pm.addPass(createConvertToEmitC());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(std::make_unique<VerifyC>());
}

} // namespace

namespace mlir::metaop {
void registerEmitcTarget(TargetRegistry &registry);
} // namespace mlir::metaop

void metaop::registerEmitcTarget(TargetRegistry &registry) {
  TargetKind kind;
  kind.name = "emitc";
  kind.summary = "kernels as C";
  kind.create = [](StringRef) -> llvm::Expected<std::shared_ptr<const Target>> {
    return std::make_shared<EmitcTarget>();
  };
  registry.add(std::move(kind));
}
