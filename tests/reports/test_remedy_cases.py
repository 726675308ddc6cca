"""Situations in which a printed remedy once led to the next refusal, each by its name: all ways that are found now."""

from __future__ import annotations

import json
import shlex
from typing import Any

import pytest
from reports.stored import box, limits, made, owned_by, store_of, subject, template

from kubectl_kres.quantity import Quantity, parse
from kubectl_kres.render.pod.explain import lines
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.common.explanation import EvaluationOptions, Explanation, Note
from kubectl_kres.reports.common.remedy import Admits
from kubectl_kres.reports.explain.explain import explain

Raw = dict[str, Any]
CLAIM = {"metadata": {"name": "data"}, "spec": {"resources": {"requests": {"storage": "5Gi"}}}}


def quota(name: str, hard: Raw, used: Raw | None = None, **metadata: Any) -> Raw:
    status = {"hard": hard, "used": {**dict.fromkeys(hard, "0"), **(used or {})}}
    return made("ResourceQuota", name, spec={"hard": hard}, status=status, **metadata)


def web(count: int, *containers: Raw, kind: str = "Deployment", **spec: Any) -> Raw:
    number = {"parallelism" if kind == "Job" else "replicas": count}
    return made(kind, "web", spec={**number, **template(*containers, **spec)})


def asked(workload: Raw, *policies: Raw) -> Explanation:
    return explain(store_of(workload, *policies), subject(f"{workload['kind']}/web"), EvaluationOptions())


def ways(workload: Raw, *policies: Raw) -> list[str]:
    return [sentence_text(one.text) for one in asked(workload, *policies).fixes]


def stateful(count: int, claim: Raw) -> Raw:
    spec = {"replicas": count, **template(box(requests={"cpu": "100m"})), "volumeClaimTemplates": [claim]}
    return made("StatefulSet", "web", spec=spec)


