//===- ExportedIR.cpp - IR of program files -------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The IR of a file may be a stranger's. MLIR's reader of bytecode is not made
// for that; its parser of text is, but for what it does by recursion. So the IR
// is text, and one that is nested deeply, or whose expressions are long, is not
// even parsed. Of what is parsed, operations with all that they verify are
// kept, and the lines that checks name; attributes by which passes tell each
// other what they know, and other locations, are not.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Compiler/ExportedIR.h"
#include "MetaOps/Dialect/MetaOp/IR/CheckOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ExternOps.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Runtime/Compiler/ElementTypes.h"
#include "MetaOps/Runtime/Compiler/ReadSlice.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/Twine.h"

using namespace mlir;
using namespace metaops;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;

/// Brackets of all kinds around one place.
static constexpr unsigned kMaxDepth = 128;
/// Characters between two commas or ends of lines, beside those of strings: a
/// bound of how deep an expression is.
static constexpr unsigned kMaxPhrase = 2048;
static constexpr size_t kMaxBytes = size_t(64) << 20;

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

/// Returns the text behind a string that begins the given one.
static StringRef skipString(StringRef text) {
  size_t end = 1;
  while (end < text.size() && text[end] != '"')
    end += text[end] == '\\' ? 2 : 1;
  return text.drop_front(std::min(end + 1, text.size()));
}

static Error failAtLine(const llvm::Twine &what, StringRef read) {
  return createStringError("line " + llvm::Twine(read.count('\n') + 1) + " " +
                           what);
}

