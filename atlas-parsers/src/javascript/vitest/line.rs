//! The lines of Vitest's reporters.

use crate::edges::{behind_any, is_number, without_note};

/// What a symbol says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Symbol {
    Passed,
    Failed,
    Skipped,
    /// A suite or file with failures; before version 2 also a failing test of a list.
    Pointer,
    /// It has not run.
    Waiting,
}

/// A line that begins with an odd number of blanks and a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Marked<'a> {
    /// Levels below the file: 0 for a file, or for a test named in full.
    pub(super) depth: usize,
    pub(super) symbol: Symbol,
    pub(super) text: &'a str,
}

/// Reads ` ✓ text`, `   × text`.
pub(super) fn marked(line: &str) -> Option<Marked<'_>> {
    let text = line.trim_start_matches(' ');
    let blanks = line.len() - text.len();
    // Every symbol begins with one of two bytes.
    if blanks.is_multiple_of(2) || !matches!(text.as_bytes().first(), Some(0xe2 | 0xc2 | 0xc3)) {
        return None;
    }
    let (symbol, text) = text.split_once(' ')?;
    let symbol = match symbol {
        "✓" | "√" => Symbol::Passed,
        "×" => Symbol::Failed,
        "↓" | "□" => Symbol::Skipped,
        "❯" => Symbol::Pointer,
        "·" => Symbol::Waiting,
        _ => return None,
    };
    Some(Marked {
        depth: blanks / 2,
        symbol,
        text,
    })
}

/// A result behind output without a line end: `some text ✓ file > test 3ms`, from its blank on.
pub(super) fn glued(line: &str) -> Option<&str> {
    if line.starts_with(' ') {
        return None;
    }
    let at = [" ✓ ", " × ", " ↓ ", " ❯ "]
        .iter()
        .filter_map(|symbol| line.rfind(symbol))
        .max()?;
    let rest = &line[at..];
    let text = rest.trim_start_matches([' ', '✓', '×', '↓', '❯']);
    let (_, text) = badges(text);
    let known = full_name(text).is_some() || file_summary(text).is_some();
    (known && !line[..at].ends_with(char::is_whitespace)).then_some(rest)
}

/// A project's name in front of a file: `|name| file` without colour, ` name  file` with it, and
/// ` TS  file` for a file whose types are checked.
pub(super) fn badges(text: &str) -> (Option<&str>, &str) {
    let (mut project, mut rest) = (None, text);
    loop {
        if let Some((name, tail)) = rest.strip_prefix('|').and_then(|t| t.split_once("| ")) {
            project = Some(name);
            rest = tail;
        } else if let Some((name, tail)) = rest.strip_prefix(' ').and_then(|t| t.split_once("  ")) {
            if name != "TS" {
                project = Some(name);
            }
            rest = tail;
        } else {
            return (project, rest);
        }
    }
}

/// Whether this may be a test file's name.
fn is_file(name: &str) -> bool {
    let base = name.rsplit(['/', '\\']).next().unwrap_or(name);
    base.contains('.') && !base.ends_with('.') && !name.starts_with(' ')
}

/// `file > suite > test` as the file and the rest; the place in the file is dropped.
pub(super) fn full_name(text: &str) -> Option<(&str, &str)> {
    let (file, name) = text.split_once(" > ")?;
    let file = without_place(file);
    is_file(file).then_some((file, name))
}

/// Drops `:12:3`.
fn without_place(file: &str) -> &str {
    let place = || {
        let (head, column) = file.rsplit_once(':')?;
        let (name, row) = head.rsplit_once(':')?;
        (is_number(column) && is_number(row)).then_some(name)
    };
    place().unwrap_or(file)
}

/// `a.test.ts (3 tests | 1 failed) 12ms`, `a.test.ts (3)`: the file and its number of tests.
pub(super) fn file_summary(text: &str) -> Option<(&str, u64)> {
    let (file, tail) = text.rsplit_once(" (")?;
    let file = file.strip_suffix(' ').unwrap_or(file);
    let (counts, rest) = tail.split_once(')')?;
    let digits = counts.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = counts.split_at(digits);
    let unit = unit.split(" | ").next().unwrap_or(unit);
    let known = matches!(unit, "" | " test" | " tests")
        && (rest.is_empty()
            || rest.ends_with("ms")
            || rest.ends_with(" MB heap used")
            || rest == " [skipped]");
    (known && is_file(file) && !file.contains(" > "))
        .then(|| number.parse().ok())
        .flatten()
        .map(|number| (file, number))
}

/// A suite of a tree: `name (3)`, before version 3 with `[skipped]` or a time behind it.
pub(super) fn suite(text: &str, version: u32) -> Option<&str> {
    let text = if version < 3 {
        let text = without_time(text).map_or(text, |(text, _)| text);
        text.strip_suffix(" [skipped]").unwrap_or(text)
    } else {
        text
    };
    let (name, count) = text.strip_suffix(')')?.rsplit_once(" (")?;
    is_number(count).then_some(name)
}

