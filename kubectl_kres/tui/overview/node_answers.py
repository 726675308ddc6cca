"""What nodes say to the worst pods that wait for one."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

from msgspec.structs import replace

from kubectl_kres.model.pod import Pod
from kubectl_kres.reports.common.nodes import NodeReport
from kubectl_kres.reports.overview import Problem, waiting_pod
from kubectl_kres.reports.pod.scheduling_needs import MOST_LISTED, list_node_needs
from kubectl_kres.store.store import ReadRequest
from kubectl_kres.tui.overview.running import PodKey, RunningLook, key_of
from kubectl_kres.tui.session import Session


class NodeAnswers:
    """Of each pod the answer holds for one version of it."""

    def __init__(self, session: Session, running: RunningLook) -> None:
        self._session, self._running = session, running
        self._said: dict[PodKey, tuple[str | None, NodeReport | None]] = {}

    def reads(self) -> tuple[ReadRequest, ...]:
        """Return what tells why pods wait, until it is known: then nothing is watched for it any more."""
        return list_node_needs(self._session.store, self._unanswered())

    @property
    def is_due(self) -> bool:
        """Return whether all has been read that nodes say of such a pod."""
        reads = self.reads()
        return bool(reads) and not any(map(self._session.is_undecided, reads))

    def ask(self) -> None:
        """Take down what nodes say of the first pod that waits for one."""
        from kubectl_kres.reports.scheduling.report import nodes_in_list  # noqa: PLC0415 - only where a pod waits

        pod, session = self._unanswered()[0], self._session
        reported = nodes_in_list(session.store, pod, session.evaluation_options.server.version[1])
        self._said[key_of(pod)] = pod.metadata.resource_version, reported

    def added_to(self, problem: Problem) -> Problem:
        """Return the problem with what nodes say to its pod, where that is known."""
        pod = waiting_pod(problem, self._waiting)
        known = self._said.get(key_of(pod)) if pod is not None else None
        return replace(problem, nodes=known[1]) if known is not None else problem

    @property
    def _waiting(self) -> Mapping[PodKey, Pod]:
        return self._running.waiting

    def _unanswered(self) -> list[Pod]:
        """Return the pods of the worst that wait for a node and of which nodes have said nothing yet."""
        waiting = (waiting_pod(problem, self._waiting) for problem in self._running.area.problems)
        pods = islice((pod for pod in waiting if pod is not None), MOST_LISTED)
        return [pod for pod in pods if self._said.get(key_of(pod), ("",))[0] != pod.metadata.resource_version]
