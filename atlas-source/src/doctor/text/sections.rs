//! Headers: which file, and what becomes of it.

use crate::doctor::fault::{PatchFault, PatchFaultKind as Kind};
use crate::doctor::scan::{Scan, Section, without_prefix};
use std::collections::BTreeMap;

pub(super) fn examine(scan: &Scan<'_>, faults: &mut Vec<PatchFault>) {
    let mut seen: BTreeMap<String, (usize, bool)> = BTreeMap::new();
    for section in &scan.sections {
        let mut check = Check::new(scan, section);
        check.headers();
        check.names();
        check.extended();
        check.links();
        check.nested();
        check.repeated(&mut seen);
        faults.append(&mut check.faults);
    }
    let plain = scan
        .sections
        .iter()
        .find(|section| section.git.is_none() && section.new.is_some());
    if let Some(section) = plain {
        faults.push(
            PatchFault::new(
                Kind::NoDiffGit,
                "there is no `diff --git` line, so modes and moves cannot be told",
                "git takes it; `git diff` writes the line",
            )
            .at(section.span.start),
        );
    }
}

struct Check<'a, 'b> {
    scan: &'a Scan<'b>,
    section: &'a Section,
    file: Option<String>,
    /// The lines between `diff --git` and the first hunk.
    extended: Vec<(usize, String)>,
    faults: Vec<PatchFault>,
}

impl<'a, 'b> Check<'a, 'b> {
    fn new(scan: &'a Scan<'b>, section: &'a Section) -> Self {
        let extended = section.extended.iter();
        Self {
            scan,
            section,
            file: scan.path(section),
            extended: extended.map(|at| (*at, scan.lines[*at].lossy())).collect(),
            faults: Vec::new(),
        }
    }

    fn add(
        &mut self,
        at: usize,
        kind: Kind,
        message: impl Into<String>,
        way_out: &str,
        breaks: bool,
    ) {
        let fault = PatchFault::new(kind, message, way_out)
            .at(at)
            .of(self.file.clone());
        self.faults
            .push(if breaks { fault.breaking() } else { fault });
    }

    fn header(&self, start: &str) -> Option<(usize, String)> {
        self.extended.iter().find_map(|(at, line)| {
            let rest = line.strip_prefix(start)?;
            Some((*at, rest.to_owned()))
        })
    }

    /// Whether the headers make the file anew, by any of the ways to say so.
    fn creates(&self) -> bool {
        self.header("new file mode ").is_some()
            || self
                .section
                .old
                .is_some_and(|at| self.scan.name(at).is_none())
    }

    fn headers(&mut self) {
        let section = self.section;
        let start = section.span.start;
        let no_names = section.old.is_none() && section.new.is_none();
        if section.git.is_none() && no_names {
            self.add(
                start,
                Kind::NoFileHeader,
                "a hunk without `---` and `+++` lines: it names no file",
                "write `--- a/PATH` and `+++ b/PATH` before the first hunk of a file",
                true,
            );
        } else if section.old.is_some() != section.new.is_some() {
            self.add(
                section.old.or(section.new).unwrap_or(start),
                Kind::HalfFileHeader,
                "of the two lines `---` and `+++` only one is there",
                "write both, `---` first",
                true,
            );
        } else if no_names && !section.hunks.is_empty() {
            self.add(
                start,
                Kind::NoNameLines,
                "`diff --git` without `---` and `+++` lines before the hunks",
                "write `--- a/PATH` and `+++ b/PATH` before the first hunk",
                true,
            );
        }
        let says_something = [
            "old mode ",
            "new mode ",
            "new file mode ",
            "deleted file mode ",
            "rename ",
            "copy ",
            "Binary files ",
            "GIT binary patch",
        ];
        let silent = !self
            .extended
            .iter()
            .any(|(_, line)| says_something.iter().any(|word| line.starts_with(word)));
        if section.hunks.is_empty() && silent {
            self.add(
                start,
                Kind::EmptySection,
                "the section of this file has no change in it",
                "leave the section out, or write its hunks",
                true,
            );
        }
    }

