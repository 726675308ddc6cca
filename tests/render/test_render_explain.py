"""Explanations as text, piece by piece. Whole ones are in tests/golden."""

from __future__ import annotations

import json

import pytest
import yaml
from golden.situation import SITUATIONS, load
from reports.outlined import outline_of
from reports.stored import made, store_of, subject, template

from kubectl_kres.admission.base.server import Server
from kubectl_kres.errors import UsageError
from kubectl_kres.render.pod.explain import count_line, lines
from kubectl_kres.render.text import data
from kubectl_kres.render.text.line import size
from kubectl_kres.render.verdict.object_list import PrintedTable, row_of
from kubectl_kres.reports.common.explanation import EvaluationOptions, Explanation
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.store.store import Coverage, ReadRequest


def found(name: str) -> Explanation:
    return explain(*load(next(one for one in SITUATIONS if one.endswith(name)))[:3])


@pytest.mark.parametrize(
    ("name", "question", "expected"),
    [
        (
            "defaults",
            "app.limits.cpu",
            """
app.limits.cpu = 2
set by   limitrange/default LimitRange/defaults spec.limits[0].max[cpu]
changed  by argocd-controller at 2026-11-02T08:15:00Z
    1. 2 by limitrange/default
        LimitRange/defaults spec.limits[0].max[cpu]
        A LimitRange fills a limit that is missing.
        In a LimitRange, max without default becomes the default limit.
""",
        ),
        (
            "defaults",
            "app.request.memory",
            """
app.requests.memory = 256Mi
set by   manifest/written Deployment/web
         spec.template.spec.containers[0].resources.requests[memory]
changed  by kubectl-edit at 2026-11-19T22:41:00Z
written  0.25Gi
    1. 0.25Gi -> 256Mi by quantity/canonical
        The server stores a quantity in its canonical notation, rounded up to
        thousandths.
""",
        ),
        (
            "order-dependent",
            "limits.memory",
            """
main.limits.memory = 256Mi or 1Gi
set by   limitrange/default LimitRange/platform spec.limits[0].default[memory]
or       1Gi by limitrange/default LimitRange/team
         spec.limits[0].default[memory], if team comes before platform
    1. 256Mi by limitrange/default
        LimitRange/platform spec.limits[0].default[memory]
        A LimitRange fills a limit that is missing.
""",
        ),
        (
            "live-pod-drifted",
            "app.limits.cpu",
            """
app.limits.cpu = 1
set by   manifest/written ReplicaSet/web-7d4b9
         spec.template.spec.containers[0].resources.limits[cpu]
live     2
because  resized by kubectl-resize at 2026-11-19T16:20:00Z
""",
        ),
        (
            "live-pod-drifted",
            "istio-proxy.limits.memory",
            """
istio-proxy.limits.memory = nothing
live     1Gi
""",
        ),
        (
            "pod-level",
            "pod.requests.cpu",
            """
pod.requests.cpu = 400m
set by   pod-level/request-from-containers Pod/mesh sum of the containers'
         requests[cpu]
    1. 400m by pod-level/request-from-containers
        sum of the containers' requests[cpu]
        With pod-level limits, from 1.37 on with any pod-level value, a missing
        request is the containers' sum.
""",
        ),
    ],
)
def test_one_question(name, question, expected):
    assert list(lines(found(name), question=question)) == expected.strip("\n").split("\n")


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("gone.limits.cpu", 'has no container "gone"'),
        ("limits.cpu", "which container?"),
        ("app.cpu", "say CONTAINER.requests.RESOURCE"),
        ("app.limits.gpu", "shop/web: app has no gpu limit"),
        ("app.limits.", "say CONTAINER.requests.RESOURCE"),
    ],
)
def test_a_question_without_an_answer(question, message):
    with pytest.raises(UsageError, match=message.replace("?", r"\?")):
        list(lines(found("defaults"), question=question))


def test_one_container():
    text = list(lines(found("pod-level"), container="pod"))
    assert text[0].split()[:2] == ["pod", "level"]
    assert not any("sidecar" in line for line in text)
    with pytest.raises(UsageError, match='no container "x"') as raised:
        list(lines(found("pod-level"), container="x"))
    assert raised.value.hint == "containers: pod, app, proxy"


