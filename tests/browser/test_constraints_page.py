"""Constraints on the page: their course, what is believed safe, what is told of them, and how they are made."""

import pytest

KERNEL = {"type": "RBF", "lengthscale": [0.2]}
KNOWN = {"kernel": KERNEL, "noise_variance": 0.01}
HEAT = {"at_most": 90, "unit": "°C"}
PURITY = {"at_least": 0.8}
MARKERS = (
    """(name) => document.querySelector(".outcomes").data.find((each) => each.meta === name).marker.symbol"""
)


def made(service, name, constraints=None, space=None, **more):
    constraints = {"heat": HEAT, "purity": PURITY} if constraints is None else constraints
    return service.create(
        name, space or {"box": [[0, 1]]}, options={**KNOWN, "constraints": constraints, **more}
    )


def tell(service, path, x, y, **outcomes):
    return service.call("POST", f"{path}/tell", {"x": x, "y": y, "outcomes": outcomes})


def warm(service, path, count=8, heat=lambda x: 60 + 40 * x):
    """Values of a system that grows hotter with x: from 0.75 on too hot."""
    names = service.call("GET", path)["constraints"]
    for i in range(count):
        x = ((3 * i) % 8) / 8
        purity = {"purity": 0.9} if i % 2 and "purity" in names else {}
        tell(service, path, [x], x, heat=heat(x), **purity)


def readout(page, name):
    return page.locator(".readout", has=page.get_by_text(name, exact=True)).locator(".readout-value")


def plain(text):
    """Without the spaces that keep a number and its unit on one line."""
    return text.replace("\xa0", " ")


def test_course_has_the_limit_and_marks_what_is_beyond_as_it_happens(service, visit):
    path = made(service, "course")
    warm(service, path)
    looked = visit(service)
    page = looked.study("course")
    page.locator(".outcomes .annotation").nth(3).wait_for()
    labels = [plain(each) for each in page.locator(".outcomes .annotation").all_text_contents()]
    assert labels == ["heat (°C)", "heat ≤ 90 °C", "purity", "purity ≥ 0.8"]
    told = service.call("GET", f"{path}/events?kind=told")["events"]
    heats = [each["event"]["outcomes"]["heat"]["value"] for each in told]
    above = sum(value > 90 for value in heats)
    assert above == 1
    symbols = ["triangle-up" if value > 90 else "circle" for value in heats]
    assert page.evaluate(MARKERS, "heat") == symbols
    assert page.evaluate(MARKERS, "purity") == ["circle"] * 4
    assert readout(page, "Violations").inner_text() == "1"

    tell(service, path, [0.1], 0.3, heat=64, purity=0.5)
    looked.until(
        "() => document.querySelector('.outcomes').data.find((each) => each.meta === 'purity').marker.symbol.at(-1) === 'triangle-down'"
    )
    assert readout(page, "Violations").inner_text() == "2"
    sentence = "Violation at step 9: purity 0.5, below the limit of 0.8."
    assert plain(page.locator("#announcer").inner_text()) == sentence
    entry = page.locator(".entry.is-violation", has_text="step 9")
    entry.wait_for()
    assert "purity 0.5, below the limit of 0.8" in plain(entry.inner_text())
    page.get_by_role("radio", name="violations").check()
    assert page.locator(".entry-step").all_inner_texts() == ["step 9", "step 6"]


def test_a_reset_of_a_constraint_is_marked_and_has_its_reason(service, visit):
    known = {"at_most": 20, "kernel": KERNEL, "noise_variance": 0.01, "mean": 0}
    path = made(service, "watched", {"heat": known, "purity": PURITY})
    for i in range(20):
        tell(service, path, [((7 * i) % 20) / 20], 0.5, heat=0.5)
    looked = visit(service)
    page = looked.study("watched")
    page.locator(".outcomes .annotation").first.wait_for()
    lines = "() => document.querySelector('.outcomes').layout.shapes.filter((each) => each.type === 'line' && each.x0 === each.x1).map((each) => each.x0)"
    assert page.evaluate(lines) == []
    record = tell(service, path, [0.5], 0.5, heat=9.5)
    assert (record["reset"], record["violated"], record["outcome_resets"]) == (False, [], ["heat"])
    looked.until(f"() => JSON.stringify(({lines})()) === '[21]'")
    assert page.evaluate(MARKERS, "heat")[-1] == "diamond"
    page.get_by_role("radio", name="resets").check()
    entry = page.locator(".entry.is-reset-of")
    assert entry.count() == 1
    assert entry.locator(".entry-kind").inner_text() == "reset of heat"
    assert record["event"]["outcomes"]["heat"]["reason"] in entry.inner_text()
    row = page.locator(".limits li[data-constraint=heat]")
    row.locator(".cell", has_text="resets of its model").get_by_text("last at step 21").wait_for()
    assert readout(page, "Resets").inner_text() == "0"


