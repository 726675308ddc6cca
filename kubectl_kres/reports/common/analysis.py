"""The input of an answer about a pod."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from msgspec import Struct, structs

from kubectl_kres.admission.base.outcome import Outcome, QuotaCharge, Refusal
from kubectl_kres.admission.base.server import Server
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.workload import Workload
from kubectl_kres.provenance.journal import Assumption, QuotaShortfall, Source
from kubectl_kres.record import Record, Wording
from kubectl_kres.reports.common.effective_policies import NamespacePolicies
from kubectl_kres.reports.common.explanation import FailedRead
from kubectl_kres.reports.common.system_parts import Parts

if TYPE_CHECKING:
    from kubectl_kres.admission.request.pod_objects import Creation


class PodManifest(Struct, frozen=True):
    """The pod as it would be sent, where it was written, and the live pod that it is compared with.

    ``prefix`` leads from the source to the pod, ending in a dot, or is empty. ``text`` names the choice, ``assumed``
    says what could not be known about it.
    """

    pod: Pod
    source: Source
    prefix: str
    text: Wording
    live: Pod | None = None
    owner: Workload | None = None
    assumed: Assumption | None = None


class PodClaims(Struct, frozen=True):
    """The result for the claims of a StatefulSet's next pod.

    ``refusals``: what can refuse one of them. ``charges``: what those that are not there yet cost quotas. ``ready``:
    how many of the missing pods have theirs. ``gaps``: what policies say of them that was not computed.
    """

    refusals: tuple[Refusal, ...] = ()
    charges: tuple[QuotaCharge, ...] = ()
    ready: int = 0
    assumptions: tuple[Assumption, ...] = ()
    gaps: tuple[str, ...] = ()


class Account(Struct, frozen=True):
    """The objects that have yet to be made for an object, beside its pods and the claims of a StatefulSet.

    ``first``: before any pod. ``with_pod``: for each further pod, once it exists. ``lacking``: for pods that exist and
    wait for it, ``waiting`` of them. ``kept``: the finished pods that a CronJob's history will keep, which only
    ``count/pods`` counts.
    """

    first: tuple[Creation, ...] = ()
    with_pod: tuple[Creation, ...] = ()
    lacking: tuple[Creation, ...] = ()
    waiting: int = 0
    kept: tuple[Creation, ...] = ()


#: there: it exists. admitted, refused: it would be. depends-on-order: result or the other. none: it is not even tried,
#: since something before it is refused or held back.
ObjectState = Literal["there", "admitted", "refused", "depends-on-order", "none"]


class AccountStep(Record, frozen=True):
    """One object that has to be there for another one to be as its spec says.

    ``maker``: the object that makes it. ``state``: what becomes of it alone, under the quotas as they are used now.
    ``messages``: the server's refusals. ``charges``: what it costs quotas. ``workspace``, ``tasks``: of a run, those
    that it serves. ``storage``: what a claim asks for.
    """

    object: ObjectRef
    maker: ObjectRef
    state: ObjectState
    messages: tuple[str, ...] = ()
    charges: tuple[QuotaCharge, ...] = ()
    workspace: str = ""
    tasks: tuple[str, ...] = ()
    storage: str = ""


def state_of(outcomes: Iterable[Outcome]) -> ObjectState:
    """Return the state of an object; one that is never sent, as after a refusal, has no outcome."""
    allowed = {outcome.allowed for outcome in outcomes}
    if not allowed:
        return "none"
    return "depends-on-order" if len(allowed) > 1 else "admitted" if True in allowed else "refused"


def messages_of(outcomes: Iterable[Outcome]) -> tuple[str, ...]:
    """Return the server's refusals, each once."""
    return tuple(dict.fromkeys(outcome.message for outcome in outcomes if not outcome.allowed))


class MadePod(Struct, frozen=True):
    """What a system says of the pod of an object of its making.

    ``missing``: how many pods the object still wants. ``state``: what keeps the object from running; empty: nothing
    does. ``about_another``: the answer is what a new object would meet, since this one has ended. ``never``: what a
    quota that refuses the pod has too little of even when nothing else runs; empty: it fits once others have gone.
    ``version_remarks``: what the system's version does otherwise than is shown. ``assumptions``: what was supposed.
    ``source``: what the system makes it of, for itself alone.
    """

    system: str
    missing: int = 0
    state: str = ""
    about_another: bool = False
    never: tuple[QuotaShortfall, ...] = ()
    version_remarks: tuple[Wording, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    source: object = None


class Analysis(Struct, frozen=True):
    """Where admission starts, the policies, and every outcome, the first one leading.

    ``parts``: what systems that make or admit the pod add to its explanation. ``listed``: for each outcome the order in
    which the system that makes the pod has to list LimitRanges, empty where that does not matter. ``then``: what would
    come after ``outcomes``, where the object of a file, or a claim of the pod, is refused before the pod is.
    ``claims``: of a StatefulSet. ``undefaulted``: the outcomes are about a template, in which nothing was filled in
    yet. ``assumed``, ``unread``: of what else admits. ``made_pod``: by a system; None: a controller of Kubernetes, or a
    person, makes the pod. ``account``: what is made beside the pods; None: nothing that a policy of the namespace looks
    at. ``seen_pod``: the next pod with containers and values that others show; None: they show none.
    """

    manifest: PodManifest
    policies: NamespacePolicies
    outcomes: tuple[Outcome, ...]
    parts: Parts = {}
    listed: tuple[tuple[str, ...], ...] = ()
    then: tuple[Outcome, ...] = ()
    server: Server = Server()
    claims: PodClaims | None = None
    undefaulted: bool = False
    assumed: tuple[Assumption, ...] = ()
    unread: tuple[FailedRead, ...] = ()
    made_pod: MadePod | None = None
    account: Account | None = None
    seen_pod: Pod | None = None


def with_refusal(outcome: Outcome, refusal: Refusal, *, warned: bool = False) -> Outcome:
    """Return the outcome with the same figures, refused for another reason. ``warned``: that comes after validation has
    warned.
    """
    warnings = outcome.warnings if warned else ()
    return structs.replace(outcome, allowed=False, code=refusal.code, refusal=refusal, warnings=warnings, object=None)
