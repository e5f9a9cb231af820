"""`python -m tests.training.static`: rebuilds `shared/classifiers/static_vectors` (ten minutes on one core)."""

import argparse
import json
from pathlib import Path

import numpy as np

from shared.classifiers.static_encoder import FOLDER
from tests.training.static import folder, teacher, words
from tests.training.static.fit import Fitted, fit_tokens, turn_into

HERE = Path(__file__).parent
DIMENSION = 256
FREE_SPACE = 1.0
"""The regularisation of a token towards its own encoder vector (the ridge of the regression)."""


def main() -> None:
    """Reads the encoders and the sentences, writes the folder, and prints how well the sums match the encoders."""
    args = _parser().parse_args()
    sentences = {"en": _lines(args.sentences_en), "zh": _lines(args.sentences_zh)}
    vocabulary = words.choose_words(
        words.latin_words(args.english / "tokenizer.json"),
        words.han_characters(args.chinese / "tokenizer.json"),
        sentences["en"],
        sentences["zh"],
        words.read_dictionary(args.dictionary),
    )
    tokenizer = words.make_tokenizer(vocabulary)
    fitted: dict[str, Fitted] = {}
    for language, path in (("en", args.english), ("zh", args.chinese)):
        tokens = [token for token in vocabulary if words.is_han(token) == (language == "zh")]
        encoder = teacher.Teacher(path, args.cache)
        fitted[language] = fit_tokens(
            tokenizer,
            sentences[language],
            encoder.encode(sentences[language]),
            tokens,
            encoder.encode(tokens),
            {token: np.exp(score) for token, score in vocabulary.items()},
            DIMENSION,
            FREE_SPACE,
        )
        print(f"{language}: cosine to the encoder {fitted[language].seen:.3f}, unseen {fitted[language].unseen:.3f}")
    pairs = [line.split() for line in _lines(HERE / "pairs.txt")]
    chinese = turn_into(fitted["zh"].rows, fitted["en"].rows, tokenizer, pairs)
    han = np.array([words.is_han(tokenizer.id_to_token(n) or "") for n in range(tokenizer.get_vocab_size())])
    rows = np.where(han[:, None], chinese, fitted["en"].rows)
    rows[0] = 0.0  # the unknown token has no meaning
    size = folder.write(args.out, tokenizer, rows)
    print(f"{len(rows)} tokens, {size} bytes in {args.out}")
    print(json.loads((args.out / "config.json").read_text())["model_id"])


def _lines(path: Path) -> list[str]:
    lines = path.read_text(encoding="utf-8").split("\n")
    return list(dict.fromkeys(line for line in lines if line.strip()))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m tests.training.static", description=__doc__)
    parser.add_argument("--english", type=Path, required=True, help="folder of all-MiniLM-L6-v2 (ONNX)")
    parser.add_argument("--chinese", type=Path, required=True, help="folder of bge-small-zh-v1.5 (ONNX)")
    parser.add_argument("--sentences-en", type=Path, required=True, help="plain English sentences, one a line")
    parser.add_argument("--sentences-zh", type=Path, required=True, help="plain Chinese sentences, one a line")
    parser.add_argument("--dictionary", type=Path, required=True, help="dict.txt of the package jieba (MIT)")
    parser.add_argument("--cache", type=Path, help="folder where the encoders' vectors are kept between runs")
    parser.add_argument("--out", type=Path, default=FOLDER, help="the folder to write")
    return parser


if __name__ == "__main__":
    main()
