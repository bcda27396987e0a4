//! A matcher for lines of plain ASCII, beside the general one.
//!
//! Nearly every line of a log that a rule set knows is a result, so nearly every line needs the
//! places of its groups; for patterns such as `(?P<id>\S+) +(?P<rest>.+)` the general engine goes
//! byte by byte through every state that the pattern may be in. This one follows the pattern's
//! preferred way and steps back where it fails: the same first match, found with runs over a table
//! of bytes. Steps are counted, and a line that takes too many is the general engine's: time stays
//! linear whatever the pattern is.

use regex_syntax::hir::{Class, Hir, HirKind, Look, Repetition};

/// The most operations of a program.
const MAX_OPS: usize = 1_000;
/// The steps that a line may take: so many, and so many for each byte.
const STEPS: usize = 200;
const STEPS_A_BYTE: usize = 12;
/// No place.
pub(super) const NOWHERE: usize = usize::MAX;

/// Which bytes belong to a class.
type Table = Box<[bool; 256]>;

#[derive(Clone, Debug)]
enum Op {
    Literal(Box<[u8]>),
    /// `min` to `max` bytes of a class.
    Run {
        table: usize,
        min: usize,
        max: usize,
        greedy: bool,
    },
    /// Tries `first`, then `second`.
    Split {
        first: usize,
        second: usize,
    },
    Jump(usize),
    Save(usize),
    Start,
    End,
    Done,
}

/// A pattern that must match a whole line.
#[derive(Debug)]
pub(super) struct Quick {
    ops: Vec<Op>,
    tables: Vec<Table>,
    /// For each operation, the two bytes with which it can go on, where one operation tells.
    next: Vec<[Option<Next>; 2]>,
    slots: usize,
}

#[derive(Clone, Copy, Debug)]
enum Next {
    Byte(u8),
    Table(usize),
    /// Only the end of the line.
    End,
}

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Match,
    NoMatch,
    /// Too many steps: ask the general engine.
    Unknown,
}

#[derive(Clone, Copy, Debug)]
enum Back {
    /// Go on here.
    At {
        op: usize,
        at: usize,
    },
    /// A greedy run gives back a byte at a time, down to `least`.
    Shorter {
        op: usize,
        at: usize,
        least: usize,
    },
    /// A lazy run takes a byte more, as far as `most`.
    Longer {
        op: usize,
        at: usize,
        most: usize,
    },
    Restore {
        slot: usize,
        was: usize,
    },
}

/// What matching needs room for; one for all patterns.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    /// Start and end of each group of the last match.
    pub(super) slots: Vec<usize>,
    back: Vec<Back>,
}

impl Scratch {
    /// Where a group of the last match lies.
    pub(super) fn group(&self, group: usize) -> Option<(usize, usize)> {
        let (from, to) = (*self.slots.get(2 * group)?, *self.slots.get(2 * group + 1)?);
        (from != NOWHERE && to != NOWHERE).then_some((from, to))
    }
}

struct Program {
    ops: Vec<Op>,
    tables: Vec<Table>,
    slots: usize,
}

impl Program {
    fn table(&mut self, class: &Class) -> usize {
        let mut table = Box::new([false; 256]);
        let mut add = |from: u32, to: u32| {
            for byte in from..=to.min(127) {
                table[byte as usize] = true;
            }
        };
        match class {
            Class::Unicode(class) => class
                .iter()
                .for_each(|range| add(range.start().into(), range.end().into())),
            Class::Bytes(class) => class
                .iter()
                .for_each(|range| add(range.start().into(), range.end().into())),
        }
        let known = self.tables.iter().position(|known| *known == table);
        known.unwrap_or_else(|| {
            self.tables.push(table);
            self.tables.len() - 1
        })
    }

    fn push(&mut self, op: Op) -> Option<usize> {
        if self.ops.len() >= MAX_OPS {
            return None;
        }
        self.ops.push(op);
        Some(self.ops.len() - 1)
    }

