//! The released harnesses' readers: their own answers for the logs in `tests/compat/logs`, and, where
//! those harnesses are installed, for every log of every corpus and many made ones.
//!
//! `ATLAS_SWEBENCH_PYTHON`, `ATLAS_SWEBENCH4_PYTHON` and `ATLAS_SWEBENCHPP_PYTHON` name a Python that has
//! the harness; `ATLAS_SWEBENCHPP_SOURCE` the checkout of SWE-Bench++. `ATLAS_COMPAT_LOGS=20000` tries that
//! many made logs, `ATLAS_COMPAT_SEED` other ones, and `ATLAS_COMPAT_FOLDER` every file of a
//! folder in place of the corpora.

use crate::support::{crate_root, entries, name, parser_folders};
use atlas_core::Harness;
use atlas_parsers::{
    CompatFault, CompatHints, CompatStatuses, compat_parse, compat_parser_names, compat_parser_of,
    compat_read,
};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

fn recorded(harness: Harness) -> Value {
    let path = crate_root().join(format!("tests/compat/{harness}.json"));
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// A log and the fields of a row: `name@version@instance_id.log`.
fn own_logs() -> Vec<(String, String, CompatHints)> {
    entries(&crate_root().join("tests/compat/logs"))
        .into_iter()
        .map(|path| {
            let file = name(&path);
            let mut parts = file.strip_suffix(".log").unwrap().split('@').skip(1);
            let hints = CompatHints {
                version: parts.next().unwrap_or_default().to_owned(),
                instance_id: parts.next().unwrap_or_default().to_owned(),
                ..CompatHints::default()
            };
            (file, std::fs::read_to_string(path).unwrap(), hints)
        })
        .collect()
}

/// Ours by the name the recording gives the reader.
fn ours(
    harness: Harness,
    reader: &str,
    log: &str,
    hints: &CompatHints,
) -> Result<CompatStatuses, CompatFault> {
    let (language, parser) = reader.split_once(':').unwrap_or(("", reader));
    let hints = CompatHints {
        language: language.to_owned(),
        ..hints.clone()
    };
    let ours = compat_parse(harness, parser, log, &hints);
    // Line by line it is the same.
    let lines = compat_read(harness, parser, log, &hints).map(|found| {
        let (names, statuses) = found.into_parts();
        assert_eq!(names.len(), statuses.len());
        let mut last = CompatStatuses::new();
        for (name, status) in names.iter().zip(statuses) {
            last.insert(name.to_owned(), status.into_owned());
        }
        last
    });
    assert_eq!(lines, ours);
    ours
}

/// What differs between ours and the harness's answer, in words; nothing for a log that took the
/// harness too long.
fn difference(
    ours: &Result<CompatStatuses, CompatFault>,
    theirs: Option<&Value>,
) -> Option<String> {
    let theirs = theirs.cloned().unwrap_or_else(|| json!({"statuses": {}}));
    if theirs.get("slow").is_some() {
        return None;
    }
    match (ours, theirs.get("raises").and_then(Value::as_str)) {
        (Err(fault), Some(raised)) => (!fault.to_string().starts_with(&format!("{raised}:")))
            .then(|| format!("raises {raised}, not {fault}")),
        (Err(fault), None) => Some(format!("does not raise {fault}: {theirs}")),
        (Ok(found), Some(raised)) => Some(format!("raises {raised}; here {found:?}")),
        (Ok(found), None) => {
            let theirs: CompatStatuses =
                serde_json::from_value(theirs["statuses"].clone()).unwrap();
            if *found == theirs {
                return None;
            }
            let names: BTreeSet<&String> = found.keys().chain(theirs.keys()).collect();
            let name = names
                .into_iter()
                .find(|name| found.get(*name) != theirs.get(*name))?;
            Some(format!(
                "{name:?}: {:?} there, {:?} here",
                theirs.get(name),
                found.get(name)
            ))
        }
    }
}

fn names(table: &Value) -> Vec<&str> {
    table["names"]
        .as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap())
        .collect()
}

#[test]
fn recorded_answers_are_ours() {
    for harness in Harness::ALL {
        let table = recorded(harness);
        let logs = own_logs();
        assert_eq!(table["answers"].as_object().unwrap().len(), logs.len());
        for (file, log, hints) in &logs {
            let answers = &table["answers"][file];
            for reader in names(&table) {
                let ours = ours(harness, reader, log, hints);
                let difference = difference(&ours, answers.get(reader));
                assert_eq!(difference, None, "{harness}, {reader}, {file}");
            }
        }
    }
}

/// Each reader has a log that it sees something in, or raises at.
#[test]
fn no_reader_is_without_a_log() {
    for harness in Harness::ALL {
        let table = recorded(harness);
        let answers: Vec<&Map<String, Value>> = table["answers"]
            .as_object()
            .unwrap()
            .values()
            .map(|answers| answers.as_object().unwrap())
            .collect();
        for reader in names(&table) {
            assert!(
                answers.iter().any(|of_log| of_log.contains_key(reader)),
                "{harness}: {reader}"
            );
        }
    }
}

