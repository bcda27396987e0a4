//! Another order of the tests, by runner.

use super::{BUN, Edit, JEST, VITEST, edit};
use atlas_core::{EnvironmentPlan, JobFile};
use atlas_oracle::Perturbation;

/// The perturbation's name.
pub(crate) const ORDER: &str = "order";

/// One runner's other order.
struct Other {
    /// Ids of the parsers of its logs.
    parsers: &'static [&'static str],
    /// The order in words.
    what: &'static str,
    /// What makes it. Where the runner is too old for it, the run says so and nothing else.
    edits: &'static [Edit],
}

/// What each runner reads from variables, or takes as words of its command. A runner that can, runs its
/// tests in reverse: that turns every pair of tests around, which no seed is sure to do.
const OTHERS: &[Other] = &[
    Other {
        parsers: &["pytest"],
        what: "reverse",
        edits: &[
            Edit::File("atlas_order.py", include_str!("order_pytest.py")),
            Edit::Before(
                "export PYTHONPATH=\"$ATLAS_IN${PYTHONPATH:+:$PYTHONPATH}\" \
                 PYTEST_ADDOPTS=\"${PYTEST_ADDOPTS:+$PYTEST_ADDOPTS }-p atlas_order\"",
            ),
        ],
    },
    Other {
        parsers: &["unittest", "django"],
        what: "methods in reverse",
        edits: &[
            Edit::File("sitecustomize.py", include_str!("order_unittest.py")),
            Edit::Before("export PYTHONPATH=\"$ATLAS_IN${PYTHONPATH:+:$PYTHONPATH}\""),
        ],
    },
    Other {
        parsers: &["gotest", "gotestsum"],
        what: "shuffled, seed 20240229",
        // Go before 1.17 refuses a flag in GOFLAGS that it does not know.
        edits: &[
            Edit::Before(
                "if go help testflag 2>/dev/null | grep -q -e -shuffle; then \
                 export GOFLAGS=\"${GOFLAGS:+$GOFLAGS }-shuffle=20240229\"; fi",
            ),
            Edit::Set("GINKGO_SEED", "20240229"),
        ],
    },
    Other {
        parsers: &["gtest"],
        what: "shuffled, seed 4711",
        edits: &[
            Edit::Set("GTEST_SHUFFLE", "1"),
            Edit::Set("GTEST_RANDOM_SEED", "4711"),
        ],
    },
    Other {
        parsers: &["rspec"],
        what: "random, seed 4711",
        edits: &[Edit::Append("SPEC_OPTS", "--order rand:4711")],
    },
    Other {
        parsers: &["minitest"],
        what: "random, seed 4711",
        edits: &[
            Edit::Set("SEED", "4711"),
            Edit::Append("TESTOPTS", "--seed=4711"),
            Edit::Change("--seed=0", "--seed=4711"),
        ],
    },
    Other {
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
    },
    Other {
        parsers: &["jest"],
        what: "random within files, seed 4711",
        // Jest refuses an option that it does not know.
        edits: &[Edit::Insert(
            JEST,
            "$(jest --help 2>/dev/null | grep -q -e --randomize && echo --randomize --seed=4711) ",
        )],
    },
    Other {
        parsers: &["vitest"],
        what: "shuffled, seed 4711",
        // It refuses a seed that is given twice.
        edits: &[
            Edit::Change(r"--sequence\.seed=\S+ ", ""),
            Edit::Insert(VITEST, "--sequence.shuffle --sequence.seed=4711 "),
        ],
    },
    Other {
        parsers: &["bun"],
        what: "random, seed 4711",
        // Bun refuses an option that it does not know.
        edits: &[Edit::Insert(
            BUN,
            " $(bun test --help 2>/dev/null | grep -q -e --randomize && echo --randomize --seed=4711)",
        )],
    },
    Other {
        parsers: &["jasmine"],
        what: "random, seed 4711",
        edits: &[Edit::Replace("--random=false", "--random=true --seed=4711")],
    },
    Other {
        parsers: &["phpunit"],
        what: "reverse",
        edits: &[Edit::Insert(
            r#"bin/(simple-)?phpunit\b"?"#,
            " --order-by=depends,reverse",
        )],
    },
    Other {
        parsers: &["cargo"],
        what: "one after the other instead of side by side",
        edits: &[Edit::Set("RUST_TEST_THREADS", "1")],
    },
];

