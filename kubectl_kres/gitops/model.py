"""What Argo CD and Flux apply objects by, as stored: of each as much as tells whether an edit of an object is undone.

Source: argo-cd 3.1 pkg/apis/application/v1alpha1/types.go, kustomize-controller 1.7 api/v1/kustomization_types.go,
helm-controller 1.4 api/v2/helmrelease_types.go.
"""

from kubectl_kres.model.objects import Base, Kind, Metadata

APPLICATION, KUSTOMIZATION, HELM_RELEASE = "Application", "Kustomization", "HelmRelease"
#: Of a HelmRelease that undoes edits: its driftDetection's mode.
CORRECTS = "enabled"


class Automation(Base, frozen=True):
    """That an Application is synced without being asked. ``enabled`` False: it is not, though the field is there."""

    self_heal: bool | None = None
    enabled: bool | None = None


class SyncPolicy(Base, frozen=True):
    """When an Application is synced; ``automated`` absent: when somebody asks for it."""

    automated: Automation | None = None


class IgnoredDifference(Base, frozen=True):
    """Fields of objects of a kind, some of which may be edited; ``name`` and ``namespace`` empty: of all."""

    group: str = ""
    kind: str = ""
    name: str = ""
    namespace: str = ""


class Destination(Base, frozen=True):
    """Where an Application's objects are."""

    namespace: str = ""


class ApplicationSpec(Base, frozen=True):
    """How an Application is synced, but not from where."""

    sync_policy: SyncPolicy | None = None
    ignore_differences: tuple[IgnoredDifference, ...] | None = None
    destination: Destination | None = None


class Application(Base, frozen=True):
    """Objects that Argo CD applies."""

    metadata: Metadata = Metadata()
    spec: ApplicationSpec = ApplicationSpec()
    kind: str = APPLICATION
    api_version: str = "argoproj.io/v1alpha1"


class KustomizationSpec(Base, frozen=True):
    """How often a Kustomization is applied. ``interval``: a Go duration."""

    interval: str = ""
    suspend: bool | None = None


class Kustomization(Base, frozen=True):
    """Objects that Flux applies."""

    metadata: Metadata = Metadata()
    spec: KustomizationSpec = KustomizationSpec()
    kind: str = KUSTOMIZATION
    api_version: str = "kustomize.toolkit.fluxcd.io/v1"


class DriftDetection(Base, frozen=True):
    """Whether edits are looked for (``warn``), and undone (``enabled``)."""

    mode: str = ""


class HelmReleaseSpec(Base, frozen=True):
    """How often a release is looked at. ``interval``: a Go duration."""

    interval: str = ""
    suspend: bool | None = None
    drift_detection: DriftDetection | None = None


class HelmRelease(Base, frozen=True):
    """A release of Helm that Flux makes."""

    metadata: Metadata = Metadata()
    spec: HelmReleaseSpec = HelmReleaseSpec()
    kind: str = HELM_RELEASE
    api_version: str = "helm.toolkit.fluxcd.io/v2"


KINDS = (
    Kind(APPLICATION, ("applications", "application"), "argoproj.io", "v1alpha1", struct=Application, listed=False),
    Kind(
        KUSTOMIZATION,
        ("kustomizations", "kustomization", "ks"),
        "kustomize.toolkit.fluxcd.io",
        struct=Kustomization,
        listed=False,
    ),
    Kind(
        HELM_RELEASE,
        ("helmreleases", "helmrelease", "hr"),
        "helm.toolkit.fluxcd.io",
        "v2",
        struct=HelmRelease,
        listed=False,
    ),
)