CASES = [
    pytest.param(
        ways(
            stateful(2, CLAIM), limits("lr", type="PersistentVolumeClaim", min={"storage": "6Gi"})
        ),
        [
            "lower min.storage per PersistentVolumeClaim of LimitRange lr to 5Gi",
            "set requests.storage of spec.volumeClaimTemplates[0] to 6Gi",
        ],
        id="a claim alone is refused",
    ),
    pytest.param(
        ways(
            web(2, box(requests={"cpu": "100m", "memory": "32Mi"}, limits={"memory": "32Mi"})),
            quota("q", {"requests.cpu": "0", "limits.cpu": "0"}),
        ),
        [
            ("raise quota q: requests.cpu to 200m (100m is enough for the next pod) and limits.cpu to 200m (100m is "
            "enough for the next pod) and set limits.cpu of container app to e.g. 100m (its request)")
        ],
        id="must-specify hides the quota behind it",
    ),
    pytest.param(
        ways(
            web(2, box(requests={"cpu": "100m"})), limits("lr", type="Pod", max={"cpu": "1"}), quota("q", {"cpu": "0"})
        ),
        ["raise cpu of quota q to 200m (100m is enough for the next pod) and set limits.cpu of container app to 1"],
        id="a LimitRange bound hides the quota",
    ),
    pytest.param(
        ways(
            web(2, box(requests={"cpu": "50m"}, limits={"cpu": "1500m"})),
            quota("q", {"requests.cpu": "0", "limits.cpu": "2400m"}),
        ),
        ["raise quota q: requests.cpu to 100m (50m is enough for the next pod) and limits.cpu to 3"],
        id="for the missing pods another resource runs out",
    ),
    pytest.param(
        ways(
            web(2, box(requests={"memory": "96Mi"})),
            quota("q0", {"requests.memory": "96Mi"}),
            quota("q1", {"memory": "144Mi", "pods": "1"}),
        ),
        [
            "raise requests.memory of quota q0 to 192Mi and raise quota q1: memory to 192Mi and pods to 2",
            "lower replicas to 1",
        ],
        id="two quotas of one name",
    ),
    pytest.param(
        ways(
            made("StatefulSet", "web", spec={"replicas": 4, **template(box()), "volumeClaimTemplates": [CLAIM]}),
            quota("q", {"count/persistentvolumeclaims": "1", "requests.storage": "12Gi"}),
        ),
        [
            (
                "raise quota q: count/persistentvolumeclaims to 4 (2 is enough for the next pod) and requests.storage "
                "to 20Gi"
            ),
            "lower replicas to 1",
        ],
        id="claims of all missing pods",
    ),
    pytest.param(
        ways(
            web(1, box(requests={"cpu": "700m"}), initContainers=[box("i", {"cpu": "250m"})]),
            limits("lr", default={"cpu": "500m"}, min={"cpu": "300m"}),
        ),
        [
            "set requests.cpu of container app to 500m and set requests.cpu of init container i to 300m",
            (
                "set limits.cpu of container app to e.g. 700m (its request) and set requests.cpu of init container i "
                "to 300m"
            ),
        ],
        id="a request over its limit hides a bound",
    ),
    pytest.param(
        ways(
            web(1, box(requests={"cpu": "100m"})),
            limits("lr", min={"cpu": "50m"}),
            quota("q", {"requests.cpu": "780m"}, {"requests.cpu": "750m"}),
        ),
        ["raise requests.cpu of quota q to 850m"],
        id="no room above the min is no proposal to ask for less",
    ),
    pytest.param(
        ways(
            web(1, box(limits={"memory": "1024Mi"}), resources={"limits": {"memory": "1088Mi"}}),
            limits("lr", type="Pod", max={"memory": "512Mi"}),
        ),
        ["set limits.memory of container app to 512Mi and set limits.memory of the pod level to 512Mi"],
        id="an edit of the pod level brings those of its containers",
    ),
    pytest.param(
        ways(
            web(
                1, {"name": "a"}, {"name": "b"},
                resources={"requests": {"memory": "128Mi"}, "limits": {"memory": "200Mi"}},
            ),
            limits("lr", default={"memory": "256Mi"}),
        ),
        [
            "set limits.memory of containers a and b to 200Mi and requests.memory of containers a and b to 64Mi",
            "set limits.memory and requests.memory of the pod level to 512Mi",
        ],
        id="ways that exclude each other are alternatives",
    ),
    pytest.param(
        ways(
            web(1, box(requests={"cpu": "550m"})),
            limits("l1", default={"cpu": "500m"}),
            limits("l2", default={"cpu": "600m"}),
        ),
        ["set requests.cpu of container app to 500m", "set limits.cpu of container app to e.g. 550m (its request)"],
        id="two LimitRanges: it holds in every order",
    ),
    pytest.param(
        ways(
            web(
                4, box(requests={"cpu": "500m", "memory": "797Mi"}, limits={"cpu": "2"}), kind="Job"
            ),
            quota("q", {"requests.cpu": "1", "requests.memory": "1Gi", "limits.cpu": "6"}),
        ),
        [
            ("raise quota q: requests.cpu to 2, requests.memory to 3188Mi (1594Mi is enough for the next pod) and "
            "limits.cpu to 8"),
            "lower parallelism to 1",
        ],
        id="a Job whose pods lack three resources",
    ),
    pytest.param(
        ways(
            web(1, box(requests={"cpu": "100m"}, limits={"cpu": "1"})),
            limits("lr", min={"cpu": "2"}),
            limits("lr2", max={"cpu": "1"}),
        ),
        ["lower min.cpu per Container of LimitRange lr to 100m"],
        id="LimitRanges that contradict each other",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("found", "texts"), CASES)
def test_every_way_is_complete(found: list[str], texts: list[str]):
    assert found == texts


def rollout(old: str, new: str, hard: str, used: str) -> list[Raw]:
    """Three pods of the old template, none of the new one."""

    def replica_set(name: str, memory: str, revision: int, wanted: int, there: int) -> Raw:
        return made(
            "ReplicaSet", name, spec={"replicas": wanted, **template(box(requests={"memory": memory}))},
            status={"replicas": there}, annotations={"deployment.kubernetes.io/revision": str(revision)},
            **owned_by("Deployment", "web"),
        )  # fmt: skip

    pods = [
        made("Pod", f"web-1-{number}", spec={"containers": [box(requests={"memory": old})]},
             status={"phase": "Running"}, **owned_by("ReplicaSet", "web-1"))
        for number in range(3)
    ]  # fmt: skip
    deployment = made(
        "Deployment", "web", spec={"replicas": 3, **template(box(requests={"memory": new}))}, status={"replicas": 3}
    )
    sets = [replica_set("web-1", old, 1, 3, 3), replica_set("web-2", new, 2, 1, 0)]
    rest = str(parse(used) - Quantity(3 * parse(old).nano, "BinarySI"))
    other = made("Pod", "other", spec={"containers": [box(requests={"memory": rest})]}, status={"phase": "Running"})
    return [deployment, *sets, *pods, other, quota("team", {"requests.memory": hard}, {"requests.memory": used})]


def test_the_figure_is_that_of_the_whole_rollout():
    """Not 3584Mi, and then 4Gi, and then 4608Mi, with minutes of back-off between."""
    found = asked(*rollout("512Mi", "1Gi", "3Gi", "2560Mi"))
    first, lower = found.fixes
    assert (
        sentence_text(first.text) == "raise requests.memory of quota team to 4608Mi (3584Mi is enough for the next pod)"
    )
    assert first.commands == (
        """kubectl patch quota team -n ns --type merge -p '{"spec":{"hard":{"requests.memory":"4608Mi"}}}'""",
    )
    assert (first.admits, first.proven, first.remaining_refusal) == (Admits(3, 3), True, "")
    assert first.owners == "kubectl kres quota team -n ns --by workload"
    assert sentence_text(lower.text) == "set requests.memory of container app to 512Mi"


def test_a_rollout_is_told_less_where_old_pods_end_first():
    objects = rollout("512Mi", "1Gi", "3Gi", "2560Mi")
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}
    objects[0]["spec"]["strategy"] = rolling
    [first, *_] = asked(*objects).fixes
    assert sentence_text(first.text) == "raise requests.memory of quota team to 4Gi (3584Mi is enough for the next pod)"


