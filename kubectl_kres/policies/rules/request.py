"""A request as admission plugins receive it: which policies, bindings and webhooks it concerns, their answers, and
NamespaceLifecycle. Source: apiserver admission/plugin/policy/matching.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, convert, structs

from kubectl_kres.admission.base.outcome import Finding, Refusal, StatusCause
from kubectl_kres.admission.base.resource_names import given_name
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import NamespaceStatus
from kubectl_kres.policies.rules.objects import EQUIVALENT
from kubectl_kres.provenance.journal import Source

Raw = Mapping[str, Any]
POLICY_KINDS = (
    "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "MutatingAdmissionPolicy",
    "MutatingAdmissionPolicyBinding",
)  # fmt: skip


#: What a request to ``/scale`` holds, whatever is scaled.
SCALE = "Scale"


class User(Struct, frozen=True):
    """Who asks; None in a request: it is not known (a controller will)."""

    name: str
    groups: tuple[str, ...] = ()


class Request(Struct, frozen=True):
    """``object`` and ``old`` are whole objects; None where the operation has none."""

    operation: str
    kind: str
    api_version: str
    name: str
    namespace: str
    object: Raw | None = None
    old: Raw | None = None
    subresource: str = ""
    user: User | None = None
    dry_run: bool = False

    @property
    def group(self) -> str:
        return self.api_version.rpartition("/")[0]

    @property
    def version(self) -> str:
        return self.api_version.rpartition("/")[2]

    @property
    def resource(self) -> str:
        """The plural without the group."""
        return self.qualified_name.partition(".")[0]

    @property
    def qualified_name(self) -> str:
        """The plural with the group, as in the server's refusals."""
        known_kind = BY_KIND.get(self.kind)
        if known_kind is not None and known_kind.group == self.group:
            return known_kind.qualified_name
        return _plural(self.kind, self.group)

    def with_object(self, new: Raw | None) -> Request:
        """Return the same request about the object as it became."""
        return structs.replace(self, object=new)


def creation(raw: Raw, namespace: str, user: User | None = None, *, dry_run: bool = False) -> Request:
    """Return a CREATE of an object."""
    metadata = raw.get("metadata") or {}
    name = given_name(str(metadata.get("name") or ""), str(metadata.get("generateName") or ""))
    return Request(
        "CREATE",
        str(raw.get("kind", "")),
        str(raw.get("apiVersion", "v1")),
        name,
        namespace,
        raw,
        None,
        "",
        user,
        dry_run,
    )


def _plural(kind: str, group: str) -> str:
    """By the rule that API types follow, for kinds of groups that are in no table."""
    word = kind.lower()
    if word.endswith(("s", "x", "ch", "sh")):
        word += "es"
    else:
        word = f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"
    return f"{word}.{group}" if group else word


class Review(Struct, frozen=True):
    """What plugins said of an object: refusals, any of which can be the answer; warnings; what was not computed.

    ``audit``: annotations of the audit event. Not computed: the answer may be another one.
    """

    refusals: tuple[Refusal, ...] = ()
    warnings: tuple[str, ...] = ()
    audit: Mapping[str, str] = {}
    unknown: tuple[str, ...] = ()


def forbidden(request: Request, text: str, rule: str, **more: Any) -> Refusal:
    """403 of a plugin."""
    message = f'{request.qualified_name} "{request.name}" is forbidden: {text}'
    return Refusal(403, "Forbidden", message, (Finding(text, rule, **more),))


_IMMORTAL = ("default", "kube-system", "kube-public")
#: Kinds that no namespace holds.
CLUSTER_WIDE = frozenset(
    (
        "Namespace", "Node", "PersistentVolume", "PriorityClass", "RuntimeClass", "StorageClass",
        "CustomResourceDefinition", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
        "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration",
        "MutatingWebhookConfiguration", "ClusterRole", "ClusterRoleBinding", "DeviceClass", "VolumeAttributesClass",
    )
)  # fmt: skip


def refusal(request: Request, namespace: Mapping[str, Any] | None) -> Refusal | None:
    """``namespace`` None: there is none of that name."""
    if request.kind == "Namespace":
        if request.operation == "DELETE" and request.name in _IMMORTAL:
            text = "this namespace may not be deleted"
            message = f'namespaces "{request.name}" is forbidden: {text}'
            return Refusal(403, "Forbidden", message, (Finding(text, "namespace/immortal"),))
        return None
    if request.kind in CLUSTER_WIDE:
        return None
    if namespace is None:
        text = f'namespaces "{request.namespace}" not found'
        source = Source("Namespace", request.namespace)
        return Refusal(404, "NotFound", text, (Finding(text, "namespace/not-found", source=source),))
    return _mismatch(request) or _terminating(request, namespace)


