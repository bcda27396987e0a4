//! Each rule of each harness, one short log a case.

use super::{END, Row, START, grade_log, grade_with, marked, row};
use atlas_core::Harness::{self, SweBench4, SweBench5, SweBenchPp};
use atlas_core::TestIds;
use atlas_oracle::Resolution::{Full, No, Partial};
use atlas_oracle::{
    CompatInput, CompatOutcome, CompatRead, CompatRow, CompatStage, EvalType, Resolution,
    grade_compat,
};
use std::collections::BTreeMap;

/// Checks what SWE-bench 4, SWE-bench 5 and SWE-Bench++ say, in this order.
#[track_caller]
fn all(row: &Row, log: &str, expected: [Resolution; 3]) {
    let got = Harness::ALL.map(|harness| grade_log(harness, row, log).resolution);
    assert_eq!(got, expected, "{log}");
}

fn one() -> Row {
    row(&["t::f"], &["t::p"])
}

#[test]
fn both_lists_pass() {
    all(&one(), &marked("PASSED t::f\nPASSED t::p"), [Full; 3]);
}

#[test]
fn a_missing_test_of_either_list_fails() {
    all(&one(), &marked("PASSED t::p"), [No; 3]);
    all(&one(), &marked("PASSED t::f"), [No; 3]);
}

#[test]
fn some_of_the_defining_tests_are_partial() {
    let two = row(&["t::f", "t::g"], &["t::p"]);
    let log = marked("PASSED t::f\nFAILED t::g - x\nPASSED t::p");
    all(&two, &log, [Partial; 3]);
    // Not where a guarding test fails as well.
    let log = marked("PASSED t::f\nFAILED t::g - x\nFAILED t::p");
    all(&two, &log, [No; 3]);
}

#[test]
fn a_skipped_defining_test_vanishes_in_version_4_alone() {
    all(&one(), &marked("SKIPPED t::f\nPASSED t::p"), [Full, No, No]);
}

#[test]
fn a_skipped_guarding_test_fails_in_plus_plus_alone() {
    all(
        &one(),
        &marked("PASSED t::f\nSKIPPED t::p"),
        [Full, Full, No],
    );
    let five = grade_log(SweBench5, &one(), &marked("PASSED t::f\nSKIPPED t::p"));
    let lists = five.report.unwrap().body.tests_status.unwrap();
    assert_eq!(lists.pass_to_pass.success, ["t::p"]);
    let four = grade_log(SweBench4, &one(), &marked("PASSED t::f\nSKIPPED t::p"));
    let lists = four.report.unwrap().body.tests_status.unwrap();
    assert_eq!(
        (lists.pass_to_pass.success, lists.pass_to_pass.failure),
        (TestIds::default(), TestIds::default())
    );
    assert!(four.why[0].contains("t::p"), "{:?}", four.why);
}

#[test]
fn xfail_passes_and_error_fails() {
    all(&one(), &marked("XFAIL t::f\nXFAIL t::p"), [Full; 3]);
    all(&one(), &marked("ERROR t::f\nPASSED t::p"), [No; 3]);
    all(&one(), &marked("PASSED t::f\nERROR t::p"), [No; 3]);
}

#[test]
fn xpass_is_no_word_of_theirs() {
    all(&one(), &marked("XPASS t::f\nPASSED t::p"), [No; 3]);
}

#[test]
fn without_defining_tests_everything_is_resolved() {
    all(&row(&[], &["t::p"]), &marked("PASSED t::p"), [Full; 3]);
    // Version 5 wants a sign that something ran.
    all(&row(&[], &[]), &marked("nothing"), [Full, No, Full]);
    all(&row(&[], &[]), &marked("3 passing"), [Full; 3]);
}

#[test]
fn unlisted_failures_are_ignored() {
    let log = marked("PASSED t::f\nPASSED t::p\nFAILED t::other - x");
    all(&one(), &log, [Full; 3]);
}

#[test]
fn a_status_outside_the_five_is_in_neither_list() {
    all(&one(), &marked("SKIPPEDx t::f\nPASSED t::p"), [Full; 3]);
    all(
        &one(),
        &marked("FAILED t::f\nPASSED_ t::f\nPASSED t::p"),
        [Full; 3],
    );
    let grade = grade_log(SweBench5, &one(), &marked("SKIPPEDx t::f\nPASSED t::p"));
    assert!(grade.why[0].contains("SKIPPEDx"), "{:?}", grade.why);
}

