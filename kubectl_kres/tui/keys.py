"""All keys: name, action and words. Bindings, footer, help, palette and docs are made from this table."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from textual.binding import Binding, BindingType


class Key(Struct, frozen=True):
    """A key. ``keys`` as textual names them, ``shown`` as people do; ``word`` for the footer, ``text`` for the help.

    ``group``: where it stands in the help. ``palette``: whether the command palette offers it.
    """

    id: str
    keys: str
    shown: str
    word: str
    text: str
    group: str = "everywhere"
    palette: bool = True


KEYS = (
    Key("open", "enter", "enter", "open", "open what is under the cursor"),
    Key("up", "escape", "esc", "back", "clear the filter; then go back the way you came"),
    Key("command", ":", ":", "go to", "go to a screen: pods, pods shop, quota, ns, pods /web"),
    Key("filter", "/", "/", "filter", "filter as you type: web, !web, a regex, -l app=web, -f fuzzy, state=over"),
    Key("help", "?", "?", "help", "this page"),
    Key("pane", "tab", "tab", "next", "the next pane, or the next tab"),
    Key("pane-back", "shift+tab", "shift-tab", "previous", "the pane or tab before"),
    Key("jump", "ctrl+o", "ctrl-o", "jump", "letters on tabs, texts and rows: the next key goes there"),
    Key("back", "[", "[", "backward", "back in the history; over a folder of snapshots: to the one before"),
    Key("forward", "]", "]", "forward", "forward in the history; over a folder of snapshots: to the one after"),
    Key("last", "-", "-", "last", "the screen before this one, and back again"),
    Key("kinds", "ctrl+a", "ctrl-a", "kinds", "all screens with their names, what was read and what is denied"),
    Key("reload", "ctrl+r", "ctrl-r", "read again", "read the objects of this screen again"),
    Key("pause", "p", "p", "pause", "hold the screen still; what arrives is kept"),
    Key("suppose", "s", "s", "what if", "try another number, as replicas=3: all screens show what becomes of it"),
    Key("unsuppose", "U", "shift-u", "leave what if", "back to what is; the line that would make it so is copied"),
    Key("ns-all", "0", "0", "all", "all namespaces"),
    *(
        Key(f"ns-{digit}", str(digit), str(digit), f"namespace {digit}", f"namespace {digit} of those in the header",
            palette=False)
        for digit in range(1, 10)
    ),
    Key("users", "u", "u", "who uses it", "who uses what the quota or pool allows, down to single values"),
    Key("timeline", "t", "t", "time line", "what decided something lately, the newest first"),
    Key("no-limits", "L", "shift-l", "no limits", "the pods without a cpu or memory limit; once more: all"),
    Key("copy", "c", "c", "copy", "copy the name, or the value, under the cursor"),
    Key("copy-ns", "n", "n", "copy namespace", "copy the namespace of the row"),
    Key("copy-command", "ctrl+y", "ctrl-y", "copy command", "copy the command that prints this screen"),
    Key("save", "ctrl+s", "ctrl-s", "save", "save the table as CSV, or the screen as SVG"),
    Key("crumbs", "ctrl+g", "ctrl-g", "crumbs", "show or hide the line with the way here"),
    Key("header", "ctrl+e", "ctrl-e", "header", "show or hide the header"),
    Key("palette", "ctrl+p", "ctrl-p", "palette", "all keys, to search in", palette=False),
    Key("quit-or-up", "q", "q", "back or quit", "back; at the start quit"),
    Key("quit", "ctrl+c", "ctrl-c", "quit", "quit"),
    Key("fault-next", "f", "f", "next fault", "to the next line with a fault"),
    Key("fault-previous", "F", "shift-f", "previous fault", "to the line with a fault before"),
    Key("mark", "space", "space", "mark", "mark the row; s tries a number of all marked ones, esc unmarks", "lists"),
    Key("faults", "ctrl+z", "ctrl-z", "faults", "only rows with a fault", "lists"),
    Key("wide", "ctrl+w", "ctrl-w", "wide", "all columns, whether there is room or not", "lists"),
    Key("namespace", "w", "w", "its namespace", "go to the namespace of the row", "lists"),
    Key("owner", "J", "shift-j", "owner", "go to the owner of a pod or run, to the pool of a claim", "lists"),
    Key("sort-name", "N", "shift-n", "sort by name", "sort by name; once more: the other way round", "lists"),
    Key("sort-age", "A", "shift-a", "sort by age", "sort by age", "lists"),
    Key("sort-namespace", "P", "shift-p", "sort by namespace", "sort by namespace", "lists"),
    Key("sort-state", "S", "shift-s", "sort by state", "sort by state", "lists"),
    Key("sort-qos", "Q", "shift-q", "sort by QoS", "sort by QoS class", "lists"),
    Key("sort-cpu", "C", "shift-c", "sort by cpu", "sort by cpu", "lists"),
    Key("sort-memory", "M", "shift-m", "sort by memory", "sort by memory", "lists"),
    Key("column-left", "shift+left", "shift-left", "column", "pick the column to the left", "lists"),
    Key("column-right", "shift+right", "shift-right", "column", "pick the column to the right", "lists"),
    Key("sort-column", "O", "shift-o", "sort by it", "sort by the picked column", "lists"),
    Key("explain", "d", "d", "explain", "the text of kubectl kres explain", "objects"),
    Key("diff", "D", "shift-d", "diff", "what admission changes: live or written against today", "objects"),
    Key("yaml", "y", "y", "YAML", "what resources depend on, as it is now", "objects"),
    Key("computed", "Y", "shift-y", "computed", "the same as admission would store it today", "objects"),
    Key("steps", "v", "v", "steps", "show or hide the steps and checks behind a value", "objects"),
    Key("by", "b", "b", "by", "put a quota's use down to workloads, pods or priority classes", "quota"),
    Key("recount", "r", "r", "recount", "count the objects, and show where the quota's status is not true", "quota"),
)  # fmt: skip

#: Keys that start to type: handled before the next key is looked at, which is for the prompt then.
STARTING = {"command": ":", "filter": "/"}

BY_ID = {key.id: key for key in KEYS}

#: Sorting keys to the columns that they sort by, the first that a table has.
SORTS = {
    "sort-name": ("name",),
    "sort-age": ("age",),
    "sort-namespace": ("namespace",),
    "sort-state": ("state",),
    "sort-qos": ("qos",),
    "sort-cpu": ("requests.cpu", "limits.cpu", "cpu"),
    "sort-memory": ("requests.memory", "limits.memory", "memory"),
}

#: Keys with which k9s changes a cluster, and what they do there.
CHANGING = {
    "ctrl+d": ("ctrl-d", "deletes"),
    "ctrl+k": ("ctrl-k", "kills"),
    "e": ("e", "edits"),
    "a": ("a", "attaches"),
}
#: Other keys of k9s, what they do there, and what to type instead; ``$``: the object under the cursor.
ELSEWHERE = {
    "l": ("l", "shows logs", "kubectl logs $"),
    "x": ("x", "decodes a secret", "secrets are never read"),
    "i": ("i", "sets the image", "kubectl set image $ CONTAINER=IMAGE"),
    "o": ("o", "shows the node", "kubectl get $ -o wide"),
    "B": ("shift-b", "runs a benchmark", ""),
    "h": ("h", "shows the header", "ctrl-e shows or hides it"),
}

#: Keys that move the cursor or the page.
_MOVES = (
    ("up,k", "move(-1)"),
    ("down,j", "move(1)"),
    ("pageup,ctrl+b", "page(-1)"),
    ("pagedown,ctrl+f", "page(1)"),
    ("home,g", "first"),
    ("end,G", "last"),
)
#: All of them: none leads to another screen.
MOVING_KEYS = frozenset((*(key for keys, _ in _MOVES for key in keys.split(",")), "space"))
#: What means nothing without a row under the cursor.
_OF_ROWS = {"open", "copy", "copy-ns", "users", "suppose", "fault-next", "fault-previous"}
ROW_KEYS = MOVING_KEYS | {key.keys for key in KEYS if key.id in _OF_ROWS or key.group != "everywhere"}
MOVING = (
    ("up down j k", "a line up or down"),
    ("pgup pgdn ctrl-b ctrl-f", "a page up or down; where no row can be marked, space does, too"),
    ("g G home end", "to the first, to the last"),
    ("left right", "fold and unfold; to the text on the right and back"),
)


def movement_bindings() -> list[BindingType]:
    """Return the bindings of a widget that has lines: a table opens a row, a text copies the command to type in it."""
    result: list[BindingType] = [Binding(keys, action, show=False) for keys, action in _MOVES]
    return [*result, Binding("enter", "open", show=False)]


def bindings() -> list[BindingType]:
    """Return all keys, as actions of the app."""
    result: list[BindingType] = [
        Binding(key.keys, f"app.act('{key.id}')", key.word, show=False, priority=key.id in STARTING)
        for key in KEYS
        if key.id != "palette"
    ]
    result += [Binding(direction, f"app.act('{direction}')", show=False) for direction in ("left", "right")]
    return [*result, *(Binding(key, f"app.changing('{key}')", show=False) for key in (*CHANGING, *ELSEWHERE))]


def hints(ids: Iterable[str]) -> list[tuple[str, str]]:
    """Return what the footer says: key and word."""
    return [(BY_ID[name].shown, BY_ID[name].word) for name in ids]


def groups() -> dict[str, list[Key]]:
    """Return the keys as the help lists them; the digits are one line."""
    keys: dict[str, list[Key]] = {}
    for key in KEYS:
        if not key.id.startswith("ns-") or key.id == "ns-all":
            keys.setdefault(key.group, []).append(key)
        elif key.id == "ns-1":
            keys["everywhere"].append(
                Key("ns-1", "1", "1-9", "namespace", "one of the namespaces in the header, the last used first")
            )
    return keys
