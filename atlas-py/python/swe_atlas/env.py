"""Instances as environments, in the manner of Gymnasium: a client of `atlas serve`.

    env = AtlasEnv("http://127.0.0.1:8000", instance_id="owner__repo-1")
    task, info = env.reset()
    output, reward, terminated, truncated, info = env.step("grep -rn parse src")
    ...
    output, reward, terminated, truncated, info = env.submit()
    env.close()

Only Python's standard library is needed. Each request bears a name and is asked again by it whenever it was not answered:
the server carries it out once, so that a broken connection neither repeats a command nor loses a reward.
"""

import http.client
import json
import math
import time
import urllib.parse
import uuid
from types import TracebackType
from typing import Any, Final, TypedDict, cast

__all__ = ["SUBMIT", "AtlasEnv", "Output", "ServeError", "Task"]

SUBMIT: Final = "\x04"
"""The action that submits, for loops that know `step` alone: `AtlasEnv.submit` by another name."""


class Task(TypedDict):
    """What an agent is told at the beginning."""

    instance_id: str
    repo: str
    base_commit: str
    problem_statement: str
    hints: str | None
    working_directory: str
    isolation: dict[str, Any]
    may_run: str
    limits: dict[str, int]


class Output(TypedDict):
    """What a command did: `ended` is `exited`, `timed_out`, `out_of_memory` or, without a command, `none`."""

    output: str
    output_total: int
    is_truncated: bool
    ended: str
    exit_code: int | None
    seconds: float


class ServeError(Exception):
    """The server refused: `status`, `kind` (a stable word) and a sentence.

    `kind` is `unreachable`, and `status` 0, where nobody answered for as long as the client is patient.
    """

    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__(f"{kind}: {message}")
        self.status = status
        self.kind = kind


_AGAIN: Final = {("busy", 409), ("full", 429)}
_LOST: Final = {"ended", "steps_used_up", "session_failed", "forgotten"}