#[test]
fn names_and_repositories_are_the_harnesss() {
    for harness in [Harness::SweBench4, Harness::SweBench5] {
        assert_eq!(compat_parser_names(harness), names(&recorded(harness)));
    }
    let known = compat_parser_names(Harness::SweBenchPp);
    for reader in names(&recorded(Harness::SweBenchPp)) {
        let parser = reader.rsplit(':').next().unwrap();
        assert!(
            known.contains(&parser) || parser == "unheard-of",
            "{reader}"
        );
    }
    for harness in Harness::ALL {
        let table = recorded(harness);
        for (repo, function) in table["repositories"].as_object().unwrap() {
            let mut of = compat_parser_of(harness, repo);
            if of == Some("parse_log_pytest") && function == "parse_log_redis" {
                of = Some("parse_log_redis");
            }
            assert_eq!(of, function.as_str(), "{harness}: {repo}");
        }
        assert_eq!(compat_parser_of(harness, "someone/else"), None);
    }
}

#[test]
fn a_reader_that_is_not_there_is_a_fault() {
    let hints = CompatHints::default();
    let fault = |harness, parser: &str, hints: &CompatHints| {
        compat_parse(harness, parser, "PASSED a", hints)
            .unwrap_err()
            .to_string()
    };
    for harness in [Harness::SweBench4, Harness::SweBench5] {
        assert_eq!(fault(harness, "gotest", &hints), "KeyError: 'gotest'");
    }
    let pp = Harness::SweBenchPp;
    assert_eq!(
        fault(pp, "", &hints),
        "TypeError: 'NoneType' object is not callable"
    );
    assert_eq!(
        fault(pp, "tap", &hints),
        "KeyError: 'tap' says no reader without a language"
    );
    assert!(fault(pp, "custom", &hints).contains("code of its own"));
    let of = |language: &str, repo: &str| CompatHints {
        language: language.to_owned(),
        repo: repo.to_owned(),
        ..CompatHints::default()
    };
    // A language it does not know leaves the repository to decide.
    let read = |parser, hints: &CompatHints| compat_parse(pp, parser, "PASSED a b", hints);
    assert_eq!(
        read("pytest", &of("Kotlin", "pallets/flask")).unwrap()["a"],
        "PASSED"
    );
    assert_eq!(
        read("", &of("Python", "pallets/flask")).unwrap()["a"],
        "PASSED"
    );
    assert_eq!(read("", &of("Python", "none/such")).ok(), None);
    // A name it does not know means the language's usual reader.
    assert_eq!(
        read("parse_log_pytest", &of("Python", "")).unwrap()["a b"],
        "PASSED"
    );
}

/// A harness that answers a line for a line.
struct Harnessed {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Harnessed {
    /// None, with a word on it, where the harness is not installed.
    fn start(harness: Harness) -> Option<Self> {
        let variable = match harness {
            Harness::SweBench4 => "ATLAS_SWEBENCH4_PYTHON",
            Harness::SweBench5 => "ATLAS_SWEBENCH_PYTHON",
            Harness::SweBenchPp => "ATLAS_SWEBENCHPP_PYTHON",
        };
        let Ok(python) = std::env::var(variable) else {
            print_line(&format!(
                "skipped: {variable} names no Python with {harness}"
            ));
            return None;
        };
        let mut command = Command::new(python);
        command
            .arg(crate_root().join("tests/compat/record.py"))
            .args([harness.name(), "--serve"]);
        if let (Harness::SweBenchPp, Ok(source)) =
            (harness, std::env::var("ATLAS_SWEBENCHPP_SOURCE"))
        {
            command.args(["--source", &source]);
        }
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Some(Self {
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
        })
    }

    fn answers(&mut self, log: &str, hints: &CompatHints) -> Map<String, Value> {
        let request = json!({
            "log": log, "version": hints.version, "instance_id": hints.instance_id,
        });
        writeln!(self.input.as_mut().unwrap(), "{request}").unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }
}

impl Drop for Harnessed {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

#[expect(
    clippy::print_stderr,
    reason = "what was skipped or measured is for who runs the test"
)]
fn print_line(line: &str) {
    eprintln!("{line}");
}

/// Numbers for made logs, the same in every run with the same seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).unwrap() % end.max(1)
    }

    fn of<'a, T: AsRef<str>>(&mut self, all: &'a [T]) -> &'a str {
        all[self.below(all.len())].as_ref()
    }
}

