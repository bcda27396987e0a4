//! Karma: its progress and dots reporters, karma-mocha-reporter and karma-spec-reporter.
//!
//! Karma's own reporters name failing specs only, `browser full name FAILED`; what a failure says
//! is indented by a tab. The two trees name all; an id joins their suites and test by ` > `. With
//! several browsers a result counts for each that prints it.
//!
//! How a browser stands, `Executed 3 of 10`, is the count that the results are held against.

mod line;
mod tree;

use crate::runner::{About, Look, Mark as RunnerMark, Place, Shipped};
use crate::text::{clean, has};
use atlas_core::{
    ByLine, Evidence, LineState, LostReason, ParsedLog, ParsedLogBuilder, RunOutcome, TestStatus,
    Totals,
};
use line::Executed;
use std::collections::BTreeMap;
use tree::{Mark, Spec, Tree};

/// Karma.
pub(crate) static KARMA: Shipped = Shipped::new(
    "karma",
    &About {
        languages: &["javascript", "typescript"],
        aliases: &["bpmn_js", "openlayers", "chart_js"],
        commands: &[&["karma", "start"], &["ng", "test"]],
        without_report: "the runner writes a report only with a plugin, which the repository need not have",
        ..About::new(
            "the progress and dots reporters, karma-mocha-reporter and karma-spec-reporter, \
             one browser or several",
            "passing and skipped specs of progress and dots; where suites end and a spec's own \
             title begins there; a suite that karma-mocha-reporter comes back to",
        )
    },
    mark,
    || Box::new(ByLine::new(State::new())),
)
.looking(&[
    Look(["*", "*"], "*", "*", "xecuted "),
    Look(["*", "*"], "*", "*", "ma-server]: "),
]);

fn mark(line: &[u8], _before: &[u8]) -> Option<RunnerMark> {
    match line.first()? {
        b' ' | b'\t' => None,
        _ => {
            // Bytes that are rare in other runners' lines, for every line of a log comes here.
            if has(line, |byte| byte == b'x') && line::executed(line).is_some() {
                return Place::Within.certain("a `browser: Executed N of N` line");
            }
            if !has(line, |byte| byte == b'v') {
                return None;
            }
            memchr::memmem::find(line, b" [karma-server]: ")?;
            let text = std::str::from_utf8(line).ok()?;
            line::logged(text)?;
            Place::Start.certain("a `[karma-server]:` line")
        }
    }
}

/// Most browsers of one run.
const BROWSERS: usize = 100;

/// What the SUMMARY of karma-mocha-reporter counts.
#[derive(Clone, Debug, Default)]
struct Summary {
    /// The marks in front of its counts.
    symbols: Vec<String>,
    completed: u64,
    skipped: u64,
    failed: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    /// Where a tree may stand.
    Run,
    Summary,
    /// The failures are told again.
    Told,
}

#[derive(Clone)]
struct State {
    log: ParsedLogBuilder,
    line: usize,
    at: At,
    /// Something that only Karma prints was seen.
    karma: bool,
    /// karma-mocha-reporter began a run.
    mocha: bool,
    /// The results by the marks of karma-mocha-reporter, of karma-spec-reporter, and by any.
    trees: [Tree; 3],
    /// `browser full name` of each `FAILED` line.
    failed: Vec<String>,
    browsers: BTreeMap<String, Option<Executed>>,
    summary: Option<Summary>,
    /// A string that a test logged goes on over lines.
    logged: bool,
    lost: Vec<(String, LostReason, Vec<Evidence>)>,
    error: Option<(String, Vec<Evidence>)>,
    timed_out: bool,
}

impl State {
    fn new() -> Self {
        Self {
            log: ParsedLogBuilder::default(),
            line: 0,
            at: At::Run,
            karma: false,
            mocha: false,
            trees: [
                Tree::new(tree::MOCHA),
                Tree::new(tree::SPEC),
                Tree::new(tree::ANY),
            ],
            failed: Vec::new(),
            browsers: BTreeMap::new(),
            summary: None,
            logged: false,
            lost: Vec::new(),
            error: None,
            timed_out: false,
        }
    }

