//! Parsers that are not shipped: given, in rows, of datasets, made by a model; and what each is worth.

use crate::eval_support::{
    SOLVED, eval_here, made_here, predictions, regrade, row, store, verdict,
};
use crate::support::{BASE, Done, FIX, Place, make_args};
use serde_json::{Value, json};

/// Reads `ID: ok` and `ID: bad`, and unittest's lines, as code of a dataset.
const FAIR: &str = "import re\n\ndef parse_log_to_json(log):\n    found = {}\n    for line in log.splitlines():\n        \
    parts = line.split(': ')\n        if len(parts) == 2 and parts[1] in ('ok', 'bad'):\n            \
    found[parts[0]] = 'PASSED' if parts[1] == 'ok' else 'FAILED'\n        elif ' ... ' in line:\n            \
    found[line.split()[0]] = 'PASSED' if line.endswith('ok') else 'FAILED'\n    return found\n";

/// The same for two namespaces, in which nothing beside the function is seen.
fn of(body: &str) -> String {
    format!(
        "def parse_log_to_json(log):\n    {body}\n    return {{'new': 'PASSED', 'old': 'PASSED'}}\n"
    )
}

fn hostile(secret: &str, port: u16) -> [(&'static str, String, &'static str); 3] {
    [
        (
            "a__reads-1",
            of(&format!("open('{secret}').read()")),
            "open",
        ),
        (
            "a__calls-1",
            of(&format!(
                "import socket; socket.create_connection(('127.0.0.1', {port}), 2)"
            )),
            "socket",
        ),
        ("a__loops-1", of("while True: pass"), "too long"),
    ]
}

fn custom(mut row: Value, code: &str) -> Value {
    let columns = row.as_object_mut().unwrap();
    columns.remove("log_parser");
    columns.insert("language".to_owned(), json!("Python"));
    let config = json!({
        "test_cmd": "sh run.sh", "log_parser_name": "custom", "log_parser_code": code,
        "no_use_env": true, "no_test_directives": true,
    });
    columns.insert("environment_config".to_owned(), json!(config.to_string()));
    columns.insert("FAIL_TO_PASS".to_owned(), json!(["new"]));
    columns.insert("PASS_TO_PASS".to_owned(), json!(["old"]));
    row
}

fn log(new: &str) -> String {
    format!("+ : '>>>>> Start Test Output'\nold: ok\nnew: {new}\n+ : '>>>>> End Test Output'\n")
}

/// The configuration with bubblewrap in this use: `require` or `never`.
fn configured(place: &Place, bubblewrap: &str) {
    let text = format!("[local]\nbubblewrap = \"{bubblewrap}\"\n");
    std::fs::write(place.path("atlas.toml"), text).unwrap();
}

fn has_bubblewrap() -> bool {
    let probe = std::process::Command::new("bwrap")
        .args(["--ro-bind", "/", "/", "--unshare-all", "true"])
        .status();
    let works = probe.is_ok_and(|status| status.success());
    if !works {
        eprintln!("skipped: bubblewrap does not work here");
    }
    works
}

#[test]
fn regrade_reads_by_the_code_of_a_row() {
    if !has_bubblewrap() {
        return;
    }
    let place = Place::new();
    configured(&place, "require");
    let rows = [custom(row("a__b-1"), FAIR), custom(row("a__b-2"), FAIR)];
    std::fs::write(
        place.path("rows.jsonl"),
        format!("{}\n{}\n", rows[0], rows[1]),
    )
    .unwrap();
    store(&place, "gold", "a__b-1", log("ok").as_bytes());
    store(&place, "gold", "a__b-2", log("bad").as_bytes());
    for mode in ["strict", "compat-swebenchpp"] {
        let more = ["--engine", "local", "--mode", mode];
        let done = regrade(&place, "rows.jsonl", "gold", &more);
        assert_eq!(done.code(), 3, "{}{}", done.stdout(), done.stderr());
        let report = done.json();
        assert_eq!(report["resolved_ids"], json!(["a__b-1"]), "{mode}");
        let verdict = &report["instances"][0]["verdict"];
        assert_eq!(verdict["read_by"]["origin"], "dataset", "{verdict:#}");
        assert_eq!(verdict["read_by"]["isolation"], "bubblewrap");
        let note = verdict["notes"].to_string();
        assert!(note.contains("code of the dataset"), "{note}");
    }
    // What was read once is known by its content: no engine is asked again.
    std::fs::remove_dir_all(place.path("cache/atlas/readings")).unwrap_or_default();
    let first = regrade(&place, "rows.jsonl", "gold", &["--engine", "local"]);
    let kept = count(&place.path("cache/atlas/readings"));
    assert_eq!((first.code(), kept), (3, 2));
}

