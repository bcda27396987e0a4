//! Each code on a row that has exactly that fault.

use crate::rows::{GOLD, TEST, dumped, flat, multi, row, v4, v5};
use atlas_core::Severity;
use atlas_formats::{
    ConvertOptions, Dataset, Finding, LintCode, LintOptions, PatchProblem, Schema, convert, lint,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

fn read(rows: &[Value]) -> Dataset {
    let lines: Vec<_> = rows.iter().map(dumped).collect();
    Dataset::from_bytes(lines.join("\n").as_bytes(), Path::new("d.jsonl"))
}

fn found(rows: &[Value]) -> Vec<Finding> {
    let findings = lint(&read(rows), &LintOptions::default());
    for finding in &findings {
        assert!(!finding.message.is_empty() && !finding.way_out.is_empty());
        assert!(!finding.message.contains('\n'), "{finding}");
        assert_eq!(finding.severity, finding.code.severity());
    }
    findings
}

/// The codes and fields that a change of a good row brings.
fn after(mut row: Value, change: impl FnOnce(&mut Value)) -> Vec<(LintCode, String)> {
    change(&mut row);
    found(&[row])
        .into_iter()
        .map(|finding| (finding.code, finding.field))
        .collect()
}

fn one(code: LintCode, field: &str) -> Vec<(LintCode, String)> {
    vec![(code, field.to_owned())]
}

#[test]
fn good_rows_are_good() {
    for value in [v4(), v5(), multi()] {
        assert_eq!(found(&[value]), []);
    }
    for (schema, value) in flat() {
        let fatal: Vec<_> = found(&[value])
            .into_iter()
            .filter(|finding| finding.severity == Severity::Fatal)
            .collect();
        assert_eq!(fatal, [], "{schema}");
    }
}

#[test]
fn every_code_has_a_word_and_a_sentence() {
    let mut words = BTreeSet::new();
    for code in LintCode::ALL {
        assert!(words.insert(code.as_str()), "{code} is there twice");
        assert_eq!(code.as_str().parse(), Ok(*code));
        assert!(code.doc().ends_with('.'), "{code}: {}", code.doc());
    }
    "no_such_code".parse::<LintCode>().unwrap_err();
}

#[test]
fn columns() {
    use LintCode as C;
    let drop = |row: &mut Value, column: &str| {
        row.as_object_mut().unwrap().shift_remove(column);
    };
    assert_eq!(
        after(v4(), |r| drop(r, "version")),
        one(C::MissingColumn, "version")
    );
    assert_eq!(
        after(v4(), |r| r["problem_statement"] = Value::Null)[0],
        (C::MissingColumn, "problem_statement".to_owned())
    );
    // No harness reads them from a row, and published rows go without.
    for column in ["hints_text", "created_at", "environment_setup_commit"] {
        assert_eq!(after(v4(), |r| drop(r, column)), [], "{column}");
    }
    let of_live = || flat()[5].1.clone();
    assert_eq!(after(of_live(), |r| r["pull_number"] = json!(12)), []);
    assert_eq!(
        after(of_live(), |r| drop(r, "rebuild_cmds")),
        [],
        "projects that need no building"
    );
    // The evaluation makes the tag from the two.
    let pro = |id: &str| {
        let mut row = flat()[6].1.clone();
        drop(&mut row, "dockerhub_tag");
        after(row, |r| r["instance_id"] = id.into())
    };
    assert_eq!(pro("instance_acme__sum-1a2b3c-vnan"), []);
    assert_eq!(pro("acme__sum-12"), one(C::MissingImage, "dockerhub_tag"));
    assert_eq!(
        after(v4(), |r| r["PASS_TO_PASS"] =
            "tests/a.py::x, tests/a.py::y".into()),
        one(C::UnreadableValue, "PASS_TO_PASS")
    );
    assert_eq!(
        after(v4(), |r| r["version"] = json!(12)),
        one(C::UnreadableValue, "version")
    );
    assert_eq!(
        after(v4(), |r| r["PASS_TO_PASS"] = json!(["x"])),
        one(C::MixedListEncoding, "PASS_TO_PASS")
    );
    assert_eq!(
        after(v4(), |r| r["instance_id"] = "acme-sum-12".into()),
        one(C::InstanceIdForm, "instance_id")
    );
    assert_eq!(
        after(v4(), |r| r["instance_id"] = "acme__sum-1a2b3c".into()),
        one(C::InstanceIdForm, "instance_id")
    );
    assert_eq!(
        after(v4(), |r| r["repo"] = "acme/other".into()),
        one(C::InstanceIdRepo, "repo")
    );
    for commit in [
        "main",
        "e83c516",
        "",
        "E83C5163316F89BFBDE7D9AB23CA2E25604AF29z",
    ] {
        assert_eq!(
            after(v4(), |r| r["base_commit"] = commit.into()),
            one(C::BaseCommitForm, "base_commit")
        );
    }
    for time in [
        "yesterday",
        "2024-13-01",
        "31.05.2024",
        "2024-05-31T25:00:00Z",
    ] {
        assert_eq!(
            after(v4(), |r| r["created_at"] = time.into()),
            one(C::CreatedAtForm, "created_at"),
            "{time}"
        );
    }
    for time in [
        json!("2024-05-31 12:00:00+02:00"),
        json!(1_717_156_800_000_i64),
        json!(""),
    ] {
        assert_eq!(after(v4(), |r| r["created_at"] = time), []);
    }
    assert_eq!(
        after(v4(), |r| r["problem_statement"] = " \n".into()),
        one(C::EmptyProblem, "problem_statement")
    );
    assert_eq!(
        after(v4(), |r| {
            r["problem_statement"] =
                "Mend it:\n```\n  return sum(item for item in items)\n```\n".into();
        }),
        one(C::SolutionInProblem, "problem_statement")
    );
    let quoted = |statement: &str, patch: String| {
        after(v4(), |r| {
            r["problem_statement"] = statement.into();
            r["patch"] = patch.into();
        })
    };
    let whole = "return sum(item for item in items)";
    let moved = GOLD.replace("-    return sum(items[1:])", &format!("-    {whole}"));
    let moved = moved.replace("+    # all of them", "+    if items:  # all of them");
    let moved = moved.replace(&format!("+    {whole}"), &format!("+        {whole}"));
    let old = format!("This is wrong:\n    {whole}\n");
    assert_eq!(quoted(&old, moved), [], "the old line, further in");
    let documented = GOLD.replace("lib/sum.py", "docs/sum.rst");
    assert_eq!(quoted(&old, documented), [], "an example");
    let imported = GOLD.replace(whole, "from fractions import Fraction as F");
    assert_eq!(quoted("from fractions import Fraction as F", imported), []);
    let remark = GOLD.replace("return sum(item for", "# a sum of item for");
    assert_eq!(quoted("# a sum of item for item in items)", remark), []);
    assert_eq!(
        found(&[v4(), json!({"instance_id": "a__b-1", "x": 1})])[0].code,
        C::UnknownSchema
    );
    let twice = found(&[v4(), v4()]);
    assert_eq!(twice.len(), 1);
    assert_eq!(twice[0].code, C::DuplicateInstance);
    assert_eq!(twice[0].line, 2);
    assert!(twice[0].message.contains("d.jsonl:1"), "{}", twice[0]);
}

#[test]
fn lists_of_one_dataset_in_two_ways() {
    let mut other = v4();
    other["instance_id"] = "acme__sum-13".into();
    other["FAIL_TO_PASS"] = "['tests/test_sum.py::test_all']".into();
    other["patch"] = GOLD.replace("# all of them", "# each").into();
    let findings = found(&[v4(), other]);
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].code, LintCode::MixedListEncoding);
    assert_eq!(findings[0].instance, "acme__sum-13");
}

