//! Modules that did not build or load, and why.
//!
//! Three things make a module fail: a symbol is missing that the gold patch brings, the environment
//! is broken, or the test file is. Which it is follows from two questions, in which states the
//! module fails and what its lines say, and both are needed: the same `No module named 'x'` is a
//! feature, a missing package and a broken test in turn.

mod forms;
mod patch;

use super::ClassifyInput;
use crate::agreement::leaf;
use atlas_core::{
    BuildFailureClass, Evidence, HunkLineKind, LostModule, LostReason, ModuleFailure, ParsedLog,
    State,
};
use forms::{Complaint, Sort};
use patch::Brought;
pub(super) use patch::manifests;
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// Every module that did not build or load in any state, with its class and proof. The first proof
/// line is the one that decides.
pub(super) fn failures(input: &ClassifyInput<'_>) -> Vec<ModuleFailure> {
    let lost = |state: State| -> BTreeMap<&str, &LostModule> {
        let lost = input.log(state).modules_not_loaded.iter();
        lost.map(|lost| (lost.module.as_str(), lost)).collect()
    };
    let reader = Reader {
        gold: input.gold_patch.map(|p| Brought::by(p, "gold patch")),
        tests: input.test_patch.map(|p| Brought::by(p, "test patch")),
        logs: [input.base, input.before, input.after],
        base: lost(State::Base),
        after: lost(State::After),
    };
    let mut failures = Vec::new();
    for state in State::ALL {
        for lost in &input.log(state).modules_not_loaded {
            if !matches!(
                lost.reason,
                LostReason::BuildFailed | LostReason::LoadFailed
            ) {
                continue;
            }
            failures.push(reader.explain(state, lost));
        }
    }
    failures
}

/// Those of Before that load in Base, or are new, and load in After.
fn only_in_before(failures: &[ModuleFailure]) -> impl Iterator<Item = &ModuleFailure> {
    let lost_in = |state: State| -> BTreeSet<&str> {
        let lost = failures.iter().filter(|f| f.state == state);
        lost.map(|f| f.module.as_str()).collect()
    };
    let (base, after) = (lost_in(State::Base), lost_in(State::After));
    failures
        .iter()
        .filter(|f| f.state == State::Before)
        .filter(move |f| !base.contains(f.module.as_str()) && !after.contains(f.module.as_str()))
}

/// Those that make a feature: what the pull request brings is what they lack, as far as anyone can
/// tell. A failure that no rule explains counts too, for the gold patch mended it.
pub(super) fn newly_lost(failures: &[ModuleFailure]) -> Vec<&ModuleFailure> {
    only_in_before(failures)
        .filter(|f| {
            matches!(
                f.class,
                BuildFailureClass::MissingSymbol | BuildFailureClass::Unknown
            )
        })
        .collect()
}

/// Those whose environment failed in Before alone: they say nothing of the pull request.
pub(super) fn without_evidence(failures: &[ModuleFailure]) -> Vec<&ModuleFailure> {
    only_in_before(failures)
        .filter(|f| f.class == BuildFailureClass::Environment)
        .collect()
}

/// The names that modules of Before lack, where their compiler names all of them.
pub(super) fn missing_names(
    input: &ClassifyInput<'_>,
    lost: &[&ModuleFailure],
) -> Option<BTreeSet<String>> {
    let mut missing = BTreeSet::new();
    for failure in lost {
        let mut modules = input.before.modules_not_loaded.iter();
        let module = modules.find(|module| module.module == failure.module)?;
        let all_told = module.reason == LostReason::BuildFailed
            && failure.class == BuildFailureClass::MissingSymbol
            && !module.lines.iter().any(|line| is_cut_short(&line.text));
        if !all_told {
            return None;
        }
        let complaints = module.lines.iter();
        let complaints = complaints.filter_map(|line| forms::complaint(&line.text));
        let names = complaints.flat_map(|complaint| complaint.names);
        missing.extend(names.filter_map(|name| words(&name).last().map(|word| (*word).to_owned())));
    }
    Some(missing)
}

