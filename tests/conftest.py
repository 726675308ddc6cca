"""How much of the tests runs, and with which examples.

``make test`` leaves out what is marked ``thorough``, and of a test or module marked ``one_in(n)`` it runs every n-th
case; ``make test-all`` runs all.  KRES_SEED=3 draws other cases.

Hypothesis: the same examples in every run, so that no run fails by chance; KRES_RANDOM=1 looks for new ones.

No test reads the settings of whoever runs it.
"""

from __future__ import annotations

import gc
import os
import signal
from collections import Counter

import pytest
from hypothesis import HealthCheck, settings

from kubectl_kres.record import Sentence

# A shell's background job ignores Ctrl-C and one behind nohup SIGHUP, and so would all that the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda *_: None)

_SEED = int(os.environ.get("KRES_SEED", "0"))

settings.register_profile(
    "kres",
    deadline=None,
    derandomize="KRES_RANDOM" not in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("short", settings.get_profile("kres"), max_examples=10)
settings.load_profile("kres")


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not for the whole session: the control plane is built with the developer's own settings of Go."""
    monkeypatch.setenv("XDG_CONFIG_HOME", "/nonexistent")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as thorough the cases that are not drawn: of a test, or of a module whose ``pytestmark`` says ``one_in``."""
    seen: Counter[str] = Counter()
    for item in items:
        node, mark = next(item.iter_markers_with_node("one_in"), (None, None))
        if node is None or mark is None:
            continue
        (count,) = mark.args
        of = item.nodeid.partition("[")[0] if node is item else node.nodeid
        if seen[of] % count != _SEED % count:
            item.add_marker(pytest.mark.thorough)
        seen[of] += 1


def pytest_collection_finish() -> None:
    """Keep the garbage collector from looking often, and at thousands of tests: that took a fifth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


def _not_worded(sentence: Sentence) -> str:
    raise TypeError(f"{type(sentence).__name__} is in a text, and only `render` has its words")


# A value in an f-string would be printed with the names of its fields.
Sentence.__str__ = _not_worded  # type: ignore[method-assign]
