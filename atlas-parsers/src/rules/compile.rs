//! From a rule set to something that runs; what is refused, and why.

use super::RuleSet;
use super::quick::{Quick, first_bytes};
use super::read::{RuleReading, State};
use atlas_core::{ByLine, LogParser, LogReader, TestStatus};
use regex::{Regex, RegexBuilder};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::sync::Arc;

/// Why a rule set cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("rule set: {field}: {why}")]
pub struct RuleError {
    /// The field, with its place: ``lines[1] `result`.pattern``.
    pub field: String,
    /// What is wrong with it, and what would do.
    pub why: String,
}

impl RuleError {
    fn new(field: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            why: why.into(),
        }
    }
}

/// The most bytes of a rule set's JSON.
const MAX_JSON: usize = 64 << 10;
/// The most bytes of one pattern.
const MAX_PATTERN: usize = 600;
/// The most patterns of a set.
const MAX_PATTERNS: usize = 80;
/// The most bytes that one compiled pattern may take.
const MAX_COMPILED: usize = 1 << 20;

/// What no pattern may match all of.
const ANYTHING: [&str; 6] = [
    " ",
    "x",
    "a b c",
    "Lorem ipsum dolor sit amet, 42 times",
    "==--//::..",
    "  {\"key\": [1, 2]}",
];

/// What stands in any log and is no result: a rule with a fixed status must not read it.
const PROSE: [&str; 6] = [
    "Lorem ipsum dolor sit amet",
    "compiling the sources now",
    "  at Object.run (file.js:10:3)",
    "warning: unused variable `x`",
    "2024-01-01 12:00:00 connected to 10.0.0.1",
    "everything went well in the end",
];

/// What a pattern stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Role {
    IgnoreBegin(usize),
    IgnoreEnd(usize),
    Start,
    End,
    BuildFailed,
    Crashed,
    TimedOut,
    SectionEnd(usize),
    SectionBegin(usize),
    Totals(usize),
    SuiteBegin,
    SuiteEnd,
    Entry(usize),
    Line(usize),
}

/// One pattern with the places of its groups.
#[derive(Debug)]
pub(super) struct Pattern {
    pub(super) role: Role,
    pub(super) regex: Regex,
    /// The same for lines of ASCII, where it can be said so.
    pub(super) quick: Option<Quick>,
    pub(super) id: Option<usize>,
    pub(super) status: Option<usize>,
    pub(super) suite: Option<usize>,
    pub(super) totals: [Option<usize>; TOTALS.len()],
    /// Field and rule, for messages.
    pub(super) label: String,
}

pub(super) const TOTALS: [&str; 7] = [
    "total", "passed", "failed", "errors", "skipped", "xfailed", "xpassed",
];

#[derive(Debug)]
pub(super) struct Compiled {
    pub(super) rules: RuleSet,
    pub(super) patterns: Vec<Pattern>,
    /// The patterns that a line may match, by its first byte; the last for empty lines.
    pub(super) by_first: Vec<Vec<u16>>,
    pub(super) strip: Vec<Regex>,
    pub(super) has_start: bool,
    pub(super) has_end: bool,
}

/// A rule set that is ready to read logs.
#[derive(Clone, Debug)]
pub struct RuleParser {
    compiled: Arc<Compiled>,
}

impl RuleSet {
    /// Reads a rule set from JSON. It is not compiled yet.
    ///
    /// # Errors
    /// JSON that is too large, broken, of another version, or that has other fields; the field is
    /// named.
    pub fn from_json(text: &str) -> Result<Self, RuleError> {
        if text.len() > MAX_JSON {
            let why = format!("{} bytes; at most {MAX_JSON} are read", text.len());
            return Err(RuleError::new("the whole", why));
        }
        let rules: Self =
            serde_json::from_str(text).map_err(|why| RuleError::new("JSON", why.to_string()))?;
        Ok(rules)
    }

    /// The set as JSON, the same bytes for the same set.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// SHA-256 of [`to_json`](Self::to_json), in hex.
    pub fn hash(&self) -> String {
        hex_digest(self.to_json().as_bytes())
    }

