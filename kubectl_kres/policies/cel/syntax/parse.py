"""Text to tokens, literals and a syntax tree, with the errors that cel-go's generated parser gives. Source: cel-go
parser/parser.go, parser/gen/CEL.g4.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

from kubectl_kres.policies.cel.base.types import BOOL, BYTES, DOUBLE, INT, NULL, STRING, UINT, Type
from kubectl_kres.policies.cel.base.values import CompileError, Issue, NotComputed
from kubectl_kres.policies.cel.syntax import ast
from kubectl_kres.policies.cel.syntax.macros import MacroError, expand


def double_of(text: str) -> float:
    """Raises ValueError with cel-go's words."""
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError("invalid double literal")
    return number


def parse_int(text: str) -> int:
    """Raises ValueError with cel-go's words."""
    number = int(text.replace("0x", ""), 16) if "0x" in text else int(text)
    if not -(2**63) <= number < 2**63:
        raise ValueError("invalid int literal")
    return number


def uint_of(text: str) -> int:
    """With its ``u`` at the end. Raises ValueError with cel-go's words."""
    number = int(text[:-1], 16 if text.startswith("0x") else 10)
    if number >= 2**64:
        raise ValueError("invalid uint literal")
    return number


_SIMPLE = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    '"': '"', "'": "'", "\\": "\\", "?": "?", "`": "`",
}  # fmt: skip
_SEQUENCE = re.compile(
    r"\\(?:([abfnrtv\"'\\?`])|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2}))"
)

_ESCAPE = r"""\\(?:[abfnrtv"'\\?`]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7][0-7])"""
_STRING = (
    r'"""(?:' + _ESCAPE + r'|[^\\])*?"""'
    r"|'''(?:" + _ESCAPE + r"|[^\\])*?'''"
    r'|"(?:' + _ESCAPE + r'|[^\\"\n\r])*"'
    r"|'(?:" + _ESCAPE + r"|[^\\'\n\r])*'"
    r'|[rR]"""[\s\S]*?"""|[rR]\'\'\'[\s\S]*?\'\'\''
    r'|[rR]"[^"\n\r]*"|[rR]\'[^\'\n\r]*\''
)  # fmt: skip
_TOKEN = re.compile(
    r"(?P<skip>[\t \r\n\f]+|//[^\n]*)"
    r"|(?P<BYTES>[bB](?:" + _STRING + r"))"
    r"|(?P<STRING>" + _STRING + r")"
    r"|(?P<FLOAT>\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)"
    r"|(?P<UINT>0x[0-9a-fA-F]+[uU]|\d+[uU])"
    r"|(?P<INT>0x[0-9a-fA-F]+|\d+)"
    r"|(?P<ESCAPED>`[A-Za-z0-9_.\-/ ]+`)"
    r"|(?P<IDENT>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<op>==|!=|<=|>=|&&|\|\||[\[\]{}().,\-!?:+*/%<>])",
    re.ASCII,
)
#: The start of a string that does not end: everything up to what breaks it.
_BROKEN = re.compile(r"[bB]?(?:\"(?:" + _ESCAPE + r"|[^\\\"\n\r])*|'(?:" + _ESCAPE + r"|[^\\'\n\r])*|=|&|\|)")
_WORDS = ("in", "true", "false", "null")


class Token(NamedTuple):
    """``kind`` is the text of an operator, or INT, UINT, FLOAT, STRING, BYTES, IDENT, ESCAPED, EOF."""

    kind: str
    text: str
    offset: int


def tokens_of(source: str) -> tuple[list[Token], list[Issue]]:
    """Return every token and the end of input; what is no token is an issue and left out."""
    pairs: list[Token] = []
    issues: list[Issue] = []
    offset = 0
    while offset < len(source):
        match = _TOKEN.match(source, offset)
        if match is None:
            offset = _unknown(source, offset, issues)
            continue
        kind, text = match.lastgroup or "", match.group()
        if kind == "op" or (kind == "IDENT" and text in _WORDS):
            kind = text
        if kind != "skip":
            pairs.append(Token(kind, text, offset))
        offset = match.end()
    return [*pairs, Token("EOF", "<EOF>", len(source))], issues


