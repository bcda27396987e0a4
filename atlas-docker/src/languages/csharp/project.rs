//! Project files of `MSBuild`, as far as conditions can be told from text.

use super::super::xml::Element;
use crate::tree::Tree;
use crate::versions::Version;
use atlas_core::Evidence;
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// A project with tests.
#[derive(Debug)]
pub(super) struct Project {
    /// Its path in the repository.
    pub(super) path: String,
    /// The frameworks it can be run on here, newest last.
    pub(super) frameworks: Vec<Framework>,
    /// Why it counts as one with tests.
    pub(super) why: Evidence,
    /// Whether it is of the kind before SDKs, which only Windows builds.
    pub(super) old: bool,
}

/// A target framework that runs on Linux: `net8.0`, `netcoreapp3.1`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Framework {
    pub(super) version: Version,
    /// Its name in the project.
    pub(super) name: String,
    pub(super) why: Evidence,
}

/// What a test framework is referred to by.
const TEST_PACKAGES: &[&str] = &[
    "microsoft.net.test.sdk",
    "xunit",
    "xunit.v3",
    "xunit.core",
    "nunit",
    "nunit3testadapter",
    "mstest",
    "mstest.testframework",
    "tunit",
];

/// `net8.0`, `net8.0-windows` (not here), `netcoreapp3.1`.
pub(super) fn framework(name: &str) -> Option<Version> {
    static NAME: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^(?:netcoreapp|net)(\d+)\.(\d+)$").expect("a literal pattern")
    });
    let found = NAME.captures(name.trim())?;
    let version = Version::new(found[1].parse().ok()?, found[2].parse().ok()?);
    // `net4.8` is a name that nobody writes for .NET Framework, but it would not run here.
    (version.major != 4).then_some(version)
}

/// All projects with tests.
pub(super) fn test_projects(tree: &Tree) -> Vec<Project> {
    let files: Vec<&str> = tree
        .files()
        .filter(|path| {
            [".csproj", ".fsproj", ".vbproj"]
                .iter()
                .any(|end| path.ends_with(end))
        })
        .collect();
    files
        .into_iter()
        .filter_map(|path| {
            let root = tree.text(path).and_then(|text| Element::parse(&text))?;
            let why = tests(tree, path, &root)?;
            let old = root.attribute("Sdk").is_none() && root.child("Sdk").is_none();
            let mut frameworks = frameworks(tree, path, &root);
            frameworks.sort();
            Some(Project {
                path: path.to_owned(),
                frameworks,
                why,
                old,
            })
        })
        .collect()
}

/// The proof that a project has tests: a test package, a mark, or test methods beside it.
fn tests(tree: &Tree, path: &str, root: &Element) -> Option<Evidence> {
    static METHOD: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^\s*\[<?(?:Fact|Theory|Test|TestCase|TestMethod)\b")
            .expect("a literal pattern")
    });
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    if name.contains("benchmark") || name.contains("performance") {
        return None;
    }
    for element in root.descend() {
        let package = element.attribute("Include").unwrap_or_default();
        if element.name == "PackageReference"
            && TEST_PACKAGES.contains(&package.to_lowercase().as_str())
        {
            let text = format!("refers to {package}");
            return Some(Evidence::at(path, element.line, text));
        }
        if element.name == "IsTestProject" && element.text.eq_ignore_ascii_case("true") {
            return Some(Evidence::at(path, element.line, "IsTestProject"));
        }
    }
    // Test packages may come from an imported file; then the sources tell.
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let source = tree
        .files()
        .filter(|file| {
            folder.is_empty()
                || file
                    .strip_prefix(folder)
                    .is_some_and(|rest| rest.starts_with('/'))
        })
        .filter(|file| [".cs", ".fs"].iter().any(|end| file.ends_with(end)))
        .take(300)
        .find_map(|file| {
            tree.line(file, &METHOD)
                .map(|(line, text)| (file, line, text))
        });
    let (file, line, text) = source?;
    Some(Evidence::at(file, line, text))
}

/// The frameworks of a project that run here: its own, else those of the nearest file of
/// properties that all projects below it share.
fn frameworks(tree: &Tree, path: &str, root: &Element) -> Vec<Framework> {
    let own = named(tree, path, root);
    if !own.is_empty() {
        return own;
    }
    let mut folder = path;
    while let Some((above, _)) = folder.rsplit_once('/') {
        folder = above;
        let shared = format!("{folder}/Directory.Build.props");
        if let Some(root) = tree.text(&shared).and_then(|text| Element::parse(&text)) {
            return named(tree, &shared, &root);
        }
    }
    let shared = "Directory.Build.props";
    tree.text(shared)
        .and_then(|text| Element::parse(&text))
        .map(|root| named(tree, shared, &root))
        .unwrap_or_default()
}

fn named(tree: &Tree, path: &str, root: &Element) -> Vec<Framework> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for group in root.all("PropertyGroup") {
        if elsewhere(group) {
            continue;
        }
        for element in &group.children {
            if !matches!(
                element.name.as_str(),
                "TargetFramework" | "TargetFrameworks"
            ) || elsewhere(element)
            {
                continue;
            }
            for name in element.text.split(';') {
                let name = expand(tree, path, root, name.trim());
                for name in name.split(';').map(str::trim) {
                    if let Some(version) = framework(name)
                        && seen.insert(name.to_owned())
                    {
                        let text = format!("{} {name}", element.name);
                        found.push(Framework {
                            version,
                            name: name.to_owned(),
                            why: Evidence::at(path, element.line, text),
                        });
                    }
                }
            }
        }
    }
    found
}

/// Whether a condition asks for Windows.
fn elsewhere(element: &Element) -> bool {
    let condition = element.attribute("Condition").unwrap_or_default();
    let condition = condition.replace([' ', '\''], "").to_lowercase();
    condition.contains("isosplatform(windows)") && !condition.starts_with('!')
        || condition.contains("$(os)==windows_nt")
}

/// The value of a text that is one property, from the file itself or the shared properties.
fn expand(tree: &Tree, path: &str, root: &Element, text: &str) -> String {
    let Some(name) = text
        .strip_prefix("$(")
        .and_then(|text| text.strip_suffix(')'))
    else {
        return text.to_owned();
    };
    let value = |root: &Element| {
        root.all("PropertyGroup")
            .filter(|group| !elsewhere(group))
            .find_map(|group| group.text_at(&[name]).map(str::to_owned))
    };
    let mut folder = path;
    let mut places = Vec::new();
    while let Some((above, _)) = folder.rsplit_once('/') {
        folder = above;
        places.push(format!("{folder}/Directory.Build.props"));
    }
    places.push("Directory.Build.props".to_owned());
    value(root)
        .or_else(|| {
            places.iter().find_map(|place| {
                let root = tree.text(place).and_then(|text| Element::parse(&text))?;
                value(&root)
            })
        })
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::framework;
    use crate::versions::Version;

    #[test]
    fn frameworks_that_run_on_linux() {
        for (name, expected) in [
            ("net8.0", Some(Version::new(8, 0))),
            ("netcoreapp3.1", Some(Version::new(3, 1))),
            ("net48", None),
            ("netstandard2.0", None),
            ("net8.0-windows", None),
            ("net4.8", None),
        ] {
            assert_eq!(framework(name), expected, "{name}");
        }
    }
}
