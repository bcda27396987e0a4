//! `atlas mcp` as a client sees it: lines of JSON-RPC.

use crate::support::{Place, git};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Stdio};

struct Client {
    child: Child,
    lines: BufReader<ChildStdout>,
    next: u64,
}

impl Client {
    fn start(place: &Place, args: &[&str]) -> Self {
        let mut child = place
            .atlas(&[&["mcp"], args].concat())
            .env("TMPDIR", place.path("tmp"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        let mut client = Self {
            child,
            lines,
            next: 0,
        };
        let hello = client.ask(
            "initialize",
            &json!({
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            }),
        );
        assert_eq!(hello["result"]["serverInfo"]["name"], "atlas");
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    fn send(&mut self, message: &Value) {
        let input = self.child.stdin.as_mut().unwrap();
        writeln!(input, "{message}").unwrap();
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let mut line = String::new();
            assert!(
                self.lines.read_line(&mut line).unwrap() > 0,
                "{method}: no answer"
            );
            let answer: Value = serde_json::from_str(&line).unwrap();
            if answer["id"] == id {
                return answer;
            }
        }
    }

    /// What a tool answers: its structured content, or why it refuses.
    fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value, String> {
        let answer = self.ask("tools/call", &json!({"name": tool, "arguments": arguments}));
        let result = &answer["result"];
        if result["isError"] == true {
            return Err(result["content"][0]["text"].as_str().unwrap().to_owned());
        }
        assert!(result["structuredContent"].is_object(), "{answer}");
        Ok(result["structuredContent"].clone())
    }

    fn end(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().unwrap().success());
    }
}

fn names(entries: &Value) -> Vec<&str> {
    let entries = entries.as_array().unwrap();
    entries
        .iter()
        .map(|entry| entry["path"].as_str().unwrap())
        .collect()
}

#[test]
fn a_client_sees_the_base_commit_and_nothing_else() {
    let place = Place::new();
    std::fs::create_dir(place.path("tmp")).unwrap();
    let repo = place.repository(
        "repo",
        &[
            &[("setup.py", "# one\n")],
            &[("test_a.py", "import unittest\n")],
            &[("solution.py", "answer = 42\n")],
        ],
    );
    let other = place.repository("other", &[&[("other.txt", "x\n")]]);
    let third = place.repository("third", &[&[("third.txt", "x\n")]]);
    let base = git(&repo, &["rev-parse", "HEAD~1"]);
    let future = git(&repo, &["rev-parse", "HEAD"]);
    let args = [
        "--repo",
        "repo",
        "--base",
        "HEAD~1",
        "--allow",
        other.to_str().unwrap(),
    ];
    let mut client = Client::start(&place, &args);

    let tools = client.ask("tools/list", &json!({}));
    let tools = tools["result"]["tools"].as_array().unwrap();
    let mut found: Vec<&str> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    found.sort_unstable();
    assert_eq!(found, ["clone", "history", "list", "read", "search"]);
    for tool in tools {
        assert!(tool["description"].as_str().unwrap().len() > 40, "{tool}");
        assert_eq!(tool["outputSchema"]["type"], "object", "{tool}");
        for (name, field) in tool["inputSchema"]["properties"].as_object().unwrap() {
            assert!(field["description"].is_string(), "{name}: {field}");
        }
    }

    let why = client.call("list", &json!({})).unwrap_err();
    assert!(why.contains("call `clone` first"), "{why}");
    let cloned = client.call("clone", &json!({})).unwrap();
    assert_eq!(cloned["base_commit"], base);
    assert_eq!(names(&cloned["entries"]), ["setup.py", "test_a.py"]);
    let again = client
        .call("clone", &json!({"repository": "repo", "base": &base[..10]}))
        .unwrap();
    assert_eq!(again, cloned);
    for wrong in [
        json!({"base": future}),
        json!({"base": "HEAD"}),
        json!({"repository": repo, "base": "main"}),
    ] {
        let why = client.call("clone", &wrong).unwrap_err();
        assert!(why.contains("only its base commit"), "{wrong}: {why}");
    }
    let third = third.to_str().unwrap();
    for wrong in [
        third,
        "https://example.org/a/b",
        "ext::sh -c id",
        "../repo/../third",
        "--upload-pack=x",
    ] {
        let why = client
            .call("clone", &json!({"repository": wrong, "base": "HEAD"}))
            .unwrap_err();
        assert!(why.contains("not allowed"), "{wrong}: {why}");
    }

    let page = client.call("read", &json!({"path": "test_a.py"})).unwrap();
    assert_eq!(page["text"], "import unittest\n");
    let why = client
        .call("read", &json!({"path": "solution.py"}))
        .unwrap_err();
    assert!(why.contains("no such file"), "{why}");
    let why = client
        .call("read", &json!({"path": "../../../etc/passwd"}))
        .unwrap_err();
    assert!(why.contains("leads out"), "{why}");
    let found = client
        .call("search", &json!({"pattern": "unittest|answer"}))
        .unwrap();
    assert_eq!(names(&found["matches"]), ["test_a.py"]);
    let history = client.call("history", &json!({"limit": 1})).unwrap();
    assert_eq!(history["commits"][0]["commit"], base);
    assert_eq!(history["commits"][0]["paths"], json!(["test_a.py"]));
    assert_eq!(history["next_offset"], 1);
    let history = client
        .call("history", &json!({"path": "setup.py"}))
        .unwrap();
    assert_eq!(history["commits"][0]["message"], "commit 0");
    assert!(history.get("next_offset").is_none());
    let why = client
        .call("history", &json!({"path": "../x"}))
        .unwrap_err();
    assert!(why.contains("leads out"), "{why}");
    // Arguments of the wrong type are refused, and the server goes on.
    let answer = client.ask(
        "tools/call",
        &json!({"name": "read", "arguments": {"path": 1}}),
    );
    assert!(
        answer["result"]["isError"] == true || answer["error"].is_object(),
        "{answer}"
    );

    let cloned = client
        .call("clone", &json!({"repository": other, "base": "main"}))
        .unwrap();
    assert_eq!(names(&cloned["entries"]), ["other.txt"]);
    let page = client
        .call("list", &json!({"checkout": again["checkout"]}))
        .unwrap();
    assert_eq!(names(&page["entries"]), ["setup.py", "test_a.py"]);
    client.end();
    let left: Vec<_> = std::fs::read_dir(place.path("tmp")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_server_that_cannot_start_says_why() {
    let place = Place::new();
    place.repository("repo", &[&[("a", "1\n")]]);
    for args in [["nowhere", "HEAD"], ["repo", "no-such-commit"]] {
        let done = place.run(&["mcp", "--repo", args[0], "--base", args[1]]);
        assert_eq!(done.code(), 1);
        assert_eq!(done.stdout(), "");
        assert!(
            args.iter().any(|arg| done.stderr().contains(arg)),
            "{}",
            done.stderr()
        );
    }
}
