//===- TextMutator.cpp - Changes of tokens and lines ----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bytes changed at random hardly ever get past the lexer. These changes are of
// tokens. Half of them are made everywhere in the text: a type, an extent or an
// operation that is replaced wherever it stands leaves most programs valid, and
// they go on to the passes.
//
//===----------------------------------------------------------------------===//

#include "Mutators.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace metaops::fuzz;
using llvm::StringRef;

namespace {
enum class Kind { Space, Number, Word, Sigil, Punctuation };

struct Token {
  Kind kind;
  std::string text;
};
using Tokens = std::vector<Token>;
} // namespace

static const char *const elementTypes[] = {
    "f32",   "f64",  "f16", "bf16", "i1",   "i8",     "i16",
    "i32",   "i64",  "ui8", "ui16", "ui32", "ui64",   "si32",
    "index", "tf32", "i0",  "i128", "none", "f8E5M2", "complex<f32>"};

static const char *const numbers[] = {"0",
                                      "1",
                                      "2",
                                      "3",
                                      "7",
                                      "8",
                                      "16",
                                      "17",
                                      "63",
                                      "64",
                                      "65",
                                      "127",
                                      "128",
                                      "255",
                                      "256",
                                      "1000000",
                                      "2147483647",
                                      "2147483648",
                                      "4294967296",
                                      "1073741824",
                                      "4611686018427387904",
                                      "9223372036854775807",
                                      "9223372036854775808",
                                      "18446744073709551615",
                                      "-1",
                                      "-2",
                                      "-9223372036854775808",
                                      "?",
                                      "0x7FC00000",
                                      "1.0",
                                      "1e308",
                                      "1e-46"};

static const char *const fragments[] = {"dense<>",
                                        "dense<0>",
                                        "affine_map<() -> ()>",
                                        "affine_map<(d0) -> (d0)>",
                                        "affine_map<(d0, d1) -> (d1, d0)>",
                                        "affine_map<(d0)[s0] -> (d0 + s0)>",
                                        "affine_set<(d0) : (d0 - 1 >= 0)>",
                                        "d0",
                                        "d1",
                                        "s0",
                                        "s1",
                                        "symbols(%0)",
                                        "[]",
                                        "{}",
                                        "()",
                                        "->",
                                        "*",
                                        "+",
                                        "-",
                                        "floordiv",
                                        "ceildiv",
                                        "mod",
                                        "where",
                                        "fill",
                                        "map",
                                        "dims",
                                        "step(0)",
                                        "step(1, 8)",
                                        "parallel(0)",
                                        "lanes = 0: 8",
                                        "tile = [0: 4, 1: 8]",
                                        "transpose = 0",
                                        "shared = 1",
                                        "unroll = [0]",
                                        "pairwise = 32",
                                        "stream = [0]",
                                        "body"};

static bool isWordCharacter(char c) {
  return llvm::isAlnum(c) || c == '_' || c == '.' || c == '$';
}

static Tokens tokenise(StringRef text) {
  Tokens tokens;
  bool isAfterNumber = false;
  while (!text.empty()) {
    char first = text.front();
    Kind kind = Kind::Punctuation;
    StringRef token = text.take_front();
    if (llvm::isSpace(first)) {
      kind = Kind::Space;
      token = text.take_while(llvm::isSpace);
    } else if (llvm::isDigit(first)) {
      kind = Kind::Number;
      token = text.take_while(llvm::isDigit);
    } else if (StringRef("%@#!^").contains(first)) {
      kind = Kind::Sigil;
      token = text.take_front(
          1 + text.drop_front().take_while(isWordCharacter).size());
    } else if (isAfterNumber && first == 'x') {
      // Between the extents of a shape.
      kind = Kind::Punctuation;
    } else if (isWordCharacter(first)) {
      kind = Kind::Word;
      token = text.take_while(isWordCharacter);
    }
    isAfterNumber = kind == Kind::Number;
    tokens.push_back({kind, token.str()});
    text = text.drop_front(token.size());
  }
  return tokens;
}

