"""A vertical autoscaler: the next pod of its controller, what its updater would evict, and what to change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.provenance.journal import Set
from kubectl_kres.render.changes.eviction import WORDS, evicted, outside_text
from kubectl_kres.render.text.line import Line, Tone, tone_lines, wrap_text
from kubectl_kres.render.verdict.remedy import remedy_lines
from kubectl_kres.reports.common.explanation import Unseen
from kubectl_kres.reports.common.parts import Remedy
from kubectl_kres.store.store import ReadRequest
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.rbac_hints import gap_lines
from kubectl_kres.tui.screens.outline import OutlinePane
from kubectl_kres.tui.widgets.items import OutlineItem, Sections
from kubectl_kres.vpa.reports.effects import VpaEffects, effects_needs, vpa_effects
from kubectl_kres.vpa.reports.eviction import Eviction, OutsideValue
from kubectl_kres.vpa.screens.vpa_list import sign
from kubectl_kres.vpa.text.bounded import bounded_sentence
from kubectl_kres.vpa.text.effects import lines, webhook_words


class VpaPane(OutlinePane):
    """Everything shown comes from the report of ``explain vpa/x``."""

    HEAD = "AUTOSCALER"
    found: VpaEffects | None

    def wanted(self) -> Iterable[ReadRequest]:
        return effects_needs(self.session.store, self.subject)

    def ask(self) -> VpaEffects:
        return vpa_effects(self.session.store, self.subject, self.session.ask)

    @property
    def word(self) -> str:
        return "vpa"

    def owner(self) -> Location | None:
        """Return the controller whose pods it scales."""
        kind, _, name = (self.found.target if self.found is not None else "").partition("/")
        return Location("object", ref=ObjectRef(kind, name, self.ref.namespace)) if kind in BY_KIND else None

    def head(self, width: int) -> Iterator[Line]:
        assert self.found is not None
        effects = self.found
        yield [("strong", str(effects.object)), ("", f"  {effects.target}, updateMode {effects.mode or '-'}")]
        if effects.message:
            yield from tone_lines("bad", wrap_text(f"the next pod is refused: {effects.message}", width, rest="  "))
        if effects.eviction is not None:
            tone, text = evicted(effects.eviction)
            yield from tone_lines(tone, wrap_text(text, width, rest="  "))
        yield from self.do_lines(width)
        tone, text = webhook_words(effects)
        yield from tone_lines(tone, wrap_text(text, width, rest="  "))

    def rows(self) -> Iterator[OutlineItem]:
        assert self.found is not None
        effects, sections = self.found, Sections()
        yield from sections.section("next pod", _values(effects), ("SPEC", "GETS"))
        if effects.eviction is not None:
            eviction = effects.eviction
            yield from sections.section("if it evicts now", _ends(eviction), ("PODS",), WORDS[eviction.result])
            yield from sections.section("outside of the recommendation", map(self._outside, eviction.outside), ("HAS",))
        yield from sections.section("what to change", map(_remedy, range(len(effects.remedies)), effects.remedies))
        yield from sections.section("not visible", map(self._unseen_row, () if self.late else effects.unseen))

    def _outside(self, value: OutsideValue) -> OutlineItem:
        ref = ObjectRef("Pod", value.pod, self.ref.namespace)
        bounds = f"recommended {value.lower or '-'} to {value.upper or '-'}"
        return OutlineItem(
            (), f"{value.pod} {value.container} {value.resource}", (value.request or "-",), bounds, tone="warn",
            ref=ref, about=lambda width: tone_lines("", wrap_text(outside_text(value), width, rest="  ")),
            place=Location("object", ref=ref),
        )  # fmt: skip

    def _unseen_row(self, unseen: Unseen) -> OutlineItem:
        need = ReadRequest(unseen.kind, unseen.namespace, unseen.name, required=unseen.required)
        tone: Tone = "bad" if unseen.required else "quiet"
        return OutlineItem((), unseen.kind, said=unseen.message or unseen.state, sign="?", tone=tone,
                    about=lambda width: gap_lines(self.session, (need,), width))  # fmt: skip

    def text(self, width: int) -> Iterable[Line]:
        assert self.found is not None
        return lines(self.found, width)

    def status(self) -> Line:
        if self.found is None:
            return [("warn", "not known")]
        eviction = self.found.eviction
        return [(sign(self.found)[1] or "good", WORDS[eviction.result] if eviction is not None else "-")]

    def hints(self) -> tuple[str, ...]:
        return ("open", "copy", "owner", "pane", "explain", "up", "help")


def _values(effects: VpaEffects) -> Iterator[OutlineItem]:
    """Yield what it sets of the next pod, and which bound changed that."""
    for container in effects.containers:
        for value in container.values:
            if value.rule.startswith("vpa/"):
                what = f"{container.name} {value.resource} {value.side[:-1]}"
                text = bounded_sentence(what, [step for step in value.steps if isinstance(step, Set)]) or value.rule
                about = partial(_about, text)
                yield OutlineItem((), what, (value.written or "-", value.value or "-"), value.rule, about=about)


def _about(text: str, width: int) -> Iterable[Line]:
    return tone_lines("", wrap_text(text, width, rest="  "))


def _ends(eviction: Eviction) -> Iterator[OutlineItem]:
    counts = (
        ("run", eviction.pods), ("evicted", eviction.evicted), ("let alone", eviction.kept),
        ("come back", eviction.come), ("do not come back", eviction.missing),
        ("kept by evictionRequirements", eviction.held),
    )  # fmt: skip
    for label, number in counts:
        if number:
            missing = label == "do not come back"
            text = eviction.message if missing else f"{number} {label}"
            yield OutlineItem(
                (), label, (str(number),), eviction.message if missing else "", "x" if missing else "",
                "bad" if missing else "", partial(_about, text),
            )  # fmt: skip


def _remedy(number: int, remedy: Remedy) -> OutlineItem:
    return OutlineItem(
        (), f"{'or' if number else 'fix'} {remedy.text}", about=lambda width: remedy_lines((remedy,), "", width),
        name="command", text="\n".join(remedy.commands), remedy=True,
    )  # fmt: skip
