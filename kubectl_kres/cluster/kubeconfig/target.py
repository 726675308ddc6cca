"""What flags say about a connection, and what it comes to together with the kubeconfig."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from kubectl_kres.cluster.kubeconfig.exec_policy import ExecPolicy
from kubectl_kres.cluster.kubeconfig.types import ClusterEntry, UserEntry


class ConnectOptions(Struct, frozen=True):
    """kubectl's flags of the same names. Empty: as the kubeconfig says. ``request_timeout`` in seconds, 0: none.

    Its ``repr`` shows nothing.
    """

    kubeconfig: str = ""
    context: str = ""
    namespace: str = ""
    request_timeout: float = 0.0
    cluster: str = ""
    user: str = ""
    server: str = ""
    token: str = ""
    client_certificate: str = ""
    client_key: str = ""
    certificate_authority: str = ""
    insecure_skip_tls_verify: bool = False
    tls_server_name: str = ""
    disable_compression: bool = False
    impersonate: str = ""
    impersonate_groups: tuple[str, ...] = ()
    impersonate_uid: str = ""
    impersonate_extra: Mapping[str, tuple[str, ...]] = {}
    kuberc: str = ""

    def __repr__(self) -> str:
        return "ConnectOptions(…)"


class Target(Struct, frozen=True):
    """A server and what is needed to connect to it.

    ``server`` has a lower-case scheme and no slash at its end. ``context`` is empty inside a cluster. ``warnings`` are
    what the user should know before anything is sent.
    """

    server: str
    namespace: str
    context: str = ""
    cluster: ClusterEntry = ClusterEntry()
    user: UserEntry = UserEntry()
    user_name: str = ""
    policy: ExecPolicy = ExecPolicy()
    warnings: tuple[str, ...] = ()
