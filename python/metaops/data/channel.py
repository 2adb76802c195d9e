# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Messages between a loader and a worker: bytes, and descriptors of files beside them."""

from __future__ import annotations

import contextlib
import socket
import weakref
from array import array
from collections.abc import Sequence

__all__ = ["Channel", "close_inherited", "make_channels"]

#: A message that is longer is sent in parts: a packet has to fit the socket's buffer.
_PART = 1 << 15
#: For the descriptor of a slot.
_ROOM = socket.CMSG_LEN(array("i").itemsize)
_LAST, _MORE = b"\0", b"\1"

#: The loaders' ends in this process, which a worker that is forked has to close.
_open: weakref.WeakSet[Channel] = weakref.WeakSet()


class Channel:
    """One end of a connection, over which messages go both ways.

    Parameters
    ----------
    end
        A socket of packets.
    """

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._parts: list[bytes] = []
        self._descriptors: list[int] = []

    def fileno(self) -> int:
        """Return the socket's descriptor."""
        return self._end.fileno()

    @staticmethod
    def split(message: bytes) -> list[bytes]:
        """Return the packets of a message."""
        if len(message) <= _PART:
            return [_LAST + message]
        parts = [message[start : start + _PART] for start in range(0, len(message), _PART)]
        return [*(_MORE + part for part in parts[:-1]), _LAST + parts[-1]]

    def send_packet(self, packet: bytes, *, waits: bool = True) -> None:
        """Send a packet.

        Raises
        ------
        BlockingIOError
            If there is no room for it, and this is not to wait for some.
        OSError
            If there is nobody at the other end.
        """
        self._end.send(packet, 0 if waits else socket.MSG_DONTWAIT)

    def send(self, message: bytes, descriptors: Sequence[int] = ()) -> None:
        """Send a message, and copies of descriptors with it.

        Raises
        ------
        OSError
            If there is nobody at the other end.
        """
        *others, last = self.split(message)
        for packet in others:
            self.send_packet(packet)
        if descriptors:
            socket.send_fds(self._end, [last], descriptors)
        else:
            self.send_packet(last)

    def receive(self, *, waits: bool = True) -> tuple[bytes, list[int]] | None:
        """Return the next message and its descriptors; None if the other end is closed.

        Raises
        ------
        BlockingIOError
            If there is no whole message, and this is not to wait for one.
        """
        flags = 0 if waits else socket.MSG_DONTWAIT
        while True:
            part, extra, _, _ = self._end.recvmsg(_PART + 1, _ROOM, flags)
            if not part:
                return None
            self._parts.append(part[1:])
            for level, kind, found in extra:
                if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                    self._descriptors += array("i", found)
            if part[:1] == _LAST:
                message = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
                descriptors = self._descriptors
                self._parts, self._descriptors = [], []
                return message, descriptors

    def end(self) -> None:
        """End the connection, whoever has copies of this end, and close it.

        The other end still gets what has been sent, and then finds the end. It waits for nobody.
        """
        with contextlib.suppress(OSError):
            self._end.shutdown(socket.SHUT_RDWR)
        self.close()

    def close(self) -> None:
        """Close this end."""
        self._end.close()
        _open.discard(self)


def make_channels() -> tuple[Channel, socket.socket]:
    """Return the loader's end of a new connection, and the worker's."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    channel = Channel(ours)
    _open.add(channel)
    return channel, theirs


def close_inherited() -> None:
    """Close the loaders' ends in a forked worker, so that each has one owner."""
    for channel in list(_open):
        channel.close()