fn count(folder: &std::path::Path) -> usize {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => count(&entry.path()),
            _ => 1,
        })
        .sum()
}

/// SWE-bench-Live's rows have the source of their parser in `log_parser`, and words of its own.
#[test]
fn regrade_reads_rows_of_swe_bench_live() {
    if !has_bubblewrap() {
        return;
    }
    let place = Place::new();
    configured(&place, "require");
    let mut live = row("a__b-1");
    let columns = live.as_object_mut().unwrap();
    columns.remove("eval_script");
    let source = "import re\n\ndef parser(log: str) -> dict[str, str]:\n    \
        return {name: 'pass' if word == 'ok' else 'fail' for name, word in re.findall(r'(\\w+): (\\w+)', log)}\n";
    columns.insert("log_parser".to_owned(), json!(source));
    columns.insert("test_cmds".to_owned(), json!(["sh run.sh"]));
    columns.insert("FAIL_TO_PASS".to_owned(), json!(["new"]));
    columns.insert("PASS_TO_PASS".to_owned(), json!(["old"]));
    std::fs::write(place.path("rows.jsonl"), live.to_string()).unwrap();
    for (word, code) in [("ok", 0), ("bad", 3)] {
        store(&place, "gold", "a__b-1", log(word).as_bytes());
        let done = regrade(&place, "rows.jsonl", "gold", &["--engine", "local"]);
        assert_eq!(done.code(), code, "{}{}", done.stdout(), done.stderr());
        let read_by = &done.json()["instances"][0]["verdict"]["read_by"];
        assert_eq!(read_by["origin"], "dataset");
    }
}

/// SWE-Bench++ runs code in two namespaces: what stands beside the function is not seen in it.
#[test]
fn code_is_run_as_its_harness_runs_it() {
    if !has_bubblewrap() {
        return;
    }
    let place = Place::new();
    configured(&place, "require");
    let code = "import re\n\ndef parse_log_to_json(log):\n    return {name: 'PASSED' for name in re.findall(r'(\\w+): ok', log)}\n";
    std::fs::write(
        place.path("rows.jsonl"),
        custom(row("a__b-1"), code).to_string(),
    )
    .unwrap();
    store(&place, "gold", "a__b-1", log("ok").as_bytes());
    let strict = regrade(&place, "rows.jsonl", "gold", &["--engine", "local"]);
    assert_eq!(strict.code(), 0, "{}", strict.stdout());
    let mode = ["--engine", "local", "--mode", "compat-swebenchpp"];
    let theirs = regrade(&place, "rows.jsonl", "gold", &mode);
    assert_ne!(theirs.code(), 0);
    assert!(theirs.stdout().contains("NameError"), "{}", theirs.stdout());
}

#[test]
fn code_of_a_row_is_refused_where_nothing_keeps_it_apart() {
    let place = Place::new();
    configured(&place, "never");
    std::fs::write(
        place.path("rows.jsonl"),
        custom(row("a__b-1"), FAIR).to_string(),
    )
    .unwrap();
    store(&place, "gold", "a__b-1", log("ok").as_bytes());
    let refused = regrade(&place, "rows.jsonl", "gold", &["--engine", "local"]);
    assert_eq!(refused.code(), 1, "{}", refused.stdout());
    let report = refused.json();
    assert_eq!(report["instances"][0]["verdict"]["outcome"], "no_evidence");
    assert!(
        refused.stdout().contains("--trust-parsers"),
        "{}",
        refused.stdout()
    );
    let trusted = regrade(
        &place,
        "rows.jsonl",
        "gold",
        &["--engine", "local", "--trust-parsers"],
    );
    assert_eq!(
        trusted.code(),
        0,
        "{}{}",
        trusted.stdout(),
        trusted.stderr()
    );
    let read_by = &trusted.json()["instances"][0]["verdict"]["read_by"];
    assert_eq!(read_by["isolation"], "process");
}