    /// None for what this matcher does not know.
    fn add(&mut self, hir: &Hir) -> Option<()> {
        match hir.kind() {
            HirKind::Empty => {}
            HirKind::Literal(literal) => {
                self.push(Op::Literal(literal.0.clone()))?;
            }
            HirKind::Class(class) => {
                let table = self.table(class);
                self.run(table, 1, Some(1), true)?;
            }
            HirKind::Look(Look::Start) => {
                self.push(Op::Start)?;
            }
            HirKind::Look(Look::End) => {
                self.push(Op::End)?;
            }
            HirKind::Look(_) => return None,
            HirKind::Repetition(repetition) => self.repetition(repetition)?,
            HirKind::Capture(capture) => {
                let group = usize::try_from(capture.index).ok()?;
                self.slots = self.slots.max(2 * group + 2);
                self.push(Op::Save(2 * group))?;
                self.add(&capture.sub)?;
                self.push(Op::Save(2 * group + 1))?;
            }
            HirKind::Concat(parts) => {
                for part in parts {
                    self.add(part)?;
                }
            }
            HirKind::Alternation(parts) => {
                let mut ends = Vec::with_capacity(parts.len());
                for (number, part) in parts.iter().enumerate() {
                    if number + 1 == parts.len() {
                        self.add(part)?;
                        break;
                    }
                    let split = self.push(Op::Split {
                        first: 0,
                        second: 0,
                    })?;
                    self.add(part)?;
                    ends.push(self.push(Op::Jump(0))?);
                    self.ops[split] = Op::Split {
                        first: split + 1,
                        second: self.ops.len(),
                    };
                }
                let behind = self.ops.len();
                for end in ends {
                    self.ops[end] = Op::Jump(behind);
                }
            }
        }
        Some(())
    }

    fn run(&mut self, table: usize, min: usize, max: Option<usize>, greedy: bool) -> Option<()> {
        self.push(Op::Run {
            table,
            min,
            max: max.unwrap_or(usize::MAX),
            greedy,
        })
        .map(|_| ())
    }

    fn repetition(&mut self, repetition: &Repetition) -> Option<()> {
        let min = usize::try_from(repetition.min).ok()?;
        let max = match repetition.max {
            Some(max) => Some(usize::try_from(max).ok()?),
            None => None,
        };
        let sub = &repetition.sub;
        match sub.kind() {
            HirKind::Class(class) => {
                let table = self.table(class);
                return self.run(table, min, max, repetition.greedy);
            }
            HirKind::Literal(literal) if literal.0.len() == 1 && literal.0[0] < 128 => {
                let mut table = Box::new([false; 256]);
                table[usize::from(literal.0[0])] = true;
                let known = self.tables.iter().position(|known| *known == table);
                let table = known.unwrap_or_else(|| {
                    self.tables.push(table);
                    self.tables.len() - 1
                });
                return self.run(table, min, max, repetition.greedy);
            }
            _ => {}
        }
        // A part that may be empty could go round for ever.
        let least = sub.properties().minimum_len();
        if least.is_none_or(|least| least == 0) && (min, max) != (0, Some(1)) {
            return None;
        }
        for _ in 0..min {
            self.add(sub)?;
        }
        let order = |here: usize, behind: usize| {
            let (first, second) = if repetition.greedy {
                (here, behind)
            } else {
                (behind, here)
            };
            Op::Split { first, second }
        };
        let Some(max) = max else {
            let split = self.push(Op::Done)?;
            self.add(sub)?;
            self.push(Op::Jump(split))?;
            self.ops[split] = order(split + 1, self.ops.len());
            return Some(());
        };
        let mut splits = Vec::new();
        for _ in min..max {
            splits.push(self.push(Op::Done)?);
            self.add(sub)?;
        }
        let behind = self.ops.len();
        for split in splits {
            self.ops[split] = order(split + 1, behind);
        }
        Some(())
    }
}

