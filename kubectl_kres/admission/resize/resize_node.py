"""The plugins that ask the node of a pod about a resize: whether it can do it, and whether it could hold the pod."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from kubectl_kres.admission.base.draft import SIDES, Draft, Quantities, Slot, parse_list
from kubectl_kres.admission.base.outcome import Finding, Refusal, StatusCause, forbidden_object
from kubectl_kres.admission.pod.aggregate import of_pod
from kubectl_kres.model.pod import Container, Node, Pod, ResourceRequirements
from kubectl_kres.provenance.journal import Assume, Check, Entry, Source
from kubectl_kres.quantity import ZERO, Quantity, from_json, kept_text

_OS = "kubernetes.io/os"
_POD_LEVEL, _INIT = "InPlacePodLevelResourcesVerticalScaling", "InPlacePodVerticalScalingInitContainers"


def check_features(
    pod: Pod, old: Draft, new: Draft, node: Node | None, journal: list[Entry] | None, *, bounded: bool = False
) -> Iterator[Refusal]:
    """403 for a node that does not declare what the resize needs: for the pod level, or for plain init containers.

    ``node`` as for ``check_node``. ``bounded``: LimitRanges of the namespace were applied.
    Source: plugin/pkg/admission/nodedeclaredfeatures, component-helpers nodedeclaredfeatures/features/inplacepodresize.
    """
    needed = [*_needed(old, new, bounded=bounded)]
    if not needed or not pod.spec.node_name or node is None:
        return
    if not node.metadata.name:
        yield _absent(pod)
        return
    source = Source("Node", pod.spec.node_name, field="status.declaredFeatures")
    declared = node.status.declared_features or ()
    missing = [name for name in needed if name not in declared]
    text = f'pod update requires features {", ".join(missing)} which are not available on node "{pod.spec.node_name}"'
    if journal is not None:
        observed, bound = ", ".join(needed), ", ".join(declared)
        journal.append(
            Check("spec", "resize/node-features", not missing, observed, bound, text if missing else "", source)
        )
    if missing:
        finding = Finding(text, "resize/node-features", "spec", observed=", ".join(missing), source=source)
        yield forbidden_object("pods", pod.metadata.name, [finding])


def _needed(old: Draft, new: Draft, *, bounded: bool) -> Iterator[str]:
    if (old.pod is None) != (new.pod is None) or (
        old.pod is not None and new.pod is not None and _sides(old.pod) != _sides(new.pod)
    ):
        yield _POD_LEVEL
    slots = zip(old.inits, new.inits, old.spec.init_containers or (), new.spec.init_containers or (), strict=False)
    for was, is_, before, after in slots:
        if was.role == "init" and (_kept(was, before) != _kept(is_, after) or _emptied(is_, after, bounded=bounded)):
            yield _INIT
            return


def _emptied(slot: Slot, raw: Container, *, bounded: bool) -> bool:
    """Whether a side that holds nothing is empty instead of absent, as it is stored: to the server a difference.

    LimitRanges make both sides, whether or not they give them anything. Source: limitranger mergeContainerResources.
    """
    stanza = raw.resources or ResourceRequirements()
    made = {"limits": stanza.limits is not None, "requests": stanza.limits is not None or stanza.requests is not None}
    return any(not slot.side(side) and (bounded or made[side]) for side in SIDES)


def _kept(slot: Slot, raw: Container) -> set[tuple[str, ...]]:
    """The values as the server holds them in memory, where ``10m`` and ``0.01`` differ: it compares that, not amounts.

    Source: nodedeclaredfeatures nonsidecar_initcontainers_resize.go InferForUpdate; reflect.DeepEqual of Quantity.
    """
    stanza = raw.resources or ResourceRequirements()
    limits = stanza.limits or {}
    pairs: set[tuple[str, ...]] = set()
    for side, written in (("limits", limits), ("requests", {**limits, **(stanza.requests or {})})):
        for name, quantity in (slot.limits if side == "limits" else slot.requests).items():
            written_as = str(written.get(name, quantity))
            text = kept_text(written_as) if from_json(written_as) == quantity else ""
            pairs.add((side, name, str(quantity.nano), quantity.format, str(quantity.scale), text))
    return pairs


def _sides(slot: Slot) -> tuple[Quantities, Quantities]:
    return slot.requests, slot.limits


def _absent(pod: Pod) -> Refusal:
    text = f'node "{pod.spec.node_name}" not found'
    finding = Finding(text, "resize/node-absent", "spec.nodeName", source=Source("Node", pod.spec.node_name))
    return forbidden_object("pods", pod.metadata.name, [finding])


def check_node(pod: Pod, draft: Draft, node: Node | None, journal: list[Entry] | None) -> Iterator[Refusal]:
    """403 for a node without the room or of another system; nothing for a pod that no node runs.

    Only this pod is held against the whole allocatable. ``node`` None: not known, supposed to be large enough;
    without a name: the server has none that is called so.
    Source: plugin/pkg/admission/podresize.
    """
    name = pod.spec.node_name
    if not name:
        return
    if node is None:
        if journal is not None:
            text = f"node {name} is not known: it is assumed to have room for the pod and to be able to resize it"
            journal.append(Assume("spec.nodeName", "resize/node-unknown", text))
        return
    if not node.metadata.name:
        yield _absent(pod)
        return
    system = (node.metadata.labels or {}).get(_OS, "linux")
    if system != "linux":
        text = f'pod resize is only supported on linux nodes, node "{name}" is "{system}"'
        source = Source("Node", name, field=f"metadata.labels[{_OS}]")
        yield _refused(pod, [Finding(text, "resize/node-platform", source=source)], "UnsupportedPlatform")
        return
    findings = [*_beyond(draft, node, journal)]
    if findings:
        yield _refused(pod, findings, "NodeCapacity")


def _beyond(draft: Draft, node: Node, journal: list[Entry] | None) -> Iterator[Finding]:
    """Requests that exceed the allocatable: in the sentence cpu counts in thousandths, memory in bytes."""
    requests, allocatable = of_pod(draft, "requests"), parse_list(node.status.allocatable, "status.allocatable")
    tests = [(name, requests.get(name, ZERO), allocatable.get(name, ZERO)) for name in ("cpu", "memory")]
    over = [test for test in tests if test[1] > test[2]]
    parts = "; ".join(
        f"{name}, requested: {_shown(name, asked)}, allocatable: {_shown(name, room)}" for name, asked, room in over
    )
    text = f"node didn't have enough allocatable resources: {parts}"
    for name, asked, room in tests:
        source = Source("Node", node.metadata.name, field=f"status.allocatable[{name}]")
        passed = asked <= room
        if journal is not None:
            message = "" if passed else text
            entry = Check(
                f"pod.requests[{name}]", "resize/node-capacity", passed, str(asked), str(room), message, source
            )
            journal.append(entry)
        if not passed:
            yield Finding(text, "resize/node-capacity", "pod", name, asked=str(asked), limit=str(room), source=source)


def _shown(name: str, quantity: Quantity) -> int:
    return quantity.milli_value() if name == "cpu" else quantity.value()


def _refused(pod: Pod, findings: Sequence[Finding], reason: str) -> Refusal:
    return replace(forbidden_object("pods", pod.metadata.name, findings), causes=(StatusCause("", reason, ""),))
