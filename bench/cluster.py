#!/usr/bin/env python3
"""Make a deterministic synthetic cluster for benchmarks (standard library only).

    python cluster.py --pods 100000 --out DIR            # 500 nodes, 200 namespaces, seed 1
    python cluster.py --pods 10000 --out DIR --nodes 100 --namespaces 50 --seed 7

The same arguments give the same bytes on every machine.  DIR then holds, for every kind:

    KIND.items   the objects as compact JSON, sorted as the API server sorts them
                 (by namespace, then by name), each followed by one comma
    KIND.index   little-endian unsigned 64-bit offsets, one for each object plus the end
    KIND.rows    the same objects as Table rows (pods only), with KIND.rowindex
    index.json   counts, and for each kind the range of object numbers of each namespace
    truth.json   what a correct reader must find (see below)

An object's bytes are items[index[i] : index[i+1] - 1]; a run of objects is one slice of the
file, which is how fake_apiserver.py answers LIST, paged or not, without encoding anything.

What is in it (shares are of the pods):
  * Deployments of 1 to 40 replicas, DaemonSets in kube-system (up to five a node), Jobs
  * about 7 kB for a pod: managedFields, env, probes, volumes, conditions, container statuses
  * QoS: about 15 % Guaranteed, 60 % Burstable, 25 % BestEffort
  * 5 % with init containers or sidecars (init containers with restartPolicy Always)
  * 2 % Tekton TaskRun pods (step containers, Tekton's own init containers)
  * 1 % with pod-level resources, a few with overhead, GPUs, hugepages, ephemeral-storage
  * 3 % Succeeded or Failed, 1 % Pending without a node
  * 1 or 2 ResourceQuotas and 0 to 2 LimitRanges in a namespace
Quantities are written as the server writes them back (canonical form).

truth.json: {"pods", "active", "qos": {class: n}, "namespaces": {name: {"pods": n, "active": n,
"qos": {class: n}, "requests": {resource: "milli-units"}, "limits": {…}}}}.  Sums are over the
active pods (phase neither Succeeded nor Failed) and are whole numbers of thousandths, written as
strings.  A pod's figure is: the pod-level value where one is set, otherwise the larger of (all
containers plus all sidecars) and (each plain init container plus the sidecars before it); then
plus the overhead (for limits only where a limit exists).
"""

from __future__ import annotations

import argparse
import json
import sys
from array import array
from pathlib import Path

from podjson import Maker
from podspec import RV0, WORDS, add


class Sink:
    """Objects of one kind on their way to disk."""

    def __init__(self, out: Path, kind: str, ext: str = "items", idx: str = "index") -> None:
        self.f = (out / f"{kind}.{ext}").open("wb")
        self.at, self.index, self.idx = 0, array("Q"), out / f"{kind}.{idx}"

    def put(self, data: bytes) -> None:
        self.index.append(self.at)
        self.f.write(data)
        self.f.write(b",")
        self.at += len(data) + 1

    def close(self) -> int:
        self.index.append(self.at)
        self.f.close()
        if sys.byteorder != "little":
            self.index.byteswap()
        self.idx.write_bytes(self.index.tobytes())
        return len(self.index) - 1


def fill(pieces: list[str], values: dict[str, str]) -> bytes:
    """The pieces of a template with the values of one pod in between."""
    return "".join(values[piece] if n & 1 else piece for n, piece in enumerate(pieces)).encode()


