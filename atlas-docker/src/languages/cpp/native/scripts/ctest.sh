# Configures and builds with CMake, or builds what a state changed and runs CTest's tests.
# $1: build, or whose results are read: ctest (CTest's alone), split (a framework's, too), own
#     (programs that print results in a way of their own).
# $2: the folder of the sources; then options of CMake, --program=NAME for each program of tests where the project
#     registers none with CTest, and after -- options that CI sets.
# ATLAS_TESTS: files from the repository's root; the tests that are made of them are run alone.
set -uo pipefail
what=$1 source=$2
shift 2
build="$ATLAS_CACHE/build"
needed=() wished=() programs=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  case $1 in
    --program=*) programs+=("${1#*=}") ;;
    *) needed+=("$1") ;;
  esac
  shift
done
[ $# -eq 0 ] || wished=("${@:2}")
if [ ${#programs[@]} -gt 0 ]; then
  needed+=("-DCMAKE_PROJECT_INCLUDE=$ATLAS_CACHE/programs.cmake")
  # CMake reads it behind each `project()`; the first one's folder holds all tests.
  {
    echo 'if(CMAKE_CURRENT_SOURCE_DIR STREQUAL CMAKE_SOURCE_DIR AND NOT DEFINED atlas_programs)'
    echo 'set(atlas_programs ON)'
    echo 'enable_testing()'
    for name in "${programs[@]}"; do echo "add_test(NAME \"$name\" COMMAND \"$name\")"; done
    echo 'endif()'
  } >"$ATLAS_CACHE/programs.cmake"
fi
configure() {
  cmake -S "$source" -B "$build" -G Ninja -DFETCHCONTENT_UPDATES_DISCONNECTED=ON "${needed[@]}" "$@"
}
# A library whose sources are built along has a plain name, too: `doctest` for `doctest::doctest`.
plain_names() {
  cat <<'X'
macro(atlas_find_package method name)
  find_package("${name}" ${ARGN} BYPASS_PROVIDER)
  if(TARGET "${name}::${name}" AND NOT TARGET "${name}")
    get_target_property(atlas_other "${name}::${name}" ALIASED_TARGET)
    if(NOT atlas_other)
      add_library("${name}" ALIAS "${name}::${name}")
    endif()
  endif()
endmacro()
cmake_language(SET_DEPENDENCY_PROVIDER atlas_find_package SUPPORTED_METHODS FIND_PACKAGE)
X
}
# Each try with less of what others may not have.
try() {
  plain_names >"$ATLAS_CACHE/plain-names.cmake"
  # CMake before 3.24 knows none of the first and the last.
  local place=(-DFETCHCONTENT_TRY_FIND_PACKAGE_MODE=ALWAYS -DCPM_USE_LOCAL_PACKAGES=ON
    -DCMAKE_PROJECT_TOP_LEVEL_INCLUDES="$ATLAS_CACHE/plain-names.cmake")
  if [ -d /usr/src/googletest ]; then
    place+=(-DFETCHCONTENT_SOURCE_DIR_{GOOGLETEST,GTEST}=/usr/src/googletest)
    # Variables that projects have for its place.
    while IFS= read -r name; do place+=("-D$name=/usr/src/googletest"); done < <(
      grep -rhoE --include=CMakeLists.txt --include='*.cmake' --include='*.cmake.in' \
        'set *\( *(GOOGLETEST|GTEST)_(PATH|ROOT|DIR|SOURCE_DIR) [^)]*CACHE' "$source" |
        grep -oE '(GOOGLETEST|GTEST)_[A-Z_]+' | sort -u)
  fi
  # What could not be reached when substitutes were installed is not waited for again.
  if [ -s /opt/atlas/substitutes/unreachable ]; then
    configure "${place[@]}" "${wished[@]}" && return
    echo 'atlas: CMake fails with installed libraries in place of fetched ones'
    rm -rf "$build"
  fi
  configure "${wished[@]}" && return
  if [ ${#wished[@]} -gt 0 ]; then
    echo 'atlas: CMake refuses what CI sets, it gets none of it'
    rm -rf "$build"
    configure && return
  fi
  echo 'atlas: CMake fails; once more with installed libraries in place of fetched ones'
  rm -rf "$build"
  configure "${place[@]}"
}
if [ "$what" = build ]; then
  # Objects of an earlier commit, where the image has them.
  unset CCACHE_DISABLE
  try || exit
  ninja -C "$build" -k 0 || echo 'atlas: not every target compiles'
  exit 0
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
(
  if grep -qsxF "CMAKE_CACHEFILE_DIR:INTERNAL=$build" "$build/CMakeCache.txt"; then
    # A program or a module that cannot be linked any more must not be there.
    (cd "$build" && ninja -t targets all | sed -nE 's/: C(XX)?_(EXECUTABLE|SHARED_LIBRARY|MODULE_LIBRARY)_LINKER__.*//p' | tr '\n' '\0' | xargs -0 rm -f --)
    # Finds sources that are named by a pattern.
    cmake "$build"
  else
    rm -rf "$build" && try
  fi && ninja -C "$build" -k 0
) >"$log" 2>&1
built=$?
grep -vE '^(\[[0-9]+/[0-9]+\] |-- )' "$log"
# The last try decides.
if tac "$log" | sed '/^atlas: /q' | grep '^-- Configuring incomplete' >/dev/null; then
  echo '-- Configuring incomplete, errors occurred!'
  exit 1
fi
# CTest reads this folder. Programs of some frameworks name their passing tests only when asked.
tests="$ATLAS_CACHE/ctest"
mkdir -p "$tests"
cat >"$tests/CTestTestfile.cmake" <<X
function(add_test name program)
  # What was not built has no result, neither a good nor a bad one.
  if("\${program}" MATCHES "^$build/" AND NOT EXISTS "\${program}")
    message("atlas: not built: \${name}")
    return()
  endif()
  set(more)
  if("$what" STREQUAL "split" AND EXISTS "\${program}" AND NOT "\${ARGN}" MATCHES "(^|;)(-r|--reporter|--version|--list)")
    execute_process(COMMAND grep -qa "rng-seed" "\${program}" RESULT_VARIABLE catch)
    execute_process(COMMAND grep -qa "doctest version is" "\${program}" RESULT_VARIABLE doctest)
    if(doctest EQUAL 0)
      set(more --reporters=xml)
    elseif(catch EQUAL 0)
      set(more --reporter junit)
    endif()
  endif()
  # A list loses what is empty and is cut where an argument has a semicolon: then the call is spelt out.
  set(exact)
  set(call "_add_test([==[\${name}]==] [==[\${program}]==]")
  if(ARGC GREATER 2)
    math(EXPR last "\${ARGC} - 1")
    foreach(at RANGE 2 \${last})
      if("\${ARGV\${at}}" STREQUAL "" OR "\${ARGV\${at}}" MATCHES ";")
        set(exact yes)
      endif()
      string(APPEND call " [==[\${ARGV\${at}}]==]")
    endforeach()
  endif()
  if(NOT exact)
    _add_test("\${name}" "\${program}" \${ARGN} \${more})
    return()
  endif()
  foreach(word IN LISTS more)
    string(APPEND call " \${word}")
  endforeach()
  file(WRITE "$tests/call.cmake" "\${call})\n")
  include("$tests/call.cmake")
endfunction()
subdirs("$build")
X
cd "$tests" || exit
config=$(sed -nE 's/^CMAKE_BUILD_TYPE:[A-Z]+=(.+)/\1/p' "$build/CMakeCache.txt")
config=${config:-Debug}
export BOOST_TEST_LOG_LEVEL=test_suite CK_VERBOSITY=verbose CTEST_PARALLEL_LEVEL=1
if ! ctest -N -C "$config" | grep '^Total Tests: [1-9]' >/dev/null; then
  # Nothing is registered: the programs that are named as tests.
  if [ "$what" = ctest ]; then what=split; fi
  programs=$(ninja -C "$build" -t targets all | sed -nE 's/: C(XX)?_EXECUTABLE_LINKER__.*//p' | grep -iE '(^|[^a-z])(unit)?tests?([^a-z]|$)' | sort)
  : >"$tests/CTestTestfile.cmake.new"
  while IFS= read -r program; do
    [ -z "$program" ] || printf 'add_test([==[%s]==] [==[%s]==])\nset_tests_properties([==[%s]==] PROPERTIES WORKING_DIRECTORY [==[%s]==])\n' \
      "${program##*/}" "$build/$program" "${program##*/}" "$ATLAS_REPO" >>"$tests/CTestTestfile.cmake.new"
  done <<<"$programs"
  sed -i '/^subdirs(/d' "$tests/CTestTestfile.cmake"
  cat "$tests/CTestTestfile.cmake.new" >>"$tests/CTestTestfile.cmake"
fi
part=()
if [ -n "${ATLAS_TESTS:-}" ]; then
  chosen=$(ctest -N -V -C "$config" | awk '
    /^[0-9]+: Test command: / { command = $0; sub(/^[0-9]+: Test command: /, "", command) }
    /^ *Test +#[0-9]+: / { at = $0; sub(/^ *Test +#/, "", at); sub(/:.*/, "", at); print at "\t" command; command = "" }' |
    bash "$ATLAS_ENV/toolbox/made-of.sh" "$build" | paste -sd ,)
  if [ -z "$chosen" ]; then
    echo 'atlas: no test is made of these files'
    exit $built
  fi
  # The first and the last of a range, its step, and single ones.
  echo "${chosen%%,*},${chosen%%,*},1,$chosen" >"$tests/part"
  part=(-I "$tests/part")
fi
# CTest writes its tests down, too (3.21 and later), and GoogleTest those of a program.
report=()
# (A pipe that `grep -q` closes kills who writes into it, and counts as no match under pipefail.)
[[ $(ctest --help) != *--output-junit* ]] || report=(--output-junit "$ATLAS_OUT/junit.xml")
[ "$what" != split ] || export GTEST_OUTPUT="xml:$ATLAS_OUT/gtest/"
run() { ctest -V "${part[@]}" -C "$config" --timeout 600 "${report[@]}" 2>&1; }
case $what in
  own) run | awk -v ctest=1 -f "$ATLAS_ENV/toolbox/results.awk" ;;
  # What a program prints stands behind its test's number, where the framework's parser finds it.
  *) run ;;
esac
code=$?
if [ -s "$ATLAS_OUT/junit.xml" ]; then
  # What could not be started is no skipped test.
  sed -i '/<skipped message="\(SKIP_\|Disabled\)/!s/<skipped message=/<failure message=/' "$ATLAS_OUT/junit.xml"
  # The console names a program's test `Suite.Test`, and none that is switched off.
  for file in "$ATLAS_OUT"/gtest/*.xml; do
    [ -e "$file" ] || continue
    sed -E '/^ *<testcase .* status="notrun"/d
      s/^( *<testcase )name="([^"]*)"(.*) classname="([^"]*)"/\1name="\4.\2" classname="gtest"\3/' "$file" >>"$ATLAS_OUT/junit.xml"
  done
fi
[ $code -ne 0 ] || code=$built
exit $code