    fn evidence(&self, text: &str) -> Evidence {
        Evidence::at("log", self.line, text.trim_end().to_owned())
    }

    /// A line that begins at the line start. Returns whether it is Karma's.
    fn plain(&mut self, line: &[u8]) -> bool {
        if let Some((browser, executed)) = line::executed(line) {
            self.karma = true;
            if self.browsers.len() < BROWSERS || self.browsers.contains_key(browser) {
                self.browsers.insert(browser.to_owned(), Some(executed));
            }
            self.end_error();
            return true;
        }
        let text = String::from_utf8_lossy(line);
        let text = text.as_ref();
        if let Some((level, who, what)) = line::logged(text) {
            self.karma |= matches!(who, "karma-server" | "launcher");
            self.said(level, who, what, text);
            return true;
        }
        match text {
            "START:" => {
                self.karma = true;
                self.mocha = true;
                self.at = At::Run;
                return true;
            }
            "SUMMARY:" => {
                self.at = At::Summary;
                self.summary = Some(Summary::default());
                return true;
            }
            "FAILED TESTS:" if self.at == At::Summary => {
                self.at = At::Told;
                return true;
            }
            _ => {}
        }
        if text.starts_with("Finished in ") && text.contains(" @ ") {
            self.trees.iter_mut().for_each(Tree::close);
            return true;
        }
        if self.at == At::Summary && self.summed(text) {
            return true;
        }
        if let Some(spec) = text.strip_suffix(" FAILED")
            && !spec.ends_with(char::is_numeric)
            && line::browser(spec)
                .is_some_and(|(_, rest)| rest.strip_prefix(' ').is_some_and(|rest| !is_log(rest)))
        {
            self.failed.push(spec.to_owned());
            return true;
        }
        if let Some(browser) = text.strip_suffix(" ERROR")
            && line::browser(browser).is_some_and(|(_, rest)| rest.is_empty())
        {
            self.end_error();
            let proof = vec![self.evidence(text)];
            self.error = Some((browser.to_owned(), proof));
            return true;
        }
        if let Some(rest) = text.strip_prefix("ERROR in ")
            && self.lost.len() < 1000
        {
            let file = rest.split(' ').next().unwrap_or(rest);
            let proof = vec![self.evidence(text)];
            self.lost
                .push((file.to_owned(), LostReason::BuildFailed, proof));
        }
        false
    }

    /// A line of Karma's own log.
    fn said(&mut self, level: &str, who: &str, what: &str, text: &str) {
        let (name, rest) = line::browser(who).unwrap_or((who, ""));
        if what.starts_with("Connected on socket") && rest.is_empty() {
            if self.browsers.len() >= BROWSERS {
                return;
            }
            self.browsers.entry(name.to_owned()).or_default();
        } else if level == "WARN" && what.starts_with("Disconnected (") {
            let reason = if what.contains("no message in") {
                self.timed_out = true;
                LostReason::TimedOut
            } else {
                LostReason::Crashed
            };
            let proof = vec![self.evidence(text)];
            self.lost.push((name.to_owned(), reason, proof));
        } else if level == "ERROR" && who == "launcher" && self.lost.len() < 100 {
            let browser = what.strip_prefix("Cannot start ").unwrap_or("launcher");
            let proof = vec![self.evidence(text)];
            self.lost
                .push((browser.to_owned(), LostReason::Crashed, proof));
        }
    }