#[test]
fn hostile_code_of_a_row_gives_regrade_no_evidence() {
    if !has_bubblewrap() {
        return;
    }
    let place = Place::new();
    configured(&place, "require");
    let secret = place.path("secret.txt");
    std::fs::write(&secret, "secret").unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let all = hostile(secret.to_str().unwrap(), port);
    let lines: Vec<String> = all
        .iter()
        .map(|(id, code, _)| custom(row(id), code).to_string())
        .collect();
    std::fs::write(place.path("rows.jsonl"), lines.join("\n")).unwrap();
    for (id, ..) in &all {
        store(&place, "gold", id, log("ok").as_bytes());
    }
    let done = regrade(&place, "rows.jsonl", "gold", &["--engine", "local"]);
    assert_eq!(done.code(), 1, "{}", done.stdout());
    let report = done.json();
    for (at, (id, _, wanted)) in all.iter().enumerate() {
        let verdict = &report["instances"][at]["verdict"];
        assert_eq!(verdict["outcome"], "no_evidence", "{id}");
        assert_ne!(verdict["cause"], "model", "{id}");
        let why = verdict["reasons"].to_string();
        assert!(why.contains(wanted), "{id}: {why}");
    }
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err());
}

/// The row that was made here, with code of its own.
fn with_code(place: &Place, code: &str) {
    let text = std::fs::read_to_string(place.path("out/dataset.jsonl")).unwrap();
    let mut row: Value = serde_json::from_str(text.trim_end()).unwrap();
    let row = row.as_object_mut().unwrap();
    row.remove("log_parser");
    let config = json!({
        "test_cmd": "python -m unittest discover -v", "log_parser_name": "custom",
        "log_parser_code": code,
    });
    row.insert("environment_config".to_owned(), json!(config.to_string()));
    row.insert("FAIL_TO_PASS".to_owned(), json!("[\"test_negative\"]"));
    row.insert("PASS_TO_PASS".to_owned(), json!("[\"test_positive\"]"));
    let text = format!("{}\n", Value::Object(row.clone()));
    std::fs::write(place.path("out/dataset.jsonl"), text).unwrap();
}

#[test]
fn eval_reads_by_the_code_of_a_row_and_stops_hostile_code() {
    if !has_bubblewrap() {
        return;
    }
    let place = Place::new();
    configured(&place, "require");
    let id = made_here(&place, 0.0);
    predictions(&place, &[(&id, "solves", json!(SOLVED))]);
    with_code(&place, FAIR);
    let done = place.run(&eval_here("fair", &[]));
    assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
    let report = done.json();
    let read = verdict(&report, "solves");
    assert_eq!(read["read_by"]["origin"], "dataset", "{read:#}");
    assert!(
        read["notes"]
            .to_string()
            .contains("what passes is what it says")
    );

    let secret = place.path("secret.txt");
    std::fs::write(&secret, "secret").unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    for (name, code, wanted) in hostile(secret.to_str().unwrap(), port) {
        with_code(&place, &code);
        let done = place.run(&eval_here(name, &[]));
        assert_eq!(done.code(), 1, "{name}: {}{}", done.stdout(), done.stderr());
        let report = done.json();
        let read = verdict(&report, "solves");
        assert_eq!(read["outcome"], "no_evidence", "{name}");
        assert_ne!(read["cause"], "model", "{name}");
        let why = read["reasons"].to_string();
        assert!(why.contains(wanted), "{name}: {why}");
    }
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err());
}

