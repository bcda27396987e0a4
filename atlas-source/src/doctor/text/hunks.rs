//! Hunks: their headers, their lines and how they stand to each other.

use crate::doctor::fault::{PatchFault, PatchFaultKind as Kind};
use crate::doctor::scan::{Hunk, Scan, Section};

pub(super) fn examine(scan: &Scan<'_>, faults: &mut Vec<PatchFault>) {
    let end = scan
        .lines
        .iter()
        .rposition(|line| !line.is_blank())
        .map_or(0, |last| last + 1);
    for section in &scan.sections {
        let file = scan.path(section);
        for (place, hunk) in section.hunks.iter().enumerate() {
            let mut check = Check {
                scan,
                hunk,
                number: place + 1,
                found: Vec::new(),
            };
            // Nothing but blank lines and a closing fence behind it.
            let last = hunk.body.end >= end
                || (hunk.body.end..end).all(|at| {
                    let line = scan.lines[at];
                    line.is_blank() || line.starts("```")
                });
            check.header(last);
            check.columns();
            check.changes(section);
            check.no_newline();
            if let Some(before) = place.checked_sub(1) {
                check.order(&section.hunks[before]);
            }
            let found = check.found.into_iter();
            faults.extend(found.map(|fault| fault.of(file.clone())));
        }
    }
}

struct Check<'a, 'b> {
    scan: &'a Scan<'b>,
    hunk: &'a Hunk,
    /// From 1, within the file.
    number: usize,
    found: Vec<PatchFault>,
}

impl<'a, 'b> Check<'a, 'b> {
    fn add(
        &mut self,
        at: usize,
        kind: Kind,
        message: impl Into<String>,
        way_out: &str,
        breaks: bool,
    ) {
        let fault = PatchFault::new(kind, message, way_out).at(at);
        self.found
            .push(if breaks { fault.breaking() } else { fault });
    }

    fn lines(&self) -> impl Iterator<Item = (usize, &'a [u8])> + use<'a, 'b> {
        let scan = self.scan;
        let body = self.hunk.body.clone();
        body.map(|at| (at, scan.lines[at].text))
    }

    fn header(&mut self, last: bool) {
        let (hunk, number) = (self.hunk, self.number);
        let Some(numbers) = hunk.numbers else {
            let line = self.scan.lines[hunk.header].lossy();
            self.add(
                hunk.header,
                Kind::HunkHeader,
                format!("hunk {number}: `{}` is no hunk header", line.trim_end()),
                "write `@@ -OLD_START,OLD_COUNT +NEW_START,NEW_COUNT @@` with the line numbers of the file",
                true,
            );
            return;
        };
        if hunk.counts_fit() {
            return;
        }
        let (old, new) = hunk.found;
        let message = format!(
            "hunk {number}: the header counts {} old and {} new lines, {old} and {new} are there",
            numbers.old.1, numbers.new.1
        );
        let short = old < numbers.old.1 || new < numbers.new.1;
        if last && short {
            self.add(
                hunk.header,
                Kind::Truncated,
                format!("{message}; the patch may have been cut off"),
                "make the patch again; if it is complete, correct the counts (`git apply --recount`)",
                true,
            );
        } else {
            let message = if short {
                message
            } else {
                format!("{message}; git leaves out what is beyond the counts, or stops")
            };
            self.add(
                hunk.header,
                Kind::HunkCounts,
                message,
                "correct the counts (`git apply --recount`)",
                true,
            );
        }
    }

    fn columns(&mut self) {
        let number = self.number;
        if let Some(first) = self.hunk.bare.first() {
            let count = self.hunk.bare.len();
            self.add(
                *first,
                Kind::ColumnLost,
                format!(
                    "hunk {number}: {count} lines begin with none of ` `, `+`, `-`, this one first"
                ),
                "begin every context line with one more space",
                true,
            );
        }
        let blank = self.lines().find(|(_, line)| line.is_empty());
        if let Some((at, _)) = blank {
            self.add(
                at,
                Kind::BlankContext,
                format!("hunk {number}: a blank context line has lost its space"),
                "git takes it; do not trim line ends",
                false,
            );
        }
        let placeholder = self
            .lines()
            .find(|(_, line)| !line.starts_with(b"-") && is_placeholder(line));
        if let Some((at, _)) = placeholder {
            self.add(
                at,
                Kind::Placeholder,
                format!("hunk {number}: this line seems to stand for lines that were left out"),
                "write all lines of the hunk, or end the hunk before them and begin another",
                false,
            );
        }
        let conflict = self
            .lines()
            .find(|(_, line)| line.starts_with(b"+<<<<<<< ") || line.starts_with(b"+>>>>>>> "));
        if let Some((at, _)) = conflict {
            self.add(
                at,
                Kind::ConflictMarkers,
                "a marker of a merge conflict is added",
                "resolve the conflict before making the patch",
                false,
            );
        }
        self.numbers_in_lines();
    }

