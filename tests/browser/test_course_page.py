"""The course of a study: there at once, honest while it loads, and clear about what is tested."""


def calm(count):
    return [([((7 * i) % 20) / 20], 0.5 + 0.01 * (-1) ** i) for i in range(count)]


def readout(page, name):
    return page.locator(".readout", has=page.get_by_text(name, exact=True)).locator(".readout-value")


def test_while_values_are_on_their_way_nobody_says_that_there_are_none(service, visit):
    path = service.create("slowly", {"box": [[0, 1]]})
    service.tell(path, calm(12))
    looked = visit(service)
    page = looked.page
    held = []
    page.route("**/events?*", lambda route: held.append(route))
    looked.open("/studies/slowly")
    page.get_by_text("Loading what was measured: 12 values …").wait_for()
    assert readout(page, "Steps").inner_text() == "12"  # the summary knows
    assert page.get_by_text("Nothing measured yet").is_hidden()
    assert page.get_by_text("Nothing has happened yet").is_hidden()
    page.get_by_role("button", name="Ask for a point").wait_for()
    for route in held:
        route.continue_()
    page.locator(".timeline .scatterlayer .point").first.wait_for()
    assert page.get_by_text("Loading what was measured").is_hidden()
    page.locator(".entry").nth(11).wait_for()


def test_a_study_without_values_says_so_at_once(service, visit):
    service.create("bare", {"box": [[0, 1]]})
    looked = visit(service)
    page = looked.page
    page.route("**/events?*", lambda route: None)
    looked.open("/studies/bare")
    page.get_by_text("Nothing measured yet").wait_for()
    assert page.locator(".loading:visible").count() == 0
    page.unroute_all(behavior="ignoreErrors")


GREY = "() => document.querySelector('.timeline').layout.shapes.filter((each) => each.name === 'learning').map((each) => [each.x0, each.x1])"


def test_steps_that_were_not_tested_are_grey(service, visit):
    path = service.create("learns", {"box": [[0, 1]]}, options={})  # it has to learn kernel and noise first
    service.tell(path, calm(40))
    told = service.call("GET", f"{path}/events?kind=told")["events"]
    watched = [each["event"]["monitored"] for each in told]
    learning = watched.index(True)
    assert learning > 3
    assert all(watched[learning:])
    looked = visit(service)
    page = looked.study("learns")
    page.locator(".timeline .annotation", has_text="grey: still learning, nothing is tested").wait_for()
    assert page.evaluate(GREY) == [[1, learning + 0.5]]

    known = service.create("knows", {"box": [[0, 1]]})
    service.tell(known, calm(30))
    rest = service.call("GET", f"{known}/events?kind=told")["events"]
    assert all(each["event"]["monitored"] for each in rest)
    looked.study("knows")
    page.locator(".timeline .annotation", has_text="test statistic").wait_for()
    assert page.evaluate(GREY) == []
    assert "grey" not in page.locator(".timeline .annotation", has_text="test statistic").text_content()


def test_stretches_without_a_test_reach_half_way_to_their_neighbours(service, visit):
    page = visit(service).open("/")
    script = """(given) => import("/static/timeline.js").then((m) => m.untested(
      given.map((monitored) => ({event: {monitored}})), given.map((_, index) => 10 * index)))"""
    assert page.evaluate(script, [False, False, True, True, False, True, False]) == [
        [0, 15],
        [35, 45],
        [55, 60],
    ]
    assert page.evaluate(script, [True, True]) == []


def test_all_tells_can_be_seen_however_many(service, visit):
    path = service.create("all", {"box": [[0, 1]]})
    service.tell(path, calm(30))
    looked = visit(service)
    page = looked.study("all")
    page.locator(".timeline .scatterlayer .point").first.wait_for()
    with page.expect_request(lambda request: "/course?" in request.url):
        page.get_by_label("Show", exact=True).first.select_option("all")
    looked.until(
        "() => document.querySelector('.timeline').getAttribute('aria-label').startsWith('Steps 1 to 30')"
    )

    script = """(given) => import("/static/history.js").then((m) => { const all = new m.History("x");
      all.whole = given.whole; all.tells = given.tells; return all.all().map((each) => each.seq); })"""
    whole = [{"seq": i, "kind": "told"} for i in (1, 40, 77, 100)]
    tells = [{"seq": i, "kind": "told"} for i in (98, 99, 100, 101)]
    assert page.evaluate(script, {"whole": whole, "tells": tells}) == [1, 40, 77, 98, 99, 100, 101]


def test_what_was_believed_best_before_the_page_was_opened_is_drawn(service, visit):
    path = service.create("before", {"box": [[0, 1]]})
    service.tell(path, calm(20))
    track = service.call("GET", f"{path}/track?last=100&points=25")["track"]
    assert [each["step"] for each in track] == list(range(1, 21))
    looked = visit(service)
    page = looked.study("before")
    page.get_by_text("What was believed best at the time, from step 1 on").wait_for()
    looked.until("() => document.querySelector('.optimum').data?.[1]?.x.length === 20")
    drawn = page.evaluate("document.querySelector('.optimum').data[1].y")
    assert drawn == [each["x"][0] for each in track]
