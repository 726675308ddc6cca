"""The sentence for each refusal. That the sentences work is shown in tests/properties."""

from __future__ import annotations

import pytest
from admission.samples import container, limit_range, pod, policies, priority, quota, runtime

from kubectl_kres.admission.base.server import LimitedResource, Server
from kubectl_kres.admission.request.new_pod import admit
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.remedies.pod_remedy import remedies
from kubectl_kres.reports.remedies.typos import suggest_quantity


def told(given, ranges=(), quotas=(), server=None, **classes) -> tuple[str, ...]:
    held = policies(ranges, quotas, **classes)
    return tuple(map(sentence_text, remedies(admit(given, held, server or Server()), limits=held.limits)))


MERGE = ", or merge the LimitRanges lr and wide into one"
MAX = limit_range("lr", {"max": {"memory": "1Gi"}})
RATIO = limit_range("lr", {"maxLimitRequestRatio": {"cpu": "4"}})
ONE = {"cpu": "1"}
TOO_MUCH = "change a LimitRange: the containers have at least 2400m cpu in sum (LimitRange/each), and the pod at most 2"
TOO_MUCH += " (LimitRange/lr)"
TOO_LITTLE = (
    "change a LimitRange: the containers have at most 600m cpu in sum (LimitRange/each), and the pod at least 1"
)
TOO_LITTLE += " (LimitRange/lr)"
POD = limit_range("lr", {"type": "Pod", "min": {"cpu": "1"}, "max": {"cpu": "2"}})


@pytest.mark.parametrize(
    ("given", "ranges", "sentences"),
    [
        pytest.param(pod(), [], (), id="admitted"),
        pytest.param(
            pod(container(limits={"memory": "2Gi"}, requests={"memory": "1Gi"})),
            [MAX],
            ("set limits.memory of container app to at most 1Gi",),
            id="the limit alone is above max",
        ),
        pytest.param(
            pod(container(limits={"memory": "2Gi"}, requests={"memory": "1536Mi"})),
            [MAX],
            ("set requests.memory and limits.memory of container app to at most 1Gi",),
            id="the request, too",
        ),
        pytest.param(
            pod(container(limits={"memory": "2Gi"})),
            [MAX],
            ("set limits.memory of container app to at most 1Gi",),
            id="a request that follows its limit is not named",
        ),
        pytest.param(
            pod(),
            [MAX, limit_range("wide", {"default": {"memory": "4Gi"}, "defaultRequest": {"memory": "64Mi"}})],
            (f"set limits.memory of container app to at most 1Gi (LimitRange/wide fills in 4Gi){MERGE}",),
            id="a value that another LimitRange fills in",
        ),
        pytest.param(
            pod(container(requests={"cpu": "100m"}, limits={"cpu": "1"})),
            [RATIO],
            ("set requests.cpu of container app to at least 250m (limit 1 / 4)",),
            id="ratio: from the limit",
        ),
        pytest.param(
            pod(container(requests={"cpu": "100m"})),
            [RATIO],
            ("set limits.cpu of container app to at most 400m",),
            id="ratio: without a limit",
        ),
        pytest.param(
            pod(),
            [RATIO],
            ("set requests.cpu and limits.cpu of container app, the limit at most 4 times the request",),
            id="ratio: without anything",
        ),
        pytest.param(
            pod(container(requests={"cpu": "50m"}, limits={"cpu": "4"})),
            [limit_range("lr", {"min": {"cpu": "100m"}, "max": {"cpu": "2"}, "maxLimitRequestRatio": {"cpu": "4"}})],
            ("set requests.cpu of container app to at least 500m and limits.cpu to at most 2 (limit 2 / 4)",),
            id="min, max and ratio in one sentence",
        ),
        pytest.param(
            pod(container(requests={"cpu": "5m"}, limits={"cpu": "10m"})),
            [limit_range("lr", {"min": {"cpu": "100m"}})],
            ("set requests.cpu and limits.cpu of container app to at least 100m",),
            id="both below min",
        ),
        pytest.param(
            pod(container(limits={"memory": "2Gi"})),
            [MAX, limit_range("big", {"min": {"memory": "3Gi"}})],
            ("change a LimitRange: no memory is at least 3Gi (LimitRange/big) and at most 1Gi (LimitRange/lr)",),
            id="LimitRanges that exclude each other",
        ),
        pytest.param(
            pod(container("a", limits={"cpu": "2"}), container("b", limits={"cpu": "1"})),
            [POD],
            ("set requests.cpu and limits.cpu of the containers, in sum, to at most 2",),
            id="the pod's sums",
        ),
        pytest.param(
            pod(container("a", requests={"cpu": "2"})),
            [POD],
            ("set limits.cpu of the containers, in sum, to at most 2",),
            id="no limit in any container",
        ),
        pytest.param(
            pod(resources={"limits": {"cpu": "3"}}),
            [POD],
            ("set requests.cpu and limits.cpu of the pod level to at most 2",),
            id="the pod level makes the sums",
        ),
        pytest.param(
            pod(container(requests={"cpu": "3"}), resources={"limits": {"cpu": "3"}}),
            [POD],
            ("set requests.cpu and limits.cpu of the pod level and of the containers, in sum, to at most 2",),
            id="and cannot go below its containers",
        ),
        pytest.param(
            pod(container("a", limits={"cpu": "2"}), container("b", limits={"cpu": "1"}), container("c", limits=ONE)),
            [POD, limit_range("each", {"min": {"cpu": "800m"}})],
            (TOO_MUCH,),
            id="a pod that is allowed less than its containers must have",
        ),
        pytest.param(
            pod(container("a", limits=ONE), container("b", limits={"cpu": "1500m"})),
            [POD, limit_range("each", {"min": {"cpu": "800m"}})],
            ("set requests.cpu and limits.cpu of the containers, in sum, to at most 2",),
            id="as much as they must have",
        ),
        pytest.param(
            pod(container("a", limits={"cpu": "400m"}), initContainers=[container("i", limits={"cpu": "300m"})]),
            [POD, limit_range("each", {"max": {"cpu": "600m"}})],
            (TOO_LITTLE,),
            id="a pod that must have more than its containers may; an init container runs before",
        ),
        pytest.param(
            pod(
                container("a", limits=ONE),
                container("b", limits=ONE),
                container("c", limits=ONE),
                resources={"limits": {"cpu": "3"}},
            ),
            [POD, limit_range("each", {"min": {"cpu": "800m"}})],
            (TOO_MUCH,),
            id="no pod level goes below its containers",
        ),
        pytest.param(
            pod(initContainers=[container("init", limits={"memory": "2Gi"})]),
            [MAX],
            ("set limits.memory of init container init to at most 1Gi",),
            id="an init container",
        ),
    ],
)
def test_limit_ranges(given, ranges, sentences):
    assert told(given, ranges) == sentences


