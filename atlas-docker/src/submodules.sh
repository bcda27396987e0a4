# Submodules as the commit names them, without what else a server sends: remotes, other branches,
# tags and later commits, which may hold what a task asks for. Nothing here fails the build.
set +e
export GIT_TERMINAL_PROMPT=0
root="$(pwd -P)"

# A server may refuse to send a single commit; then the whole history is fetched.
deepen='
if test -f "$(git rev-parse --git-dir)/shallow"; then
  git fetch --quiet --unshallow origin "+refs/heads/*:refs/remotes/origin/*" || :
fi'
git config --null --file .gitmodules --get-regexp '^submodule\..*\.path$' |
while IFS= read -r -d '' entry; do
  path="${entry#*$'\n'}"
  case "/$path/" in //* | */../*) continue ;; esac
  {
    git submodule update --init --recursive --depth 1 -- "$path" || {
      ( cd "$path" && test -e .git && eval "$deepen" && git submodule foreach --quiet --recursive "$deepen" )
      git submodule update --init --recursive -- "$path"
    } || echo "atlas: submodule $path is missing"
  } < /dev/null
done

# One that lay in the checkout as a repository of its own came sealed.
git submodule foreach --quiet --recursive '
if test -f .git && test "$(git rev-parse --verify --quiet HEAD)" = "$sha1"; then
  folder="$(git rev-parse --absolute-git-dir)"
  git update-ref --no-deref HEAD "$sha1"
  git remote | while IFS= read -r remote; do git remote remove "$remote"; done
  git for-each-ref --format="delete %(refname)" | git update-ref --no-deref --stdin
  find "$folder/refs" ! -type d -delete
  rm -rf "$folder/packed-refs" "$folder/logs" "$folder"/*_HEAD "$folder/objects/info/commit-graph" "$folder/objects/info/commit-graphs"
  git gc --quiet --prune=now
  present="$(git cat-file --batch-all-objects --batch-check="%(objecttype)" | grep -c -e commit -e tag)"
  if test "$present" = "$(git rev-list --count HEAD)"; then
    touch "$folder/atlas-sealed"
  fi
fi
:' < /dev/null

# What is not sealed by now goes: a clone without the wanted commit stands at the newest one.
find . -type d -path '*/.git/modules/*' -name objects -prune -print0 2> /dev/null |
while IFS= read -r -d '' objects; do
  folder="${objects%/objects}"
  test -f "$folder/HEAD" || continue
  if test -f "$folder/atlas-sealed"; then
    rm -f "$folder/atlas-sealed"
    continue
  fi
  tree="$(cd "$folder" && cd "$(git config --file config core.worktree || echo /)" && pwd -P)"
  case "$tree" in "$root"/*) find "$tree" -mindepth 1 -delete ;; esac
  rm -rf "$folder"
  echo "atlas: submodule $folder is left out"
done

# Debian's packages keep the sources of libraries that projects compile themselves, and libraries that are headers alone:
# these lie here as in their own repositories.
headers() {
  case ${1##*/} in
    doctest) from=/usr/include/doctest into=. ;;
    json) from=/usr/include/nlohmann into="include single_include" ;;
    *) return ;;
  esac
  [ -d "$from" ] || return
  for folder in $into; do mkdir -p "$1/$folder" && cp -R "$from" "$1/$folder/"; done
  echo "atlas: submodule $1: Debian's headers instead"
}
git config --null --file .gitmodules --get-regexp '^submodule\..*\.path$' |
while IFS= read -r -d '' entry; do
  path="${entry#*$'\n'}"
  case "/$path/" in //* | */../*) continue ;; esac
  sources="/usr/src/${path##*/}"
  if [ -d "$sources" ] && [ -z "$(ls -A "$path" 2> /dev/null)" ]; then
    mkdir -p "$path" && cp -R "$sources/." "$path" && echo "atlas: submodule $path: Debian's sources instead"
  elif [ -z "$(ls -A "$path" 2> /dev/null)" ]; then
    headers "$path"
  fi
done
true
