# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Neural collaborative filtering: who may like what.

He et al., "Neural Collaborative Filtering", 2017, section 3.4 (NeuMF). Names of parameters are
those of guoyang9's NCF.
"""

from __future__ import annotations

from .. import nn
from .._core import Var
from ..ops.shape.stacking import concat
from .checks import check_counts

__all__ = ["NCF"]


class NCF(nn.Module):
    """Products of factors, and a perceptron of others, together give a score.

    Parameters
    ----------
    users, items
        How many there are.
    factors
        Of each user and item, for the products, and the width of the perceptron's last layer.
    num_layers
        Of the perceptron, each half as wide as what it gets.
    dropout
        The probability of `Dropout` before each of its layers.
    """

    def __init__(
        self, users: int, items: int, factors: int = 32, num_layers: int = 3, dropout: float = 0.0
    ) -> None:
        check_counts("NCF", users=users, items=items, factors=factors, num_layers=num_layers)
        wide = factors << (num_layers - 1)
        self.embed_user_GMF = nn.Embedding(users, factors)
        self.embed_item_GMF = nn.Embedding(items, factors)
        self.embed_user_MLP = nn.Embedding(users, wide)
        self.embed_item_MLP = nn.Embedding(items, wide)
        layers: list[nn.Module] = []
        for number in range(num_layers):
            width = 2 * wide >> number
            layers += [nn.Dropout(dropout), nn.Linear(width, width // 2), nn.ReLU()]
        self.MLP_layers = nn.Sequential(layers)
        self.predict_layer = nn.Linear(2 * factors, 1)
        for layer in self.modules():
            if isinstance(layer, nn.Embedding):
                layer.weight = nn.init.normal(layer.weight.shape, std=0.01)

    def execute(self, user: Var, item: Var) -> Var:
        """Return the scores of pairs, (N,) each: logits of a user's liking an item."""
        products = self.embed_user_GMF(user) * self.embed_item_GMF(item)
        both = concat([self.embed_user_MLP(user), self.embed_item_MLP(item)], -1)
        return self.predict_layer(concat([products, self.MLP_layers(both)], -1)).flatten()
