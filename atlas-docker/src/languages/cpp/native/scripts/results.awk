# Turns the results that test programs print in ways of their own into `PASS: name` lines, as they
# come. Every line stays, behind a bar, so that nothing is lost and nothing is counted twice.
# In front of a program's line may stand CTest's number of the test; its name goes into the id.
function point(good, name, skip,    at, text) {
  while ((at = index(name, root "/")) > 0)
    name = substr(name, 1, at - 1) substr(name, at + length(root) + 1)
  gsub(/[ \t]+/, " ", name)
  sub(/^ /, "", name)
  sub(/[ :]+$/, "", name)
  sub(/ *\.\.+$/, "", name)
  # A number says which place a test has, not which test it is: one test more, and all others have another.
  sub(/^#[0-9]+:? /, "", name)
  sub(/^(\[ *[0-9]+ *\/ *[0-9]+ *\]|\( *[0-9]+ *\/ *[0-9]+ *\))[:.]? +/, "", name)
  # `PASS: 539 of 539 tests passed.` counts tests.
  if (tolower(name) ~ /^(all +)?[0-9]+ *((of|out of|\/) *[0-9]+)? *(unit +)?(tests?|checks?|assertions?|(test +)?cases?)( (have +)?(passed|failed|ok|succeeded|skipped))?[.!]?$/ ||
      name ~ /^[0-9]+ *(of|out of|\/) *[0-9]+[.!]?$/) return
  if (name == "") return
  if (program != "") name = program "::" name
  text = skip ? "SKIP" : good ? "PASS" : "FAIL"
  count[text]++
  points++
  print text ": " name
}
function word(text, name) {
  if (text ~ /^(skip|ignored|disabled)/) point(1, name, 1)
  else point(text ~ /^(ok|pass|succe|expected|xfail)/, name, 0)
}
function verdict(line,    low, name, text, skip) {
  low = tolower(line)
  # TAP of its own.
  if (match(line, /^(not )?ok( +[0-9]+)?( |$)/)) {
    name = substr(line, RLENGTH + 1)
    sub(/^ *- */, "", name)
    skip = name ~ /# *(SKIP|skip|Skip|TODO)/
    sub(/ *# *(SKIP|skip|Skip|TODO|time=).*$/, "", name)
    if (name == "" && match(line, /[0-9]+/)) name = "test " substr(line, RSTART, RLENGTH)
    point(line ~ /^ok/, name, skip)
  # [pass] name [value][value]
  } else if (match(low, /^ *\[ *(pass|passed|ok|success|fail|failed|failure|error|ko|skip|skipped) *\] */)) {
    name = substr(line, RLENGTH + 1)
    sub(/( *\[[^][]*\])+ *$/, "", name)
    text = substr(low, RSTART, RLENGTH)
    gsub(/[][ ]/, "", text)
    word(text, name)
  # PASS: name
  } else if (match(line, /^ *(PASS|PASSED|OK|FAIL|FAILED|SKIP|SKIPPED|XFAIL)[:!] +/)) {
    text = low
    sub(/^ */, "", text)
    word(text, substr(line, RLENGTH + 1))
  # name -> passed [0.1s], name ... ok, name: OK
  } else if (match(low, /( +(->|=>) +|\.\.\.* *|: *| - |\t+|   *)\[? *(ok|pass|passed|success|succeeded|fail|failed|failure|error|skip|skipped|broken|expected_failure|ko) *(\]|:.*)?[.!]?( *[[(]?[0-9.]+ *(ns|us|ms|s|sec|seconds)?[])]?)?$/)) {
    name = substr(line, 1, RSTART - 1)
    text = substr(low, RSTART)
    sub(/^[^a-z]*/, "", text)
    sub(/^ *([Tt]esting|TESTING|[Rr]unning)[: ]+/, "", name)
    # `Result: OK` is of all tests.
    if (length(name) < 200 && tolower(name) !~ /(^|[ :])(results?|status|summary|total|warning|error)[ :]*$/) word(text, name)
  # Testing name OK
  } else if (match(line, /^ *([Tt]esting|TESTING|[Rr]unning|[Tt]est)[: ]+[^ ]+ +(OK|ok|PASS|PASSED|passed|FAIL|FAILED|failed|SKIPPED)$/)) {
    name = line
    sub(/^ *[A-Za-z]+[: ]+/, "", name)
    match(name, / +[A-Za-z]+$/)
    text = tolower(substr(name, RSTART))
    gsub(/ /, "", text)
    word(text, substr(name, 1, RSTART - 1))
  }
}
BEGIN { root = ENVIRON["ATLAS_REPO"]; if (suite == "") suite = "test programs" }
{
  line = $0
  gsub(/\033\[[0-9;]*[A-Za-z]/, "", line)
  sub(/\r$/, "", line)
}
# What the scripts around this one say: `atlas-result 0 make test`.
line ~ /^atlas-result [0-9]+ / {
  split(line, part, " ")
  sub(/^atlas-result [0-9]+ /, "", line)
  program = ""
  point(part[2] == 0, line, 0)
  fflush()
  next
}
line ~ /^atlas-program / { program = substr(line, 15); next }
# A compiler's complaint has to be seen as such.
line ~ /: (fatal )?error: |^CMake Error|^FAILED: |^ninja: |^g?make.*: \*\*\* |undefined reference|^-- Configuring incomplete/ { print line; next }
ctest && line ~ /^ +Start +[0-9]+: / {
  number = line; sub(/^ +Start +/, "", number); sub(/:.*/, "", number)
  title = line; sub(/^ +Start +[0-9]+: /, "", title)
  titles[number] = title
  next
}
# CTest's own lines, also where a makefile starts it.
line ~ /^ *[0-9]+\/[0-9]+ Test +#[0-9]+: .*(Passed|Failed|Skipped|Not Run|Timeout|Exception)/ {
  name = line
  sub(/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: /, "", name)
  good = name ~ /   Passed +[0-9.]+ sec/
  skip = name ~ /\*\*\*(Skipped|Not Run \(Disabled\))/
  sub(/ +\.*[ *]*(Passed|Failed|Skipped|Not Run|Timeout|Exception|Required|Child|SEGFAULT|Subprocess|Bad|Unknown).*$/, "", name)
  program = ""
  point(good || skip, name, skip)
  fflush()
  next
}
ctest && line ~ /^ *[0-9]+: / {
  number = line; sub(/: .*/, "", number); sub(/^ */, "", number)
  sub(/^ *[0-9]+: /, "", line)
  program = titles[number]
  if (line ~ /^(Test command|Working Directory|Test timeout computed to be|Environment variables): /) next
}
{
  if (!ctest || program != "") verdict(line)
  print "| " line
  fflush()
}
END {
  if (!points) exit
  bar = "============================================================================"
  print bar "\nTestsuite summary for " suite "\n" bar
  printf "# TOTAL: %d\n# PASS:  %d\n# SKIP:  %d\n# XFAIL: 0\n# FAIL:  %d\n# XPASS: 0\n# ERROR: 0\n", points, count["PASS"], count["SKIP"], count["FAIL"]
  print bar
  exit count["FAIL"] > 0
}
