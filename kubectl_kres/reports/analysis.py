"""What an answer about a pod is made from."""

from __future__ import annotations

from msgspec import Struct

from kubectl_kres.admission.outcome import Outcome
from kubectl_kres.admission.server import Server
from kubectl_kres.reports.policies import Known
from kubectl_kres.reports.start import Start
from kubectl_kres.reports.tekton_part import TektonPart


class Analysis(Struct, frozen=True):
    """Where admission starts, the policies, and every outcome, the first one leading.

    ``tekton``: what Tekton did before; None where it had no part in it. ``listed``: for each outcome the order in which
    Tekton has to list LimitRanges, empty where that does not matter. ``then``: what would come after ``outcomes``,
    where the object of a file is refused before its pods are.
    """

    start: Start
    known: Known
    outcomes: tuple[Outcome, ...]
    tekton: TektonPart | None = None
    listed: tuple[tuple[str, ...], ...] = ()
    then: tuple[Outcome, ...] = ()
    server: Server = Server()
