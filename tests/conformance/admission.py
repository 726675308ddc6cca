"""How a case recorded from the API server is put to ``kubectl_kres.admission``."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from conformance.compare import Loose, Path, exactly
from conformance.described import texts
from conformance.namespace import POLICIES, Namespace, recounted
from conformance.systems import Data, Uncovered

from kubectl_kres.admission.base.outcome import Outcome
from kubectl_kres.admission.base.server import LimitedResource, Server

COMPARED = ("allowed", "code", "reason", "message", "unordered", "causes", "warnings", "object", "quotas", "text")

NOT_COMPARED = {
    "firstLine": "says how to compare the message: up to its first line break",
}

OPERATIONS = {"CREATE", "UPDATE", "RESIZE", "STATUS", "DELETE"}

#: ``quotas`` stands where a quota existed before the request, and in no generated case.
OPTIONAL = ("quotas",)


def play(case: Data, file: Data) -> list[dict[str, Any]]:
    """The outcomes of the request, each in the shape of ``expect``."""
    if case["request"]["operation"] == "DESCRIBE":
        return [{"text": text} for text in texts(_namespace(case, file), case["request"]["args"])]
    namespace, outcomes = _outcomes(case, file)
    return [_answer(outcome, _quotas(case["request"], namespace, outcome)) for outcome in outcomes]


def rules(case: Data, file: Data) -> set[str]:
    """The rules that the outcomes name, in their journals and in what they refuse for."""
    if case["request"]["operation"] == "DESCRIBE":
        return set()
    _, outcomes = _outcomes(case, file)
    found = {finding.rule for one in outcomes if one.refusal for finding in one.refusal.findings}
    return found | {entry.rule for one in outcomes for entry in one.journal if hasattr(entry, "rule")}


def required(case: Data, file: Data) -> bool:
    """Whether the engine must answer: every operation that can be recorded here."""
    return case["request"]["operation"] in OPERATIONS | {"DESCRIBE"}


def complete(case: Data, file: Data) -> bool:
    """Whether just one thing can happen: the order of a kind's objects matters only from two on."""
    kinds = [item["kind"] for item in _given(case, file)]
    return "variants" not in case and kinds.count("LimitRange") <= 1 and kinds.count("ResourceQuota") <= 1


def loose(case: Data, file: Data) -> Loose:
    """Usage that was recounted over objects which write the same resource in different notations."""
    given = _given(case, file)
    if case["request"]["operation"] == "CREATE" and not recounted(given):
        return exactly
    measured = [item for item in (*given, case["request"].get("object", {})) if item.get("kind") not in POLICIES]
    notations: dict[str, set[str]] = {}
    for part in _mappings(measured):
        for resource, quantity in part.items():
            if isinstance(quantity, str | int):
                notations.setdefault(resource, set()).add(_notation(str(quantity)))

    def mixed(path: Path) -> bool:
        name = re.sub(r"^(.*/)?(requests|limits)\.", "", str(path[-1]))
        return path[0] == "quotas" and path[2:3] == ("used",) and len(notations.get(name, ())) > 1

    return mixed


def _outcomes(case: Data, file: Data) -> tuple[Namespace, Sequence[Outcome]]:
    request = case["request"]
    if request["operation"] not in OPERATIONS:
        raise Uncovered(f"{request['operation']} is not computed yet")
    namespace = _namespace(case, file)
    return namespace, namespace.answers(request["operation"], request["object"])


def _namespace(case: Data, file: Data) -> Namespace:
    """What stands there before the request."""
    namespace = Namespace(_server(file["server"]))
    if isinstance(case.get("given"), str):
        namespace.fill(_given(case, file), file["fixtures"][case["given"]]["quotas"])
    else:
        namespace.replay(_given(case, file))
    return namespace


def _quotas(request: Data, namespace: Namespace, outcome: Outcome) -> Data:
    """The quotas of the namespace after the outcome, once the controller has settled."""
    then = copy.copy(namespace)
    if outcome.allowed and not request.get("dryRun"):
        then.settle(request["operation"], request["object"], outcome)
    return then.quotas()


def _given(case: Data, file: Data) -> Sequence[Data]:
    given = case.get("given", ())
    return file["fixtures"][given]["given"] if isinstance(given, str) else given


def _server(recorded: Data) -> Server:
    major, minor = re.match(r"v?(\d+)\.(\d+)", recorded.get("emulatedVersion", recorded["version"])).groups()
    limited = [
        entry
        for plugin in recorded.get("admissionConfiguration", {}).get("plugins", ())
        if plugin["name"] == "ResourceQuota"
        for entry in plugin["configuration"]["limitedResources"]
    ]
    return Server(
        version=(int(major), int(minor)),
        gates=recorded["featureGates"],
        limited_resources=msgspec.convert(limited, tuple[LimitedResource, ...]),
    )


def _answer(outcome: Outcome, quotas: Data) -> dict[str, Any]:
    """An outcome as a recording would show it: what is empty is left out, a refusal has reason and message."""
    answer = {"allowed": outcome.allowed, "code": outcome.code}
    if not outcome.allowed:
        answer |= {"reason": outcome.reason, "message": outcome.message}
    if outcome.object is not None:
        answer["object"] = outcome.object
    causes = [{key: text for key, text in msgspec.structs.asdict(cause).items() if text} for cause in outcome.causes]
    rest = {"unordered": outcome.unordered, "causes": causes, "warnings": outcome.warnings, "quotas": quotas}
    return answer | {key: value for key, value in rest.items() if value}


def _mappings(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, Mapping):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _mappings(item)


def _notation(quantity: str) -> str:
    if quantity.endswith("i"):
        return "binary"
    return "exponent" if re.search(r"[eE][+-]?\d+$", quantity) else "decimal"
