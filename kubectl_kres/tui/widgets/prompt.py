"""The input line for commands, filters and file names."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import ClassVar, Literal

from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.reactive import Reactive
from textual.widgets import Input
from textual.widgets.input import Selection

#: What is typed: a command, a filter, the name of a file, or a number to try.
Purpose = Literal["command", "filter", "save", "suppose"]
SIGNS: dict[str, str] = {"command": ":", "filter": "/", "save": "save as ", "suppose": "what if "}


_NUMBER = re.compile(r"(\d+)([A-Za-z]*)")


def step_value(value: str, by: int) -> str:
    """Return a quantity one step up or down, by its first digit: 3Gi to 4Gi, 500m to 600m; what is none as it is."""
    match = _NUMBER.fullmatch(value.strip())
    if match is None:
        return value
    digits, unit = match[1], match[2]
    step = 10 ** (len(digits) - 1)
    if by < 0 and int(digits) == step > 1:
        step //= 10
    return f"{max(0, int(digits) + by * step)}{unit}"


class Prompt(Input):
    """Shown while something is typed. Tab completes a command, up and down recall earlier ones, and step through
    numbers that are tried.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False),
        Binding("tab", "complete", show=False),
        Binding("up", "recall(-1)", show=False),
        Binding("down", "recall(1)", show=False),
    ]

    #: The line is as long as there is room, whatever stands in it.
    virtual_size = Reactive(Size(0, 0), layout=False)

    class Typed(Message):
        """The text changed."""

        def __init__(self, purpose: Purpose, text: str) -> None:
            super().__init__()
            self.purpose, self.text = purpose, text

    class Entered(Message):
        """The text is meant."""

        def __init__(self, purpose: Purpose, text: str) -> None:
            super().__init__()
            self.purpose, self.text = purpose, text

    class Left(Message):
        """Nothing was meant."""

        def __init__(self, purpose: Purpose) -> None:
            super().__init__()
            self.purpose = purpose

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, compact=True, select_on_focus=False)
        self.purpose: Purpose = "command"
        self.cursor_blink = False
        self._words: Callable[[str], Sequence[str]] = lambda _: ()
        self._history: dict[Purpose, list[str]] = {}
        self._index = 0
        #: Whether the text is another one than was reported.
        self._is_changed = False

    def open_for(self, purpose: Purpose, text: str = "", words: Callable[[str], Sequence[str]] | None = None) -> None:
        """Start to listen; ``words`` completes what was typed so far."""
        self.purpose, self._words = purpose, words or (lambda _: ())
        self._index = len(self._history.get(purpose, ()))
        with self.prevent(Input.Changed):
            self.value = text
        self.cursor_position = len(text)
        if purpose == "suppose":
            # What is typed takes the place of the number.
            self.selection = Selection(text.find("=") + 1, len(text))
        # At once: the next key is for the prompt already.
        self.screen.set_focus(self)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if not self._is_changed:
            self._is_changed = True
            # The letter is drawn before anything is chosen by it: of a hundred thousand rows that takes its time.
            self.call_after_refresh(self._post_value)

    def _post_value(self) -> None:
        """What was typed until now, if that was not reported yet."""
        if self._is_changed:
            self._is_changed = False
            self.post_message(self.Typed(self.purpose, self.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._post_value()
        past = self._history.setdefault(self.purpose, [])
        if self.value and self.value not in past[-1:]:
            past.append(self.value)
        self.post_message(self.Entered(self.purpose, self.value))

    def action_leave(self) -> None:
        self._is_changed = False
        self.post_message(self.Left(self.purpose))

    def action_complete(self) -> None:
        """The longest beginning that all that fits has in common."""
        texts = list(self._words(self.value))
        if texts:
            text = texts[0]
            while not all(name.startswith(text) for name in texts):
                text = text[:-1]
            if len(text) <= len(self.value):
                text = texts[0]
            self.value = text
            self.cursor_position = len(text)

    def action_recall(self, by: int) -> None:
        if self.purpose == "suppose":
            name, equals, value = self.value.rpartition("=")
            self.value = f"{name}{equals}{step_value(value, -by)}"
            self.selection = Selection(len(name) + len(equals), len(self.value))
            return
        past = self._history.get(self.purpose, [])
        self._index = max(0, min(self._index + by, len(past)))
        self.value = past[self._index] if self._index < len(past) else ""
        self.cursor_position = len(self.value)
