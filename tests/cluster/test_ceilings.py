"""What a server may send at most, so that nothing it sends fills the memory."""

from __future__ import annotations

import gzip
import json
import tracemalloc
import zlib
from collections.abc import Iterator

import pytest
from cluster.loopback import Server

from kubectl_kres.cluster.connection import Connection
from kubectl_kres.cluster.read import fill_store
from kubectl_kres.cluster.transport import body
from kubectl_kres.cluster.transport import body as stream
from kubectl_kres.cluster.transport.deadline import split_chunks
from kubectl_kres.errors import ClusterError, TimedOut, Unreachable
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.store.store import ReadRequest

PODS, POD = "/api/v1/pods", BY_KIND["Pod"]
MIB = 1 << 20
LIST = b'{"kind": "PodList", "items": []}'


def names(connection: Connection) -> list[str]:
    return [item.metadata.name for page in fill_store.pages(connection, POD, ReadRequest("Pod")) for item in page]


def packed(*pieces: bytes, size: int | None = None) -> bytes:
    """A gzip member; ``size``: what its trailer says instead of the truth."""
    member = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    content = b"".join([*map(member.compress, pieces), member.flush()])
    return content if size is None else content[:-4] + size.to_bytes(4, "little")


def sent(server: Server, content: bytes) -> None:
    server.on(PODS, content, headers={"Content-Encoding": "gzip"})


