"""Names that Tekton derives from others, and the labels that say from which."""

from __future__ import annotations

import hashlib

#: The labels that a PipelineRun gives its runs and its affinity assistants.
PIPELINE, PIPELINE_RUN, PIPELINE_TASK = "tekton.dev/pipeline", "tekton.dev/pipelineRun", "tekton.dev/pipelineTask"
_LONGEST, _HEAD = 63, 31


def child_name(parent: str, suffix: str) -> str:
    """``parent`` and ``suffix``, with a hash in place of what is too long. Source: knative.dev/pkg kmeta.ChildName."""
    if len(parent) <= _LONGEST - len(suffix):
        return parent + suffix
    if _HEAD - len(suffix) <= 0:
        return parent[:_HEAD] + _md5(parent + suffix)
    return parent[: _HEAD - len(suffix)] + _md5(parent) + suffix


def pod_name(run: str, tries: int = 0) -> str:
    """The pod of a TaskRun; ``tries``: how many were before."""
    return child_name(run, f"-pod-retry{tries}" if tries else "-pod")


def _md5(text: str) -> str:
    return hashlib.md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()
