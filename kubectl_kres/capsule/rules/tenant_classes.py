"""What a Tenant makes of pods and claims beside its rules: default classes, and lists of what they may name.

Every request of a namespace is looked at, those of controllers, too. Of one pod the first refusal is the answer: pull
policies, registries, priority class, runtime class, in this order.

Source: capsule 0.14.0 cmd/controller/main.go (the chain), internal/webhook/defaults/{pods,storage}.go,
internal/webhook/pod, internal/webhook/pvc/pvc_validating_class.go, pkg/api/allowed_list.go, pkg/api/errors.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct, structs

from kubectl_kres.admission.base.draft import Draft
from kubectl_kres.admission.base.outcome import Finding, Refusal
from kubectl_kres.admission.limitrange import Limits
from kubectl_kres.admission.pod.defaulting import SYSTEM_PRIORITIES
from kubectl_kres.capsule.model import TENANT_LABEL, AllowedList, Tenant, TenantSpec
from kubectl_kres.capsule.rules.assignment import fault, fits
from kubectl_kres.capsule.rules.object_counts import count_refusal
from kubectl_kres.capsule.rules.webhooks import failure, webhook_refusal
from kubectl_kres.capsule.versions import Version, has_change
from kubectl_kres.model.objects import PriorityClass, RuntimeClass, StorageClass
from kubectl_kres.model.pod import ANY_IMAGE, Container, DetailedContainer
from kubectl_kres.model.quota_objects import ClaimSpec, DeviceClass, PersistentVolumeClaim
from kubectl_kres.policies.cel.base.values import NotComputed
from kubectl_kres.policies.cel.libraries.regex import BadPattern, compile_pattern
from kubectl_kres.provenance.journal import Assumption, Entry, Set, Source

_PODS_VALIDATING: Final = "pods.validating.projectcapsule.dev"
_POD_MUTATING: Final = "pod.mutating.projectcapsule.dev"
_CLAIMS_VALIDATING: Final = "pvc.validating.projectcapsule.dev"
_CLAIM_MUTATING: Final = "storage.mutating.projectcapsule.dev"
_CLASS_NAME: Final = "spec.storageClassName"
_DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"


def exactly(allowed: AllowedList, value: str) -> bool:
    """Return whether a name stands in the list. It is sorted without regard to case, and searched with it."""
    names = _sorted_names(allowed)
    index = bisect_left(names, value)
    return index < len(names) and names[index] == value


def _sorted_names(allowed: AllowedList) -> list[str]:
    return sorted(allowed.allowed or (), key=str.lower)


def by_pattern(allowed: AllowedList, value: str) -> bool:
    """Raises BadPattern, and NotComputed."""
    return bool(allowed.allowed_regex) and any(True for _ in compile_pattern(allowed.allowed_regex).spans(value))


def has_selector(allowed: AllowedList) -> bool:
    """Return whether classes are also told by labels."""
    return bool(allowed.match_labels or allowed.match_expressions)


def by_labels(allowed: AllowedList, labels: Mapping[str, str]) -> bool:
    """Return whether labels match; a selector without fields matches all, one that does not parse none."""
    return not fault(allowed) and fits(allowed, labels)


def words_of(allowed: AllowedList, *, ordered: bool = True) -> str:
    """Return what is allowed, in the webhooks' words; empty: nothing is said. Source: AllowedValuesErrorMessage."""
    parts = []
    if allowed.allowed:
        names = _sorted_names(allowed) if ordered else allowed.allowed
        parts.append(f"use one from the following list ({', '.join(names)})")
    if allowed.allowed_regex:
        parts.append(f"use one matching the following regex ({allowed.allowed_regex})")
    if has_selector(allowed):
        parts.append("matching the label selector defined in the Tenant")
    return " or ".join(parts)


class ImageName(Struct, frozen=True):
    """An image as the webhook reads it. ``full`` is empty where it finds no tag."""

    registry: str
    full: str