    /// Checks the set and makes a parser of it.
    ///
    /// # Errors
    /// No rule at all; a pattern that is no regular expression, is too large, matches every line,
    /// or lacks the groups that its place needs; a status word without use or without a status. The
    /// rule and its field are named.
    pub fn compile(&self) -> Result<RuleParser, RuleError> {
        self.check_names()?;
        let mut all = Patterns::default();
        for (at, rule) in self.ignore.iter().enumerate() {
            let label = |field| format!("ignore[{at}] `{}`.{field}", rule.name);
            all.add(Role::IgnoreBegin(at), label("begin"), &rule.begin, &[])?;
            if let Some(end) = &rule.end {
                all.add(Role::IgnoreEnd(at), label("end"), end, &[])?;
            }
        }
        let markers = &self.markers;
        for (role, name, patterns) in [
            (Role::Start, "start", &markers.start),
            (Role::End, "end", &markers.end),
            (Role::BuildFailed, "build_failed", &markers.build_failed),
            (Role::Crashed, "crashed", &markers.crashed),
            (Role::TimedOut, "timed_out", &markers.timed_out),
        ] {
            for (at, pattern) in patterns.iter().enumerate() {
                all.add(role, format!("markers.{name}[{at}]"), pattern, &["suite"])?;
            }
        }
        for (at, rule) in self.sections.iter().enumerate() {
            let label = |field| format!("sections[{at}] `{}`.{field}", rule.name);
            if let Some(end) = &rule.end {
                all.add(Role::SectionEnd(at), label("end"), end, &[])?;
            }
            all.add(Role::SectionBegin(at), label("begin"), &rule.begin, &[])?;
        }
        for (at, rule) in self.totals.iter().enumerate() {
            let label = format!("totals[{at}] `{}`.pattern", rule.name);
            let pattern = all.add(Role::Totals(at), label.clone(), &rule.pattern, &TOTALS)?;
            if pattern.totals.iter().all(Option::is_none) {
                let why = format!("has none of the groups {}", TOTALS.join(", "));
                return Err(RuleError::new(label, why));
            }
        }
        for (at, rule) in self.suites.iter().enumerate() {
            let label = |field| format!("suites[{at}] `{}`.{field}", rule.name);
            let begin = all.add(Role::SuiteBegin, label("begin"), &rule.begin, &["suite"])?;
            if begin.suite.is_none() {
                return Err(RuleError::new(label("begin"), "has no group `suite`"));
            }
            if let Some(end) = &rule.end {
                all.add(Role::SuiteEnd, label("end"), end, &[])?;
            }
        }
        for (at, rule) in self.sections.iter().enumerate() {
            let label = format!("sections[{at}] `{}`.entry", rule.name);
            let entry = all.add(
                Role::Entry(at),
                label.clone(),
                &rule.entry,
                &["id", "suite"],
            )?;
            if entry.id.is_none() {
                return Err(RuleError::new(label, "has no group `id`"));
            }
        }
        self.add_lines(&mut all)?;
        all.finish(self)
    }

    fn check_names(&self) -> Result<(), RuleError> {
        if self.schema_version != Self::SCHEMA_VERSION {
            let why = format!(
                "is {}; this version reads {}",
                self.schema_version,
                Self::SCHEMA_VERSION
            );
            return Err(RuleError::new("schema_version", why));
        }
        let plain =
            |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
        if self.id.is_empty() || self.id.len() > 60 || !self.id.chars().all(plain) {
            let why = format!(
                "`{}`: 1 to 60 small letters, digits, - and _ expected",
                self.id
            );
            return Err(RuleError::new("id", why));
        }
        if self.lines.is_empty() && self.sections.is_empty() {
            return Err(RuleError::new("lines", "is empty: nothing names a test"));
        }
        let bad = |word: &&String| word.trim() != word.as_str() || word.is_empty();
        if let Some(word) = self.statuses.keys().find(bad) {
            let why = format!("the word `{word}` is empty or has blanks around it");
            return Err(RuleError::new("statuses", why));
        }
        Ok(())
    }

    fn add_lines(&self, all: &mut Patterns) -> Result<(), RuleError> {
        let mut words = false;
        for (at, rule) in self.lines.iter().enumerate() {
            let label = format!("lines[{at}] `{}`.pattern", rule.name);
            let groups = ["id", "status", "suite", "time", "message"];
            let line = all.add(Role::Line(at), label.clone(), &rule.pattern, &groups)?;
            words |= line.status.is_some();
            let refuse = |why: &str| Err(RuleError::new(label.clone(), why));
            if line.status.is_some() && rule.status.is_some() {
                return refuse("has a group `status` and a fixed `status`; one of them must go");
            }
            if line.id.is_none() && line.status.is_none() && rule.status.is_none() {
                return refuse("has neither a group `id` nor a status: it says nothing of a test");
            }
            if rule.otherwise.is_some() && (line.id.is_none() || rule.status.is_some()) {
                return refuse("`otherwise` is for lines that announce a test: `id` and no status");
            }
            let fixed = rule
                .status
                .or(rule.otherwise)
                .is_some_and(TestStatus::is_passing);
            let read = PROSE
                .iter()
                .filter(|text| line.regex.is_match(text))
                .count();
            if fixed && read >= 2 {
                return refuse(
                    "takes ordinary text for a test that passed; say more of the line around the id",
                );
            }
        }
        if words && self.statuses.is_empty() {
            let why = "is empty, but a line has a group `status`";
            return Err(RuleError::new("statuses", why));
        }
        if !words && !self.statuses.is_empty() {
            let why = "has words, but no line has a group `status` to find them in";
            return Err(RuleError::new("statuses", why));
        }
        Ok(())
    }
}

struct Patterns {
    all: Vec<Pattern>,
    by_first: Vec<Vec<u16>>,
}

