# Prints which tests are made of the files in ATLAS_TESTS (paths from the repository's root, separated by blanks):
# those whose programs are linked of them, or of what includes them, and those whose commands name them, or a file
# beside them that differs in its end alone (a script that runs the program).
# $1: ninja's build folder. Input: lines of a test's id, a tab and its command.
set -uo pipefail
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/tests"
cd "$build" || exit
for path in $ATLAS_TESTS; do
  echo "$ATLAS_REPO/$path"
  realpath -m --relative-to=. "$ATLAS_REPO/$path"
done >"$work/files"
# Objects that one of them went into, as the compiler said; what never compiled is known by its command.
ninja -t deps 2>/dev/null | awk 'FNR == NR { wanted[$0] = 1; next }
  /^[^ ].*: #deps / { object = $0; sub(/: #deps .*/, "", object); next }
  { sub(/^ +/, "") } $0 in wanted { print object }' "$work/files" - | cat - "$work/files" >"$work/needles"
grep -oE "$build/[^\" ]+" "$work/tests" | sort -u | while IFS= read -r program; do
  ! ninja -t commands "${program#"$build/"}" 2>/dev/null | grep -wFf "$work/needles" >/dev/null || echo "$program"
done >"$work/programs"
# Tests that a program of GoogleTest has told of: those of the files' suites, where the files name any.
(cd "$ATLAS_REPO" && cat -- $ATLAS_TESTS 2>/dev/null) |
  grep -oE '\b(TYPED_)?TEST(_[FP])?[[:space:]]*\([[:space:]]*[A-Za-z0-9_]+' | sed 's/.*[( \t]//' | sort -u >"$work/suites"
awk -F '\t' -v work="$work" '
  BEGIN {
    while ((getline line < (work "/programs")) > 0) { wanted[line] = 1 }
    while ((getline line < (work "/files")) > 0) { wanted[line] = 1; sub(/\.[^.\/]*$/, "", line); stems[line] = 1 }
    while ((getline line < (work "/suites")) > 0) { suites[line] = 1; some = 1 }
  }
  {
    hit = 0
    count = split($2, words, /[" ]+/)
    for (at = 1; at <= count; at++) {
      if (words[at] in wanted) hit = 1
      if (sub(/\.[^.\/]*$/, "", words[at]) && words[at] in stems) hit = 1
    }
    if (hit && some && match($2, /--gtest_filter=[^" ]+/)) {
      hit = 0
      count = split(substr($2, RSTART + 15, RLENGTH - 15), words, /[\/.]/)
      for (at = 1; at <= count; at++) if (words[at] in suites) hit = 1
    }
    if (hit) print $1
  }' "$work/tests"
