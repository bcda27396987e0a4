# Takes history after the present commit out of a repository that somebody else put into an image: references
# that do not lead to it, remotes, logs, and then every object that nothing leads to. Says what is left.
cd "$ATLAS_REPO" || exit 1
test -e .git || exit 0
atlas_git() { git -c safe.directory='*' -c core.hooksPath=/dev/null -c core.fsmonitor=false "$@"; }
head=$(atlas_git rev-parse HEAD) || exit 1
kept=$(atlas_git tag --merged "$head" | sed 's|^|refs/tags/|')
atlas_git update-ref --no-deref HEAD "$head" || exit 1
atlas_git for-each-ref --format='%(refname)' | while IFS= read -r name; do
  printf '%s\n' "$kept" | grep -qxF -- "$name" || atlas_git update-ref --no-deref -d "$name"
done
atlas_git remote | while IFS= read -r name; do atlas_git remote remove "$name"; done
folder=$(atlas_git rev-parse --git-dir)
rm -rf "$folder/logs" "$folder"/FETCH_HEAD "$folder"/ORIG_HEAD "$folder"/MERGE_HEAD "$folder"/shallow.lock
atlas_git update-ref refs/heads/base "$head" && atlas_git symbolic-ref HEAD refs/heads/base || exit 1
atlas_git -c gc.reflogExpire=now -c gc.reflogExpireUnreachable=now -c gc.pruneExpire=now -c core.logAllRefUpdates=false gc -q --prune=now || exit 1
left=$(
  {
    atlas_git rev-list --all
    atlas_git rev-list --all
    atlas_git cat-file --batch-all-objects --batch-check='%(objecttype) %(objectname)' | sed -n 's/^commit //p'
  } | sort | uniq -u
)
test -z "$left" && exit 0
printf 'commits that nothing leads to are left:\n%s\n' "$left" | head -n 5
exit 1
