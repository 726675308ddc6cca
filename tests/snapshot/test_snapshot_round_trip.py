"""What goes into a snapshot comes out of it."""

import gzip
import io
import json
import stat
import sys
from types import SimpleNamespace

import msgspec
import pytest
from examples import examples
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from kubectl_kres.errors import SnapshotError
from kubectl_kres.model import kinds, pod, quota_objects, workload
from kubectl_kres.model import objects as meta
from kubectl_kres.model import objects as policy
from kubectl_kres.snapshot import read as demo
from kubectl_kres.snapshot.format import PAGE, Header
from kubectl_kres.snapshot.read import header, lines, pages, read
from kubectl_kres.snapshot.write import write, write_stream
from kubectl_kres.store.store import READ, Coverage, Origin, ReadRequest, Store

ORIGIN = Origin("cluster", "https://192.0.2.1:6443", "v1.36.3", "2026-11-20T10:00:00Z", "prod")
names = st.text("abc-", min_size=1, max_size=4)
texts = st.text(max_size=6)
amounts = st.sampled_from(["0", "1", "250m", "1.5Gi", "1e3", "-2"])
quantities = st.dictionaries(texts, st.one_of(amounts, st.integers(-(2**62), 2**62), st.none()), max_size=3)
lists = st.none() | quantities
resources = st.builds(pod.ResourceRequirements, limits=lists, requests=lists)
containers = st.none() | st.lists(
    st.builds(pod.Container, name=texts, resources=st.none() | resources), max_size=2
).map(tuple)
specs = st.builds(
    pod.PodSpec,
    containers=containers,
    init_containers=containers,
    overhead=lists,
    priority=st.none() | st.integers(-9, 9),
)


def metadata(struct=meta.Metadata):
    labels = st.none() | st.dictionaries(texts, texts, max_size=2)
    kept = st.none() | st.dictionaries(st.just("vpaUpdates"), texts, min_size=1)
    return st.builds(struct, name=names, namespace=names, labels=labels, annotations=kept, generation=st.integers(0, 9))


managed = metadata(meta.ManagedMetadata)
detailed = st.none() | st.lists(
    st.builds(pod.DetailedContainer, name=texts, resources=st.none() | resources), max_size=2
).map(tuple)
held = st.builds(pod.DetailedSpec, containers=detailed, init_containers=detailed, overhead=lists)
template = st.builds(pod.DetailedTemplate, metadata=metadata(), spec=held)
objects = {
    "Pod": st.builds(pod.Pod, metadata=metadata(), spec=specs)
    | st.builds(pod.ManagedPod, metadata=managed, spec=specs),
    "Deployment": st.builds(
        workload.Workload,
        metadata=managed,
        kind=st.just("Deployment"),
        spec=st.builds(workload.WorkloadSpec, template=st.none() | template),
    ),
    "LimitRange": st.builds(
        policy.LimitRange,
        metadata=managed,
        spec=st.builds(
            policy.LimitRangeSpec,
            limits=st.lists(st.builds(policy.LimitRangeItem, type=texts, max=lists), max_size=2).map(tuple),
        ),
    ),
    "ResourceQuota": st.builds(
        policy.ResourceQuota, metadata=managed, status=st.builds(policy.ResourceQuotaStatus, hard=lists, used=lists)
    ),
    "PersistentVolumeClaim": st.builds(quota_objects.PersistentVolumeClaim, metadata=metadata()),
}
needs = st.builds(ReadRequest, kind=st.sampled_from(sorted(objects)), namespace=names, required=st.booleans())
coverages = st.builds(Coverage, state=st.sampled_from(["read", "denied", "absent", "failed"]), message=texts)


@st.composite
def stores(draw):
    store = Store(ORIGIN)
    for kind, made in objects.items():
        for item in draw(st.lists(made, max_size=3)):
            store.add(kind, item)
    for need, coverage in draw(st.dictionaries(needs, coverages, max_size=3)).items():
        store.cover(need, coverage)
    return store


def held(store):
    return {kind: list(store.all(kind)) for kind in store.kinds()}


