//! Packages of npm that are not to be had, and that nothing which is tested needs.

use super::{Change, Repair, Symptom};
use crate::tree::Tree;
use atlas_facts::{Family, language_of};
use regex::Regex;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

static GONE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"npm (?:error|ERR!) (?:404 Not Found - GET \S+?/((?:@[\w.-]+/)?[\w.-]+)/-/|404 .*'((?:@[\w.-]+/)?[\w.-]+)@\S+' (?:is not in|could not be found)|notarget No matching version found for ((?:@[\w.-]+/)?[\w.-]+)@|No versions available for ((?:@[\w.-]+/)?[\w.-]+)$)|ERR_PNPM_FETCH_404\W+GET \S+?/((?:@[\w.-]+/)?[\w.-]+)/-/",
    )
    .expect("a literal pattern")
});

/// A repository that npm asks for a dependency's commit: `owner/name` at the end of its address.
static CLONED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"npm (?:error|ERR!) command git .*\bls-remote .*?[:/]([\w.-]+/[\w.-]+?)(?:\.git)?$")
        .expect("a literal pattern")
});

/// What the toolbox's `npm-anyhow` says of a development dependency whose own dependencies are no releases.
static ASKS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^atlas: ((?:@[\w.-]+/)?[\w.-]+) asks for \S+$").expect("a literal pattern")
});

/// The parts of a manifest that name dependencies which those who use the package do not get.
const SECTIONS: &[&str] = &["devDependencies", "optionalDependencies"];

/// Folders whose programs are for developers.
const TOOLS: &[&str] = &[
    "scripts",
    "script",
    "tools",
    "bench",
    "benches",
    "benchmark",
    "benchmarks",
    "docs",
    "website",
    "examples",
    "node_modules",
];

/// How the settings of programs begin that look at sources, and that no test runs.
const LINTERS: &[&str] = &[
    ".commitlintrc",
    ".eslintrc",
    ".lintstagedrc",
    ".prettierrc",
    ".releaserc",
    ".stylelintrc",
    "commitlint.config.",
    "eslint.config.",
    "lint-staged.config.",
    "prettier.config.",
    "release.config.",
    "stylelint.config.",
];

/// A package whose download fails, and that comes in only through development dependencies of the root
/// which no source, test or setting names: these are left out.
pub(super) fn packages(symptom: &Symptom<'_>) -> Vec<Repair> {
    let mut gone: BTreeMap<&str, &str> = BTreeMap::new();
    for line in symptom.text.lines() {
        if let Some(found) = GONE.captures(line)
            && let Some(name) = found.iter().skip(1).flatten().next()
        {
            gone.entry(name.as_str()).or_insert(line);
        }
    }
    let lines_of = |form: &'static LazyLock<Regex>| {
        let lines = symptom.text.lines();
        lines.filter_map(move |line| Some((form.captures(line)?, line)))
    };
    let asking = lines_of(&ASKS).filter_map(|(found, line)| Some((found.get(1)?.as_str(), line)));
    gone.extend(asking);
    if gone.is_empty() && lines_of(&CLONED).next().is_none() {
        return Vec::new();
    }
    let read =
        |path: &str| -> Option<Value> { serde_json::from_str(&symptom.tree.text(path)?).ok() };
    let Some(manifest) = read("package.json") else {
        return Vec::new();
    };
    let repositories: Vec<(String, &str)> = lines_of(&CLONED)
        .filter_map(|(found, line)| Some((of_repository(&manifest, &found[1])?, line)))
        .collect();
    gone.extend(
        repositories
            .iter()
            .map(|(name, line)| (name.as_str(), *line)),
    );
    let lock = read("package-lock.json").or_else(|| read("npm-shrinkwrap.json"));
    let mut repairs = Vec::new();
    for (name, line) in gone {
        let roots = roots(&manifest, lock.as_ref(), name);
        let Some(roots) = roots else { continue };
        if roots
            .iter()
            .any(|root| is_needed(symptom.tree, &manifest, root))
        {
            continue;
        }
        repairs.extend(roots.into_iter().map(|root| Repair {
            rule: "npm package that is not to be had",
            proof: symptom.proof(line),
            change: Change::WithoutNpmPackage(root),
        }));
    }
    repairs
}

/// The root's development dependency that is taken from a repository `owner/name`.
fn of_repository(manifest: &Value, repository: &str) -> Option<String> {
    let sections = SECTIONS
        .iter()
        .filter_map(|section| manifest[*section].as_object());
    let mut all = sections.flatten();
    let (name, _) = all.find(|(_, version)| {
        let address = version.as_str().unwrap_or_default();
        let address = address.split('#').next().unwrap_or_default();
        let path = address.trim_end_matches('/').trim_end_matches(".git");
        let before = path.strip_suffix(repository);
        before.is_some_and(|before| before.is_empty() || before.ends_with([':', '/']))
    })?;
    Some(name.clone())
}

