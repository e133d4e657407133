"""However the connection misbehaves: a measurement is recorded once, or the caller hears that it may not be."""

import os
import threading

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from windvane.client import Client, transport
from windvane.client.remote import RemoteStudy
from windvane.errors import Forbidden, StorageFailure, Unavailable, WindvaneError

LOST = ["drop-before", "reset-before", "busy", "storage"]  # not carried out
DONE = [
    "drop-after",
    "reset-after",
    "half",
    "half-chunked",
    "no-json",
    "no-http",
    "gateway",
    "gateway-timeout",
]
QUICK = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def study_of(fake, **options):
    return RemoteStudy(fake.client(**{"timeout": 5, **options})._transport, "plant")


def keys(fake):
    return [headers.get("Idempotency-Key") for _, _, headers, _ in fake.requests]


@pytest.mark.parametrize("fault", LOST + DONE)
@pytest.mark.parametrize("times", [1, 3])
def test_a_tell_is_recorded_once_whatever_breaks(fake, fault, times):
    fake.script = [fault] * times
    event = study_of(fake).tell(1, 0.25)
    assert event.y == 0.25
    assert len(fake.ledger) == 1
    assert len(set(keys(fake))) == 1
    assert len(fake.requests) >= times + 1


def test_a_slow_answer_is_asked_for_again_and_recorded_once(fake):
    fake.script = ["slow"]
    assert study_of(fake, timeout=1.0).tell(1, 0.25).y == 0.25
    assert len(fake.ledger) == 1
    assert len(fake.requests) >= 2  # on a busy machine the second answer may be late as well
    assert len(set(keys(fake))) == 1


@given(
    scripts=st.lists(
        st.lists(st.sampled_from([*LOST, *DONE, "then-closed"]), max_size=3), min_size=1, max_size=4
    )
)
@QUICK
def test_any_sequence_of_faults_within_the_retries(fake, scripts):
    """Each call meets at most as many faults as it has retries: all succeed, and the ledger has each once."""
    fake.ledger.clear()
    study = study_of(fake)
    told = []
    for number, script in enumerate(scripts):
        fake.script = list(script)
        told.append((study.add([0.5], float(number)).y, study.ask().number))
    assert [y for y, _ in told] == [float(number) for number in range(len(scripts))]
    assert len(fake.ledger) == 2 * len(scripts)
    assert len({number for _, number in told}) == len(scripts)
    study._transport.close()


@pytest.mark.parametrize("fault", ["drop-after", "gateway", "no-json"])
def test_when_all_attempts_fail_the_error_says_how_to_go_on(fake, fault):
    fake.script = [fault] * 4
    study = study_of(fake)
    with pytest.raises(Unavailable) as caught:
        study.tell(1, 0.25)
    assert len(fake.ledger) == 1
    notes = " ".join(caught.value.__notes__)
    (key,) = set(keys(fake))
    assert "may have been carried out" in notes
    assert key in notes
    assert study.tell(1, 0.25, key=key).y == 0.25  # the same key again: still one
    assert len(fake.ledger) == 1


def test_every_call_has_a_key_of_its_own(fake):
    study = study_of(fake)
    for _ in range(5):
        study.ask()
        study.tell(1, 0.5)
        study.fail(1, "no power")
    assert len(set(keys(fake))) == 15
    assert None not in keys(fake)


def test_no_retries_means_none(fake):
    fake.script = ["drop-before"]
    with pytest.raises(Unavailable, match="gave no answer"):
        study_of(fake, retries=0).tell(1, 0.5)
    assert len(fake.requests) == 1


def test_the_service_says_when_to_come_back(fake, monkeypatch):
    waits = []
    monkeypatch.setattr(transport.time, "sleep", waits.append)
    fake.script = ["busy-for-long"]
    study_of(fake).tell(1, 0.5)
    assert waits == [7.0]


def test_pauses_grow_and_end(monkeypatch):
    monkeypatch.setattr(transport.random, "uniform", lambda low, high: 1.0)
    assert [round(transport.pause(n), 3) for n in (1, 2, 3, 20)] == [0.1, 0.2, 0.4, 10.0]
    assert transport.pause(1, 3600.0) == 10.0


@pytest.mark.parametrize("fault", ["drop-before", "drop-after", "gateway", "storage"])
def test_what_has_no_key_is_not_repeated(fake, fault):
    """A second create would find the first one's study, and could not know whose it is."""
    fake.script = [fault]
    with pytest.raises((Unavailable, StorageFailure)) as caught:
        fake.client().create("plant", {"box": [[0, 1]]})
    assert len(fake.requests) == 1
    assert "may have been carried out" in " ".join(caught.value.__notes__)


