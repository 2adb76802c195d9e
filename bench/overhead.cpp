//===- overhead.cpp - What the session costs without Python ---------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The counterpart of overhead.py's first two parts: chains of operators are
// recorded, dropped or run by programs that are in the cache, and medians are
// printed as a Markdown table. Each sync waits until the program has run.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/CPU/CpuCompiler.h"
#include "MetaOps/Runtime/Session/Session.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>

using namespace metaops;

namespace {

constexpr int kTurns = 401;

double secondsOf(llvm::function_ref<void()> run) {
  auto begin = std::chrono::steady_clock::now();
  run();
  std::chrono::duration<double> taken =
      std::chrono::steady_clock::now() - begin;
  return taken.count();
}

double medianOf(llvm::SmallVectorImpl<double> &values) {
  auto *middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

class Measurement {
public:
  Measurement() : session(Session::create(createCpuCompiler())) {
    x = makeTensor(1.0f);
    y = makeTensor(0.5f);
  }

  /// Records `length` operators. With `scopes`, each is a call from outside.
  Var record(int length, bool scopes, bool stopFuse) {
    std::optional<SessionScope> whole;
    if (!scopes)
      whole.emplace(*session);
    Recorder &recorder = session->getRecorder();
    Var value;
    for (int i = 0; i < length; ++i) {
      std::optional<SessionScope> single;
      if (scopes)
        single.emplace(*session);
      const Var &before = i == 0 ? x : value;
      Var next =
          session->wrap(recorder.binary(i % 2 ? "mul" : "add", before, y));
      if (stopFuse)
        next = session->wrap(recorder.stopFuse(next.getNode()));
      value = std::move(next);
    }
    return value;
  }

  void sync(const Var &value) {
    TensorData data;
    {
      SessionScope scope(*session);
      data = session->getData(value);
    }
    session->wait(data);
  }

  /// Prints the microseconds of recording an operator.
  void printRecording(const char *title, bool scopes) {
    constexpr int length = 1000;
    llvm::SmallVector<double> taken;
    for (int turn = 0; turn < kTurns; ++turn) {
      taken.push_back(secondsOf([&] { record(length, scopes, false); }));
      SessionScope scope(*session); // drops what died
    }
    std::printf("| %-41s | %9.3f | %8s |\n", title,
                medianOf(taken) / length * 1e6, "");
  }

  /// Prints the microseconds of recording a chain and of running it.
  double printRunning(const char *title, int length, bool stopFuse,
                      double before, int lengthBefore) {
    llvm::SmallVector<double> recording, running;
    for (int turn = 0; turn < kTurns; ++turn) {
      Var value;
      recording.push_back(
          secondsOf([&] { value = record(length, true, stopFuse); }));
      running.push_back(secondsOf([&] { sync(value); }));
    }
    double median = medianOf(running) * 1e6;
    std::printf("| %-33s %7d | %9.3f | ", title, length, median);
    if (lengthBefore)
      std::printf("%8.3f |\n", (median - before) / (length - lengthBefore));
    else
      std::printf("%8s |\n", "");
    return median;
  }

private:
  Var makeTensor(float value) {
    SessionScope scope(*session);
    BufferRef buffer =
        session->getDevice().getMemory().allocate(4 * sizeof(float));
    std::fill_n(static_cast<float *>(buffer->data()), 4, value);
    return session->wrap(
        session->getRecorder().buffer(DType::F32, {4}, buffer));
  }

  std::shared_ptr<Session> session;
  Var x, y;
};

} // namespace

int main() {
  Measurement measurement;
  std::printf("| %-41s | %9s | %8s |\n", "", "us", "one more");
  std::printf("| ----------------------------------------- | --------: | "
              "-------: |\n");
  measurement.printRecording("recording an operator", true);
  measurement.printRecording("recording, the session entered once", false);
  double last = 0;
  int lengthBefore = 0;
  for (int length : {1, 10, 100}) {
    last = measurement.printRunning("sync of a chain, kernels:", length, true,
                                    last, lengthBefore);
    lengthBefore = length;
  }
  lengthBefore = 0;
  for (int length : {10, 100, 1000}) {
    last = measurement.printRunning("sync of a chain, fused operators:", length,
                                    false, last, lengthBefore);
    lengthBefore = length;
  }
}
