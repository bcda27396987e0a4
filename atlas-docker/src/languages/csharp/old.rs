//! Projects of the kind before SDKs: what their tests are written in, and what they refer to.

use super::super::xml::Element;
use super::project::Project;
use crate::tree::{Tree, resolved};
use atlas_core::Evidence;
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// What tests are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framework {
    /// `NUnit`, with its major version.
    NUnit(u32),
    XUnit,
    MsTest,
}

/// A package that a `packages.config` names.
#[derive(Clone, Debug)]
pub(super) struct Package {
    pub(super) id: String,
    /// Where it is unpacked: `packages/NUnit.2.6.4`.
    pub(super) folder: String,
    pub(super) why: Evidence,
}

/// A project of tests that Mono may compile.
#[derive(Clone, Debug)]
pub(super) struct Suite {
    pub(super) path: String,
    pub(super) framework: Framework,
    /// What says that it has tests, and of which kind.
    pub(super) why: Evidence,
    /// What says that it is for .NET Framework.
    pub(super) level: Evidence,
    /// Its assembly's name.
    assembly: String,
    /// Packages of it and of the projects that it refers to.
    pub(super) packages: Vec<Package>,
    /// Files of those packages, and the packages' folders, that the repository does not carry.
    fetched: Vec<String>,
    /// Assemblies with a path that neither the repository nor a package has.
    pub(super) missing: Vec<Evidence>,
    /// Whether `NUnit` is referred to without a path, as something that is installed.
    pub(super) bare_nunit: bool,
}

/// A reference to an assembly.
#[derive(Debug)]
struct Reference {
    name: String,
    version: Option<u32>,
    /// The path that the project file gives for it, from the repository's root; `None` without one.
    hint: Option<String>,
    at: Evidence,
}

/// Most projects and files of properties that are read for one suite.
const MOST_FILES: usize = 200;

impl Suite {
    /// Reads a project; what Mono cannot build is an error with the line that says so.
    pub(super) fn read(tree: &Tree, project: &Project) -> Result<Self, Evidence> {
        let path = &project.path;
        if !path.ends_with(".csproj") {
            let text = "no compiler of its language comes with Debian's Mono";
            return Err(Evidence::of(path, text));
        }
        if !project.old {
            let text = "Mono's xbuild does not build projects of .NET's SDKs";
            return Err(Evidence::of(path, text));
        }
        let files = closure(tree, path, false);
        if let Some(why) = files.iter().find_map(|(file, root)| foreign(file, root)) {
            return Err(why);
        }
        let own: Vec<Reference> = files
            .iter()
            .flat_map(|(file, root)| references(tree, file, root))
            .collect();
        let all = closure(tree, path, true);
        let packages = packages(tree, &all);
        let (framework, why) = framework(&own, &packages).ok_or_else(|| {
            restored_by_msbuild(&files).unwrap_or_else(|| {
                let text = "refers to no test framework that Mono can run";
                Evidence::of(path, text)
            })
        })?;
        let bare_nunit = own
            .iter()
            .any(|reference| reference.name == "nunit.framework" && reference.hint.is_none());
        let (mut fetched, mut missing) = (Vec::new(), Vec::new());
        for package in &packages {
            if !tree.has_folder(&package.folder) {
                fetched.push(package.folder.clone());
            }
        }
        for (file, root) in &all {
            for reference in references(tree, file, root) {
                let Some(hint) = reference.hint.filter(|hint| !tree.has(hint)) else {
                    continue;
                };
                let of = |package: &Package| hint.starts_with(&format!("{}/", package.folder));
                if packages.iter().any(of) {
                    fetched.push(hint);
                } else {
                    let text = format!("{hint} is not in the repository");
                    missing.push(Evidence {
                        text,
                        ..reference.at
                    });
                }
            }
        }
        Ok(Self {
            path: path.clone(),
            framework,
            why,
            level: level(path, &files),
            assembly: text_of(&files, "AssemblyName").unwrap_or_default(),
            packages,
            fetched,
            missing,
            bare_nunit,
        })
    }

    /// Whether another project compiles the same tests: of one folder, to one assembly.
    pub(super) fn same_as(&self, other: &Self) -> bool {
        folder(&self.path) == folder(&other.path) && self.assembly == other.assembly
    }

