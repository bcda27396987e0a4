//! Which JDK a build runs on.

use crate::facts::Facts;
use crate::tree::Tree;
use crate::versions::{self, Version};
use atlas_core::{EnvironmentPlan, Evidence};
use regex::Regex;
use std::sync::LazyLock;

/// Releases with years of support: what images, plugins and CI agree on.
const LONG_TERM: &[u32] = &[8, 11, 17, 21, 25];

/// What a build asks of its JDK.
#[derive(Debug, Default)]
pub(super) struct Needs {
    /// The JDK that some toolchain setting names.
    pub(super) pins: Vec<(u32, Evidence)>,
    /// Lower bounds: the levels that modules compile for, an enforcer's rule.
    pub(super) least: Vec<(u32, Evidence)>,
    /// The levels that a compiler must still know.
    pub(super) levels: Vec<(u32, Evidence)>,
    /// Upper bounds: what the build tool runs on, an enforcer's rule.
    pub(super) most: Vec<(u32, Evidence)>,
}

impl Needs {
    fn least(&self) -> u32 {
        self.least
            .iter()
            .map(|(number, _)| *number)
            .max()
            .unwrap_or(0)
    }

    /// The newest JDK that the build tool runs on and that compiles every level. Where that is
    /// below what another module needs, the levels give way: they are the older part of the code.
    fn most(&self) -> u32 {
        let tool = self.most.iter().map(|(number, _)| *number).min();
        let tool = tool.unwrap_or(u32::MAX);
        let levels = self
            .levels
            .iter()
            .map(|(level, _)| newest_for(*level))
            .min();
        let both = tool.min(levels.unwrap_or(u32::MAX));
        if both < self.least() { tool } else { both }
    }

    fn fits(&self, jdk: u32) -> bool {
        jdk >= self.least() && jdk <= self.most()
    }
}

/// The newest JDK whose compiler still knows a level.
fn newest_for(level: u32) -> u32 {
    match level {
        0..=5 => 8,
        6 => 11,
        7 => 19,
        _ => u32::MAX,
    }
}

/// Reads `17`, `17.0.2`, `1.8`, `8u292`, `openjdk11`, `temurin-17.0.2+8`, `17.0.2-tem`, `adopt@1.8`;
/// nothing of early access builds (`24-ea`).
pub(super) fn number(text: &str) -> Option<u32> {
    static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?:^|[A-Za-z@_-])(?:1\.)?(\d{1,2})(?:[^\d].*)?$").expect("a literal pattern")
    });
    let text = text.trim().trim_matches(['"', '\'']);
    if text.contains("-ea") || text.contains("${") {
        return None;
    }
    let found = NUMBER.captures(text)?;
    found[1]
        .parse()
        .ok()
        .filter(|number| (1..99).contains(number))
}

/// Chooses, writes the evidence, and names the version in the plan.
///
/// Pin files win, then toolchain settings, then CI, then the calendar. One that the code's levels or
/// the build tool exclude is overruled.
pub(super) fn choose(facts: &Facts<'_>, needs: &Needs, plan: &mut EnvironmentPlan) -> u32 {
    let mut candidates = pin_files(facts.tree);
    candidates.extend(needs.pins.iter().cloned());
    candidates.extend(in_ci(facts, needs));
    let chosen = versions::choose(candidates, |jdk| needs.fits(*jdk), PartialEq::eq, plan);
    for (_, evidence) in [&needs.least, &needs.levels, &needs.most]
        .into_iter()
        .flatten()
    {
        plan.prove("docker_specs", evidence.clone());
    }
    let jdk = chosen.map_or_else(
        || {
            let (jdk, text) = by_calendar(facts, needs);
            plan.prove("docker_specs", Evidence::of("calendar", text));
            jdk
        },
        |jdk| with_image(jdk, needs),
    );
    plan.docker_specs
        .insert("java_version".to_owned(), jdk.to_string().into());
    let level = needs.least().max(
        needs
            .levels
            .iter()
            .map(|(level, _)| *level)
            .max()
            .unwrap_or(0),
    );
    if level > 0 {
        plan.docker_specs
            .insert("java_level".to_owned(), level.to_string().into());
    }
    jdk
}

