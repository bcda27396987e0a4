//! The lines that `go test` and the test binary print of themselves.

use crate::edges::{before_any, is_decimal};
use crate::text::has_blank;
use atlas_core::{Evidence, Names, TestStatus};
use memchr::memmem::Finder;

/// Looks for the two marks that may stand behind output without a newline.
#[derive(Clone)]
pub(super) struct Finders {
    run: Finder<'static>,
    result: Finder<'static>,
}

/// `--- PASS: TestName/sub (0.00s)`
pub(super) struct ResultLine<'a> {
    pub(super) name: &'a str,
    pub(super) status: TestStatus,
    /// Whether nothing but blanks stands in front.
    pub(super) at_start: bool,
    pub(super) indent: usize,
}

impl Default for Finders {
    fn default() -> Self {
        Self {
            run: Finder::new("=== RUN   "),
            result: Finder::new("--- "),
        }
    }
}

impl Finders {
    /// The test that this line announces. Behind other text only a subtest of a started test is
    /// believed: a parent that prints without a newline and then calls `t.Run`.
    pub(super) fn started<'a>(&self, line: &'a [u8], started: &Names) -> Option<&'a str> {
        let at = if line.starts_with(b"=== RUN ") {
            0
        } else {
            self.run.find(line)?
        };
        let name = std::str::from_utf8(line[at..].strip_prefix(b"=== RUN")?).ok()?;
        let name = name.trim_start();
        if name.is_empty() || name.contains(' ') {
            return None;
        }
        if at > 0 {
            let (parent, _) = name.rsplit_once('/')?;
            let known = started.contains(parent)
                || parent
                    .split_once('/')
                    .is_some_and(|(top, _)| started.contains(top));
            return known.then_some(name);
        }
        Some(name)
    }

    /// The result in this line, at its start or behind a test's own output.
    pub(super) fn result<'a>(&self, line: &'a [u8]) -> Option<ResultLine<'a>> {
        let mut from = 0;
        while let Some(found) = self.result.find(&line[from..]) {
            let at = from + found;
            if let Some((name, status)) = result_text(&line[at + 4..]) {
                let indent = line.iter().take_while(|b| **b == b' ').count();
                let at_start = indent == at;
                // A message of `t.Log` is indented, and what it quotes is no result; but a failure may
                // stand behind blanks that the test printed to hide it.
                let is_log = indent > 0 || line.first() == Some(&b'\t');
                if at_start || !is_log || status == TestStatus::Failed {
                    return Some(ResultLine {
                        name,
                        status,
                        at_start,
                        indent,
                    });
                }
                return None;
            }
            from = at + 4;
        }
        None
    }
}

/// The test that a line announces and does nothing else.
pub(super) fn announced(line: &str) -> Option<&str> {
    let name = line.strip_prefix("=== RUN   ")?;
    let bytes = name.as_bytes();
    (bytes.first()?.is_ascii_graphic() && !has_blank(bytes)).then_some(name)
}

/// The result that is the whole of a line, but for the indentation of a subtest: what nearly every
/// result of a verbose run is.
pub(super) fn plain_result(line: &[u8]) -> Option<(&str, TestStatus)> {
    let indent = line.iter().take_while(|b| **b == b' ').count();
    if !indent.is_multiple_of(4) {
        return None;
    }
    result_text(line[indent..].strip_prefix(b"--- ")?)
}

/// The status in a line that [`plain_result`] reads as a result of this test.
pub(super) fn result_of(name: &str, line: &[u8]) -> Option<TestStatus> {
    let mut text = line;
    while let Some(inner) = text.strip_prefix(b"    ") {
        text = inner;
    }
    let (mark, rest) = text.split_first_chunk::<10>()?;
    let status = match mark {
        b"--- PASS: " => TestStatus::Passed,
        b"--- FAIL: " => TestStatus::Failed,
        b"--- SKIP: " => TestStatus::Skipped,
        _ => return None,
    };
    let time = rest.strip_prefix(name.as_bytes())?;
    if time == b" (0.00s)" {
        return Some(status);
    }
    let time = time.strip_prefix(b" (")?.strip_suffix(b"s)")?;
    let numeric = is_decimal(time);
    numeric.then_some(status)
}

