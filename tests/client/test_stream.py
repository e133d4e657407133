"""Server-sent events: parsed by the standard, and complete across broken connections."""

import json
from itertools import islice
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from windvane.client import stream
from windvane.client.remote import RemoteStudy
from windvane.client.stream import Message, messages
from windvane.errors import Unavailable, UnknownName

GONE = (
    b'{"error": "UnknownName", "detail": "study \'plant\': there is no study of that name in this database"}'
)


def parsed(text):
    return [
        (message.event, message.data) for message in messages(iter(text.encode().splitlines(keepends=True)))
    ]


# the examples of the HTML standard, section 9.2.6 (interpreting an event stream), and what it says they give
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("data: YHOO\ndata: +2\ndata: 10\n\n", [("message", "YHOO\n+2\n10")]),
        (
            ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
            [("message", "first event"), ("message", "second event"), ("message", " third event")],
        ),
        ("data\n\ndata\ndata\n\ndata:", [("message", ""), ("message", "\n")]),
        ("data:test\n\ndata: test\n\n", [("message", "test"), ("message", "test")]),
    ],
)
def test_the_examples_of_the_standard(text, expected):
    assert parsed(text) == expected
    assert parsed(text.replace("\n", "\r\n")) == expected


def test_identifiers_last_until_the_next_and_may_be_emptied():
    lines = b"id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n".splitlines(keepends=True)
    assert [message.id for message in messages(iter(lines))] == ["1", "1", ""]


def test_a_byte_order_mark_and_unknown_fields_are_skipped():
    lines = ["\ufeffdata: a\n".encode(), b"retry: 100\n", b"colour: red\n", b"\n"]
    assert list(messages(iter(lines))) == [Message("", "message", "a")]


def record(seq):
    text = {"seq": seq, "kind": "told", "at": 1.0, "reset": seq % 3 == 0, "reason": "über\u2028line"}
    return f"id: {seq}\nevent: told\ndata: {json.dumps(text, ensure_ascii=False)}\n\n".encode()


def sending(records, cut=None, *, chunked=True):
    """A handler that sends the records after the number asked for, cut off after so many bytes."""

    def handle(handler):
        after = int(parse_qs(urlsplit(handler.path).query)["after"][0])
        text = b": hello\n\n" + b"".join(record(seq) for seq in range(after + 1, records + 1))
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream; charset=utf-8")
        if chunked:
            handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        text = text[:cut]
        handler.wfile.write(b"%x\r\n%s\r\n" % (len(text), text) if chunked and text else text)
        handler.drop()

    return handle


def gone(handler):
    handler.answer(404, GONE)


def study_of(fake, **options):
    return RemoteStudy(fake.client(**options)._transport, "plant")


def heard(found):
    """The numbers of the records, until the study is gone."""
    seen = []
    try:
        for record in found:
            seen.append(record.seq)
    except UnknownName:
        return seen
    raise AssertionError("a stream ends only with the study")


@given(cuts=st.lists(st.integers(0, 1200), max_size=5), chunked=st.booleans(), after=st.integers(0, 8))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_record_comes_once_and_in_order_wherever_the_connection_is_cut(fake, cuts, chunked, after):
    fake.script = [*(sending(10, cut, chunked=chunked) for cut in cuts), sending(10), gone]
    assert heard(study_of(fake).stream(after)) == list(range(after + 1, 11))


def test_only_resets(fake):
    fake.script = [sending(10)]
    seen = [found.seq for found in islice(study_of(fake).stream(resets=True), 3)]
    assert seen == [3, 6, 9]


def test_busy_services_and_restarts_are_waited_for(fake):
    fake.script = [sending(3), "drop-before", "storage", "busy", "gateway", "reset-before", sending(5), gone]
    assert heard(study_of(fake, retries=0).stream()) == [1, 2, 3, 4, 5]


def test_a_study_that_is_not_there(fake):
    fake.script = [gone]
    with pytest.raises(UnknownName, match="no study of that name"):
        next(study_of(fake).stream())


def test_without_any_connection_the_attempts_are_few(fake):
    fake.script = ["drop-before"] * 50
    with pytest.raises(Unavailable):
        next(study_of(fake, retries=2).stream())
    assert len(fake.requests) == 3


def test_patience_ends(fake):
    fake.script = [sending(2)] + ["drop-before"] * 100_000
    found = study_of(fake).stream(patience=0.05)
    assert [next(found).seq, next(found).seq] == [1, 2]
    with pytest.raises(Unavailable):
        next(found)


def test_a_page_is_no_stream(fake):
    fake.script = ["fine"]
    with pytest.raises(Unavailable, match="no stream"):
        next(study_of(fake).stream())


def test_a_line_without_end_is_refused(fake, monkeypatch):
    monkeypatch.setattr(stream, "LINE", 1000)

    def handle(handler):
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.end_headers()
        handler.wfile.write(b"data: " + b"x" * 5000)
        handler.drop()

    fake.script = [handle]
    with pytest.raises(Unavailable, match="a line of more than"):
        next(study_of(fake).stream())


def test_leaving_a_stream_closes_its_connection_and_not_the_callers(fake):
    study = study_of(fake)
    study.tell(1, 0.5)
    fake.script = [sending(3)]
    found = study.stream()
    next(found)
    found.close()
    study.tell(1, 0.5)
    assert fake.connections == 2
