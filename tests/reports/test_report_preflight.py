"""What a file is told before a pod is made of it: unknown fields, its template, its name, how many there may be."""

from __future__ import annotations

import pytest
from reports.stored import advised, made, store_of, subject, template

from kubectl_kres.render.pod.explain import lines
from kubectl_kres.render.verdict.note import NOTHING
from kubectl_kres.reports.common.explanation import EvaluationOptions
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.reports.pod.needs import list_read_requests

GOOD = {"name": "app", "image": "i"}
VERSIONS = {"Deployment": "apps/v1", "Job": "batch/v1", "Pod": "v1"}


def filed(kind: str, name: str, *containers: dict, **spec) -> dict:
    held = {"containers": list(containers), **spec}
    if kind == "Pod":
        return {**made(kind, name, spec=held), "apiVersion": VERSIONS[kind]}
    labels = {"app": name[:9]}
    more = {"selector": {"matchLabels": labels}} if kind == "Deployment" else {}
    policy = {"restartPolicy": "Never"} if kind == "Job" else {}
    raw = made(kind, name, spec={**more, "template": {"metadata": {"labels": labels}, "spec": {**held, **policy}}})
    return {**raw, "apiVersion": VERSIONS[kind]}


def told(raw: dict, *stored: dict):
    ref = f"{raw['kind']}/{raw['metadata']['name']}"
    return explain(store_of(*stored), subject(ref, raw), EvaluationOptions())


def quota(name: str, hard: dict, used: dict, **spec) -> dict:
    return made("ResourceQuota", name, spec={"hard": hard, **spec}, status={"hard": hard, "used": used})


FULL = quota("few", {"count/deployments.apps": "1"}, {"count/deployments.apps": "1"})


def test_one_more_workload_than_a_quota_counts():
    found = told(filed("Deployment", "web", GOOD), FULL)
    assert found.verdict.allowed is False and found.verdict.code == 403
    # Recorded from a real server.
    assert found.verdict.message == (
        'deployments.apps "web" is forbidden: exceeded quota: few, requested: count/deployments.apps=1, '
        "used: count/deployments.apps=1, limited: count/deployments.apps=1"
    )
    assert advised(found)[0] == "raise count/deployments.apps of quota few to 2"


def test_a_workload_that_exists_is_not_counted_again():
    raw = filed("Deployment", "web", GOOD)
    found = told(raw, FULL, made("Deployment", "web", spec=template(GOOD)))
    assert found.verdict.allowed and advised(found) == (NOTHING,)


def test_it_is_looked_up_only_where_it_counts():
    raw = filed("Deployment", "web", GOOD)
    one = subject("Deployment/web", raw)
    assert "Deployment" in {need.kind for need in list_read_requests(store_of(FULL), one)}
    assert "Deployment" not in {
        need.kind for need in list_read_requests(store_of(quota("q", {"pods": "1"}, {"pods": "0"})), one)
    }


def test_what_comes_after_the_count_is_said_too():
    pods = quota("pods", {"pods": "1"}, {"pods": "1"})
    found = told(filed("Deployment", "web", GOOD), FULL, pods)
    assert advised(found)[0] == "raise count/deployments.apps of quota few to 2 and raise pods of quota pods to 2"


AT = "spec.template.spec.containers[0]"
#: Each from ``kubectl create --dry-run=server`` against Kubernetes 1.36.
LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end "
    "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)


@pytest.mark.parametrize(
    ("raw", "errors"),
    [
        pytest.param(filed("Pod", "p"), {"spec.containers: Required value"}, id="no containers"),
        pytest.param(
            filed("Pod", "p", GOOD, GOOD, initContainers=[GOOD]),
            {
                'spec.containers[1].name: Duplicate value: "app"',
                'spec.initContainers[0].name: Duplicate value: "app"',
            },
            id="one name twice",
        ),
        pytest.param(
            filed("Deployment", "web", {"name": "A"}, {"image": "i"}),
            {
                f'spec.template.spec.containers[0].name: Invalid value: "A": {LABEL}',
                "spec.template.spec.containers[0].image: Required value",
                "spec.template.spec.containers[1].name: Required value",
            },
            id="names and images of a template",
        ),
        pytest.param(
            filed(
                "Job",
                "job",
                {
                    **GOOD,
                    "resources": {
                        "requests": {"cpu": "2"},
                        "limits": {"cpu": "1", "nvidia.com/gpu": "1.5", "memory": "-1"},
                    },
                },
            ),
            {
                f'{AT}.resources.limits[memory]: Invalid value: "-1": must be greater than or equal to 0',
                f'{AT}.resources.limits[nvidia.com/gpu]: Invalid value: "1500m": must be an integer',
                f'{AT}.resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
            },
            id="a template gets no requests from its limits",
        ),
        pytest.param(
            filed("Deployment", "web", GOOD, ephemeralContainers=[{**GOOD, "name": "debug"}]),
            {"spec.template.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod template"},
            id="ephemeral containers",
        ),
    ],
)
def test_invalid(raw, errors):
    found = told(raw)
    assert (found.verdict.allowed, found.verdict.code) == (False, 422)
    assert {f"{cause.field}: {cause.message}" for cause in found.verdict.causes} == errors
    group = str(raw["apiVersion"]).rpartition("/")[0]
    called = f"{raw['kind']}.{group}" if group else raw["kind"]
    assert found.verdict.message.startswith(f'{called} "{raw["metadata"]["name"]}" is invalid: ')
    assert advised(found) and NOTHING not in advised(found)


