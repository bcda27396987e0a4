# Installs into the virtual environment: what a list says, resolved as of a day, then the project.
#
#   --day yyyy-mm-dd     nothing that was published later; of all releases without it
#   --constraint FILE    versions that a lockfile names
#   --project DIR        a project to install in place, with --extras a,b
#   --beside DIR         another project of the repository, installed in place as well; may be repeated
#   --backend WORD       a requirement of the project's build, may be repeated
#   --add                into an environment that is in use: nothing is removed
#   anything else        a requirement, or `-r FILE`
#
# A first run may have the manifests alone (ATLAS_WARM), and the first day of the month: what it
# resolved is what all commits of that month with these manifests get.
#
# A list in $ATLAS_ENV/resolved.lock goes before everything that would be resolved.
set -euo pipefail
venv="$ATLAS_ENV/venv" lock="$ATLAS_ENV/requirements.lock" uv="$ATLAS_ENV/bin/uv"
day="" constraint="" project="" extras="" add="" backend=() words=() beside=()
same="$(printf '%s\n' "$PWD" "$@" | sed '/^--day$/{N;d}' | cksum | tr -dc 0-9)"
while [ $# -gt 0 ]; do
  case "$1" in
    --day) day="$2"; shift ;;
    --constraint) constraint="$2"; shift ;;
    --project) project="$2"; shift ;;
    --beside) beside+=("$(cd "$2" && pwd -P)"); shift ;;
    --extras) extras="[$2]"; shift ;;
    --backend) backend+=("$2"); shift ;;
    --add) add=1 ;;
    -r) words+=("-r $2"); shift ;;
    *) words+=("$1") ;;
  esac
  shift
done
work="$(mktemp -d)"
resolved="$ATLAS_ENV/resolved-ahead-$same"
# What a build fetches it also removes; one that is for later builds leaves it to them.
cache="$ATLAS_ENV/uv-cache"
trap 'rm -rf "$work"; [ -n "${ATLAS_WARM:-}" ] || rm -rf "$cache"' EXIT
export VIRTUAL_ENV="$venv" UV_PYTHON="$venv/bin/python" UV_CACHE_DIR="$cache" UV_PYTHON_DOWNLOADS=never UV_NO_PROGRESS=1
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1

# What differs from what is asked for stands in the environment's lock and in the row.
note() {
  echo "atlas: $*"
  echo "$*" >> "$ATLAS_ENV/drift"
}

# Arguments: a command, whose errors go into a file, too.
heard() {
  local code=0 said
  exec 9> >(tee "$work/error.log" >&2)
  said=$!
  "$@" 2>&9 9>&- || code=$?
  exec 9>&-
  wait "$said" || :
  return "$code"
}

get_uv() {
  bash "$ATLAS_ENV/toolbox/python-uv"
  [ -x "$uv" ]
}

# uv has its own settings for the index that pip is told to use.
settings() { env -u PYTHONDONTWRITEBYTECODE "$venv/bin/python" -m pip config "$@" 2> /dev/null || :; }
index_of() { case "$set" in *"$1="*) settings get "$1" ;; esac; }
use_index() {
  local value set
  set="$(settings list)"
  value="${PIP_INDEX_URL:-$(index_of global.index-url)}"
  [ -z "$value" ] || export UV_DEFAULT_INDEX="${UV_DEFAULT_INDEX:-$value}"
  value="${PIP_EXTRA_INDEX_URL:-$(index_of global.extra-index-url)}"
  [ -z "$value" ] || export UV_INDEX="${UV_INDEX:-$value}"
  value="${PIP_FIND_LINKS:-$(index_of global.find-links)}"
  [ -z "$value" ] || export UV_FIND_LINKS="${UV_FIND_LINKS:-${value// /,}}"
  value="${PIP_CERT:-$(index_of global.cert)}"
  [ -z "$value" ] || export SSL_CERT_FILE="${SSL_CERT_FILE:-$value}"
}

# Lines that lead to the project itself, or to others beside it, are no part of a list: they are installed in place.
here="$(cd "${project:-.}" && pwd -P)"
for at in ${beside[@]+"${!beside[@]}"}; do
  [ "${beside[$at]}" != "$here" ] || unset "beside[$at]"
