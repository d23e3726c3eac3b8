"""Versions that have drifted apart end the build."""

from __future__ import annotations

import pytest

from app.site import bundle, fetch, versions
from app.site.environment import Failure


def test_a_bokehjs_of_another_version_ends_the_build() -> None:
    script = (versions.package("bokeh") / "server/static/js/bokeh.min.js").read_text("utf-8")
    versions.check_bokehjs(script, "3.9.2")
    with pytest.raises(Failure, match=r"BokehJS is 3\.9\.2 but its Python is 3\.9\.1"):
        versions.check_bokehjs(script, "3.9.1")


def test_a_package_of_another_version_than_pinned_ends_the_build(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(fetch.PINS["python"], "panel", "1.9.3")
    with pytest.raises(Failure, match=r"panel 1\.9\.4 is installed but .* says 1\.9\.3"):
        bundle.make(fetch.cache_folder())