/// Reads `PASS: TestName (0.00s)` to the line's end.
fn result_text(text: &[u8]) -> Option<(&str, TestStatus)> {
    let (word, rest) = text.split_at_checked(6)?;
    let status = match word {
        b"PASS: " => TestStatus::Passed,
        b"FAIL: " => TestStatus::Failed,
        b"SKIP: " => TestStatus::Skipped,
        _ => return None,
    };
    let blank = memchr::memchr(b' ', rest)?;
    let (name, time) = std::str::from_utf8(rest).ok()?.split_at_checked(blank)?;
    let time = &time[1..];
    let time = time.strip_prefix('(')?.strip_suffix(')')?;
    let number = before_any(time, &[" seconds", "s"])?;
    let numeric = is_decimal(number);
    (numeric && !name.is_empty()).then_some((name, status))
}

/// Whether this can be the name of a test function rather than of a subtest.
pub(super) fn is_top_level(name: &str) -> bool {
    !name.contains('/')
        && ["Test", "Example", "Fuzz"]
            .iter()
            .any(|prefix| name.starts_with(prefix))
}

/// Whether the line tells that the process dies.
pub(super) fn is_death(line: &[u8]) -> bool {
    [
        &b"panic: "[..],
        b"fatal error: ",
        b"*** Test killed",
        b"exit status ",
        b"signal: ",
    ]
    .iter()
    .any(|mark| line.starts_with(mark))
}

/// Whether the line tells that a time limit ended the process.
pub(super) fn is_timeout(line: &[u8]) -> bool {
    line.starts_with(b"panic: test timed out after ") || line.starts_with(b"*** Test killed")
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PackageVerdict {
    Ok,
    Failed,
    NotBuilt,
    NoTests,
}

/// The line that ends a package: `ok  \tpkg\t0.01s`, `FAIL\tpkg [build failed]`.
#[derive(Debug)]
pub(super) struct PackageLine<'a> {
    pub(super) name: &'a str,
    pub(super) verdict: PackageVerdict,
    /// Whether an `ok` package had tests to run.
    pub(super) had_tests: bool,
}

impl<'a> PackageLine<'a> {
    pub(super) fn read(line: &'a [u8]) -> Option<Self> {
        let (verdict, rest) = match line.first()? {
            b'o' => (PackageVerdict::Ok, line.strip_prefix(b"ok  \t")?),
            b'F' => (PackageVerdict::Failed, line.strip_prefix(b"FAIL\t")?),
            b'?' => (PackageVerdict::NoTests, line.strip_prefix(b"?   \t")?),
            _ => return None,
        };
        let rest = std::str::from_utf8(rest).ok()?;
        let end = rest.find([' ', '\t'])?;
        let (name, tail) = rest.split_at(end);
        if name.is_empty() {
            return None;
        }
        let tail = tail.trim();
        let verdict = match (verdict, tail) {
            (PackageVerdict::Failed, "[build failed]" | "[setup failed]") => {
                PackageVerdict::NotBuilt
            }
            (PackageVerdict::Failed, _) if !tail.ends_with('s') => return None,
            (verdict, _) => verdict,
        };
        Some(Self {
            name,
            verdict,
            had_tests: !tail.ends_with("[no tests to run]"),
        })
    }
}

/// What the compiler said, by package: a line `# pkg` and the complaints under it.
#[derive(Clone, Debug, Default)]
pub(super) struct CompilerBlocks {
    blocks: Vec<(String, Vec<Evidence>)>,
    open: bool,
}

impl CompilerBlocks {
    const MAX_LINES: usize = 40;

