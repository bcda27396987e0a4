//! The documentation formatter's tree.

use atlas_core::TestStatus;

/// An example as the tree has it; what its line says is checked against the lists later.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    /// Which of the groups at the margin it is below.
    pub(super) group: usize,
    /// The groups' descriptions.
    pub(super) path: Vec<String>,
    /// The example's, with whatever stands behind it.
    pub(super) text: String,
    /// It stood directly behind another line of the same depth, and not behind its group's.
    pub(super) follows: bool,
    pub(super) coloured: bool,
}

/// What stands behind a description.
pub(super) enum Tail<'a> {
    None,
    /// `(FAILED - 3)`
    Failed(&'a str, u64),
    /// `(PENDING: why)`
    Pending(&'a str),
}

impl Leaf {
    pub(super) fn tail(&self) -> Tail<'_> {
        if let Some((head, number)) = self.text.rsplit_once(" (FAILED - ")
            && let Some(number) = number.strip_suffix(')')
            && let Ok(number) = number.parse()
        {
            return Tail::Failed(head, number);
        }
        if self.text.ends_with(')')
            && let Some((head, _)) = self.text.split_once(" (PENDING: ")
        {
            return Tail::Pending(head);
        }
        Tail::None
    }

    /// The groups and this description, joined as `RSpec` does.
    pub(super) fn full(
        &self,
        description: &str,
        joint: impl Fn(&str, &str) -> &'static str,
    ) -> String {
        let mut full = String::new();
        let parts = self.path.iter().map(String::as_str).chain([description]);
        let mut before = "";
        for part in parts {
            if !full.is_empty() {
                full.push_str(joint(before, part));
            }
            full.push_str(part);
            before = part;
        }
        full
    }
}

/// A description without blanks: how the lists and the tree are compared.
pub(super) fn key(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// The same of groups and a description.
pub(super) fn key_of(path: &[String], description: &str) -> String {
    let mut whole = path.concat();
    whole.push_str(description);
    key(&whole)
}

/// Two groups whose descriptions may be joined without a blank: `Foo` and `#bar` where `Foo` is a
/// class, and with one where it is a text.
pub(super) fn may_join(parent: &str, child: &str) -> bool {
    (child.starts_with('#') || child.starts_with('.') || child.starts_with("::"))
        && parent.split("::").all(|part| {
            part.starts_with(|c: char| c.is_ascii_uppercase())
                && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        })
}

#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    pub(super) leaves: Vec<Leaf>,
    stack: Vec<String>,
    /// A line that is a group if the next one is deeper, or else an example.
    waiting: Option<(usize, String, bool, bool)>,
    /// The depth of the last line.
    last: Option<usize>,
    before_empty: bool,
    started: bool,
    /// How many groups at the margin were seen.
    groups: usize,
    /// Dots have been seen: there is no tree.
    pub(super) progress: bool,
    /// How many dots and letters of a progress stand at the begin of lines.
    marks: u64,
    /// The same behind the last line that may be an example.
    last_marks: u64,
}

/// Groups deeper than this are nobody's.
const MAX_DEPTH: usize = 200;

impl Tree {
    pub(super) fn line(&mut self, line: &[u8], coloured: bool) {
        if self.progress {
            return;
        }
        if line.is_empty() {
            self.flush();
            self.before_empty = true;
            return;
        }
        let after_empty = std::mem::take(&mut self.before_empty);
        if dots(line) && (!self.started || after_empty) && self.leaves.is_empty() {
            self.progress = true;
            return;
        }
        let marks = line.iter().take_while(|b| b".F*".contains(b)).count() as u64;
        self.marks += marks;
        self.last_marks += marks;
        let blanks = line.iter().take_while(|b| **b == b' ').count();
        if blanks == line.len() || line.len() > 4000 {
            return;
        }
        if blanks == 0 {
            if after_empty {
                self.flush();
                self.stack.clear();
                self.groups += 1;
                self.started = true;
                self.waiting = Some((0, text(line), coloured, false));
                self.last = Some(0);
            }
            // Else a test or a hook has printed something.
            return;
        }
        let depth = blanks / 2;
        if !blanks.is_multiple_of(2) || depth > MAX_DEPTH || !self.started {
            return;
        }
        if let Some((above, _, _, _)) = &self.waiting {
            if depth == above + 1 && !self.waiting.as_ref().is_some_and(|waiting| waiting.2) {
                if let Some((above, name, _, _)) = self.waiting.take() {
                    self.stack.truncate(above);
                    self.stack.push(name);
                }
            } else if depth <= *above {
                self.flush();
            } else {
                return;
            }
        }
        if depth > self.stack.len() || depth == 0 {
            return;
        }
        let follows = self.last == Some(depth);
        self.last = Some(depth);
        self.waiting = Some((depth, text(&line[blanks..]), coloured, follows));
    }

