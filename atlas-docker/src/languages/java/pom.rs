//! Maven's project files: the modules of a reactor and what they say.

use super::super::xml::Element;
use super::jdk::{Needs, number};
use crate::tree::{Tree, resolved};
use atlas_core::Evidence;
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// More modules than any reactor has.
const MAX_MODULES: usize = 2_000;

/// One project file.
#[derive(Debug)]
pub(super) struct Pom {
    /// Its path in the repository.
    pub(super) path: String,
    pub(super) root: Element,
    /// Index of the parent within the reactor, where it stands in the repository.
    parent: Option<usize>,
}

/// A project file with the modules below it, the first one at its head.
#[derive(Debug, Default)]
pub(super) struct Reactor {
    pub(super) poms: Vec<Pom>,
}

/// The folder of a path, empty for the root.
pub(super) fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The project file that another one inherits from, if it stands in the repository.
fn parent(tree: &Tree, path: &str, root: &Element) -> Option<String> {
    let relative = root.child("parent")?.child("relativePath");
    let relative = relative.map_or("../pom.xml", |path| path.text.as_str());
    let path = join(folder(path), relative).filter(|_| !relative.is_empty())?;
    let file = join(&path, "pom.xml")?;
    [file, path].into_iter().find(|path| tree.has(path))
}

/// Where a path of a project file leads, which may be written with either slash.
fn join(folder: &str, relative: &str) -> Option<String> {
    resolved(folder, &relative.replace('\\', "/"))
}

impl Reactor {
    /// Reads a project file and its modules. Modules of profiles are left out: which profiles are
    /// active is known only to Maven.
    pub(super) fn read(tree: &Tree, path: &str) -> Self {
        let mut reactor = Self::default();
        let mut seen = BTreeSet::new();
        let mut waiting = vec![path.to_owned()];
        while let Some(path) = waiting.pop() {
            if reactor.poms.len() >= MAX_MODULES || !seen.insert(path.clone()) {
                continue;
            }
            let Some(root) = tree.text(&path).and_then(|text| Element::parse(&text)) else {
                continue;
            };
            let below: Vec<String> = root
                .child("modules")
                .or_else(|| root.child("subprojects"))
                .map(|modules| {
                    let named = modules.children.iter();
                    named
                        .filter_map(|module| {
                            let path = join(folder(&path), &module.text)?;
                            let file = format!("{path}/pom.xml");
                            Some(if tree.has(&file) { file } else { path })
                        })
                        .collect()
                })
                .unwrap_or_default();
            waiting.extend(below.into_iter().rev());
            reactor.push(tree, path, root, &mut seen);
        }
        reactor
    }

    /// Adds a module behind those that it inherits from, which need not be modules themselves.
    fn push(&mut self, tree: &Tree, path: String, root: Element, seen: &mut BTreeSet<String>) {
        let mut line = vec![(path, root)];
        while let Some(path) = line
            .last()
            .and_then(|(path, root)| parent(tree, path, root))
        {
            let known = self.poms.iter().any(|pom| pom.path == path);
            if known || line.len() > 20 || line.iter().any(|(other, _)| *other == path) {
                break;
            }
            let Some(root) = tree.text(&path).and_then(|text| Element::parse(&text)) else {
                break;
            };
            // Its own modules are read when the reactor comes to it, if it does.
            if root.child("modules").is_none() {
                seen.insert(path.clone());
            }
            line.push((path, root));
        }
        while let Some((path, root)) = line.pop() {
            let above = parent(tree, &path, &root);
            let above = above.and_then(|above| self.poms.iter().position(|pom| pom.path == above));
            if !self.poms.iter().any(|pom| pom.path == path) {
                self.poms.push(Pom {
                    path,
                    root,
                    parent: above,
                });
            }
        }
    }

    /// A module and those that it inherits from.
    fn line_of(&self, at: usize) -> impl Iterator<Item = &Pom> {
        // A parent was read before its child, so the way up ends.
        std::iter::successors(Some(at), |at| self.poms[*at].parent).map(|at| &self.poms[at])
    }

    /// Whether some module inherits from a project outside the repository.
    pub(super) fn foreign_parent(&self) -> Option<&Pom> {
        self.poms
            .iter()
            .find(|pom| pom.parent.is_none() && pom.root.child("parent").is_some())
    }