/// What makes a runner's order the same in every run, where the plan's command does not say so: a seed, or
/// no chance at all. Variables that a runner does not know do nothing.
const PINS: &[(&[&str], &[Edit])] = &[
    (
        &["minitest", "testunit"],
        &[
            Edit::Default("SEED", "0"),
            Edit::Default("PARALLEL_WORKERS", "1"),
        ],
    ),
    (&["rspec"], &[Edit::Default("SPEC_OPTS", "--order defined")]),
    (
        &["gtest", "ctest"],
        &[Edit::Default("GTEST_RANDOM_SEED", "1")],
    ),
    (
        &["maven"],
        &[Edit::Append(
            "MAVEN_CHECKS_OFF",
            "-Djunit.jupiter.execution.order.random.seed=1",
        )],
    ),
    (&["vitest"], &[Edit::Insert(VITEST, "--sequence.seed=1 ")]),
];

/// The plan with the order of its tests pinned: the same in all states, and in every run of the row.
pub(crate) fn pinned(plan: &EnvironmentPlan) -> EnvironmentPlan {
    let mut plan = plan.clone();
    for (parsers, edits) in PINS {
        let mut runners = plan.log_parser_name.split('+');
        if runners.any(|runner| parsers.contains(&runner))
            && let Some(edited) = edit(&plan, edits, "")
        {
            plan.env.extend(edited.env);
            plan.test_cmd = edited.test_cmd;
        }
    }
    plan
}

/// The plan's tests in another order, and that order in words; `None` where no runner of the plan knows
/// one.
pub(crate) fn other_order(plan: &EnvironmentPlan) -> Option<(Perturbation, &'static str)> {
    let runners: Vec<&str> = plan.log_parser_name.split('+').collect();
    let mut made = Perturbation {
        id: ORDER.to_owned(),
        ..Perturbation::default()
    };
    let mut what = None;
    let mut changed = plan.clone();
    for other in OTHERS {
        if !runners.iter().any(|runner| other.parsers.contains(runner)) {
            continue;
        }
        let Some(edited) = edit(&changed, other.edits, "") else {
            continue;
        };
        changed.env.extend(edited.env.clone());
        changed.test_cmd.clone_from(&edited.test_cmd);
        made.env.extend(edited.env);
        made.prelude.push_str(&edited.prelude);
        made.files
            .extend(edited.files.into_iter().map(|(name, text)| JobFile {
                name: name.to_owned(),
                bytes: text.into(),
            }));
        what = what.or(Some(other.what));
    }
    if changed.test_cmd != plan.test_cmd {
        made.test_cmd = Some(changed.test_cmd);
    }
    what.map(|what| (made, what))
}

#[cfg(test)]
mod tests {
    use super::{other_order, pinned};
    use atlas_core::EnvironmentPlan;

    fn plan(parser: &str, test_cmd: &str) -> EnvironmentPlan {
        EnvironmentPlan {
            log_parser_name: parser.to_owned(),
            test_cmd: test_cmd.to_owned(),
            ..EnvironmentPlan::default()
        }
    }

    #[test]
    fn an_order_adds_to_what_the_plan_sets() {
        let mut plan = plan("rspec", "rspec --order defined");
        let set = ("SPEC_OPTS".to_owned(), "--tag ~slow".to_owned());
        plan.env.extend([set]);
        let (made, _) = other_order(&plan).unwrap();
        assert_eq!(made.env["SPEC_OPTS"], "--tag ~slow --order rand:4711");
        assert_eq!(pinned(&plan).env, plan.env, "what a plan sets stays");
    }

    #[test]
    fn a_seed_in_the_command_becomes_another() {
        let plan = plan("minitest", "ruby load.rb 'test/*.rb' -- -v --seed=0");
        let (made, _) = other_order(&plan).unwrap();
        assert!(made.test_cmd.unwrap().ends_with("-v --seed=4711"));
    }

    #[test]
    fn a_pin_is_set_once() {
        let plan = plan("vitest", "( cd web && vitest run --reporter=verbose )");
        let once = pinned(&plan);
        assert!(
            once.test_cmd
                .contains("vitest run --sequence.seed=1 --reporter")
        );
        assert_eq!(pinned(&once), once);
        let (other, _) = other_order(&once).unwrap();
        assert_eq!(other.test_cmd.unwrap().matches("sequence.seed").count(), 1);
    }

    #[test]
    fn a_runner_without_an_order_has_none() {
        assert!(other_order(&plan("automake", "make check")).is_none());
    }
}
