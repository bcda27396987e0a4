//! Putting the signs together.

use super::arity::Arity;
use super::issue::mentions;
use super::log::missing;
use super::surface::{Introduced, Sort, files, introduced};
use super::usage::{Called, Usage, Use, module_of, usage};
use crate::given::SubjectReader;
use crate::variant::BaseFiles;
use atlas_core::{Error, ErrorKind, Evidence, ModuleFailure, Patch, Subject};
use atlas_syntax::DefinitionKind;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The name of a default export.
pub(super) const DEFAULT: &str = "default";

/// Most proof lines of tests for one name.
const LINES: usize = 3;

/// What hints are found in.
#[derive(Clone, Debug, Default)]
pub struct HintSubject {
    /// The problem statement, title included.
    pub issue: String,
    /// The solution.
    pub gold_patch: Patch,
    /// The tests.
    pub test_patch: Patch,
    /// Files that either patch changes, as they were at the base commit. For one that is missing only
    /// what the patch shows of it is known, and a note says so.
    pub base: BaseFiles,
    /// What the run of Before printed.
    pub before_log: Option<String>,
    /// What the oracle made of it; those of other states do not matter.
    pub module_failures: Vec<ModuleFailure>,
}

impl HintSubject {
    /// Reads the row's `problem_statement`, `patch` and `test_patch`, and the attachments `files` (path
    /// to text at the base commit), `before_log` (a text) and `module_failures` (the oracle's), all
    /// optional. Columns `base_files` and the like are not looked at: a row holds no repository.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] naming the column or attachment that is missing or has another form.
    pub fn of(subject: &Subject) -> Result<Self, Error> {
        let given = SubjectReader::new(subject, "look for hints in");
        let row = |why: atlas_core::InstanceError| given.wrong(why.to_string());
        let files: BTreeMap<String, String> = given.attached("files")?.unwrap_or_default();
        Ok(Self {
            issue: given.column("problem_statement")?,
            gold_patch: subject.instance.gold_patch().map_err(row)?,
            test_patch: subject.instance.test_patch().map_err(row)?,
            base: files
                .into_iter()
                .map(|(path, text)| (path, text.into_bytes()))
                .collect(),
            before_log: given.text("before_log")?,
            module_failures: given.attached("module_failures")?.unwrap_or_default(),
        })
    }
}

/// What says that a hint is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HintRule {
    /// Before misses a symbol that the gold patch brings.
    BeforeLog,
    /// The tests use a name that exists only after the gold patch, or call a function as only the gold
    /// patch allows.
    GoldenRule,
    /// A model.
    Model,
}

/// A name that the tests need and the issue does not tell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HintNeed {
    /// How it is called in code; for a constructor its class.
    pub name: String,
    /// The names around it; empty at the top of a file.
    pub container: String,
    /// The file after the gold patch.
    pub path: String,
    /// The line there.
    pub line: usize,
    /// The signature on one line; empty for what has none: constants, fields, variants, whole files.
    pub signature: String,
    /// Whether it is a file that the tests load by its name.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_file: bool,
    /// What says that it is needed.
    pub rules: BTreeSet<HintRule>,
    /// Lines of tests and logs that say so.
    pub evidence: Vec<Evidence>,
}

impl HintNeed {
    /// Its line in the hint.
    pub fn text(&self) -> String {
        if self.is_file {
            return format!("- `{}`, a new file", self.path);
        }
        if self.name == DEFAULT {
            let path = &self.path;
            return match self.signature.as_str() {
                "" => format!("- `{path}`: its default export"),
                signature => format!("- `{path}`: its default export, `{signature}`"),
            };
        }
        let mut text = format!("- `{}`: ", self.path);
        let what = if self.signature.is_empty() {
            &self.name
        } else {
            &self.signature
        };
        let _ = write!(text, "`{what}`");
        if !self.container.is_empty() {
            let _ = write!(text, " in `{}`", self.container);
        }
        text
    }
}

