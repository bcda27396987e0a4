#!/usr/bin/env bash
# Reads a log of `go test -v` and prints what Go's own reader of it, test2json, makes of each package: the events
# without the output.
set -o pipefail
LC_ALL=C awk '
function give(package) {
  reader = "go tool test2json -p " package
  printf "%s", text | reader
  close(reader)
  text = ""
}
{ text = text $0 "\n" }
/^(ok  |FAIL)\t[A-Za-z0-9._~\/-]+/ {
  split($0, part, /[\t ]+/)
  if (part[2] ~ /^[A-Za-z0-9._~\/-]+$/) give(part[2])
}
END { if (text != "") give("rest") }
' | { grep -v '"Action":"output"' || true; }