#[test]
fn lists_that_one_reader_reads_are_one_way() {
    let mut pro = flat()[6].1.clone();
    pro["pass_to_pass"] = r#"["u", "v"]"#.into();
    assert_eq!(found(&[pro]), []);
}

#[test]
fn tests_lists() {
    use LintCode as C;
    let pass = |names: &[&str]| {
        after(v4(), |r| {
            r["PASS_TO_PASS"] = json!(names).to_string().into();
        })
    };
    let fail = |names: &[&str]| {
        after(v4(), |r| {
            r["FAIL_TO_PASS"] = json!(names).to_string().into();
        })
    };
    assert_eq!(fail(&[]), one(C::EmptyFailToPass, "FAIL_TO_PASS"));
    assert_eq!(
        fail(&[
            "tests/test_sum.py::test_all",
            "tests/test_sum.py::test_none"
        ]),
        one(C::TestInBothLists, "FAIL_TO_PASS")
    );
    assert_eq!(
        pass(&["a", "b", "a"]),
        one(C::DuplicateTest, "PASS_TO_PASS")
    );
    for name in [
        "tests/test_sum.py::test_p[a",
        "test_x(\"a",
        "test 'case",
        "tests/test_sum.py::test[b-c[d",
        "tests/test_sum.py::test[a] and [b",
    ] {
        assert_eq!(
            pass(&[name]),
            one(C::TruncatedTest, "PASS_TO_PASS"),
            "{name}"
        );
    }
    for name in [
        "[1] tests/x.py:3",
        "tests/x.py:3: AssertionError",
        "at lib/a.js:3:5",
        "src/main.rs:10:5:",
    ] {
        assert_eq!(
            pass(&[name]),
            one(C::LocationAsTest, "PASS_TO_PASS"),
            "{name}"
        );
    }
    for name in [
        "PASSED",
        "PASSED [ 14%]",
        "ok",
        "Failed:",
        "",
        "  ",
        "...",
        "42",
        "a\nb",
        "\u{1b}[32mok",
        "3 passed in 0.12s",
        "Tests: 2 failed, 5 passed",
        "5 examples, 0 failures",
        "=== 1 failed, 2 passed in 3.1s ===",
    ] {
        assert_eq!(
            pass(&[name]),
            one(C::ProseAsTest, "PASS_TO_PASS"),
            "{name:?}"
        );
    }
    for name in ["TestA (0.02s)", "renders [1.3 ms]", "works in 29 msec"] {
        assert_eq!(
            pass(&[name]),
            one(C::TimingInTest, "PASS_TO_PASS"),
            "{name}"
        );
    }
    // Names that real runners print.
    assert_eq!(
        pass(&[
            "tests/test_sum.py::test_p[a b-[c]]",
            "tests/test_sum.py::TestX::test_it",
            "it's fine when it isn't",
            "should return 3 when 2 passed in",
            "TestSub/a_b/#01",
            "suite > renders 'x' (twice)",
            "com.acme.SumTest.testAll[1]",
            "mod::tests::adds_2",
            "test/sum_test.rb:12 adds",
            "[ok] tests are named oddly",
            "test_x('a')",
            "a ] b",
            "waits in 3 places",
            "script name with '",
            "does not strip '%5B' => '[' from parameters",
            // Values of parameters are any text.
            "tests/test_sum.py::test_x[a b[c]]",
            "tests/test_sum.py::test_x[arg1-[]",
            "tests/test_sum.py::test_x[Usage: 'x [OPTIONS] \"]",
            "tests/test_sum.py::test_x[['a]",
            "Acme.CalcTests.Strings(\"a b\",\"c\\\"d\")",
            "parses \u{0}javascript: and /\t/x",
            // Named for a report.
            "9496",
        ]),
        one(C::LocationAsTest, "PASS_TO_PASS"),
        "a name that begins with a place is the only finding"
    );
}

