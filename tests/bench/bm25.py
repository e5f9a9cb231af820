"""Plain BM25, for comparison: words of Latin script and bigrams of Han characters."""

import math
import re
from collections import Counter, defaultdict

K1 = 1.5
B = 0.75
_RUNS = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]+|[^\W\u3400-\u9fff\uf900-\ufaff_]+")


def words(text: str) -> list[str]:
    """The tokens in order: words, bigrams of Han characters, and single Han characters."""
    found: list[str] = []
    for run in _RUNS.findall(text.lower()):
        if "\u3400" <= run[0] <= "\ufaff" and len(run) > 1:
            found += [run[n : n + 2] for n in range(len(run) - 1)]
        else:
            found.append(run)
    return found


class Bm25:
    """An index of texts; more can be added between two searches."""

    def __init__(self) -> None:
        self._where: dict[str, dict[str, int]] = defaultdict(dict)
        self._lengths: dict[str, int] = {}

    def add(self, id: str, text: str) -> None:  # an index contains ids
        """Adds the text to the index."""
        counted = Counter(words(text))
        self._lengths[id] = sum(counted.values())
        for word, count in counted.items():
            self._where[word][id] = count

    def search(self, query: str, most: int) -> list[str]:
        """The ids of the best texts that share a token with the query, best first."""
        many = len(self._lengths)
        usual = sum(self._lengths.values()) / many if many else 1.0
        scores: dict[str, float] = defaultdict(float)
        for word in words(query):
            having = self._where.get(word, {})
            weight = math.log(1 + (many - len(having) + 0.5) / (len(having) + 0.5))
            for id, count in having.items():
                share = count * (K1 + 1) / (count + K1 * (1 - B + B * self._lengths[id] / usual))
                scores[id] += weight * share
        return sorted(scores, key=lambda id: -scores[id])[:most]
