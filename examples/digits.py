# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a small CNN on scikit-learn's handwritten digits and draws the result.

1,797 images of 8 x 8 pixels: two thirds to train with, one third held out. The
exit code says whether 97% of the held-out images were recognised.
"""

import argparse
import sys
import time

import matplotlib
import metaops as mo
import numpy as np
from metaops import nn
from sklearn.datasets import load_digits
from tqdm import trange

GOAL = 0.97


def make_model():
    return mo.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(32 * 2 * 2, 10),
    )


def split_digits(seed):
    """Return training and held-out images and labels, shuffled."""
    digits = load_digits()
    order = np.random.default_rng(seed).permutation(len(digits.target))
    images = (digits.images[order, None] / 16).astype("float32")
    labels = digits.target[order].astype("int32")
    count = len(order) * 2 // 3
    return images[:count], labels[:count], images[count:], labels[count:]


def train(model, images, labels, epochs, batch, rng):
    """Train; return the loss of every step, the seconds of every epoch, and programs."""
    optimizer = mo.optim.Adam(model.parameters(), lr=5e-3)
    schedule = mo.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs, eta_min=1e-4)
    losses, seconds = [], []
    progress = trange(epochs, desc="training", unit="epoch")
    for _ in progress:
        begin = time.perf_counter()
        order = rng.permutation(len(images))
        x, y = mo.array(images[order]), mo.array(labels[order])
        for i in range(0, len(images) - batch + 1, batch):
            loss = nn.cross_entropy_loss(model(x[i : i + batch]), y[i : i + batch])
            # The value arrives when the step has run; nothing waits for it here.
            loss.fetch(lambda value: losses.append(value.item()))
            optimizer.step(loss)
        mo.sync_all()
        schedule.step()
        seconds.append(time.perf_counter() - begin)
        progress.set_postfix(loss=f"{np.mean(losses[-len(images) // batch :]):.4f}")
    return losses, seconds


def draw(path, losses, images, labels, predictions, accuracy):
    """Save the loss curve and twelve held-out images with their predictions."""
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subfigures(1, 2)
    axes = left.subplots()
    axes.semilogy(losses, linewidth=0.8)
    axes.set(xlabel="step", ylabel="cross entropy", title="training loss")
    right.suptitle(f"held-out images, {accuracy:.1%} recognised")
    for k, axes in enumerate(right.subplots(3, 4).flat):
        axes.imshow(images[k, 0], cmap="gray_r")
        colour = "black" if predictions[k] == labels[k] else "red"
        axes.set_title(str(predictions[k]), color=colour, fontsize=10)
        axes.axis("off")
    figure.savefig(path, dpi=120)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", default="digits.png", help="the picture's file")
    options = parser.parse_args()

    mo.seed(options.seed)
    rng = np.random.default_rng(options.seed)
    images, labels, test_images, test_labels = split_digits(options.seed)
    model = make_model()
    mo.sync(model.parameters())

    losses, seconds = train(model, images, labels, options.epochs, options.batch, rng)
    step = mo.last_program()

    model.eval()
    predictions = model(mo.array(test_images)).numpy().argmax(1)
    accuracy = (predictions == test_labels).mean()
    draw(options.output, losses, test_images, test_labels, predictions, accuracy)

    stats = mo.stats()
    print(f"held out: {accuracy:.2%} of {len(test_labels)} images recognised")
    print(f"training step: {step.meta_operators} meta-operators became {len(step.kernels)} kernels")
    print(
        f"compiled: {stats['kernels_compiled']} kernels of {stats['programs_compiled']} programs"
        f" in {stats['compile_seconds']:.2f} s"
    )
    print(f"time per epoch: {np.median(seconds):.3f} s (first {seconds[0]:.3f} s)")
    print(f"peak memory of tensors: {stats['peak_bytes'] / 2**20:.1f} MiB")
    print(f"picture: {options.output}")
    if accuracy < GOAL:
        sys.exit(f"expected at least {GOAL:.0%}")


if __name__ == "__main__":
    main()
