//===- LineSorter.cpp - One line in order, or a part of it ----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See Sort.cpp.
//
//===----------------------------------------------------------------------===//

#include "LineSorter.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <numeric>

using namespace metaops;

/// Lines of fewer elements are sorted as a whole, and those of which more than
/// an eighth is wanted.
static constexpr int64_t kLongLine = 512;
static constexpr int64_t kMaxShare = 8;
static constexpr int64_t kMaxSample = 8192;
/// The numbers of items have no more bits.
static constexpr int64_t kMaxItems = int64_t(1) << 32;

int64_t metaops::getWorkBytes(const SortTask &task) {
  bool isWhole = task.count == task.extent;
  if (isWhole && !task.givesIndices)
    return sizeOf(task.dtype);
  // Two items or keys, and a number where a part is selected.
  return 2 * (task.givesIndices ? 8 : sizeOf(task.dtype)) + (isWhole ? 0 : 4);
}

//===----------------------------------------------------------------------===//
// A part of the order
//===----------------------------------------------------------------------===//
//
// R. Floyd, R. Rivest: Expected time bounds for selection, 1975. Where a sample
// of m keys has rank r, the line has it to about sqrt(r / m) of the sample's
// size. If the guess was wrong, or many keys are equal, all are sorted.

template <typename Bits>
KeyRange<Bits> LineSorter<Bits>::guessRange(const Bits *line) {
  int64_t extent = task.extent;
  int64_t size = std::min(kMaxSample, extent / 8);
  auto *sample = getMemory<Bits>(0);
  int64_t stride = extent / size;
  for (int64_t i = 0; i < size; ++i) {
    // Not at equal distances, which may be those of something in the data.
    int64_t step = static_cast<uint32_t>(i * 2654435761u) % stride;
    sample[i] = order.toKey(line[i * stride + step]);
  }
  sortKeys(sample, size);
  auto getRank = [&](int64_t place, double sign) -> int64_t {
    double rank = double(place) / double(extent) * double(size);
    double fromEnd = std::min(rank, double(size) - rank);
    return std::floor(rank + sign * (3 * std::sqrt(fromEnd) + 6));
  };
  KeyRange<Bits> range;
  int64_t low = getRank(place, -1);
  int64_t high = getRank(place + task.count, 1);
  if (low >= 0)
    range.low = sample[low];
  if (high < size)
    range.high = sample[high];
  return range;
}

template <typename Bits>
std::optional<typename LineSorter<Bits>::Part>
LineSorter<Bits>::selectPart(const Bits *line) {
  int64_t extent = task.extent;
  if (extent < kLongLine || extent > kMaxItems ||
      task.count > extent / kMaxShare)
    return std::nullopt;
  KeyRange<Bits> range = guessRange(line);
  auto *numbers = getMemory<Number>(0);
  llvm::SmallVector<Selected, 64> found(parts);
  // The last item's number has to fit, too.
  auto getBegin = [&](int64_t part) { return extent * part / parts; };
  threads.parallelFor(parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      int64_t first = getBegin(part);
      found[part] = selectKeys(order, line + first, getBegin(part + 1) - first,
                               range, numbers + first);
    }
  });
  Part selected = {numbers, 0, 0};
  for (auto [part, one] : llvm::enumerate(found)) {
    Number first = getBegin(part);
    for (int64_t i = 0; i < one.inside; ++i)
      numbers[selected.count + i] = numbers[first + i] + first;
    selected.count += one.inside;
    selected.before += one.below;
  }
  if (selected.before > place ||
      selected.before + selected.count < place + task.count)
    return std::nullopt;
  return selected;
}

