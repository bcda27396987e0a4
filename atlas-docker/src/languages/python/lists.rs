//! Which lists say what tests need: groups, extras, requirements files, and what tox and CI install.

use super::ini::strip_factors;
use super::locks::lockfile;
use super::manifests::{Group, Manifests, name_of};
use super::runner::is_test_tool;
use crate::facts::Facts;
use atlas_core::{EnvironmentPlan, Evidence};
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Names of lists for tests, the narrowest first.
pub(super) const TEST_GROUPS: &[&str] = &[
    "test",
    "tests",
    "testing",
    "tests_require",
    "unittest",
    "test-requirements",
    "pytest",
    "unit",
    "unit-tests",
    "hatch-test",
    "ci",
];

/// Names of lists for everything a developer does; lint and documentation tools are left out.
pub(super) const DEV_GROUPS: &[&str] = &[
    "dev",
    "develop",
    "development",
    "devel",
    "all-dev",
    "dev_extras",
];

/// Requirements files for tests, the narrowest first.
const TEST_FILES: &[&str] = &[
    "requirements/tests.txt",
    "requirements/test.txt",
    "requirements/testing.txt",
    "requirements/pytest.txt",
    "requirements-test.txt",
    "requirements-tests.txt",
    "requirements-testing.txt",
    "requirements_test.txt",
    "requirements_tests.txt",
    "test-requirements.txt",
    "test_requirements.txt",
    "tests/requirements.txt",
    "test/requirements.txt",
    "requirements/test.in",
    "requirements/tests.in",
];

const DEV_FILES: &[&str] = &[
    "requirements/dev.txt",
    "requirements/development.txt",
    "requirements-dev.txt",
    "requirements_dev.txt",
    "dev-requirements.txt",
    "dev_requirements.txt",
    "requirements/develop.txt",
    "requirements.dev.txt",
];

/// Tools that no test needs, heavy or not.
const LINT: &[&str] = &[
    "autopep8",
    "bandit",
    "black",
    "build",
    "bump2version",
    "bumpversion",
    "check-manifest",
    "codespell",
    "commitizen",
    "cruft",
    "doc8",
    "flake8",
    "furo",
    "isort",
    "mkdocs",
    "mkdocs-material",
    "mypy",
    "pdbpp",
    "pip-tools",
    "pre-commit",
    "pycodestyle",
    "pydocstyle",
    "pyflakes",
    "pylint",
    "pyright",
    "pyroma",
    "pyupgrade",
    "rstcheck",
    "ruff",
    "sphinx",
    "tox",
    "twine",
    "wheel",
    "yapf",
    "ipython",
    "ipdb",
    "nox",
    "towncrier",
    "interrogate",
    "vulture",
    "zest-releaser",
    "jupyter",
    "notebook",
    "codecov",
    "coveralls",
    "invoke",
    "hatch",
    "poetry",
];

pub(super) fn is_lint(requirement: &str) -> bool {
    let name = name_of(requirement);
    LINT.contains(&name.as_str())
        || [
            "flake8-",
            "sphinx-",
            "sphinxcontrib-",
            "mkdocs-",
            "types-",
            "mypy-",
            "pylint-",
        ]
        .iter()
        .any(|start| name.starts_with(start))
}

/// Whether a requirement of a list for tests is left out: tools that no test needs, but where a lockfile names their
/// versions, as its tests may call them, those for documentation alone.
fn is_left_out(facts: &Facts<'_>, requirement: &str) -> bool {
    let documents = || {
        let name = name_of(requirement);
        name == "furo"
            || ["sphinx", "mkdocs"]
                .iter()
                .any(|word| name.starts_with(word))
    };
    let is_locked = || lockfile(facts.tree).is_some();
    is_lint(requirement) && (!is_locked() || documents())
}

static FILE_OPTION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:^|\s)(?:-r|--requirement)[=\s]*([\w./-]+)").expect("a literal pattern")
});

/// What to install beside the project itself.
#[derive(Debug, Default)]
pub(super) struct Chosen {
    pub(super) extras: Vec<String>,
    pub(super) files: Vec<String>,
    pub(super) requirements: Vec<String>,
}