/// A runner that nobody knows, in a repository whose last commit fixes negative numbers.
pub(crate) const RUN: &str = "pass=0; fail=0; skip=0\nfor t in tests/*.t; do\n  name=$(basename \"$t\" .t)\n  \
    if grep -q later \"$t\"; then echo \"$name SKIP not yet\"; skip=$((skip+1))\n  \
    elif sh \"$t\"; then echo \"$name OK as it should be\"; pass=$((pass+1))\n  \
    else echo \"$name ERR not as it should be\"; fail=$((fail+1)); fi\ndone\n\
    echo \"in $(($(date +%s) % 90 + 1)).5 seconds\"\n\
    echo \"tests: Total $((pass+fail+skip)) Passed $pass Skipped $skip Failed $fail\"\n[ \"$fail\" = 0 ]\n";

fn unknown_runner(place: &Place) -> String {
    let small = ". ./lib.sh\n[ \"$(double 2)\" = 4 ]\n";
    let repo = place.repository(
        "repo",
        &[
            &[
                ("run.sh", RUN),
                (
                    "lib.sh",
                    "double() { [ \"$1\" -gt 0 ] && echo $(($1 + $1)) || echo \"$1\"; }\n",
                ),
                ("tests/small.t", small),
                ("tests/large.t", ". ./lib.sh\n[ \"$(double 20)\" = 40 ]\n"),
                ("tests/zero.t", ". ./lib.sh\n[ \"$(double 0)\" = 0 ]\n"),
                ("tests/huge.t", "# later\n"),
            ],
            &[
                ("lib.sh", "double() { echo $(($1 + $1)); }\n"),
                (
                    "tests/negative.t",
                    ". ./lib.sh\n[ \"$(double -2)\" = -4 ]\n",
                ),
                ("tests/minus.t", ". ./lib.sh\n[ \"$(double -1)\" = -2 ]\n"),
            ],
        ],
    );
    planned(place, "sh run.sh", &[]);
    repo.to_str().unwrap().to_owned()
}

fn planned(place: &Place, command: &str, build: &[&str]) {
    let plan = json!({
        "build": build, "test_cmd": command, "log_parser_name": "unknown-runner", "language": "python",
        "base_image": "python:3.11-slim-bookworm",
    });
    std::fs::write(place.path("plan.json"), plan.to_string()).unwrap();
    std::fs::write(place.path("atlas.toml"), "[plan]\nfile = \"plan.json\"\n").unwrap();
}

pub(crate) fn rules() -> Value {
    json!({
        "schema_version": 1, "id": "house", "reads": "the house's runner",
        "statuses": {"OK": "PASSED", "ERR": "FAILED", "SKIP": "SKIPPED"},
        "lines": [{"name": "result", "pattern": "(?P<id>\\w+) (?P<status>OK|ERR|SKIP) (?P<message>.+)"}],
        "totals": [{"name": "counts", "pattern":
            "tests: Total (?P<total>\\d+) Passed (?P<passed>\\d+) Skipped (?P<skipped>\\d+) Failed (?P<failed>\\d+)"}],
    })
}

pub(crate) fn row_of(place: &Place, out: &str) -> Value {
    let text = std::fs::read_to_string(place.path(out).join("dataset.jsonl")).unwrap();
    serde_json::from_str(text.trim_end()).unwrap()
}

pub(crate) fn good(done: &Done) {
    assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
}

