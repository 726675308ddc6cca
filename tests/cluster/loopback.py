"""A loopback server that answers byte for byte what a test says, and keeps what it was asked."""

from __future__ import annotations

import gzip
import json
import socket
import socketserver
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit


@dataclass
class Request:
    """``lines`` holds every header as it came; ``subject`` is the name in the client's certificate."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    lines: list[tuple[str, str]] = field(default_factory=list)
    subject: str = ""


@dataclass
class Reply:
    """``body`` is JSON unless it is bytes. ``framing``: length, chunked or none; ``length`` overrides the true one.

    Of the whole reply only the first ``cut`` bytes are sent before the connection ends, or is reset (``reset``);
    with ``stall`` nothing follows after that many bytes, and the connection stays open; with ``drip`` the body
    comes one byte at a time. ``before`` is called first. ``hints``: answers 103 that come before this one.
    """

    body: Any = b""
    status: int = 200
    headers: dict[str, str] | list[tuple[str, str]] = field(default_factory=dict)
    content_type: str | None = "application/json"
    framing: str = "length"
    length: int | None = None
    packed: bool = False
    cut: int | None = None
    reset: bool = False
    stall: int | None = None
    drip: bool = False
    hints: int = 0
    before: Callable[[], object] = lambda: None

    def encode(self) -> bytes:
        body = self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()
        headers = list(self.headers.items() if isinstance(self.headers, dict) else self.headers)
        if self.content_type is not None:
            headers.append(("Content-Type", self.content_type))
        if self.packed:
            body = gzip.compress(body)
            headers.append(("Content-Encoding", "gzip"))
        if self.framing == "length":
            headers.append(("Content-Length", str(len(body) if self.length is None else self.length)))
        if self.framing == "chunked":
            headers.append(("Transfer-Encoding", "chunked"))
            parts = [body[start : start + 2048] for start in range(0, len(body), 2048)]
            body = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
        head = [f"HTTP/1.1 {self.status} Said", *(f"{name}: {value}" for name, value in headers), "", ""]
        hint = b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n"
        return hint * self.hints + "\r\n".join(head).encode() + body

    @property
    def ends_connection(self) -> bool:
        return self.framing == "none" or self.cut is not None or self.reset or self.length is not None


class Server(socketserver.ThreadingTCPServer):
    """``on(path, …)`` adds a reply for a path; the last one added for it is repeated. Everything asked is recorded."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, context: ssl.SSLContext | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Conversation)
        self.url = f"{'https' if context else 'http'}://127.0.0.1:{self.server_address[1]}"
        self.context = context
        self.requests: list[Request] = []
        self.connections = 0
        self.over = threading.Event()
        self._replies: dict[str, list[Reply]] = {}
        self._lock = threading.Lock()

    def on(self, path: str, body: Any = b"", status: int = 200, **options: Any) -> Server:
        self._replies.setdefault(path, []).append(Reply(body, status, **options))
        return self

    def refuse(self, path: str, code: int, message: str = "", reason: str = "", **options: Any) -> Server:
        """A reply that is a Status; ``details`` and ``metadata`` go into it, other options are the reply's."""
        extra = {key: options.pop(key) for key in ("details", "metadata") if key in options}
        status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "reason": reason}
        return self.on(path, {**status, "code": code, **extra}, code, **options)

    def reply_to(self, request: Request) -> Reply:
        with self._lock:
            self.requests.append(request)
            replies = self._replies.get(request.path)
            if not replies:
                return Reply(b"404 page not found\n", 404, content_type="text/plain; charset=utf-8")
            return replies.pop(0) if len(replies) > 1 else replies[0]

    def asked(self) -> list[str]:
        return [request.path for request in self.requests]

    def get_request(self) -> tuple[Any, Any]:
        connection, address = super().get_request()
        self.connections += 1
        return connection, address

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up early is what many tests are about."""


class _Conversation(socketserver.StreamRequestHandler):
    server: Server

    def setup(self) -> None:
        if self.server.context:
            self.request = self.server.context.wrap_socket(self.request, server_side=True)
        super().setup()

    def handle(self) -> None:
        while request := self._request():
            reply = self.server.reply_to(request)
            self._send(reply)
            if reply.ends_connection:
                return

    def finish(self) -> None:
        super().finish()
        self.request.close()

    def _request(self) -> Request | None:
        if not self.server.context and self.rfile.peek(1)[:1] == b"\x16":
            self.wfile.write(b"HTTP/1.1 400 Bad Request\r\n\r\nnot TLS")
            return None
        line = self.rfile.readline().decode("latin-1").split()
        if not line:
            return None
        lines = []
        while text := self.rfile.readline().decode("latin-1").strip():
            name, _, value = text.partition(":")
            lines.append((name.lower(), value.strip()))
        headers = dict(lines)
        self.rfile.read(int(headers.get("content-length", 0)))
        parts = urlsplit(line[1])
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        return Request(line[0], parts.path, query, headers, lines, self._subject())

    def _subject(self) -> str:
        shown = self.request.getpeercert() if self.server.context else None
        return dict(pair[0] for pair in (shown or {}).get("subject", ())).get("commonName", "")

    def _send(self, reply: Reply) -> None:
        reply.before()
        content = reply.encode()
        if reply.stall is not None:
            self.wfile.write(content[: reply.stall])
            self.server.over.wait(30)
            return
        if reply.drip:
            head, _, body = content.partition(b"\r\n\r\n")
            self.wfile.write(head + b"\r\n\r\n")
            for byte in body:
                if self.server.over.wait(0.01):
                    return
                self.wfile.write(bytes([byte]))
            return
        self.wfile.write(content[: reply.cut])
        if reply.reset:
            self.request.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.request.close()


def serving(server: Server) -> Iterator[Server]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield server
    server.over.set()
    server.shutdown()
    server.server_close()
    thread.join()
    asked = {(request.method, request.path) for request in server.requests if request.method != "GET"}
    assert asked <= {("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews")}
