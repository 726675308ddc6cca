"""Whose parts a bundle holds, and how its start is judged."""

from __future__ import annotations

from pathlib import Path

import pytest

from release import inventory, start


def libraries(folder: Path, *names: str) -> list[inventory.Component]:
    for name in names:
        (folder / name).write_bytes(b"")
    return list(inventory._libraries(folder, {}))


def test_libraries_by_the_project_that_they_are_of(tmp_path: Path):
    found = libraries(
        tmp_path, "libssl.so.3", "libcrypto.so.3", "libz.so.1", "libpython3.13.so.1.0", "msgspec", "a.pyc"
    )
    assert [(one.name, one.licence, [file.name for file in one.files]) for one in found] == [
        ("OpenSSL", "Apache-2.0", ["libcrypto.so.3", "libssl.so.3"]),
        ("zlib", "Zlib", ["libz.so.1"]),
    ]
    assert "Licence: Zlib" in found[1].text
    assert f"\nzlib {found[1].version}\nZlib\n" in inventory.notices(found)


@pytest.mark.parametrize(
    "name", ["libcrypto.3.dylib", "libffi-8.dll", "VCRUNTIME140.dll", "api-ms-win-crt-heap-l1-1-0.dll"]
)
def test_libraries_of_other_systems(tmp_path: Path, name: str):
    assert len(libraries(tmp_path, name)) == 1


@pytest.mark.parametrize("name", ["libreadline.so.8", "libzmq.so.5", "sqlite3.dll"])
def test_a_library_that_nobody_looked_at_ends_the_build(tmp_path: Path, name: str):
    with pytest.raises(SystemExit, match=f"whose library is {name}"):
        libraries(tmp_path, name)


@pytest.mark.parametrize(("bundle", "code"), [(0.05, 0), (0.075, 0), (0.08, 1)])
def test_a_bundle_that_starts_late_is_not_released(
    bundle: float, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """The best run counts: one that was held up says nothing."""
    times = {"script": [0.05, 9.0] * 99, "bundle": [9.0, bundle] * 99}
    monkeypatch.setattr(start, "_run", lambda program, _words: times[program.name].pop())
    assert start.compare(Path("script"), Path("bundle")) == code
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(start.COMMANDS)
    assert f"bundle {bundle * 1000:.0f} ms, script 50 ms, ratio {bundle / 0.05:.2f}" in lines[0]
