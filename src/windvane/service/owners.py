"""Whose process is at the other end of a connection from this machine: the kernel knows, on Linux.

A proxy can make a request from anywhere look as if it were made here, but not as if its own user had not
made it: nginx, Apache, HAProxy and the like run as users of their own.
"""

from __future__ import annotations

import ipaddress
import os
from pathlib import Path

TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
Address = tuple[str, int]


def is_another_user(client: Address, server: Address) -> bool:
    """Whether a connection is known to be another user's. Where that cannot be known, it is not."""
    owner = owner_of(client, server)
    return owner is not None and owner != os.getuid()


def owner_of(client: Address, server: Address) -> int | None:
    """The user at the client's end of a connection within this machine; None if that cannot be known."""
    ends = {(_spelt(client, wide), _spelt(server, wide)) for wide in (False, True)}
    for table in TABLES:
        try:
            rows = table.read_text(encoding="ascii").splitlines()[1:]
        except (OSError, ValueError):
            continue
        for row in rows:
            columns = row.split()
            if (columns[1], columns[2]) in ends:
                return int(columns[7])
    return None


def _spelt(address: Address, wide: bool) -> str:
    """As the kernel writes it: words of four bytes, each in the order of the machine, which is little-endian.

    >>> _spelt(("127.0.0.1", 8000), wide=False), _spelt(("127.0.0.1", 8000), wide=True)
    ('0100007F:1F40', '0000000000000000FFFF00000100007F:1F40')
    """
    found = ipaddress.ip_address(address[0])
    packed = found.packed
    if wide and found.version == 4:
        packed = bytes(10) + b"\xff\xff" + packed
    words = "".join(packed[i : i + 4][::-1].hex() for i in range(0, len(packed), 4))
    return f"{words.upper()}:{address[1]:04X}"