def test_a_rollout_whose_replica_sets_were_not_read_is_told_the_same():
    """A RuntimeClass is read instead where both are too much; the pods say which of them are old."""
    objects = [one for one in rollout("512Mi", "1Gi", "3Gi", "2560Mi") if one["kind"] != "ReplicaSet"]
    objects[0]["status"] |= {"observedGeneration": 2, "updatedReplicas": 0}
    [first, *_] = asked(*objects).fixes
    assert (
        sentence_text(first.text) == "raise requests.memory of quota team to 4608Mi (3584Mi is enough for the next pod)"
    )


def test_commands_are_one_process_each_without_a_shell():
    found = asked(web(2, box("a'b c", requests={"cpu": "2"})), limits("l", max={"cpu": "1"}), quota("q", {"cpu": "1"}))
    for one in found.fixes:
        for command in one.commands:
            words = shlex.split(command)
            assert words[0] == "kubectl"
            assert words[words.index("-n") : words.index("-n") + 2] == ["-n", "ns"]
            assert not {"edit", "-", "&&", "|", ";"} & set(words)
            if "-p" in words:
                json.loads(words[words.index("-p") + 1])


@pytest.mark.parametrize(
    ("metadata", "keeper"),
    [
        (
            {"labels": {"app.kubernetes.io/managed-by": "Helm"}},
            "Helm owns ResourceQuota/q (label app.kubernetes.io/managed-by): edit its source",
        ),
        (
            {"annotations": {"meta.helm.sh/release-name": "shop"}},
            "Helm owns ResourceQuota/q (release shop): edit the values of the release",
        ),
        ({"labels": {"argocd.argoproj.io/instance": "shop"}}, "Argo CD owns ResourceQuota/q: edit its source"),
        (
            {"managedFields": [{"manager": "kustomize-controller"}]},
            "Flux owns ResourceQuota/q: edit its source",
        ),
        (owned_by("Team", "a"), "Team/a owns ResourceQuota/q: change that instead"),
    ],
)
def test_what_others_keep_is_not_changed_by_a_command(metadata: Raw, keeper: str):
    [first, *_] = asked(web(1, box(requests={"cpu": "2"})), quota("q", {"requests.cpu": "1"}, **metadata)).fixes
    assert first.commands == ()
    assert sentence_text(first.no_command_reason).startswith(keeper)


def test_a_template_that_cannot_be_changed_in_place_is_told_why():
    [_, lower, *_] = asked(web(2, box(requests={"cpu": "1"}), kind="Job"), quota("q", {"requests.cpu": "1"})).fixes
    assert (sentence_text(lower.text), lower.commands) == ("set requests.cpu of container app to 500m", ())
    assert sentence_text(lower.no_command_reason).startswith("the template of a Job cannot be changed: ")


def test_edits_are_complete_enough_for_a_program():
    [one] = asked(web(1, box(limits={"cpu": "2"})), limits("l", max={"cpu": "1"})).fixes
    shown = [(edit.action, str(edit.object), edit.field, edit.from_, edit.to, edit.resource) for edit in one.edits]
    assert shown == [
        ("set", "Deployment/web", "spec.template.spec.containers[0].resources.limits[cpu]", "2", "1", "cpu")
    ]


