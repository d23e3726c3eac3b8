"""Few and readable files for a page to wait for; a module that cannot be made ends the build."""

import re
from pathlib import Path

import pytest

from app.site import scripts
from app.site.environment import Failure


def test_every_script_of_ours_is_in_a_file_that_pages_load() -> None:
    files = scripts.gather()
    whole = "\n".join(text.decode() for text in files.values())
    parts = {part for parts in scripts.PLAIN.values() for part in parts}
    inside = set(re.findall(r"^ *(?:// |\")(\w+\.js)(?:\"\(\) \{)?$", whole, re.MULTILINE))
    own = {path.name for path in scripts.WEB.glob("*.js")} - {"offline.js"}  # at the site's top
    assert own <= parts | inside
    assert set(files) == {*scripts.PLAIN, *scripts.CLASSIC, *scripts.ENTRIES}


def test_pages_share_one_start_of_python_and_import_nothing_else() -> None:
    for name, text in scripts.gather().items():
        imported = re.findall(r'^import [^"]*"([^"]+)";$', text.decode(), re.MULTILINE)
        assert set(imported) == ({"./python.js"} if name in ("page.js", "embed.js") else set())


@pytest.mark.parametrize(
    ("name", "what"), [("paint.js", "normlab"), ("controls.js", "normlabControl")]
)
def test_what_a_page_from_a_file_runs_is_no_module_and_publishes_one_name(
    name: str, what: str
) -> None:
    text = scripts.gather()[name].decode()
    assert re.fullmatch(r'("use strict";\n)?\(\(\) => \{\n(( .*)?\n)*\}\)\(\);\n', text)
    published = set(re.findall(r"window\.(\w+) = ", text))
    assert published == {what}


def test_a_module_that_cannot_be_put_together_ends_the_build_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "page.js").write_text('import { gone } from "./elsewhere.js";\ngone();\n')
    with pytest.raises(Failure, match=r"page\.js:1(.|\n)*elsewhere"):
        scripts.bundled(tmp_path, ["page.js"])