#: Source: containerregistry_legacy_registry.go NewRegistry.
_IMAGE = re.compile(
    r"(?:(?P<registry>[a-zA-Z0-9\-._]+(?::\d+)?)/)?(?P<repository>.*/)?(?P<image>[a-zA-Z0-9\-._]+:[a-zA-Z0-9\-._]+)?",
    re.ASCII,
)


def image_name(image: str) -> ImageName:
    """Return the parts of an image's name: what stands before the first slash counts as its registry."""
    match = _IMAGE.match(image)
    registry, repository, name = match.groups(default="") if match else ("", "", "")
    if not name:
        return ImageName(registry, "")
    return ImageName(registry, f"{registry}/{repository}{name}" if registry else f"{repository}{name}")


#: Images of which nothing is known.
_UNKNOWN: Final = frozenset({"", ANY_IMAGE})


def pull_policy(container: Container) -> str | None:
    """Return the pull policy that the server leaves in a container; None: what is written, or its image, is not known.

    Source: apis/core/v1/defaults.go SetDefaults_Container, pkg/util/parsers ParseImageName.
    """
    if container.image in _UNKNOWN or not isinstance(container, DetailedContainer):
        return None
    if container.image_pull_policy:
        return container.image_pull_policy
    name, at, _ = container.image.partition("@")
    _, colon, tag = name.rpartition("/")[2].partition(":")
    latest = tag == "latest" if colon else not at
    return "Always" if latest else "IfNotPresent"


class TenantLists(Struct, frozen=True):
    """The classes and lists of a Tenant, and the classes and volumes that there are. None: these could not be read.

    ``volumes``: labels by name, of each one that is known; None: there is none of that name. ``annotations``: those of
    the Tenant; ``namespaces``: how many it has. ``version``: of Capsule.
    """

    tenant: str
    spec: TenantSpec
    priorities: Mapping[str, PriorityClass] | None = None
    runtimes: Mapping[str, RuntimeClass] | None = None
    storages: Mapping[str, StorageClass] | None = None
    devices: Mapping[str, DeviceClass] | None = None
    volumes: Mapping[str, Mapping[str, str] | None] = {}
    annotations: Mapping[str, str] = {}
    namespaces: int = 0
    version: Version | None = None

    def source(self, field: str) -> Source:
        """Return a field of the Tenant."""
        return Source("Tenant", self.tenant, field=f"spec.{field}")


def lists_of(tenant: Tenant, **classes: Any) -> TenantLists:
    """Return what the webhooks look at of a Tenant; ``classes``: as far as they are known, as TenantLists has them."""
    annotations = tenant.metadata.annotations or {}
    return TenantLists(
        tenant.metadata.name,
        tenant.spec,
        annotations=annotations,
        namespaces=len(tenant.status.namespaces or ()),
        **classes,
    )


