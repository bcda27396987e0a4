//! Which Node the tests run under.

use super::package::{Package, join};
use crate::facts::Facts;
use crate::quote::shell_quote;
use crate::toolbox::{self, NODE_VERSION};
use crate::versions::{self, Version};
use atlas_core::{EnvironmentPlan, Evidence};

/// Code names of the lines with long support.
const NAMES: &[(&str, u32)] = &[
    ("carbon", 8),
    ("dubnium", 10),
    ("erbium", 12),
    ("fermium", 14),
    ("gallium", 16),
    ("hydrogen", 18),
    ("iron", 20),
    ("jod", 22),
    ("krypton", 24),
];

/// Majors for which there are images on a Debian that still gets packages, by their variant.
/// Older ones come from npm, on top of another Node.
const IMAGES: &[(std::ops::RangeInclusive<u32>, &str)] = &[
    (12..=15, "bullseye-slim"),
    (16..=16, "bookworm-slim"),
    (17..=17, "bullseye-slim"),
    (18..=18, "bookworm-slim"),
    (19..=19, "bullseye-slim"),
    (20..=u32::MAX, "bookworm-slim"),
];

/// What a version file or a workflow may say.
fn read(text: &str, date: &str) -> Option<Version> {
    let text = text.trim().trim_matches(['"', '\'']).to_ascii_lowercase();
    let newest =
        |fits: &dyn Fn(&Version) -> bool| versions::released(versions::NODE, date).rfind(fits);
    let (name, back) = match text.split_once("/-") {
        Some((name, back)) => (name.to_owned(), back.parse::<usize>().ok()?),
        None => (text.trim_start_matches("lts/").to_owned(), 0),
    };
    if let Some((_, major)) = NAMES.iter().find(|(known, _)| *known == name) {
        return Some(Version::new(*major, 0));
    }
    match name.as_str() {
        "lts" | "*" | "stable" | "lts/*" => {
            let even = |version: &Version| version.major.is_multiple_of(2);
            versions::released(versions::NODE, date)
                .filter(even)
                .filter(|version| long_support(*version, date))
                .rev()
                .nth(back)
                .or_else(|| newest(&even))
        }
        "node" | "latest" | "current" => newest(&|_| true),
        _ => Version::parse(&text),
    }
}

/// An even major gets its long support in the October after its release.
fn long_support(version: Version, date: &str) -> bool {
    let born = versions::NODE
        .iter()
        .find(|(known, _)| *known == version)
        .map_or("", |(_, born)| *born);
    let year = born.split('-').next().unwrap_or_default();
    versions::day(date) >= format!("{year}-10-25").as_str()
}