#[test]
fn tests_that_only_the_solution_defines() {
    use LintCode as C;
    let inline = "diff --git a/src/sum.rs b/src/sum.rs\nnew file mode 100644\n--- /dev/null\n+++ b/src/sum.rs\n\
                  @@ -0,0 +1,5 @@\n+pub fn sum() {}\n+#[cfg(test)]\n+mod tests {\n+#[test] fn adds() {}\n+}\n";
    let with = |patch: String, test: &str| {
        after(v4(), |r| {
            r["patch"] = patch.into();
            r["FAIL_TO_PASS"] = json!([test]).to_string().into();
        })
    };
    let unsatisfiable = one(C::UnsatisfiableTest, "FAIL_TO_PASS");
    for test in ["sum::tests::adds", "src/sum.rs - sum::sum (line 3)"] {
        let found = with(inline.to_owned(), test);
        assert!(found.contains(&unsatisfiable[0]), "{test}: {found:?}");
    }
    // An example in the documentation of a function that the solution adds.
    let documented = format!(
        "{GOLD}@@ -9 +10,4 @@\n x = 1\n+def mean(items):\n+    \"\"\"\n+    >>> mean([1])\n"
    );
    let found = with(documented, "lib/sum.py::lib.sum.mean");
    assert!(found.contains(&unsatisfiable[0]), "{found:?}");
    assert_eq!(with(inline.to_owned(), "tests/test_sum.py::test_all"), []);
    // A method and a module are no tests, whatever a test is called.
    let methods = inline.replace(
        "+#[test] fn adds() {}",
        "+fn enabled(&self, at: usize) -> bool; fn enter(self: Box<Self>); mod chunks;",
    );
    for test in ["enabled", "it::enter", "slice::chunks"] {
        assert_eq!(with(methods.clone(), test), [], "{test}");
    }
    assert_eq!(
        with(inline.to_owned(), "it::total_is_right"),
        [],
        "neither patch names it"
    );
}

