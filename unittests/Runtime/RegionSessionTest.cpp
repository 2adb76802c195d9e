//===- RegionSessionTest.cpp - Tests of sessions that record regions ------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What sessions do with operations that have regions, whatever these compute:
// programs are stand-ins that write ones.
//
//===----------------------------------------------------------------------===//

#include "RegionText.h"
#include "SessionFixture.h"

#include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Runtime/Profiler/SliceGraph.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/MLIRContext.h"

#include <algorithm>

using namespace mlir;
using namespace metaops;

namespace {

/// A context that slices are read in.
struct SliceContext : MLIRContext {
  SliceContext() : MLIRContext(Threading::DISABLED) {
    loadDialect<metaop::MetaOpDialect, func::FuncDialect, arith::ArithDialect,
                tensor::TensorDialect, scf::SCFDialect>();
  }
};

class FillingProgram : public Program {
public:
  FillingProgram(TypeRange types, llvm::ArrayRef<bool> donatable)
      : donatable(donatable) {
    for (Type type : types)
      bytes.push_back(metaop::countBytes(type));
  }

  llvm::Expected<ProgramRun> prepare(llvm::ArrayRef<BufferRef> arguments,
                                     Allocator &memory,
                                     BufferRef &scratch) override {
    ProgramRun run;
    run.arguments.assign(arguments.begin(), arguments.end());
    llvm::SmallVector<bool> free(donatable);
    for (int64_t size : bytes) {
      run.results.push_back(memory.allocate(size));
      for (auto [argument, mayWrite] : llvm::zip_equal(arguments, free))
        if (mayWrite && int64_t(argument->bytes()) == size) {
          run.results.back() = argument;
          mayWrite = false;
          break;
        }
    }
    return run;
  }

  llvm::Error execute(ProgramRun &run, ThreadPool &threads,
                      StopCheck shouldStop,
                      std::vector<CallTime> *times) override {
    for (const RunRef &result : run.results)
      std::fill_n(static_cast<float *>(result->data()), result->bytes() / 4, 1);
    return llvm::Error::success();
  }

private:
  llvm::SmallVector<int64_t> bytes;
  llvm::SmallVector<bool> donatable;
};

/// Reads slices, which have to be valid, and notes their functions' types.
class FillingCompiler : public Compiler {
public:
  explicit FillingCompiler(std::vector<std::string> &slices) : slices(slices) {}

  llvm::Expected<std::shared_ptr<Program>>
  compile(llvm::StringRef slice, llvm::ArrayRef<bool> donatable,
          const CompileOptions &options, StopCheck shouldStop) override {
    SliceContext context;
    auto module = parseSourceString<ModuleOp>(slice, ParserConfig(&context));
    if (!module)
      return llvm::createStringError("an invalid slice");
    auto main = module->lookupSymbol<func::FuncOp>("main");
    llvm::raw_string_ostream(slices.emplace_back()) << main.getFunctionType();
    return std::make_shared<FillingProgram>(main.getResultTypes(), donatable);
  }

  llvm::Expected<std::string> print(llvm::StringRef slice,
                                    llvm::StringRef phase,
                                    llvm::ArrayRef<NodeLocation> locations,
                                    const CompileOptions &options) override {
    return llvm::createStringError("nothing to print");
  }

private:
  std::vector<std::string> &slices;
};

class RegionSessionTest : public SessionFixture {
protected:
  RegionSessionTest() {
    session = Session::create(std::make_unique<FillingCompiler>(slices));
  }

  /// With the session entered: what a text makes of some values, at a line.
  std::vector<Var> record(llvm::StringRef text,
                          llvm::ArrayRef<const Var *> given,
                          unsigned line = 1) {
    setLine("loop.py", line);
    return session->wrapResults(recorder().recordRegions(
        getNodes(given),
        [&](OpBuilder &builder, Location location, ValueRange values) {
          Operation *op = buildFromText(builder, text, values);
          if (op)
            op->setLoc(location);
          return op;
        }));
  }

  int64_t opsInBlock() { return statistics().opsInBlock; }

  std::vector<std::string> slices;
};

/// A loop from %a, which uses %b. Its values are tensor<2xf32>.
const char *const loop = R"(
  %r = scf.while (%x = %a) : (tensor<2xf32>) -> tensor<2xf32> {
    %zero = metaop.constant dense<0.0> : tensor<2xf32>
    %go = metaop.cmp lt %x, %zero : tensor<2xf32> -> tensor<2xi1>
    %i = arith.constant 0 : index
    %first = tensor.extract %go[%i] : tensor<2xi1>
    scf.condition(%first) %x : tensor<2xf32>
  } do {
  ^bb0(%x: tensor<2xf32>):
    %y = metaop.add %x, %b : tensor<2xf32>
    scf.yield %y : tensor<2xf32>
  })";

