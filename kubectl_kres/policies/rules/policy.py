"""What is asked about a request: policies with bindings and parameters, compiled, and webhooks, whose answers are not
known.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

from kubectl_kres.admission.base.server import Server
from kubectl_kres.model.admission_objects import is_secret
from kubectl_kres.model.kinds import BY_KIND, always_served
from kubectl_kres.policies.cel.base.values import PER_CALL, NotComputed
from kubectl_kres.policies.rules.request import Request, match_request, selector_matches

if TYPE_CHECKING:
    from kubectl_kres.policies.rules.expressions import Accepts, Expression

__all__ = [
    "AskedConfiguration",
    "BoundPolicy",
    "ConfigurationError",
    "FindParams",
    "Look",
    "NotComputed",
    "Policy",
    "Raw",
    "RequestContext",
    "bind_policies",
    "build_param_finder",
    "match_webhooks",
    "name_of",
    "no_parameters",
]


Raw = Mapping[str, Any]
_RULES = ("resourceRules", "excludeResourceRules")
_WORD = re.compile(r"[A-Za-z]+")
#: Of an API version and a kind, the objects in a namespace among which a paramRef chooses, or none where there is no
#: paramRef; None: no such kind is served. Raises NotComputed where they could not be read.
FindParams = Callable[[str, str, str, Raw | None], Sequence[Raw] | None]


class RequestContext(Struct, frozen=True):
    """What is known around a request. ``most``: cost of one expression after which it is not computed."""

    namespace: Raw | None = None
    params: FindParams = lambda _version, _kind, _namespace, _reference: None
    server: Server = Server()
    most: int = PER_CALL


class ConfigurationError(Exception):
    """The policy or the binding is not usable; the text is the server's."""


