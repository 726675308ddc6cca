"""Which API server admission is computed for: ``--kube-version``, ``--feature-gates``, ``--admission-config``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from kubectl_kres.admission.base.server import LOCKED, LimitedResource, Server
from kubectl_kres.admission.base.versions import GATES, binary, nearest_version, parse, version_text
from kubectl_kres.cli.args.options import Options
from kubectl_kres.errors import InputError, UsageError

Form = TypeVar("Form")

_QUOTA = "ResourceQuota"
_FORMS = "AdmissionConfiguration or ResourceQuotaConfiguration"


class _QuotaConfiguration(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """What the ResourceQuota plugin is configured with. Source: apiserver.config.k8s.io/v1."""

    kind: str = ""
    api_version: str = ""
    limited_resources: tuple[LimitedResource, ...] = ()


class _Plugin(Struct, frozen=True, forbid_unknown_fields=True):
    """A plugin with its configuration, or the path of the file that holds it."""

    name: str
    path: str = ""
    configuration: Any = None


class _Configuration(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The file of ``--admission-control-config-file``, with what ``--disable-admission-plugins`` names beside it."""

    kind: str = ""
    api_version: str = ""
    plugins: tuple[_Plugin, ...] = ()
    disabled_plugins: tuple[str, ...] = ()


#: What a server says of its version to the rules it has, and what is supposed about it.
ServerOf = Callable[[str], tuple[Server, tuple[str, ...]]]


def server_from_flags(options: Options) -> ServerOf:
    """Return the server that the flags describe, once it is known which version it says of itself, empty if it does
    not.

    The result also gives what is supposed about that server. ``--kube-version`` wins over what the server says. Raises
    UsageError for a bad version or gate, InputError for a bad file.
    """
    if options.kube_version and parse(options.kube_version) is None:
        raise UsageError(
            f'invalid argument "{options.kube_version}" for "--kube-version" flag: a version such as 1.33 is expected'
        )
    gates = dict(_gates(options.feature_gates))
    limited, disabled = (
        _read_configuration(options.admission_config) if options.admission_config else ((), frozenset[str]())
    )

    def server_of(git_version: str) -> tuple[Server, tuple[str, ...]]:
        version, assumed = nearest_version(options.kube_version or git_version)
        server_version = None if options.kube_version else binary(git_version)
        server = Server(version, gates, limited, disabled, server_version)
        return server, ((assumed,) if assumed else ()) + tuple(_without_effect(server))

    return server_of


def _gates(texts: Iterable[str]) -> Iterator[tuple[str, bool]]:
    for pair in (pair.strip() for text in texts for pair in text.split(",") if pair.strip()):
        name, _, value = pair.partition("=")
        if name not in GATES:
            import difflib  # only a mistyped gate needs it

            near = difflib.get_close_matches(name, GATES, 1, 0.3)
            nearest_gate = f", the nearest is {near[0]}" if near else f", known are {', '.join(GATES)}"
            raise UsageError(f"--feature-gates: {name} bears on no computed resource value{nearest_gate}")
        if value.lower() not in {"true", "false"}:
            raise UsageError(f'--feature-gates: {name} is true or false, not "{value}"')
        yield name, value.lower() == "true"


def _without_effect(server: Server) -> Iterator[str]:
    """Gates that were given but that this version does not know or does not let go."""
    for name, value in server.gates.items():
        if server.is_enabled(name) == value:
            continue
        locked = server.version[1] >= LOCKED.get(name, server.version[1] + 1)
        reason = "can no longer be switched off" if locked else "does not exist"
        version = version_text(server.version)
        yield f"{name}={str(value).lower()} has no effect: in Kubernetes {version} the gate {reason}"


def _read_configuration(file: str) -> tuple[tuple[LimitedResource, ...], frozenset[str]]:
    """Limited resources and disabled plugins of a configuration file."""
    data = _load_yaml(file)
    kind = data.get("kind", "")
    if kind == "ResourceQuotaConfiguration":
        return _convert_data(data, _QuotaConfiguration, file).limited_resources, frozenset()
    if kind != "AdmissionConfiguration":
        raise InputError(f'an {_FORMS} is expected, not kind "{kind}"', file=file)
    configuration = _convert_data(data, _Configuration, file)
    limited: tuple[LimitedResource, ...] = ()
    for plugin in configuration.plugins:
        if plugin.name != _QUOTA:
            continue
        plugin_configuration = _load_yaml(str(Path(file).parent / plugin.path)) if plugin.path else plugin.configuration
        limited = _convert_data(plugin_configuration or {}, _QuotaConfiguration, plugin.path or file).limited_resources
    return limited, frozenset(configuration.disabled_plugins)


def _load_yaml(file: str) -> Mapping[str, Any]:
    import yaml

    from kubectl_kres.manifests.read import content

    try:
        data = yaml.safe_load(content(file))
    except FileNotFoundError as error:
        raise InputError("does not exist", file=file) from error
    except OSError as error:
        raise InputError((error.strerror or str(error)).lower(), file=file) from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
        raise InputError(error.problem or "is no YAML", file=file, line=line, column=column) from error
    except yaml.YAMLError as error:
        raise InputError(f"is no YAML: {' '.join(str(error).split())}", file=file) from error
    if not isinstance(data, dict):
        raise InputError(f"an {_FORMS} is expected", file=file)
    return data


def _convert_data(data: Any, form: type[Form], file: str) -> Form:
    try:
        return msgspec.convert(data, form)
    except msgspec.ValidationError as error:
        raise InputError(str(error), file=file) from error