/// Nothing but captures, and a result larger than these.
const char *const large = R"(
  %r = scf.execute_region -> tensor<2x2xf32> {
    %s = metaop.broadcast %a dims = [0] : tensor<2xf32> -> tensor<2x2xf32>
    scf.yield %s : tensor<2x2xf32>
  })";

const char *const twoResults = R"(
  %r:2 = scf.execute_region -> (tensor<2xf32>, tensor<2xf32>) {
    %s = metaop.neg %a : tensor<2xf32>
    scf.yield %s, %a : tensor<2xf32>, tensor<2xf32>
  })";

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

TEST_F(RegionSessionTest, TakesWhatRegionsCapture) {
  Var x = tensor({2}, {1, 2}), y = tensor({2}, {3, 4}), r;
  {
    SessionScope scope(*session);
    Var sum = binary("add", y, y);
    r = std::move(record(loop, {&x, &sum})[0]);
  }
  EXPECT_EQ(values(r), floats({1, 1}));
  // What it reads is in memory, so it is saved for gradients.
  EXPECT_EQ(slices, std::vector<std::string>(
                        {"(tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, "
                         "tensor<2xf32>)"}));
  auto run = session->getLastRun();
  auto graph = readSliceGraph(run->cached->slice);
  ASSERT_TRUE(bool(graph));
  ASSERT_EQ(graph->nodes.size(), 2u);
  EXPECT_EQ(graph->nodes[1].name, "while");
  // The leaf x and, captured, the sum.
  EXPECT_EQ(graph->nodes[1].operands, std::vector<int64_t>({-1, 0}));
}

TEST_F(RegionSessionTest, LoopsCompileOnceAndStayFlat) {
  Var x = tensor({2}, {1, 2}), y = tensor({2}, {3, 4});
  SessionStatistics early;
  for (unsigned i = 0; i < 30; ++i) {
    {
      SessionScope scope(*session);
      Var next = std::move(record(loop, {&x, &y}, i)[0]);
      x = stopGrad(next);
    }
    values(x);
    if (i == 2)
      early = statistics();
  }
  SessionStatistics late = statistics();
  EXPECT_EQ(late.programsCompiled, 1);
  EXPECT_EQ(late.programsRun, 30);
  EXPECT_EQ(late.opsInBlock, early.opsInBlock);
  EXPECT_EQ(late.memory.bytesInUse, early.memory.bytesInUse);
}

TEST_F(RegionSessionTest, HistoriesAreBounded) {
  session->setFlag("history_bytes", int64_t(16 << 10));
  Var x = tensor({2}, {1, 2}), y = tensor({2}, {3, 4});
  int64_t early = 0;
  // y is held, so each step may be asked for a gradient, to be refused.
  for (unsigned i = 0; i < 60; ++i) {
    {
      SessionScope scope(*session);
      x = std::move(record(loop, {&x, &y})[0]);
    }
    values(x);
    if (i == 30)
      early = opsInBlock();
  }
  EXPECT_LE(opsInBlock(), early + 1);
  EXPECT_EQ(statistics().programsCompiled, 1);
}

TEST_F(RegionSessionTest, ComputesResultsTogether) {
  Var x = tensor({2}, {1, 2});
  std::vector<Var> r;
  {
    SessionScope scope(*session);
    r = record(twoResults, {&x});
  }
  EXPECT_EQ(values(r[1]), floats({1, 1}));
  EXPECT_EQ(values(r[0]), floats({1, 1}));
  EXPECT_EQ(statistics().programsRun, 1);
}

TEST_F(RegionSessionTest, CapturesOfWaitingValuesAreNotOverwritten) {
  Var p = tensor({2}, {1, 2}), r;
  {
    SessionScope scope(*session);
    r = std::move(record(large, {&p})[0]);
    session->update(p, binary("mul", p, number(2)));
    session->syncAll();
  }
  EXPECT_EQ(values(r), floats({1, 1, 1, 1}));
}

TEST_F(RegionSessionTest, EstimatesAndRunsEagerly) {
  Var x = tensor({2}, {1, 2}), y = tensor({2}, {3, 4}), r;
  {
    SessionScope scope(*session);
    r = std::move(record(loop, {&x, &y})[0]);
    EXPECT_GT(Inspector(*session).estimatePeak({&r}), 0);
    EXPECT_EQ(Inspector(*session).planRuns({&r}).size(), 1u);
    EXPECT_EQ(Inspector(*session).getStatistics().programsRun, 0);
    session->setFlag("lazy_execution", false);
    Var s = std::move(record(loop, {&r, &y})[0]);
    EXPECT_EQ(Inspector(*session).getStatistics().programsRun, 2);
  }
}

