"""A proxy on the loopback that speaks CONNECT and SOCKS5, and leads to one server whatever it is asked for."""

from __future__ import annotations

import socket
import socketserver
import threading
from contextlib import suppress
from typing import Any


class Relay(socketserver.ThreadingTCPServer):
    """``targets`` are the places that were asked for, ``signed`` what came as proof with them."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, port: int) -> None:
        super().__init__(("127.0.0.1", 0), _Passage)
        self.port = port
        self.targets: list[str] = []
        self.signed: list[str] = []

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients hang up."""


class _Passage(socketserver.StreamRequestHandler):
    server: Relay

    def handle(self) -> None:
        first = self.rfile.peek(1)[:1]
        if not first:
            return
        self._socks() if first == b"\x05" else self._connect()
        with socket.create_connection(("127.0.0.1", self.server.port)) as onward:
            back = threading.Thread(target=_copy, args=(onward.recv, self.request), daemon=True)
            back.start()
            _copy(self.rfile.read1, onward)
            back.join()

    def _connect(self) -> None:
        self.server.targets.append(self.rfile.readline().split()[1].decode())
        while line := self.rfile.readline().strip():
            name, _, value = line.decode().partition(": ")
            if name.lower() == "proxy-authorization":
                self.server.signed.append(value)
        self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")

    def _socks(self) -> None:
        methods = self.rfile.read(self.rfile.read(2)[1])
        self.wfile.write(b"\x05" + (b"\x02" if 2 in methods else b"\x00"))
        if 2 in methods:
            self.rfile.read(1)
            pair = [self.rfile.read(self.rfile.read(1)[0]).decode() for _ in range(2)]
            self.server.signed.append(":".join(pair))
            self.wfile.write(b"\x01\x00")
        kind = self.rfile.read(4)[3]
        host = self.rfile.read(self.rfile.read(1)[0]).decode() if kind == 3 else socket.inet_ntoa(self.rfile.read(4))
        self.server.targets.append(f"{host}:{int.from_bytes(self.rfile.read(2))}")
        self.wfile.write(b"\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00")


def _copy(read: Any, to: socket.socket) -> None:
    with suppress(OSError):
        while piece := read(1 << 16):
            to.sendall(piece)
        to.shutdown(socket.SHUT_WR)
