//! Faults that show only against the files.

use super::base::Base;
use super::fault::{PatchFault, PatchFaultKind as Kind};
use super::lines::{Content, Likeness, Side};
use super::scan::{Hunk, Line, Scan, Section, without_prefix};
use crate::git::GITLINK;
use std::collections::BTreeSet;

/// What each section meets in the tree.
pub(super) fn examine(scan: &Scan<'_>, base: &Base) -> Vec<PatchFault> {
    let mut faults = Vec::new();
    let mut touched: BTreeSet<String> = BTreeSet::new();
    for section in &scan.sections {
        let Some(target) = Target::of(scan, section) else {
            continue;
        };
        // What an earlier section left is not in the tree.
        let fresh = !touched.contains(&target.old) && !touched.contains(&target.new);
        if fresh {
            let mut check = Check {
                scan,
                section,
                base,
                target: &target,
                faults: Vec::new(),
            };
            check.run();
            faults.append(&mut check.faults);
        }
        touched.extend([target.old, target.new]);
    }
    faults
}

/// Which file a section means and what it does to it.
struct Target {
    old: String,
    new: String,
    creates: bool,
    binary: bool,
}

impl Target {
    fn of(scan: &Scan<'_>, section: &Section) -> Option<Self> {
        let mut target = Self {
            old: scan.path(section)?,
            new: scan.path(section)?,
            creates: section.old.is_some_and(|at| scan.name(at).is_none()),
            binary: false,
        };
        if let Some(name) = section.old.and_then(|at| scan.name(at)) {
            without_prefix(&name).clone_into(&mut target.old);
        }
        for at in &section.extended {
            let line = scan.lines[*at].lossy();
            let after = |start: &str| line.strip_prefix(start).map(str::to_owned);
            if let Some(path) = after("rename from ").or_else(|| after("copy from ")) {
                target.old = path;
            } else if let Some(path) = after("rename to ").or_else(|| after("copy to ")) {
                target.new = path;
            }
            target.creates |= line.starts_with("new file mode ");
            target.binary |=
                line.starts_with("GIT binary patch") || line.starts_with("Binary files ");
        }
        // Without `/dev/null` and modes: nothing before, and everything added.
        let from_nothing = section.hunks.len() == 1
            && section.hunks[0]
                .numbers
                .is_some_and(|numbers| numbers.old == (0, 0));
        target.creates |= section.git.is_none() && from_nothing;
        Some(target)
    }
}

struct Check<'a, 'b> {
    scan: &'a Scan<'b>,
    section: &'a Section,
    base: &'a Base,
    target: &'a Target,
    faults: Vec<PatchFault>,
}

impl Check<'_, '_> {
    fn add(&mut self, at: usize, kind: Kind, message: String, way_out: &str, breaks: bool) {
        let fault = PatchFault::new(kind, message, way_out)
            .at(at)
            .of(Some(self.target.old.clone()));
        self.faults
            .push(if breaks { fault.breaking() } else { fault });
    }

    fn run(&mut self) {
        let start = self.section.span.start;
        if self.is_beyond(start) {
            return;
        }
        let target = self.target;
        if target.creates {
            self.creation(start);
            return;
        }
        let Some(entry) = self.base.entry(&target.old) else {
            self.missing(start);
            return;
        };
        if entry.mode == GITLINK {
            return;
        }
        self.mode(entry.mode, start);
        if target.binary {
            let id = entry.oid.clone();
            self.binary(&id);
            return;
        }
        let Some(content) = self.base.content(&target.old) else {
            return;
        };
        let content = Content::of(content);
        for (place, hunk) in self.section.hunks.iter().enumerate() {
            self.hunk(place + 1, hunk, &content);
        }
    }

    /// Whether a part of the path is no folder.
    fn is_beyond(&mut self, start: usize) -> bool {
        let path = self.target.new.clone();
        for (at, _) in path.match_indices('/') {
            let Some(entry) = self.base.entry(&path[..at]) else {
                continue;
            };
            let prefix = &path[..at];
            if entry.mode == GITLINK {
                self.add(
                    start,
                    Kind::IsSubmodule,
                    format!("`{prefix}` is a submodule, whose files are not in this repository"),
                    "change the file in the submodule's own repository",
                    true,
                );
            } else if entry.mode == 0o120_000 {
                self.add(
                    start,
                    Kind::IsSymlink,
                    format!("`{prefix}` is a symbolic link, and git does not go through links"),
                    "name the file by the path that the link leads to",
                    true,
                );
            } else {
                self.add(
                    start,
                    Kind::FileExists,
                    format!("`{prefix}` is a file, so nothing can be below it"),
                    "choose another path",
                    true,
                );
            }
            return true;
        }
        false
    }

