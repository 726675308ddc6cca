"""What admission plugins beside LimitRanges and quotas register: policies, webhooks, Pod Security, service accounts.

What is read for them: few lists, all at once, policies where something binds them, and their parameters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any
from weakref import ref

from msgspec import structs

from kubectl_kres.admission.request.new_pod import Policies
from kubectl_kres.model.admission_objects import ENFORCE, MIRROR, AdmissionPolicy, may_be_read
from kubectl_kres.model.kinds import BY_KIND, WORKLOADS, always_served
from kubectl_kres.model.pod import Pod, PodSpec
from kubectl_kres.reports.common import system
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.effective_policies import ExtendedPolicies
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.reports.common.parts import Remedy
from kubectl_kres.store.store import ReadRequest, Store

WEBHOOKS = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
#: Policies and the first minor version that serves them as v1.
POLICIES = {"ValidatingAdmissionPolicy": 30, "MutatingAdmissionPolicy": 36}
#: The kind of policies that came last.
_NEWEST = max(POLICIES, key=POLICIES.__getitem__)
#: Kinds that may change a verdict where they could not be read.
DECIDING = frozenset({*WEBHOOKS, *POLICIES, *(f"{kind}Binding" for kind in POLICIES)})
#: Kinds of which it is said that they could not be read only where the server refused to tell.
ELSEWHERE = frozenset({*DECIDING, "ServiceAccount"})

#: Rules that refuse here.
REFUSING = (
    "pod-security/violated", "policy/denied", "policy/error", "policy/mutation-failed", "policy/no-answer",
    "service-account/missing", "service-account/mirror", "service-account/secret",
)  # fmt: skip
#: What policies have to be about for their parameters to be read.
_MADE = ("PersistentVolumeClaim", "ResourceClaim", "ControllerRevision")
_RESOURCES = frozenset({"*", *(BY_KIND[kind].plural for kind in ("Pod", *WORKLOADS, *_MADE))})
_MINOR = re.compile(r"v?1\.([0-9]+)")


def policing_needs(store: Store, namespace: str, spec: PodSpec | None = None) -> Iterator[ReadRequest]:
    """Of a cluster alone: files, and snapshots of clusters, hold what they hold.

    What few servers have is asked for once the object was read, ``spec``: the server's version is known by then.
    """
    if not namespace:
        return
    if store.origin.kind != "cluster":
        yield from deciding_needs(store)
        return
    yield ReadRequest("Namespace", name=namespace, required=False)
    early = spec is None and not store.origin.version
    yield from (read for read in deciding_needs(store) if not (early and read.kind.startswith(_NEWEST)))
    yield from parameter_needs(store, namespace)
    account = getattr(spec, "service_account_name", "") if spec is not None else ""
    if account and account != "default":
        yield ReadRequest("ServiceAccount", namespace, account)


def deciding_needs(store: Store) -> Iterator[ReadRequest]:
    """Yield what decides in all namespaces: the same few lists whatever is asked about; of a snapshot what it
    covers.
    """
    if store.origin.kind != "cluster":
        yield from (ReadRequest(kind, required=False) for kind in sorted(DECIDING) if any(store.reads_of_kind(kind)))
        return
    match = _MINOR.match(store.origin.version)
    minor = int(match[1]) if match else 99
    for kind, since in POLICIES.items():
        if minor >= since:
            yield ReadRequest(f"{kind}Binding", required=False)
            if any(True for _ in store.all(f"{kind}Binding")):
                yield ReadRequest(kind, required=False)
    for kind in WEBHOOKS:
        yield ReadRequest(kind, required=False)


def parameter_needs(store: Store, namespace: str, more: Sequence[AdmissionPolicy] = ()) -> Iterator[ReadRequest]:
    """Yield the objects that bindings hand to policies about pods of the namespace; never a Secret.

    ``more``: policies and bindings that are not in the store.
    """
    if store.origin.kind != "cluster" or not namespace:
        return
    for kind in POLICIES:
        for policy in (*store.all(kind), *(item for item in more if item.kind == kind)):
            wanted = policy.spec.get("paramKind") or {}
            version, name = str(wanted.get("apiVersion") or ""), str(wanted.get("kind") or "")
            if not may_be_read(version, name) or not _about_pods(store, policy.spec, namespace):
                continue
            for binding in (*store.all(f"{kind}Binding"), *(item for item in more if item.kind == f"{kind}Binding")):
                reference = binding.spec.get("paramRef")
                if binding.spec.get("policyName") != policy.metadata.name:
                    continue
                if reference is not None:
                    from kubectl_kres.store.parameters import parameter_need

                    yield parameter_need(version, name, namespace, reference)
                elif not always_served(version, name):
                    from kubectl_kres.store.parameters import kind_need

                    yield kind_need(version, name)


def _about_pods(store: Store, spec: Mapping[str, Any], namespace: str) -> bool:
    """Return whether a policy may be about pods of a namespace, or what makes them."""
    constraints = spec.get("matchConstraints") or {}
    rules = constraints.get("resourceRules") or ()
    resources = {str(resource).partition("/")[0] for rule in rules for resource in rule.get("resources") or ()}
    space = store.get("Namespace", namespace)
    if space is not None:
        from kubectl_kres.policies.rules.request import selector_matches

        labels = {"kubernetes.io/metadata.name": namespace, **(space.metadata.labels or {})}
        if not selector_matches(constraints.get("namespaceSelector"), labels):
            return False
    return not rules or bool(resources & _RESOURCES)


_LABELS = "pod-security.kubernetes.io/"


def _reads(store: Store, question: system.Question) -> Iterable[ReadRequest] | None:
    if isinstance(question, system.AboutPod) and question.new:
        return policing_needs(store, question.namespace, question.spec)
    return _reads_of_configuration(store) if isinstance(question, system.AboutConfiguration) else None


def _reads_of_configuration(store: Store) -> Iterator[ReadRequest]:
    """Return what decides in all namespaces, and the parameters for those whose names were read."""
    yield from deciding_needs(store)
    for space in store.all("Namespace"):
        yield from parameter_needs(store, space.metadata.name)


def _extend(store: Store, namespace: str, policies: Policies) -> ExtendedPolicies:
    """With what asks policies about objects that controllers make, where there are any."""
    if not any(any(True for _ in store.all(kind)) for kind in POLICIES):
        return ExtendedPolicies(policies)
    from kubectl_kres.policies.reports.apply import review_made

    return ExtendedPolicies(structs.replace(policies, reviewer=partial(review_made, ref(store), namespace)))


def _apply(
    store: Store, subject: Subject, options: EvaluationOptions, analysis: Analysis, target: system.Target
) -> Analysis:
    """The analysis of a pod that exists as it is: it was admitted."""
    exempt = analysis.manifest.live is not None if target == "pod" else subject.ref.kind == "Pod"
    if exempt or not _may_decide(store, subject.ref.namespace, analysis.manifest.pod):
        return analysis
    from kubectl_kres.policies.reports import apply

    decide = apply.apply_policies if target == "pod" else apply.policed_object
    return decide(store, subject, options, analysis)


def _remedies(store: Store, subject: Subject, analysis: Analysis) -> tuple[Remedy, ...]:
    if analysis.made_pod is not None:
        return ()
    from kubectl_kres.policies.reports.remedy import security_patch

    patch = security_patch(store, subject, analysis)
    return () if patch is None else (patch,)


def _sentence(case: Any) -> Iterator[str]:
    from kubectl_kres.policies.reports.remedy import POLICING_REMEDIES

    return POLICING_REMEDIES[case.finding.rule](case)


def _may_decide(store: Store, namespace: str, pod: Pod) -> bool:
    """Return whether anything else may decide about a pod of the namespace; cheap, and True where it may be so."""
    space = store.get("Namespace", namespace)
    if space is not None:
        labels = space.metadata.labels or {}
        if space.metadata.deletion_timestamp or any(key.startswith(_LABELS) for key in labels):
            return True
    if any(any(True for _ in store.all(kind)) for kind in DECIDING):
        return True
    return _account_decides(store, namespace, pod)


def _account_decides(store: Store, namespace: str, pod: Pod) -> bool:
    """Return whether the pod's service account may refuse it: one that is there does so for secrets that it does not
    list.
    """
    # The pod of a file does not say the name here: then it is looked at in the object as sent.
    name = getattr(pod.spec, "service_account_name", None)
    account = store.get("ServiceAccount", name or "default", namespace) if name is not None else None
    if account is not None:
        return ENFORCE in (account.metadata.annotations or {}) or MIRROR in (pod.metadata.annotations or {})
    return any(read.namespace in {"", namespace} for read in store.reads_of_kind("ServiceAccount"))


SYSTEM = system.System(
    "policing",
    answers=dict.fromkeys(POLICIES, system.KindAnswers("policing", on_screen=False)),
    kinds={"in-lists": DECIDING, "decides": DECIDING, "if-refused": ELSEWHERE, "policies": tuple(POLICIES)},
    rights={
        "pods": (
            *(
                system.ReadRight(kind, ("list",), "which webhooks and policies also decide")
                for kind in sorted(DECIDING)
            ),
            system.ReadRight("ServiceAccount", ("get",), "whether a pod's service account is there"),
        )
    },
    sentences=dict.fromkeys(REFUSING, _sentence),
    reads=_reads,
    remedies=_remedies,
    admission=system.Admitter(extend=_extend, apply=_apply),
)
