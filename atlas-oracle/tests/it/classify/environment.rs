//! Whether the environment is to blame, or the pull request.

use super::*;

/// Why the module `a` fails in Before, which it does with these lines and a gold patch that has
/// these lines for one file.
fn before_class(
    path: &str,
    hunk: &str,
    lines: &[&str],
) -> (Classification, BuildFailureClass, Option<String>) {
    let gold = Patch::new(format!(
        "diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1,9 +1,9 @@\n{hunk}"
    ));
    let tests = Patch::new("diff --git a/t.x b/t.x\n--- a/t.x\n+++ b/t.x\n@@ -1 +1 @@\n+x\n");
    let lost: Vec<(&str, &str)> = lines.iter().map(|line| ("a", *line)).collect();
    let (base, after) = (done("a.x+ b.z+"), done("a.x+ a.new+ b.z+"));
    let before = log("b.z+", RunOutcome::Completed, &lost);
    let found = classify(&ClassifyInput {
        gold_patch: Some(&gold),
        test_patch: Some(&tests),
        ..ClassifyInput::new(&base, &before, &after)
    });
    let failure = found.module_failures[0].clone();
    (found, failure.class, failure.symbol)
}

#[test]
fn the_missing_name_is_the_one_that_the_error_is_about() {
    let cases = [
        // The module is changed by the patch, and is not what is missing.
        (
            "pkg/index.py",
            "+# index of name\n+LIMIT = 1\n",
            "AttributeError: module 'pkg.index' has no attribute 'LIMIT'",
            Some("LIMIT"),
        ),
        // A name that the patch only talks of is not brought by it.
        (
            "m.py",
            "+# about widget\n+x = 1\n",
            "ImportError: cannot import name 'widget' from 'm'",
            None,
        ),
        (
            "NEWS.md",
            "+widget is new\n",
            "ImportError: cannot import name 'widget' from 'm'",
            None,
        ),
        // What a line that does not parse quotes is no name.
        (
            "m.rs",
            "+fn found() {}\n",
            "error: expected one of `)` or `found`, found `;`",
            None,
        ),
        // The new definition of a name that other classes have too.
        (
            "M.java",
            " int size() { return b.get(); }\n+class Shelf { int get() {} }\n",
            "  symbol:   class Shelf",
            Some("Shelf"),
        ),
        (
            "m.js",
            "-f = (a) => a\n+f = (a, b) => a\n",
            "x.ts(1,1): error TS2554: Expected 1 arguments, but got 2.",
            None,
        ),
        (
            "m.kt",
            "+fun carry() = 1\n",
            "e: A.kt:3:5 Unresolved reference 'carry'.",
            Some("carry"),
        ),
        (
            "M.cs",
            "+  public int Carry;\n",
            "A.cs(3,5): error CS1061: 'Sums' does not contain a definition for 'Carry'",
            Some("Carry"),
        ),
        (
            "M.cs",
            "+  public int Carry;\n",
            "A.cs(3,5): error CS1061: Type `Sums' does not contain a definition for `Carry' and no extension",
            Some("Carry"),
        ),
        (
            "M.php",
            "+class Rates {}\n",
            "Error: Class \"App\\Rates\" not found",
            Some("Rates"),
        ),
        (
            "m.zig",
            "+pub fn carry() void {}\n",
            "error: container 'sums' has no member called 'carry'",
            Some("carry"),
        ),
        (
            "package.json",
            "+    \"@scope/kit\": \"1\"\n",
            "Cannot find module '@scope/kit/sub' from 'a.js'",
            Some("@scope/kit"),
        ),
        (
            "pyproject.toml",
            "+  \"my-kit>=1\",\n",
            "ModuleNotFoundError: No module named 'my_kit.sub'",
            Some("my_kit"),
        ),
    ];
    for (path, hunk, line, symbol) in cases {
        let (found, class, named) = before_class(path, hunk, &[line]);
        let expected = symbol.map_or(BuildFailureClass::Unknown, |_| {
            BuildFailureClass::MissingSymbol
        });
        assert_eq!((class, named.as_deref()), (expected, symbol), "{line}");
        // Before cannot load it and After can: a feature, whether or not a name is found.
        assert_eq!(found.kind, Some(Kind::FeatureRequest), "{line}");
        assert_eq!(found.fail_to_pass, ["a.new"], "{line}");
    }
}

#[test]
fn an_environment_that_fails_in_before_alone_is_no_feature() {
    for line in [
        "OSError: [Errno 28] No space left on device",
        "ImportError: libfoo.so.1: cannot open shared object file: No such file or directory",
        "sh: 1: protoc: not found",
        "make: cc: command not found",
        "go: go.mod requires go >= 1.99 (running go 1.23.2; GOTOOLCHAIN=local)",
        "go: download go1.99.0 for linux/amd64: toolchain not available",
        "error: package `x v1` cannot be built because it requires rustc 1.99 or newer",
        "[ERROR] Fatal error compiling: error: release version 99 not supported",
        "npm ERR! getaddrinfo EAI_AGAIN registry.example.org",
        "ModuleNotFoundError: No module named 'numpy'",
    ] {
        let (found, class, _) = before_class("m.py", "+x = 1\n", &[line]);
        assert_eq!(class, BuildFailureClass::Environment, "{line}");
        assert_eq!(
            (found.outcome, found.kind),
            (OracleOutcome::NoEvidence, None),
            "{line}"
        );
        assert!(found.fail_to_pass.is_empty(), "{line}");
        assert_eq!(found.before_failure_extent, BeforeFailureExtent::Partial);
        assert_eq!(found.evidence[0].text, line);
        assert!(found.reason.contains(line), "{}", found.reason);
        assert!(found.reason.ends_with("nor fail; run it again"));
        // What a manifest of the gold patch brings, no second run of Before would have.
        let (found, ..) = before_class("a/Cargo.toml", "+edition = \"2024\"\n", &[line]);
        let lacking = "the gold patch changes `a/Cargo.toml`, which Before may lack";
        assert!(found.reason.contains(lacking), "{}", found.reason);
    }
}