/// Whether a hint is needed, which one, and how that is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HintReport {
    /// Paper 001's `is_hint_needed`.
    pub is_hint_needed: bool,
    /// What said so.
    pub rules: BTreeSet<HintRule>,
    /// The names, by file and line.
    pub needs: Vec<HintNeed>,
    /// The hint: one line a name, none that could be left out; empty if none is needed.
    pub hint: String,
    /// Names that the tests need and the issue tells.
    pub named_by_issue: Vec<String>,
    /// What could not be known, and why.
    pub notes: Vec<String>,
}

impl HintReport {
    pub(super) fn of(
        mut needs: Vec<HintNeed>,
        named: BTreeSet<String>,
        notes: Vec<String>,
    ) -> Self {
        needs.sort_by(|a, b| (&a.path, a.line, &a.name).cmp(&(&b.path, b.line, &b.name)));
        let lines: Vec<String> = needs.iter().map(HintNeed::text).collect();
        Self {
            is_hint_needed: !needs.is_empty(),
            rules: needs.iter().flat_map(|need| need.rules.clone()).collect(),
            hint: lines.join("\n"),
            needs,
            named_by_issue: named.into_iter().collect(),
            notes,
        }
    }

    /// A problem statement with the hint under a heading of its own; as it is if none is needed.
    pub fn appended_to(&self, problem_statement: &str) -> String {
        if self.hint.is_empty() {
            return problem_statement.to_owned();
        }
        format!(
            "{}\n\n## Names that the tests use\n\n{}\n",
            problem_statement.trim_end(),
            self.hint
        )
    }
}

/// What the rules say, without a model.
///
/// # Errors
/// [`ErrorKind::InvalidInput`] where a patch cannot be read.
pub fn find_hints(subject: &HintSubject) -> Result<HintReport, Error> {
    let found = HintFindings::of(subject)?;
    Ok(HintReport::of(found.needs, found.named, found.notes))
}

/// What was found, with everything that a model may choose from.
pub(super) struct HintFindings {
    pub(super) needs: Vec<HintNeed>,
    pub(super) named: BTreeSet<String>,
    pub(super) notes: Vec<String>,
    pub(super) introduced: Vec<Introduced>,
}

impl HintFindings {
    pub(super) fn of(subject: &HintSubject) -> Result<Self, Error> {
        let read = |name: &str, patch: &Patch| {
            files(patch, &subject.base).map_err(|why| {
                Error::new(ErrorKind::InvalidInput, "look for hints in", name).with_source(why)
            })
        };
        let (gold, mut notes) = read("the gold patch", &subject.gold_patch)?;
        let (tests, more) = read("the test patch", &subject.test_patch)?;
        notes.extend(more);
        if subject.issue.trim().is_empty() {
            notes.push("there is no problem statement, so it names nothing".to_owned());
        }
        if gold.is_empty() {
            notes.push("the gold patch changes no source of a known language".to_owned());
        }
        if tests.is_empty() {
            notes.push("the test patch changes no source of a known language".to_owned());
        }
        let introduced = introduced(&gold);
        let usage = usage(&tests);
        let missing = missing(
            subject.before_log.as_deref(),
            &subject.module_failures,
            &introduced,
        );
        let mut found = Self {
            needs: Vec::new(),
            named: BTreeSet::new(),
            notes,
            introduced: Vec::new(),
        };
        for one in &introduced {
            if one.sort == Sort::DefaultExport {
                found.look_at_default(subject, one, &usage);
            }
        }
        let mut by_name: BTreeMap<&str, Vec<&Introduced>> = BTreeMap::new();
        for one in &introduced {
            if one.sort == Sort::DefaultExport {
                continue;
            }
            by_name.entry(&one.name).or_default().push(one);
        }
        for (name, all) in by_name {
            found.look(subject, name, &all, &usage, missing.get(name));
        }
        found.tell_defaults_once();
        found.introduced = introduced;
        Ok(found)
    }

    /// What is exported as the default needs no line under its own name.
    fn tell_defaults_once(&mut self) {
        let told: BTreeSet<(String, String)> = self
            .needs
            .iter()
            .filter(|need| need.name == DEFAULT && !need.signature.is_empty())
            .map(|need| (need.path.clone(), need.signature.clone()))
            .collect();
        self.needs.retain(|need| {
            need.name == DEFAULT || !told.contains(&(need.path.clone(), need.signature.clone()))
        });
    }

