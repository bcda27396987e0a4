//! When toolchains were released, so that a plan takes none that is younger than its commit.

use crate::facts::Facts;
use atlas_core::{EnvironmentPlan, Evidence};
use std::cmp::Ordering;
use std::fmt;

/// A toolchain version as far as images are named by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version {
    pub(crate) major: u32,
    pub(crate) minor: u32,
}

/// As images are named: `3.12`.
impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl Version {
    pub(crate) const fn new(major: u32, minor: u32) -> Self {
        Self { major, minor }
    }

    /// Reads `3`, `3.11`, `3.11.4`, `v18.2`, `1.22.x`; nothing with a suffix or another name in
    /// front (`3.13-dev`, `pypy-3.10`, `3.14t`).
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim().trim_matches(['"', '\'']);
        let text = text.strip_prefix(['v', '^', '~']).unwrap_or(text);
        let mut parts = text.split('.');
        let major = parts.next()?.parse().ok()?;
        let minor = match parts.next() {
            None | Some("x" | "*") => 0,
            Some(part) => part.parse().ok()?,
        };
        let rest_is_plain =
            parts.all(|part| part == "x" || part == "*" || part.parse::<u32>().is_ok());
        rest_is_plain.then_some(Self { major, minor })
    }
}

/// Release dates of the first version of each line: `CPython` minors.
pub(crate) const PYTHON: &[(Version, &str)] = &[
    (Version::new(2, 7), "2010-07-03"),
    (Version::new(3, 5), "2015-09-13"),
    (Version::new(3, 6), "2016-12-23"),
    (Version::new(3, 7), "2018-06-27"),
    (Version::new(3, 8), "2019-10-14"),
    (Version::new(3, 9), "2020-10-05"),
    (Version::new(3, 10), "2021-10-04"),
    (Version::new(3, 11), "2022-10-24"),
    (Version::new(3, 12), "2023-10-02"),
    (Version::new(3, 13), "2024-10-07"),
    (Version::new(3, 14), "2025-10-07"),
];

/// Minor releases of Bun.
pub(crate) const BUN: &[(Version, &str)] = &[
    (Version::new(1, 0), "2023-09-08"),
    (Version::new(1, 1), "2024-04-01"),
    (Version::new(1, 2), "2025-01-22"),
    (Version::new(1, 3), "2025-10-10"),
    (Version::new(1, 4), "2026-08-20"),
];

/// Node majors.
pub(crate) const NODE: &[(Version, &str)] = &[
    (Version::new(6, 0), "2016-04-26"),
    (Version::new(7, 0), "2016-10-25"),
    (Version::new(8, 0), "2017-05-30"),
    (Version::new(9, 0), "2017-10-31"),
    (Version::new(10, 0), "2018-04-24"),
    (Version::new(11, 0), "2018-10-23"),
    (Version::new(12, 0), "2019-04-23"),
    (Version::new(13, 0), "2019-10-22"),
    (Version::new(14, 0), "2020-04-21"),
    (Version::new(15, 0), "2020-10-20"),
    (Version::new(16, 0), "2021-04-20"),
    (Version::new(17, 0), "2021-10-19"),
    (Version::new(18, 0), "2022-04-19"),
    (Version::new(19, 0), "2022-10-18"),
    (Version::new(20, 0), "2023-04-18"),
    (Version::new(21, 0), "2023-10-17"),
    (Version::new(22, 0), "2024-04-24"),
    (Version::new(23, 0), "2024-10-16"),
    (Version::new(24, 0), "2025-05-06"),
    (Version::new(25, 0), "2025-10-15"),
    (Version::new(26, 0), "2026-05-05"),
];

/// Go minors.
pub(crate) const GO: &[(Version, &str)] = &[
    (Version::new(1, 11), "2018-08-24"),
    (Version::new(1, 12), "2019-02-25"),
    (Version::new(1, 13), "2019-09-03"),
    (Version::new(1, 14), "2020-02-25"),
    (Version::new(1, 15), "2020-08-11"),
    (Version::new(1, 16), "2021-02-16"),
    (Version::new(1, 17), "2021-08-16"),
    (Version::new(1, 18), "2022-03-15"),
    (Version::new(1, 19), "2022-08-02"),
    (Version::new(1, 20), "2023-02-01"),
    (Version::new(1, 21), "2023-08-08"),
    (Version::new(1, 22), "2024-02-06"),
    (Version::new(1, 23), "2024-08-13"),
    (Version::new(1, 24), "2025-02-11"),
    (Version::new(1, 25), "2025-08-12"),
];

/// GCC majors. Older ones need a Debian that is no longer served.
pub(crate) const GCC: &[(Version, &str)] = &[
    (Version::new(9, 0), "2019-05-03"),
    (Version::new(10, 0), "2020-05-07"),
    (Version::new(11, 0), "2021-04-27"),
    (Version::new(12, 0), "2022-05-06"),
    (Version::new(13, 0), "2023-04-26"),
    (Version::new(14, 0), "2024-05-07"),
    (Version::new(15, 0), "2025-04-25"),
];

