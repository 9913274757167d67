"""Formulas between the dollar signs of a text, as MathML for the page, or as plain text.

They are written in the part of LaTeX that the mathtext of matplotlib reads too: letters, numbers,
scripts, ``\\frac``, ``\\sum``, Greek, ``\\mathbf`` and the like.
"""

from __future__ import annotations

import re
from html import escape, unescape

from kronbench.errors import InputError


def apart(text: str) -> list[str]:
    """Texts and formulas of a text in turn; a dollar sign alone is text."""
    return re.split(r"\$([^$]+)\$", text)


def html(text: str) -> str:
    """A text for the page: signs of HTML escaped, formulas as MathML.

    Raises
    ------
    InputError
        A formula holds a command that is not known here.
    """
    pieces = apart(text)
    pieces[0::2] = map(escape, pieces[0::2])
    pieces[1::2] = [f"<math>{mathml(formula)}</math>" for formula in pieces[1::2]]
    return "".join(pieces)


def plain(text: str) -> str:
    """A text for readers of plain text: formulas by their letters alone, ``H^k_ii``."""
    pieces = apart(text)
    pieces[1::2] = [
        re.sub(r"\\(mathbf|mathcal|mathrm) ?|[\\{}]", "", formula) for formula in pieces[1::2]
    ]
    return "".join(pieces)


_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\d+(?:\.\d+)?|\s+|.", re.DOTALL)
_NAMES = {"cdot": "sdot", "neq": "ne"}  # other signs have in HTML the name that they have in LaTeX
_WORDS = {"max", "min", "log", "exp"}
_SPACES = {",": "0.17em", ";": "0.28em", "quad": "1em"}
_ALPHABETS = {"mathbf": {"A": 0x1D400, "a": 0x1D41A}, "mathcal": {"A": 0x1D4D0, "a": 0x1D4EA}}


def mathml(formula: str) -> str:
    """A formula as the content of a ``math`` element (MathML Core)."""
    tokens = [token for token in _TOKEN.findall(formula) if not token.isspace()]
    nodes = _sequence(tokens, formula)
    if tokens:
        raise InputError(f"the formula {formula!r} closes a brace that it does not open")
    return nodes


def _sequence(tokens, formula):
    nodes = []
    while tokens and tokens[0] != "}":
        node = _atom(tokens, formula)
        scripts = {}
        while tokens and tokens[0] in ("_", "^"):
            sign = tokens.pop(0)
            scripts[sign] = _atom(tokens, formula)
        if scripts:
            kind = "msubsup" if len(scripts) == 2 else "msub" if "_" in scripts else "msup"
            node = f"<{kind}>{node}{scripts.get('_', '')}{scripts.get('^', '')}</{kind}>"
        nodes.append(node)
    return "".join(nodes)


def _atom(tokens, formula):
    if not tokens:
        raise InputError(f"the formula {formula!r} ends where a symbol is due")
    token = tokens.pop(0)
    if token == "{":
        inside = _sequence(tokens, formula)
        if not tokens:
            raise InputError(f"the formula {formula!r} opens a brace that it does not close")
        tokens.pop(0)
        return f"<mrow>{inside}</mrow>"
    if token[0].isdigit():
        return f"<mn>{token}</mn>"
    if token[0] != "\\":
        return _symbol("\N{MINUS SIGN}" if token == "-" else token)
    name = token[1:]
    if name == "frac":
        return f"<mfrac>{_atom(tokens, formula)}{_atom(tokens, formula)}</mfrac>"
    if name == "mathrm":
        return f'<mi mathvariant="normal">{_letters(tokens)}</mi>'
    if name in _ALPHABETS:
        first = _ALPHABETS[name]
        letters = "".join(
            chr(first["a" if letter.islower() else "A"] + ord(letter.lower()) - ord("a"))
            for letter in _letters(tokens)
        )
        return f"<mi>{letters}</mi>"
    if name in _WORDS:
        return f"<mi>{name}</mi>"
    if name in _SPACES:
        return f'<mspace width="{_SPACES[name]}"></mspace>'
    sign = name if name in ("{", "}") else unescape(f"&{_NAMES.get(name, name)};")
    if len(sign) == 1:
        return _symbol(sign)
    raise InputError(f"the formula {formula!r} has the command {token}, which the page cannot set")


def _symbol(sign):
    kind = "mi" if sign.isalpha() else "mo"
    return f"<{kind}>{escape(sign)}</{kind}>"


def _letters(tokens):
    """The letters of a brace, or one letter."""
    if tokens[:1] != ["{"] or "}" not in tokens:
        return "".join(tokens[:1] and [tokens.pop(0)])
    end = tokens.index("}")
    letters = "".join(tokens[1:end])
    del tokens[: end + 1]
    return letters
