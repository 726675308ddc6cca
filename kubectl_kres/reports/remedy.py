"""The smallest change that would make a refused pod pass, as something to type or change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from kubectl_kres.admission.aggregate import of_pod
from kubectl_kres.admission.draft import Draft, Slot
from kubectl_kres.admission.outcome import Finding, Outcome, QuotaCharge
from kubectl_kres.errors import QuantityError
from kubectl_kres.provenance.journal import Journal, Set
from kubectl_kres.quantity import Quantity, parse

NOTHING = "nothing to change"


class _Case:
    """A finding with what its remedy looks at."""

    __slots__ = ("charges", "draft", "finding", "journal")

    def __init__(self, finding: Finding, draft: Draft | None, journal: Journal, charges: Sequence[QuotaCharge]) -> None:
        self.finding, self.draft, self.journal, self.charges = finding, draft, journal, charges

    def slot(self) -> Slot | None:
        """The container that the finding's path starts with; None for the pod as a whole."""
        path = self.finding.path
        slots = () if self.draft is None else tuple(self.draft.slots())
        return next((slot for slot in slots if path == slot.path or path.startswith(f"{slot.path}.")), None)

    def who(self) -> str:
        slot = self.slot()
        if slot is None or slot.role == "pod":
            return "the pod level"
        return f"{'container' if slot.role == 'container' else slot.role} {slot.name}"

    def setter(self, side: str) -> str:
        """The LimitRange that filled in one side of the resource; empty if somebody wrote it."""
        slot = self.slot()
        if slot is None:
            return ""
        path = f"{slot.path}.resources.{side}[{self.finding.resource}]"
        sets = [step for step in self.journal if isinstance(step, Set) and step.path == path]
        filled = [step for step in sets if step.rule.startswith("limitrange/") and step.source is not None]
        source = filled[-1].source if filled else None
        return f"{source.kind}/{source.name}" if source is not None else ""


def remedies(outcomes: Sequence[Outcome], charges: Sequence[QuotaCharge] = ()) -> tuple[str, ...]:
    """One sentence per finding of the refusals, each once; for an admitted pod that there is nothing to change."""
    found: dict[str, None] = {}
    orders = {outcome.order for outcome in outcomes}
    if len(orders) > 1 and len({outcome.allowed for outcome in outcomes}) > 1:
        names = " and ".join(sorted({name for order in orders for name in order}))
        found[f"write the values into the pod, or merge the LimitRanges {names} into one"] = None
    for outcome in outcomes:
        for finding in outcome.refusal.findings if outcome.refusal else ():
            case = _Case(finding, outcome.draft, outcome.journal, charges)
            found.update(dict.fromkeys(_REMEDIES.get(finding.rule, _unknown)(case)))
    return tuple(found) or (NOTHING,)


def _unknown(case: _Case) -> Iterator[str]:
    yield f"change what {case.finding.path or 'the pod'} says: {case.finding.rule}"


def _max(case: _Case) -> Iterator[str]:
    finding, slot = case.finding, case.slot()
    name, bound = finding.resource, finding.bound
    if slot is None:
        if "No limit is specified" in finding.text:
            yield f"give each container a {name} limit, at most {bound} in sum"
        else:
            yield f"lower the containers' {name} limits and requests to {bound} in sum"
        return
    filled = case.setter("limits")
    why = f" ({filled} fills in {slot.limits.get(name)})" if filled else ""
    request = slot.requests.get(name)
    sides = f"requests.{name} and limits.{name}" if request is not None and request > parse(bound) else f"limits.{name}"
    yield f"set {sides} of {case.who()} to at most {bound}{why}"


def _min(case: _Case) -> Iterator[str]:
    finding, slot = case.finding, case.slot()
    name, bound = finding.resource, finding.bound
    if slot is None:
        yield f"raise the containers' {name} requests to at least {bound} in sum"
        return
    limit = slot.limits.get(name)
    sides = f"requests.{name} and limits.{name}" if limit is not None and limit < parse(bound) else f"requests.{name}"
    yield f"set {sides} of {case.who()} to at least {bound}"


