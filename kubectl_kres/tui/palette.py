"""Entries of the command palette (ctrl-p): objects, screens, namespaces, contexts, keys of the screen, themes."""

from __future__ import annotations

from asyncio import sleep
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from textual import on
from textual.command import Command, CommandList, CommandPalette, Hit, Hits, Provider
from textual.fuzzy import Matcher
from textual.widgets import Input
from textual.worker import Worker

from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.workload_kinds import POD_MAKERS
from kubectl_kres.render.text.line import clip_text
from kubectl_kres.store.store import ReadRequest
from kubectl_kres.tui.keys import KEYS
from kubectl_kres.tui.lists.list_registry import LISTINGS, find_row
from kubectl_kres.tui.location import HOME, Location
from kubectl_kres.tui.screens.screen_factory import has_screen
from kubectl_kres.tui.table.strips import safe_text

#: Objects that are offered at a time; those that were looked at last, before anything is typed.
_MOST, _LAST = 50, 5
#: Cells of what is said of an object: a line of a small terminal.
_ABOUT = 52
#: More than there are offers of a sort.
_MANY = 100_000


class Offer(NamedTuple):
    """A line of the palette: what is shown, what it is explained by, and what choosing it does."""

    text: str
    about: str
    run: Callable[[], Any]


def name_requests(namespace: str) -> tuple[ReadRequest, ...]:
    """Return what is read to find objects by name: those of every list, in a namespace (empty: in every one)."""
    kinds = dict.fromkeys(listing.source.kinds[0] for listing in LISTINGS.values())
    return tuple(
        ReadRequest(kind, namespace if BY_KIND[kind].namespaced else "", required=False)
        for kind in (*kinds, *POD_MAKERS)
        if BY_KIND[kind].listed
    )


def _in_order(offers: Iterable[Offer], above: float) -> Iterator[Hit]:
    """Yield what is shown before anything is typed: the palette sorts by score, and would mix all."""
    for index, offer in enumerate(offers):
        yield Hit(above + 1 - index / _MANY, offer.text, offer.run, help=offer.about)


class _Offers(Provider):
    """Offers that are few: all are shown before anything is typed. ``above``: what they and their matches are raised
    by.
    """

    above = 0.0

    def list_offers(self) -> Iterator[Offer]:
        raise NotImplementedError

    async def discover(self) -> Hits:
        for hit in _in_order(self.list_offers(), self.above):
            yield hit

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for offer in self.list_offers():
            # In a sentence the letters of most words are found somewhere, in their order.
            is_literal = query.lower() in offer.about.lower()
            score = max(matcher.match(offer.text), matcher.match(offer.about) if is_literal else 0.0)
            if score > 0:
                yield Hit(score + self.above, matcher.highlight(offer.text), offer.run, help=offer.about)


#: What is found is shown in this order: objects, screens, then what has no more than its match.
_OBJECTS, _SCREENS = 4.0, 2.0
#: Keys that everybody knows are not worth a line before anything is typed.
_KNOWN = frozenset({"open", "up", "command", "filter", "help", "quit", "quit-or-up", "pane", "pane-back"})
#: Columns of lists that tell how an object is.
_STATES = ("state", "short")
#: Seconds between two looks at what is still read, and how many of them there are.
_LOOK, _LOOKS = 0.1, 30


class KeyProvider(_Offers):
    """The keys that mean something on this screen; to choose one is to press it."""

    def list_offers(self) -> Iterator[Offer]:
        app: Any = self.app
        groups = app.pane.KEY_GROUPS if app.pane is not None else ()
        for key in KEYS:
            if key.palette and key.group in groups:
                yield Offer(f"{key.word}  ({key.shown})", key.text, partial(app.action_act, key.id))

    async def discover(self) -> Hits:
        known_names = {f"{key.word}  ({key.shown})" for key in KEYS if key.id in _KNOWN}
        for hit in _in_order((offer for offer in self.list_offers() if offer.text not in known_names), self.above):
            yield hit


class Screens(_Offers):
    """Lists, and the namespaces that they may be of."""

    above = _SCREENS

    def list_offers(self) -> Iterator[Offer]:
        app: Any = self.app
        yield Offer("overview", "what there is and what is worst", partial(app.go, HOME, fresh=True))
        for listing in LISTINGS.values():
            location = Location(listing.id, app.session.namespace if listing.scoped else "")
            yield Offer(listing.id, listing.about, partial(app.go, location, fresh=True))
        for namespace in app.session.store.all("Namespace"):
            name = namespace.metadata.name
            about = "the pods of this namespace"
            yield Offer(f"namespace {safe_text(name)}", about, partial(app.go, Location("pods", name), fresh=True))


class Contexts(_Offers):
    """Other clusters of the kubeconfig, where there is one."""

    def list_offers(self) -> Iterator[Offer]:
        app: Any = self.app
        if app.session.setting.switch is not None:
            for name in app.session.setting.contexts():
                yield Offer(
                    f"context {safe_text(name)}", "the same screen on another cluster", partial(app.switch, name)
                )


