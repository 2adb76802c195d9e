//===- PtxasProgram.cpp - The assembler as a program ----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxasProgram.h"
#include "AssemblerMessages.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace metaops;
using llvm::StringRef;

namespace {
/// A file that is removed in the end.
class TemporaryFile {
public:
  static llvm::Expected<TemporaryFile> create(StringRef suffix) {
    llvm::SmallString<128> name;
    if (std::error_code error =
            llvm::sys::fs::createTemporaryFile("metaops", suffix, name))
      return llvm::createStringError("there is no temporary file: " +
                                     error.message());
    return TemporaryFile(name);
  }

  StringRef getPath() const { return path; }
  std::string read() const {
    auto file = llvm::MemoryBuffer::getFile(path);
    return file ? (*file)->getBuffer().str() : std::string();
  }
  llvm::Error write(StringRef text) const {
    std::error_code error;
    llvm::raw_fd_ostream stream(path, error);
    if (!error) {
      stream << text;
      stream.close();
      error = stream.error();
      stream.clear_error();
    }
    if (error)
      return llvm::createStringError(
          "'" + path + "' could not be written: " + error.message());
    return llvm::Error::success();
  }

private:
  explicit TemporaryFile(StringRef name)
      : path(name.str()), remover(std::make_unique<llvm::FileRemover>(path)) {}

  std::string path;
  std::unique_ptr<llvm::FileRemover> remover;
};

struct Finished {
  /// Messages of the program.
  std::string messages;
  /// Why it has failed; empty if it has not.
  std::string failure;
};
} // namespace

/// Runs a program until it ends.
static llvm::Expected<Finished> run(StringRef program,
                                    llvm::ArrayRef<StringRef> arguments) {
  auto output = TemporaryFile::create("txt");
  if (!output)
    return output.takeError();
  llvm::SmallVector<StringRef> words = {program};
  llvm::append_range(words, arguments);
  StringRef path = output->getPath();
  std::string reason;
  int status = llvm::sys::ExecuteAndWait(program, words, std::nullopt,
                                         {StringRef(), path, path},
                                         /*SecondsToWait=*/0,
                                         /*MemoryLimit=*/0, &reason);
  Finished finished = {output->read(), ""};
  if (status != 0)
    finished.failure =
        reason.empty() ? "it ends with " + std::to_string(status) : reason;
  return finished;
}

llvm::Expected<std::shared_ptr<PtxasProgram>>
PtxasProgram::open(std::string path) {
  auto finished = run(path, {"--version"});
  if (!finished)
    return finished.takeError();
  // Cuda compilation tools, release 13.0, V13.0.88
  StringRef release = StringRef(finished->messages).split(", V").second;
  release = release.take_until([](char c) { return c == '\n'; });
  if (!finished->failure.empty() || release.empty())
    return llvm::createStringError(
        "'" + path + "' is no ptxas" +
        (finished->failure.empty() ? "" : ": " + finished->failure));
  return std::shared_ptr<PtxasProgram>(
      new PtxasProgram(std::move(path), release.str()));
}

std::string PtxasProgram::getBuild() const {
  auto hash = llvm::sys::fs::md5_contents(path);
  return hash ? getDescription() + " " + hash->digest().str().str() : "";
}

llvm::Expected<Cubin> PtxasProgram::assemble(StringRef ptx,
                                             const mlir::metaop::Chip &chip) {
  auto input = TemporaryFile::create("ptx");
  if (!input)
    return input.takeError();
  auto output = TemporaryFile::create("cubin");
  if (!output)
    return output.takeError();
  if (llvm::Error error = input->write(ptx))
    return std::move(error);
  std::string arch = ("-arch=" + chip.name).str();
  auto finished =
      run(path, {arch, "-O3", "-v", input->getPath(), "-o", output->getPath()});
  if (!finished)
    return finished.takeError();
  if (!finished->failure.empty()) {
    std::string errors = selectErrors(finished->messages);
    return llvm::createStringError(
        getDescription() +
        " refuses the PTX: " + (errors.empty() ? finished->failure : errors));
  }
  return Cubin{output->read(), parseResources(finished->messages)};
}