    fn creation(&mut self, start: usize) {
        let path = &self.target.new;
        if self.base.entry(path).is_some() {
            let added = self
                .section
                .hunks
                .first()
                .map(|hunk| Side::of(self.scan, hunk, false));
            let content = self.base.content(path).map(Content::of);
            let same = added.zip(content).is_some_and(|(added, content)| {
                added.lines.len() == content.lines.len()
                    && content.places(&added, Likeness::Same) == [0]
            });
            if same {
                self.add(
                    start,
                    Kind::AlreadyApplied,
                    "the patch makes this file, and it exists with the same lines".to_owned(),
                    "leave the section out",
                    true,
                );
                return;
            }
            self.add(
                start,
                Kind::FileExists,
                "the patch makes this file, but it exists".to_owned(),
                "make the patch as a change of the file, against the base commit",
                true,
            );
        } else if self.is_folder(path) {
            self.add(
                start,
                Kind::IsFolder,
                "the patch makes a file where a folder is".to_owned(),
                "choose another path",
                true,
            );
        }
    }

    fn is_folder(&self, path: &str) -> bool {
        let below = format!("{path}/");
        self.base
            .entries
            .range(below.as_bytes().to_vec()..)
            .next()
            .is_some_and(|(next, _)| next.starts_with(below.as_bytes()))
    }

    fn missing(&mut self, start: usize) {
        let path = self.target.old.clone();
        if self.is_folder(&path) {
            self.add(
                start,
                Kind::IsFolder,
                "the patch changes a file where a folder is".to_owned(),
                "name a file",
                true,
            );
            return;
        }
        let way_out = match nearest(&path, self.base.entries.keys()) {
            Some(near) => format!("the nearest path is `{near}`"),
            None => "no file of that name is in the tree; make it as a new file, or check the base commit".to_owned(),
        };
        let message = "the file does not exist at the base commit".to_owned();
        self.add(start, Kind::FileMissing, message, &way_out, true);
    }

    fn mode(&mut self, mode: u32, start: usize) {
        let named = self.section.extended.iter().find_map(|at| {
            let line = self.scan.lines[*at].lossy();
            let mode = line
                .strip_prefix("old mode ")
                .or_else(|| line.strip_prefix("deleted file mode "))
                .or_else(|| line.strip_prefix("index ")?.split(' ').nth(1))?;
            Some((*at, u32::from_str_radix(mode.trim(), 8).ok()?))
        });
        let link = mode == 0o120_000;
        match named {
            Some((at, named)) if named != mode => {
                let message = format!("the file has mode {mode:06o}, the patch says {named:06o}");
                let kind = if link {
                    Kind::IsSymlink
                } else {
                    Kind::ModeDiffers
                };
                let other_type = (named & 0o170_000) != (mode & 0o170_000);
                self.add(
                    at,
                    kind,
                    message,
                    "make the patch against the base commit",
                    other_type,
                );
            }
            None if link && !self.section.hunks.is_empty() => self.add(
                start,
                Kind::IsSymlink,
                "the file is a symbolic link, whose content is only the path it leads to"
                    .to_owned(),
                "change the file that the link leads to",
                true,
            ),
            _ => {}
        }
    }

    fn binary(&mut self, id: &str) {
        let index = self.section.extended.iter().find_map(|at| {
            let line = self.scan.lines[*at].lossy();
            let ids = line.strip_prefix("index ")?.split("..").next()?.to_owned();
            Some((*at, ids))
        });
        if let Some((at, old)) = index
            && !old.is_empty()
            && !id.starts_with(&old)
        {
            self.add(
                at,
                Kind::BinaryBaseDiffers,
                format!(
                    "the binary content is made for `{old}`, the file is `{}`",
                    &id[..old.len().min(id.len())]
                ),
                "make the patch against the base commit",
                true,
            );
        }
    }

    fn hunk(&mut self, number: usize, hunk: &Hunk, content: &Content<'_>) {
        let old = Side::of(self.scan, hunk, true);
        let named = hunk.numbers.map(|numbers| {
            let start = usize::try_from(numbers.old.0).unwrap_or(usize::MAX);
            if numbers.old.1 == 0 {
                start
            } else {
                start.saturating_sub(1)
            }
        });
        let places = content.places(&old, Likeness::Same);
        if old.lines.is_empty() || named.is_some_and(|named| places.contains(&named)) {
            return;
        }
        let header = hunk.header;
        let line_of = |place: usize| place + 1;
        match places.as_slice() {
            [] => {}
            [place] => {
                let message = match named {
                    Some(named) => format!(
                        "hunk {number}: its lines are at line {}, not {}",
                        line_of(*place),
                        line_of(named)
                    ),
                    None => format!("hunk {number}: its lines are at line {}", line_of(*place)),
                };
                let way_out = "git finds the place by itself where the header can be read";
                self.add(header, Kind::ContextElsewhere, message, way_out, false);
                return;
            }
            several => {
                let mut list: Vec<String> =
                    several.iter().map(|at| line_of(*at).to_string()).collect();
                list.truncate(5);
                let message = format!(
                    "hunk {number}: its lines are at {} places, none of them the named one: lines {}",
                    several.len(),
                    list.join(", ")
                );
                let way_out =
                    "git takes the nearest; give more context lines and the right line number";
                self.add(header, Kind::ContextAmbiguous, message, way_out, false);
                return;
            }
        }
        let new = Side::of(self.scan, hunk, false);
        let there = content.places(&new, Likeness::Same);
        if let Some(place) = there.first() {
            let adds = new
                .lines
                .iter()
                .any(|(at, _)| self.scan.lines[*at].starts("+"));
            // A removal leaves lines that say little: they must be where they are expected.
            if adds || named.is_some_and(|named| named.abs_diff(*place) <= 3) {
                let message = format!(
                    "hunk {number}: the file has the new lines already, at line {}",
                    line_of(*place)
                );
                self.add(
                    header,
                    Kind::AlreadyApplied,
                    message,
                    "leave the hunk out",
                    true,
                );
                return;
            }
        }
        self.nearly(number, hunk, &old, content, named);
    }

