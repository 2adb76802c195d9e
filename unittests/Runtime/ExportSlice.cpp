//===- ExportSlice.cpp - Compiled programs as files -----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The compiler leaves the objects of kernels in a folder, by the hashes of
// their names; from there they are linked into an image.
//
//===----------------------------------------------------------------------===//

#include "ExportSlice.h"
#include "MetaOps/Runtime/CPU/CpuCompiler.h"

#include "MetaOps/Runtime/Cache/DiskKey.h"
#include "MetaOps/Runtime/Cache/DiskStore.h"
#include "MetaOps/Runtime/Compiler/KernelTools.h"
#include "MetaOps/Runtime/Export/HostFeatures.h"
#include "MetaOps/Runtime/Image/ImageFormat.h"
#include "MetaOps/Runtime/JIT/ImageLinker.h"
#include "MetaOps/Runtime/Program/CompiledProgram.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <set>
#include <stdexcept>

using namespace metaops;
using llvm::StringRef;

namespace {
template <typename T> T valueOf(llvm::Expected<T> result) {
  if (result)
    return std::move(*result);
  throw std::runtime_error(toString(result.takeError()));
}

/// A folder that goes away.
struct TemporaryFolder {
  TemporaryFolder() {
    if (llvm::sys::fs::createUniqueDirectory("metaops-export", path))
      throw std::runtime_error("there is no folder for objects");
  }
  ~TemporaryFolder() { (void)llvm::sys::fs::remove_directories(path); }
  llvm::SmallString<128> path;
};
} // namespace

/// The objects of a program's kernels as an image.
static std::string linkKernels(const ProgramData &program, StringRef target,
                               StringRef folder) {
  DiskKey targetKey = {};
  std::string bytes = llvm::fromHex(target);
  std::copy(bytes.begin(), bytes.end(), targetKey.begin());
  std::set<std::string> names;
  walkSteps(program.steps, [&](const Step &step) {
    if (const auto *call = std::get_if<KernelCall>(&step.action))
      names.insert(call->kernel->name);
  });
  if (names.empty())
    return "";
  DiskStore store(folder.str());
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> objects;
  std::vector<llvm::MemoryBufferRef> references;
  for (const std::string &name : names) {
    objects.push_back(
        store.load(DiskEntryKind::Kernel,
                   DiskKeyBuilder().add(targetKey).add(name).finish()));
    if (!objects.back())
      throw std::runtime_error("there is no object of kernel " + name);
    references.emplace_back(objects.back()->getBuffer(), name);
  }
  StringRef architecture = getName(*getHostArchitecture());
  return valueOf(linkImage(
      references, std::vector<std::string>(names.begin(), names.end()),
      llvm::Triple(architecture.str() + "-unknown-linux-gnu")));
}

std::string metaops::exportSlice(StringRef module,
                                 const ExportedTensors &tensors) {
  TemporaryFolder folder;
  auto compiler = createCpuCompiler();
  compiler->setCacheDirectory(folder.path);
  auto program = std::static_pointer_cast<CompiledProgram>(
      valueOf(compiler->compile(module, {}, {})));
  std::string bytes = writeProgram(program->getData(), program->getInfo());
  std::string image =
      linkKernels(program->getData(),
                  valueOf(compiler->getTools()->getTargetName()), folder.path);
  ProgramFileContents contents;
  contents.signature = tensors.signature;
  contents.signature.functions = {tensors.function};
  contents.signature.functions[0].name = "main";
  contents.signature.producer = "a test";
  contents.signature.targets = {{"host", getHostFeatures()}};
  contents.functions = {{{{{bytes}, image}}, module}};
  contents.weights = tensors.weights;
  return valueOf(writeProgramFile(contents));
}

