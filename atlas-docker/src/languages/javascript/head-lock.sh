# Installs what the pull request's lockfile names where the repository's own dependencies are: one tree, in which each
# package is there once.
#   head-lock FOLDER FILE... -- COMMAND...   in the scratch copy that has the pull request's manifests, which the files are;
#   the command runs in the repository's FOLDER
set -eo pipefail
folder=$1
shift
[ -d "$ATLAS_REPO/$folder/node_modules" ]
files=()
while [ "$1" != -- ]; do
  files+=("$1")
  shift
done
shift
saved=$(mktemp -d)
restore() {
  for file in "${files[@]}"; do
    rm -f -- "$ATLAS_REPO/$file"
    if [ -e "$saved/$file" ]; then
      cp -p -- "$saved/$file" "$ATLAS_REPO/$file"
    fi
  done
}
trap restore EXIT
for file in "${files[@]}"; do
  if [ -e "$ATLAS_REPO/$file" ]; then
    mkdir -p -- "$saved/$(dirname -- "$file")"
    cp -p -- "$ATLAS_REPO/$file" "$saved/$file"
  fi
done
for file in "${files[@]}"; do
  rm -f -- "$ATLAS_REPO/$file"
  if [ -e "$file" ]; then
    cp -p -- "$file" "$ATLAS_REPO/$file"
  fi
done
cd "$ATLAS_REPO/$folder"
if ! "$@"; then
  # What it has changed by then is put back.
  restore
  "$@" || :
  exit 1
fi
