//! Whether the environment holds the solution: in git's objects, or in what was installed.

use sha1::{Digest, Sha1};
use std::fmt::Write as _;

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

/// Looks for objects that no ancestor of the base commit has, for commits beside the base's history,
/// and for telling lines of the solution in installed files. Each line of its output is a word and
/// what was found; the last one is `end`.
///
/// Only git's own reading of objects is trusted here; a repository whose git does not answer says so.
pub(super) const SCRIPT: &str = r#"
cd "$ATLAS_REPO" || exit 125
if command -v git >/dev/null 2>&1 && git rev-parse HEAD >/dev/null 2>&1; then
  git rev-list HEAD | sort >"$ATLAS_OUT/ancestors"
  git rev-list --objects HEAD | cut -d' ' -f1 | sort -u >"$ATLAS_OUT/reachable"
  git cat-file --batch-check='%(objecttype) %(objectname)' --batch-all-objects 2>/dev/null |
    sed -n 's/^commit //p' | sort | comm -23 - "$ATLAS_OUT/ancestors" | head -n 20 | sed 's/^/commit /'
  git cat-file --batch-check='%(objectname) %(objecttype)' <"$ATLAS_IN/objects" |
    sed -n 's/ blob$//p' | sort -u | comm -23 - "$ATLAS_OUT/reachable" | head -n 20 | sed 's/^/object /'
  rm -f "$ATLAS_OUT/ancestors" "$ATLAS_OUT/reachable"
  printf 'git read\n'
else
  printf 'git absent\n'
fi
if [ -s "$ATLAS_IN/lines" ]; then
  for folder in "$ATLAS_ENV" "$ATLAS_CACHE"; do
    [ -d "$folder" ] || continue
    grep -rIlF -f "$ATLAS_IN/lines" "$folder" 2>/dev/null | head -n 20 | while IFS= read -r file; do
      count=0
      while IFS= read -r line; do
        grep -qF -e "$line" "$file" && count=$((count + 1))
      done <"$ATLAS_IN/lines"
      printf 'file %s %s\n' "$count" "$file"
    done
  done
fi
printf 'end\n'
"#;

/// What the script found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Commits that are no ancestors of the base commit.
    pub(super) commits: Vec<String>,
    /// Contents of After that no ancestor has.
    pub(super) objects: Vec<String>,
    /// Files, each with how many telling lines it holds.
    pub(super) files: Vec<(usize, String)>,
    /// Whether git answered.
    pub(super) git: bool,
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
                "git" => found.git = rest == "read",
                "end" => found.complete = true,
                _ => {}
            }
        }
        found
    }
}
