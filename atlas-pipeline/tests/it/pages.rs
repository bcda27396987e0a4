//! `atlas report` and `atlas view` over what commands leave behind.

use crate::support::Place;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};

const GO: &str = "=== RUN   TestA\n    a_test.go:3: <b>wrong</b>\n--- FAIL: TestA (0.00s)\n=== RUN   TestB\n--- PASS: TestB (0.00s)\nFAIL\nexit status 1\nFAIL\tp\t0.1s\n";

/// An instance's folder as `make` writes it, in short.
fn instance(place: &Place, id: &str) {
    let folder = place.path("out").join(id);
    std::fs::create_dir_all(folder.join("environment/scripts")).unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    let transition = |name: &str, before: &str, class: &str| json!({"name": name, "base": "PASSED", "before": before, "after": "PASSED", "class": class});
    write(
        "make.json",
        &json!({
            "instance_id": id, "outcome": "instance", "reason": "Before runs", "kind": "bug_fix", "FAIL_TO_PASS": ["TestA"],
            "PASS_TO_PASS": ["TestB"], "seconds": {"environment": 2.5, "total": 3.0}, "warnings": ["drift: none"],
            "confirmation": {"contradicted": {"TestC": "depends on order: it does not pass"}},
        })
        .to_string(),
    );
    write(
        "plan.json",
        &json!({
            "language": "go", "log_parser_name": "gotest", "test_cmd": "go test ./...",
            "evidence": {"test_cmd": [{"source": "Makefile", "line": 7, "text": "go test ./... </script>"}]},
        })
        .to_string(),
    );
    write(
        "oracle.json",
        &json!({
            "schema_version": 1, "outcome": "instance", "reason": "Before runs", "kind": "bug_fix", "before_failure_extent": "none",
            "fail_to_pass": ["TestA"], "pass_to_pass": ["TestB"], "pass_to_fail": [], "unstable": {}, "gold_only": {},
            "fail_to_pass_swebench_rule": null, "fail_to_pass_rule": "failed_before", "module_failures": [], "transition_counts": {},
            "transitions": [transition("TestA", "FAILED", "F2P"), transition("TestB", "PASSED", "P2P")],
            "states": {}, "evidence": [], "doubts": [], "warnings": [], "confirmation": null,
        })
        .to_string(),
    );
    write("before.log", GO);
    write("base.log", &GO.replace("FAIL: TestA", "PASS: TestA"));
    write(
        "gold.patch",
        "diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -1,2 +1,2 @@\n-old\n+new\n same\n",
    );
    write("test.patch", "");
    write(
        "row.json",
        &json!({"repo": "owner/repo", "problem_statement": "It is <b>wrong</b>"}).to_string(),
    );
    write("environment/Dockerfile", "FROM scratch\n");
    write("environment/scripts/0.sh", "go build ./...\n");
    write(
        "validate.json",
        &json!({"instance_id": id, "decision": "accept", "verdicts": [
            {"validator": "strength", "decision": "accept", "findings": [], "measurements": {"score": 0.75}},
        ]})
        .to_string(),
    );
}

fn rejected(place: &Place, id: &str) {
    let folder = place.path("out").join(id);
    std::fs::create_dir_all(&folder).unwrap();
    let made = json!({"instance_id": id, "outcome": "no_evidence", "reason": "no test was seen", "seconds": {"total": 1.0}});
    std::fs::write(folder.join("make.json"), made.to_string()).unwrap();
}

fn ok(place: &Place, args: &[&str]) -> String {
    let done = place.run(args);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    done.stdout()
}

fn fails(place: &Place, args: &[&str], code: i32) -> String {
    let done = place.run(args);
    assert_eq!(done.code(), code, "{}", done.stdout());
    done.stderr()
}

/// A table of a page, as its script reads it; each row with what it opens to under `more`.
fn data(html: &str, id: &str) -> Value {
    let text = |name: &str| {
        let begin = format!("id=\"{name}-{id}\">");
        let (_, rest) = html.split_once(&begin).unwrap();
        rest.split_once("</script>").unwrap().0
    };
    let mut table: Value = serde_json::from_str(text("data")).unwrap();
    let rows = table["rows"].as_array_mut().unwrap();
    for (row, more) in rows.iter_mut().zip(text("more").lines()) {
        row["more"] = serde_json::from_str(more).unwrap();
    }
    table
}

