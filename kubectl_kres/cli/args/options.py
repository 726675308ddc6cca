"""The flags, each declared once, and their values as the commands see them."""

from collections.abc import Callable
from typing import Any, NamedTuple

import click

from kubectl_kres.errors import on_one_line


class Options(NamedTuple):
    """The values of all flags; a command gets the defaults of those that it does not take. ``repr`` hides the token."""

    kubeconfig: str = ""
    context: str = ""
    namespaces: tuple[str, ...] = ()
    all_namespaces: bool = False
    selector: str = ""
    field_selector: str = ""
    request_timeout: str = ""
    chunk_size: int = 500
    filenames: tuple[str, ...] = ()
    recursive: bool = False
    offline: bool = False
    snapshot: str = ""
    demo: bool = False
    output: str = "text"
    color: str = "auto"
    steps: bool = False
    whole: bool = False
    container: str = ""
    question: str = ""
    resize: str = ""
    cgroup: str = ""
    driver: str = ""
    summary: bool = False
    unbounded: bool = False
    allow_partial: bool = False
    exit_code: bool = False
    ignore_not_found: bool = False
    kube_version: str = ""
    feature_gates: tuple[str, ...] = ()
    admission_config: str = ""
    tekton_config: str = ""
    verbosity: int = 0
    cache_dir: str = ""
    client: bool = False
    rbac: bool = False
    out: str = ""
    recount: bool = False
    by: str = ""
    fit: str = ""
    denied: bool = False
    watch: bool = False
    until: str = ""
    timeout: str = ""
    since: str = ""
    ascii: bool = False
    no_mouse: bool = False
    no_seen: bool = False
    theme: str = ""
    theme_place: str = ""  # file and line of the settings that name the theme; empty: a flag, or nothing does
    aliases: tuple[tuple[str, str], ...] = ()  # of the settings alone, as are the hotkeys: word or key, and a command
    hotkeys: tuple[tuple[str, str], ...] = ()
    columns: tuple[tuple[str, tuple[str, ...], str], ...] = ()  # a list, its columns, file and line that name them
    pool: str = ""
    waiting: bool = False
    sized: str = ""
    delete: tuple[str, ...] = ()
    scale: tuple[str, ...] = ()
    release: tuple[str, ...] = ()
    evict: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    rollouts: int = 1
    before: str = ""
    after: str = ""
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    fail_on: str = "error"
    baseline: str = ""
    headroom: str = ""
    verify: bool = False
    install: bool = False
    uninstall: bool = False
    server: str = ""
    cluster: str = ""
    user: str = ""
    token: str = ""
    client_certificate: str = ""
    client_key: str = ""
    certificate_authority: str = ""
    insecure: bool = False
    tls_server_name: str = ""
    disable_compression: bool = False
    impersonate: str = ""
    impersonate_groups: tuple[str, ...] = ()
    impersonate_uid: str = ""
    impersonate_extra: tuple[str, ...] = ()
    kuberc: str = ""
    contexts: tuple[str, ...] = ()
    snapshots: tuple[str, ...] = ()
    cluster_profiles: tuple[str, ...] = ()
    provider_file: str = ""
    workers: int = 0
    shard: str = ""
    resume: bool = False
    engine: str = "local"

    def __repr__(self) -> str:
        shown = self._replace(token="…" if self.token else "")._asdict()
        return f"Options({', '.join(f'{name}={value!r}' for name, value in shown.items())})"


def _whole_number_reader(highest: int | None = None) -> Callable[[click.Context, click.Parameter, str], int]:
    """Read a whole number from 0 to ``highest``, if that is given."""

    def read(ctx: click.Context, param: click.Parameter, value: str) -> int:
        if value.isascii() and value.isdigit() and (highest is None or int(value) <= highest):
            return int(value)
        within = "" if highest is None else f" from 0 to {highest}"
        raise _invalid(value, param, ctx, f"a whole number{within} is expected")

    return read


class OneOf(NamedTuple):
    """Reads one of some words; completion offers those that are not empty."""

    words: tuple[str, ...]

    def __call__(self, ctx: click.Context, param: click.Parameter, value: str) -> str:
        if value in self.words:
            return value
        raise _invalid(value, param, ctx, f"one of {', '.join(filter(None, self.words))} is expected")