    /// A module that the tests load as one thing.
    fn look_at_default(&mut self, subject: &HintSubject, one: &Introduced, usage: &Usage) {
        let module = module_of(&one.path);
        let Some(lines) = usage.modules.get(module) else {
            return;
        };
        if !module.is_empty() && mentions(&subject.issue, module) {
            self.named.insert(module.to_owned());
            return;
        }
        let lines = lines.iter().take(LINES).cloned().collect();
        let rules = BTreeSet::from([HintRule::GoldenRule]);
        self.needs.push(need(one, rules, lines));
    }

    fn look(
        &mut self,
        subject: &HintSubject,
        name: &str,
        all: &[&Introduced],
        usage: &Usage,
        missing: Option<&Vec<Evidence>>,
    ) {
        let mut used: Vec<&Introduced> = all
            .iter()
            .copied()
            .filter(|one| is_used(one, usage))
            .collect();
        let is_used = !used.is_empty();
        if let (true, Some(_)) = (used.is_empty(), missing) {
            // Helpers of the tests may use it where the test patch does not show it.
            used = all.to_vec();
        }
        if used.is_empty() {
            return;
        }
        if mentions(&subject.issue, name) {
            self.named.insert(name.to_owned());
            return;
        }
        let mut rules = BTreeSet::new();
        let mut evidence = Vec::new();
        if let Some(lines) = missing {
            rules.insert(HintRule::BeforeLog);
            evidence.extend(lines.iter().cloned());
        }
        if is_used {
            rules.insert(HintRule::GoldenRule);
            evidence.extend(proof(name, &used, usage));
        }
        for one in choose(used, usage) {
            self.needs.push(need(one, rules.clone(), evidence.clone()));
        }
    }
}

pub(super) fn need(
    one: &Introduced,
    rules: BTreeSet<HintRule>,
    evidence: Vec<Evidence>,
) -> HintNeed {
    HintNeed {
        name: one.name.clone(),
        container: one.container.clone(),
        path: one.path.clone(),
        line: one.line,
        signature: one.signature.clone(),
        is_file: one.sort == Sort::File,
        rules,
        evidence,
    }
}

/// Whether the added lines of the tests use this.
fn is_used(one: &Introduced, usage: &Usage) -> bool {
    let uses: Vec<&Use> = usage.uses_of(&one.name).collect();
    let calls = usage.calls.get(&one.name).map_or(&[][..], Vec::as_slice);
    if let Sort::Changed(before) = &one.sort {
        return calls
            .iter()
            .any(|call| needs_change(call, one.arity.as_ref(), before));
    }
    if one.sort == Sort::File || uses.is_empty() && calls.is_empty() {
        return false;
    }
    let is_owner_named = usage.names.contains(one.owner());
    if one.is_member() {
        // Another type may have a method of this name; that the tests called it before says so.
        let is_known = usage.before.contains(&one.name) && !is_owner_named;
        // A type of the tests that implements or overrides it.
        if is_owner_named && usage.implemented.contains(&one.name) {
            return true;
        }
        return !is_known && uses.iter().any(|one| one.is_member) || is_called_bare(one, usage);
    }
    if usage.defined.contains(&one.name) || usage.before.contains(&one.name) && uses.is_empty() {
        return false;
    }
    let is_local = uses.iter().any(|one| one.is_local);
    uses.iter()
        .any(|one| one.is_member || one.is_call || !is_local)
}

/// A method that a test calls without a receiver, as Ruby and inherited test classes do.
fn is_called_bare(one: &Introduced, usage: &Usage) -> bool {
    !usage.before.contains(&one.name)
        && !usage.defined.contains(&one.name)
        && usage.names.contains(one.owner())
        && usage.uses_of(&one.name).any(|one| one.is_call)
}

/// Whether a call fits the function only as the gold patch leaves it.
fn needs_change(call: &Called, after: Option<&Arity>, before: &[Arity]) -> bool {
    let Some(after) = after else { return false };
    if before.is_empty() {
        return false;
    }
    let new_word = |word: &String| {
        after.words.contains(word) && !before.iter().any(|old| old.words.contains(word))
    };
    // An argument of a type that no parameter had.
    let is_type = |word: &&String| word.starts_with(char::is_uppercase);
    call.keywords.iter().any(new_word)
        || call.words.iter().filter(is_type).any(new_word)
        || after.takes(call.arguments) && !before.iter().any(|old| old.takes(call.arguments))
}

