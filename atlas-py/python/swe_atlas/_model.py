"""Calls models that are callables; the native module starts one call at a time here."""

import threading
from collections.abc import Callable
from typing import Any


def start(
    model: Callable[..., Any], messages: list[dict[str, str]], options: dict[str, Any], reply: Any
) -> None:
    """Calls the model in a thread of its own, which does not keep the interpreter from ending."""

    def call() -> None:
        try:
            answer = model(messages, **options)
        except BaseException as why:
            reply.raised(f"{type(why).__name__}: {why}")
        else:
            reply.answered(answer)

    threading.Thread(target=call, name="atlas-model", daemon=True).start()
