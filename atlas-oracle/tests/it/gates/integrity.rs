use super::support::Case;
use super::{GOLD, LIB, OLD, new_test};
use atlas_core::{Decision, Patch, RunContext, Sandbox, Validator, Verdict};
use atlas_oracle::{Integrity, IntegrityOptions, leak_of, unnamed_interface};
use std::sync::Arc;

async fn verdict(statement: &str, prepare: &str) -> Verdict {
    let tests = new_test("new", "[ \"$(add 1 1)\" = 2 ]");
    let mut case = Case::new(&[LIB, OLD], GOLD, &tests).await;
    case.candidate.instance.set("problem_statement", statement);
    let sandbox: Arc<dyn Sandbox> = Arc::new(Prepared {
        inner: Arc::clone(&case.shell),
        prepare: prepare.to_owned(),
    });
    Integrity::new(sandbox, IntegrityOptions::default())
        .validate(&RunContext::new("t"), &case.candidate)
        .await
        .unwrap()
}

/// An environment in which something was done beforehand.
#[derive(Debug)]
struct Prepared {
    inner: Arc<super::support::Shell>,
    prepare: String,
}

#[async_trait::async_trait]
impl Sandbox for Prepared {
    fn info(&self) -> atlas_core::SandboxInfo {
        self.inner.info()
    }

    async fn run(
        &self,
        cx: &RunContext,
        environment: &atlas_core::Environment,
        job: &atlas_core::Job,
    ) -> Result<atlas_core::JobResult, atlas_core::Error> {
        let mut job = job.clone();
        job.script = format!("cd \"$ATLAS_REPO\"\n{}\n{}", self.prepare, job.script);
        self.inner.run(cx, environment, &job).await
    }
}

const REPOSITORY: &str = "git init -q . && git config user.email a@b && git config user.name a && git add -A && git commit -qm base";

fn codes(verdict: &Verdict) -> Vec<&str> {
    verdict.findings.iter().map(|f| f.code.as_str()).collect()
}

#[tokio::test]
async fn a_sealed_repository_and_a_plain_statement_pass() {
    let verdict = verdict("Adding does not add.", REPOSITORY).await;
    assert_eq!(verdict.decision, Decision::Accept, "{:?}", verdict.findings);
    assert_eq!(verdict.measurements["git"], "read");
}

#[tokio::test]
async fn a_later_commit_and_the_solution_among_its_objects_are_found() {
    let later = format!(
        "{REPOSITORY}; sed -i 's/ - / + /' lib.sh; git commit -qam later; git reset -q --hard HEAD~1"
    );
    let verdict = verdict("Adding does not add.", &later).await;
    assert_eq!(verdict.decision, Decision::Reject);
    assert_eq!(codes(&verdict), ["later_commits", "solution_in_git"]);
    assert!(
        verdict.findings[1].evidence[0]
            .text
            .ends_with("is lib.sh of After")
    );
}

/// An ancestor that already had the content (a revert is undone) is no leak.
#[tokio::test]
async fn contents_of_an_ancestor_are_no_leak() {
    let reverted = format!(
        "sed -i 's/ - / + /' lib.sh; {REPOSITORY}; sed -i 's/ + / - /' lib.sh; git commit -qam revert"
    );
    let verdict = verdict("Adding does not add.", &reverted).await;
    assert_eq!(verdict.decision, Decision::Accept, "{:?}", verdict.findings);
}

#[tokio::test]
async fn a_statement_with_the_solution_must_be_repaired() {
    for (statement, code) in [
        (
            "Write add() { echo $(($1 + $2)); }",
            "solution_in_statement",
        ),
        (
            "See https://host.example/a/b/pull/7 for a fix",
            "link_to_solution",
        ),
        (
            "Try:\n```\n--- a/lib.sh\n+++ b/lib.sh\n@@ -1 +1 @@\n```",
            "solution_in_statement",
        ),
    ] {
        let verdict = verdict(statement, REPOSITORY).await;
        assert_eq!(verdict.decision, Decision::Repair, "{statement}");
        assert_eq!(codes(&verdict), [code], "{statement}");
    }
}

/// A report that names the change which broke something tells no solution: the base commit has that change.
#[tokio::test]
async fn a_link_to_a_change_that_the_base_has_is_no_leak() {
    let history = |subject: &str| {
        format!(
            "{REPOSITORY}; git commit -q --allow-empty -m '{subject}'; printf 'x\n' >> other; git add other; git commit -qm next"
        )
    };
    for (subject, link, decision, code) in [
        (
            "Merge pull request #7 from a/b",
            "pull/7",
            Decision::Accept,
            "link_to_earlier_change",
        ),
        (
            "Add it (#7)",
            "pull/7/files",
            Decision::Accept,
            "link_to_earlier_change",
        ),
        (
            "Merge branch\n\nSee merge request a/b!7",
            "-/merge_requests/7",
            Decision::Accept,
            "link_to_earlier_change",
        ),
        (
            "Add it (#77)",
            "pull/7",
            Decision::Repair,
            "link_to_solution",
        ),
        (
            "Merge pull request #70 from a/b",
            "pull/7",
            Decision::Repair,
            "link_to_solution",
        ),
        (
            "Part of (#7) only",
            "pull/7",
            Decision::Repair,
            "link_to_solution",
        ),
        (
            "Add it (#7)",
            "compare/v1...v2",
            Decision::Repair,
            "link_to_solution",
        ),
    ] {
        let statement = format!("Broken since https://host.example/a/b/{link} was merged");
        let verdict = verdict(&statement, &history(subject)).await;
        assert_eq!(verdict.decision, decision, "{subject}: {link}");
        assert_eq!(codes(&verdict), [code], "{subject}: {link}");
    }
}

