#!/usr/bin/env python3
"""Make a deterministic synthetic cluster for benchmarks (standard library only).

    python cluster.py --pods 100000 --out DIR            # 500 nodes, 200 namespaces, seed 1
    python cluster.py --pods 10000 --out DIR --nodes 100 --namespaces 50 --seed 7
    python cluster.py --pods 1000 --out DIR --runs 5000 --pools 10 --claims 10000

The same arguments give the same bytes on every machine.  DIR then holds, for every kind:

    KIND.items   the objects as compact JSON, sorted as the API server sorts them
                 (by namespace, then by name), each followed by one comma
    KIND.index   little-endian unsigned 64-bit offsets, one for each object plus the end
    pods.rows    the pods as Table rows, with pods.rowindex
    index.json   counts, and for each kind the range of object numbers of each namespace
    truth.json   what a correct reader must find (see below)
    claims.json  for each pool its claims: allocated, and waiting in the order of the queue

An object's bytes are items[index[i] : index[i+1] - 1]; a run of objects is one slice of the
file, which is how fake_apiserver.py answers LIST, paged or not, without encoding anything.
Objects are written as they are made: no more than one pod template is held at a time.

What is in it (shares are of the pods):
  * Deployments of 1 to 40 replicas with their ReplicaSets, DaemonSets with their revisions in
    kube-system (up to five pods a node), Jobs; one Deployment in 50 lacks pods that a quota refuses
  * about 7 kB for a pod: managedFields, env, probes, volumes, conditions, container statuses
  * QoS: about 15 % Guaranteed, 60 % Burstable, 25 % BestEffort
  * 5 % with init containers or sidecars (init containers with restartPolicy Always)
  * 2 % Tekton TaskRun pods (step containers, Tekton's own init containers), with Task and TaskRun
  * 1 % with pod-level resources, a few with overhead, GPUs, hugepages, ephemeral-storage
  * 3 % Succeeded or Failed, 1 % Pending without a node
  * events: of pending pods, of refused ones, and one of each group's first pod
  * a ServiceAccount for each group of pods
  * 1 to 3 ResourceQuotas and 0 to 2 LimitRanges in a namespace; one quota in 25 has a stale status
  * with --runs, so many TaskRuns in the namespace ci-runs, whose quota of pods is full; pods of
    finished ones are there with --run-pods only
  * with --pools and --claims, Capsule's objects with the statuses its controller writes (pools.py)
Quantities are written as the server writes them back (canonical form).

truth.json: {"pods", "active", "qos": {class: n}, "namespaces": {name: {"pods": n, "active": n,
"qos": {class: n}, "requests": {resource: "milli-units"}, "limits": {…}}}, "quotas": {"ns/name":
{"used": {resource: "milli-units"}, "stale": [resources whose status differs]}}, "taskruns":
{"count", "states": {reason: n}, "requests", "limits"}, "pools": {name: {…}}, "claims": {word: n}}.
Sums are over the active pods (phase neither Succeeded nor Failed) and are whole numbers of
thousandths, written as strings.  A pod's figure is: the pod-level value where one is set,
otherwise the larger of (all containers plus all sidecars) and (each plain init container plus the
sidecars before it); then plus the overhead (for limits only where a limit exists).  Those of
taskruns are what the pods of all runs get, whatever their state, in a namespace without LimitRange.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path

import policies
import pools
import runs
from owners import Made, event, owners, refusal
from podjson import Group, Maker, Template, fill
from podspec import RV0, WORDS, add
from sink import Sinks, compact
from tally import FINISHED, Tally

SHAPES = ("plain", "sidecar", "tekton", "podlevel", "overhead", "gpu", "hugepages", "job")
SHARES = (88.2, 5, 2, 1, 0.4, 0.3, 0.1, 3)
RUN_STATES = {"Succeeded": 70, "Failed": 8, "Running": 15, "Waiting": 7}


def main() -> None:
    options = arguments().parse_args()
    index = Cluster(options).make()
    size = (options.out / "pods.items").stat().st_size
    made = {kind: count for kind, count in index["counts"].items() if count}
    each = size / max(1, index["counts"]["pods"])
    print(json.dumps(made), f"{size / 1e6:.1f} MB of pods, {each:.0f} bytes each")


def arguments() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--pods", type=int, default=10_000)
    p.add_argument("--nodes", type=int, default=500)
    p.add_argument("--namespaces", type=int, default=200)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument(
        "--runs", type=int, default=0, help="TaskRuns in the namespace ci-runs; their pods are not counted in --pods"
    )
    p.add_argument("--run-pods", action="store_true", help="keep the pods of these runs")
    p.add_argument("--pools", type=int, default=0)
    p.add_argument("--claims", type=int, default=0)
    p.add_argument("--resources", type=int, default=4, help="how many resources the pools share out")
    p.add_argument(
        "--no-rows", action="store_true", help="skip the Table rows of pods (saves disk; no kubectl tables then)"
    )
    p.add_argument("--out", type=Path, required=True)
    return p


class Cluster:
    """A cluster on its way to disk."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.o = options
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "truth.json").unlink(missing_ok=True)  # it says that a cluster is complete
        more = [runs.NAMESPACE] if options.runs else []
        self.k = Maker(options.nodes, options.namespaces, options.seed, *more)
        self.sinks = Sinks(options.out, rows=not options.no_rows)
        self.tallies = {ns: Tally() for ns in self.k.ns}
        self.room = 0
        self.runs: dict = {"count": 0, "states": {}, "requests": {}, "limits": {}}

    def make(self) -> dict:
        """The index of what was written."""
        k, o = self.k, self.o
        for ns, groups in self.shared():
            for group in sorted(groups, key=lambda one: one.stem):
                self.group(ns, group)
        truth = self.truth()
        found = pools.Pools(k, self.tallies, o.pools, o.claims, o.resources)
        self.put(found.objects())
        self.put(policies.nodes(k))
        self.put(policies.namespaces(k))
        self.put(policies.classes(k))
        self.put(each for each in policies.limit_ranges(k) if each[1]["metadata"]["namespace"] != runs.NAMESPACE)
        self.put(policies.quotas(k, self.tallies, found.managed, truth.setdefault("quotas", {}), full=runs.NAMESPACE))
        if o.runs:
            self.put(runs.configuration(k))
        counts, ranges = self.sinks.close()
        index = {"resourceVersion": str(RV0 + k.serial), "seed": o.seed, "counts": counts, "namespaces": k.ns}
        (o.out / "index.json").write_text(json.dumps(index | {"ranges": ranges}))
        (o.out / "claims.json").write_text(compact(found.claims_truth()))
        (o.out / "truth.json").write_text(json.dumps(truth | found.truth(), indent=1))
        return index

    def put(self, objects: Iterable[Made]) -> None:
        for kind, thing in objects:
            self.sinks.put(kind, thing)

    def shared(self) -> Iterable[tuple[str, list[Group]]]:
        """The groups of each namespace: a few have many pods, many have few."""
        k, r, pods = self.k, self.k.r, self.o.pods
        plain = [ns for ns in k.ns if ns != runs.NAMESPACE]
        daemons = min(5 * self.o.nodes, pods // 5) if "kube-system" in k.ns else 0
        weights = [r.paretovariate(1.1) for _ in plain]
        share = {ns: int((pods - daemons) * w / sum(weights)) for ns, w in zip(plain, weights, strict=True)}
        share[plain[-1]] += pods - daemons - sum(share.values())
        for ns in k.ns:
            if ns == runs.NAMESPACE:
                yield ns, self.run_groups()
            else:
                yield ns, self.groups(share[ns], daemons if ns == "kube-system" else 0)

    def groups(self, pods: int, daemons: int) -> list[Group]:
        r, found, nodes = self.k.r, [], self.o.nodes
        while pods > 0:
            shape = r.choices(SHAPES, SHARES)[0]
            size, phase, short = min(pods, 40, int(r.paretovariate(0.9)) + 1), "Running", 0
            if shape == "job":
                phase, size = r.choice(["Succeeded", "Failed", "Succeeded"]), min(size, 6)
            elif shape == "tekton":
                phase = r.choice(["Succeeded", "Running", "Succeeded"])
            elif r.random() < 0.01:
                phase = "Pending"
            elif r.random() < 0.02:
                short = 1 + r.randrange(3)
            found.append(self.named("", len(found), shape, phase, size, short))
            pods -= size
        while daemons > 0:
            size = min(daemons, nodes)
            found.append(self.named("ds-", len(found), "daemon", "Running", size, 0))
            daemons -= size
        return found

    def run_groups(self) -> list[Group]:
        r, found, left = self.k.r, [], self.o.runs
        while left > 0:
            size = min(left, 40, int(r.paretovariate(0.9)) + 1)
            state = r.choices(list(RUN_STATES), list(RUN_STATES.values()))[0]
            found.append(self.named("", len(found), "tekton", state, size, 0))
            left -= size
        self.room = sum(group.size for group in found if group.phase == "Running")
        return found

    def named(self, prefix: str, number: int, shape: str, phase: str, size: int, short: int) -> Group:
        """A group whose name no other name of the namespace begins with."""
        app, tail = f"{prefix}{self.k.r.choice(WORDS)}-{number + 1:05d}", self.k.names.tail(9)
        return Group(shape, phase, size, app, tail, shape == "tekton" and self.k.r.random() < 0.2, short)

    def group(self, ns: str, group: Group) -> None:
        """Write the pods of a group and what made them."""
        k, template, uid = self.k, self.k.template(ns, group), self.k.names.uid()
        self.put(owners(k, ns, group, template, uid))
        pruned = ns == runs.NAMESPACE and group.phase in FINISHED and not self.o.run_pods
        absent = pruned or group.phase == "Waiting"
        if not absent:
            self.tallies[ns].count(template, group.phase, group.size)
        run = runs.run_parts(ns, group, template, self.room) if group.shape == "tekton" else None
        if run:
            self.put([runs.task(k, ns, group, template)])
            self.tally_runs(ns, group, template)
        told: list[Made] = []
        for number, name in enumerate(self.names(group)):
            values = self.values(group, name, number, uid)
            if run:
                self.sinks.of["taskruns"].put(ns, fill(run, values))
            if not absent:
                self.pod(ns, template, values)
                told += self.heard(ns, group, values, first=not told)
        if group.short:
            pod, version, kind, owner = group.stem + k.names.tail(), *group.owner
            text = f"Error creating: {refusal(pod)}"
            told.append(event(k, ns, (version, kind, owner, uid), "FailedCreate", text, 7))
        self.put(sorted(told, key=lambda each: each[1]["metadata"]["name"]))

    def pod(self, ns: str, template: Template, values: dict[str, str]) -> None:
        self.sinks.of["pods"].put(ns, fill(template.parts, values))
        if self.sinks.rows:
            self.sinks.rows.put(ns, fill(template.rows, values))

    def names(self, group: Group) -> list[str]:
        """Names of the group's pods, or of its runs, in order."""
        found: set[str] = set()
        while len(found) < group.size:
            found.add(group.stem + self.k.names.tail())
        return sorted(found)

    def values(self, group: Group, name: str, number: int, uid: str) -> dict[str, str]:
        """What differs between the pods of a group; a run of Tekton has an id of its own."""
        k, tekton = self.k, group.shape == "tekton"
        k.serial += 1
        serial, node = k.serial, number if group.shape == "daemon" else k.r.randrange(self.o.nodes)
        return {
            "@A": f"{name}-pod" if tekton else name,
            "@O": name,
            "@W": k.names.uid() if tekton else uid,
            "@U": k.names.uid(),
            "@R": str(RV0 + serial),
            "@T": k.names.day(serial),
            "@V": k.names.tail(),
            "@N": k.nodes[node] if group.phase != "Pending" else "<none>",
            "@H": f"10.{node // 250}.{node % 250}.17",
            "@P": f"100.64.{serial // 250 % 250}.{serial % 250}",
            "@C": f"{k.r.getrandbits(256):064x}",
        }

    def heard(self, ns: str, group: Group, values: dict[str, str], *, first: bool) -> list[Made]:
        about = ("v1", "Pod", values["@A"], values["@U"])
        if group.phase == "Pending":
            text = f"0/{self.o.nodes} nodes are available: {self.o.nodes} Insufficient cpu."
            return [event(self.k, ns, about, "FailedScheduling", text, 3)]
        return [event(self.k, ns, about, "Started", f"Started container {group.app}", 1)] if first else []

    def tally_runs(self, ns: str, group: Group, template: Template) -> None:
        if ns != runs.NAMESPACE:
            return
        self.runs["count"] += group.size
        reason = "ExceededResourceQuota" if group.phase == "Waiting" else group.phase
        add(self.runs["states"], {reason: group.size})
        for which, one in (("requests", template.requests), ("limits", template.limits)):
            add(self.runs[which], {name: value * group.size for name, value in one.items()})

    def truth(self) -> dict:
        found: dict = {"pods": 0, "active": 0, "qos": {}, "namespaces": {}}
        for ns, tally in self.tallies.items():
            found["pods"] += tally.pods
            found["active"] += tally.active
            add(found["qos"], tally.qos)
            found["namespaces"][ns] = tally.truth()
        sums = {
            which: {name: str(v) for name, v in sorted(self.runs[which].items())} for which in ("requests", "limits")
        }
        return found | {"taskruns": self.runs | sums}


if __name__ == "__main__":
    main()
