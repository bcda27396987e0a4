//! The TAP reporter.

use super::{FileLost, Found, TestFound, is_file, is_file_around};
use atlas_core::{Evidence, TestStatus};

#[derive(Clone, Debug, Default)]
pub(super) struct Tap {
    /// Announced names by depth; the last at each depth is the one that runs.
    announced: Vec<String>,
    /// The last result, whose block may still say that it is a suite.
    last: Option<Result>,
    in_block: bool,
    found: Found,
    /// How many results stood when an announcement at a depth was made, to place file names.
    begun: Vec<usize>,
}

#[derive(Clone, Debug)]
struct Result {
    depth: usize,
    names: Vec<String>,
    status: TestStatus,
    suite: bool,
    exited: bool,
    children: usize,
    line: usize,
    text: String,
    errors: Vec<Evidence>,
}

impl Tap {
    pub(super) fn results(&self) -> usize {
        self.found.results.len() + self.found.files.len() + usize::from(self.last.is_some())
    }

    pub(super) fn line(&mut self, text: &str, number: usize, errors: &mut Vec<Evidence>) {
        let blanks = text.bytes().take_while(|byte| *byte == b' ').count();
        let body = &text[blanks..];
        if let Some(last) = &mut self.last {
            let indent = last.depth * 4 + 2;
            if self.in_block {
                if blanks == indent {
                    match body {
                        "..." => {
                            self.in_block = false;
                            self.commit();
                        }
                        "type: 'suite'" => last.suite = true,
                        _ => last.exited |= body.starts_with("exitCode: "),
                    }
                }
                return;
            }
            if blanks == indent && body == "---" {
                self.in_block = true;
                return;
            }
            self.commit();
        }
        if !blanks.is_multiple_of(4) {
            return;
        }
        let depth = blanks / 4;
        if let Some(name) = body.strip_prefix("# Subtest: ") {
            if depth <= self.announced.len() {
                self.found.any = true;
                self.announced.truncate(depth);
                self.begun.truncate(depth);
                self.announced.push(name.to_owned());
                self.begun.push(self.found.results.len());
            }
        } else if let Some((passed, rest)) = point(body) {
            self.point(depth, passed, rest, number, text, errors);
        }
    }

    fn point(
        &mut self,
        depth: usize,
        passed: bool,
        rest: &str,
        number: usize,
        text: &str,
        errors: &mut Vec<Evidence>,
    ) {
        let (name, directive) = directive(rest);
        if self.announced.get(depth).map(String::as_str) != Some(name) {
            return;
        }
        let status = match (directive.map(Directive::of), passed) {
            (Some(Some(Directive::Skip)), _) | (Some(Some(Directive::Todo)), true) => {
                TestStatus::Skipped
            }
            (Some(Some(Directive::Todo)), false) => TestStatus::Xfail,
            (_, true) => TestStatus::Passed,
            (_, false) => TestStatus::Failed,
        };
        let names = self.announced[..=depth].iter().map(|n| unescape(n));
        self.last = Some(Result {
            depth,
            names: names.collect(),
            status,
            suite: false,
            exited: false,
            children: self.found.results.len() - self.begun[depth],
            line: number,
            text: text.trim().to_owned(),
            errors: std::mem::take(errors),
        });
        self.announced.truncate(depth);
        self.begun.truncate(depth);
    }

    fn commit(&mut self) {
        let Some(last) = self.last.take() else {
            return;
        };
        let own = last.names.last().map(String::as_str).unwrap_or_default();
        let is_around = last.children > 0 && is_file_around(own);
        if last.depth == 0 && (is_around || last.exited && is_file(own)) {
            if last.status == TestStatus::Failed && last.children == 0 {
                let mut lines = last.errors;
                lines.push(Evidence::at("log", last.line, last.text));
                self.found.files.push(FileLost {
                    file: own.to_owned(),
                    lines,
                });
            }
            return;
        }
        if last.suite {
            return;
        }
        let (file, names) = match last.names.split_first() {
            // Node 18 reports each file as a test around its tests.
            Some((first, rest)) if !rest.is_empty() && is_file_around(first) => {
                (first.clone(), rest)
            }
            _ => (String::new(), &last.names[..]),
        };
        self.found.results.push(TestFound {
            file,
            name: names.join(" > "),
            status: last.status,
        });
    }

    /// How far it has come, where no block is open: numbers of results and of files.
    pub(super) fn reached(&mut self) -> Option<(usize, usize)> {
        if self.in_block {
            return None;
        }
        self.commit();
        Some((self.found.results.len(), self.found.files.len()))
    }

    pub(super) fn finish(mut self) -> Found {
        self.commit();
        self.found
    }
}

#[derive(Clone, Copy, Debug)]
enum Directive {
    Skip,
    Todo,
}

impl Directive {
    fn of(text: &str) -> Option<Self> {
        let word = text.split(' ').next()?;
        if word.eq_ignore_ascii_case("skip") {
            Some(Self::Skip)
        } else if word.eq_ignore_ascii_case("todo") {
            Some(Self::Todo)
        } else {
            None
        }
    }
}

/// `ok 3 - name # SKIP`: whether it passed, and what follows the dash.
fn point(body: &str) -> Option<(bool, &str)> {
    let (passed, rest) = match body.strip_prefix("not ok ") {
        Some(rest) => (false, rest),
        None => (true, body.strip_prefix("ok ")?),
    };
    let (number, rest) = rest.split_once(" - ")?;
    number.parse::<u64>().ok()?;
    Some((passed, rest))
}

/// Parts the escaped name from the directive: the first ` # ` whose `#` is not escaped.
fn directive(text: &str) -> (&str, Option<&str>) {
    match text.find(" # ") {
        Some(at) => (&text[..at], Some(&text[at + 3..])),
        None => (text, None),
    }
}

/// Undoes TAP's escapes: `\#` and `\\`.
fn unescape(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        match chars.peek() {
            Some(next @ ('#' | '\\')) if c == '\\' => {
                out.push(*next);
                chars.next();
            }
            _ => out.push(c),
        }
    }
    out
}