class ClassWebhooks(Struct, frozen=True):
    """What a Tenant makes of new pods beside its rules: two webhooks, one before and one after validation."""

    lists: TenantLists
    configuration: str = "capsule-mutating-webhook-configuration"
    reinvoked: bool = False
    title: str = "the classes and lists of its Tenant"
    simulated: bool = True

    def for_owner(self, owner: tuple[str, str] | None) -> ClassWebhooks:
        """Return the same: it does not look at owners."""
        del owner
        return self

    def with_limits(self, limits: tuple[Limits, ...]) -> ClassWebhooks:
        """Return the same: it does not look at LimitRanges."""
        del limits
        return self

    def mutate(self, draft: Draft, journal: list[Entry] | None) -> bool:
        """Give the pod the classes that it lacks, and return whether anything changed."""
        if draft.denied is not None:
            return False
        changed = self._set_priority(draft, journal)
        return self._set_runtime(draft, journal) or changed

    def _set_priority(self, draft: Draft, journal: list[Entry] | None) -> bool:
        allowed, classes = self.lists.spec.priority_classes, self.lists.priorities
        before = draft.spec.priority_class_name
        if allowed is None or not allowed.default or before == allowed.default:
            return False
        named = (classes or {}).get(before)
        if before and (named is None or not named.global_default):
            return False
        if classes is not None and allowed.default not in {*classes, *SYSTEM_PRIORITIES}:
            text = f'failed to assign tenant default Priority Class: PriorityClass.scheduling.k8s.io "{allowed.default}" not found'  # noqa: E501 - the webhook's words
            source = self.lists.source("priorityClasses.default")
            finding = Finding(text, "capsule/class-default", "spec.priorityClassName", source=source)
            draft.denied = refusal_of(_POD_MUTATING, finding, fails=True)
            return False
        draft.spec = structs.replace(
            draft.spec, priority_class_name=allowed.default, priority=None, preemption_policy=None
        )
        draft.priority_class = allowed.default
        self._note("spec.priorityClassName", allowed.default, before, "priorityClasses.default", journal)
        return True

    def _set_runtime(self, draft: Draft, journal: list[Entry] | None) -> bool:
        allowed = self.lists.spec.runtime_classes
        if allowed is None or not allowed.default or draft.spec.runtime_class_name is not None:
            return False
        draft.spec = structs.replace(draft.spec, runtime_class_name=allowed.default)
        self._note("spec.runtimeClassName", allowed.default, "", "runtimeClasses.default", journal)
        return True

    def _note(self, path: str, after: str, before: str, field: str, journal: list[Entry] | None) -> None:
        if journal is not None:
            journal.append(Set(path, "capsule/class-default", after, before or None, self.lists.source(field)))

    def review(self, draft: Draft, name: str, journal: list[Entry] | None) -> tuple[Refusal, ...]:
        """Return the first refusal."""
        del name, journal
        counted = count_refusal(self.lists.tenant, self.lists.annotations, "Pod", "v1")
        if counted is not None:
            return (counted,)
        for finding in self._findings(draft):
            return (refusal_of(_PODS_VALIDATING, finding, fails=finding.rule == "capsule/bad-pattern"),)
        return ()

    def _findings(self, draft: Draft) -> Iterator[Finding]:
        containers = tuple(_containers(draft))
        yield from self._refused_policies(containers)
        yield from self._refused_images(containers)
        yield from self._refused_priority(draft)
        yield from self._refused_runtime(draft)

    def _refused_policies(self, containers: Iterable[tuple[str, Container]]) -> Iterator[Finding]:
        allowed = self.lists.spec.image_pull_policies
        if not allowed:
            return
        listed = {value.lower() for value in allowed}
        for path, container in containers:
            policy = pull_policy(container)
            if policy is not None and policy.lower() not in listed:
                text = (
                    f"ImagePullPolicy {policy} for container {container.name} is forbidden, "
                    f"use one of the followings: {', '.join(allowed)}"
                )
                source = self.lists.source("imagePullPolicies")
                yield Finding(text, "capsule/pull-policy", f"{path}.imagePullPolicy", observed=policy,
                              expected=", ".join(allowed), source=source)  # fmt: skip

    def _refused_images(self, containers: Iterable[tuple[str, Container]]) -> Iterator[Finding]:
        allowed = self.lists.spec.container_registries
        if allowed is None:
            return
        source = self.lists.source("containerRegistries")
        for path, container in containers:
            if container.image in _UNKNOWN:
                continue
            image = image_name(container.image)
            try:
                if image.registry and (exactly(allowed, image.registry) or by_pattern(allowed, image.registry)):
                    continue
            except BadPattern as error:
                yield _bad_list(allowed, error, source)
                continue
            except NotComputed:
                continue
            named = image.full if image.registry else container.image
            text = f"Container image {named} registry is forbidden for the current Tenant: {_registry_words(allowed, ordered=bool(image.registry))}"  # noqa: E501 - the webhook's words
            yield Finding(text, "capsule/registry", f"{path}.image", observed=container.image,
                          expected=", ".join(allowed.allowed or ()), source=source)  # fmt: skip

    def _refused_priority(self, draft: Draft) -> Iterator[Finding]:
        allowed, name = self.lists.spec.priority_classes, draft.priority_class
        if allowed is None or not name or name == allowed.default:
            return
        selected = has_selector(allowed) and _is_selected(allowed, self.lists.priorities, name)
        source = self.lists.source("priorityClasses")
        head = f"Pod Priority Class {name} is forbidden for the current Tenant: "
        yield from refused_class(allowed, name, head, "spec.priorityClassName", source, selected=selected)

    def _refused_runtime(self, draft: Draft) -> Iterator[Finding]:
        """A list without a selector refuses nothing: a selector without fields matches each class."""
        allowed, name = self.lists.spec.runtime_classes, draft.spec.runtime_class_name
        if allowed is None or not name or name == allowed.default:
            return
        selected = _is_selected(allowed, self.lists.runtimes, name) if has_selector(allowed) else True
        source = self.lists.source("runtimeClasses")
        head = f"Pod Runtime Class {name} is forbidden for the current Tenant: "
        yield from refused_class(allowed, name, head, "spec.runtimeClassName", source, selected=selected)


