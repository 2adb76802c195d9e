//===- Assertions.h - Whether a build has assertions ------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_SUPPORT_ASSERTIONS_H
#define METAOPS_SUPPORT_ASSERTIONS_H

namespace metaops {

/// True in a build with assertions. In any other, what compiles programs does
/// not verify IR behind each of its own passes, which is a tenth to a third of
/// the time: metaop-opt does.
#ifdef NDEBUG
inline constexpr bool kHasAssertions = false;
#else
inline constexpr bool kHasAssertions = true;
#endif

} // namespace metaops

#endif // METAOPS_SUPPORT_ASSERTIONS_H
