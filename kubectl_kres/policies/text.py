"""The policies that decide about pods of a namespace, as text."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.policies.reports.effects import PolicyEffect, PolicyEffects
from kubectl_kres.render.text.line import Line, Tone, draw, tone_lines, wrap_text
from kubectl_kres.render.text.sentences import sentence_text

#: Pods that are named for each policy.
_SHOWN = 5


def effect_lines(policy_effects: PolicyEffects, *, color: bool, width: int) -> Iterator[str]:
    for line in lines(policy_effects, width):
        yield draw(line, color=color)


def lines(policy_effects: PolicyEffects, width: int) -> Iterator[Line]:
    """Yield each policy with its bindings, and what it makes of the pods that are there."""
    if not policy_effects.policies:
        blind = "as far as could be read " if not policy_effects.complete else ""
        yield [("", f"{blind}no admission policy matches pods of namespace {policy_effects.namespace}")]
    for index, effect in enumerate(policy_effects.policies):
        if index:
            yield [("", "")]
        yield from policy_lines(effect, width)
    for binding, policy in policy_effects.dangling:
        yield [("warn", f"binding {binding} does nothing: policy {policy} does not exist")]
    for failed_read in policy_effects.unread:
        if failed_read.required:
            yield [("warn", f"not read: {failed_read.kind}: {sentence_text(failed_read.message) or failed_read.state}")]


def policy_lines(effect: PolicyEffect, width: int) -> Iterator[Line]:
    """Yield a policy with its bindings, and what it makes of the pods that are there."""
    actions = f" ({', '.join(effect.actions)})" if effect.actions else ""
    bindings = f"binding{'s' * (len(effect.bindings) != 1)} {', '.join(effect.bindings)}"
    yield [("strong", f"{effect.kind}/{effect.name}"), ("", f"  {bindings}{actions}")]
    for fault in effect.faults:
        yield from tone_lines("bad", wrap_text(f"does not compile: {fault}", width, first="  ", rest="    "))
    if effect.unknown:
        yield from tone_lines("warn", wrap_text(f"not computed: {effect.unknown}", width, first="  ", rest="    "))
        return
    if not effect.pods:
        yield [("quiet", "  no pod there now is meant by it")]
        return
    does = "pass" if effect.kind.startswith("Validating") else "carry what it sets"
    tone: Tone = "good" if effect.passing == effect.pods else "warn"
    yield [(tone, f"  {effect.passing} of {effect.pods} pods {does if effect.pods != 1 else _singular_verb(does)}")]
    for other in effect.failing[:_SHOWN]:
        word = "would be refused" if other.refused else "warned" if effect.kind.startswith("Validating") else "differs"
        yield from tone_lines("", wrap_text(f"{other.pod} {word}: {other.message}", width, first="  ", rest="    "))
    if len(effect.failing) > _SHOWN:
        yield [("quiet", f"  and {len(effect.failing) - _SHOWN} more (-o json names all)")]


def _singular_verb(does: str) -> str:
    return "passes" if does == "pass" else "carries what it sets"