/// Whether a line that the test patch adds uses one of the names that modules of Before lack. Where none
/// does, a file that was merely moved or was there before is what does not build, and tests that the
/// patch changes in another way lost nothing but their neighbour. Only compilers that name all of their
/// errors can be asked that; everything else is taken for a use.
pub(super) fn test_patch_uses_what_is_missing(
    input: &ClassifyInput<'_>,
    lost: &[&ModuleFailure],
) -> bool {
    let Some(files) = input.test_patch.and_then(|patch| patch.files().ok()) else {
        return true;
    };
    let Some(missing) = missing_names(input, lost) else {
        return true;
    };
    let added = files
        .iter()
        .flat_map(|file| &file.hunks)
        .flat_map(|hunk| &hunk.lines)
        .filter(|line| line.kind == HunkLineKind::Insert);
    missing.is_empty()
        || added
            .map(|line| String::from_utf8_lossy(&line.bytes))
            .any(|line| missing.iter().any(|name| patch::has_word(&line, name)))
}

/// Compilers stop after so many errors and say so.
fn is_cut_short(line: &str) -> bool {
    line.contains("too many errors") || line.contains("errors emitted; stopping")
}

/// Of these names those that the gold patch defines for its own package alone, each with its line; nothing if another
/// solution may have to define one of them, or if it is not known where they are defined.
pub(super) fn private_names(
    input: &ClassifyInput<'_>,
    names: &BTreeSet<String>,
) -> Option<Vec<Evidence>> {
    let gold = Brought::by(input.gold_patch?, "gold patch");
    let lines = names.iter().map(|name| {
        let line = gold.brings(name)?;
        patch::is_private(name, &line.text).then_some(line)
    });
    lines.collect()
}

/// Whether a text holds one of these names as a word.
pub(super) fn uses(text: &str, names: &BTreeSet<String>) -> bool {
    names.iter().any(|name| patch::has_word(text, name))
}

/// What a reader of the verdict should know of modules whose tests cannot count.
pub(super) fn remarks(failures: &[ModuleFailure]) -> Vec<String> {
    const MOST: usize = 20;
    let told = failures.iter().filter(|f| f.state == State::Before);
    told.filter_map(|failure| {
        let why = match failure.class {
            BuildFailureClass::BrokenTest => "the test file itself is broken",
            BuildFailureClass::Environment => "the environment is broken",
            BuildFailureClass::MissingSymbol | BuildFailureClass::Unknown => return None,
        };
        let line = failure.proof.first();
        let line = line.map_or_else(String::new, |line| format!(" (`{}`)", line.text.trim()));
        Some(format!(
            "before: `{}` does not build or load, {why}{line}",
            failure.module
        ))
    })
    .take(MOST)
    .collect()
}

/// Why After does not load, where all that is lost there says the same.
pub(super) fn after_because(failures: &[ModuleFailure]) -> Option<BuildFailureClass> {
    let mut classes = failures
        .iter()
        .filter(|f| f.state == State::After)
        .map(|f| f.class);
    let first = classes.next()?;
    classes.all(|class| class == first).then_some(first)
}

/// Tests that Before says nothing of, because the environment failed there.
pub(super) struct Unseen<'a>(BTreeSet<&'a str>);

impl<'a> Unseen<'a> {
    /// Those of After whose module the environment kept from running in Before.
    pub(super) fn of(unproven: &[&ModuleFailure], input: &ClassifyInput<'a>) -> Self {
        let lost: BTreeSet<&str> = unproven.iter().map(|f| f.module.as_str()).collect();
        let seen = |log: &'a ParsedLog| -> BTreeSet<&'a str> {
            log.results.iter().map(|test| test.module).collect()
        };
        let (ran, known) = (seen(input.before), seen(input.after));
        // A runner may name what it builds otherwise than what it runs (an object file, a crate):
        // then a test that the name holds, and one of any module that shows nothing, may be those.
        let vague: Vec<&&str> = lost.iter().filter(|lost| !known.contains(*lost)).collect();
        let meant = |test: &str| vague.iter().any(|lost| patch::has_word(lost, test));
        let tests = input.after.results.iter().filter(|test| {
            lost.contains(test.module)
                || lost.contains(test.name)
                || !vague.is_empty() && (!ran.contains(test.module) || meant(test.name))
        });
        Self(tests.map(|test| test.name).collect())
    }

    /// Whether this test is one of them.
    pub(super) fn holds(&self, id: &str) -> bool {
        self.0.contains(id)
    }
}

/// A proof line, read once.
struct Said<'a> {
    text: &'a str,
    complaint: Option<Complaint>,
    environment: bool,
    syntax: bool,
}

