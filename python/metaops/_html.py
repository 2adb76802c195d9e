# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rich results of a notebook's cells: a line of text, and small tables below it.

Whatever has such a result has a method ``_repr_html_``, which returns `page`. All text is
escaped, and how it looks is the notebook's matter: there are no styles and no attributes.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["page", "preformatted", "table"]

#: Longer tables end with a row that says how many are left out.
_MOST_ROWS = 100


def _element(tag: str, text: str) -> str:
    import html  # which no process needs that shows nothing

    return f"<{tag}>{html.escape(text)}</{tag}>"


def _row(cells: Sequence[str], tag: str) -> str:
    return f"<tr>{''.join(_element(tag, cell) for cell in cells)}</tr>"


def table(rows: Sequence[Sequence[str]], heads: Sequence[str] = ()) -> str:
    """Return a table of cells, below heads if there are any."""
    shown = [_row(heads, "th")] if heads else []
    shown += [_row(row, "td") for row in rows[:_MOST_ROWS]]
    if len(rows) > _MOST_ROWS:
        shown.append(_row([f"and {len(rows) - _MOST_ROWS} more"], "td"))
    return f"<table>{''.join(shown)}</table>"


def preformatted(text: str) -> str:
    """Return text whose lines and spaces stay."""
    return _element("pre", text)


def page(title: str, *parts: str) -> str:
    """Return a line of text with tables, or what else there is in HTML, below it."""
    return f"<div>{_element('p', title)}{''.join(parts)}</div>"
