//! Parsers made by a recorded model, and parsers of others in a sandbox.

use crate::support::{Done, Place};
use atlas_core::{ErrorKind, RunContext, TestStatus};
use atlas_llm::{Recorded, Replay, open_model};
use atlas_parsers::{Cell, Decision, Form, ScriptFault, ScriptLimits, ScriptParser, SynthOptions};
use atlas_pipeline::{
    Config, EngineChoice, LocalConfig, ParserFile, SynthParserOptions, SynthParserOutcome,
    SynthParserReport, open_cell, synth_parser,
};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn fixture(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../atlas-parsers/tests/synth");
    root.join(name)
}

fn config(place: &Place, bubblewrap: &str) -> Config {
    Config {
        local: LocalConfig {
            root: Some(place.path("cache")),
            bubblewrap: Some(bubblewrap.to_owned()),
            ..LocalConfig::default()
        },
        ..Config::default()
    }
}

fn json_of(done: &Done, code: i32) -> serde_json::Value {
    assert_eq!(done.code(), code, "{}", done.stderr());
    done.json()
}

/// A cell behind bubblewrap; none, said aloud, where it does not work.
async fn cell(place: &Place) -> Option<Cell> {
    let cx = RunContext::new("synth-tests");
    match open_cell(&cx, EngineChoice::Local, &config(place, "require"), false).await {
        Ok(cell) => Some(cell),
        Err(why) => {
            assert_eq!(why.kind(), ErrorKind::ToolFailed, "{}", why.chain());
            eprintln!("skipped: {}", why.chain());
            None
        }
    }
}

fn options(place: &Place, name: &str) -> SynthParserOptions {
    let file = |file: &str| fixture(name).join(file);
    SynthParserOptions {
        logs: vec![file("pass.log"), file("fail.log")],
        exit_codes: if name == "lanes" { vec![] } else { vec![0, 1] },
        truths: if name == "grid" {
            vec![file("pass.tap"), file("fail.tap")]
        } else {
            Vec::new()
        },
        id: name.to_owned(),
        tests_in_sources: (name == "steps").then_some(11),
        engine: EngineChoice::Local,
        config: config(place, "require"),
        ..SynthParserOptions::default()
    }
}

/// Makes a fixture's parser from its recording; `ATLAS_RECORD=1` makes the recording from its turns.
async fn make(place: &Place, name: &str) -> SynthParserReport {
    let cx = RunContext::new("synth-tests");
    let recording = fixture(name).join("recording.jsonl");
    let options = options(place, name);
    if std::env::var_os("ATLAS_RECORD").is_some() {
        let turns = format!("scripted:{}", fixture(name).join("turns.jsonl").display());
        let _ = std::fs::remove_file(&recording);
        let model = Recorded::new(open_model(&turns).unwrap(), &recording).unwrap();
        synth_parser(&cx, &options, Arc::new(model)).await.unwrap();
    }
    let model = Replay::read(&recording).unwrap();
    synth_parser(&cx, &options, Arc::new(model)).await.unwrap()
}