    /// The waiting line is an example, as nothing deeper has followed.
    fn flush(&mut self) {
        let Some((depth, text, coloured, follows)) = self.waiting.take() else {
            return;
        };
        if depth == 0 {
            return;
        }
        self.stack.truncate(depth);
        self.last_marks = 0;
        self.leaves.push(Leaf {
            group: self.groups,
            path: self.stack.clone(),
            text,
            follows,
            coloured,
        });
    }

    /// Takes the run's number of examples. Where a progress accounts for them, the lines that look like
    /// a tree are what others have printed: in front of the run, as installers do, or amid the dots.
    pub(super) fn settle(&mut self, examples: u64) {
        let leaves = self.leaves.len() as u64;
        let all = self.last_marks == examples;
        let most = leaves < examples / 2 && self.marks > examples / 2;
        if leaves != examples && (all || most) {
            self.progress = true;
        }
    }

    /// How many of the lines so far tell of a failure, by the numbers that rise from one on.
    pub(super) fn failures(&self) -> u64 {
        let mut count = 0;
        for leaf in &self.leaves {
            if matches!(leaf.tail(), Tail::Failed(_, number) if number == count + 1) {
                count += 1;
            }
        }
        count
    }

    /// The tree has ended. In colours every example's line is coloured, and only those count.
    pub(super) fn end(&mut self) {
        self.flush();
        if self.leaves.iter().any(|leaf| leaf.coloured) {
            self.leaves.retain(|leaf| leaf.coloured);
        }
    }
}

fn text(line: &[u8]) -> String {
    String::from_utf8_lossy(line).trim().to_owned()
}

/// Whether the line begins with the marks of a progress rather than with a description.
fn dots(line: &[u8]) -> bool {
    let count = line.iter().take_while(|b| b".F*".contains(b)).count();
    count == line.len()
        || count > 1 && line[..count].iter().any(|b| *b != b'F')
        || count == 1 && line[0] == b'.' && !line[1].is_ascii_alphanumeric()
}

/// An example with its name, its status, and whether it may be what a test has printed.
pub(super) type Found = (Leaf, String, TestStatus, bool);

/// Drops what is too much by the totals: what tests have printed, or else what stands in front of
/// the run, where without its groups all are there.
pub(super) fn drop_foreign(found: &mut Vec<Found>, all: usize) {
    let excess = found.len().saturating_sub(all);
    if excess == 0 {
        return;
    }
    let mut printed = found.clone();
    drop_excess(&mut printed, excess);
    let run = &found[excess..];
    let in_front = run.first().is_some_and(|first| {
        found[..excess]
            .iter()
            .all(|(leaf, _, status, _)| leaf.group < first.0.group && *status == TestStatus::Passed)
    });
    if printed.len() > all && in_front {
        found.drain(..excess);
    } else {
        *found = printed;
    }
}

/// Drops examples that were not run: those that tests have printed themselves, as far as the
/// totals show that there are too many.
fn drop_excess(found: &mut Vec<Found>, mut excess: usize) {
    // A title that ends like a failure whose number was another's is hardly a title; and what
    // stands directly in front of it came from the same test.
    let mut at = found.len();
    let mut gone = vec![false; found.len()];
    while at > 0 && excess > 0 {
        at -= 1;
        if !found[at].3 {
            continue;
        }
        let mut from = at;
        loop {
            gone[from] = true;
            excess -= 1;
            let depth = found[from].0.path.len();
            let before = from > 0
                && found[from].0.follows
                && found[from - 1].0.path.len() == depth
                && found[from - 1].2 == TestStatus::Passed
                && !gone[from - 1];
            if excess == 0 || !before {
                break;
            }
            from -= 1;
        }
    }
    let mut keep = gone.iter().map(|gone| !gone);
    found.retain(|_| keep.next().unwrap_or(true));
}
