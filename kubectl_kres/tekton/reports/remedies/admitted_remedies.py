"""The remedies where admission refuses nothing: a container was killed, or throttled, or the run is held back."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from msgspec import structs

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.quantity import Quantity, parse
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.reports.common.parts import Admits, Edit, KilledContainer, Remedy, SetBound, TektonPart
from kubectl_kres.reports.remedies.words import compose_remedy, for_new_run
from kubectl_kres.store.store import Store
from kubectl_kres.tekton.reports.remedies.config_edits import entries_edit
from kubectl_kres.tekton.reports.remedies.container_defaults import entry_edit, try_defaults
from kubectl_kres.tekton.reports.remedies.run_values import RunCase

#: What Tekton 1.13.0 requests, without its limit of cpu.
_REQUESTS = {"cpu": "10m", "memory": "32Mi"}


def admitted_remedies(store: Store, subject: Subject, part: TektonPart, case: RunCase) -> Iterator[Remedy]:
    """Yield the remedies with which an admitted run also ends well; none where nothing is wrong."""
    if part.held:
        yield release_remedy(store, subject.ref, part.held, stored=subject.raw is None)
        return
    for killed in (killed for killed in part.killed if killed.again):
        for way in _of_killed(store, subject, killed, case):
            yield structs.replace(way, text=for_new_run(way.text, again=part.has_ended))
    if part.throttled and not part.has_ended:
        additions = {name: {"requests": _REQUESTS} for name in part.throttled}
        edit = entries_edit(store, case.world.config.entries, additions)
        if try_defaults(case, [edit]).passes:
            yield compose_remedy(store, subject, [edit], Admits(1, 1), 0)


def release_remedy(store: Store, ref: ObjectRef, value: str, *, stored: bool) -> Remedy:
    """Return the edit that releases a run that is held back. ``stored``: it is in the cluster."""
    flags = f" {store.origin.flags}" if store.origin.flags else ""
    patch = """'[{"op":"remove","path":"/spec/status"}]'"""
    where = f"{ref.kind.lower()} {shlex.quote(ref.name)} -n {shlex.quote(ref.namespace)}"
    command = f"kubectl patch {where} --type json -p {patch}{flags}"
    text = f"take spec.status ({value}) out once it may run; where a queue wrote it, that does so in its turn"
    return Remedy(text, commands=(command,) if stored else ())


def _of_killed(store: Store, subject: Subject, killed: KilledContainer, case: RunCase) -> Iterator[Remedy]:
    """Yield the remedies with more memory: for a container that Tekton adds in config-defaults, or at the source of its
    limit.
    """
    limit = parse(killed.limit) if killed.limit else None
    least = limit.nano * 2 if limit is not None else 0
    if not killed.added:
        at = f" above {killed.limit}" if killed.limit else ""
        where = f" ({killed.source.ref} {killed.source.field})" if killed.source is not None else ""
        yield Remedy(f"raise limits.memory of {killed.name}{at}{where}")
        return
    edit = entry_edit(store, case, {"memory"}, {killed.name}, least)
    if edit is not None:
        yield compose_remedy(store, subject, [edit], Admits(1, 1), 0)
    source = killed.source
    if source is not None and source.kind == "LimitRange" and limit is not None:
        amount = max(Quantity(least, "BinarySI"), parse("128Mi"))
        ref = ObjectRef("LimitRange", source.name, subject.ref.namespace)
        edits: list[Edit] = [SetBound(ref, source.field, "memory", str(amount), killed.limit, "default", "Container")]
        if try_defaults(case, edits).passes:
            yield compose_remedy(store, subject, edits, Admits(1, 1), 0)
