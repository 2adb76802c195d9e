//===- RegionKeysTest.cpp - Tests of keys of regions ----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whether two operations have one key is compared with whether their slices are
// the same text.
//
//===----------------------------------------------------------------------===//

#include "RegionFixture.h"

#include <algorithm>
#include <map>
#include <random>

using namespace mlir;
using namespace metaops;

namespace {

class RegionKeysTest : public RegionFixture {};

/// A loop that carries two tensors of a type, `init` being those before it.
std::string whileOf(llvm::StringRef init, llvm::StringRef type,
                    llvm::StringRef forwarded, llvm::StringRef yielded,
                    llvm::StringRef condition = "%e") {
  std::string types = ("tensor<" + type + ">, tensor<" + type + ">").str();
  return ("%r:2 = scf.while (" + init + ") : (" + types + ") -> (" + types +
          ") {\n%t = tensor.extract " + condition +
          "[] : tensor<i1>\nscf.condition(%t) " + forwarded + " : " + types +
          "\n} do {\n^bb0(%u: tensor<" + type + ">, %v: tensor<" + type +
          ">):\nscf.yield " + yielded + " : " + types + "\n}")
      .str();
}

/// Operations of which no two are the same, by what is special about them.
std::map<std::string, std::string> listDifferent() {
  std::string twice = "(tensor<4xf32>, tensor<4xf32>)";
  std::string inits = "%x = %a, %y = %b";
  return {
      {"a sum", regionOf(add + yield("s"))},
      {"another operator",
       regionOf("%s = metaop.sub %a, %b" + vec + yield("s"))},
      {"operand order", regionOf("%s = metaop.sub %b, %a" + vec + yield("s"))},
      {"order of a sum", regionOf("%s = metaop.add %b, %a" + vec + yield("s"))},
      {"one capture twice",
       regionOf("%s = metaop.add %a, %a" + vec + yield("s"))},
      {"another capture",
       regionOf("%s = metaop.add %a, %c" + vec + yield("s"))},
      {"an inner value", regionOf("%s = metaop.add %a, %m" + vec + yield("s"))},
      {"another inner value",
       regionOf("%s = metaop.add %a, %o" + vec + yield("s"))},
      {"a constant", regionOf("%k = metaop.constant dense<1.0>" + vec +
                              "%s = metaop.add %a, %k" + vec + yield("s"))},
      {"a constant's value",
       regionOf("%k = metaop.constant dense<2.0>" + vec +
                "%s = metaop.add %a, %k" + vec + yield("s"))},
      {"a predicate", regionOf("%k = metaop.cmp lt %a, %b : tensor<4xf32> -> "
                               "tensor<4xi1>\n" +
                                   yield("k", "4xi1"),
                               "tensor<4xi1>")},
      {"another predicate",
       regionOf("%k = metaop.cmp le %a, %b : tensor<4xf32> -> tensor<4xi1>\n" +
                    yield("k", "4xi1"),
                "tensor<4xi1>")},
      {"an attribute beside",
       regionOf("%s = \"metaop.add\"(%a, %b) {hint = 1 : i64} : "
                "(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>\n" +
                yield("s"))},
      {"an unused operation",
       regionOf(add + "%w = metaop.neg %s" + vec + yield("s"))},
      {"what is yielded", regionOf(add + yield("m"))},
      {"a capture yielded", regionOf(add + yield("a"))},
      {"extents", regionOf(add + yield("d", "8xf32"), "tensor<8xf32>")},
      {"an element type", regionOf(add + yield("g", "i32"), "tensor<i32>")},
      {"two results", regionOf(add + "scf.yield %s, %m : tensor<4xf32>, "
                                     "tensor<4xf32>",
                               twice, "%r:2")},
      {"their order", regionOf(add + "scf.yield %m, %s : tensor<4xf32>, "
                                     "tensor<4xf32>",
                               twice, "%r:2")},
      {"a branch", regionOf(ifOf(yield("a"), yield("b")))},
      {"branches", regionOf(ifOf(yield("b"), yield("a")))},
      {"equal branches", regionOf(ifOf(yield("a"), yield("a")))},
      {"a branch's body",
       regionOf(ifOf(yield("a"), "%w = metaop.neg %b" + vec + yield("w")))},
      {"another branch's body",
       regionOf(ifOf(yield("a"), "%w = metaop.abs %b" + vec + yield("w")))},
      {"nested branches",
       regionOf(ifOf(yield("a"), ifOf(yield("b"), yield("c"), "n")))},
      {"branches nested otherwise",
       regionOf(ifOf(yield("a"), ifOf(yield("c"), yield("b"), "n")))},
      {"branches nested before",
       regionOf(ifOf(ifOf(yield("b"), yield("c"), "n"), yield("a")))},
      {"a loop", whileOf(inits, "4xf32", "%x, %y", "%u, %v")},
      {"what a loop begins with",
       whileOf("%x = %a, %y = %a", "4xf32", "%x, %y", "%u, %v")},
      {"what a condition forwards",
       whileOf(inits, "4xf32", "%y, %x", "%u, %v")},
      {"block arguments", whileOf(inits, "4xf32", "%x, %y", "%v, %u")},
      {"an operand that is captured",
       whileOf(inits, "4xf32", "%x, %y", "%u, %a")},
      {"another operand that is captured",
       whileOf(inits, "4xf32", "%x, %y", "%u, %b")},
      {"a capture that is no operand",
       whileOf(inits, "4xf32", "%x, %y", "%u, %c")},
      {"types of block arguments",
       whileOf("%x = %f, %y = %f", "i64", "%x, %y", "%u, %v")},
      {"other types of block arguments",
       whileOf("%x = %g, %y = %g", "i32", "%x, %y", "%u, %v")},
      {"an attribute of the operation",
       whileOf(inits, "4xf32", "%x, %y", "%u, %v") + " attributes {hint}"},
      {"blocks", "%r = scf.execute_region -> tensor<4xf32> {\ncf.br ^def\n"
                 "^use:\n" +
                     yield("v") + "\n^def:\n%v = metaop.add %a, %b" + vec +
                     "cf.br ^use\n}"},
      {"order of blocks",
       "%r = scf.execute_region -> tensor<4xf32> {\ncf.br ^def\n"
       "^def:\n%v = metaop.add %a, %b" +
           vec + "cf.br ^use\n^use:\n" + yield("v") + "\n}"},
  };
}

TEST_F(RegionKeysTest, KeysDiffer) {
  std::map<std::string, ProgramKey> keys;
  std::map<std::string, std::string> texts;
  for (const auto &[name, text] : listDifferent()) {
    Node *node = record(text);
    keys[name] = trace(node).key;
    texts[name] = print(node);
    EXPECT_NE(texts[name], "an invalid slice") << name;
  }
  EXPECT_GE(keys.size(), 40u);
  for (const auto &[name, key] : keys)
    for (const auto &[other, otherKey] : keys) {
      EXPECT_EQ(key == otherKey, name == other) << name << " and " << other;
      EXPECT_EQ(texts[name] == texts[other], name == other);
    }
}

TEST_F(RegionKeysTest, KeysOfEqualBodiesAreEqual) {
  for (const auto &[name, text] : listDifferent()) {
    Node *node = record(text);
    // On other lines, and by other names.
    std::string other = "\n\n" + text;
    for (size_t at = 0; (at = other.find("%s", at)) != std::string::npos;)
      other.replace(at, 2, "%another");
    Node *same = record(other);
    EXPECT_EQ(same->signature, node->signature) << name;
    EXPECT_TRUE(trace(same).key == trace(node).key) << name;
  }
}

TEST_F(RegionKeysTest, KeysDoNotTellWhichValuesAreCaptured) {
  Node *one = record(regionOf(add + yield("s")));
  std::vector<Node *> others = leaves;
  std::rotate(others.begin(), others.begin() + 1, others.begin() + 3);
  Node *other = record(regionOf(add + yield("s")), others);
  EXPECT_NE(trace(one).leaves, trace(other).leaves);
  EXPECT_TRUE(trace(one).key == trace(other).key);
  // But how long they are, in types within.
  others[0] = others[1] = others[2] = leaves[3];
  std::string longer = regionOf(add + yield("s"));
  for (size_t at = 0; (at = longer.find("4xf32", at)) != std::string::npos;)
    longer.replace(at, 5, "8xf32");
  EXPECT_FALSE(trace(record(longer, others)).key == trace(one).key);
}

TEST_F(RegionKeysTest, ComparesWhereHashesAreEqual) {
  Node *one = record(regionOf(add + yield("s")));
  Node *other = record(regionOf("%s = metaop.add %b, %a" + vec + yield("s")));
  auto hash = [](Node *node) {
    Operation *sum = &*std::next(node->op->getRegion(0).front().begin(), 2);
    EXPECT_TRUE(isa<metaop::AddOp>(sum));
    return OperationEquivalence::computeHash(
        sum, OperationEquivalence::directHashValue,
        OperationEquivalence::ignoreHashValue,
        OperationEquivalence::Flags::IgnoreLocations);
  };
  // MLIR's hash of a commutative operation does not tell the order.
  EXPECT_EQ(hash(one), hash(other));
  EXPECT_NE(one->signature, other->signature);
}

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

/// Returns a text with one of its words replaced everywhere.
std::string replaced(std::string text, llvm::StringRef word,
                     llvm::StringRef by) {
  for (size_t at = 0; (at = text.find(word.str(), at)) != std::string::npos;
       at += by.size())
    text.replace(at, word.size(), by.str());
  return text;
}

TEST_F(RegionKeysTest, ExtentsAreNumbers) {
  std::string sums =
      "%r:2 = metaop.scan TRIPS carries(%x = %a : tensor<4xf32>) rows(%y = %h "
      ": tensor<TRIPSx4xf32>) -> (tensor<4xf32>, tensor<TRIPSx4xf32>) {\n"
      "%s = metaop.add %x, %y : tensor<4xf32>\n"
      "metaop.scan_yield %s, %s : tensor<4xf32>, tensor<4xf32>\n}";
  std::map<std::string, std::string> texts = {
      {"a region", regionOf(add + yield("s"))},
      {"branches",
       regionOf(ifOf(yield("a"), ifOf(yield("b"), yield("c"), "n")))},
      {"a loop", whileOf("%x = %a, %y = %b", "4xf32", "%y, %x", "%v, %c")},
      {"a scan", replaced(sums, "TRIPS", "7")},
      {"a check", regionOf("%n = metaop.constant dense<TRIPS> : tensor<i64>\n"
                           "%i = metaop.check %f extent = TRIPS : tensor<i64>\n"
                           "%j = metaop.add %i, %n : tensor<i64>\n" +
                           add + yield("s"))},
      {"trips", sums}};
  for (const auto &[name, text] : texts) {
    std::vector<ProgramKey> keys;
    for (int64_t length = 1; length <= 50; ++length) {
      bool isTrips = name == "trips" || name == "a check";
      std::string extent = std::to_string(length);
      std::string vector = isTrips ? "4xf32" : extent + "xf32";
      std::string trips = isTrips ? extent : "7";
      std::vector<Node *> given = leaves;
      for (size_t i = 0; i < 3; ++i)
        given[i] = makeLeaf("tensor<" + vector + ">");
      given.push_back(makeLeaf("tensor<" + trips + "x" + vector + ">"));
      Node *node = record(
          replaced(replaced(text, "4xf32", vector), "TRIPS", trips), given);
      EXPECT_NE(print(node), "an invalid slice") << name;
      keys.push_back(trace(node).key);
      EXPECT_EQ(keys.back().skeleton, keys.front().skeleton) << name;
      EXPECT_EQ(keys.back().numbers.size(), keys.front().numbers.size());
      EXPECT_EQ(keys.back() == keys.front(), length == 1) << name;
    }
  }
}

/// Bodies of which all are one but for extents, each of which is a number of
/// its own.
class ExtentGenerator {
public:
  explicit ExtentGenerator(unsigned seed) : random(seed) {}