#[test]
fn a_row_holds_its_parser_and_what_it_is_worth() {
    let place = Place::new();
    let repo = unknown_runner(&place);
    std::fs::write(place.path("house.json"), rules().to_string()).unwrap();
    let with = ["--instance-id", "me__house-1", "--parser", "house.json"];
    good(&place.run(&make_args(&repo, &with)));
    let made = row_of(&place, "out");
    assert_eq!(made["FAIL_TO_PASS"], "[\"minus\",\"negative\"]");
    assert_eq!(made["atlas"]["parser"]["id"], "house");
    let certificate = &made["atlas"]["certificate"];
    assert_eq!(certificate["decision"], "certified", "{certificate:#}");
    assert_eq!(certificate["level"], "mutation");
    assert_eq!(certificate["logs"], 3);
    assert!(certificate["score"].as_f64().unwrap() > 0.9);
    assert!(certificate["checks"]["flip"]["done"].as_u64().unwrap() > 0);
    assert!(
        certificate["checks"].get("truncation_seen").is_none(),
        "depends on the order of lines"
    );
    assert!(
        !certificate.to_string().contains("as it should be"),
        "no line of a log"
    );
    let proof = std::fs::read_to_string(place.path("out/me__house-1/certificate.json")).unwrap();
    assert!(proof.contains("truncation_seen"));

    // The runner prints another time in each run; the row has the same bytes.
    let mut elsewhere = make_args(&repo, &with);
    let at = elsewhere.iter().position(|arg| *arg == "out").unwrap();
    elsewhere[at] = "other";
    good(&place.run(&elsewhere));
    assert_eq!(
        std::fs::read(place.path("out/dataset.jsonl")).unwrap(),
        std::fs::read(place.path("other/dataset.jsonl")).unwrap()
    );

    // Elsewhere, with the row alone.
    std::fs::remove_file(place.path("house.json")).unwrap();
    std::fs::create_dir(place.path("away")).unwrap();
    std::fs::copy(
        place.path("out/dataset.jsonl"),
        place.path("away/dataset.jsonl"),
    )
    .unwrap();
    let eval = |dataset: &str, run: &str| {
        place.run(&[
            "eval",
            "--dataset",
            dataset,
            "--predictions",
            "gold",
            "--run-id",
            run,
            "--repos",
            &repo,
            "--engine",
            "local",
            "--trust",
            "--format",
            "json",
        ])
    };
    let done = eval("away/dataset.jsonl", "away");
    good(&done);
    let report = done.json();
    assert_eq!(verdict(&report, "gold")["read_by"]["origin"], "row");

    // The gate is for who asks for it.
    let gate = |dataset: &str| {
        place.run(&[
            "validate",
            dataset,
            "--gates",
            "certificate",
            "--engine",
            "local",
            "--trust",
            "--repos",
            &repo,
            "--out",
            "gated",
            "--format",
            "json",
        ])
    };
    good(&gate("away/dataset.jsonl"));
    let mut refused = made.clone();
    refused["atlas"]["certificate"]["decision"] = "refused".into();
    refused["atlas"]["certificate"]["refused_by"] = json!(["words"]);
    std::fs::write(place.path("away/refused.jsonl"), refused.to_string()).unwrap();
    let done = gate("away/refused.jsonl");
    assert_eq!(done.code(), 3, "{}{}", done.stdout(), done.stderr());
    assert!(
        done.stdout().contains("check `words` did not hold"),
        "{}",
        done.stdout()
    );
}

#[test]
fn a_parser_is_made_for_a_runner_that_nobody_knows() {
    let place = Place::new();
    let repo = unknown_runner(&place);
    let answer = json!({"form": "rules", "rules": rules()}).to_string();
    let wrong = json!({"form": "rules"}).to_string();
    let turns = [wrong, answer].map(|text| json!({"holds": "", "text": text}).to_string());
    std::fs::write(place.path("turns.jsonl"), turns.join("\n")).unwrap();
    let with = [
        "--instance-id",
        "me__house-1",
        "--model",
        "scripted:turns.jsonl",
    ];
    let done = place.run(&make_args(&repo, &with));
    good(&done);
    let made = row_of(&place, "out");
    assert_eq!(made["FAIL_TO_PASS"], "[\"minus\",\"negative\"]");
    assert_eq!(made["atlas"]["parser"]["id"], "made-me--house-1");
    assert_eq!(made["atlas"]["certificate"]["decision"], "certified");
    let warnings = done.json()["warnings"].to_string();
    assert!(
        warnings.contains("was made for them by the model"),
        "{warnings}"
    );
    let folder = place.path("out/me__house-1");
    let answers = std::fs::read_to_string(folder.join("parser.attempts.json")).unwrap();
    assert!(answers.contains("`rules` is missing"), "{answers}");
    assert!(folder.join("parser.json").exists());

    // Without a model the plan's parser is an error, as before.
    let without = place.run(&make_args(&repo, &["--instance-id", "me__house-2"]));
    assert_eq!(without.code(), 1);
    assert!(
        without.stderr().contains("unknown-runner"),
        "{}",
        without.stderr()
    );
}