/// The root's development dependencies through which a package comes in; `None` where it comes in
/// otherwise, or nothing tells.
fn roots(manifest: &Value, lock: Option<&Value>, name: &str) -> Option<BTreeSet<String>> {
    let named = |sections: &[&str]| -> BTreeSet<String> {
        let maps = sections
            .iter()
            .filter_map(|section| manifest[*section].as_object());
        maps.flat_map(|map| map.keys().cloned()).collect()
    };
    let (own, others) = (
        named(SECTIONS),
        named(&["dependencies", "peerDependencies"]),
    );
    if own.contains(name) && !others.contains(name) {
        return Some(BTreeSet::from([name.to_owned()]));
    }
    let packages = lock?["packages"].as_object()?;
    let brings = |root: &String| reaches(packages, root, name);
    if others.iter().any(brings) {
        return None;
    }
    let roots: BTreeSet<String> = own.into_iter().filter(brings).collect();
    (!roots.is_empty()).then_some(roots)
}

/// Whether a package of a lock file has another among its dependencies, at any depth, by names alone.
fn reaches(packages: &Map<String, Value>, root: &str, wanted: &str) -> bool {
    let mut of: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (place, package) in packages {
        let Some((_, name)) = place.rsplit_once("node_modules/") else {
            continue;
        };
        for section in ["dependencies", "optionalDependencies", "peerDependencies"] {
            let map = package[section].as_object();
            of.entry(name).or_default().extend(
                map.into_iter()
                    .flat_map(|map| map.keys().map(String::as_str)),
            );
        }
    }
    let (mut open, mut seen) = (vec![root], BTreeSet::from([root]));
    while let Some(name) = open.pop() {
        if name == wanted {
            return true;
        }
        for next in of.get(name).into_iter().flatten() {
            if seen.insert(next) {
                open.push(next);
            }
        }
    }
    false
}

/// Whether a source, a test, a setting or a script that builds or tests names the package.
fn is_needed(tree: &Tree, manifest: &Value, name: &str) -> bool {
    let quoted = |text: &str| {
        text.match_indices(name).any(|(at, _)| {
            let before = text[..at].chars().next_back();
            let after = text[at + name.len()..].chars().next();
            matches!(before, Some('"' | '\'' | '`'))
                && matches!(after, Some('"' | '\'' | '`' | '/'))
        })
    };
    let is_tool = |path: &str| {
        let (folders, file) = path.rsplit_once('/').unwrap_or(("", path));
        folders.split('/').any(|folder| TOOLS.contains(&folder))
            || file.contains(".bench.")
            || LINTERS.iter().any(|start| file.starts_with(start))
    };
    let is_code = |path: &str| {
        language_of(path).is_some_and(|language| language.family() == Family::JavaScript)
    };
    let is_setting = |path: &str| {
        let file = path.rsplit('/').next().unwrap_or(path);
        file.starts_with('.') && file.contains("rc") || file.starts_with("tsconfig")
    };
    let files = tree
        .files()
        .filter(|path| !is_tool(path) && (is_code(path) || is_setting(path)));
    if files
        .filter_map(|path| tree.text(path))
        .any(|text| quoted(&text))
    {
        return true;
    }
    let scripts = manifest["scripts"].as_object();
    let runs = |key: &str| {
        [
            "test",
            "pretest",
            "posttest",
            "build",
            "prepare",
            "prebuild",
            "compile",
            "install",
            "postinstall",
        ]
        .iter()
        .any(|start| key.starts_with(start))
    };
    let bare = name.rsplit('/').next().unwrap_or(name);
    let in_script = scripts.into_iter().flatten().any(|(key, command)| {
        let mut words = command
            .as_str()
            .unwrap_or_default()
            .split([' ', '&', ';', '|']);
        runs(key) && words.any(|word| word == bare || word == name)
    });
    let dependencies = [SECTIONS, &["dependencies", "peerDependencies", "scripts"]].concat();
    let elsewhere = manifest
        .as_object()
        .into_iter()
        .flatten()
        .any(|(key, value)| {
            key != "name" && !dependencies.contains(&key.as_str()) && quoted(&value.to_string())
        });
    in_script || elsewhere
}

#[cfg(test)]
mod tests {
    use crate::repair::Change;
    use crate::repair::testing::changes;