  /// Returns a body with a place @0, @1, ... for each of its extents.
  std::string make() {
    numExtents = 0;
    return "%r = scf.execute_region -> tensor<4xf32> {\n" + makeBlock(3) +
           "scf.yield %a : tensor<4xf32>\n}";
  }
  /// Returns the number of extents that the last body has.
  unsigned getNumExtents() const { return numExtents; }

private:
  std::string makeBlock(unsigned depth) {
    std::string text;
    for (unsigned count = 1 + random() % 3; count > 0; --count)
      text += makeStatement(depth);
    return text;
  }

  std::string makeStatement(unsigned depth) {
    std::string name = "%v" + std::to_string(next++);
    std::string type = "tensor<" + makeExtent() + "x" + makeExtent() + "xf32>";
    std::string text = name + " = metaop.constant dense<1.0> : " + type + "\n";
    switch (random() % (depth > 0 ? 4 : 2)) {
    case 0:
      return text;
    case 1:
      return text + name + "n = metaop.neg " + name + " : " + type + "\n";
    case 2:
      return text + name + "r = scf.execute_region -> " + type + " {\n" +
             makeBlock(depth - 1) + "scf.yield " + name + " : " + type +
             "\n}\n";
    default:
      return text + name + "s = metaop.scan " + makeExtent() + " carries(" +
             name + "c = " + name + " : " + type + ") -> (" + type + ") {\n" +
             makeBlock(depth - 1) + "metaop.scan_yield " + name +
             "c : " + type + "\n}\n";
    }
  }