def test_wide_output_puts_sources_beside_values():
    text = list(lines(found("defaults"), whole=True, width=200))
    assert any(
        line.endswith("limitrange/default  LimitRange/defaults spec.limits[0].max[cpu]") and "cpu limit" in line
        for line in text
    )


@pytest.mark.parametrize("name", SITUATIONS)
@pytest.mark.parametrize("width", [60, 80, 160])
def test_columns_stand_below_their_heads(name, width):
    """SPEC and EFFECTIVE or TODAY begin in the same cell in every table of an answer."""
    text = list(lines(found(name), whole=True, width=width))
    heads = [line for line in text if line.endswith("SET BY")]
    assert heads
    assert len({tuple(line.index(head) for head in line.split() if head.isupper()) for line in heads}) == 1


@pytest.mark.parametrize("name", SITUATIONS)
def test_colours_change_no_text(name):
    plain = list(lines(found(name), steps=True))
    drawn = list(lines(found(name), steps=True, color=True))
    assert [line.replace("\x1b[0m", "") for line in drawn] != plain
    assert len(drawn) == len(plain)


def test_summary_lines_up_and_says_the_remedy():
    outlines = [outline_of(found(name)) for name in ("defaults", "max-refused", "order-refused")]
    head, *shown = PrintedTable(wide=True).lines([row_of(one) for one in outlines], lambda ref: ref.name)
    assert head.split() == ["NAMESPACE", "NAME", "STATE", "QOS", "OUTCOME", "WHY", "FIX"]
    outcomes = [line[head.index("OUTCOME") :].split()[0] for line in shown]
    assert outcomes == ["admitted", "refused", "depends-on-order"]
    assert len({line.index("Burstable") for line in shown}) == 1
    assert "memory of app 2Gi is above the max 1Gi of LimitRange bounds" in shown[1]
    assert shown[0].split()[-4:] == ["not", "created", "yet", "-"]


@pytest.mark.parametrize("width", [20, 40, 60, 80])
def test_a_table_is_cut_to_its_width(width: int):
    rows = [row_of(outline_of(found(name))) for name in ("defaults", "max-refused")]
    whole = [*PrintedTable().lines(rows, lambda ref: ref.name)]
    cut = [*PrintedTable(width=width).lines(rows, lambda ref: ref.name)]
    assert max(map(size, cut)) <= width < max(map(size, whole))
    assert [line.split()[:2] for line in cut] == [line.split()[:2] for line in whole]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("", "no objects"),
        ("admitted admitted", "2 objects: 2 admitted"),
        ("admitted refused full refused", "4 objects: 1 admitted, 1 full, 2 refused"),
        ("ok admitted", "2 objects: 1 admitted, 1 ok"),
    ],
)
def test_counts(words, text):
    assert count_line(words.split()) == text


WEB = made("Deployment", "web", spec=template({"name": "app", "resources": {"limits": {"cpu": "1"}}}))


def test_what_could_not_be_read_is_said():
    store = store_of(WEB, unread=("LimitRange", "Event"))
    store.cover(ReadRequest("LimitRange", "ns"), Coverage("denied", 'limitranges is forbidden: User "u" cannot list'))
    store.cover(ReadRequest("Event", "ns", field_selector="type=Warning"), Coverage("failed", "timed out"))
    explanation = explain(store, subject("Deployment/web"), EvaluationOptions())
    assert not explanation.complete
    text = list(lines(explanation, whole=True, width=200))
    assert 'unread  LimitRange in ns: limitranges is forbidden: User "u" cannot list' in text
    assert "unread  Event in ns: timed out" in text


def test_what_only_adds_does_not_make_the_answer_partial():
    store = store_of(WEB, unread=("Event",))
    store.cover(ReadRequest("Event", "ns", field_selector="type=Warning"), Coverage("denied", "no"))
    assert explain(store, subject("Deployment/web"), EvaluationOptions()).complete


