# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fourier transforms of windows of a signal, and signals of those (short-time transforms).

D. Griffin and J. Lim, "Signal estimation from modified short-time Fourier transform", 1984.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import _core
from .._core import Var
from .._errors import at_line
from .._typing import VarLike, as_var, shown
from ..complex_numbers.halves import is_pair
from ..complex_numbers.pair import Complex
from ..ops.elementwise.elementwise import where
from ..ops.shape.padding import pad
from ..ops.shape.shaping import broadcast_to
from ._passes import (
    Spectrum,
    as_complex_result,
    as_length,
    as_spectrum,
    scale_of,
    to_half,
    to_real,
    transformed,
)

__all__ = ["istft", "stft"]

#: Modes of borders, by the names that PyTorch has for some.
_MODES = {"replicate": "edge", "circular": "wrap"}
#: Sums of squared windows that count as 0.
_NOTHING = 1e-11


class _Frames(NamedTuple):
    """Windows of `size` elements, which are `step` apart, and their weights.

    They are columns, as their transforms are to be, so nothing is transposed.
    """

    size: int
    step: int
    weights: Var

    def cut(self, x: Var) -> Var:
        """Return the windows of signals, multiplied by the weights."""
        count = 1 + (x.shape[-1] - self.size) // self.step
        shape = (*x.shape[:-1], self.size, count)
        return x.reindex(shape, self._places(x.ndim - 1)) * self.weights[:, None]

    def join(self, frames: Var) -> Var:
        """Return signals that are sums of windows."""
        count = frames.shape[-1]
        shape = (*frames.shape[:-2], (count - 1) * self.step + self.size)
        return frames.reindex_reduce("add", shape, self._places(frames.ndim - 2))

    def join_squares(self, count: int) -> Var:
        """Return the sums of squared weights of so many windows."""
        squares = (self.weights * self.weights)[:, None]
        return self.join(broadcast_to(squares, (self.size, count)))

    def _places(self, axis: int) -> list[str]:
        fronts = [f"i{number}" for number in range(axis)]
        return [*fronts, f"i{axis}+i{axis + 1}*{self.step}"]