/// The problems of each attempt: one text that each must hold, empty for the one taken.
async fn made(name: &str, wanted: &[(Form, &str)], tests: &[(&str, TestStatus)]) {
    let place = Place::new();
    let report = make(&place, name).await;
    assert_eq!(report.outcome, SynthParserOutcome::Certified, "{report:#?}");
    let attempts = &report.attempts;
    assert_eq!(attempts.len(), wanted.len(), "{attempts:#?}");
    for (attempt, (form, problem)) in attempts.iter().zip(wanted) {
        assert_eq!(attempt.form, *form);
        let text = attempt.problems.join("\n");
        assert_eq!(problem.is_empty(), text.is_empty(), "{text}");
        assert!(text.contains(problem), "{text}");
    }
    let certificate = report.certificate.as_ref().unwrap();
    assert_eq!(certificate.decision, Decision::Certified);
    assert!(certificate.score > 0.9, "{certificate:#?}");
    let path = place.path("parser.json");
    report.write_parser(&path).unwrap();
    assert_eq!(Some(ParserFile::read(&path).unwrap()), report.parser);
    let fail = fixture(name).join("fail.log");
    let (path, fail) = (path.to_str().unwrap(), fail.to_str().unwrap());
    let parsed = place.run(&["parse", "--format", "json", "--parser", path, fail]);
    if matches!(report.parser, Some(ParserFile::Script { .. })) {
        assert_eq!(parsed.code(), 1);
        assert!(parsed.stderr().contains("runs in a sandbox only"));
        return;
    }
    let parsed = json_of(&parsed, 0);
    for (id, status) in tests {
        assert_eq!(parsed["tests"][*id], status.as_str(), "{name}: {id}");
    }
    assert_eq!(parsed["consistent"], true);
    let certified = place.run(&[
        "synth-parser",
        "--certify",
        fail,
        "--parser",
        path,
        "--format",
        "json",
    ]);
    assert_eq!(json_of(&certified, 0)["decision"], "certified");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_parser_for_dotted_lanes_takes_two_corrections() {
    let wanted = [
        (Form::Rules, "no test was read"),
        (Form::Rules, "`CRASH` (2 times)"),
        (Form::Rules, ""),
    ];
    let tests = [
        ("joins nothing", TestStatus::Failed),
        ("sorts in place", TestStatus::Skipped),
        ("keeps inner blanks", TestStatus::Passed),
    ];
    made("lanes", &wanted, &tests).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_parser_for_blocks_of_lines_takes_two_corrections() {
    let wanted = [
        (Form::Rules, "look-around"),
        (Form::Rules, "the totals that your rules read"),
        (Form::Rules, ""),
    ];
    let tests = [
        ("text-upper", TestStatus::Failed),
        ("noise-survives", TestStatus::Passed),
        ("files-none", TestStatus::Skipped),
    ];
    made("steps", &wanted, &tests).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_parser_for_jim_tcl_takes_a_correction() {
    let wanted = [
        (Form::Rules, "the totals that your rules read"),
        (Form::Rules, ""),
    ];
    let tests = [
        ("list-4.2", TestStatus::Failed),
        ("cmdIL-4.3", TestStatus::Skipped),
    ];
    made("jimtcl", &wanted, &tests).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_parser_for_shunit2_takes_a_correction() {
    let wanted = [(Form::Rules, "no test was read"), (Form::Rules, "")];
    let tests = [
        ("testPartyLikeItIs1999", TestStatus::Failed),
        ("testAdding", TestStatus::Passed),
    ];
    made("shunit2", &wanted, &tests).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_parser_for_a_table_is_python() {
    if cell(&Place::new()).await.is_none() {
        return;
    }
    let wanted = [
        (Form::Rules, "rules cannot say it"),
        (Form::Script, "KeyError"),
        (Form::Script, ""),
    ];
    made("grid", &wanted, &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn corrections_run_out_and_nothing_is_made() {
    let place = Place::new();
    let script = place.path("turns.jsonl");
    let line = json!({"holds": "", "text": "{\"form\": \"rules\"}"}).to_string();
    std::fs::write(&script, format!("{line}\n").repeat(6)).unwrap();
    let model = open_model(&format!("scripted:{}", script.display())).unwrap();
    let mut options = options(&place, "steps");
    // Nothing keeps Python apart, so none is asked for.
    options.config = config(&place, "never");
    let cx = RunContext::new("synth-tests");
    let report = synth_parser(&cx, &options, model).await.unwrap();
    assert_eq!(report.outcome, SynthParserOutcome::Refused);
    assert_eq!(report.attempts.len(), 6);
    assert_eq!(
        report.attempts[5].correction,
        SynthOptions::default().corrections
    );
    assert!(report.attempts[0].problems[0].contains("`rules` is missing"));
    assert!(
        report.notes[0].contains("no parser in Python was tried"),
        "{:?}",
        report.notes
    );
}

#[test]
fn the_command_tells_refusals_by_its_exit_code() {
    let place = Place::new();
    let wrong = json!({
        "schema_version": 1, "id": "wrong", "statuses": {"OK": "PASSED", "SKIP": "PASSED", "ERR": "FAILED"},
        "lines": [{"name": "result", "pattern": "(?P<id>\\S+) (?P<status>OK|ERR|SKIP) +.+"}],
    });
    let path = place.path("wrong.json");
    std::fs::write(&path, wrong.to_string()).unwrap();
    let fail = fixture("jimtcl").join("fail.log");
    let (path, fail) = (path.to_str().unwrap(), fail.to_str().unwrap());
    let refused = place.run(&[
        "synth-parser",
        "--certify",
        fail,
        "--parser",
        path,
        "--format",
        "json",
    ]);
    let refused = json_of(&refused, 3);
    assert_eq!(refused["decision"], "refused");
    assert!(
        refused["checks"]["words"]["failures"][0]["text"]
            .as_str()
            .unwrap()
            .contains("cmdIL-4.3")
    );
    let shown = place.run(&["synth-parser", fail, "--show-prompt"]);
    let text = shown.stdout();
    assert!(
        text.contains("# rules.v1") && text.contains("list-4.2 ERR lreverse"),
        "{text}"
    );
}

/// What a hostile parser comes to, with and without the watch over what it opens.
struct Hostile {
    name: &'static str,
    body: &'static str,
    watched: fn(&ScriptFault) -> bool,
    /// Without the watch: the sandbox stops it, or it reaches nothing.
    walled: fn(&Result<Vec<String>, ScriptFault>) -> bool,
}

const HOSTILE: [Hostile; 9] = [
    Hostile {
        name: "reads a secret",
        body: "for path in ('SECRET', '/etc/shadow', '/root/.bashrc'):\n  try:\n   open(path).read(); found[path] = 'PASSED'\n  except OSError: pass",
        watched: |fault| matches!(fault, ScriptFault::Forbidden(what) if what.contains("open")),
        walled: |read| read.as_ref().is_ok_and(Vec::is_empty),
    },
    Hostile {
        name: "writes",
        body: "for path in ('/usr/lib/mine', 'SECRET'):\n  try:\n   open(path, 'w').write('x'); found[path] = 'PASSED'\n  except OSError: pass",
        watched: |fault| matches!(fault, ScriptFault::Forbidden(_)),
        walled: |read| read.as_ref().is_ok_and(Vec::is_empty),
    },
    Hostile {
        name: "opens a socket",
        body: "import socket\n try:\n  socket.create_connection(('127.0.0.1', PORT), 2); found['connected'] = 'PASSED'\n except OSError: pass",
        watched: |fault| matches!(fault, ScriptFault::Forbidden(what) if what.contains("socket")),
        walled: |read| read.as_ref().is_ok_and(Vec::is_empty),
    },
    Hostile {
        name: "starts a program",
        body: "import subprocess\n subprocess.run(['sh', '-c', 'echo x > SECRET'])",
        watched: |fault| matches!(fault, ScriptFault::Forbidden(_)),
        walled: |read| read.is_ok(),
    },
    Hostile {
        name: "forks without end",
        body: "import os\n while True:\n  try: os.fork()\n  except OSError: pass",
        watched: |fault| matches!(fault, ScriptFault::Forbidden(what) if what.contains("fork")),
        walled: |read| {
            matches!(
                read,
                Err(ScriptFault::Time(_) | ScriptFault::Died(_) | ScriptFault::Memory(_))
            )
        },
    },
    Hostile {
        name: "loops",
        body: "while True: pass",
        watched: |fault| matches!(fault, ScriptFault::Time(_)),
        walled: |read| matches!(read, Err(ScriptFault::Time(_))),
    },
    Hostile {
        name: "eats memory",
        body: "held = []\n while True: held.append(bytearray(b'x' * (8 << 20)))",
        watched: |fault| matches!(fault, ScriptFault::Memory(_)),
        walled: |read| matches!(read, Err(ScriptFault::Memory(_) | ScriptFault::Died(_))),
    },
    Hostile {
        name: "names too much",
        body: "found = {str(n): 'PASSED' for n in range(3000)}",
        watched: |fault| matches!(fault, ScriptFault::Failed(what) if what.contains("more than 2000 tests")),
        walled: |read| matches!(read, Err(ScriptFault::Failed(_))),
    },
    Hostile {
        name: "leaves",
        body: "import os\n os._exit(0)",
        watched: |fault| matches!(fault, ScriptFault::Died(_)),
        walled: |read| matches!(read, Err(ScriptFault::Died(_))),
    },
];

async fn hostile_parsers_are_stopped(cell: &Cell, secret: &Path) {
    let cx = RunContext::new("synth-tests");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    for one in &HOSTILE {
        let body = one
            .body
            .replace("PORT", &port)
            .replace("SECRET", secret.to_str().unwrap());
        let source =
            format!("def parse_log_to_json(log):\n found = {{}}\n {body}\n return found\n");
        for watch in [true, false] {
            let limits = ScriptLimits {
                seconds: 6,
                memory_bytes: 192 << 20,
                tests: 2000,
                watch,
                ..ScriptLimits::default()
            };
            let parser = ScriptParser::new("hostile", &source, cell.clone(), limits).unwrap();
            let clock = std::time::Instant::now();
            let read = parser.read(&cx, &[b"a log\n"]).await.unwrap();
            assert!(clock.elapsed().as_secs() < 60, "{}", one.name);
            let read = read.and_then(|mut read| read.remove(0));
            let read = read.map(|log| log.tests().keys().map(|id| (*id).to_owned()).collect());
            if watch {
                let fault = read.as_ref().unwrap_err();
                assert!((one.watched)(fault), "{}: {fault}", one.name);
            } else {
                assert!((one.walled)(&read), "{}: {read:?}", one.name);
            }
        }
    }
    assert_eq!(std::fs::read_to_string(secret).unwrap(), "secret\n");
    listener.set_nonblocking(true).unwrap();
    assert!(
        listener.accept().is_err(),
        "a parser reached this machine's network"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_parsers_are_stopped_behind_bubblewrap() {
    let place = Place::new();
    let Some(cell) = cell(&place).await else {
        return;
    };
    let secret = place.path("secret.txt");
    std::fs::write(&secret, "secret\n").unwrap();
    hostile_parsers_are_stopped(&cell, &secret).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_parsers_are_stopped_in_a_container() {
    if std::env::var_os("ATLAS_TEST_DOCKER").is_none() {
        eprintln!("skipped: ATLAS_TEST_DOCKER is not set");
        return;
    }
    let place = Place::new();
    let cx = RunContext::new("synth-tests");
    let cell = open_cell(&cx, EngineChoice::Docker, &Config::default(), false)
        .await
        .unwrap();
    let secret = place.path("secret.txt");
    std::fs::write(&secret, "secret\n").unwrap();
    hostile_parsers_are_stopped(&cell, &secret).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_runs_where_nothing_keeps_it_apart() {
    let place = Place::new();
    let cx = RunContext::new("synth-tests");
    let refused = open_cell(&cx, EngineChoice::Local, &config(&place, "never"), false).await;
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::NotTrusted);
    let trusted = open_cell(&cx, EngineChoice::Local, &config(&place, "never"), true)
        .await
        .unwrap();
    assert_eq!(trusted.isolation().kind, "process");
}

#[tokio::test(flavor = "multi_thread")]
async fn parsers_of_datasets_run_by_their_contracts() {
    let place = Place::new();
    let Some(cell) = cell(&place).await else {
        return;
    };
    let cx = RunContext::new("synth-tests");
    let read = async |source: &str| {
        let parser = ScriptParser::new("theirs", source, cell.clone(), ScriptLimits::default());
        let read = parser
            .unwrap()
            .read(&cx, &[b"a ok\nb no\n", b""])
            .await
            .unwrap();
        let told = |read: Result<atlas_core::ParsedLog, ScriptFault>| {
            let read = read.unwrap();
            let tests = read.tests().into_iter();
            let tests: Vec<String> = tests.map(|(id, status)| format!("{id} {status}")).collect();
            (tests.join(", "), read.warnings.len())
        };
        read.unwrap().into_iter().map(told).collect::<Vec<_>>()
    };
    // SWE-Bench++: `custom`.
    let row = json!({"environment_config": {"log_parser_name": "custom", "log_parser_code":
        "import re\ndef parse_log_to_json(log):\n  return {m[1]: 'PASSED' if m[2] == 'ok' else 'FAILED' for m in re.finditer(r'(\\w+) (\\w+)', log)}\n"}});
    let code = atlas_parsers::dataset_parser(row.as_object().unwrap()).unwrap();
    let both = vec![("a PASSED, b FAILED".to_owned(), 0), (String::new(), 0)];
    assert_eq!(read(&code).await, both);
    // SWE-bench-Live: words of its own.
    let row = json!({"log_parser": "def parser(log: str) -> dict[str, str]:\n  return {l.split()[0]: 'pass' if l.endswith('ok') else 'fail' for l in log.splitlines()}\n"});
    let code = atlas_parsers::dataset_parser(row.as_object().unwrap()).unwrap();
    assert_eq!(read(&code).await, both);
    assert_eq!(
        atlas_parsers::dataset_parser(json!({"log_parser": "pytest"}).as_object().unwrap()),
        None
    );
    // SWE-bench: two arguments, statuses of an enum; an unknown word is no status.
    let code = "import enum\nclass TestStatus(enum.Enum):\n  PASSED = 'PASSED'\n\ndef parse_log(log, test_spec):\n  assert test_spec.version == ''\n  return {'a': TestStatus.PASSED.value, 'b': 'SKIPPEDx', 'c': TestStatus.PASSED}\n";
    assert_eq!(read(code).await[0], ("a PASSED, c PASSED".to_owned(), 1));
    for (code, wanted) in [
        ("x = 1\n", "none of parse_log_to_json"),
        ("def parse_log(log: return\n", "SyntaxError"),
        ("import nothing_such\n", "ModuleNotFoundError"),
    ] {
        let parser = ScriptParser::new("theirs", code, cell.clone(), ScriptLimits::default());
        let fault = parser
            .unwrap()
            .read(&cx, &[b""])
            .await
            .unwrap()
            .unwrap_err();
        assert!(fault.to_string().contains(wanted), "{fault}");
    }
    let raises = "def parser(log):\n  return [][1]\n";
    let parser =
        ScriptParser::new("theirs", raises, cell.clone(), ScriptLimits::default()).unwrap();
    let fault = parser
        .read(&cx, &[b""])
        .await
        .unwrap()
        .unwrap()
        .remove(0)
        .unwrap_err();
    assert_eq!(
        fault.to_string(),
        "the parser failed: IndexError: list index out of range (line 2)"
    );
}