def test_assumptions_are_said():
    quota = made("ResourceQuota", "new", spec={"hard": {"pods": "1"}})
    ask = EvaluationOptions(assumptions=("the rules of Kubernetes 1.36 are used",))
    text = list(lines(explain(store_of(WEB, quota), subject("Deployment/web"), ask), whole=True, width=200))
    assert "assumed the rules of Kubernetes 1.36 are used" in text
    assert any(line.startswith("assumed ResourceQuota/new has no status yet, so it enforces nothing") for line in text)


def test_a_pod_level_that_the_server_drops_is_shown():
    level = made("Deployment", "web", spec=template(resources={"limits": {"cpu": "1"}}))
    text = list(
        lines(explain(store_of(level), subject("Deployment/web"), EvaluationOptions(Server((1, 33)))), whole=True)
    )
    assert ["cpu", "limit", "1", "-", "pod-level/dropped"] in [line.split() for line in text]


def test_the_class_of_a_live_pod_is_kept():
    pod = made(
        "Pod", "p", spec={"containers": [{"name": "app", "resources": {"limits": {"cpu": "1"}}}]},
        status={"qosClass": "BestEffort"},
    )  # fmt: skip
    text = list(lines(explain(store_of(pod), subject("Pod/p"), EvaluationOptions()), whole=True))
    assert "  the live pod is BestEffort: the class is kept from its creation" in text


def test_others_that_can_answer_are_listed():
    quotas = [
        made("ResourceQuota", name, spec={"hard": {"pods": "0"}}, status={"hard": {"pods": "0"}, "used": {"pods": "0"}})
        for name in ("a", "b")
    ]
    text = list(lines(explain(store_of(WEB, *quotas), subject("Deployment/web"), EvaluationOptions()), width=200))
    assert text[0] == "refused: ns/Deployment/web: 0 of 1 pod exists; quota a is short by 1 of pods"
    assert any(line.startswith('or      pods "web" is forbidden: exceeded quota: b') for line in text)
    assert [line for line in text if "quota a" in line and "raise" in line]
    assert [line for line in text if "quota b" in line and "raise" in line]


@pytest.mark.parametrize("name", SITUATIONS)
def test_json_and_yaml_hold_the_same(name):
    store = load(name).store
    document = data.document("Explanation", [found(name)], store.origin, complete=False)
    shown = json.loads(data.to_json(document))
    assert yaml.safe_load(data.to_yaml(document)) == shown
    assert shown["items"][0]["verdict"]["code"] == found(name).verdict.code
    assert document["metadata"]["complete"] is False
    assert document["apiVersion"] == data.API_VERSION


def test_long_labels_get_a_line_of_their_own():
    name = "x" * 63
    pod = made("Pod", "p", spec={"containers": [{"name": name, "resources": {"limits": {"cpu": "1"}}}]})
    text = list(lines(explain(store_of(), subject("Pod/p", pod, "p.yaml"), EvaluationOptions()), whole=True))
    place = text.index(f"container {name}")
    assert text[place + 1].split() == ["SPEC", "EFFECTIVE", "SET", "BY"]
    assert [line for line in text if size(line) > 80] == []


def test_init_containers_beside_the_largest_are_no_part_of_the_later_sum():
    def container(name: str, cpu: str, **more: str) -> dict[str, object]:
        return {"name": name, "image": "i", "resources": {"requests": {"cpu": cpu}}, **more}

    inits = [container("big", "3"), container("small", "1"), container("mesh", "100m", restartPolicy="Always")]
    raw = made("Pod", "p", spec={"initContainers": inits, "containers": [container("app", "500m")]})
    told = explain(store_of(), subject("Pod/p", {"apiVersion": "v1", **raw}, "f.yaml"), EvaluationOptions())
    text = next(line for line in lines(told, whole=True, width=200) if line.startswith("  cpu request  3"))
    assert text.endswith("big 3 while it runs; small 1 in their turn; later app 500m + mesh 100m")


def test_what_is_admitted_keeps_to_the_width():
    first, second, third, *_ = lines(found("order-dependent"), width=40)
    assert first.startswith("admitted: ") and third == "  LimitRanges"
    assert max(map(len, (first, second, third))) <= 40
