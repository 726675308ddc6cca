"""What a ResourceClaim (dynamic resource allocation) counts for in a quota."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kubectl_kres.admission.base.draft import Quantities
from kubectl_kres.admission.base.resource_names import is_extended
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.pod.aggregate import add_into
from kubectl_kres.admission.quota.usage import DEVICE_CLASS
from kubectl_kres.model.quota_objects import ClaimRequest, DeviceRequest, ResourceClaim
from kubectl_kres.quantity import Quantity, quantity_of

#: How the name of a quota ends that counts the devices of a class.
DEVICES = ".deviceclass.resource.k8s.io/devices"
_COUNT = "count/resourceclaims.resource.k8s.io"
#: What a request for all devices of a class is charged: the most that one claim can be given.
MOST_DEVICES = 32


def device_names(hard: Iterable[str], server: Server, extended: Mapping[str, str]) -> list[str]:
    """The names that ResourceClaims count for.

    ``extended``: device class to the extended resource that it stands for; classes without one are not in it.
    Source: evaluator/core/resource_claims.go MatchingResources.
    """
    texts = [name for name in hard if name == _COUNT or name.endswith(DEVICES)]
    if server.on("DRAExtendedResource"):
        implicit = {f"requests.{DEVICE_CLASS}{device_class}" for device_class in extended}
        texts += [name for name in hard if name in implicit | {f"requests.{name}" for name in extended.values()}]
    return texts


def may_count_devices(hard: Iterable[str]) -> bool:
    """Whether claims on devices may count for a name, whatever device classes stand for."""
    for name in hard:
        if name == _COUNT or name.endswith(DEVICES):
            return True
        resource = name.removeprefix("requests.")
        if resource != name and (resource.startswith(DEVICE_CLASS) or is_extended(resource)):
            return True
    return False


def device_usage(
    claim: ResourceClaim, server: Server, extended: Mapping[str, str], charged: Mapping[str, Quantity] | None = None
) -> Quantities:
    """Devices by class, once more under the extended resources that stand for them.

    ``charged``: usage of the pod that the claim was made for, whose extended resources are not charged twice.
    Source: claimEvaluator.Usage, addExtendedResourceQuota.
    """
    usage: Quantities = {_COUNT: quantity_of(1)}
    devices: Quantities = {}
    for request in claim.spec.devices.requests or ():
        add_into(devices, _of_request(request))
    usage.update({f"{name}{DEVICES}": quantity for name, quantity in devices.items()})
    if not server.on("DRAExtendedResource"):
        return usage
    for name, quantity in devices.items():
        aliases = (f"requests.{DEVICE_CLASS}{name}", *([f"requests.{extended[name]}"] if name in extended else ()))
        for alias in aliases if name else ():
            more = quantity - charged[alias] if charged and alias in charged else quantity
            if more.nano > 0:
                usage[alias] = more
    return usage


def _of_request(request: ClaimRequest) -> Quantities:
    """Devices of one request by class; of alternatives the worst case of each class."""
    if not request.first_available:
        device_request = request.exactly or request
        return (
            {device_request.device_class_name: quantity_of(_devices(device_request))}
            if request.exactly or device_request.device_class_name
            else {}
        )
    worst: dict[str, int] = {}
    for device_request in request.first_available:
        worst[device_request.device_class_name] = max(
            worst.get(device_request.device_class_name, 0), _devices(device_request)
        )
    return {name: quantity_of(count) for name, count in worst.items() if count}


def _devices(request: DeviceRequest) -> int:
    if request.allocation_mode == "All":
        return MOST_DEVICES
    return (request.count or 1) if request.allocation_mode in {"", "ExactCount"} else 0
