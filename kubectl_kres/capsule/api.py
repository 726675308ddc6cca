"""What Capsule registers with the functions of the Python package: the claims on its pools."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from kubectl_kres.api.system import ListedKind
from kubectl_kres.capsule.reports.claim.claims import ClaimReport, Claims
from kubectl_kres.capsule.reports.common.needs import claims_needs
from kubectl_kres.capsule.reports.common.pool_index import PoolIndex
from kubectl_kres.capsule.text import claim as render
from kubectl_kres.store.store import ReadRequest, Store


def _reads(store: Store, namespace: str) -> Iterable[ReadRequest]:
    return claims_needs(store, (namespace,) if namespace else ())


def _reports(store: Store, namespace: str) -> Iterator[ClaimReport]:
    reports = Claims(PoolIndex(store))
    return map(reports.report, store.all("ResourcePoolClaim", namespace or None))


def _lines(report: ClaimReport, width: int) -> Iterator[str]:
    return render.lines(report, width=width)


SYSTEM: Final[Mapping[str, ListedKind]] = {"ResourcePoolClaim": ListedKind("Claims", _reads, _reports, _lines)}
