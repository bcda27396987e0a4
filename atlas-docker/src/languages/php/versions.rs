//! Which PHP, and which `PHPUnit` goes with it.

use super::composer::Composer;
use crate::facts::Facts;
use crate::versions::{self, Version};
use atlas_core::{EnvironmentPlan, Evidence};
use regex::Regex;
use std::sync::LazyLock;

/// Release dates of the first version of each line.
const PHP: &[(Version, &str)] = &[
    (Version::new(5, 3), "2009-06-30"),
    (Version::new(5, 4), "2012-03-01"),
    (Version::new(5, 5), "2013-06-20"),
    (Version::new(5, 6), "2014-08-28"),
    (Version::new(7, 0), "2015-12-03"),
    (Version::new(7, 1), "2016-12-01"),
    (Version::new(7, 2), "2017-11-30"),
    (Version::new(7, 3), "2018-12-06"),
    (Version::new(7, 4), "2019-11-28"),
    (Version::new(8, 0), "2020-11-26"),
    (Version::new(8, 1), "2021-11-25"),
    (Version::new(8, 2), "2022-12-08"),
    (Version::new(8, 3), "2023-11-23"),
    (Version::new(8, 4), "2024-11-21"),
    (Version::new(8, 5), "2025-11-20"),
];

/// Majors of `PHPUnit`: the PHP that each needs, the newest that it was made for (a later one warns
/// or fails in the runner itself), and its release.
const PHPUNIT: &[(u32, Version, Version, &str)] = &[
    (4, Version::new(5, 3), Version::new(7, 1), "2014-03-07"),
    (5, Version::new(5, 6), Version::new(7, 1), "2015-10-02"),
    (6, Version::new(7, 0), Version::new(7, 2), "2017-02-03"),
    (7, Version::new(7, 1), Version::new(7, 3), "2018-02-02"),
    (8, Version::new(7, 2), Version::new(8, 3), "2019-02-01"),
    (9, Version::new(7, 3), Version::new(8, 4), "2020-02-07"),
    (10, Version::new(8, 1), Version::new(8, 4), "2023-02-03"),
    (11, Version::new(8, 2), Version::new(8, 5), "2024-02-02"),
    (12, Version::new(8, 3), Version::new(8, 5), "2025-02-07"),
    (13, Version::new(8, 4), Version::new(8, 6), "2026-02-06"),
];

static TOOL: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^\s*php\s+(\d\S*)").expect("a literal pattern"));
static PIN: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^\s*(\d+\.\d+)").expect("a literal pattern"));

