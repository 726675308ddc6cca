"""How much of a long list is shown unless all of it is asked for."""

from __future__ import annotations

from typing import Final

#: Problems, findings and quotas, the worst first.
WORST: Final = 5
#: What happened last.
NEWEST: Final = 10
