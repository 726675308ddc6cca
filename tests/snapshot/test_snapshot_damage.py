"""A snapshot that is not whole is refused, and a write that fails leaves nothing behind."""

import gzip
import random
import zlib

import pytest

from kubectl_kres.errors import SnapshotError
from kubectl_kres.model import objects as meta
from kubectl_kres.model import pod
from kubectl_kres.snapshot import read as reading
from kubectl_kres.snapshot import write as replace
from kubectl_kres.snapshot.format import Header
from kubectl_kres.snapshot.read import header, pages, read
from kubectl_kres.snapshot.write import write, write_stream
from kubectl_kres.store.store import READ, Origin, ReadRequest, Store


def store():
    made = Store(Origin("cluster", "https://192.0.2.1", time="2026-11-20T10:00:00Z"))
    for index in range(120):
        made.add("Pod", pod.Pod(metadata=meta.Metadata(name=f"p{index}", namespace="n")))
    made.cover(ReadRequest("Pod"), READ)
    return made


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "x.kres"
    write(store(), str(path))
    return path.read_bytes()


def places(data, count):
    """Every byte of the header, the last twenty, and some between, the same in each run."""
    chosen = random.Random(1).sample(range(len(data)), count)
    return sorted({*range(data.index(b"\n") + 2), *chosen, *range(len(data) - 20, len(data))})


def refused(path, data):
    """The messages of every way to read, each of which must refuse; objects may only come before the refusal."""
    path.write_bytes(data)
    messages = set()
    for look in (lambda: read(str(path)), lambda: list(pages(str(path), "Pod")), lambda: list(pages(str(path), "Job"))):
        with pytest.raises(SnapshotError) as found:
            look()
        messages.add(found.value.message)
        assert "\n" not in found.value.message
        assert found.value.message.startswith(f"{path}: ")
        assert found.value.hint or "cannot be read" in found.value.message
    return messages


def test_cut_at_any_byte(tmp_path, whole):
    path = tmp_path / "x.kres"
    cut = f"{path}: the snapshot is cut off, expected an end with a checksum"
    for at in places(whole, 200):
        assert refused(path, whole[:at]) == {cut if at else f"{path}: the file is empty, expected a snapshot"}


def test_cut_gzip(tmp_path, whole):
    path = tmp_path / "x.kres.gz"
    packed = gzip.compress(whole, mtime=0)
    for at in random.Random(2).sample(range(2, len(packed)), 200):
        assert refused(path, packed[:at])


def test_any_flipped_bit(tmp_path, whole):
    path = tmp_path / "x.kres"
    for at in places(whole, 200):
        data = bytearray(whole)
        data[at] ^= 1 << (at % 8)
        assert refused(path, data)


def test_flipped_bits_in_gzip_change_nothing_or_are_refused(tmp_path, whole):
    path, packed = tmp_path / "x.kres.gz", gzip.compress(whole, mtime=0)
    expected = list(store().all("Pod"))
    for at in range(2, len(packed), 7):
        data = bytearray(packed)
        data[at] ^= 1 << (at % 8)
        path.write_bytes(data)
        try:
            assert list(read(str(path)).all("Pod")) == expected
        except SnapshotError:
            continue
        assert at < 10, "only the gzip header has bits that mean nothing"


def swap(old, new):
    return lambda data: data.replace(old, new, 1)


def resum(data):
    """The data with the checksum that fits it."""
    before, _, _ = data.rpartition(b',"crc32":')
    before += b',"crc32":'
    return before + b"%d}\n" % zlib.crc32(before)


