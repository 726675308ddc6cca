"""What is done without git, with Python 3.11.2, and where a library asks for too new a glibc."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from release import archive, build


def test_without_git_the_time_is_a_fixed_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert build._time() == build._EPOCH


def sdist(folder: Path, name: str, kind: bytes = tarfile.REGTYPE) -> Path:
    path = folder / "a.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        info = tarfile.TarInfo(name)
        info.type, info.size = kind, 2 if kind == tarfile.REGTYPE else 0
        info.linkname = "/etc/passwd"
        tar.addfile(info, io.BytesIO(b"hi"))
    return path


@pytest.mark.parametrize("filters", [True, False], ids=["3.11.4", "3.11.2"])
def test_an_sdist_is_unpacked_by_any_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, filters: bool):
    if not filters:
        monkeypatch.delattr(tarfile, "data_filter")
    archive.unpack(sdist(tmp_path, "a/b.txt"), tmp_path / "out")
    assert (tmp_path / "out" / "a" / "b.txt").read_bytes() == b"hi"
    for name, kind in (("../b", tarfile.REGTYPE), ("/b", tarfile.REGTYPE), ("b", tarfile.SYMTYPE)):
        with pytest.raises(SystemExit, match="not unpacked"):
            archive.unpack(sdist(tmp_path, name, kind), tmp_path / "bad")
    assert not (tmp_path / "bad").exists()


def test_a_release_for_a_newer_glibc_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    library = tmp_path / "libpython3.13.so"
    library.write_bytes(b"\x7fELF GLIBC_2.17\0GLIBC_2.28\0")
    build._limit_glibc(tmp_path, releasing=True)
    assert capsys.readouterr().out == "needs glibc 2.28 or newer\n"
    library.write_bytes(b"\x7fELF GLIBC_2.28\0GLIBC_2.35\0")
    with pytest.raises(SystemExit, match=r"needs glibc 2\.35, a release may need 2\.28 at most"):
        build._limit_glibc(tmp_path, releasing=True)
    build._limit_glibc(tmp_path, releasing=False)
    assert "note: the archive needs glibc 2.35" in capsys.readouterr().out
