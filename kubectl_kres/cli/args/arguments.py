"""The words that name objects, in every form that kubectl takes: ``TYPE NAME…``, ``TYPE/NAME…``, ``TYPE``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kubectl_kres.cli.args.options import Options
from kubectl_kres.errors import UsageError
from kubectl_kres.model.kinds import Kind

_NOTHING = "You must provide one or more resources by argument or filename."
_FORMS = """Example resource specifications include:
   '-f rsrc.yaml'
   '--filename=rsrc.json'
   '<resource> <name>'
   '<resource>'"""


class NamedObjects(NamedTuple):
    """A type as it was written, and the names asked for; no names: all objects of the type."""

    type: str
    names: tuple[str, ...] = ()


def asked(
    words: Sequence[str], *, program: str = "kubectl kres explain", listing: bool = True
) -> tuple[NamedObjects, ...]:
    """What the words ask for, in their order. ``listing``: a type alone is enough.

    Raises UsageError in kubectl's words. Source: cli-runtime resource/builder.go ResourceTypeOrNameArgs.
    """
    if not words:
        raise UsageError(_NOTHING, hint=_FORMS)
    slashes = sum("/" in word for word in words)
    if slashes == len(words):
        return tuple(_pair(word) for word in words)
    if slashes:
        raise UsageError(
            "there is no need to specify a resource type as a separate argument when passing arguments in "
            f"resource/name form (e.g. '{program} resource/<resource_name>' instead of "
            f"'{program} resource resource/<resource_name>')"
        )
    types, names = _types(words[0]), tuple(words[1:])
    if not names and not listing:
        raise UsageError("resource(s) were provided, but no name was specified")
    if "" in names:
        raise UsageError("resource name may not be empty")
    return tuple(NamedObjects(kind, names) for kind in types)


def _pair(word: str) -> NamedObjects:
    if word.count("/") > 1:
        raise UsageError("arguments in resource/name form may not have more than one slash")
    types, _, name = word.partition("/")
    if not types or not name or len(_types(types)) != 1:
        raise UsageError("arguments in resource/name form must have a single resource and name")
    return NamedObjects(types, (name,))


def _types(text: str) -> tuple[str, ...]:
    """The types in ``pods,deploy``, each once."""
    return tuple(dict.fromkeys(text.split(",")))


def refuse_selectors(options: Options, *, slashes: bool = False) -> None:
    """Raises UsageError for flags that only make sense for lists, where names are given, in kubectl's words."""
    selector = options.selector or options.field_selector
    if selector and slashes:
        raise UsageError("selectors and the all flag cannot be used when passing resource/name arguments")
    if selector:
        raise UsageError("name cannot be provided when a selector is specified")
    if options.all_namespaces:
        raise UsageError("a resource cannot be retrieved by name across all namespaces")


def name_of(kind: Kind, word: str, example: str) -> str:
    """The name in a word for a command that is about one kind: ``green`` and ``pool/green`` are the same.

    Raises UsageError for another type, and shows ``example``.
    """
    head, slash, name = word.partition("/")
    if not slash:
        return word
    command = kind.names[2]
    short = command.removesuffix("s")
    if head.lower().partition(".")[0] not in kind.names or not name or "/" in name:
        raise UsageError(f'"{word}" is no {short}', hint=f"name {short}s, as: kubectl kres {command} {example}")
    return name
