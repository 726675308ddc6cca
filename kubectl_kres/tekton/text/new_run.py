"""That a new run is to be started, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kubectl_kres.tekton.reports.new_run import NewRun

#: What a new run would fail by, too. Source: pkg/pod/status.go, reconciler/taskrun/taskrun.go of Tekton 1.15.
_BEFORE: Mapping[str, str] = {
    "TaskRunImagePullFailed": "correct the image, or the secret that it is pulled with, then ",
    "CreateContainerConfigError": "create what the containers refer to (kubectl get events names it), or correct its "
    "name, then ",
    "InitContainerFailed": "look why with kubectl logs on that container, then ",
    "PodEvicted": "ask for the memory or storage that it uses, so that others are evicted first, then ",
}


def _new_run(run: NewRun) -> str:
    if run.after != "failed":
        return f"{run.after} start a new run"
    named = f" ({run.reason})" if run.reason else ""
    return f"{_BEFORE.get(run.reason, '')}start a new run: this one has failed{named} and nothing revives it"


WORDS: Mapping[type, Callable[[Any], str]] = {NewRun: _new_run}