    /// The value of a property as a module sees it, with its place.
    fn property(&self, at: usize, name: &str) -> Option<(String, Evidence)> {
        self.line_of(at).find_map(|pom| {
            let found = pom.root.at(&["properties", name])?;
            let text = self.expand(at, &found.text);
            let why = Evidence::at(&pom.path, found.line, format!("{name} = {text}"));
            Some((text, why))
        })
    }

    /// A text with its `${…}` replaced, as far as the repository tells.
    pub(super) fn expand(&self, at: usize, text: &str) -> String {
        static REFERENCE: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r"\$\{([\w.-]+)\}").expect("a literal pattern"));
        let mut text = text.to_owned();
        // Properties may use others; a circle ends with the tries.
        for _ in 0..5 {
            let Some(found) = REFERENCE.captures(&text) else {
                break;
            };
            let value = self.line_of(at).find_map(|pom| {
                let name = found[1].strip_prefix("project.").unwrap_or(&found[1]);
                let own = matches!(name, "version" | "groupId" | "artifactId");
                let path: &[&str] = if own {
                    &[name]
                } else {
                    &["properties", &found[1]]
                };
                pom.root.text_at(path).map(str::to_owned)
            });
            let Some(value) = value.filter(|value| value.len() < 1_000) else {
                break;
            };
            let whole = found[0].to_owned();
            text = text.replace(&whole, &value);
            if text.len() > 10_000 {
                break;
            }
        }
        text
    }

    /// The uses of a plugin in a module's own file, those of profiles left out.
    fn plugin<'a>(pom: &'a Pom, artifact: &'a str) -> impl Iterator<Item = &'a Element> {
        [
            &["build", "plugins"][..],
            &["build", "pluginManagement", "plugins"],
        ]
        .into_iter()
        .filter_map(|path| pom.root.at(path))
        .flat_map(|plugins| plugins.all("plugin"))
        .filter(move |plugin| plugin.text_at(&["artifactId"]) == Some(artifact))
    }

    /// The configurations of a plugin, those of its executions included, with their module.
    pub(super) fn configurations<'a>(
        &'a self,
        artifact: &'a str,
    ) -> impl Iterator<Item = (usize, &'a Element)> {
        self.poms.iter().enumerate().flat_map(move |(at, pom)| {
            Self::plugin(pom, artifact)
                .flat_map(Element::descend)
                .filter(|element| element.name == "configuration")
                .map(move |element| (at, element))
        })
    }

    /// Modules that pack what is no dependency of theirs to others: the shade plugin includes it, and it is optional.
    pub(super) fn packs_optional(&self) -> Vec<(&str, Evidence)> {
        let is_optional = |at: usize, include: &str| {
            self.dependencies().any(|(of, dependency)| {
                let text = |name: &str| dependency.text_at(&[name]).unwrap_or_default();
                let is_named = include.split(':').nth(1) == Some(text("artifactId"));
                of == at && is_named && (text("optional") == "true" || text("scope") == "provided")
            })
        };
        let found = self
            .configurations("maven-shade-plugin")
            .filter_map(|(at, configuration)| {
                let includes = configuration.at(&["artifactSet", "includes"])?;
                let mut each = includes.all("include");
                let include = each.find(|include| is_optional(at, &include.text))?;
                let pom = &self.poms[at];
                let name = pom.root.text_at(&["artifactId"])?;
                let text = format!("module {name} packs {}, which is optional", include.text);
                Some((name, Evidence::at(&pom.path, include.line, text)))
            });
        found.collect()
    }

    /// Plugins without a version anywhere in the repository.
    pub(super) fn unpinned_plugins(&self) -> BTreeSet<String> {
        let mut named: BTreeMap<String, bool> = BTreeMap::new();
        let all = self.poms.iter().flat_map(|pom| pom.root.descend());
        for plugin in all.filter(|element| element.name == "plugin") {
            if let Some(artifact) = plugin.text_at(&["artifactId"]) {
                let pinned = named.entry(artifact.to_owned()).or_default();
                *pinned |= plugin.child("version").is_some();
            }
        }
        named.retain(|_, pinned| !*pinned);
        named.into_keys().collect()
    }

    /// Dependencies, with their module.
    pub(super) fn dependencies(&self) -> impl Iterator<Item = (usize, &Element)> {
        self.poms.iter().enumerate().flat_map(|(at, pom)| {
            pom.root
                .child("dependencies")
                .into_iter()
                .flat_map(|list| list.all("dependency"))
                .map(move |dependency| (at, dependency))
        })
    }

    /// What each module depends on, by artifact ids: its dependencies, and the parent where that file itself is
    /// among the touched ones.
    pub(super) fn needs_of(&self, touched: &[String]) -> Vec<Vec<String>> {
        let mut needs: Vec<Vec<String>> = self
            .poms
            .iter()
            .map(|pom| {
                let above = pom.parent.map(|at| &self.poms[at]);
                let changed = above.filter(|above| touched.contains(&above.path));
                let name = changed.and_then(|above| above.root.text_at(&["artifactId"]));
                name.map(str::to_owned).into_iter().collect()
            })
            .collect();
        for (at, dependency) in self.dependencies() {
            if let Some(name) = dependency.text_at(&["artifactId"]) {
                needs[at].push(self.expand(at, name));
            }
        }
        needs
    }

    /// The coordinates of the modules themselves: artifact ids.
    pub(super) fn artifacts(&self) -> BTreeSet<&str> {
        self.poms
            .iter()
            .filter_map(|pom| pom.root.text_at(&["artifactId"]))
            .collect()
    }

    /// What the modules ask of a JDK.
    pub(super) fn needs(&self) -> Needs {
        /// What compilers are told by; the first are Maven's own.
        const PROPERTIES: &[&str] = &[
            "maven.compiler.release",
            "maven.compiler.testRelease",
            "maven.compiler.source",
            "maven.compiler.target",
            "maven.compiler.testSource",
            "maven.compiler.testTarget",
            "maven.compile.source",
            "java.version",
            "java.release.version",
            "project.build.targetJdk",
        ];
        const ELEMENTS: &[&str] = &[
            "release",
            "source",
            "target",
            "testRelease",
            "testSource",
            "testTarget",
        ];
        let mut needs = Needs::default();
        let mut levels: BTreeMap<u32, Evidence> = BTreeMap::new();
        for at in 0..self.poms.len() {
            for name in PROPERTIES {
                if let Some((text, why)) = self.property(at, name)
                    && let Some(level) = number(&text)
                {
                    levels.entry(level).or_insert(why);
                }
            }
        }
        for (at, configuration) in self.configurations("maven-compiler-plugin") {
            for element in &configuration.children {
                let text = self.expand(at, &element.text);
                if ELEMENTS.contains(&element.name.as_str())
                    && let Some(level) = number(&text)
                {
                    let said = format!("{} = {text}", element.name);
                    let why = Evidence::at(&self.poms[at].path, element.line, said);
                    levels.entry(level).or_insert(why);
                }
            }
        }
        // Kotlin's compiler has a level of its own, which binds the JDK that tests run on.
        for (at, configuration) in self.configurations("kotlin-maven-plugin") {
            if let Some(element) = configuration.child("jvmTarget")
                && let Some(level) = number(&self.expand(at, &element.text))
            {
                let said = format!("jvmTarget = {level}");
                let why = Evidence::at(&self.poms[at].path, element.line, said);
                levels.entry(level).or_insert(why);
            }
        }
        if let Some((level, why)) = levels.first_key_value() {
            needs.levels.push((*level, why.clone()));
        }
        if let Some((level, why)) = levels.last_key_value() {
            needs.least.push((*level, why.clone()));
        }
        for (at, rule) in self.rules("requireJavaVersion") {
            if let Some(range) = rule.child("version") {
                let text = self.expand(at, &range.text);
                let why = || {
                    let said = format!("requireJavaVersion {text}");
                    Evidence::at(&self.poms[at].path, range.line, said)
                };
                let (least, most) = bounds(&text);
                needs.least.extend(least.map(|jdk| (jdk, why())));
                needs.most.extend(most.map(|jdk| (jdk, why())));
            }
        }
        for (at, configuration) in self.configurations("maven-toolchains-plugin") {
            if let Some(version) = configuration.at(&["toolchains", "jdk", "version"]) {
                let text = self.expand(at, &version.text);
                let said = format!("toolchain jdk {text}");
                let why = Evidence::at(&self.poms[at].path, version.line, said);
                let (least, most) = bounds(&text);
                let exact = !text.starts_with(['[', '(']) || least == most;
                let into = if exact {
                    &mut needs.pins
                } else {
                    &mut needs.least
                };
                into.extend(least.map(|jdk| (jdk, why)));
            }
        }
        needs
    }

    /// The enforcer's rules of a name.
    fn rules<'a>(&'a self, name: &'a str) -> impl Iterator<Item = (usize, &'a Element)> {
        self.configurations("maven-enforcer-plugin")
            .flat_map(move |(at, configuration)| {
                let found = configuration.descend();
                found
                    .filter(move |element| element.name == name)
                    .map(move |element| (at, element))
            })
    }
}

