"""What is typed into the prompt, and what becomes of it."""

from __future__ import annotations

from textual import on

from kubectl_kres.render.text.line import Tone, size
from kubectl_kres.tui import commands, save
from kubectl_kres.tui.layout import show_prompt
from kubectl_kres.tui.location import Trail
from kubectl_kres.tui.places import PlacesApp
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.table.strips import safe_text
from kubectl_kres.tui.type_ahead import Mark, TypeAhead
from kubectl_kres.tui.widgets.header_footer import sign_line
from kubectl_kres.tui.widgets.prompt import Prompt, Purpose


class PromptedApp(PlacesApp):
    """The part of the app that asks; ``app.Kres`` is the rest."""

    def __init__(self, session: Session, trail: Trail, *, ansi: bool) -> None:
        super().__init__(session, trail, ansi=ansi)
        self._type_ahead = TypeAhead(self)

    def ask_for(self, purpose: Purpose, text: str = "", *, words: bool = False, about: str = "") -> None:
        """Show the prompt. ``words``: what is typed is completed as a command."""
        self._bar("sign").put(sign := sign_line(purpose, about))
        self._bar("sign").styles.width = sum(size(part) for _, part in sign)
        show_prompt(self.screen_stack[0], shown=True)
        complete = (lambda so_far: list(commands.completions(so_far, self.session))) if words else None
        self.screen.query_one(Prompt).open_for(purpose, text, complete)
        self.tell()

    def refuse_prompt(self, text: str, tone: Tone = "") -> None:
        """Say why there is no prompt; what was typed for it in one go means nothing."""
        self.show_remark(text, tone)
        self._type_ahead.refuse_text()

    @on(Mark)
    async def _take_mark(self, mark: Mark) -> None:
        await self._type_ahead.take_mark(mark)

    def _close_prompt(self) -> None:
        show_prompt(self.screen_stack[0], shown=False)
        if self.pane is not None:
            self.pane.focus_main()
        self.tell()

    def on_prompt_typed(self, event: Prompt.Typed) -> None:
        if event.purpose == "filter" and self.pane is not None:
            # What was wrong with half of it need not be wrong with the whole.
            self.show_no_remark()
            self.pane.filter(event.text)

    def on_prompt_entered(self, event: Prompt.Entered) -> None:
        self._close_prompt()
        if event.purpose == "command":
            self.action_run(event.text)
        elif event.purpose == "save" and event.text:
            self._save(event.text)

    def on_prompt_left(self, event: Prompt.Left) -> None:
        if event.purpose == "filter" and self.pane is not None:
            self.pane.filter("")
        self._close_prompt()

    def action_run(self, text: str) -> None:
        """What was typed behind ``:``, or stands behind a key of the user's."""
        result = commands.parse_command(self.session.setting.hotkeys.get(text, text), self.session)
        if result.quit:
            self.exit()
        elif result.context:
            self.switch(result.context)
        elif result.location is not None:
            self.go(result.location, fresh=True)
        elif result.fault:
            self.show_remark(safe_text(result.fault), "warn")

    def _save(self, path: str) -> None:
        fault = save.screen(self, self.pane.table_csv() if self.pane and not path.endswith(".svg") else None, path)
        self.show_remark(fault or f"saved {path}", "bad" if fault else "good")
