"""What the vertical autoscaler registers with the terminal interface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kubectl_kres.tui.system import TuiSystem
from kubectl_kres.vpa.model import KIND


class VpaScreens(TuiSystem):
    """Autoscalers."""

    def listings(self) -> tuple[Any, ...]:
        from kubectl_kres.vpa.screens.vpa_screen import LISTING

        return (LISTING,)

    def panes(self) -> Mapping[str, Any]:
        from kubectl_kres.vpa.screens.vpa_screen import VpaPane

        return {KIND: VpaPane}


SYSTEM = VpaScreens()
