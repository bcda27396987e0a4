//! What rustc and cargo say while they build.

use super::line;
use atlas_core::Evidence;
use std::collections::BTreeMap;

/// What the lines below may hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Below {
    #[default]
    Nothing,
    /// The place of an error, up to an empty line.
    Place,
    /// What the linker printed, indented.
    Linker,
    /// The next line says why.
    Cause,
}

/// How far cargo has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    /// It has not shown that it is cargo.
    #[default]
    Unseen,
    Builds,
    /// It gave up before it ran anything.
    Stopped,
}

/// Collects compiler errors until cargo says which target they belong to.
#[derive(Clone, Debug, Default)]
pub(in crate::rust) struct Build {
    /// Errors that no target claims yet.
    errors: Vec<Evidence>,
    /// The target that failed last, while nothing else was said.
    last: Option<String>,
    below: Below,
    failed: BTreeMap<String, Vec<Evidence>>,
    stage: Stage,
}

impl Build {
    const MAX_LINES: usize = 38;

    pub(in crate::rust) fn line(&mut self, line: &[u8], number: usize) {
        match line.first() {
            Some(b'e') if line.starts_with(b"error") => self.error(line, number),
            Some(b'C') if line == b"Caused by:" => self.below = Below::Cause,
            Some(b' ') if self.below == Below::Cause => {
                self.below = Below::Nothing;
                self.cause(line, number);
            }
            Some(b' ') => {
                let text = line.trim_ascii_start();
                if self.below == Below::Place && text.starts_with(b"--> ") {
                    self.below = Below::Nothing;
                    self.keep(line, number);
                } else if self.below == Below::Linker && is_of_linker(text) {
                    self.keep(line, number);
                } else if self.stage == Stage::Unseen
                    && (text.starts_with(b"Compiling ")
                        || text.starts_with(b"Updating ")
                        || text.starts_with(b"Blocking "))
                {
                    self.stage = Stage::Builds;
                }
            }
            None if self.below == Below::Place => self.below = Below::Nothing,
            _ => {}
        }
    }

    fn error(&mut self, line: &[u8], number: usize) {
        let text = String::from_utf8_lossy(line);
        let module = line::not_compiled(&text).or_else(|| {
            let rest = text.strip_prefix("error: failed to run custom build command for `")?;
            rest.split([' ', '`']).next().map(line::crate_name)
        });
        if let Some(module) = module {
            self.stage = Stage::Stopped;
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
            if cargo_stops || self.stage == Stage::Builds && text.starts_with("error: ") {
                self.stage = Stage::Stopped;
            }
            self.below = if text.starts_with("error: linking with ") {
                Below::Linker
            } else {
                Below::Place
            };
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
        self.stage == Stage::Stopped
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
