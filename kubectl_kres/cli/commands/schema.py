"""``kubectl kres schema``: the JSON Schema of what a command prints with ``-o json``."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from inspect import cleandoc
from types import GenericAlias
from typing import Any

import msgspec

from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.command import Command
from kubectl_kres.cli.system import systems
from kubectl_kres.errors import UsageError
from kubectl_kres.record import HOLDER, SENTENCE
from kubectl_kres.render.text import data

#: Command to the module and the name of its answer's type, and the kind of the document that holds the answers.
ANSWERS = {
    "overview": ("kubectl_kres.reports.overview", "Overview", "Overview"),
    "explain": ("kubectl_kres.reports.common.explanation", "Explanation", "Explanation"),
    "quota": ("kubectl_kres.reports.quota.quota_report", "QuotaReport", "Quota"),
    "fit": ("kubectl_kres.reports.quota.fit", "Fit", "Fit"),
    "denied": ("kubectl_kres.reports.quota.denied", "Denied", "Denied"),
    **{command: answer for system in systems() for command, answer in system.answers.items()},
    "diff": ("kubectl_kres.reports.explain.difference", "Difference", "Diff"),
    "moments": ("kubectl_kres.reports.overview_changes", "OverviewChanges", "Changes"),
    "timeline": ("kubectl_kres.reports.timeline", "Timeline", "Timeline"),
    "check": ("kubectl_kres.reports.check.finding", "CheckFinding", "Check"),
    "simulate": ("kubectl_kres.reports.changes.report", "ChangeReport", "Change"),
    "upgrade": ("kubectl_kres.reports.changes.upgrade", "UpgradeReport", "Upgrade"),
    "qos": ("kubectl_kres.reports.qos.qos_report", "PodQos", "Qos"),
    "summary": ("kubectl_kres.reports.qos.qos_sums", "NamespaceSums", "QosSummary"),
    "fleet": ("kubectl_kres.fleet.status", "ClusterStatus", "Fleet"),
    "open": ("kubectl_kres.reports.qos.qos_open", "Open", "QosOpen"),
    "resize": ("kubectl_kres.reports.resize", "Resize", "Resize"),
}


#: What the reference to a definition begins with.
_DEFS = "#/$defs/"

#: What stands beside the answers about pods in the documents of a command.
MORE = {
    "explain": (
        ("kubectl_kres.reports.namespace.policy_explanation", "PolicyExplanation"),
        *(explanation for system in systems() for explanation in system.explanations),
        ("kubectl_kres.reports.changes.combined_answer", "CombinedAnswer"),
    ),
}


def run(_options: Options, words: tuple[str, ...]) -> int:
    """Prints one schema."""
    listed = ", ".join(ANSWERS)
    if len(words) != 1:
        raise UsageError(f"schema takes one command of {listed}")
    if words[0] not in ANSWERS:
        raise UsageError(f'"{words[0]}" has no schema; those that have one: {listed}')
    print(data.to_json(schema(words[0])))
    return 0


_STRINGS = {"type": "string"}
#: ``reports.common.unread.UnreadKind``; what has its default is left out.
_UNREAD = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["kind", "state"],
        "properties": {
            "kind": _STRINGS,
            "state": {"enum": ["denied", "failed"]},
            "message": _STRINGS,
            "required": {"type": "boolean", "default": True},
        },
    },
}


def schema(command: str) -> dict[str, Any]:
    """The schema of a command's document, made from the types of its report."""
    module, name, kind = ANSWERS[command]
    types = [(module, name), *MORE.get(command, ())]
    answers = [getattr(import_module(module_name), what) for module_name, what in types]
    items, definitions = _components(answers)
    for definition in definitions.values():
        if "description" in definition:
            definition["description"] = cleandoc(definition["description"])
    item = {"anyOf": list(items)} if len(items) > 1 else items[0]
    text = {"type": "string"}
    origin = dict.fromkeys(("source", "name", "context", "serverVersion", "time", "assumed"), text)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"kubectl kres {command} -o json",
        "type": "object",
        "required": ["apiVersion", "kind", "metadata", "items"],
        "properties": {
            "apiVersion": {"const": data.API_VERSION},
            "kind": {"const": kind},
            "metadata": {
                "type": "object",
                "required": ["complete"],
                "properties": {**origin, "complete": {"type": "boolean"}, "unread": _UNREAD},
            },
            "items": {"type": "array", "items": item},
        },
        "$defs": definitions,
    }


