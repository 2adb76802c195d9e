# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of `metaops.models` that no package of PyTorch has, written with PyTorch's modules.

make_model_references.py runs them, beside torchvision's, timm's and transformers'.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import torch
from torch import Tensor, nn


def _double(inputs: int, outputs: int) -> nn.ModuleDict:
    layers: list[nn.Module] = []
    for channels in (inputs, outputs):
        layers.append(nn.Conv2d(channels, outputs, 3, padding=1, bias=False))
        layers += [nn.BatchNorm2d(outputs), nn.ReLU()]
    return nn.ModuleDict({"double_conv": nn.Sequential(*layers)})


def _down(inputs: int, outputs: int) -> nn.ModuleDict:
    layers = [nn.MaxPool2d(2), _double(inputs, outputs)]
    return nn.ModuleDict({"maxpool_conv": nn.ModuleList(layers)})


def _up(inputs: int, outputs: int) -> nn.ModuleDict:
    up = nn.ConvTranspose2d(inputs, inputs // 2, 2, stride=2)
    return nn.ModuleDict({"up": up, "conv": _double(inputs, outputs)})


class UNet(nn.Module):
    """Ronneberger et al. (2015), as milesial's Pytorch-UNet has it."""

    def __init__(self, channels: int, classes: int, width: int) -> None:
        super().__init__()
        self.inc = _double(channels, width)
        for number in range(4):
            self.add_module(f"down{number + 1}", _down(width << number, width << (number + 1)))
        for number in range(4):
            inner = width << (4 - number)
            self.add_module(f"up{number + 1}", _up(inner, inner // 2))
        self.outc = nn.ModuleDict({"conv": nn.Conv2d(width, classes, 1)})

    def forward(self, x: Tensor) -> Tensor:
        """Return the scores of pixels."""
        seen = [self.inc["double_conv"](x)]
        for number in range(4):
            pool, double = getattr(self, f"down{number + 1}")["maxpool_conv"]
            seen.append(double["double_conv"](pool(seen[-1])))
        y = seen.pop()
        for number in range(4):
            parts, beside = getattr(self, f"up{number + 1}"), seen.pop()
            y = parts["up"](y)
            h, w = (have - own for have, own in zip(beside.shape[2:], y.shape[2:], strict=True))
            y = nn.functional.pad(y, (w // 2, w - w // 2, h // 2, h - h // 2))
            y = parts["conv"]["double_conv"](torch.cat([beside, y], 1))
        return self.outc["conv"](y)


def dcgan_generator(noise: int, features: int, channels: int, stages: int) -> nn.Module:
    """Return the generator of PyTorch's example of DCGAN, of fewer stages."""
    width = features << (stages - 1)
    layers: list[nn.Module] = [nn.ConvTranspose2d(noise, width, 4, bias=False)]
    for _ in range(stages - 1):
        layers += [nn.BatchNorm2d(width), nn.ReLU()]
        layers.append(nn.ConvTranspose2d(width, width // 2, 4, 2, 1, bias=False))
        width //= 2
    last = nn.ConvTranspose2d(width, channels, 4, 2, 1, bias=False)
    return _Main(nn.Unflatten(1, (noise, 1, 1)), *layers, nn.BatchNorm2d(width), nn.ReLU(), last)


class _Main(nn.Module):
    """DCGAN's networks: `main`, after another layer."""

    def __init__(self, first: nn.Module, *layers: nn.Module) -> None:
        super().__init__()
        self.first = first
        self.main = nn.Sequential(*layers)

    def forward(self, x: Tensor) -> Tensor:
        """Return images, or scores."""
        y = self.main(self.first(x))
        return torch.tanh(y) if x.ndim == 2 else y.flatten()


def dcgan_discriminator(features: int, channels: int, stages: int) -> nn.Module:
    """Return the discriminator of PyTorch's example of DCGAN, of fewer stages."""
    width = features
    layers: list[nn.Module] = [nn.Conv2d(channels, width, 4, 2, 1, bias=False), nn.LeakyReLU(0.2)]
    for _ in range(stages - 1):
        layers.append(nn.Conv2d(width, 2 * width, 4, 2, 1, bias=False))
        layers += [nn.BatchNorm2d(2 * width), nn.LeakyReLU(0.2)]
        width *= 2
    return _Main(nn.Identity(), *layers, nn.Conv2d(width, 1, 4, bias=False))


class LSGANGenerator(nn.Module):
    """PyTorch-GAN's."""

    def __init__(self, noise: int, size: int) -> None:
        super().__init__()
        self.size = size // 4
        self.l1 = nn.Sequential(nn.Linear(noise, 128 * self.size**2))
        layers: list[nn.Module] = []
        for outputs in (128, 64):
            layers += [nn.Upsample(scale_factor=2), nn.Conv2d(128, outputs, 3, 1, 1)]
            layers += [nn.BatchNorm2d(outputs, 0.8), nn.LeakyReLU(0.2)]
        self.conv_blocks = nn.Sequential(*layers, nn.Conv2d(64, 1, 3, 1, 1), nn.Tanh())

    def forward(self, x: Tensor) -> Tensor:
        """Return images."""
        return self.conv_blocks(self.l1(x).view(len(x), 128, self.size, self.size))


class LSGANDiscriminator(nn.Module):
    """PyTorch-GAN's."""

    def __init__(self, size: int) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for inputs, outputs in ((1, 16), (16, 32), (32, 64), (64, 128)):
            layers += [nn.Conv2d(inputs, outputs, 3, 2, 1), nn.LeakyReLU(0.2), nn.Dropout2d(0.0)]
            layers += [nn.BatchNorm2d(outputs, 0.8)] if inputs > 1 else []
        self.model = nn.Sequential(*layers)
        self.adv_layer = nn.Linear(128 * (size // 16) ** 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Return scores."""
        return self.adv_layer(self.model(x).flatten(1)).flatten()


class WGANGenerator(nn.Module):
    """PyTorch-GAN's."""

    def __init__(self, noise: int, shape: tuple[int, ...]) -> None:
        super().__init__()
        self.shape = shape
        layers: list[nn.Module] = [nn.Linear(noise, 128), nn.LeakyReLU(0.2)]
        for width in (128, 256, 512):
            layers += [nn.Linear(width, 2 * width), nn.BatchNorm1d(2 * width, 0.8)]
            layers.append(nn.LeakyReLU(0.2))
        self.model = nn.Sequential(*layers, nn.Linear(1024, math.prod(shape)), nn.Tanh())

    def forward(self, x: Tensor) -> Tensor:
        """Return images."""
        return self.model(x).view(len(x), *self.shape)


class CriticLoss(nn.Module):
    """The loss of PyTorch-GAN's critic with a gradient penalty."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        super().__init__()
        extents = (math.prod(shape), 512, 256, 1)
        layers: list[nn.Module] = []
        for inputs, outputs in itertools.pairwise(extents):
            layers += [nn.Linear(inputs, outputs), nn.LeakyReLU(0.2)]
        self.critic = nn.ModuleDict({"model": nn.Sequential(*layers[:-1])})

    def _scores(self, x: Tensor) -> Tensor:
        return self.critic["model"](x.flatten(1))

    def forward(self, real: Tensor, fake: Tensor, share: Tensor) -> Tensor:
        """Return the loss of a batch."""
        share = share.view(-1, 1, 1, 1)
        with torch.enable_grad():
            between = (share * fake + (1 - share) * real).requires_grad_()
            scores = self._scores(between)
            (slope,) = torch.autograd.grad(scores.sum(), between, create_graph=True)
        penalty = ((slope.flatten(1).norm(2, dim=1) - 1) ** 2).mean()
        return self._scores(fake).mean() - self._scores(real).mean() + 10 * penalty


class Seq2Seq(nn.Module):
    """Luong et al. (2015), global attention with the score "general"."""

    def __init__(self, tokens: int, width: int, layers: int) -> None:
        super().__init__()
        self.source, self.target = nn.Embedding(tokens, width), nn.Embedding(tokens, width)
        self.encoder = nn.LSTM(width, width, layers, batch_first=True)
        self.decoder = nn.LSTM(width, width, layers, batch_first=True)
        self.score = nn.Linear(width, width, bias=False)
        self.combine = nn.Linear(2 * width, width, bias=False)
        self.head = nn.Linear(width, tokens)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Return the scores of the tokens after those of targets."""
        read, state = self.encoder(self.source(source))
        states, _ = self.decoder(self.target(target), state)
        weights = torch.einsum("ntw,nsw->nts", self.score(states), read).softmax(2)
        context = torch.einsum("nts,nsw->ntw", weights, read)
        return self.head(torch.tanh(self.combine(torch.cat([context, states], 2))))


class NCF(nn.Module):
    """He et al. (2017), NeuMF, as guoyang9's NCF has it."""

    def __init__(self, users: int, items: int, factors: int, layers: int) -> None:
        super().__init__()
        wide = factors * 2 ** (layers - 1)
        self.embed_user_GMF = nn.Embedding(users, factors)
        self.embed_item_GMF = nn.Embedding(items, factors)
        self.embed_user_MLP = nn.Embedding(users, wide)
        self.embed_item_MLP = nn.Embedding(items, wide)
        modules: list[nn.Module] = []
        for number in range(layers):
            width = factors * 2 ** (layers - number)
            modules += [nn.Dropout(0.0), nn.Linear(width, width // 2), nn.ReLU()]
        self.MLP_layers = nn.Sequential(*modules)
        self.predict_layer = nn.Linear(2 * factors, 1)

    def forward(self, user: Tensor, item: Tensor) -> Tensor:
        """Return the scores of pairs."""
        products = self.embed_user_GMF(user) * self.embed_item_GMF(item)
        both = torch.cat((self.embed_user_MLP(user), self.embed_item_MLP(item)), -1)
        return self.predict_layer(torch.cat((products, self.MLP_layers(both)), -1)).view(-1)


class VAE(nn.Module):
    """PyTorch's example, with noise that is given."""

    def __init__(self, inputs: int, hidden: int, latent: int) -> None:
        super().__init__()
        self.fc1 = nn.Linear(inputs, hidden)
        self.fc21, self.fc22 = nn.Linear(hidden, latent), nn.Linear(hidden, latent)
        self.fc3, self.fc4 = nn.Linear(latent, hidden), nn.Linear(hidden, inputs)

    def forward(self, x: Tensor, noise: Tensor) -> Any:
        """Return logits, means and logarithms of variances."""
        hidden = torch.relu(self.fc1(x))
        mean, log_variance = self.fc21(hidden), self.fc22(hidden)
        z = mean + noise * torch.exp(0.5 * log_variance)
        return self.fc4(torch.relu(self.fc3(z))), mean, log_variance


class _Resnet(nn.Module):
    """A block of CycleGAN's generator."""

    def __init__(self, width: int) -> None:
        super().__init__()
        half = [nn.ReflectionPad2d(1), nn.Conv2d(width, width, 3), nn.InstanceNorm2d(width)]
        rest = [nn.ReflectionPad2d(1), nn.Conv2d(width, width, 3), nn.InstanceNorm2d(width)]
        self.conv_block = nn.Sequential(*half, nn.ReLU(), *rest)

    def forward(self, x: Tensor) -> Tensor:
        """Return the block's image."""
        return x + self.conv_block(x)


class CycleGANGenerator(nn.Module):
    """Zhu et al. (2017), as junyanz's pytorch-CycleGAN-and-pix2pix has it."""

    def __init__(self, inputs: int, outputs: int, width: int, blocks: int) -> None:
        super().__init__()

        def norm(channels: int) -> list[nn.Module]:
            return [nn.InstanceNorm2d(channels), nn.ReLU()]

        layers = [nn.ReflectionPad2d(3), nn.Conv2d(inputs, width, 7), *norm(width)]
        layers += [nn.Conv2d(width, 2 * width, 3, 2, 1), *norm(2 * width)]
        layers += [nn.Conv2d(2 * width, 4 * width, 3, 2, 1), *norm(4 * width)]
        layers += [_Resnet(4 * width) for _ in range(blocks)]
        layers += [nn.ConvTranspose2d(4 * width, 2 * width, 3, 2, 1, 1), *norm(2 * width)]
        layers += [nn.ConvTranspose2d(2 * width, width, 3, 2, 1, 1), *norm(width)]
        layers += [nn.ReflectionPad2d(3), nn.Conv2d(width, outputs, 7), nn.Tanh()]
        self.model = nn.Sequential(*layers)

    def forward(self, x: Tensor) -> Tensor:
        """Return images of the other kind."""
        return self.model(x)


class CycleGANDiscriminator(nn.Module):
    """NLayerDiscriminator of the same, with three layers."""

    def __init__(self, channels: int, width: int) -> None:
        super().__init__()
        layers: list[nn.Module] = [nn.Conv2d(channels, width, 4, 2, 1), nn.LeakyReLU(0.2)]
        for inputs, stride in ((width, 2), (2 * width, 2), (4 * width, 1)):
            layers.append(nn.Conv2d(inputs, 2 * inputs, 4, stride, 1))
            layers += [nn.InstanceNorm2d(2 * inputs), nn.LeakyReLU(0.2)]
        self.model = nn.Sequential(*layers, nn.Conv2d(8 * width, 1, 4, 1, 1))

    def forward(self, x: Tensor) -> Tensor:
        """Return the scores of patches."""
        return self.model(x)


def _points(inputs: int, *outputs: int) -> dict[str, nn.Module]:
    layers: dict[str, nn.Module] = {}
    for number, width in enumerate(outputs, 1):
        layers[f"conv{number}"] = nn.Conv1d(inputs, width, 1)
        layers[f"bn{number}"] = nn.BatchNorm1d(width)
        inputs = width
    return layers


class _TNet(nn.ModuleDict):
    """A network of PointNet that gives a matrix."""

    def __init__(self, k: int) -> None:
        super().__init__(_points(k, 64, 128, 1024))
        self.k = k
        self.fc1, self.fc2, self.fc3 = (
            nn.Linear(*extents) for extents in ((1024, 512), (512, 256), (256, k * k))
        )
        self.bn4, self.bn5 = nn.BatchNorm1d(512), nn.BatchNorm1d(256)

    def forward(self, x: Tensor) -> Tensor:
        """Return matrices."""
        for number in (1, 2, 3):
            x = torch.relu(self[f"bn{number}"](self[f"conv{number}"](x)))
        x = x.max(2).values
        x = torch.relu(self.bn4(self.fc1(x)))
        x = torch.relu(self.bn5(self.fc2(x)))
        return self.fc3(x).view(-1, self.k, self.k) + torch.eye(self.k, dtype=x.dtype)


class _Features(nn.ModuleDict):
    """PointNet's features of a set, which are turned."""

    def __init__(self) -> None:
        super().__init__({"stn": _TNet(3), **_points(3, 64, 128, 1024), "fstn": _TNet(64)})

    def forward(self, x: Tensor) -> Tensor:
        """Return the features."""
        x = torch.bmm(x.transpose(2, 1), self["stn"](x)).transpose(2, 1)
        x = torch.relu(self["bn1"](self["conv1"](x)))
        x = torch.bmm(x.transpose(2, 1), self["fstn"](x)).transpose(2, 1)
        x = torch.relu(self["bn2"](self["conv2"](x)))
        return self["bn3"](self["conv3"](x)).max(2).values


class PointNet(nn.Module):
    """Qi et al. (2017), as fxia22's pointnet.pytorch has it, without the last softmax."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.feat = _Features()
        self.fc1, self.fc2 = nn.Linear(1024, 512), nn.Linear(512, 256)
        self.fc3 = nn.Linear(256, classes)
        self.bn1, self.bn2 = nn.BatchNorm1d(512), nn.BatchNorm1d(256)

    def forward(self, x: Tensor) -> Tensor:
        """Return the scores of sets of points."""
        x = torch.relu(self.bn1(self.fc1(self.feat(x))))
        return self.fc3(torch.relu(self.bn2(self.fc2(x))))
