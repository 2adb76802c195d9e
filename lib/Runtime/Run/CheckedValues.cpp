//===- CheckedValues.cpp - Indices that have been checked -----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program checks the indices that it reads by. When it has run, they are in
// range, or the run has failed. So a checked value is there if its indices are:
// as an alias of their memory, which later programs read, and check nothing. If
// the run fails, the alias is lost, as its results are, while the indices are
// still there: what reads by them does not start, and fails likewise.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Run/Runner.h"

using namespace metaops;

std::vector<CheckedValue> Runner::findChecked(const ProgramRun &run) {
  std::vector<CheckedValue> checked;
  const Slice &slice = planner.getSlice();
  llvm::ArrayRef<bool> donatable = planner.getDonatable();
  for (Node *op : slice.ops) {
    Node *indices = findIndices(graph, slice, op);
    if (!indices)
      continue;
    auto output = llvm::find(slice.outputs, indices);
    if (output != slice.outputs.end()) {
      const RunRef &result = run.results[output - slice.outputs.begin()];
      checked.push_back({op, Buffer::alias(result.get())});
      continue;
    }
    // Nobody needs what may be overwritten, checked or not.
    auto leaf = llvm::find(slice.leaves, indices);
    if (leaf == slice.leaves.end() || !donatable[leaf - slice.leaves.begin()])
      checked.push_back(
          {op, Buffer::alias(memory.bufferOf(indices, *slice.device))});
  }
  return checked;
}