class Themes(_Offers):
    """Themes, which change at once. There are many: they are shown only where one is looked for."""

    def list_offers(self) -> Iterator[Offer]:
        app: Any = self.app
        for name in sorted(app.available_themes):
            yield Offer(f"theme {name}", "for this session; config.toml keeps one", partial(_turn_to, app, name))

    async def discover(self) -> Hits:
        for hit in _in_order((), 0):
            yield hit


def _turn_to(app: Any, theme: str) -> None:
    app.theme = theme


class Objects(Provider):
    """What has a screen, by a part of its name; names are compared before anything costly.

    What was not read before the palette opened is read meanwhile, and said where it is not there yet.
    """

    async def discover(self) -> Hits:
        """What was looked at last."""
        app: Any = self.app
        seen = (place.ref for place in app.history.visited() if place.ref is not None)
        for hit in _in_order(map(self._offer, islice(dict.fromkeys(seen), _LAST)), _OBJECTS):
            yield hit

    async def search(self, query: str) -> Hits:
        app: Any = self.app
        matcher, expected = self.matcher(query), "".join(query.lower().rsplit(maxsplit=1)[-1:])
        seen: set[ObjectRef] = set()
        for look in range(_LOOKS):
            reads = name_requests(app.session.namespace)
            reading = list(app.session.unread_requests(reads))
            for hit in self._hits(matcher, expected, seen):
                yield hit
            if not reading:
                break
            if look < _LOOKS - 1:
                await sleep(_LOOK)
        unread = dict.fromkeys(read.kind for read in reads if not app.session.store.covered(read).is_known)
        if names := ", ".join(BY_KIND[kind].plural for kind in unread):
            yield Hit(0.01, f"not read: {names}", partial(app.go, Location("kinds")), help="ctrl-a says why")

    def _hits(self, matcher: Matcher, expected: str, seen: set[ObjectRef]) -> Iterator[Hit]:
        for ref in islice(self._object_named(expected), _MOST):
            if ref in seen:
                continue
            seen.add(ref)
            offer = self._offer(ref)
            score = matcher.match(offer.text) or 0.1
            yield Hit(_OBJECTS + score, matcher.highlight(offer.text), offer.run, help=offer.about)

    def _offer(self, ref: ObjectRef) -> Offer:
        """Return the line of an object, with its state where a list knows it."""
        app: Any = self.app
        namespace_prefix = f"{ref.namespace}/" if ref.namespace else ""
        location = Location("quota" if ref.kind == "ResourceQuota" else "object", ref=ref)
        states: list[str] = []
        if (row_of_list := find_row(app.session, ref)) is not None:
            listing, row = row_of_list
            columns = {column.id: column for column in listing.columns("")}
            states = [columns[name].text(row) for name in _STATES if name in columns]
        about = f"{ref.kind}  {clip_text(safe_text('  '.join(filter(None, states))), _ABOUT)}".rstrip()
        return Offer(
            f"{BY_KIND[ref.kind].names[-1]} {safe_text(namespace_prefix + ref.name)}", about, partial(app.go, location)
        )

    def _object_named(self, part: str) -> Iterator[ObjectRef]:
        app: Any = self.app
        store = app.session.store
        for kind in store.kinds():
            if kind not in BY_KIND or not has_screen(BY_KIND[kind]):
                continue
            for item in store.all(kind):
                if part in item.metadata.name.lower():
                    yield ObjectRef(kind, item.metadata.name, item.metadata.namespace)


#: What stands where nothing is typed yet.
ASKS = "an object, a screen, a namespace, a key"


class Palette(CommandPalette):
    """Enter chooses among the hits of what stands in the input then, however fast it was typed: it waits for them,
    where Textual would take what the list shows of before.
    """

    def __init__(self) -> None:
        super().__init__(id="--command-palette", placeholder=ASKS)
        self._is_entered = False
        #: Whether what was entered is still on its way to what it leads to.
        self.is_choosing = False
        #: Whether the list shows hits of what is typed, perhaps not all of them yet.
        self._lists_typed = False

    @on(Input.Submitted)
    def _enter(self, event: Input.Submitted) -> None:
        event.prevent_default().stop()
        self._is_entered = self.is_choosing = True
        # Who went down to one of the hits means that one, whatever is found behind it.
        if self._lists_typed and self.query_one(CommandList).highlighted:
            self._choose()
        else:
            self._choose_when_found()

    def on_worker_state_changed(self, _event: Worker.StateChanged) -> None:
        self._choose_when_found()

    def _choose_when_found(self) -> None:
        if all(worker.is_finished for worker in self.workers if worker.node is self):
            self._choose()

    def _choose(self) -> None:
        if self._is_entered:
            self._is_entered = False
            self._select_or_command()
            # Behind what the list says of it, and what that leads to here.
            self.query_one(CommandList).call_later(self.call_later, self._end_choice)

    def _end_choice(self) -> None:
        self.is_choosing = False

    def _gather_commands(self, search_value: str) -> Worker[None]:
        self._lists_typed = False
        return super()._gather_commands(search_value)

    def _refresh_command_list(self, command_list: CommandList, commands: list[Command], clear_current: bool) -> None:  # noqa: FBT001, as Textual declares it
        super()._refresh_command_list(command_list, commands, clear_current)
        self._lists_typed = True


#: All of them.
PROVIDERS: tuple[type[Provider], ...] = (KeyProvider, Screens, Objects, Contexts, Themes)
