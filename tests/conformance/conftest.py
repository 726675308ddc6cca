"""The report at the end: per system and topic what passed, and which keys of ``expect`` are compared."""

from __future__ import annotations

from collections import Counter
from typing import Any

from conformance.cases import SYSTEMS
from conformance.systems import system

#: pytest's name of an outcome, as in the heading.
HEADINGS = {"passed": "passed", "skipped": "not yet covered", "failed": "failed"}


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Prints nothing if no recorded case was run."""
    counts: dict[str, dict[str, Counter[str]]] = {}
    for state in HEADINGS:
        for report in terminalreporter.stats.get(state, ()):
            name, _, topic = dict(getattr(report, "user_properties", ())).get("recorded", "").partition("/")
            if topic:
                counts.setdefault(name, {}).setdefault(topic, Counter())[state] += 1
    if not counts:
        return
    terminalreporter.section("recorded cases")
    for name in sorted(counts, key=SYSTEMS.index):
        for line in (*_keys(name), *_table(counts[name])):
            terminalreporter.write_line(line)


def _keys(name: str) -> list[str]:
    adapter = system(name)
    if adapter is None:
        return [f"{name}: nothing is compared, there is no engine yet"]
    return [
        f"{name}: compared are {', '.join(adapter.compared)}",
        *(f"  not compared: {key} ({reason})" for key, reason in adapter.not_compared.items()),
    ]


def _table(topics: dict[str, Counter[str]]) -> list[str]:
    rows = [*sorted(topics.items()), ("all", sum(topics.values(), Counter()))]
    width = max(len(topic) for topic, _ in rows)
    heading = f"  {'':{width}}  " + "  ".join(HEADINGS.values())
    return [
        heading,
        *(
            f"  {topic:{width}}  " + "  ".join(f"{count[state]:{len(text)}}" for state, text in HEADINGS.items())
            for topic, count in rows
        ),
    ]
