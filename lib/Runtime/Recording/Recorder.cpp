//===- Recorder.cpp - Records meta-operators in a graph -------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Recording/Recorder.h"

#include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.h"
#include "RecordingTables.h"

using namespace mlir;
using namespace metaops;

Recorder::Recorder(Graph &graph)
    : graph(graph), context(graph.getBuilder().getContext()),
      line(UnknownLoc::get(context)), tables(std::make_shared<Tables>()) {
  context->loadDialect<metaop::MetaOpDialect>();
}

Recorder::Recorder(Graph &graph, const Recorder &host)
    : graph(graph), context(host.context), savedBytes(host.savedBytes),
      line(UnknownLoc::get(context)), tables(host.tables) {}

Recorder::~Recorder() = default;

Location Recorder::makeLocation(llvm::StringRef file, unsigned number) {
  return FileLineColLoc::get(context, file, number, 0);
}

void Recorder::forgetLine() { line = UnknownLoc::get(context); }
