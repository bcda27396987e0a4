//! The lines that `ctest` prints of itself.

use crate::cpp::build::number;
use crate::edges::behind_any;
use atlas_core::TestStatus;
use memchr::memmem;

/// `      Start  3: name`
pub(super) fn start(line: &[u8]) -> Option<(u64, &str)> {
    let text = line.trim_ascii_start();
    if line.len() - text.len() < 4 {
        return None;
    }
    let (index, rest) = number(text.strip_prefix(b"Start ")?.trim_ascii_start())?;
    let name = std::str::from_utf8(rest.strip_prefix(b": ")?).ok()?;
    (!name.is_empty()).then_some((index, name))
}

/// ` 3/18 Test  #3: name .....   Passed    0.01 sec`, up to the name.
pub(super) struct Head<'a> {
    /// Which result it is; a repeated test has none.
    pub(super) place: Option<u64>,
    pub(super) index: u64,
    /// The name, dots and the verdict.
    pub(super) rest: &'a str,
}

impl<'a> Head<'a> {
    pub(super) fn read(line: &'a [u8]) -> Option<Self> {
        let text = line.trim_ascii_start();
        let (place, text) = match number(text) {
            Some((place, rest)) => {
                let rest = rest.strip_prefix(b"/")?.trim_ascii_start();
                (Some(place), number(rest)?.1.strip_prefix(b" ")?)
            }
            None if text.len() < line.len() => (None, text),
            None => return None,
        };
        let text = behind_any(text, &[b"Test ", b"MemCheck "])?;
        let (index, rest) = number(text.trim_ascii_start().strip_prefix(b"#")?)?;
        let rest = std::str::from_utf8(rest.strip_prefix(b": ")?).ok()?;
        Some(Self { place, index, rest })
    }

    /// The verdict, where the test's name is known from its start.
    pub(super) fn verdict_of(&self, name: &str) -> Option<Verdict> {
        let rest = self.rest.strip_prefix(name)?;
        // On a terminal, `--progress` puts no blank in front of the dots.
        let rest = rest.strip_prefix(' ').unwrap_or(rest);
        let verdict = rest.trim_start_matches('.');
        (rest.len() - verdict.len() >= 3).then(|| Verdict::read(verdict))?
    }

    /// Name and verdict, where no start line told the name.
    pub(super) fn split(&self) -> Option<(&'a str, Verdict)> {
        let at = self.rest.find("...   Passed  ").or_else(|| {
            let stars = self.rest.find("***")?;
            self.rest.get(..stars)?.rfind("...")
        })?;
        let verdict = Verdict::read(self.rest.get(at..)?.trim_start_matches('.'))?;
        let name = self.rest.get(..at)?.trim_end_matches('.');
        let name = name.strip_suffix(' ')?;
        (!name.is_empty()).then_some((name, verdict))
    }
}

/// What stands behind the dots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Status(TestStatus),
    Disabled,
    /// The rest of it stands on the next line: an exit code of Windows.
    Continued,
}

impl Verdict {
    fn read(text: &str) -> Option<Self> {
        if let Some(rest) = text.strip_prefix("   Passed") {
            return ends_in_seconds(rest).then_some(Self::Status(TestStatus::Passed));
        }
        let Some(stars) = memmem::find(text.as_bytes(), b"***") else {
            let code = text.strip_prefix("Exit code 0x")?;
            return code
                .bytes()
                .all(|byte| byte.is_ascii_hexdigit())
                .then_some(Self::Continued);
        };
        let (why, word) = text.split_at_checked(stars)?;
        let word = word.get(3..)?;
        let status = |verdict| Some(Self::Status(verdict));
        if word.starts_with("Exception:") {
            // `Subprocess aborted***Exception:   0.07 sec`
            return (ends_in_seconds(word)).then_some(Self::Status(TestStatus::Failed));
        }
        if !why.is_empty() {
            return None;
        }
        if let Some(reason) = word.strip_prefix("Failed  ") {
            // A reason quotes patterns, which may hold line ends.
            let told = reason.starts_with("Required regular expression")
                || reason.starts_with("Error regular expression")
                || reason.starts_with("Skip regular expression");
            return (told || ends_in_seconds(reason)).then_some(Self::Status(TestStatus::Failed));
        }
        if !ends_in_seconds(word) {
            return None;
        }
        match () {
            () if word.starts_with("Not Run (Disabled) ") => Some(Self::Disabled),
            () if word.starts_with("Skipped ") => status(TestStatus::Skipped),
            () if word.starts_with("Timeout ") || word.starts_with("Not Run ") => {
                status(TestStatus::Failed)
            }
            () => None,
        }
    }
}

/// Whether the text ends in ` 0.02 sec`.
fn ends_in_seconds(text: &str) -> bool {
    let Some(time) = text.strip_suffix(" sec") else {
        return false;
    };
    let time = time.rsplit(' ').next().unwrap_or_default();
    time.contains('.')
        && time
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// `44% tests passed, 9 tests failed out of 16`: the failed and all.
pub(super) fn summary(line: &[u8]) -> Option<(u64, u64)> {
    let (_, rest) = number(line)?;
    let rest = rest.strip_prefix(b"% ")?;
    let rest = behind_any(rest, &[b"tests passed, ", b"test passed, "])?;
    let (failed, rest) = number(rest)?;
    let rest = behind_any(rest, &[b" tests failed out of ", b" test failed out of "])?;
    let (all, rest) = number(rest)?;
    rest.trim_ascii().is_empty().then_some((failed, all))
}

/// A line of the lists at the end: `\t  2 - fails (Failed)`. The index and what follows the dash.
pub(super) fn listed(line: &[u8]) -> Option<(u64, &str)> {
    let (index, rest) = number(line.strip_prefix(b"\t")?.trim_ascii_start())?;
    let rest = std::str::from_utf8(rest.strip_prefix(b" - ")?).ok()?;
    Some((index, rest))
}
