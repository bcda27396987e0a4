//! Which Ruby.

use super::manifests::Manifests;
use crate::facts::Facts;
use crate::versions::{self, Version};
use atlas_core::{EnvironmentPlan, Evidence};
use regex::Regex;
use std::sync::LazyLock;

/// Release dates of the first version of each line.
const RUBY: &[(Version, &str)] = &[
    (Version::new(2, 0), "2013-02-24"),
    (Version::new(2, 1), "2013-12-25"),
    (Version::new(2, 2), "2014-12-25"),
    (Version::new(2, 3), "2015-12-25"),
    (Version::new(2, 4), "2016-12-25"),
    (Version::new(2, 5), "2017-12-25"),
    (Version::new(2, 6), "2018-12-25"),
    (Version::new(2, 7), "2019-12-25"),
    (Version::new(3, 0), "2020-12-25"),
    (Version::new(3, 1), "2021-12-25"),
    (Version::new(3, 2), "2022-12-25"),
    (Version::new(3, 3), "2023-12-25"),
    (Version::new(3, 4), "2024-12-25"),
    (Version::new(4, 0), "2025-12-25"),
];

/// Actions and Travis keys that are given a Ruby version.
const CI_KEYS: &[(&str, &str)] = &[
    ("ruby/setup-ruby", "ruby-version"),
    ("ruby/setup-ruby-pkgs", "ruby-version"),
    ("actions/setup-ruby", "ruby-version"),
    ("travis", "rvm"),
    ("travis", "ruby"),
    ("toolchain", "ruby"),
    ("image", "ruby"),
];

