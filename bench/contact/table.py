# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The summary of a contact: what is wrong, then what is slow, in lines that fit a screen."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from workloads import WORKLOADS

from .child import Record

if TYPE_CHECKING:
    from .controller import Options, Part

MOST_WRONG, MOST_NEAR, MOST_SLOW, WIDTH = 20, 8, 20, 150
#: Operators that are no kernels on a GPU: the host's sorts, and copies.
OF_HOST = ("sort", "concat")
#: Marks of rows.
COLD_MARK, HOST_MARK = " (c)", " (h)"
EAGER, COMPILED, TF32 = "PyTorch", "torch.compile", "PyTorch TF32"


def is_bad(record: Record) -> bool:
    """Return whether a result says that something is wrong with us."""
    if record["part"] not in ("kinds", "checks", "steps", "exchange", "rates", "tests"):
        return False
    return bool(record.get("error") or record.get("difference") or record.get("failed"))


def title(record: Record) -> str:
    """Return what a result is about."""
    names = ("kind", "workload", "file", "fault", "subject", "exchange", "floor")
    name = next((str(record[key]) for key in names if key in record), "")
    return f"{name}, {record['size']}" if "size" in record else name


def progress(records: Sequence[Record], seconds: float) -> str:
    """Return how far everything is."""
    counts = Counter(record["part"] for record in records)
    bad = sum(map(is_bad, records))
    return f"{seconds:.0f} s: {', '.join(f'{n} {c}' for n, c in counts.items())}; {bad} bad"


def geometric_mean(values: Iterable[float]) -> float | None:
    """Return it, or nothing of nothing."""
    logs = [math.log(value) for value in values if value > 0]
    return math.exp(sum(logs) / len(logs)) if logs else None


def number(value: float | None, digits: int = 2) -> str:
    """Return a number with few digits."""
    if value is None:
        return "-"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.{digits}f}"


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table, the first column to the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]


def summary(records: list[Record], parts: list[Part], seconds: float, options: Options) -> str:
    """Return the text of the summary."""
    lines = [
        f"{options.device} beside {options.reference}, {seconds:.0f} s of {options.budget:.0f}"
    ]
    for record in records:
        lines += wrapped(f"! {record['trouble']}") if "trouble" in record else []
    lines += machine_lines(records)
    lines += part_lines(records, parts)
    for part in ("kinds", "checks"):
        lines += check_lines(part, [r for r in records if r["part"] == part])
    lines += step_lines(records)
    lines += exchange_lines([r for r in records if r["part"] == "exchange"])
    if any(record["part"] == "beside" for record in records):
        from .compare import compare, of_records

        lines += ["", *compare(of_records(records, "beside"), of_records(records, "rates"))]
    lines += rate_lines(records)
    lines += test_lines([r for r in records if r["part"] == "tests"])
    return "\n".join(line[:WIDTH] for line in lines) + "\n"


def machine_lines(records: list[Record]) -> list[str]:
    """Return what the machine is."""
    lines = []
    for record in records:
        if record["part"] == "machine":
            told = {k: v for k, v in record.items() if k not in ("part", "at") and v}
            lines.append(", ".join(f"{k} {v}" for k, v in told.items()))
        if record["part"] == "device":
            told = record.get("device") or {"error": record.get("error")}
            lines.append(", ".join(f"{k} {shortly(v)}" for k, v in told.items()))
        if record["part"] == "cold probe":
            seconds = record.get("eviction seconds")
            told = f"the second cache is freed in {(seconds or 0) * 1e6:.0f} us"
            lines.append(f"cold probe: {told if seconds else record.get('error')}")
        if record["part"] in ("probe", "peer probe") and ("error" in record or "found" in record):
            said = record.get("error") or f"{record['cupti']} tells of kernels"
            lines.append(f"{record['part']}: {said}")
    return [part for line in lines for part in wrapped(line)]


def shortly(value: Any) -> str:
    """Return a value with few digits."""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def wrapped(line: str) -> list[str]:
    """Return a line as some that are not too long."""
    return textwrap.wrap(line, WIDTH, subsequent_indent="    ", max_lines=4)


def part_lines(records: list[Record], parts: list[Part]) -> list[str]:
    """Return how far each part came."""
    rows = [["part", "seconds", "items", "not reached", "lost", "errors"]]
    for part in parts:
        mine = [record for record in records if record["part"] == part.title]
        lost = sum("lost" in record for record in mine)
        errors = sum("error" in record for record in mine) - lost
        rows.append([part.title, f"{part.seconds:.1f}", str(part.items)])
        rows[-1] += [str(part.unbegun), str(lost), str(errors)]
    return ["", *aligned(rows)]