/// The platform of composer's configuration, then `.php-version` and `.tool-versions`, then the
/// newest of CI that was out and that manifest and lockfile allow, then the newest that they allow.
/// Tests with the names of a `PHPUnit` before 6 bound it from above.
pub(super) fn choose(
    facts: &Facts<'_>,
    composer: &Composer,
    old_names: bool,
    plan: &mut EnvironmentPlan,
) -> Version {
    let tree = facts.tree;
    let mut candidates: Vec<(Version, Evidence)> = Vec::new();
    if let Some(text) = composer.platform("php")
        && let Some(version) = loose(&text)
    {
        candidates.push((
            version,
            composer.at(tree, "\"platform\"", &format!("platform php {text}")),
        ));
    }
    for (file, pattern) in [(".php-version", &*PIN), (".tool-versions", &TOOL)] {
        for path in composer.near(file) {
            if let Some((line, text)) = tree.line(&path, pattern)
                && let Some(version) = pattern.captures(&text).and_then(|found| loose(&found[1]))
            {
                candidates.push((version, Evidence::at(path, line, text)));
            }
        }
    }
    let ranges = composer.php_ranges();
    let fits = |version: Version| ranges.iter().all(|(_, range)| allows(range, version));
    let released: Vec<Version> = versions::released(PHP, facts.date).collect();
    let newest = released.last().copied().unwrap_or(Version::new(5, 3));
    let keys = [
        ("shivammathur/setup-php", "php-version"),
        ("travis", "php"),
        ("toolchain", "php"),
        ("image", "php"),
    ];
    let in_ci = versions::in_ci(facts, "PHP", &keys, |text| {
        match text.trim_matches(['"', '\'']) {
            "latest" | "8" if newest.major == 8 => Some(newest),
            text => loose(text),
        }
    });
    let usable = |version| versions::is_released(PHP, version, facts.date) && fits(version);
    let best = in_ci
        .filter(|(version, _)| usable(*version))
        .max_by_key(|(version, _)| *version);
    candidates.extend(best);
    // Of PHPUnit's majors that can be meant, the newest bounds PHP from above.
    let named = composer.constraint("phpunit/phpunit");
    let range = named.or_else(|| old_names.then(|| "<6".to_owned()));
    let bound = range.and_then(|range| {
        let newest = PHPUNIT
            .iter()
            .rev()
            .find(|(major, ..)| allows_major(&range, *major))?;
        Some((newest.2, range))
    });
    let best = released
        .iter()
        .rev()
        .find(|version| fits(**version) && bound.as_ref().is_none_or(|(last, _)| *version <= last));
    let version = best.copied().unwrap_or(newest);
    let day = versions::day(facts.date);
    let wanted = ranges
        .first()
        .map(|(package, range)| format!("{package} wants PHP {range}"));
    let with = bound.map(|(_, range)| format!("tests want PHPUnit {range}"));
    let reasons: Vec<String> = wanted.into_iter().chain(with).collect();
    if !reasons.is_empty() {
        let text = format!("{}: the newest at {day} is {version}", reasons.join(", "));
        candidates.push((version, composer.at(tree, "\"php\"", &text)));
    } else if candidates.is_empty() {
        let text = format!("nothing names a PHP: the newest at {day}");
        candidates.push((version, Evidence::of(composer.main.clone(), text)));
    }
    let version = versions::first(candidates, PartialEq::eq, plan);
    let named = version.to_string();
    plan.base_image = format!("php:{named}-cli-{}", debian(version));
    plan.docker_specs
        .insert("php_version".to_owned(), named.into());
    version
}

/// The major of `PHPUnit` that composer takes: that of the lockfile, else the newest that the
/// constraint and this PHP allow.
pub(super) fn phpunit_major(composer: &Composer, php: Version) -> Option<u32> {
    let locked = composer.locked_version("phpunit/phpunit");
    if let Some(version) = locked.as_deref().and_then(loose) {
        return Some(version.major);
    }
    let range = composer.constraint("phpunit/phpunit")?;
    PHPUNIT
        .iter()
        .rev()
        .find(|(major, least, ..)| *least <= php && allows_major(&range, *major))
        .map(|(major, ..)| *major)
}

/// The constraint for a `PHPUnit` that no manifest names: the newest major that was out and that
/// this PHP can run; before 6 where tests name its older classes.
pub(super) fn phpunit_at(date: &str, php: Version, old_names: bool) -> u32 {
    PHPUNIT
        .iter()
        .rev()
        .find(|(major, least, _, born)| {
            *least <= php && *born <= versions::day(date) && (!old_names || *major < 6)
        })
        .map_or(4, |(major, ..)| *major)
}

/// The newest Debian that this PHP's official images came with.
fn debian(version: Version) -> &'static str {
    match (version.major, version.minor) {
        (5, 0..=5) => "jessie",
        (5, _) | (7, 0) => "stretch",
        (7, 1..=2) => "buster",
        (7, _) | (8, 0) => "bullseye",
        _ => "bookworm",
    }
}

/// `8.1`, `v8.1.2`, `7.4snapshot`: the line.
fn loose(text: &str) -> Option<Version> {
    let text = text
        .trim()
        .trim_matches(['"', '\''])
        .trim_start_matches('v');
    let mut parts = text.split('.');
    let major = parts.next()?.parse().ok()?;
    let minor = parts.next()?;
    let digits = minor
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(minor.len());
    Some(Version::new(major, minor[..digits].parse().ok()?))
}

/// Whether composer's constraint allows some version of a major.
fn allows_major(constraint: &str, major: u32) -> bool {
    (0..10).any(|minor| allows(constraint, Version::new(major, minor)))
}

