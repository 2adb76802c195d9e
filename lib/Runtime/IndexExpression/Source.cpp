//===- Source.cpp - The text and what is wrong with it --------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Source.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace metaops::indexexpression {

std::string makePrintable(StringRef text) {
  std::string result;
  for (char c : text) {
    if (isSpace(c)) {
      result += ' ';
    } else if (isPrint(c)) {
      result += c;
    } else {
      auto byte = static_cast<unsigned char>(c);
      result += "\\x";
      result += hexdigit(byte >> 4, /*LowerCase=*/true);
      result += hexdigit(byte & 15, /*LowerCase=*/true);
    }
  }
  return result;
}

void Source::fail(size_t offset, const Twine &problem, const Twine &expected) {
  if (hasFailed())
    return;
  std::string shown = makePrintable(text);
  size_t column = makePrintable(text.take_front(offset)).size();
  message = (kind + " '" + shown + "': " + problem + "\n  " + shown + "\n  " +
             std::string(column, ' ') + "^\nexpected " + expected)
                .str();
}

Error Source::takeError() {
  return createStringError(inconvertibleErrorCode(), message);
}

} // namespace metaops::indexexpression