def check_lines(part: str, records: list[Record]) -> list[str]:
    """Return what does not agree."""
    if not records:
        return []
    wrong = [record for record in records if is_bad(record)]
    exact = sum(bool(record.get("same_bits")) for record in records)
    lines = ["", f"{part}: {len(records) - len(wrong)} of {len(records)} right, {exact} to the bit"]
    for record in wrong[:MOST_WRONG]:
        where = "; ".join(
            f"{w.get('wrong')} from {w.get('first')}" for w in record.get("where", [])
        )
        what = record.get("error") or record["difference"]
        lines.append(f"  {title(record)}: {what} {where}")
    if len(wrong) > MOST_WRONG:
        lines.append(f"  and {len(wrong) - MOST_WRONG} more")
    near = [r for r in records if not is_bad(r) and not r.get("same_bits", True)]
    lines += ["  right, but not to the bit:"] if near else []
    lines += [f"    {title(record)}: {bits(record)}" for record in near[:MOST_NEAR]]
    if len(near) > MOST_NEAR:
        lines.append(f"    and {len(near) - MOST_NEAR} more")
    return lines


def bits(record: Record) -> str:
    """Return which results have other bits, and the first two of each."""
    told = record.get("bits", ())
    return "; ".join(
        f"result {one['result']}, {one['differ']} of {one['of']}, {told_pairs(one['told'])}"
        for one in told
    )


def told_pairs(pairs: Sequence[Sequence[str]]) -> str:
    """Return pairs of elements, what we have and what it should be."""
    return ", ".join(f"{mine} for {theirs}" for mine, theirs in pairs)


def exchange_lines(records: list[Record]) -> list[str]:
    """Return what became of exchanges of tensors."""
    right = sorted(title(record) for record in records if record.get("difference") == "")
    lines = [f"exchange: {len(right)} of {len(records)} right: {', '.join(right)}"]
    for record in records:
        what = record.get("error") or record.get("difference") or record.get("skipped")
        lines += [f"  {title(record)}: {what}"] if what else []
    return ["", *lines] if records else []


def step_lines(records: list[Record]) -> list[str]:
    """Return what training steps take, in milliseconds."""
    ours = [record for record in records if record["part"] == "steps"]
    theirs = {r["subject"]: r for r in records if r["part"] == "peer steps" and "wall" in r}
    body, errors = [], []
    for record in ours:
        if problem := record.get("error") or record.get("difference"):
            errors.append(f"  {record['subject']}: {problem}")
        both = (record, theirs.get(record["subject"], {}))
        cells = [record["subject"]]
        for key, scale in (("seconds", 1e3), ("kernels", 1), ("wall", 1e3)):
            cells += [number(one[key] * scale) if key in one else "-" for one in both]
        body.append(cells)
    if not body:
        return []
    head = ["steps, ms", "kernels", "eager's", "launches", "eager's", "wall", "eager's"]
    return ["", *aligned([head, *body]), *errors]


# Rates


def timed(records: list[Record]) -> list[Record]:
    """Return our times with the peers' beside them, cold if all are."""
    theirs: dict[tuple[str, str], dict[str, Record]] = {}
    for record in records:
        if record["part"] in ("peers", "compiled") and "seconds" in record and "peer" in record:
            row = theirs.setdefault((record["workload"], record["size"]), {})
            row[record["peer"]] = record
    rows = []
    for record in records:
        if record["part"] == "rates" and "seconds" in record:
            peers = theirs.get((record["workload"], record["size"]), {})
            of_host = host_seconds(record)
            # Between events the host's routines are timed as well, by CUPTI they are not.
            beside = of_host if "activities" in record else 0
            is_cold = "cold" in record and all("cold" in peer for peer in peers.values())
            key = "cold" if is_cold else "seconds"
            ours = record[key] + beside
            if ours <= 0:
                continue
            ratios = {peer: row[key] / ours for peer, row in peers.items()}
            told = {"seconds": ours, "of host": of_host, "ratios": ratios, "is cold": is_cold}
            told["warm"] = record["seconds"] + beside
            told["size"] = record["size"] + COLD_MARK * is_cold + HOST_MARK * bool(of_host)
            rows.append({**record, **told})
    return rows


def host_seconds(record: Record) -> float:
    """Return what the host's routines take of a call, which the profile has."""
    return sum(
        kernel["seconds"]
        for kernel in record.get("kernels", ())
        if len(kernel["operators"]) == 1 and kernel["operators"][0] in OF_HOST
    )


def cells(name: str, rows: Sequence[Record], copy: float) -> list[str]:
    """Return a line of the table for rows that are told together."""

    def mean(values: Iterable[float]) -> str:
        return number(geometric_mean(values))

    ratios = [
        mean(row["ratios"][peer] for row in rows if peer in row["ratios"])
        for peer in (EAGER, TF32, COMPILED)
    ]
    return [
        name,
        mean(row["seconds"] * 1e6 for row in rows),
        mean(row["by events"] * 1e6 for row in rows),
        mean(row["predicted"] / row["seconds"] for row in rows),
        mean(row["bytes"] / row["seconds"] / copy for row in rows) if copy else "-",
        mean(row["flops"] / row["seconds"] / 1e12 for row in rows if row["flops"]),
        *ratios,
    ]


