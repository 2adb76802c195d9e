# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of the literature, with the names that others' files of weights have."""

from .. import _session  # noqa: F401 (parts of it need all of a session)
from ..compat._names import publish as _publish
from .adversarial import (
    adversarial_loss,
    gradient_penalty,
    least_squares_loss,
    wasserstein_critic_loss,
    wasserstein_loss,
)
from .alexnet import AlexNet, alexnet
from .bert import BertModel, BertOutput, bert_base
from .cyclegan import CycleGANDiscriminator, CycleGANGenerator, cycle_consistency_loss
from .dcgan import DCGANDiscriminator, DCGANGenerator
from .ddpm import DDPMUNet
from .densenet import DenseNet, densenet121
from .diffusion import GaussianDiffusion
from .efficientnet import EfficientNet, efficientnet_b0
from .gpt2 import GPT2LMHeadModel, gpt2
from .lsgan import LSGANDiscriminator, LSGANGenerator
from .mobilenet import MobileNetV2, mobilenet_v2
from .ncf import NCF
from .pointnet import PointNet, PointNetOutput, feature_transform_loss
from .res2net import Bottle2neck, res2net50_26w_4s
from .resnet import (
    BasicBlock,
    Bottleneck,
    ResNet,
    resnet18,
    resnet34,
    resnet50,
    resnet101,
    resnet152,
    resnext50_32x4d,
    resnext101_32x8d,
    wide_resnet50_2,
    wide_resnet101_2,
)
from .seq2seq import Seq2Seq
from .squeezenet import SqueezeNet, squeezenet1_0, squeezenet1_1
from .unet import UNet, unet
from .vae import VAE, VAEOutput, vae_loss
from .vgg import VGG, vgg11, vgg11_bn, vgg13, vgg13_bn, vgg16, vgg16_bn, vgg19, vgg19_bn
from .vit import VisionTransformer, vit_b_16
from .wgan_gp import WGANCritic, WGANGenerator

__all__ = [
    "AlexNet",
    "BasicBlock",
    "BertModel",
    "BertOutput",
    "Bottle2neck",
    "Bottleneck",
    "CycleGANDiscriminator",
    "CycleGANGenerator",
    "DCGANDiscriminator",
    "DCGANGenerator",
    "DDPMUNet",
    "DenseNet",
    "EfficientNet",
    "GPT2LMHeadModel",
    "GaussianDiffusion",
    "LSGANDiscriminator",
    "LSGANGenerator",
    "MobileNetV2",
    "NCF",
    "PointNet",
    "PointNetOutput",
    "ResNet",
    "Seq2Seq",
    "SqueezeNet",
    "UNet",
    "VAE",
    "VAEOutput",
    "VGG",
    "VisionTransformer",
    "WGANCritic",
    "WGANGenerator",
    "adversarial_loss",
    "alexnet",
    "bert_base",
    "cycle_consistency_loss",
    "densenet121",
    "efficientnet_b0",
    "feature_transform_loss",
    "gpt2",
    "gradient_penalty",
    "least_squares_loss",
    "mobilenet_v2",
    "res2net50_26w_4s",
    "resnet101",
    "resnet152",
    "resnet18",
    "resnet34",
    "resnet50",
    "resnext101_32x8d",
    "resnext50_32x4d",
    "squeezenet1_0",
    "squeezenet1_1",
    "unet",
    "vae_loss",
    "vgg11",
    "vgg11_bn",
    "vgg13",
    "vgg13_bn",
    "vgg16",
    "vgg16_bn",
    "vgg19",
    "vgg19_bn",
    "vit_b_16",
    "wasserstein_critic_loss",
    "wasserstein_loss",
    "wide_resnet101_2",
    "wide_resnet50_2",
]

_publish(vars(), __all__)
