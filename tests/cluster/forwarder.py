"""A way to a port of this machine, in a process of its own: stopped, it is a line on which nothing comes any more.

    python forwarder.py PORT

It prints the port on which it listens.
"""

from __future__ import annotations

import socket
import sys
import threading
from contextlib import suppress


def _copy(source: socket.socket, to: socket.socket) -> None:
    with suppress(OSError):
        while piece := source.recv(1 << 16):
            to.sendall(piece)
        to.shutdown(socket.SHUT_WR)


def _main(port: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        print(listening.getsockname()[1], flush=True)
        while True:
            client, _ = listening.accept()
            onward = socket.create_connection(("127.0.0.1", port))
            for pair in ((client, onward), (onward, client)):
                threading.Thread(target=_copy, args=pair, daemon=True).start()


if __name__ == "__main__":
    _main(int(sys.argv[1]))