/// JDKs.
pub(crate) const JAVA: &[(Version, &str)] = &[
    (Version::new(7, 0), "2011-07-28"),
    (Version::new(8, 0), "2014-03-18"),
    (Version::new(9, 0), "2017-09-21"),
    (Version::new(10, 0), "2018-03-20"),
    (Version::new(11, 0), "2018-09-25"),
    (Version::new(12, 0), "2019-03-19"),
    (Version::new(13, 0), "2019-09-17"),
    (Version::new(14, 0), "2020-03-17"),
    (Version::new(15, 0), "2020-09-15"),
    (Version::new(16, 0), "2021-03-16"),
    (Version::new(17, 0), "2021-09-14"),
    (Version::new(18, 0), "2022-03-22"),
    (Version::new(19, 0), "2022-09-20"),
    (Version::new(20, 0), "2023-03-21"),
    (Version::new(21, 0), "2023-09-19"),
    (Version::new(22, 0), "2024-03-19"),
    (Version::new(23, 0), "2024-09-17"),
    (Version::new(24, 0), "2025-03-18"),
    (Version::new(25, 0), "2025-09-16"),
];

/// .NET SDKs.
pub(crate) const DOTNET: &[(Version, &str)] = &[
    (Version::new(2, 1), "2018-05-30"),
    (Version::new(2, 2), "2018-12-04"),
    (Version::new(3, 0), "2019-09-23"),
    (Version::new(3, 1), "2019-12-03"),
    (Version::new(5, 0), "2020-11-10"),
    (Version::new(6, 0), "2021-11-08"),
    (Version::new(7, 0), "2022-11-08"),
    (Version::new(8, 0), "2023-11-14"),
    (Version::new(9, 0), "2024-11-12"),
    (Version::new(10, 0), "2025-11-11"),
];

/// The date part of an ISO 8601 time; a text that is none counts as "no limit".
pub(crate) fn day(iso: &str) -> &str {
    match iso.get(..10) {
        Some(day) if day.as_bytes()[4] == b'-' => day,
        _ => "9999-12-31",
    }
}

/// The lines released on or before a date, oldest first.
pub(crate) fn released(
    table: &'static [(Version, &'static str)],
    date: &str,
) -> impl DoubleEndedIterator<Item = Version> {
    let date = day(date).to_owned();
    table
        .iter()
        .filter(move |(_, born)| *born <= date.as_str())
        .map(|(version, _)| *version)
}

/// Whether a line was released by a date. A line that the table does not have is older than it, or
/// younger: then it can only be out after the table's last one.
pub(crate) fn is_released(
    table: &'static [(Version, &'static str)],
    version: Version,
    date: &str,
) -> bool {
    match table.iter().find(|(known, _)| *known >= version) {
        Some((known, born)) if *known == version => *born <= day(date),
        Some(_) => true,
        None => table.last().is_none_or(|(_, last)| *last < day(date)),
    }
}

/// What CI's tests run, as `read` understands each value that these keys have, with the line that says so.
pub(crate) fn in_ci<V>(
    facts: &Facts<'_>,
    name: &str,
    keys: &[(&str, &str)],
    read: impl Fn(&str) -> Option<V>,
) -> impl Iterator<Item = (V, Evidence)> {
    facts
        .ci
        .versions(keys)
        .into_iter()
        .filter_map(move |value| {
            let text = format!("CI runs {name} {}", value.text);
            let version = read(&value.text)?;
            Some((version, Evidence::at(value.file, value.line, text)))
        })
}

/// What the first of the candidates says; there is one.
pub(crate) fn first<V: Clone>(
    candidates: Vec<(V, Evidence)>,
    same: impl Fn(&V, &V) -> bool,
    plan: &mut EnvironmentPlan,
) -> V {
    let first = candidates[0].0.clone();
    choose(candidates, |_| true, same, plan).unwrap_or(first)
}

/// What the first of the candidates says that fits. All of them are proofs of the plan; those that say another version,
/// as `same` tells, are overruled.
pub(crate) fn choose<V: Clone>(
    candidates: Vec<(V, Evidence)>,
    fits: impl Fn(&V) -> bool,
    same: impl Fn(&V, &V) -> bool,
    plan: &mut EnvironmentPlan,
) -> Option<V> {
    let fitting = candidates.iter().find(|(version, _)| fits(version));
    let chosen = fitting.map(|(version, _)| version.clone());
    for (version, mut evidence) in candidates {
        if !chosen.as_ref().is_some_and(|chosen| same(&version, chosen)) {
            evidence.text = format!("overruled: {}", evidence.text);
        }
        plan.prove("docker_specs", evidence);
    }
    chosen
}