static LOCKED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^\s*ruby (\d+\.\d+\S*)").expect("a literal pattern"));
static TOOL: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^\s*ruby\s+(\d\S*)").expect("a literal pattern"));
static PIN: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^\s*(?:ruby-)?(\d+\.\d+\S*)").expect("a literal pattern"));
static GEMFILE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"^\s*ruby\s*\(?\s*((?:['"][^'"]*\d[^'"]*['"]\s*,?\s*)+)"#)
        .expect("a literal pattern")
});
static REQUIRED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\.required_ruby_version\s*=\s*(.*\d.*)").expect("a literal pattern")
});
static QUOTED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"['"]([^'"]*)['"]"#).expect("a literal pattern"));

/// Gemfile.lock, then `.ruby-version`, `.tool-versions` and an exact version in the Gemfile, then
/// the newest of CI that was out, then the newest that the manifests allow and that was out.
pub(super) fn choose(facts: &Facts<'_>, manifests: &Manifests, plan: &mut EnvironmentPlan) {
    let tree = facts.tree;
    let mut candidates: Vec<(Version, Evidence)> = Vec::new();
    let mut ranges: Vec<(String, Evidence)> = Vec::new();
    for (file, pattern) in [
        ("Gemfile.lock", &*LOCKED),
        ("gems.locked", &LOCKED),
        (".ruby-version", &PIN),
        (".tool-versions", &TOOL),
    ] {
        for path in manifests.near(file) {
            if let Some((line, text)) = tree.line(&path, pattern)
                && let Some(version) = pattern.captures(&text).and_then(|found| loose(&found[1]))
            {
                candidates.push((version, Evidence::at(path, line, text)));
            }
        }
    }
    for path in manifests.bundles(tree) {
        if let Some((line, text)) = tree.line(&path, &GEMFILE)
            && let Some(found) = GEMFILE.captures(&text)
        {
            let range = quoted(&found[1]);
            let at = Evidence::at(path, line, text.clone());
            match loose(&range) {
                Some(version) => candidates.push((version, at)),
                None => ranges.push((range, at)),
            }
        }
    }
    for path in &manifests.gemspecs {
        if let Some((line, text)) = tree.line(path, &REQUIRED)
            && let Some(found) = REQUIRED.captures(&text)
        {
            ranges.push((quoted(&found[1]), Evidence::at(path.clone(), line, text)));
        }
    }
    let fits = |version: Version| ranges.iter().all(|(range, _)| allows(range, version));
    let released: Vec<Version> = versions::released(RUBY, facts.date).collect();
    let newest = released.last().copied().unwrap_or(Version::new(2, 0));
    let in_ci = versions::in_ci(facts, "Ruby", CI_KEYS, |text| {
        match text.trim_matches(['"', '\'']) {
            "ruby" => Some(newest),
            text => loose(text.strip_prefix("ruby-").unwrap_or(text)),
        }
    });
    let usable = |version| versions::is_released(RUBY, version, facts.date) && fits(version);
    let best = in_ci
        .filter(|(version, _)| usable(*version))
        .max_by_key(|(version, _)| *version);
    candidates.extend(best);
    let best = released.iter().rev().find(|version| fits(**version));
    if let Some((range, at)) = ranges.first() {
        let version = best.copied().unwrap_or(newest);
        let day = versions::day(facts.date);
        let text = format!(
            "{}: the newest at {day} that {range} allows is {version}",
            at.text
        );
        candidates.push((version, Evidence { text, ..at.clone() }));
    } else if candidates.is_empty() {
        let text = format!(
            "nothing names a Ruby: the newest at {}",
            versions::day(facts.date)
        );
        candidates.push((newest, Evidence::of(manifests.main.clone(), text)));
    }
    let version = versions::first(candidates, PartialEq::eq, plan);
    let named = version.to_string();
    plan.base_image = format!("ruby:{named}-slim-{}", debian(version));
    plan.docker_specs
        .insert("ruby_version".to_owned(), named.into());
}

/// The newest Debian that this Ruby's official images came with.
fn debian(version: Version) -> &'static str {
    match (version.major, version.minor) {
        (2, 0..=2) => "jessie",
        (2, 3) => "stretch",
        (2, 4 | 5) => "buster",
        (2, _) => "bullseye",
        _ => "bookworm",
    }
}

/// `3.1.2p20`, `2.7.0.preview1`, `3.2`: the line it belongs to.
fn loose(text: &str) -> Option<Version> {
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    if text.get(end..).is_some_and(|rest| rest.starts_with('-')) && !text.contains("-p") {
        return None;
    }
    let mut parts = text[..end].split('.');
    Some(Version::new(
        parts.next()?.parse().ok()?,
        parts.next()?.parse().ok()?,
    ))
}

/// The texts in quotes, joined by commas.
fn quoted(text: &str) -> String {
    let found: Vec<&str> = QUOTED
        .captures_iter(text)
        .filter_map(|found| found.get(1).map(|text| text.as_str()))
        .filter(|text| text.contains(|c: char| c.is_ascii_digit()))
        .collect();
    found.join(", ")
}

/// Whether a version satisfies a gem's requirements, `>= 2.4, < 4`; a bound on a patch level is
/// taken as one on its line.
pub(super) fn allows(requirements: &str, version: Version) -> bool {
    requirements.split(',').all(|clause| {
        let clause = clause.trim();
        let Some(at) = clause.find(|c: char| c.is_ascii_digit()) else {
            return true;
        };
        let (operator, bound) = clause.split_at(at);
        let numbers: Vec<u32> = bound
            .split('.')
            .map_while(|part| part.parse().ok())
            .collect();
        let Some(major) = numbers.first() else {
            return true;
        };
        let bound = Version::new(*major, numbers.get(1).copied().unwrap_or(0));
        let patch = numbers.get(2).is_some_and(|patch| *patch > 0);
        match operator.trim() {
            ">=" => version >= bound,
            ">" => version > bound || (version == bound && patch),
            "<=" => version <= bound,
            "<" => version < bound || (version == bound && patch),
            "!=" => version != bound || numbers.len() > 2,
            // The last number that is named may rise, those before may not.
            "~>" if numbers.len() > 2 => version == bound,
            "~>" => version >= bound && version.major == bound.major,
            _ if numbers.len() == 1 => version.major == bound.major,
            _ => version == bound,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::{allows, loose};
    use crate::versions::Version;

    #[test]
    fn requirements_of_rubygems() {
        for (requirements, allowed, refused) in [
            (">= 2.4.0", (2, 4), (2, 3)),
            (">= 2.7, < 3.3", (3, 2), (3, 3)),
            ("~> 2.5", (2, 7), (3, 0)),
            ("~> 3.1.0", (3, 1), (3, 2)),
            ("< 3.2.1", (3, 2), (3, 3)),
            ("3.1.4", (3, 1), (3, 0)),
            ("!= 3.0", (3, 1), (3, 0)),
        ] {
            assert!(
                allows(requirements, Version::new(allowed.0, allowed.1)),
                "{requirements}"
            );
            assert!(
                !allows(requirements, Version::new(refused.0, refused.1)),
                "{requirements}"
            );
        }
    }

    #[test]
    fn other_engines_are_no_version() {
        for text in ["jruby-9.4", "truffleruby", "head", "3", "3.4-dev"] {
            assert_eq!(loose(text), None, "{text}");
        }
        assert_eq!(loose("3.1.2p20"), Some(Version::new(3, 1)));
        assert_eq!(loose("2.1.10"), Some(Version::new(2, 1)));
    }
}
