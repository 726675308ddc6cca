"""What is filled in on decode, in which order, and what rounding has to do with it."""

from __future__ import annotations

import pytest
from admission.samples import container, limit_range, one, pod, policies, values

from kubectl_kres.admission.base.server import Server
from kubectl_kres.provenance.journal import Set


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param(
            pod(container(limits={"cpu": "1", "example.com/gpu": "2"}, requests={"memory": "1Gi"})),
            {
                "containers[0].limits[cpu]": "1",
                "containers[0].limits[example.com/gpu]": "2",
                "containers[0].requests[cpu]": "1",
                "containers[0].requests[example.com/gpu]": "2",
                "containers[0].requests[memory]": "1Gi",
            },
            id="a limit becomes the request, of any resource",
        ),
        pytest.param(
            pod(container(limits={"cpu": "0"})),
            {"containers[0].limits[cpu]": "0", "containers[0].requests[cpu]": "0"},
            id="a zero limit, too",
        ),
        pytest.param(
            pod(
                container("a", requests={"cpu": "1.2345"}),
                container("b", requests={"cpu": "0.0005"}),
                resources={"limits": {"cpu": "2"}},
            ),
            {
                "containers[0].requests[cpu]": "1235m",
                "containers[1].requests[cpu]": "1m",
                "limits[cpu]": "2",
                "requests[cpu]": "1235m",
            },
            id="sums are made before rounding: 1.2345 + 0.0005 = 1.235, not 1.236",
        ),
        pytest.param(
            pod(container(requests={"memory": "1Gi"}), resources={"limits": {"cpu": "1"}}),
            {
                "containers[0].requests[memory]": "1Gi",
                "limits[cpu]": "1",
                "requests[cpu]": "1",
                "requests[memory]": "1Gi",
            },
            id="what only containers request is lifted to a pod level with limits",
        ),
        pytest.param(
            pod(container(requests={"memory": "1Gi"}), resources={"requests": {"cpu": "1"}}),
            {"containers[0].requests[memory]": "1Gi", "requests[cpu]": "1"},
            id="but not to one with requests only",
        ),
        pytest.param(
            pod(
                container(limits={"hugepages-2Mi": "4Mi", "cpu": "1"}, requests={}),
                container("b", limits={"hugepages-2Mi": "2Mi", "cpu": "1"}),
                resources={"requests": {"cpu": "3"}},
            ),
            {
                "containers[0].limits[cpu]": "1",
                "containers[0].limits[hugepages-2Mi]": "4Mi",
                "containers[0].requests[cpu]": "1",
                "containers[0].requests[hugepages-2Mi]": "4Mi",
                "containers[1].limits[cpu]": "1",
                "containers[1].limits[hugepages-2Mi]": "2Mi",
                "containers[1].requests[cpu]": "1",
                "containers[1].requests[hugepages-2Mi]": "2Mi",
                "limits[hugepages-2Mi]": "6Mi",
                "requests[cpu]": "3",
                "requests[hugepages-2Mi]": "6Mi",
            },
            id="huge page limits are lifted to any pod level that sets something",
        ),
        pytest.param(pod(container(), resources={}), {}, id="an empty pod level takes nothing"),
    ],
)
def test_what_is_filled(given, expected):
    assert values(one(given, server=Server((1, 36)))) == expected


def test_limits_from_a_limit_range_make_no_request():
    ranges = [limit_range("defaults", {"default": {"cpu": "1"}, "defaultRequest": {"cpu": "250m"}})]
    assert values(one(pod(), policies(ranges))) == {
        "containers[0].limits[cpu]": "1",
        "containers[0].requests[cpu]": "250m",
    }


def test_read_back_lifts_what_no_check_has_seen():
    """Requests from a LimitRange show at the pod level; quota and class did not see them there."""
    ranges = [limit_range("defaults", {"defaultRequest": {"memory": "128Mi"}})]
    outcome = one(pod(container(), resources={"limits": {"cpu": "800m"}}), policies(ranges), Server((1, 36)))
    assert outcome.object["spec"]["resources"]["requests"] == {"cpu": "800m", "memory": "128Mi"}
    last = outcome.journal[-1]
    assert isinstance(last, Set)
    assert (last.path, last.rule) == ("spec.resources.requests[memory]", "pod-level/request-from-containers")


@pytest.mark.parametrize(
    ("text", "kept", "recorded"),
    [
        ("1Gi", "1Gi", False),
        ("1024Mi", "1Gi", True),
        ("0.5", "500m", True),
        ("1.5005", "1501m", True),
        (None, "0", False),
        (1, "1", False),
        (" 1 ", "1", True),
    ],
)
def test_a_text_that_changes_is_recorded(text, kept, recorded):
    outcome = one(pod(container(requests={"cpu": text})))
    assert values(outcome) == {"containers[0].requests[cpu]": kept}
    notations = [entry for entry in outcome.journal if getattr(entry, "rule", "") == "quantity/canonical"]
    assert bool(notations) is recorded


def test_an_unparsable_text_ends_it_all():
    given = pod(container(limits={"cpu": "1"}), container("b", requests={"memory": "1 Gi"}))
    outcome = one(given)
    assert (outcome.code, outcome.reason, outcome.draft) == (400, "BadRequest", None)
    [finding] = outcome.refusal.findings
    assert (finding.path, finding.observed) == ("spec.containers[1].resources.requests[memory]", "1 Gi")