def _ratio(case: _Case) -> Iterator[str]:
    finding, slot = case.finding, case.slot()
    name, bound = finding.resource, parse(finding.bound)
    limits = slot.limits if slot is not None else of_pod(case.draft, "limits") if case.draft else {}
    limit = limits.get(name)
    who = f" of {case.who()}" if slot is not None else " of the containers, in sum,"
    if limit is None or not limit:
        yield f"set requests.{name} and limits.{name}{who} at most {bound} times apart"
        return
    least = _rounded_up(limit.nano * 10**9 // bound.nano + 1, name, limit)
    if limit.nano * 10**9 % bound.nano == 0:
        least = _rounded_up(limit.nano * 10**9 // bound.nano, name, limit)
    yield f"set requests.{name}{who} to at least {least} (limit {limit} / {bound})"


def _rounded_up(nano: int, name: str, like: Quantity) -> Quantity:
    """At least ``nano``, in whole bytes or thousandths of a core, in the notation of ``like``."""
    unit = 10**6 if name == "cpu" else 10**9
    return Quantity(-(-nano // unit) * unit, like.format)


def _request_over_limit(case: _Case) -> Iterator[str]:
    finding, slot = case.finding, case.slot()
    name = finding.resource
    request = slot.requests.get(name) if slot is not None else None
    filled_limit, filled_request = case.setter("limits"), case.setter("requests")
    if filled_limit and filled_request:
        yield f"write requests.{name} and limits.{name} of {case.who()}: {filled_request} and {filled_limit} differ"
    elif filled_limit:
        yield f"set limits.{name} of {case.who()} to at least {request} ({filled_limit} fills in {finding.bound})"
    elif filled_request:
        yield f"set requests.{name} of {case.who()} to at most {finding.bound} ({filled_request} fills in {request})"
    else:
        yield f"lower requests.{name} of {case.who()} to {finding.bound}, or raise its limit to {request}"


def _request_equals_limit(case: _Case) -> Iterator[str]:
    yield f"set requests.{case.finding.resource} of {case.who()} to {case.finding.bound}, equal to its limit"


def _pod_request(case: _Case) -> Iterator[str]:
    yield f"set {case.finding.path} to at least {case.finding.bound}, what the containers add up to"


def _container_limit(case: _Case) -> Iterator[str]:
    yield f"lower that limit to {case.finding.bound}, or raise the limit at the pod level: {case.finding.path}"


def _exceeded(case: _Case) -> Iterator[str]:
    finding = case.finding
    name, quota = finding.resource, finding.source.name if finding.source else ""
    charge = next((one for one in case.charges if one.quota == quota and name in one.after), None)
    if charge is None:
        yield f"raise {name} of quota {quota}"
        return
    after, hard, used = parse(charge.after[name]), parse(charge.hard[name]), parse(charge.used[name])
    left = f", or ask for at most {hard - used} in all" if hard > used and name not in {"pods", "count/pods"} else ""
    yield f"free {after - hard} of {name} in quota {quota}, or raise its hard to {after}{left}"


def _must_specify(case: _Case) -> Iterator[str]:
    side, _, name = case.finding.resource.rpartition(".")
    yield f"set {side or 'requests'}.{name} in container {case.finding.path}, or add a LimitRange with a default"


def _unparsable(case: _Case) -> Iterator[str]:
    text, path = case.finding.observed, case.finding.path
    better = near(text)
    yield f"write {path} as {better}" if better else f"write a quantity such as 500m or 128Mi at {path}"


def near(text: str) -> str:
    """What a mistyped quantity probably meant, the likelier first; empty if nothing close parses."""
    squeezed = text.replace(" ", "").replace("_", "").replace(",", ".")
    number = squeezed.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    suffix = squeezed[len(number) :]
    guesses: Mapping[str, tuple[str, ...]] = {
        "k": ("Ki", "k"), "kb": ("Ki", "k"), "kib": ("Ki",), "ki": ("Ki",),
        "mb": ("Mi", "M"), "mib": ("Mi",), "mi": ("Mi",), "gb": ("Gi", "G"), "gib": ("Gi",), "gi": ("Gi",),
        "g": ("Gi", "G"), "tb": ("Ti", "T"), "tib": ("Ti",), "ti": ("Ti",), "": ("",), "b": ("",), "cpu": ("",),
        "core": ("",), "cores": ("",), "millicores": ("m",), "mcpu": ("m",),
    }  # fmt: skip
    good = []
    for guess in guesses.get(suffix.lower(), ()):
        try:
            parse(f"{number}{guess}")
        except QuantityError:
            continue
        if number:
            good.append(f"{number}{guess}")
    return " or ".join(good)


def _fixed(text: str) -> Callable[[_Case], Iterator[str]]:
    def say(case: _Case) -> Iterator[str]:
        yield text.format(path=case.finding.path, who=case.who(), resource=case.finding.resource)

    return say


_REMEDIES: Mapping[str, Callable[[_Case], Iterator[str]]] = {
    "limitrange/max": _max,
    "limitrange/min": _min,
    "limitrange/ratio": _ratio,
    "validation/request-over-limit": _request_over_limit,
    "validation/request-equals-limit": _request_equals_limit,
    "validation/limit-required": _fixed("set the limit of {who} that goes with its request: {path}"),
    "validation/integer": _fixed("use a whole number at {path}"),
    "validation/non-negative": _fixed("use 0 or more at {path}"),
    "validation/hugepages": _fixed("use a multiple of the page size at {path}"),
    "validation/hugepages-alone": _fixed("give {who} cpu or memory beside the huge pages"),
    "validation/resource-name": _fixed("name cpu, memory, ephemeral-storage or DOMAIN/NAME at {path}"),
    "validation/resource-claim": _fixed("declare the claim in spec.resourceClaims, or take it out of {path}"),
    "validation/resize-policy": _fixed("correct {path}"),
    "validation/ephemeral": _fixed("take spec.ephemeralContainers out: kubectl debug adds them later"),
    "pod-level/resource-name": _fixed("name only cpu, memory or hugepages-SIZE at the pod level: {path}"),
    "pod-level/claims": _fixed("move the claims from the pod level to a container"),
    "pod-level/windows": _fixed("take spec.resources out: Windows pods have no pod-level resources"),
    "pod-level/request-below-containers": _pod_request,
    "pod-level/hugepages-below-containers": _pod_request,
    "pod-level/container-limit": _container_limit,
    "quantity/unparsable": _unparsable,
    "priority/unknown-class": _fixed("name a PriorityClass that exists (kubectl get priorityclasses), or create it"),
    "runtime-class/unknown": _fixed("name a RuntimeClass that exists (kubectl get runtimeclasses), or create it"),
    "runtime-class/overhead-differs": _fixed("take spec.overhead out: the RuntimeClass sets it"),
    "runtime-class/overhead-unexplained": _fixed("take spec.overhead out, or name a RuntimeClass with overhead"),
    "quota/exceeded": _exceeded,
    "quota/must-specify": _must_specify,
    "quota/status-unknown": _fixed("wait until the quota controller has counted, then try again"),
    "quota/negative-usage": _fixed("use 0 or more everywhere"),
    "quota/limited-resource": _fixed("create a quota in the namespace that names {resource}"),
    "quota/limited-scope": _fixed("create a quota in the namespace with that scope"),
}
