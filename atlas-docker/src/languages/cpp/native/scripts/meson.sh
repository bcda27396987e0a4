# Configures and builds with Meson, or builds what a state changed and runs its tests.
# $1: build, or whose results are read: meson (Meson's alone), split (a framework's, too), own
#     (programs that print results in a way of their own).
# $2: the folder of the sources; then options of Meson, and after -- options that CI sets.
# ATLAS_TESTS: files from the repository's root; the tests that are made of them are run alone.
set -uo pipefail
what=$1 source=$2
shift 2
build="$ATLAS_CACHE/build"
needed=() wished=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do needed+=("$1"); shift; done
[ $# -eq 0 ] || wished=("${@:2}")
configure() {
  meson setup "$build" "$source" "${needed[@]}" "${wished[@]}" && return
  [ ${#wished[@]} -gt 0 ] || return
  echo "atlas: Meson refuses the options of CI, it gets none of them"
  rm -rf "$build"
  meson setup "$build" "$source" "${needed[@]}"
}
if [ "$what" = build ]; then
  # Objects of an earlier commit, where the image has them.
  unset CCACHE_DISABLE
  configure || exit
  ninja -C "$build" -k 0 || echo 'atlas: not every target compiles'
  exit 0
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
(
  if grep -qsF " $build" "$build/build.ninja"; then
    # A program that cannot be linked any more must not be there.
    (cd "$build" && ninja -t targets all | sed -nE 's/: c(pp)?_LINKER.*//p' | tr '\n' '\0' | xargs -0 rm -f --)
  else
    rm -rf "$build" && configure
  fi && ninja -C "$build" -k 0
) >"$log" 2>&1
built=$?
grep -vE '^\[[0-9]+/[0-9]+\] ' "$log"
# The last try decides.
! tac "$log" | sed '/^atlas: /q' | grep 'meson.build:.*: ERROR: ' >/dev/null || exit 1
# Meson fills freed memory with a random byte.
export MALLOC_PERTURB_=0 BOOST_TEST_LOG_LEVEL=test_suite CK_VERBOSITY=verbose
part=()
if [ -n "${ATLAS_TESTS:-}" ]; then
  mapfile -t part < <(meson introspect --tests "$build" | python3 -c 'import json, sys
for test in json.load(sys.stdin): print(test["name"], " ".join(test["cmd"]), sep="\t")' |
    bash "$ATLAS_ENV/toolbox/made-of.sh" "$build")
  if [ ${#part[@]} -eq 0 ]; then
    echo 'atlas: no test is made of these files'
    exit $built
  fi
fi
[ "$what" != split ] || export GTEST_OUTPUT="xml:$ATLAS_OUT/gtest/"
# Meson writes its tests down, too, and GoogleTest those of a program. (Meson's own JUnit report knows no limits of time.)
run() {
  rm -f "$build/meson-logs/testlog.json"
  meson test -C "$build" --no-rebuild --num-processes 1 --timeout-multiplier 20 "${part[@]}" 2>&1
  local code=$?
  [ -e "$build/meson-logs/testlog.json" ] || return $code
  python3 - "$build/meson-logs/testlog.json" >"$ATLAS_OUT/junit.xml" <<'X'
import json, sys
from xml.sax.saxutils import quoteattr
idle = "<skipped/>"
verdicts = {"OK": "", "UNEXPECTEDPASS": "", "SKIP": idle, "IGNORED": idle, "EXPECTEDFAIL": idle}
print("<testsuite>")
for line in open(sys.argv[1], encoding="utf-8", errors="replace"):
    test = json.loads(line)
    print(f"<testcase name={quoteattr(test['name'])}>{verdicts.get(test['result'], '<failure/>')}</testcase>")
print("</testsuite>")
X
  # The console names none that is switched off.
  for file in "$ATLAS_OUT"/gtest/*.xml; do
    [ ! -e "$file" ] || sed '/^ *<testcase .* status="notrun"/d' "$file" >>"$ATLAS_OUT/junit.xml"
  done
  return $code
}
# What the programs printed, out of Meson's own log.
programs() {
  awk '/^=+ *[0-9]+\/[0-9]+ *=+$/ { on = 0; next } /^test: / { name = $0; sub(/^test: +/, "", name); next }
    /^-+ *(stdout|stderr|output) *-+$|^--- (stdout|stderr) ---$/ { if (marked && !on) print "atlas-program " name; on = 1; next }
    /^=+$|^-+$/ { on = 0; next } on' marked="$1" "$build/meson-logs/testlog.txt"
}
case $what in
  meson) run ;;
  split) run; code=$?; programs '' 2>/dev/null; (exit $code) ;;
  own)
    run >"$log"
    code=$?
    cat "$log"
    programs 1 2>/dev/null | awk -f "$ATLAS_ENV/toolbox/results.awk"
    (exit $code)
    ;;
esac
code=$?
[ $code -ne 0 ] || code=$built
exit $code