/// What the harnesses' readers look for, and what stands near it.
fn pieces() -> Vec<String> {
    let path = crate_root().join("tests/compat/pieces.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

const GAPS: &[&str] = &[
    " ", " ", " ", "", "  ", "    ", "\n", "\n", "\n  ", "\n    ", "\t", "\u{a0}",
];

/// So many pieces are written beside each other for a reason.
const NEAR: usize = 30;

/// A log of pieces.
fn soup(numbers: &mut Numbers, pieces: &[String]) -> String {
    let mut log = String::new();
    // A few pieces only, so that the same ones meet; half the time of those that belong together.
    let near = if numbers.below(2) == 0 {
        let start = numbers.below(pieces.len() - NEAR);
        &pieces[start..start + NEAR]
    } else {
        pieces
    };
    let some: Vec<&str> = (0..=numbers.below(15)).map(|_| numbers.of(near)).collect();
    for _ in 0..numbers.below(60) {
        log.push_str(numbers.of(&some));
        log.push_str(numbers.of(GAPS));
    }
    log
}

/// A real log with a few changes.
fn changed(numbers: &mut Numbers, pieces: &[String], log: &str) -> String {
    let mut lines: Vec<String> = log.split('\n').map(str::to_owned).collect();
    // A part of a long log.
    if lines.len() > 60 {
        let start = numbers.below(lines.len() - 50);
        lines = lines.drain(start..start + 50).collect();
    }
    for _ in 0..=numbers.below(8) {
        let (at, other) = (numbers.below(lines.len()), numbers.below(lines.len()));
        let place = {
            let line = &lines[at];
            let mut place = numbers.below(line.len() + 1);
            while !line.is_char_boundary(place) {
                place -= 1;
            }
            place
        };
        match numbers.below(7) {
            0 => lines[at].truncate(place),
            1 => drop(lines[at].drain(..place)),
            2 => lines[at].insert_str(place, numbers.of(pieces)),
            3 => lines[at].insert_str(place, numbers.of(GAPS)),
            4 => lines.swap(at, other),
            5 => {
                let copy = lines[other].clone();
                lines.insert(at, copy);
            }
            _ => {
                let copy = lines[other].clone();
                lines[at].push_str(&copy);
            }
        }
    }
    lines.join("\n")
}

fn setting(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |text| text.parse().unwrap())
}

#[test]
fn the_installed_harnesses_read_the_same() {
    let mut corpus: Vec<String> = parser_folders()
        .iter()
        .flat_map(crate::support::Folder::corpus)
        .map(|path| String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned())
        .collect();
    // As often as the logs of the corpora, which only a few of the readers see anything in.
    let own: Vec<String> = own_logs().into_iter().map(|(_, log, _)| log).collect();
    for _ in 0..corpus.len() / own.len() {
        corpus.extend_from_slice(&own);
    }
    let made = setting("ATLAS_COMPAT_LOGS", 3000);
    let seed = setting("ATLAS_COMPAT_SEED", 1);
    let pieces = pieces();
    for harness in Harness::ALL {
        let Some(mut harnessed) = Harnessed::start(harness) else {
            continue;
        };
        let table = recorded(harness);
        let readers = names(&table);
        let mut numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let mut logs: Vec<String> = corpus
            .iter()
            .flat_map(|log| [log.clone(), log.replace("\r\n", "\n").replace('\r', "\n")])
            .collect::<BTreeSet<String>>()
            .into_iter()
            .collect();
        if let Some(folder) = std::env::var_os("ATLAS_COMPAT_FOLDER") {
            logs.clear();
            for path in entries(std::path::Path::new(&folder)) {
                logs.push(String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned());
            }
        }
        for at in 0..made {
            let log = if at % 3 == 0 {
                soup(&mut numbers, &pieces)
            } else {
                let at = numbers.below(corpus.len());
                changed(&mut numbers, &pieces, &corpus[at])
            };
            logs.push(log);
        }
        let mut compared = 0_u64;
        let mut telling = 0_u64;
        let mut slow = 0_u64;
        let mut raised = 0_u64;
        let mut differences: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for log in &logs {
            let hints = CompatHints {
                version: numbers.of(&["1.27", "9.5", "4.1", "2.0", "x"]).to_owned(),
                instance_id: numbers
                    .of(&["a__b-2006", "a__b-2005", "a__b-9141", "a__b-8761", "a"])
                    .to_owned(),
                ..CompatHints::default()
            };
            let answers = harnessed.answers(log, &hints);
            for &reader in &readers {
                let theirs = answers.get(reader);
                compared += 1;
                telling += u64::from(theirs.is_some());
                let is = |kind| u64::from(theirs.is_some_and(|it| it.get(kind).is_some()));
                slow += is("slow");
                raised += is("raises");
                let ours = ours(harness, reader, log, &hints);
                if let Some(difference) = difference(&ours, theirs) {
                    let all = differences.entry(reader).or_default();
                    all.push(format!("{difference}\n{hints:?}\n{log:.2000?}"));
                }
            }
        }
        print_line(&format!(
            "{harness}: {} logs, {} readers, {compared} readings, of which {telling} saw something, \
             {raised} raised, {slow} were too slow there",
            logs.len(),
            readers.len()
        ));
        for (reader, all) in &differences {
            let shortest = all.iter().min_by_key(|one| one.len()).unwrap();
            print_line(&format!("{reader}: {} differences: {shortest}", all.len()));
        }
        assert!(
            differences.is_empty(),
            "{harness}: {:?}",
            differences.keys()
        );
    }
}