#[test]
fn tests_that_no_second_run_prints_or_that_no_run_asks_for() {
    use LintCode as C;
    let pass = |name: &str| {
        after(v4(), |r| {
            r["PASS_TO_PASS"] = json!([name]).to_string().into();
        })
    };
    for name in [
        "test_a[<X object at 0x7f3a1c>]",
        "test_b[0x7ffd5e8c12a0]",
        "reads /tmp/tmpab12/x",
    ] {
        assert_eq!(pass(name), one(C::UnstableTest, "PASS_TO_PASS"), "{name}");
    }
    for name in ["test_a[0xff]", "test_a[0xdeadbeef]", "writes to /tmp"] {
        assert_eq!(pass(name), [], "{name}");
    }
    let other = "tests/test_other.py::test_x";
    assert_eq!(pass(other), one(C::UnselectedTest, "PASS_TO_PASS"));
    // Names that are no files of a run that is asked for by file.
    for name in [
        "TestEvaluations/testdata/functions.test",
        "TestPlan_import/test_object.a",
        "basics/string_format.py",
        "tests/check.py::Suite::test_sum.py::one",
    ] {
        assert_eq!(pass(name), [], "{name}");
    }
    let pro = |test: &str| {
        after(flat()[6].1.clone(), |r| {
            r["selected_test_files_to_run"] = "['test/a/Link-test.ts']".into();
            r["pass_to_pass"] = json!([test]).to_string().into();
        })
    };
    assert_eq!(pro("test/a/Link-test.tsx | <Link> | shows"), []);
    assert_eq!(pro("/app/test/a/Link-test.ts | shows"), []);
    let unselected = one(C::UnselectedTest, "pass_to_pass");
    assert_eq!(pro("test/a/Links-test.tsx | shows"), unselected);
    // `test/a/Link-test.ts` may load what lies below.
    assert_eq!(pro("test/a/Link-test/old.ts | shows"), []);
    assert_eq!(pro("test/a/Link-tests/old.ts | shows"), unselected);
    let whole = after(v5(), |r| {
        r["PASS_TO_PASS"] = json!([other]).to_string().into();
    });
    assert_eq!(whole, [], "its script may run all");
}