def _containers(draft: Draft) -> Iterator[tuple[str, Container]]:
    """Yield them with their paths, in the webhook's order."""
    for index, container in enumerate(draft.spec.init_containers or ()):
        yield f"spec.initContainers[{index}]", container
    for index, container in enumerate(draft.spec.containers or ()):
        yield f"spec.containers[{index}]", container


def _registry_words(allowed: AllowedList, *, ordered: bool) -> str:
    parts = []
    if allowed.allowed:
        names = _sorted_names(allowed) if ordered else allowed.allowed
        parts.append(f"use one from the following list ({', '.join(names)})")
    if allowed.allowed_regex:
        parts.append(f" use one matching the following regex ({allowed.allowed_regex})")
    return " or ".join(parts)


def _is_selected(allowed: AllowedList, classes: Mapping[str, Any] | None, name: str) -> bool | None:
    """Return whether the labels of a class match; None: they could not be read. What is not there has none."""
    if classes is None:
        return None
    item = classes.get(name)
    return item is not None and by_labels(allowed, item.metadata.labels or {})


def refused_class(
    allowed: AllowedList, name: str, head: str, path: str, source: Source, *, selected: bool | None
) -> Iterator[Finding]:
    """Yield why a class is refused. ``selected`` None: not known, so that it is taken to pass."""
    try:
        listed = exactly(allowed, name) or by_pattern(allowed, name)
    except BadPattern as error:
        yield _bad_list(allowed, error, source)
        return
    except NotComputed:
        return
    if not listed and selected is False:
        yield Finding(f"{head}{words_of(allowed)}", "capsule/class-allowed", path, observed=name,
                      expected=", ".join(allowed.allowed or ()), source=source)  # fmt: skip


#: What a handler answers that looks into something that is not there.
NIL_POINTER: Final = "panic: runtime error: invalid memory address or nil pointer dereference [recovered]"


def _bad_list(allowed: AllowedList, error: BadPattern, source: Source) -> Finding:
    return bad_pattern(allowed.allowed_regex, error, source.at_path(f"{source.field}.allowedRegex"))


def bad_pattern(pattern: str, error: BadPattern, source: Source) -> Finding:
    """Every request fails on a pattern that does not compile. Source: controller-runtime admission/webhook.go."""
    return Finding(f"panic: regexp: Compile(`{pattern}`): {error} [recovered]", "capsule/bad-pattern", source=source)


def refusal_of(webhook: str, finding: Finding, *, fails: bool = False) -> Refusal:
    """Return what the API server makes of a webhook that refuses, or that fails."""
    return (failure if fails else webhook_refusal)(webhook, finding)


