//! What a build says before its tests run: make, ninja, `CMake` and configure scripts.

use atlas_core::{Evidence, LostReason, ParsedLogBuilder};
use memchr::memmem::{self, Finder};

/// Failed build steps with the complaints that stand above them.
///
/// Fed only with lines that no test can have printed. A complaint alone is nothing: it counts when
/// the build tool says that it stops.
#[derive(Clone)]
pub(super) struct Builds {
    error: Finder<'static>,
    undefined: Finder<'static>,
    /// `/usr/bin/ld: cannot find -lm`: no word "error" in it.
    linker: Finder<'static>,
    meson: Finder<'static>,
    complaints: Vec<Evidence>,
    /// The step that ninja last named, waiting for ninja to stop.
    step: Option<String>,
    failed: Vec<(String, Vec<Evidence>)>,
}

impl Default for Builds {
    fn default() -> Self {
        Self {
            error: Finder::new("error: "),
            undefined: Finder::new("undefined reference to "),
            linker: Finder::new("ld: cannot find "),
            meson: Finder::new("meson.build:"),
            complaints: Vec::new(),
            step: None,
            failed: Vec::new(),
        }
    }
}

impl Builds {
    const MAX_LINES: usize = 20;
    const MAX_STEPS: usize = 100;

    /// Takes one clean line.
    pub(super) fn line(&mut self, line: &[u8], number: usize) {
        const SHORTEST: usize = 12;
        if line.len() < SHORTEST {
            return;
        }
        if self.is_complaint(line) {
            self.note(line, number);
            return;
        }
        match line.first() {
            Some(b'F') if line.starts_with(b"FAILED: ") => {
                self.stop_ninja();
                let step = line.get(8..).unwrap_or_default();
                // Newer ninjas put the exit code in front.
                let step = match (step.starts_with(b"[code="), memchr::memchr(b']', step)) {
                    (true, Some(end)) => step.get(end + 1..).unwrap_or_default(),
                    _ => step,
                };
                self.complaints.clear();
                self.step = Some(text(step));
                self.note(line, number);
            }
            Some(b'n') if line.starts_with(b"ninja: build stopped") => {
                self.note(line, number);
                self.stop_ninja();
            }
            Some(b'm' | b'g') => {
                if let Some(target) = no_rule(line) {
                    self.note(line, number);
                    self.fail(target);
                } else if let Some(target) = stopped_make(line)
                    && !self.complaints.is_empty()
                {
                    self.note(line, number);
                    self.fail(target);
                }
            }
            Some(b'-') if line.starts_with(b"-- Configuring incomplete, errors occurred!") => {
                self.note(line, number);
                self.fail("configure".to_owned());
            }
            Some(b'c') if line.starts_with(b"configure: error: ") => {
                self.note(line, number);
                self.fail("configure".to_owned());
            }
            _ => {
                if self.meson.find(line).is_some() && memmem::find(line, b": ERROR: ").is_some() {
                    self.note(line, number);
                    self.fail("configure".to_owned());
                }
            }
        }
    }

    /// Whether a compiler, a linker or a build tool complains.
    fn is_complaint(&self, line: &[u8]) -> bool {
        if let Some(at) = self.error.find(line) {
            let before = line.get(..at).unwrap_or_default();
            return before.ends_with(b": ") || before.ends_with(b": fatal ");
        }
        line.starts_with(b"CMake Error")
            || self.linker.find(line).is_some()
            || line.ends_with(b"ld returned 1 exit status")
            || self.undefined.find(line).is_some()
    }

    /// Names what was not built. Returns whether there is any.
    pub(super) fn finish(mut self, log: &mut ParsedLogBuilder) -> bool {
        let any = !self.failed.is_empty();
        for (step, lines) in self.failed.drain(..) {
            log.lose(&step, LostReason::BuildFailed, lines);
        }
        any
    }

    fn note(&mut self, line: &[u8], number: usize) {
        if self.complaints.len() < Self::MAX_LINES {
            self.complaints
                .push(Evidence::at("log", number, text(line)));
        }
    }

    fn stop_ninja(&mut self) {
        if let Some(step) = self.step.take() {
            self.fail(step);
        }
    }

    fn fail(&mut self, step: String) {
        let lines = std::mem::take(&mut self.complaints);
        if self.failed.len() < Self::MAX_STEPS {
            self.failed.push((step, lines));
        }
    }
}

fn text(line: &[u8]) -> String {
    const LONGEST: usize = 500;
    let line = line.get(..LONGEST).unwrap_or(line);
    String::from_utf8_lossy(line.trim_ascii()).into_owned()
}

/// The target of `make: *** No rule to make target 'x', needed by 'y'.  Stop.`
fn no_rule(line: &[u8]) -> Option<String> {
    let mark = b": *** No rule to make target ";
    let at = memmem::find(line, mark)?;
    let rest = line.get(at + mark.len()..)?;
    let target = rest.get(1..)?;
    let end = target.iter().position(|byte| *byte == b'\'')?;
    is_make(line.get(..at)?).then(|| text(target.get(..end).unwrap_or_default()))
}

/// Whether these bytes before a colon are make's own name: `make`, `gmake[2]`.
fn is_make(tool: &[u8]) -> bool {
    let tool = tool.strip_prefix(b"g").unwrap_or(tool);
    tool.starts_with(b"make") && tool.len() <= 10
}

/// The target of `make[2]: *** [file:1: target] Error 1`.
fn stopped_make(line: &[u8]) -> Option<String> {
    let at = memmem::find(line, b": *** [")?;
    if !is_make(line.get(..at)?) {
        return None;
    }
    let rest = line.get(at + 7..)?;
    let target = rest.get(..memchr::memrchr(b']', rest)?)?;
    let target = match memmem::rfind(target, b": ") {
        Some(colon) => target.get(colon + 2..)?,
        None => target,
    };
    Some(text(target))
}

/// Reads a number at the start of the text: the number and what follows.
pub(super) fn number(text: &[u8]) -> Option<(u64, &[u8])> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if digits == 0 {
        return None;
    }
    let (digits, rest) = text.split_at_checked(digits)?;
    let value = digits.iter().fold(0_u64, |value, digit| {
        value
            .saturating_mul(10)
            .saturating_add(u64::from(digit - b'0'))
    });
    Some((value, rest))
}
