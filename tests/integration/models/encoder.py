"""A sentence encoder of a few hundred bytes: the model looks up one vector per token."""

import json
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

WORDS = ("[UNK]", "ready", "?", "好", "green", "tea", "龙井茶")
WIDTH = 8
MEAN = {"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}


def write_encoder(folder: Path, *, known: int = len(WORDS), pools: bool = False, seed: int = 7) -> Path:
    """The folder of an encoder that knows the first `known` words, with pooling in the model on request."""
    folder.mkdir(parents=True, exist_ok=True)
    table = np.random.default_rng(seed).normal(size=(known, WIDTH)).astype(np.float32)
    (folder / "model.onnx").write_bytes(_model(table, pools=pools))
    tokenizer = Tokenizer(WordLevel({word: n for n, word in enumerate(WORDS)}, unk_token="[UNK]"))  # a token of text
    tokenizer.pre_tokenizer = Whitespace()  # pyright: ignore[reportAttributeAccessIssue] # the stub lacks the setter
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(json.dumps({"hidden_size": WIDTH}))
    pooling = folder / "1_Pooling" / "config.json"
    pooling.parent.mkdir(exist_ok=True)
    pooling.write_text(json.dumps(MEAN))
    return folder


def _model(table: np.ndarray, *, pools: bool) -> bytes:
    """The file in ONNX format, a protocol buffer with the field numbers of onnx.proto3."""
    gather = _node("Gather", ("table", "input_ids"), "states")
    nodes = gather
    if pools:
        axes = _text(1, "axes") + _number(8, 1) + _number(20, 7)
        flat = _text(1, "keepdims") + _number(3, 0) + _number(20, 2)
        nodes += _node("ReduceMean", ("states",), "pooled", axes, flat)
    weights = b"".join(_number(1, size) for size in table.shape) + _number(2, 1)
    weights += _text(8, "table") + _bytes(9, table.tobytes())
    graph = nodes + _text(2, "encoder") + _bytes(5, weights)
    graph += _bytes(11, _value("input_ids", 7, 2)) + _bytes(11, _value("attention_mask", 7, 2))
    graph += _bytes(12, _value("pooled", 1, 2) if pools else _value("states", 1, 3))
    return _number(1, 8) + _bytes(7, graph) + _bytes(8, _number(2, 17))


def _node(operation: str, inputs: tuple[str, ...], output: str, *attributes: bytes) -> bytes:
    names = b"".join(_text(1, name) for name in inputs) + _text(2, output)
    return _bytes(1, names + _text(4, operation) + b"".join(_bytes(5, each) for each in attributes))


def _value(name: str, kind: int, dimensions: int) -> bytes:
    shape = b"".join(_bytes(1, _text(2, f"{name}{n}")) for n in range(dimensions))
    return _text(1, name) + _bytes(2, _bytes(1, _number(1, kind) + _bytes(2, shape)))


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode())


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    parts: list[int] = []
    while True:
        value, low = value >> 7, value & 127
        parts.append(low | 128 if value else low)
        if not value:
            return bytes(parts)