class ClaimClasses(Struct, frozen=True):
    """What a Tenant makes of new claims: the default storage class, also instead of the cluster's, and the list."""

    lists: TenantLists

    def default(self, named: str | None) -> tuple[str, Source] | None:
        """Return the class of the Tenant for a claim that has none, or the default one of the cluster."""
        allowed = self.lists.spec.storage_classes
        if allowed is None or not allowed.default or named == allowed.default:
            return None
        item = (self.lists.storages or {}).get(named) if named is not None else None
        if named is not None and (item is None or (item.metadata.annotations or {}).get(_DEFAULT_CLASS) != "true"):
            return None
        return allowed.default, self.lists.source("storageClasses.default")

    def review(self, claim: PersistentVolumeClaim) -> Refusal | None:
        """Return why a claim is refused: for the class that it has, or the volume that it names."""
        named = claim.spec.storage_class_name
        fails = self._failure(named)
        return fails or self._refused_volume(claim.spec) or self._refused_class(named)

    def gap(self, claim: PersistentVolumeClaim) -> Assumption | None:
        """Return that it is not known whose a volume is that the claim names."""
        name = claim.spec.volume_name
        if not name or name in self.lists.volumes:
            return None
        text = f"volume {name} was not read: it is taken to have label {TENANT_LABEL}={self.lists.tenant}, else the claim is refused"  # noqa: E501 - one sentence
        return Assumption("spec.volumeName", "capsule/volume", text)

    def _failure(self, named: str | None) -> Refusal | None:
        allowed, storages = self.lists.spec.storage_classes, self.lists.storages
        if allowed is None or not allowed.default or storages is None:
            return None
        if named in {None, allowed.default, *storages}:
            return None
        # The webhook asks the class that it did not find whether it is the default one.
        source = self.lists.source("storageClasses")
        finding = Finding(
            NIL_POINTER, "capsule/storage-class-missing", _CLASS_NAME, observed=named or "", source=source
        )
        return refusal_of(_CLAIM_MUTATING, finding, fails=True)

    def _refused_volume(self, spec: ClaimSpec) -> Refusal | None:
        """A claim that names or selects volumes gets the selector of its Tenant, and a named one has to have its label.

        Older versions refuse selectors.
        """
        name, volumes, source = spec.volume_name, self.lists.volumes, Source("Tenant", self.lists.tenant)
        by_label = has_change("volume-selectors", self.lists.version)
        if not by_label and spec.selector is not None:
            text = "PersistentVolume selectors are not allowed since unable to prevent cross-tenant mount"
            finding = Finding(text, "capsule/volume-selector", "spec.selector", source=source)
            return refusal_of(_CLAIMS_VALIDATING, finding, fails=True)
        if not name or name not in volumes:
            return None
        labels = volumes[name]
        tenant = (labels or {}).get(TENANT_LABEL)
        if tenant == self.lists.tenant:
            return None
        if labels is None:
            text = "cannot create a PVC referring to a not yet existing PV"
        elif tenant is None:
            text = f"PersistentVolume {name} is missing the Tenant label ({TENANT_LABEL}), preventing a potential cross-tenant mount"  # noqa: E501 - the webhook's words
        else:
            text = f"Preventing a cross-tenant mount for PersistentVolume {name}"
        finding = Finding(text, "capsule/volume", "spec.volumeName", observed=name, source=source)
        return refusal_of(_CLAIMS_VALIDATING, finding, fails=labels is None or not by_label)

    def _refused_class(self, named: str | None) -> Refusal | None:
        allowed, storages = self.lists.spec.storage_classes, self.lists.storages
        if allowed is None or (named is None and storages is None):
            return None
        source, path = self.lists.source("storageClasses"), _CLASS_NAME
        if named is None:
            text = f"A valid Storage Class must be used: {words_of(allowed, ordered=False)}"
            expected = ", ".join(allowed.allowed or ())
            finding = Finding(text, "capsule/class-allowed", path, expected=expected, source=source)
            return webhook_refusal(_CLAIMS_VALIDATING, finding)
        if not named and has_selector(allowed):
            # The webhook looks for a class without a name to see its labels.
            finding = Finding("resource name may not be empty", "capsule/class-allowed", path, source=source)
            return refusal_of(_CLAIMS_VALIDATING, finding, fails=True)
        if named == allowed.default:
            return None
        selected = has_selector(allowed) and _is_selected(allowed, storages, named)
        head = f"Storage Class {named} is forbidden for the current Tenant "
        for finding in refused_class(allowed, named, head, path, source, selected=selected):
            return refusal_of(_CLAIMS_VALIDATING, finding, fails=finding.rule == "capsule/bad-pattern")
        return None
