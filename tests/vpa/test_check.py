"""What check finds of vertical autoscalers, where their webhook is registered and where it is not."""

from __future__ import annotations

from typing import Any

import pytest
from vpa.test_effects import HOOK, store_of

from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.check.check import check
from kubectl_kres.reports.check.store_contexts import contexts_of
from kubectl_kres.reports.common.explanation import EvaluationOptions

FLOOR = {"containerPolicies": [{"containerName": "*", "minAllowed": {"cpu": "400m"}}]}
CEILING = {"kind": "LimitRange", "spec": {"limits": [{"type": "Container", "max": {"cpu": "600m"}}]}}
NOT_YET = ", once webhook vpa.k8s.io is registered, which it is not now"
#: Its webhook is registered, and not asked about the namespace.
ELSEWHERE = {**HOOK, "namespaceSelector": {"matchLabels": {"a": "b"}}}


@pytest.mark.parametrize(
    ("hooks", "mode", "found"),
    [
        ((HOOK,), "Recreate", ["with the limits that it sets: "]),
        ((HOOK,), "InPlaceOrRecreate", ["with the limits that it sets: "]),
        ((), "Recreate", [f"with the limits that it sets{NOT_YET}: "]),
        ((ELSEWHERE,), "Recreate", []),
        ((HOOK,), "Off", []),
    ],
)
def test_a_limit_that_is_never_admitted(hooks: tuple[Any, ...], mode: str, found: list[str]) -> None:
    """A pod that comes without what it recommends is not refused for it, which is said."""
    store = store_of(CEILING, hooks=hooks, resourcePolicy=FLOOR, updatePolicy={"updateMode": mode})
    contexts = contexts_of(store, EvaluationOptions(), "shop")
    texts = [
        sentence_text(finding.message) for context in contexts for finding in check(context, {"KRES215", "KRES216"})
    ]
    assert len(texts) == len(found)
    for text, part in zip(texts, found, strict=True):
        assert text.startswith(f"the pods of Deployment/web are refused {part}")
        assert text.endswith("maximum cpu usage per Container is 600m, but limit is 800m")
