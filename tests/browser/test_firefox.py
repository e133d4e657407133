"""The page in Firefox, where there is one: every page and the main actions, light and dark, wide and narrow."""

import pytest
from firefox import FIREFOX, firefox

pytestmark = pytest.mark.skipif(FIREFOX is None, reason="no Firefox on the path: apt-get install firefox-esr")


@pytest.fixture(scope="module", params=[(False, 1400), (True, 500)], ids=["light", "dark, narrow"])
def window(request, tmp_path_factory):
    dark, width = request.param
    with firefox(tmp_path_factory.mktemp("profile"), dark=dark, width=width) as opened:
        yield opened


@pytest.fixture(scope="module")
def studies(service):
    named = {"pressure": {"real": [1, 9], "unit": "bar"}, "speed": {"integer": [100, 3000]}}
    named |= {"mode": {"choice": ["slow", "fast"]}}
    path = service.create("in firefox", {"parameters": named}, algorithm="auto", options={})
    service.tell(
        path, [({"pressure": 1 + i % 9, "speed": 100 + i, "mode": "slow"}, 0.1 * i) for i in range(12)]
    )
    service.call("POST", f"{path}/reset", {"reason": "another belt"})
    service.tell(path, [({"pressure": 2, "speed": 200, "mode": "fast"}, 0.5)])
    limits = {"constraints": {"heat": {"at_most": 90, "unit": "°C"}}}
    oven = service.create("oven in firefox", {"box": [[0, 1], [0, 1]]}, algorithm="auto", options=limits)
    for i in range(8):
        service.call("POST", f"{oven}/tell", {"x": [i / 8, 0.5], "y": i, "outcomes": {"heat": 70 + 3 * i}})
    return service


SIGNS = {
    "/": ["document.querySelectorAll('.study-row').length >= 2"],
    "/?view=alarms": ["document.querySelectorAll('.alarm').length >= 2"],
    "/studies/in%20firefox": [
        "document.querySelector('.timeline .scatterlayer .point')",
        "document.querySelector('.posterior .xtitle')",
        "document.querySelector('.optimum .scatterlayer .point')",
        "document.querySelectorAll('.parallel polyline').length",
        "document.querySelector('.words p')",
        "document.querySelectorAll('.entry').length >= 13",
        "document.querySelector('.badge').dataset.state === 'live'",
    ],
    "/studies/oven%20in%20firefox": [
        "document.querySelector('.outcomes .annotation')",
        "document.querySelector('.posterior .xtitle')",
    ],
    "/static/reading-events.html": ["document.querySelector('#hypotheses-about-time')"],
}


def test_every_page_is_there_and_fits(window, studies):
    for path, signs in SIGNS.items():
        window.open(studies.url + path)
        for sign in signs:
            window.until(f"Boolean({sign})")
        wide = window.run("return [document.documentElement.scrollWidth, innerWidth]")
        assert wide[0] <= wide[1], path
        assert window.run("return problems") == [], path


def test_scheme_of_the_browser_is_followed(window, studies, request):
    window.open(studies.url)
    dark = "dark" in request.node.name
    assert window.run("return matchMedia('(prefers-color-scheme: dark)').matches") == dark
    colour = window.run("return getComputedStyle(document.body).backgroundColor")
    brightness = sum(int(each) for each in colour[4:-1].split(",")) / 3
    assert (brightness < 60) == dark


def test_ask_and_tell_by_hand_and_an_ambiguous_number_is_refused(window, studies):
    path = "/v1/studies/in%20firefox"
    before = studies.call("GET", path)["tells"]
    window.open(studies.url + "/studies/in%20firefox")
    window.until("document.querySelector('.badge')?.dataset.state === 'live'")
    window.click(".trials-panel .panel-head button")
    window.until("document.querySelector('[aria-label^=Value]') !== null")
    window.type("[aria-label^=Value]", "1,250\ue007")  # and Enter
    window.until("document.querySelector('.trials-panel').textContent.includes('1.25')")
    assert studies.call("GET", path)["tells"] == before
    window.run("document.querySelector('[aria-label^=Value]').value = ''")
    window.type("[aria-label^=Value]", "0.75\ue007")
    window.until("/told/.test(document.querySelector('#announcer').textContent)")
    assert studies.call("GET", path)["tells"] == before + 1
    assert window.run("return problems") == []