def _build_word_choice(*words: str) -> OneOf:
    return OneOf(words)


def _invalid(text: str, param: click.Parameter, ctx: click.Context, reason: str) -> click.UsageError:
    """Worded as kubectl's."""
    return click.UsageError(f'invalid argument "{text}" for "{", ".join(param.opts)}" flag: {reason}', ctx)


def _printable(ctx: click.Context, _param: click.Parameter, value: str) -> str:
    """Return the format asked for, if the command has it. Raises click.UsageError in kubectl's words."""
    formats: tuple[str, ...] = getattr(ctx.command, "formats", ())
    if value in formats:
        return value
    if "json" in formats and value.startswith(("jsonpath=", "custom-columns=")):
        from kubectl_kres.cli.output.documents import CustomFormat

        return CustomFormat(value)
    allowed = ",".join(sorted((*formats, *(("custom-columns", "jsonpath") if "json" in formats else ()))))
    shown = on_one_line(value)
    message = f'unable to match a printer suitable for the output format "{shown}", allowed formats are: {allowed}'
    raise click.UsageError(message, ctx)


def _select_named_namespaces(_ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the namespaces that are named: as in kubectl an empty text, of a variable that is not set, names none."""
    return tuple(filter(None, values))


def _flag(field: str, *names: str, metavar: str = "", text: str, **settings: Any) -> click.Option:
    """Return a flag whose value is ``Options.field``; what is absent has the default there."""
    default = Options._field_defaults[field]
    if isinstance(default, bool):
        settings["is_flag"] = True
    elif isinstance(default, tuple):
        settings["multiple"] = True
    else:
        default = str(default)
    return click.Option([*names, field], default=default, metavar=metavar or None, help=text, **settings)


def _hidden_flag(*arguments: str, **settings: Any) -> click.Option:
    return _flag(*arguments, hidden=True, **settings)


#: What every command takes, listed in its help.
CONNECTION = (
    _flag(
        "namespaces",
        "-n",
        "--namespace",
        metavar="NAME",
        text="The namespace to look in; may be repeated.",
        callback=_select_named_namespaces,
    ),
    _flag("context", "--context", metavar="NAME", text="The kubeconfig context to use."),
    _flag("kubeconfig", "--kubeconfig", metavar="FILE", text="The kubeconfig file to use."),
)

#: Where to connect and as whom, with kubectl's meaning.
ACCESS = (
    _hidden_flag("server", "-s", "--server", metavar="URL", text="The API server, instead of the context's."),
    _hidden_flag(
        "cluster", "--cluster", metavar="NAME", text="The kubeconfig cluster to use, instead of the context's."
    ),
    _hidden_flag("user", "--user", metavar="NAME", text="The kubeconfig user to use, instead of the context's."),
    _hidden_flag(
        "token", "--token", metavar="TOKEN", text="The bearer token. A token file of the kubeconfig wins over it."
    ),
    _hidden_flag("client_certificate", "--client-certificate", metavar="FILE", text="The client certificate, in PEM."),
    _hidden_flag("client_key", "--client-key", metavar="FILE", text="The key of the client certificate, in PEM."),
    _hidden_flag(
        "certificate_authority",
        "--certificate-authority",
        metavar="FILE",
        text="The certificate that the server's descends from, in PEM.",
    ),
    _hidden_flag(
        "insecure",
        "--insecure-skip-tls-verify",
        text="Do not verify the server's certificate; anyone in between can read and change everything.",
    ),
    _hidden_flag(
        "tls_server_name", "--tls-server-name", metavar="NAME", text="The name that the server's certificate is for."
    ),
    _hidden_flag("disable_compression", "--disable-compression", text="Do not ask the server for compressed answers."),
    _hidden_flag("impersonate", "--as", metavar="USER", text="Act as this user."),
    _hidden_flag(
        "impersonate_groups", "--as-group", metavar="GROUP", text="Act as a member; may be repeated. Needs --as."
    ),
    _hidden_flag("impersonate_uid", "--as-uid", metavar="UID", text="Act as the user with this UID. Needs --as."),
    _hidden_flag(
        "impersonate_extra",
        "--as-user-extra",
        metavar="KEY=VALUE",
        text="Act with this attribute; may be repeated. Needs --as.",
    ),
    _hidden_flag(
        "kuberc",
        "--kuberc",
        metavar="FILE",
        text="kubectl's preferences; only their policy for credential plugins is used.",
    ),
)

#: What every command takes, listed by ``kubectl kres options``.
GLOBAL = (
    _hidden_flag(
        "color",
        "--color",
        metavar="WHEN",
        callback=_build_word_choice("auto", "always", "never"),
        text="Colour the output: always, never, or auto, on a terminal unless NO_COLOR is set.",
    ),
    _hidden_flag(
        "verbosity",
        "-v",
        "--v",
        callback=_whole_number_reader(9),
        metavar="N",
        text="Log more to stderr. 1 (also -v alone): what is read. 6: user and server, and each request with its time. "
        "8: its headers, secrets masked. 9: tracebacks.",
    ),
    _hidden_flag(
        "request_timeout",
        "--request-timeout",
        metavar="TIME",
        text="The time for one request, retries included, in seconds or as 1m30s. 0: no limit.",
    ),
    _hidden_flag(
        "chunk_size",
        "--chunk-size",
        callback=_whole_number_reader(),
        metavar="N",
        text="How many objects a list asks for at a time. 0: all at once.",
    ),
    _hidden_flag("cache_dir", "--cache-dir", metavar="DIR", text="Accepted as kubectl does; nothing is cached."),
    *ACCESS,
)

ALL_NAMESPACES = _flag("all_namespaces", "-A", "--all-namespaces", text="Look in all namespaces; wins over -n.")
OUTPUT = _flag("output", "-o", "--output", metavar="FORMAT", text="", callback=_printable)
ALLOW_PARTIAL = _flag("allow_partial", "--allow-partial", text="Do not exit with 4 where something could not be read.")
EXIT_CODE = _flag("exit_code", "--exit-code", text="Exit with 1 if the answer is negative: refused, waits, fails.")
STEPS = _flag("steps", "--steps", text="Show every step that led to a value.")
WHOLE = _flag("whole", "--all", text="Show everything, not only the short page.")
WHOLE_LIST = _flag("whole", "--all", text="List all, not only the worst.")
CONTAINER = _flag("container", "-c", "--container", metavar="NAME", text="Answer for this container only.")
RESIZE = _flag("resize", "--resize", metavar="PATCH", text="Answer for a resize: a patch, @FILE or -.")
CGROUP = _flag(
    "cgroup",
    "--cgroup",
    metavar="V",
    text="Show the cgroups of version v1 or v2.",
    callback=_build_word_choice("", "v1", "v2"),
)
DRIVER = _flag(
    "driver",
    "--driver",
    metavar="NAME",
    text="The cgroup driver: systemd, the default, or cgroupfs.",
    callback=_build_word_choice("", "systemd", "cgroupfs"),
)
UNBOUNDED = _flag("unbounded", "--open", text="Containers without cpu or memory request or limit, by workload.")
SUMMARY = _flag("summary", "--summary", text="Pods by class, requests and limits, of each namespace.")
QUESTION = _flag("question", "--for", metavar="VALUE", text="Answer for one value, e.g. app.limits.memory.")
CLIENT = _flag("client", "--client", text="Show the client only; no server is asked.")
RBAC = _flag("rbac", "--rbac", text="Print the minimal rights that commands need, as roles for kubectl apply.")
OUT = _flag(
    "out", "--out", metavar="FILE", text="The file to write; - is standard output. Compressed if it ends in .gz."
)

RECOUNT = _flag("recount", "--recount", text="Recount the objects: is the status right?")
BY = _flag(
    "by",
    "--by",
    metavar="WHOM",
    callback=_build_word_choice("", "workload", "pod", "priority", "value"),
    text="Show who uses it, by workload, pod or priority; by value: also what set each.",
)
BY_VALUE = _flag(
    "by",
    "--by",
    metavar="value",
    callback=_build_word_choice("", "value"),
    text="Show who uses the pool, down to values.",
)
FIT = _flag("fit", "--fit", metavar="TYPE/NAME", text="How many more pods of this template fit.")
DENIED = _flag("denied", "--denied", text="The workloads that are refused now, with fixes.")
POOL = _flag("pool", "--pool", metavar="NAME", text="The claims that are in this pool, or name it.")
WAITING = _flag("waiting", "--waiting", text="The claims that do not have what they ask for.")
SIZED = _flag("sized", "--for", metavar="TYPE/NAME", text="The claim that this workload needs.")
#: What a command takes whose answer can be followed; see ``watching.repeated``.
WATCH = _flag("watch", "-w", "--watch", text="Print the answer again whenever it changes.")
#: The same with a word to wait for.
WATCHING = (
    WATCH,
    _flag(
        "until",
        "--until",
        metavar="WORD",
        callback=_build_word_choice("", "admitted", "exist", "ready", "fits", "allocated"),
        text="With -w: exit once this holds: admitted, exist, ready, fits, allocated.",
    ),
    _flag(
        "timeout",
        "--timeout",
        metavar="TIME",
        text="With -w: exit after this time, e.g. 90s; with 1 if --until is unmet.",
    ),
)
SINCE = _flag("since", "--since", metavar="TIME", text="Only what happened within this time, e.g. 30m or 24h.")
ASCII = _flag("ascii", "--ascii", text="Draw bars with ASCII characters.")
NO_SEEN = _flag("no_seen", "--no-seen", text="Do not assume that the next pod gets what live pods of its template got.")
NO_MOUSE = _flag("no_mouse", "--no-mouse", text="Leave the mouse to the terminal, for selecting text.")
THEME = _flag("theme", "--theme", metavar="NAME", text="The colours, e.g. ansi-dark, ansi-light or nord.")

HEADROOM = _flag("headroom", "--headroom", metavar="PERCENT", text="Claim this much more than is used.")
VERIFY = _flag("verify", "--verify", text="Show what is left of a migration.")

INSTALL = _flag("install", "--install", text="Create the link.")
UNINSTALL = _flag("uninstall", "--uninstall", text="Remove it.")

SNAPSHOT = _flag("snapshot", "--snapshot", metavar="FILE", text="Read this snapshot instead of a cluster.")
DEMO = _flag("demo", "--demo", text="Read the bundled example instead of a cluster.")

#: Which clusters, how, and where the rows go.
FLEET = (
    _flag(
        "contexts",
        "--contexts",
        metavar="GLOB",
        text="The clusters of the kubeconfig contexts that match; may be repeated.",
    ),
    _flag(
        "snapshots",
        "--snapshots",
        metavar="DIR|GLOB",
        text="The snapshots of a folder, or that match; may be repeated.",
    ),
    click.Option(["-o", "--output", "output"], default="table", metavar="FORMAT", help="", callback=_printable),
    _flag(
        "cluster_profiles",
        "--clusterprofiles",
        metavar="GLOB",
        text="The ClusterProfiles that match, of the hub that --context names; may be repeated.",
    ),
    _flag(
        "provider_file",
        "--clusterprofile-provider-file",
        metavar="FILE",
        text="Credential plugins for ClusterProfiles (KEP-5339); else the kubeconfig's contexts for their servers.",
    ),
    _flag("before", "--from", metavar="DIR|GLOB", text="For diff: the earlier snapshots, one per cluster by name."),
    _flag("out", "--out", metavar="DIR", text="Write the rows to files in this folder, one per cluster."),
    _flag("resume", "--resume", text="With --out: keep what an earlier run has answered."),
    _flag("timeout", "--timeout", metavar="TIME", text="The time for one cluster (default 2m; 0: no limit)."),
    _flag(
        "workers",
        "--workers",
        callback=_whole_number_reader(1024),
        metavar="N",
        text="Clusters at a time (default 16; of snapshots one per CPU).",
    ),
    _flag("shard", "--shard", metavar="I/N", text="Only the clusters of shard I of N; I counts from 0."),
    _flag(
        "engine",
        "--engine",
        metavar="ENGINE",
        text="What runs the work: local, or the Dask scheduler dask://HOST:PORT.",
    ),
)

#: Which objects, and where they come from.
INPUT = (
    _flag(
        "filenames",
        "-f",
        "--filename",
        metavar="FILE",
        text="A manifest, a folder of them, or - for stdin.",
    ),
    _flag("recursive", "-R", "--recursive", text="Read directories given with -f recursively."),
    ALL_NAMESPACES,
    _flag("selector", "-l", "--selector", metavar="SELECTOR", text="Only objects with these labels."),
    _flag("field_selector", "--field-selector", metavar="SELECTOR", text="Only objects with these field values."),
    _flag("offline", "--offline", text="Read only the files given with -f."),
    SNAPSHOT,
    DEMO,
    _hidden_flag("ignore_not_found", "--ignore-not-found", text="Exit with 0 if a named object does not exist."),
)

#: Which rules are checked, and what comes of their findings.
CHECKED = (
    _flag(
        "select", "--select", metavar="CODE,...", text="Check only these rules, e.g. KRES101, or KRES2 for all KRES2xx."
    ),
    _flag("ignore", "--ignore", metavar="CODE,...", text="Leave these rules out."),
    _flag(
        "fail_on",
        "--fail-on",
        metavar="SEVERITY",
        callback=_build_word_choice("error", "warning", "note", "never"),
        text="Exit with 1 at findings of this severity or worse: error (default), warning, note, or never.",
    ),
    _flag("baseline", "--baseline", metavar="FILE", text="Known findings to ignore, as -o json printed them."),
)
#: What there is to check: all of some namespaces, or of some files.
CHECKABLE = tuple(
    flag for flag in INPUT if flag.name in {"filenames", "recursive", "all_namespaces", "offline", "snapshot", "demo"}
)

#: The files of a change, and where it is played.
FILES = tuple(flag for flag in INPUT if flag.name in {"filenames", "recursive", "offline", "snapshot", "demo"})

#: The other steps of a change.
SIMULATED = (
    _flag("delete", "--delete", metavar="TYPE/NAME", text="Delete an object; may be repeated, like all steps."),
    _flag("scale", "--scale", metavar="TYPE/NAME=N", text="Set the number of replicas."),
    _flag("sets", "--set", metavar="TYPE/NAME:PATH=VALUE", text="Set one value of an object."),
    _flag("release", "--release", metavar="claim/NAME", text="Release a claim on a resource pool."),
    _flag("evict", "--evict", metavar="vpa/NAME", text="Evict what this autoscaler's updater would."),
    _flag(
        "rollouts",
        "--rollouts",
        metavar="N",
        callback=_whole_number_reader(99),
        text="Check rollouts with N workloads restarting at once (default 1; 0 skips it).",
    ),
    _flag("before", "--from", metavar="FILE", text="Compare with this snapshot, without steps."),
    _flag("after", "--to", metavar="FILE", text="With --from: this snapshot, instead of the cluster."),
)

#: The earlier of two moments.
SINCE_SNAPSHOT = _flag(
    "before", "--from", metavar="FILE", text="Compare with this snapshot: what is refused, waits, fails, is full since."
)

#: Which API server is asked about.
SERVER = (
    _flag("kube_version", "--kube-version", metavar="1.N", text="Use the rules of this Kubernetes version."),
    _flag(
        "feature_gates", "--feature-gates", metavar="A=BOOL,...", text="Feature gates that the server was started with."
    ),
    _flag("admission_config", "--admission-config", metavar="FILE", text="The server's admission configuration."),
    _flag("tekton_config", "--tekton-config", metavar="FILE", text="Tekton's ConfigMaps, instead of the cluster's."),
)

#: Flags that few need: they are on the page of ``help COMMAND``, not of ``--help``.
RARE = frozenset({
    "recursive", "field_selector", "no_seen", "timeout", "allow_partial", "cgroup", "driver", "provider_file",
    *(flag.name for flag in SERVER if flag.name != "kube_version"),
})  # fmt: skip

#: Everything that may stand before the command.
SHARED = (
    *CONNECTION,
    *GLOBAL,
    OUTPUT,
    ALLOW_PARTIAL,
    EXIT_CODE,
    STEPS,
    CONTAINER,
    QUESTION,
    *INPUT,
    *SERVER,
)

#: Flags of kubectl that people will try, and what to do instead.
REFUSED = {
    **dict.fromkeys(
        ("--username", "--password"),
        "is not supported: API servers have not taken passwords since Kubernetes 1.19; use --token or --user",
    ),
    **dict.fromkeys(("-k", "--kustomize"), 'is not supported; pipe "kubectl kustomize DIR" into -f -'),
    **dict.fromkeys(("-w", "--watch", "--watch-only"), "is not supported"),
    **dict.fromkeys(("--template", "--raw", "--show-labels", "--subresource"), "is not supported; use -o json"),
}
