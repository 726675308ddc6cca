"""The list of admission policies in the terminal interface."""

from __future__ import annotations

from typing import Any

from kubectl_kres.tui.system import TuiSystem


class PolicyScreens(TuiSystem):
    """Policies by namespace."""

    def listings(self) -> tuple[Any, ...]:
        from kubectl_kres.policies.screens import policy_list

        return (policy_list.LISTING,)


SYSTEM = PolicyScreens()
