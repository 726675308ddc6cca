"""Generated objects: what the engine predicts is what the real API server answers to a dry run."""

from __future__ import annotations

import secrets

import msgspec
import pytest
from controlplane import ControlPlane
from e2e.asking import Asking
from e2e.differential import Judged, Results, Run
from e2e.generate import LIMITED, limited, settings
from e2e.limiting import Limiting
from e2e.seed import COUNTS, SEED

from kubectl_kres.admission.base.server import LimitedResource, Server
from kubectl_kres.provenance.rules import RULES

pytestmark = pytest.mark.e2e

SETTINGS = settings(SEED)

#: Rules that no CREATE of these kinds and no resize can name, or none that gets this far.
OUT_OF_REACH = {
    "manifest/written": "named by reports, which know the file",
    **dict.fromkeys(("quota/from-file", "quota/no-status", "resize/node-unknown"), "what reports suppose"),
    "quota/negative-usage": "a negative request is refused before",
    "quota/scopes-immutable": "about updates",
    **dict.fromkeys(
        [f"validation/{name}" for name in ("claim", "port", "selector", "service", "tag")],
        "of fields that are not generated: recorded in tests/admission/structure.json",
    ),
    **dict.fromkeys(
        [
            *(
                f"validation/{name}"
                for name in ("env", "job", "mount", "owner", "placing", "pod", "probe", "reference")
            ),
            *(f"validation/{name}" for name in ("autoscaler", "rollout", "security", "volume")),
            "pod/security-field",
        ],
        "of fields that are not generated here: test_manifests_plane and test_corpus_plane generate them",
    ),
    "qos/brought": "only servers before 1.37 believe it",
    "resize/absent": "no server of this version is without the subresource",
    "resize/pod-level": "needs a server that knows the pod level, but not its resize",
}
#: What comes before the slash in the codes of rules about creating these kinds, and about resizes.
SYSTEMS = {
    "quantity",
    "defaulting",
    "limitrange",
    "validation",
    "pod-level",
    "priority",
    "runtime-class",
    "pod",
    "qos",
    "quota",
    "resize",
}


@pytest.fixture(scope="module")
def results(controlplane: ControlPlane, request: pytest.FixtureRequest) -> Results:
    """One run over all settings, on a server as it comes."""
    with Asking(controlplane) as asking:
        found = Run(asking, secrets.token_hex(3)).play(SETTINGS)
    request.config.stash[COUNTS] = [
        f"seed {SEED}: {line}" if not number else line for number, line in enumerate(found.lines())
    ]
    return found


@pytest.fixture(scope="module")
def configured(limiting: Limiting) -> Results:
    """A run on a server that limits resources and knows none of pods as a whole."""
    server = Server(gates=limiting.gates, limited_resources=msgspec.convert(LIMITED, tuple[LimitedResource, ...]))
    with Asking(limiting.plane) as asking:
        return Run(asking, secrets.token_hex(3), server).play([limited(), *settings(SEED, count=4)[-4:]])


def right(judged: list[Judged]) -> None:
    """Fails with what was asked and answered, which an assertion would cut short."""
    found = [one.about for one in judged if one.faults]
    if found:
        text = "\n".join([f"seed {SEED} (KRES_SEED): {len(found)} answers were not predicted", *found[:5]])
        pytest.fail(text, pytrace=False)


@pytest.mark.parametrize("name", [setting.name for setting in SETTINGS])
def test_answers_are_predicted(results: Results, name: str) -> None:
    judged = [one for one in results.judged if one.setting == name]
    assert judged
    right(judged)


def test_enough_is_asked_and_refused(results: Results) -> None:
    for judged, least in ((results.of_pods(), 350), (results.of_resizes(), 250)):
        refused = sum(one.refused for one in judged)
        assert len(judged) >= least, f"seed {SEED}"
        assert 0.3 * len(judged) <= refused <= 0.9 * len(judged), f"seed {SEED}"


def test_a_configured_server(configured: Results) -> None:
    right(configured.judged)
    assert {"quota/limited-resource", "quota/limited-scope", "pod-level/dropped"} <= set(configured.rules)


def test_every_rule_is_met(results: Results, configured: Results) -> None:
    reachable = {code for code in RULES if code.partition("/")[0] in SYSTEMS} - set(OUT_OF_REACH)
    assert reachable - set(results.rules) - set(configured.rules) == set(), f"seed {SEED}"
    assert not set(OUT_OF_REACH) & (set(results.rules) | set(configured.rules))
