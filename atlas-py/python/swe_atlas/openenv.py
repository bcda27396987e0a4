"""Instances as an OpenEnv environment: `app` speaks OpenEnv's protocol in front of `atlas serve`.

    uvicorn --factory 'swe_atlas.openenv:app'        # ATLAS_SERVE_URL=http://127.0.0.1:8000

The package `openenv-core` is needed, and only when `app` or `environment` is called.
"""

import importlib
import math
import os
from collections.abc import Callable
from typing import Any

from swe_atlas.env import AtlasEnv

__all__ = ["app", "environment"]


def environment(
    url: str, *, token: str | None = None, instance_id: str | None = None
) -> tuple[Callable[[], Any], type[Any], type[Any]]:
    """What OpenEnv's `create_fastapi_app` takes: a maker of environments, the class of actions, that of observations.

    An action is `{"command": …, "seconds": …}` or `{"submit": true}`. An observation has `task` after a reset, `output`
    after a command and `result` after a submission; `reward` and `done` are OpenEnv's own. A reset takes `instance_id`,
    `hints` and `reward` beside OpenEnv's arguments.

    Args:
        url: The server of `atlas serve`.
        token: Its bearer token, where it wants one.
        instance_id: The instance of a reset that names none.
    """
    types: Any = importlib.import_module("openenv.core.env_server.types")
    interfaces: Any = importlib.import_module("openenv.core.env_server.interfaces")

    class AtlasAction(types.Action):  # type: ignore[misc]
        """A command for bash, or the submission."""

        command: str = ""
        seconds: int | None = None
        submit: bool = False

    class AtlasObservation(types.Observation):  # type: ignore[misc]
        """What the agent is told."""

        task: dict[str, Any] | None = None
        output: dict[str, Any] | None = None
        result: dict[str, Any] | None = None

    class AtlasEnvironment(interfaces.Environment):  # type: ignore[misc]
        """One episode at a time on the server."""

        SUPPORTS_CONCURRENT_SESSIONS = True

        def __init__(self) -> None:
            super().__init__()
            self._env = AtlasEnv(url, token=token, instance_id=instance_id)
            self._state = types.State()

        def reset(
            self, seed: int | None = None, episode_id: str | None = None, **options: Any
        ) -> Any:
            """Begins an episode. Its name is the server's, whatever `episode_id` is."""
            task, info = self._env.reset(seed=seed, options=options)
            self._state = types.State(episode_id=info["episode"], step_count=0)
            return AtlasObservation(task=dict(task), metadata=info)

        def step(self, action: Any, timeout_s: float | None = None, **_unused: Any) -> Any:
            """Runs the command or submits."""
            if action.submit:
                ended = self._env.submit()
                known = None if math.isnan(ended[1]) else ended[1]
                return AtlasObservation(result=ended[4], reward=known, done=True)
            seconds = action.seconds or (math.ceil(timeout_s) if timeout_s else None)
            output, _, _, over, info = self._env.step(action.command, seconds=seconds)
            self._state.step_count += 1
            return AtlasObservation(
                output=dict(output), done=over and not info["can_submit"], metadata=info
            )

        @property
        def state(self) -> Any:
            """The episode's name and the number of its commands."""
            return self._state

        def close(self) -> None:
            """Ends the episode."""
            self._env.close()

    return AtlasEnvironment, AtlasAction, AtlasObservation


def app(*, most: int = 8) -> Any:
    """OpenEnv's web application, for the server at `ATLAS_SERVE_URL`.

    The variables `ATLAS_SERVE_TOKEN` and `ATLAS_SERVE_INSTANCE` name the bearer token and the instance of resets that
    name none.

    Args:
        most: Episodes at once.
    """
    server: Any = importlib.import_module("openenv.core.env_server.http_server")
    url = os.environ.get("ATLAS_SERVE_URL", "http://127.0.0.1:8000")
    parts = environment(
        url,
        token=os.environ.get("ATLAS_SERVE_TOKEN"),
        instance_id=os.environ.get("ATLAS_SERVE_INSTANCE"),
    )
    return server.create_fastapi_app(*parts, max_concurrent_envs=most)