/// The newest long-term release at the date that fits; else the nearest thing to it.
fn by_calendar(facts: &Facts<'_>, needs: &Needs) -> (u32, String) {
    let day = versions::day(facts.date);
    let released: Vec<u32> = versions::released(versions::JAVA, facts.date)
        .map(|version| version.major)
        .collect();
    let long = released
        .iter()
        .copied()
        .filter(|jdk| LONG_TERM.contains(jdk) && needs.fits(*jdk))
        .max();
    if let Some(jdk) = long {
        let text =
            format!("nothing names a JDK that fits: the newest long-term one at {day} that does");
        return (jdk, text);
    }
    let jdk = with_image(needs.least().max(8), needs);
    (
        jdk,
        "nothing names a JDK that fits: the oldest one that does".to_owned(),
    )
}

/// Images exist of the long-term releases and of all since 17.
fn with_image(jdk: u32, needs: &Needs) -> u32 {
    if jdk >= 17 || LONG_TERM.contains(&jdk) {
        return jdk;
    }
    let above = LONG_TERM.iter().copied().find(|known| *known > jdk);
    let below = LONG_TERM.iter().copied().rfind(|known| needs.fits(*known));
    above
        .filter(|known| needs.fits(*known))
        .or(below)
        .or(above)
        .unwrap_or(jdk)
}

/// Files whose whole purpose is to name versions.
fn pin_files(tree: &Tree) -> Vec<(u32, Evidence)> {
    const FILES: &[(&str, &str)] = &[
        (".java-version", r"^\s*(\S+)\s*$"),
        (".sdkmanrc", r"^\s*java\s*=\s*(\S+)"),
        (".tool-versions", r"^\s*java\s+(\S+)"),
        ("mise.toml", r#"^\s*java\s*=\s*"([^"]+)""#),
        (".mise.toml", r#"^\s*java\s*=\s*"([^"]+)""#),
        (
            "system.properties",
            r"^\s*java\.runtime\.version\s*=\s*(\S+)",
        ),
    ];
    FILES
        .iter()
        .filter_map(|(file, pattern)| {
            let pattern = Regex::new(pattern).expect("a literal pattern");
            let (line, text) = tree.line(file, &pattern)?;
            let jdk = number(pattern.captures(&text)?.get(1)?.as_str())?;
            Some((jdk, Evidence::at(*file, line, text)))
        })
        .collect()
}

/// The newest long-term JDK of CI's tests that fits, or the newest one.
fn in_ci(facts: &Facts<'_>, needs: &Needs) -> Option<(u32, Evidence)> {
    let keys = [
        ("actions/setup-java", "java-version"),
        ("travis", "jdk"),
        ("toolchain", "java"),
        ("image", "java"),
    ];
    let is_out = |jdk| versions::is_released(versions::JAVA, Version::new(jdk, 0), facts.date);
    versions::in_ci(facts, "JDK", &keys, number)
        .filter(|(jdk, _)| is_out(*jdk))
        .max_by_key(|(jdk, _)| (needs.fits(*jdk), LONG_TERM.contains(jdk), *jdk))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_releases() {
        for (text, expected) in [
            ("17", Some(17)),
            ("17.0.2", Some(17)),
            ("1.8", Some(8)),
            ("1.8.0_292", Some(8)),
            ("8u292", Some(8)),
            ("openjdk11", Some(11)),
            ("oraclejdk8", Some(8)),
            ("temurin-21.0.1+12.0.LTS", Some(21)),
            ("17.0.2-tem", Some(17)),
            ("adopt@1.8", Some(8)),
            ("21-ea", None),
            ("${{ x }}", None),
            ("lts", None),
            ("", None),
        ] {
            assert_eq!(number(text), expected, "{text}");
        }
    }

    #[test]
    fn bounds_of_levels_and_tools() {
        let why = || Evidence::of("pom.xml", "x");
        let old = Needs {
            levels: vec![(6, why())],
            ..Needs::default()
        };
        assert!(old.fits(8) && old.fits(11) && !old.fits(17));
        let gradle = Needs {
            least: vec![(11, why())],
            most: vec![(15, why())],
            ..Needs::default()
        };
        assert_eq!(with_image(14, &gradle), 11);
        // A multi-release module beside code of level 5.
        let both = Needs {
            least: vec![(9, why())],
            levels: vec![(5, why())],
            ..Needs::default()
        };
        assert!(both.fits(11) && !both.fits(8));
    }
}
