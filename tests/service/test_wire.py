"""Messages between the processes of a service: in pieces or together, in any order, over one connection."""

import asyncio

import pytest

from windvane.service.wire import Callee, Caller


class Pipe:
    """A transport that keeps what is written."""

    def __init__(self):
        self.sent, self.closed = bytearray(), False

    def write(self, data):
        self.sent += data

    def is_closing(self):
        return self.closed

    def close(self):
        self.closed = True


def ends():
    """Both ends, not connected; what came to the second."""
    came, there = [], set()
    caller = Caller()
    callee = Callee(lambda *message: came.append(message[1:]), there.add, there.discard)
    caller.connection_made(Pipe())
    callee.connection_made(Pipe())
    assert there == {callee}
    return caller, callee, came


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_messages_arrive_whole_however_they_are_cut(size):
    async def run():
        caller, callee, came = ends()
        asked = [
            asyncio.create_task(caller.ask(("p", [(b"a", b"\xff")], None), bytes([n]) * n))
            for n in (0, 1, 200)
        ]
        await asyncio.sleep(0)
        sent = bytes(caller._transport.sent)
        for start in range(0, len(sent), size):
            callee.data_received(sent[start : start + size])
        assert came == [
            (n, ("p", [(b"a", b"\xff")], None), bytes([k]) * k) for n, k in ((1, 0), (2, 1), (3, 200))
        ]
        for number in (3, 1, 2):  # in an order of its own
            callee.send(number, (number,), b"x" * number)
        sent = bytes(callee._transport.sent)
        for start in range(0, len(sent), size):
            caller.data_received(sent[start : start + size])
        assert await asyncio.gather(*asked) == [((n,), b"x" * n) for n in (1, 2, 3)]

    asyncio.run(run())


def test_who_stops_waiting_leaves_the_others_their_answers():
    async def run():
        caller, callee, _ = ends()
        first, second = (asyncio.create_task(caller.ask((), b"")) for _ in range(2))
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.sleep(0)
        for number in (1, 2):
            callee.send(number, (), b"%d" % number)
        caller.data_received(bytes(callee._transport.sent))
        assert await second == ((), b"2")

    asyncio.run(run())


def test_when_the_other_end_goes_all_who_wait_hear_of_it():
    async def run():
        caller, callee, _ = ends()
        asked = [asyncio.create_task(caller.ask((), b"")) for _ in range(2)]
        await asyncio.sleep(0)
        caller.connection_lost(None)
        for each in asked:
            with pytest.raises(EOFError):
                await each
        assert not caller.open
        assert caller.gone.is_set()
        with pytest.raises(EOFError):
            await caller.ask((), b"")
        callee.connection_lost(None)
        callee.send(1, (), b"")  # to nobody
        callee.close()

    asyncio.run(run())
