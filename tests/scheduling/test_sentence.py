"""The scheduler's sentence: counts, order, what follows about preemption, and where there is none."""

from __future__ import annotations

from scheduling.made import node, pod, run

TAIL = "no new claims to deallocate, preemption: "


def test_no_nodes_and_gates():
    assert run(pod(), []).sentence == "no nodes available to schedule pods"
    gated = run(pod(schedulingGates=[{"name": "x"}]), [node("a")])
    assert gated.sentence == "Scheduling is blocked due to non-empty scheduling gates"


def test_reasons_are_sorted_as_texts():
    nodes = [node(f"n{place}", cpu="1") for place in range(10)] + [node("x", spec={"unschedulable": True})]
    found = run(pod(requests={"cpu": "2"}), nodes)
    assert found.sentence == (
        "0/11 nodes are available: 1 node(s) were unschedulable, 10 Insufficient cpu. "
        f"{TAIL}0/11 nodes are available: 11 Preemption is not helpful for scheduling."
    )


def test_less_important_pods_that_could_go():
    there = [pod("b", nodeName="a", requests={"cpu": "3"}, priority=0)]
    alike = run(pod(requests={"cpu": "2"}), [node("a")], there)
    assert alike.sentence == (
        f"0/1 nodes are available: 1 Insufficient cpu. {TAIL}0/1 nodes are available: "
        "1 No preemption victims found for incoming pod."
    )
    above = run(pod(requests={"cpu": "2"}, priority=1), [node("a")], there)
    assert above.sentence == "0/1 nodes are available: 1 Insufficient cpu."
    assert above.preemption.nodes == ("a",)
    # 1.37 names the node and counts the pods, which is not computed.
    assert run(pod(requests={"cpu": "2"}, priority=1), [node("a")], there, minor=37).sentence is None
    never = run(pod(requests={"cpu": "2"}, priority=1, preemptionPolicy="Never"), [node("a")], there)
    assert (
        never.sentence
        == f"0/1 nodes are available: 1 Insufficient cpu. {TAIL}not eligible due to preemptionPolicy=Never."
    )


def test_victims_that_are_not_enough():
    there = [
        pod("b", nodeName="a", requests={"cpu": "1"}, priority=0),
        pod("c", nodeName="a", requests={"cpu": "3"}, priority=9),
    ]
    found = run(pod(requests={"cpu": "2"}, priority=1), [node("a")], there)
    assert found.sentence.endswith(f"{TAIL}0/1 nodes are available: 1 Insufficient cpu.")


def test_a_pod_that_others_make_room_for_counts():
    promised = pod("q", requests={"cpu": "3"}, priority=5, status={"nominatedNodeName": "a"})
    assert not run(pod(requests={"cpu": "2"}, priority=1), [node("a")], [promised]).answer.feasible
    assert run(pod(requests={"cpu": "2"}, priority=9), [node("a")], [promised]).answer.feasible == ("a",)


def test_since_1_37_nothing_is_said_of_claims():
    nodes = [node("a", spec={"unschedulable": True})]
    assert run(pod(), nodes, minor=37).sentence == (
        "0/1 nodes are available: 1 node(s) were unschedulable. "
        "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
    )
