"""Random histories of every kind, and tokenizers trained on their text; deterministic for a seed."""

import json
import random
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

from services.compose.rules.candidates import Candidate, CoreMemory, RankedCandidate, RecentTurn, TurnMessage
from services.compose.rules.packing.draft import PackInputs
from services.compose.rules.ranking.fuse import FusePolicy, fuse

NOW = datetime(2026, 11, 18, tzinfo=UTC)
ROOT = Path(__file__).parents[5]
LIMITS = (1000, 1200, 1500, 2000, 3000, 4096, 6000, 8192, 8192, 12_000, 16_384, 24_000, 32_768)
INTENTS = ("small_talk", "recommend", "knowledge_qa", "preference_check", "task", "complaint", "other", "other")
SHAPES: dict[str, tuple[int, tuple[int, int]]] = {
    "many short turns": (40, (10, 120)),
    "few huge turns": (6, (3000, 20_000)),
    "turns of all sizes": (12, (10, 3000)),
    "two turns": (2, (100, 8000)),
    "no turns": (0, (1, 2)),
}
EMOJI = ("😀", "👍🏽", "🎉🎉🎉", "❤️", "👩‍💻", "🍜☕")


@cache
def pieces() -> dict[str, list[str]]:
    """Lines of text by kind."""
    told = [path for path in sorted((ROOT / "tests/eval").glob("*.jsonl")) if path.stem != "hostile"]
    rows = [json.loads(line) for path in told for line in path.open("rb")]
    said: dict[str, list[str]] = {"zh": [], "en": []}
    for row in rows:
        if row.get("text") and row.get("language") in said:
            said[row["language"]].append(row["text"])
    code = "\n".join(path.read_text("utf-8") for path in sorted((ROOT / "services/compose").glob("*.py")))
    rng = random.Random(7)
    return {
        **said,
        "mixed": [a + " " + b for a, b in zip(said["zh"], said["en"], strict=False)],
        "code": [line for line in code.splitlines() if line],
        "json": (ROOT / "tests/eval/extraction.jsonl").read_text("utf-8").splitlines()[:300],
        "emoji": [f"{text[:40]}{EMOJI[n % len(EMOJI)]}" for n, text in enumerate(said["zh"] + said["en"])],
        "numbers": [", ".join(f"{rng.random() * 1000:.2f}" for _ in range(8)) for _ in range(200)],
        "urls": [f"https://www.example{n}.com/docs/{rng.randrange(10**6)}?q=a%20b&id={n * 7919:x}" for n in range(200)],
        "long words": [text.replace(" ", "")[:60] for text in said["en"]],
    }


KINDS = ("en", "zh", "mixed", "en", "zh", "mixed", "code", "json", "emoji", "numbers", "urls", "long words")


@cache
def tokenizers() -> dict[str, Callable[[str], int]]:
    """Byte-pair and word-piece tokenizers trained on these texts; word pieces do not cover emoji."""
    texts = [text for kind in pieces().values() for text in kind]
    pairs = Tokenizer(models.BPE())
    pairs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    pairs.train_from_iterator(
        texts, trainers.BpeTrainer(vocab_size=16_000, initial_alphabet=alphabet, show_progress=False)
    )
    words = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    words.normalizer = normalizers.BertNormalizer()
    words.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    words.train_from_iterator(
        texts, trainers.WordPieceTrainer(vocab_size=16_000, special_tokens=["[UNK]"], show_progress=False)
    )
    return {
        "byte pairs": lambda text: len(pairs.encode(text).ids),
        "word pieces": lambda text: len(words.encode(text, add_special_tokens=False).ids),
    }


def history(seed: int, **fixed: Any) -> PackInputs:
    """A possible history, memory and question."""
    rng = random.Random(seed)
    kind, (count, size) = rng.choice(KINDS), SHAPES[rng.choice(list(SHAPES))]

    def text(least: int, most: int) -> str:
        return some_text(rng, pieces()[kind], rng.randrange(least, most))

    limit = rng.choice(LIMITS)
    given: dict[str, Any] = {
        "context_id": _id(rng),
        "session_id": f"session-{seed}",
        "created_at": NOW,
        "request_id": _id(rng),
        "token_limit": limit,
        "intent": rng.choice(INTENTS),
        "user_message": text(4, 120) if rng.random() < 0.8 else text(100, limit * 3),
        "core": [
            CoreMemory("preference", text(10, 200), NOW, _id(rng), _id(rng), category="pref:food")
            for _ in range(rng.choice((0, 3, 20)))
        ],
        "working_summary": text(10, 6000) if rng.random() < 0.6 else "",
        "entities": [text(3, 12) for _ in range(rng.choice((0, 5, 20)))],
        "recent": [
            RecentTurn(_id(rng), n, (TurnMessage("user", text(*size)), TurnMessage("assistant", text(*size))))
            for n in range(1, count + 1)
        ],
        "evidence": _found(rng, text),
    }
    return PackInputs(**{**given, **fixed})


def some_text(rng: random.Random, lines: Sequence[str], characters: int) -> str:
    """This many characters of these lines."""
    made: list[str] = []
    while sum(map(len, made)) < characters:
        made.append(rng.choice(lines))
    return rng.choice(("\n", " ")).join(made)[:characters].strip() or "…"


def _found(rng: random.Random, text: Callable[[int, int], str]) -> Sequence[RankedCandidate]:
    pool = [
        Candidate(
            kind,  # pyright: ignore[reportArgumentType] # one of the three
            text(20, 1500),
            NOW - timedelta(days=rng.randrange(300)),
            memory_id=_id(rng) if kind == "memory" else None,
            memory_type="preference" if kind == "memory" else None,
            turn_id=_id(rng),
            message_ordinal=0,
            document_id=f"d{n}" if kind == "resource" else None,
            title="A title" if kind == "resource" else "",
            source_uri=f"https://example.com/{n}" if kind == "resource" else "",
            section_id="1" if kind == "resource" else None,
            arm_ranks={"text": n + 1, "vector": n + 1},
            arm_scores={"text": 0.5, "vector": 0.3},
        )
        for n in range(rng.choice((0, 0, 3, 10, 30)))
        for kind in (rng.choice(("memory", "memory", "turn", "resource")),)
    ]
    return fuse(pool, NOW, FusePolicy()).ranked


def _id(rng: random.Random) -> str:
    digits = f"{rng.getrandbits(128):032x}"
    return f"{digits[:8]}-{digits[8:12]}-7{digits[13:16]}-{digits[16:20]}-{digits[20:]}"