@given(stores())
@examples(60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_store_survives(tmp_path_factory, store):
    directory = tmp_path_factory.getbasetemp()
    for name in ("x.kres", "x.kres.gz"):
        path = str(directory / name)
        assert write(store, path) == sum(map(len, held(store).values()))
        back = read(path)
        assert held(back) == held(store)
        assert back.coverages() == store.coverages()
        assert back.origin == Origin(
            "snapshot", path, ORIGIN.version, ORIGIN.time, ORIGIN.context, reading=f"--snapshot {path}"
        )
        assert {kind: [item for page in pages(path, kind) for item in page] for kind in store.kinds()} == held(store)


def some(count, *, reverse=False):
    store = Store(ORIGIN)
    order = range(count)[::-1] if reverse else range(count)
    for index in order:
        labels = {"b": "1", "a": "2"} if reverse else {"a": "2", "b": "1"}
        store.add("Pod", pod.Pod(metadata=meta.Metadata(name=f"p{index:04}", namespace="n", labels=labels)))
        store.cover(ReadRequest("Pod", f"n{index % 3}"), READ)
    store.cover(ReadRequest("Secret"), Coverage("denied", "no"))
    return store


@pytest.mark.parametrize("name", ["x.kres", "x.kres.gz"])
def test_equal_stores_make_equal_bytes(tmp_path, name):
    first, second = tmp_path / name, tmp_path / f"other-{name}"
    write(some(250), str(first))
    write(some(250, reverse=True), str(second))
    assert first.read_bytes() == second.read_bytes()
    assert (first.read_bytes()[:2] == b"\x1f\x8b") == name.endswith(".gz")


def test_the_form(tmp_path):
    path = tmp_path / "x.kres"
    write(some(2 * PAGE + 1), str(path))
    rows = [json.loads(row) for row in path.read_text().splitlines()]
    assert rows[0]["kres"] == "snapshot"
    assert rows[0]["format"] == 2
    assert rows[0]["counts"] == {"Pod": 201}
    assert rows[0]["origin"] == ORIGIN.name
    assert len(rows[0]["coverage"]) == 4
    assert [len(row["items"]) for row in rows[1:-1]] == [100, 100, 1]
    assert {row["kind"] for row in rows[1:-1]} == {"Pod"}
    assert (rows[-1]["end"], rows[-1]["objects"]) == (True, 201)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert header(str(path)).counts == {"Pod": 201}


def test_gzip_is_known_by_content(tmp_path):
    plain, packed = tmp_path / "x.kres", tmp_path / "y.kres"
    write(some(3), str(plain))
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert held(read(str(packed))) == held(some(3))


def test_pages_are_written_as_they_come(tmp_path):
    path = str(tmp_path / "x.kres")
    seen = {}

    def come():
        for kind, count in (("Pod", 250), ("Namespace", 1), ("Pod", 1)):
            seen[ReadRequest(kind)] = READ
            yield (
                kind,
                [
                    kinds.BY_KIND[kind].struct(metadata=meta.ManagedMetadata(name=f"{kind}{count}{i}"))
                    for i in range(count)
                ],
            )

    assert write_stream(Header(coverage=()), come(), path, coverage=lambda: seen) == 252
    assert [len(page) for page in pages(path, "Pod")] == [100, 100, 50, 1]
    assert read(path).coverages() == {ReadRequest("Pod"): READ, ReadRequest("Namespace"): READ}
    assert list(pages(path, "Service")) == []


def test_standard_output(monkeypatch, tmp_path):
    out = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(buffer=out))
    write(some(3), "-")
    (tmp_path / "x.kres").write_bytes(out.getvalue())
    assert held(read(str(tmp_path / "x.kres"))) == held(some(3))


def test_a_kind_without_a_struct_is_refused(tmp_path):
    path = tmp_path / "x.kres"
    with pytest.raises(SnapshotError, match="a snapshot holds no Secret"):
        write_stream(Header(), [("Secret", [pod.Pod()])], str(path))
    assert list(tmp_path.iterdir()) == []


@given(st.lists(st.binary(max_size=40).map(lambda data: data.replace(b"\n", b"")), max_size=8), st.binary(max_size=5))
@examples(60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_lines_of_any_length(rows, last):
    data = b"".join(row + b"\n" for row in rows) + last
    found = [bytes(line) for line in lines(io.BytesIO(data), size=4)]
    assert found == data.splitlines(keepends=True) or b"".join(found) == data
    assert found == [row for row in data.replace(b"\n", b"\n\0").split(b"\0") if row] or b"\0" in data


def test_the_demo_is_in_the_package():
    path = demo.demo_path()
    assert (path.parent.name, path.name) == ("demo", "shop.kres")
    assert (path.parent.parent / "errors.py").exists()


def test_a_pod_with_managers_comes_back_as_one(tmp_path):
    store = Store(ORIGIN)
    entry = meta.ManagedFields("vpa", "Update", "t", "resize", {"f:spec": {"f:overhead": {}}})
    store.add("Pod", pod.ManagedPod(metadata=meta.ManagedMetadata(name="a", managed_fields=(entry,))))
    store.add("Pod", pod.Pod(metadata=meta.Metadata(name="b")))
    write(store, str(tmp_path / "x.kres"))
    back = read(str(tmp_path / "x.kres"))
    assert back.get("Pod", "a").metadata.managed_fields == (entry,)
    assert type(back.get("Pod", "b")) is pod.Pod
    assert msgspec.structs.astuple(back.get("Pod", "b").metadata)[0] == "b"
