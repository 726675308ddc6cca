"""Whole answers about the demo's vertical autoscaler and the Deployment whose pods it changes, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from golden.kept import compare
from msgspec import structs

from kubectl_kres.admission.base.server import Server
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render import change_report
from kubectl_kres.render.pod import explain as explain_text
from kubectl_kres.render.text import data
from kubectl_kres.reports.changes.compare import report
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.simulate.change import Evict, PlacedStep
from kubectl_kres.simulate.cluster import simulate_steps
from kubectl_kres.snapshot.read import demo_path, read
from kubectl_kres.vpa.reports.effects import vpa_effects
from kubectl_kres.vpa.text.effects import effects_lines

GOLDEN = Path(__file__).parent / "vpa"
VPA = "VerticalPodAutoscaler"


def outputs() -> Iterator[tuple[str, str]]:
    """File name, and the output."""
    store = read(str(demo_path()))
    ask = EvaluationOptions(Server(), now=store.origin.time)
    autoscaler = Subject(ObjectRef(VPA, "gateway", "payments"), BY_KIND[VPA])
    effects = vpa_effects(store, autoscaler, ask)
    for width in (80, 120):
        yield f"vpa.{width}.txt", ended(effects_lines(effects, color=False, width=width))
    origin = structs.replace(store.origin, name="demo")
    yield "vpa.json", data.to_json(data.document("VpaEffects", [effects], origin, complete=True)) + "\n"
    workload = explain(store, Subject(ObjectRef("Deployment", "gateway", "payments"), BY_KIND["Deployment"]), ask)
    yield "workload.80.txt", ended(explain_text.lines(workload, now=ask.now, width=80))
    yield "workload.all.txt", ended(explain_text.lines(workload, whole=True))
    change = report(
        simulate_steps(store, [PlacedStep(Evict(VPA, "gateway"), "payments")], ask.server, ["payments"], seen=True)
    )
    yield "evict.80.txt", ended(change_report.lines(change, color=False, width=80))


def ended(lines: Iterator[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


@pytest.mark.parametrize(("name", "text"), [pytest.param(*output, id=output[0]) for output in outputs()])
def test_the_answer_is_the_golden_one(name: str, text: str) -> None:
    compare(GOLDEN / name, text)
