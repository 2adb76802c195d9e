# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes tensors.pt, which test_others_files.py reads: with PyTorch, which tests do not have."""

from pathlib import Path

import numpy as np
import torch


def main() -> None:
    """Write the file beside this one."""
    x = torch.arange(12.0).reshape(3, 4)
    model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3))
    with torch.no_grad():
        model[0].weight.copy_(x * 0.5 - 2)
        model[0].bias.copy_(torch.tensor([1.0, -2.0, 3.0]))
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
    value = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "x": x,
        "same": x,
        "transposed": x.t(),
        "view": x[1:, 2:],
        "expanded": torch.ones(1).expand(5),
        "bfloat16": x.bfloat16(),
        "float16": x.half(),
        "bool": x > 3,
        "int8": torch.tensor([1, -2], dtype=torch.int8),
        "uint16": torch.tensor([1, 65535], dtype=torch.uint16),
        "scalar": torch.tensor(3.5),
        "empty": torch.zeros(0, 3),
        "parameter": torch.nn.Parameter(x),
        "epoch": 7,
        "rate": 0.1,
        "name": "é",
        "list": [1, (2, 3), None, True],
        "size": x.shape,
        "dtype": torch.float32,
        "device": torch.device("cpu"),
        "set": {1, 2},
        "number": np.float64(2.5),
    }
    torch.save(value, Path(__file__).with_name("tensors.pt"))


if __name__ == "__main__":
    main()
