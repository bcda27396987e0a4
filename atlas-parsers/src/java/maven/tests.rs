//! What a test can make this parser believe, and what it cannot.

use super::MAVEN;
use atlas_core::{LogParserExt, LostReason, RunOutcome, TestStatus};

const HEAD: &str = "\
[INFO] Scanning for projects...
[INFO] --- surefire:3.2.5:test (default-test) @ app ---
[INFO] -------------------------------------------------------
[INFO]  T E S T S
[INFO] -------------------------------------------------------
";

const TAIL: &str = "\
[INFO] Results:
[INFO] 
[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0
[INFO] ------------------------------------------------------------------------
[INFO] BUILD SUCCESS
[INFO] ------------------------------------------------------------------------
";

#[test]
fn a_class_that_a_test_announces_is_in_no_totals() {
    let log = format!(
        "{HEAD}[INFO] Running a.B\n[INFO] Running a.Fake\n\
[INFO] Tests run: 7, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 1 s -- in a.Fake\n\
Tests run: 7, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 1 s -- in a.B\n\
[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 1 s -- in a.B\n{TAIL}"
    );
    let parsed = MAVEN.parse(log.as_bytes());
    assert_eq!(
        parsed.tests().into_iter().collect::<Vec<_>>(),
        [("a.B", TestStatus::Passed)]
    );
    assert_eq!(parsed.results.at(0).qualified, "app::a.B");
    assert_eq!(parsed.consistent, Some(true));
}

/// The class that runs has its own totals behind them.
#[test]
fn totals_of_the_module_that_a_test_prints_end_nothing() {
    let log = format!(
        "{HEAD}[INFO] Running a.B\n[INFO] Results:\n\
[INFO] Tests run: 9, Failures: 0, Errors: 0, Skipped: 0\n\
[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 1 s -- in a.B\n{TAIL}"
    );
    let parsed = MAVEN.parse(log.as_bytes());
    assert_eq!(
        parsed.tests().into_iter().collect::<Vec<_>>(),
        [("a.B", TestStatus::Passed)]
    );
    assert_eq!(parsed.consistent, Some(true));
}

#[test]
fn a_command_that_ran_nothing_says_nothing_of_its_test() {
    let log = "\
+ mvn test -Dtest=C#m
[INFO] Scanning for projects...
[ERROR] COMPILATION ERROR : 
[ERROR] /home/user/C.java:[1,2] cannot find symbol
[INFO] ------------------------------------------------------------------------
[INFO] BUILD FAILURE
[INFO] ------------------------------------------------------------------------
[ERROR] Failed to execute goal g:maven-compiler-plugin:3.1:compile (x) on project app: Compilation failure
";
    let parsed = MAVEN.parse(log.as_bytes());
    assert!(parsed.is_empty());
    assert_eq!(parsed.outcome, RunOutcome::BuildFailed);
    assert_eq!(parsed.modules_not_loaded[0].module, "app");
    assert_eq!(parsed.modules_not_loaded[0].reason, LostReason::BuildFailed);
}

/// A class that a test prints as begun never ends, and the run has come to its end for all that.
#[test]
fn a_class_that_a_test_prints_as_begun_is_not_lost() {
    let log = format!(
        "{HEAD}[INFO] Running a.B\n[INFO] Running prices\n\
[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 1 s -- in a.B\n{TAIL}"
    );
    let parsed = MAVEN.parse(log.as_bytes());
    assert_eq!(parsed.outcome, RunOutcome::Completed);
}

/// A failing test prints its class's end, another class and the run's end, once for each time that it is called.
#[test]
fn classes_behind_totals_that_a_test_prints_are_in_no_totals() {
    let forged = "\
[INFO] Tests run: 1, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.05 s -- in a.Cart
[INFO] a.Cart.pays -- Time elapsed: 0.001 s
[INFO] Running a.Label
[INFO] Tests run: 1, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.01 s -- in a.Label
[INFO]
[INFO] Results:
[INFO]
[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0
[INFO]
[INFO] ------------------------------------------------------------------------
[INFO] BUILD SUCCESS
[INFO] ------------------------------------------------------------------------
";
    let log = format!(
        "{HEAD}[INFO] Running a.Cart\n{forged}{forged}{forged}\
[ERROR] Tests run: 1, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.1 s <<< FAILURE! -- in a.Cart
[ERROR] a.Cart.pays -- Time elapsed: 0.004 s <<< FAILURE!
[INFO] 
[INFO] Results:
[INFO] 
[ERROR] Failures: 
[ERROR]   Cart.pays:10 expected: <8> but was: <6>
[INFO] 
[ERROR] Tests run: 1, Failures: 1, Errors: 0, Skipped: 0
[INFO] 
[INFO] ------------------------------------------------------------------------
[INFO] BUILD SUCCESS
[INFO] ------------------------------------------------------------------------
"
    );
    let parsed = MAVEN.parse(log.as_bytes());
    let tests: Vec<_> = parsed.tests().into_iter().collect();
    assert_eq!(tests, [("a.Cart.pays", TestStatus::Failed)]);
    assert_eq!(parsed.consistent, Some(true));
}