/// Visits what is wanted of the places [begin, end) of a part of the order.
template <typename Bits>
void LineSorter<Bits>::forWanted(
    int64_t before, int64_t begin, int64_t end,
    llvm::function_ref<void(int64_t, int64_t)> visit) {
  begin = std::max(begin, place - before);
  end = std::min(end, place + task.count - before);
  if (begin < end)
    visit(begin, end);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

template <typename Bits>
void LineSorter<Bits>::sort(const Bits *line, Bits *to) {
  int64_t room = llvm::alignTo(task.extent, 64);
  if (std::optional<Part> part = isWhole() ? std::nullopt : selectPart(line)) {
    auto *keys = getMemory<Bits>(room * sizeof(Number));
    for (int64_t i = 0; i < part->count; ++i)
      keys[i] = getKey(line, &*part, i);
    sortKeys(keys, part->count);
    return makeElements(order, keys + (place - part->before), task.count, to);
  }
  // The keys of parts move from the scratch memory to the result, or within.
  Bits *keys = getMemory<Bits>(0), *other = to;
  if (!isWhole())
    other = keys + room;
  else if (parts == 1)
    keys = to;
  sortShared<Bits>(
      keys, other, task.extent, parts, /*mask=*/0, threads,
      [&](int64_t begin, int64_t end) {
        makeKeys(order, line + begin, end - begin, keys + begin);
      },
      [&](const Bits *sorted, int64_t begin, int64_t end) {
        forWanted(0, begin, end, [&](int64_t first, int64_t last) {
          makeElements(order, sorted + first, last - first,
                       to + (first - place));
        });
      });
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

template <typename Bits>
void LineSorter<Bits>::sort(const Bits *line, int64_t *to, Bits *values) {
  if (task.extent > kMaxItems) {
    argsortLong(line, to);
  } else if (isWhole() && sizeof(Bits) == 1) {
    argsortBytes(line, to);
  } else {
    std::optional<Part> part = isWhole() ? std::nullopt : selectPart(line);
    if (argsort(line, part ? &*part : nullptr, to, values))
      return;
  }
  if (values)
    for (int64_t k = 0; k < task.count; ++k)
      values[k] = line[to[k]];
}

/// The elements of sorted items, made of their keys: what the numbers tell is
/// all over the line. They tell the elements of keys that several have, which
/// are beside each other.
template <typename Bits>
void LineSorter<Bits>::readValues(const Bits *line, ItemForm<Bits> form,
                                  const Item *items, int64_t count, Bits *to) {
  readItems(order, form, items, count, to);
  if (!order.hasSharedKeys())
    return;
  for (Bits key : order.getSharedKeys()) {
    const Item *first = std::partition_point(
        items, items + count, [&](Item i) { return form.getKey(i) < key; });
    for (; first < items + count && form.getKey(*first) == key; ++first)
      to[first - items] = line[*first & form.getMask()];
  }
}

/// Sorts items that are one but for their numbers by what their keys have lost.
template <typename Bits>
void LineSorter<Bits>::sortTied(const Bits *line, const Part *part, Item *items,
                                Item *other, int64_t count, Item mask) {
  unsigned bits = llvm::bit_width(uint64_t(count - 1));
  auto read = [&](int64_t i) { return getKey(line, part, items[i] & mask); };
  Bits low = read(0);
  for (int64_t i = 1; i < count; ++i)
    low = std::min(low, read(i));
  for (int64_t i = 0; i < count; ++i)
    other[i] = Item(read(i) - low) << bits | i;
  sortKeys(other, count);
  for (int64_t i = 0; i < count; ++i)
    other[i] = items[other[i] & ((Item(1) << bits) - 1)];
  std::copy_n(other, count, items);
}

template <typename Bits>
void LineSorter<Bits>::sortTies(const Bits *line, const Part *part, Item *items,
                                Item *other, int64_t begin, int64_t end,
                                Item mask) {
  for (int64_t first = begin, last; first < end; first = last) {
    for (last = first + 1; last < end && (items[last] ^ items[first]) <= mask;)
      ++last;
    if (last > first + 1)
      sortTied(line, part, items + first, other + first, last - first, mask);
  }
}

/// Returns whether values have been written, too.
template <typename Bits>
bool LineSorter<Bits>::argsort(const Bits *line, const Part *part, int64_t *to,
                               Bits *values) {
  int64_t count = part ? part->count : task.extent;
  int64_t before = part ? part->before : 0;
  int64_t room = llvm::alignTo(task.extent, 64);
  auto *items = getMemory<Item>(isWhole() ? 0 : room * sizeof(Number));
  Item *other = items + room;

  KeyRange<Bits> range;
  if (sizeof(Bits) == sizeof(Item) && !part)
    range = getRange(order, line, count);
  ItemForm<Bits> form;
  form.low = range.low;
  form.numberBits = llvm::bit_width(uint64_t(count - 1));
  unsigned keyBits = llvm::bit_width(uint64_t(range.high - range.low));
  form.lost = std::max(0, int(keyBits + form.numberBits) - 64);
  Item mask = form.getMask();
  bool readsValues = values && !part && form.lost == 0;
  sortShared<Item>(
      items, other, count, part ? 1 : parts, mask, threads,
      [&](int64_t begin, int64_t end) {
        if (!part)
          return makeItems(order, form, line + begin, end - begin, begin,
                           items + begin);
        for (int64_t i = begin; i < end; ++i)
          items[i] = form.make(getKey(line, part, i), i);
      },
      [&](Item *sorted, int64_t begin, int64_t end) {
        if (form.lost > 0)
          sortTies(line, part, sorted, sorted == items ? other : items, begin,
                   end, mask);
        forWanted(before, begin, end, [&](int64_t first, int64_t last) {
          for (int64_t k = first; k < last; ++k) {
            Number number = sorted[k] & mask;
            to[before + k - place] = part ? part->numbers[number] : number;
          }
          if (readsValues)
            readValues(line, form, sorted + first, last - first,
                       values + (first - place));
        });
      });
  return readsValues;
}

/// Counts the keys, of which there are few kinds.
template <typename Bits>
void LineSorter<Bits>::argsortBytes(const Bits *line, int64_t *to) {
  std::array<int64_t, 256> places = {};
  for (int64_t i = 0; i < task.extent; ++i)
    ++places[static_cast<uint8_t>(order.toKey(line[i]))];
  std::exclusive_scan(places.begin(), places.end(), places.begin(), int64_t(0));
  for (int64_t i = 0; i < task.extent; ++i)
    to[places[static_cast<uint8_t>(order.toKey(line[i]))]++] = i;
}

/// For lines whose numbers leave too few bits for keys.
template <typename Bits>
void LineSorter<Bits>::argsortLong(const Bits *line, int64_t *to) {
  auto *numbers = getMemory<int64_t>(0);
  std::iota(numbers, numbers + task.extent, 0);
  std::sort(numbers, numbers + task.extent, [&](int64_t i, int64_t j) {
    Bits x = order.toKey(line[i]), y = order.toKey(line[j]);
    return x != y ? x < y : i < j;
  });
  std::copy_n(numbers + place, task.count, to);
}

template class metaops::LineSorter<uint8_t>;
template class metaops::LineSorter<uint16_t>;
template class metaops::LineSorter<uint32_t>;
template class metaops::LineSorter<uint64_t>;
