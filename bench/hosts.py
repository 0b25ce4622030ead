"""Network namespaces as hosts: each has one address, and what it sends arrives later, or not at all.

Linux as root only. A process of this one passes packets on between the hosts and 10.77.0.1, which is this machine:

    with Hosts(2, delay_ms=2, loss=0.001) as hosts:
        subprocess.run([*hosts.on(0), "ping", "-c", "3", "10.77.0.1"])
"""

from __future__ import annotations

import fcntl
import heapq
import os
import random
import select
import signal
import struct
import subprocess
import time
from types import TracebackType

#: The address of this machine, and of the first host.
HERE, FIRST = "10.77.0.1", 10
#: Bytes of a packet at most: jumbo frames, so that the process in between is no limit.
MTU = 9000
_TUNSETIFF, _IFF_TUN, _IFF_NO_PI = 0x400454CA, 1, 0x1000


def address(number: int) -> str:
    """Return the address of a host."""
    return f"10.77.0.{FIRST + number}"


class Hosts:
    """So many hosts; at the end of a `with` block they are gone.

    Args:
        count: The number of hosts.
        delay_ms: What a packet takes from one host to another, in milliseconds.
        loss: The share of packets that are lost, 0 to 1.
    """

    def __init__(self, count: int, delay_ms: float = 0, loss: float = 0) -> None:
        self._names = [f"scurry{os.getpid()}h{number}" for number in range(count)]
        self._delay, self._loss = delay_ms / 1000, loss
        self._links: dict[bytes, int] = {}
        self._relay = 0

    def on(self, number: int) -> list[str]:
        """Return the command with which another one begins to run on a host."""
        return ["ip", "netns", "exec", self._names[number]]

    def __enter__(self) -> Hosts:
        try:
            self._link(HERE, None)
            for number, name in enumerate(self._names):
                _ip("netns", "add", name)
                self._link(address(number), name)
            self._relay = os.fork()
            if not self._relay:
                try:
                    self._pass_on()
                finally:
                    os._exit(0)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        if self._relay:
            os.kill(self._relay, signal.SIGKILL)
            os.waitpid(self._relay, 0)
        for link in self._links.values():
            os.close(link)
        for name in self._names:
            subprocess.run(["ip", "netns", "delete", name], stderr=subprocess.DEVNULL)

    def _link(self, own: str, namespace: str | None) -> None:
        """Make the one interface of a host, or of this machine."""
        device = f"tun{os.getpid() % 10**6}x{len(self._links)}"
        link = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(link, _TUNSETIFF, struct.pack("16sH", device.encode(), _IFF_TUN | _IFF_NO_PI))
        self._links[bytes(map(int, own.split(".")))] = link
        within = ["-n", namespace] if namespace else []
        if namespace:
            _ip("link", "set", device, "netns", namespace)
            _ip(*within, "link", "set", "lo", "up")
        _ip(*within, "address", "add", f"{own}/24", "dev", device)
        _ip(*within, "link", "set", device, "mtu", str(MTU), "txqueuelen", "10000", "up")

    def _pass_on(self) -> None:
        """Pass packets on when they are due, for as long as this process lives."""
        chance = random.Random(0).random
        poll, due = select.poll(), list[tuple[float, int, int, bytes]]()
        number = 0
        for link in self._links.values():
            poll.register(link, select.POLLIN)
        while True:
            wait = max(0.0, due[0][0] - time.monotonic()) * 1000 if due else None
            for link, _ in poll.poll(wait):
                try:
                    while True:
                        packet = os.read(link, MTU)
                        to = self._links.get(packet[16:20])  # the destination in the header of IPv4
                        if to is not None and chance() >= self._loss:
                            number += 1
                            heapq.heappush(due, (time.monotonic() + self._delay, number, to, packet))
                except BlockingIOError:
                    pass
            now = time.monotonic()
            while due and due[0][0] <= now:
                _, _, to, packet = heapq.heappop(due)
                os.write(to, packet)


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)
