"""`Evaluator` and `Session`: instances for people with a loop of their own."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from swe_atlas._swe_atlas import Instance, NativeEvaluator, NativeSession, Prediction
from swe_atlas._verdict import PatchVerdict

if TYPE_CHECKING:
    from swe_atlas.protocols import LogParser, Sandbox

_T = TypeVar("_T")


async def _to_thread(call: Callable[..., _T], /, *arguments: Any, **named: Any) -> _T:
    import asyncio  # takes longer than all the rest of this package

    return await asyncio.to_thread(call, *arguments, **named)


@dataclass(frozen=True)
class CommandResult:
    """What a command in a session did."""

    output: str
    """Standard output and standard error as one stream; bytes that are no UTF-8 are replaced."""
    exit_code: int | None
    """Its exit code; None if a limit ended it."""
    timed_out: bool
    """Whether that was its time."""
    output_total: int
    """All bytes that it printed, those that were not kept included."""
    seconds: float
    """Wall time."""
    is_over: bool
    """Whether the session ended with it: its shell was killed."""


class Session:
    """A sealed copy of an instance's environment at Base, in which commands run one after the other.

    Each command starts in the repository's root: of earlier ones files and processes in the background stay, no
    folder and no variable. There is no network, no commit after Base, none of the instance's tests. Made by
    `Evaluator.session`; a context manager that closes itself. One that is dropped is removed as well.
    """

    def __init__(self, native: NativeSession) -> None:
        """Not for users: `Evaluator.session` makes sessions."""
        self._native = native

    @property
    def instance_id(self) -> str:
        """Whose environment it is."""
        return self._native.instance_id

    @property
    def isolation(self) -> dict[str, Any] | None:
        """How commands are kept apart; None once it is closed."""
        found: dict[str, Any] | None = self._native.isolation()
        return found

    def run(self, command: str, *, seconds: int = 60, output_bytes: int = 1 << 20) -> CommandResult:
        """Runs a text for bash and waits for its end, at most `seconds`; of its output the first `output_bytes` are kept.

        Raises NotFoundError in a session that is over, InvalidInputError in one that is closed. After Ctrl-C
        the command goes on to its own limit; the session can be read and closed then.
        """
        told = self._native.run(command, seconds, output_bytes)
        output: bytes = told.pop("output")
        return CommandResult(output=output.decode(errors="replace"), **told)

    def diff(self) -> str:
        """What was done to the repository, as a patch on Base; empty if nothing was.

        It is made from outside: files of Base that changed, and new ones that no `.gitignore` leaves out. No
        program or setting of the session has a say.
        """
        return self._native.diff()

    def fork(self) -> Session:
        """Another session that begins with this one's files as they are now; processes are not taken along."""
        return Session(self._native.fork())

    def close(self) -> None:
        """Ends everything and removes it; a second time does nothing."""
        self._native.close()

    def __enter__(self) -> Session:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes it."""
        self.close()

    async def run_async(self, command: str, *, seconds: int = 60, output_bytes: int = 1 << 20) -> CommandResult:
        """`run` for asyncio."""
        return await _to_thread(self.run, command, seconds=seconds, output_bytes=output_bytes)

    async def diff_async(self) -> str:
        """`diff` for asyncio."""
        return await _to_thread(self.diff)

    async def close_async(self) -> None:
        """`close` for asyncio."""
        await _to_thread(self.close)

    def __repr__(self) -> str:
        """`Session('owner__name-1')`."""
        return f"Session({self.instance_id!r})"


class Evaluator:
    """The instances of a dataset, opened once: verdicts on patches, and sessions in their environments.

    An instance is prepared when it is first asked for and stays so; what was run before, by whichever run, is not
    run again. Verdicts are those of `evaluate` in strict mode, and leave the same files below `out`. Safe to use
    from many threads, which go on at once. A context manager that closes itself.
    """

    def __init__(
        self,
        dataset: str | os.PathLike[str],
        *,
        run_id: str = "evaluator",
        out: str | os.PathLike[str] = ".",
        instance_ids: Sequence[str] | None = None,
        engine: Literal["auto", "docker", "local"] = "auto",
        repos: str | os.PathLike[str] | None = None,
        results: str | os.PathLike[str] | None = None,
        config: str | os.PathLike[str] | Mapping[str, Any] | None = None,
        trust: bool = False,
        canaries: bool = True,
        timeout: int | None = None,
        session_seconds: int = 3600,
        parser: str | os.PathLike[str] | LogParser | None = None,
        sandbox: Sandbox | None = None,
    ) -> None:
        """Reads the dataset and opens engines.

        Arguments are those of `evaluate`; `session_seconds` is the time of a session as a whole. Raises
        AtlasError for a dataset without a usable row, wrong options, an engine that does not answer.
        """
        self._native = NativeEvaluator(locals())

    @property
    def instance_ids(self) -> list[str]:
        """The instances, in the dataset's order."""
        return self._native.instance_ids()

    @property
    def faults(self) -> list[dict[str, Any]]:
        """What is wrong with rows that are not among them."""
        found: list[dict[str, Any]] = self._native.faults()
        return found

    def instance(self, instance_id: str) -> Instance:
        """The row of an instance. Raises KeyError where there is none."""
        found = self._native.instance(instance_id)
        if found is None:
            raise KeyError(instance_id)
        return found

    def prepare(self, instance_id: str) -> None:
        """Builds or finds the environment of an instance, so that what follows begins soon."""
        self._native.prepare(instance_id)

    def grade(self, instance_id: str, patch: str, *, model: str = "model") -> PatchVerdict:
        """The verdict on a patch, by the strict evaluator: `resolved`, `cause`, `reasons`, `FAIL_TO_PASS`, ….

        A verdict without evidence says so and is no exception. Runs detached from Python's lock; Ctrl-C ends
        the run in flight and raises KeyboardInterrupt.
        """
        return PatchVerdict(self._native.grade(instance_id, patch, model))

    def grade_many(
        self, predictions: Iterable[Mapping[str, Any] | Prediction], *, jobs: int = 1
    ) -> Iterator[PatchVerdict]:
        """Verdicts as they come, in no order. Predictions are taken as they are needed, `jobs` at once.

        Each has `instance_id`, `model_patch` and `model_name_or_path`. Left early, it waits for the runs in flight.
        """
        waiting: set[Future[PatchVerdict]] = set()
        with ThreadPoolExecutor(max(jobs, 1), thread_name_prefix="atlas-grade") as pool:
            for prediction in predictions:
                patch = prediction["model_patch"] or ""
                model = prediction.get("model_name_or_path") or "None"
                waiting.add(pool.submit(self.grade, prediction["instance_id"], patch, model=model))
                if len(waiting) >= max(jobs, 1):
                    done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                    for one in done:
                        yield one.result()
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for one in done:
                    yield one.result()

    def session(self, instance_id: str) -> Session:
        """Opens a session in the environment of an instance."""
        return Session(self._native.session(instance_id))

    async def grade_async(self, instance_id: str, patch: str, *, model: str = "model") -> PatchVerdict:
        """`grade` for asyncio."""
        return await _to_thread(self.grade, instance_id, patch, model=model)

    async def grade_many_async(
        self, predictions: Iterable[Mapping[str, Any] | Prediction], *, jobs: int = 1
    ) -> AsyncIterator[PatchVerdict]:
        """`grade_many` for asyncio."""
        verdicts = self.grade_many(predictions, jobs=jobs)
        nothing = PatchVerdict()
        while (verdict := await _to_thread(next, verdicts, nothing)) is not nothing:
            yield verdict

    async def session_async(self, instance_id: str) -> Session:
        """`session` for asyncio."""
        return await _to_thread(self.session, instance_id)

    def close(self) -> None:
        """Lets go of everything; open sessions stay so. A second time does nothing."""
        self._native.close()

    def __enter__(self) -> Evaluator:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes it."""
        self.close()

    def __repr__(self) -> str:
        """`Evaluator(3 instances)`."""
        return f"Evaluator({len(self.instance_ids)} instances)"
