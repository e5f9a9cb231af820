"""Fits `shared.classifiers.network`: cross entropy, Adam on the rows of a batch, dropout; deterministic."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shared.classifiers.network import BLOCKS, Network, build, mix, softmax
from tests.training import corpus, shrink
from tests.training.adam import Weights
from tests.training.corpus import Row, classes
from tests.training.rounding import Price

HIDDEN = 32
EPOCHS = 8
BATCH = 128
RATE = 0.006
DROPPED = 0.3
UNSAID = -1
"""A text whose class nobody has said; below it the classes of which a text is none, as bits: -2 is not the first."""
SPREAD = 0.05
"""Standard deviation of the initial values of a gram."""
Numbers = NDArray[np.float32]
Message = Sequence[Row]
BothMessages = tuple[Sequence[Message], Sequence[Message]]
"""Those that a network is fitted to, and more, by which it is only rounded."""
Text = Sequence[tuple[list[int], tuple[str | None, ...]]]
"""A message's texts as the rows of their grams, with their classes."""


@dataclass(frozen=True)
class Batch:
    """Texts as arrays: the rows of their grams and of the grams' meanings, the number of grams, and the classes."""

    flat: NDArray[np.intp]
    starts: NDArray[np.intp]
    counts: NDArray[np.intp]
    follows: Numbers
    targets: NDArray[np.intp]


@dataclass(frozen=True)
class Fitted:
    """What was fitted, as `Network`; the word of each row, "" of the first."""

    groups: tuple[tuple[str, ...], ...]
    words: list[str]
    rows: NDArray[np.int8]
    scale: Numbers
    hidden: Numbers
    out: Numbers
    bias: Numbers


FINELY = shrink.Rounding(0.3)


@dataclass(frozen=True)
class How:
    """Hyperparameters of a network; grams of fewer than `least_seen` texts are omitted.

    Of each text's grams the share `overlooked` is overlooked at every reading, so that none is learnt by heart. Of
    `members` networks, each from another beginning, the mean is taken: what hangs on chance evens out. Of the grams
    only so many are kept, those that move the classes most. Numbers are rounded, those of grams that many texts held
    more finely; there is `room` for so many hashes for each gram (`shrink`).
    """

    least_seen: int = 3
    overlooked: float = 0.0
    members: int = 1
    grams: int | None = None
    rounding: shrink.Rounding = FINELY
    room: int = 256


HOW = {
    "statements": How(overlooked=0.3, members=3, rounding=shrink.Rounding(1.2, plain=0.5, price=Price(0.22)), room=512),
    "relations": How(least_seen=12, overlooked=0.3, members=2, rounding=shrink.Rounding(2.4, price=Price(0.45))),
    "feedback": How(least_seen=4, overlooked=0.3, rounding=shrink.Rounding(0.9, price=Price(0.06))),
    "hostile": How(
        least_seen=6,
        overlooked=0.4,
        members=2,
        grams=100_000,
        rounding=shrink.Rounding(1.9, doubt=0.02),
        room=1024,
    ),
}
"""Differences from the default hyperparameters."""


def fit(messages: Sequence[Message], lexicon: Mapping[str, set[str]], how: How) -> Network:
    """The network fitted to these messages, as read from its file."""
    return build(fit_parts(messages, lexicon, how))


def fit_parts(
    messages: Sequence[Message], lexicon: Mapping[str, set[str]], how: How, more: Sequence[Message] = ()
) -> shrink.Parts:
    """The file parts of the network fitted to these messages; words of the lexicon share the weights of their meanings.

    Of `more` messages only the grams are read, in rounding.
    """
    messages = [message for message in messages if message]
    groups = tuple(map(tuple, classes(messages)))
    seen = Counter(gram for message in messages for row in message for gram in set(row.grams))
    words = ["", *sorted({gram for gram, times in seen.items() if times >= how.least_seen} | set(lexicon))]
    meanings = sorted({name for names in lexicon.values() for name in names})
    ids = {gram: place for place, gram in enumerate(words)}
    of = {ids[gram]: [len(words) + meanings.index(name) for name in sorted(names)] for gram, names in lexicon.items()}
    unseen = [ids[gram] for gram in lexicon if seen[gram] < how.least_seen]
    texts = [[(sorted({0, *(ids[g] for g in row.grams if g in ids)}), row.labels) for row in m] for m in messages]
    members = [_member(texts, of, groups, (len(words), len(meanings)), unseen, n, how) for n in range(how.members)]
    # block by block, each member's part beside the others'
    parts = [np.split(grams, BLOCKS, axis=1) for grams, *_ in members]
    grams = np.concatenate([part[block] for block in range(BLOCKS) for part in parts], axis=1)
    scale = (np.abs(grams).max(axis=0) / 127 + 1e-9).astype(np.float32)
    hidden = np.concatenate([hidden for _, hidden, _, _ in members])
    out = np.concatenate([out for _, _, out, _ in members]) / np.float32(how.members)
    bias = np.mean([bias for *_, bias in members], axis=0, dtype=np.float32)
    small = np.round(grams / scale).astype(np.int8)
    if how.grams is not None:
        words, small = _most_telling(words, small, scale, out, how.grams)
    return pack(Fitted(groups, words, small, scale, hidden, out, bias), seen, how, (messages, more))