def test_what_is_believed_at_the_best_point_is_what_the_service_says(service, visit):
    path = made(service, "believed")
    warm(service, path)
    page = visit(service).study("believed")
    best = service.call("GET", f"{path}/best")
    holds = page.locator(".limits li[data-constraint=heat] .cell", has_text="holds there with").locator(
        ".figure"
    )
    holds.filter(has_text="%").wait_for()
    probability = best["outcomes"]["heat"]["probability"]
    assert float(plain(holds.inner_text()).strip("> %")) == pytest.approx(100 * probability, abs=0.11)
    note = plain(page.locator(".readout.wide .readout-note").inner_text())
    shown = float(note.rpartition("hold with ")[2].strip("<> %"))
    assert shown == pytest.approx(100 * best["feasible"], abs=0.11)
    row = page.locator(".limits li[data-constraint=heat]")
    row.locator(".cell", has_text="violations").get_by_text("last at step 6").wait_for()


def test_the_slice_shows_a_constraint_and_hatches_what_is_not_safe(service, visit):
    path = made(service, "slice", {"heat": HEAT}, safe=0.95, start=[[0.1]])
    warm(service, path)
    looked = visit(service)
    page = looked.study("slice")
    assert plain(page.locator(".safety").inner_text()) == "safe at 95 %"
    caption = page.locator(".posterior-panel .caption")
    caption.filter(has_text="Hatched").wait_for()
    assert "holds with less than 95 %: not believed safe" in plain(caption.inner_text())
    query = f"{path}/surface?axes=x1&resolution=100&feasibility=true"
    surface = service.call("GET", query)
    xs = surface["axes"][0]["values"]
    outside = [x for x, p in zip(xs, surface["feasibility"]["heat"], strict=True) if p < 0.95]
    assert 0 < len(outside) < 100
    hatched = "() => document.querySelector('.posterior').data.find((each) => each.meta === 'ruled out').x.filter((each) => each !== null)"
    covered = page.evaluate(hatched)
    assert max(covered) == 1
    assert min(covered) == pytest.approx(min(outside), abs=0.011)
    assert page.locator(".posterior .annotation").count() == 0

    page.get_by_label("Of", exact=True).select_option("heat")
    page.locator(".posterior .annotation").wait_for()
    assert plain(page.locator(".posterior .annotation").text_content()) == "heat ≤ 90 °C"
    means = "() => document.querySelector('.posterior').data.find((each) => each.mode === 'lines' && each.line.width === 2).y"
    assert page.evaluate(means) == service.call("GET", f"{query}&of=heat")["mean"]
    dots = "() => document.querySelector('.posterior').data.at(-1).y"
    told = service.call("GET", f"{path}/events?kind=told")["events"]
    assert page.evaluate(dots) == [each["event"]["outcomes"]["heat"]["value"] for each in told]


