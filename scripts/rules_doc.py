"""Write docs/rules.md: the catalogue of rules, a heading for each code.  Run it when a catalogue changed."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "rules.md"

#: What a group of rules is about; the part of the code before the slash.
GROUPS = {
    "manifest": "What was written",
    "quantity": "Quantities",
    "defaulting": "Defaults on decode",
    "pod-level": "Pod-level resources",
    "limitrange": "LimitRange",
    "validation": "Validation",
    "priority": "PriorityClass",
    "runtime-class": "RuntimeClass",
    "pod": "The pod's figures",
    "qos": "QoS class",
    "quota": "ResourceQuota",
    "claim": "PersistentVolumeClaim",
    "update": "Updates",
    "resize": "In-place resize",
    "cgroup": "Control groups on the node",
    "tekton": "Tekton",
    "capsule": "Capsule",
    "vpa": "Vertical autoscaler",
    "kueue": "Kueue",
    "server": "The server, as far as it is known",
    "start": "Where admission starts",
    "file": "Files",
    "namespace": "Namespaces",
    "service-account": "ServiceAccount",
    "pod-security": "Pod Security",
    "policy": "Policies",
    "class": "Classes",
    "webhook": "Webhooks of others",
}

HEAD = """\
# Rules

**What does the code of a rule mean, and where does it come from?**

Every value, check, figure and assumption of `kubectl kres` names the rule behind it, and every refusal ends with the
command that explains its code, as `kubectl kres help quota/exceeded`; `kubectl kres help codes` lists all. The codes
are stable: what a runbook greps for today is there tomorrow. Sources are files and packages of Kubernetes, of Tekton,
Capsule, Kueue or the vertical autoscaler (vpa) where they begin so.

This page is made by `scripts/rules_doc.py` from `kubectl_kres/provenance/rules.py` and the `catalogue.py` of each
system.
"""


def page() -> str:
    """The whole page. The heading of ``limitrange/default`` gets the anchor ``#limitrangedefault``."""
    sys.path.insert(0, str(ROOT))
    from kubectl_kres.provenance.rules import RULES  # noqa: PLC0415 - the path is set above

    groups: dict[str, list[str]] = {}
    for code in RULES:
        groups.setdefault(code.partition("/")[0], []).append(code)
    parts = [HEAD]
    for group, codes in groups.items():
        parts.append(f"## {GROUPS.get(group, group.capitalize())}\n")
        for code in codes:
            rule = RULES[code]
            source = f"`{rule.source}`" if "/" in rule.source else rule.source
            gate = f" Needs the feature gate `{rule.gate}`." if rule.gate else ""
            parts.append(f"### {code}\n\n{rule.title}\n\nSource: {source}.{gate}\n")
    return "\n".join(parts)


def anchor(code: str) -> str:
    """The anchor that a heading gets on GitHub: ``pod-level/claims`` becomes ``pod-levelclaims``."""
    return re.sub(r"[^a-z0-9 -]", "", code.lower()).replace(" ", "-")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