impl Quick {
    /// A program for a pattern that must match a whole line; none where it says what this matcher
    /// does not know.
    pub(super) fn new(hir: &Hir) -> Option<Self> {
        let mut program = Program {
            ops: Vec::new(),
            tables: Vec::new(),
            slots: 2,
        };
        program.add(hir)?;
        program.push(Op::Done)?;
        let Program { ops, tables, slots } = program;
        let unsaved = |mut at: usize| {
            while matches!(ops.get(at), Some(Op::Save(_))) {
                at += 1;
            }
            at
        };
        let first = |at: usize| match ops.get(at)? {
            Op::Literal(literal) => literal.first().map(|byte| Next::Byte(*byte)),
            Op::Run { table, min, .. } if *min > 0 => Some(Next::Table(*table)),
            Op::Done | Op::End => Some(Next::End),
            _ => None,
        };
        let next = |from: usize| {
            let at = unsaved(from);
            let second = match ops.get(at) {
                Some(Op::Literal(literal)) if literal.len() > 1 => Some(Next::Byte(literal[1])),
                Some(Op::Literal(literal)) if literal.len() == 1 => first(unsaved(at + 1)),
                Some(Op::Run { table, min, .. }) if *min > 1 => Some(Next::Table(*table)),
                Some(Op::Run { min: 1, max: 1, .. }) => first(unsaved(at + 1)),
                _ => None,
            };
            [first(at), second]
        };
        let next = (0..ops.len()).map(next).collect();
        Some(Self {
            ops,
            tables,
            next,
            slots,
        })
    }

    /// Matches a line of ASCII, and leaves the places of its groups in `scratch`.
    pub(super) fn find(&self, line: &[u8], scratch: &mut Scratch) -> Answer {
        let Scratch { slots, back } = scratch;
        slots.clear();
        slots.resize(self.slots, NOWHERE);
        back.clear();
        let mut left = STEPS + STEPS_A_BYTE * line.len();
        let (mut op, mut at) = (0, 0);
        loop {
            if left == 0 {
                return Answer::Unknown;
            }
            left -= 1;
            let went_on = match &self.ops[op] {
                Op::Literal(literal) => {
                    let is_here = line[at..].starts_with(literal);
                    at += if is_here { literal.len() } else { 0 };
                    is_here
                }
                Op::Run {
                    table,
                    min,
                    max,
                    greedy,
                } => {
                    let table = &self.tables[*table];
                    let rest = &line[at..];
                    let rest = &rest[..rest.len().min(*max)];
                    let length = rest
                        .iter()
                        .position(|byte| !table[usize::from(*byte)])
                        .unwrap_or(rest.len());
                    if length < *min {
                        false
                    } else {
                        let (least, most) = (at + min, at + length);
                        if *greedy {
                            at = most;
                            if least < most {
                                let op = op + 1;
                                back.push(Back::Shorter { op, at, least });
                            }
                            true
                        } else {
                            at = least;
                            if least < most {
                                let op = op + 1;
                                back.push(Back::Longer { op, at, most });
                            }
                            self.may_go_on(op + 1, at, line)
                        }
                    }
                }
                Op::Split { first, second } => {
                    back.push(Back::At { op: *second, at });
                    op = *first;
                    continue;
                }
                Op::Jump(to) => {
                    op = *to;
                    continue;
                }
                Op::Save(slot) => {
                    // What is not stepped back over need not be restored.
                    if !back.is_empty() {
                        back.push(Back::Restore {
                            slot: *slot,
                            was: slots[*slot],
                        });
                    }
                    slots[*slot] = at;
                    true
                }
                Op::Start => at == 0,
                Op::End => at == line.len(),
                Op::Done => {
                    if at == line.len() {
                        return Answer::Match;
                    }
                    false
                }
            };
            if went_on {
                op += 1;
                continue;
            }
            match self.step_back(line, back, slots, &mut left) {
                Some(place) => (op, at) = place,
                None => return Answer::NoMatch,
            }
        }
    }