BOMBS = {
    "blanks around a list": (LIST[:-1], b" " * MIB, LIST[-1:]),
    "a text": (b'{"kind": "PodList", "x": "', b"a" * MIB, b'", "items": []}'),
    "zeros": (b"", b"\0" * MIB, b""),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("form", BOMBS)
def test_a_gzip_bomb_is_left_at_once(server: Server, connection: Connection, form: str) -> None:
    before, filling, after = BOMBS[form]
    content = packed(before, *([filling] * 100), after)
    assert len(content) < MIB
    sent(server, content)
    tracemalloc.start()
    with pytest.raises(ClusterError, match=r"the server's answer is left: \d+ bytes unpack to 100 MiB"):
        names(connection)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 160 * MIB


@pytest.mark.parametrize("size", [0, 100, 3 * MIB])
def test_a_bomb_that_lies_about_its_size(
    server: Server, connection: Connection, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(body, "LARGEST", 16 * MIB)
    sent(server, packed(LIST, *([b" " * MIB] * 40), size=size))
    with pytest.raises(Unreachable, match="not valid gzip"):
        names(connection)


def test_a_gzip_stream_without_an_end(server: Server, connection: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body, "LARGEST", 1 * MIB)
    content = packed(LIST) + gzip.compress(LIST) * 30_000
    sent(server, content)
    with pytest.raises(ClusterError, match="larger than 1 MiB"):
        names(connection)


@pytest.mark.parametrize("framing", ["length", "chunked", "none"])
def test_a_list_without_an_end(
    server: Server, connection: Connection, framing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(body, "LARGEST", 1 * MIB)
    server.on(PODS, LIST[:-2] + b" " * (3 * MIB), framing=framing)
    with pytest.raises(ClusterError, match=r"^the server's answer is left: it is larger than 1 MiB$") as caught:
        names(connection)
    assert caught.value.hint == "a smaller --chunk-size asks for less"


@pytest.mark.parametrize("packing", [False, True])
def test_lists_up_to_the_ceiling_are_read(
    server: Server,
    connection: Connection,
    packing: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    content = json.dumps(
        {"kind": "PodList", "items": [{"metadata": {"name": f"p{n}"}} for n in range(20_000)]}
    ).encode()
    monkeypatch.setattr(body, "LARGEST", len(content))
    server.on(PODS, content, packed=packing)
    assert len(names(connection)) == 20_000


def test_the_ceiling_is_that_of_a_page() -> None:
    assert body.LARGEST == 512 * 3 * MIB // 2


@pytest.mark.parametrize("size", ["-1", "-ffff"])
def test_a_chunk_of_negative_size(server: Server, connection: Connection, size: str) -> None:
    server.on(PODS, size.encode() + b"\r\n" + LIST, framing="none", headers={"Transfer-Encoding": "chunked"})
    with pytest.raises(Unreachable):
        names(connection)


@pytest.mark.parametrize("size", ["-1", "zz", f"{17 * MIB:x}"])
def test_a_chunk_of_a_watch_has_a_size(size: str) -> None:
    with pytest.raises(ValueError, match=r"chunk|invalid literal"):
        split_chunks(size.encode() + b"\r\nabc")


def test_a_chunk_of_a_watch_without_a_size() -> None:
    with pytest.raises(ValueError, match="without a size"):
        split_chunks(b"1" * (1 << 17))


def endless() -> Iterator[list[bytes]]:
    while True:
        yield [b"x" * (1 << 16)]


def test_an_event_without_an_end() -> None:
    with pytest.raises(ClusterError, match=r"^the server's event is left: it is larger than 16 MiB$"):
        list(stream.split(endless()))


def test_an_event_of_fifteen_megabytes_is_one() -> None:
    piece = b"x" * MIB
    assert list(stream.split([[piece]] * 15 + [[b"\nrest\n"]])) == [[piece * 15, b"rest"]]


def test_small_events_never_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "LONGEST", 100)
    groups = [[b"x" * 30 + b"\ny", b"z" * 30 + b"\n"]] * 50
    assert sum(len(lines) for lines in stream.split(groups)) == 100


def test_a_list_that_goes_in_circles(server: Server, connection: Connection) -> None:
    """New tokens, old objects."""
    for token in ("a", "b", "c", "d"):
        page = {"kind": "PodList", "metadata": {"continue": token}, "items": [{"metadata": {"name": "p"}}]}
        server.on(PODS, page)
    with pytest.raises(ClusterError, match="the list of pods does not advance"):
        names(connection)
    assert len(server.requests) <= 4


def test_a_list_of_empty_pages(server: Server, connection: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fill_store, "MOST_EMPTY", 3)
    for number in range(10):
        server.on(PODS, {"kind": "PodList", "metadata": {"continue": str(number)}, "items": []})
    with pytest.raises(ClusterError, match="the list of pods does not advance"):
        names(connection)


def test_a_list_of_too_many_objects(server: Server, connection: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fill_store, "MOST", 3)
    for number in range(10):
        page = {
            "kind": "PodList",
            "metadata": {"continue": str(number)},
            "items": [{"metadata": {"name": f"p{number}"}}],
        }
        server.on(PODS, page)
    with pytest.raises(ClusterError, match=r"^the list of pods is left: there are more than 3$"):
        names(connection)


def test_a_list_whose_pages_take_too_long(
    server: Server, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each comes in time and holds something new, and there is always a next one."""
    clock = iter(range(0, 10_000, 100))
    monkeypatch.setattr(fill_store, "monotonic", lambda: next(clock))
    for number in range(20):
        item = {"metadata": {"name": f"p{number}"}}
        server.on(PODS, {"kind": "PodList", "metadata": {"continue": str(number)}, "items": [item]})
    with pytest.raises(ClusterError, match=r"^the list of pods is left: its pages take more than 600 seconds$"):
        names(connection)
    assert len(server.requests) == 7


def test_a_list_of_parameters_whose_pages_take_too_long(
    server: Server, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter(range(0, 10_000, 400))
    monkeypatch.setattr(fill_store, "monotonic", lambda: next(clock))
    kind = BY_KIND["ConfigMap.v1"]
    resource = {"name": "configmaps", "kind": "ConfigMap", "namespaced": True}
    server.on("/api/v1", {"kind": "APIResourceList", "resources": [resource]})
    for number in range(3):
        item = {"metadata": {"name": f"c{number}"}}
        server.on(
            "/api/v1/namespaces/a/configmaps",
            {"kind": "ConfigMapList", "metadata": {"continue": str(number)}, "items": [item]},
        )
    found, coverage = fill_store.read(connection, kind, ReadRequest(kind.kind, "a"))
    assert (found, coverage.state) == ([], "failed")
    assert coverage.message.endswith("is left: its pages take more than 600 seconds")


def test_a_long_gzip_body_is_unpacked_as_it_comes(
    server: Server, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(body, "_AS_IT_COMES", 1 << 10)
    items = [{"metadata": {"name": f"p{n}-{zlib.crc32(str(n).encode())}"}} for n in range(5_000)]
    server.on(PODS, json.dumps({"kind": "PodList", "items": items}).encode(), packed=True)
    assert len(names(connection)) == 5_000


@pytest.mark.parametrize(
    ("content", "error", "text"),
    [
        (packed(LIST[:-2], *([bytes(range(256)) * 4096] * 4)), ClusterError, "larger than 1 MiB"),
        (packed(LIST) * 200, Unreachable, "not valid gzip"),
        (packed(LIST[:-2], b"".join(str(n).encode() for n in range(90_000)))[:-9], Unreachable, "cut off"),
    ],
    ids=["too large", "several members", "cut off"],
)
def test_a_long_gzip_body_is_left_as_soon_as_it_is_too_much(
    server: Server,
    connection: Connection,
    monkeypatch: pytest.MonkeyPatch,
    content: bytes,
    error: type[Exception],
    text: str,
) -> None:
    monkeypatch.setattr(body, "_AS_IT_COMES", 1 << 10)
    monkeypatch.setattr(body, "LARGEST", MIB)
    sent(server, content)
    with pytest.raises(error, match=text):
        names(connection)


def test_all_bodies_that_are_on_their_way_share_one_ceiling(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four reads side by side hold no more together than one of them may alone."""
    monkeypatch.setattr(body, "LARGEST", 4 * MIB)
    ceiling = body.Ceiling()
    bodies = [Endless(3 * MIB) for _ in range(4)]
    for first in bodies[:1]:
        assert len(body.read(first, ceiling)) == 3 * MIB
    ceiling.take(2 * MIB)  # another one is on its way
    with pytest.raises(ClusterError, match="larger than 4 MiB"):
        body.read(bodies[1], ceiling)
    ceiling.give_back(2 * MIB)
    assert len(body.read(bodies[2], ceiling)) == 3 * MIB


def test_a_body_that_comes_for_ever_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body, "LONGEST", 0.0)
    with pytest.raises(TimedOut, match="while reading body"):
        body.read(Endless(3 * MIB))


class Endless:
    """An answer of so many blanks and a bracket."""

    status, headers = 200, {"Content-Length": "1"}

    def __init__(self, size: int) -> None:
        self._left = size

    def read(self, most: int, *, decode_content: bool) -> bytes:
        assert not decode_content
        size = min(most, self._left)
        self._left -= size
        return b" " * size

    def close(self) -> None:
        pass