/// Whether a version satisfies a constraint of composer; a bound on a patch level is taken as one
/// on its line.
pub(super) fn allows(constraint: &str, version: Version) -> bool {
    constraint
        .split('|')
        .filter(|part| !part.trim().is_empty())
        .any(|alternative| {
            // `1.0 - 2.0` is a range.
            if let Some((low, high)) = alternative.split_once(" - ") {
                return clause(&format!(">={}", low.trim()), version)
                    && clause(&format!("<={}", high.trim()), version);
            }
            let mut text = alternative.replace(',', " ");
            for operator in [">=", "<=", "!=", "^", "~", ">", "<", "="] {
                while text.contains(&format!("{operator} ")) {
                    text = text.replace(&format!("{operator} "), operator);
                }
            }
            text.split_whitespace().all(|part| clause(part, version))
        })
}

fn clause(text: &str, version: Version) -> bool {
    let text = text.split('@').next().unwrap_or(text);
    let Some(at) = text.find(|c: char| c.is_ascii_digit()) else {
        return true;
    };
    let operator = text[..at].trim_end_matches('v');
    let mut numbers = Vec::new();
    let mut any = false;
    for part in text[at..].split('.') {
        let end = part
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(part.len());
        let Ok(number) = part[..end].parse::<u32>() else {
            any = true;
            break;
        };
        numbers.push(number);
    }
    let Some(major) = numbers.first().copied() else {
        return true;
    };
    let bound = Version::new(major, numbers.get(1).copied().unwrap_or(0));
    let patch = numbers.get(2).is_some_and(|patch| *patch > 0);
    match operator {
        ">=" => version >= bound,
        ">" => version > bound || (version == bound && patch),
        "<=" if numbers.len() == 1 => version.major <= major,
        "<=" => version <= bound,
        "<" => version < bound || (version == bound && patch),
        "!=" => version != bound || numbers.len() > 2,
        "~" if numbers.len() > 2 => version == bound,
        "^" | "~" => version.major == major && version >= bound,
        _ if numbers.len() == 1 && any => version.major == major,
        _ => version == bound,
    }
}

#[cfg(test)]
mod tests {
    use super::{allows, allows_major, loose, phpunit_at};
    use crate::versions::Version;

    #[test]
    fn constraints_of_composer() {
        for (constraint, allowed, refused) in [
            ("^5.3 || ^7.0 || ^8.0", (8, 3), (9, 0)),
            (">=7.1", (8, 1), (7, 0)),
            (">= 5.3, < 8", (7, 4), (8, 0)),
            ("~7.4.0", (7, 4), (8, 0)),
            ("~7.1", (7, 4), (8, 0)),
            ("8.1.*", (8, 1), (8, 2)),
            ("7.2 - 7.4", (7, 3), (8, 0)),
            (">=8.0.2", (8, 0), (7, 4)),
            ("^7.2|^8.0", (8, 1), (7, 1)),
            ("~1.0@dev", (1, 4), (2, 0)),
            ("*", (5, 3), (0, 0)),
        ] {
            let has = |(major, minor)| allows(constraint, Version::new(major, minor));
            assert!(has(allowed), "{constraint}");
            assert!(!has(refused) || constraint == "*", "{constraint}");
        }
        assert!(allows_major("^4.8.35 || ^8.5.13", 8));
        assert!(!allows_major("^4.8.35 || ^8.5.13", 9));
    }

    #[test]
    fn a_runner_that_nothing_names_is_of_its_time() {
        assert_eq!(phpunit_at("2013-01-01", Version::new(5, 4), true), 4);
        assert_eq!(phpunit_at("2018-06-01", Version::new(7, 2), false), 7);
        assert_eq!(phpunit_at("2018-06-01", Version::new(7, 2), true), 5);
        assert_eq!(phpunit_at("2024-06-01", Version::new(8, 1), false), 10);
    }

    #[test]
    fn lines_of_versions() {
        assert_eq!(loose("7.4snapshot"), Some(Version::new(7, 4)));
        for other in ["nightly", "hhvm", "8", ""] {
            assert_eq!(loose(other), None, "{other}");
        }
    }
}
