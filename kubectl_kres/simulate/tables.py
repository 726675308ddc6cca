"""Everything of a simulation that is looked up by number: templates, shapes, worlds, measures, costs, and what
admission makes of alike pods.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import fields, replace

from kubectl_kres.admission.base.draft import Unparsable
from kubectl_kres.admission.base.outcome import Finding, Outcome, Refusal
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.quota import quota_admission
from kubectl_kres.admission.quota.quota_admission import QuotaRequest
from kubectl_kres.admission.request.new_pod import (
    ClaimWebhook,
    ObjectReview,
    ObjectWebhook,
    PodWebhook,
    Policies,
    admit,
    quota_request,
)
from kubectl_kres.admission.request.pod_objects import job_raw, objects_of, refusals_of, revision_raw
from kubectl_kres.admission.request.volume_claims import (
    create_claim,
    review_made_claim,
    with_default_class,
    with_review,
)
from kubectl_kres.model.content_key import content_key
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import Raw, ResourceQuota, decode_object, mapping
from kubectl_kres.model.pod import Container, Pod, PodSpec, SentPod
from kubectl_kres.model.quota_objects import PersistentVolumeClaim
from kubectl_kres.policies.rules.policy import Look, no_parameters
from kubectl_kres.simulate import state
from kubectl_kres.simulate.plugins import Plugins, is_silent, missing_account, plugins_of
from kubectl_kres.simulate.shapes import SUFFIX, Measures, Shape, add_costs, pod_of, shape_fields, without_quotas
from kubectl_kres.simulate.system import held_kinds, pod_writers

#: A pod as it is stored, pruned as shapes are, and what the quotas count of it.
Stored = tuple[Mapping[str, Any], QuotaRequest]
#: So many answers are kept: after that all are found anew, so that memory has a bound.
_KEPT = 20_000

_GROUPS = ("containers", "initContainers")
_SPEC = tuple(field.encode_name for field in fields(PodSpec) if field.encode_name not in _GROUPS)
_CONTAINER = tuple(field.encode_name for field in fields(Container) if field.encode_name not in {"name", "image"})


class EvaluatedPods:
    """Answers by what decides and by what of a template is looked at.

    Only of templates that the server took already: their names are valid. No name stands in an answer that admits the
    pod but those of the containers, and none in one that refuses it but the pod's, with which it begins.
    """

    def __init__(self) -> None:
        self._outcome_cache: dict[tuple[bytes, bytes], tuple[str, tuple[Stored, ...], tuple[Outcome, ...]]] = {}

    def get(self, deciding: bytes, template: Raw, pod: str) -> tuple[tuple[Stored, ...], tuple[Outcome, ...]]:
        """Return every way in which the pod is stored, and every refusal of it; both empty where it is not known."""
        namesake, stored, refused = self._outcome_cache.get((deciding, _cache_key(template)), ("", (), ()))
        return (
            tuple((_set_container_names(item, template), request) for item, request in stored),
            tuple(_name_refused_pod(pod, namesake, outcome) for outcome in refused),
        )

    def put(
        self, deciding: bytes, template: Raw, pod: str, pairs: Iterable[Stored], refused: Iterable[Outcome]
    ) -> None:
        """What was found of a template whose pod is admitted or refused, whatever the order of LimitRanges."""
        if len(self._outcome_cache) >= _KEPT:
            self._outcome_cache.clear()
        stored, outcomes = tuple(pairs), tuple(replace(outcome, draft=None) for outcome in refused)
        if bool(stored) != bool(outcomes):
            self._outcome_cache[deciding, _cache_key(template)] = pod, stored, outcomes


def _name_refused_pod(pod: str, namesake: str, outcome: Outcome) -> Outcome:
    """Return a refusal of one pod as another one is reported it."""
    refusal = outcome.refusal
    if refusal is None:
        return outcome
    message = refusal.message.replace(f'"{namesake}"', f'"{pod}"', 1)
    return replace(outcome, refusal=replace(refusal, message=message))


def _cache_key(template: Raw) -> bytes:
    spec = template.get("spec") or {}
    looked_at = [[spec.get(field) for field in _SPEC]]
    looked_at += [[[item.get(field) for field in _CONTAINER] for item in spec.get(group) or ()] for group in _GROUPS]
    return content_key(looked_at)


def _set_container_names(stored: Mapping[str, Any], template: Raw) -> Mapping[str, Any]:
    """With the names of this template's containers."""
    spec = template.get("spec") or {}
    return {
        **stored,
        **{
            group: [
                {**item, "name": container.get("name")}
                for item, container in zip(stored[group], spec[group], strict=True)
            ]
            for group in _GROUPS
            if group in stored
        },
    }