def test_a_map_is_hatched_outside_and_can_show_the_probability(service, visit):
    path = made(service, "map", {"heat": HEAT}, {"box": [[0, 1], [0, 1]]})
    for i in range(9):
        x = [(i % 3) / 2, (i // 3) / 2]
        tell(service, path, x, sum(x), heat=60 + 40 * x[0])
    page = visit(service).study("map")
    caption = page.locator(".posterior-panel .caption")
    caption.filter(has_text="Hatched: a constraint is more likely broken than not").wait_for()
    assert page.locator(".safety").count() == 0
    surface = service.call("GET", f"{path}/surface?axes=x1,x2&resolution=41&feasibility=true")
    xs, ys = (each["values"] for each in surface["axes"])
    places = "() => { const {x, y} = document.querySelector('.posterior').data.find((each) => each.meta === 'ruled out'); return x.map((value, i) => [value, y[i]]).filter((each) => each[0] !== null); }"
    found = page.evaluate(places)
    assert found
    for x, y in found:
        assert surface["feasible"][ys.index(y)][xs.index(x)] < 0.5
    below = sum(p < 0.5 for row in surface["feasible"] for p in row)
    assert len(found) == pytest.approx(below / 4, rel=0.2)  # a line through every fourth point

    page.get_by_role("radio", name="probability").check()
    caption.filter(has_text="Probability that all constraints hold").wait_for()
    assert page.evaluate("document.querySelector('.posterior').data[0].z") == surface["feasible"]


def test_a_retreat_is_said_in_words_until_something_is_safe_again(service, visit):
    path = made(service, "retreat", {"heat": HEAT}, safe=0.95, start=[[0.1]])
    warm(service, path, heat=lambda x: 60 + 20 * x)
    page = visit(service).study("retreat")
    page.locator(".outcomes .annotation").first.wait_for()
    words = page.locator(".retreat")
    assert words.is_hidden()
    for _ in range(20):
        trial = service.call("POST", f"{path}/ask", {})
        record = service.call(
            "POST", f"{path}/tell", {"trial": trial["number"], "y": 0.5, "outcomes": {"heat": 120}}
        )
        if record["event"]["retreat"] is not None:
            break
    assert record["event"]["retreat"] is not None
    words.wait_for()
    back = f"{record['event']['retreat'][0]:.4g}"[:5]
    assert words.inner_text().startswith(f"Nothing is believed safe: back to {back}")
    assert plain(page.locator(".safety").inner_text()) == "nothing believed safe at 95 %"
    entry = page.locator(".entry.is-violation, .entry.is-reset").first
    entry.get_by_text("Nothing is believed safe: back to").wait_for()
    service.call("POST", f"{path}/reset", {"reason": "cooled down"})
    words.wait_for(state="hidden")
    assert plain(page.locator(".safety").inner_text()) == "safe at 95 %"


def test_outcomes_are_told_with_a_value_and_wrong_numbers_are_refused(service, visit):
    path = made(service, "told")
    page = visit(service).study("told")
    command = page.locator(".lesson pre").nth(1).inner_text()
    assert '"outcomes":{"heat":90,"purity":0.8}' in command
    page.get_by_role("button", name="Ask for a point").click()
    page.get_by_label("Value of trial 1").fill("0.5")
    page.get_by_label("heat of trial 1").fill("hot")
    page.get_by_role("button", name="Tell", exact=True).click()
    refusal = "heat: enter what was measured, a finite number, or nothing if it was not."
    assert page.locator(".trials [role=alert]").inner_text() == refusal
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "heat of trial 1"
    assert service.call("GET", f"{path}/events?kind=told")["events"] == []
    page.get_by_label("heat of trial 1").fill("84,5")
    page.keyboard.press("Enter")
    page.locator(".trials li").wait_for(state="detached")
    (record,) = service.call("GET", f"{path}/events?kind=told")["events"]
    outcomes = record["event"]["outcomes"]
    assert {name: each["value"] for name, each in outcomes.items()} == {"heat": 84.5}

    page.locator(".own-point").evaluate("(node) => { node.open = true; }")
    page.get_by_label("Measured y").fill("0.7")
    page.get_by_label("purity of this point").fill("0.85")
    page.get_by_role("button", name="Tell this point").click()
    page.get_by_text("step 2", exact=True).wait_for()
    told = service.call("GET", f"{path}/events?kind=told")["events"]
    assert {name: each["value"] for name, each in told[1]["event"]["outcomes"].items()} == {"purity": 0.85}


def test_the_value_of_a_constraint_is_put_right(service, visit):
    path = made(service, "right")
    warm(service, path, 3)
    tell(service, path, [0.2], 0.4, heat=684, purity=0.9)
    looked = visit(service)
    page = looked.study("right")
    page.locator(".outcomes .annotation").first.wait_for()
    assert readout(page, "Violations").inner_text() == "1"
    page.get_by_role("button", name="Correct the value of step 4").focus()
    page.keyboard.press("Enter")
    field = page.get_by_label("heat ≤")
    assert field.input_value() == "684"
    field.fill("6 84")
    page.get_by_role("button", name="Correct it").click()
    page.get_by_text("heat: enter the right value, a finite number").wait_for()
    field.fill("68.4")
    page.get_by_role("button", name="Correct it").click()
    page.locator(".entry.is-corrected").wait_for()
    record = service.call("GET", f"{path}/events?kind=corrected")["events"][0]
    assert record["y"] == 0.4
    assert record["event"]["outcomes"]["heat"] == {"value": 68.4, "violated": False, "was": 684.0}
    assert "heat 68.4 °C, was 684 °C" in plain(page.locator(".entry.is-corrected").inner_text())
    looked.until(f"() => !({MARKERS})('heat').includes('triangle-up')")
    assert readout(page, "Violations").inner_text() == "0"


def test_the_form_makes_constraints_and_says_what_is_missing(service, visit):
    looked = visit(service)
    looked.forgive("422|400")
    page = looked.open()
    page.get_by_role("button", name="New study …").click()
    page.get_by_label("Name", exact=True).fill("kiln-safe")
    page.get_by_role("radio", name="named parameters").check()
    page.get_by_label("Name of the parameter").fill("power")
    page.get_by_label("Upper bound", exact=True).fill("10")
    assert page.get_by_label("Safe level").is_hidden()
    page.get_by_role("button", name="Add constraint").click()
    page.get_by_label("Name of the constraint").fill("heat")
    page.get_by_label("Limit", exact=True).fill("warm")
    create = page.get_by_role("button", name="Create")
    complaint = page.get_by_role("dialog").get_by_role("alert")

    def refused(with_words):
        create.click()
        complaint.filter(has_text=with_words).wait_for()

    refused("heat: limit: enter a number.")
    page.get_by_label("Limit", exact=True).fill("90")
    page.get_by_label("Unit (optional)").fill("°C")
    page.get_by_role("radio", name="only what is safe").check()
    refused("start settings: enter one at least")
    page.get_by_label("Start settings").fill("power=two")
    refused("“two” is not a number.")
    page.get_by_label("Start settings").fill("2\npower=3")
    page.get_by_label("Safe level").fill("95")
    refused("safe level: enter a probability of at least 0.5 and below 1")
    page.get_by_label("Safe level").fill("0.9")
    page.get_by_label("Name of the constraint").fill("too hot")
    refused("'too hot' must be a name")  # the service's own sentence
    page.get_by_label("Name of the constraint").fill("heat")
    page.get_by_role("button", name="Add constraint").click()
    page.get_by_label("Name of the constraint").last.fill("purity")
    page.get_by_label("Side of the limit").last.select_option("at_least")
    page.get_by_label("Limit", exact=True).last.fill("0,8")
    create.click()
    page.wait_for_url("**/studies/kiln-safe")
    study = service.call("GET", "/v1/studies/kiln-safe")
    assert study["constraints"] == {"heat": {"at_most": 90.0, "unit": "°C"}, "purity": {"at_least": 0.8}}
    assert study["safe"] == 0.9
    trial = service.call("POST", "/v1/studies/kiln-safe/ask", {})
    assert trial["x"] == {"power": 2.0}  # the first of the start settings
    assert plain(page.locator(".about").inner_text()).count("heat ≤ 90 °C, purity ≥ 0.8, safe at 90 %") == 1


def test_units_and_names_stay_text(service, visit):
    evil = "<b>x</b>"
    path = made(service, "units", {"hitze": {"at_most": 1, "unit": evil}})
    tell(service, path, [0.3], 1.0, hitze=2.0)
    page = visit(service).study("units")
    page.locator(".outcomes .annotation").first.wait_for()
    assert plain(page.locator(".outcomes .annotation").nth(1).text_content()) == f"hitze ≤ 1 {evil}"
    assert page.locator(".outcomes-panel b, .entry b").count() == 0
