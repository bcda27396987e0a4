//! Canaries under the runners that this machine has; the others are skipped and say so.

use atlas_guard::canary;
use std::path::Path;
use std::process::Command;

struct Run {
    /// What both streams show.
    log: String,
    pass: String,
    fail: String,
}

/// Writes the files, one of them with its canary, and runs the command there. Nothing where the
/// program is missing or `works` fails.
fn run(
    parser: &str,
    name: &str,
    text: &str,
    others: &[(&str, &str)],
    works: &[&str],
    command: &[&str],
) -> Option<Run> {
    let works = Command::new(works[0]).args(&works[1..]).output();
    if !works.is_ok_and(|output| output.status.success()) {
        println!("skipped: {} does not run here", command[0]);
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let canary = canary(parser, name, text.as_bytes(), "b52e").expect("a style");
    let write = |name: &str, content: &[u8]| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    };
    for (name, text) in others {
        write(name, text.as_bytes());
    }
    write(name, &canary.content);
    let log = output(folder.path(), command);
    Some(Run {
        log,
        pass: canary.must_pass,
        fail: canary.must_fail.expect("a failing test"),
    })
}

fn output(folder: &Path, command: &[&str]) -> String {
    let output = Command::new(command[0])
        .args(&command[1..])
        .current_dir(folder)
        .env_remove("RUSTFLAGS")
        .output()
        .unwrap();
    assert!(!output.status.success(), "a test must fail: {command:?}");
    let both = [output.stdout, output.stderr].concat();
    String::from_utf8_lossy(&both).into_owned()
}

impl Run {
    /// Both forms stand in the log, `NAME` being the test's name.
    #[track_caller]
    fn shows(&self, passed: &str, failed: &str) {
        for (form, name) in [(passed, &self.pass), (failed, &self.fail)] {
            let want = form.replace("NAME", name);
            assert!(self.log.contains(&want), "no `{want}` in:\n{}", self.log);
        }
    }
}

#[test]
fn unittest() {
    let text = "import unittest\n\n\nclass CartTest(unittest.TestCase):\n    def test_a(self):\n        self.assertTrue(True)\n\n\nif __name__ == '__main__':\n    unittest.main()\n";
    for parser in ["unittest", "pytest"] {
        let run = run(
            parser,
            "test_cart.py",
            text,
            &[],
            &["python3", "--version"],
            &["python3", "test_cart.py", "-v"],
        );
        if let Some(run) = run {
            for (name, end) in [(&run.pass, "ok"), (&run.fail, "FAIL")] {
                let line = run.log.lines().find(|line| line.starts_with(name.as_str()));
                assert!(line.is_some_and(|line| line.ends_with(end)), "{}", run.log);
            }
            assert!(run.log.contains("Ran 3 tests"), "{}", run.log);
        }
    }
}

#[test]
fn pytest() {
    let run = run(
        "pytest",
        "tests/test_cart.py",
        "def test_a():\n    assert 1 == 1",
        &[],
        &["python3", "-c", "import pytest"],
        &["python3", "-m", "pytest", "-rA", "-p", "no:cacheprovider"],
    );
    if let Some(run) = run {
        run.shows(
            "PASSED tests/test_cart.py::NAME",
            "FAILED tests/test_cart.py::NAME",
        );
    }
}

#[test]
fn node() {
    let esm = "import { test as check } from 'node:test'\ncheck('a', () => {})\n";
    let cjs = "const assert = require('assert');\nconst { it } = require('node:test');\nit('a', function () { assert(true); });\n";
    for (name, text) in [("a.test.mjs", esm), ("a.test.cjs", cjs)] {
        let run = run(
            "nodetest",
            name,
            text,
            &[],
            &["node", "-e", "require('node:test')"],
            &["node", "--test-reporter=tap", name],
        );
        if let Some(run) = run {
            let (pass, fail) = if run.log.find(&run.pass) < run.log.find(&run.fail) {
                ("ok 2 - NAME", "not ok 3 - NAME")
            } else {
                ("ok 3 - NAME", "not ok 2 - NAME")
            };
            run.shows(pass, fail);
        }
    }
}

#[test]
fn go() {
    let run = run(
        "gotest",
        "cart_test.go",
        "package cart\n\nimport (\n\t\"testing\"\n)\n\nfunc TestA(t *testing.T) {}\n",
        &[("go.mod", "module cart\n\ngo 1.20\n")],
        &["go", "version"],
        &["go", "test", "-vet=off", "-v", "."],
    );
    if let Some(run) = run {
        run.shows("--- PASS: NAME (", "--- FAIL: NAME (");
    }
}

#[test]
fn rust() {
    let inline = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() {\n        assert!('{' != '\\'');\n    }\n}\n";
    let own = "#[test]\nfn a() {}\n";
    for (name, text, prefix) in [("src/a.rs", inline, "tests::"), ("tests/a.rs", own, "")] {
        let command = format!("rustc --edition 2021 --test -C debuginfo=0 -o t {name} && ./t");
        let run = run(
            "cargo",
            name,
            text,
            &[],
            &["rustc", "--version"],
            &["sh", "-c", &command],
        );
        if let Some(run) = run {
            run.shows(
                &format!("test {prefix}NAME ... ok"),
                &format!("test {prefix}NAME ... FAILED"),
            );
        }
    }
}

#[test]
fn minitest() {
    let class = "require 'minitest/autorun'\n\nclass CartTest < Minitest::Test\n  def test_a\n    assert true\n  end\nend\n";
    let spec = "require 'minitest/autorun'\n\ndescribe 'cart' do\n  it 'adds' do\n    _(1).must_equal 1\n  end\nend\n__END__\ndata\n";
    for text in [class, spec] {
        let run = run(
            "minitest",
            "cart_test.rb",
            text,
            &[],
            &["ruby", "-e", "require 'minitest'"],
            &["ruby", "cart_test.rb", "-v"],
        );
        if let Some(run) = run {
            for (name, end) in [(&run.pass, " = ."), (&run.fail, " = F")] {
                let line = run
                    .log
                    .lines()
                    .find(|line| line.contains(&format!("#{name} =")));
                assert!(line.is_some_and(|line| line.contains(end)), "{}", run.log);
            }
        }
    }
}

#[test]
fn test_unit() {
    let text = "require 'test/unit'\n\nclass CartTest < Test::Unit::TestCase\n  def test_a\n    assert_true(true)\n  end\nend\n";
    let run = run(
        "testunit",
        "cart_test.rb",
        text,
        &[],
        &["ruby", "-e", "require 'test/unit'; Test::Unit.run = true"],
        &["ruby", "cart_test.rb", "--verbose=verbose"],
    );
    if let Some(run) = run {
        let line = |name: &str| {
            let mut lines = run.log.lines();
            let found = lines.find(|line| line.trim_start().starts_with(name));
            found.unwrap_or_default().to_owned()
        };
        assert!(line(&run.pass).contains("\t."), "{}", run.log);
        assert!(line(&run.fail).contains("\tF"), "{}", run.log);
        assert!(
            run.log.contains(&format!("Failure: {}", run.fail)),
            "{}",
            run.log
        );
    }
}