def _components(answers: Sequence[Any]) -> tuple[Sequence[Any], dict[str, Any]]:
    """Return the schemas of types and of all that they are made of; what systems add stands as fields of its own."""
    parts = [getattr(import_module(module), name) for system in systems() for module, name in system.parts]
    _, definitions = msgspec.json.schema_components(answers)
    properties = {key for definition in definitions.values() for key in definition.get("properties", ())}
    parts = [part for part in parts if f"{HOLDER}{part.PLACE}" in properties]
    forms: list[Any] = [GenericAlias(tuple, (part, ...)) if part.SEVERAL else part | None for part in parts]
    items, definitions = msgspec.json.schema_components([*answers, *forms], ref_template=f"{_DEFS}{{name}}")
    _word_sentences(definitions)
    fields: dict[str, dict[str, Any]] = {}
    for part, form in zip(parts, items[len(answers) :], strict=True):
        default: Any = [] if part.SEVERAL else None
        fields.setdefault(f"{HOLDER}{part.PLACE}", {})[part.KEY] = {**form, "default": default}
    for definition in definitions.values():
        if "properties" in definition:
            named = ((fields.get(key) or {key: field}) for key, field in definition["properties"].items())
            definition["properties"] = {key: field for several in named for key, field in several.items()}
    return items[: len(answers)], definitions


def _word_sentences(definitions: dict[str, Any]) -> None:
    """Put texts in place of sentences, and leave out what only these are made of."""
    sentences = {name for name, form in definitions.items() if SENTENCE in form.get("properties", ())}
    parts = _references([definitions.pop(name) for name in sentences])
    for name, form in definitions.items():
        definitions[name] = _with_texts(form, {f"{_DEFS}{sentence}" for sentence in sentences})
    for name in parts - sentences - _references(list(definitions.values())):
        del definitions[name]


def _with_texts(form: Any, sentences: set[str]) -> Any:
    if isinstance(form, list):
        return [_with_texts(item, sentences) for item in form]
    if not isinstance(form, dict):
        return form
    if form.get("$ref") in sentences:
        return {"type": "string"}
    choices = form.get("anyOf", ())
    if any(choice.get("$ref") in sentences for choice in choices):
        absent = {"default": ""} if {"type": "null"} in choices else {}
        return {"type": "string", **absent}
    return {key: _with_texts(value, sentences) for key, value in form.items()}


def _references(forms: Any) -> set[str]:
    """Return the names of the definitions that these forms refer to."""
    if isinstance(forms, dict):
        own = {forms["$ref"].removeprefix(_DEFS)} if isinstance(forms.get("$ref"), str) else set()
        return own.union(*map(_references, forms.values()))
    return set().union(*map(_references, forms)) if isinstance(forms, list | tuple) else set()


command = Command(
    "schema",
    run,
    text="""
        Print the JSON Schema of what a command prints with -o json or -o yaml.

        Some answers are other ones by a flag and have names of their own: fit and denied are those of quota --fit and
        --denied, upgrade that of simulate --kube-version, sizing that of claims --for, summary and open those of
        qos --summary and --open, resize that of explain --resize, tenant that of explain tenant/NAME --by value.
        """,
    examples="""
        # What is in an explanation?
        kubectl kres schema explain
        """,
    usage="COMMAND",
    connects=False,
    completes=tuple(ANSWERS),
)