    /// Whether what stands at a place may begin what comes next; a place that does not is no way.
    fn may_go_on(&self, op: usize, at: usize, line: &[u8]) -> bool {
        let fits = |next: Option<Next>, at: usize| match (next, line.get(at)) {
            (None, _) => true,
            (Some(Next::End), byte) => byte.is_none(),
            (Some(_), None) => false,
            (Some(Next::Byte(wanted)), Some(byte)) => wanted == *byte,
            (Some(Next::Table(table)), Some(byte)) => self.tables[table][usize::from(*byte)],
        };
        let [first, second] = self.next[op];
        fits(first, at) && fits(second, at + 1)
    }

    /// The next way to try.
    fn step_back(
        &self,
        line: &[u8],
        back: &mut Vec<Back>,
        slots: &mut [usize],
        left: &mut usize,
    ) -> Option<(usize, usize)> {
        while let Some(way) = back.pop() {
            match way {
                Back::At { op, at } => return Some((op, at)),
                Back::Restore { slot, was } => slots[slot] = was,
                Back::Shorter { op, mut at, least } => {
                    while at > least {
                        at -= 1;
                        *left = left.saturating_sub(1);
                        if self.may_go_on(op, at, line) {
                            if at > least {
                                back.push(Back::Shorter { op, at, least });
                            }
                            return Some((op, at));
                        }
                    }
                }
                Back::Longer { op, mut at, most } => {
                    while at < most {
                        at += 1;
                        // Straight to the next place that has the byte.
                        if let Some(Next::Byte(wanted)) = self.next[op][0] {
                            let end = line.len().min(most + 1);
                            match memchr::memchr(wanted, &line[at..end]) {
                                Some(ahead) => at += ahead,
                                None => break,
                            }
                        }
                        *left = left.saturating_sub(1);
                        if self.may_go_on(op, at, line) {
                            if at < most {
                                back.push(Back::Longer { op, at, most });
                            }
                            return Some((op, at));
                        }
                    }
                }
            }
        }
        None
    }
}

