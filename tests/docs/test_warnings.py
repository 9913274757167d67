"""The page of warnings has the sentence of each that the library gives, and no other."""

import ast
import re

from kronbench.models import _product_kernel_model, kron_ridge
from tests.docs.pages import DOCS, ROOT, texts

QUOTED = {" ".join(text.split()) for text in texts(DOCS / "warnings.md", "text")}


def patterns():
    """The sentence of each call of warnings.warn, where any number or word may stand in."""
    for file in (ROOT / "src/kronbench").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "warnings.warn":
                parts = getattr(node.args[0], "values", [node.args[0]])
                yield "".join(
                    re.escape(part.value) if isinstance(part, ast.Constant) else "(.+)"
                    for part in parts
                )


def test_each_warning_is_quoted_and_each_quotation_is_of_a_warning():
    found = {sentence: {q for q in QUOTED if re.fullmatch(sentence, q)} for sentence in patterns()}
    assert len(found) > 12
    assert all(found.values()), [sentence for sentence, quoted in found.items() if not quoted]
    assert set().union(*found.values()) == QUOTED


def test_each_end_of_the_iterations_is_quoted_with_its_remedy():
    ends = [
        *((f"ended by {why}", advice) for why, advice in _product_kernel_model._STOPS.values()),
        *(
            (why, f"give {advice}")
            for why, advice in (kron_ridge._END_BY_ROUNDING, kron_ridge._END_FAR_OFF)
        ),
    ]
    for why, advice in ends:
        assert any(f" {why} " in quoted and quoted.endswith(f": {advice}") for quoted in QUOTED)
