"""Reads brain.yml, beside `shared.settings`, which reads the environment; what may stand in it is `shared.policy`."""

from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from shared.errors import ConfigurationError
from shared.policy import Policy


def load_policy(path: Path | None) -> Policy:
    """The policy in the file, or the defaults; a bad value raises ConfigurationError naming its place."""
    if path is None:
        return Policy()
    try:
        raw: Any = yaml.safe_load(path.read_text("utf-8")) or {}
    except (OSError, yaml.YAMLError) as error:
        raise ConfigurationError(f"{path}: {error}") from error
    try:
        return Policy.model_validate(raw)
    except ValidationError as error:
        problem = error.errors()[0]
        place = ".".join(str(part) for part in problem["loc"])
        raise ConfigurationError(f"{path}: {place}: {problem['msg']}") from error
