//! Test ids of rows that others made.

use atlas_core::{ParsedLog, TestIds};
use atlas_oracle::{Grade, Resolution, grade};
use std::collections::BTreeSet;

/// Grades a run against lists whose ids may be cut short.
///
/// Readers of the field cut a parametrised id at its first space, so rows hold `t.py::test_a[x` for
/// `t.py::test_a[x y]` and `t.py::test_a[x z]`. Such an id passes only if every test that it may stand
/// for does.
pub(super) fn grade_listed(
    log: &ParsedLog,
    fail_to_pass: &TestIds,
    pass_to_pass: &TestIds,
) -> Grade {
    let tests = log.tests();
    let stands_for_passing = |id: &str| {
        is_cut(id) && !tests.contains_key(id) && {
            let mut meant = tests
                .iter()
                .filter(|(name, _)| name.starts_with(id))
                .peekable();
            meant.peek().is_some() && meant.all(|(_, status)| status.is_passing())
        }
    };
    let cut: BTreeSet<&str> = fail_to_pass
        .iter()
        .chain(pass_to_pass)
        .filter(|id| stands_for_passing(id))
        .collect();
    if cut.is_empty() {
        return grade(log, fail_to_pass, pass_to_pass);
    }
    // The rest decides by the rules of `grade`; what is cut passes, and is put back in its place.
    let rest = |ids: &TestIds| ids.filter(|id| !cut.contains(id));
    let passing = |ids: &TestIds| ids.iter().any(|id| cut.contains(id));
    let (defining, guarding) = (rest(fail_to_pass), rest(pass_to_pass));
    let mut graded = grade(log, &defining, &guarding);
    for (list, ids) in [
        (&mut graded.fail_to_pass, fail_to_pass),
        (&mut graded.pass_to_pass, pass_to_pass),
    ] {
        if passing(ids) {
            let failed: BTreeSet<&str> = list.failure.iter().collect();
            list.success = ids.filter(|id| !failed.contains(id));
        }
    }
    let (defining, guarding) = (&graded.fail_to_pass, &graded.pass_to_pass);
    graded.resolution = if !guarding.failure.is_empty() || defining.success.is_empty() {
        Resolution::No
    } else if defining.failure.is_empty() {
        Resolution::Full
    } else {
        Resolution::Partial
    };
    graded
}

/// Whether an id opens a bracket that it does not close.
fn is_cut(id: &str) -> bool {
    id.matches('[').count() > id.matches(']').count()
}

#[cfg(test)]
mod tests {
    use super::{Resolution, TestIds, grade_listed};
    use atlas_core::LogParserExt;

    #[test]
    fn a_cut_id_passes_if_all_that_it_stands_for_do() {
        let log = |second: &str| {
            let text = format!(
                "============ test session starts ============\ncollected 3 items\n\
                 t.py::test_a[x y] PASSED\nt.py::test_a[x z] {second}\nt.py::test_b PASSED\n\
                 ============ 3 passed in 0.1s ============\n"
            );
            let parser = atlas_parsers::Parsers::builtin().get("pytest").unwrap();
            parser.parse(text.as_bytes())
        };
        let (cut, plain) = (
            TestIds::from(["t.py::test_a[x"]),
            TestIds::from(["t.py::test_b"]),
        );
        let good = grade_listed(&log("PASSED"), &cut, &plain);
        assert_eq!(good.resolution, Resolution::Full);
        assert_eq!(good.fail_to_pass.success, cut);
        let bad = grade_listed(&log("FAILED"), &cut, &plain);
        assert_eq!(bad.resolution, Resolution::No);
        assert_eq!(bad.fail_to_pass.failure, cut);
        let whole = TestIds::from(["t.py::test_"]);
        assert_eq!(
            grade_listed(&log("PASSED"), &whole, &TestIds::default()).resolution,
            Resolution::No,
            "a prefix without an open bracket is no id"
        );
    }
}
