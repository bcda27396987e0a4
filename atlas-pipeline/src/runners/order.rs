//! Another order of the tests, by runner.

use super::known::RUNNERS;
use super::{Edit, edit};
use atlas_core::{EnvironmentPlan, JobFile};
use atlas_oracle::Perturbation;

/// The perturbation's name.
pub(crate) const ORDER: &str = "order";

/// A runner's other order, by variables that it reads or words of its command. One that can runs its tests in
/// reverse: that turns every pair of tests around, which no seed is sure to do.
pub(super) struct Other {
    /// Ids of the parsers of its logs.
    pub(super) parsers: &'static [&'static str],
    /// The order in words.
    pub(super) what: &'static str,
    /// What makes it. Where the runner is too old for it, the run says so and nothing else.
    pub(super) edits: &'static [Edit],
}

/// What makes a runner's order the same in every run, where the plan's command does not say so: a seed, or
/// no chance at all. Variables that a runner does not know do nothing.
pub(super) struct Pin {
    pub(super) parsers: &'static [&'static str],
    pub(super) edits: &'static [Edit],
}

/// The plan with the order of its tests pinned: the same in all states, and in every run of the row.
pub(crate) fn pinned(plan: &EnvironmentPlan) -> EnvironmentPlan {
    let mut plan = plan.clone();
    for pin in RUNNERS.iter().flat_map(|runner| runner.pins) {
        let mut runners = plan.log_parser_name.split('+');
        if runners.any(|runner| pin.parsers.contains(&runner))
            && let Some(edited) = edit(&plan, pin.edits, "")
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
    for other in RUNNERS.iter().flat_map(|runner| runner.orders) {
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
