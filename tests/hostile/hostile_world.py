"""The demo as a snapshot in which a hostile text stands behind every name, label, annotation, message and reason.

References still lead to what they name, since each string is altered in the same way wherever it stands.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from typing import Any

from kubectl_kres.snapshot.format import CRC
from kubectl_kres.snapshot.read import demo_path

#: Fields whose value a cluster can choose freely, or as freely as a server of another make lets it.
_FREE = frozenset({
    "name", "namespace", "generateName", "manager", "image", "nodeName", "node", "priorityClassName",
    "runtimeClassName", "message", "pool", "podName", "serviceName", "storageClassName", "schedulerName",
    "containerName", "hostname", "taskRef", "key", "value", "component",
})  # fmt: skip
#: Those by which the program finds what to say: altered apart, so that it has something to say otherwise.
_READ_BY_US = frozenset({"reason", "type", "updateMode", "scope", "effect", "state", "phase", "qosClass"})
_MAPS = frozenset({"annotations", "data"})
_SELECTED = frozenset({"labels", "matchLabels", "nodeSelector"})
_AMOUNTS = frozenset({"hard", "used", "requests", "limits", "claim", "allocatable", "max", "min", "default"})
_ADMISSION = "admissionregistration.k8s.io/v1"


class World:
    """``called`` gives the name that something of the demo has here; ``everything``: reasons and types have it too."""

    def __init__(self, text: str, *, everything: bool = False) -> None:
        self.text = text
        self.free = _FREE | _READ_BY_US if everything else _FREE
        self.maps = _MAPS | _SELECTED if everything else _MAPS
        self.head, *pages, self.end = demo_path().read_bytes().splitlines(keepends=True)
        self.pages: list[Any] = [json.loads(page) for page in pages]
        self.known = {
            found for page in self.pages for item in page["items"] for found in self._found(item) if found
        } - {"kubernetes.io/metadata.name", "memory", "cpu"}
        self.known = {word for word in self.known if not word[0].isdigit()}

    def called(self, word: str) -> str:
        return word + self.text

    def _found(self, value: Any, field: str = "") -> Iterator[str]:
        if isinstance(value, dict):
            for key, inner in value.items():
                if field in _SELECTED - self.maps:
                    continue
                if field in self.maps:
                    yield key
                yield from self._found(inner, key if field not in self.maps else "name")
        elif isinstance(value, list):
            for inner in value:
                yield from self._found(inner, field)
        elif isinstance(value, str) and field in self.free:
            yield value

    def _altered(self, value: Any, field: str = "") -> Any:
        if isinstance(value, dict):
            if field in _SELECTED - self.maps:
                return value if field != "labels" else {**value, self.text: self.text}
            if field in _AMOUNTS:
                sound = bool(value) and all(isinstance(amount, str) for amount in value.values())
                return (
                    {**value, f"{'requests.' if field in {'hard', 'used'} else ''}x.y/{self.text}": "1"}
                    if sound
                    else value
                )
            keys = field in {"claims", "namespaces", *self.maps}
            return {
                self.called(key) if keys and key in self.known else key: self._altered(inner, key)
                for key, inner in value.items()
            }
        if isinstance(value, list):
            return [self._altered(inner, field) for inner in value]
        return self.called(value) if isinstance(value, str) and value in self.known else value

    def snapshot(self) -> bytes:
        head = json.loads(self.head)
        head |= {"origin": self.text, "context": self.text, "server": head["server"]}
        extra = {item["kind"]: item for item in admitting(self.text)} if self.text else {}
        for kind in extra:
            head["coverage"].append({"need": {"kind": kind}, "coverage": {"state": "read"}})
            head["counts"][kind] = 1
        for covered in head["coverage"]:
            if covered["need"]["kind"] in {"Service", "StorageClass"}:
                covered["coverage"] = {"state": "denied", "reason": self.text}
        pages = [
            {**page, "items": [self._tainted(page["kind"], item) for item in page["items"]]} for page in self.pages
        ]
        pages += [{"kind": kind, "items": [item]} for kind, item in extra.items()]
        lines = [json.dumps(head, separators=(",", ":")).encode() + b"\n"]
        lines += [json.dumps(page, separators=(",", ":")).encode() + b"\n" for page in pages]
        end = json.dumps({**json.loads(self.end), "objects": json.loads(self.end)["objects"] + len(extra)},
                         separators=(",", ":")).encode()  # fmt: skip
        end = end.rpartition(CRC)[0] + CRC
        text = b"".join(lines)
        return text + end + b"%d}\n" % zlib.crc32(end, zlib.crc32(text))

    def _tainted(self, kind: str, item: dict[str, Any]) -> dict[str, Any]:
        if not self.text:
            return item
        found: dict[str, Any] = self._altered(item)
        if kind == "Node.of/scheduler":
            found["spec"] = {"taints": [{"key": self.text, "value": self.text, "effect": "NoSchedule"}]}
        return found


def admitting(text: str) -> list[dict[str, Any]]:
    """Policies and webhooks about pods, with the text in their names, messages, expressions and addresses."""
    rule = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["pods"]}
    validations = [
        {"expression": "object.metadata.name != 'x' && size(object.spec.containers) > 9", "message": text,
         "reason": "Forbidden"},
        {"expression": "false", "messageExpression": f"object.metadata.namespace + {json.dumps(text)}"},
        {"expression": f"object.x == {json.dumps(text)}"},
    ]  # fmt: skip
    client = {"service": {"name": text, "namespace": text, "path": f"/{text}"}}
    hook = {"name": text, "rules": [rule], "clientConfig": client, "failurePolicy": "Fail", "sideEffects": "None"}
    head = {"apiVersion": _ADMISSION, "metadata": {"name": text, "labels": {text: text}}}
    match = {"matchConstraints": {"resourceRules": [rule]}, "failurePolicy": "Fail"}
    return [
        {**head, "kind": "ValidatingAdmissionPolicy", "spec": {**match, "validations": validations}},
        {**head, "kind": "ValidatingAdmissionPolicyBinding",
         "spec": {"policyName": text, "validationActions": ["Deny", "Warn"]}},
        {**head, "kind": "ValidatingWebhookConfiguration", "webhooks": [hook]},
        {**head, "kind": "MutatingWebhookConfiguration", "webhooks": [{**hook, "reinvocationPolicy": "Never"}]},
    ]  # fmt: skip
