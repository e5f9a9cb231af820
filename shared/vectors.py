"""Vectors as they are kept, compared and put on one scale. Pure.

A vector is kept as whole numbers of one byte. The pages of large users hold half a byte for each, after a turn of all
axes that spreads what a vector says evenly over them, and one number more that makes estimates of cosines unbiased.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Reals: TypeAlias = NDArray[np.float32]
_SEED = 28
_FACTOR = np.dtype("<f2")
_BLOCK = 512
"""Rows that are made real numbers at a time: they stay in the processor's cache."""


def to_bytes(vector: Reals) -> bytes:
    """The vector's direction, a byte for each number."""
    most = float(np.abs(vector).max(initial=0.0))
    return np.rint(vector * (127 / most if most else 0.0)).astype(np.int8).tobytes()


def from_bytes(kept: bytes, dimension: int) -> NDArray[np.int8]:
    """The kept vectors, a row each."""
    return np.frombuffer(kept, dtype=np.int8).reshape(-1, dimension)


def to_units(rows: NDArray[np.int8] | NDArray[np.float16]) -> Reals:
    """Rows of length one; one without a direction stays without."""
    real = rows.astype(np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", real, real))
    return (real / np.where(lengths > 0, lengths, 1.0)[:, None]).astype(np.float32)


def cosines(rows: NDArray[np.int8], unit: Reals) -> Reals:
    """The cosine of each row with this unit vector; 0 for a row without a direction."""
    nearness = np.empty(len(rows), dtype=np.float32)
    for start in range(0, len(rows), _BLOCK):
        real = rows[start : start + _BLOCK].astype(np.float32)
        lengths = np.sqrt(np.einsum("ij,ij->i", real, real))
        nearness[start : start + _BLOCK] = np.einsum("ij,j->i", real, unit) / np.where(lengths > 0, lengths, 1.0)
    return nearness


@cache
def _turn(dimension: int) -> Reals:
    """A turn of the axes, always the same: signs thrown at random, then a cosine transform."""
    dice = random.Random(_SEED)  # noqa: S311 # the same for ever, and no secret
    signs = np.array([dice.choice((-1.0, 1.0)) for _ in range(dimension)])
    n = np.arange(dimension)
    waves = np.cos(np.pi * (n[:, None] + 0.5) * n[None, :] / dimension) * np.sqrt(2 / dimension)
    waves[:, 0] = np.sqrt(1 / dimension)
    return (signs[:, None] * waves).astype(np.float32)


_MOST = 7
"""Numbers of half a byte go from -7 to 7, kept as 1 to 15."""


def code_size(dimension: int) -> int:
    """Bytes of the code of one vector."""
    return -(-dimension // 2) + _FACTOR.itemsize


def to_codes(units: Reals) -> bytes:
    """The code of each unit vector: half a byte along each of the turned axes, and how far they reach together."""
    if not len(units):
        return b""
    turned = units @ _turn(units.shape[1])
    most = np.abs(turned).max(axis=1)
    whole = np.rint(turned * (_MOST / np.where(most > 0, most, 1.0))[:, None])
    reach = np.einsum("ij,ij->i", whole, turned)
    halves = (whole + _MOST + 1).astype(np.uint8)
    if halves.shape[1] % 2:
        halves = np.hstack([halves, np.zeros((len(halves), 1), dtype=np.uint8)])
    middle = halves.shape[1] // 2
    packed = (halves[:, :middle] << 4) | halves[:, middle:]
    return np.hstack([packed, reach.astype(_FACTOR).view(np.uint8).reshape(-1, _FACTOR.itemsize)]).tobytes()


def estimates(codes: bytes, unit: Reals) -> Reals:
    """The cosine of each coded vector with this unit vector, up to about 0.007; 0 for one without a direction."""
    raw = np.frombuffer(codes, dtype=np.uint8).reshape(-1, code_size(len(unit)))
    reach = raw[:, -_FACTOR.itemsize :].copy().view(_FACTOR).ravel().astype(np.float32)
    turned = unit @ _turn(len(unit))
    middle = raw.shape[1] - _FACTOR.itemsize
    # a byte is 16 times its first half and its second: with a share of the one the other counts what is left
    whole, rest = turned[:middle] / 16, np.zeros(middle, dtype=np.float32)
    rest[: len(unit) - middle] = turned[middle:]
    rest -= whole
    estimated = np.empty(len(raw), dtype=np.float32)
    halves = np.empty((_BLOCK, middle), dtype=np.uint8)
    real = np.empty((_BLOCK, middle), dtype=np.float32)
    for start in range(0, len(raw), _BLOCK):
        packed = raw[start : start + _BLOCK, :middle]
        count = len(packed)
        np.copyto(real[:count], packed)
        part = real[:count] @ whole
        np.copyto(real[:count], np.bitwise_and(packed, 15, out=halves[:count]))
        estimated[start : start + count] = part + real[:count] @ rest
    estimated -= (_MOST + 1) * float(turned.sum())
    return np.where(reach > 0, estimated / np.where(reach > 0, reach, 1.0), 0.0).astype(np.float32)


Spoken: TypeAlias = Literal["en", "zh"]
LANGUAGES: tuple[Spoken, ...] = ("en", "zh")
PAIRS: Mapping[Spoken, tuple[tuple[str, str], ...]] = {
    "en": (
        ("The train to Boston leaves at seven in the morning.", "Our train departs for Boston at 7 a.m."),
        ("My daughter is allergic to peanuts.", "Peanuts make my little girl ill."),
        ("We moved the meeting to Friday because the client is ill.", "The client is sick, so we now meet on Friday."),
        ("I would rather read a novel than watch television.", "Books are more fun for me than TV."),
        ("The server ran out of memory last night.", "There was not enough RAM on the machine yesterday evening."),
        ("She bought a small flat near the harbour.", "Her new apartment is tiny and close to the port."),
        ("Could you recommend a good dentist?", "Do you know somebody decent who could look at my teeth?"),
        ("He plays the violin in an amateur orchestra.", "His hobby is making music with a fiddle."),
        ("The bill for electricity was far too high this winter.", "We paid a lot for power in the cold months."),
        ("Grandfather grows tomatoes behind the house.", "My mother's dad has vegetables in his garden."),
    ),
    "zh": (
        ("明天早上七点的火车去上海。", "我坐明早七点那班高铁到上海。"),
        ("我女儿对花生过敏。", "孩子一吃花生就不舒服。"),
        ("客户病了，会议改到星期五。", "因为对方身体不好，我们周五再开会。"),
        ("比起看电视我更愿意读小说。", "我喜欢看书，不太爱看电视。"),
        ("昨天夜里服务器的内存用完了。", "机器昨晚没有足够的内存了。"),
        ("她在海边买了一套小公寓。", "她新买的房子不大，离大海很近。"),
        ("你能推荐一位好的牙医吗？", "认识看牙比较好的大夫吗？"),
        ("他在业余乐团里拉小提琴。", "他的爱好是和乐队一起演奏提琴。"),
        ("今年冬天的电费太贵了。", "冷的那几个月我们用电花了很多钱。"),
        ("爷爷在屋后种西红柿。", "我祖父家的院子里有很多蔬菜。"),
    ),
}
"""Sentences that have nothing to do with each other, each with another that says about the same."""
LEAST_SPREAD = 0.2
"""A model that tells paraphrases apart by less than this lifts nothing as far as one that can."""


@dataclass(frozen=True, slots=True)
class Scale:
    """What cosines of one model are worth: `unrelated` for sentences about other things, `alike` for paraphrases."""

    unrelated: float
    alike: float

    def lift(self, found: Reals) -> Reals:
        """0 for what has nothing to do with it, about 1 for what says the same, with any model."""
        return ((found - self.unrelated) / max(self.alike - self.unrelated, LEAST_SPREAD)).astype(np.float32)


def sentences(spoken: Sequence[Spoken] = LANGUAGES) -> list[str]:
    """The sentences of `PAIRS` in these languages, in the order that `scale_of` expects vectors in."""
    return [sentence for language in spoken for pair in PAIRS[language] for sentence in pair]


def scale_of(units: Reals, spoken: Sequence[Spoken] = LANGUAGES) -> Scale:
    """The scale of the model that made these vectors of `sentences(spoken)`; each language is compared with itself."""
    unrelated: list[float] = []
    alike: list[float] = []
    start = 0
    for language in spoken:
        count = len(PAIRS[language])
        first, second = units[start : start + 2 * count : 2], units[start + 1 : start + 2 * count : 2]
        between = first @ second.T
        alike += np.diagonal(between).tolist()
        unrelated += between[~np.eye(count, dtype=bool)].tolist()
        start += 2 * count
    return Scale(float(np.mean(unrelated)), float(np.mean(alike)))