#[test]
fn the_last_status_of_a_name_wins() {
    all(
        &one(),
        &marked("FAILED t::f\nPASSED t::f\nPASSED t::p"),
        [Full; 3],
    );
    all(
        &one(),
        &marked("PASSED t::f\nFAILED t::f\nPASSED t::p"),
        [No; 3],
    );
}

#[test]
fn some_words_anywhere_end_the_grading() {
    for bad in [
        ">>>>> Patch Apply Failed",
        ">>>>> Reset Failed",
        ">>>>> Tests Errored",
        ">>>>> Tests Timed Out",
    ] {
        let passing = marked("PASSED t::f\nPASSED t::p");
        all(&one(), &format!("{passing}a test says {bad}\n"), [No; 3]);
    }
    let fine = marked("PASSED t::f\nPASSED t::p\n>>>>> Some Tests Failed");
    all(&one(), &fine, [Full; 3]);
}

#[test]
fn both_markers_must_stand_somewhere() {
    all(&one(), "PASSED t::f\nPASSED t::p\n", [No; 3]);
    all(
        &one(),
        &format!("{START}PASSED t::f\nPASSED t::p\n"),
        [No; 3],
    );
    all(&one(), &format!("PASSED t::f\nPASSED t::p\n{END}"), [No; 3]);
    // An end marker before the begin marker is enough, and the part then has no end.
    all(
        &one(),
        &format!("{END}{START}PASSED t::f\nPASSED t::p\n"),
        [Full; 3],
    );
}

#[test]
fn the_marked_part_ends_at_the_first_marker_of_either_kind() {
    let early = format!("{START}PASSED t::f\nPASSED t::p\n{END}FAILED t::f - later\n{END}");
    all(&one(), &early, [Full; 3]);
    let again = format!("{START}PASSED t::f\n{START}PASSED t::p\n{END}");
    all(&one(), &again, [No; 3]);
}

#[test]
fn a_part_without_tests_is_read_again_with_all_around_it() {
    let outside = format!("PASSED t::f\nPASSED t::p\n{START}nothing\n{END}");
    all(&one(), &outside, [Full, Full, No]);
    // Not where the part holds a test.
    let outside = format!("PASSED t::f\nPASSED t::p\n{START}PASSED t::x\n{END}");
    all(&one(), &outside, [No; 3]);
}

#[test]
fn the_first_exit_code_contradicts_a_log_without_failures() {
    let passing = "PASSED t::f\nPASSED t::p";
    let with = |tail: &str| format!("{}>>>>> Test Exit Code: {tail}\n", marked(passing));
    all(&one(), &with("0"), [Full; 3]);
    all(&one(), &with("-0"), [Full; 3]);
    all(&one(), &with("1"), [Full, No, Full]);
    all(&one(), &with("-9"), [Full, No, Full]);
    // A decoy that fails, whatever it is, lifts it.
    let decoy = format!(
        "{}>>>>> Test Exit Code: 1\n",
        marked(&format!("{passing}\nFAILED t::x"))
    );
    all(&one(), &decoy, [Full; 3]);
    let decoy = format!(
        "{}>>>>> Test Exit Code: 1\n",
        marked(&format!("{passing}\nERROR t::x"))
    );
    all(&one(), &decoy, [Full; 3]);
    // The first that stands in the log counts.
    let forged = marked(&format!(">>>>> Test Exit Code: 0\n{passing}"));
    all(
        &one(),
        &format!("{forged}>>>>> Test Exit Code: 1\n"),
        [Full; 3],
    );
    // The number may stand on the next line, as the pattern has it.
    all(&one(), &with("\n\n2"), [Full, No, Full]);
    // Nobody asks where there is no test at all.
    let silent = format!("{}>>>>> Test Exit Code: 1\n", marked("4 passing"));
    all(&row(&[], &[]), &silent, [Full; 3]);
}

#[test]
fn a_number_too_long_for_python_raises() {
    let log = marked("PASSED t::f\nPASSED t::p");
    let log = format!("{log}>>>>> Test Exit Code: {}\n", "1".repeat(4301));
    let grade = grade_log(SweBench5, &one(), &log);
    assert_eq!((grade.report, grade.outcome), (None, CompatOutcome::Error));
}

