//===- Fixture.cpp - Kernels of a few lines -------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixture.h"
#include "llvm/Support/MemoryBuffer.h"

#include <regex>
#include <sstream>

namespace metaops {

/// Replaces "(load V T P I)" and its kin by operations.
static std::string expand(const std::string &body) {
  static const std::regex form(
      R"(\((load|store|get|put|const|barrier) ([^()]*)\))");
  std::string result;
  unsigned next = 0;
  auto rest = std::sregex_iterator(body.begin(), body.end(), form);
  size_t end = 0;
  for (; rest != std::sregex_iterator(); ++rest) {
    const std::smatch &match = *rest;
    result += body.substr(end, match.position() - end);
    end = match.position() + match.length();
    std::istringstream words(match[2].str());
    std::string value, type, pointer, index, kind = match[1];
    words >> value >> type >> pointer >> index;
    if (kind == "const") {
      result += value + " = llvm.mlir.constant(" + pointer + " : " + type +
                ") : " + type;
      continue;
    }
    if (kind == "barrier") {
      result += "\"nvvm.barrier\"(" + value + ", " + type +
                ") <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (i32, i32) "
                "-> ()";
      continue;
    }
    bool isShared = kind == "get" || kind == "put";
    std::string space = isShared ? "!llvm.ptr<3>" : "!llvm.ptr<1>";
    std::string place = "%place" + std::to_string(next++);
    result += place + " = llvm.getelementptr " + pointer + "[" + index +
              "] : (" + space + ", i32) -> " + space + ", " + type + "\n";
    if (kind == "load" || kind == "get")
      result += value + " = llvm.load " + place + " : " + space + " -> " + type;
    else
      result +=
          "llvm.store " + value + ", " + place + " : " + type + ", " + space;
  }
  return result + body.substr(end);
}

std::string makeKernel(const std::string &parameters, const std::string &body,
                       const std::string &globals,
                       const std::string &attributes) {
  std::ostringstream text;
  text << "gpu.module @m {\n"
       << globals << "\nllvm.func @k(" << parameters
       << ") attributes {gpu.kernel, nvvm.kernel" << attributes << "} {\n";
  for (int number : {0, 1, 2, 3, 4, 5, 6, 7, 8, 15, 16, 31, 32, 64})
    text << "%c" << number << " = llvm.mlir.constant(" << number
         << " : i32) : i32\n";
  text << "%all = llvm.mlir.constant(-1 : i32) : i32\n"
          "%true = llvm.mlir.constant(true) : i1\n"
          "%false = llvm.mlir.constant(false) : i1\n"
          "%tid = nvvm.read.ptx.sreg.tid.x : i32\n"
          "%lane = nvvm.read.ptx.sreg.laneid : i32\n"
          "%block = nvvm.read.ptx.sreg.ctaid.x : i32\n"
          "%ntid = nvvm.read.ptx.sreg.ntid.x : i32\n"
          "%first = llvm.mul %block, %ntid : i32\n"
          "%i = llvm.add %first, %tid : i32\n"
       << expand(body) << "\nllvm.return\n}\n}\n";
  return text.str();
}

std::string makeShared(const std::string &name, unsigned count,
                       const std::string &type) {
  return "llvm.mlir.global internal @" + name +
         "() {addr_space = 3 : i32} : !llvm.array<" + std::to_string(count) +
         " x " + type + ">\n";
}

std::string readKernel(const std::string &name) {
  auto buffer = llvm::MemoryBuffer::getFile(
      std::string(METAOPS_EMULATOR_KERNELS) + "/" + name);
  EXPECT_TRUE(static_cast<bool>(buffer)) << name;
  return buffer ? (*buffer)->getBuffer().str() : "";
}

std::unique_ptr<EmulatedKernel> compileOrFail(const std::string &source) {
  auto kernel = EmulatedKernel::compile(source);
  if (kernel)
    return std::move(*kernel);
  ADD_FAILURE() << toString(kernel.takeError()) << "\n" << source;
  return nullptr;
}

std::string getCompileError(const std::string &source) {
  auto kernel = EmulatedKernel::compile(source);
  return kernel ? "" : toString(kernel.takeError());
}

EmulatorReport launchOrFail(const EmulatedKernel &kernel,
                            const LaunchShape &shape,
                            llvm::ArrayRef<KernelArgument> arguments,
                            llvm::ArrayRef<Allocation> allocations,
                            const EmulatorOptions &options) {
  auto report = kernel.launch(shape, arguments, allocations, options);
  if (report)
    return std::move(*report);
  ADD_FAILURE() << toString(report.takeError());
  return {};
}

} // namespace metaops