fn proof(name: &str, used: &[&Introduced], usage: &Usage) -> Vec<Evidence> {
    let mut lines: Vec<Evidence> = Vec::new();
    let changed = used.iter().filter_map(|one| match &one.sort {
        Sort::Changed(before) => Some((one.arity.as_ref(), before)),
        _ => None,
    });
    for (after, before) in changed {
        let calls = usage.calls.get(name).into_iter().flatten();
        let calls = calls.filter(|call| needs_change(call, after, before));
        lines.extend(calls.map(|call| call.place.clone()));
    }
    if lines.is_empty() {
        let all = usage.uses_of(name);
        let mut places: Vec<_> = all.filter(|one| !one.is_local).collect();
        // An import says less than the line that does something.
        places.sort_by_key(|one| !(one.is_call || one.is_member));
        lines.extend(places.into_iter().map(|one| one.place.clone()));
    }
    let mut seen = BTreeSet::new();
    lines.retain(|line| seen.insert(line.clone()));
    lines.truncate(LINES);
    lines
}

/// Of several things of one name those that the tests need, no two of which say the same.
fn choose<'i>(mut all: Vec<&'i Introduced>, usage: &Usage) -> Vec<&'i Introduced> {
    let name = all.first().map_or("", |one| one.name.as_str());
    let is_member = usage.uses_of(name).any(|one| one.is_member);
    let calls = usage.calls.get(name).map_or(&[][..], Vec::as_slice);
    let fits = |one: &Introduced| {
        let arity = one.arity.as_ref();
        calls
            .iter()
            .any(|call| arity.is_some_and(|arity| arity.takes(call.arguments)))
    };
    all.sort_by_key(|one| {
        (
            // A new class is told as a class, not by its constructor.
            !matches!(one.sort, Sort::New(DefinitionKind::Type)),
            !fits(one),
            one.is_member() != is_member,
            one.signature.is_empty(),
            !is_declaration(&one.path),
            one.path.clone(),
            one.line,
        )
    });
    let named: Vec<&Introduced> = all
        .iter()
        .copied()
        .filter(|one| !one.owner().is_empty() && usage.names.contains(one.owner()))
        .collect();
    let class = all
        .iter()
        .copied()
        .find(|one| one.sort == Sort::New(DefinitionKind::Type));
    let mut pool = if named.is_empty() { all } else { named };
    if let Some(class) = class {
        // A new class with the constructor that is called with something.
        pool.retain(|one| {
            one.owner() != class.name
                || calls.iter().any(|call| {
                    let arity = one.arity.as_ref();
                    call.arguments > 0 && arity.is_some_and(|arity| arity.takes(call.arguments))
                })
        });
        pool.retain(|one| *one != class);
        pool.insert(0, class);
    }
    let mut chosen: Vec<&Introduced> = Vec::new();
    // Everything that some call needs and nothing chosen before takes.
    for one in &pool {
        let same = |other: &&Introduced| other.owner() == one.owner();
        let is_first = !chosen.iter().any(same);
        let is_other_owner = is_first && (chosen.is_empty() || is_owned(one, usage));
        let takes_more = calls.iter().any(|call| {
            let takes = |one: &Introduced| {
                let arity = one.arity.as_ref();
                arity.is_some_and(|arity| arity.takes(call.arguments))
            };
            takes(one) && !chosen.iter().any(|other| takes(other))
        });
        if chosen.is_empty() || is_other_owner || takes_more {
            chosen.push(one);
        }
    }
    chosen
}

fn is_owned(one: &Introduced, usage: &Usage) -> bool {
    !one.owner().is_empty() && usage.names.contains(one.owner())
}

/// Headers are what a user of a library reads. Elsewhere declarations stand beside what is to be written.
fn is_declaration(path: &str) -> bool {
    [".h", ".hh", ".hpp", ".hxx"]
        .iter()
        .any(|ending| path.ends_with(ending))
}
