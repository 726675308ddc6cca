"""A folder of snapshots: ``[`` and ``]`` go through time on the same screen."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from tui.driving import LARGE, SHOP, app_on, demo, drive, typed

from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.terminal import newest
from kubectl_kres.errors import UsageError
from kubectl_kres.snapshot.read import read
from kubectl_kres.snapshot.write import write

pytestmark = pytest.mark.one_in(3)

TIMES = ("2026-03-01T10:00:00Z", "2026-03-02T10:00:00Z", "2026-03-03T10:00:00Z")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Of three days; each has a quota more than the day before. Names do not tell the order."""
    store = read(str(SHOP))
    quota = store.get("ResourceQuota", "team", "shop")
    for name, time in zip("cab", TIMES, strict=True):
        more = replace(quota, metadata=replace(quota.metadata, name=f"from-{time[:10]}"))
        store.add("ResourceQuota", more)
        store.origin = replace(store.origin, time=time, context="prod")
        write(store, str(tmp_path / f"{name}.kres"))
    return tmp_path


def days(shown: str) -> list[str]:
    return [time[:10] for time in TIMES if f"from-{time[:10]}" in shown]


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    ("keys", "expected", "said"),
    [
        ((), 3, ""),
        (("[",), 2, "snapshot 2 of 3"),
        (("[", "["), 1, "snapshot 1 of 3"),
        (("[", "[", "["), 1, "this is the oldest snapshot"),
        (("[", "]"), 3, "snapshot 3 of 3"),
        (("]",), 3, "this is the newest snapshot"),
    ],
)
def test_the_same_list_at_other_moments(folder: Path, keys: tuple[str, ...], expected: int, said: str):
    session = newest(Options(snapshot=str(folder)))
    shown = drive(app_on(session, "quotas"), list(keys), lambda app: None, size=LARGE)
    assert days(shown) == [time[:10] for time in TIMES[:expected]]
    assert f"as of {TIMES[expected - 1][:10]} 10:00" in shown
    assert said in shown and "overview > quotas" in shown


def test_the_namespace_stays(folder: Path):
    session = newest(Options(snapshot=str(folder)))
    shown = drive(app_on(session), [":", *typed("quotas checkout"), "enter", "["], lambda app: None, size=LARGE)
    assert "ns checkout" in shown and "from-" not in shown and TIMES[1][:10] in shown


def test_without_a_folder_they_go_through_the_history():
    shown = drive(demo("pods"), [":", *typed("quotas"), "enter", "["], lambda app: None, size=LARGE)
    assert "overview > pods" in shown


def test_what_cannot_be_read_is_named(folder: Path):
    (folder / "cut.kres").write_bytes((folder / "a.kres").read_bytes()[:10])
    session = newest(Options(snapshot=str(folder)))
    shown = drive(app_on(session, "quotas"), ["["], lambda app: None, size=LARGE)
    assert "snapshot 2 of 3; cannot be read: cut.kres" in shown


def test_folders_that_are_no_way_through_time(tmp_path: Path, folder: Path):
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(UsageError, match=r"there is no snapshot in it$"):
        newest(Options(snapshot=str(empty)))
    (empty / "broken.kres").write_bytes(b"no")
    with pytest.raises(UsageError, match=r"none of broken\.kres can be read"):
        newest(Options(snapshot=str(empty)))
    store = read(str(folder / "a.kres"))
    store.origin = replace(store.origin, context="test")
    write(store, str(folder / "other.kres"))
    with pytest.raises(UsageError, match="of several clusters: prod, test"):
        newest(Options(snapshot=str(folder)))