    /// Takes a line of a block, or its heading.
    pub(super) fn take(&mut self, line: &[u8], number: usize) -> bool {
        if let Some(heading) = line.strip_prefix(b"# ") {
            // `# pkg` or `# pkg [pkg.test]`; a Markdown heading printed by a test has more words.
            let heading = String::from_utf8_lossy(heading);
            let mut words = heading.split(' ');
            let name = words.next().unwrap_or_default();
            let shape = words.next().is_none_or(|word| word.starts_with('['));
            self.open = shape && !name.is_empty() && words.next().is_none();
            if self.open {
                self.push(name, line, number);
            }
            return self.open;
        }
        if is_trouble(line) {
            self.open = false;
            self.push("", line, number);
            return true;
        }
        // A program that the build of this package starts is not there: `example.com/x: exec: "pkg-config": …`.
        if let Some(at) = memchr::memmem::find(line, b": exec: ")
            && !has_blank(&line[..at])
        {
            self.open = false;
            self.push(&String::from_utf8_lossy(&line[..at]), line, number);
            return true;
        }
        if self.open {
            self.open = is_complaint(line);
            if self.open {
                let name = self.blocks.last().map(|block| block.0.clone());
                self.push(&name.unwrap_or_default(), line, number);
            }
        }
        self.open
    }

    /// Adds a build's output that carries its package.
    pub(super) fn add(&mut self, package: &str, output: &str, number: usize) {
        self.push(package, output.trim_end().as_bytes(), number);
    }

    pub(super) fn close(&mut self) {
        self.open = false;
    }

    /// Whether the next line may go on with a block.
    pub(super) fn is_open(&self) -> bool {
        self.open
    }

    fn push(&mut self, package: &str, line: &[u8], number: usize) {
        let evidence = Evidence::at("log", number, String::from_utf8_lossy(line).into_owned());
        match self.blocks.iter_mut().find(|block| block.0 == package) {
            Some((_, lines)) if lines.len() >= Self::MAX_LINES => {}
            Some((_, lines)) => lines.push(evidence),
            None => self.blocks.push((package.to_owned(), vec![evidence])),
        }
    }

    /// The proof for a package that was not built: its own block, or, where a package that it
    /// imports is at fault, all of them.
    pub(super) fn of(&self, package: &str) -> Vec<Evidence> {
        let own = |name: &str| {
            name.strip_prefix(package)
                .is_some_and(|rest| matches!(rest, "" | "_test" | ".test"))
        };
        let mut lines: Vec<Evidence> = self
            .blocks
            .iter()
            .filter(|block| own(&block.0))
            .flat_map(|block| block.1.iter().cloned())
            .collect();
        if lines.is_empty() {
            lines.extend(self.blocks.iter().flat_map(|block| block.1.iter().cloned()));
            lines.truncate(Self::MAX_LINES - 1);
        }
        lines
    }
}

/// Whether the go command says that it could not work at all, of no package in particular:
/// `unicode/utf8: write /tmp/…/importcfg: no space left on device`.
fn is_trouble(line: &[u8]) -> bool {
    let mut words = line.splitn(3, |byte| *byte == b' ');
    let subject = words.next().unwrap_or_default();
    let action = words.next().unwrap_or_default();
    subject.len() > 1
        && subject.ends_with(b":")
        && matches!(
            action,
            b"write" | b"writing" | b"open" | b"mkdir" | b"fork/exec" | b"link" | b"copying"
        )
        && words.next().is_some_and(|rest| rest.contains(&b':'))
}

/// Whether a line can stand in a compiler's block: `./x.go:1:2: …`, `vet: …`, a continuation.
fn is_complaint(line: &[u8]) -> bool {
    line.starts_with(b"\t")
        || line.starts_with(b"vet: ")
        || line.starts_with(b"package ")
        || line.starts_with(b"too many errors")
        || memchr::memmem::find(line, b".go:").is_some()
}