#[test]
fn what_after_alone_needs_of_the_environment_is_the_environments() {
    let run = |line| log("", RunOutcome::BuildFailed, &[("m", line)]);
    for (line, expected) in [
        (
            "[ERROR] error: release version 99 not supported",
            OracleOutcome::EnvironmentInvalid,
        ),
        ("a.c:3:1: error: odd", OracleOutcome::RejectAfterBroken),
    ] {
        let (before, after) = (run(line), run(line));
        let found = verdict(&done("a.x+"), &before, &after);
        assert_eq!(found.outcome, expected, "{}", found.reason);
        assert!(found.evidence.iter().any(|proof| proof.text == line));
    }
}

#[test]
fn a_symbol_that_the_gold_patch_brings_outweighs_noise_of_the_environment() {
    let lines = [
        "warning: could not write cache: Permission denied",
        "a_test.go:3:5: undefined: Carry",
    ];
    let (found, class, symbol) = before_class("m.go", "+func Carry() {}\n", &lines);
    assert_eq!(class, BuildFailureClass::MissingSymbol);
    assert_eq!(symbol.as_deref(), Some("Carry"));
    assert_eq!(found.module_failures[0].proof[0].text, lines[1]);
    assert_eq!(found.module_failures[0].proof[1].source, "gold patch");
    assert_eq!(found.outcome, OracleOutcome::Instance);
}

#[test]
fn what_after_lacks_as_well_is_not_what_the_gold_patch_brings() {
    let gold = Patch::new(
        "diff --git a/m.py b/m.py\n--- a/m.py\n+++ b/m.py\n@@ -1 +1,2 @@\n+def other():\n+    return carry\n",
    );
    let lost = [(
        "t",
        "ImportError: cannot import name 'carry' from 'm' (/testbed/m.py)",
    )];
    let run = |tests| log(tests, RunOutcome::Completed, &lost);
    let (base, before, after) = (done("a.x+"), run("a.x-"), run("a.x+"));
    let found = classify(&ClassifyInput {
        gold_patch: Some(&gold),
        ..ClassifyInput::new(&base, &before, &after)
    });
    for failure in &found.module_failures {
        assert_eq!(failure.class, BuildFailureClass::BrokenTest, "{failure:?}");
    }
    assert_eq!(found.kind, Some(Kind::BugFix));
    assert_eq!(found.fail_to_pass, ["a.x"]);
    assert!(
        found
            .warnings
            .iter()
            .any(|w| w.contains("`t` does not build or load, the test file itself is broken")),
        "{:?}",
        found.warnings
    );
}

#[test]
fn a_broken_environment_beside_a_bug_fix_leaves_the_bug_fix() {
    let line = ("c", "OSError: [Errno 28] No space left on device");
    let before = log("a.x-", RunOutcome::Completed, &[line]);
    let found = verdict(&done("a.x+ c.y+"), &before, &done("a.x+ c.y+ c.new+"));
    assert_eq!(found.outcome, OracleOutcome::Instance);
    assert_eq!(found.kind, Some(Kind::BugFix));
    assert_eq!(
        found.fail_to_pass,
        ["a.x"],
        "c.new could have passed in Before"
    );
    assert_eq!(found.pass_to_pass, ["c.y"]);
    assert!(
        found
            .warnings
            .iter()
            .any(|w| w.contains("the environment is broken"))
    );
}

#[test]
fn an_environment_in_which_most_tests_fail_in_every_state_accepts_nothing() {
    // A gem that is older than what the sources need: one of three tests of the change happens to pass.
    let broken = "o.a- o.b- o.c- o.d- o.e-";
    let before = done(&format!("{broken} a.x- a.y- o.f+"));
    let found = verdict(
        &done(&format!("{broken} o.f+")),
        &before,
        &done(&format!("{broken} a.x+ a.y- o.f+")),
    );
    assert_eq!(found.outcome, OracleOutcome::EnvironmentInvalid);
    assert_eq!((found.kind, &found.fail_to_pass), (None, &Vec::new()));
    assert!(
        found
            .reason
            .starts_with("5 tests fail in After as they do in Base and 2 pass"),
        "{}",
        found.reason
    );
    // The changed test itself runs: what else the environment lacks is nothing of this pull request.
    let modified = ["x".to_owned()];
    let (base, after) = (
        done(&format!("{broken} a.x+")),
        done(&format!("{broken} a.x+")),
    );
    let before = done(&format!("{broken} a.x-"));
    let mut input = ClassifyInput::new(&base, &before, &after);
    input.modified_tests = &modified;
    let found = classify(&input);
    assert_eq!(found.outcome, OracleOutcome::Instance);
    assert_eq!(found.fail_to_pass, ["a.x"]);
    // As many that pass as fail in both: said, and accepted.
    let found = verdict(
        &done("o.a- o.b- o.f+"),
        &done("o.a- o.b- a.x- o.f+"),
        &done("o.a- o.b- a.x+ o.f+"),
    );
    assert_eq!(found.outcome, OracleOutcome::Instance);
    assert_eq!(found.fail_to_pass, ["a.x"]);
}
