"""What recorders ask of a control plane that settles: requests that wait for it, and conditions that come true."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from controlplane import ControlPlane


def send(plane: ControlPlane, method: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """Return the stored object. Raises SystemExit for a refusal that is more than a server which is not ready yet."""
    deadline = time.monotonic() + 30
    while True:
        status, answer = plane.request(method, path, body)
        if status in (200, 201):
            return answer
        if status != 403 or time.monotonic() > deadline or "not yet ready" not in str(answer):
            raise SystemExit(f"{path}: {status} {answer}")
        time.sleep(0.1)


def until(is_true: Callable[[], Any], seconds: float) -> None:
    """Return once it is true. Raises SystemExit where it still is not after so many seconds."""
    deadline = time.monotonic() + seconds
    while not is_true():
        if time.monotonic() > deadline:
            raise SystemExit("it does not settle")
        time.sleep(0.1)