static std::string join(const Tokens &tokens) {
  std::string text;
  for (const Token &token : tokens)
    text += token.text;
  return text;
}

/// The place of a token that is no space.
static size_t drawPlace(const Tokens &tokens, Random &random) {
  for (unsigned attempt = 0; attempt < 8; ++attempt)
    if (size_t at = draw(random, tokens.size()); tokens[at].kind != Kind::Space)
      return at;
  return draw(random, tokens.size());
}

template <size_t count>
static std::string drawWord(const char *const (&words)[count], Random &random) {
  return words[draw(random, count)];
}

/// Returns what could stand in the place of a token.
static std::string replacement(const Token &token, const Tokens &tokens,
                               const Dictionary &words, Random &random) {
  bool isType = llvm::is_contained(elementTypes, StringRef(token.text));
  if (isType && draw(random, 4))
    return drawWord(elementTypes, random);
  if (token.kind == Kind::Number && draw(random, 4))
    return drawWord(numbers, random);
  if (StringRef(token.text).starts_with("metaop.") && draw(random, 4))
    return words[draw(random, words.size())];
  // One of its kind out of the same program is most often valid there.
  if (draw(random, 4))
    for (unsigned attempt = 0; attempt < 16; ++attempt)
      if (const Token &other = tokens[draw(random, tokens.size())];
          other.kind == token.kind && other.text != token.text)
        return other.text;
  switch (draw(random, 4)) {
  case 0:
    return drawWord(numbers, random);
  case 1:
    return drawWord(elementTypes, random);
  case 2:
    return drawWord(fragments, random);
  default:
    return words[draw(random, words.size())];
  }
}

static void mutateTokens(Tokens &tokens, const Dictionary &words,
                         Random &random) {
  size_t at = drawPlace(tokens, random);
  size_t choice = draw(random, 10);
  if (choice < 4 && tokens[at].kind != Kind::Punctuation) {
    std::string old = tokens[at].text;
    std::string text = replacement(tokens[at], tokens, words, random);
    for (Token &token : tokens)
      if (token.text == old)
        token.text = text;
  } else if (choice < 7) {
    tokens[at].text = replacement(tokens[at], tokens, words, random);
  } else if (choice == 7) {
    size_t end = std::min(tokens.size(), at + 1 + draw(random, 6));
    tokens.erase(tokens.begin() + at, tokens.begin() + end);
  } else if (choice == 8) {
    tokens.insert(tokens.begin() + at, Token(tokens[at]));
  } else {
    std::swap(tokens[at], tokens[drawPlace(tokens, random)]);
  }
}

static std::string mutateLines(StringRef text, Random &random) {
  llvm::SmallVector<StringRef> lines;
  text.split(lines, '\n');
  size_t from = draw(random, lines.size()), to = draw(random, lines.size());
  switch (draw(random, 4)) {
  case 0:
    lines.erase(lines.begin() + from);
    break;
  case 1:
    lines.insert(lines.begin() + to, StringRef(lines[from]));
    break;
  case 2:
    std::swap(lines[from], lines[to]);
    break;
  default:
    if (from > to)
      std::swap(from, to);
    lines.erase(lines.begin() + from, lines.begin() + to);
    break;
  }
  return llvm::join(lines, "\n");
}

std::string metaops::fuzz::mutateText(StringRef text, const Dictionary &words,
                                      Random &random) {
  std::string result = text.str();
  for (size_t count = 1 + draw(random, 4); count > 0; --count) {
    if (draw(random, 6) == 0) {
      result = mutateLines(result, random);
      continue;
    }
    Tokens tokens = tokenise(result);
    if (tokens.empty())
      return "module {}";
    mutateTokens(tokens, words, random);
    result = join(tokens);
  }
  return result;
}
