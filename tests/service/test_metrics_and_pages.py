"""Figures that Prometheus's own parser reads, and the page's files."""

import re

import pytest
from prometheus_client.parser import text_string_to_metric_families

import windvane as wv
from windvane.service import pages
from windvane.service.pages import FOLDER
from windvane.study import Study

MODULE = re.compile(r'<link rel="modulepreload" href="/static/([^"]*)">\n +')


def samples(served):
    text = served.client.get("/metrics").text
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_figures(served):
    served.create(algorithm="r-gp-ucb", options={"period": 2})
    for i in range(3):
        served.tell(x=[0.1, 0.1 * i], y=0.1)
    one, _ = served.ask(), served.ask()
    served.client.post("/v1/studies/plant/fail", json={"trial": one["number"]})
    served.client.get("/v1/studies/secret-name-of-nothing")
    other = Study.create(served.database, "other", wv.Box([(0, 1)]))
    other.add([0.5], 1.0)  # by another process
    summary = served.client.get("/v1/studies/plant").json()
    found = samples(served)
    plant = ("study", "plant")
    assert found["windvane_study_steps", plant] == 3
    assert found["windvane_study_points_in_use", plant] == summary["size"]
    assert found["windvane_study_resets", plant] == summary["resets"] > 0
    assert found["windvane_study_pending", plant] == 1
    assert found["windvane_study_failed", plant] == 1
    assert 0 <= found["windvane_study_seconds_since_last_record", plant] < 60
    assert found["windvane_study_steps", ("study", "other")] == 1
    assert found[("windvane_tells_total",)] == 3
    assert found[("windvane_resets_total",)] == summary["resets"]
    assert found[("windvane_failures_total",)] == 1
    tell = (("method", "POST"), ("route", "/v1/studies/{name}/tell"), ("status", "201"))
    assert found["windvane_requests_total", *tell] == 3
    unknown = (("method", "GET"), ("route", "/v1/studies/{name}"), ("status", "404"))
    assert found["windvane_requests_total", *unknown] == 1
    assert found["windvane_request_seconds_count", ("route", "/v1/studies/{name}/tell")] == 3
    assert not any("secret-name" in str(key) for key in found)


def test_made_up_methods_and_paths_make_no_labels(served):
    served.client.request("PROPFIND", "/coffee")
    served.client.get("/v1/" + "x" * 50)
    found = [dict(key[1:]) for key in samples(served) if key[0] == "windvane_requests_total"]
    assert {"method": "OTHER", "route": "unmatched", "status": "404"} in found
    assert not any("coffee" in str(labels) or "xxx" in str(labels) for labels in found)


def test_the_page(shared):
    """All modules are named in it: else a browser finds them one import after the other."""
    for path in ("/", "/studies/plant", "/studies/any/thing%2F.."):
        answer = shared.client.get(path)
        assert answer.status_code == 200
        assert MODULE.sub("", answer.text) == (FOLDER / "index.html").read_text()
        assert MODULE.findall(answer.text) == sorted(
            file.name for file in FOLDER.glob("*.js") if file.name not in ("app.js", "theme.js")
        )
        policy = answer.headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe-eval" not in policy
        assert "script-src" not in policy  # so scripts are from here, by default-src
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"


def test_every_file_of_the_page(shared):
    for file in FOLDER.iterdir():
        if file.suffix in (".html", ".js", ".css", ".svg") and file.name != "index.html":
            answer = shared.client.get(f"/static/{file.name}")
            assert answer.content == file.read_bytes()
            again = shared.client.get(
                f"/static/{file.name}", headers={"If-None-Match": answer.headers["etag"]}
            )
            assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    "name",
    [
        "../app.py",
        "..%2Fapp.py",
        "%2e%2e/config.py",
        "app.py",
        "__init__.py",
        "/etc/passwd",
        "index.html%00.js",
        "",
    ],
)
def test_nothing_but_the_files_of_the_page(shared, name):
    assert shared.client.get(f"/static/{name}").status_code == 404


def test_the_chart_library_is_the_installed_one(shared):
    import plotly.offline

    small = shared.client.get("/static/plotly.min.js")
    assert small.headers["content-encoding"] == "gzip"
    assert int(small.headers["content-length"]) < len(small.content) / 2
    assert small.text == plotly.offline.get_plotlyjs()
    plain = shared.client.get("/static/plotly.min.js", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.content == small.content
    assert "max-age=604800" in small.headers["cache-control"]


def test_answers_with_data_are_not_kept_by_anybody(shared):
    assert shared.client.get("/v1/studies").headers["cache-control"] == "no-store"


def test_the_documentation_is_served_where_it_has_been_built(start, tmp_path, monkeypatch):
    site = tmp_path / "site"
    (site / "how-to" / "service").mkdir(parents=True)
    (site / "index.html").write_text("<p>front</p>")
    (site / "how-to" / "service" / "index.html").write_text("<p>the service</p>")
    (site / "secret.py").write_text("no page")
    (tmp_path / "outside.html").write_text("outside")
    monkeypatch.setattr(pages, "SITE", site)
    served = start(tmp_path / "with.db")
    assert '<meta name="documentation" content="/static/docs/">' in served.client.get("/").text
    for path, text in (("", "front"), ("index.html", "front"), ("how-to/service/", "the service")):
        answer = served.client.get(f"/static/docs/{path}")
        assert text in answer.text
        assert answer.headers["content-security-policy"]
    for path in ("secret.py", "none.html", "%2e%2e/outside.html", "..%2foutside.html"):
        assert served.client.get(f"/static/docs/{path}").status_code == 404
    monkeypatch.setattr(pages, "SITE", tmp_path / "nowhere")
    bare = start(tmp_path / "without.db")
    assert 'name="documentation"' not in bare.client.get("/").text
    assert bare.client.get("/static/docs/index.html").status_code == 404
