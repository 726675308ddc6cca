"""Commands behind ``:``, and their completion."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from kubectl_kres.errors import UsageError
from kubectl_kres.model.kinds import BY_KIND, Kind
from kubectl_kres.model.kinds import find as find_kind
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.tui.lists import list_registry, workloads
from kubectl_kres.tui.lists.list_spec import Listing
from kubectl_kres.tui.location import HOME, Location, Trail
from kubectl_kres.tui.screens.screen_factory import has_screen
from kubectl_kres.tui.session import Session

_HELP, _KINDS, _OVERVIEW, _QUIT = ("help", "h"), ("kinds", "aliases"), ("overview", "home"), ("q", "quit", "exit")
_CONTEXT = ("ctx", "context", "contexts")
_ALL = ("all", "-A")
#: Names of kinds that kubectl does not have, and hands from k9s do.
_OF_K9S = {"dp": "deployments", "jo": "jobs"}


class CommandTarget(NamedTuple):
    """Where a command leads; ``quit``: out; ``context``: to another cluster. ``fault``: why nowhere."""

    location: Location | None = None
    fault: str = ""
    quit: bool = False
    context: str = ""


def parse_command(text: str, session: Session) -> CommandTarget:
    """``pods``, ``pods shop``, ``pods /web``, ``po app=web``, ``quota team``, ``deploy/web``, ``ns``, ``q``."""
    word, _, more = text.strip().partition(" ")
    # Once: an alias may go by the name of what it stands for.
    text = f"{session.setting.aliases.get(word, _OF_K9S.get(word, word))} {more}".strip()
    texts = _split_words(text)
    if not texts:
        return CommandTarget()
    head, rest = texts[0].lower(), texts[1:]
    for names, location in ((_HELP, Location("help")), (_KINDS, Location("kinds")), (_OVERVIEW, HOME)):
        if head in names:
            return CommandTarget(location)
    if head in _QUIT:
        return CommandTarget(quit=True) if not rest else CommandTarget(fault=f":{head} takes no words")
    if head in _CONTEXT:
        # Names of contexts may hold slashes and blanks.
        return _context(text.strip()[len(head) :].strip(" /"), session)
    listing = list_registry.find(head) or (list_registry.find_by_start(head) if find_kind(head) is None else None)
    named = "/" in text.split(maxsplit=1)[0]
    kind = find_kind(head) if listing is None else None
    if kind is not None and workloads.lists_kind(kind.kind) and not named:
        return _list_of_kind(kind, head, rest, session)
    return _object(head, rest, session) if listing is None or named else _list(listing, head, rest, session)


def _context(name: str, session: Session) -> CommandTarget:
    """Return another cluster of the kubeconfig; without a name which there are."""
    if session.setting.switch is None:
        return CommandTarget(fault="there is one cluster here: :ctx is for live ones")
    known = session.setting.contexts()
    if name in known:
        return CommandTarget(context=name)
    near = difflib.get_close_matches(name, known, 3) if name else ()
    shown = ", ".join(near or known[:9]) or "none"
    return CommandTarget(
        fault=f'no context "{name}", {"near" if near else "there are"}: {shown}' if name else f"contexts: {shown}"
    )


def _list(listing: Listing, head: str, rest: Sequence[str], session: Session) -> CommandTarget:
    """Return a list, of a namespace and filtered if that is said; or the one object that is named."""
    selector = next((word for word in rest if "=" in word), "")
    filtered = f"-l {selector}" if selector else next((word[1:] for word in rest if word.startswith("/")), "")
    names = [word.removeprefix("@") for word in rest if "=" not in word and not word.startswith(("/", "-"))]
    names = [word for word in names if word not in _ALL]
    namespace = "" if set(rest) & set(_ALL) else session.namespace
    if names and (not _is_namespace(names, session) or listing.id == "pools"):
        result = _object(head, names, session)
        if result.location is not None or listing.scoped:
            return result
    if names and not listing.scoped:
        return CommandTarget(Location("pods", names[0], filter=filtered))
    namespace = names[0] if names else namespace
    return CommandTarget(Location(listing.id, namespace if listing.scoped else "", filter=filtered))


def _list_of_kind(kind: Kind, head: str, rest: Sequence[str], session: Session) -> CommandTarget:
    """Return the one workload that is named, or all of a kind, of a namespace and filtered if that is said."""
    target = _object(head, rest, session) if rest and not rest[0].startswith(("/", "-")) else CommandTarget()
    if target.location is None:
        target = _list(workloads.LISTING, head, rest, session)
    location = target.location
    if location is None or location.view != workloads.LISTING.id:
        return target
    more = f".*{location.filter}" if location.filter else ""
    return CommandTarget(replace(location, filter=f"{workloads.filter_of_kind(kind.kind)}{more}"))


def start(texts: Sequence[str], session: Session) -> Trail:
    """Return the trail that the words of a command line lead to. Raises UsageError for a word that names nothing."""
    if not texts:
        return (HOME,)
    head, _, tail = texts[0].partition("/")
    names = [*([tail] if tail else []), *texts[1:]]
    if len(names) > 1:
        raise UsageError(f"tui takes one resource and one name, not {' '.join(texts)}")
    kind = find_kind(head)
    if names and kind is not None and has_screen(kind):
        result = _find_by_name(kind, names[0], _namespaces_to_search(kind, names[0], session))
    else:
        result = parse_command(" ".join([head, *names]), session)
    if result.location is None:
        raise UsageError(result.fault or f'no screen "{texts[0]}"')
    return (HOME,) if result.location == HOME else (HOME, result.location)


def _namespaces_to_search(kind: Kind, name: str, session: Session) -> Sequence[str]:
    """Return the namespaces in which to look for a name before anything is read."""
    if not kind.namespaced:
        return ("",)
    if session.namespace:
        return (session.namespace,)
    candidates = session.setting.candidate_namespaces
    return (candidates(kind, name) if candidates is not None else ()) or ("default",)


def _split_words(text: str) -> list[str]:
    """Return the words. ``pod/web`` is a type and a name; ``shop/web`` further on a namespace and what is
    filtered by.
    """
    head, *rest = text.split() or [""]
    kind, slash, name = head.partition("/")
    texts = [kind, name] if slash and kind and name else [head.replace("/", " /", 1)] if kind and slash else [head]
    for word in rest:
        before, slash, after = word.partition("/")
        texts += [before, f"/{after}"] if slash and before and "=" not in word else [word]
    return " ".join(texts).split()


def _is_namespace(names: Sequence[str], session: Session) -> bool:
    """Return whether the first word behind a list is a namespace. While none was read it is, unless another follows:
    then it is the name of an object, and that one its namespace.
    """
    word, namespaces = names[0], {namespace.metadata.name for namespace in session.store.all("Namespace")}
    return word in namespaces or word in session.recent or (not namespaces and len(names) == 1)


def _object(head: str, rest: Sequence[str], session: Session) -> CommandTarget:
    kind = find_kind(head)
    if kind is None or not has_screen(kind):
        near = difflib.get_close_matches(head, list(completions("", session)), 3)
        nearest = f", near: {', '.join(near)}" if near else ""
        return CommandTarget(fault=f'no screen "{head}"{nearest} (? lists all)')
    names = [word.lstrip("/") for word in rest]
    if not names:
        return CommandTarget(fault=f"there is no list of {kind.plural}; name one, as :{kind.names[-1]} web")
    return _find_by_name(kind, names[0], _find_namespaces(kind, names, session))


def _find_by_name(kind: Kind, name: str, spaces: Sequence[str]) -> CommandTarget:
    """Return the screen of an object; where several namespaces have one of that name, the list of them."""
    listing = list_registry.find(kind.plural)
    if len(spaces) > 1 and listing is not None:
        return CommandTarget(Location(listing.id, filter=name))
    if len(spaces) != 1:
        typed = f":{kind.names[-1]} {name} NAMESPACE"
        if not spaces:
            return CommandTarget(fault=f'no {kind.names[1]} "{name}" in what was read; {typed} looks in a namespace')
        return CommandTarget(fault=f'{kind.names[1]} "{name}" is in {", ".join(spaces[:5])}: {typed} opens one')
    view = "quota" if kind.kind == "ResourceQuota" else "object"
    return CommandTarget(Location(view, ref=ObjectRef(kind.kind, name, spaces[0])))


def _find_namespaces(kind: Kind, names: Sequence[str], session: Session) -> list[str]:
    """Return the namespaces to look in: the one that was said, the one that is shown, or wherever there is such
    a name.
    """
    if not kind.namespaced:
        return [""]
    if len(names) > 1:
        return [names[1]]
    if session.namespace:
        return [session.namespace]
    namespaces = [item.metadata.namespace for item in session.store.all(kind.kind) if item.metadata.name == names[0]]
    candidates = session.setting.candidate_namespaces
    return namespaces if namespaces or candidates is None else list(candidates(kind, names[0]))


def completions(text: str, session: Session) -> Iterator[str]:
    """Yield what the text could be the beginning of."""
    head, blank, rest = text.partition(" ")
    if not blank:
        every = (*list_registry.list_names(), *_OVERVIEW[:1], *_KINDS[:1], *_HELP[:1], *_CONTEXT[:1], *_objects())
        yield from dict.fromkeys(name for name in every if name.startswith(head.lower()))
        return
    if head in _CONTEXT:
        yield from (f"{head} {name}" for name in session.setting.contexts() if name.startswith(rest))
        return
    listing = list_registry.find(head)
    kind = find_kind(head)
    names = [namespace.metadata.name for namespace in session.store.all("Namespace")] if listing is not None else []
    if kind is not None:
        names += [item.metadata.name for item in session.store.all(kind.kind, session.namespace or None)]
    yield from (f"{head} {name}" for name in dict.fromkeys(names) if name.startswith(rest))


def _objects() -> Iterator[str]:
    """Kinds that have no list but can be named."""
    yield from (kind.names[-1] for kind in BY_KIND.values() if has_screen(kind))