def pack(fitted: Fitted, seen: Mapping[str, int], how: How, messages: BothMessages) -> shrink.Parts:
    """The parts of the file of a fitted network; `seen` says how many of the messages' texts held each gram."""
    known, vocabulary = shrink.order_by_hash(fitted.words[1:], seen, how.room)
    places = {gram: place for place, gram in enumerate(fitted.words)}
    rows = fitted.rows[[0, *(places[gram] for gram in known)]]
    network = Network(fitted.groups, vocabulary, rows, fitted.scale, fitted.hidden, fitted.out, fitted.bias)
    return shrink_network(network, np.array([0, *(seen.get(gram, 0) for gram in known)]), how, messages)


def pack_again(network: Network, how: How, messages: BothMessages) -> shrink.Parts:
    """The parts of the file of a network that was read from a file."""
    often = np.zeros(len(network.grams), np.intp)
    for row in chain.from_iterable(messages[0]):
        often[network.find_rows(row.grams)] += 1
    return shrink_network(network, often, how, messages)


def shrink_network(network: Network, often: NDArray[Any], how: How, messages: BothMessages) -> shrink.Parts:
    """Its parts; `often` says how many texts of the messages that it was fitted to held the gram of each row."""
    fitted, more = messages
    order: list[int] = np.random.default_rng(1).permutation(len(fitted)).tolist()
    chosen = [fitted[place] for place in order]
    read = [*chosen, *more] if how.rounding.price else chosen[: shrink.ASKED]
    asked = [
        [(network.find_rows(row.grams), any(label is not None for label in row.labels)) for row in message]
        for message in read
    ]
    return shrink.pack(network, often, how.rounding, asked)


def _most_telling(
    words: list[str], rows: NDArray[np.int8], scale: Numbers, out: Numbers, most: int
) -> tuple[list[str], NDArray[np.int8]]:
    """The grams that change the classes most in their own text, and row 0, in their original order."""
    width = len(out)
    moves = np.abs(rows[:, :width] * scale[:width] * np.ptp(out, axis=1)).sum(axis=1)
    moves[0] = np.inf
    kept = np.sort(np.argsort(-moves, kind="stable")[:most])
    return [words[place] for place in kept.tolist()], rows[kept]


def _member(
    texts: Sequence[Text],
    of: Mapping[int, list[int]],
    groups: Sequence[Sequence[str]],
    counts: tuple[int, int],
    unseen: Sequence[int],
    number: int,
    how: How,
) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """The weights of each gram, the hidden layer, the output layer, and the biases."""
    random = np.random.default_rng(5 + number)
    width = sum(map(len, groups))
    start = random.normal(0, SPREAD, (sum(counts), BLOCKS * HIDDEN)).astype(np.float32)
    start[list(unseen)] = 0.0
    rows, hidden = Weights(start.copy()), Weights(np.zeros(HIDDEN, np.float32))
    out = Weights(random.normal(0, HIDDEN**-0.5, (HIDDEN, width)).astype(np.float32))
    bias = Weights(np.zeros(width, np.float32))
    for epoch in range(EPOCHS):
        rate = RATE * (1.0 if epoch < EPOCHS - 2 else 0.3)
        for batch in _batches(texts, of, groups, random, how.overlooked):
            _step(batch, groups, (rows, hidden, out, bias), random, rate)
    learnt = np.where(rows.now == start, np.float32(0.0), rows.now)
    grams = learnt[: counts[0]].copy()
    for place, means in of.items():
        grams[place] += learnt[means].sum(axis=0)
    return grams, hidden.now, out.now, bias.now


