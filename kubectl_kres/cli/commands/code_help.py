"""``kubectl kres help CODE``: what a code means, of a rule that refuses or sets something, or of a finding of check."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from kubectl_kres.errors import UsageError
from kubectl_kres.provenance.rules import RULES
from kubectl_kres.render.text.labels import labelled_lines
from kubectl_kres.render.text.line import draw, wrap_text

_WIDTH = 80
_COMPUTED = "it depends on the object: kubectl kres explain TYPE/NAME names it"


def is_code(word: str) -> bool:
    """Return whether a word looks like a code, as ``quota/exceeded`` or ``KRES101``; ``codes`` names them all."""
    return word == "codes" or "/" in word or word.upper().startswith("KRES")


def code_lines(word: str) -> Iterator[str]:
    """Yield what a code means and what to do, or all codes. Raises UsageError for one that does not exist."""
    from kubectl_kres.reports.check.registry import BY_CODE

    if word == "codes":
        yield from (f"{code:<40} {rule.title}" for code, rule in RULES.items())
        yield from (f"{code:<40} {rule.title}" for code, rule in BY_CODE.items())
    elif word in RULES:
        yield from _rule_lines(word)
    elif word.upper() in BY_CODE:
        check_rule = BY_CODE[word.upper()]
        yield from wrap_text(f"{check_rule.code}: {check_rule.title}", _WIDTH, rest="  ")
        about = f"{check_rule.severity}. {check_rule.reason}"
        texts = {"": about, "fix": check_rule.remedy, "page": "docs/check.md has examples"}
        yield from _labelled(texts)
    else:
        near = difflib.get_close_matches(word, [*RULES, *BY_CODE], 1, 0.5)
        hint = f"did you mean {near[0]}?" if near else "kubectl kres help codes lists them"
        raise UsageError(f'there is no code "{word}"', hint=hint)


def _rule_lines(code: str) -> Iterator[str]:
    from kubectl_kres.reports.remedies.pod_remedy import BY_HAND, REFUSE_NOTHING

    rule = RULES[code]
    yield from wrap_text(f"{code}: {rule.title}", _WIDTH, rest="  ")
    fix = BY_HAND.get(code, _COMPUTED)
    gate = f", behind the feature gate {rule.gate}" if rule.gate else ""
    yield from _labelled({"fix": "" if code in REFUSE_NOTHING else fix, "source": f"{rule.source}{gate}"})


def _labelled(texts: dict[str, str]) -> Iterator[str]:
    for label, text in texts.items():
        if text:
            yield from (draw(line, color=False) for line in labelled_lines(label, text, _WIDTH))
