"""Answers that generated objects got from a real API server (v1.36.3) and that the engine once had wrong."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.request.create import create
from kubectl_kres.admission.request.new_pod import policies_of
from kubectl_kres.model.objects import LimitRange, ResourceQuota, RuntimeClass

LABEL = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' "
    "(e.g. 'example.com/MyName')"
)
DNS = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
NONE = "must be one of the names in pod.spec.resourceClaims which is empty"
REQUEST = "spec.containers[0].resources.claims[0].request"
LEVEL = "spec.resources.claims: Forbidden: claims may not be set for Resources at pod-level"
MULTIPLE = "is not positive integer multiple of"
TOO_FAR = "cpu max limit to request ratio per Container is 10, but provided ratio is"
TOO_LARGE = "maximum cpu usage per Container is 4, but limit is"
UNEXPLAINED = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
SUFFIX = 'Pod in version "v1" cannot be handled as a Pod: unable to parse quantity\'s suffix'
NO_REQUEST = "memory max limit to request ratio per Pod is 2, but no request is specified or request is 0"
RATIO = {"type": "Container", "maxLimitRequestRatio": {"cpu": "10"}, "max": {"cpu": "4"}}


def pod(*, resources: Any = None, container: Any = None, **spec: Any) -> dict[str, Any]:
    """A pod of one container."""
    one = {
        "name": "c",
        "image": "i",
        **({"resources": resources} if resources is not None else {}),
        **(container or {}),
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [one], **spec}}


def claims(*names: str, **spec: Any) -> dict[str, Any]:
    """A pod that uses claims, ``claim`` or ``claim/request``."""
    pairs = [name.partition("/") for name in names]
    used = [{"name": name, **({"request": request} if request else {})} for name, _, request in pairs]
    return pod(resources={"claims": used}, **spec)


def quota(**hard: Any) -> dict[str, Any]:
    names = {name.replace("_", "."): value for name, value in hard.items()}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": names}}


def limits(*items: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "l"}, "spec": {"limits": list(items)}}


DECLARED = [{"name": "fast", "resourceClaimName": "f"}]

REFUSED = [
    (
        limits({"type": "a/b/c"}),
        422,
        f'LimitRange "l" is invalid: spec.limits[0].type: Invalid value: "a/b/c": a valid label key {LABEL}',
    ),
    (
        pod(overhead={"hugepages-2Mi": "1Mi", "cpu": "1"}),
        422,
        f'Pod "p" is invalid: spec.overhead.limits[hugepages-2Mi]: Invalid value: "1Mi": 1Mi {MULTIPLE} hugepages-2Mi',
    ),
    (
        pod(overhead={"cpu": "-1"}),
        422,
        'Pod "p" is invalid: spec.overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0',
    ),
    (pod(overhead={}), 403, f'pods "p" is forbidden: {UNEXPLAINED}'),
    (pod(runtimeClassName=""), 500, "resource name may not be empty"),
    (
        pod(container={"resources": {}}) | {"spec": {**pod()["spec"], "resources": {"claims": [{"name": "x"}]}}},
        422,
        f'Pod "p" is invalid: [{LEVEL}, spec.resources.claims[0]: Not found: "x": {NONE}]',
    ),
    (
        claims("fast/A", resourceClaims=DECLARED),
        422,
        f'Pod "p" is invalid: {REQUEST}: Invalid value: "A": {DNS}',
    ),
    (
        claims("fast/a.b", resourceClaims=DECLARED),
        422,
        f'Pod "p" is invalid: {REQUEST}: Invalid value: "a.b": must not contain dots',
    ),
    # kubectl sends fields in sorted order, and the first bad quantity ends the request.
    (pod(resources={"requests": {"memory": "1x", "cpu": "1K"}}), 400, SUFFIX),
    (
        pod(
            resources={"limits": {"cpu": "1x"}},
            container={"env": [{"name": "A", "valueFrom": {"resourceFieldRef": {"divisor": "1K"}}}]},
        ),
        400,
        SUFFIX,
    ),
    (pod(volumes=[{"name": "v", "emptyDir": {"sizeLimit": "1K"}}]), 400, SUFFIX),
]


@pytest.mark.parametrize(("sent", "code", "message"), REFUSED)
def test_refused(sent: dict[str, Any], code: int, message: str) -> None:
    outcomes = create(sent, policies_of([], [], [], []), Server())
    assert [(outcome.code, outcome.message) for outcome in outcomes] == [(code, message)]


def test_a_claim_overlaps_with_each_of_its_requests() -> None:
    sent = claims("fast/a", "fast/b", "fast", "fast", resourceClaims=DECLARED)
    (outcome,) = create(sent, policies_of([], []), Server((1, 36)))
    path = "spec.containers[0].resources.claims"
    assert [cause.field for cause in outcome.causes] == [f"{path}[2]", f"{path}[2]", f"{path}[3]"]
    assert {cause.message for cause in outcome.causes} == {'Duplicate value: "fast"'}


#: Beyond 64 bits the LimitRanger compares what is left of the number.
OVERFLOWS = [
    ({"limits": {"cpu": "92233720368547758070"}, "requests": {"cpu": "1m"}}, ""),
    (
        {"limits": {"cpu": "1001E"}, "requests": {"cpu": "1"}},
        "cpu max limit to request ratio per Container is 10, but no limit is specified or limit is 0",
    ),
    (
        {"limits": {"cpu": "9223372036854775807"}, "requests": {"cpu": "1"}},
        f"[{TOO_FAR} 9223372036854775808.000000, {TOO_LARGE} 9223372036854775807]",
    ),
]


@pytest.mark.parametrize(("resources", "text"), OVERFLOWS)
def test_bounds_beyond_64_bits(resources: dict[str, Any], text: str) -> None:
    policies = policies_of([msgspec.convert(limits(RATIO), LimitRange)], [])
    (outcome,) = create(pod(resources=resources), policies, Server())
    assert outcome.message == (f'pods "p" is forbidden: {text}' if text else "")


WARNED = [
    (quota(cpu="4", limits_cpu="1"), "ResourceQuota cpu (4) should be less than limits.cpu (1)"),
    (
        quota(requests_memory="2Gi", memory="1", limits_memory="1Gi"),
        "ResourceQuota requests.memory (2Gi) should be less than limits.memory (1Gi)",
    ),
    (quota(cpu="1", limits_cpu="1"), ""),
    (pod(memroy=None), 'unknown field "spec.memroy"'),
]


@pytest.mark.parametrize(("sent", "warning"), WARNED)
def test_warned(sent: dict[str, Any], warning: str) -> None:
    (outcome,) = create(sent, policies_of([], []), Server())
    assert (outcome.allowed, outcome.warnings) == (True, (warning,) if warning else ())


def test_a_claim_is_warned_of_both_sizes_and_the_old_annotation() -> None:
    resources = {"requests": {"storage": "1.5"}, "limits": {"storage": "1n"}}
    annotation = "volume.beta.kubernetes.io/storage-class"
    metadata = {"name": "v", "annotations": {annotation: ""}}
    sent = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": metadata,
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": resources},
    }
    (outcome,) = create(sent, policies_of([], []), Server())
    text = 'fractional byte value "{}" is invalid, must be an integer'
    assert outcome.warnings == (
        f'metadata.annotations[{annotation}]: deprecated since v1.8; use "storageClassName" attribute instead',
        f"spec.resources.limits[storage]: {text.format('1m')}",
        f"spec.resources.requests[storage]: {text.format('1500m')}",
    )


def test_a_restart_policy_of_an_init_container_is_kept() -> None:
    known = ("Never", "OnFailure", "Always")
    policies = [{"name": name.lower(), "image": "i", "restartPolicy": name} for name in known]
    (outcome,) = create(pod(initContainers=policies), policies_of([], []), Server())
    assert outcome.object is not None
    assert [one["restartPolicy"] for one in outcome.object["spec"]["initContainers"]] == [
        "Never",
        "OnFailure",
        "Always",
    ]


@pytest.mark.parametrize(
    ("memory", "bound", "message"),
    [
        ("10E", {"max": {"memory": "1Gi"}}, ""),
        ("5E", {"max": {"memory": "1Gi"}}, ""),
        ("10E", {"min": {"memory": "1Gi"}}, "minimum memory usage per Pod is 1Gi, but request is 20E"),
        ("9E", {"maxLimitRequestRatio": {"memory": "2"}}, NO_REQUEST),
        ("16E", {"maxLimitRequestRatio": {"memory": "2"}}, NO_REQUEST),
    ],
)
def test_sums_that_overflow_the_servers_64_bits(memory, bound, message):
    """Edges D7: it counts them as 0."""
    big = {"image": "i", "resources": {"limits": {"memory": memory}}}
    sent = pod()
    sent["spec"]["containers"] = [{"name": "c", **big}, {"name": "d", **big}]
    policies = policies_of([msgspec.convert(limits({"type": "Pod", **bound}), LimitRange)], [])
    (found,) = create(sent, policies, Server(version=(1, 36)))
    assert found.message == (f'pods "p" is forbidden: {message}' if message else "")


def test_overhead_below_a_thousandth_is_rounded_only_where_it_is_stored():
    """Edges D7: quotas count what the RuntimeClass says."""
    fixed = {"podFixed": {"cpu": "0.0005"}}
    runtime = msgspec.convert({"metadata": {"name": "r"}, "handler": "h", "overhead": fixed}, RuntimeClass)
    state = {"status": {"hard": {"limits.cpu": "1"}, "used": {"limits.cpu": "0"}}}
    full = msgspec.convert({**quota(limits_cpu="1"), **state}, ResourceQuota)
    sent = pod(resources={"limits": {"cpu": "3"}}, runtimeClassName="r")
    (found,) = create(sent, policies_of([], [full], [], [runtime]), Server(version=(1, 36)))
    assert "requested: limits.cpu=3000500u," in found.message
    (stored,) = create(sent, policies_of([], [], [], [runtime]), Server(version=(1, 36)))
    assert stored.object["spec"]["overhead"] == {"cpu": "1m"}