  std::string makeExtent() { return "@" + std::to_string(numExtents++) + "@"; }

  std::mt19937 random;
  unsigned next = 0, numExtents = 0;
};

TEST_F(RegionKeysTest, ProgramsOfOtherExtentsAreOthers) {
  ExtentGenerator generator(11);
  std::mt19937 random(12);
  for (unsigned body = 0; body < 60; ++body) {
    std::string text = generator.make();
    std::vector<int64_t> extents(generator.getNumExtents());
    for (int64_t &extent : extents)
      extent = 1 + random() % 3;
    auto recordOf = [&](llvm::ArrayRef<int64_t> extents) {
      std::string filled = text;
      for (auto [number, extent] : llvm::enumerate(extents))
        filled = replaced(filled, "@" + std::to_string(number) + "@",
                          std::to_string(extent));
      return record(filled);
    };
    Node *first = recordOf(extents);
    ProgramKey key = trace(first).key;
    EXPECT_TRUE(trace(recordOf(extents)).key == key);
    for (int64_t &extent : extents) {
      ++extent;
      Node *other = recordOf(extents);
      --extent;
      EXPECT_EQ(other->signature, first->signature);
      EXPECT_FALSE(trace(other).key == key) << text;
      EXPECT_NE(print(other), print(first));
    }
  }
}

//===----------------------------------------------------------------------===//
// Random bodies
//===----------------------------------------------------------------------===//

/// Bodies of so few kinds that many are the same.
class BodyGenerator {
public:
  explicit BodyGenerator(unsigned seed) : random(seed) {}