    fn names(&mut self) {
        let section = self.section;
        let (old, new) = (section.old, section.new);
        let name = |at: Option<usize>| at.and_then(|at| self.scan.name(at).map(|name| (at, name)));
        let named: Vec<(usize, String)> = [name(old), name(new)].into_iter().flatten().collect();
        let git = section.git.map(|at| {
            let line = self.scan.lines[at].lossy();
            (at, line["diff --git ".len()..].to_owned())
        });
        // `a` and `b`, and the letters of `diff.mnemonicPrefix`.
        let prefixed = |name: &str| {
            let name = name.trim_start_matches('"').as_bytes();
            matches!(name, [b'a' | b'b' | b'c' | b'i' | b'o' | b'w', b'/', ..])
        };
        let git_prefixed = git.as_ref().is_none_or(|(_, names)| prefixed(names));
        let bare = named
            .iter()
            .find(|(_, name)| !prefixed(name) && !name.starts_with("./"));
        if !git_prefixed || (git.is_none() && bare.is_some()) {
            let at = bare.map_or(section.span.start, |(at, _)| *at);
            let deep = bare.is_some_and(|(_, name)| name.contains('/'));
            self.add(
                at,
                Kind::NoPathPrefix,
                "the paths lack `a/` and `b/`; with `-p1` their first folder is cut off instead",
                "write `a/PATH` and `b/PATH`, or make the patch without `--no-prefix`",
                deep || git.is_some(),
            );
        }
        for (at, name) in &named {
            self.place(*at, name);
        }
        if let (true, Some((at, names))) = (named.is_empty(), &git) {
            let new = names.rsplit(' ').next().unwrap_or_default().to_owned();
            self.place(*at, &new);
        }
        self.agreement(&named, git.as_ref());
    }

    /// Paths that no repository may have.
    fn place(&mut self, at: usize, name: &str) {
        let path = without_prefix(name);
        let drive =
            path.as_bytes().get(1..3) == Some(b":\\") || path.as_bytes().get(1..3) == Some(b":/");
        let (kind, message) = if path.starts_with('/') || drive {
            (Kind::AbsolutePath, "the path is absolute")
        } else if path.split(['/', '\\']).any(|part| part == "..") {
            (Kind::ParentPath, "the path climbs out with `..`")
        } else if path
            .split(['/', '\\'])
            .any(|part| part.eq_ignore_ascii_case(".git"))
        {
            (Kind::GitFolder, "the path lies in `.git`")
        } else {
            return;
        };
        self.add(
            at,
            kind,
            format!("{message}: `{name}`"),
            "write the path from the root of the repository",
            true,
        );
    }

    fn agreement(&mut self, named: &[(usize, String)], git: Option<&(usize, String)>) {
        let section = self.section;
        let moves = self.header("rename ").is_some() || self.header("copy ").is_some();
        if let [(_, old), (at, new)] = named
            && without_prefix(old) != without_prefix(new)
            && !moves
        {
            let message = format!("the headers name two files, `{old}` and `{new}`");
            self.add(
                *at,
                Kind::HeadersDisagree,
                message,
                "name one file, or say `rename from` and `rename to`",
                false,
            );
        } else if let (Some((at, names)), Some((_, new)), false) = (git, named.last(), moves)
            && !names.contains('"')
            && !names.trim_end().ends_with(without_prefix(new))
        {
            let message = format!("`diff --git` names other files than the lines below: `{names}`");
            self.add(
                *at,
                Kind::HeadersDisagree,
                message,
                "name one file in all headers",
                false,
            );
        }
        if git.is_none() {
            return;
        }
        let null = |at: Option<usize>| at.is_some_and(|at| self.scan.name(at).is_none());
        let (old_null, new_null) = (null(section.old), null(section.new));
        let made = self.header("new file mode ");
        let gone = self.header("deleted file mode ");
        let message = if old_null && made.is_none() {
            "`--- /dev/null` without a `new file mode` line"
        } else if new_null && gone.is_none() {
            "`+++ /dev/null` without a `deleted file mode` line: git takes it for a file of that name"
        } else if made.is_some() && section.old.is_some() && !old_null {
            "`new file mode`, but the `---` line names a file"
        } else if gone.is_some() && section.new.is_some() && !new_null {
            "`deleted file mode`, but the `+++` line names a file"
        } else {
            return;
        };
        let way_out = "write `new file mode 100644` with `--- /dev/null` for a new file, `deleted file mode 100644` with `+++ /dev/null` for a removed one";
        self.add(
            section.span.start,
            Kind::UndeclaredCreation,
            message,
            way_out,
            true,
        );
    }

