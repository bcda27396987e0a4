//! What rustc and cargo say while they build.

use super::line;
use atlas_core::Evidence;
use std::collections::BTreeMap;

/// Collects compiler errors until cargo says which target they belong to.
#[derive(Clone, Debug, Default)]
pub(in crate::rust) struct Build {
    /// Errors that no target claims yet.
    errors: Vec<Evidence>,
    /// The target that failed last, while nothing else was said.
    last: Option<String>,
    /// What the linker printed follows, indented.
    linking: bool,
    /// The next line says why.
    wants_cause: bool,
    /// An error was the last thing said; its place follows.
    wants_place: bool,
    failed: BTreeMap<String, Vec<Evidence>>,
    stopped: bool,
    /// Cargo has shown that it is cargo.
    seen: bool,
}

impl Build {
    const MAX_LINES: usize = 38;

    pub(in crate::rust) fn line(&mut self, line: &[u8], number: usize) {
        match line.first() {
            Some(b'e') if line.starts_with(b"error") => self.error(line, number),
            Some(b'C') if line == b"Caused by:" => self.wants_cause = true,
            Some(b' ') if self.wants_cause => {
                self.wants_cause = false;
                self.cause(line, number);
            }
            Some(b' ') => {
                let text = line.trim_ascii_start();
                if self.wants_place && text.starts_with(b"--> ") {
                    self.wants_place = false;
                    self.keep(line, number);
                } else if self.linking && is_of_linker(text) {
                    self.keep(line, number);
                } else if text.starts_with(b"Compiling ")
                    || text.starts_with(b"Updating ")
                    || text.starts_with(b"Blocking ")
                {
                    self.seen = true;
                }
            }
            Some(_) => {}
            None => self.wants_place = false,
        }
    }

    fn error(&mut self, line: &[u8], number: usize) {
        let text = String::from_utf8_lossy(line);
        let module = line::not_compiled(&text).or_else(|| {
            let rest = text.strip_prefix("error: failed to run custom build command for `")?;
            rest.split([' ', '`']).next().map(line::crate_name)
        });
        if let Some(module) = module {
            self.stopped = true;
            let mut proof = std::mem::take(&mut self.errors);
            proof.push(Evidence::at("log", number, text.into_owned()));
            self.last = Some(module.clone());
            self.failed.entry(module).or_default().extend(proof);
        } else if text.starts_with("error[") || text.starts_with("error: ") {
            let cargo_stops = ["failed to ", "no matching package", "no test target"]
                .iter()
                .any(|start| {
                    text["error".len()..]
                        .trim_start_matches(": ")
                        .starts_with(start)
                });
            self.stopped |= cargo_stops || self.seen && text.starts_with("error: ");
            self.wants_place = true;
            self.linking = text.starts_with("error: linking with ");
            self.last = None;
            self.keep(line, number);
        }
    }

    /// What kept cargo or the compiler from working, below the error that says it did not.
    fn cause(&mut self, line: &[u8], number: usize) {
        let known = self
            .last
            .as_ref()
            .and_then(|last| self.failed.get_mut(last));
        match known {
            Some(proof) if proof.len() < Self::MAX_LINES => {
                let text = String::from_utf8_lossy(line).into_owned();
                proof.push(Evidence::at("log", number, text));
            }
            Some(_) => {}
            None => self.keep(line, number),
        }
    }

    fn keep(&mut self, line: &[u8], number: usize) {
        if self.errors.len() < Self::MAX_LINES {
            let text = String::from_utf8_lossy(line).into_owned();
            self.errors.push(Evidence::at("log", number, text));
        }
    }

    /// The targets that were not built, each with the errors.
    pub(in crate::rust) fn failed(&mut self) -> BTreeMap<String, Vec<Evidence>> {
        std::mem::take(&mut self.failed)
    }

    /// Whether cargo gave up before it ran anything.
    pub(in crate::rust) fn stopped(&self) -> bool {
        self.stopped
    }
}

/// Whether a line below `error: linking with …` is the linker's own complaint, and not its command.
fn is_of_linker(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"= note: ").unwrap_or(text);
    !text.trim_ascii_start().starts_with(b"\"")
        && ["ld: ", "lld: ", "collect2: ", "undefined reference to "]
            .iter()
            .any(|part| memchr::memmem::find(text, part.as_bytes()).is_some())
}
