//! The numbered lists of errors, failures and other tests behind the time line.

use super::title;
use crate::edges::behind_any;

/// What a list's tests are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Error,
    Failure,
    Warning,
    Risky,
    Incomplete,
    Skipped,
    /// Errors that `PHPUnit` itself raised, such as an invalid data provider.
    Runner,
    /// Lists whose entries are no tests: suites, source lines, remarks of the runner.
    Other,
}

/// One entry: its title and the first line below it.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) title: String,
    pub(super) said: String,
    pub(super) line: usize,
    /// It stands where the runner puts it: behind the list's head or a stack frame.
    framed: bool,
}

#[derive(Clone, Debug)]
pub(super) struct List {
    pub(super) kind: Kind,
    declared: u64,
    pub(super) items: Vec<Item>,
}

impl List {
    pub(super) fn is_complete(&self) -> bool {
        self.kind == Kind::Other || self.items.len() as u64 == self.declared
    }
}

/// Reads the lists of one run.
#[derive(Clone, Debug, Default)]
pub(super) struct Lists {
    pub(super) all: Vec<List>,
    /// The last line that was not empty: the list's head, a stack frame, `--`.
    before: Before,
    fresh: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Before {
    #[default]
    Text,
    Head,
    Frame,
    Dashes,
}

impl Lists {
    /// Takes a line behind the time line. Returns whether it belongs to the lists' frame.
    pub(super) fn line(&mut self, line: &[u8], number: usize) -> bool {
        if line.is_empty() {
            return false;
        }
        if line == b"--" {
            self.before = Before::Dashes;
            return true;
        }
        let first = line[0];
        if matches!(first, b'T' | b'1'..=b'9')
            && line.ends_with(b":")
            && let Some(list) = head(line)
        {
            let whole = self.all.last().is_none_or(List::is_complete);
            if whole && (self.all.is_empty() || self.before == Before::Dashes) {
                self.all.push(list);
                self.before = Before::Head;
                self.fresh = false;
                return true;
            }
        }
        if first.is_ascii_digit() && self.item(line, number) {
            self.before = Before::Text;
            return true;
        }
        if self.fresh
            && let Some(item) = self.all.last_mut().and_then(|list| list.items.last_mut())
        {
            let said = &line[..line.len().min(400)];
            item.said = String::from_utf8_lossy(said).into_owned();
        }
        self.fresh = false;
        self.before = if is_frame(line) {
            Before::Frame
        } else {
            Before::Text
        };
        false
    }

    /// Whether the last list has all its entries.
    pub(super) fn is_whole(&self) -> bool {
        self.all.last().is_none_or(List::is_complete)
    }

    /// Takes a line behind the counts. Returns whether another list begins there.
    pub(super) fn goes_on(&mut self, line: &[u8], number: usize) -> bool {
        let lists = self.all.len();
        self.line(line, number);
        self.all.len() > lists
    }

    fn item(&mut self, line: &[u8], number: usize) -> bool {
        let Some(list) = self.all.last_mut() else {
            return false;
        };
        let Some(at) = line.iter().take(9).position(|byte| *byte == b')') else {
            return false;
        };
        let (Some(count), Some(title)) = (title::number(&line[..at]), line.get(at + 2..)) else {
            return false;
        };
        if line.get(at + 1) != Some(&b' ') || count > list.declared || title.is_empty() {
            return false;
        }
        let next = list.items.len() as u64 + 1;
        let framed = matches!(self.before, Before::Head | Before::Frame);
        let again = count + 1 == next && framed && list.items.last().is_some_and(|it| !it.framed);
        if count != next && !again {
            return false;
        }
        if again {
            // The message of the entry before held a line like the next entry.
            list.items.pop();
        }
        let title = if list.kind == Kind::Other {
            String::new()
        } else {
            String::from_utf8_lossy(title).into_owned()
        };
        list.items.push(Item {
            title,
            said: String::new(),
            line: number,
            framed,
        });
        self.fresh = true;
        true
    }
}

/// `/path/File.php:12`, or the end of an older trace.
fn is_frame(line: &[u8]) -> bool {
    let digits = line.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    digits > 0 && line.len() > digits && line[line.len() - digits - 1] == b':'
        || line.ends_with(b"{main}")
}

/// `There were 4 errors:`, `1 test triggered 2 warnings:`.
fn head(line: &[u8]) -> Option<List> {
    let text = std::str::from_utf8(line.strip_suffix(b":")?).ok()?;
    if text.len() > 80 {
        return None;
    }
    let rest = behind_any(text, &["There was ", "There were "]);
    if let Some(rest) = rest {
        let (count, what) = rest.split_once(' ')?;
        let declared: u64 = count.parse().ok()?;
        let kind = match what.strip_suffix('s').unwrap_or(what) {
            "error" => Kind::Error,
            "failure" => Kind::Failure,
            "warning" => Kind::Warning,
            "risky test" => Kind::Risky,
            "incomplete test" => Kind::Incomplete,
            "skipped test" => Kind::Skipped,
            "PHPUnit error" => Kind::Runner,
            _ if what.contains("PHPUnit") || what.contains("suite") => Kind::Other,
            _ => return None,
        };
        return Some(List {
            kind,
            declared,
            items: Vec::new(),
        });
    }
    let (count, rest) = text.split_once(' ')?;
    let _: u64 = count.parse().ok()?;
    let rest = behind_any(rest, &["test triggered ", "tests triggered "])?;
    let (count, _) = rest.split_once(' ')?;
    Some(List {
        kind: Kind::Other,
        // Entries of such lists are issues, several of which one test may have.
        declared: count.parse().ok()?,
        items: Vec::new(),
    })
}
