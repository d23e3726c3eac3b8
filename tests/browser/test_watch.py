"""The watchman sees what he is there for: otherwise none of the other tests would prove it."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from tests.browser.driver import ForeignHosts, Lesson, Watch


@pytest.fixture
def spoiled_watch(watch: Watch, foreign: ForeignHosts):
    """Forgets, at the end, what the test provoked."""
    before = len(foreign.asked)
    yield watch
    watch.foreign.clear()
    watch.complaints.clear()
    del foreign.asked[before:]


FETCH = "() => fetch('http://cdn.example/panel.css').then(() => 'answered', () => 'refused')"


def test_a_request_of_the_page_to_another_host_is_seen(
    spoiled_watch: Watch, lesson: Lesson, foreign: ForeignHosts
) -> None:
    page = lesson.open().page
    page.evaluate(FETCH)
    assert "http://cdn.example/panel.css" in spoiled_watch.foreign
    assert any("cdn.example" in asked for asked in foreign.asked)


def test_a_request_of_the_worker_to_another_host_is_seen(
    spoiled_watch: Watch, lesson: Lesson, foreign: ForeignHosts
) -> None:
    lesson.open().until(runtime="live")
    worker(lesson.page).evaluate(FETCH)
    assert "http://cdn.example/panel.css" in spoiled_watch.foreign
    assert any("cdn.example" in asked for asked in foreign.asked)


def test_an_error_of_the_page_and_a_warning_of_the_worker_are_seen(
    spoiled_watch: Watch, lesson: Lesson
) -> None:
    lesson.open().until(runtime="live")
    lesson.page.evaluate("() => console.error('page fell over')")
    worker(lesson.page).evaluate("() => console.warn('worker stumbled')")
    # What the browser tells has come by the time that this has been answered.
    lesson.page.evaluate("() => new Promise((done) => setTimeout(done))")
    complaints = " ".join(spoiled_watch.unexpected())
    assert "page fell over" in complaints
    assert "worker stumbled" in complaints


def worker(page: Page):
    (only,) = page.workers
    return only
