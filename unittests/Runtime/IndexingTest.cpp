//===- IndexingTest.cpp - Tests of x[...] and x[...] = y ------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Windows are compared with Python's rules written down once more: for each
// position, the element that the window shows there.
//
//===----------------------------------------------------------------------===//

#include "SessionFixture.h"

#include <numeric>

using namespace metaops;

namespace {

using Kind = IndexItem::Kind;

IndexItem at(int64_t index) {
  return {Kind::Integer, index, std::nullopt, std::nullopt};
}
IndexItem window(std::optional<int64_t> start, std::optional<int64_t> stop,
                 std::optional<int64_t> step = std::nullopt) {
  return {Kind::Slice, start, stop, step};
}
const IndexItem all{Kind::Slice, std::nullopt, std::nullopt, std::nullopt};
const IndexItem newAxis{Kind::NewAxis, std::nullopt, std::nullopt,
                        std::nullopt};
const IndexItem ellipsis{Kind::Ellipsis, std::nullopt, std::nullopt,
                         std::nullopt};

/// The positions that Python's slice shows of a dimension.
std::vector<int64_t> positions(const IndexItem &item, int64_t extent) {
  int64_t step = item.step.value_or(1);
  auto clamp = [&](int64_t end) {
    end = end < 0 ? end + extent : end;
    return std::clamp(end, step < 0 ? int64_t(-1) : int64_t(0),
                      step < 0 ? extent - 1 : extent);
  };
  int64_t start = item.start ? clamp(*item.start) : step < 0 ? extent - 1 : 0;
  int64_t stop = item.stop ? clamp(*item.stop) : step < 0 ? -1 : extent;
  std::vector<int64_t> result;
  for (int64_t i = start; step < 0 ? i > stop : i < stop; i += step)
    result.push_back(i);
  return result;
}

class IndexingTest : public SessionFixture {
protected:
  Var matrix() {
    std::vector<float> data(20);
    std::iota(data.begin(), data.end(), 0);
    return tensor({4, 5}, data);
  }

  Var get(const Var &x, llvm::ArrayRef<IndexItem> items) {
    SessionScope scope(*session);
    return wrap(recorder().getItem(x.getNode(), items));
  }
};

/// Ends around a dimension of extent 5, and steps of both signs.
std::vector<IndexItem> manyWindows() {
  std::vector<IndexItem> windows;
  for (std::optional<int64_t> start :
       {std::optional<int64_t>(), {-7}, {-2}, {0}, {3}, {9}})
    for (std::optional<int64_t> stop :
         {std::optional<int64_t>(), {-6}, {-1}, {2}, {5}, {8}})
      for (int64_t step : {1, 2, -1, -3})
        windows.push_back(window(start, stop, step));
  return windows;
}

TEST_F(IndexingTest, ReadsWindows) {
  Var x = matrix();
  for (const IndexItem &item : manyWindows()) {
    Var part = get(x, {all, item});
    std::vector<float> expected;
    for (int64_t row = 0; row < 4; ++row)
      for (int64_t column : positions(item, 5))
        expected.push_back(5 * row + column);
    EXPECT_EQ(values(part), expected);
  }
}

TEST_F(IndexingTest, WritesWindows) {
  for (const IndexItem &item : manyWindows()) {
    Var x = matrix();
    std::vector<float> expected = values(x);
    std::vector<int64_t> columns = positions(item, 5);
    std::vector<float> data(2 * columns.size());
    std::iota(data.begin(), data.end(), 100);
    for (int64_t row : {1, 3})
      for (size_t k = 0; k < columns.size(); ++k)
        expected[5 * row + columns[k]] = data[(row / 2) * columns.size() + k];
    Var value = tensor({2, int64_t(columns.size())}, data);
    {
      SessionScope scope(*session);
      session->setItem(x, {window(1, std::nullopt, 2), item}, value);
    }
    EXPECT_EQ(values(x), expected);
  }
}

TEST_F(IndexingTest, IntegersNewAxesAndEllipses) {
  Var x = matrix();
  EXPECT_EQ(get(x, at(-1)).shape().vec(), std::vector<int64_t>({5}));
  EXPECT_EQ(get(x, {at(1), at(2)}).rank(), 0);
  EXPECT_EQ(values(get(x, {at(1), at(2)})), floats({7}));
  EXPECT_EQ(get(x, {newAxis, ellipsis, at(0), newAxis}).shape().vec(),
            std::vector<int64_t>({1, 4, 1}));
  EXPECT_EQ(get(x, {ellipsis}).shape().vec(), std::vector<int64_t>({4, 5}));
}

TEST_F(IndexingTest, AssignedValuesBroadcast) {
  Var x = matrix();
  Var row = tensor({1, 1, 5}, {0, 0, 0, 0, 0});
  {
    SessionScope scope(*session);
    session->setItem(x, {window(0, 3)}, row);
    session->setItem(x, {at(3), window(1, 4)}, number(7));
  }
  std::vector<float> expected(20, 0);
  expected[15] = 15, expected[19] = 19;
  expected[16] = expected[17] = expected[18] = 7;
  EXPECT_EQ(values(x), expected);
}

TEST_F(IndexingTest, OldValuesStay) {
  Var x = matrix();
  Var old;
  {
    SessionScope scope(*session);
    old = share(x);
    session->setItem(x, {at(0)}, number(-1));
  }
  EXPECT_EQ(values(old)[0], 0);
  EXPECT_EQ(values(x)[0], -1);
}

TEST_F(IndexingTest, GradientsFlowThroughAssignments) {
  Var x = tensor({4}, {1, 2, 3, 4}), v = tensor({2}, {5, 6});
  Var y;
  std::vector<Var> gradients;
  {
    SessionScope scope(*session);
    y = share(x);
    session->setItem(y, {window(std::nullopt, std::nullopt, -2)}, v);
    gradients = session->grad(binary("mul", y, y), {&x, &v});
  }
  EXPECT_EQ(values(y), floats({1, 6, 3, 5}));
  EXPECT_EQ(values(gradients[0]), floats({2, 0, 6, 0}));
  EXPECT_EQ(values(gradients[1]), floats({10, 12}));
}

TEST_F(IndexingTest, BadIndices) {
  Var x = matrix();
  auto error = [&](llvm::ArrayRef<IndexItem> items) {
    return errorOf([&] { recorder().getItem(x.getNode(), items); });
  };
  EXPECT_EQ(error(at(4)),
            "index: index 4 is out of range for dimension 0 of extent 4");
  EXPECT_EQ(error({all, at(-6)}),
            "index: index -6 is out of range for dimension 1 of extent 5");
  EXPECT_EQ(error({at(0), at(0), at(0)}),
            "index: given 3 indices for a tensor of shape (4, 5)");
  EXPECT_EQ(error({ellipsis, ellipsis}),
            "index: an index has more than one ellipsis");
  EXPECT_EQ(error({window(0, 1, 0)}),
            "value: a slice's step is 0, expected another number");
  Var v = tensor({3}, {1, 2, 3});
  EXPECT_EQ(errorOf([&] { session->setItem(x, {at(0)}, v); }),
            "value: a value of shape (3,) cannot be assigned to a part of "
            "shape (5,)");
}

} // namespace
