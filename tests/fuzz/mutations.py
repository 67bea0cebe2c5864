"""Bytes that are nearly right: samples, cut, joined, repeated and changed at random."""

import random
from collections.abc import Sequence

EDGES = (0, 1, 2, 3, 4, 8, 9, 10, 13, 32, 34, 39, 45, 46, 47, 92, 123, 125, 127, 128, 254, 255)
NUMBERS = (b"\xff\xff", b"\x7f\xff\xff\xff", b"\x80\0\0\0", b"\xff" * 8, b"\0\0", b"9" * 20, b"-1")
MOST = 6  # changes to a sample


class Mutations:
    def __init__(self, samples: Sequence[bytes], words: Sequence[bytes], seed: int) -> None:
        self._chance = random.Random(seed)  # noqa: S311  # no secret
        self._samples = samples
        self._words = (*words, *NUMBERS)

    def next(self) -> bytes:
        chance = self._chance
        if chance.random() < 0.02:
            return chance.randbytes(chance.randrange(64))
        data = bytearray(chance.choice(self._samples))
        for _ in range(chance.randrange(MOST)):
            self._change(data)
        return bytes(data)

    def _change(self, data: bytearray) -> None:
        chance = self._chance
        at, until = sorted(chance.randrange(len(data) + 1) for _ in range(2))
        match chance.randrange(7):
            case 0 if data:
                data[at % len(data)] = chance.choice(EDGES)
            case 1 if data:
                data[at % len(data)] ^= 1 << chance.randrange(8)
            case 2:
                del data[at:until]
            case 3:
                data[at:at] = data[at:until]
            case 4:
                data[at:at] = chance.choice(self._words)
            case 5:
                data[at:until] = chance.choice(self._words)
            case _:
                data[at:] = chance.choice(self._samples)[at:]