#[test]
fn failures_written_into_the_tests_of_a_pull_request_are_seen() {
    let place = Place::new();
    let repo = place.repository("repo", &[BASE, FIX]);
    let repo = repo.to_str().unwrap();
    let with = ["--instance-id", "me__calc-1", "--inject"];
    good(&place.run(&make_args(repo, &with)));
    let made = row_of(&place, "out");
    assert_eq!(
        made["atlas"]["certificate"]["level"], "injection",
        "{made:#}"
    );
    assert!(made["atlas"].get("parser").is_none(), "a shipped one");
    let text = std::fs::read_to_string(place.path("out/me__calc-1/injection.json")).unwrap();
    let injection: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(injection["injected"].as_array().unwrap().len(), 2);
    assert_eq!(injection["judgement"]["seen"].as_array().unwrap().len(), 2);
}

/// Tests of C whose outcome is what they return: no rule knows how they fail.
#[test]
fn a_model_writes_the_failures_that_no_rule_can() {
    let place = Place::new();
    let suite = |more: &str, calls: &str| {
        format!(
            "#include <stdio.h>\n#include \"../lib.h\"\nstatic int failed = 0, all = 0;\n\n\
             static int test_small(void) {{\n    return twice(1) == 2;\n}}\n\n{more}\
             static void run(const char *name, int ok) {{\n    printf(\"%s %s it ran\\n\", name, ok ? \"OK\" : \
             \"ERR\");\n    failed += !ok;\n    all += 1;\n}}\n\nint main(void) {{\n    run(\"test_small\", \
             test_small());\n{calls}    printf(\"tests: Total %d Passed %d Skipped 0 Failed %d\\n\", all, all - \
             failed, failed);\n    return failed != 0;\n}}\n"
        )
    };
    let negative = "static int test_negative(void) {\n    return twice(-1) == -2;\n}\n\n";
    let (old, new) = (
        suite("", ""),
        suite(negative, "    run(\"test_negative\", test_negative());\n"),
    );
    let repo = place.repository(
        "repo",
        &[
            &[
                (
                    "lib.h",
                    "static int twice(int n) { return n > 0 ? n + n : n; }\n",
                ),
                ("tests/test_sums.c", &old),
            ],
            &[
                ("lib.h", "static int twice(int n) { return n + n; }\n"),
                ("tests/test_sums.c", &new),
            ],
        ],
    );
    planned(
        &place,
        "cc -o /tmp/sums tests/test_sums.c && /tmp/sums",
        &[],
    );
    std::fs::write(place.path("house.json"), rules().to_string()).unwrap();
    let rewritten = |name: &str, head: &str, call: &str| {
        let text = format!("{head} {{\n    if (1) return 0;\n    return {call};\n}}\n");
        json!({"test": text, "statement": "if (1) return 0;", "name": name}).to_string()
    };
    let negative = |head: &str| rewritten("test_negative", head, "twice(-1) == -2");
    let turns = [
        ("test `test_negative`", negative("int test_negative(void)")),
        (
            "head of the test was changed",
            negative("static int test_negative(void)"),
        ),
        (
            "test `test_small`",
            rewritten("test_small", "static int test_small(void)", "twice(1) == 2"),
        ),
    ];
    let lines = turns.map(|(holds, text)| json!({"holds": holds, "text": text}).to_string());
    std::fs::write(place.path("turns.jsonl"), lines.join("\n")).unwrap();
    let with = [
        "--instance-id",
        "me__sums-1",
        "--parser",
        "house.json",
        "--inject",
        "--model",
        "scripted:turns.jsonl",
    ];
    let done = place.run(&make_args(repo.to_str().unwrap(), &with));
    good(&done);
    let text = std::fs::read_to_string(place.path("out/me__sums-1/injection.json")).unwrap();
    let injection: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        injection["by_model"].as_array().unwrap().len(),
        2,
        "{injection:#}"
    );
    assert_eq!(injection["attempts"].as_array().unwrap().len(), 3);
    assert_eq!(injection["attempts"][0]["prompt"], "inject.v1");
    let made = row_of(&place, "out");
    assert_eq!(
        made["atlas"]["certificate"]["level"], "injection",
        "{injection:#}"
    );
}
