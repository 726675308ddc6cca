"""A server of one list and of a watch whose events are made before they are asked for: the client sets the pace."""

from __future__ import annotations

import json
import multiprocessing
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

#: The version of the list; events are numbered from here on.
FIRST = 1 << 40
#: Events that are sent in one piece.
GROUP = 64
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


@contextmanager
def serving(items: Sequence[dict[str, Any]], events: int) -> Iterator[str]:
    """The address of a server in a process of its own. The watch speaks once somebody has asked for ``/go``."""
    ready, told = multiprocessing.get_context("spawn").Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(told, list(items), events), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{ready.recv()}"
    finally:
        process.terminate()
        process.join()


def _serve(told: Any, items: list[dict[str, Any]], events: int) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    groups = [b"".join(map(_chunk, _events(items, at, min(GROUP, events - at)))) for at in range(0, events, GROUP)]
    last = [json.loads(line)["object"] for line in _events(items, max(0, events - len(items)), min(len(items), events))]
    now = {_key(one): one for one in (*items, *last)}
    go = threading.Event()
    told.send(listener.getsockname()[1])
    while True:
        client, _ = listener.accept()
        threading.Thread(target=_talk, args=(client, items, list(now.values()), groups, go), daemon=True).start()


def _talk(client: socket.socket, items: list[Any], now: list[Any], groups: list[bytes], go: threading.Event) -> None:
    with client, client.makefile("rb") as lines:
        while line := lines.readline():
            while lines.readline().strip():
                pass
            if b"/go" in line:
                go.set()
                client.sendall(_HEAD + b"Content-Length: 2\r\n\r\n{}")
            elif b"watch=true" in line:
                client.sendall(_HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
                go.wait()
                for group in groups:
                    client.sendall(group)
            else:
                metadata = {"resourceVersion": str(FIRST)}
                held = {"kind": "PodList", "metadata": metadata, "items": now if go.is_set() else items}
                content = json.dumps(held).encode()
                client.sendall(_HEAD + b"Content-Length: %d\r\n\r\n%s" % (len(content), content))


def _events(items: Sequence[dict[str, Any]], start: int, count: int) -> Iterator[bytes]:
    """The objects in turn, each time with a newer version."""
    for number in range(start, start + count):
        item = items[number % len(items)]
        metadata = {**item["metadata"], "resourceVersion": str(FIRST + number + 1)}
        changed = {"kind": "Pod", "apiVersion": "v1", **item, "metadata": metadata}
        yield json.dumps({"type": "MODIFIED", "object": changed}, separators=(",", ":")).encode() + b"\n"


def _chunk(line: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(line), line)


def _key(item: dict[str, Any]) -> tuple[str, str]:
    return item["metadata"]["namespace"], item["metadata"]["name"]