def _unknown(source: str, offset: int, issues: list[Issue]) -> int:
    """Record what is no token; where to go on. The lexer has read one character more than fits, which it skips."""
    broken = _BROKEN.match(source, offset)
    end = broken.end() if broken else offset
    if broken and source[end : end + 1] == "\\":
        end += _escape_length(source[end:])
    end = min(max(end, offset) + 1, len(source))
    text = source[offset:end].replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")
    issues.append(Issue(offset, f"Syntax error: token recognition error at: '{text}'"))
    return end


def _escape_length(text: str) -> int:
    """Return how much of a wrong escape fits before the character that does not."""
    good = re.match(r"\\(?:[xX][0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|[0-3][0-7]?)?", text)
    return good.end() if good else 1


def unescape(text: str, *, is_bytes: bool) -> str | bytes:
    """Return what stands between the quotes, escapes resolved. Raises ValueError with cel-go's words."""
    raw = text[0] in "rR"
    body = text[raw:]
    quotes = 3 if body[:3] in ('"""', "'''") else 1
    body = body[quotes:-quotes].replace("\r\n", "\n").replace("\r", "\n")
    if raw or "\\" not in body:
        return body.encode() if is_bytes else body
    pieces: list[bytes] = []
    offset = 0
    for match in _SEQUENCE.finditer(body):
        pieces.append(body[offset : match.start()].encode())
        pieces.append(_decode_escape(match, is_bytes=is_bytes))
        offset = match.end()
    joined = b"".join([*pieces, body[offset:].encode()])
    return joined if is_bytes else joined.decode()


def _decode_escape(match: re.Match[str], *, is_bytes: bool) -> bytes:
    simple, hexed, short, long, octal = match.groups()
    if simple is not None:
        return _SIMPLE[simple].encode()
    if hexed is not None or octal is not None:
        code = int(hexed, 16) if hexed is not None else int(octal, 8)
        return bytes([code]) if is_bytes else chr(code).encode()
    if is_bytes:
        raise ValueError("unable to unescape string")
    code = int(short or long, 16)
    if code > 0x10FFFF or 0xD800 <= code < 0xE000:
        raise ValueError("invalid unicode code point")
    return chr(code).encode()


_OPERAND = (
    "'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER"
)
_STARTS = frozenset(
    ("[", "{", "(", ".", "-", "!", "true", "false", "null", "FLOAT", "INT", "UINT", "STRING", "BYTES", "IDENT")
)
_OPERAND_OR = {
    ")": "'[', '{', '(', ')', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, "
    "IDENTIFIER",
    "]": "'[', ']', '{', '(', '.', ',', '-', '!', '?', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, "
    "BYTES, IDENTIFIER",
    "}": "'[', '{', '}', '(', '.', ',', '-', '!', '?', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, "
    "BYTES, IDENTIFIER",
}
_NUMBERS = ("INT", "FLOAT")
_CONSTANTS: dict[str, tuple[Type, Callable[[str], Any]]] = {
    "INT": (INT, parse_int), "UINT": (UINT, uint_of), "FLOAT": (DOUBLE, double_of),
    "STRING": (STRING, lambda text: unescape(text, is_bytes=False)),
    "BYTES": (BYTES, lambda text: unescape(text[1:], is_bytes=True)),
}  # fmt: skip
_FIELDS = "'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER"
_BINARY = (
    ("<", "<=", ">=", ">", "==", "!=", "in"),
    ("+", "-"),
    ("*", "/", "%"),
)
_OPERATOR = {
    "in": "@in", "&&": "_&&_", "||": "_||_", "!": "!_",
    **{op: f"_{op}_" for ops in _BINARY for op in ops if op != "in"},
}  # fmt: skip
RESERVED = frozenset(
    (
        "as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let", "loop",
        "package", "namespace", "null", "return", "true", "var", "void", "while",
    )
)  # fmt: skip
#: Code points of one expression, and how deep it may nest. Deeper than ours, the server still parses up to 250.
_MOST, _DEEPEST, _SERVERS_DEEPEST = 100_000, 60, 250


class _Stop(Exception):
    """A syntax error after which nothing sensible can be parsed."""


def parse(source: str, version: tuple[int, int]) -> ast.SyntaxNode:
    """Return the tree of the expression. Raises CompileError, or NotComputed where it nests too deeply for this
    program.
    """
    if len(source) > _MOST:
        message = f"expression code point size exceeds limit: size: {len(source)}, limit {_MOST}"
        raise CompileError(source, [Issue(-1, message)])
    parser = _Parser(source, version)
    try:
        node = parser.begin_node()
    except _Stop:
        node = None
    if parser.issues or node is None:
        raise CompileError(source, parser.issues)
    return node


