"""What Capsule registers with the command line."""

from __future__ import annotations

from kubectl_kres.cli.system import CliSystem, FleetReport

_COMMANDS, _REPORTS = "kubectl_kres.capsule.commands", "kubectl_kres.capsule.reports"

SYSTEM = CliSystem(
    "capsule",
    commands={
        "pools": (f"{_COMMANDS}.pools", "Show what resource pools share out, among whom, and who waits"),
        "claims": (f"{_COMMANDS}.claims", "Show claims on pools, why they wait, and what would unblock them"),
        "migrate": (f"{_COMMANDS}.migrate", "Turn a Tenant's quotas into resource pools and claims"),
    },
    aliases={
        **dict.fromkeys(("pool", "resourcepool", "resourcepools", "quotapool"), "pools"),
        **dict.fromkeys(("claim", "resourcepoolclaim", "resourcepoolclaims"), "claims"),
    },
    explainer=(f"{_COMMANDS}.explain_claim_or_pool", "ClaimOrPoolExplainer"),
    flag_types={"pool": "resourcepools"},
    answers={
        "pools": (f"{_REPORTS}.pool.pool_report", "PoolReport", "Pools"),
        "claims": (f"{_REPORTS}.claim.claims", "ClaimReport", "Claims"),
        "tenant": (f"{_REPORTS}.explain_tenant", "TenantUsers", "TenantUsers"),
        "sizing": (f"{_REPORTS}.claim.sizing", "Sizing", "Sizing"),
    },
    explanations=(
        (f"{_REPORTS}.explain_claim_or_pool", "ClaimExplanation"),
        (f"{_REPORTS}.explain_claim_or_pool", "PoolExplanation"),
        (f"{_REPORTS}.explain_tenant", "TenantExplanation"),
    ),
    parts=tuple((f"{_REPORTS}.common.part", name) for name in ("PoolTrail", "RuleSummary", "KeptRange")),
    fleet={"claims": FleetReport(("kubectl_kres.capsule.fleet", "ClaimsSummary"))},
)
