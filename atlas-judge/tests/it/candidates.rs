//! Candidate patches by rule.

use crate::variants::git_apply;
use atlas_core::Patch;
use atlas_judge::candidates::{CandidateKind, RuleCandidate, rule_candidates};
use atlas_judge::variant::BaseFiles;

fn gold(path: &str, old: &str, new: &str) -> (Patch, BaseFiles) {
    let body = similar::TextDiff::from_lines(old, new)
        .unified_diff()
        .context_radius(3)
        .header(&format!("a/{path}"), &format!("b/{path}"))
        .to_string();
    let gold = Patch::new(format!("diff --git a/{path} b/{path}\n{body}"));
    (
        gold,
        BaseFiles::from([(path.to_owned(), old.as_bytes().to_vec())]),
    )
}

fn names(made: &[RuleCandidate]) -> Vec<&str> {
    made.iter().map(|one| one.name.as_str()).collect()
}

/// What the file is after each candidate that changes it, as git applies it.
fn after(path: &str, old: &str, made: &[RuleCandidate], name: &str) -> String {
    let one = made.iter().find(|one| one.name == name).unwrap();
    let base = BaseFiles::from([(path.to_owned(), old.as_bytes().to_vec())]);
    let mut files = git_apply(&one.patch, &base).unwrap();
    String::from_utf8(files.remove(path).unwrap()).unwrap()
}

const PYTHON: &str = "def f(a):\n    b = 1\n    return a\n\n\ndef g():\n    return 2\n";

#[test]
fn each_rule_makes_a_patch_that_applies() {
    let new = "def f(a):\n    b = 1\n    doubled = max(a * 2, 0)\n    if doubled == b:\n        return b\n    return doubled\n\n\n\
               def g():\n    return 2\n";
    let (patch, base) = gold("a.py", PYTHON, new);
    let made = rule_candidates(&patch, &base, 2).unwrap();
    assert_eq!(
        names(&made),
        [
            "gold",
            "perturbed-1",
            "perturbed-2",
            "stub",
            "near-miss-1",
            "breaks",
            "wrong-place",
            "nothing"
        ]
    );
    let after = |name: &str| after("a.py", PYTHON, &made, name);
    assert_eq!(after("gold"), new);
    assert_eq!(after("perturbed-1"), new.replace("doubled", "doubled_here"));
    assert_eq!(
        after("perturbed-2"),
        new.replace("0)\n", "0)\n    # as the callers expect\n")
    );
    assert_eq!(
        after("stub"),
        "def f(a):\n    raise NotImplementedError\n\n\ndef g():\n    return 2\n"
    );
    assert_eq!(after("near-miss-1"), new.replace("== b", "!= b"));
    assert!(after("breaks").contains("\n((\n"));
    assert!(after("wrong-place").contains("return a\n"));
    assert_eq!(after("nothing"), PYTHON);
}

#[test]
fn without_the_files_nothing_is_rewritten() {
    let patch = Patch::new(
        "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n x = 1\n-y = 2\n+y = x == 2\n\
         @@ -9 +9 @@\n-z\n+zz\n",
    );
    let made = rule_candidates(&patch, &BaseFiles::new(), 3).unwrap();
    assert_eq!(
        names(&made),
        [
            "gold",
            "without-hunk-1",
            "without-hunk-2",
            "near-miss-1",
            "breaks",
            "wrong-place",
            "nothing"
        ]
    );
    let text = |at: usize| String::from_utf8(made[at].patch.clone()).unwrap();
    assert!(!text(1).contains("x == 2") && text(1).contains("+zz"));
    assert!(text(3).contains("+y = x != 2\n"));
    assert!(text(4).contains("@@ -1,2 +1,3 @@\n x = 1\n-y = 2\n+y = x == 2\n+((\n"));
    assert!(text(5).ends_with("@@ -1,2 +1,3 @@\n x = 1\n+y = x == 2\n y = 2\n"));
    assert_eq!(made[3].kind, CandidateKind::NearMiss);
}

#[test]
fn stubs_are_written_in_their_language() {
    for (path, old, new, stub) in [
        (
            "a.go",
            "package a\n",
            "package a\n\nfunc F(x int) int {\n\treturn x\n}\n",
            "{ panic(\"not implemented\") }",
        ),
        (
            "a.rs",
            "",
            "fn f() -> u8 {\n    3\n}\n",
            "fn f() -> u8 { unimplemented!() }",
        ),
        (
            "a.js",
            "",
            "function f() {\n  return 3;\n}\n",
            "function f() { throw new Error(\"not implemented\"); }",
        ),
        (
            "a.c",
            "int g;\n",
            "int g;\nint f(void) {\n  return 3;\n}\n",
            "int f(void) { __builtin_trap(); }",
        ),
        (
            "A.java",
            "",
            "class A {\n  int f() {\n    return 3;\n  }\n}\n",
            "int f() { throw new UnsupportedOperationException(); }",
        ),
        (
            "a.rb",
            "",
            "def f\n  3\nend\n",
            "def f\n  raise NotImplementedError\nend\n",
        ),
        (
            "a.php",
            "<?php\n",
            "<?php\nfunction f() {\n  return 3;\n}\n",
            "function f() { throw new \\LogicException('not implemented'); }",
        ),
        (
            "a.ts",
            "",
            "export function f(): number {\n  return 3;\n}\n",
            "function f(): number { throw new Error(\"not implemented\"); }",
        ),
    ] {
        let (patch, base) = gold(path, old, new);
        let made = rule_candidates(&patch, &base, 2).unwrap();
        let text = after(path, old, &made, "stub");
        assert!(text.contains(stub), "{path}: {text}");
    }
}

#[test]
fn a_name_that_the_base_knows_stays() {
    let new = PYTHON.replace("    b = 1\n", "    b = 2\n    a = max(b, 3)\n");
    let (patch, base) = gold("a.py", PYTHON, &new);
    let made = rule_candidates(&patch, &base, 2).unwrap();
    // A comment is all that can be added.
    assert_eq!(
        made.iter()
            .filter(|one| one.kind == CandidateKind::Perturbed)
            .count(),
        1
    );
}

#[test]
fn a_changelog_is_not_what_candidates_differ_in() {
    let patch = Patch::new(
        "diff --git a/CHANGES.md b/CHANGES.md\n--- a/CHANGES.md\n+++ b/CHANGES.md\n@@ -1 +1,2 @@\n a\n+true == false\n\
         diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n x = 1\n-y = 2\n+y = x == 2\n",
    );
    let made = rule_candidates(&patch, &BaseFiles::new(), 3).unwrap();
    assert_eq!(
        names(&made),
        ["gold", "near-miss-1", "breaks", "wrong-place", "nothing"]
    );
    let text = String::from_utf8(made[1].patch.clone()).unwrap();
    assert!(text.contains("+true == false\n") && text.contains("+y = x != 2\n"));
}