TITLES = ["", "us", "by events", "predicted", "of copy", "TFLOP/s"]
TITLES += ["eager", "TF32", "compile"]


def slowest(row: Record) -> float:
    """Return the smallest ratio to a peer of the same arithmetic."""
    return min((r for peer, r in row["ratios"].items() if peer != TF32), default=math.inf)


def rate_lines(records: list[Record]) -> list[str]:
    """Return floors, all groups, and rows that are slow."""
    lines: list[str] = []
    floors = [r for r in records if r["part"] == "peers" and "floor" in r]
    copy: float = 0.0
    for record in records:
        copy = record.get("device", {}).get("copy bytes per second", copy)
    for floor in floors:
        rate = floor.get("flops per second") or floor.get("bytes per second")
        said = floor.get("error", "")
        if rate:
            said = f"{rate / 1e12:.3g} T/s in {floor['seconds'] * 1e6:.0f} us"
        lines.append(f"  {floor['floor']}: {said}")
        if not copy:
            copy = floor.get("bytes per second", copy)
    rows = timed(records)
    if rows:
        lines += ["", "Ratios are a peer's time over ours: above 1, ours is faster."]
        lines += ["(h): the host's routines are in it. Means are geometric, predicted is of ours."]
        lines += ["(c): cold, as memory bounds it: the second cache has nothing of its inputs."]
        lines += group_table(rows, copy)
        lines += cold_lines(records, rows)
        compared = sorted((row for row in rows if row["ratios"]), key=slowest)
        told = compared[:MOST_SLOW] + compared[MOST_SLOW:][-5:]
        body = [cells(title(row), [row], copy) for row in told]
        if body:
            lines += ["", "The slowest beside peers, then the fastest"]
            lines += aligned([TITLES, *body])
    errors = [r for r in records if r["part"] == "rates" and "error" in r]
    if errors:
        lines += ["", f"Not timed: {len(errors)}"]
        lines += [f"  {title(record)}: {record['error']}" for record in errors[:MOST_WRONG]]
    for part in ("peers", "compiled", "beside"):
        reasons = Counter(r["error"][:90] for r in records if r["part"] == part and "error" in r)
        lines += [f"  {part}, {count}: {reason}" for reason, count in reasons.most_common(3)]
    return lines


def group_table(rows: Sequence[Record], copy: float) -> list[str]:
    """Return a line for each group."""
    groups: dict[str, list[Record]] = {}
    for row in rows:
        groups.setdefault(WORKLOADS[row["workload"]].group, []).append(row)
    body = [cells(group_title(group, rows), rows, copy) for group, rows in groups.items()]
    return aligned([TITLES, *body])


def group_title(group: str, rows: Sequence[Record]) -> str:
    """Return a group, and how many rows it has, in all and cold."""
    count = sum(row["is cold"] for row in rows)
    return f"{group}, {len(rows)}" + (f", {count}{COLD_MARK}" if count else "")


def cold_lines(records: list[Record], rows: Sequence[Record]) -> list[str]:
    """Return what the second cache changes, and triton's measure beside ours."""
    lines = []
    if cold := [row for row in rows if row["is cold"]]:
        ours = number(geometric_mean(row["seconds"] / row["warm"] for row in cold))
        theirs = [r for r in records if r.get("peer") == EAGER and "cold" in r]
        eager = number(geometric_mean(r["cold"] / r["seconds"] for r in theirs))
        told = f"{len(cold)} of {len(rows)} rows are cold{COLD_MARK}; times cold over warm: "
        lines.append(told + f"ours {ours}, eager {eager}")
    reasons = Counter(str(r["cold error"])[:90] for r in records if "cold error" in r)
    lines += [f"  not cold, {count}: {reason}" for reason, count in reasons.most_common(3)]
    checked = [r for r in records if "triton" in r or "triton error" in r]
    body = [["triton.testing.do_bench of eager, us", "triton", "CUPTI cold", "CUPTI warm", "ratio"]]
    for record in checked:
        if "triton error" in record:
            lines.append(f"  no do_bench of {title(record)}: {record['triton error']}")
            continue
        mine = record.get("cold", record["seconds"])
        times = (record["triton"], record.get("cold"), record["seconds"])
        shown = [number(time * 1e6) if time else "-" for time in times]
        body.append([title(record), *shown, number(record["triton"] / mine)])
    lines += aligned(body) if len(body) > 1 else []
    return ["", *lines] if lines else []


def test_lines(records: list[Record]) -> list[str]:
    """Return what tests said."""
    if not records:
        return []
    rows = [["tests", "passed", "failed", "finished"]]
    told: list[Any] = []
    for record in records:
        counts = [str(record.get(key, "-")) for key in ("passed", "failed", "finished")]
        rows.append([record["file"], *counts])
        told.append(" ".join([*record.get("first", []), *record.get("why", [])]))
        told[-1] = told[-1] or record.get("error", "")
    head, *body = aligned(rows)
    return ["", head, *(f"{line}  {why}" for line, why in zip(body, told, strict=True))]