    /// Folders of packages, and files in them, that must be fetched.
    pub(super) fn fetched(&self) -> impl Iterator<Item = &str> {
        self.fetched.iter().map(String::as_str)
    }
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Resolves a path of a project file to one from the repository's root; `None` where it contains a
/// property of the build without a known value, or leads out of the repository.
fn resolve(tree: &Tree, file: &str, text: &str) -> Option<String> {
    let here = folder(file);
    let text = text.trim().replace('\\', "/");
    let (start, rest) = if let Some(rest) = text
        .strip_prefix("$(MSBuildThisFileDirectory)")
        .or_else(|| text.strip_prefix("$(ProjectDir)"))
        .or_else(|| text.strip_prefix("$(MSBuildProjectDirectory)"))
    {
        (here.to_owned(), rest.to_owned())
    } else if let Some(rest) = text.strip_prefix("$(SolutionDir)") {
        (solution(tree, here)?, rest.to_owned())
    } else {
        (here.to_owned(), text)
    };
    if rest.contains("$(") || rest.contains(':') {
        return None;
    }
    resolved(&start, &rest)
}

/// The nearest folder above that holds a solution.
fn solution(tree: &Tree, from: &str) -> Option<String> {
    let mut here = from;
    loop {
        if tree.ending(".sln").any(|path| folder(path) == here) {
            return Some(here.to_owned());
        }
        if here.is_empty() {
            return None;
        }
        here = folder(here);
    }
}

/// A project with the files of the repository that it imports, and on demand the projects that it refers to.
fn closure(tree: &Tree, path: &str, projects: bool) -> Vec<(String, Element)> {
    let mut seen = BTreeSet::new();
    let mut waiting = vec![path.to_owned()];
    let mut found: Vec<(String, Element)> = Vec::new();
    while let Some(file) = waiting.pop() {
        if found.len() == MOST_FILES || !seen.insert(file.clone()) {
            continue;
        }
        let Some(root) = tree.text(&file).and_then(|text| Element::parse(&text)) else {
            continue;
        };
        for element in root.descend() {
            let next = match element.name.as_str() {
                "Import" => element.attribute("Project"),
                "ProjectReference" if projects => element.attribute("Include"),
                _ => None,
            };
            waiting.extend(next.and_then(|next| resolve(tree, &file, next)));
        }
        found.push((file, root));
    }
    found
}

/// A platform that Mono is not.
fn foreign(file: &str, root: &Element) -> Option<Evidence> {
    const PLATFORMS: &[&str] = &[
        "silverlight",
        "windowsphone",
        "compactframework",
        "\\portable\\",
        "windowsxaml",
        "xamarin",
        "monoandroid",
        "monotouch",
    ];
    let mut waiting = vec![root];
    while let Some(element) = waiting.pop() {
        // What has a condition is for some configuration, and not for the usual one.
        let children = element.children.iter();
        waiting.extend(children.filter(|child| child.attribute("Condition").is_none()));
        let text = element.text.as_str();
        let found = match element.name.as_str() {
            "Import" => {
                let project = element.attribute("Project").unwrap_or_default();
                let project = project.to_lowercase();
                PLATFORMS.iter().any(|name| project.contains(name))
            }
            "SilverlightVersion" | "SilverlightApplication" => true,
            "TargetFrameworkIdentifier" => {
                !text.is_empty() && text != ".NETFramework" && !text.contains("$(")
            }
            "TargetFrameworkProfile" => text.starts_with("Profile"),
            _ => false,
        };
        if found {
            let text = format!("{}: a platform that Mono does not have", element.name);
            return Some(Evidence::at(file, element.line, text));
        }
    }
    None
}

fn references(tree: &Tree, file: &str, root: &Element) -> Vec<Reference> {
    static VERSION: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?i)\bVersion=(\d+)").expect("a literal pattern"));
    root.descend()
        .filter(|element| element.name == "Reference")
        .filter_map(|element| {
            let include = element.attribute("Include")?;
            let name = include.split(',').next()?.trim();
            let hint = element
                .text_at(&["HintPath"])
                .and_then(|text| resolve(tree, file, text));
            Some(Reference {
                name: name.to_lowercase(),
                version: VERSION
                    .captures(include)
                    .and_then(|found| found[1].parse().ok()),
                hint,
                at: Evidence::at(file, element.line, format!("refers to {include}")),
            })
        })
        .collect()
}

