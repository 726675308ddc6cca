"""Which clusters there are: names of snapshots, contexts of one cluster, shards; and the order of rows."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_kres.cluster.kubeconfig.files import ClusterEntry, Context, MergedKubeconfig
from kubectl_kres.errors import Forbidden, NewerSnapshot, SnapshotError, TimedOut, Unreachable, UsageError
from kubectl_kres.fleet.clusters import FleetCluster, contexts, shard, snapshots
from kubectl_kres.fleet.rows import parse_cell_amount
from kubectl_kres.fleet.status import ClusterStatus, exit_code, state_of, total, worst_first
from kubectl_kres.quantity import parse


def made(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


def test_a_snapshot_is_called_as_its_file_with_the_folders_that_tell_it_apart(tmp_path: Path):
    made(
        tmp_path, "eu/a/prod.kres", "us/a/prod.kres.gz", "us/dev.kres", "us/notes.txt", "x/same.kres", "x/same.kres.gz"
    )
    found = snapshots([f"{tmp_path}/**/*.kres*"])
    names = [one.name for one in found]
    assert names[1:4] == ["dev", "eu/a/prod", "us/a/prod"] or {"dev", "eu/a/prod", "us/a/prod"} < set(names)
    assert len(set(names)) == 5
    assert [one.name for one in snapshots([str(tmp_path / "us"), f"{tmp_path}/us/d*"])] == ["dev"]


def kubeconfig() -> MergedKubeconfig:
    clusters = {
        "one": ClusterEntry(server="https://one:6443"),
        "again": ClusterEntry(server="HTTPS://one:6443/"),
        "tunnel": ClusterEntry(server="https://one:6443", proxy_url="socks5://bastion"),
        "two": ClusterEntry(server="https://two:6443"),
    }
    named = {"admin@one": "one", "dev@one": "again", "far": "tunnel", "two": "two", "lost-1": "gone", "lost-2": "gone"}
    return MergedKubeconfig(clusters=clusters, contexts={name: Context(cluster=held) for name, held in named.items()})


def test_two_contexts_of_one_cluster_count_once():
    found = contexts(["*"], kubeconfig())
    assert [(one.name, one.other_contexts) for one in found] == [
        ("admin@one", ("dev@one",)),
        ("far", ()),
        ("lost-1", ()),
        ("lost-2", ()),
        ("two", ()),
    ]
    assert [one.name for one in contexts(["dev*", "two"], kubeconfig())] == ["dev@one", "two"]
    with pytest.raises(UsageError, match="no context matches; the kubeconfig has admin@one"):
        contexts(["prod-*"], kubeconfig())


@pytest.mark.thorough
@given(st.sets(st.text(max_size=20), max_size=40), st.integers(1, 9))
def test_shards_are_a_partition_that_depends_on_the_name_alone(names: set[str], count: int):
    every = [FleetCluster(name) for name in sorted(names)]
    parts = [shard(every, index, count) for index in range(count)]
    assert sorted(one.name for part in parts for one in part) == sorted(names)
    for one in every:
        assert [shard([one], index, count) for index in range(count)].count((one,)) == 1
        assert one in parts[next(index for index in range(count) if shard([one], index, count))]


def test_errors_have_their_states():
    errors = (
        TimedOut(""),
        Unreachable(""),
        Forbidden("", code=403),
        NewerSnapshot(""),
        SnapshotError(""),
        UsageError(""),
    )
    assert [*map(state_of, errors)] == ["timed-out", "unreachable", "denied", "newer", "damaged", "failed"]


def test_the_worst_come_first_and_sums_are_exact():
    found = [
        ClusterStatus("fine", "answered", rank=(10,), figures={"pods": 3, "requests.memory": "9007199254740993"}),
        ClusterStatus("full", "answered", rank=(100,), figures={"pods": 4, "requests.memory": "1", "name": "x"}),
        ClusterStatus("part", "partial", rank=(0,)),
        ClusterStatus("away", "unreachable"),
    ]
    assert [one.cluster for one in worst_first(found)] == ["away", "part", "full", "fine"]
    assert total(found, ("pods", "requests.memory")) == {"pods": 7, "requests.memory": "9007199254740994"}


def test_exit_codes():
    good, bad = ClusterStatus("a", "answered", negative=True), ClusterStatus("b", "denied")
    for rows, partial, negative, code in (
        ([], False, True, 0),
        ([bad], True, False, 3),
        ([good, bad], False, True, 4),
        ([good, bad], True, True, 1),
        ([good, bad], True, False, 0),
        ([good], False, True, 1),
    ):
        assert exit_code(rows, allow_partial=partial, negative=negative) == code


@pytest.mark.parametrize(
    ("name", "text", "number", "unit"),
    [
        ("requests.memory", "9Pi", 9 * 2**50, "bytes"),
        ("memory", "16E", None, "bytes"),
        ("limits.cpu", "1500u", 2, "millicores"),
        ("hugepages-2Mi", "4Mi", 4 << 20, "bytes"),
        ("fast.storageclass.storage.k8s.io/requests.storage", "1Gi", 1 << 30, "bytes"),
        ("requests.nvidia.com/gpu", "4", 4, "count"),
        ("pods", "10", 10, "count"),
    ],
)
def test_amounts_are_whole_numbers_where_64_bits_hold_them(name: str, text: str, number: int | None, unit: str):
    assert parse_cell_amount(name, parse(text)) == (number, unit)
