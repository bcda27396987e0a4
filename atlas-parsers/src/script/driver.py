# Calls a parser of unknown origin on logs, inside a sandbox that holds whatever it does.
# The audit hook only says early and in words what was tried; it is no wall.
import io, json, os, sys

IN, OUT = os.environ["ATLAS_IN"], os.environ["ATLAS_OUT"]
with open(os.path.join(IN, "spec.json")) as file:
    spec = json.load(file)
with open(os.path.join(IN, "parser.py"), encoding="utf-8", errors="replace") as file:
    source = file.read()
logs = []
for name in spec["logs"]:
    with open(os.path.join(IN, name), "rb") as file:
        logs.append(file.read().decode("utf-8", "replace"))
result = os.open(os.path.join(OUT, spec["result"]), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)

# What parsers import, so that no file need be opened later.
import ast, collections, dataclasses, datetime, enum, functools, html, itertools, math, operator  # noqa
import re, string, textwrap, traceback, types, typing, unicodedata, xml.etree.ElementTree  # noqa

write, leave, dumps, describe = os.write, os._exit, json.dumps, traceback.format_exception_only
LIBRARY = tuple({os.path.dirname(os.__file__), sys.prefix, sys.base_prefix})
state = {"off": False}
# What the interpreter looks for when it shows a line of a syntax error.
NAME = "<parser>"


def end(answer, code):
    state["off"] = True
    data = dumps(answer).encode("utf-8", "replace")
    while data:
        data = data[write(result, data):]
    leave(code)


FORBIDDEN = (
    "socket.", "subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.spawn", "pty.",
    "ctypes.", "os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.listdir", "os.scandir", "os.chmod",
    "os.chown", "os.kill", "os.link", "os.symlink", "os.truncate", "os.unlink", "shutil.", "urllib.",
    "http.", "ftplib.", "smtplib.", "tempfile.", "mmap.", "signal.", "_thread.start_new_thread",
)


def watch(event, arguments):
    if state["off"]:
        return
    if event == "open":
        path, mode = arguments[0], arguments[1]
        text = os.fspath(path) if not isinstance(path, int) else ""
        text = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
        reading = mode is None or not set(str(mode)) & set("wax+")
        if reading and (text == NAME or text.startswith(LIBRARY)):
            return
    elif not event.startswith(FORBIDDEN):
        return
    end({"tried": (event + " " + repr(arguments[:1])[:200])}, 97)


if spec["memory"]:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (spec["memory"], spec["memory"]))
if spec["watch"]:
    sys.addaudithook(watch)


class Nothing(io.TextIOBase):
    def write(self, text):
        return len(text)


sys.stdout = sys.stderr = Nothing()


def call(function, log):
    code = getattr(function, "__code__", None)
    wanted = code.co_argcount - len(function.__defaults__ or ()) if code else 1
    if wanted >= 2:
        return function(log, types.SimpleNamespace(version="", instance_id="", repo=""))
    return function(log)


def read(function, log):
    found = call(function, log)
    if isinstance(found, str):
        found = json.loads(found)
    if not isinstance(found, dict):
        return {"error": "returned " + type(found).__name__ + ", not a dict"}
    tests = []
    for name, status in found.items():
        status = getattr(status, "value", status)
        if not isinstance(name, str) or not isinstance(status, str):
            return {"error": "has an entry that is not text: " + repr((name, status))[:200]}
        tests.append([name[:spec["name"]], status[:40]])
        if len(tests) > spec["tests"]:
            return {"error": "names more than %d tests" % spec["tests"]}
    return {"tests": tests}


def main():
    around = {"__name__": "parser", "__builtins__": __builtins__}
    # SWE-Bench++ gives two namespaces, so that functions do not see each other.
    space = {} if spec["split"] else around
    try:
        exec(compile(source, NAME, "exec"), around, space)
    except MemoryError:
        end({"memory": True}, 0)
    except BaseException as why:
        end({"load": "".join(describe(type(why), why)).strip()[:2000]}, 0)
    names = ("parse_log_to_json", "parse_log", "parser")
    function = next((space[name] for name in names if callable(space.get(name))), None)
    if function is None:
        end({"load": "none of " + ", ".join(names) + " is defined"}, 0)
    answers = []
    for log in logs:
        try:
            answers.append(read(function, log))
        except MemoryError:
            end({"memory": True}, 0)
        except BaseException as why:
            line = ""
            trace = why.__traceback__
            while trace is not None:
                if trace.tb_frame.f_code.co_filename == NAME:
                    line = " (line %d)" % trace.tb_lineno
                trace = trace.tb_next
            answers.append({"error": "".join(describe(type(why), why)).strip()[:1000] + line})
    end({"logs": answers}, 0)


main()
