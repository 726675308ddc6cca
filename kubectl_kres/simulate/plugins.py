"""Admission plugins beside LimitRanges and quotas in the world of a change: Pod Security and policies.

Steps about objects that admission policies take parameters from are handled here, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

import msgspec
from msgspec import Struct

from kubectl_kres.admission.base.draft import Unparsable
from kubectl_kres.admission.base.outcome import Outcome
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.request.new_pod import ObjectReview, Policies, admit
from kubectl_kres.model.admission_objects import kind_name, may_be_read
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import Raw, decode_object, mapping
from kubectl_kres.model.pod import SentPod, unread_fields
from kubectl_kres.policies.rules import chain, service_account
from kubectl_kres.policies.rules.chain import PolicyObjects, build_policy_objects, review_object, unread_of
from kubectl_kres.policies.rules.newer_fields import answerable
from kubectl_kres.policies.rules.pod_security import parse_enforced_levels
from kubectl_kres.policies.rules.policy import BoundPolicy, Look, build_param_finder
from kubectl_kres.policies.rules.request import Request, Review, creation, match_request
from kubectl_kres.policies.rules.resources import canonical_object, undecodable
from kubectl_kres.simulate.change import Apply, Delete, ParameterStep, Patch, Step, key_of_step
from kubectl_kres.simulate.state import World

#: Kind, namespace and name of a parameter, the kind as needs and stores call it.
ParameterKey = tuple[str, str, str]
_POLICIES = ("ValidatingAdmissionPolicy", "MutatingAdmissionPolicy")
_BINDINGS = tuple(f"{kind}Binding" for kind in _POLICIES)


class Parameters(Struct, frozen=True):
    """Which objects are parameters. ``versions``: API version by kind. ``spaces``: namespaces that bindings name."""

    versions: Mapping[str, str] = {}
    spaces: frozenset[str] = frozenset()

    def is_parameter_step(self, step: Step) -> bool:
        """Return whether a step is about an object of a kind that policies take parameters from."""
        version = self.versions.get(key_of_step(step)[0])
        if version is None:
            return False
        return not isinstance(step, Apply) or step.object.get("apiVersion") == version

    def step(self, step: Step, namespace: str, space: str) -> ParameterStep | None:
        """Return a step about an object in a namespace, or in none, as ``space`` sees it; None if it is none about
        parameters, or if no policy looks there for objects of that space.
        """
        if not self.is_parameter_step(step) or not isinstance(step, Apply | Delete | Patch):
            return None
        is_own = namespace in {"", space}
        kind = key_of_step(step)[0]
        return (
            ParameterStep(step, self.versions[kind], namespace, is_own) if is_own or namespace in self.spaces else None
        )


def parameters_of(policies: Iterable[Raw]) -> Parameters:
    """Return the parameters of policies, by them and their bindings. Never a Secret, nor a kind that is simulated
    itself.
    """
    versions: dict[str, str] = {}
    spaces: set[str] = set()
    for raw in policies:
        spec = mapping(raw, "spec")
        if raw.get("kind") in _POLICIES:
            param_kind = mapping(spec, "paramKind")
            version, kind = str(param_kind.get("apiVersion", "")), str(param_kind.get("kind", ""))
            if may_be_read(version, kind) and (kind == "ConfigMap" or kind not in BY_KIND):
                versions[kind] = version
        elif raw.get("kind") in _BINDINGS:
            spaces.add(str(mapping(spec, "paramRef").get("namespace") or ""))
    return Parameters(versions, frozenset(spaces - {""}))


def parameter_key(step: ParameterStep) -> ParameterKey:
    """Return the object that the step is about."""
    kind, name = key_of_step(step.step)
    return kind_name(step.api_version, kind), step.namespace, name


def stored_parameter(step: ParameterStep, look: Look) -> Raw | None:
    """Return the object that the step is about as it is; None: there is none."""
    kind, name = key_of_step(step.step)
    result, _ = look(step.api_version, kind, step.namespace, {"name": name})
    return next((raw for raw in result if _object_key(raw)[1] == name), None)


def after_changes(look: Look, changed: Mapping[ParameterKey, Raw | None]) -> Look:
    """Return where parameters are once some of them were changed; None: it was deleted."""
    return partial(_look, look, changed) if changed else look


def _look(
    look: Look,
    changed: Mapping[ParameterKey, Raw | None],
    version: str,
    kind: str,
    namespace: str,
    reference: Raw | None,
) -> tuple[Sequence[Raw], str]:
    result, state = look(version, kind, namespace, reference)
    if reference is None:
        return result, state
    spaces = {str(reference.get("namespace") or namespace), ""}
    name = kind_name(version, kind)
    new = [
        raw
        for (changed_kind, space, _), raw in changed.items()
        if changed_kind == name and space in spaces and raw is not None
    ]
    kept = [raw for raw in result if (name, *_object_key(raw)) not in changed]
    is_known = any(_object_key(raw)[1] == reference.get("name") for raw in new)
    return [*kept, *new], "read" if is_known and state != "absent" else state


def _object_key(raw: Raw) -> tuple[str, str]:
    metadata = mapping(raw, "metadata")
    return str(metadata.get("namespace") or ""), str(metadata.get("name") or "")


VALIDATING, MUTATING = "ValidatingAdmissionPolicy", "MutatingAdmissionPolicy"
#: Kinds of the cluster that decide about pods beside classes.
POLICIES = (VALIDATING, f"{VALIDATING}Binding", MUTATING, f"{MUTATING}Binding")
#: Cost of an expression after which it is not computed: some fifty milliseconds.
_MOST = 30_000
_NEWEST_KNOWN = 36


class Plugins:
    """What decides in one world. ``gaps`` collects what was not computed, so that an answer may be another one."""

    def __init__(self, namespace: Raw, deciding: PolicyObjects, server: Server, gaps: dict[str, None]) -> None:
        self.name = str((namespace.get("metadata") or {}).get("name", ""))
        self.deciding, self.server, self.gaps = deciding, server, gaps

    def pod(
        self, raw: Raw, policies: Policies, *, whole: bool, additions: frozenset[str] = frozenset()
    ) -> tuple[Outcome, ...]:
        """Return every answer to a new pod. ``whole`` False: fields of it were not read, so that what asks for them is
        left out and told. ``added``: its containers of which live pods alone tell.
        """
        pod = decode_object(raw, SentPod)
        outcomes = admit(pod, policies, self.server, journal=False)
        if any(outcome.code == 400 for outcome in outcomes) or undecodable(raw) is not None:
            return outcomes
        try:
            sent = creation(raw, self.name)
            request = sent.with_object(chain.fill_metadata(canonical_object(raw, self.server), self.name))
            deciding = self._select_computable_policies(unread_fields(whole=whole, additions=bool(additions)), request)
            deciding = msgspec.structs.replace(deciding, added=additions) if additions else deciding
            if self._select_matching(deciding.mutating, request):
                answers = chain.create(raw, self.name, policies, self.server, deciding)
                self._add_gaps(gap for answer in answers for gap in answer.unknown)
                return tuple(answer.outcome for answer in answers)
            run = chain.Chain(request, policies, self.server, deciding)
            return tuple(item for outcome in outcomes for item in self._pod(run, request, outcome))
        except (Unparsable, msgspec.ValidationError):
            return outcomes

    def _pod(self, run: chain.Chain, request: Request, outcome: Outcome) -> Iterator[Outcome]:
        """Yield the outcome, or what refuses the pod before a quota does."""
        if outcome.draft is None or not (outcome.allowed or _by_quota(outcome)):
            yield outcome
            return
        yield from self._review_outcome(
            run, request.with_object(chain.object_to_validate(request, outcome.draft)), outcome
        )

    def object(self, raw: Raw, old: Raw | None, policies: Policies, outcome: Outcome) -> Iterator[Outcome]:
        """Yield the answer to an object that is no pod, or what policies refuse it with."""
        if not outcome.allowed or undecodable(raw) is not None:
            yield outcome
            return
        try:
            request = creation(raw, self.name)
            request = request.with_object(chain.fill_metadata(canonical_object(raw, self.server), self.name))
            if old is not None:
                before = chain.fill_metadata(canonical_object(old, self.server), self.name)
                request = msgspec.structs.replace(request, operation="UPDATE", old=before)
        except (Unparsable, msgspec.ValidationError):
            yield outcome
            return
        changing = self._select_matching(self.deciding.mutating, request)
        self._add_gaps(
            f"{MUTATING} {bound.policy.name} is not computed: it changes the {request.kind}" for bound in changing
        )
        yield from self._review_outcome(chain.Chain(request, policies, self.server, self.deciding), request, outcome)

    def review(self, raw: Raw, server: Server, *, whole: bool = True) -> ObjectReview:
        """Return what policies say of an object that a controller makes. ``whole``: nothing of its maker was
        left out.
        """
        if undecodable(raw) is not None:
            return ObjectReview(raw)
        try:
            sent = creation(raw, self.name)
            request = sent.with_object(chain.fill_metadata(canonical_object(raw, server), self.name))
        except (Unparsable, msgspec.ValidationError):
            return ObjectReview(raw)
        deciding = self._select_computable_policies(unread_of(request.kind, whole=whole), request)
        review = review_object(chain.Chain(request, Policies(), server, deciding), request, raw)
        self._add_gaps(review.gaps)
        return review

    def policy(self, raw: Raw, policies: Policies, *, exists: bool) -> Iterator[Outcome]:
        """The answers to a policy or a binding itself."""
        for answer in chain.create(raw, "", policies, self.server, self.deciding):
            outcome = answer.outcome
            yield msgspec.structs.replace(outcome, code=200) if exists and outcome.allowed else outcome

    def _review_outcome(self, run: chain.Chain, request: Request, outcome: Outcome) -> Iterator[Outcome]:
        reviews: list[Review] = list(run.review(request))
        self._add_gaps(gap for review in reviews for gap in review.unknown)
        refusals = [refusal for review in reviews for refusal in review.refusals]
        for refusal in refusals:
            yield msgspec.structs.replace(outcome, allowed=False, code=refusal.code, refusal=refusal, object=None)
        if not refusals:
            texts = {*outcome.warnings, *(text for review in reviews for text in review.warnings)}
            yield msgspec.structs.replace(outcome, warnings=tuple(sorted(texts))) if texts else outcome

    def _select_matching(self, bound: Iterable[BoundPolicy], request: Request) -> list[BoundPolicy]:
        return [
            bound for bound in bound
            if match_request(bound.policy.spec.get("matchConstraints"), request, self.deciding.namespace) is not None
        ]  # fmt: skip

    def _select_computable_policies(self, withheld: frozenset[str], request: Request) -> PolicyObjects:
        """Return the policies that ask for nothing that is not kept of an object that was read."""
        validating = tuple(self._computable(withheld, self.deciding.validating, request, VALIDATING))
        mutating = tuple(self._computable(withheld, self.deciding.mutating, request, MUTATING))
        return msgspec.structs.replace(self.deciding, validating=validating, mutating=mutating)

    def _computable(
        self, withheld: frozenset[str], bound: Iterable[BoundPolicy], request: Request, kind: str
    ) -> Iterator[BoundPolicy]:
        for item in bound:
            left, reasons = answerable(item, withheld)
            if left is not None:
                yield left
            if reasons and self._select_matching([item], request):
                self._add_gaps(f"{kind} {item.policy.name} is not computed: {reason}" for reason in reasons)

    def _add_gaps(self, gaps: Iterable[str]) -> None:
        self.gaps.update(dict.fromkeys(gaps))


def _by_quota(outcome: Outcome) -> bool:
    return outcome.refusal is not None and outcome.refusal.findings[0].rule.startswith("quota/")


def plugins_of(world: World, server: Server, gaps: dict[str, None], look: Look) -> Plugins:
    """Return what decides in a world. ``look``: where parameters of policies are."""
    namespace = (world.of_kind("Namespace") or [{"metadata": {"name": ""}}])[0]
    status = {"phase": "Active", **(namespace.get("status") or {})}
    deciding = build_policy_objects(
        {"apiVersion": "v1", "kind": "Namespace", **namespace, "status": status},
        None,
        (world.of_kind(VALIDATING), world.of_kind(f"{VALIDATING}Binding")),
        (world.of_kind(MUTATING), world.of_kind(f"{MUTATING}Binding")),
        params=build_param_finder(after_changes(look, world.parameters)),
        maximum=_MOST,
        version=(1, min(server.version[1], _NEWEST_KNOWN)),
    )
    return Plugins(namespace, deciding, server, gaps)


def missing_account(raw: Raw, namespace: str, has_account: Callable[[str], bool]) -> Outcome | None:
    """Return the refusal of a pod that names a ServiceAccount which is not there; None: it is, or is not known."""
    spec = mapping(raw, "spec")
    name = str(spec.get("serviceAccountName") or spec.get("serviceAccount") or "")
    if not name or has_account(name):
        return None
    refusal = service_account.missing_account(creation(raw, namespace), name)
    return Outcome(allowed=False, code=refusal.code, refusal=refusal)


def is_silent(plugins: Plugins) -> bool:
    """Return whether nothing of it can refuse or change a pod."""
    standard = parse_enforced_levels((plugins.deciding.namespace or {}).get("metadata", {}).get("labels"))
    decide = plugins.deciding.validating or plugins.deciding.mutating
    return standard.privileged and not standard.faults and not decide