    fn extended(&mut self) {
        if let Some((at, _)) = self.header("Binary files ") {
            self.add(
                at,
                Kind::BinaryWithoutData,
                "a binary file changes and its content is not in the patch",
                "make the patch with `git diff --binary`, or leave the file out",
                true,
            );
        }
        if let Some((at, _)) = self.header("GIT binary patch") {
            self.binary(at);
        }
        if let (Some((at, old)), Some((_, new))) =
            (self.header("old mode "), self.header("new mode "))
        {
            let message = format!("the mode changes from {old} to {new}");
            self.add(
                at,
                Kind::ModeChange,
                message,
                "leave it out if it is not meant",
                false,
            );
        }
        if let Some((at, _)) = self.header("rename from ")
            && self.section.hunks.is_empty()
        {
            self.add(
                at,
                Kind::RenameOnly,
                "the file moves and stays as it is",
                "nothing, if that is meant",
                false,
            );
        }
        let output = self.file.as_deref().is_some_and(is_output);
        if output && self.creates() {
            self.add(
                self.section.span.start,
                Kind::BuildOutput,
                "the file looks like one that a build or a tool makes",
                "keep it out of the patch: such a file may exist already where the patch is applied",
                false,
            );
        }
    }

    /// The form of `literal` and `delta` blocks; what is packed in them is not looked at.
    fn binary(&mut self, start: usize) {
        let index = self.header("index ");
        let full = index.as_ref().is_some_and(|(_, ids)| {
            let ids = ids.split(' ').next().unwrap_or_default();
            ids.split("..").all(|id| matches!(id.len(), 40 | 64)) && ids.contains("..")
        });
        if !full {
            self.add(
                index.map_or(start, |(at, _)| at),
                Kind::BinaryBroken,
                "binary content needs an `index` line with both ids in full",
                "make the patch with `git diff --binary`",
                true,
            );
        }
        let lines: Vec<(usize, &str)> = self
            .extended
            .iter()
            .skip_while(|(at, _)| *at <= start)
            .map(|(at, line)| (*at, line.as_str()))
            .collect();
        if let Some((at, message)) = broken_binary(&lines, start) {
            self.add(
                at,
                Kind::BinaryBroken,
                message,
                "make the patch with `git diff --binary` and keep its last, blank line",
                true,
            );
        }
    }

    fn links(&mut self) {
        let mode = |mode: &str| {
            self.extended
                .iter()
                .find(|(_, line)| line.ends_with(mode))
                .map(|(at, _)| *at)
        };
        let (link, module) = (mode(" 120000"), mode(" 160000"));
        if let Some(at) = module {
            self.add(
                at,
                Kind::Submodule,
                "a submodule moves to another commit",
                "its content is not in the patch; leave it out if it is not meant",
                false,
            );
        }
        let Some(at) = link else { return };
        let target = self.section.hunks.iter().find_map(|hunk| {
            let mut lines = hunk.body.clone().map(|at| self.scan.lines[at].lossy());
            lines.find_map(|line| line.strip_prefix('+').map(str::to_owned))
        });
        let file = self.file.clone().unwrap_or_default();
        match target {
            Some(target) if leads_out(&file, &target) => self.add(
                at,
                Kind::SymlinkOutside,
                format!("a symbolic link to `{target}`, outside the repository"),
                "link inside the repository, or leave it out",
                false,
            ),
            _ => self.add(
                at,
                Kind::Symlink,
                "a symbolic link is made, changed or removed",
                "leave it out if it is not meant",
                false,
            ),
        }
    }