  std::string make() {
    std::vector<std::string> values = {"%a", "%b", "%c"};
    return "%r = scf.execute_region -> tensor<4xf32> {\n" +
           makeBlock(values, 2) + "}";
  }

private:
  unsigned pick(unsigned count) { return random() % count; }
  std::string pickValue(const std::vector<std::string> &values) {
    // The last one more often than others.
    return pick(2) ? values.back() : values[pick(values.size())];
  }

  /// Up to two operations, and a yield.
  std::string makeBlock(std::vector<std::string> values, unsigned depth) {
    std::string text;
    for (unsigned count = pick(3); count > 0; --count) {
      std::string name = "%v" + std::to_string(next++);
      text += name + " = " + makeOperation(values, depth);
      values.push_back(name);
    }
    return text + "scf.yield " + pickValue(values) + vec;
  }

  std::string makeOperation(const std::vector<std::string> &values,
                            unsigned depth) {
    switch (pick(depth > 0 ? 5 : 4)) {
    case 0:
      return "metaop.neg " + pickValue(values) + vec;
    case 1:
      return std::string("metaop.constant dense<") + (pick(2) ? "1.0" : "2.0") +
             ">" + vec;
    case 2:
    case 3: {
      const char *names[] = {"add", "sub"};
      return std::string("metaop.") + names[pick(2)] + " " + pickValue(values) +
             ", " + pickValue(values) + vec;
    }
    default:
      return "scf.execute_region -> tensor<4xf32> {\n" +
             makeBlock(values, depth - 1) + "}\n";
    }
  }

  std::mt19937 random;
  unsigned next = 0;
};

TEST_F(RegionKeysTest, KeysAreEqualWhereTextsAre) {
  constexpr unsigned count = 300;
  BodyGenerator generator(7);
  std::vector<ProgramKey> keys;
  std::vector<SignatureTable::Id> signatures;
  std::vector<std::string> texts;
  for (unsigned i = 0; i < count; ++i) {
    Node *node = record(generator.make());
    keys.push_back(trace(node).key);
    signatures.push_back(node->signature);
    texts.push_back(print(node));
    ASSERT_NE(texts.back(), "an invalid slice");
  }
  unsigned numEqual = 0;
  for (unsigned i = 0; i < count; ++i)
    for (unsigned j = 0; j < i; ++j) {
      bool isSame = texts[i] == texts[j];
      numEqual += isSame;
      ASSERT_EQ(keys[i] == keys[j], isSame) << texts[i] << texts[j];
      // What is captured is of one type, so nothing else tells them apart.
      ASSERT_EQ(signatures[i] == signatures[j], isSame) << texts[i] << texts[j];
    }
  EXPECT_GT(numEqual, 500u);
  EXPECT_LT(numEqual, count * (count - 1) / 4);
}

} // namespace