/// Where in [`Compiled::by_first`] the patterns of empty lines are.
pub(super) const EMPTY: usize = 256;

impl Default for Patterns {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            by_first: vec![Vec::new(); EMPTY + 1],
        }
    }
}

impl Patterns {
    fn add(
        &mut self,
        role: Role,
        label: String,
        source: &str,
        allowed: &[&str],
    ) -> Result<&Pattern, RuleError> {
        let whole = format!("^(?:{source})$");
        let regex = build(&label, source, &whole)?;
        if self.all.len() >= MAX_PATTERNS {
            let why = format!("is one pattern too many: {MAX_PATTERNS} are the most");
            return Err(RuleError::new(label, why));
        }
        let one_line = matches!(
            role,
            Role::IgnoreBegin(_) | Role::IgnoreEnd(_) | Role::SectionEnd(_)
        );
        if regex.is_match("") && !one_line && !matches!(role, Role::SuiteEnd) {
            return Err(RuleError::new(label, "matches an empty line"));
        }
        if ANYTHING.iter().all(|text| regex.is_match(text)) {
            return Err(RuleError::new(
                label,
                "matches every line; say what the line looks like",
            ));
        }
        for name in regex.capture_names().flatten() {
            if !allowed.contains(&name) {
                let why = if allowed.is_empty() {
                    format!("has a group `{name}`, but none is read here")
                } else {
                    format!("has a group `{name}`; read here are {}", allowed.join(", "))
                };
                return Err(RuleError::new(label, why));
            }
        }
        let group = |name: &str| regex.capture_names().position(|known| known == Some(name));
        let hir = regex_syntax::parse(&whole)
            .map_err(|why| RuleError::new(label.clone(), last_line(&why)))?;
        let mut first = [false; 256];
        let may_be_empty = first_bytes(&hir, &mut first);
        let number = u16::try_from(self.all.len()).unwrap_or(u16::MAX);
        for (byte, patterns) in self.by_first.iter_mut().enumerate() {
            if first.get(byte).copied().unwrap_or(may_be_empty) {
                patterns.push(number);
            }
        }
        let pattern = Pattern {
            role,
            quick: Quick::new(&hir),
            id: group("id"),
            status: group("status"),
            suite: group("suite"),
            totals: TOTALS.map(group),
            label,
            regex,
        };
        self.all.push(pattern);
        Ok(&self.all[self.all.len() - 1])
    }

    fn finish(self, rules: &RuleSet) -> Result<RuleParser, RuleError> {
        let mut strip = Vec::with_capacity(rules.strip.len());
        for (at, source) in rules.strip.iter().enumerate() {
            let label = format!("strip[{at}]");
            let regex = build(&label, source, source)?;
            if at >= 16 {
                return Err(RuleError::new(label, "is one too many: 16 are the most"));
            }
            if regex.is_match("")
                || ["test", "a"]
                    .iter()
                    .any(|name| regex.replace_all(name, "").is_empty())
            {
                return Err(RuleError::new(
                    label,
                    "cuts out any name; say what is no part of one",
                ));
            }
            strip.push(regex);
        }
        let compiled = Compiled {
            has_start: !rules.markers.start.is_empty(),
            has_end: !rules.markers.end.is_empty(),
            rules: rules.clone(),
            patterns: self.all,
            by_first: self.by_first,
            strip,
        };
        Ok(RuleParser {
            compiled: Arc::new(compiled),
        })
    }
}

fn build(label: &str, source: &str, whole: &str) -> Result<Regex, RuleError> {
    if source.len() > MAX_PATTERN {
        let why = format!("has {} bytes; {MAX_PATTERN} are the most", source.len());
        return Err(RuleError::new(label, why));
    }
    RegexBuilder::new(whole)
        .size_limit(MAX_COMPILED)
        .dfa_size_limit(MAX_COMPILED)
        .nest_limit(50)
        .build()
        .map_err(|why| RuleError::new(label, last_line(&why)))
}

/// The message without the drawing that shows where in the pattern it is.
fn last_line(why: &impl std::fmt::Display) -> String {
    let text = why.to_string();
    text.lines().last().unwrap_or_default().trim().to_owned()
}

/// SHA-256 in hex.
pub(crate) fn hex_digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        })
}

impl RuleParser {
    /// The rules.
    pub fn rules(&self) -> &RuleSet {
        &self.compiled.rules
    }

    /// Reads a log and tells beside the result what the rules made of each line: for whoever
    /// improves them.
    pub fn examine(&self, log: &[u8]) -> RuleReading {
        let mut state = State::new(Arc::clone(&self.compiled), true);
        state.all(log);
        state.reading()
    }
}

impl LogParser for RuleParser {
    fn id(&self) -> &str {
        &self.compiled.rules.id
    }

    fn start(&self) -> Box<dyn LogReader> {
        Box::new(ByLine::new(State::new(Arc::clone(&self.compiled), false)))
    }
}