#[test]
fn a_folder_of_instances_becomes_a_page() {
    let place = Place::new();
    instance(&place, "owner__repo-1");
    rejected(&place, "owner__repo-2");
    let done = place.run(&["report", "out", "--out", "page.html", "--format", "json"]);
    assert_eq!(done.json()["kind"], "run");
    let html = std::fs::read_to_string(place.path("page.html")).unwrap();
    let table = data(&html, "candidates");
    let [first, second] = table["rows"].as_array().unwrap().as_slice() else {
        panic!("two candidates expected: {table}");
    };
    assert_eq!(first["cells"][1], "accepted");
    assert_eq!(second["cells"][3], "no_evidence");
    let cell = |key: &str| {
        let columns = table["columns"].as_array().unwrap();
        let at = columns
            .iter()
            .position(|column| column["key"] == key)
            .unwrap();
        first["cells"][at].clone()
    };
    assert_eq!(
        [
            cell("f2p"),
            cell("p2p"),
            cell("unstable"),
            cell("lines"),
            cell("files")
        ],
        [1, 1, 1, 2, 1].map(Value::from)
    );
    for said in ["Table 2", "41 %", "depends on order", "75 %", "1–30 (1)"] {
        assert!(html.contains(said), "{said}");
    }
    // The same folder gives the same bytes.
    ok(&place, &["report", "out", "--out", "again.html"]);
    assert_eq!(
        std::fs::read_to_string(place.path("again.html")).unwrap(),
        html
    );
}

#[test]
fn an_instance_shows_which_lines_were_read() {
    let place = Place::new();
    instance(&place, "owner__repo-1");
    let said = ok(
        &place,
        &["report", "out/owner__repo-1", "--out", "page.html"],
    );
    assert!(said.contains("wrote page.html: instance"));
    let html = std::fs::read_to_string(place.path("page.html")).unwrap();
    assert!(
        html.contains("id=\"before-3\"")
            && html.contains("id=\"before-5\"")
            && html.contains("id=\"base-3\"")
    );
    assert!(!html.contains("id=\"before-1\"") && !html.contains("id=\"before-2\""));
    assert!(html.contains("a_test.go:3: &lt;b&gt;wrong&lt;/b&gt;") && !html.contains("<b>wrong"));
    assert!(
        html.contains("Makefile")
            && html.contains("FROM scratch")
            && html.contains("gate strength")
    );
    assert!(html.contains("This state has no log."));
    let tests = data(&html, "tests");
    assert_eq!(tests["rows"][0]["cells"][0], "TestA");
    assert_eq!(
        tests["rows"][0]["more"][0]["text"],
        "base.log, line 3\nbefore.log, line 3\nafter: the line was not found"
    );
}

fn verdict(place: &Place, model: &str, id: &str, resolved: bool) {
    let folder = place.path("logs/run_evaluation/r").join(model).join(id);
    std::fs::create_dir_all(&folder).unwrap();
    let listed = json!({"success": ["TestB"], "failure": if resolved { json!([]) } else { json!(["TestA"]) }});
    let mut verdict = json!({
        "schema_version": 1, "instance_id": id, "model_name_or_path": model, "mode": "strict", "outcome": "graded", "resolved": resolved,
        "resolution": if resolved { "RESOLVED_FULL" } else { "RESOLVED_NO" }, "reasons": [], "evidence": [], "tampering": [],
        "guards": [], "canaries": {}, "notes": [], "FAIL_TO_PASS": listed, "PASS_TO_PASS": {"success": [], "failure": []},
        "environment": "image", "patch_sha256": "",
    });
    if !resolved {
        verdict["cause"] = json!("model");
        verdict["reasons"] = json!(["TestA fails"]);
        verdict["evidence"] =
            json!([{"source": "test_output.txt", "line": 3, "text": "--- FAIL: TestA"}]);
    }
    std::fs::write(folder.join("verdict.json"), verdict.to_string()).unwrap();
    std::fs::write(folder.join("patch.diff"), "+</script>\n").unwrap();
    std::fs::write(folder.join("test_output.txt"), GO).unwrap();
}