DAMAGE = {
    "another format": (swap(b'"format":2', b'"format":3'), "has format 3, expected 2 or older", "upgrade kubectl-kres"),
    "not ours": (lambda _: b'{"kind":"List"}\n', "this is no kres snapshot", "written by"),
    "binary": (lambda _: b"\x7fELF" * 20, "this is no kres snapshot", "written by"),
    "gzip of something": (lambda _: gzip.compress(b"hello"), "this is no kres snapshot", "written by"),
    "gzip of nothing": (lambda _: gzip.compress(b""), "the file is empty", "take it again"),
    "gzip magic only": (lambda _: b"\x1f\x8b", "cut off", "take it again"),
    "gzip of another method": (
        lambda _: b"\x1f\x8b\x07" + b"\0" * 20,
        "the compressed data is broken",
        "take it again",
    ),
    "field in the header": (swap(b'"version"', b'"x":1,"version"'), "its header cannot be read", "take it again"),
    "something behind the end": (lambda data: data + b"\n", "something follows its end", "take it again"),
    "a second snapshot": (lambda data: data * 2, "something follows its end", "take it again"),
    "a line missing": (
        lambda data: b"\n".join(data.split(b"\n")[:1] + data.split(b"\n")[2:]),
        "checksum differs",
        "again",
    ),
    "a kind of the future": (
        lambda data: resum(data.replace(b'"kind":"Pod"', b'"kind":"Foo"')),
        "holds Foo objects",
        "upgrade",
    ),
    "a wrong type": (
        lambda data: resum(swap(b'"name":"p1"', b'"name":1111')(data)),
        "a page of Pod objects cannot be read",
        "again",
    ),
    "a wrong number": (
        lambda data: resum(swap(b'"objects":120', b'"objects":121')(data)),
        "number of objects is wrong",
        "again",
    ),
    "an odd line": (swap(b'\n{"kind"', b'\n{"Kind"'), "a line is no page of objects", "again"),
    "an odd end": (swap(b'"objects":', b'"Objects":'), "its end cannot be read", "again"),
}


@pytest.mark.parametrize(("change", "message", "hint"), DAMAGE.values(), ids=DAMAGE)
def test_what_is_wrong_is_said(tmp_path, whole, change, message, hint):
    path = tmp_path / "x.kres"
    path.write_bytes(change(whole))
    with pytest.raises(SnapshotError) as found:
        read(str(path))
    assert message in found.value.message
    assert hint in found.value.hint


def test_a_line_without_end_is_not_read_into_memory(tmp_path, whole, monkeypatch):
    monkeypatch.setattr(reading, "LONGEST", 1 << 18)
    (tmp_path / "x.kres").write_bytes(whole[:20] + b"x" * (1 << 20))
    with pytest.raises(SnapshotError, match="cut off"):
        read(str(tmp_path / "x.kres"))


@pytest.mark.parametrize(("name", "message"), [("none", "No such file or directory"), (".", "Is a directory")])
def test_a_file_that_cannot_be_read(tmp_path, name, message):
    with pytest.raises(SnapshotError, match=f"the snapshot cannot be read: {message}"):
        header(str(tmp_path / name))


def full(*_):
    raise OSError(28, "No space left on device")


def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, whole):
    path = tmp_path / "x.kres"
    path.write_bytes(whole)
    monkeypatch.setattr(replace.os, "fsync", full)
    with pytest.raises(SnapshotError) as found:
        write(Store(Origin("cluster")), str(path))
    assert found.value.message == f"{path}: the snapshot cannot be written: No space left on device"
    assert found.value.hint.startswith("no file was changed")
    assert path.read_bytes() == whole
    assert list(tmp_path.iterdir()) == [path]


def test_reading_that_fails_midway_writes_nothing(tmp_path):
    def come():
        yield "Pod", [pod.Pod()]
        raise KeyboardInterrupt

    for name in ("x.kres", "x.kres.gz"):
        with pytest.raises(KeyboardInterrupt):
            write_stream(Header(), come(), str(tmp_path / name))
    assert list(tmp_path.iterdir()) == []


def test_the_real_full_device(whole):
    with pytest.raises(SnapshotError, match="/dev/full: the snapshot cannot be written: No space left on device"):
        write(store(), "/dev/full")


def test_a_directory_that_is_not_there(tmp_path):
    with pytest.raises(SnapshotError, match="cannot be written: No such file or directory"):
        write(store(), str(tmp_path / "none" / "x.kres"))


def test_a_link_stays_a_link(tmp_path, whole):
    (tmp_path / "real.kres").write_bytes(b"old")
    (tmp_path / "x.kres").symlink_to("real.kres")
    write(store(), str(tmp_path / "x.kres"))
    assert (tmp_path / "x.kres").is_symlink()
    assert (tmp_path / "real.kres").read_bytes() == whole
    assert sorted(path.name for path in tmp_path.iterdir()) == ["real.kres", "x.kres"]


def test_a_closed_pipe_is_not_taken_for_a_full_disk(tmp_path, monkeypatch):
    def come():
        raise BrokenPipeError
        yield

    with pytest.raises(BrokenPipeError):
        write_stream(Header(), come(), str(tmp_path / "x.kres"))