    /// `✔ 8 tests completed`, below `SUMMARY:`.
    fn summed(&mut self, text: &str) -> bool {
        let Some(summary) = &mut self.summary else {
            return false;
        };
        let mut words = text.split(' ');
        let symbol = words.next().unwrap_or_default();
        let Some(number) = words.next().and_then(|n| n.parse::<u64>().ok()) else {
            return false;
        };
        match (words.next(), words.next(), words.next()) {
            (Some("test" | "tests"), Some("completed"), None) => summary.completed = number,
            (Some("test" | "tests"), Some("skipped"), None) => summary.skipped = number,
            (Some("test" | "tests"), Some("failed"), None) => summary.failed = number,
            _ => return false,
        }
        summary.symbols.push(symbol.to_owned());
        true
    }

    /// The results of the log's own reporter: it is told by its heading, and its marks by its summary.
    fn specs(&mut self) -> Vec<Spec> {
        let [mocha, spec, any] = &mut self.trees;
        let symbols = self.summary.as_ref().map(|summary| &summary.symbols[..]);
        let tree = match symbols {
            Some(symbols) if mocha.knows(symbols) => mocha,
            Some(symbols) if spec.knows(symbols) => spec,
            Some(_) => any,
            None if self.mocha || spec.specs.is_empty() => mocha,
            None => spec,
        };
        std::mem::take(&mut tree.specs)
    }

    fn end_error(&mut self) {
        if let Some((browser, proof)) = self.error.take() {
            self.lost.push((browser, LostReason::LoadFailed, proof));
        }
    }

    /// The results of a tree. `None` where there is none.
    fn record_tree(&mut self) -> Option<[u64; 3]> {
        let specs = self.specs();
        if specs.is_empty() || !self.karma {
            return None;
        }
        let shown = specs.iter().filter(|spec| spec.mark != Mark::Skipped);
        let timed = |title: &str| tree::without_time(title).len() < title.len();
        let all = shown.clone().filter(|spec| timed(&spec.title)).count();
        let timed = all * 2 > shown.count();
        let mut seen = [0; 3];
        for spec in specs {
            let mut title = spec.title.as_str();
            if timed {
                title = tree::without_time(title);
            }
            // karma-spec-reporter names the browser if it is told to.
            if let Some((head, name)) = title.rsplit_once(" [")
                && let Some(name) = name.strip_suffix(']')
                && self.browsers.contains_key(name)
            {
                title = head;
            }
            let mut path = spec.path;
            path.push(title.to_owned());
            let id = path.join(" > ");
            let (at, status) = match spec.mark {
                Mark::Passed => (0, TestStatus::Passed),
                Mark::Failed => (1, TestStatus::Failed),
                Mark::Skipped => (2, TestStatus::Skipped),
            };
            seen[at] += 1;
            self.log.record("", &id, &id, status);
        }
        Some(seen)
    }

    /// The failures that Karma's own reporters name; returns how many.
    fn record_failures(&mut self) -> u64 {
        let mut seen = 0;
        for line in std::mem::take(&mut self.failed) {
            let known = self.browsers.keys().find_map(|browser| {
                let rest = line.strip_prefix(browser.as_str())?;
                rest.strip_prefix(' ')
            });
            let spec = known.or_else(|| {
                // Without the browser's name elsewhere, its form must do.
                let (_, rest) = line::browser(&line)?;
                rest.strip_prefix(' ').filter(|_| self.browsers.is_empty())
            });
            if let Some(spec) = spec {
                seen += 1;
                self.log.record("", spec, spec, TestStatus::Failed);
            }
        }
        seen
    }
}

/// What a browser's console calls its lines.
const LEVELS: [&str; 5] = ["LOG", "WARN", "ERROR", "INFO", "DEBUG"];

/// `LOG: 'text'`; `LOG LOG: 'text'` of karma-spec-reporter.
fn is_log(text: &str) -> bool {
    LEVELS.iter().any(|level| {
        let rest = text.strip_prefix(level);
        rest.is_some_and(|rest| rest.starts_with(": ") || rest.starts_with(" LOG: "))
    })
}