TEST_F(RegionSessionTest, DumpsWhatIsRecorded) {
  Var x = tensor({2}, {1, 2}), y = tensor({2}, {3, 4}), r;
  std::string text;
  {
    SessionScope scope(*session);
    r = std::move(record(loop, {&x, &y}, 7)[0]);
    text = Inspector(*session).dump();
  }
  EXPECT_TRUE(contains(text, "scf.while (%arg0 = %0)"));
  EXPECT_TRUE(contains(text, "metaop.add %arg0, %1 : tensor<2xf32>"));
  EXPECT_TRUE(contains(text, "\"loop.py\":7"));
  SliceContext context;
  EXPECT_TRUE(bool(parseSourceString<ModuleOp>(text, ParserConfig(&context))));
}

//===----------------------------------------------------------------------===//
// What is refused
//===----------------------------------------------------------------------===//

TEST_F(RegionSessionTest, GradientsOfUncountedTripsAreErrors) {
  Var x = tensor({2}, {1, 2}), y = tensor({2}, {3, 4}), z = tensor({2}, {5, 6});
  Var r, loss, other, beside;
  {
    SessionScope scope(*session);
    r = std::move(record(loop, {&x, &y}, 7)[0]);
    loss = binary("mul", r, z);
    other = binary("mul", stopGrad(r), x);
    beside = binary("mul", x, y);
  }
  std::string refused = "runtime: grad: the loss depends on a target through a "
                        "loop whose number of trips is only known when it has "
                        "run, recorded at loop.py:7";
  auto check = [&] {
    for (const Var *target : {&x, &y}) {
      EXPECT_TRUE(
          contains(errorOf([&] { session->grad(loss, {target}); }), refused));
      EXPECT_EQ(
          errorOf([&] { session->jvp({&beside, &loss}, {target}, {&z}); }),
          "no error");
    }
    // z is no capture, and r is a target itself.
    EXPECT_EQ(errorOf([&] { session->grad(loss, {&z, &r}); }), "no error");
    EXPECT_EQ(errorOf([&] { session->grad(other, {&x, &y}); }), "no error");
    EXPECT_EQ(errorOf([&] { session->grad(beside, {&x, &y}); }), "no error");
  };
  check();
  // Not zero, either, when it is computed.
  values(loss);
  values(r);
  check();
}

TEST_F(RegionSessionTest, StoppedGradientsAreNone) {
  Var x = tensor({2}, {1, 2}), y = tensor({2}, {3, 4}), loss;
  {
    SessionScope scope(*session);
    recorder().setStopsGradients(true);
    Var r = std::move(record(loop, {&x, &y})[0]);
    recorder().setStopsGradients(false);
    loss = binary("mul", r, x);
  }
  EXPECT_EQ(errorOf([&] { session->grad(loss, {&x, &y}); }), "no error");
}

TEST_F(RegionSessionTest, FailuresRecordNothing) {
  Var x = tensor({2}, {1, 2}), y = tensor({2}, {3, 4});
  int64_t before = opsInBlock();
  std::string expected =
      " was built to be recorded, expected an operation with regions";
  EXPECT_EQ(
      errorOf([&] { record("%r = metaop.neg %a : tensor<2xf32>", {&x}); }),
      "value: 'metaop.neg'" + expected);
  auto buildNothing = [](OpBuilder &, Location, ValueRange) -> Operation * {
    return nullptr;
  };
  EXPECT_EQ(
      errorOf([&] { recorder().recordRegions({x.getNode()}, buildNothing); }),
      "value: nothing" + expected);
  std::string text = loop;
  size_t at = text.find("%y = metaop.add %x, %b");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 22, "%y = metaop.add %y, %b");
  EXPECT_TRUE(contains(errorOf([&] { record(text, {&x, &y}); }),
                       "operand #0 does not dominate this use"));
  EXPECT_EQ(opsInBlock(), before);
  SessionScope scope(*session);
  EXPECT_FALSE(contains(Inspector(*session).dump(), "scf."));
}

/// Its programs are the interpreter's.
class InterpretedRegionTest : public RegionSessionTest {
protected:
  InterpretedRegionTest() {
    session = Session::create(std::make_unique<DonatingCompiler>());
  }
};