#[test]
fn tests_that_the_patch_adds_and_no_list_has() {
    use LintCode as C;
    let with = |patch: String, fail: &[&str]| {
        after(v4(), |r| {
            r["test_patch"] = patch.into();
            r["FAIL_TO_PASS"] = json!(fail).to_string().into();
            r["PASS_TO_PASS"] = "[]".into();
        })
    };
    let unlisted = one(C::AddedTestsUnlisted, "FAIL_TO_PASS");
    let file = |path: &str, lines: &[&str]| {
        let added: String = lines.iter().flat_map(|line| ["+", line, "\n"]).collect();
        let count = lines.len();
        format!(
            "diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{count} @@\n{added}"
        )
    };
    let rust = || {
        let lines = [
            "fn helper() {}",
            "#[tokio::test(start_paused = true)]",
            "#[cfg(unix)]",
            "async fn peeks() {}",
        ];
        file("tests/udp.rs", &lines)
    };
    let go = || file("a/b_test.go", &["func TestPeek(t *testing.T) {", "}"]);
    let python = || {
        file(
            "tests/test_a.py",
            &["class TestA:", "    def test_peek(self):"],
        )
    };
    for (patch, id) in [
        (rust(), "sync::rwlock::bounds"),
        (go(), "TestOld"),
        (python(), "tests/test_a.py::TestB::test_old"),
    ] {
        assert_eq!(with(patch, &[id]), unlisted, "{id}");
    }
    // One is listed, or another that the patch shows, or one by its title, or what holds them all.
    assert_eq!(with(rust(), &["udp::peeks"]), []);
    assert_eq!(with(go(), &["TestPeek/first"]), []);
    assert_eq!(with(python(), &["test_peek (tests.test_a.TestA)"]), []);
    assert_eq!(with(python(), &["tests/test_a.py"]), []);
    assert_eq!(with(go(), &["example.org/a"]), []);
    let changed = format!("{TEST}{}", file("tests/test_a.py", &["def test_peek():"]));
    assert_eq!(with(changed, &["tests/test_sum.py::test_all"]), []);
    let title = "        'test_a: peeking is no reading.'";
    let titled = file("tests/test_a.py", &["    def test_peek(self):", title]);
    assert_eq!(with(titled, &["test_a: peeking is no reading."]), []);
    // Nothing is known to be added: a function of no test, a language whose tests are not known.
    let none = file("tests/udp.rs", &["fn helper() {}", "fn other() {}"]);
    assert_eq!(with(none, &["a::old"]), []);
    let script = file("a.test.js", &["it('peeks', () => {})"]);
    assert_eq!(with(script, &["old"]), []);
}

#[test]
fn patches() {
    use LintCode as C;
    let gold = |patch: &str| after(v4(), |r| r["patch"] = patch.into());
    let test = |patch: &str| after(v4(), |r| r["test_patch"] = patch.into());
    assert_eq!(gold(""), one(C::EmptyPatch, "patch"));
    assert_eq!(test("\n"), one(C::EmptyTestPatch, "test_patch"));
    assert_eq!(gold("just words\n"), one(C::UnreadablePatch, "patch"));
    let cut: String = GOLD.split_inclusive('\n').take(7).collect();
    assert_eq!(gold(&cut), one(C::UnreadablePatch, "patch"));
    assert_eq!(
        gold(&GOLD.replace("@@ -1,2 +1,3 @@", "@@ -1,2 +1,2 @@")),
        one(C::UnreadablePatch, "patch")
    );
    assert_eq!(
        gold(&GOLD.replace("@@ -1,2 +1,3 @@", "@@ -1,3 +1,4 @@")),
        one(C::UnreadablePatch, "patch")
    );
    assert_eq!(
        gold(GOLD.trim_end()),
        one(C::PatchWithoutFinalNewline, "patch")
    );
    assert_eq!(
        gold(&GOLD.replace('\n', "\r\n"))[0],
        (C::PatchWithCrlf, "patch".to_owned())
    );
    // Files with such line ends are no fault.
    assert_eq!(gold(&GOLD.replace("[1:])\n", "[1:])\r\n")), []);
    let bare: String = GOLD
        .split_inclusive('\n')
        .filter(|line| !line.starts_with("diff") && !line.starts_with("index"))
        .collect();
    assert_eq!(gold(&bare), one(C::PatchWithoutGitHeader, "patch"));
    for path in [
        "tests/test_new.py",
        "pkg/sum_test.go",
        "src/Sum.spec.ts",
        "src/test/java/A.java",
        "a/SumTest.java",
        "conftest.py",
    ] {
        let patch = format!("{GOLD}{}", TEST.replace("tests/test_sum.py", path));
        assert_eq!(gold(&patch), one(C::TestsInGoldPatch, "patch"), "{path}");
    }
    for path in [
        "src/latest.py",
        "src/contest.py",
        "lib/attestation.go",
        "docs/testing.md",
        ".github/workflows/database-test.yml",
        "core/src/main/java/org/acme/spec/IntervalSpec.java",
    ] {
        let patch = format!("{GOLD}{}", TEST.replace("tests/test_sum.py", path));
        assert_eq!(gold(&patch), [], "{path}");
    }
    assert_eq!(
        test(&format!("{TEST}{GOLD}")),
        one(C::FileInBothPatches, "patch")
    );
    let smith = flat()[8].1.clone();
    assert_eq!(
        after(smith, |r| r["patch"] = "words\n".into()),
        one(C::UnreadablePatch, "patch")
    );
}

