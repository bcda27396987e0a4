//! `--message-format libtest-json` and `libtest-json-plus`, on standard output.

use atlas_core::{ParsedLogBuilder, TestStatus, Totals};
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(rename = "type")]
    kind: Cow<'a, str>,
    #[serde(rename = "event")]
    what: Cow<'a, str>,
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    passed: Option<u64>,
    failed: Option<u64>,
    #[serde(borrow)]
    nextest: Option<Target<'a>>,
}

/// The binary of a suite, which only the plus format names.
#[derive(Deserialize)]
struct Target<'a> {
    #[serde(rename = "crate", borrow)]
    package: Option<Cow<'a, str>>,
    #[serde(borrow)]
    test_binary: Option<Cow<'a, str>>,
    #[serde(borrow)]
    kind: Option<Cow<'a, str>>,
}

/// Results from the events.
#[derive(Clone, Debug, Default)]
pub(super) struct Json {
    /// Package and binary -> kind of the target.
    kinds: HashMap<(String, String), String>,
    /// Package, binary, test and status.
    results: Vec<(String, String, String, TestStatus)>,
    totals: Option<Totals>,
    begun: u64,
    ended: u64,
}

/// `crate::binary$test`, with `@stress-2` behind the binary and `#3` behind a test that was tried
/// again.
fn split(name: &str) -> Option<(&str, &str, &str)> {
    let (target, test) = name.split_once('$')?;
    let (package, binary) = target.split_once("::")?;
    let binary = match binary.rsplit_once("@stress-") {
        Some((binary, round)) if round.bytes().all(|byte| byte.is_ascii_digit()) => binary,
        _ => binary,
    };
    let test = match test.rsplit_once('#') {
        Some((test, tries)) if tries.parse::<u32>().is_ok_and(|tries| tries > 1) => test,
        _ => test,
    };
    (!package.is_empty() && !binary.is_empty() && !test.is_empty())
        .then_some((package, binary, test))
}

impl Json {
    /// Whether a line is one of the events, which it then takes.
    pub(super) fn line(&mut self, line: &[u8]) -> bool {
        if !line.starts_with(b"{\"type\":\"") {
            return false;
        }
        let Ok(event) = serde_json::from_slice::<Event<'_>>(line) else {
            return false;
        };
        match (&*event.kind, &*event.what) {
            ("suite", "started") => {
                self.begun += 1;
                if let Some(target) = event.nextest
                    && let (Some(package), Some(binary), Some(kind)) =
                        (target.package, target.test_binary, target.kind)
                {
                    let key = (package.into_owned(), binary.into_owned());
                    self.kinds.insert(key, kind.into_owned());
                }
            }
            ("suite", "ok" | "failed") => {
                self.ended += 1;
                // A suite whose tests do not run in one piece is ended and begun again, and each
                // time counts all of its ignored tests.
                self.totals.get_or_insert_default().add(Totals {
                    passed: event.passed,
                    failed: event.failed,
                    ..Totals::default()
                });
            }
            ("test", result) => {
                let status = match result {
                    "ok" => TestStatus::Passed,
                    "failed" => TestStatus::Failed,
                    "ignored" => TestStatus::Skipped,
                    _ => return true,
                };
                let Some((package, binary, test)) = event.name.as_deref().and_then(split) else {
                    return false;
                };
                let owned = str::to_owned;
                self.results
                    .push((owned(package), owned(binary), owned(test), status));
            }
            _ => return false,
        }
        true
    }

    /// The binary's id as nextest has it elsewhere; `known` are the ids that the console names.
    fn binary_id(&self, package: &str, binary: &str, known: &BTreeSet<&str>) -> String {
        let key = (package.to_owned(), binary.to_owned());
        match self.kinds.get(&key).map(String::as_str) {
            Some("lib" | "proc-macro") => package.to_owned(),
            Some("test") => format!("{package}::{binary}"),
            Some(kind) => format!("{package}::{kind}/{binary}"),
            None => {
                let library = package.replace('-', "_") == binary;
                let kinds = ["", "bin/", "example/", "bench/"];
                let mut ids: Vec<String> = kinds
                    .iter()
                    .map(|kind| format!("{package}::{kind}{binary}"))
                    .collect();
                if library {
                    ids.insert(0, package.to_owned());
                }
                let at = ids.iter().position(|id| known.contains(id.as_str()));
                ids.swap_remove(at.unwrap_or(0))
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.results.is_empty()
    }

    /// Whether every suite that began has ended.
    pub(super) fn complete(&self) -> bool {
        self.begun > 0 && self.ended >= self.begun
    }

    /// Records the tests that the console does not name.
    pub(super) fn record(&self, log: &mut ParsedLogBuilder, modules: &BTreeSet<&str>) {
        for (package, binary, test, status) in &self.results {
            let module = self.binary_id(package, binary, modules);
            let id = format!("{module} {test}");
            if log.status(&id).is_none() || modules.is_empty() {
                log.record(&module, &id, &id, *status);
            }
        }
    }

    /// What the suites count.
    pub(super) fn totals(&self) -> Option<Totals> {
        self.totals
    }

    /// Whether the events agree with what the suites count.
    pub(super) fn agrees(&self) -> Option<bool> {
        let totals = self.totals?;
        let declared = totals
            .passed
            .unwrap_or(0)
            .saturating_add(totals.failed.unwrap_or(0));
        let ran = self
            .results
            .iter()
            .filter(|result| result.3 != TestStatus::Skipped);
        // A test that fails for its leaks is counted as passed, so only the sum can be compared.
        Some(ran.count() as u64 == declared)
    }
}