/// The bytes with which a match can begin; true if it can be empty, so that what follows may begin
/// it.
pub(super) fn first_bytes(hir: &Hir, first: &mut [bool; 256]) -> bool {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => true,
        HirKind::Literal(literal) => match literal.0.first() {
            Some(byte) => {
                first[usize::from(*byte)] = true;
                false
            }
            None => true,
        },
        HirKind::Class(class) => {
            let mut add = |from: u32, to: u32| {
                for byte in from..=to.min(127) {
                    first[byte as usize] = true;
                }
                if to > 127 {
                    first[128..].fill(true);
                }
            };
            match class {
                Class::Unicode(class) => class
                    .iter()
                    .for_each(|range| add(range.start().into(), range.end().into())),
                Class::Bytes(class) => class
                    .iter()
                    .for_each(|range| add(range.start().into(), range.end().into())),
            }
            false
        }
        HirKind::Repetition(repetition) => {
            first_bytes(&repetition.sub, first) || repetition.min == 0
        }
        HirKind::Capture(capture) => first_bytes(&capture.sub, first),
        HirKind::Concat(parts) => parts.iter().all(|part| first_bytes(part, first)),
        HirKind::Alternation(parts) => {
            let mut may_be_empty = false;
            for part in parts {
                may_be_empty |= first_bytes(part, first);
            }
            may_be_empty
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Answer, Quick, Scratch, first_bytes};
    use proptest::prelude::*;
    use regex::Regex;

    /// Patterns as people and models write them, and such that step back.
    const PATTERNS: [&str; 22] = [
        r"(?P<id>[\w.+-]+) (?P<status>OK|ERR|SKIP) +(?P<message>.+)",
        r"(?P<id>\S+) \.{3} (?P<status>ok|FAILED|skip)(?: \((?P<time>[\d.]+) ?m?s\))?",
        r"^\s*(?P<status>✓|x|-)\s+(?P<id>.+?)(?:\s+\((?P<time>\d+)ms\))?$",
        r"(?P<id>.+?)\.+ *(?P<status>[A-Z]+)",
        r"(?P<id>.+) - (?P<status>.+)",
        r"(?:(?P<suite>\w+): )*(?P<id>\w+)",
        r"(?i)(?P<status>pass|fail)(?:ed)?: (?P<id>.*\S) *",
        r"(?:a|ab)(?:c|bcd)(?P<id>d*)",
        r"(?P<id>(?:x+x+)+)y",
        r"(?P<id>a*?)(?P<suite>a*)",
        r"(?:(?P<id>a)|(?P<suite>b))+",
        r"(?:ab?){2,3}(?P<id>b*)",
        r"(?:ab?){2,3}?(?P<id>b*)",
        r"#(?P<id>[^#]+)#(?P<status>\d{2,4}?)\d*",
        r"(?P<id>\w+)\b.*",
        r"",
        r"\s*",
        r"(?P<id>[a-c]{0,2}?[b-d]*)(?P<status>d?)",
        r"(?:(?:a|b)c?)*(?P<id>c)",
        r"(?P<id>(?:[^ ]+ )+)(?P<status>ok)",
        r"x?(?P<id>y)??z*",
        r"\[(?P<status>[^\]]*)\](?P<id>.*)",
    ];

    /// What both matchers make of a line.
    fn compare(pattern: &str, line: &str) {
        let whole = format!("^(?:{pattern})$");
        let regex = Regex::new(&whole).unwrap();
        let hir = regex_syntax::parse(&whole).unwrap();
        let mut first = [false; 256];
        let empty = first_bytes(&hir, &mut first);
        let may_begin = line
            .bytes()
            .next()
            .map_or(empty, |byte| first[usize::from(byte)]);
        let captures = regex.captures(line);
        assert!(may_begin || captures.is_none(), "{pattern} on {line:?}");
        let Some(quick) = Quick::new(&hir).filter(|_| line.is_ascii()) else {
            return;
        };
        let mut scratch = Scratch::default();
        match quick.find(line.as_bytes(), &mut scratch) {
            Answer::Unknown => {}
            Answer::NoMatch => assert!(captures.is_none(), "{pattern} on {line:?}"),
            Answer::Match => {
                let captures = captures.unwrap_or_else(|| panic!("{pattern} on {line:?}"));
                for group in 1..captures.len() {
                    let wanted = captures
                        .get(group)
                        .map(|found| (found.start(), found.end()));
                    assert_eq!(scratch.group(group), wanted, "{pattern} on {line:?}");
                }
            }
        }
    }

    #[test]
    fn most_patterns_have_a_program() {
        let known = PATTERNS.iter().filter(|pattern| {
            Quick::new(&regex_syntax::parse(&format!("^(?:{pattern})$")).unwrap()).is_some()
        });
        // Only the word boundary is the general engine's.
        assert_eq!(known.count(), PATTERNS.len() - 1);
    }

    #[test]
    fn a_line_that_takes_too_many_steps_is_left() {
        let hir = regex_syntax::parse("^(?:(?:a|aa)+b)$").unwrap();
        let line = "a".repeat(200);
        let found = Quick::new(&hir)
            .unwrap()
            .find(line.as_bytes(), &mut Scratch::default());
        assert_eq!(found, Answer::Unknown);
    }

    proptest! {
        #[test]
        fn both_matchers_find_the_same(at in 0..PATTERNS.len(), line in "[a-dxyz#OKERSIP\\[\\].: ()0-9-]{0,14}") {
            compare(PATTERNS[at], &line);
        }

        #[test]
        fn they_do_so_on_lines_that_nearly_match(at in 0..PATTERNS.len(), cut in 0usize..40, which in 0usize..9) {
            let lines = [
                "list-4.2 ERR lreverse of one", "a.b ... ok (0.02 s)", "  x  adds two (12ms)",
                "name with blanks ..... PASS", "a - b - c", "one: two: three", "Passed: it works  ",
                "xxxxxxxxxxxxxxy", "[fail] it works",
            ];
            let line = lines[which];
            let cut = cut.min(line.len());
            compare(PATTERNS[at], line);
            compare(PATTERNS[at], &format!("{}{}", &line[..cut], &line[(cut + 1).min(line.len())..]));
        }
    }
}