std::string metaops::exportPerceptron() {
  std::vector<float> a(32 * 48), b(48 * 4);
  for (int i = 0; i < 32; ++i)
    for (int j = 0; j < 48; ++j)
      a[i * 48 + j] = float((7 * i + 3 * j) % 11 - 5) / 16;
  for (int i = 0; i < 48; ++i)
    for (int j = 0; j < 4; ++j)
      b[i * 4 + j] = float((5 * i + j) % 13 - 6) / 32;
  auto bytesOf = [](const std::vector<float> &values) {
    return llvm::ArrayRef(reinterpret_cast<const char *>(values.data()),
                          values.size() * sizeof(float));
  };
  ExportedTensors tensors;
  tensors.function.inputs = {{"x", DType::F32, {8, 32}}};
  tensors.signature.weights = {{"a", DType::F32, {32, 48}},
                               {"b", DType::F32, {48, 4}}};
  tensors.function.arguments = {0, std::nullopt, 1};
  tensors.function.outputs = {{"y", DType::F32, {8, 4}},
                              {"e", DType::F64, {8, 4}}};
  tensors.signature.keys = {{"model", "perceptron"}};
  tensors.weights = {bytesOf(a), bytesOf(b)};
  return exportSlice(R"(
func.func @main(%a: tensor<32x48xf32>, %x: tensor<8x32xf32>, %b: tensor<48x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf64>) {
  %0 = metaop.broadcast %x dims = [0, 1] : tensor<8x32xf32> -> tensor<8x32x48xf32>
  %1 = metaop.broadcast %a dims = [1, 2] : tensor<32x48xf32> -> tensor<8x32x48xf32>
  %2 = metaop.mul %0, %1 : tensor<8x32x48xf32>
  %3 = metaop.reduce add %2 dims = [1] : tensor<8x32x48xf32> -> tensor<8x48xf32>
  %4 = metaop.constant dense<0.000000e+00> : tensor<8x48xf32>
  %5 = metaop.max %3, %4 : tensor<8x48xf32>
  %6 = metaop.broadcast %5 dims = [0, 1] : tensor<8x48xf32> -> tensor<8x48x4xf32>
  %7 = metaop.broadcast %b dims = [1, 2] : tensor<48x4xf32> -> tensor<8x48x4xf32>
  %8 = metaop.mul %6, %7 : tensor<8x48x4xf32>
  %9 = metaop.reduce add %8 dims = [1] : tensor<8x48x4xf32> -> tensor<8x4xf32>
  %10 = metaop.cast %9 : tensor<8x4xf32> -> tensor<8x4xf64>
  %11 = metaop.exp %10 : tensor<8x4xf64>
  return %9, %11 : tensor<8x4xf32>, tensor<8x4xf64>
}
)",
                     tensors);
}

std::string metaops::exportChain() {
  std::string type = "tensor<" + std::to_string(kChainExtent) + "xf32>";
  std::string arguments = "%v0: " + type, body;
  ExportedTensors tensors;
  tensors.function.inputs = {{"x", DType::F32, {kChainExtent}}};
  tensors.function.outputs = {{"y", DType::F32, {kChainExtent}}};
  tensors.function.arguments = {std::nullopt};
  std::vector<float> weight(kChainExtent);
  for (int i = 0; i < kChainExtent; ++i)
    weight[i] = float(i % 7) / 8;
  for (int i = 0; i < kChainKernels; ++i) {
    std::string n = std::to_string(i);
    arguments += ", %w" + n + ": " + type;
    body += "  %a" + n + " = metaop.mul %v" + n + ", %w" + n + " : " + type +
            "\n  %c" + n + " = metaop.constant dense<" + n + ".5> : " + type +
            "\n  %b" + n + " = metaop.add %a" + n + ", %c" + n + " : " + type +
            "\n  %v" + std::to_string(i + 1) + " = metaop.stop_fuse %b" + n +
            " : " + type + "\n";
    tensors.signature.weights.push_back({"w" + n, DType::F32, {kChainExtent}});
    tensors.function.arguments.push_back(i);
    tensors.weights.emplace_back(reinterpret_cast<const char *>(weight.data()),
                                 weight.size() * sizeof(float));
  }
  return exportSlice("func.func @main(" + arguments + ") -> " + type + " {\n" +
                         body + "  return %v" + std::to_string(kChainKernels) +
                         " : " + type + "\n}\n",
                     tensors);
}