_CANNOT_BE_CALLED = "failed calling webhook"
_COUNTED_ALONE = "count/pods"
#: Of a claim that was read: older snapshots lack it, and it plays no part in what quotas count.
_READ_CLAIM = {"accessModes": ["ReadWriteOnce"]}
#: A quota counts what stands in its namespace.
_NEVER_COUNTED = frozenset(kind.kind for kind in BY_KIND.values() if not kind.namespaced)


#: Containers as JSON has them, by the list of a pod's spec that they stand in.
Added = Mapping[str, Sequence[Raw]]


class Variant:
    """What a controller makes pods of. ``added``: the names of containers that the pods get beside its template's."""

    __slots__ = ("_pod", "added", "owner", "raw")

    def __init__(self, owner: state.Key, raw: Raw, additions: frozenset[str] = frozenset()) -> None:
        self.owner, self.raw, self.added = owner, raw, additions
        self._pod: Pod | None = None

    @property
    def pod_name(self) -> str:
        """The name of the pod that a controller makes of it, with what stands for its random end."""
        return f"{self.owner[1]}{SUFFIX}"

    def pod(self) -> Pod:
        """Return the pod that a controller makes of it, under a generated name."""
        if self._pod is None:
            self._pod = decode_object(pod_of(self.raw, self.owner[1]), SentPod)
        return self._pod


class Template(Variant):
    """A pod template of one workload."""

    __slots__ = ("_key", "is_complete")

    def __init__(self, owner: state.Key, raw: Raw, *, is_complete: bool) -> None:
        """``is_complete``: a file gave it, so that nothing of it was left out."""
        super().__init__(owner, raw)
        self.is_complete = is_complete
        self._key: bytes | None = None

    @property
    def key(self) -> bytes:
        """Equal for templates that a controller takes for the same."""
        if self._key is None:
            self._key = state.template_key(self.raw)
        return self._key

    def is_like(self, other: Template) -> bool:
        """Return whether a controller takes them for the same. Mostly images or labels tell already, with less work."""
        return self._images_and_labels() == other._images_and_labels() and self.key == other.key

    def _images_and_labels(self) -> tuple[list[Any], Mapping[str, Any]]:
        """Images and labels."""
        labels = (self.raw.get("metadata") or {}).get("labels") or {}
        images = [container.get("image") or "" for container in (self.raw.get("spec") or {}).get("containers") or ()]
        return images, {name: value for name, value in labels.items() if value is not None}


class _Webhooks(NamedTuple):
    """Those of systems in a world: about pods, claims, and other objects."""

    pods: tuple[PodWebhook, ...]
    claims: tuple[ClaimWebhook, ...]
    others: tuple[ObjectWebhook, ...]