def make(out: Path, pods: int, nodes: int, namespaces: int, seed: int, rows: bool) -> dict:
    out.mkdir(parents=True, exist_ok=True)
    k = Maker(pods, nodes, namespaces, seed)
    r, names = k.r, k.names
    # how many pods each namespace has: a few big ones, many small ones
    daemons = min(5 * nodes, pods // 5) if "kube-system" in k.ns else 0
    weights = [r.paretovariate(1.1) for _ in k.ns]
    left, share = pods - daemons, {}
    for i, ns in enumerate(k.ns):
        share[ns] = int((pods - daemons) * weights[i] / sum(weights))
        left -= share[ns]
    share[k.ns[-1]] += left
    sink, rowsink = Sink(out, "pods"), Sink(out, "pods", "rows", "rowindex") if rows else None
    truth: dict = {"pods": 0, "active": 0, "qos": {}, "namespaces": {}}
    ranges: dict[str, dict[str, list[int]]] = {"pods": {}}
    serial, used_by_ns = 0, {}

    def day(n: int) -> str:
        return f"2026-{1 + n % 11:02d}-{1 + n % 28:02d}T{n % 24:02d}:{n % 60:02d}:{n % 59:02d}Z"

    shapes = ["plain", "sidecar", "tekton", "podlevel", "overhead", "gpu", "hugepages", "job"]
    for ns in k.ns:
        first, batch = len(sink.index), []
        t = truth["namespaces"][ns] = {"pods": 0, "active": 0, "qos": {}, "requests": {}, "limits": {}}
        todo = [("plain", share[ns])] + ([("daemon", daemons)] if ns == "kube-system" else [])
        for base, count in todo:
            left_here = count
            while left_here > 0:
                shape = base if base == "daemon" else r.choices(shapes, [88.2, 5, 2, 1, 0.4, 0.3, 0.1, 3])[0]
                size = min(left_here, nodes if base == "daemon" else min(40, int(r.paretovariate(0.9)) + 1))
                phase = "Running"
                if shape == "job":
                    phase, size = r.choice(["Succeeded", "Failed", "Succeeded"]), min(size, 6)
                elif shape == "tekton":
                    phase = r.choice(["Succeeded", "Running", "Succeeded"])
                elif base != "daemon" and r.random() < 0.01:
                    phase = "Pending"
                app = ("ds-" if base == "daemon" else "") + r.choice(WORDS)
                parts, rparts, sums, info = k.template(ns, app, shape, phase)
                for i in range(size):
                    serial += 1
                    node = r.randrange(nodes) if base != "daemon" else i
                    v = {
                        "@A": info["stem"] + names.tail(),
                        "@U": names.uid(),
                        "@R": str(RV0 + serial),
                        "@T": day(serial),
                        "@V": names.tail(),
                        "@N": k.nodes[node] if phase != "Pending" else "<none>",
                        "@H": f"10.{node // 250}.{node % 250}.17",
                        "@P": f"100.64.{serial // 250 % 250}.{serial % 250}",
                        "@C": f"{r.getrandbits(256):064x}",
                    }
                    batch.append((v["@A"], fill(parts, v), fill(rparts, v) if rowsink else b""))
                left_here -= size
                t["pods"] += size
                t["qos"][sums["qos"]] = t["qos"].get(sums["qos"], 0) + size
                if sums["active"]:
                    t["active"] += size
                    for which in ("requests", "limits"):
                        add(t[which], {a: b * size for a, b in sums[which].items()})
        batch.sort()
        for _, data, row in batch:
            sink.put(data)
            if rowsink:
                rowsink.put(row)
        ranges["pods"][ns] = [first, len(sink.index)]
        used_by_ns[ns] = {
            f"{w}.{res}": t[w][res] for w in ("requests", "limits") for res in ("cpu", "memory") if res in t[w]
        }
        truth["pods"] += t["pods"]
        truth["active"] += t["active"]
        add(truth["qos"], t["qos"])
        for which in ("requests", "limits"):
            t[which] = {a: str(b) for a, b in sorted(t[which].items())}
    counts = {"pods": sink.close()}
    if rowsink:
        rowsink.close()

    def meta(name: str, ns: str | None, **more: object) -> dict:
        nonlocal serial
        serial += 1
        m: dict = {"name": name}
        if ns:
            m["namespace"] = ns
        return m | {"uid": names.uid(), "resourceVersion": str(RV0 + serial), "creationTimestamp": day(serial)} | more

    def emit(kind: str, objects: list[tuple[str, dict]]) -> None:
        s, where = Sink(out, kind), {}
        for ns, o in objects:
            where.setdefault(ns, [len(s.index), 0])
            s.put(json.dumps(o, separators=(",", ":")).encode())
            where[ns][1] = len(s.index)
        counts[kind], ranges[kind] = s.close(), {n: w for n, w in where.items() if n}

    emit(
        "nodes",
        [
            (
                "",
                {
                    "metadata": meta(
                        n,
                        None,
                        labels={
                            "kubernetes.io/arch": "amd64",
                            "kubernetes.io/hostname": n,
                            "kubernetes.io/os": "linux",
                            "node.kubernetes.io/instance-type": "m7i.8xlarge",
                            "topology.kubernetes.io/zone": f"eu-west-1{'abc'[i % 3]}",
                        },
                    ),
                    "spec": {
                        "podCIDR": f"100.{i // 250}.{i % 250}.0/24",
                        "providerID": f"aws:///eu-west-1{'abc'[i % 3]}/i-{i:017x}",
                    },
                    "status": {
                        "capacity": {
                            "cpu": "32",
                            "ephemeral-storage": "104845292Ki",
                            "memory": "130045768Ki",
                            "pods": "250",
                        },
                        "allocatable": {
                            "cpu": "31850m",
                            "ephemeral-storage": "95551679124",
                            "memory": "127007560Ki",
                            "pods": "250",
                        },
                        "conditions": [
                            {
                                "type": "Ready",
                                "status": "True",
                                "lastHeartbeatTime": day(i),
                                "lastTransitionTime": day(i),
                                "reason": "KubeletReady",
                                "message": "kubelet is posting ready status",
                            }
                        ],
                        "addresses": [
                            {"type": "InternalIP", "address": f"10.{i // 250}.{i % 250}.17"},
                            {"type": "Hostname", "address": n},
                        ],
                        "nodeInfo": {
                            "kubeletVersion": "v1.34.1",
                            "osImage": "Linux",
                            "architecture": "amd64",
                            "containerRuntimeVersion": "containerd://2.1.4",
                            "kernelVersion": "6.12.0",
                            "operatingSystem": "linux",
                            "machineID": f"{i:032x}",
                            "systemUUID": f"{i:032x}",
                            "bootID": f"{i:032x}",
                            "kubeProxyVersion": "",
                        },
                        "images": [
                            {"names": [f"registry.example.com/{w}/{w}:v1.{i % 30}.0"], "sizeBytes": 1000 * i + 12345678}
                            for w in r.sample(WORDS, 12)
                        ],
                    },
                },
            )
            for i, n in sorted(enumerate(k.nodes), key=lambda x: x[1])
        ],
    )
    emit(
        "namespaces",
        [
            (
                "",
                {
                    "metadata": meta(
                        n, None, labels={"kubernetes.io/metadata.name": n, "capsule.clastix.io/tenant": n.split("-")[0]}
                    ),
                    "spec": {"finalizers": ["kubernetes"]},
                    "status": {"phase": "Active"},
                },
            )
            for n in k.ns
        ],
    )
    lrs, rqs = [], []
    for ns in k.ns:
        for name in ("container-defaults", "pod-bounds")[: r.choices([0, 1, 2], [25, 55, 20])[0]]:
            item = (
                {
                    "type": "Container",
                    "default": {"cpu": "500m", "memory": "512Mi"},
                    "defaultRequest": {"cpu": "100m", "memory": "128Mi"},
                    "min": {"cpu": "10m", "memory": "16Mi"},
                    "max": {"cpu": "8", "memory": "16Gi"},
                }
                if name == "container-defaults"
                else {"type": "Pod", "max": {"cpu": "16", "memory": "32Gi"}, "maxLimitRequestRatio": {"cpu": "10"}}
            )
            lrs.append((ns, {"metadata": meta(name, ns), "spec": {"limits": [item]}}))
        hard, used = k.quantity_hard(used_by_ns[ns], truth["namespaces"][ns]["active"])
        rqs.append(
            (ns, {"metadata": meta("compute", ns), "spec": {"hard": hard}, "status": {"hard": hard, "used": used}})
        )
        if r.random() < 0.3:
            free = {"pods": str(truth["namespaces"][ns]["qos"].get("BestEffort", 0) + 5)}
            rqs.append(
                (
                    ns,
                    {
                        "metadata": meta("scoped-best-effort", ns),
                        "spec": {"hard": free, "scopes": ["BestEffort"]},
                        "status": {
                            "hard": free,
                            "used": {"pods": str(truth["namespaces"][ns]["qos"].get("BestEffort", 0))},
                        },
                    },
                )
            )
    emit("limitranges", lrs)
    emit("resourcequotas", rqs)
    index = {"resourceVersion": str(RV0 + serial), "seed": seed, "counts": counts, "namespaces": k.ns, "ranges": ranges}
    (out / "index.json").write_text(json.dumps(index))
    (out / "truth.json").write_text(json.dumps(truth, indent=1))
    return index


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--pods", type=int, default=10_000)
    p.add_argument("--nodes", type=int, default=500)
    p.add_argument("--namespaces", type=int, default=200)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument(
        "--no-rows", action="store_true", help="skip the Table rows of pods (saves disk; no kubectl tables then)"
    )
    p.add_argument("--out", type=Path, required=True)
    a = p.parse_args()
    index = make(a.out, a.pods, a.nodes, a.namespaces, a.seed, not a.no_rows)
    size = (a.out / "pods.items").stat().st_size
    print(
        json.dumps(index["counts"]),
        f"{size / 1e6:.1f} MB of pods, {size / max(1, index['counts']['pods']):.0f} bytes each",
    )


if __name__ == "__main__":
    main()
