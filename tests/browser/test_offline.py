"""The service worker: what was visited opens offline, and what is new shows at once."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from app.site import brotli, packing
from app.ui.strings import LANGUAGES
from tests.browser.driver import FEW, PATIENCE, Host, Lesson, Watch, missing, truncated

KEPT = """async () => {
  const found = [];
  for (const name of await caches.keys()) {
    found.push(...(await (await caches.open(name)).keys()).map(({ url }) => new URL(url).pathname));
  }
  return found;
}"""

REGISTERED = """addEventListener("DOMContentLoaded", () => {
  const { serviceWorker } = navigator;
  const register = serviceWorker.register.bind(serviceWorker);
  serviceWorker.register = (...how) => {
    const ready = document.querySelector("[data-state=ready]");
    window.registered = [document.documentElement.dataset.runtime, ready !== null];
    return register(...how);
  };
})"""


@pytest.fixture
def of_a_copy(
    new_context: Callable[..., BrowserContext],
    serve: Callable[..., Host],
    site: Path,
    tmp_path: Path,
    watch: Watch,
) -> Callable[..., Lesson]:
    """A lesson, not opened yet, of a copy of the site that a test may change: below this folder of
    its host, in a browser with service workers."""

    def make(base: str = "/") -> Lesson:
        shutil.copytree(site, tmp_path / "site")
        host = serve(tmp_path / "site", base)
        page = new_context(host.address, service_workers="allow").new_page()
        return Lesson(page, host, watch)

    return make


@pytest.fixture
def visited(of_a_copy: Callable[..., Lesson]) -> Lesson:
    """A lesson below a folder of its host, live, with a service worker that has kept it. The reader
    came to it from another one while Python was starting."""
    lesson = of_a_copy("/courses/norm/")
    lesson.page.add_init_script(REGISTERED)
    lesson.open(slug="signal")
    # Before the page's scripts are there, a click would be an ordinary load.
    entered = lesson.page.locator("html:not([data-runtime=static]) section[data-painted=done]")
    expect(entered.first).to_be_attached(timeout=PATIENCE)
    lesson.page.locator("a[rel=prev]").click()
    lesson.ready()
    within_patience(lesson, "navigator.serviceWorker.ready")
    kept_at_last(lesson, "/en/signal/")
    kept_at_last(lesson, "/en/warmup/")
    return lesson


def within_patience(lesson: Lesson, promise: str) -> None:
    """Wait for what the browser alone decides when to do; never for ever."""
    lesson.page.evaluate(
        f"""() => Promise.race([
          {promise},
          new Promise((_, no) => setTimeout(() => no(new Error("not yet")), {PATIENCE})),
        ]).then(() => {{}})"""
    )


def kept_at_last(lesson: Lesson, end: str) -> list[str]:
    """What is kept, as soon as a path of that end is."""
    return list(
        lesson.page.evaluate(
            f"""async (end) => {{
              const kept = {KEPT};
              const latest = performance.now() + {PATIENCE};
              for (;;) {{
                const found = await kept();
                if (found.some((path) => path.endsWith(end))) return found;
                if (performance.now() > latest) throw new Error(`not kept: ${{end}}`);
                await new Promise((resolve) => setTimeout(resolve, 50));
              }}
            }}""",
            end,
        )
    )


def tell(lesson: Lesson, *paths: str) -> None:
    """Have the worker keep these pages, one after the other, as it does once Python is live."""
    lesson.page.evaluate(
        "(pages) => navigator.serviceWorker.controller.postMessage({ pages, used: [] })",
        [lesson.host.address + path for path in paths],
    )


def gone(lesson: Lesson, cache: str) -> None:
    """Wait until there is no such cache any more."""
    lesson.page.evaluate(
        f"""async (cache) => {{
          const end = performance.now() + {PATIENCE};
          while ((await caches.keys()).includes(cache)) {{
            if (performance.now() > end) throw new Error("the older worker's cache stays");
            await new Promise((resolve) => setTimeout(resolve, 50));
          }}
        }}""",
        cache,
    )


def test_a_visited_lesson_is_live_without_a_line_and_says_nothing_of_its_reader(
    visited: Lesson,
) -> None:
    page = visited.page
    page.locator("nav a[hreflang=zh-Hans]").click()  # visited by travelling
    kept = kept_at_last(visited, "/zh-Hans/warmup/")
    assert all("?" not in path for path in kept)
    page.context.set_offline(True)
    visited.watch.allowed = ("ERR_INTERNET_DISCONNECTED",)
    visited.host.asked.clear()
    page.goto(f"{visited.host.address}en/warmup/?sensitivity.depth=7&sensitivity.seeds=4")
    visited.ready()
    assert "N = 7" in visited.part("sentence")
    # A language in which no Python was started yet has no snapshot of its own here.
    assert visited.watch.unexpected() == []
    visited.watch.allowed = ("",)  # Python complains at length before it gives up
    page.goto(f"{visited.host.address}zh-Hans/warmup/index.html")
    expect(page.locator("html")).to_have_attribute("lang", "zh-Hans")
    visited.painted()
    visited.until(runtime="failed")
    assert set(visited.host.asked) <= {"offline.js"}  # which the browser asks for by itself


def test_a_page_that_was_never_visited_says_so_without_a_line_and_leads_to_what_is_kept(
    visited: Lesson,
) -> None:
    page, home = visited.page, visited.host.address
    # As soon as Python is there, and not before: many leave early.
    assert page.evaluate("registered") == ["live", False]
    kept_at_last(visited, "/zh-Hant/")
    page.context.set_offline(True)
    visited.watch.allowed = ("ERR_INTERNET_DISCONNECTED", "ERR_FAILED", "503")
    page.locator("a[rel=next]").click()  # back in signal, by travelling
    expect(page.locator("html")).to_have_attribute("data-lesson", "signal")
    page.locator("a[rel=next]").click()
    page.wait_for_url(f"{home}en/attenuation/index.html")
    expect(page.locator("h1")).to_have_text("This page needs the network")
    links = page.locator("main li a")
    paths = [str(it.get_attribute("href")).removeprefix(home) for it in links.all()]
    lessons = ["en/warmup/index.html", "en/signal/index.html"]
    fronts = [f"{language}/index.html" for language in LANGUAGES]
    assert paths == [fronts[0], *lessons, *fronts[1:]]
    page.goto(f"{home}zh-Hans/depth/?depth=3")
    expect(page.locator("html")).to_have_attribute("lang", "zh-Hans")
    expect(page.locator("h1")).to_have_text("这一页需要网络")
    page.locator(f'main a[href="{home}en/warmup/index.html"]').click()
    visited.ready()
    page.context.set_offline(False)
    page.goto(f"{home}zh-Hans/depth/")
    expect(page.locator("html")).to_have_attribute("data-lesson", "depth")


def test_in_another_language_the_wanted_page_is_still_the_one_that_is_wanted(
    visited: Lesson,
) -> None:
    page, home = visited.page, visited.host.address
    kept_at_last(visited, "/zh-Hant/")
    page.context.set_offline(True)
    visited.watch.allowed = ("ERR_INTERNET_DISCONNECTED", "503")
    page.goto(f"{home}en/notation/?depth=3")
    page.locator("nav a[hreflang=zh-Hans]").click()
    page.wait_for_url(f"{home}zh-Hans/notation/index.html?depth=3")
    expect(page.locator("h1")).to_have_text("这一页需要网络")
    links = page.locator("main li a")
    expect(links).to_have_count(len(LANGUAGES) + 2)  # the fronts, and the visited lessons
    page.goto(f"{home}en/offline.html")  # its own address leads to no page but the fronts
    expect(page.locator("h1")).to_have_text("This page needs the network")
    expect(links).to_have_count(len(LANGUAGES) + 2)
    fronts = [f"{home}{language}/index.html" for language in LANGUAGES]
    found = page.locator("nav.languages a").all()
    assert [it.get_attribute("href") for it in found] == fronts
    page.go_back()
    expect(page.locator("h1")).to_have_text("这一页需要网络")
    page.context.set_offline(False)
    page.reload()
    expect(page.locator("html")).to_have_attribute("lang", "zh-Hans")
    expect(page.locator("h1")).to_have_text("记号")
    page.goto(f"{home}en/offline.html")  # nobody who is sent this is offline
    page.wait_for_url(f"{home}en/index.html")


def test_a_new_deploy_shows_at_the_next_load_and_replaces_what_is_kept(visited: Lesson) -> None:
    page, site = visited.page, visited.host.site
    (before,) = page.evaluate("caches.keys()")
    (old,) = (site / "assets").iterdir()
    new = old.with_name("newer")
    old.rename(new)
    for file in [*site.rglob("index.html"), site / "offline.js"]:
        text = file.read_text(encoding="utf-8").replace(f"assets/{old.name}", "assets/newer")
        text = text.replace('"version":"', '"version":"newer-', 1)
        file.write_text(text.replace("<h1>", "<h1>New: "), encoding="utf-8")
    page.reload()
    expect(page.locator("h1")).to_contain_text("New: ")
    visited.ready()
    # A worker that Playwright listens to never rests, and is replaced only when it does.
    workers = page.context.new_cdp_session(page)
    workers.send("ServiceWorker.enable")
    within_patience(
        visited,
        """(async () => {
          const registration = await navigator.serviceWorker.getRegistration();
          await registration.update();
          const next = registration.installing ?? registration.waiting;
          while (next?.state === "installing") {
            await new Promise((resolve) => setTimeout(resolve, 50));
          }
        })()""",
    )
    workers.send("ServiceWorker.stopAllWorkers")
    gone(visited, before)
    kept = kept_at_last(visited, "/en/warmup/")  # it had been visited
    assert not any(old.name in path for path in kept)
    assert any(path.endswith("snapshot.gz.bin") for path in kept)
    page.context.set_offline(True)
    visited.watch.allowed = ("ERR_INTERNET_DISCONNECTED",)
    page.reload()
    expect(page.locator("h1")).to_contain_text("New: ")
    visited.ready()


def test_only_whole_pages_and_files_of_this_build_are_kept(visited: Lesson) -> None:
    page, host = visited.page, visited.host
    visited.watch.allowed = ("404",)
    html = (host.site / "en" / "attenuation" / "index.html").read_text(encoding="utf-8")
    document = re.findall(r'data-document="[^"]*/([^"/]*)"', html)[-1]
    host.faults[document] = missing
    tell(visited, "en/attenuation/", "en/notation/")
    first = kept_at_last(visited, "/en/notation/")
    assert not any(path.endswith("/en/attenuation/") for path in first)  # a figure is missing
    del host.faults[document]
    tell(visited, "en/attenuation/")
    kept = set(kept_at_last(visited, "/en/attenuation/"))
    assert any(path.endswith(document) for path in kept)

    def answers(path: str, cache: str = "default") -> str:
        return str(
            page.evaluate(
                """([path, cache]) => fetch(path, { cache }).then(
                  async (answer) => `${answer.status} ${(await answer.text()).length}`
                )""",
                [host.address + path, cache],
            )
        )

    host.faults["index.html"] = missing
    assert answers("en/signal/").startswith("404")
    host.faults["index.html"] = lambda _: b"<!doctype html><title>Log in</title>"
    assert answers("en/signal/").startswith("200")
    del host.faults["index.html"]
    (host.site / "en" / "moved.html").mkdir()
    shutil.copy(host.site / "en" / "signal" / "index.html", host.site / "en" / "moved.html")
    assert answers("en/moved.html").startswith("200")  # a redirect to en/moved.html/
    file = next(path for path in sorted(kept) if path.endswith("worker.js")).partition("/norm/")[2]
    whole = answers(file)
    host.faults["worker.js"] = truncated
    assert answers(file) == whole
    assert answers(file, "reload") != whole  # a retry goes past what is kept
    assert answers(file) == whole
    assert set(page.evaluate(KEPT)) == kept


def test_without_service_workers_a_lesson_is_as_it_was(lesson: Lesson) -> None:
    lesson.page.add_init_script("delete Navigator.prototype.serviceWorker")
    said: list[str] = []
    lesson.page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
    with lesson.page.expect_console_message(
        lambda message: "Nothing is kept" in message.text, timeout=PATIENCE
    ):
        lesson.open(FEW).ready()
    assert not any(text.startswith(("error", "warning")) for text in said)


def test_from_a_host_that_serves_brotli_the_same_is_live_and_kept(
    of_a_copy: Callable[..., Lesson], tmp_path: Path
) -> None:
    lesson = of_a_copy()
    page = lesson.page
    for file in (lesson.host.site / "runtime").rglob(f"*{packing.PACKED}"):
        if file.parent.name not in ("zh-Hans", "zh-Hant"):
            source = file
            if file.name == "python.gz.bin":  # some compress whatever there is, the pack itself
                source = shutil.copy(file, tmp_path / "as it is")
            brotli.compress(source, file.with_name(file.name + brotli.ENDING), quality=1)
            file.write_bytes(b"nobody is sent this")
    lesson.open(FEW).ready()
    assert page.locator("html").get_attribute("data-boot") == "snapshot"
    within_patience(lesson, "navigator.serviceWorker.ready")
    kept_at_last(lesson, "/en/snapshot.gz.bin")
    kept_at_last(lesson, "/en/warmup/")
    page.context.set_offline(True)
    lesson.watch.allowed = ("ERR_INTERNET_DISCONNECTED",)
    lesson.open(FEW).ready()
    assert page.locator("html").get_attribute("data-boot") == "snapshot"
