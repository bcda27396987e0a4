//! Which GCC, and on which Debian.

use crate::facts::Facts;
use crate::versions::{self, Version};
use atlas_core::{EnvironmentPlan, Evidence};
use regex::Regex;
use std::sync::LazyLock;

/// What build systems say of the tools they need.
#[derive(Debug, Default)]
pub(super) struct Needs {
    /// The year of the C++ standard, two digits: 11 to 26.
    pub(super) cxx: Option<(u32, Evidence)>,
    /// The lowest version of `CMake`.
    pub(super) cmake: Option<(Version, Evidence)>,
    /// The lowest version of Meson.
    pub(super) meson: Option<(Version, Evidence)>,
}

/// What Debian 12 brings, which is what images of GCC 12 and later are made of.
const CMAKE: Version = Version::new(3, 25);
const MESON: Version = Version::new(1, 0);
/// What Debian 11 brings.
const OLD_CMAKE: Version = Version::new(3, 18);
const OLD_MESON: Version = Version::new(0, 56);

/// Debian 11 moves to the archive when its time is over.
const OLD_DEBIAN: &str = "apt-get update > /dev/null 2>&1 || sed -i 's,deb.debian.org/debian,archive.debian.org/debian,' /etc/apt/sources.list";

/// Versions that CI names, then the compiler of CI's system, then the release calendar: the newest
/// that had been out for a year, as distributions have it. A standard or tool that asks for more
/// overrules.
pub(super) fn choose(facts: &Facts<'_>, needs: &Needs, plan: &mut EnvironmentPlan) {
    let mut candidates = Vec::new();
    candidates.extend(named_in_ci(facts));
    candidates.extend(system_of_ci(facts));
    if candidates.is_empty() {
        let date = versions::day(facts.date);
        let year_ago = date
            .get(..4)
            .and_then(|year| year.parse::<u32>().ok())
            .map_or_else(
                || date.to_owned(),
                |year| format!("{}{}", year - 1, &date[4..]),
            );
        let version = versions::released(versions::GCC, &year_ago)
            .next_back()
            .unwrap_or(Version::new(9, 0));
        let text = format!("the newest GCC that had been out for a year at {date}");
        candidates.push((version.major, Evidence::of("release calendar", text)));
    }
    let mut floors = Vec::new();
    if let Some((year, why)) = &needs.cxx {
        let floor = match year {
            0..=17 => 9,
            18..=20 => 11,
            _ => 13,
        };
        floors.push((floor, why.clone()));
    }
    for (tool, old) in [(&needs.cmake, OLD_CMAKE), (&needs.meson, OLD_MESON)] {
        if let Some((version, why)) = tool
            && *version > old
        {
            floors.push((12, why.clone()));
        }
    }
    let chosen = candidates[0].0;
    if let Some((floor, why)) = floors.into_iter().max_by_key(|(floor, _)| *floor)
        && floor > chosen
    {
        candidates.insert(0, (floor, why));
    }
    let version = versions::first(candidates, PartialEq::eq, plan);
    let debian = if version < 12 { "bullseye" } else { "bookworm" };
    if version < 12 {
        plan.pre_install.push(OLD_DEBIAN.to_owned());
    }
    plan.base_image = format!("gcc:{version}-{debian}");
    plan.docker_specs
        .insert("gcc_version".to_owned(), version.to_string().into());
    for (tool, needed, has) in [
        ("cmake", &needs.cmake, CMAKE),
        ("meson", &needs.meson, MESON),
    ] {
        if let Some((wanted, why)) = needed
            && *wanted > has
        {
            // Debian has none as new; the tool's own packages have.
            plan.pre_install.push(format!(
                "apt-get update && apt-get install -y --no-install-recommends python3-pip && rm -rf /var/lib/apt/lists/* \
                 && python3 -m pip install --break-system-packages {tool}=={wanted}.*"
            ));
            let specs = format!("{tool}_version");
            let named = wanted.to_string();
            plan.docker_specs.insert(specs, named.into());
            plan.prove("docker_specs", why.clone());
        }
    }
}

/// The newest GCC that a job with tests names.
fn named_in_ci(facts: &Facts<'_>) -> Option<(u32, Evidence)> {
    static NAMED: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)\b(?:gcc|g\+\+|gcc-version|gcc_v|gcc_version)[-:=@ _]{0,2}v?(\d{1,2})(?:\.\d+)*\b")
            .expect("a literal pattern")
    });
    let jobs = facts.ci.jobs.iter().filter(|job| job.tests());
    let texts = jobs.flat_map(|job| {
        let of_matrix = job.matrix().map(|(key, value)| {
            // `gcc: [11, 12]` names it by its key.
            let text = match key.to_ascii_lowercase().as_str() {
                "gcc" | "gcc-version" | "gcc_version" | "gcc_v" | "gcc-v" => {
                    format!("gcc-{}", value.text)
                }
                _ => value.text.clone(),
            };
            (text, value)
        });
        let run = job.commands.iter().chain(&job.systems);
        of_matrix.chain(run.map(|place| (place.text.clone(), place)))
    });
    texts
        .flat_map(|(text, at)| {
            let versions: Vec<u32> = NAMED
                .captures_iter(&text)
                .filter_map(|found| found[1].parse().ok())
                .collect();
            versions.into_iter().map(move |version| (version, at))
        })
        .filter(|(version, _)| {
            *version >= 9
                && versions::GCC
                    .iter()
                    .any(|(known, _)| known.major == *version)
                && versions::is_released(versions::GCC, Version::new(*version, 0), facts.date)
        })
        .max_by_key(|(version, _)| *version)
        .map(|(version, at)| {
            let text = format!("CI runs GCC {version}: {}", at.text);
            (version, Evidence::at(at.file.clone(), at.line, text))
        })
}

/// The compiler of the newest Ubuntu that jobs with tests run on.
fn system_of_ci(facts: &Facts<'_>) -> Option<(u32, Evidence)> {
    let jobs = facts.ci.jobs.iter().filter(|job| job.tests());
    jobs.flat_map(|job| &job.systems)
        .filter_map(|at| {
            let ubuntu = at.text.strip_prefix("ubuntu")?;
            let date = versions::day(facts.date);
            // From when on `ubuntu-latest` was which.
            let version = match ubuntu.trim_start_matches(['-', ':']) {
                "latest" | "" if date < "2022-12-01" => 9,
                "latest" | "" if date < "2025-01-01" => 11,
                "16.04" | "18.04" | "20.04" => 9,
                "22.04" => 11,
                "latest" | "" | "24.04" => 13,
                _ => return None,
            };
            Some((version, at))
        })
        .max_by_key(|(version, _)| *version)
        .map(|(version, at)| {
            let text = format!("CI runs on {}, which has GCC {version}", at.text);
            (version, Evidence::at(at.file.clone(), at.line, text))
        })
}
