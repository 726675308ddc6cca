"""What the toy registers with the terminal interface: a list."""

from __future__ import annotations

from typing import Any

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.store.store import ReadRequest
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.system import TuiSystem


def _ref(budget: Any) -> ObjectRef:
    return ObjectRef("Budget", budget.metadata.name, budget.metadata.namespace)


class ToyScreens(TuiSystem):
    def listings(self) -> tuple[Any, ...]:
        from kubectl_kres.tui.lists.list_spec import Listing, RowSource, RowSubject
        from kubectl_kres.tui.table.columns import Column

        return (
            Listing(
                names=("budgets", "budget", "bud"),
                about="which team pods have to name",
                source=RowSource(
                    kinds=("Budget",),
                    reads=lambda namespace: (ReadRequest("Budget", namespace),),
                    rows=lambda session, namespace: (
                        ((one.metadata.namespace, one.metadata.name), one)
                        for one in session.store.all("Budget", namespace or None)
                    ),
                ),
                columns=lambda _: (Column("team", "TEAM", lambda budget: budget.spec.team),),
                row_mark=lambda _: ("", ""),
                detail=lambda *_: (),
                subject=RowSubject(ref=_ref, opens=lambda budget: Location("object", ref=_ref(budget))),
                command=lambda session, namespace: session.command("explain budgets", namespace),
            ),
        )


SYSTEM = ToyScreens()