def _mismatch(request: Request) -> Refusal | None:
    written = ((request.object or {}).get("metadata") or {}).get("namespace")
    if not written or written == request.namespace:
        return None
    text = "the namespace of the provided object does not match the namespace sent on the request"
    return Refusal(400, "BadRequest", text, (Finding(text, "namespace/mismatch", "metadata.namespace"),))


def _terminating(request: Request, namespace: Mapping[str, Any]) -> Refusal | None:
    status = convert(namespace.get("status") or {}, NamespaceStatus)
    if request.operation != "CREATE" or status.phase != "Terminating":
        return None
    name = request.namespace
    text = f"unable to create new content in namespace {name} because it is being terminated"
    cause = StatusCause("metadata.namespace", "NamespaceTerminating", f"namespace {name} is being terminated")
    source = Source("Namespace", name)
    finding = Finding(text, "namespace/terminating", observed=name, expected=status.held, source=source)
    message = f'{request.qualified_name} "{request.name}" is forbidden: {text}'
    return Refusal(403, "Forbidden", message, (finding,), (cause,))


def selector_matches(selector: Raw | None, labels: Raw | None) -> bool:
    """Return a label selector; an absent or empty one selects everything."""
    labels = labels or {}
    selector = selector or {}
    if any(labels.get(key) != value for key, value in (selector.get("matchLabels") or {}).items()):
        return False
    return all(
        _matches_expression(match_expression, labels) for match_expression in selector.get("matchExpressions") or ()
    )


def _matches_expression(expression: Raw, labels: Raw) -> bool:
    key, values = expression.get("key", ""), expression.get("values") or ()
    operator = expression.get("operator")
    if operator == "In":
        return key in labels and labels[key] in values
    if operator == "NotIn":
        return key not in labels or labels[key] not in values
    return (key in labels) is (operator == "Exists")


def match_request(constraints: Raw | None, request: Request, namespace: Raw | None) -> Request | None:
    """Return the request as the policy sees it, perhaps in another version of the kind; None: it is not about it."""
    if not constraints:
        return request
    if not _namespace_selected(constraints.get("namespaceSelector"), request, namespace):
        return None
    if not _object_selected(constraints.get("objectSelector"), request):
        return None
    policy = constraints.get("matchPolicy", "Equivalent")
    if _find_matched_request(constraints.get("excludeResourceRules"), request, policy) is not None:
        return None
    rules = constraints.get("resourceRules")
    return _find_matched_request(rules, request, policy) if rules else request


def _namespace_selected(selector: Raw | None, request: Request, namespace: Raw | None) -> bool:
    if not selector:
        return True
    if request.kind == "Namespace":
        source = request.object or request.old or {}
        return selector_matches(selector, (source.get("metadata") or {}).get("labels"))
    if request.kind in CLUSTER_WIDE:
        return True
    labels = dict(((namespace or {}).get("metadata") or {}).get("labels") or {})
    labels.setdefault("kubernetes.io/metadata.name", request.namespace)
    return selector_matches(selector, labels)


def _object_selected(selector: Raw | None, request: Request) -> bool:
    """Either the new or the old object has to be selected."""
    if not selector:
        return True
    present = [mapping for mapping in (request.object, request.old) if mapping is not None]
    return any(selector_matches(selector, (mapping.get("metadata") or {}).get("labels")) for mapping in present)


def _find_matched_request(rules: Sequence[Raw] | None, request: Request, policy: str) -> Request | None:
    if any(rule_matches(rule, request) for rule in rules or ()):
        return request
    if policy != "Equivalent":
        return None
    for other in _equivalents(request):
        if any(rule_matches(rule, other) for rule in rules or ()):
            return other
    return None


def _equivalents(request: Request) -> Iterator[Request]:
    for version in EQUIVALENT.get((request.kind, request.api_version), ()):
        yield structs.replace(request, api_version=version)


def rule_matches(rule: Raw, request: Request) -> bool:
    """Groups, versions, operations, resources, scope and names of one rule."""
    names = rule.get("resourceNames")
    return (
        _is_listed(rule.get("apiGroups"), request.group)
        and _is_listed(rule.get("apiVersions"), request.version)
        and _is_listed(rule.get("operations"), request.operation)
        and _in_scope(rule.get("scope"), request)
        and any(_resource(resource, request) for resource in rule.get("resources") or ())
        and (not names or request.name in names)
    )


def _is_listed(values: Sequence[str] | None, expected: str) -> bool:
    return "*" in (values or ()) or expected in (values or ())


def _in_scope(scope: str | None, request: Request) -> bool:
    cluster = request.kind in CLUSTER_WIDE
    return scope in (None, "", "*") or (scope == "Cluster") is cluster


def _resource(pattern: str, request: Request) -> bool:
    expected, _, sub = pattern.partition("/")
    if expected not in ("*", request.resource):
        return False
    return sub in ("*", request.subresource)
