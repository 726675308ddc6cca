"""What a pod costs a quota, drawn as narrow as a pane can be: no figure is broken and no line is too long."""

from __future__ import annotations

import pytest
from tui.driving import demo, drive

from kubectl_kres.admission.base.outcome import QuotaCharge
from kubectl_kres.render.pictures.cost import cost_picture
from kubectl_kres.render.text.line import size
from kubectl_kres.reports.common.explanation import QuotaCost

COST = QuotaCost(
    "team",
    QuotaCharge(
        "team",
        requested={"requests.memory": "1Gi", "pods": "1", "requests.nvidia.com/gpu": "2"},
        used={"requests.memory": "2560Mi", "pods": "6", "requests.nvidia.com/gpu": "0"},
        hard={"requests.memory": "3Gi", "pods": "12", "requests.nvidia.com/gpu": "4"},
        after={"requests.memory": "3584Mi", "pods": "7", "requests.nvidia.com/gpu": "2"},
    ),
    fits=0,
    exceeded=("requests.memory",),
)


@pytest.mark.parametrize("ascii_only", [True, False])
@pytest.mark.parametrize("width", [24, 30, 36, 44, 60, 100])
def test_no_figure_is_broken_at_any_width(width: int, ascii_only: bool):
    lines = ["".join(text for _, text in line) for line in cost_picture(COST, width, ascii_only=ascii_only)]
    assert all(size(line) <= width for line in lines), lines
    whole = "\n".join(lines)
    figures = ("2560Mi +1Gi > 3Gi",) if "+1Gi" in whole else ("2560Mi", "3584Mi", "too much")
    assert any(all(figure in line for figure in figures) for line in lines), lines
    assert not ascii_only or whole.isascii()


@pytest.mark.parametrize("width", [80, 120])
def test_the_pane_of_a_quota_has_the_figures_of_a_name_in_one_line(width: int):
    shown = drive(demo("deploy fraud-model"), ["G"], size=(width, 24))
    assert any("4500m" in line and " 8" in line for line in shown.splitlines()), shown
