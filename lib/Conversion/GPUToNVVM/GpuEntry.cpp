//===- GpuEntry.cpp - How kernels for GPUs are called ---------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel takes the address of each buffer and 64 bits for each number. At its
// beginning memrefs are made of the addresses, of which nothing is left in the
// end but these, as nobody asks for their lengths.
//
// Of shared memory, a kernel may hold 48 KB by itself. If it has more, all of
// it is one array of no length, whose size each call gives: places in it follow
// each other, aligned.
//
//===----------------------------------------------------------------------===//

#include "GpuEntry.h"
#include "MetaOps/Conversion/Passes.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.h"
#include "MetaOps/Target/Description/Chip.h"
#include "MetaOps/Target/Description/Processor.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_GPUENTRYPASS
#include "MetaOps/Conversion/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

/// Bytes of shared memory that a kernel may hold without its call's asking for
/// it.
static constexpr int64_t kStaticSharedBytes = int64_t(48) << 10;
/// Bytes that copies in bulk ask shared memory to begin at multiples of.
static constexpr int64_t kBulkBytes = 128;

static constexpr StringLiteral kAlign = "llvm.align";

int64_t metaop::getSharedBytes(MemRefType type) {
  int64_t bits = type.getElementType().getIntOrFloatBitWidth();
  return static_cast<int64_t>(llvm::divideCeil(bits, 8)) *
         type.getNumElements();
}

namespace {
class EntryBuilder {
public:
  explicit EntryBuilder(gpu::GPUFuncOp kernel)
      : kernel(kernel), b(OpBuilder::atBlockBegin(&kernel.getBody().front())),
        launch(MetaOpDialect::LaunchAttrHelper(kernel.getContext())
                   .getAttr(kernel)),
        converter(b.getContext(), getOptions()) {}

  void build();

private:
  LowerToLLVMOptions getOptions() {
    LowerToLLVMOptions options(b.getContext());
    options.overrideIndexBitwidth(launch.getIndexBits());
    return options;
  }
  void setLaunch();
  Value emitBuffer(Value address, MemRefType type);
  void takeArguments();
  void placeSharedMemory();
  void shareDynamically(int64_t numBytes);
  int64_t getAlignment(unsigned attribution);
  /// Returns the first byte of each attribution if they follow each other; the
  /// sum at last.
  SmallVector<int64_t> getOffsets();

  gpu::GPUFuncOp kernel;
  OpBuilder b;
  LaunchAttr launch;
  LLVMTypeConverter converter;
};
} // namespace

void EntryBuilder::setLaunch() {
  auto alongX = [&](int64_t size) {
    return b.getDenseI32ArrayAttr({static_cast<int32_t>(size), 1, 1});
  };
  kernel->setAttr(NVVM::NVVMDialect::getReqntidAttrName(),
                  alongX(launch.getThreads()));
  if (launch.getCluster() > 1)
    kernel->setAttr(NVVM::NVVMDialect::getClusterDimAttrName(),
                    alongX(launch.getCluster()));
  if (launch.getMinBlocks() > 1)
    kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                    b.getI32IntegerAttr(launch.getMinBlocks()));
}

/// A memref at `address`. The length of a buffer is asked by nobody.
Value EntryBuilder::emitBuffer(Value address, MemRefType type) {
  Location loc = address.getLoc();
  auto descriptor =
      MemRefDescriptor::poison(b, loc, converter.convertType(type));
  descriptor.setAllocatedPtr(b, loc, address);
  descriptor.setAlignedPtr(b, loc, address);
  descriptor.setConstantOffset(b, loc, 0);
  int64_t stride = 1;
  for (int64_t dim = type.getRank(); dim-- > 0;) {
    int64_t size = type.isDynamicDim(dim) ? 0 : type.getDimSize(dim);
    descriptor.setConstantSize(b, loc, dim, size);
    descriptor.setConstantStride(b, loc, dim, stride);
    stride *= size;
  }
  return UnrealizedConversionCastOp::create(b, loc, type, Value(descriptor))
      .getResult(0);
}

/// Replaces `argument` by one of another type, of which `emit` makes what its
/// uses are of.
static void retype(BlockArgument argument, Type type,
                   function_ref<Value()> emit) {
  auto uses = llvm::map_to_vector(argument.getUses(),
                                  [](OpOperand &use) { return &use; });
  argument.setType(type);
  Value value = emit();
  for (OpOperand *use : uses)
    use->set(value);
}