class AtlasEnv:
    """One episode at a time on a server of `atlas serve`.

    Args:
        url: The server, as `http://127.0.0.1:8000`.
        instance_id: The instance of a reset that names none.
        token: The server's bearer token, where it wants one.
        hints: Whether the row's hints are told.
        reward: `resolved`, `fail_to_pass` or `critic`; the server's choice if None.
        patience: Seconds in which a server that is full, restarting or not there is asked again.
        verdict_seconds: Seconds in which a submission must have its verdict.

    An environment belongs to one thread. It is a context manager, which closes it.
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(
        self,
        url: str,
        *,
        instance_id: str | None = None,
        token: str | None = None,
        hints: bool = False,
        reward: str | None = None,
        patience: float = 300.0,
        verdict_seconds: float = 7200.0,
    ) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"`{url}` is no address of a server: http://127.0.0.1:8000 would be")
        self._url = url
        self._parts = parts
        self._instance_id = instance_id
        self._bearer = token
        self._hints = hints
        self._reward = reward
        self._patience = patience
        self._verdict_seconds = verdict_seconds
        self._connection: http.client.HTTPConnection | None = None
        self._episode: str | None = None
        self._token: str | None = None

    @property
    def episode(self) -> str | None:
        """The name of the episode; None before the first reset and after the end."""
        return self._episode

    def instances(self) -> list[str]:
        """The instances that the server has."""
        answer = self._ask("GET", "/instances", self._bearer, None, self._patience)
        return cast("list[str]", answer["instances"])

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Task, dict[str, Any]]:
        """Begins an episode; the one before is ended.

        Args:
            seed: Not used: an instance is the same each time.
            options: `instance_id`, `hints` and `reward` for this episode.

        Returns:
            What the agent is told, and `episode`, `reward_kind` and `from` (`ready` or `new`).
        """
        given = dict(options or {})
        body = {
            "instance_id": given.pop("instance_id", self._instance_id),
            "hints": given.pop("hints", self._hints),
            "reward": given.pop("reward", self._reward),
            "request_id": uuid.uuid4().hex,
        }
        if given:
            raise ValueError(f"unknown options: {', '.join(sorted(given))}")
        if body["instance_id"] is None:
            raise ValueError("no instance: AtlasEnv(…, instance_id=…) or options={'instance_id': …}")
        self._end()
        answer = self._ask("POST", "/episodes", self._bearer, body, self._patience)
        return self._begun(answer)

    def _begun(self, answer: dict[str, Any]) -> tuple[Task, dict[str, Any]]:
        self._episode, self._token = answer["episode"], answer["token"]
        info = {
            "episode": answer["episode"],
            "reward_kind": answer["reward"],
            "from": answer["from"],
        }
        return cast("Task", answer["observation"]), info

    def step(
        self, action: str, *, seconds: int | None = None
    ) -> tuple[Output, float, bool, bool, dict[str, Any]]:
        """Runs one command for bash, or submits if the action is `SUBMIT`.

        Args:
            action: The command.
            seconds: Its wall time; the server's default if None.

        Returns:
            What it did, the reward (0 until the submission), whether the episode was submitted, whether it takes no more
            commands for another reason (`info["cause"]`), and `steps_left` and `seconds_left`. An episode that takes no
            more commands may still be submitted if `info["can_submit"]`.
        """
        if action == SUBMIT:
            return self.submit()
        body = {"command": action, "seconds": seconds, "request_id": uuid.uuid4().hex}
        try:
            answer = self._on("step", body, (seconds or 0) + self._patience)
        except ServeError as why:
            if why.kind not in _LOST:
                raise
            info = {"cause": str(why), "can_submit": why.kind != "ended"}
            return _nothing(), 0.0, False, True, info
        info = {key: answer.pop(key) for key in ("steps_left", "seconds_left")}
        is_over = answer.pop("is_over")
        if is_over:
            info |= {"cause": "the session was killed", "can_submit": True}
        return cast("Output", answer), 0.0, False, is_over, info

    def submit(self) -> tuple[Output, float, bool, bool, dict[str, Any]]:
        """Ends the episode with what its files are, and waits for the verdict.

        Returns:
            As `step`. The reward is from 0 to 1, and NaN where nothing could be found out: no verdict is no 0. The rest of
            the server's answer is in `info`: `cause`, `resolved`, `FAIL_TO_PASS`, `PASS_TO_PASS` and `verdict`.
        """
        try:
            answer = self._on("submit", {}, self._verdict_seconds)
        except ServeError as why:
            if why.kind not in _LOST:
                raise
            return _nothing(), math.nan, False, True, {"cause": str(why), "can_submit": False}
        reward = answer.pop("reward")
        return _nothing(), math.nan if reward is None else float(reward), True, False, answer

    def fork(self) -> "AtlasEnv":
        """Another episode that begins with this one's files as they are now; a snapshot is a fork that is kept."""
        answer = self._on("fork", {"request_id": uuid.uuid4().hex}, self._patience)
        other = AtlasEnv(
            self._url,
            instance_id=answer["observation"]["instance_id"],
            token=self._bearer,
            hints=self._hints,
            reward=answer["reward"],
            patience=self._patience,
            verdict_seconds=self._verdict_seconds,
        )
        other._begun(answer)
        return other

    def close(self) -> None:
        """Ends the episode, if it is open, and hangs up."""
        self._end()
        self._hang_up()

    def __enter__(self) -> "AtlasEnv":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        why: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _end(self) -> None:
        episode, self._episode = self._episode, None
        if episode is None:
            return
        try:
            self._ask("DELETE", f"/episodes/{episode}", self._token, None, 5.0)
        except ServeError:
            # The server ends by itself what nobody asks for.
            pass

    def _on(self, what: str, body: dict[str, Any], patience: float) -> dict[str, Any]:
        if self._episode is None:
            raise ValueError("no episode: reset begins one")
        return self._ask("POST", f"/episodes/{self._episode}/{what}", self._token, body, patience)

    def _ask(
        self,
        method: str,
        path: str,
        token: str | None,
        body: dict[str, Any] | None,
        patience: float,
    ) -> dict[str, Any]:
        """Asks until there is an answer that is not "later", for as long as `patience` lasts."""
        until, pause = time.monotonic() + patience, 0.05
        while True:
            status, after, answer = self._once(method, path, token, body, patience)
            error = answer.get("error", {})
            kind = error.get("kind", "unreadable")
            if 200 <= status < 300:
                return answer
            later = status in (0, 503) or (kind, status) in _AGAIN
            wait = min(after, 2.0) if after is not None else pause
            if not later or time.monotonic() + wait > until:
                raise ServeError(status, kind, error.get("message", f"status {status}"))
            time.sleep(wait)
            pause = min(pause * 2, 2.0)

    def _once(
        self,
        method: str,
        path: str,
        token: str | None,
        body: dict[str, Any] | None,
        patience: float,
    ) -> tuple[int, float | None, dict[str, Any]]:
        headers = {"Accept": "application/json"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        if body is not None:
            headers["Content-Type"] = "application/json"
        text = None if body is None else json.dumps(body)
        try:
            if self._connection is None:
                kind = http.client.HTTPSConnection if self._parts.scheme == "https" else None
                # A wait that is cut short is no loss: the request is asked again by its name.
                self._connection = (kind or http.client.HTTPConnection)(
                    cast("str", self._parts.hostname), self._parts.port, timeout=min(patience, 120)
                )
            self._connection.request(method, self._parts.path.rstrip("/") + path, text, headers)
            response = self._connection.getresponse()
            after = response.headers.get("Retry-After")
            answer = json.loads(response.read() or b"{}")
            return response.status, float(after) if after else None, answer
        except (OSError, http.client.HTTPException, ValueError) as why:
            self._hang_up()
            error = {"kind": "unreachable", "message": f"{self._url}: {why!r}"}
            return 0, None, {"error": error}

    def _hang_up(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _nothing() -> Output:
    return {
        "output": "",
        "output_total": 0,
        "is_truncated": False,
        "ended": "none",
        "exit_code": None,
        "seconds": 0.0,
    }
