"""Pictures of vertical autoscalers at two sizes, on the bundled example."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tui.driving import demo, press, settled

pytestmark = pytest.mark.one_in(3)

#: The namespace of the bundled example that has one.
PAYMENTS = Path(__file__).with_name("payments.kres")
CASES = {
    "vpas": ("vpa", []),
    "vpa": ("vpa gateway", ["down", "down"]),
    "vpa-text": ("vpa gateway", ["tab"]),
}
SIZES = {"80x24": (80, 24), "120x35": (120, 35)}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", CASES)
def test_screen(snap_compare: Any, name: str, size: str) -> None:
    words, keys = CASES[name]

    async def before(pilot: Any) -> None:
        await settled(pilot)
        await press(pilot, keys)

    assert snap_compare(
        demo(words, file=PAYMENTS, namespaces=("payments",)), run_before=before, terminal_size=SIZES[size]
    )