def test_a_name_that_no_object_has():
    found = told(filed("Pod", "None", GOOD))
    assert 'metadata.name: Invalid value: "None": a lowercase RFC 1123 subdomain must' in found.verdict.message


def test_overhead_without_a_runtime_class():
    """Also where the RuntimeClasses were not read."""
    found = told(filed("Pod", "p", GOOD, overhead={"cpu": "1"}))
    assert found.verdict.message == (
        'pods "p" is forbidden: pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead'
    )


@pytest.mark.parametrize(
    ("container", "wrong", "right"),
    [
        ({"resources": {"request": {"cpu": "1"}}}, "resources.request", "resources.requests"),
        ({"limits": {"cpu": "1"}}, "limits", "resources.limits"),
        ({"resource": {}}, "resource", "resources"),
    ],
)
def test_the_field_that_was_meant(container, wrong, right):
    found = told(filed("Deployment", "web", {**GOOD, **container}))
    # Recorded from a real server.
    assert found.verdict.message == (
        'Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: '
        f'unknown field "{AT}.{wrong}"'
    )
    assert advised(found)[0].startswith(f"write {AT}.{right}, not {AT}.{wrong}, or send it with --validate=warn")


def test_a_field_that_stands_too_deep():
    found = told(filed("Deployment", "web", {**GOOD, "resources": {"image": "i"}}))
    assert advised(found)[0].startswith(f"write {AT}.image, not {AT}.resources.image, ")


def test_a_short_name_for_a_resource():
    found = told(filed("Pod", "p", {**GOOD, "resources": {"limits": {"mem": "1Gi"}}}))
    assert advised(found)[0].startswith("write memory, not mem, at spec.containers[0].resources.limits[mem]")


def test_a_quota_of_pods_that_state_something_is_told_with_the_first():
    """Whoever obeys the first quota is no BestEffort pod any more, and comes under the second one."""
    first = quota("first", {"requests.cpu": "1"}, {"requests.cpu": "0"})
    second = quota("second", {"limits.memory": "1Gi"}, {"limits.memory": "0"}, scopes=["NotBestEffort"])
    found = told(filed("Pod", "p", GOOD), first, second)
    unknown = "(kres does not know what it needs)"
    cpu, memory = (
        "requests.cpu of container app to e.g. 100m",
        "limits.memory of container app to e.g. 128Mi",
    )
    assert advised(found) == (f"set {cpu} and {memory} {unknown}",)


def test_a_default_priority_class_that_a_quota_counts_by_is_shown():
    scoped = quota(
        "q",
        {"pods": "5"},
        {"pods": "0"},
        scopeSelector={"matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": ["standard"]}]},
    )
    class_ = {**made("PriorityClass", "standard", namespace=""), "value": 1, "globalDefault": True}
    text = list(lines(told(filed("Pod", "p", GOOD), scoped, class_), steps=True))
    assert "PriorityClass standard, the global default: quotas here count by it" in text


def test_a_template_that_is_not_valid_says_nothing_about_quotas():
    """LimitRanges have filled nothing in: to say that a quota's demands are not met would be wrong."""
    memory = quota("memory", {"limits.memory": "1Gi"}, {"limits.memory": "0"})
    defaults = made("LimitRange", "l", spec={"limits": [{"type": "Container", "default": {"memory": "1Gi"}}]})
    wrong = told(filed("Deployment", "web", {**GOOD, "resources": {"limits": {"cpus": "1"}}}), memory, defaults)
    right = told(filed("Deployment", "web", GOOD), memory, defaults)
    assert wrong.verdict.code == 422 and (wrong.demands, wrong.quotas) == ((), ())
    assert right.demands[0].missing == {} and right.quotas[0].fits == 1