/// The lowest and the highest JDK of a version range: `[11,)`, `[1.8,1.9)`, `17`, `(,11]`.
pub(super) fn bounds(range: &str) -> (Option<u32>, Option<u32>) {
    let range = range.trim();
    let Some(inner) = range.strip_prefix(['[', '(']) else {
        // A bare version is a minimum.
        return (number(range), None);
    };
    let open = inner.ends_with(')');
    let inner = inner.trim_end_matches([']', ')']);
    match inner.split_once(',') {
        None => (number(inner), number(inner)),
        Some((low, high)) => {
            let high = number(high).map(|jdk| if open { jdk.saturating_sub(1) } else { jdk });
            (number(low), high)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{bounds, join};
    use crate::analysis::testing::planned;

    #[test]
    fn ranges_of_the_enforcer() {
        for (range, expected) in [
            ("[11,)", (Some(11), None)),
            ("17", (Some(17), None)),
            ("[1.8,1.9)", (Some(8), Some(8))),
            ("(,11]", (None, Some(11))),
            ("[17]", (Some(17), Some(17))),
            ("${x}", (None, None)),
        ] {
            assert_eq!(bounds(range), expected, "{range}");
        }
    }

    #[test]
    fn paths_stay_inside() {
        assert_eq!(join("a/b", "../pom.xml").as_deref(), Some("a/pom.xml"));
        assert_eq!(join("", "core").as_deref(), Some("core"));
        assert_eq!(join("", "../x"), None);
    }
    /// What the jar of a module holds besides is not on the class path of others before it is packed.
    #[test]
    fn a_module_that_packs_what_is_optional_is_packed_first() {
        let goal = |optional: &str| {
            let core = format!(
                "<project><parent><groupId>g</groupId><artifactId>all</artifactId><version>1</version></parent>
                <artifactId>core</artifactId><dependencies><dependency><groupId>o</groupId><artifactId>runtime</artifactId>
                <version>1</version>{optional}</dependency></dependencies><build><plugins><plugin>
                <artifactId>maven-shade-plugin</artifactId><version>3.6.0</version><executions><execution><configuration>
                <artifactSet><includes><include>o:runtime</include></includes></artifactSet>
                </configuration></execution></executions></plugin></plugins></build></project>"
            );
            let files = [
                (
                    "pom.xml",
                    "<project><groupId>g</groupId><artifactId>all</artifactId><version>1</version>
                    <packaging>pom</packaging><modules><module>core</module><module>more</module></modules></project>",
                ),
                ("core/pom.xml", core.as_str()),
                (
                    "more/pom.xml",
                    "<project><parent><groupId>g</groupId><artifactId>all</artifactId><version>1</version></parent>
                    <artifactId>more</artifactId><dependencies><dependency><groupId>g</groupId><artifactId>core</artifactId>
                    <version>1</version></dependency></dependencies></project>",
                ),
                ("more/src/test/java/MoreTest.java", "class MoreTest {}"),
            ];
            let plan = planned(files, &[]);
            plan.test_cmd.contains(" clean package;")
        };
        assert!(goal("<optional>true</optional>"));
        assert!(goal("<scope>provided</scope>"));
        assert!(!goal(""));
    }
}
