"""One request as admission plugins see it, and what they answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, structs

from kubectl_kres.admission.base.outcome import Finding, Refusal, StatusCause
from kubectl_kres.admission.base.resource_names import given_name
from kubectl_kres.model.kinds import BY_KIND

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
        return self.qualified.partition(".")[0]

    @property
    def qualified(self) -> str:
        """The plural with the group, as in the server's refusals."""
        known = BY_KIND.get(self.kind)
        if known is not None and known.group == self.group:
            return known.qualified
        return _plural(self.kind, self.group)

    def of(self, new: Raw | None) -> Request:
        """The same request about the object as it became."""
        return structs.replace(self, object=new)


def creation(raw: Raw, namespace: str, user: User | None = None, *, dry_run: bool = False) -> Request:
    """A CREATE of an object."""
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
    message = f'{request.qualified} "{request.name}" is forbidden: {text}'
    return Refusal(403, "Forbidden", message, (Finding(text, rule, **more),))


def refused(code: int, reason: str, message: str, finding: Finding, causes: Sequence[StatusCause] = ()) -> Refusal:
    return Refusal(code, reason, message, (finding,), tuple(causes))
