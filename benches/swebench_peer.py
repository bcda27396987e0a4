"""CPU seconds that a log parser of the swebench package takes for a file.

    swebench_peer.py PARSER FILE

PARSER is a name of swebench's registry (parse_log_pytest). Prints two numbers: the best CPU time of
three runs over the text in memory, and how many tests were found.
"""

import sys
import time
import types

from swebench.harness.log_parsers import PARSER_REGISTRY

name, path = sys.argv[1:]
with open(path, encoding="utf-8", errors="replace") as file:
    text = file.read()
parse = PARSER_REGISTRY[name]
spec = types.SimpleNamespace(version="1.0", repo="example/example", instance_id="example__example-1")
best = float("inf")
for _ in range(3):
    start = time.process_time()
    tests = parse(text, spec)
    best = min(best, time.process_time() - start)
    if best > 5:
        break
print(best, len(tests))