@pytest.mark.parametrize("fault", ["drop-before", "drop-after"])
def test_a_study_that_may_be_there_already_is_asked_for_again(fake, fault):
    fake.script = [fault]
    with pytest.raises(Unavailable, match="lacks name"):  # what this service answers is no study
        fake.client().create("plant", {"box": [[0, 1]]}, exist_ok=True)
    assert len(fake.requests) == 2


def test_what_has_no_key_is_repeated_if_nothing_was_done(fake):
    fake.script = ["busy", "busy"]
    with pytest.raises(Unavailable, match="lacks name"):  # what this service answers is no study
        fake.client().create("plant", {"box": [[0, 1]]})
    assert len(fake.requests) == 3


def test_what_has_no_key_never_travels_on_an_old_connection(fake):
    """The service may have closed it, and then one could not tell whether the request was seen."""
    client = fake.client()
    fake.script = ["then-closed"]
    client.studies()
    with pytest.raises(Unavailable, match="lacks name"):
        client.create("plant", {"box": [[0, 1]]})
    assert len(fake.requests) == 2


def test_an_idle_connection_that_was_closed_costs_no_attempt(fake):
    study = study_of(fake, retries=0)
    for _ in range(5):
        fake.script = ["then-closed"]
        study.tell(1, 0.5)
    assert len(fake.ledger) == 5


def test_a_thread_keeps_its_connection(fake):
    study = study_of(fake)
    for _ in range(5):
        study.tell(1, 0.5)
    assert fake.connections == 1


def test_the_connection_is_kept_after_an_error_answer(fake):
    study = study_of(fake)
    fake.script = ["crash"]
    with pytest.raises(Unavailable, match="something went wrong here"):
        study.tell(1, 0.5)
    study.tell(1, 0.5)
    assert fake.connections == 1


def test_threads_share_a_client(fake):
    study = study_of(fake)
    fake.script = ["drop-after", "half", "busy", "reset-after"] * 4
    failed = []

    def work():
        try:
            for _ in range(10):
                study.tell(1, 0.5)
        except WindvaneError as error:  # pragma: no cover - it is the test's point that there is none
            failed.append(error)

    # each thread may meet several faults in one call, so let it try often enough
    study._transport.retries = 20
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert len(fake.ledger) == 40
    assert fake.connections >= 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_opens_its_own_connection(fake):
    study = study_of(fake)
    study.tell(1, 0.5)
    child = os.fork()
    if child == 0:
        try:
            study.tell(1, 0.5)
            os._exit(0)
        except BaseException:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    study.tell(1, 0.5)
    assert fake.connections == 2
    assert len(fake.ledger) == 3


def test_a_redirect_is_not_followed_and_takes_no_token_along(fake):
    fake.script = ["elsewhere"]
    with pytest.raises(Unavailable, match=r"thief\.example"):
        study_of(fake, token="wv_secret").tell(1, 0.5)
    assert len(fake.requests) == 1


@pytest.mark.parametrize("fault", ["endless", "huge"])
def test_an_answer_without_end_is_refused(fake, fault, monkeypatch):
    monkeypatch.setattr(transport, "LARGEST", 2**20)
    fake.script = [fault]
    with pytest.raises(Unavailable, match="more than 1 MB"):
        study_of(fake).best()
    assert len(fake.requests) == 1


def test_an_answer_that_is_something_else(fake):
    fake.script = ["fine"]
    with pytest.raises(Unavailable, match="lacks text; is this a Windvane service"):
        study_of(fake).explain()


def test_nobody_is_there():
    with pytest.raises(Unavailable, match="cannot be reached"):
        Client("http://127.0.0.1:9", retries=0).studies()


def test_a_503_of_the_storage_is_a_storage_failure_in_the_end(fake):
    fake.script = ["storage"] * 4
    with pytest.raises(StorageFailure, match="disk full"):
        study_of(fake).tell(1, 0.5)
    assert not fake.ledger


def test_the_token_is_sent_and_never_shown(fake):
    client = fake.client(token="wv_secret")
    client.studies()
    assert fake.requests[0][2]["Authorization"] == "Bearer wv_secret"
    assert "wv_secret" not in repr(client) + repr(RemoteStudy(client._transport, "plant"))


def test_forbidden_without_a_word():
    from windvane.client.problems import error_of

    assert isinstance(error_of(401, b"", "here"), Forbidden)
    assert isinstance(error_of(403, b"<html>", "here"), Forbidden)
