//! Repairs of headers and line ends.

use super::{Edits, has_crlf, whole};
use crate::doctor::base::Base;
use crate::doctor::scan::{Scan, Section};

/// CR LF or LF, as the file of each section has it; LF in headers. A new file keeps what the patch
/// says, unless all hunks have CR LF and the files that the patch changes have not.
pub(super) fn line_ends(bytes: &[u8], base: &Base) -> Option<Vec<u8>> {
    let scan = Scan::of(bytes);
    let mut edits = Edits::default();
    let mut in_body = vec![false; scan.lines.len()];
    let everywhere = scan
        .sections
        .iter()
        .flat_map(|section| section.hunks.iter().flat_map(|hunk| hunk.body.clone()))
        .all(|at| scan.lines[at].cr || !scan.lines[at].newline);
    let known: Vec<Option<bool>> = scan
        .sections
        .iter()
        .map(|section| has_crlf(base.content(&old_path(&scan, section)?)?))
        .collect();
    let transport = everywhere && known.contains(&Some(false)) && !known.contains(&Some(true));
    for (section, crlf) in scan.sections.iter().zip(known) {
        for at in section.hunks.iter().flat_map(|hunk| hunk.body.clone()) {
            in_body[at] = true;
            let line = scan.lines[at];
            if line.starts("\\") {
                in_body[at] = false;
                continue;
            }
            let wanted = match crlf {
                Some(crlf) => crlf,
                None if transport => false,
                None => continue,
            };
            if line.newline && line.cr != wanted {
                edits.set(at, ended(line.text, wanted));
            }
        }
    }
    for (at, line) in scan.lines.iter().enumerate() {
        if line.cr && line.newline && !in_body[at] {
            edits.set(at, ended(line.text, false));
        }
    }
    edits.apply(bytes)
}

fn ended(text: &[u8], crlf: bool) -> Vec<u8> {
    let mut line = text.to_vec();
    line.extend_from_slice(if crlf { b"\r\n" } else { b"\n" });
    line
}

/// The path before the patch, with or without prefix as the tree has it.
pub(super) fn old_path(scan: &Scan<'_>, section: &Section) -> Option<String> {
    let renamed = section.extended.iter().find_map(|at| {
        let line = scan.lines[*at].lossy();
        line.strip_prefix("rename from ").map(str::to_owned)
    });
    renamed.or_else(|| scan.path(section))
}

/// Binary content ends with a blank line, which goes where a patch is stripped.
pub(super) fn binary_end(bytes: &[u8]) -> Option<Vec<u8>> {
    let scan = Scan::of(bytes);
    let last = scan.sections.last()?;
    let at = *last.extended.last()?;
    let binary = last
        .extended
        .iter()
        .any(|at| scan.lines[*at].starts("GIT binary patch"));
    let open = binary && at + 1 == scan.lines.len() && !scan.lines[at].is_blank();
    open.then(|| [bytes, b"\n"].concat())
}

/// Spaces behind the paths of `---` and `+++` lines.
pub(super) fn trimmed_names(bytes: &[u8]) -> Option<Vec<u8>> {
    let scan = Scan::of(bytes);
    let mut edits = Edits::default();
    for section in &scan.sections {
        for at in [section.git, section.old, section.new]
            .into_iter()
            .flatten()
        {
            let text = scan.lines[at].text;
            if text.ends_with(b" ") {
                edits.set(at, ended(text.trim_ascii_end(), false));
            }
        }
    }
    edits.apply(bytes)
}