class Tables:
    """Numbers stand for values as long as a simulation lasts."""

    def __init__(
        self,
        server: Server,
        quotas: Iterable[ResourceQuota] = (),
        evaluated: EvaluatedPods | None = None,
        look: Look = no_parameters,
    ) -> None:
        """``evaluated``: what was found already in other namespaces of the same server. ``look``: where parameters
        are.
        """
        self.server, self.look = server, look
        self.judged = evaluated if evaluated is not None else EvaluatedPods()
        self.measures = Measures(quotas)
        self.templates: list[Template] = []
        self.shapes: list[Shape] = []
        self.worlds: list[state.World] = []
        #: All forms in which templates of a workload came, with their numbers.
        self._templates_of: dict[state.Key, list[tuple[Raw, int]]] = {}
        self._shape_numbers: dict[bytes, int] = {}
        self._options: dict[tuple[int, Any], tuple[tuple[int, ...], tuple[Outcome, ...]]] = {}
        self._claims: dict[tuple[state.Key, str, Any], state.Cost | None] = {}
        self._finished: dict[int, state.Cost] = {}
        self._cost_cache: dict[str, state.Cost] = {}
        #: The templates of DaemonSets that have a ControllerRevision.
        self.revised: dict[state.Key, frozenset[int]] = {}
        self._plugins: dict[Any, Plugins | None] = {}
        self._webhooks: dict[Any, _Webhooks] = {}
        #: What a webhook said to pods of a template when they were last tried, and whose templates those are.
        self._rejections: dict[int, str] = {}
        self._rejecting: dict[state.Key, str] = {}
        #: Workloads with a template of which nobody was asked whether what rejects the other one rejects it, too.
        self.unasked: set[state.Key] = set()
        #: What pods of workloads get beside their templates, and the templates with it.
        self._expected_additions: dict[state.Key, tuple[Added, ...]] = {}
        #: The same in words, by workload.
        self.seen: dict[state.Key, str] = {}
        self._variants_of: dict[int, tuple[Variant, ...]] = {}
        #: Pods and ReplicaSets that steps delete, and whose they are.
        self.made: dict[state.Key, state.Maker] = {}
        #: Whether policies may look at what controllers make, and what they say of the ReplicaSets and others.
        self.reviews = False
        self._reviews: dict[tuple[state.Key, int, str], ObjectReview] = {}
        #: Whether a ServiceAccount is there, as far as it is known.
        self.has_account: Callable[[str], bool] = lambda _: True
        #: What plugins could not compute.
        self.gaps: dict[str, None] = {}

    def world(self, world: state.World) -> int:
        """Return the number of a world."""
        self.worlds.append(world)
        return len(self.worlds) - 1

    def template(self, owner: state.Key, raw: Raw, *, whole: bool = False) -> int:
        """Return the number of a workload's template; the same for one that its controller takes for the same."""
        forms = self._templates_of.setdefault(owner, [])
        for form, number in forms:
            if form == raw:
                return number
        new = Template(owner, raw, is_complete=whole)
        # A workload mostly has one: then nothing has to be compared.
        number = next((number for _, number in forms if self.templates[number].is_like(new)), len(self.templates))
        if number == len(self.templates):
            self.templates.append(new)
        forms.append((raw, number))
        return number

    def reject(self, template: int, message: str) -> None:
        """A webhook rejected pods of a template: nobody can ask it, so that its word stands while the template does.

        One that cannot be called rejects pods of any template.
        """
        self._rejections[template] = message
        self._rejecting[self.templates[template].owner] = message

    def _rejection(self, template: int) -> str:
        """Return what a webhook says to pods of a template; empty where it is not known to reject them."""
        general = self._rejecting.get(self.templates[template].owner, "")
        return self._rejections.get(template, general if _CANNOT_BE_CALLED in general else "")

    def template_of(self, workload: Raw, *, whole: bool = False) -> int:
        """Return the number of the template that a workload has now."""
        name = str((workload.get("metadata") or {}).get("name", ""))
        return self.template((str(workload.get("kind")), name), state.template_raw(workload), whole=whole)

    def shape(self, shape: Shape) -> int:
        """Return the number of a shape."""
        key = content_key((shape.stored, shape.cost, shape.unstated))
        if key not in self._shape_numbers:
            self._shape_numbers[key] = len(self.shapes)
            self.shapes.append(shape)
        return self._shape_numbers[key]

    def shape_of_pod(self, pod: Pod, stored: Mapping[str, Any], world: state.World) -> int:
        """Return the shape of a pod that exists."""
        request = quota_admission.pod_request(pod, self.server)
        cost = add_costs(self.measures.cost(request), self._objects_cost(pod, world))
        return self.shape(Shape(stored, cost, self.measures.unstated(request)))

    def options(self, template: int, world: state.World) -> tuple[int, ...]:
        """Return the shapes that a new pod of a template can be stored in; none if it is refused whatever room there
        is.
        """
        return self._answers(template, world)[0]

    def refusals(self, template: int, world: state.World) -> tuple[Outcome, ...]:
        """Return what a new pod of a template is refused with whatever room there is, in any order of LimitRanges."""
        return self._answers(template, world)[1]

    def _answers(self, template: int, world: state.World) -> tuple[tuple[int, ...], tuple[Outcome, ...]]:
        key = (template, world.deciding)
        if key not in self._options:
            self._options[key] = self._evaluate(template, world)
        return self._options[key]

    def _evaluate(self, template: int, world: state.World) -> tuple[tuple[int, ...], tuple[Outcome, ...]]:
        result = self.templates[template]
        if result.owner in self._rejecting and not self._rejection(template):
            kind, name = result.owner
            self.unasked.add(result.owner)
            self.gaps[f"what rejects pods of {kind} {name} is not asked about its other template"] = None
        stored: dict[int, None] = {}
        refused: list[Outcome] = []
        for variant in self._variants(template):
            pairs, outcomes = self._evaluate_variant(template, variant, world)
            refusals = self.object_refusals(variant, without_quotas(self.policies(world)))
            blocked = [Outcome(False, refusal.code, refusal) for _, refusal in refusals]
            if blocked:
                # Such a pod is taken and never starts.
                refused += blocked
                continue
            objects = self._objects_cost(variant.pod(), world)
            stored.update(dict.fromkeys(self._shape_of(pair, objects) for pair in pairs))
            refused += outcomes
        return tuple(stored), tuple(refused)

    def _evaluate_variant(
        self, template: int, variant: Variant, world: state.World
    ) -> tuple[tuple[Stored, ...], tuple[Outcome, ...]]:
        whole = self.templates[template].is_complete
        policies = self.policies(world)
        bare = self.plugins(world) is None and not policies.webhooks
        shared = bare and not whole and not self._rejection(template) and self._missing_account(variant, world) is None
        if shared and any(known := self.judged.get(world.admission_key, variant.raw, variant.pod_name)):
            return known
        outcomes = self._outcomes(template, variant, world, without_quotas(policies))
        stored = tuple(
            (shape_fields(outcome.object or {}), quota_request(variant.pod(), outcome.draft))
            for outcome in outcomes if outcome.allowed
        )  # fmt: skip
        refused = tuple(outcome for outcome in outcomes if not outcome.allowed)
        if shared:
            self.judged.put(world.admission_key, variant.raw, variant.pod_name, stored, refused)
        return stored, refused

    def outcomes(self, template: int, world: state.World, policies: Policies, name: str = "") -> tuple[Outcome, ...]:
        """Return every answer to a new pod of a template. ``name``: the whole name, else one is generated."""
        variants = self._variants(template)
        return tuple(
            outcome for variant in variants for outcome in self._outcomes(template, variant, world, policies, name)
        )

    def _outcomes(
        self, template: int, variant: Variant, world: state.World, policies: Policies, name: str = ""
    ) -> tuple[Outcome, ...]:
        rejected = self._rejection(template)
        if rejected:
            return (_by_webhook(rejected),)
        if (missing := self._missing_account(variant, world, name)) is not None:
            return (missing,)
        plugins = self.plugins(world)
        policies = _owner_policies(policies, variant.owner)
        if plugins is None and not name:
            return admit(variant.pod(), policies, self.server, journal=False)
        raw = pod_of(variant.raw, variant.owner[1], name=name)
        if plugins is not None:
            return plugins.pod(raw, policies, whole=self.templates[template].is_complete, additions=variant.added)
        return admit(decode_object(raw, SentPod), policies, self.server, journal=False)

    def _missing_account(self, variant: Variant, world: state.World, name: str = "") -> Outcome | None:
        return self.missing_account(pod_of(variant.raw, variant.owner[1], name=name), world)

    def missing_account(self, pod: Raw, world: state.World) -> Outcome | None:
        """Return the refusal of a pod that names a ServiceAccount which is not there."""
        space = next(iter(world.of_kind("Namespace")), {})
        return missing_account(pod, str(mapping(space, "metadata").get("name", "")), self.has_account)

    def expect(self, owner: state.Key, variants: Sequence[Added]) -> None:
        """Every pod of a workload gets one of these sets of containers beside those of its template."""
        self._expected_additions[owner] = tuple(variants)
        own_names = {number for _, number in self._templates_of.get(owner, ())}
        self._options = {key: answer for key, answer in self._options.items() if key[0] not in own_names}

    def _variants(self, template: int) -> tuple[Variant, ...]:
        """A template with each of the sets of containers that its pods may get."""
        plain = self.templates[template]
        expected = self._expected_additions.get(plain.owner)
        if expected is None or self._rejection(template):
            return (plain,)
        if template not in self._variants_of:
            self._variants_of[template] = tuple(
                Variant(plain.owner, *_add_containers(plain.raw, additions)) for additions in expected
            )
        return self._variants_of[template]

    def policies(self, world: state.World) -> Policies:
        """Return what admission looks up in a world, and asks about objects that controllers make."""
        plugins, policies = self.plugins(world), world.policies
        hooks = self._webhooks_of(world)
        if any(hooks):
            policies = msgspec.structs.replace(
                policies, webhooks=hooks.pods, claim_webhooks=hooks.claims, object_webhooks=hooks.others
            )
        if plugins is None or not (plugins.deciding.validating or plugins.deciding.mutating):
            return policies
        return msgspec.structs.replace(policies, reviewer=plugins.review)

    def _webhooks_of(self, world: state.World) -> _Webhooks:
        """Return the webhooks of systems in a world."""
        if world.deciding not in self._webhooks:
            writing = [writer for kind, writer in pod_writers().items() if world.of_kind(kind)]
            self._webhooks[world.deciding] = _Webhooks(
                tuple(hook for writer in writing for hook in writer.webhooks(world)),
                tuple(hook for writer in writing if writer.claims is not None for hook in writer.claims(world)),
                tuple(hook for writer in writing if writer.others is not None for hook in writer.others(world)),
            )
        return self._webhooks[world.deciding]

    def plugins(self, world: state.World) -> Plugins | None:
        """Return what else admits in a world; None: nothing does."""
        if world.deciding not in self._plugins:
            plugins = plugins_of(world, self.server, self.gaps, self.look)
            self._plugins[world.deciding] = None if is_silent(plugins) else plugins
        return self._plugins[world.deciding]

    def _shape_of(self, stored: Stored, objects: state.Cost) -> int:
        seen, request = stored
        cost = add_costs(self.measures.cost(request), objects)
        return self.shape(Shape(seen, cost, self.measures.unstated(request)))

    def _objects_cost(self, pod: Pod, world: state.World) -> state.Cost:
        """Return what the objects cost that are made for a pod, without which it never starts."""
        cost: state.Cost = ()
        try:
            for creation in objects_of(pod, self.policies(world), self.server):
                cost = add_costs(cost, self.measures.cost(creation.request))
        except Unparsable:
            return ()
        return cost

    def refusals_of_objects(self, template: int, policies: Policies) -> Iterator[tuple[str, Refusal]]:
        """Yield what refuses the claims that are made for a pod of a template, each with the kind of the claim."""
        for variant in self._variants(template):
            yield from self.object_refusals(variant, policies)

    def object_refusals(self, variant: Variant, policies: Policies) -> Iterator[tuple[str, Refusal]]:
        """Yield what refuses the claims that are made for a pod of the variant, each with the kind of the claim."""
        with suppress(Unparsable):
            for creation in objects_of(variant.pod(), policies, self.server):
                for refusal in refusals_of((creation,), policies, self.server):
                    yield creation.kind, refusal

    def claim_cost(self, workload: Raw, claim: str, world: state.World) -> state.Cost | None:
        """Return what a claim of a StatefulSet costs; None if it is refused whatever room there is."""
        name = str((workload.get("metadata") or {}).get("name", ""))
        key = (("StatefulSet", name), claim, world.deciding)
        if key not in self._claims:
            self._claims[key] = self._claim(claim_raw(workload, claim, f"{claim}-{name}-0"), world)
        return self._claims[key]

    def _claim(self, raw: Raw, world: state.World) -> state.Cost | None:
        policies = without_quotas(self.policies(world))
        claim, review = review_made_claim(decode_object(raw, PersistentVolumeClaim), policies, self.server, raw)
        outcomes = with_review(create_claim(review.object or raw, policies, self.server), review)
        if not any(outcome.allowed for outcome in outcomes):
            return None
        return self.measures.cost(quota_admission.claim_request(with_default_class(claim, policies), self.server))

    def claim_outcomes(self, raw: Raw, policies: Policies) -> tuple[Outcome, ...]:
        """Return every answer to a claim that a StatefulSet makes."""
        _, review = review_made_claim(decode_object(raw, PersistentVolumeClaim), policies, self.server, raw)
        return with_review(create_claim(review.object or raw, policies, self.server), review)

    def _claim_request(self, raw: Raw, world: state.World) -> quota_admission.QuotaRequest:
        return quota_admission.claim_request(
            with_default_class(decode_object(raw, PersistentVolumeClaim), self.policies(world)), self.server
        )

    def revision_cost(self, workload: state.WorkloadState) -> state.Cost:
        """Return what one more ReplicaSet, or ControllerRevision, of a workload costs; nothing where it has none."""
        return self.count_cost(state.revision_of(workload)[1])

    def count_cost(self, resource: str) -> state.Cost:
        """Return what an object costs of which quotas count the number alone; nothing of none."""
        if resource and resource not in self._cost_cache:
            self._cost_cache[resource] = self.measures.cost(quota_admission.count_request(resource, ""))
        return self._cost_cache.get(resource, ())

    def lacks_revision(self, workload: state.StatefulSetState) -> bool:
        """Return whether its template has no ControllerRevision yet, where a quota counts them: it does nothing before.

        Source: stateful_set_control.go getStatefulSetRevisions.
        """
        return workload.template not in workload.revisions and (self.reviews or bool(self.revision_cost(workload)))

    def revision_review(self, key: state.Key, template: int, world: state.World) -> ObjectReview:
        """Return what policies say of what is made for a template before any pod: a ReplicaSet, ControllerRevision or
        Job.
        """
        policies, number = self.policies(world), (key, template, world.deciding)
        if policies.reviewer is None or key not in world.objects:
            return ObjectReview({})
        if number not in self._reviews:
            maker, name = world.objects[key], f"{key[1]}{SUFFIX}"
            if key[0] != "CronJob":
                maker = {**maker, "spec": {**maker["spec"], "template": self.templates[template].raw}}
            made = (job_raw if key[0] == "CronJob" else revision_raw)(maker, name)
            self._reviews[number] = policies.review(made, self.server, whole=key in world.complete)
        return self._reviews[number]

    def may_revise(self, key: state.Key, workload: state.WorkloadState, world: state.World) -> bool:
        """Return whether policies let in what is made for the template of a workload."""
        return not (self.reviews and self.revision_review(key, workload.template, world).refusals)

    def finished_cost(self, shape: int) -> state.Cost:
        """Return what a pod still costs once it has ended."""
        if shape not in self._finished:
            items = self.measures.items
            cost = tuple(part for part in self.shapes[shape].cost if items[part[0]].resource == _COUNTED_ALONE)
            self._finished[shape] = cost
        return self._finished[shape]

    def object_cost(self, raw: Raw, world: state.World) -> state.Cost:
        """Return what an object itself costs, without what a controller makes of it."""
        kind = str(raw.get("kind", ""))
        if kind in _NEVER_COUNTED:
            return ()
        try:
            return self.measures.cost(self._object_request(raw, kind, world))
        except Unparsable:
            return ()

    def _object_request(self, raw: Raw, kind: str, world: state.World) -> quota_admission.QuotaRequest:
        if kind == "PersistentVolumeClaim":
            return self._claim_request(raw, world)
        if kind in (*state.CONTROLLED, *held_kinds()) or kind not in BY_KIND:
            resource = quota_admission.resource_of(kind, str(raw.get("apiVersion", "v1")))
            return quota_admission.count_request(resource, "")
        return quota_admission.request_of(
            decode_object(raw, BY_KIND[kind].struct), self.server, extended=world.policies.extended
        )


