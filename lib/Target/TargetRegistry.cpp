//===- TargetRegistry.cpp - The targets that there are --------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Target/TargetRegistry.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::metaop;

void TargetRegistry::add(TargetKind kind) {
  for (TargetKind &known : kinds)
    if (known.name == kind.name) {
      known = std::move(kind);
      return;
    }
  kinds.push_back(std::move(kind));
}

const TargetKind *TargetRegistry::find(StringRef name) const {
  for (const TargetKind &kind : kinds)
    if (kind.name == name)
      return &kind;
  return nullptr;
}

void metaop::addTargetOption(std::string &text, StringRef name,
                             StringRef value) {
  if (!value.empty())
    text += (" " + name + "={" + value + "}").str();
}

/// Returns the name of each option in text, with what is in braces or quotes
/// left out.
static SmallVector<StringRef> findOptionNames(StringRef text) {
  SmallVector<StringRef> names;
  size_t begin = 0;
  int depth = 0;
  char quote = 0;
  auto add = [&](StringRef word) {
    if (!word.empty())
      names.push_back(word.split('=').first);
  };
  for (auto [place, letter] : llvm::enumerate(text)) {
    if (quote) {
      quote = letter == quote ? 0 : quote;
      continue;
    }
    if (letter == '"' || letter == '\'')
      quote = letter;
    depth += letter == '{' ? 1 : letter == '}' ? -1 : 0;
    if (depth == 0 && letter == ' ') {
      add(text.slice(begin, place));
      begin = place + 1;
    }
  }
  add(text.substr(begin));
  return names;
}

llvm::Expected<std::shared_ptr<const Target>>
TargetRegistry::create(StringRef text) const {
  auto [name, options] = text.trim().split(' ');
  const TargetKind *kind = find(name);
  if (!kind)
    return llvm::createStringError(
        "there is no target '" + name + "'; expected " +
        llvm::join(
            llvm::map_range(kinds,
                            [](const TargetKind &known) { return known.name; }),
            " or "));
  for (StringRef option : findOptionNames(options))
    if (!llvm::is_contained(kind->options, option))
      return llvm::createStringError(
          "target '" + name + "' has no option '" + option + "'; it has " +
          (kind->options.empty() ? "none" : llvm::join(kind->options, ", ")));
  auto target = kind->create(options);
  if (!target)
    return llvm::createStringError("target '" + name +
                                   "': " + toString(target.takeError()));
  return target;
}
