//! Perturbations by name, made for the runner of a plan.

use crate::runners::{ORDER, other_order};
use atlas_core::{EnvironmentPlan, Error, ErrorKind, JobFile, Network};
use atlas_oracle::Perturbation;
use std::collections::BTreeMap;

/// Every perturbation, with what it changes.
pub const PERTURBATIONS: &[(&str, &str)] = &[
    (
        ORDER,
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
        ORDER => return Ok(other_order(plan).map(|(made, _)| made)),
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
}