class _Parser:
    def __init__(self, source: str, version: tuple[int, int]) -> None:
        self.tokens, self.issues = tokens_of(source)
        self.source, self.version, self.position, self.depth = source, version, 0, 0

    @property
    def current(self) -> Token:
        return self.tokens[self.position]

    def _after(self) -> Token:
        return self.tokens[min(self.position + 1, len(self.tokens) - 1)]

    def _advance(self) -> Token:
        token = self.current
        if token.kind != "EOF":
            self.position += 1
        return token

    def _report(self, offset: int, message: str) -> None:
        self.issues.append(Issue(offset, message))

    def _syntax(self, message: str) -> None:
        self._report(self.current.offset, f"Syntax error: {message}")

    def _stop(self, message: str) -> NoReturn:
        self._syntax(message)
        raise _Stop

    def _expect(self, kind: str) -> Token:
        """Return the token of that kind. One too many is skipped; one that is missing at the end is taken as there."""
        if self.current.kind == kind:
            return self._advance()
        expected = "<EOF>" if kind == "EOF" else f"'{kind}'"
        if self.current.kind != "EOF" and self._after().kind == kind:
            self._syntax(f"extraneous input '{self.current.text}' expecting {expected}")
            self._advance()
            return self._advance()
        if kind == ")" and self.current.kind in ("EOF", ")", "]", "}", ",", ":"):
            self._syntax(f"missing ')' at '{self.current.text}'")
            return self.current
        return self._stop(f"mismatched input '{self.current.text}' expecting {expected}")

    def begin_node(self) -> ast.SyntaxNode:
        node = self._expression()
        self._expect("EOF")
        return node

    def _expression(self) -> ast.SyntaxNode:
        self.depth += 1
        if self.depth > _SERVERS_DEEPEST:
            self._report(-1, f"expression recursion limit exceeded: {_SERVERS_DEEPEST}")
            raise _Stop
        if self.depth > _DEEPEST:
            raise NotComputed("an expression nested too deeply")
        node = self._logical("||", "&&")
        if self.current.kind == "?":
            op = self._advance()
            then = self._logical("||", "&&")
            self._expect(":")
            node = ast.Call(op.offset, "_?_:_", [node, then, self._expression()])
        self.depth -= 1
        return node

    def _logical(self, op: str, inner: str) -> ast.SyntaxNode:
        terms, offset = [self._terms(inner)], 0
        while self.current.kind == op:
            offset = self._advance().offset
            terms.append(self._terms(inner))
        return terms[0] if len(terms) == 1 else ast.Call(offset, _OPERATOR[op], terms)

    def _terms(self, op: str) -> ast.SyntaxNode:
        return self._logical("&&", "") if op else self._binary(0)

    def _binary(self, level: int) -> ast.SyntaxNode:
        if level == len(_BINARY):
            return self._unary()
        node = self._binary(level + 1)
        chained = 0
        while self.current.kind in _BINARY[level]:
            chained += 1
            if chained > _SERVERS_DEEPEST:
                self._report(-1, "max recursion depth exceeded")
                raise _Stop
            op = self._advance()
            node = ast.Call(op.offset, _OPERATOR[op.kind], [node, self._binary(level + 1)])
        return node

    def _unary(self) -> ast.SyntaxNode:
        first = self.current
        if first.kind not in ("!", "-"):
            return self._member()
        if first.kind == "-" and self._after().kind in ("INT", "FLOAT"):
            return self._member()
        count = 0
        while self.current.kind == first.kind:
            if first.kind == "-" and self._after().kind in ("INT", "FLOAT"):
                break
            self._advance()
            count += 1
        node = self._member()
        return node if count % 2 == 0 else ast.Call(first.offset, "!_" if first.kind == "!" else "-_", [node])

    def _member(self) -> ast.SyntaxNode:
        node = self._primary()
        while self.current.kind in (".", "["):
            node = self._parse_selection(node) if self.current.kind == "." else self._parse_index(node)
        return node

    def _parse_selection(self, operand: ast.SyntaxNode) -> ast.SyntaxNode:
        dot = self._advance()
        optional = self.current.kind == "?"
        if optional:
            self._advance()
            self._needs_optional(dot.offset, "unsupported syntax '.?'")
        name = self.current
        if name.kind not in ("IDENT", "ESCAPED"):
            self._no_name(name, optional=optional)
        self._advance()
        if name.kind == "ESCAPED":
            self._report(name.offset, "unsupported syntax: '`'")
        if self.current.kind == "(" and not optional and name.kind == "IDENT":
            opened = self._advance()
            args = self._arguments()
            return self._call(opened.offset, name.text, operand, args)
        return ast.Select(dot.offset, operand, name.text.strip("`"), optional=optional)

    def _no_name(self, name: Token, *, optional: bool) -> NoReturn:
        if name.kind in ("true", "false", "null"):
            self._stop(f"mismatched input '{name.text}' expecting IDENTIFIER")
        if optional:
            self._stop(f"mismatched input '{name.text}' expecting {{IDENTIFIER, ESC_IDENTIFIER}}")
        self._stop(f"no viable alternative at input '.{'' if name.kind == 'EOF' else name.text}'")

    def _parse_index(self, operand: ast.SyntaxNode) -> ast.SyntaxNode:
        opened = self._advance()
        optional = self.current.kind == "?"
        if optional:
            self._advance()
            self._needs_optional(opened.offset, "unsupported syntax '[?'")
        index = self._expression()
        self._expect("]")
        return ast.Call(opened.offset, "_[?_]" if optional else "_[_]", [operand, index])

    def _needs_optional(self, offset: int, message: str) -> None:
        if self.version < (1, 28):
            self._report(offset, message)

    def _arguments(self) -> list[ast.SyntaxNode]:
        """Return the arguments up to and with the closing parenthesis."""
        if self.current.kind == ")":
            self._advance()
            return []
        if self.current.kind not in _STARTS:
            self._no_operand(_OPERAND_OR[")"])
        args = [self._expression()]
        while self.current.kind == ",":
            self._advance()
            args.append(self._expression())
        self._expect(")")
        return args

    def _no_operand(self, expected: str) -> None:
        """Something else stands where an operand belongs: skip one token that is too many, or stop."""
        if self.current.kind != "EOF" and self._after().kind in _STARTS:
            self._syntax(f"extraneous input '{self.current.text}' expecting {{{expected}}}")
            self._advance()
            return
        self._stop(f"mismatched input '{self.current.text}' expecting {{{expected}}}")

    def _primary(self) -> ast.SyntaxNode:
        if self.current.kind not in _STARTS:
            self._no_operand(_OPERAND)
            return self._unary()
        token = self.current
        if token.kind in ("IDENT", "."):
            return self._parse_name()
        if token.kind == "!":
            self._stop("no viable alternative at input '-!'")
        self._advance()
        if token.kind == "(":
            node = self._expression()
            self._expect(")")
            return node
        if token.kind == "[":
            return self._list(token)
        if token.kind == "{":
            return self._map(token)
        if token.kind == "-":
            return self._number(token, self._advance())
        return self._literal(token)

    def _parse_name(self) -> ast.SyntaxNode:
        leading = self.current.offset if self.current.kind == "." else None
        if leading is not None:
            self._advance()
            if self.current.kind != "IDENT":
                self._no_name(self.current, optional=False)
        first = self._advance()
        prefix = "." if leading is not None else ""
        message = self._message(prefix + first.text)
        if message is not None:
            return message
        if first.text in RESERVED:
            self._report(first.offset if leading is None else leading, f"reserved identifier: {first.text}")
        if self.current.kind == "(":
            opened = self._advance()
            return self._call(opened.offset, prefix + first.text, None, self._arguments())
        return ast.Ident(first.offset, prefix + first.text)

    def _message(self, name: str) -> ast.SyntaxNode | None:
        """``a.b.C{...}`` if names and dots lead to a brace, else nothing is read."""
        ahead = self.position
        while self.tokens[ahead].kind == "." and self.tokens[ahead + 1].kind == "IDENT":
            name += "." + self.tokens[ahead + 1].text
            ahead += 2
        if self.tokens[ahead].kind != "{":
            return None
        self.position = ahead
        opened = self._advance()
        entries: list[ast.Entry] = []
        while self.current.kind not in ("}", ","):
            entries.append(self._field())
            if not self._has_more_entries("}"):
                break
        self._close("}")
        return ast.Message(opened.offset, name, entries)

    def _field(self) -> ast.Entry:
        optional = self._question()
        if self.current.kind not in ("IDENT", "ESCAPED"):
            expected = "IDENTIFIER, ESC_IDENTIFIER" if optional else _FIELDS
            if self.current.kind != "EOF" and self._after().kind == "IDENT":
                self._syntax(f"extraneous input '{self.current.text}' expecting {{{expected}}}")
                self._advance()
            else:
                self._stop(f"mismatched input '{self.current.text}' expecting {{{expected}}}")
        name = self._advance()
        colon = self._expect(":")
        return ast.Entry(colon.offset, name.text.strip("`"), self._expression(), optional=optional)

    def _question(self) -> bool:
        if self.current.kind != "?":
            return False
        self._needs_optional(self.current.offset, "unsupported syntax '?'")
        self._advance()
        return True

    def _has_more_entries(self, closing_bracket: str) -> bool:
        """Return whether another entry follows a comma."""
        if self.current.kind != ",":
            return False
        if self._after().kind == closing_bracket:
            return False
        self._advance()
        return True

    def _close(self, closing_bracket: str) -> None:
        if self.current.kind == ",":
            self._advance()
            self._expect(closing_bracket)
            return
        if self.current.kind != closing_bracket:
            order = "']', ','" if closing_bracket == "]" else "'}', ','"
            if self.current.kind != "EOF" and self._after().kind == closing_bracket:
                self._syntax(f"extraneous input '{self.current.text}' expecting {{{order}}}")
                self._advance()
            else:
                self._stop(f"mismatched input '{self.current.text}' expecting {{{order}}}")
        self._advance()

    def _list(self, opened: Token) -> ast.SyntaxNode:
        items: list[ast.SyntaxNode] = []
        optional = set()
        while self.current.kind not in ("]", ","):
            if self.current.kind != "?" and self.current.kind not in _STARTS:
                self._no_operand(_OPERAND if items else _OPERAND_OR["]"])
            if self._question():
                optional.add(len(items))
            items.append(self._expression())
            if not self._has_more_entries("]"):
                break
        self._close("]")
        return ast.ListNode(opened.offset, items, frozenset(optional))

    def _map(self, opened: Token) -> ast.SyntaxNode:
        entries: list[ast.Entry] = []
        while self.current.kind not in ("}", ","):
            if self.current.kind != "?" and self.current.kind not in _STARTS:
                self._no_operand(_OPERAND if entries else _OPERAND_OR["}"])
            optional = self._question()
            key = self._expression()
            colon = self._expect(":")
            entries.append(ast.Entry(colon.offset, key, self._expression(), optional=optional))
            if not self._has_more_entries("}"):
                break
        self._close("}")
        return ast.MapNode(opened.offset, entries)

    def _call(
        self, offset: int, name: str, target: ast.SyntaxNode | None, args: list[ast.SyntaxNode]
    ) -> ast.SyntaxNode:
        if target is None and name.lstrip(".") in RESERVED:
            return ast.Call(offset, name, args)
        try:
            return expand(offset, name, target, args, self.version) or ast.Call(offset, name, args, target)
        except MacroError as misuse:
            self._report(misuse.offset, misuse.message)
            return ast.Call(offset, name, args, target)

    def _number(self, sign: Token, token: Token) -> ast.SyntaxNode:
        if token.kind not in _NUMBERS:
            self._stop(f"no viable alternative at input '-{token.text}'")
        return self._constant(sign.offset, token.kind, "-" + token.text)

    def _literal(self, token: Token) -> ast.SyntaxNode:
        if token.kind in ("true", "false", "null"):
            constant = {"true": True, "false": False, "null": None}[token.kind]
            return ast.Literal(token.offset, NULL if constant is None else BOOL, constant)
        return self._constant(token.offset, token.kind, token.text)

    def _constant(self, offset: int, kind: str, text: str) -> ast.SyntaxNode:
        """Return a number or a text; what is wrong with it is reported."""
        result, read = _CONSTANTS[kind]
        try:
            return ast.Literal(offset, result, read(text))
        except ValueError as error:
            self._report(offset, str(error))
            return ast.Literal(offset, result, None)
