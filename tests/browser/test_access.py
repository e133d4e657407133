"""Tokens: asked for when needed, kept in the tab, and a reader is offered nothing to write with."""

import pytest


@pytest.fixture(scope="module")
def path(guarded):
    made = guarded["write"].create("guarded", {"box": [[0, 1]]})
    guarded["write"].tell(made, [([0.1], 1.0), ([0.7], 2.0)])
    guarded["write"].call("POST", f"{made}/ask", {})
    return made


def test_a_reader_is_asked_for_a_token_and_can_only_look(guarded, path, visit):
    looked = visit(guarded["read"])
    looked.forgive("401")
    page = looked.open("/studies/guarded")
    page.get_by_label("Token", exact=True).fill("wv_wrong")
    page.keyboard.press("Enter")
    page.get_by_role("dialog").get_by_role("alert").wait_for()
    page.get_by_label("Token", exact=True).fill(guarded["read"].token)
    page.keyboard.press("Enter")
    page.locator(".badge[data-state=live]").wait_for()
    page.get_by_text("read-only token").wait_for()
    page.locator(".trials li", has_text="Trial 1").wait_for()
    for name in ("Ask for a point", "Tell", "Trial 1 failed", "Tell this point", "Delete …"):
        assert page.get_by_role("button", name=name, exact=True).count() == 0

    guarded["write"].tell(path, [([0.4], 3.0)])
    page.get_by_text("step 3", exact=True).wait_for()  # the stream sends the token as well
    looked.open("/")
    page.get_by_role("link", name="guarded").wait_for()  # the token is kept in this tab: not asked again
    assert page.get_by_role("button", name="New study …").count() == 0
    assert page.get_by_role("button", name="Delete guarded").count() == 0
    page.get_by_role("button", name="Forget token").click()
    page.get_by_label("Token", exact=True).wait_for()


def test_a_writer_can_write(guarded, path, visit):
    looked = visit(guarded["write"])
    looked.forgive("401")
    page = looked.open("/studies/guarded")
    page.get_by_label("Token", exact=True).fill(guarded["write"].token)
    page.keyboard.press("Enter")
    page.get_by_label("Value of trial 1").fill("-0.5")
    page.keyboard.press("Enter")
    page.get_by_text("y −0.5").wait_for()
    told = guarded["write"].call("GET", f"{path}/events?kind=told&newest=true&limit=1")["events"][0]
    assert (told["trial"], told["y"]) == (1, -0.5)