impl<'a> Said<'a> {
    fn all(lines: &'a [Evidence]) -> Vec<Self> {
        let read = |line: &'a Evidence| {
            let complaint = forms::complaint(&line.text);
            Self {
                text: &line.text,
                environment: forms::is_environment(&line.text),
                // Loaders call a missing export a syntax error too: a line that says what is
                // missing is none.
                syntax: complaint.is_none() && forms::is_syntax_error(&line.text),
                complaint,
            }
        };
        lines.iter().map(read).collect()
    }
}

/// What is known when a failure is explained.
struct Reader<'a> {
    gold: Option<Brought>,
    tests: Option<Brought>,
    logs: [&'a ParsedLog; 3],
    base: BTreeMap<&'a str, &'a LostModule>,
    after: BTreeMap<&'a str, &'a LostModule>,
}

/// A class, the line that decides, and what the patches say to it.
struct Finding {
    class: BuildFailureClass,
    symbol: Option<String>,
    decides: Option<usize>,
    patches: Vec<Evidence>,
}

impl Finding {
    fn of(class: BuildFailureClass, decides: Option<usize>) -> Self {
        Self {
            class,
            symbol: None,
            decides,
            patches: Vec::new(),
        }
    }
}

impl Reader<'_> {
    fn explain(&self, state: State, lost: &LostModule) -> ModuleFailure {
        let in_base = self.base.contains_key(lost.module.as_str());
        let after = self.after.get(lost.module.as_str()).copied();
        let lines = &Said::all(&lost.lines);
        let found = if in_base {
            // Base must load: a failure that was there before the pull request is none of its doing.
            self.own_fault(lines)
                .filter(|found| found.class == BuildFailureClass::BrokenTest)
                .unwrap_or_else(|| Finding::of(BuildFailureClass::Environment, None))
        } else if state == State::Before {
            let missing = self.missing(lines, after.map(|lost| lost.lines.as_slice()));
            let or_else = || match after {
                Some(_) => self.own_fault(lines),
                None => self.changed_surroundings(lines),
            };
            missing
                .or_else(or_else)
                .unwrap_or_else(|| Finding::of(BuildFailureClass::Unknown, None))
        } else {
            self.own_fault(lines)
                .unwrap_or_else(|| Finding::of(BuildFailureClass::Unknown, None))
        };
        let mut proof: Vec<Evidence> = lost
            .lines
            .iter()
            .map(|line| named(line.clone(), state))
            .collect();
        if let Some(line) = found.decides {
            proof[..=line].rotate_right(1);
            proof.splice(1..1, found.patches);
        }
        ModuleFailure {
            state,
            module: lost.module.clone(),
            class: found.class,
            symbol: found.symbol,
            proof,
        }
    }

    /// The first name of the lines that the gold patch brings, else the first whose meaning it
    /// changes. A name that After lacks as well is none that the gold patch brings.
    fn missing(&self, lines: &[Said<'_>], after: Option<&[Evidence]>) -> Option<Finding> {
        let gold = self.gold.as_ref()?;
        let still: BTreeSet<String> = after
            .unwrap_or_default()
            .iter()
            .filter_map(|line| forms::complaint(&line.text))
            .flat_map(|complaint| complaint.names)
            .collect();
        let complaints: Vec<(usize, &Complaint)> = lines
            .iter()
            .enumerate()
            .filter(|(_, line)| !line.environment)
            .filter_map(|(at, line)| Some((at, line.complaint.as_ref()?)))
            .collect();
        let found = |at: usize, symbol: &str, proof: Evidence| Finding {
            class: BuildFailureClass::MissingSymbol,
            symbol: Some(symbol.to_owned()),
            decides: Some(at),
            patches: vec![proof],
        };
        for (at, complaint) in &complaints {
            for name in complaint.names.iter().filter(|name| !still.contains(*name)) {
                if complaint.sort == Sort::Module
                    && let Some((module, proof)) = gold.brings_module(name)
                {
                    return Some(found(*at, &module, proof));
                }
                for part in words(name).into_iter().rev() {
                    if let Some(proof) = gold.brings(part) {
                        return Some(found(*at, part, proof));
                    }
                }
            }
        }
        if lines.iter().any(|line| line.environment) {
            return None;
        }
        for (at, complaint) in &complaints {
            for name in complaint.names.iter().filter(|name| !still.contains(*name)) {
                if let Some(part) = words(name).pop()
                    && complaint.sort != Sort::Module
                    && let Some(proof) = gold.changes(part)
                {
                    return Some(found(*at, part, proof));
                }
            }
        }
        if after.is_some() {
            return None;
        }
        self.at_places(lines)
            .or_else(|| self.quoted(lines, complaints.is_empty()))
    }

    /// An error that names nothing stands at a place, and what stands there is a line of the test
    /// patch: the name it uses is what changed.
    fn at_places(&self, lines: &[Said<'_>]) -> Option<Finding> {
        let (gold, tests) = (self.gold.as_ref()?, self.tests.as_ref()?);
        lines.iter().enumerate().find_map(|(at, line)| {
            if line.syntax {
                return None;
            }
            let (place, _, names) = tests.at_place(line.text)?;
            names.iter().find_map(|name| {
                let proof = gold.brings(name).or_else(|| gold.changes(name))?;
                Some(Finding {
                    class: BuildFailureClass::MissingSymbol,
                    symbol: Some((*name).to_owned()),
                    // rustc has the place on a line of its own, below the error.
                    decides: Some(at - usize::from(at > 0 && is_bare_place(line.text))),
                    patches: vec![place.clone(), proof],
                })
            })
        })
    }

    /// Lines of no known form: a name in quotes that the gold patch brings, for the compilers and
    /// loaders that the table has not.
    fn quoted(&self, lines: &[Said<'_>], unknown: bool) -> Option<Finding> {
        let gold = self.gold.as_ref().filter(|_| unknown)?;
        lines.iter().enumerate().find_map(|(at, line)| {
            if line.syntax {
                return None;
            }
            forms::quoted(line.text).iter().find_map(|name| {
                let part = words(name).pop().filter(|part| part.len() > 1)?;
                Some(Finding {
                    class: BuildFailureClass::MissingSymbol,
                    symbol: Some(part.to_owned()),
                    decides: Some(at),
                    patches: vec![gold.brings(part)?],
                })
            })
        })
    }

    /// A module that fails in Before and loads in After, and lacks nothing that the gold patch
    /// brings: whether the environment failed in between.
    fn changed_surroundings(&self, lines: &[Said<'_>]) -> Option<Finding> {
        let broken = lines.iter().position(|line| line.environment);
        if broken.is_some() {
            return Some(Finding::of(BuildFailureClass::Environment, broken));
        }
        // A package that neither patch so much as names was there in Base, and is there in After.
        let (gold, tests) = (self.gold.as_ref()?, self.tests.as_ref()?);
        let at = lines.iter().position(|line| {
            line.complaint.as_ref().is_some_and(|complaint| {
                complaint.sort == Sort::Module
                    && !complaint.names.is_empty()
                    && complaint.names.iter().all(|name| {
                        !self.owns(name, line.text)
                            && ![gold, tests].iter().any(|patch| {
                                patch.mentions(name)
                                    || words(name).first().is_some_and(|w| patch.mentions(w))
                            })
                    })
            })
        })?;
        Some(Finding::of(BuildFailureClass::Environment, Some(at)))
    }

    /// A module that the gold patch does not mend: whether the environment or the test file is at
    /// fault.
    fn own_fault(&self, lines: &[Said<'_>]) -> Option<Finding> {
        if let Some(at) = lines.iter().position(|line| line.environment) {
            return Some(Finding::of(BuildFailureClass::Environment, Some(at)));
        }
        if let Some(at) = lines.iter().position(|line| line.syntax) {
            // Source that others wrote parses with the tools it was written for.
            let foreign = lines[..=at].iter().any(|line| forms::is_foreign(line.text));
            let class = if foreign {
                BuildFailureClass::Environment
            } else {
                BuildFailureClass::BrokenTest
            };
            return Some(Finding::of(class, Some(at)));
        }
        lines.iter().enumerate().find_map(|(at, line)| {
            let complaint = line.complaint.as_ref()?;
            let own = match complaint.sort {
                Sort::Module => complaint.names.iter().any(|n| self.owns(n, line.text)),
                Sort::Symbol | Sort::Signature => !forms::is_foreign(line.text),
            };
            let class = if own {
                BuildFailureClass::BrokenTest
            } else {
                BuildFailureClass::Environment
            };
            Some(Finding::of(class, Some(at)))
        })
    }

    /// Whether a module of this name would be the project's own.
    fn owns(&self, name: &str, line: &str) -> bool {
        if forms::is_foreign(name) {
            return false;
        }
        let patches = || [&self.gold, &self.tests].into_iter().flatten();
        // `#include "own.h"` and `#include <other.h>` fail with the same words.
        let included = format!("\"{name}\"");
        patches().any(|patch| patch.owns(name))
            || patch::is_file(name)
                && self
                    .tests
                    .as_ref()
                    .and_then(|tests| tests.at_place(line))
                    .is_some_and(|(_, text, _)| text.contains(&included))
            || name.contains('/') && self.is_below_a_module(name)
    }

    /// Whether the logs know a module in the same repository: `example.com/owner/project/…`.
    fn is_below_a_module(&self, name: &str) -> bool {
        let Some(root) = name.match_indices('/').nth(2).map(|(at, _)| &name[..=at]) else {
            return false;
        };
        self.logs.iter().any(|log| {
            let lost = log.modules_not_loaded.iter();
            lost.map(|lost| lost.module.as_str())
                .chain(log.results.iter().map(|test| test.module))
                .any(|module| module.starts_with(root))
        })
    }
}

fn is_bare_place(line: &str) -> bool {
    line.trim_start().starts_with("--> ")
}

/// The words of a name: `ledger::Rates` -> `ledger`, `Rates`.
fn words(name: &str) -> Vec<&str> {
    name.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '$'))
        .filter(|word| !word.is_empty() && !word.starts_with(|c: char| c.is_ascii_digit()))
        .collect()
}

/// A proof line of a parser, which knows only "log", with the state whose log it is.
pub(super) fn named(line: Evidence, state: State) -> Evidence {
    let source = if line.source == "log" {
        format!("{state}.log")
    } else {
        line.source
    };
    Evidence { source, ..line }
}

/// Whether a test id belongs to a test named as in its source: `TestX`, `Class::test_x`, `title`.
pub(super) fn is_test_named(id: &str, name: &str) -> bool {
    let split = |text: &str| -> Vec<String> {
        let bare = without_parameters(text);
        // libtest's remark is a part of the id, and none of the name in the source.
        let bare = bare.strip_suffix(" - should panic").unwrap_or(bare);
        // `test_x (package.module.Class.test_x)`: the dotted path says more than the name.
        let dotted = bare
            .strip_suffix(')')
            .and_then(|b| b.rsplit_once(" ("))
            .map(|(_, path)| path);
        let bare = dotted.filter(|path| !path.contains(' ')).unwrap_or(bare);
        if bare.contains(' ') {
            return vec![leaf(bare)];
        }
        bare.split([':', '.', '/', '#'])
            .filter(|p| !p.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let (parts, named) = (split(id), split(name));
    !named.is_empty()
        && (parts.ends_with(&named)
            || parts.windows(named.len()).any(|window| window == named)
            || is_filled(id, name))
}

/// A test's name without the parameters behind it. A title may hold brackets anywhere: of it those at its end are taken
/// for parameters.
fn without_parameters(text: &str) -> &str {
    let is_title = text.contains(' ') && !text.contains("::");
    if !is_title {
        return text.split('[').next().unwrap_or(text);
    }
    let mut depth = 0_usize;
    for (at, c) in text.char_indices().rev() {
        match c {
            ']' => depth += 1,
            _ if depth == 0 => return text,
            '[' if depth == 1 => {
                let before = text[..at].trim_end();
                let is_whole = before.is_empty() || before.ends_with(['>', '›']);
                return if is_whole { text } else { &text[..at] };
            }
            '[' => depth -= 1,
            _ => {}
        }
    }
    text
}

/// Whether an id ends as a title does in which values were put: `adds ${a} to ${b}`, `adds %i to $b`, `it\'s #{x}`.
fn is_filled(id: &str, title: &str) -> bool {
    /// So much of a title tells it from others.
    const LEAST: usize = 6;
    static PLACES: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"[$#]\{[^}]*\}|%[sdifjoOpc#]|\$[A-Za-z_][\w.]*").expect("a literal pattern")
    });
    // Asked of every test and every changed one: most titles hold no value.
    if !title.contains(['$', '#', '%', '\\']) {
        return false;
    }
    let title = title
        .replace("\\'", "'")
        .replace("\\\"", "\"")
        .replace("\\`", "`");
    let pieces: Vec<&str> = PLACES.split(&title).collect();
    if pieces.iter().map(|piece| piece.trim().len()).sum::<usize>() < LEAST {
        return false;
    }
    let (last, rest) = pieces.split_last().unwrap_or((&"", &[]));
    let Some(mut left) = id.strip_suffix(last) else {
        return false;
    };
    rest.iter().all(|piece| {
        let found = left.find(piece).map(|at| &left[at + piece.len()..]);
        left = found.unwrap_or(left);
        found.is_some()
    })
}
