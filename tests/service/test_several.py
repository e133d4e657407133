"""Two services over one database, SQLite and PostgreSQL: what is told to both at once is kept, in one order."""

import threading

EACH = 6


def test_tells_to_both_at_once(start, database_url):
    one, two = start(database=database_url), start(database=database_url)
    one.create(seed=1)
    statuses = []

    def tell(served, column):
        for i in range(EACH):
            statuses.append(served.tell(x=[column, i / EACH], y=0.1 * i).status_code)

    threads = [
        threading.Thread(target=tell, args=each) for each in ((one, 0.1), (two, 0.2), (one, 0.3), (two, 0.4))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses == [201] * 4 * EACH
    journals = [served.client.get("/v1/studies/plant/events").json()["events"] for served in (one, two)]
    assert journals[0] == journals[1]
    assert [record["step"] for record in journals[0]] == list(range(1, 4 * EACH + 1))
    told = sorted(tuple(record["x"]) for record in journals[0])
    assert told == sorted((column, i / EACH) for column in (0.1, 0.2, 0.3, 0.4) for i in range(EACH))
    assert one.client.get("/v1/studies/plant/best").json() == two.client.get("/v1/studies/plant/best").json()


def test_one_answers_what_the_other_asked_and_streams_see_it(start, database_url):
    one, two = start(database=database_url), start(database=database_url)
    one.create()
    with two.client.stream("GET", "/v1/studies/plant/stream") as stream:
        lines = stream.iter_lines()
        trial = one.ask()
        assert two.tell(trial=trial["number"], y=0.5).status_code == 201
        assert one.tell(trial=trial["number"], y=0.6).status_code == 409
        kinds = (line for line in lines if line.startswith("event"))
        assert [next(kinds), next(kinds)] == ["event: asked", "event: told"]