/// The newest stable Rust at a date: one minor every 42 days since 1.0.
pub(crate) fn rust_at(date: &str) -> Version {
    let number = |range| {
        day(date)
            .get(range)
            .and_then(|text: &str| text.parse::<i64>().ok())
    };
    let (Some(year), Some(month), Some(of_month)) = (number(0..4), number(5..7), number(8..10))
    else {
        return Version::new(1, 95);
    };
    if year == 9999 {
        return Version::new(1, 95);
    }
    let since = days(year, month, of_month) - days(2015, 5, 14);
    Version::new(1, u32::try_from(since / 42).unwrap_or(0))
}

/// Days since an epoch (proleptic Gregorian calendar).
fn days(year: i64, month: i64, of_month: i64) -> i64 {
    let (year, month) = if month <= 2 {
        (year - 1, month + 9)
    } else {
        (year, month - 3)
    };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * month + 2) / 5 + of_month - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year
}

/// Whether a version satisfies one Python specifier list: `>=3.8,<3.12,!=3.9.*`. A bound on a
/// patch level is taken as one on its minor.
pub(crate) fn python_allows(specifier: &str, version: Version) -> bool {
    specifier.split(',').map(str::trim).all(|clause| {
        let at = clause.find(|c: char| c.is_ascii_digit());
        let Some((operator, bound)) = at.map(|at| clause.split_at(at)) else {
            return true;
        };
        let numbers = bound.split('.').filter(|part| *part != "*").count();
        let patch = bound.split('.').nth(2).is_some_and(|part| part != "*");
        let Some(bound) = Version::parse(bound) else {
            return true;
        };
        let order = if numbers == 1 {
            version.major.cmp(&bound.major)
        } else {
            version.cmp(&bound)
        };
        match operator.trim() {
            ">=" => order != Ordering::Less,
            ">" => order == Ordering::Greater || (order == Ordering::Equal && patch),
            "<=" => order != Ordering::Greater,
            "<" => order == Ordering::Less || (order == Ordering::Equal && patch),
            "==" | "===" | "~" => order == Ordering::Equal,
            "!=" => order != Ordering::Equal || patch,
            // Both allow later minors of the same major.
            "~=" | "^" => order != Ordering::Less && version.major == bound.major,
            _ => true,
        }
    })
}

/// Whether a Node major satisfies an `engines` range. Alternatives with `||`, clauses with blanks;
/// a bound on a minor is taken as one on its major.
pub(crate) fn node_allows(range: &str, version: Version) -> bool {
    range.split("||").any(|alternative| {
        let spaced = alternative
            .replace(">= ", ">=")
            .replace("<= ", "<=")
            .replace("> ", ">")
            .replace("< ", "<");
        spaced.split_whitespace().all(|clause| {
            let at = clause.find(|c: char| c.is_ascii_digit());
            let Some((operator, bound)) = at.map(|at| clause.split_at(at)) else {
                return true;
            };
            let minor = bound.split('.').nth(1).is_some_and(|part| part != "0");
            let Some(bound) = Version::parse(bound) else {
                return true;
            };
            match operator {
                ">=" => version.major >= bound.major,
                ">" => version.major > bound.major || (version.major == bound.major && minor),
                "<=" => version.major <= bound.major,
                "<" => version.major < bound.major || (version.major == bound.major && minor),
                _ => version.major == bound.major,
            }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rust_releases_follow_the_calendar() {
        // Dates of the announcements.
        for (date, minor) in [
            ("2015-05-15", 0),
            ("2023-10-05", 73),
            ("2023-10-04", 72),
            ("2025-02-20", 85),
        ] {
            assert_eq!(rust_at(date), Version::new(1, minor), "{date}");
        }
    }

    #[test]
    fn ranges() {
        let python = |range, minor| python_allows(range, Version::new(3, minor));
        assert!(python(">=3.8", 13));
        assert!(!python(">=3.8,<3.12", 12));
        assert!(python(">=3.8, <4", 13));
        assert!(!python("==3.9.*", 10));
        assert!(python("^3.8", 12) && !python("^3.8", 7));
        let node = |range, major| node_allows(range, Version::new(major, 0));
        assert!(node(">=14", 20));
        assert!(node("^14.15 || ^16.10 || >=18.0.0", 22));
        assert!(!node("^14.15 || ^16.10 || >=18.0.0", 15));
        assert!(!node(">= 10 <17", 18));
    }

    #[test]
    fn versions_of_other_names_are_none() {
        for other in ["pypy-3.10", "3.13-dev", "3.14t", "3.x-dev", "lts/*", ""] {
            assert_eq!(Version::parse(other), None, "{other}");
        }
        assert_eq!(Version::parse("3.10"), Some(Version::new(3, 10)));
        assert_eq!(Version::parse("1.22.x"), Some(Version::new(1, 22)));
    }
}
