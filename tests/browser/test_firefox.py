"""The page in Firefox, where there is one that can be driven."""

import os

import pytest


def test_firefox_shows_a_study(service):
    playwright = pytest.importorskip("playwright.sync_api", reason="the page is tested with playwright")
    with playwright.sync_playwright() as driver:
        if not os.path.exists(driver.firefox.executable_path):
            pytest.skip("no Firefox that playwright can drive: python -m playwright install firefox")
        path = service.create("in firefox", {"box": [[0, 1]]})
        service.tell(path, [([i / 10], i / 10) for i in range(10)])
        firefox = driver.firefox.launch()
        page = firefox.new_page()
        problems = []
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto(f"{service.url}/studies/in%20firefox")
        page.locator(".posterior .xtitle").wait_for(timeout=60_000)
        page.locator(".entry").nth(9).wait_for()
        firefox.close()
        assert problems == []
