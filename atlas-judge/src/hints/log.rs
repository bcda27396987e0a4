//! Symbols that a log of Before says are missing.

use super::surface::{Introduced, Sort};
use atlas_core::{BuildFailureClass, Evidence, ModuleFailure, State};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// How compilers, linkers, loaders and interpreters say that something is missing or is not called so.
/// A phrase decides nothing alone: a name that the gold patch brings has to stand on its line.
static MISSING: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?ix)
        \b(?:undefined|undeclared|unresolved|uninitialized|unrecognized)\b
        | \bcannot\ (?:find|import|resolve|access)\b | \bcan't\ (?:find|resolve)\b
        | \bcould\ not\ (?:be\ (?:found|resolved)|find|resolve)\b | \bimplicit\ declaration\b
        | \bno\ (?:method|function|field|member|variant|associated|such|module|property|exported|matching|known|constructor)\b
        | \bhas\ no\ (?:attribute|member|field|method|exported)\b | \bnot\ a\ member\b
        | \bnot\ (?:defined|declared|found|a\ function|a\ constructor|in\ scope|iterable)\b
        | \bdoes(?:\ not|n't)\ (?:exist|contain|provide|have|match)\b
        | \bunexpected\ keyword\b | \bunknown\ (?:field|keyword|property|attribute|named)\b
        | \b(?:Name|Attribute|Import|Reference|NoMethod|ModuleNotFound|Load)Error\b
        | ^\s*symbol:\s
        | \bmissing\ (?:method|function|symbol|return|required)\b
        ",
    )
    .expect("the pattern is tested")
});

/// How they say that something is there and is not called so.
static MISCALLED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?ix)
        \b(?:too\ many|too\ few|not\ enough|wrong\ number\ of)\ (?:function\ )?(?:arguments|parameters)\b
        | \bunexpected\ keyword\b | \bunknown\ (?:keyword|named)\b
        | \b(?:takes|expected|expects|missing|got)\b.*\barguments?\b
        | \bno\ (?:matching|suitable|overload)\b | \bcannot\ be\ applied\b | \bin\ argument\ to\b
        | \bno\ overload\b
        ",
    )
    .expect("the pattern is tested")
});

/// How they say that a file or module is missing.
static NO_FILE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?ix)
        \bno\ module\ named\b | \bcannot\ (?:find\ module|load\ such\ file|find\ package)\b
        | \bcould\ not\ (?:find|resolve)\b | \bunresolved\ import\b | \bno\ such\ file\b | \bfile\ not\ found\b
        | \bpackage\ \S+\ (?:does\ not\ exist|is\ not\ in)\b | \bfailed\ to\ (?:resolve|load)\b
        ",
    )
    .expect("the pattern is tested")
});

/// Whether a line says that something is missing or is not called so.
pub(crate) fn is_missing(line: &str) -> bool {
    MISSING.is_match(line) || MISCALLED.is_match(line) || NO_FILE.is_match(line)
}

/// Most proof lines for one name.
const LINES: usize = 3;

/// Names that the gold patch brings and that Before misses, each with its proof lines.
pub(super) fn missing(
    log: Option<&str>,
    failures: &[ModuleFailure],
    introduced: &[Introduced],
) -> BTreeMap<String, Vec<Evidence>> {
    let named = |wanted: fn(&Sort) -> bool| -> BTreeSet<&str> {
        let these = introduced.iter().filter(|one| wanted(&one.sort));
        these.map(|one| one.name.as_str()).collect()
    };
    let all = named(|_| true);
    let forms = [
        (
            &*MISSING,
            named(|sort| matches!(sort, Sort::New(_) | Sort::Name { .. })),
        ),
        (&*MISCALLED, named(|sort| matches!(sort, Sort::Changed(_)))),
        (&*NO_FILE, named(|sort| *sort == Sort::File)),
    ];
    let mut found: BTreeMap<String, Vec<Evidence>> = BTreeMap::new();
    let mut add = |name: &str, evidence: Evidence| {
        let lines = found.entry(name.to_owned()).or_default();
        if lines.len() < LINES && !lines.contains(&evidence) {
            lines.push(evidence);
        }
    };
    for failure in failures {
        if failure.state != State::Before || failure.class != BuildFailureClass::MissingSymbol {
            continue;
        }
        let symbol = failure.symbol.as_deref().unwrap_or_default();
        let Some(name) = words(symbol).filter(|word| all.contains(word)).last() else {
            continue;
        };
        for evidence in failure.proof.iter().take(LINES) {
            add(name, evidence.clone());
        }
        if failure.proof.is_empty() {
            let text = format!("`{symbol}` is missing in `{}`", failure.module);
            add(name, Evidence::of("before", text));
        }
    }
    for (at, line) in log.unwrap_or_default().lines().enumerate() {
        // A line of a megabyte is data that a test printed.
        if line.len() > 4096 {
            continue;
        }
        for (form, names) in &forms {
            if names.is_empty() || !form.is_match(line) {
                continue;
            }
            for name in words(line).filter(|word| names.contains(word)) {
                add(name, Evidence::at("before.log", at + 1, line.trim()));
            }
        }
    }
    found
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
}