    fn nested(&mut self) {
        let inner = self.section.hunks.iter().find_map(|hunk| {
            let mut lines = hunk.body.clone();
            lines.find(|at| {
                let line = self.scan.lines[*at];
                line.starts("+diff --git ") || line.starts("+@@ -")
            })
        });
        if let Some(at) = inner {
            self.add(
                at,
                Kind::NestedPatch,
                "the patch adds lines of a patch",
                "if the model saved its own patch to a file, leave that file out",
                false,
            );
        }
    }

    fn repeated(&mut self, seen: &mut BTreeMap<String, (usize, bool)>) {
        let Some(file) = self.file.clone() else {
            return;
        };
        let start = self.section.span.start;
        let creates = self.creates();
        match seen.get(&file).copied() {
            Some((first, made)) => {
                let twice = creates && made;
                let mut message = format!("the file has a section at line {} already", first + 1);
                if twice {
                    message.push_str("; both make it, and git keeps only the last one");
                }
                let way_out = "put all hunks of a file into one section";
                self.add(start, Kind::DuplicateSection, message, way_out, twice);
            }
            None => {
                seen.insert(file, (start, creates));
            }
        }
    }
}

/// The first line at which binary content goes wrong.
fn broken_binary(lines: &[(usize, &str)], start: usize) -> Option<(usize, &'static str)> {
    let mut blocks = 0;
    let mut rest = lines.iter().peekable();
    while let Some((at, line)) = rest.next() {
        if line.is_empty() && blocks > 0 {
            continue;
        }
        let size = line
            .strip_prefix("literal ")
            .or_else(|| line.strip_prefix("delta "));
        if size.is_none_or(|size| size.parse::<u64>().is_err()) {
            return (blocks == 0).then_some((*at, "`literal` or `delta` and a size expected"));
        }
        blocks += 1;
        let mut last = *at;
        loop {
            let Some((at, line)) = rest.next() else {
                return Some((last, "the content ends without a blank line behind it"));
            };
            if line.is_empty() {
                break;
            }
            if !is_data(line) {
                return Some((
                    *at,
                    "a line of the content has a wrong length or a character that is not base 85",
                ));
            }
            last = *at;
        }
    }
    (blocks == 0).then_some((start, "there is no content behind `GIT binary patch`"))
}

/// One line of base 85: a letter for the length, then five characters for every four bytes.
fn is_data(line: &str) -> bool {
    let Some((&first, data)) = line.as_bytes().split_first() else {
        return false;
    };
    let length = match first {
        b'A'..=b'Z' => usize::from(first - b'A') + 1,
        b'a'..=b'z' => usize::from(first - b'a') + 27,
        _ => return false,
    };
    data.len() == length.div_ceil(4) * 5
        && data
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&()*+-;<=>?@^_`{|}~".contains(byte))
}

/// Whether a link at this path leads out of the repository.
fn leads_out(path: &str, target: &str) -> bool {
    if target.starts_with('/') {
        return true;
    }
    let mut depth = path.matches('/').count();
    for part in target.split('/') {
        match part {
            ".." if depth == 0 => return true,
            ".." => depth -= 1,
            "" | "." => {}
            _ => depth += 1,
        }
    }
    false
}

/// Files that nobody writes by hand.
fn is_output(path: &str) -> bool {
    let mut parts = path.split('/');
    let name = parts.next_back().unwrap_or_default();
    let folder = parts.any(|part| {
        matches!(
            part,
            "__pycache__"
                | "node_modules"
                | "build"
                | "dist"
                | ".pytest_cache"
                | ".tox"
                | ".venv"
                | ".mypy_cache"
        ) || part.ends_with(".egg-info")
    });
    let ends = [
        ".pyc", ".pyo", ".class", ".o", ".so", ".rej", ".orig", ".log", ".swp",
    ];
    folder || ends.iter().any(|end| name.ends_with(end))
}