    fn nearly(
        &mut self,
        number: usize,
        hunk: &Hunk,
        old: &Side<'_>,
        content: &Content<'_>,
        named: Option<usize>,
    ) {
        let cases = [
            (
                Likeness::Ends,
                Kind::LineEndsDiffer,
                "only the line ends differ",
                "write the hunk's lines with the line ends of the file",
            ),
            (
                Likeness::Tabs,
                Kind::TabsDiffer,
                "only tabs and spaces differ",
                "write tabs where the file has tabs, spaces where it has spaces",
            ),
            (
                Likeness::Space,
                Kind::WhitespaceDiffers,
                "only white space differs",
                "copy the context from the file; `git apply --ignore-whitespace` takes it",
            ),
        ];
        for (likeness, kind, what, way_out) in cases {
            let Some(place) = content.places(old, likeness).first().copied() else {
                continue;
            };
            let differs = first_difference(old, content, place);
            let at = differs.map_or(hunk.header, |(at, ..)| at);
            let message = match differs {
                Some((_, line, expected, found)) if likeness != Likeness::Ends => format!(
                    "hunk {number}: {what} from the file's lines at {}: expected {}, found {} at line {}",
                    place + 1,
                    shown(expected),
                    found.map_or("nothing".to_owned(), shown),
                    line + 1
                ),
                Some((_, _, expected, _)) => format!(
                    "hunk {number}: {what}: the patch has {}, the file {}",
                    if expected.cr { "CR LF" } else { "LF" },
                    if expected.cr { "LF" } else { "CR LF" },
                ),
                None => format!("hunk {number}: {what}"),
            };
            self.add(at, kind, message, way_out, true);
            return;
        }
        let place = content.best(old, named.unwrap_or(0));
        let differs = place.and_then(|place| first_difference(old, content, place));
        let (at, message) = match differs {
            Some((at, line, expected, Some(found))) => (
                at,
                format!(
                    "hunk {number}: expected {}, found {} at line {}",
                    shown(expected),
                    shown(found),
                    line + 1
                ),
            ),
            Some((at, line, expected, None)) => (
                at,
                format!(
                    "hunk {number}: expected {}, but the file ends at line {line}",
                    shown(expected)
                ),
            ),
            None => (
                hunk.header,
                format!("hunk {number}: its lines are not in the file"),
            ),
        };
        let way_out = "copy the context from the file as it is at the base commit";
        self.add(at, Kind::ContextDiffers, message, way_out, true);
    }
}

/// The first line of a hunk that the file does not have: its place in the patch, the place in the
/// file, and both lines.
type Difference<'a> = (usize, usize, Line<'a>, Option<Line<'a>>);

fn first_difference<'a>(
    old: &Side<'a>,
    content: &Content<'a>,
    place: usize,
) -> Option<Difference<'a>> {
    old.lines
        .iter()
        .enumerate()
        .find_map(|(offset, (at, expected))| {
            let found = content.lines.get(place + offset).copied();
            let same =
                found.is_some_and(|found| found.text == expected.text && found.cr == expected.cr);
            (!same).then_some((*at, place + offset, *expected, found))
        })
}

/// A line for people: tabs and other invisible characters are seen.
fn shown(line: Line<'_>) -> String {
    const MOST: usize = 80;
    let text = line.lossy();
    let mut short: String = text.chars().take(MOST).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    format!("{short:?}")
}

/// The path that was probably meant: the same name in the folder that has most in common, a longer
/// path that ends so, or the same letters in another case.
fn nearest<'a>(path: &str, paths: impl Iterator<Item = &'a Vec<u8>>) -> Option<String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let wanted: BTreeSet<&str> = path.split('/').collect();
    paths
        .filter_map(|candidate| std::str::from_utf8(candidate).ok())
        .filter_map(|candidate| {
            let other = candidate.rsplit('/').next()?;
            let closeness = if other == name {
                2
            } else if other.eq_ignore_ascii_case(name) {
                1
            } else {
                return None;
            };
            let shared = candidate
                .split('/')
                .filter(|part| wanted.contains(part))
                .count();
            let whole = path.ends_with(&format!("/{candidate}"))
                || candidate.ends_with(&format!("/{path}"));
            let extra = candidate.matches('/').count();
            Some((
                whole,
                closeness,
                shared,
                std::cmp::Reverse(extra),
                std::cmp::Reverse(candidate),
            ))
        })
        .max()
        .map(|(.., candidate)| candidate.0.to_owned())
}
