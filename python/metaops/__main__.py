# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command line: ``python -m metaops {info,cache {info,clear,prune},calibrate}``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from . import _session, cache  # noqa: F401 (what is measured needs a session)
from .tools import calibration


def parse_bytes(text: str) -> int:
    """Return a number of bytes, given as in "1000000", "500M" or "2G".

    Raises
    ------
    ValueError
        If the text is no such number, or a negative one.
    """
    units = {"k": 2**10, "m": 2**20, "g": 2**30}
    unit = units.get(text[-1:].lower())
    count = int(text[:-1]) * unit if unit else int(text)
    if count < 0:
        raise ValueError(text)
    return count


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    parser = argparse.ArgumentParser(prog="python -m metaops")
    commands = parser.add_subparsers(dest="command", metavar="command")
    about = "say what a report of a bug needs: versions, processor, devices, settings"
    commands.add_parser("info", help=about, description=about)
    about_cache = "look after the folder of compiled code"
    actions = commands.add_parser("cache", help=about_cache, description=about_cache)
    subcommands = actions.add_subparsers(dest="action", required=True, metavar="action")
    for name, about in (
        ("info", "say what the folder holds"),
        ("clear", "remove all compiled code"),
        ("prune", "remove what was used least recently, and what killed processes left"),
    ):
        action = subcommands.add_parser(name, help=about, description=about)
        action.add_argument("--dir", help="the folder; by default the one that sessions use")
        if name == "prune":
            action.add_argument(
                "--max-bytes",
                type=parse_bytes,
                default=cache.DEFAULT_MAX_BYTES,
                metavar="N",
                help="how much may stay, as 1000000, 500M or 2G; by default 1G",
            )
    about = "measure this machine, for predictions of time"
    command = commands.add_parser("calibrate", help=about, description=about)
    command.add_argument("--dir", help="the folder that keeps the figures")
    return parser


def calibrate(folder: str) -> None:
    """Measure the machine, keep the figures, and print them."""
    figures = calibration.calibrate()
    print("GB/s from L1, L2, L3 and memory:", *(f"{rate:.1f}" for rate in figures["bandwidth"]))
    for name, time in figures["nanoseconds"].items():
        print(f"{name:14} {time:7.3f} ns")
    print(f"{'call':14} {figures['call_nanoseconds']:7.0f} ns")
    print(f"kept in {calibration.save(figures, folder)}")


def print_machine() -> None:
    """Print what there is of everything that a result may depend on."""
    from .tools._about import describe_machine

    rows = describe_machine()
    width = max(len(name) for name, _ in rows)
    for name, text in rows:
        print(f"{name:{width}}  {text}")


def describe(usage: cache.CacheUsage) -> str:
    """Return what a folder holds as a text."""
    text = f"{usage.programs:,} programs, {usage.kernels:,} kernels"
    if usage.libraries:
        text += f", {usage.libraries:,} libraries of code"
    if usage.temporaries:
        text += f", {usage.temporaries:,} unfinished files"
    return f"{text}, {usage.bytes:,} bytes"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return the process's exit code."""
    parser = make_parser()
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help()
        return 0
    if options.command == "info":
        print_machine()
        return 0
    folder = options.dir or cache.default_directory()
    if not folder:
        print("off: METAOPS_CACHE_DIR is empty")
        return 0
    try:
        if options.command == "calibrate":
            calibrate(folder)
        elif options.action == "info":
            usage = cache.info(folder)
            print(f"{folder}: {describe(usage)}")
        elif options.action == "clear":
            print(f"{folder}: removed {describe(cache.clear(folder))}")
        else:
            print(f"{folder}: removed {describe(cache.prune(options.max_bytes, folder))}")
    except RuntimeError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def run() -> int:
    """Run the process's command; end quietly where nobody reads its output any more."""
    try:
        try:
            return main()
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # Buffered text would be written, and fail, once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


if __name__ == "__main__":
    sys.exit(run())
