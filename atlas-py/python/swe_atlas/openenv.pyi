"""Types of `swe_atlas.openenv`, whose classes are made of OpenEnv's when they are asked for."""

from collections.abc import Callable
from typing import Any

__all__ = ["app", "environment"]

def environment(
    url: str, *, token: str | None = None, instance_id: str | None = None
) -> tuple[Callable[[], Any], type[Any], type[Any]]: ...
def app(*, most: int = 8) -> Any: ...
