//===- Source.h - The text and what is wrong with it ------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_INDEXEXPRESSION_SOURCE_H
#define METAOPS_LIB_RUNTIME_INDEXEXPRESSION_SOURCE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include <string>

namespace metaops::indexexpression {

/// The text that is read, and the first thing found wrong with it. Whoever
/// fails calls `fail` and returns a null result; later failures are echoes.
class Source {
public:
  /// `kind` names the text in errors, such as "index expression".
  Source(llvm::StringRef kind, llvm::StringRef text) : kind(kind), text(text) {}

  llvm::StringRef getText() const { return text; }

  /// Records that the text is wrong at `offset`.
  void fail(size_t offset, const llvm::Twine &problem,
            const llvm::Twine &expected);
  bool hasFailed() const { return !message.empty(); }
  llvm::Error takeError();

private:
  llvm::StringRef kind;
  llvm::StringRef text;
  std::string message;
};

/// `text` as it can be shown in one line of ASCII: white space as blanks, other
/// bytes that do not print as `\xNN`.
std::string makePrintable(llvm::StringRef text);

} // namespace metaops::indexexpression

#endif // METAOPS_LIB_RUNTIME_INDEXEXPRESSION_SOURCE_H