#[test]
fn files_beside_tests_that_only_the_solution_makes() {
    use LintCode as C;
    let added = |path: &str| {
        format!(
            "{GOLD}diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+[1, 2]\n"
        )
    };
    let reads = |name: &str| TEST.replace("total([1, 2])", &format!("total(load('{name}'))"));
    let with = |path: &str, name: &str| {
        after(v4(), |r| {
            r["patch"] = added(path).into();
            r["test_patch"] = reads(name).into();
        })
    };
    let path = "lib/testdata/few.json";
    let fixture = one(C::FixtureInGoldPatch, "patch");
    assert_eq!(with(path, "few.json"), fixture);
    assert_eq!(with(path, "testdata/few.json"), fixture);
    for other in ["a_few.json", "few.jsonl", "fewxjson"] {
        assert_eq!(with(path, other), one(C::TestsInGoldPatch, "patch"));
    }
    assert_eq!(with("lib/few.json", "few.json"), [], "beside the sources");
}

#[test]
fn two_rows_of_one_solution() {
    let mut other = v4();
    other["instance_id"] = "acme__sum-13".into();
    let findings = found(&[v4(), other]);
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].code, LintCode::SameSolution);
    assert_eq!(findings[0].instance, "acme__sum-13");
    assert!(findings[0].message.contains("acme__sum-12"));
}

#[test]
fn patches_are_tried_where_the_caller_can() {
    let try_patches = |instance: &atlas_core::Instance| {
        let patch = instance.gold_patch().unwrap();
        assert_eq!(patch.as_text().unwrap(), GOLD);
        Some(PatchProblem {
            field: "patch".to_owned(),
            message: "error: lib/sum.py: patch does not apply".to_owned(),
        })
    };
    let options = LintOptions::default().trying_patches(&try_patches);
    for value in [v4(), multi()] {
        let findings = lint(&read(&[value]), &options);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].code, LintCode::PatchDoesNotApply);
        assert!(findings[0].message.contains("does not apply"));
    }
}

#[test]
fn what_version_5_needs() {
    use LintCode as C;
    assert_eq!(
        after(v5(), |r| r["image"] = " ".into()),
        one(C::MissingImage, "image")
    );
    assert_eq!(
        after(v5(), |r| r["image"] = "acme/sum:latest".into()),
        one(C::ImageName, "image")
    );
    assert_eq!(
        after(v5(), |r| r["eval_script"] = "pytest".into()),
        one(C::MissingMarkers, "eval_script")
    );
    assert_eq!(
        after(v5(), |r| r["eval_type"] = "all".into()),
        one(C::UnknownEvalType, "eval_type")
    );
    assert_eq!(
        after(v5(), |r| r["log_parser"] = "".into()),
        one(C::MissingLogParser, "log_parser")
    );
}

#[test]
fn statuses_of_multi_swe_bench() {
    use LintCode as C;
    assert_eq!(
        after(multi(), |r| r["f2p_tests"]["all"]["test"] = "FAILED".into()),
        one(C::UnknownStatus, "f2p_tests")
    );
    assert_eq!(
        after(multi(), |r| r["f2p_tests"]["all"]["test"] = "NONE".into()),
        one(C::StatusClass, "f2p_tests")
    );
    let both = after(multi(), |r| {
        r["p2p_tests"]["all"] = json!({"run": "PASS", "test": "PASS", "fix": "PASS"});
    });
    assert!(
        both.contains(&(C::SetsNotDisjoint, "f2p_tests".to_owned())),
        "{both:?}"
    );
    assert_eq!(
        after(multi(), |r| r["run_result"]["passed_count"] = json!(7)),
        one(C::WrongCount, "run_result")
    );
    assert_eq!(
        after(multi(), |r| {
            r["run_result"]["failed_count"] = json!(1);
            r["run_result"]["failed_tests"] = json!(["none"]);
        }),
        one(C::SetsNotDisjoint, "run_result")
    );
    // As Parquet holds it: one list a column.
    let mut columnar = multi();
    columnar["f2p_tests"] =
        json!({"name": ["all"], "run": ["NONE"], "test": ["FAIL"], "fix": ["PASS"]});
    assert_eq!(found(&[columnar]), []);
}

