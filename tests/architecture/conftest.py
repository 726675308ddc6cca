"""One line at the end of a run: how long the modules are."""

from __future__ import annotations

from typing import Any


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Prints nothing if the sizes were not looked at."""
    for state in ("passed", "failed"):
        for report in terminalreporter.stats.get(state, ()):
            if "size" in dict(report.user_properties):
                terminalreporter.write_line(dict(report.user_properties)["size"])
