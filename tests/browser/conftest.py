"""Drives the built site in a real Chromium, served under the strictest policy it claims to need.

After every test the page must have asked nothing of another host, and written no error and no
warning to its console.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, sync_playwright

from app.site import browser as chromium
from app.site import cli
from tests.browser.driver import ForeignHosts, Host, Lesson, Watch

BROWSER = pytest.mark.browser


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(BROWSER)


@pytest.fixture(scope="session")
def site() -> Path:
    """The built site; made now if it is not up to date."""
    named = os.environ.get("NORMLAB_SITE")
    if named:
        return Path(named)
    cli.build()
    return cli.SITE


@pytest.fixture(scope="session")
def foreign() -> Iterator[ForeignHosts]:
    proxy = ForeignHosts()
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    yield proxy
    proxy.shutdown()


@pytest.fixture(scope="session")
def browser(foreign: ForeignHosts) -> Iterator[Browser]:
    program = str(chromium.ensure())  # starts Playwright itself
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(
            executable_path=program,
            proxy={
                "server": f"http://127.0.0.1:{foreign.server_address[1]}",
                "bypass": "127.0.0.1",
            },
            args=[
                "--no-sandbox", "--disable-gpu", "--disable-background-networking",
                "--disable-component-update", "--disable-domain-reliability", "--disable-sync",
                "--no-first-run", "--no-pings",
            ],
        )  # fmt: skip
        yield running
        running.close()


@pytest.fixture
def serve() -> Iterator[Callable[..., Host]]:
    """Serves a folder at a base path, until the test ends."""
    running: list[Host] = []

    def start(folder: Path, base: str = "/") -> Host:
        running.append(Host(folder, base))
        threading.Thread(target=running[-1].serve_forever, daemon=True).start()
        return running[-1]

    yield start
    for host in running:
        for event in host.held.values():
            event.set()
        host.shutdown()
        host.server_close()


@pytest.fixture
def host(site: Path, serve: Callable[..., Host]) -> Host:
    """A server of the site of a test's own, so that it may spoil files."""
    return serve(site)


@pytest.fixture
def watch(foreign: ForeignHosts) -> Iterator[Watch]:
    before = len(foreign.asked)
    watch = Watch()
    yield watch
    assert watch.foreign + foreign.asked[before:] == [], "the page asked other hosts"
    assert watch.unexpected() == [], "the page wrote complaints to its console"


@pytest.fixture
def new_context(browser: Browser, watch: Watch) -> Iterator[Callable[..., BrowserContext]]:
    """Opens a watched browser context, its options as Playwright's."""
    opened = []

    def new(*homes: str, **options: Any) -> BrowserContext:
        # What a service worker has kept would hide what a page does with a spoiled file.
        usual = {"viewport": {"width": 1100, "height": 800}, "service_workers": "block"}
        context = browser.new_context(**{**usual, **options})
        context.set_default_timeout(30_000)
        watch.on(context, *homes)
        opened.append(context)
        return context

    yield new
    for context in opened:
        context.close()


@pytest.fixture
def lesson(new_context: Callable[..., BrowserContext], host: Host, watch: Watch) -> Lesson:
    """The warm-up lesson's page, not yet opened."""
    return Lesson(new_context(host.address).new_page(), host, watch)
