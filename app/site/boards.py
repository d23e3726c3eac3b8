"""HTML that only one experiment has: its board, `web/templates/boards/<experiment>.html`, and what
belongs to it below the figures, `<experiment>.below.html`.

A board is given, besides what every template has (`say`):

    tex("x + F(x)")             a formula, typeset
    typeset("so $x$ grows")     words with formulas in them, from texts below `<experiment>.board`;
                                `[@paper]` in them becomes a link
    sets("term", "bound")       attributes of a button that sets an option
    when("term", "bound", …)    attributes of what is shown in these states only
    part                        what `Experiment.extra_parts` fills in, by place (`data-part`)
    embedded                    whether it stands in an embed view: one folder further down

`web/paint.js` keeps the attributes up to date; without scripts all paragraphs and drawings are
shown (`web/templates/live.html`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jinja2
from markupsafe import Markup

from app import lines
from app.ui import markup
from app.ui.strings import Strings

_FORMULA = re.compile(r"\$([^$]+)\$")


def shown_when(condition: str, state: Mapping[str, str]) -> Markup:
    """Attributes of what is shown only where `condition` ("term=bound|limit") holds."""
    option, _, values = condition.partition("=")
    hidden = Markup() if state[option] in values.split("|") else Markup(" hidden")
    return Markup('data-when="{}"').format(condition) + hidden


def board(
    templates: jinja2.Environment,
    name: str,
    say: Strings,
    *,
    state: Mapping[str, str],
    parts: Mapping[str, str],
    typeset: Callable[[Sequence[str]], Sequence[str]],
    values: Mapping[str, Any],
) -> Markup:
    """The board of that `name` for an experiment at its default `state`; empty if there is none.

    `typeset` turns formulas into HTML, all of a board at once, which is quicker. `values`: what
    else the template is to know.
    """
    try:
        template = templates.get_template(f"boards/{name}.html")
    except jinja2.TemplateNotFound:
        return Markup()

    done: dict[str, str] = {}

    def tex(formula: str) -> Markup:
        return Markup(done.setdefault(formula, ""))

    def words(text: str) -> Markup:
        pieces = _FORMULA.split(text)  # every second one is a formula
        split = [
            lines.apart(words, after=place > 0, before=place < len(pieces) // 2)
            for place, words in enumerate(pieces[::2])
        ]
        html = Markup(markup.text(split[0][1]))
        for formula, one, other in zip(pieces[1::2], split, split[1:], strict=False):
            html += Markup(lines.glued(tex(formula), one[2], other[0]))
            html += Markup(markup.text(other[1]))  # a sum of the two would escape the second
        return html

    def sets(option: str, value: str) -> Markup:
        pressed = "true" if state[option] == value else "false"
        return Markup('data-sets="{}={}" aria-pressed="{}"').format(option, value, pressed)

    def when(option: str, *values: str) -> Markup:
        return shown_when(f"{option}={'|'.join(values)}", state)

    def render() -> Markup:
        return Markup(
            template.render(
                say=say,
                tex=tex,
                typeset=words,
                sets=sets,
                when=when,
                part={place: Markup(html) for place, html in parts.items()},
                **values,
            )
        )

    render()  # finds out which formulas there are
    done.update(zip(list(done), typeset(list(done)), strict=True))
    return render()
