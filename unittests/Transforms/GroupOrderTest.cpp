//===- GroupOrderTest.cpp - Tests of groups in a topological order --------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Fusion/GroupOrder.h"
#include "gtest/gtest.h"

#include <functional>
#include <map>
#include <random>
#include <set>

using namespace mlir::metaop;

namespace {

struct Edge {
  unsigned from, to;
  bool fusable;
};

/// The groups that are reached from one by paths of more than one edge, or by
/// edges that cannot be fused.
bool leadsAround(const std::vector<Edge> &edges, const GroupOrder &order,
                 unsigned first, unsigned second) {
  std::set<unsigned> seen;
  std::function<bool(unsigned)> visit = [&](unsigned group) {
    for (const Edge &edge : edges) {
      unsigned from = order.find(edge.from), to = order.find(edge.to);
      if (from != group || to == group)
        continue;
      if (to == second) {
        if (group != first || !edge.fusable)
          return true;
      } else if (seen.insert(to).second && visit(to)) {
        return true;
      }
    }
    return false;
  };
  return visit(first);
}

void expectTopological(const std::vector<Edge> &edges, const GroupOrder &order,
                       unsigned numNodes) {
  std::map<unsigned, unsigned> place;
  for (unsigned group : order.getOrder()) {
    unsigned next = place.size();
    EXPECT_TRUE(place.insert({group, next}).second);
  }
  std::set<unsigned> groups;
  for (unsigned node = 0; node < numNodes; ++node)
    groups.insert(order.find(node));
  EXPECT_EQ(groups.size(), place.size());
  for (const Edge &edge : edges)
    EXPECT_LE(place.at(order.find(edge.from)), place.at(order.find(edge.to)));
}

/// A merge is done if and only if no path leads around it.
TEST(GroupOrderTest, MergesRandomGraphs) {
  std::mt19937 random(7);
  unsigned merged = 0, refused = 0;
  for (int trial = 0; trial < 40; ++trial) {
    unsigned numNodes = 30;
    GroupOrder order(numNodes);
    std::vector<Edge> edges;
    for (int i = 0; i < 45; ++i) {
      unsigned a = random() % numNodes, b = random() % numNodes;
      if (a == b)
        continue;
      Edge edge{std::min(a, b), std::max(a, b), random() % 4 != 0};
      edges.push_back(edge);
      order.addEdge(edge.from, edge.to, edge.fusable);
    }
    for (int i = 0; i < 60; ++i) {
      unsigned a = order.find(random() % numNodes);
      unsigned b = order.find(random() % numNodes);
      if (a == b)
        continue;
      bool isLegal =
          !leadsAround(edges, order, a, b) && !leadsAround(edges, order, b, a);
      EXPECT_EQ(order.merge(a, b), isLegal);
      EXPECT_EQ(order.find(a) == order.find(b), isLegal);
      ++(isLegal ? merged : refused);
      expectTopological(edges, order, numNodes);
    }
  }
  EXPECT_GT(merged, 300u);
  EXPECT_GT(refused, 300u);
}

/// Labels between the same neighbours run out and are spread again.
TEST(GroupOrderTest, KeepsTheOrderOfManyMergesAtOnePlace) {
  // Each node of the first half is read by one at the end, and by all that
  // follow it in the second half.
  unsigned half = 200, numNodes = 2 * half;
  GroupOrder order(numNodes);
  std::vector<Edge> edges;
  for (unsigned node = 0; node < half; ++node) {
    edges.push_back({node, numNodes - 1, true});
    if (node > 0)
      edges.push_back({node, half + node - 1, true});
  }
  for (const Edge &edge : edges)
    order.addEdge(edge.from, edge.to, edge.fusable);
  for (unsigned node = 0; node < half; ++node) {
    EXPECT_TRUE(order.merge(node, numNodes - 1));
    expectTopological(edges, order, numNodes);
  }
}

} // namespace