def _make_frames(
    what: str,
    n_fft: int,
    hop_length: int | None,
    win_length: int | None,
    window: VarLike | None,
    dtype: str,
) -> _Frames:
    size = as_length(what, "n_fft", n_fft)
    step = as_length(what, "hop_length", max(size // 4, 1) if hop_length is None else hop_length)
    length = as_length(what, "win_length", size if win_length is None else win_length)
    if length > size:
        raise at_line(ValueError(f"{what}: win_length is {length}, expected {size} at most"))
    if is_pair(window):
        raise at_line(TypeError(f"{what}: window is {shown(window)}, expected real numbers"))
    weights = _core.ones((length,), dtype) if window is None else as_var(window).astype(dtype)
    if weights.shape != (length,):
        raise at_line(ValueError(f"{what}: window has shape {weights.shape}, expected {(length,)}"))
    before = (size - length) // 2
    return _Frames(size, step, _core.pad(weights, [before], [size - length - before], 0))


def stft(
    x: Any,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: VarLike | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
) -> Complex:
    """Return the Fourier transforms of windows of signals, as ``torch.stft``.

    Parameters
    ----------
    x
        Signals along the last dimension, real or complex numbers.
    n_fft
        The elements of a window.
    hop_length
        From the first element of a window to that of the next; by default ``n_fft // 4``.
    win_length
        The elements of `window`, by default `n_fft`. It has zeros on both sides if these are
        fewer.
    window
        Weights of the elements of each window, ``(win_length,)``; by default ones. For
        ``torch.hann_window(n)`` take ``mo.hanning(n + 1)[:-1]``.
    center
        Whether windows have their middle at multiples of `hop_length`: signals then have a
        border of ``n_fft // 2`` elements on both sides.
    pad_mode
        Of the border, a mode of `mo.pad`, or "replicate" or "circular".
    normalized
        Whether results are divided by the square root of `n_fft`.
    onesided
        Whether only frequencies from 0 to n/2 are computed: by default of real signals.

    Returns
    -------
    Complex, (..., frequencies, windows)

    Raises
    ------
    TypeError
        If the window is complex, or `onesided` is asked of complex signals.
    ValueError
        If a length is below 1, a window longer than signals or of another shape, or the
        border cannot be made.
    """
    given = as_spectrum(x)
    frames = _make_frames("stft", n_fft, hop_length, win_length, window, str(given.real.dtype))
    if onesided and given.imag is not None:
        raise at_line(TypeError("stft: x is complex, expected real numbers if onesided"))
    is_half = given.imag is None if onesided is None else bool(onesided)
    if given.real.ndim < 1:
        raise at_line(ValueError("stft: x has no dimension, expected signals along the last one"))
    border = frames.size // 2 if center else 0
    length = given.real.shape[-1] + 2 * border
    if length < frames.size:
        raise at_line(
            ValueError(f"stft: signals have {length} elements, expected {frames.size} or more")
        )

    def cut(part: Var) -> Var:
        if border:
            mode = _MODES.get(pad_mode, pad_mode)
            part = pad(part, {part.ndim - 1: (border, border)}, mode)
        return frames.cut(part)

    real = cut(given.real)
    windows = Spectrum(real, None if given.imag is None else cut(given.imag))
    scale = scale_of("stft", "ortho" if normalized else None, [frames.size], False)
    axis = [real.ndim - 2]
    if is_half:
        result = to_half(real, axis, [frames.size], scale)
    else:
        result = transformed(windows, axis, [frames.size], False, scale)
    return as_complex_result(result)


def istft(
    x: Any,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: VarLike | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Any:
    """Return the signals that are nearest to transforms of windows: the inverse of `stft`.

    Elements that no window reaches are 0.

    Parameters
    ----------
    x
        Transforms, ``(..., frequencies, windows)``.
    n_fft, hop_length, win_length, window, center, normalized
        As of `stft`.
    onesided
        Whether only frequencies from 0 to n/2 are there: by default, if there are as many.
    length
        The elements of a signal; by default as many as windows reach, without the borders.
    return_complex
        Whether signals are complex, of transforms that are not `onesided`.

    Returns
    -------
    Var or Complex, (..., length)

    Raises
    ------
    ValueError
        As of `stft`, or if there are other frequencies than of windows of `n_fft` elements.
    """
    given = as_spectrum(_as_matrices(x))
    frames = _make_frames("istft", n_fft, hop_length, win_length, window, str(given.real.dtype))
    frequencies, count = given.real.shape[-2:]
    half = frames.size // 2 + 1
    is_half = (frequencies == half and not return_complex) if onesided is None else bool(onesided)
    expected = half if is_half else frames.size
    if frequencies != expected or count == 0:
        raise at_line(
            ValueError(
                f"istft: x has shape {given.real.shape}, expected "
                f"(..., {expected}, windows) for an n_fft of {frames.size}"
            )
        )
    if is_half and return_complex:
        raise at_line(ValueError("istft: return_complex is True, expected False if onesided"))
    scale = scale_of("istft", "ortho" if normalized else None, [frames.size], True)
    axis, sizes = [given.real.ndim - 2], [frames.size]
    if is_half:
        windows = Spectrum(to_real(given, axis, sizes, scale), None)
    else:
        windows = transformed(given, axis, sizes, True, scale)
    border = frames.size // 2 if center else 0
    asked = None if length is None else as_length("istft", "length", length)

    def join(part: Var) -> Var:
        return _weighted(frames, part, border, asked)

    if not return_complex:
        return join(windows.real)
    return as_complex_result(Spectrum(*map(join, windows.as_pair())))


def _as_matrices(x: Any) -> Any:
    """Return transforms that have frequencies and windows."""
    if len(x.shape if is_pair(x) else as_var(x).shape) < 2:
        raise at_line(
            ValueError("istft: x has fewer than two dimensions, expected frequencies and windows")
        )
    return x


def _weighted(frames: _Frames, windows: Var, border: int, length: int | None) -> Var:
    """Return signals by means of windows, each weighted as it was cut."""
    sums = frames.join(windows * frames.weights[:, None])
    squares = frames.join_squares(windows.shape[-1])
    is_reached = squares > _NOTHING
    signals = where(is_reached, sums / where(is_reached, squares, 1), 0)
    end = signals.shape[-1] - border if length is None else border + length
    missing = max(end - signals.shape[-1], 0)
    widths = [0] * (signals.ndim - 1)
    return _core.pad(signals, [*widths, 0], [*widths, missing], 0)[..., border:end]
