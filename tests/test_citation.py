"""How the project asks to be cited is as new as the project."""

import tomllib

import yaml

from app.site.environment import ROOT


def test_the_citation_names_this_version() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert cited["version"] == project["version"]
    assert cited["cff-version"] == "1.2.0"
    assert cited["title"].startswith("NormLab")
    assert cited["authors"]
