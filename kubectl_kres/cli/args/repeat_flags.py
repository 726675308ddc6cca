"""The flags that a proposed command needs to ask the same server as the same user, or to read the same files."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kubectl_kres.cli.args.options import Options

if TYPE_CHECKING:
    from kubectl_kres.model.meta import ObjectRef

#: Flags that choose server and user, with their options, as kubectl takes them, too.
_ACCESS = (
    ("--kubeconfig", "kubeconfig"),
    ("--context", "context"),
    ("--cluster", "cluster"),
    ("--user", "user"),
    ("--server", "server"),
    ("--certificate-authority", "certificate_authority"),
    ("--tls-server-name", "tls_server_name"),
    ("--client-certificate", "client_certificate"),
    ("--client-key", "client_key"),
    ("--as", "impersonate"),
    ("--as-uid", "impersonate_uid"),
)
#: In place of a token, which is never shown: without the flag the command would run as somebody else.
_TOKEN = "--token ..."  # noqa: S105, none


def access_flags(options: Options) -> str:
    """Those that were given of the flags that choose server and user, quoted for a shell; a token is left for the user
    to fill in.
    """
    return " ".join(_access(options))


def same_source(options: Options) -> str:
    """The flags with which another of our commands looks at the same objects, quoted for a shell: without a cluster
    nobody is asked.
    """
    text = " ".join(_source(options))
    alone = options.demo or options.snapshot or options.offline
    return text if alone else f"{text} {access_flags(options)}".strip()


def explaining(options: Options, ref: ObjectRef, file: str = "", *, command: str = "explain") -> str:
    """The command that gives the whole answer about an object; about one of a file by its file. Empty where that was
    standard input.
    """
    if "-" in options.filenames:
        return ""
    if not file:
        from kubectl_kres.render.verdict.brief import about  # --help must stay fast

        return about(command, ref, same_source(options))
    spaced = f"-n {shlex.quote(options.namespaces[0])}" if len(options.namespaces) == 1 else ""
    return " ".join(filter(None, [f"kubectl kres {command}", spaced, same_source(options)]))


def _source(options: Options) -> Iterator[str]:
    if options.demo:
        yield "--demo"
    for flag, value in (("--snapshot", options.snapshot), *(("-f", file) for file in options.filenames)):
        if value:
            yield f"{flag} {shlex.quote(value)}"
    if options.recursive:
        yield "-R"
    if options.offline:
        yield "--offline"


def _access(options: Options) -> Iterator[str]:
    given = [(flag, getattr(options, field)) for flag, field in _ACCESS]
    given += [("--as-group", group) for group in options.impersonate_groups]
    given += [("--as-user-extra", extra) for extra in options.impersonate_extra]
    yield from (f"{flag} {shlex.quote(value)}" for flag, value in given if value)
    if options.token:
        yield _TOKEN
    if options.insecure:
        yield "--insecure-skip-tls-verify"
