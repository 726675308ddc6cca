"""What a system adds to the command line, as names: its modules are only loaded when they are called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, cast

from kubectl_kres.systems import registered


class CliSystem(NamedTuple):
    """``commands``: of its own, each with the module that holds it as ``command`` and its line in the help;
    ``aliases``: other names of theirs. ``explainer``: module and class of its ``cli.run.explainer.Explainer``.

    ``flag_types``: flags whose values name objects, with the type. ``answers``: commands to module and type of their
    answer and the kind of the document, for schemas; ``explanations``: types of explanations of its own.
    """

    name: str
    commands: Mapping[str, tuple[str, str]] = {}
    aliases: Mapping[str, str] = {}
    explainer: tuple[str, str] | None = None
    flag_types: Mapping[str, str] = {}
    answers: Mapping[str, tuple[str, str, str]] = {}
    explanations: tuple[tuple[str, str], ...] = ()


def systems() -> tuple[CliSystem, ...]:
    """All of them, in the order of registration."""
    return cast("tuple[CliSystem, ...]", registered("cli"))