impl LineState for State {
    fn line(&mut self, raw: &[u8]) {
        self.line += 1;
        let line = clean(raw);
        match line.first() {
            None => {}
            Some(b' ' | b'\t') => {
                if let Some((_, proof)) = &mut self.error
                    && proof.len() < 12
                {
                    let text = String::from_utf8_lossy(&line).trim().to_owned();
                    proof.push(Evidence::at("log", self.line, text));
                }
                if self.logged {
                    self.logged = !line.ends_with(b"'");
                    return;
                }
            }
            Some(_) => {
                let own = self.plain(&line);
                if own {
                    self.logged = false;
                } else if self.logged {
                    self.logged = !line.ends_with(b"'");
                } else if let Some(at) = memchr::memmem::find(&line, b": '") {
                    // `LOG: 'text`, whose closing quote is lines away.
                    let quotes = memchr::memchr_iter(b'\'', &line[at..]).count();
                    let level = LEVELS.iter().any(|l| line[..at].ends_with(l.as_bytes()));
                    self.logged = level && quotes % 2 == 1 && !line.ends_with(b"'");
                }
            }
        }
        if self.at == At::Run {
            self.trees.iter_mut().for_each(|tree| tree.line(&line));
        }
    }

    fn finish(mut self) -> ParsedLog {
        self.end_error();
        let tree = self.record_tree();
        let browsers = self.browsers.len() as u64;
        let mut sum = Executed::default();
        let (mut all, mut begun) = (true, false);
        for executed in self.browsers.values().flatten() {
            begun = true;
            sum.ran = sum.ran.saturating_add(executed.ran);
            sum.failed = sum.failed.saturating_add(executed.failed);
            sum.skipped = sum.skipped.saturating_add(executed.skipped);
            sum.disconnected |= executed.disconnected;
            sum.error |= executed.error;
            all &= executed.ran.saturating_add(executed.skipped) >= executed.total;
        }
        let mut agrees = None;
        if let Some([passed, failed, skipped]) = tree {
            // With several browsers karma-mocha-reporter prints one line for all of them.
            if let Some(summary) = &self.summary {
                // Where a browser counts other tests, a test printed the summary.
                let ran = summary.completed.saturating_add(summary.failed);
                let told = !begun || sum.ran == ran && sum.failed == summary.failed;
                begun = true;
                sum.failed = summary.failed;
                sum.skipped = summary.skipped;
                sum.ran = summary.completed.saturating_add(summary.failed);
                agrees = (browsers < 2).then_some(
                    told && passed == summary.completed
                        && failed == summary.failed
                        && skipped == summary.skipped,
                );
            } else if begun {
                agrees = Some(
                    passed == sum.ran.saturating_sub(sum.failed)
                        && failed == sum.failed
                        && skipped == sum.skipped,
                );
            }
        } else if self.karma {
            let failed = self.record_failures();
            agrees = begun.then_some(failed == sum.failed);
        }
        if begun && agrees.is_some() {
            self.log.add_totals(Totals {
                passed: Some(sum.ran.saturating_sub(sum.failed)),
                failed: Some(sum.failed),
                skipped: Some(sum.skipped),
                ..Totals::default()
            });
            self.log.set_consistent(agrees == Some(true));
        }
        for (module, reason, proof) in std::mem::take(&mut self.lost) {
            self.log.lose(&module, reason, proof);
        }
        let ran = sum.ran.saturating_add(sum.skipped) > 0 || self.log.recorded() > 0;
        let log = self.log.finish(RunOutcome::NothingRan);
        let outcome = if self.timed_out {
            RunOutcome::TimedOut
        } else if sum.disconnected {
            RunOutcome::Crashed
        } else if ran && (!begun || !all && !sum.error && self.summary.is_none()) {
            RunOutcome::Truncated
        } else if ran {
            RunOutcome::Completed
        } else if log.build_failed() {
            RunOutcome::BuildFailed
        } else {
            RunOutcome::NothingRan
        };
        ParsedLog { outcome, ..log }
    }
}