/// Order: what tox and CI install for tests; lists named for tests; lists named for development
/// that hold a testing tool; the plain requirements file where there is no package.
pub(super) fn choose(
    facts: &Facts<'_>,
    manifests: &Manifests,
    plan: &mut EnvironmentPlan,
) -> Chosen {
    let mut chosen = Chosen::default();
    from_tox(facts, manifests, &mut chosen, plan);
    from_ci(facts, manifests, &mut chosen, plan);
    from_tools(facts, manifests, &mut chosen, plan);
    let named = |names: &[&str]| -> Vec<&Group> {
        names
            .iter()
            .flat_map(|name| {
                manifests
                    .groups
                    .iter()
                    .filter(move |group| group.name.eq_ignore_ascii_case(name))
            })
            .collect()
    };
    let nothing = |chosen: &Chosen| {
        chosen.extras.is_empty() && chosen.files.is_empty() && chosen.requirements.is_empty()
    };
    let mut tested = !nothing(&chosen);
    for group in named(TEST_GROUPS) {
        take(facts, group, &mut chosen, plan);
        tested = true;
    }
    if !tested
        && let Some(file) = facts
            .tree
            .first(TEST_FILES)
            .or_else(|| list_file(facts, "test"))
    {
        take_file(file, &mut chosen, plan);
        tested = true;
    }
    if !tested {
        for group in named(DEV_GROUPS) {
            let list = resolved(manifests, group, &mut BTreeSet::new());
            if list.iter().any(|requirement| is_test_tool(requirement)) {
                let kept = list.into_iter().filter(|item| !is_left_out(facts, item));
                prove_group(facts, group, plan);
                chosen.requirements.extend(kept);
                tested = true;
            }
        }
    }
    if !tested
        && let Some(file) = facts
            .tree
            .first(DEV_FILES)
            .or_else(|| list_file(facts, "dev"))
    {
        take_file(file, &mut chosen, plan);
    }
    if manifests.installable.is_none() && facts.tree.has("requirements.txt") {
        take_file("requirements.txt", &mut chosen, plan);
    }
    if manifests.installable.is_none() {
        chosen
            .requirements
            .extend(manifests.dependencies.iter().cloned());
    }
    of_lists(facts, manifests, &mut chosen, plan);
    dedup(&mut chosen.extras);
    dedup(&mut chosen.files);
    dedup(&mut chosen.requirements);
    chosen
}

/// What the repository's own lists install of the project itself: `-e .[redis,postgres]`.
fn of_lists(
    facts: &Facts<'_>,
    manifests: &Manifests,
    chosen: &mut Chosen,
    plan: &mut EnvironmentPlan,
) {
    static ITSELF: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^\s*(?:(?:-e|--editable)[\s=]*)?\./?\[([\w, -]+)\]")
            .expect("a literal pattern")
    });
    let lists = facts.tree.ending(".txt").filter(|path| {
        let low = path.to_ascii_lowercase();
        low.contains("require") && !low.contains("doc") && low.matches('/').count() < 2
    });
    for path in lists {
        let Some((line, text)) = facts.tree.line(path, &ITSELF) else {
            continue;
        };
        let named = ITSELF.captures(&text).map(|found| found[1].to_owned());
        let named = named.unwrap_or_default();
        let known = |name: &&str| {
            let mut groups = manifests.groups.iter();
            groups.any(|group| group.extra && group.name == *name)
        };
        let more: Vec<String> = named
            .split(',')
            .map(str::trim)
            .filter(known)
            .map(str::to_owned)
            .collect();
        if !more.is_empty() {
            chosen.extras.extend(more);
            plan.prove("build", Evidence::at(path, line, text));
        }
    }
}

/// A requirements file for a purpose under any name: `deps/test-reqs.txt`. The one nearest to the
/// root, then the one of the shortest name.
fn list_file<'a>(facts: &Facts<'a>, purpose: &str) -> Option<&'a str> {
    facts
        .tree
        .files()
        .filter(|path| {
            let low = path.to_ascii_lowercase();
            [".txt", ".in", ".pip"].iter().any(|end| low.ends_with(end))
                && ["require", "reqs", "deps"]
                    .iter()
                    .any(|word| low.contains(word))
                && low
                    .split(['/', '-', '_', '.'])
                    .any(|part| part.trim_start_matches("py").starts_with(purpose))
                && low.matches('/').count() < 3
                && !low.contains("doc")
        })
        .min_by_key(|path| (path.matches('/').count(), path.len(), *path))
}

fn dedup(list: &mut Vec<String>) {
    let mut seen = BTreeSet::new();
    list.retain(|item| seen.insert(item.clone()));
}

fn take_file(file: &str, chosen: &mut Chosen, plan: &mut EnvironmentPlan) {
    if !chosen.files.iter().any(|known| known == file) {
        chosen.files.push(file.to_owned());
        plan.prove("build", Evidence::of(file, "requirements"));
    }
}