SMALL = limit_range("small", {"default": {"memory": "256Mi"}, "defaultRequest": {"memory": "64Mi"}})
LARGE = limit_range("large", {"defaultRequest": {"memory": "1Gi"}})


@pytest.mark.parametrize(
    ("given", "ranges", "sentence"),
    [
        pytest.param(
            pod(container(requests={"cpu": "2"}, limits={"cpu": "1"})),
            [],
            "set requests.cpu of container app to at most 1, or limits.cpu to at least 2",
            id="both written",
        ),
        pytest.param(
            pod(container(requests={"memory": "512Mi"})),
            [SMALL],
            "set limits.memory of container app to at least 512Mi (LimitRange/small fills in 256Mi)",
            id="the limit filled in",
        ),
        pytest.param(
            pod(container(requests={}, limits={})),
            [LARGE, SMALL],
            "write requests.memory and limits.memory of container app: LimitRange/large and LimitRange/small differ, "
            "or merge the LimitRanges large and small into one",
            id="both filled in, by two",
        ),
        pytest.param(
            pod(container(requests={"cpu": "2"}), resources={"limits": {"cpu": "1"}}),
            [],
            "set limits.cpu of the pod level to at least 2, what the containers add up to",
            id="a pod level below its containers",
        ),
        pytest.param(
            pod(container(requests={"cpu": "2"}), resources={"requests": {"cpu": "1"}}),
            [],
            "set requests.cpu of the pod level to at least 2, what the containers add up to",
            id="a pod-level request below its containers",
        ),
        pytest.param(
            pod(container(limits={"cpu": "2"}, requests={}), resources={"limits": {"cpu": "1"}, "requests": {}}),
            [],
            "set limits.cpu of the pod level to at least 2, what the containers add up to",
            id="the request that a limit makes counts",
        ),
        pytest.param(
            pod(container(limits={"cpu": "2"}, requests={"cpu": "0"}), resources={"limits": {"cpu": "1"}}),
            [],
            "set limits.cpu of container app to at most 1, or limits.cpu of the pod level to at least 2",
            id="a container's limit above the pod's",
        ),
        pytest.param(
            pod(container(requests={"memory": "1Mi"}), resources={"limits": {"memory": "128Mi"}}),
            [SMALL],
            "set limits.memory of container app to at most 128Mi (LimitRange/small fills in 256Mi), "
            "or limits.memory of the pod level to at least 256Mi",
            id="one that was filled in",
        ),
        pytest.param(
            pod(container(requests={"example.com/gpu": "1"}, limits={"example.com/gpu": "2"})),
            [],
            "set requests.example.com/gpu of container app to 2, equal to its limit",
            id="a device",
        ),
        pytest.param(
            pod(container(requests={"example.com/gpu": "1"})),
            [],
            "set limits.example.com/gpu of container app to 1, equal to its request",
            id="a device without a limit",
        ),
        pytest.param(
            pod(container(limits={"cpu": "-1"}, requests={"cpu": "-1"})),
            [],
            "use 0 or more at spec.containers[0].resources.limits[cpu]",
            id="negative",
        ),
        pytest.param(
            pod(container(limits={"gpu": "1"})),
            [],
            "name cpu, memory, ephemeral-storage or DOMAIN/NAME at spec.containers[0].resources.limits[gpu]",
            id="an unknown name",
        ),
    ],
)
def test_validation(given, ranges, sentence):
    assert told(given, ranges)[0] == sentence