/// `a/` and `b/` where all paths of a section lack them and the tree shows that they do: with the
/// first folder cut off there is no such file, as written there is, or its folder is there.
pub(super) fn prefixes(bytes: &[u8], base: &Base) -> Option<Vec<u8>> {
    let scan = Scan::of(bytes);
    let mut edits = Edits::default();
    for section in &scan.sections {
        let name = |at: Option<usize>| at.and_then(|at| scan.name(at));
        let (old, new) = (name(section.old), name(section.new));
        let git = section.git.and_then(|at| {
            let line = scan.lines[at].lossy();
            let names = line.strip_prefix("diff --git ")?.to_owned();
            let middle = names.len() / 2;
            let same = names.get(..middle)? == names.get(middle + 1..)?;
            (same && names.as_bytes()[middle] == b' ').then(|| names[..middle].to_owned())
        });
        let Some(path) = new.as_ref().or(old.as_ref()).or(git.as_ref()) else {
            continue;
        };
        let cut = path.split_once('/').map(|(_, rest)| rest);
        let here = |path: &str| {
            base.entry(path).is_some()
                || path
                    .rsplit_once('/')
                    .is_some_and(|(folder, _)| has_folder(base, folder))
        };
        let creates = old.is_none() && section.old.is_some();
        let named = base.entry(path).is_some() || (creates && (cut.is_none() || here(path)));
        let otherwise = cut.is_some_and(|cut| {
            base.entry(cut).is_some() || (matches!(path.get(..2), Some("a/" | "b/")) && !named)
        });
        if !named || otherwise || path.starts_with(['/', '"']) {
            continue;
        }
        if let (Some(at), Some(path)) = (section.git, &git) {
            edits.set(at, format!("diff --git a/{path} b/{path}\n"));
        }
        for (at, name, mark, side) in [
            (section.old, &old, "---", "a"),
            (section.new, &new, "+++", "b"),
        ] {
            if let (Some(at), Some(name)) = (at, name) {
                let rest = scan.lines[at].lossy();
                let rest = rest.get(4 + name.len()..).unwrap_or_default().to_owned();
                edits.set(at, format!("{mark} {side}/{name}{rest}\n"));
            }
        }
    }
    edits.apply(bytes)
}

fn has_folder(base: &Base, folder: &str) -> bool {
    let below = format!("{folder}/").into_bytes();
    base.entries
        .range(below.clone()..)
        .next()
        .is_some_and(|(next, _)| next.starts_with(&below))
}

/// `---` and `+++` lines from the `diff --git` line.
pub(super) fn name_lines(bytes: &[u8]) -> Option<Vec<u8>> {
    let scan = Scan::of(bytes);
    let lines = whole(bytes);
    let mut edits = Edits::default();
    for section in &scan.sections {
        let (Some(git), None, None, Some(first)) =
            (section.git, section.old, section.new, section.hunks.first())
        else {
            continue;
        };
        let line = scan.lines[git].lossy();
        let names = line.strip_prefix("diff --git ").unwrap_or_default();
        let middle = names.len() / 2;
        let (Some(old), Some(new)) = (names.get(..middle), names.get(middle + 1..)) else {
            continue;
        };
        if old.strip_prefix("a/") != new.strip_prefix("b/") || !old.starts_with("a/") {
            continue;
        }
        let says = |start: &str| {
            section
                .extended
                .iter()
                .any(|at| scan.lines[*at].starts(start))
        };
        let old = if says("new file mode ") {
            "/dev/null"
        } else {
            old
        };
        let new = if says("deleted file mode ") {
            "/dev/null"
        } else {
            new
        };
        let mut text = format!("--- {old}\n+++ {new}\n").into_bytes();
        text.extend_from_slice(lines[first.header]);
        edits.set(first.header, text);
    }
    edits.apply(bytes)
}

/// `new file mode` and `deleted file mode` lines where `/dev/null` says so already.
pub(super) fn declarations(bytes: &[u8], base: &Base) -> Option<Vec<u8>> {
    let scan = Scan::of(bytes);
    let lines = whole(bytes);
    let mut edits = Edits::default();
    for section in &scan.sections {
        let (Some(git), Some(old), Some(new)) = (section.git, section.old, section.new) else {
            continue;
        };
        let says = |start: &str| {
            section
                .extended
                .iter()
                .any(|at| scan.lines[*at].starts(start))
        };
        let (from, to) = (scan.name(old), scan.name(new));
        let line = match (&from, &to) {
            (None, Some(_)) if !says("new file mode ") => "new file mode 100644\n".to_owned(),
            (Some(name), None) if !says("deleted file mode ") => {
                let path = name.strip_prefix("a/").unwrap_or(name);
                let mode = base.entry(path).map_or(0o100_644, |side| side.mode);
                format!("deleted file mode {mode:06o}\n")
            }
            (Some(_), Some(_)) if says("new file mode ") => {
                edits.set(old, "--- /dev/null\n");
                continue;
            }
            _ => continue,
        };
        let mut text = lines[git].to_vec();
        text.extend_from_slice(line.as_bytes());
        edits.set(git, text);
    }
    edits.apply(bytes)
}
