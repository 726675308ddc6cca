"""What a system adds to the command line, as names: its modules are only loaded when they are called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from kubectl_kres.systems import registered_systems


class FleetReport(NamedTuple):
    """A command whose answer about a whole cluster is a report of ``fleet``: ``plan`` of its module makes the query.

    ``summary``: module and class of the ``fleet.rows.Summary`` that takes in its reports. ``options``: the flags that
    it is asked with; ``counted``: those beside where no rows are kept.
    """

    summary: tuple[str, str]
    options: Mapping[str, Any] = {}
    counted: Mapping[str, Any] = {}


class CliSystem(NamedTuple):
    """``commands``: of its own, each with the module that holds it as ``command`` and its line in the help;
    ``aliases``: other names of theirs. ``explainer``: module and class of its ``cli.run.explainer.Explainer``.

    ``flag_types``: flags whose values name objects, with the type. ``answers``: commands to module and type of their
    answer and the kind of the document, for schemas; ``explanations``: types of explanations of its own; ``parts``: of
    its parts in answers of others, each a ``reports.common.system_parts.SystemPart``.
    ``fleet``: those of its commands that answer about many clusters.
    """

    name: str
    commands: Mapping[str, tuple[str, str]] = {}
    aliases: Mapping[str, str] = {}
    explainer: tuple[str, str] | None = None
    flag_types: Mapping[str, str] = {}
    answers: Mapping[str, tuple[str, str, str]] = {}
    explanations: tuple[tuple[str, str], ...] = ()
    parts: tuple[tuple[str, str], ...] = ()
    fleet: Mapping[str, FleetReport] = {}


def systems() -> tuple[CliSystem, ...]:
    """Return all of them, in the order of registration."""
    return cast("tuple[CliSystem, ...]", registered_systems("commands"))