@pytest.mark.parametrize(
    ("given", "quotas", "sentences"),
    [
        pytest.param(
            pod(container(requests={"cpu": "2"})),
            [quota("q", {"requests.cpu": "3"}, {"requests.cpu": "2500m"})],
            ("free 1500m of requests.cpu in quota q, or raise its hard to 4500m, or ask for at most 500m in total",),
            id="exceeded",
        ),
        pytest.param(
            pod(),
            [quota("q", {"pods": "5", "count/pods": "4"}, {"pods": "5", "count/pods": "5"})],
            (
                "free 2 of count/pods in quota q, or raise its hard to 6",
                "free 1 of pods in quota q, or raise its hard to 6",
            ),
            id="of pods one cannot ask for less",
        ),
        pytest.param(
            pod(container(requests={"cpu": "2"})),
            [quota("q", {"requests.cpu": "1"}, {"requests.cpu": "500m"}), quota("r", {"pods": "0"})],
            ("raise requests.cpu of quota q to 2500m, or ask for at most 500m in total", "raise pods of quota r to 1"),
            id="no more can be freed than is used",
        ),
        pytest.param(
            pod(container("a"), container("b"), container("c", requests={"cpu": "1"})),
            [quota("q", {"requests.cpu": "3", "limits.cpu": "4"})],
            (
                "set limits.cpu of containers a, b and c, or add a LimitRange with default.cpu",
                "set requests.cpu of containers a and b, or add a LimitRange with defaultRequest.cpu",
            ),
            id="must specify",
        ),
        pytest.param(
            pod(),
            [quota("q", {"memory": "1Gi"})],
            ("set requests.memory of container app, or add a LimitRange with defaultRequest.memory",),
            id="the short name means the request",
        ),
    ],
)
def test_quotas(given, quotas, sentences):
    assert told(given, quotas=quotas) == sentences


def test_of_several_orders_the_remedy_that_is_enough_for_all():
    ranges = [limit_range(name, {"defaultRequest": {"cpu": cpu}}) for name, cpu in (("a", "1"), ("b", "2"), ("c", "1"))]
    assert told(pod(), ranges, [quota("q", {"requests.cpu": "4"}, {"requests.cpu": "3500m"})]) == (
        "free 1500m of requests.cpu in quota q, or raise its hard to 5500m, or ask for at most 500m in total",
    )


