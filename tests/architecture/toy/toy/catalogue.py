"""The toy's only rule."""

from __future__ import annotations

from kubectl_kres.provenance.catalogued_rule import CataloguedRule

RULES = {"toy/team": CataloguedRule("Pods name the team of their namespace's budget.", "toy budget.go")}