fn prove_group(facts: &Facts<'_>, group: &Group, plan: &mut EnvironmentPlan) {
    let kind = if group.extra { "extra" } else { "group" };
    let text = format!("{kind} `{}`", group.name);
    let pattern = Regex::new(&format!(
        r#"^\s*["']?{}["']?\s*[=:]|\.{}[.\]]|^\s*tests?_requires?"#,
        regex::escape(&group.name),
        regex::escape(&group.name)
    ));
    let line = pattern
        .ok()
        .and_then(|pattern| facts.tree.line(&group.file, &pattern));
    plan.prove(
        "build",
        match line {
            Some((line, _)) => Evidence::at(group.file.clone(), line, text),
            None => Evidence::of(group.file.clone(), text),
        },
    );
}

fn take(facts: &Facts<'_>, group: &Group, chosen: &mut Chosen, plan: &mut EnvironmentPlan) {
    if group.extra {
        if chosen.extras.contains(&group.name) {
            return;
        }
        chosen.extras.push(group.name.clone());
    } else {
        chosen.requirements.extend(
            group
                .requirements
                .iter()
                .filter(|item| !is_left_out(facts, item))
                .cloned(),
        );
    }
    prove_group(facts, group, plan);
}

/// A group's requirements; `name[extra]` of the project itself is replaced by that extra's.
fn resolved(manifests: &Manifests, group: &Group, seen: &mut BTreeSet<String>) -> Vec<String> {
    let mut found = Vec::new();
    // Extras may name each other in a ring.
    if !seen.insert(group.name.clone()) {
        return found;
    }
    for requirement in &group.requirements {
        let itself = !manifests.name.is_empty() && name_of(requirement) == manifests.name;
        let inner = requirement
            .split_once('[')
            .and_then(|(_, rest)| rest.split_once(']'));
        match inner {
            Some((names, _)) if itself => {
                for name in names.split(',').map(str::trim) {
                    for other in manifests.groups.iter().filter(|other| other.name == name) {
                        found.extend(resolved(manifests, other, seen));
                    }
                }
            }
            _ if itself => {}
            _ => found.push(requirement.clone()),
        }
    }
    found
}

/// Whether a line of tox's `deps` is a requirement of every environment that tests may need.
fn is_plain(line: &str) -> bool {
    let text = line.trim();
    !text.starts_with(['-', '.', '{'])
        && !text.contains(['{', '['])
        && !is_lint(text)
        && !name_of(text).is_empty()
        && strip_factors(line) == text
}

/// The requirements of tox's plain `testenv`.
pub(super) fn of_tox(manifests: &Manifests) -> impl Iterator<Item = String> {
    let lines = manifests.tox.lines("testenv", "deps").iter();
    lines
        .filter(|line| is_plain(&line.text))
        .map(|line| line.text.trim().to_owned())
}

/// tox's plain `testenv`: its `deps` and `extras`.
fn from_tox(
    facts: &Facts<'_>,
    manifests: &Manifests,
    chosen: &mut Chosen,
    plan: &mut EnvironmentPlan,
) {
    for key in ["extras", "deps", "dependency_groups"] {
        for line in manifests.tox.lines("testenv", key) {
            let text = line
                .text
                .replace("{toxinidir}/", "")
                .replace("{tox_root}/", "");
            let text = strip_factors(&text);
            let at = Evidence::at(line.file.clone(), line.line, line.text.clone());
            if key == "deps" {
                if let Some(file) = FILE_OPTION.captures(text) {
                    let file = file[1].to_owned();
                    if facts.tree.has(&file) {
                        chosen.files.push(file);
                        plan.prove("build", at);
                    }
                } else if is_plain(&line.text) {
                    chosen.requirements.push(text.to_owned());
                    plan.prove("build", at);
                }
                continue;
            }
            for name in text.split([',', ' ']).map(str::trim) {
                if let Some(group) = manifests.groups.iter().find(|group| group.name == name) {
                    plan.prove("build", at.clone());
                    if group.extra {
                        chosen.extras.push(name.to_owned());
                    } else {
                        chosen
                            .requirements
                            .extend(group.requirements.iter().cloned());
                    }
                }
            }
        }
    }
}

