"""Formulas become HTML to be seen and MathML to be heard; a broken one stops the build."""

from pathlib import Path

import pytest

from app.site import node
from app.text import Formula, TextError, Typesetter

HERE = Path("lessons/warmup/en.md")


@pytest.fixture(scope="module")
def typeset() -> Typesetter:
    return Typesetter(node.node(), node.MODULES / "katex")


def test_a_formula_is_html_with_mathml(typeset: Typesetter) -> None:
    html = typeset(Formula(r"\frac{a}{b}", False, HERE, 3))
    assert '<math xmlns="http://www.w3.org/1998/Math/MathML">' in html
    assert "<mfrac><mi>a</mi><mi>b</mi></mfrac>" in html
    assert 'class="katex-html" aria-hidden="true"' in html


def test_a_displayed_formula_says_so(typeset: Typesetter) -> None:
    assert 'display="block"' in typeset(Formula("x", True, HERE))
    assert 'display="block"' not in typeset(Formula("x", False, HERE))


def test_a_batch_is_typeset_once(typeset: Typesetter) -> None:
    formulas = [Formula(f"x_{{{n}}}", False, HERE) for n in range(50)]
    typeset.prepare(formulas)
    typeset._run = None  # type: ignore[assignment,method-assign]  # from here on a run would raise
    try:
        assert all("katex" in typeset(formula) for formula in formulas)
    finally:
        del typeset._run


@pytest.mark.parametrize("tex", [r"\frac{a}{", r"\unknown", "变", r"\href{https://example.org}{x}"])
def test_a_broken_formula_is_named_with_file_and_line(typeset: Typesetter, tex: str) -> None:
    with pytest.raises(TextError) as refused:
        typeset.prepare([Formula("fine", False, HERE, 1), Formula(tex, False, HERE, 12)])
    assert str(refused.value).startswith("lessons/warmup/en.md:12: KaTeX cannot read the formula")


def test_without_katex_a_sentence_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(TextError, match="npm ci"):
        Typesetter(node.node(), tmp_path)(Formula("x", False, HERE))
