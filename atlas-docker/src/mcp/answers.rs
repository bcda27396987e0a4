//! Arguments and answers of the tools. Their comments are the descriptions that clients see.

use super::HistoryEntry;
use rmcp::schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Commits of one answer.
pub(super) const MAX_COMMITS: usize = 100;

/// Characters of one commit's message.
const MAX_MESSAGE: usize = 2_000;

/// Changed files of one commit.
const MAX_PATHS: usize = 50;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct CloneArgs {
    /// A repository that the server allows: a path or an address. Default: the one that the server
    /// was started for.
    pub(super) repository: Option<String>,
    /// The commit to look at. Default: the one that the server was started for.
    pub(super) base: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Cloned {
    /// The checkout's name, for the argument `checkout` of the other tools. They take the last one
    /// cloned where it is left out.
    pub(super) checkout: String,
    /// The repository's name.
    pub(super) repository: String,
    /// The commit that is checked out.
    pub(super) base_commit: String,
    /// When that commit was made, ISO 8601. Toolchains and dependencies are those of that day.
    pub(super) base_date: String,
    /// What is in the root.
    pub(super) entries: Vec<Entry>,
    /// What is not there: submodules, Git LFS content.
    pub(super) remarks: Vec<String>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct ListArgs {
    /// A folder, relative to the root. Default: the root.
    pub(super) path: Option<String>,
    /// How many levels to show, 1 to 5. Default: 1, the folder's own entries.
    pub(super) depth: Option<usize>,
    /// How many entries to leave out.
    pub(super) offset: Option<usize>,
    /// How many entries to give, at most 1000. Default: 200.
    pub(super) limit: Option<usize>,
    /// The checkout's name, as `clone` gave it. Default: the last one cloned.
    pub(super) checkout: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Listing {
    /// The folder.
    pub(super) path: String,
    /// What is in it.
    pub(super) entries: Vec<Entry>,
    /// How many entries there are, all pages together.
    pub(super) total: usize,
    /// Where the next page begins; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next_offset: Option<usize>,
    /// Whether there are more entries than are counted: list a folder below.
    pub(super) incomplete: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(crate = "rmcp::schemars")]
pub(super) enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Symlink,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Entry {
    /// Its path, relative to the root.
    pub(super) path: String,
    /// What it is.
    pub(super) kind: Kind,
    /// The size of a file in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) bytes: Option<u64>,
    /// Where a symbolic link points to, as it is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) target: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct ReadArgs {
    /// The file, relative to the root.
    pub(super) path: String,
    /// The first line to give, from 1. Default: 1.
    pub(super) first_line: Option<usize>,
    /// The last line to give. Default: as many as fit into one answer.
    pub(super) last_line: Option<usize>,
    /// The checkout's name, as `clone` gave it. Default: the last one cloned.
    pub(super) checkout: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Page {
    /// The file.
    pub(super) path: String,
    /// Its lines from `first_line` to `last_line`.
    pub(super) text: String,
    /// The first line of this page, from 1.
    pub(super) first_line: usize,
    /// The last line of this page; one less than `first_line` for an empty file.
    pub(super) last_line: usize,
    /// How many lines the file has.
    pub(super) total_lines: usize,
    /// The file's size in bytes.
    pub(super) bytes: u64,
    /// Where the next page begins; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next_line: Option<usize>,
    /// Whether bytes that are no UTF-8 were replaced, or the ends of long lines cut.
    pub(super) altered: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct SearchArgs {
    /// What to look for in each line: a regular expression, or a literal text with `literal`.
    pub(super) pattern: String,
    /// Take the pattern as it is written. Default: false.
    #[serde(default)]
    pub(super) literal: bool,
    /// Do not tell upper from lower case. Default: false.
    #[serde(default)]
    pub(super) ignore_case: bool,
    /// Only in this file or folder, relative to the root.
    pub(super) path: Option<String>,
    /// Only in files of such names: `*.py`, or with a slash of such paths: `src/**/*.rs`.
    pub(super) glob: Option<String>,
    /// Lines to show before and after each match, at most 5. Default: 0.
    pub(super) context: Option<usize>,
    /// How many matches to leave out.
    pub(super) offset: Option<usize>,
    /// How many matches to give, at most 200. Default: 50.
    pub(super) limit: Option<usize>,
    /// The checkout's name, as `clone` gave it. Default: the last one cloned.
    pub(super) checkout: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Found {
    /// The matches, by path and line.
    pub(super) matches: Vec<Match>,
    /// Files that were searched for this answer.
    pub(super) files_searched: usize,
    /// Files that were not: binary, above 2 MiB, or unreadable.
    pub(super) files_skipped: usize,
    /// Where the next page begins; absent where there are no more matches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next_offset: Option<usize>,
    /// Whether the search ended before all files were seen: narrow it by path or glob.
    pub(super) incomplete: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Match {
    /// The file.
    pub(super) path: String,
    /// The line, from 1.
    pub(super) line: usize,
    /// The line's text, cut where it is long; with context several lines.
    pub(super) text: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct HistoryArgs {
    /// Only commits that change this file or folder, relative to the root.
    pub(super) path: Option<String>,
    /// How many commits to leave out, newest first.
    pub(super) offset: Option<usize>,
    /// How many commits to give, at most 100. Default: 20.
    pub(super) limit: Option<usize>,
    /// The checkout's name, as `clone` gave it. Default: the last one cloned.
    pub(super) checkout: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Commits {
    /// The commits, newest first.
    pub(super) commits: Vec<Ancestor>,
    /// Where the next page begins; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next_offset: Option<usize>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Ancestor {
    /// Its id.
    pub(super) commit: String,
    /// When it was made, ISO 8601.
    pub(super) date: String,
    /// Who wrote it.
    pub(super) author: String,
    /// Its message, cut where it is long.
    pub(super) message: String,
    /// The files that it changes, at most 50.
    pub(super) paths: Vec<String>,
    /// How many files it changes.
    pub(super) paths_total: usize,
}

/// A commit as clients see it.
pub(super) fn commit(entry: HistoryEntry) -> Ancestor {
    let paths_total = entry.paths.len();
    Ancestor {
        commit: entry.commit.to_string(),
        date: entry.date,
        author: entry.author,
        message: cut(entry.message.trim(), MAX_MESSAGE),
        paths: entry.paths.into_iter().take(MAX_PATHS).collect(),
        paths_total,
    }
}

/// The beginning of a text; what is left out is counted.
pub(super) fn cut(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}… [{} bytes more]", &text[..at], text.len() - at),
    }
}
