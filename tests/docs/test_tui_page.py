"""The keys in docs/tui-keys.md are those of the table; ``KRES_GOLDEN=write`` writes them."""

from __future__ import annotations

from pathlib import Path

from golden.kept import WRITING

from kubectl_kres.tui.keys import CHANGING, MOVING, groups

PAGE = Path(__file__).parents[2] / "docs" / "tui-keys.md"
START, END = "<!-- keys -->\n", "<!-- /keys -->"


def table() -> str:
    rows = ["| key | |", "|---|---|", *(f"| {keys} | {text} |" for keys, text in MOVING)]
    for group, keys in groups().items():
        rows.append(f"| **{group}** | |")
        rows += [f"| `{key.shown}` | {key.text} |" for key in keys]
    refused = ", ".join(f"`{shown}`" for shown, _ in CHANGING.values())
    return "\n".join([*rows, f"| {refused} | change things in k9s; here they only say so |", ""])


def test_keys():
    text = PAGE.read_text(encoding="utf-8")
    head, _, rest = text.partition(START)
    _, _, tail = rest.partition(END)
    if WRITING:
        PAGE.write_text(f"{head}{START}{table()}{END}{tail}", encoding="utf-8")
    assert f"{START}{table()}{END}" in PAGE.read_text(encoding="utf-8")