/// Fails unless the text can be parsed on a stack of usual size.
static Error checkBounds(StringRef text) {
  if (text.size() > kMaxBytes)
    return createStringError("it has " + llvm::Twine(text.size()) +
                             " bytes, of " + llvm::Twine(kMaxBytes) +
                             " at most");
  StringRef rest = text;
  auto read = [&] { return text.drop_back(rest.size()); };
  for (unsigned depth = 0, phrase = 0; !rest.empty();) {
    char c = rest.front();
    if (c == '"') {
      rest = skipString(rest);
      continue;
    }
    // Arrows and comparisons are no brackets.
    size_t taken = llvm::is_contained({"->", ">=", "<="}, rest.take_front(2));
    rest = rest.drop_front(1 + taken);
    phrase = c == ',' || c == '\n' ? 0 : phrase + 1;
    if (taken == 0 && StringRef("([{<").contains(c))
      ++depth;
    else if (taken == 0 && StringRef(")]}>").contains(c) && depth > 0)
      --depth;
    if (depth > kMaxDepth)
      return failAtLine("is nested too deeply", read());
    if (phrase > kMaxPhrase)
      return failAtLine("has an expression that is too long", read());
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static Error checkType(const llvm::Twine &what, Type type, DType dtype,
                       ArrayRef<int64_t> shape) {
  auto expected =
      RankedTensorType::get(shape, toElementType(dtype, type.getContext()));
  if (type == expected)
    return Error::success();
  std::string text;
  llvm::raw_string_ostream(text) << "the " << what << " of @main is " << type
                                 << ", and " << expected << " by the signature";
  return createStringError(text);
}

static Error failCount(StringRef what, size_t found, size_t expected) {
  return createStringError("@main has " + llvm::Twine(found) + " " + what +
                           ", and " + llvm::Twine(expected) +
                           " by the signature");
}

static Error checkSignature(func::FuncOp main,
                            const ProgramSignature &signature,
                            const FunctionSignature &function) {
  if (main.getNumArguments() != function.arguments.size())
    return failCount("arguments", main.getNumArguments(),
                     function.arguments.size());
  const TensorSpec *input = function.inputs.data();
  for (auto [weight, type] :
       llvm::zip_equal(function.arguments, main.getArgumentTypes())) {
    const TensorSpec &spec = weight ? signature.weights[*weight] : *input++;
    if (Error error = checkType("argument '" + spec.name + "'", type,
                                spec.dtype, spec.shape))
      return error;
  }
  if (main.getNumResults() != function.outputs.size())
    return failCount("results", main.getNumResults(), function.outputs.size());
  for (auto [spec, type] :
       llvm::zip_equal(function.outputs, main.getResultTypes()))
    if (Error error = checkType("result '" + spec.name + "'", type, spec.dtype,
                                spec.shape))
      return error;
  return Error::success();
}

/// Drops what passes would take for their own.
static void dropNotes(ModuleOp module) {
  auto unknown = UnknownLoc::get(module.getContext());
  module->walk([&](Operation *op) {
    op->setDiscardableAttrs(DictionaryAttr::get(op->getContext()));
    if (!isa<metaop::CheckOp>(op) || !isa<FileLineColLoc>(op->getLoc()))
      op->setLoc(unknown);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          argument.setLoc(unknown);
    if (auto function = dyn_cast<func::FuncOp>(op)) {
      function.removeArgAttrsAttr();
      function.removeResAttrsAttr();
    }
  });
}

/// Returns @main, if the module has nothing else and no kernels of its own, nor
/// calls code of this process.
static Expected<func::FuncOp> findMain(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || main.isDeclaration() ||
      !llvm::hasSingleElement(*module.getBody()))
    return createStringError("expected a function @main and nothing else");
  WalkResult result = main.walk([](Operation *op) {
    return isa<metaop::KernelOp, metaop::FusedOp, metaop::ExternOp>(op)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  if (result.wasInterrupted())
    return createStringError("expected operations that are not yet in kernels, "
                             "and no code of a process");
  return main;
}

static std::string toBytecode(ModuleOp module) {
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  // Writing cannot fail without a wish for an older version.
  (void)writeBytecodeToFile(module, stream);
  return bytes;
}

Expected<std::string>
metaops::readExportedIR(StringRef text, const ProgramSignature &signature,
                        const FunctionSignature &function) {
  if (Error error = checkBounds(text))
    return std::move(error);
  // Bytecode begins so.
  if (text.starts_with("ML\xefR"))
    return createStringError("it is bytecode; expected text");
  MLIRContext context(MLIRContext::Threading::DISABLED);
  auto module = readSlice(text, context);
  if (!module)
    return module.takeError();
  auto main = findMain(**module);
  if (!main)
    return main.takeError();
  if (Error error = checkSignature(*main, signature, function))
    return std::move(error);
  dropNotes(**module);
  return toBytecode(**module);
}

/// Returns "file:line" as a location.
static Location toLocation(StringRef line, MLIRContext *context) {
  auto [file, number] = line.rsplit(':');
  unsigned parsed = 0;
  if (number.getAsInteger(10, parsed))
    return UnknownLoc::get(context);
  return FileLineColLoc::get(context, file, parsed, /*column=*/0);
}

/// Has checks be of the user's lines, and all else of none.
static void setLines(ModuleOp module, ArrayRef<std::string> lines) {
  auto unknown = UnknownLoc::get(module.getContext());
  module->walk([&](Operation *op) {
    auto node = op->getLoc()->findInstanceOf<FileLineColLoc>();
    bool isKnown = isa<metaop::CheckOp>(op) && node &&
                   node.getFilename() == "node" &&
                   node.getLine() < lines.size();
    op->setLoc(isKnown ? toLocation(lines[node.getLine()], module.getContext())
                       : Location(unknown));
  });
}

Expected<std::string> metaops::writeExportedIR(StringRef slice,
                                               ArrayRef<std::string> lines) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  auto module = readSlice(slice, context);
  if (!module)
    return module.takeError();
  setLines(**module, lines);
  std::string text;
  llvm::raw_string_ostream stream(text);
  (*module)->print(stream, OpPrintingFlags().enableDebugInfo());
  return text;
}
