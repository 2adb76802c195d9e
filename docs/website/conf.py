# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Settings of Sphinx for the website, which script/website builds."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from pages import INDEX, list_groups, list_pages, write_contents

project = "MetaOps"
copyright = "the authors of MetaOps"
html_title = "MetaOps"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "README"
include_patterns = [*list_pages(), "reference/*.rst"]
html_theme = "furo"
html_show_sphinx = False
html_copy_source = False

# Headings are linked to by the names that viewers of Markdown give them.
myst_heading_anchors = 6
myst_enable_extensions = ["dollarmath"]

# A name in a docstring's backticks is a link where the reference has it.
default_role = "py:obj"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
add_module_names = False
# TableGen and MLIR have no lexers; `bytes` is a type and a name of attributes.
suppress_warnings = ["misc.highlighting_failure", "ref.python"]


def add_contents(app, name: str, source: list[str]) -> None:
    """Append the table of contents to the first page: the index's groups."""
    if name == root_doc:
        source[0] += write_contents(list_groups(INDEX))


def setup(app) -> None:
    """Connect what the pages need beside the settings."""
    app.connect("source-read", add_contents)