/// What the tests are written in. `NUnit`'s version: that of the reference, else that of its path, else 2, which
/// is what was referred to without saying.
fn framework(references: &[Reference], packages: &[Package]) -> Option<(Framework, Evidence)> {
    static IN_PATH: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)nunit[^/]*?[ .-]v?(\d+)\.\d").expect("a literal pattern")
    });
    for reference in references {
        let framework = match reference.name.as_str() {
            "nunit.framework" => {
                let of_path = reference.hint.as_deref().and_then(|hint| {
                    IN_PATH
                        .captures(hint)
                        .and_then(|found| found[1].parse().ok())
                });
                let of_package = packages.iter().find_map(|package| {
                    let version = package.folder.rsplit_once("NUnit.")?.1;
                    version.split('.').next()?.parse().ok()
                });
                let version = reference.version.or(of_path).or(of_package);
                Framework::NUnit(version.unwrap_or(2))
            }
            "xunit" | "xunit.core" => Framework::XUnit,
            "microsoft.visualstudio.qualitytools.unittestframework"
            | "microsoft.visualstudio.testplatform.testframework" => Framework::MsTest,
            _ => continue,
        };
        return Some((framework, reference.at.clone()));
    }
    None
}

/// A reference to a package that only a newer build tool restores.
fn restored_by_msbuild(files: &[(String, Element)]) -> Option<Evidence> {
    files.iter().find_map(|(file, root)| {
        let element = root
            .descend()
            .find(|element| element.name == "PackageReference")?;
        let text = "PackageReference, which Mono's xbuild does not restore";
        Some(Evidence::at(file, element.line, text))
    })
}

/// The packages of every `packages.config` beside one of these projects.
fn packages(tree: &Tree, files: &[(String, Element)]) -> Vec<Package> {
    let mut found: Vec<Package> = Vec::new();
    for (file, root) in files {
        let here = folder(file);
        let config = if here.is_empty() {
            "packages.config".to_owned()
        } else {
            format!("{here}/packages.config")
        };
        let Some(list) = tree.text(&config).and_then(|text| Element::parse(&text)) else {
            continue;
        };
        let hints: Vec<String> = references(tree, file, root)
            .into_iter()
            .filter_map(|reference| reference.hint)
            .collect();
        let default = solution(tree, here).map_or_else(
            || "packages".to_owned(),
            |at| format!("{at}/packages").trim_start_matches('/').to_owned(),
        );
        let place = |name: &str| {
            hints.iter().find_map(|hint| {
                let at = hint.find(&format!("/{name}/"))?;
                Some(hint[..at].to_owned())
            })
        };
        let named: Vec<(&str, String, usize)> = list
            .all("package")
            .filter_map(|package| {
                let id = package.attribute("id")?;
                let version = package.attribute("version")?;
                Some((id, format!("{id}.{version}"), package.line))
            })
            .collect();
        let common = named
            .iter()
            .find_map(|(_, name, _)| place(name))
            .unwrap_or(default);
        for (id, name, line) in named {
            let at = place(&name).unwrap_or_else(|| common.clone());
            let folder = format!("{at}/{name}");
            if found.iter().all(|known| known.folder != folder) {
                let why = Evidence::at(&config, line, format!("names {name}"));
                let id = id.to_owned();
                found.push(Package { id, folder, why });
            }
        }
    }
    found
}

fn text_of(files: &[(String, Element)], name: &str) -> Option<String> {
    files
        .iter()
        .find_map(|(_, root)| root.descend().find(|element| element.name == name))
        .map(|element| element.text.clone())
}

/// The line that says for which .NET Framework a project is.
fn level(path: &str, files: &[(String, Element)]) -> Evidence {
    let found = files.iter().find_map(|(file, root)| {
        let element = root
            .descend()
            .find(|element| element.name == "TargetFrameworkVersion")?;
        let text = format!(".NET Framework {}, on Mono", element.text);
        Some(Evidence::at(file, element.line, text))
    });
    found.unwrap_or_else(|| {
        let text = "a project of the kind before SDKs: .NET Framework, on Mono";
        Evidence::at(path, 1, text)
    })
}

#[cfg(test)]
mod tests {
    use super::{Framework, Reference, framework};
    use atlas_core::Evidence;

    #[test]
    fn the_version_of_nunit_is_told_by_the_reference_or_its_path() {
        for (version, hint, expected) in [
            (Some(2), None, 2),
            (None, Some("lib/nunit-2.6.2/nunit.framework.dll"), 2),
            (None, Some("lib/NUnit 2.2.8.0/nunit.framework.dll"), 2),
            (
                None,
                Some("packages/NUnit.3.13.2/lib/net45/nunit.framework.dll"),
                3,
            ),
            (None, Some("lib/NUnit/lib/nunit.framework.dll"), 2),
        ] {
            let reference = Reference {
                name: "nunit.framework".to_owned(),
                version,
                hint: hint.map(str::to_owned),
                at: Evidence::of("T.csproj", "refers to it"),
            };
            let found = framework(&[reference], &[]).map(|(found, _)| found);
            assert_eq!(found, Some(Framework::NUnit(expected)), "{hint:?}");
        }
    }
}
