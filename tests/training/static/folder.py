"""The folder in Model2Vec's format: one-byte numbers, a weight for each token, tokenizer, configuration."""

import hashlib
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer


def write(folder: Path, tokenizer: Tokenizer, rows: NDArray[np.float32]) -> int:
    """The number of bytes written."""
    folder.mkdir(parents=True, exist_ok=True)
    largest = np.abs(rows).max(axis=1)
    whole = np.rint(rows / np.maximum(largest, 1e-9)[:, None] * 127).astype(np.int8)
    weights = (largest / 127).astype("<f4")
    tensors = _safetensors({"embeddings": ("I8", whole), "weights": ("F32", weights)})
    cut = tokenizer.to_str(pretty=False).encode()
    digest = hashlib.sha256(tensors + cut).hexdigest()[:12]
    config = {
        "model_type": "model2vec",
        "architectures": ["StaticModel"],
        "hidden_dim": rows.shape[1],
        "seq_length": 1000000,
        "normalize": True,
        "embedding_dtype": "int8",
        "tokenizer_name": "unigram",
        "model_id": f"static-zh-en@{digest}",
    }
    files = {
        "model.safetensors": tensors,
        "tokenizer.json": cut,
        "config.json": json.dumps(config, indent=2).encode() + b"\n",
    }
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return sum(map(len, files.values()))


def _safetensors(tensors: dict[str, tuple[str, NDArray[np.generic]]]) -> bytes:
    head: dict[str, object] = {}
    body = b""
    for name, (dtype, tensor) in tensors.items():
        data = tensor.tobytes()
        head[name] = {"dtype": dtype, "shape": list(tensor.shape), "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    said = json.dumps(head, separators=(",", ":")).encode()
    said += b" " * (-len(said) % 8)
    return len(said).to_bytes(8, "little") + said + body