#[test]
fn cut_off_ids_match_by_their_beginning_in_version_5() {
    let cut = row(&["t::f[log(a"], &[]);
    all(&cut, &marked("PASSED t::f[log(a,b)]"), [No, Full, No]);
    all(
        &cut,
        &marked("PASSED t::f[log(a,b)]\nXFAIL t::f[log(a,c)]"),
        [No, Full, No],
    );
    // They must agree on passing or not.
    all(
        &cut,
        &marked("PASSED t::f[log(a,b)]\nFAILED t::f[log(a,c)]"),
        [No; 3],
    );
    all(
        &cut,
        &marked("PASSED t::f[log(a,b)]\nSKIPPED t::f[log(a,c)]"),
        [No; 3],
    );
    // An id that is whole is never matched so.
    all(
        &row(&["t::f[a]"], &[]),
        &marked("PASSED t::f[a][b]"),
        [No; 3],
    );
    all(&row(&["t::f"], &[]), &marked("PASSED t::f[b]"), [No; 3]);
}

#[test]
fn of_several_matches_the_first_in_the_log_speaks() {
    let cut = row(&["t::f"], &["t::p[a"]);
    let skipped_first = marked("PASSED t::f\nSKIPPED t::p[a,z]\nFAILED t::p[a,b]");
    all(&cut, &skipped_first, [No, Full, No]);
    let failed_first = marked("PASSED t::f\nFAILED t::p[a,z]\nSKIPPED t::p[a,b]");
    all(&cut, &failed_first, [No; 3]);
}

#[test]
fn an_order_that_is_not_known_is_said_to_be_unknown() {
    let lists = (TestIds::from(["t::f"]), TestIds::from(["t::p[a"]));
    let read = |_: &str| {
        let status = [
            ("t::f", "PASSED"),
            ("t::p[a,b]", "FAILED"),
            ("t::p[a,z]", "SKIPPED"),
        ];
        let own = |(name, status): (&str, &str)| (name.to_owned(), status.to_owned());
        CompatRead::Statuses(status.map(own).into_iter().collect())
    };
    let grade = grade_compat(SweBench5, &input(&lists, &read));
    assert_eq!(grade.resolution, No);
    assert!(
        grade.why[0].contains("the first was not known"),
        "{:?}",
        grade.why
    );
}

fn input<'a>(
    lists: &'a (TestIds, TestIds),
    read: &'a dyn Fn(&str) -> CompatRead,
) -> CompatInput<'a> {
    CompatInput {
        row: CompatRow {
            instance_id: "o__r-1",
            repo: "o/r",
            fail_to_pass: &lists.0,
            pass_to_pass: &lists.1,
            eval_type: EvalType::PassAndFail,
        },
        patch: Some("diff"),
        log: Some(b">>>>> Start Test Output >>>>> End Test Output"),
        instance_log: None,
        stage: CompatStage::Tested,
        read,
    }
}

#[test]
fn fail_only_asks_the_row_in_version_5_and_the_repository_elsewhere() {
    let mut by_row = one();
    by_row.eval_type = EvalType::FailOnly;
    let ran = marked("3 passing\nFAILED t::x");
    all(&by_row, &ran, [No, Full, No]);
    let mut by_repo = one();
    by_repo.repo = "markedjs/marked".to_owned();
    all(&by_repo, &ran, [Full, No, Full]);
    by_repo.eval_type = EvalType::FailOnly;
    all(&by_repo, &ran, [Full; 3]);
    // Only FAILED fails; SKIPPED and ERROR do not.
    all(&by_repo, &marked("ERROR t::f\nSKIPPED t::p"), [Full; 3]);
    all(&by_repo, &marked("FAILED t::f\nSKIPPED t::p"), [No; 3]);
    // A suite that never ran resolves only where nobody asks for a sign of it.
    all(&by_repo, &marked("cannot start"), [Full, No, Full]);
}

