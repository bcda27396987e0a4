//! `search`.

use super::answers::{Found, Match, SearchArgs, cut};
use super::{files, paths, refuse};
use atlas_core::Error;
use regex::{Regex, RegexBuilder};
use std::path::Path;
use walkdir::WalkDir;

/// A file above this is not searched.
const MAX_FILE_BYTES: u64 = 2 << 20;

/// Bytes that one search reads.
const MAX_SEARCHED: u64 = 256 << 20;

/// Bytes of a compiled pattern.
const MAX_PATTERN: usize = 1 << 20;

/// Characters of one line.
const MAX_LINE: usize = 300;

pub(super) fn search(root: &Path, args: &SearchArgs) -> Result<Found, Error> {
    let operation = "search";
    let start = paths::resolve(operation, root, args.path.as_deref().unwrap_or_default())?;
    let pattern = pattern(args)?;
    let glob = args.glob.as_deref().map(glob).transpose()?;
    let limit = args.limit.unwrap_or(50).clamp(1, 200);
    let offset = args.offset.unwrap_or(0);
    let context = args.context.unwrap_or(0).min(5);
    let root = root
        .canonicalize()
        .map_err(|why| Error::io(operation, root, why))?;
    let mut found = Found {
        matches: Vec::new(),
        files_searched: 0,
        files_skipped: 0,
        next_offset: None,
        incomplete: false,
    };
    let mut seen = 0;
    let mut searched = 0;
    let walk = WalkDir::new(&start).sort_by_file_name().into_iter();
    let walk = walk.filter_entry(|entry| entry.file_name() != ".git");
    for entry in walk.flatten().filter(|entry| entry.file_type().is_file()) {
        // A path that is no UTF-8 could not be asked for again.
        let Some(path) = entry.path().strip_prefix(&root).ok().and_then(Path::to_str) else {
            found.files_skipped += 1;
            continue;
        };
        if glob.as_ref().is_some_and(|glob| !glob.matches(path)) {
            continue;
        }
        let size = entry.metadata().map_or(u64::MAX, |meta| meta.len());
        if size > MAX_FILE_BYTES {
            found.files_skipped += 1;
            continue;
        }
        searched += size;
        if searched > MAX_SEARCHED {
            found.incomplete = true;
            break;
        }
        let Some(bytes) = std::fs::read(entry.path())
            .ok()
            .filter(|bytes| !files::is_binary(bytes))
        else {
            found.files_skipped += 1;
            continue;
        };
        found.files_searched += 1;
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.lines().collect();
        for (at, _) in lines
            .iter()
            .enumerate()
            .filter(|(_, line)| pattern.is_match(line))
        {
            seen += 1;
            if seen <= offset {
                continue;
            }
            if found.matches.len() == limit {
                found.next_offset = Some(offset + limit);
                return Ok(found);
            }
            let around = at.saturating_sub(context)..(at + context + 1).min(lines.len());
            let shown: Vec<String> = lines[around]
                .iter()
                .map(|line| cut(line, MAX_LINE))
                .collect();
            found.matches.push(Match {
                path: path.to_owned(),
                line: at + 1,
                text: shown.join("\n"),
            });
        }
    }
    Ok(found)
}

fn pattern(args: &SearchArgs) -> Result<Regex, Error> {
    if args.pattern.is_empty() {
        return Err(refuse(
            "search for",
            "an empty pattern: it is in every line",
        ));
    }
    let text = if args.literal {
        regex::escape(&args.pattern)
    } else {
        args.pattern.clone()
    };
    RegexBuilder::new(&text)
        .case_insensitive(args.ignore_case)
        .size_limit(MAX_PATTERN)
        .build()
        .map_err(|why| {
            let subject = format!(
                "`{}`; for plain text set `literal`",
                cut(&args.pattern, 200)
            );
            refuse("search for", subject).with_source(why)
        })
}

/// A pattern of file names, or of paths if it holds a slash.
struct Glob {
    pattern: Regex,
    of_paths: bool,
}

impl Glob {
    fn matches(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        self.pattern
            .is_match(if self.of_paths { path } else { name })
    }
}

/// `*` and `?` within a name, `**/` for any folders, `{a,b}` for alternatives.
fn glob(text: &str) -> Result<Glob, Error> {
    let mut pattern = "^".to_owned();
    let mut rest = text.trim_start_matches("./");
    let mut open = 0;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("**/") {
            pattern.push_str("(?:.*/)?");
            rest = after;
            continue;
        }
        if let Some(after) = rest.strip_prefix("**") {
            pattern.push_str(".*");
            rest = after;
            continue;
        }
        match c {
            '*' => pattern.push_str("[^/]*"),
            '?' => pattern.push_str("[^/]"),
            '{' => {
                open += 1;
                pattern.push_str("(?:");
            }
            '}' if open > 0 => {
                open -= 1;
                pattern.push(')');
            }
            ',' if open > 0 => pattern.push('|'),
            c => pattern.push_str(&regex::escape(c.encode_utf8(&mut [0; 4]))),
        }
        rest = &rest[c.len_utf8()..];
    }
    pattern.push('$');
    let built = RegexBuilder::new(&pattern).size_limit(MAX_PATTERN).build();
    Ok(Glob {
        pattern: built.map_err(|why| {
            refuse("search in", format!("files like `{}`", cut(text, 200))).with_source(why)
        })?,
        of_paths: text.contains('/'),
    })
}

#[cfg(test)]
mod tests {
    use super::glob;

    #[test]
    fn globs() {
        for (text, path, matches) in [
            ("*.py", "a/b/c.py", true),
            ("*.py", "a.pyc", false),
            ("test_?.{py,rs}", "t/test_a.rs", true),
            ("test_?.{py,rs}", "t/test_ab.rs", false),
            ("src/**/*.rs", "src/a.rs", true),
            ("src/**/*.rs", "src/a/b/c.rs", true),
            ("src/*.rs", "src/a/c.rs", false),
            ("a+(b).c", "x/a+(b).c", true),
            ("**", "any", true),
        ] {
            assert_eq!(glob(text).unwrap().matches(path), matches, "{text} {path}");
        }
        assert!(glob("{a").is_err());
    }
}