def test_the_rest():
    assert told(pod(priorityClassName="gone"), priorities=[priority("low")])[0].startswith("name a PriorityClass that")
    assert told(pod(runtimeClassName="gone"), runtimes=[])[0].startswith("name a RuntimeClass that exists")
    kata = runtime("kata", {"cpu": "1"})
    assert told(pod(overhead={"cpu": "1"}))[0].startswith("take spec.overhead out, or name")
    assert told(pod(runtimeClassName="kata", overhead={"cpu": "2"}), runtimes=[kata])[0].startswith(
        "take spec.overhead"
    )
    limited = Server(limited_resources=(LimitedResource("pods", match_contains=("pods",)),))
    assert told(pod(), server=limited)[0] == "create a quota in the namespace that names count/pods"


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("spec.containers[0]", 'write limits.memory of container app as 512Mi or 512M, not "512MB"'),
        ("spec", 'write limits.memory of the pod level as 512Mi or 512M, not "512MB"'),
    ],
)
def test_a_quantity_that_does_not_parse(path, sentence):
    bad = {"limits": {"memory": "512MB"}}
    given = pod(resources=bad) if path == "spec" else pod({"name": "app", "resources": bad})
    found = remedies(admit(given, policies(), Server()), {"spec.containers[0]": "app"})
    assert tuple(map(sentence_text, found)) == (sentence,)


@pytest.mark.parametrize(
    ("text", "guess"),
    [
        ("512MB", "512Mi or 512M"),
        ("512 Mi", "512Mi"),
        ("1gi", "1Gi"),
        ("1K", "1Ki or 1k"),
        ("2GiB", "2Gi"),
        ("0,5", "0.5"),
        ("1_000", "1000"),
        ("2 cores", "2"),
        ("500mcpu", "500m"),
        ("lots", ""),
        ("", ""),
        ("Gi", ""),
        ("1..2", ""),
        ("1x", ""),
    ],
)
def test_what_was_probably_meant(text, guess):
    assert suggest_quantity(text) == guess


@pytest.mark.parametrize("tenths", [11, 23, 41, 82, 161, 163, 321, 641, 651, 999])
def test_a_ratio_is_met_as_the_server_computes_it(tenths):
    """16100m / 1 is 16.1, and in floating point 1000 times that is more than 16100: the server refuses it."""
    ranges = [limit_range("lr", {"maxLimitRequestRatio": {"cpu": f"{tenths / 10}"}})]
    limit = {"cpu": f"{tenths}00m"}
    [sentence] = told(pod(container(limits=limit, requests={"cpu": "1m"})), ranges)
    least = sentence.partition(" to at least ")[2].partition(" (")[0]
    assert told(pod(container(limits=limit, requests={"cpu": least})), ranges) == ()
    assert least in {"1", "1001m"}


@pytest.mark.parametrize(
    ("given", "ranges", "sentences"),
    [
        pytest.param(
            pod(container(requests={"cpu": "2"})),
            [limit_range("cap", {"max": {"cpu": "1"}})],
            ("set requests.cpu of container app to at most 1, the max of LimitRange/cap",),
            id="a max that also fills in the limit",
        ),
        pytest.param(
            pod(container(limits={"example.com/gpu": "1500m"}, requests={"example.com/gpu": "1"})),
            [],
            (
                "use a whole number, as 2, at spec.containers[0].resources.limits[example.com/gpu]",
                "set requests.example.com/gpu of container app to 2, equal to its limit",
            ),
            id="whole numbers agree",
        ),
        pytest.param(
            pod(container(requests={"cpu": "2"}), resources={"requests": {"cpu": "1"}, "limits": {"cpu": "1"}}),
            [limit_range("cap", {"type": "Pod", "max": {"cpu": "1"}})],
            ("set requests.cpu of the containers, in sum, to at most 1, the max of LimitRange/cap",),
            id="a pod level that may not be raised",
        ),
    ],
)
def test_no_remedy_leads_into_the_next_refusal(given, ranges, sentences):
    assert told(given, ranges) == sentences


@pytest.mark.parametrize(
    ("limit", "least"),
    [("1Gi", "683Mi"), ("256Mi", "171Mi"), ("256M", "171M"), ("1000000001", "666666668"), ("1Mi", "1Mi")],
)
def test_bytes_under_a_ratio_can_be_read_and_typed(limit: str, least: str):
    ranges = [limit_range("lr", {"maxLimitRequestRatio": {"memory": "1.5"}})]
    sentences = told(pod(container(limits={"memory": limit}, requests={"memory": "1k"})), ranges)
    assert sentences == (f"set requests.memory of container app to at least {least} (limit {limit} / 1500m)",)
    assert told(pod(container(limits={"memory": limit}, requests={"memory": least})), ranges) == ()