#[tokio::test]
async fn a_link_to_a_commit_that_the_base_has_is_no_leak() {
    let date = "2001-01-01T00:00:00Z";
    let fixed = format!("export GIT_COMMITTER_DATE={date} GIT_AUTHOR_DATE={date}; {REPOSITORY}");
    let folder = tempfile::tempdir().unwrap();
    let told = folder.path().join("id");
    let tell = format!("{fixed}; git rev-parse HEAD > '{}'", told.display());
    verdict("Adding does not add.", &tell).await;
    let id = std::fs::read_to_string(told).unwrap();
    for (id, decision) in [
        (&id.trim()[..10], Decision::Accept),
        ("0123456789", Decision::Repair),
    ] {
        let statement = format!("Since https://host.example/a/b/commit/{id} it does not add");
        assert_eq!(verdict(&statement, &fixed).await.decision, decision, "{id}");
    }
}

#[tokio::test]
async fn an_environment_without_a_repository_says_so() {
    let verdict = verdict("Adding does not add.", "true").await;
    assert_eq!(verdict.decision, Decision::Accept);
    assert_eq!(verdict.measurements["git"], "none");
}

#[test]
fn a_text_is_measured() {
    let gold = Patch::new(
        "--- a/m.py\n+++ b/m.py\n@@ -1,2 +1,4 @@\n def old(x):\n     return x\n+def frobnicate(value, factor):\n+    return value * factor\n",
    );
    let tests = Patch::new(
        "--- a/t.py\n+++ b/t.py\n@@ -1 +1,2 @@\n import m\n+assert m.frobnicate(2, 3) == 6\n",
    );
    let leak = leak_of("Please add `frobnicate(value, factor)`.", &gold, &tests);
    assert_eq!((leak.solution_lines, leak.quoted_lines.len()), (2, 0));
    assert_eq!(leak.named, ["frobnicate"]);
    assert_eq!(leak.tested_but_unnamed, Vec::<String>::new());
    let leak = leak_of("It should return value*factor, I think.", &gold, &tests);
    assert_eq!(leak.quoted_lines, ["return value * factor"]);
    assert_eq!(leak.quoted_share(), Some(0.5));
    assert_eq!(leak.tested_but_unnamed, ["frobnicate"]);
}

/// A statement that quotes the old code quotes none of the solution that only breaks its line.
#[test]
fn a_part_of_an_old_line_is_no_line_of_the_solution() {
    let gold = Patch::new(
        "--- a/o.py\n+++ b/o.py\n@@ -1 +1,3 @@\n-pattern = re.compile(prefix + name)\n+pattern = re.compile(\n+    re.escape(prefix) + name\n+)\n",
    );
    let text = "This is wrong: pattern = re.compile(prefix + name)";
    let leak = leak_of(text, &gold, &Patch::new(""));
    assert_eq!((leak.solution_lines, leak.quoted_lines.len()), (1, 0));
}

/// Names that a patch merely uses are none that it introduces.
#[test]
fn introduced_names_are_defined_ones() {
    let gold = Patch::new(
        "--- a/A.java\n+++ b/A.java\n@@ -1 +1,5 @@\n class A {\n+    public static List<String> splitAll(String text) {\n+        return helper.cutAll(text);\n+    }\n+    int known = lookUp(3);\n",
    );
    let tests = Patch::new(
        "--- a/T.java\n+++ b/T.java\n@@ -1 +1,2 @@\n class T {\n+  void t() { A.splitAll(cutAll(lookUp(1))); }\n",
    );
    let leak = leak_of("It is slow.", &gold, &tests);
    assert_eq!(leak.tested_but_unnamed, ["splitAll"]);
    let gold = Patch::new(
        "--- a/r.go\n+++ b/r.go\n@@ -1 +1,3 @@\n package r\n+func (r *Route) GetVarNames() []string {\n+\treturn NewRouter().Host()\n",
    );
    let leak = leak_of(
        "",
        &gold,
        &Patch::new(
            "--- a/t.go\n+++ b/t.go\n@@ -1 +1,2 @@\n package r\n+x := NewRouter().GetVarNames()\n",
        ),
    );
    assert_eq!(leak.tested_but_unnamed, ["GetVarNames"]);
}

#[test]
fn an_interface_is_what_tests_call_and_only_the_solution_makes() {
    let gold = Patch::new(
        "--- a/r.rs\n+++ b/r.rs\n@@ -1,3 +1,8 @@\n impl R {\n     fn old_one(&self) {}\n+    pub fn try_peek(&self) {}\n+    pub fn peek(&self) {}\n+    fn old_one_more(&self) { let row_count = 1; }\n+    fn next_row(&self) {}\n+    fn is_named(&self) {}\n }\n",
    );
    let tests = Patch::new(
        "--- a/t.rs\n+++ b/t.rs\n@@ -1,2 +1,10 @@\n use r::R;\n fn t() { r.old_one(); }\n+fn next_row() {}\n+#[test]\n+fn peeks() {\n+    let row_count = r.try_peek();\n+    r.peek(row_count);\n+    next_row(); r.is_named();\n+    // r.old_one_more()\n+}\n",
    );
    assert_eq!(
        unnamed_interface("Let me look; `is_named` is there.", &gold, &tests),
        ["try_peek"],
        "one word, a variable, the tests' own and what is only remarked are none"
    );
    let given = "Offer `try_peek` and `is_named`.";
    assert_eq!(
        unnamed_interface(given, &gold, &tests),
        Vec::<String>::new()
    );
    assert_eq!(
        unnamed_interface("", &gold, &Patch::new("")),
        Vec::<String>::new()
    );
}