def _batches(
    texts: Sequence[Text],
    of: Mapping[int, list[int]],
    groups: Sequence[Sequence[str]],
    random: np.random.Generator,
    overlooked: float,
) -> Iterator[Batch]:
    order = random.permutation(len(texts))
    places = [{name: place for place, name in enumerate(group)} for group in groups]
    for begin in range(0, len(order), BATCH):
        chosen = [texts[place] for place in order[begin : begin + BATCH]]
        flat: list[int] = []
        starts: list[int] = []
        counts: list[int] = []
        targets: list[list[int]] = []
        follows: list[float] = []
        for message in chosen:
            for number, (known, labels) in enumerate(message):
                if overlooked:
                    read = random.random(len(known)) >= overlooked
                    known = [place for place, kept in zip(known, read, strict=True) if kept or not place]
                starts.append(len(flat))
                counts.append(len(known))
                follows.append(float(number > 0))
                flat.extend(known)
                for place in known:
                    flat.extend(of.get(place, ()))
                targets.append([_target(at, name) for at, name in zip(places, labels, strict=True)])
        yield Batch(
            np.array(flat, np.intp),
            np.array(starts, np.intp),
            np.array(counts, np.intp),
            np.array(follows, np.float32),
            np.array(targets, np.intp),
        )


def _target(places: Mapping[str, int], name: str | None) -> int:
    if name is None:
        return UNSAID
    if name == corpus.SOME:
        return UNSAID - 1
    if name.startswith(corpus.NONE_OF):
        return UNSAID - sum(1 << places[each] for each in name.removeprefix(corpus.NONE_OF).split("|"))
    return places[name]


def _step(
    batch: Batch,
    groups: Sequence[Sequence[str]],
    weights: tuple[Weights, Weights, Weights, Weights],
    random: np.random.Generator,
    rate: float,
) -> None:
    rows, hidden, out, bias = weights
    sums = np.add.reduceat(rows.now[batch.flat], batch.starts, axis=0)
    mixed, root = mix(sums, batch.counts, batch.follows)
    live = (mixed + hidden.now > 0) * (random.random(mixed.shape) >= DROPPED) / (1 - DROPPED)
    layer = ((mixed + hidden.now) * live).astype(np.float32)
    error = _error(softmax(layer @ out.now + bias.now, groups), batch.targets, groups)
    back = (error @ out.now.T) * live
    out.move(layer.T @ error, rate=rate)
    bias.move(error.sum(axis=0), rate=rate)
    hidden.move(back.sum(axis=0), rate=rate)
    back = (back / root).astype(np.float32)
    after, ahead = np.zeros_like(back), np.zeros_like(back)
    after[:-1] = back[1:] * batch.follows[1:, None]
    ahead[1:] = back[:-1] * batch.follows[1:, None]
    spread = np.concatenate((back, after, ahead), axis=1)
    sizes = np.diff(np.append(batch.starts, len(batch.flat)))
    order = np.argsort(batch.flat, kind="stable")
    touched, first = np.unique(batch.flat[order], return_index=True)
    text_of = np.repeat(np.arange(len(sizes)), sizes)[order]
    rows.move(np.add.reduceat(spread[text_of], first, axis=0), rate, touched)


def _error(shares: Numbers, targets: NDArray[np.intp], groups: Sequence[Sequence[str]]) -> Numbers:
    """The mean loss over the labelled texts; zero without any."""
    start = 0
    for number, group in enumerate(groups):
        target = targets[:, number]
        told = (target >= 0).nonzero()[0]
        some = (target < UNSAID).nonzero()[0]
        # for a text with excluded classes only these lose probability, and the others share it
        rest = shares[some, start : start + len(group)] * _open(target[some], len(group))
        shares[some, start : start + len(group)] -= rest / (rest.sum(axis=1, keepdims=True) + 1e-6)
        shares[told, start + target[told]] -= 1.0
        shares[target == UNSAID, start : start + len(group)] = 0.0
        shares[:, start : start + len(group)] *= (1.0 if number == 0 else 0.5) / max(len(told) + len(some), 1)
        start += len(group)
    return shares


def _open(targets: NDArray[np.intp], classes: int) -> NDArray[np.bool_]:
    """The possible classes of each text."""
    barred = UNSAID - targets
    return ((barred[:, None] >> np.arange(classes)) & 1) == 0
