# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Written by test/python/public_names.py.
"""The names of the package, for type checkers."""

from ... import append as append
from ... import array_split as array_split
from ... import atleast_1d as atleast_1d
from ... import atleast_2d as atleast_2d
from ... import atleast_3d as atleast_3d
from ... import block as block
from ... import block_diag as block_diag
from ... import broadcast_arrays as broadcast_arrays
from ... import broadcast_shapes as broadcast_shapes
from ... import broadcast_to as broadcast_to
from ... import cartesian_prod as cartesian_prod
from ... import cat as cat
from ... import column_stack as column_stack
from ... import combinations as combinations
from ... import concat as concat
from ... import concatenate as concatenate
from ... import delete as delete
from ... import diag as diag
from ... import diag_embed as diag_embed
from ... import diagflat as diagflat
from ... import diagonal as diagonal
from ... import dsplit as dsplit
from ... import dstack as dstack
from ... import expand_dims as expand_dims
from ... import eye as eye
from ... import flatten as flatten
from ... import flip as flip
from ... import fliplr as fliplr
from ... import flipud as flipud
from ... import hsplit as hsplit
from ... import hstack as hstack
from ... import identity as identity
from ... import insert as insert
from ... import moveaxis as moveaxis
from ... import pad as pad
from ... import permute as permute
from ... import permute_dims as permute_dims
from ... import ravel as ravel
from ... import repeat as repeat
from ... import repeat_interleave as repeat_interleave
from ... import reshape as reshape
from ... import resize as resize
from ... import roll as roll
from ... import rot90 as rot90
from ... import sliding_window_view as sliding_window_view
from ... import split as split
from ... import squeeze as squeeze
from ... import stack as stack
from ... import swapaxes as swapaxes
from ... import tile as tile
from ... import trace as trace
from ... import transpose as transpose
from ... import tri as tri
from ... import tril as tril
from ... import tril_indices as tril_indices
from ... import trim_zeros as trim_zeros
from ... import triu as triu
from ... import triu_indices as triu_indices
from ... import unbind as unbind
from ... import unflatten as unflatten
from ... import unsqueeze as unsqueeze
from ... import unstack as unstack
from ... import vsplit as vsplit
from ... import vstack as vstack

__all__ = [
    "append",
    "array_split",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "block",
    "block_diag",
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "cartesian_prod",
    "cat",
    "column_stack",
    "combinations",
    "concat",
    "concatenate",
    "delete",
    "diag",
    "diag_embed",
    "diagflat",
    "diagonal",
    "dsplit",
    "dstack",
    "expand_dims",
    "eye",
    "flatten",
    "flip",
    "fliplr",
    "flipud",
    "hsplit",
    "hstack",
    "identity",
    "insert",
    "moveaxis",
    "pad",
    "permute",
    "permute_dims",
    "ravel",
    "repeat",
    "repeat_interleave",
    "reshape",
    "resize",
    "roll",
    "rot90",
    "sliding_window_view",
    "split",
    "squeeze",
    "stack",
    "swapaxes",
    "tile",
    "trace",
    "transpose",
    "tri",
    "tril",
    "tril_indices",
    "trim_zeros",
    "triu",
    "triu_indices",
    "unbind",
    "unflatten",
    "unsqueeze",
    "unstack",
    "vsplit",
    "vstack",
]