/// `title 12ms` as the title and the number.
fn without_time(text: &str) -> Option<(&str, u64)> {
    let (title, number) = text.strip_suffix("ms")?.rsplit_once(' ')?;
    let number: u64 = number.parse().ok()?;
    Some((title, number))
}

/// `title (retry x2)` as the title.
fn without_times(text: &str) -> Option<&str> {
    without_note(text, " (", ")", |note| {
        behind_any(note, &["retry x", "repeat x"]).is_some_and(is_number)
    })
}

/// The default of `slowTestThreshold`.
const SLOW: u64 = 300;

/// A title without what the runner appends to it: time, retries, heap, a note on a skip.
///
/// Since version 3 every test that ran has a time; before, only slow ones have, so that
/// `waits 50ms` is a title.
pub(super) fn title(text: &str, symbol: Symbol, version: u32, listed: bool) -> &str {
    let mut text = text;
    if let Some((head, size)) = text
        .strip_suffix(" MB heap used")
        .and_then(|t| t.rsplit_once(' '))
        && is_number(size)
    {
        text = head;
    }
    if version < 3 {
        // Version 2 lists failing tests with their times, but for a terminal.
        let always = listed && version == 2 && symbol == Symbol::Failed;
        let timed = without_time(text).filter(|(_, time)| always || *time >= SLOW);
        text = timed.map_or(text, |(head, _)| head);
        if listed {
            text = text.strip_suffix(" [skipped]").unwrap_or(text);
            text = without_times(text).unwrap_or(text);
            text = without_times(text).unwrap_or(text);
        }
        return text;
    }
    // The notes stand behind a time only.
    let mut head = text;
    if symbol == Symbol::Skipped
        && let Some((before, _)) = head.strip_suffix(']').and_then(|t| t.rsplit_once(" ["))
    {
        head = before;
    }
    head = without_times(head).unwrap_or(head);
    head = without_times(head).unwrap_or(head);
    let Some((title, time)) = without_time(head) else {
        return text;
    };
    if listed && symbol == Symbol::Passed && time >= SLOW {
        return title.strip_suffix(' ').unwrap_or(title);
    }
    title
}

/// The version of ` RUN  v2.1.9 /folder`, and the folder.
pub(super) fn banner(line: &str) -> Option<(u32, &str)> {
    let rest = behind_any(line, &[" RUN  v", " DEV  v"])?;
    let (version, folder) = rest.split_once(' ')?;
    let (major, _) = version.split_once('.')?;
    Some((major.parse().ok()?, folder.trim()))
}

/// `2 failed | 25 passed | 1 expected fail | 3 skipped | 1 todo (32)`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) failed: u64,
    pub(super) passed: u64,
    pub(super) skipped: u64,
    pub(super) todo: u64,
    pub(super) total: u64,
}

pub(super) fn counts(text: &str) -> Option<Counts> {
    let mut counts = Counts::default();
    let text = text.trim();
    if text == "no tests" {
        return Some(counts);
    }
    let (parts, total) = text.strip_suffix(')')?.rsplit_once(" (")?;
    counts.total = total.parse().ok()?;
    for part in parts.split(" | ") {
        let (number, word) = part.trim().split_once(' ')?;
        let number: u64 = number.parse().ok()?;
        let field = match word {
            "failed" => &mut counts.failed,
            "passed" | "expected fail" => &mut counts.passed,
            "skipped" => &mut counts.skipped,
            "todo" => &mut counts.todo,
            _ => return None,
        };
        *field = field.saturating_add(number);
    }
    Some(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_runner_appends_is_dropped() {
        let title = |text, version| title(text, Symbol::Passed, version, false);
        assert_eq!(title("waits 50ms", 2), "waits 50ms");
        assert_eq!(title("waits 50ms 375ms", 2), "waits 50ms");
        assert_eq!(title("waits 50ms 0ms", 3), "waits 50ms");
        assert_eq!(title("ends (retry x1) 0ms", 4), "ends (retry x1)");
        assert_eq!(title("flaky 1ms (retry x1)", 4), "flaky");
        assert_eq!(title("ends (retry x1)", 4), "ends (retry x1)");
        assert_eq!(title("heavy 1ms 30 MB heap used", 4), "heavy");
    }

    #[test]
    fn a_project_stands_in_front_of_the_file() {
        assert_eq!(
            badges("|a b| x.test.ts > t"),
            (Some("a b"), "x.test.ts > t")
        );
        assert_eq!(
            badges(" a b  x.test.ts > t"),
            (Some("a b"), "x.test.ts > t")
        );
        assert_eq!(badges(" TS  x.test.ts > t"), (None, "x.test.ts > t"));
        assert_eq!(badges("x.test.ts > |t| u"), (None, "x.test.ts > |t| u"));
    }
}