#[test]
fn tasks_that_are_folders() {
    use LintCode as C;
    let made = {
        let (rows, _) = convert(
            &[row(&v5())],
            Schema::SwebenchV5,
            Schema::SwebenchV5TaskRepo,
            &ConvertOptions::default(),
        );
        rows[0].clone()
    };
    let of = |change: &dyn Fn(&mut String), remove: Option<&str>| -> Vec<(LintCode, String)> {
        let mut row = made.clone();
        let mut text = row.text("task.yaml").unwrap().to_owned() + "datasets: [Acme/Sum]\n";
        change(&mut text);
        row.set("task.yaml", text).unwrap();
        if let Some(file) = remove {
            row.remove(file).unwrap();
        }
        lint(&Dataset::new(vec![row]), &LintOptions::default())
            .into_iter()
            .map(|finding| (finding.code, finding.field))
            .collect()
    };
    let same = |_: &mut String| {};
    assert_eq!(of(&same, None), []);
    assert_eq!(
        of(&same, Some("Dockerfile")),
        one(C::MissingColumn, "Dockerfile")
    );
    let task = one(C::TaskFile, "task.yaml");
    assert_eq!(
        of(&|text| *text = text.replace("datasets:", "data:"), None),
        task
    );
    assert_eq!(
        of(&|text| *text = text.replace("split: test\n", ""), None),
        task
    );
    assert_eq!(
        of(
            &|text| *text = text.replace("split: test", "split: \"\""),
            None
        ),
        task
    );
    assert_eq!(
        of(
            &|text| *text = text
                .replace("split: test", "split: deprecated")
                .replace("datasets: [Acme/Sum]", ""),
            None
        ),
        []
    );
    let named = of(
        &|text| *text = text.replace("instance_id: acme__sum-12", "instance_id: acme__sum-13"),
        None,
    );
    assert!(named.contains(&task[0]), "{named:?}");
    assert!(of(&|text| *text = "[".to_owned(), None).contains(&task[0]));
    let tests = of(&same, Some("tests.json"));
    assert!(
        tests.contains(&(C::TaskFile, "tests.json".to_owned())),
        "{tests:?}"
    );
    let mut harbor = {
        let (rows, _) = convert(
            &[row(&v5())],
            Schema::SwebenchV5,
            Schema::HarborTask,
            &ConvertOptions::default(),
        );
        rows[0].clone()
    };
    assert_eq!(
        lint(&Dataset::new(vec![harbor.clone()]), &LintOptions::default()),
        []
    );
    harbor.set("task.toml", "= broken").unwrap();
    harbor.remove("instruction.md").unwrap();
    let codes: Vec<_> = lint(&Dataset::new(vec![harbor]), &LintOptions::default())
        .into_iter()
        .map(|finding| finding.code)
        .collect();
    assert!(
        codes.contains(&C::TaskFile) && codes.contains(&C::MissingColumn),
        "{codes:?}"
    );
}

#[test]
fn findings_can_be_left_out_and_the_schema_named() {
    let mut value = v4();
    value["FAIL_TO_PASS"] = "[]".into();
    let dataset = read(&[value]);
    let without = LintOptions::default().without(LintCode::EmptyFailToPass);
    assert_eq!(lint(&dataset, &without), []);
    let as_v5 = LintOptions::default().with_schema(Schema::SwebenchV5);
    let codes: Vec<_> = lint(&dataset, &as_v5)
        .into_iter()
        .map(|finding| finding.code)
        .collect();
    assert!(codes.contains(&LintCode::MissingColumn), "{codes:?}");
    assert!(codes.contains(&LintCode::MissingImage), "{codes:?}");
    let shown = lint(&dataset, &LintOptions::default())[0].to_string();
    assert_eq!(
        shown,
        "error[empty_fail_to_pass] acme__sum-12 (line 1): `FAIL_TO_PASS`: no test must come to pass, so every patch resolves the task; run the states again, or leave the row out"
    );
}