#[test]
fn an_evaluation_shows_causes_proof_and_patches() {
    let place = Place::new();
    verdict(&place, "m", "a__a-1", true);
    verdict(&place, "m", "a__a-2", false);
    let said = ok(
        &place,
        &["report", "logs/run_evaluation/r", "--out", "page.html"],
    );
    assert!(said.contains("evaluation"));
    let html = std::fs::read_to_string(place.path("page.html")).unwrap();
    let rows = data(&html, "verdicts");
    let row = &rows["rows"][1];
    assert_eq!(row["cells"][3], "model");
    let more = |title: &str| {
        let found = row["more"]
            .as_array()
            .unwrap()
            .iter()
            .find(|more| more["title"] == title);
        found.unwrap()["text"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        more("Lines that prove it"),
        "test_output.txt:3: --- FAIL: TestA"
    );
    assert_eq!(more("Patch"), "+</script>\n");
    assert!(more("End of the log").contains("--- FAIL: TestA"));
    assert!(html.contains("1 of 2"));
}

#[test]
fn a_comparison_and_a_trajectory_are_known_by_their_fields() {
    let place = Place::new();
    let estimate = json!({"value": 0.5, "interval": {"low": 0.2, "high": 0.8}});
    let board = json!({"statistics": {"resamples": 100, "seed": 0, "instances": 2, "pairs": [],
        "models": {"m": {"solved": 1, "solved_share": estimate, "pass_at": {"1": estimate}}}}});
    std::fs::write(place.path("board.json"), board.to_string()).unwrap();
    std::fs::write(
        place.path("steps.json"),
        json!({"trajectory": [{"thought": "t", "action": "ls", "observation": "<x>"}], "history": [], "info": {}}).to_string(),
    )
    .unwrap();
    ok(&place, &["report", "board.json", "--out", "board.html"]);
    let board = std::fs::read_to_string(place.path("board.html")).unwrap();
    assert!(board.contains("50 % (20–80)"));
    ok(&place, &["report", "steps.json", "--out", "steps.html"]);
    let steps = std::fs::read_to_string(place.path("steps.html")).unwrap();
    assert!(steps.contains("id=\"step-1\"") && steps.contains("&lt;x&gt;"));
}

#[test]
fn what_is_no_report_is_said() {
    let place = Place::new();
    std::fs::create_dir(place.path("empty")).unwrap();
    std::fs::write(place.path("x.json"), "{\"a\": 1}").unwrap();
    std::fs::write(place.path("broken.json"), "{\"verdicts\": [").unwrap();
    for (input, said) in [
        ("empty", "neither a run"),
        ("nowhere", "nowhere"),
        ("x.json", "atlas leaderboard"),
        ("broken.json", "broken.json"),
    ] {
        let why = fails(&place, &["report", input, "--out", "page.html"], 1);
        assert!(why.contains(said), "{input}: {why}");
        assert!(!place.path("page.html").exists());
    }
    let why = fails(
        &place,
        &[
            "report",
            "x.json",
            "--kind",
            "instanze",
            "--out",
            "page.html",
        ],
        2,
    );
    assert!(why.contains("did you mean `instance`?"), "{why}");
    fails(&place, &["report", "--out", "page.html"], 2);
}

/// A server that is ended with the test.
struct Served {
    child: Child,
    port: u16,
}

impl Served {
    fn of(place: &Place, folder: &str) -> Self {
        let mut child = place
            .atlas(&["view", folder])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap())
            .read_line(&mut line)
            .unwrap();
        let port = line
            .trim()
            .trim_end_matches('/')
            .rsplit(':')
            .next()
            .unwrap()
            .parse()
            .unwrap();
        Self { child, port }
    }

    fn ask(&self, method: &str, path: &str, host: &str, more: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        (status, answer)
    }

    fn get(&self, path: &str) -> (u16, String) {
        self.ask("GET", path, &format!("127.0.0.1:{}", self.port), "")
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

#[test]
fn a_folder_is_served_live_to_this_machine_only() {
    let place = Place::new();
    instance(&place, "owner__repo-1");
    std::fs::write(place.path("secret.txt"), "a secret").unwrap();
    instance(&place, "elsewhere");
    std::fs::rename(place.path("out/elsewhere"), place.path("elsewhere")).unwrap();
    std::os::unix::fs::symlink(place.path("elsewhere"), place.path("out/linked")).unwrap();
    let served = Served::of(&place, "out");
    let (status, page) = served.get("/");
    assert_eq!(status, 200, "{page}");
    assert!(page.contains("connect-src 'self'") && page.contains("/instance/owner__repo-1"));
    let tag = page
        .lines()
        .find_map(|line| line.strip_prefix("etag: "))
        .unwrap();
    assert!(page.contains(&format!(
        "<meta name=\"atlas-live\" content=\"{}\">",
        tag.replace('"', "&quot;")
    )));
    let host = format!("localhost:{}", served.port);
    assert_eq!(
        served
            .ask("GET", "/", &host, &format!("If-None-Match: {tag}\r\n"))
            .0,
        304
    );
    assert_eq!(served.get("/instance/owner__repo-1").0, 200);
    for path in [
        "/instance/",
        "/instance/..",
        "/instance/../secret.txt",
        "/instance/%2e%2e%2fsecret.txt",
        "/secret.txt",
        "//etc/passwd",
        "/instance/linked",
        "/instance/.atlas",
        "/instance/none",
        "/instance/owner__repo-1/make.json",
    ] {
        let (status, page) = served.get(path);
        assert_eq!(status, 404, "{path}");
        assert!(!page.contains("secret"), "{path}");
    }
    for host in [
        "attack.example",
        "attack.example:80",
        &format!("attack.example:{}", served.port),
        "127.0.0.1",
        "127.0.0.1:1",
        "",
    ] {
        assert_eq!(served.ask("GET", "/", host, "").0, 403, "{host}");
    }
    assert_eq!(
        served.ask("POST", "/", &host, "Content-Length: 0\r\n").0,
        405
    );
}

#[test]
fn ctrl_c_ends_the_server() {
    let place = Place::new();
    instance(&place, "owner__repo-1");
    let mut served = Served::of(&place, "out");
    // A reader who holds a connection open does not hold the server.
    let _open = TcpStream::connect(("127.0.0.1", served.port)).unwrap();
    let id = rustix::process::Pid::from_child(&served.child);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    assert_eq!(served.child.wait().unwrap().code(), Some(0));
}
