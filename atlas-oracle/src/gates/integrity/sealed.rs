//! Whether the environment holds the solution: in git's objects, or in what was installed.

use regex::Regex;
use sha1::{Digest, Sha1};
use std::collections::BTreeSet;
use std::fmt::{self, Write as _};
use std::sync::LazyLock;

/// The id that git gives a file's content.
pub(super) fn blob_id(bytes: &[u8]) -> String {
    let mut hash = Sha1::new();
    hash.update(format!("blob {}\0", bytes.len()));
    hash.update(bytes);
    hash.finalize()
        .iter()
        .fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
}

/// Looks for objects that no ancestor of the base commit has, for commits beside the base's history, for the
/// named changes that this history holds, and for telling lines of the solution in installed files. Each
/// line of its output is a word and what was found; the last one is `end`. Lines that the repository itself
/// holds tell nothing.
pub(super) const SCRIPT: &str = r#"
export LC_ALL=C
cd "$ATLAS_REPO" || exit 125
git() { command git -c safe.directory='*' "$@"; }
IFS= read -r base <"$ATLAS_IN/base" || base=
[ -n "$base" ] || base=HEAD
if [ ! -e .git ]; then
  printf 'git none
'
elif command -v git >/dev/null 2>&1 && git rev-parse --quiet --verify "$base^{commit}" >/dev/null 2>&1; then
  work=$(mktemp -d)
  git rev-list "$base" | sort >"$work/ancestors"
  git rev-list --objects "$base" | cut -d' ' -f1 | sort -u >"$work/reachable"
  git cat-file --batch-check='%(objecttype) %(objectname)' --batch-all-objects 2>/dev/null |
    sed -n 's/^commit //p' | sort | comm -23 - "$work/ancestors" | head -n 20 | sed 's/^/commit /'
  git cat-file --batch-check='%(objectname) %(objecttype)' <"$ATLAS_IN/objects" |
    sed -n 's/ blob$//p' | sort -u | comm -23 - "$work/reachable" | head -n 20 | sed 's/^/object /'
  rm -rf "$work"
  while read -r kind name; do
    case "$kind" in
      pull) git log -E -n 1 --format=tformat:found "$base" \
              --grep="^Merge pull request #$name( |\$)" --grep="\(#$name\)\$" --grep="^See merge request .*!$name\$" ;;
      commit) git merge-base --is-ancestor "$name" "$base" && echo found ;;
    esac 2>/dev/null | sed "s/^found\$/held $kind $name/"
  done <"$ATLAS_IN/changes"
  printf 'git read
'
else
  printf 'git unreadable
'
fi
own=$(mktemp)
while IFS= read -r line; do
  grep -rIqF --exclude-dir=.git -e "$line" . || printf '%s
' "$line"
done <"$ATLAS_IN/lines" >"$own"
printf 'lines %s
' "$(wc -l <"$own")"
if [ -s "$own" ]; then
  for folder in "$ATLAS_ENV" "$ATLAS_CACHE"; do
    [ -d "$folder" ] || continue
    grep -rIlF -f "$own" "$folder" 2>/dev/null | while IFS= read -r file; do
      count=0
      while IFS= read -r line; do
        if grep -qF -e "$line" "$file"; then count=$((count + 1)); fi
      done <"$own"
      printf 'file %s %s
' "$count" "$file"
    done | sort -k2,2nr | head -n 20
  done
fi
rm -f "$own"
printf 'end
'
"#;

/// A change of the repository that a text links to: one request or one commit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Change {
    Pull(String),
    Commit(String),
}

impl Change {
    /// The change of an address, if it is one and no comparison.
    pub(super) fn of_link(link: &str) -> Option<Self> {
        static PARTS: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r"/(?:pulls?|merge_requests)/(\d+)|/commits?/([0-9a-fA-F]{7,40})")
                .expect("a constant pattern")
        });
        let parts = PARTS.captures(link)?;
        let text = |n: usize| parts.get(n).map(|part| part.as_str().to_owned());
        // A commit within a request is a commit.
        text(2).map(Self::Commit).or(text(1).map(Self::Pull))
    }

    fn read(line: &str) -> Option<Self> {
        match line.split_once(' ')? {
            ("pull", number) => Some(Self::Pull(number.to_owned())),
            ("commit", id) => Some(Self::Commit(id.to_owned())),
            _ => None,
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pull(number) => write!(f, "pull {number}"),
            Self::Commit(id) => write!(f, "commit {id}"),
        }
    }
}

/// What the script found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Commits that are no ancestors of the base commit.
    pub(super) commits: Vec<String>,
    /// Contents of After that no ancestor has.
    pub(super) objects: Vec<String>,
    /// Named changes that the base commit's history holds.
    pub(super) held: BTreeSet<Change>,
    /// Files, each with how many telling lines it holds.
    pub(super) files: Vec<(usize, String)>,
    /// What git was: read, unreadable, none.
    pub(super) git: String,
    /// How many telling lines were looked for.
    pub(super) lines: usize,
    /// Whether the script came to its end.
    pub(super) complete: bool,
}

impl Found {
    pub(super) fn read(output: &[u8]) -> Self {
        let mut found = Self::default();
        for line in String::from_utf8_lossy(output).lines() {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            match word {
                "commit" => found.commits.push(rest.to_owned()),
                "object" => found.objects.push(rest.to_owned()),
                "file" => {
                    if let Some((count, path)) = rest.split_once(' ') {
                        let count = count.parse().unwrap_or(0);
                        found.files.push((count, path.to_owned()));
                    }
                }
                "held" => found.held.extend(Change::read(rest)),
                "git" => rest.clone_into(&mut found.git),
                "lines" => found.lines = rest.trim().parse().unwrap_or(0),
                "end" => found.complete = true,
                _ => {}
            }
        }
        found
    }
}
