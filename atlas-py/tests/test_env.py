import json
import math
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import PullRequest
from swe_atlas.env import SUBMIT, AtlasEnv, ServeError

INSTANCE = "example__sums-1"
FIX = "sed -i 's/a - b/a + b/' sums.py"


class Server:
    """`atlas serve` in a process of its own."""

    def __init__(self, atlas: str, pull_request: PullRequest) -> None:
        self.command = [atlas, "serve", str(pull_request.out / "dataset.jsonl"), "--engine", "local", "--trust"]
        self.command += ["--folder", str(pull_request.out / "serve"), "--results", str(pull_request.out / "results")]
        self.command += ["--config", str(pull_request.config), "--ready", "0", "--format", "json", "--episodes", "2"]
        self.port = 0
        self.start()

    def start(self) -> None:
        command = [*self.command, "--listen", f"127.0.0.1:{self.port}"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        text = ""
        while True:
            line = self.process.stdout.readline()
            assert line, "it ended"
            text += line
            try:
                self.port = int(json.loads(text)["address"].rsplit(":", 1)[1])
                return
            except json.JSONDecodeError:
                continue

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


class Cutter:
    """Passes requests on, and hangs up in place of the first answer on each connection as long as it is told to."""

    def __init__(self, port: int) -> None:
        self.port, self.cuts, self.requests = port, 0, 0
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        while True:
            try:
                client, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client: socket.socket) -> None:
        with client, socket.create_connection(("127.0.0.1", self.port)) as server:
            while request := client.recv(1 << 16):
                self.requests += 1
                server.sendall(request)
                # The client sends a head and a body, each in one piece.
                client.settimeout(0.2)
                try:
                    server.sendall(client.recv(1 << 16))
                except TimeoutError:
                    pass
                client.settimeout(None)
                answer = server.recv(1 << 20)
                if self.cuts > 0:
                    self.cuts -= 1
                    return
                client.sendall(answer)


@pytest.fixture
def server(atlas: str, pull_request: PullRequest) -> Iterator[Server]:
    words = [f"--{name.replace('_', '-')}={value}" for name, value in pull_request.arguments.items() if name != "trust"]
    made = subprocess.run([atlas, "make", *words, "--trust"], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stdout + made.stderr
    server = Server(atlas, pull_request)
    yield server
    server.kill()


def test_an_episode_from_reset_to_reward(server: Server) -> None:
    with AtlasEnv(server.url) as env:
        assert env.instances() == [INSTANCE]
        task, info = env.reset(options={"instance_id": INSTANCE})
        assert task["instance_id"] == INSTANCE and task["limits"]["steps"] == 500
        assert info["episode"] == env.episode and info["reward_kind"] == "resolved"
        output, reward, terminated, truncated, info = env.step("cat sums.py; exit 3")
        assert "a - b" in output["output"] and output["exit_code"] == 3
        assert (reward, terminated, truncated, info["steps_left"]) == (0.0, False, False, 499)
        output, *_ = env.step("sleep 5", seconds=1)
        assert output["ended"] == "timed_out" and output["exit_code"] is None
        env.step(FIX)
        _, reward, terminated, truncated, info = env.step(SUBMIT)
        assert (reward, terminated, truncated) == (1.0, True, False), info
        assert info["resolved"] and info["FAIL_TO_PASS"] == {"passed": 1, "total": 1}
        # Asked again it is the same, and there is no more to do.
        assert env.submit()[1] == 1.0
        _, _, _, truncated, info = env.step("ls")
        assert truncated and "submitted" in info["cause"] and not info["can_submit"]
        env.reset(options={"instance_id": INSTANCE, "reward": "fail_to_pass"})
        assert env.submit()[1] == 0.0


def test_a_broken_connection_repeats_nothing(server: Server) -> None:
    cutter = Cutter(server.port)
    with AtlasEnv(cutter.url, instance_id=INSTANCE) as env:
        cutter.cuts = 2
        _, info = env.reset()
        cutter.cuts = 2
        output, *_ = env.step("echo once >> count.txt; wc -l < count.txt")
        assert output["output"].strip() == "1"
        env.step(FIX)
        cutter.cuts = 1
        assert env.submit()[1] == 1.0
        assert cutter.cuts == 0 and cutter.requests >= 9
    cutter.socket.close()


def test_a_killed_server_owes_its_rewards(server: Server) -> None:
    with AtlasEnv(server.url, instance_id=INSTANCE) as env, AtlasEnv(server.url, instance_id=INSTANCE) as lost:
        env.reset()
        env.step(FIX)
        assert env.submit()[1] == 1.0
        lost.reset()
        server.kill()
        starting = threading.Timer(1.0, server.start)
        starting.start()
        # It is waited for, and answers for what it had graded.
        assert env.submit()[1] == 1.0
        _, reward, terminated, truncated, info = lost.step("ls")
        assert truncated and not terminated and "restarted" in info["cause"]
        assert math.isnan(lost.submit()[1]), "nothing is known of it"
        starting.join()


def test_what_cannot_be_is_said(server: Server) -> None:
    with pytest.raises(ValueError, match="no address"):
        AtlasEnv("127.0.0.1:80")
    with AtlasEnv(server.url, patience=0.3) as env:
        with pytest.raises(ValueError, match="no episode"):
            env.step("ls")
        with pytest.raises(ValueError, match="no instance"):
            env.reset()
        with pytest.raises(ValueError, match="unknown options: hint"):
            env.reset(options={"instance_id": INSTANCE, "hint": True})
        with pytest.raises(ServeError, match=f"did you mean `{INSTANCE}`") as why:
            env.reset(options={"instance_id": INSTANCE[:-1]})
        assert (why.value.status, why.value.kind) == (404, "unknown_instance")
    server.kill()
    with AtlasEnv(server.url, patience=0.3) as env:
        began = time.monotonic()
        with pytest.raises(ServeError, match="unreachable"):
            env.instances()
        assert 0.1 < time.monotonic() - began < 5


def test_openenv_speaks_to_it(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openenv.core")
    testing: Any = pytest.importorskip("fastapi.testclient")
    from swe_atlas.openenv import app

    monkeypatch.setenv("ATLAS_SERVE_URL", server.url)
    monkeypatch.setenv("ATLAS_SERVE_INSTANCE", INSTANCE)
    with testing.TestClient(app()) as client, client.websocket_connect("/ws") as session:

        def ask(kind: str, data: dict[str, Any]) -> dict[str, Any]:
            session.send_json({"type": kind, "data": data})
            answer: dict[str, Any] = session.receive_json()["data"]
            return answer

        reset = ask("reset", {})
        assert reset["observation"]["task"]["instance_id"] == INSTANCE and not reset["done"]
        step = ask("step", {"command": FIX})
        assert step["observation"]["output"]["exit_code"] == 0 and not step["done"]
        done = ask("step", {"submit": True})
        assert done["done"] and done["reward"] == 1.0, done
