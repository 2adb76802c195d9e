//===- BoundedJson.h - JSON from files that may be hostile ------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_EXPORT_BOUNDEDJSON_H
#define METAOPS_LIB_RUNTIME_EXPORT_BOUNDEDJSON_H

#include "MetaOps/Runtime/Export/ProgramSignature.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <cstddef>

namespace metaops {

/// The longest text that is parsed: values take much more memory than their
/// text.
inline constexpr size_t kMaxJsonBytes = size_t(64) << 20;

/// Parses an object. LLVM's parser recurses as deep as the text nests; a text
/// that does so more than a few times is an error here.
llvm::Expected<llvm::json::Object> parseBoundedJson(llvm::StringRef text);

/// A shape: extents that are not negative, of a tensor whose elements can be
/// counted. `what` names the tensor for messages.
llvm::Expected<std::vector<int64_t>> readShape(const llvm::json::Value *value,
                                               const llvm::Twine &what);

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_EXPORT_BOUNDEDJSON_H