done
without_project() {
  awk -v here="$(printf '%s\n' "$here" ${beside[@]+"${beside[@]}"})" '
    BEGIN { count = split(here, names, "\n"); for (at = 1; at <= count; at++) own[names[at]] = 1 }
    { line = $0; sub(/^-e +/, "", line); sub(/^[^@ ]+ @ /, "", line); sub(/ *[;#].*$/, "", line)
      sub(/\[[^]]*\]$/, "", line); sub(/^file:\/\//, "", line); sub(/\/$/, "", line) }
    line == "." || line in own { next } { print }'
}

# The lists as one file; the project's folder stands for what the project itself needs.
printf '%s\n' ${project:+"$here$extras"} ${beside[@]+"${beside[@]}"} ${words[@]+"${words[@]}"} | sed "s|^-r \([^/]\)|-r $PWD/\1|" > "$work/in.txt"

# Arguments: flags of uv. Resolves and installs, or changes nothing.
once() {
  rm -f "$work/out.txt"
  # What is there already is kept where it can be.
  [ -z "$add" ] || cp "$lock" "$work/out.txt"
  "$uv" pip compile --quiet --no-header --no-annotate --no-strip-extras "$@" \
    --output-file "$work/out.txt" "${from[@]}" || return 1
  without_project < "$work/out.txt" > "$work/lock.txt"
  # Installed for an earlier commit, and no part of this one's list.
  if [ -z "$add" ] && [ -s "$lock" ]; then
    comm -23 <(names_of "$lock") <(names_of "$work/lock.txt") > "$work/gone.txt"
    [ ! -s "$work/gone.txt" ] || "$uv" pip uninstall -r "$work/gone.txt"
  fi
  [ ! -s "$work/lock.txt" ] || "$uv" pip install --no-deps "${date[@]}" -r "$work/lock.txt"
}
names_of() { sed -nE 's/^([A-Za-z0-9._-]+).*/\1/p' "$1" | sort -u; }

# A release of then that cannot be built here (no wheel for a Python that is newer, a compiler that
# is) gives way to a later one: of this package alone, and the log says so.
with_uv() {
  local turn broken
  for turn in 1 2 3 4 5 6 7 8; do
    if heard once "$@" "${date[@]}"; then return 0; fi
    [ "${#date[@]}" -gt 0 ] || return 1
    broken="$(sed -nE 's/.*[Ff]ailed to (download and )?build `([A-Za-z0-9._-]+)(==| @ | from ).*/\2/p' "$work/error.log" | head -n 1)"
    [ -n "$broken" ] || return 1
    if grep -qE "build .$broken @ file:" "$work/error.log"; then broken="setuptools"; fi
    case " ${date[*]} " in *" $broken="*) return 1 ;; esac
    note "$broken is taken from after $day: its release of then cannot be built here"
    date+=(--exclude-newer-package "$broken=2999-12-31")
  done
  return 1
}
date=()
[ -z "$day" ] || date=(--exclude-newer "${day}T23:59:59Z")
limit=()
[ -z "$constraint" ] || limit=(--constraint "$constraint")

# Before the sources are there: a project that cannot say what it needs without them may have it
# written down.
from=("$work/in.txt")
from_manifest() {
  [ -n "${ATLAS_WARM:-}" ] && [ -f "${project:-/none}/pyproject.toml" ] || return 1
  sed -i 1d "$work/in.txt"
  from+=("$project/pyproject.toml")
  local extra all="${extras#[}"
  for extra in $(printf '%s' "${all%]}" | tr , ' '); do from+=(--extra "$extra"); done
  with_uv "${limit[@]}"
}

install_lists() {
  [ -n "$(tr -d "[:space:]" < "$work/in.txt")" ] || return 0
  if [ -z "$add" ] && [ -f "$ATLAS_ENV/resolved.lock" ] && get_uv; then
    "$uv" pip install --no-deps -r "$ATLAS_ENV/resolved.lock" && cp "$ATLAS_ENV/resolved.lock" "$work/lock.txt" && return 0
    echo "atlas: the given list of versions cannot be installed"
  fi
  if get_uv; then
    use_index
    if [ -n "$constraint" ]; then
      with_uv "${limit[@]}" || from_manifest && return 0
      # With the sources there the strongest way may still do.
      [ -z "${ATLAS_WARM:-}" ] || return 1
      note "the lockfile's versions cannot be installed together"
    fi
    if [ -n "$day" ]; then
      with_uv || from_manifest && return 0
      [ -z "${ATLAS_WARM:-}" ] || return 1
      note "dependencies cannot be installed as of $day"
      date=()
    fi
    with_uv && return 0
  fi
  # pip would install the project itself, of which only the manifests are there.
  [ -z "${ATLAS_WARM:-}" ] || return 1
  note "pip installs what the index has now"
  "$venv/bin/python" -m pip install ${limit[@]+"${limit[@]}"} -r "$work/in.txt" ||
    "$venv/bin/python" -m pip install -r "$work/in.txt" ||
    "$venv/bin/python" -m pip install --ignore-requires-python -r "$work/in.txt"
}

# In place, so that tests see the files of each state.
install_project() {
  local project="$1"
  local pip=("$venv/bin/python" -m pip install --no-deps)
  if [ -e "$resolved" ] && "$uv" pip install --offline --no-deps "${date[@]}" -e "$project"; then return 0; fi
  if [ -x "$uv" ] && "$uv" pip install --no-deps "${date[@]}" -e "$project"; then return 0; fi
  # Older build backends know only the way that pip went before there was a standard for it.
  if [ -x "$uv" ] && "$uv" pip install "${date[@]}" wheel "${backend[@]:-setuptools}"; then
    heard "${pip[@]}" --no-build-isolation -e "$project" && return 0
    without_what_fetches && "${pip[@]}" --no-build-isolation -e "$project" && return 0
  fi
  note "the project's build runs with the newest tools"
  "${pip[@]}" -e "$project" || "${pip[@]}" --ignore-requires-python -e "$project"
}

# Of what the project is built with, what asks a host that is not reached goes, if it is not what builds: something that
# writes a licence's text, say. The frames of the first traceback that ends so tell: what builds is the first of them.
without_what_fetches() {
  local frames frame name path builds="" fetches=""
  frames="$(awk '/Traceback \(most recent call last\)/ { frames = "" } /File ".*\/site-packages\// { frames = frames $0 "\n" }
    /gaierror: |Name or service not known|Connection refused|Network is unreachable/ && frames { printf "%s", frames; exit }' "$work/error.log" |
    sed 's|.*/site-packages/||')"
  while read -r frame; do
    for name in ${backend[@]+"${backend[@]}"}; do
      name="$(printf '%s' "$name" | sed 's/[^A-Za-z0-9._-].*//')" path="$(printf '%s' "$name" | tr .- /_)"
      case "$frame" in "$path"/* | "$path".py*) builds="${builds:-$name}" fetches="$name" ;; esac
    done
  done <<< "$frames"
  [ "$fetches" != "$builds" ] && "$uv" pip uninstall "$fetches" &&
    note "the project is built without $fetches, which asks a host that is not reached"
}

if [ -n "$add" ] || [ ! -e "$resolved" ]; then
  install_lists
  [ -n "$add" ] || { touch "$work/lock.txt"; cp "$work/lock.txt" "$lock"; }
fi
if [ -n "${ATLAS_WARM:-}" ]; then
  touch "$resolved"
  # What the project is built with goes into the cache.
  case "${backend[*]:-}" in *hatchling*) backend+=(editables) ;; esac
  [ -z "$project" ] || [ ! -x "$uv" ] ||
    "$uv" pip install --quiet --target "$work/backend" "${date[@]}" wheel "${backend[@]:-setuptools}" || :
fi
# Without its sources a project cannot be installed.
[ -z "$project" ] || [ -n "${ATLAS_WARM:-}" ] || install_project "$project"
# Once: with those that come after, they are there.
[ -n "$add" ] || [ -n "${ATLAS_WARM:-}" ] || for other in ${beside[@]+"${beside[@]}"}; do
  install_project "$other"
done