def test_where_all_pods_exist_there_is_nothing_to_change():
    there = made("Deployment", "web", spec=template(box(requests={"cpu": "1"})), status={"replicas": 1})
    found = asked(there, quota("q", {"requests.cpu": "1"}, {"requests.cpu": "1"}))
    assert found.fixes == ()
    assert [(one.resource, one.short_by) for one in found.one_more] == [("requests.cpu", "1")]


def test_what_no_edit_is_known_for_does_not_end_the_search():
    enforced = made("Namespace", "ns", labels={"pod-security.kubernetes.io/enforce": "restricted"})
    found = asked(web(2, box(requests={"cpu": "200m"})), quota("q", {"cpu": "200m"}), enforced)
    first = found.fixes[0]
    assert sentence_text(first.text).startswith(
        "in container app set securityContext.allowPrivilegeEscalation: false; "
    )
    assert sentence_text(first.text).endswith("; then raise cpu of quota q to 400m")
    assert (first.admits, first.proven) == (Admits(0, 2), True)
    assert 'violates PodSecurity "restricted:latest"' in first.remaining_refusal


def test_a_must_specify_behind_another_quotas_bound_is_mended_as_well():
    claims = quota("claims", {"persistentvolumeclaims": "0"})
    found = ways(stateful(1, CLAIM), claims, quota("q", {"limits.cpu": "1"}))
    assert found[0] == (
        "raise persistentvolumeclaims of quota claims to 1 and set limits.cpu of container app to e.g. 100m "
        "(its request)"
    )


def test_a_stateful_set_is_told_of_the_pod_that_is_missing_and_not_of_later_claims():
    there = made("PersistentVolumeClaim", "data-web-0", spec=CLAIM["spec"])
    policies = (
        quota("claims", {"persistentvolumeclaims": "1"}, {"persistentvolumeclaims": "1"}),
        quota("q", {"cpu": "0"}),
    )
    found = asked(stateful(2, CLAIM), there, *policies)
    assert found.verdict.message.startswith('pods "web" is forbidden: exceeded quota: q')


def test_what_rests_says_why():
    job = made("Job", "web", spec={"parallelism": 1, "suspend": True, **template(box())})
    assert asked(job).state == "suspended (spec.suspend)"


def test_it_is_said_that_the_search_ended():
    found = asked(web(1, box(requests={"cpu": "1"})), limits("ratio", maxLimitRequestRatio={"cpu": "0"}))
    assert [(one.proven, one.edits, one.admits) for one in found.fixes] == [(False, (), None)]
    assert found.note == Note(search="ended")


def test_what_no_edit_mends_stands_first_and_hides_nothing_behind_it():
    """The class that does not exist is refused before the template's values and the quota are looked at."""
    app = box(requests={"memory": "1Gi"}, limits={"memory": "500Mi"})
    full = quota("team", {"requests.memory": "1Gi"}, {"requests.memory": "512Mi"})
    found = asked(web(1, app, priorityClassName="nope"), full).fixes
    first = "name a PriorityClass that exists (kubectl get priorityclasses), or create it"
    assert [sentence_text(one.text) for one in found] == [
        f"{first}; then {rest}"
        for rest in (
            "set requests.memory of container app to 500Mi",
            "raise requests.memory of quota team to 1536Mi and set limits.memory of container app to 1Gi",
            "set limits.memory of container app to 1Gi and requests.memory of container app to 512Mi",
        )
    ]
    assert {(sentence_text(one.by_hand), one.remaining_refusal) for one in found} == {
        (first, "no PriorityClass with name nope was found")
    }
    page = "\n".join(lines(asked(web(1, app, priorityClassName="nope"), full)))
    assert "still refused" not in page, "the text of the fix says what mends it"


def test_a_pod_of_many_containers_gets_all_the_values_that_a_quota_asks_for():
    names = [f"c{number:02}" for number in range(40)]
    web = made("Deployment", "web", spec={"replicas": 1, **template(*(box(name) for name in names))})
    hard = dict.fromkeys(("requests.cpu", "requests.memory", "limits.cpu", "limits.memory"), "1")
    quota = made("ResourceQuota", "all", spec={"hard": hard}, status={"hard": hard, "used": dict.fromkeys(hard, "0")})
    first = explain(store_of(web, quota), subject("Deployment/web"), EvaluationOptions()).fixes[0]
    assert first.proven
    assert len([edit for edit in first.edits if edit.field.startswith("spec.template")]) == 2 * len(names)