/// b is added to a as long as all elements are negative.
const char *const adding = R"(
  %r = scf.while (%x = %a) : (tensor<2xf32>) -> tensor<2xf32> {
    %zero = metaop.constant dense<0.0> : tensor<f32>
    %top = metaop.reduce max %x dims = [0] : tensor<2xf32> -> tensor<f32>
    %isLess = metaop.cmp lt %top, %zero : tensor<f32> -> tensor<i1>
    %goesOn = tensor.extract %isLess[] : tensor<i1>
    scf.condition(%goesOn) %x : tensor<2xf32>
  } do {
  ^bb0(%x: tensor<2xf32>):
    %y = metaop.add %x, %b : tensor<2xf32>
    scf.yield %y : tensor<2xf32>
  })";

/// The one with the larger first element, and a sum of both.
const char *const choosing = R"(
  %r:2 = scf.execute_region -> (tensor<2xf32>, tensor<2xf32>) {
    %p = metaop.reduce max %a dims = [0] : tensor<2xf32> -> tensor<f32>
    %q = metaop.reduce max %b dims = [0] : tensor<2xf32> -> tensor<f32>
    %isLess = metaop.cmp lt %p, %q : tensor<f32> -> tensor<i1>
    %c = tensor.extract %isLess[] : tensor<i1>
    %larger = scf.if %c -> (tensor<2xf32>) {
      scf.yield %b : tensor<2xf32>
    } else {
      scf.yield %a : tensor<2xf32>
    }
    %sum = metaop.add %a, %b : tensor<2xf32>
    scf.yield %larger, %sum : tensor<2xf32>, tensor<2xf32>
  })";

TEST_F(InterpretedRegionTest, RunsLoopsAndBranches) {
  Var x = tensor({2}, {-5, -7}), y = tensor({2}, {2, 3}), r;
  std::vector<Var> chosen;
  {
    SessionScope scope(*session);
    r = std::move(record(adding, {&x, &y})[0]);
    chosen = record(choosing, {&r, &y});
  }
  EXPECT_EQ(values(r), (std::vector<float>{1, 2}));
  EXPECT_EQ(values(chosen[0]), (std::vector<float>{2, 3}));
  EXPECT_EQ(values(chosen[1]), (std::vector<float>{3, 5}));
}

/// Doubles a as long as all elements are less than 100; no more than 9 are to
/// be doubled.
const char *const checking = R"(
  %r = scf.while (%x = %a) : (tensor<2xf32>) -> tensor<2xf32> {
    %end = metaop.constant dense<100.0> : tensor<f32>
    %top = metaop.reduce max %x dims = [0] : tensor<2xf32> -> tensor<f32>
    %isLess = metaop.cmp lt %top, %end : tensor<f32> -> tensor<i1>
    %goesOn = tensor.extract %isLess[] : tensor<i1>
    scf.condition(%goesOn) %x : tensor<2xf32>
  } do {
  ^bb0(%x: tensor<2xf32>):
    %i = metaop.cast %x : tensor<2xf32> -> tensor<2xi64>
    %c = metaop.check %i extent = 10 dim = 0 : tensor<2xi64>
    %s = metaop.cast %c : tensor<2xi64> -> tensor<2xf32>
    %y = metaop.add %s, %s : tensor<2xf32>
    scf.yield %y : tensor<2xf32>
  })";

TEST_F(InterpretedRegionTest, ChecksInLoopsNameTheLine) {
  Var x = tensor({2}, {1, 3}), y = tensor({2}, {100, 0}), r, s;
  {
    SessionScope scope(*session);
    r = std::move(record(checking, {&x}, 7)[0]);
    s = std::move(record(checking, {&y}, 8)[0]);
  }
  try {
    values(r);
    ADD_FAILURE() << "an index out of range was read by";
  } catch (const SessionError &error) {
    EXPECT_EQ(error.getKind(), ErrorKind::Index);
    EXPECT_STREQ(error.what(),
                 "index 12 is out of range for dimension 0 of extent 10, "
                 "recorded at loop.py:7");
  }
  EXPECT_EQ(values(s), (std::vector<float>{100, 0}));
}

TEST_F(InterpretedRegionTest, RefusesWhatItDoesNotKnow) {
  Var x = tensor({2}, {1, 2}), y = tensor({2}, {3, 4}), r;
  {
    SessionScope scope(*session);
    r = std::move(record(R"(
  %r = scf.execute_region -> tensor<2xf32> {
    %i = arith.constant 0 : index
    %s = scf.index_switch %i -> tensor<2xf32>
    default {
      scf.yield %a : tensor<2xf32>
    }
    scf.yield %s : tensor<2xf32>
  })",
                         {&x, &y})[0]);
  }
  EXPECT_EQ(errorOf([&] { session->getData(r); }),
            "runtime: 'scf.index_switch' is unknown to the interpreter");
  EXPECT_EQ(statistics().programsRun, 0);
}

} // namespace
