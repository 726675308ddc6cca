"""An API server on the loopback whose objects change, that can be watched, and that breaks as a test says."""

from __future__ import annotations

import json
import re
import socketserver
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from kubectl_kres.cluster.watch.feed_state import Clock
from kubectl_kres.model.kinds import KINDS

Object = dict[str, Any]
_PATH = r"/api(?:s/[^/]+)?/v[0-9a-z]+(?:/namespaces/([^/]+)(?=/))?/([^/]+)(?:/([^/]+))?"
KIND_OF = {**{kind.plural: kind.kind for kind in KINDS}, "things": "Thing"}
NO_GROUPS = {"kind": "APIGroupList", "groups": []}
STATUS = {"kind": "Status", "apiVersion": "v1", "status": "Failure"}


class Fast(Clock):
    """A clock on which a second takes a millisecond."""

    def now(self) -> float:
        return super().now() * 1000

    def wait(self, over: threading.Event, seconds: float) -> bool:
        return over.wait(seconds / 1000)

    def random_fraction(self) -> float:
        return 0.0


@dataclass(frozen=True)
class Fault:
    """What befalls one request. kind: see ``_Talk``. ``on``: list, watch, or either if it is empty."""

    kind: str
    number: int = 0
    on: str = ""


class Cluster(socketserver.ThreadingTCPServer):
    """``put`` and ``delete`` change objects. ``faults`` befall the requests to come, one each, in order.

    ``denied`` holds verb, plural and namespace (empty: at cluster scope) of what is forbidden; ``served`` the plurals
    that exist; ``inconsistent``: expired lists may be resumed.
    """

    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 100

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Talk)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.objects: dict[tuple[str, str, str], Object] = {}
        self.history: list[tuple[int, str, str, Object]] = []
        self.version = self.compacted = self.forgotten = 100
        self.faults: deque[Fault] = deque()
        self.denied: set[tuple[str, str, str]] = set()
        self.served = {kind.plural for kind in KINDS} | {"things"}
        self.inconsistent = False
        self.asked: list[tuple[str, str]] = []
        self.watching = self.generation = 0
        self.news = threading.Condition()
        self.over = False

    def put(self, plural: str, namespace: str, name: str, **fields: Any) -> Object:
        with self.news:
            self.version += 1
            key = (plural, namespace, name)
            metadata = {"namespace": namespace, "name": name, "resourceVersion": str(self.version)}
            made = {"metadata": {**metadata, **fields.pop("metadata", {})}, **fields}
            what = "MODIFIED" if key in self.objects else "ADDED"
            self.objects[key] = made
            self.history.append((self.version, what, plural, made))
            self.news.notify_all()
            return made

    def delete(self, plural: str, namespace: str, name: str) -> None:
        with self.news:
            gone = self.objects.pop((plural, namespace, name), None)
            if gone is None:
                return
            self.version += 1
            gone = {**gone, "metadata": {**gone["metadata"], "resourceVersion": str(self.version)}}
            self.history.append((self.version, "DELETED", plural, gone))
            self.news.notify_all()

    def compact(self) -> None:
        """Lists that were begun cannot be gone on with."""
        with self.news:
            self.version += 1
            self.compacted = self.version

    def forget(self) -> None:
        """What changed so far cannot be watched any more either."""
        self.compact()
        self.forgotten = self.version

    def disconnect(self) -> None:
        """End all watches."""
        with self.news:
            self.generation += 1
            self.news.notify_all()

    def fault(self, on: str) -> Fault | None:
        with self.news:
            if self.faults and self.faults[0].on in {"", on}:
                return self.faults.popleft()
            return None

    def listed(self, plural: str, namespace: str, version: int) -> list[Object]:
        """The objects as they were at a version, by their keys in etcd."""
        with self.news:
            found = {key: one for key, one in self.objects.items() if key[0] == plural and namespace in {"", key[1]}}
            for at, what, of, one in reversed(self.history):
                if at <= version or of != plural or namespace not in {"", one["metadata"]["namespace"]}:
                    continue
                key = (plural, one["metadata"]["namespace"], one["metadata"]["name"])
                older = self._before(key, at)
                if what == "ADDED" or older is None:
                    found.pop(key, None)
                else:
                    found[key] = older
            return sorted(found.values(), key=_key)

    def _before(self, key: tuple[str, str, str], version: int) -> Object | None:
        for at, what, plural, one in reversed(self.history):
            metadata = one["metadata"]
            if at < version and (plural, metadata["namespace"], metadata["name"]) == key:
                return None if what == "DELETED" else one
        return None

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients hang up, and faults hang up on them."""


def _key(one: Object) -> str:
    """What lists are sorted by."""
    return f"{one['metadata']['namespace']}/{one['metadata']['name']}"


class _Broken(Exception):
    """The connection ends here."""


class _Talk(socketserver.StreamRequestHandler):
    """The faults: status N, html, cut N bytes into the body, drop (no answer), silent (no answer, but no end either).

    Of lists: garbage (no JSON), meanwhile (an object goes and the list cannot be gone on with once this page is sent).
    Of watches: end (orderly), gone (ERROR 410 after N events), busy (ERROR 429), again (what happened first comes
    once more), mute (no word any more), part (ends in the middle of an event), nonsense (a line that is none).
    """

    server: Cluster
    wbufsize = -1

    def handle(self) -> None:
        try:
            while line := self.rfile.readline():
                while self.rfile.readline().strip():
                    pass
                self._answer(line.decode().split()[1])
        except (_Broken, OSError):
            pass

    def _answer(self, target: str) -> None:
        parts = urlsplit(target)
        query = dict(parse_qsl(parts.query))
        found = re.fullmatch(_PATH, parts.path)
        if found is None:
            self._say(200, {"gitVersion": "v1.33.2"} if parts.path == "/version" else NO_GROUPS)
            return
        verb = "get" if found[3] else "watch" if "watch" in query else "list"
        self.server.asked.append((verb, parts.path))
        fault = self.server.fault(verb)
        namespace, plural = found[1] or "", found[2]
        if fault is not None and self._befallen(fault):
            return
        if plural not in self.server.served:
            self._say(404, {**STATUS, "message": "the server could not find the requested resource", "code": 404})
        elif (verb, plural, namespace) in self.server.denied:
            where = f'in the namespace "{namespace}"' if namespace else "at the cluster scope"
            message = f'{plural} is forbidden: User "eve" cannot {verb} resource "{plural}" in API group "" {where}'
            self._say(403, {**STATUS, "reason": "Forbidden", "message": message, "code": 403})
        elif verb == "get":
            self._get(plural, namespace, found[3])
        elif verb == "watch":
            self._watch(plural, namespace, int(query["resourceVersion"]), fault)
        else:
            self._list(plural, namespace, query, fault)

    def _befallen(self, fault: Fault) -> bool:
        if fault.kind == "drop":
            raise _Broken
        if fault.kind == "silent":
            self._mute()
        if fault.kind == "html":
            self._say(200, b"<html>Please sign in</html>", kind="text/html")
            return True
        if fault.kind == "status":
            self._say(fault.number, {**STATUS, "message": f"it is {fault.number}", "code": fault.number})
            return True
        return False

    def _get(self, plural: str, namespace: str, name: str) -> None:
        one = self.server.objects.get((plural, namespace, name))
        details = {"message": f'{plural} "{name}" not found', "reason": "NotFound", "details": {"name": name}}
        found = {**one, "kind": KIND_OF[plural]} if one else None
        self._say(404 if one is None else 200, found or {**STATUS, **details, "code": 404})

    def _list(self, plural: str, namespace: str, query: dict[str, str], fault: Fault | None) -> None:
        version, after = self.server.version, ""
        if token := query.get("continue"):
            number, _, after = token.partition("|")
            version = int(number)
            if version < self.server.compacted:
                more = {"continue": f"{self.server.version}|{after}"} if self.server.inconsistent else {}
                self._say(410, {**STATUS, "reason": "Expired", "message": "too old", "metadata": more, "code": 410})
                return
        held = self.server.listed(plural, namespace, version)
        for selector, place in (("labelSelector", "labels"), ("fieldSelector", "")):
            if wanted := query.get(selector):
                key, _, value = wanted.rpartition("=")
                key = key.rpartition(".")[2]
                metadatas = (one["metadata"] for one in held)
                kept = [(meta.get("labels", {}) if place else meta).get(key) == value for meta in metadatas]
                held = [one for one, keep in zip(held, kept, strict=True) if keep]
        held = [one for one in held if _key(one) > after]
        limit = int(query.get("limit", len(held) or 1))
        metadata: Object = {"resourceVersion": str(version)}
        if limit < len(held):
            metadata |= {"continue": f"{version}|{_key(held[limit - 1])}", "remainingItemCount": len(held) - limit}
        content = json.dumps({"kind": f"{KIND_OF[plural]}List", "metadata": metadata, "items": held[:limit]}).encode()
        if fault is not None and fault.kind == "garbage":
            content = content[: fault.number] + b"\xff"
        if fault is not None and fault.kind == "meanwhile" and held:
            metadata = held[fault.number % len(held)]["metadata"]
            self.server.delete(plural, metadata["namespace"], metadata["name"])
            self.server.compact()
        if fault is not None and fault.kind == "cut":
            self._head(200, len(content))
            self.wfile.write(content[: fault.number % len(content)])
            raise _Broken
        self._say(200, content)

    def _watch(self, plural: str, namespace: str, since: int, fault: Fault | None) -> None:
        server = self.server
        if since < server.forgotten:
            self._head(200)
            self._chunk({"type": "ERROR", "object": {**STATUS, "reason": "Expired", "message": "old", "code": 410}})
            self._chunk(None)
            return
        self._head(200)
        if fault is not None and fault.kind == "again":
            for at, what, of, one in server.history[: 3 * fault.number + 1]:
                if at <= since and of == plural and namespace in {"", one["metadata"]["namespace"]}:
                    self._chunk({"type": what, "object": one})
        for sent, event in enumerate(self._events(plural, namespace, since)):
            if fault is not None and sent >= fault.number and self._ended(fault, event):
                return
            self._chunk(event)

    def _events(self, plural: str, namespace: str, since: int) -> Iterator[Object]:
        """What changed, and after it a bookmark; then what changes."""
        server = self.server
        generation = server.generation
        while True:
            with server.news:
                found = [
                    (at, {"type": what, "object": one})
                    for at, what, of, one in server.history
                    if at > since and of == plural and namespace in {"", one["metadata"]["namespace"]}
                ]
                now = server.version
            yield from (event for _, event in found)
            if now > since:
                yield {"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": str(now)}}}
                since = now
            with server.news:
                server.watching += 1
                server.news.wait_for(
                    lambda since=since: server.over or server.version > since or server.generation > generation
                )
                server.watching -= 1
                if server.over or server.generation > generation:
                    raise _Broken

    def _ended(self, fault: Fault, event: Object) -> bool:
        """Whether the watch is over instead of this event."""
        if fault.kind == "end":
            self._chunk(None)
            return True
        if fault.kind in {"gone", "busy"}:
            code, reason = (410, "Expired") if fault.kind == "gone" else (429, "TooManyRequests")
            self._chunk({"type": "ERROR", "object": {**STATUS, "reason": reason, "message": "no", "code": code}})
            self._chunk(None)
            return True
        if fault.kind == "part":
            text = json.dumps(event).encode()
            self.wfile.write(b"%x\r\n%s" % (len(text), text[: len(text) // 2]))
            self.wfile.flush()
            raise _Broken
        if fault.kind == "nonsense":
            self._chunk("{")
            raise _Broken
        if fault.kind == "mute":
            self._mute()
        return False

    def _mute(self) -> None:
        self.wfile.flush()
        with self.server.news:
            self.server.news.wait_for(lambda: self.server.over, 0.5)
        raise _Broken

    def _chunk(self, event: Object | str | None) -> None:
        if event is None:
            self.wfile.write(b"0\r\n\r\n")
        else:
            text = (event if isinstance(event, str) else json.dumps(event)).encode() + b"\n"
            self.wfile.write(b"%x\r\n%s\r\n" % (len(text), text))
        self.wfile.flush()

    def _head(self, code: int, length: int | None = None, kind: str = "application/json") -> None:
        framing = "Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}"
        self.wfile.write(f"HTTP/1.1 {code} Said\r\nContent-Type: {kind}\r\n{framing}\r\n\r\n".encode())
        self.wfile.flush()

    def _say(self, code: int, content: Any, kind: str = "application/json") -> None:
        content = content if isinstance(content, bytes) else json.dumps(content).encode()
        self._head(code, len(content), kind)
        self.wfile.write(content)
        self.wfile.flush()


@contextmanager
def living() -> Iterator[Cluster]:
    server = Cluster()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        with server.news:
            server.over = True
            server.news.notify_all()
        server.shutdown()
        server.server_close()
        thread.join()
