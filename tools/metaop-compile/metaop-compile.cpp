//===- metaop-compile.cpp - Models into object files ----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   metaop-compile model.mlir -o model.o [--header=model.h]
//                  [--target=x86-64-v3|x86-64-v4|aarch64|native] [--name=model]
//                  [--schedules=file]
//
// Compiles @main of a file, whose shapes are static, into an object file for C
// and a header that says what is in it: functions that check memory for a run,
// run the model, and tell what an error means. The object needs the C library
// and its libm alone, takes no memory, and runs on the thread that calls it.
// docs/ObjectFiles.md says more.
//
// Both files are written when all has gone well, or neither.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Pipelines/Pipelines.h"
#include "MetaOps/Runtime/AOT/ModelObject.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;
using llvm::sys::fs::TempFile;
namespace cl = llvm::cl;

namespace {

/// The command line.
struct Options {
  cl::OptionCategory category{"metaop-compile options"};
  cl::opt<std::string> file{cl::Positional, cl::desc("<file.mlir, or - >"),
                            cl::init("-"), cl::cat(category)};
  cl::opt<std::string> object{"o", cl::desc("The object file"),
                              cl::value_desc("model.o"), cl::Required,
                              cl::cat(category)};
  cl::opt<std::string> header{
      "header", cl::desc("The C header (default: beside the object, as .h)"),
      cl::value_desc("model.h"), cl::cat(category)};
  cl::opt<std::string> target{
      "target",
      cl::desc("The kind of processors: x86-64-v3 (AVX2), x86-64-v4 "
               "(AVX-512), aarch64, or native for this one (default)"),
      cl::value_desc("name"), cl::init("native"), cl::cat(category)};
  cl::opt<std::string> name{
      "name",
      cl::desc("What names in C begin with (default: the object's file name)"),
      cl::value_desc("identifier"), cl::cat(category)};
  cl::opt<std::string> schedules{
      "schedules", cl::desc("Schedules that replace those of the heuristics"),
      cl::value_desc("file"), cl::cat(category)};
};

} // namespace

/// The name that was given, or one made of the object's.
static Expected<std::string> chooseName(const Options &options) {
  std::string name = options.name;
  if (!options.name.getNumOccurrences()) {
    name = llvm::sys::path::stem(options.object).str();
    for (char &c : name)
      if (!llvm::isAlnum(c))
        c = '_';
    if (name.empty() || llvm::isDigit(name.front()))
      name = "model_" + name;
  }
  if (metaops::isModelName(name))
    return name;
  return createStringError("--name=" + name +
                           ": expected an identifier of C, as in "
                           "--name=my_model");
}

static Expected<std::string> chooseHeader(const Options &options) {
  SmallString<128> header(options.header.getValue());
  if (header.empty()) {
    header = options.object;
    llvm::sys::path::replace_extension(header, "h");
  }
  if (header == options.object)
    return createStringError("the object and the header are one file, '" +
                             header + "'");
  return header.str().str();
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

static Error failFile(StringRef path, Error error) {
  return createStringError(
      "'" + path + "' could not be written: " + toString(std::move(error)));
}

/// A file beside `path` that has the text.
static Expected<TempFile> writeBeside(StringRef path, StringRef text) {
  auto file = TempFile::create(path + ".%%%%%%");
  if (!file)
    return failFile(path, file.takeError());
  llvm::raw_fd_ostream stream(file->FD, /*shouldClose=*/false);
  stream << text;
  stream.flush();
  if (!stream.has_error())
    return file;
  Error error = createStringError(stream.error().message());
  stream.clear_error();
  llvm::consumeError(file->discard());
  return failFile(path, std::move(error));
}

/// Writes both files, or neither: names are given when all bytes are written.
static Error writeFiles(const metaops::ModelObject &model, StringRef object,
                        StringRef header) {
  auto first = writeBeside(object, model.object);
  if (!first)
    return first.takeError();
  auto second = writeBeside(header, model.header);
  if (!second) {
    llvm::consumeError(first->discard());
    return second.takeError();
  }
  if (Error error = second->keep(header)) {
    llvm::consumeError(first->discard());
    return failFile(header, std::move(error));
  }
  if (Error error = first->keep(object)) {
    (void)llvm::sys::fs::remove(header);
    return failFile(object, std::move(error));
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

/// Returns whether it went well; what did not has been told.
static Expected<bool> run(const Options &options) {
  auto name = chooseName(options);
  if (!name)
    return name.takeError();
  auto header = chooseHeader(options);
  if (!header)
    return header.takeError();
  auto target = metaops::findModelTarget(options.target);
  if (!target)
    return target.takeError();
  std::string message;
  auto buffer = openInputFile(options.file, &message);
  if (!buffer)
    return createStringError(message);

  DialectRegistry registry;
  metaop::registerSliceDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  SourceMgrDiagnosticHandler diagnostics(sources, &context);
  auto module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module)
    return false;
  auto model = metaops::compileModel(
      *module, *target, {*name, options.target, options.schedules});
  if (failed(model))
    return false;
  if (Error error = writeFiles(*model, options.object, *header))
    return std::move(error);
  return true;
}

int main(int argc, char **argv) {
  llvm::InitLLVM initialise(argc, argv);
  Options options;
  cl::HideUnrelatedOptions(options.category);
  cl::ParseCommandLineOptions(
      argc, argv, "Compiles a MetaOps module into an object file for C\n");
  auto isFine = run(options);
  if (isFine)
    return *isFine ? 0 : 1;
  llvm::WithColor::error(llvm::errs(), "metaop-compile")
      << toString(isFine.takeError()) << '\n';
  return 1;
}