#[test]
fn signs_that_a_suite_ran() {
    let mut row = one();
    row.eval_type = EvalType::FailOnly;
    let five = |line: &str| grade_log(SweBench5, &row, &marked(line)).resolution;
    for line in [
        "Executed 3 of 3 SUCCESS",
        "TOTAL: 4 SUCCESS",
        "  12 passing (3s)",
        "Tests:       5 passed, 5 total",
        "Test Suites: 1 skipped, 2 total",
        "# tests 7",
        "12 specs, 0 failures",
        "1 spec, 0 failure",
        "line 'case': ok",
    ] {
        assert_eq!(five(line), Full, "{line}");
    }
    for line in [
        "Executed 0 of 0",
        "TOTAL: 0 SUCCESS",
        "0 passing",
        "Tests: none",
        "say # tests 7",
        "0 specs, 0 failures",
        "line 'case': okay",
    ] {
        assert_eq!(five(line), No, "{line}");
    }
}

#[test]
fn line_ends_of_windows_and_of_progress_bars_are_line_ends() {
    let log = marked("PASSED t::f\r\nprogress\rPASSED t::p\r");
    all(&one(), &log, [Full; 3]);
}

#[test]
fn bytes_that_are_no_text_raise() {
    let mut log = marked("PASSED t::f\nPASSED t::p").into_bytes();
    log.push(0xff);
    for harness in Harness::ALL {
        let patch = Some("diff");
        let grade = grade_with(harness, &one(), patch, Some(&log), CompatStage::Tested);
        assert_eq!((grade.report, grade.outcome), (None, CompatOutcome::Error));
        assert!(
            grade.why[0].contains("UnicodeDecodeError"),
            "{:?}",
            grade.why
        );
    }
}

#[test]
fn a_parser_that_raises_leaves_no_report() {
    let lists = (TestIds::from(["t::f"]), TestIds::default());
    let read = |_: &str| CompatRead::Raised("KeyError: 'x'".to_owned());
    for harness in Harness::ALL {
        let grade = grade_compat(harness, &input(&lists, &read));
        assert_eq!((grade.report, grade.outcome), (None, CompatOutcome::Error));
        assert!(grade.why[0].contains("KeyError"), "{:?}", grade.why);
    }
}

#[test]
fn the_parser_gets_the_part_and_then_the_whole() {
    let seen = std::cell::RefCell::new(Vec::new());
    let lists = (TestIds::from(["t::f"]), TestIds::default());
    let read = |text: &str| {
        seen.borrow_mut().push(text.to_owned());
        CompatRead::Statuses(BTreeMap::new())
    };
    for (harness, times) in [(SweBench4, 2), (SweBench5, 2), (SweBenchPp, 1)] {
        seen.borrow_mut().clear();
        let log = "a>>>>> Start Test Output\nb\n>>>>> End Test Output\nc";
        let mut input = input(&lists, &read);
        input.log = Some(log.as_bytes());
        grade_compat(harness, &input);
        let seen = seen.borrow();
        assert_eq!(seen.len(), times);
        assert_eq!(seen[0], "\nb\n");
        assert!(seen[1..].iter().all(|text| text == log));
    }
}

/// The table of logs that fool version 5, from forged lines to honest logs judged wrongly.
#[test]
fn logs_that_fool_version_5() {
    let code = |lines: &str, code: &str| format!("{}>>>>> Test Exit Code: {code}\n", marked(lines));
    let five = |log: &str| grade_log(SweBench5, &one(), log).resolution;
    let both = "PASSED t::f\nPASSED t::p";
    assert_eq!(five(&code(both, "1")), No);
    assert_eq!(five(&code(&format!("{both}\nFAILED t::decoy"), "1")), Full);
    assert_eq!(
        five(&code(&format!("FAILED t::f\n{both}\nFAILED t::decoy"), "1")),
        Full
    );
    assert_eq!(five(&code(both, "0")), Full);
    assert_eq!(
        five(&code(&format!(">>>>> Test Exit Code: 0\n{both}"), "1")),
        Full
    );
    let early = format!("{both}\nFAILED t::decoy\n>>>>> End Test Output\nFAILED t::f");
    assert_eq!(five(&code(&early, "1")), Full);
    assert_eq!(
        five(&code(
            "FAILED t::f\nPASSED_ t::f\nPASSED t::p\nERROR t::x",
            "1"
        )),
        Full
    );
    assert_eq!(five(&code(both, "5")), No);
    assert_eq!(
        five(&code(&format!("{both}\n>>>>> Tests Timed Out"), "0")),
        No
    );
}