void EntryBuilder::takeArguments() {
  SmallVector<Type> types;
  unsigned count = kernel.getFunctionType().getNumInputs();
  for (BlockArgument argument :
       kernel.getBody().getArguments().take_front(count)) {
    if (auto buffer = dyn_cast<MemRefType>(argument.getType())) {
      Type address = LLVM::LLVMPointerType::get(
          b.getContext(), static_cast<unsigned>(NVVM::NVVMMemorySpace::Global));
      retype(argument, address, [&] { return emitBuffer(argument, buffer); });
      if (!kernel.getArgAttr(argument.getArgNumber(), kAlign))
        kernel.setArgAttr(argument.getArgNumber(), kAlign,
                          b.getI64IntegerAttr(kLineBytes));
    } else {
      retype(argument, b.getI64Type(), [&] {
        return arith::IndexCastOp::create(b, argument.getLoc(),
                                          b.getIndexType(), argument);
      });
    }
    types.push_back(argument.getType());
  }
  kernel.setFunctionType(b.getFunctionType(types, {}));
}

int64_t EntryBuilder::getAlignment(unsigned attribution) {
  auto given = dyn_cast_if_present<IntegerAttr>(
      kernel.getWorkgroupAttributionAttr(attribution, kAlign));
  return std::max(given ? given.getInt() : 0, Chip::kMaxAccessBytes);
}

SmallVector<int64_t> EntryBuilder::getOffsets() {
  SmallVector<int64_t> offsets;
  int64_t end = 0;
  for (auto [i, attribution] :
       llvm::enumerate(kernel.getWorkgroupAttributions())) {
    auto type = cast<MemRefType>(attribution.getType());
    end = llvm::alignTo(end, getAlignment(i));
    offsets.push_back(end);
    end += getSharedBytes(type);
  }
  offsets.push_back(end);
  return offsets;
}

/// The array of no length, which the kernels of a module have in common.
static LLVM::GlobalOp getDynamicShared(gpu::GPUModuleOp module) {
  constexpr StringLiteral name = "dynamic_shared";
  if (auto found = module.lookupSymbol<LLVM::GlobalOp>(name))
    return found;
  OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
  return LLVM::GlobalOp::create(
      b, module.getLoc(), LLVM::LLVMArrayType::get(b.getI8Type(), 0),
      /*isConstant=*/false, LLVM::Linkage::External, name, Attribute(),
      kBulkBytes, static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared));
}

void EntryBuilder::shareDynamically(int64_t numBytes) {
  Location loc = kernel.getLoc();
  Value base = LLVM::AddressOfOp::create(
      b, loc, getDynamicShared(kernel->getParentOfType<gpu::GPUModuleOp>()));
  SmallVector<int64_t> offsets = getOffsets();
  auto attributions = llvm::to_vector(kernel.getWorkgroupAttributions());
  for (auto [attribution, offset] : llvm::zip(attributions, offsets)) {
    Value place = LLVM::GEPOp::create(
        b, loc, base.getType(), b.getI8Type(), base,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
    attribution.replaceAllUsesWith(
        emitBuffer(place, cast<MemRefType>(attribution.getType())));
  }
  kernel.getBody().front().eraseArguments(
      kernel.getFunctionType().getNumInputs(), attributions.size());
  kernel->setAttr(kernel.getNumWorkgroupAttributionsAttrName(),
                  b.getI64IntegerAttr(0));
  kernel->removeAttr(kernel.getWorkgroupAttribAttrsAttrName());
  MetaOpDialect::DynamicSharedBytesAttrHelper(b.getContext())
      .setAttr(kernel, b.getI64IntegerAttr(numBytes));
}

void EntryBuilder::placeSharedMemory() {
  int64_t numBytes = getOffsets().back();
  if (numBytes > kStaticSharedBytes)
    return shareDynamically(numBytes);
  for (unsigned i = 0, e = kernel.getNumWorkgroupAttributions(); i < e; ++i)
    kernel.setWorkgroupAttributionAttr(i, kAlign,
                                       b.getI64IntegerAttr(getAlignment(i)));
}

void EntryBuilder::build() {
  setLaunch();
  takeArguments();
  placeSharedMemory();
}

namespace {
struct GpuEntryPass : metaop::impl::GpuEntryPassBase<GpuEntryPass> {
  void runOnOperation() override {
    MetaOpDialect::LaunchAttrHelper launchOf(&getContext());
    for (auto module : getOperation().getOps<gpu::GPUModuleOp>())
      for (auto kernel : module.getOps<gpu::GPUFuncOp>())
        if (launchOf.isAttrPresent(kernel))
          EntryBuilder(kernel).build();
  }
};
} // namespace
