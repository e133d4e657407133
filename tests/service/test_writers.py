"""Threads for steps: in order, one at a time, and nobody waits for a slow one."""

import asyncio
import threading
import time

import pytest

from windvane.service.writers import LULL, Writers

LONG = 60


def carried_out(writers, jobs):
    """What came of jobs that were handed in together."""

    async def run():
        return await asyncio.gather(*(writers.run(job) for job in jobs), return_exceptions=True)

    return asyncio.run(run())


@pytest.fixture
def writers():
    made = Writers(8, patience=LONG)
    yield made
    made.close()


def test_one_at_a_time_in_the_order_in_which_they_came(writers):
    inside, order = [], []

    def job(number):
        def work():
            inside.append(number)
            assert inside == [number]
            order.append(number)
            inside.remove(number)
            return number

        return work

    assert carried_out(writers, [job(number) for number in range(100)]) == list(range(100))
    assert order == list(range(100))
    writers.close()  # a thread hands over its answer before it lays its step down
    assert not writers.busy


def test_steps_press_for_a_moment_after_the_last_one(writers, monkeypatch):
    assert not writers.pressed
    assert carried_out(writers, [lambda: 1]) == [1]
    writers.close()
    monkeypatch.setattr(writers, "_ended", time.monotonic() + LONG)
    assert writers.pressed
    monkeypatch.setattr(writers, "_ended", time.monotonic() - 2.0 * LULL)
    assert not writers.pressed


def test_what_one_raises_is_its_own(writers):
    def bad():
        raise ValueError("mine")

    found = carried_out(writers, [lambda: 1, bad, lambda: 2])
    assert found[::2] == [1, 2]
    assert isinstance(found[1], ValueError)


def test_others_go_on_beside_one_that_takes_long():
    writers, go_on, order = Writers(8, patience=0.001), threading.Event(), []

    async def run():
        slow = [asyncio.ensure_future(writers.run(lambda: go_on.wait(LONG))) for _ in range(3)]
        await asyncio.sleep(0)
        assert writers.busy
        await asyncio.wait_for(
            asyncio.gather(*(writers.run(lambda: order.append(1)) for _ in range(20))), LONG
        )
        assert not any(each.done() for each in slow)
        go_on.set()
        return await asyncio.gather(*slow)

    assert asyncio.run(run()) == [True] * 3
    assert len(order) == 20
    assert len(writers._threads) <= 8
    writers.close()


def test_there_are_no_more_threads_than_allowed():
    writers, go_on = Writers(2, patience=0.001), threading.Event()

    async def run():
        slow = [asyncio.ensure_future(writers.run(lambda: go_on.wait(LONG))) for _ in range(5)]
        await asyncio.sleep(0.05)
        assert len(writers._threads) <= 2
        go_on.set()
        return await asyncio.wait_for(asyncio.gather(*slow), LONG)

    assert asyncio.run(run()) == [True] * 5
    writers.close()


def test_what_waits_at_the_end_is_carried_out(writers):
    done = []

    async def run():
        waiting = [asyncio.ensure_future(writers.run(lambda n=n: done.append(n))) for n in range(20)]
        await asyncio.sleep(0)
        await asyncio.to_thread(writers.close)
        await asyncio.gather(*waiting)
        with pytest.raises(RuntimeError, match="stopped"):
            await writers.run(lambda: None)

    asyncio.run(run())
    assert done == list(range(20))


def test_whoever_has_gone_is_not_waited_for(writers):
    go_on = threading.Event()

    async def run():
        first = asyncio.ensure_future(writers.run(lambda: go_on.wait(LONG)))
        await asyncio.sleep(0)
        first.cancel()
        go_on.set()
        return await writers.run(lambda: 7)

    assert asyncio.run(run()) == 7
