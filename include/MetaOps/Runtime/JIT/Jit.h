//===- Jit.h - Machine code in this process ---------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_JIT_JIT_H
#define METAOPS_RUNTIME_JIT_JIT_H

#include "MetaOps/Runtime/Program/Kernel.h"
#include "MetaOps/Runtime/Threads/StopCheck.h"
#include "MetaOps/Target/Description/Processor.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>

namespace llvm {
class MemoryBuffer;
class Module;
class PassBuilder;
class TargetMachine;
namespace orc {
class LLJIT;
} // namespace orc
} // namespace llvm

namespace metaops {

/// Form in which a kernel's code is kept. Bitcode has been optimised, and may
/// be linked with other code before it becomes machine code.
enum class CodeForm { Object, Bitcode };

/// A processor that code is made for.
class CodeTarget {
public:
  /// The one that this process runs on.
  static llvm::Expected<CodeTarget> detect();
  /// A usual kind: "x86-64-v3", "x86-64-v4" or "aarch64", under Linux. Its code
  /// may be far from its data, but not from the rest of its image.
  static llvm::Expected<CodeTarget> find(llvm::StringRef name);
  /// The same for code that is linked with other code: kept as bitcode, and
  /// near to its data.
  CodeTarget forLinking() const {
    CodeTarget target = *this;
    target.form = CodeForm::Bitcode;
    target.builder.setCodeModel(llvm::CodeModel::Small);
    return target;
  }

  /// Its registers and caches, and what schedules are for beside these.
  const mlir::metaop::Processor &getProcessor() const { return processor; }
  CodeForm getForm() const { return form; }
  /// Names all that decides what code is made of a module: the version of the
  /// code generator, the processor and its features, the form.
  std::string getDescription() const;
  const llvm::orc::JITTargetMachineBuilder &getBuilder() const {
    return builder;
  }

private:
  CodeTarget(llvm::orc::JITTargetMachineBuilder builder,
             mlir::metaop::Processor processor)
      : builder(std::move(builder)), processor(processor) {}

  llvm::orc::JITTargetMachineBuilder builder;
  mlir::metaop::Processor processor;
  CodeForm form = CodeForm::Object;
};

/// Makes code of LLVM modules. Several may work at once, each on one thread.
class ObjectEmitter {
public:
  static llvm::Expected<std::unique_ptr<ObjectEmitter>>
  create(const CodeTarget &target);
  ~ObjectEmitter();

  /// Optimises `module` and emits its code in the target's form. Fails with
  /// Interrupted if `shouldStop`, which is asked before each pass of the
  /// optimiser, says so.
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
  compile(llvm::Module &module, StopCheck shouldStop = nullptr);

  /// Emits an object file of a module whose functions may be coroutines.
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
  compileCoroutines(llvm::Module &module);

  /// Has the functions of `module` be for the target.
  void setTarget(llvm::Module &module) const;
  /// Emits an object file of a module that is for the target, as it is.
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
  emitObject(llvm::Module &module);

private:
  ObjectEmitter(std::unique_ptr<llvm::TargetMachine> machine,
                unsigned vectorBits, CodeForm form);

  /// Has LLVM's passes run that `build` makes of a builder of passes.
  llvm::Error optimise(
      llvm::Module &module,
      llvm::function_ref<llvm::ModulePassManager(llvm::PassBuilder &)> build,
      StopCheck shouldStop);

  std::unique_ptr<llvm::TargetMachine> machine;
  unsigned vectorBits;
  CodeForm form;
};

/// Links object files into this process. Not safe for use from several threads
/// at once.
class Jit {
public:
  static llvm::Expected<std::unique_ptr<Jit>> create(const CodeTarget &target);
  ~Jit();

  /// Has code that is linked from now on find `address` by the name `symbol`.
  llvm::Error define(llvm::StringRef symbol, void *address);

  /// Links an object file and returns the address of `entry` in it, a symbol
  /// that is unique among everything linked, and the object's only one that is
  /// seen from outside. An object that is refused leaves nothing behind.
  llvm::Expected<KernelFunction>
  link(std::unique_ptr<llvm::MemoryBuffer> object, llvm::StringRef entry);

private:
  Jit();
  std::unique_ptr<llvm::orc::LLJIT> linker;
  /// Reports of the linker beside the errors that it returned.
  std::string reports;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_JIT_JIT_H