    /// Numbers such as a viewer puts before the lines of a file.
    fn numbers_in_lines(&mut self) {
        let mut before: Option<u64> = None;
        let mut count = 0_usize;
        for (_, line) in self.lines() {
            if line.starts_with(b"+") || line.is_empty() {
                continue;
            }
            let text = String::from_utf8_lossy(&line[1..]);
            let text = text.trim_start();
            let end = text.find(|next: char| !next.is_ascii_digit()).unwrap_or(0);
            let Ok(number) = text[..end].parse::<u64>() else {
                return;
            };
            let separated = text[end..].starts_with(['|', ':', '\t', '\u{2192}']);
            if !separated || before.is_some_and(|before| number <= before) {
                return;
            }
            before = Some(number);
            count += 1;
        }
        if count >= 2 {
            self.add(
                self.hunk.body.start,
                Kind::LineNumbers,
                format!(
                    "hunk {}: the lines seem to begin with their numbers",
                    self.number
                ),
                "write the lines as the file has them",
                false,
            );
        }
    }

    fn changes(&mut self, section: &Section) {
        let has = |column: u8| self.lines().any(|(_, line)| line.first() == Some(&column));
        let number = self.number;
        let (adds, takes) = (has(b'+'), has(b'-'));
        let context = self
            .lines()
            .any(|(_, line)| matches!(line.first(), None | Some(b' ')));
        if !adds && !takes {
            self.add(
                self.hunk.header,
                Kind::NoChange,
                format!("hunk {number}: no line is added or removed"),
                "leave the hunk out",
                true,
            );
        } else if !context && let Some(numbers) = self.hunk.numbers {
            // The whole of a file has no context, and needs none.
            let whole = section.hunks.len() == 1 && numbers.old.0 <= 1 && numbers.new.0 <= 1;
            if !whole {
                self.add(
                    self.hunk.header,
                    Kind::NoContext,
                    format!("hunk {number}: there are no context lines; git lets such a hunk fit only at the end of the file"),
                    "make the patch with three lines of context, or apply it with `--unidiff-zero`",
                    true,
                );
            }
        }
    }

    fn order(&mut self, before: &Hunk) {
        let (Some(before), Some(this)) = (before.numbers, self.hunk.numbers) else {
            return;
        };
        let end = before.old.0.saturating_add(before.old.1);
        let this_end = this.old.0.saturating_add(this.old.1);
        if this.old.0 >= end || self.hunk.numbers.is_none() {
            return;
        }
        let overlaps = before.old.0 < this_end;
        let (number, message) = (
            self.number,
            if overlaps {
                "overlaps the one before it"
            } else {
                "stands behind one that is for later lines"
            },
        );
        self.add(
            self.hunk.header,
            Kind::HunkOrder,
            format!("hunk {number} {message}"),
            "write hunks in the order of the file, and as one where they touch",
            overlaps,
        );
    }

    fn no_newline(&mut self) {
        const MARKER: &[u8] = b"\\ No newline at end of file";
        let lines: Vec<(usize, &[u8])> = self.lines().collect();
        for (place, (at, line)) in lines.iter().enumerate() {
            if line.get(1..).is_some_and(|rest| rest == MARKER) && !line.starts_with(b"\\") {
                self.add(
                    *at,
                    Kind::NoNewlineMarker,
                    "the marker `\\ No newline at end of file` stands behind a column and is read as a line",
                    "let the line begin with the backslash",
                    false,
                );
            }
            if !line.starts_with(b"\\") {
                continue;
            }
            let of = place
                .checked_sub(1)
                .and_then(|before| lines[before].1.first());
            let behind = &lines[place + 1..];
            let more = |columns: &[u8]| {
                behind
                    .iter()
                    .any(|(_, line)| columns.contains(line.first().unwrap_or(&b' ')))
            };
            let wrong = match of {
                Some(b'-') => more(b" -"),
                Some(b'+') => more(b" +"),
                Some(b' ') => more(b" -+"),
                _ => true,
            };
            if wrong {
                self.add(
                    *at,
                    Kind::NoNewlineMarker,
                    "`\\ No newline at end of file` stands where the file does not end",
                    "put it behind the last line of the file only, or leave it out",
                    true,
                );
            }
        }
    }
}

/// Whether the line says that lines were left out.
fn is_placeholder(line: &[u8]) -> bool {
    let text = String::from_utf8_lossy(line);
    let text = text.get(1..).unwrap_or_default().trim();
    let inside = text
        .trim_start_matches(['#', '/', '*', '-', '<', '!', ';', '%', '{', '(', '['])
        .trim_start();
    let is_remark = inside.len() < text.len();
    let dots = inside.starts_with("...") || inside.starts_with('…');
    if !dots {
        return false;
    }
    let rest = inside.trim_start_matches(['.', '…']).trim();
    let words = [
        "existing",
        "rest of",
        "unchanged",
        "remaining",
        "same as",
        "omitted",
        "other code",
        "more code",
        "snip",
        "previous",
    ];
    // `...` alone is code in Python; in a remark it is not.
    (is_remark && !rest.starts_with(|next: char| next.is_alphanumeric()))
        || words.iter().any(|word| rest.to_lowercase().contains(word))
}
