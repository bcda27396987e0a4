//! Perturbations by name, made for the runner of a plan.

use atlas_core::{EnvironmentPlan, Error, ErrorKind, JobFile, Network};
use atlas_oracle::Perturbation;
use std::collections::BTreeMap;

/// Every perturbation, with what it changes.
pub const PERTURBATIONS: &[(&str, &str)] = &[
    (
        "order",
        "the tests run in another order, where the runner can be told so",
    ),
    (
        "parallelism",
        "one processor, and one thread for runners that take a number",
    ),
    (
        "clock",
        "the wall clock is 400 days and 11 hours ahead, for programs that ask libc for it",
    ),
    ("timezone", "14 hours east of Greenwich"),
    ("locale", "the plain C locale with no UTF-8"),
    ("load", "two busy loops per processor beside the tests"),
    ("network", "the run has a network"),
];

const CLOCK_SOURCE: &str = include_str!("clock.c");
const PYTEST_ORDER: &str = include_str!("atlas_order.py");

/// Two loops a processor, until the container ends.
const LOAD: &str = r#"atlas_loops=$(( $(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2) * 2 ))
while [ "$atlas_loops" -gt 0 ]; do
  ( while :; do :; done ) </dev/null >/dev/null 2>&1 &
  atlas_loops=$((atlas_loops - 1))
done"#;

/// Seconds by which the clock is ahead: 400 days and 11 hours.
const SHIFT: u64 = 400 * 86_400 + 11 * 3_600;

/// The perturbation of this name for this plan; `None` where the plan's runner knows no such thing.
///
/// # Errors
/// [`ErrorKind::InvalidInput`] for a name that is none of [`PERTURBATIONS`].
pub(super) fn perturbation(
    name: &str,
    plan: &EnvironmentPlan,
) -> Result<Option<Perturbation>, Error> {
    let mut made = Perturbation {
        id: name.to_owned(),
        ..Perturbation::default()
    };
    match name {
        "order" => return Ok(order(made, &plan.log_parser_name, &plan.env)),
        "parallelism" => {
            made.centi_cpus = Some(100);
            made.env = variables(&[
                ("RUST_TEST_THREADS", "1"),
                ("GOMAXPROCS", "1"),
                ("CTEST_PARALLEL_LEVEL", "1"),
                ("OMP_NUM_THREADS", "1"),
            ]);
        }
        "clock" => {
            made.files.push(JobFile {
                name: "clock.c".to_owned(),
                bytes: CLOCK_SOURCE.into(),
            });
            made.prelude = clock();
        }
        // East of Greenwich has a minus sign in POSIX; no zone database is needed.
        "timezone" => made.env = variables(&[("TZ", "ATL-14")]),
        "locale" => made.env = variables(&[("LC_ALL", "C"), ("LANG", "C"), ("LANGUAGE", "C")]),
        "load" => {
            LOAD.clone_into(&mut made.prelude);
        }
        "network" => made.network = Network::Full,
        other => {
            let known: Vec<&str> = PERTURBATIONS.iter().map(|(name, _)| *name).collect();
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "choose perturbations:",
                format!("`{other}`: one of {} expected", known.join(", ")),
            ));
        }
    }
    Ok(Some(made))
}

/// Another order, by what each runner reads from its environment.
fn order(
    mut made: Perturbation,
    parser: &str,
    plan: &BTreeMap<String, String>,
) -> Option<Perturbation> {
    // Variables that the plan sets itself are added to, not replaced.
    let and = |name: &str, more: &str| -> (String, String) {
        let value = match plan.get(name).filter(|old| !old.trim().is_empty()) {
            Some(old) => format!("{old} {more}"),
            None => more.to_owned(),
        };
        (name.to_owned(), value)
    };
    for runner in parser.split('+') {
        match runner {
            "pytest" => {
                made.files.push(JobFile {
                    name: "atlas_order.py".to_owned(),
                    bytes: PYTEST_ORDER.into(),
                });
                made.prelude.push_str(
                    "export PYTHONPATH=\"$ATLAS_IN${PYTHONPATH:+:$PYTHONPATH}\" \
                     PYTEST_ADDOPTS=\"${PYTEST_ADDOPTS:+$PYTEST_ADDOPTS }-p atlas_order\"\n",
                );
            }
            "gotest" => made.env.extend([and("GOFLAGS", "-shuffle=20240229")]),
            "gtest" => made.env.extend([
                ("GTEST_SHUFFLE".to_owned(), "1".to_owned()),
                ("GTEST_RANDOM_SEED".to_owned(), "4711".to_owned()),
            ]),
            "rspec" => made.env.extend([and("SPEC_OPTS", "--order rand:4711")]),
            "minitest" | "testunit" => made.env.extend([
                ("SEED".to_owned(), "4711".to_owned()),
                and("TESTOPTS", "--seed=4711"),
            ]),
            "maven" => made
                .env
                .extend([and("MAVEN_OPTS", "-Dsurefire.runOrder=reversealphabetical")]),
            _ => {}
        }
    }
    (!made.env.is_empty() || !made.prelude.is_empty()).then_some(made)
}

/// libfaketime where the environment has it, else a small library of ours where it has a C compiler;
/// else the run says that its clock could not be moved, and ends.
fn clock() -> String {
    format!(
        r#"export ATLAS_CLOCK_SHIFT={SHIFT}
atlas_clock=$(find /usr/lib -name 'libfaketime.so.1' 2>/dev/null | head -n 1)
if [ -n "$atlas_clock" ]; then
  export FAKETIME="+${{ATLAS_CLOCK_SHIFT}}s" FAKETIME_DONT_FAKE_MONOTONIC=1
else
  atlas_clock="$ATLAS_OUT/atlas-clock.so"
  cc -shared -fPIC -O1 -o "$atlas_clock" "$ATLAS_IN/clock.c" -ldl || {{ echo 'the clock cannot be moved: no libfaketime and no C compiler in the environment'; exit 124; }}
fi
export LD_PRELOAD="$atlas_clock${{LD_PRELOAD:+:$LD_PRELOAD}}"
"#
    )
}

fn variables(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{PERTURBATIONS, perturbation};
    use atlas_core::EnvironmentPlan;

    #[test]
    fn each_listed_name_is_made_and_no_other() {
        let plan = EnvironmentPlan {
            log_parser_name: "pytest".to_owned(),
            ..EnvironmentPlan::default()
        };
        for (name, _) in PERTURBATIONS {
            let made = perturbation(name, &plan).unwrap();
            assert_eq!(made.map(|p| p.id).as_deref(), Some(*name));
        }
        let why = perturbation("weather", &plan).unwrap_err();
        assert!(why.to_string().contains("`weather`"), "{why}");
    }

    #[test]
    fn an_order_adds_to_what_the_plan_sets() {
        let plan = EnvironmentPlan {
            log_parser_name: "gotest".to_owned(),
            env: [("GOFLAGS".to_owned(), "-mod=mod".to_owned())].into(),
            ..EnvironmentPlan::default()
        };
        let made = perturbation("order", &plan).unwrap().unwrap();
        assert_eq!(made.env["GOFLAGS"], "-mod=mod -shuffle=20240229");
    }

    #[test]
    fn a_runner_without_an_order_has_no_such_perturbation() {
        let plan = EnvironmentPlan {
            log_parser_name: "cargo".to_owned(),
            ..EnvironmentPlan::default()
        };
        assert_eq!(perturbation("order", &plan).unwrap(), None);
    }
}
