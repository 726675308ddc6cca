"""What the scheduler looks at: in a snapshot, out of it when it is asked for, and with no text of people."""

from __future__ import annotations

import json

import msgspec

from kubectl_kres.model import scheduling
from kubectl_kres.model.objects import BOUND_PODS
from kubectl_kres.model.scheduling import PersistentVolume, SchedulingNode, SchedulingPod, StorageClaim
from kubectl_kres.scheduling.node_info import gather_pods
from kubectl_kres.snapshot.format import Header
from kubectl_kres.snapshot.read import read
from kubectl_kres.snapshot.scheduling import find_views
from kubectl_kres.snapshot.write import write, write_stream
from kubectl_kres.store.store import READ, Origin, ReadRequest, Store

SECRET = "do-not-keep"
UNSCHEDULABLE = {"phase": "Pending", "conditions": [{"type": "PodScheduled", "reason": "Unschedulable"}]}


def pod(name, status=None, **spec):
    container = {
        "name": "app", "image": SECRET, "env": [{"name": "A", "value": SECRET}],
        "resources": {"requests": {"cpu": "250m", "memory": "1Gi"}}, "ports": [{"containerPort": 80}],
    }  # fmt: skip
    metadata = {"name": name, "namespace": "shop", "labels": {"app": "web"}, "annotations": {"a": SECRET}}
    raw = {"metadata": metadata, "spec": {"containers": [container], **spec}, "status": status or {"phase": "Running"}}
    return msgspec.convert(raw, SchedulingPod)


AFFINITY = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "web"}}}
        ]
    }
}
VOLUMES = [
    {"name": "data", "persistentVolumeClaim": {"claimName": "data-0"}},
    {"name": "scratch", "emptyDir": {}},
    {"name": "disk", "gcePersistentDisk": {"pdName": SECRET}},
]
WAITING = pod(
    "waits", UNSCHEDULABLE, nodeSelector={"disk": "ssd"}, tolerations=[{"key": "gpu"}], volumes=VOLUMES,
    topologySpreadConstraints=[{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}],
)  # fmt: skip
PODS = [
    pod("runs", nodeName="n1", affinity=AFFINITY, priority=7, volumes=VOLUMES),
    pod("ended", {"phase": "Succeeded"}, nodeName="n1"),
    pod("promised", {"phase": "Pending", "nominatedNodeName": "n1"}),
    WAITING,
]
NODE = msgspec.convert(
    {
        "metadata": {"name": "n1", "labels": {"zone": "a"}, "annotations": {"a": SECRET}},
        "spec": {"unschedulable": True, "taints": [{"key": "gpu", "effect": "NoSchedule"}]},
        "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}},
    },
    SchedulingNode,
)


def store() -> Store:
    made = Store(Origin("cluster"))
    made.add(scheduling.NODES, NODE)
    made.add(scheduling.POD, WAITING)
    made.add(BOUND_PODS, gather_pods([PODS]))
    for kind in (scheduling.NODES, scheduling.POD, BOUND_PODS):
        made.cover(ReadRequest(kind), READ)
    return made


def written(tmp_path, made: Store) -> Store:
    path = str(tmp_path / "x.kres")
    write(made, path)
    return read(path)


def test_nodes_and_pods_come_out_when_they_are_asked_for(tmp_path):
    back = written(tmp_path, store())
    assert scheduling.NODES not in back.kinds()
    assert back.covered(ReadRequest(scheduling.NODES)).is_known
    (node,) = back.all(scheduling.NODES)
    assert (node.spec, node.status, node.metadata.labels) == (NODE.spec, NODE.status, NODE.metadata.labels)
    (pods,) = back.all(BOUND_PODS)
    before = gather_pods([PODS])
    (runs,), (old,) = pods.on_nodes["n1"], before.on_nodes["n1"]
    assert (runs.requests, runs.anti_affinity, runs.priority) == (old.requests, old.anti_affinity, old.priority)
    assert [(node, each.name, each.nominated) for node, each in pods.nominated] == [("n1", "promised", True)]
    waits = back.get(scheduling.POD, "waits", "shop")
    assert waits.spec.node_selector == {"disk": "ssd"}
    assert waits.spec.tolerations == WAITING.spec.tolerations
    assert waits.spec.topology_spread_constraints == WAITING.spec.topology_spread_constraints
    assert [volume.name for volume in waits.spec.volumes] == ["data", "disk"]


def test_texts_of_people_are_not_kept(tmp_path):
    made = store()
    claim = {"metadata": {"name": "data-0", "annotations": {"a": SECRET, "pv.kubernetes.io/bind-completed": "yes"}}}
    volume = {"metadata": {"name": "v"}, "spec": {"csi": {"driver": "d", "volumeHandle": SECRET}}}
    made.add(scheduling.CLAIMS, msgspec.convert(claim, StorageClaim))
    made.add(scheduling.VOLUMES, msgspec.convert(volume, PersistentVolume))
    back = written(tmp_path, made)
    assert SECRET not in (tmp_path / "x.kres").read_text()
    (kept,) = back.all(scheduling.CLAIMS)
    assert kept.metadata.annotations == {"pv.kubernetes.io/bind-completed": "yes"}


def test_disks_that_were_equal_stay_equal(tmp_path):
    back = written(tmp_path, store())
    (pods,) = back.all(BOUND_PODS)
    (runs,) = pods.on_nodes["n1"]
    own = back.get(scheduling.POD, "waits", "shop").spec.volumes[-1]
    assert own.gce_persistent_disk.pd_name
    assert runs.volumes[-1].gce_persistent_disk == own.gce_persistent_disk


def test_equal_stores_make_equal_bytes_once_more(tmp_path):
    first, second = tmp_path / "a.kres", tmp_path / "b.kres"
    write(store(), str(first))
    again = read(str(first))
    again.origin = store().origin
    write(again, str(second))
    assert first.read_bytes() == second.read_bytes()


def test_a_page_of_the_server_is_split(tmp_path):
    pairs = list(find_views("Pod", PODS, everywhere=True))
    assert [(kind, [each.metadata.name for each in items]) for kind, items in pairs] == [
        (scheduling.POD, ["waits"]),
        (BOUND_PODS, ["runs", "promised"]),
    ]
    path = str(tmp_path / "x.kres")
    assert write_stream(Header(), pairs, path) == 0  # of pods that are counted elsewhere
    assert len(next(read(path).all(BOUND_PODS)).on_nodes["n1"]) == 1


def test_pods_of_one_namespace_do_not_say_what_is_free():
    assert dict(find_views("Pod", PODS, everywhere=False)).keys() == {scheduling.POD}


def test_a_pod_on_a_node_takes_little_room(tmp_path):
    path = tmp_path / "x.kres"
    write(store(), str(path))
    lines = path.read_text().splitlines()
    (page,) = (json.loads(line) for line in lines if line.startswith('{"kind":"Pod.on/nodes"'))
    runs = next(each for each in page["items"] if each["name"] == "runs")
    assert len(json.dumps({key: runs[key] for key in ("name", "namespace", "requests", "node")})) < 140
