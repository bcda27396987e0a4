#!/bin/bash
# A small test runner in shell: a block of lines for each test. `BREAK=1` breaks what is tested.
good=0 bad=0 left=0
check() {
  local name=$1 wanted=$2 got
  echo "Test: $name"
  echo "   group: ${name%%-*}"
  if [ "$wanted" = "?" ]; then echo "   outcome: not run (no data)"; left=$((left + 1)); return; fi
  got=$("${@:3}")
  if [ "$got" = "$wanted" ]; then echo "   outcome: good"; good=$((good + 1));
  else echo "   outcome: bad"; echo "   wanted: $wanted"; echo "   got: $got"; bad=$((bad + 1)); fi
}
upper() { if [ -n "$BREAK" ]; then printf %s "$1"; else printf %s "$1" | tr a-z A-Z; fi; }
backwards() { printf %s "$1" | rev; }
noisy() { echo "outcome: bad, or so it seems" >&2; printf %s "$1"; }
check text-upper ABC upper abc
check text-upper-of-upper ABC upper ABC
check text-upper-of-digits 123 upper 123
check text-upper-mixed ABC upper aBc
check text-backwards cba backwards abc
check text-backwards-empty "" backwards ""
check noise-survives x noisy x
check files-none "?"
check files-one "?"
check sums-small 3 expr 1 + 2
check sums-large 1000000 expr 999999 + 1
echo
echo "$((good + bad + left)) tests in all: $good good, $bad bad, $left not run"
[ $bad = 0 ]
