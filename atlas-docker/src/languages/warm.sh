# Dependencies, by the build's own commands from the manifests alone: what needs the sources fails, and that is
# no failure. Of the repository's folder only what is named below stays, and that only if its installation did
# not have to be helped: the sources are laid out beside it, so that no product of an empty program is taken for
# theirs. A later commit with the same manifests starts from here.
#
# usage: warm LANGUAGE COMMAND...
set -eo pipefail
language=$1
shift
export ATLAS_WARM=1
log=$(mktemp)
kept=()
case $language in
javascript | typescript)
  kept=('(' -name node_modules -o -path /testbed/.yarn/install-state.gz ')')
  # Scripts of the repository's own packages need its sources; those of dependencies run.
  find /testbed -name package.json -not -path '*/node_modules/*' -print0 | xargs -0 -r node -e '
    for (const file of process.argv.slice(1)) try {
      const its = JSON.parse(fs.readFileSync(file))
      delete its.scripts
      fs.writeFileSync(file, JSON.stringify(its, null, 2))
    } catch (error) {}'
  ;;
php) kept=('(' -name vendor -o -name composer.lock ')') ;;
esac

all() {
  local command
  for command; do bash -eo pipefail -c "$command" || return 1; done
}
all "$@" > "$log" 2>&1 || echo 'atlas: the rest of the build needs the sources'

if [ "$language" = rust ]; then
  # What was compiled for the repository's own packages is of empty programs.
  for name in $(find /testbed -name Cargo.toml -exec sed -n 's/^name *= *"\([^"]*\)".*/\1/p' {} +); do
    rm -rf "${CARGO_TARGET_DIR:-/testbed/target}"/*/.fingerprint/"$name"-*
  done
fi
if [ ${#kept[@]} = 0 ] || grep -q 'atlas: the install failed' "$log"; then
  find /testbed -mindepth 1 -delete
else
  # The folders that lead to what is kept are not empty and stay too.
  find /testbed -mindepth 1 "${kept[@]}" -prune -o ! -type d -exec rm -f {} +
  find /testbed -mindepth 1 -type d -empty -delete
fi
# Tools note in the user's own folder what they did.
find /tmp -mindepth 1 -user "$(id -u)" -delete
