"""Archives: the same bytes from the same files, and nothing in them that krew refuses."""

from __future__ import annotations

import io
import os
import tarfile
import zipfile
from pathlib import Path

import pytest

from release import archive, krew
from release.names import PLATFORMS

EPOCH = 1767225600
PROGRAM = "kubectl-kres"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "bundle"
    (folder / "_internal").mkdir(parents=True)
    (folder / PROGRAM).write_bytes(b"\x7fELF")
    (folder / PROGRAM).chmod(0o755)
    (folder / "LICENSE").write_text("Apache-2.0")
    (folder / "_internal" / "a.pyc").write_bytes(b"a" * 1000)
    (folder / "_internal" / "b.so").symlink_to("a.pyc")
    return folder


@pytest.mark.parametrize("name", ["a.tar.gz", "a.zip"])
def test_the_same_files_give_the_same_bytes(folder: Path, tmp_path: Path, name: str):
    one, other = tmp_path / f"1{name}", tmp_path / f"2{name}"
    archive.pack(folder, one, EPOCH)
    for path in folder.rglob("*"):
        os.utime(path, (1, 1), follow_symlinks=False)
        if not path.is_symlink():
            path.chmod(0o700 if path.is_dir() or path.name == PROGRAM else 0o600)
    archive.pack(folder, other, EPOCH)
    assert one.read_bytes() == other.read_bytes()
    assert list(archive.faults(one, PROGRAM)) == []
    held = {entry.name: entry for entry in archive.entries(one)}
    assert sorted(held) == ["LICENSE", "_internal/a.pyc", "_internal/b.so", PROGRAM]
    assert {entry.kind for entry in held.values()} == {"file"}
    archive.pack(folder, other, EPOCH + 3600)
    assert one.read_bytes() != other.read_bytes()


def tar_with(path: Path, *members: tarfile.TarInfo) -> Path:
    program = tarfile.TarInfo(PROGRAM)
    program.mode = 0o755
    with tarfile.open(path, "w:gz") as tar:
        for member in (program, tarfile.TarInfo("LICENSE"), *members):
            tar.addfile(member, io.BytesIO(b"") if member.isreg() else None)
    return path


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


@pytest.mark.parametrize(
    ("bad", "fault"),
    [
        (member("lib.so", tarfile.SYMTYPE, "lib.so.1"), "lib.so is a link"),
        (member("lib.so", tarfile.LNKTYPE, "LICENSE"), "lib.so is a link"),
        (member("pipe", tarfile.FIFOTYPE), "pipe is a device"),
        (member("a..b.txt"), 'a..b.txt has ".." in its name'),
        (member("../escape"), '../escape has ".." in its name'),
        (member("/etc/passwd"), "/etc/passwd is an absolute path"),
        (member("C:/x"), "C:/x is an absolute path"),
    ],
)
def test_members_that_krew_refuses(tmp_path: Path, bad: tarfile.TarInfo, fault: str):
    assert list(archive.faults(tar_with(tmp_path / "a.tar.gz"), PROGRAM)) == []
    assert list(archive.faults(tar_with(tmp_path / "b.tar.gz", bad), PROGRAM)) == [fault]


def test_links_in_a_zip(tmp_path: Path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("kubectl-kres.exe", b"")
        packed.writestr("LICENSE", b"")
        link = zipfile.ZipInfo("link")
        link.external_attr = 0o120777 << 16
        packed.writestr(link, b"LICENSE")
    assert list(archive.faults(path, "kubectl-kres.exe")) == ["link is a link"]


@pytest.mark.parametrize(
    ("content", "fault"),
    [(b"\xfd7zXZ\0", "neither a tar.gz nor a zip"), (b"", "neither"), (b"\x1f\x8b\x08\0cut off", "cannot be unpacked")],
)
def test_what_is_no_archive(tmp_path: Path, content: bytes, fault: str):
    path = tmp_path / "a.tar.gz"
    path.write_bytes(content)
    (found,) = archive.faults(path, PROGRAM)
    assert fault in found


def test_what_is_missing(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "a.tar.gz"
    (folder / "LICENSE").unlink()
    (folder / PROGRAM).chmod(0o644)
    archive.pack(folder, path, EPOCH)
    assert list(archive.faults(path, PROGRAM)) == [f"{PROGRAM} is not executable", "there is no LICENSE"]
    (folder / PROGRAM).unlink()
    archive.pack(folder, path, EPOCH)
    assert list(archive.faults(path, PROGRAM)) == [f"{PROGRAM} is missing", "there is no LICENSE"]
    monkeypatch.setattr(archive, "LARGEST", 100)
    assert "more than 100" in next(archive.faults(path, PROGRAM))


def test_the_manifest_is_held_against_the_archives(folder: Path, tmp_path: Path):
    place = PLATFORMS[0]
    path = tmp_path / "a.tar.gz"
    archive.pack(folder, path, EPOCH)

    def faults(sha: str) -> list[str]:
        text = krew.render("v1.2.3", {place: sha}, {place: "https://example.org/a.tar.gz"})
        return list(krew.faults(text, archives=tmp_path))

    assert faults(archive.sha256(path)) == []
    assert faults("0" * 64) == ["platforms[0]: sha256 is not that of a.tar.gz"]
    tar_with(path, member("link", tarfile.SYMTYPE, "LICENSE"))
    assert faults(archive.sha256(path)) == ["platforms[0]: a.tar.gz: link is a link"]
