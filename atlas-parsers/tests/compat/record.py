"""Asks a released harness how it reads logs.

    python record.py swebench5 > swebench5.json      answers for logs/, to be kept beside them
    python record.py swebench5 --serve               a log a line in (JSON), its answers a line out

Run it with a Python that has the harness installed: `swebench==5.0.2` or `swebench==4.1.0` from PyPI, or,
for SWE-Bench++, with `--source FOLDER` of a checkout. Libraries the log readers do not need may be missing.

The readers of SWE-Bench++ have names as `Python:pytest`, and those of its table of repositories the function's.
An answer is `{"statuses": {...}}`, `{"raises": "KeyError"}` or `{"slow": true}`; where no test is seen there is none.
"""

import contextlib
import importlib
import importlib.machinery
import io
import json
import pathlib
import signal
import sys
import types

SECONDS = 10
LIBRARIES = (
    "anthropic bs4 chardet datasets docker dotenv fastcore filelock ghapi git jedi modal openai peft"
    " requests selenium tenacity tiktoken torch tqdm transformers unidiff"
).split()


class Missing:
    """Stands in for the libraries that a harness imports and its log readers do not use."""

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] not in LIBRARIES:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        module = types.ModuleType(spec.name)
        return module

    def exec_module(self, module):
        module.__path__ = []
        module.__getattr__ = thing


class Anything(type):
    def __getattr__(cls, name):
        return thing(name)


class Thing(metaclass=Anything):
    def __init__(self, *args, **kwargs):
        pass

    def __call__(self, *args, **kwargs):
        return self

    def __getattr__(self, name):
        return thing(name)


def thing(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return Thing


def readers(harness):
    """Each reader by name, as a function of a log and the row's fields; and the table of repositories."""
    package = importlib.import_module("swebench.harness.log_parsers")
    found = {}
    if harness == "swebench5":
        return dict(package.PARSER_REGISTRY), {}
    repositories = {repo: f.__name__ for repo, f in package.MAP_REPO_TO_PARSER.items()}
    if harness == "swebench4":
        for family in ["c", "go", "java", "javascript", "php", "python", "ruby", "rust"]:
            module = importlib.import_module("swebench.harness.log_parsers." + family)
            found.update({n: f for n, f in vars(module).items() if n.startswith("parse_log_")})
        return found, repositories
    for function in package.MAP_REPO_TO_PARSER.values():
        found[function.__name__] = lambda log, row, f=function: f(log)
    names = {
        "C": "non_agentic googletest doctest catch2 tap ctest",
        "C++": "googletest",
        "C#": "dotnet",
        "Go": "gotest",
        "Java": "maven ant gradle",
        "JavaScript": "calypso chartjs marked p5js reactpdf vitest jest mocha karma tap",
        "TypeScript": "mocha",
        "PHP": "phpunit",
        "Python": "pytest django seaborn sympy matplotlib",
        "Ruby": "rubyunit minitest rspec cucumber tap",
        "Rust": "cargo",
    }
    for language, known in names.items():
        for name in [*known.split(), "unheard-of"]:
            function = package.LANGUAGE_PARSER_MAP[language](name)
            found[f"{language}:{name}"] = lambda log, row, f=function: f(log)
    # Two of Python's names stand for the function of another family in the flat list of functions.
    found["parse_log_redis"] = lambda log, row, f=package.MAP_REPO_TO_PARSER["redis/redis"]: f(log)
    return found, repositories


class Slow(BaseException):
    pass


def too_slow(signum, frame):
    raise Slow


def answer(reader, log, row):
    signal.alarm(SECONDS)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            statuses = reader(log, row)
        return {"statuses": {str(name): status for name, status in statuses.items()}}
    except Slow:
        return {"slow": True}
    except Exception as error:
        return {"raises": type(error).__name__}
    finally:
        signal.alarm(0)


def answers(known, request):
    row = types.SimpleNamespace(version=request["version"], instance_id=request["instance_id"])
    found = {}
    for name, reader in known.items():
        read = answer(reader, request["log"], row)
        if read != {"statuses": {}}:
            found[name] = read
    return found


def main():
    harness, *rest = sys.argv[1:]
    if "--source" in rest:
        sys.path.insert(0, rest[rest.index("--source") + 1])
    sys.argv = sys.argv[:1]
    sys.meta_path.append(Missing())
    signal.signal(signal.SIGALRM, too_slow)
    known, repositories = readers(harness)
    if "--serve" in rest:
        for line in sys.stdin:
            print(json.dumps(answers(known, json.loads(line))), flush=True)
        return
    folder = pathlib.Path(__file__).parent / "logs"
    table = {
        "names": sorted(known),
        "repositories": repositories,
        "answers": {},
    }
    for path in sorted(folder.iterdir()):
        # `name@version@instance_id.log`
        name, version, instance = (path.stem.split("@") + ["", ""])[:3]
        log = path.read_bytes().decode("utf-8")
        request = {"log": log, "version": version, "instance_id": instance}
        table["answers"][path.name] = answers(known, request)
    json.dump(table, sys.stdout, indent=1, sort_keys=True, ensure_ascii=False)
    print()


main()