    const LOG: &str = "npm error code E404\nnpm error 404 Not Found - GET https://registry.example.org/top-sites/-/top-sites-1.1.225.tgz\n";

    fn of(files: &[(&str, &str)]) -> Vec<Change> {
        changes("node:20", files, LOG)
    }

    #[test]
    fn a_package_that_only_a_benchmark_imports_is_left_out() {
        let manifest = r#"{"scripts": {"test": "vitest", "bench": "top-sites"}, "devDependencies": {"top-sites": "1", "vitest": "4"}}"#;
        let out = [Change::WithoutNpmPackage("top-sites".to_owned())];
        let tool = ("scripts/update.ts", "import top from \"top-sites\";\n");
        assert_eq!(of(&[("package.json", manifest), tool]), out);
        let bench = ("src/a.bench.ts", "import top from 'top-sites';\n");
        assert_eq!(of(&[("package.json", manifest), bench]), out);
        let test = ("src/a.spec.ts", "import top from 'top-sites/data';\n");
        assert_eq!(of(&[("package.json", manifest), test]), []);
        let title = (
            "src/a.spec.ts",
            "describe(\"parse top-sites\", () => {});\n",
        );
        assert_eq!(of(&[("package.json", manifest), title]), out);
        let needed = manifest.replace("\"vitest\",", "\"top-sites && vitest\",");
        assert_eq!(of(&[("package.json", &needed)]), []);
        let own = manifest.replace("devDependencies", "dependencies");
        assert_eq!(of(&[("package.json", &own)]), []);
    }

    #[test]
    fn what_only_a_linter_is_set_up_with_is_left_out() {
        let manifest = r#"{"scripts": {"lint": "eslint .", "test": "tape test"}, "devDependencies": {"top-sites": "1"}}"#;
        let out = [Change::WithoutNpmPackage("top-sites".to_owned())];
        let flat = ("eslint.config.mjs", "import base from 'top-sites/node';\n");
        assert_eq!(of(&[("package.json", manifest), flat]), out);
        let old = (".eslintrc", "{\"extends\": \"top-sites\"}");
        assert_eq!(of(&[("package.json", manifest), old]), out);
        let babel = (".babelrc", "{\"presets\": [\"top-sites\"]}");
        assert_eq!(of(&[("package.json", manifest), babel]), []);
    }

    #[test]
    fn each_manager_and_a_repository_out_of_reach_say_it_in_their_own_words() {
        let manifest =
            r#"{"devDependencies": {"top-sites": "github:someone/top.sites#main", "mocha": "9"}}"#;
        for (log, expected) in [
            ("npm ERR! No versions available for top-sites\n", true),
            (
                "\u{2009}ERR_PNPM_FETCH_404\u{2009} GET https://registry.example.org/top-sites/-/top-sites-1.1.225.tgz: Not Found - 404\n",
                true,
            ),
            (
                "npm ERR! command git --no-replace-objects ls-remote ssh://git@host.example/someone/top.sites.git\n",
                true,
            ),
            (
                "npm error command git --no-replace-objects ls-remote https://host.example/someone/top.sites\n",
                true,
            ),
            (
                "npm error command git --no-replace-objects ls-remote https://host.example/no-one/top.sites\n",
                false,
            ),
            ("atlas: top-sites asks for someone/else#enhanced\n", true),
            ("atlas: mocha-two asks for someone/else#enhanced\n", false),
        ] {
            let out = [Change::WithoutNpmPackage("top-sites".to_owned())];
            let found = changes("node:20", &[("package.json", manifest)], log);
            assert_eq!(found, out[..usize::from(expected)], "{log}");
        }
    }

    #[test]
    fn what_brings_the_package_in_is_left_out() {
        let manifest =
            r#"{"dependencies": {"a": "1"}, "devDependencies": {"size": "1", "vitest": "4"}}"#;
        let lock = r#"{"packages": {"node_modules/a": {}, "node_modules/size": {"dependencies": {"b": "1"}},
            "node_modules/b": {"dependencies": {"top-sites": "1"}}, "node_modules/vitest": {}}}"#;
        let files = [("package.json", manifest), ("package-lock.json", lock)];
        assert_eq!(of(&files), [Change::WithoutNpmPackage("size".to_owned())]);
        let shared = lock.replace(
            "\"node_modules/a\": {}",
            "\"node_modules/a\": {\"dependencies\": {\"b\": \"1\"}}",
        );
        assert_eq!(
            of(&[("package.json", manifest), ("package-lock.json", &shared)]),
            []
        );
        assert_eq!(of(&[("package.json", manifest)]), []);
    }
}
