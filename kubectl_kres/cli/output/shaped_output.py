"""``-o jsonpath=TEMPLATE`` and ``-o custom-columns=SPEC``: the document of ``-o json`` in a form of the user's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

#: What a format that takes a text begins with, as the help shows it.
FORMS = {"jsonpath": "TEMPLATE", "custom-columns": "SPEC"}


class Shaped(str):
    """It is ``json`` for all that asks; ``of`` makes the text of the document."""

    __slots__ = ("of",)
    of: Callable[[Mapping[str, Any]], str]

    def __new__(cls, asked: str) -> Self:
        """``asked`` is what follows ``-o``. Raises UsageError for what cannot be read."""
        from kubectl_kres.render.text import jsonpath

        result = super().__new__(cls, "json")
        form, _, text = asked.partition("=")
        if form == "jsonpath":
            parts = jsonpath.parse(text)
            result.of = lambda document: jsonpath.printed(parts, document)
        else:
            columns = jsonpath.columns(text)
            result.of = lambda document: "".join(
                f"{line}\n" for line in jsonpath.table(columns, document.get("items", [document]))
            )
        return result
