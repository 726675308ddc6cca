"""Why a run has no pod: who says so, at which stage, and whether it is tried again."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from kubectl_kres.provenance.journal import Source

Stage = Literal["object", "validation", "reconcile", "create"]


class MessageFault(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """A fault that a message names: its part of the text, the code of its rule.

    Of a quota that is exceeded also what it calls the resource, what was asked for, what counts beside it, the limit,
    and the quota; empty for other faults.
    """

    text: str
    rule: str
    resource: str = ""
    requested: str = ""
    used: str = ""
    limit: str = ""
    source: Source | None = None


class Problem(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """Why there is no pod (yet), in the words of whoever says so.

    stage: ``object`` (the API server refuses the run itself), ``validation`` (a webhook does), ``reconcile`` (the
    controller's checks) or ``create`` (the API server refused the pod). object: the kind concerned. At the first two
    stages there is no run: ``code`` and ``reason`` are those of the answer. At the others ``reason`` and ``status`` are
    of the condition ``Succeeded``. requeue_seconds: when the next try is; 0: there is none. again: tried again at no
    fixed time, with back-off. rule: its code. field,
    observed: what does not decode; empty where the message says it. faults: where rules differ, one for each of them;
    where quotas refuse the object itself, one for each name of theirs that is exceeded.
    """

    stage: Stage
    object: str
    message: str
    rule: str
    reason: str = ""
    status: str = ""
    requeue_seconds: int = 0
    code: int = 0
    field: str = ""
    observed: str = ""
    faults: tuple[MessageFault, ...] = ()
    again: Literal["", "back-off"] = ""

    @property
    def final(self) -> bool:
        """Return whether nothing is tried again (``retries`` apart)."""
        return self.requeue_seconds == 0 and not self.again

    @property
    def text(self) -> str:
        """The message as a client sees it: a webhook's has the webhook's name in front."""
        if self.stage != "validation":
            return self.message
        webhook = "webhook" if self.message.startswith("mutation failed: ") else "validation.webhook"
        return f'admission webhook "{webhook}.pipeline.tekton.dev" denied the request: {self.message}'