def _owner_policies(policies: Policies, owner: state.Key) -> Policies:
    """Return the policies for pods of a controller."""
    if not policies.webhooks:
        return policies
    webhooks = tuple(webhook.for_owner(owner) for webhook in policies.webhooks)
    return msgspec.structs.replace(policies, webhooks=webhooks)


def _add_containers(template: Raw, additions: Added) -> tuple[Raw, frozenset[str]]:
    """Return the template with the containers that it does not have itself, and their names."""
    spec = dict(template.get("spec") or {})
    own_names = {item.get("name") for group in _GROUPS for item in spec.get(group) or ()}
    names: set[str] = set()
    for group in _GROUPS:
        new = [item for item in additions.get(group, ()) if item.get("name") not in own_names]
        if new:
            spec[group] = [*(spec.get(group) or ()), *new]
            names |= {str(item.get("name")) for item in new}
    return {**template, "spec": spec}, frozenset(names)


def _by_webhook(message: str) -> Outcome:
    finding = Finding(message, "webhook/not-computed")
    return Outcome(allowed=False, code=500, refusal=Refusal(500, "InternalError", message, (finding,)))


def claim_raw(workload: Raw, claim: str, name: str) -> dict[str, Any]:
    """Return the PersistentVolumeClaim that a StatefulSet makes of one of its templates."""
    templates: Sequence[Raw] = (workload.get("spec") or {}).get("volumeClaimTemplates") or ()
    template = next(item for item in templates if (item.get("metadata") or {}).get("name") == claim)
    metadata = {key: value for key, value in template["metadata"].items() if key in {"labels", "annotations"}}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {**metadata, "name": name},
        "spec": {**_READ_CLAIM, **(template.get("spec") or {})},
    }