/// `pip install` lines of CI's test jobs: requirements files, extras of `.`, plain names.
fn from_ci(
    facts: &Facts<'_>,
    manifests: &Manifests,
    chosen: &mut Chosen,
    plan: &mut EnvironmentPlan,
) {
    static PIP: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\bpip3?\s+install\s+([^;&|]*)").expect("a literal pattern"));
    static EXTRAS: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^\.(?:/)?\[([\w, -]+)\]$").expect("a literal pattern"));
    for command in facts.ci.test_commands() {
        for found in PIP.captures_iter(&command.text) {
            let at = Evidence::at(command.file.clone(), command.line, command.text.clone());
            let mut used = false;
            for file in FILE_OPTION.captures_iter(&found[1]) {
                let narrow = !file[1].contains("doc") && !file[1].contains("lint");
                let path = facts.ci.path(command, &file[1]);
                if narrow && facts.tree.has(&path) {
                    chosen.files.push(path);
                    used = true;
                }
            }
            for word in found[1].split_whitespace() {
                let word = word.trim_matches(['"', '\'']);
                if let Some(extras) = EXTRAS.captures(word) {
                    for name in extras[1].split(',').map(str::trim) {
                        let known = manifests
                            .groups
                            .iter()
                            .any(|group| group.extra && group.name == name);
                        if known {
                            chosen.extras.push(name.to_owned());
                            used = true;
                        }
                    }
                } else if is_test_tool(word) && !is_lint(word) && !word.contains(['$', '/']) {
                    chosen.requirements.push(word.to_owned());
                    used = true;
                }
            }
            if used {
                plan.prove("build", at);
            }
        }
    }
}

/// Extras and groups that CI's test jobs install by name (`uv sync --group test`, `pip install . --group dev`,
/// `poetry install --with test`, `pdm install -G test`), and what a session of nox installs for tests; only those
/// that the manifests declare.
fn from_tools(
    facts: &Facts<'_>,
    manifests: &Manifests,
    chosen: &mut Chosen,
    plan: &mut EnvironmentPlan,
) {
    static TOOL: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"\b(?:uv (?:sync|run)|pip3? install|poetry install|pdm (?:install|sync)|pipenv install)\b([^;&|]*)")
            .expect("a literal pattern")
    });
    static OPTION: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"(?:--(?:extras?|group|only-group|with|only)|-[EG])[ =]["']?([\w ,-]+?)["']?(?:\s+-|\s*$)"#)
            .expect("a literal pattern")
    });
    static NOX: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"session\.install\(([^()]*)\)").expect("a literal pattern"));
    static WORD: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#"["']([^"'\n]+)["']"#).expect("a literal pattern"));
    let mut take_named = |name: &str, at: &Evidence, plan: &mut EnvironmentPlan| {
        for group in manifests.groups.iter().filter(|group| group.name == name) {
            let narrow = !["doc", "lint", "typ"]
                .iter()
                .any(|part| name.contains(part));
            if narrow {
                take(facts, group, chosen, plan);
                plan.prove("build", at.clone());
            }
        }
    };
    for command in facts.ci.test_commands() {
        let Some(found) = TOOL.captures(&command.text) else {
            continue;
        };
        let at = Evidence::at(command.file.clone(), command.line, command.text.clone());
        // Each option ends where the next begins, so they are taken apart first.
        for option in found[1].replace(" -", "\n-").lines() {
            for names in OPTION.captures_iter(option.trim()) {
                for name in names[1].split([',', ' ']).filter(|name| !name.is_empty()) {
                    take_named(name, &at, plan);
                }
            }
            if matches!(option.trim(), "--all-extras") {
                for group in manifests.groups.iter().filter(|group| group.extra) {
                    take_named(&group.name, &at, plan);
                }
            }
        }
    }
    let text = facts.tree.text("noxfile.py").unwrap_or_default();
    let mut session = "";
    for (at, line) in text.lines().enumerate() {
        if let Some(name) = line.strip_prefix("def ") {
            session = name.split('(').next().unwrap_or_default();
        }
        let Some(call) = NOX.captures(line).filter(|_| session.contains("test")) else {
            continue;
        };
        let at = Evidence::at("noxfile.py", at + 1, line.trim());
        let words: Vec<String> = WORD
            .captures_iter(&call[1])
            .map(|word| word[1].to_owned())
            .collect();
        for pair in words.windows(2) {
            if pair[0] == "-r" && facts.tree.has(&pair[1]) {
                chosen.files.push(pair[1].clone());
                plan.prove("build", at.clone());
            }
        }
        for word in words.iter().filter(|word| is_test_tool(word)) {
            chosen.requirements.push(word.clone());
            plan.prove("build", at.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::analysis::testing::planned;

    #[test]
    fn a_group_that_ci_tells_pip_to_install_is_installed() {
        let files = [
            (
                "pyproject.toml",
                "[project]\nname = \"mine\"\nversion = \"1\"\n[dependency-groups]\ndev = [\"hypothesis\", \"pytest\"]\n",
            ),
            (
                ".github/workflows/test.yml",
                "jobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n    - run: pip install pytest-cov\n    \
                 - run: pip install . --group dev\n    - run: pytest\n",
            ),
            ("mine.py", ""),
            ("test_a.py", "import pytest\n"),
        ];
        let build = planned(files, &[]).build.join("\n");
        assert!(build.contains(" hypothesis"), "{build}");
    }
}