/// Pin files and volta, then CI (the newest even major that was released), then `engines`, then
/// the newest even major at the date. Even majors are the ones with long support.
pub(super) fn version(facts: &Facts<'_>, package: &Package, plan: &mut EnvironmentPlan) -> Version {
    let tree = facts.tree;
    let mut candidates: Vec<(Version, Evidence)> = Vec::new();
    let even = |version: &Version| version.major.is_multiple_of(2);
    let newest = versions::released(versions::NODE, facts.date)
        .rfind(even)
        .unwrap_or(Version::new(8, 0));
    let pinned = regex::Regex::new(r"^nodejs\s").expect("a literal pattern");
    for folder in [package.folder.as_str(), ""] {
        for name in [".nvmrc", ".node-version", ".n-node-version"] {
            let file = join(folder, name);
            if let Some(text) = tree.text(&file)
                && let Some(line) = text.lines().find(|line| !line.trim().is_empty())
                && let Some(version) = read(line, facts.date)
            {
                candidates.push((version, Evidence::at(file, 1, line.trim())));
            }
        }
        let file = join(folder, ".tool-versions");
        if let Some((line, text)) = tree.line(&file, &pinned)
            && let Some(version) = text.split_whitespace().nth(1).and_then(Version::parse)
        {
            candidates.push((version, Evidence::at(file, line, text)));
        }
    }
    if let Some(text) = package.in_table("volta", "node")
        && let Some(version) = Version::parse(text)
    {
        let file = package.manifest();
        let line = tree.line_with(&file, "\"volta\"").unwrap_or(1);
        candidates.push((
            version,
            Evidence::at(file, line, format!("volta: node {text}")),
        ));
    }
    let keys = [
        ("actions/setup-node", "node-version"),
        ("volta-cli/action", "node-version"),
        ("travis", "node_js"),
        ("toolchain", "node"),
        ("image", "node"),
    ];
    let is_out = |major| versions::is_released(versions::NODE, Version::new(major, 0), facts.date);
    let best = versions::in_ci(facts, "Node", &keys, |text| read(text, facts.date))
        .filter(|(version, _)| is_out(version.major))
        .max_by_key(|(version, _)| (even(version), version.major));
    candidates.extend(best);
    if let Some(range) = package.in_table("engines", "node") {
        let fits = versions::released(versions::NODE, facts.date)
            .filter(even)
            .rfind(|version| versions::node_allows(range, *version));
        if let Some(version) = fits {
            let file = package.manifest();
            let line = tree.line_with(&file, "\"engines\"").unwrap_or(1);
            let text = format!("engines: node {range}");
            candidates.push((version, Evidence::at(file, line, text)));
        }
    }
    if candidates.is_empty() {
        let text = format!(
            "nothing names a Node version: the newest with long support at {}",
            versions::day(facts.date)
        );
        candidates.push((newest, Evidence::of(package.manifest(), text)));
    }
    let version = versions::first(candidates, |one, other| one.major == other.major, plan);
    let image = IMAGES
        .iter()
        .find(|(majors, _)| majors.contains(&version.major));
    plan.base_image = match image {
        Some((_, variant)) => format!("node:{}-{variant}", version.major),
        None => "node:20-bookworm-slim".to_owned(),
    };
    plan.docker_specs
        .insert("node_version".to_owned(), version.major.to_string().into());
    version
}

/// The npm that a Node came with. One of another Node may not run under it.
pub(super) fn npm(node: u32) -> u32 {
    match node {
        0..=14 => 6,
        15 => 7,
        16 | 17 => 8,
        19 => 9,
        18 | 20..=23 => 10,
        24.. => 11,
    }
}

/// Takes Node from npm where the environment has another major. `npm` is the major that reads the
/// lockfile.
pub(super) fn ensure(node: u32, npm: u32, plan: &mut EnvironmentPlan) {
    toolbox::add(plan, NODE_VERSION);
    plan.setup
        .push(format!("{} {node} {npm}", toolbox::call(NODE_VERSION)));
}

/// Installs a program of npm's beside the repository: its name, with a version behind `@`.
pub(super) fn install(program: &str, plan: &mut EnvironmentPlan) {
    plan.setup.push(format!(
        "npm install --prefix \"$ATLAS_ENV/tools\" --no-package-lock --no-audit --no-fund {}",
        shell_quote(program)
    ));
}

#[cfg(test)]
mod tests {
    use super::read;
    use crate::versions::Version;

    #[test]
    fn version_files_and_workflows() {
        for (text, date, major) in [
            ("v18.12.1", "2023-01-01", Some(18)),
            ("lts/hydrogen", "2023-01-01", Some(18)),
            ("lts/*", "2022-05-01", Some(16)),
            ("lts/*", "2022-12-01", Some(18)),
            ("lts/-1", "2022-12-01", Some(16)),
            ("current", "2022-12-01", Some(19)),
            ("20.x", "2024-01-01", Some(20)),
            ("${{ env.NODE }}", "2024-01-01", None),
        ] {
            let expected = major.map(|major| Version::new(major, 0).major);
            assert_eq!(
                read(text, date).map(|found| found.major),
                expected,
                "{text}"
            );
        }
    }
}
