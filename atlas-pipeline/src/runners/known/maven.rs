//! Maven's Surefire.

use super::Known;
use crate::runners::Edit;
use crate::runners::narrow::{Narrowing, Spelling, class};
use crate::runners::order::{Other, Pin};
use crate::runners::scope::Scoping;

pub(super) const KNOWN: Known = Known {
    narrowings: &[Narrowing {
        parsers: &["maven"],
        place: |test| class(test.name),
        spelling: Spelling::Commas,
        edits: &[Edit::Append(
            "MAVEN_CHECKS_OFF",
            "-Dtest={} -DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false",
        )],
    }],
    singles: &[],
    orders: &[Other {
        parsers: &["maven"],
        what: "classes in reverse, methods at random with seed 4711 where JUnit 5 runs them",
        edits: &[
            Edit::Append("MAVEN_OPTS", "-Dsurefire.runOrder=reversealphabetical"),
            Edit::Append(
                "MAVEN_CHECKS_OFF",
                "-Djunit.jupiter.testmethod.order.default=org.junit.jupiter.api.MethodOrderer$Random \
                     -Djunit.jupiter.execution.order.random.seed=4711",
            ),
        ],
    }],
    pins: &[Pin {
        parsers: &["maven"],
        edits: &[Edit::Append(
            "MAVEN_CHECKS_OFF",
            "-Djunit.jupiter.execution.order.random.seed=1",
        )],
    }],
    scopings: &[Scoping {
        parsers: &["maven"],
        ends: &[".java"],
        place: |path| Some(path.rsplit('/').next()?.strip_suffix(".java")?.to_owned()),
        spelling: Spelling::Commas,
        edits: &[Edit::Append(
            "MAVEN_CHECKS_OFF",
            "-Dtest={} -DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false",
        )],
        ..Scoping::FILES
    }],
};
