"""Runs mini-swe-agent with a sandbox of Atlas as its environment. Reads its task from variables ATLAS_*."""

import json
import os
import socket
import sys
from pathlib import Path

import yaml
from minisweagent.agents.default import DefaultAgent
from minisweagent.config import get_config_path
from minisweagent.exceptions import LimitsExceeded, Submitted
from minisweagent.models import get_model

DONE = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"


class Room:
    """The other end of the socket."""

    def __init__(self, path):
        self.stream = socket.socket(socket.AF_UNIX)
        self.stream.connect(path)
        self.lines = self.stream.makefile("r", encoding="utf-8")

    def ask(self, request):
        self.stream.sendall((json.dumps(request) + "\n").encode())
        answer = json.loads(self.lines.readline() or '{"error": "the sandbox is gone"}')
        if "error" in answer:
            raise RuntimeError(answer["error"])
        if "stop" in answer:
            status = f"budget_{answer['stop']}"
            extra = {"exit_status": status, "submission": ""}
            raise LimitsExceeded({"role": "exit", "content": status, "extra": extra})
        return answer


class AtlasEnvironment:
    """mini-swe-agent's environment: each action is a command in the sandbox."""

    def __init__(self, room, settings):
        self.room = room
        self.exports = "".join(
            f"export {name}={quoted(str(value))}\n" for name, value in (settings.get("env") or {}).items()
        )
        self.machine = {}

    def execute(self, action, cwd="", *, timeout=None):
        command = action.get("command", "") if isinstance(action, dict) else action
        if cwd:
            command = f"cd {quoted(cwd)} || exit\n{command}"
        request = {"run": self.exports + command}
        if timeout:
            request["seconds"] = int(timeout)
        answer = self.room.ask(request)
        code = answer["exit_code"]
        result = {"output": answer["output"], "returncode": -1 if code is None else code, "exception_info": ""}
        if code is None:
            result["exception_info"] = "The command was ended at its time or memory limit."
        elif answer["over"]:
            result["exception_info"] = "The sandbox has ended."
        lines = result["output"].lstrip().splitlines(keepends=True)
        if lines and lines[0].strip() == DONE and code == 0:
            text = "".join(lines[1:])
            extra = {"exit_status": "Submitted", "submission": text}
            raise Submitted({"role": "exit", "content": text, "extra": extra})
        return result

    def get_template_vars(self, **more):
        if not self.machine:
            words = self.room.ask({"run": "uname -s; uname -r; uname -v; uname -m; pwd"})["output"].splitlines()
            self.machine = dict(zip(["system", "release", "version", "machine", "cwd"], words, strict=False))
        return self.machine | more

    def serialize(self):
        return {"info": {"config": {"environment_type": "atlas"}}}


class AtlasAgent(DefaultAgent):
    """mini-swe-agent's own loop, which tells what its model costs."""

    room = None

    def query(self):
        message = super().query()
        extra = message.get("extra") or {}
        usage = (extra.get("response") or {}).get("usage") or {}
        self.room.ask(
            {
                "usage": {
                    "calls": 1,
                    "prompt_tokens": usage.get("prompt_tokens") or usage.get("input_tokens") or 0,
                    "completion_tokens": usage.get("completion_tokens") or usage.get("output_tokens") or 0,
                    "cost_usd": extra.get("cost") or 0.0,
                }
            }
        )
        return message


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def main():
    given = os.environ.get("ATLAS_MINI_CONFIG") or "mini"
    config = yaml.safe_load(Path(get_config_path(given)).read_text())
    settings = {k: v for k, v in config.get("agent", {}).items() if k in ("system_template", "instance_template")}
    room = Room(os.environ["ATLAS_SOCKET"])
    environment = AtlasEnvironment(room, config.get("environment", {}))
    model = get_model(os.environ.get("ATLAS_MODEL") or None, config.get("model", {}))
    output = Path(os.environ["ATLAS_RECORDINGS"]) / "mini.traj.json"
    # Budgets are the room's.
    agent = AtlasAgent(model, environment, output_path=output, step_limit=0, cost_limit=0, **settings)
    agent.room = room
    end = agent.run(Path(os.environ["ATLAS_STATEMENT"]).read_text())
    print(end.get("exit_status", ""))


if __name__ == "__main__":
    sys.exit(main())