class Policy:
    """The spec of a policy with what all policies share, compiled when it is first used."""

    def __init__(self, raw: Raw, version: tuple[int, int]) -> None:
        self.raw, self.version = raw, version
        self.name = str((raw.get("metadata") or {}).get("name", ""))
        self.spec: Raw = raw.get("spec") or {}
        self.param_kind: Raw | None = self.spec.get("paramKind")
        self.fails = (self.spec.get("failurePolicy") or "Fail") != "Ignore"
        self._variables: dict[str, Expression] | None = None
        self._conditions: list[Expression] | None = None
        self.known: dict[Any, Expression] = {}
        self._words: frozenset[str] | None = None
        #: Whether it tells objects of a kind apart; the versions in which it sees those of a namespace, if any.
        self._differs_by_object: bool | None = None
        self._namespace: Raw | None = None
        self._versions: dict[tuple[str, ...], str | None] = {}
        #: What ``newer.familiar`` said of it with these bindings.
        self.familiar: tuple[tuple[Raw, ...], BoundPolicy | None, list[str]] | None = None

    def matched(self, request: Request, namespace: Raw | None) -> Request | None:
        """As ``matching.match_request``; where it does not depend on the object, computed once for a kind in a
        namespace.
        """
        constraints: Raw | None = self.spec.get("matchConstraints")
        if self._differs_by_object is None:
            rules = [rule for key in _RULES for rule in (constraints or {}).get(key) or ()]
            self._differs_by_object = bool(
                (constraints or {}).get("objectSelector") or any(r.get("resourceNames") for r in rules)
            )
        if self._differs_by_object or request.kind == "Namespace":
            return match_request(constraints, request, namespace)
        if self._namespace is not namespace:
            self._namespace, self._versions = namespace, {}
        key = (request.operation, request.kind, request.api_version, request.subresource, request.namespace)
        if key not in self._versions:
            request_seen = match_request(constraints, request, namespace)
            self._versions[key] = None if request_seen is None else request_seen.api_version
        version = self._versions[key]
        if version is None or version == request.api_version:
            return None if version is None else request
        return structs.replace(request, api_version=version)

    def accepts(self, *, authorizer: bool = True, patch: bool = False) -> Accepts:
        from kubectl_kres.policies.rules.expressions import Accepts  # noqa: PLC0415, only policies load the engine

        return Accepts(self.param_kind is not None, authorizer, patch)

    @property
    def words(self) -> frozenset[str]:
        """Every word in its spec, names of fields among them."""
        if self._words is None:
            self._words = frozenset(_WORD.findall(json.dumps(self.spec)))
        return self._words

    @property
    def variables(self) -> dict[str, Expression]:
        """In their order; each may use those before it."""
        if self._variables is None:
            from kubectl_kres.policies.rules.expressions import Expression, declared_type  # noqa: PLC0415, CEL

            expressions: dict[str, Expression] = {}
            for variable in self.spec.get("variables") or ():
                fields = {name: declared_type(expression.kind) for name, expression in expressions.items()}
                text = str(variable.get("expression", ""))
                expressions[str(variable.get("name", ""))] = Expression(text, self.accepts(), self.version, (), fields)
            self._variables = expressions
        return self._variables

    def expression(
        self, text: str, wanted: Sequence[Any], *, authorizer: bool = True, patch: bool = False
    ) -> Expression:
        """Compiled once."""
        from kubectl_kres.policies.rules.expressions import Expression, declared_type  # noqa: PLC0415, CEL

        key = (text, tuple(wanted), authorizer, patch)
        if key not in self.known:
            fields = {name: declared_type(variable.kind) for name, variable in self.variables.items()}
            accepts = self.accepts(authorizer=authorizer, patch=patch)
            self.known[key] = Expression(text, accepts, self.version, wanted, fields)
        return self.known[key]

    def holds(
        self,
        request: Request,
        original: Request,
        params: Raw | None,
        context: RequestContext,
        plain: Collection[str] = (),
    ) -> bool:
        """Return whether all match conditions hold. ``plain``: as for ``names_of``.

        Raises ConfigurationError for errors that the policy fails on.
        """
        conditions = self.spec.get("matchConditions") or ()
        if not conditions:
            return True
        from kubectl_kres.policies.rules.expressions import (  # noqa: PLC0415, CEL is loaded where an expression is evaluated
            BOOLEAN,
            Evaluation,
            OutOfBudget,
            conditions_budget,
            names_of,
        )

        has_params = self.param_kind is not None
        names = names_of(request, original, None, params, context.server, has_params=has_params, plain=plain)
        evaluation = Evaluation(names, self.variables, budget=conditions_budget(), maximum=context.most)
        errors = []
        for condition in conditions:
            try:
                result = evaluation.run(self.expression(str(condition.get("expression", "")), BOOLEAN))
            except OutOfBudget as error:
                if self.fails:
                    raise ConfigurationError(str(error)) from None
                return False
            if result.error:
                errors.append(result.error)
            elif result.value is False:
                return False
        if errors and self.fails:
            distinct = list(dict.fromkeys(errors))
            raise ConfigurationError(distinct[0] if len(distinct) == 1 else f"[{', '.join(distinct)}]")
        return not errors

    def params(self, binding: Raw, request: Request, context: RequestContext) -> list[Raw | None]:
        """Return the objects that the binding gives as parameters; one None where there is nothing to give.

        Raises ConfigurationError, NotComputed.
        """
        reference = (binding.get("spec") or {}).get("paramRef")
        if self.param_kind is None or reference is None:
            return [None]
        version, kind = str(self.param_kind.get("apiVersion", "")), str(self.param_kind.get("kind", ""))
        params = context.params(version, kind, str(reference.get("namespace") or request.namespace), reference)
        if params is None:
            raise ConfigurationError(self.unknown_kind())
        if reference.get("namespace") and any(not (param.get("metadata") or {}).get("namespace") for param in params):
            raise ConfigurationError("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
        chosen = list(_select_parameters(params, reference))
        if not chosen and reference.get("parameterNotFoundAction") == "Deny":
            raise ConfigurationError("no params found for policy binding with `Deny` parameterNotFoundAction")
        return [{"apiVersion": version, "kind": kind, **mapping} for mapping in chosen]

    def is_kind_served(self, request: Request, context: RequestContext) -> bool:
        """Return whether the kind of the parameters is served. Raises NotComputed."""
        if self.param_kind is None:
            return True
        version, kind = str(self.param_kind.get("apiVersion", "")), str(self.param_kind.get("kind", ""))
        return context.params(version, kind, request.namespace, None) is not None

    def unknown_kind(self) -> str:
        kind = self.param_kind or {}
        shown = f"{_group_version(str(kind.get('apiVersion', '')))}, Kind={kind.get('kind', '')}"
        return f"failed to find resource referenced by paramKind: '{shown}'"


def _group_version(version: str) -> str:
    return version if "/" in version else f"/{version}"


def _select_parameters(value: Sequence[Raw], reference: Raw) -> Iterator[Raw]:
    name = reference.get("name")
    for mapping in value:
        metadata = mapping.get("metadata") or {}
        if (
            metadata.get("name") == name
            if name
            else selector_matches(reference.get("selector"), metadata.get("labels"))
        ):
            yield mapping


class BoundPolicy(Struct, frozen=True):
    """A policy with the bindings that name it."""

    policy: Policy
    bindings: tuple[Raw, ...]


def bind_policies(
    policies: Sequence[Raw], bindings: Sequence[Raw], version: tuple[int, int]
) -> tuple[BoundPolicy, ...]:
    """Return every policy that has a binding; one without does nothing."""
    by_policy: dict[str, list[Raw]] = {}
    for binding in bindings:
        by_policy.setdefault(str((binding.get("spec") or {}).get("policyName", "")), []).append(binding)
    named = ((str((raw.get("metadata") or {}).get("name", "")), raw) for raw in policies)
    return tuple(BoundPolicy(Policy(raw, version), tuple(by_policy[name])) for name, raw in named if name in by_policy)


def name_of(binding: Raw) -> str:
    return str((binding.get("metadata") or {}).get("name", ""))


class AskedConfiguration(Struct, frozen=True):
    """A configuration, some of whose webhooks are asked. ``fails``: one of them refuses where it cannot be reached."""

    configuration: str
    mutating: bool
    fails: bool

    @property
    def text(self) -> str:
        return f"webhook {self.configuration} ({'fail closed' if self.fails else 'fail open'}) is not computed"


def match_webhooks(
    name: str, webhooks: Iterable[Raw], request: Request, context: RequestContext, *, mutating: bool
) -> AskedConfiguration | None:
    """None: no webhook of the configuration is asked."""
    result = [webhook for webhook in webhooks if _is_asked(webhook, request, context)]
    if not result:
        return None
    return AskedConfiguration(
        name, mutating, any((mapping.get("failurePolicy") or "Fail") == "Fail" for mapping in result)
    )


def _is_asked(webhook: Raw, request: Request, context: RequestContext) -> bool:
    constraints = {
        "resourceRules": webhook.get("rules"),
        "namespaceSelector": webhook.get("namespaceSelector"),
        "objectSelector": webhook.get("objectSelector"),
        "matchPolicy": webhook.get("matchPolicy") or "Equivalent",
    }
    if not webhook.get("rules") or match_request(constraints, request, context.namespace) is None:
        return False
    return any(_conditions(webhook, request, context))


def _conditions(webhook: Raw, request: Request, context: RequestContext) -> Iterator[bool]:
    """Return whether the conditions let it be asked; one that is not computed does. Source: webhook/matchconditions."""
    spec = {"matchConditions": webhook.get("matchConditions"), "failurePolicy": webhook.get("failurePolicy") or "Fail"}
    policy = Policy({"metadata": {"name": webhook.get("name", "")}, "spec": spec}, context.server.version)
    try:
        yield policy.holds(request, request, None, context)
    except (ConfigurationError, NotComputed):
        yield True


#: As ``FindParams``, with how reading went: read, denied, absent (no such kind is served), failed or unread.
Look = Callable[[str, str, str, Raw | None], tuple[Sequence[Raw], str]]
_WHY = {"denied": "may not be read", "failed": "could not be read"}


def no_parameters(_version: str, _kind: str, _namespace: str, _reference: Raw | None) -> tuple[Sequence[Raw], str]:
    """Return where nothing was read."""
    return (), "unread"


def build_param_finder(look: Look) -> FindParams:
    """Find parameters among what was read; what was not read is named, and not computed."""

    def find(version: str, kind: str, namespace: str, reference: Raw | None) -> Sequence[Raw] | None:
        if is_secret(version, kind):
            raise NotComputed("its parameters are Secrets, which are never read")
        result, state = look(version, kind, namespace, reference)
        if state == "absent":
            return None
        if reference is None:
            # Without a paramRef no object is wanted, but a policy whose kind is not served refuses everything.
            if state in {"unread", "failed"} and not always_served(version, kind):
                raise NotComputed(f"whether the server has its paramKind, {kind} of {version}, is not known")
            return ()
        if state != "read":
            parameters = _format_parameters(version, kind, namespace, reference)
            raise NotComputed(f"its parameters ({parameters}) {_format_unread_state(state)}")
        return result

    return find


def _format_unread_state(state: str) -> str:
    return _WHY.get(state, "are not read")


def _format_parameters(version: str, kind: str, namespace: str, reference: Raw) -> str:
    """``ConfigMap shop/limits``; by a selector ``ConfigMaps of shop``."""
    known_kind = BY_KIND.get(kind)
    what = kind if known_kind is not None and known_kind.api_version == version else f"{kind} of {version}"
    space, name = str(reference.get("namespace") or namespace), reference.get("name")
    return f"{what} {'/'.join(filter(None, (space, name)))}" if name else f"{what} in {space} by labels"
