//! Reading Python's many manifests.

use super::ini::{Ini, strip_factors};
use crate::ci::Placed;
use crate::tree::Tree;
use atlas_core::Evidence;
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// A named list of requirements: an extra, a dependency group.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) name: String,
    pub(super) file: String,
    /// Whether `pip install .[name]` knows it.
    pub(super) extra: bool,
    pub(super) requirements: Vec<String>,
}

/// What the manifests in the root say.
#[derive(Debug, Default)]
pub(super) struct Manifests {
    pub(super) pyproject: Option<toml::Table>,
    pub(super) setup_py: Option<String>,
    pub(super) setup_cfg: Ini,
    pub(super) tox: Ini,
    /// The file that makes `pip install -e .` possible.
    pub(super) installable: Option<String>,
    pub(super) requires_python: Option<(String, Evidence)>,
    /// Run-time requirements.
    pub(super) dependencies: Vec<String>,
    pub(super) groups: Vec<Group>,
    /// The distribution's own name, normalised.
    pub(super) name: String,
}

static NAME: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^\s*([A-Za-z0-9][A-Za-z0-9._-]*)").expect("a literal pattern"));

/// A requirement's name: lower case, `_` and `.` as `-`.
pub(super) fn name_of(requirement: &str) -> String {
    NAME.captures(requirement)
        .map(|found| found[1].to_ascii_lowercase().replace(['_', '.'], "-"))
        .unwrap_or_default()
}

fn strings(value: Option<&toml::Value>) -> Vec<String> {
    value
        .and_then(toml::Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|item| item.as_str().map(str::to_owned))
        .collect()
}

impl Manifests {
    pub(super) fn read(tree: &Tree) -> Self {
        let mut found = Self {
            pyproject: tree.toml("pyproject.toml"),
            setup_py: tree.text("setup.py"),
            setup_cfg: Ini::read(tree, "setup.cfg"),
            tox: Ini::read(tree, "tox.ini"),
            ..Self::default()
        };
        found.read_tox(tree);
        found.read_pyproject(tree);
        found.read_setup_cfg();
        found.read_setup_py(tree);
        found.read_pipfile(tree);
        if found.installable.is_none() && found.dependencies.is_empty() {
            found.read_conda(tree);
        }
        found
    }

    /// tox's configuration where there is no `tox.ini`: in tox's own order `setup.cfg` with a section
    /// `tox:tox`, `pyproject.toml`, `tox.toml`. The base of all environments is named `testenv` here.
    fn read_tox(&mut self, tree: &Tree) {
        if !self.tox.sections.is_empty() {
            return;
        }
        if self.setup_cfg.sections.contains_key("tox:tox") {
            let sections = self.setup_cfg.sections.iter();
            self.tox.sections = sections
                .filter(|(name, _)| name.starts_with("testenv"))
                .map(|(name, keys)| (name.clone(), keys.clone()))
                .collect();
            return;
        }
        let table = |root: &toml::Table| root.get("tool")?.get("tox")?.as_table().cloned();
        let inside = self.pyproject.as_ref().and_then(table);
        let (file, root) = match (inside, tree.toml("tox.toml")) {
            (Some(root), _) => ("pyproject.toml", root),
            (None, Some(root)) => ("tox.toml", root),
            (None, None) => return,
        };
        if let Some(text) = root.get("legacy_tox_ini").and_then(toml::Value::as_str) {
            // A text in three quotes begins on the line after its key.
            let before = tree.line_with(file, "legacy_tox_ini").unwrap_or(0);
            self.tox = Ini::of(text, file, before);
            return;
        }
        let Some(base) = root.get("env_run_base") else {
            return;
        };
        let keys = ["deps", "extras", "dependency_groups", "commands"].map(|key| {
            let line = tree.line_with(file, key).unwrap_or(1);
            let values = base.get(key).and_then(toml::Value::as_array);
            let lines = values.into_iter().flatten().filter_map(|value| {
                let text = match value {
                    toml::Value::String(text) => text.clone(),
                    // A command is a list of its words.
                    toml::Value::Array(_) => strings(Some(value)).join(" "),
                    _ => return None,
                };
                let file = file.to_owned();
                Some(Placed { file, line, text })
            });
            (key.to_owned(), lines.collect())
        });
        let mut keys: BTreeMap<String, Vec<Placed>> = keys.into_iter().collect();
        let variables = ["set_env", "setenv"]
            .into_iter()
            .find_map(|key| base.get(key)?.as_table());
        for (name, value) in variables.into_iter().flatten() {
            if let Some(value) = value.as_str() {
                keys.entry("set_env".to_owned()).or_default().push(Placed {
                    file: file.to_owned(),
                    line: tree.line_with(file, name).unwrap_or(1),
                    text: format!("{name}={value}"),
                });
            }
        }
        self.tox.sections.insert("testenv".to_owned(), keys);
    }

    fn read_pipfile(&mut self, tree: &Tree) {
        const FILE: &str = "Pipfile";
        let Some(root) = tree.toml(FILE) else {
            return;
        };
        let list = |key: &str| -> Vec<String> {
            let table = root.get(key).and_then(toml::Value::as_table);
            table
                .into_iter()
                .flatten()
                .filter_map(|(name, value)| pipfile_requirement(name, value))
                .collect()
        };
        if self.installable.is_none() && self.dependencies.is_empty() {
            self.dependencies = list("packages");
        }
        self.groups.push(Group {
            name: "dev".to_owned(),
            file: FILE.to_owned(),
            extra: false,
            requirements: list("dev-packages"),
        });
        let python = root.get("requires").and_then(|requires| {
            let version = requires.get("python_version");
            version
                .or_else(|| requires.get("python_full_version"))?
                .as_str()
        });
        if let (None, Some(python)) = (&self.requires_python, python) {
            let line = tree.line_with(FILE, "python_").unwrap_or(1);
            let at = Evidence::at(FILE, line, format!("requires Python {python}"));
            self.requires_python = Some((format!("=={python}"), at));
        }
    }

    /// An environment of conda as requirements of pip: most packages bear the same name there. What
    /// is no Python package is left out where it is known not to be one.
    fn read_conda(&mut self, tree: &Tree) {
        const NO_PACKAGE: &[&str] = &[
            "pip",
            "conda",
            "mamba",
            "compilers",
            "cxx-compiler",
            "c-compiler",
            "fortran-compiler",
            "make",
            "cmake",
            "gcc",
            "gxx",
            "git",
            "nodejs",
            "openssl",
            "libgcc",
            "mkl",
            "nomkl",
        ];
        static ITEM: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r"^(\s*)-\s+(?:[\w-]+::)?([A-Za-z0-9][\w.-]*)\s*(.*)$")
                .expect("a literal pattern")
        });
        let Some(file) = tree.first(&["environment.yml", "environment.yaml"]) else {
            return;
        };
        let mut inside = false;
        for (at, line) in tree.text(file).unwrap_or_default().lines().enumerate() {
            if !line.starts_with([' ', '-', '#']) && !line.trim().is_empty() {
                inside = line.starts_with("dependencies:");
            }
            let line = line.split(" #").next().unwrap_or_default();
            let Some(item) = ITEM.captures(line).filter(|_| inside) else {
                continue;
            };
            let (name, version) = (item[2].to_owned(), item[3].trim());
            if version.starts_with(':') {
                continue;
            }
            // `=1.2` of conda is `==1.2.*`, a third part names a build.
            let version = match version
                .strip_prefix('=')
                .filter(|rest| !rest.starts_with('='))
            {
                Some(rest) => {
                    let rest = rest.split('=').next().unwrap_or_default();
                    format!("=={}.*", rest.trim_end_matches(".*"))
                }
                None => version.replace(' ', ""),
            };
            if name == "python" {
                let at = Evidence::at(file, at + 1, line.trim());
                self.requires_python.get_or_insert((version, at));
            } else if !NO_PACKAGE.contains(&name.as_str()) && !name.starts_with("lib") {
                self.dependencies.push(format!("{name}{version}"));
            }
        }
    }

    fn read_pyproject(&mut self, tree: &Tree) {
        const FILE: &str = "pyproject.toml";
        let Some(root) = self.pyproject.clone() else {
            return;
        };
        let tool = |name: &str| root.get("tool").and_then(|tool| tool.get(name));
        let group = |name: &str, extra: bool, requirements: Vec<String>| Group {
            name: name.to_owned(),
            file: FILE.to_owned(),
            extra,
            requirements,
        };
        if let Some(project) = root.get("project") {
            self.installable = Some(FILE.to_owned());
            self.name = name_of(
                project
                    .get("name")
                    .and_then(toml::Value::as_str)
                    .unwrap_or_default(),
            );
            self.dependencies = strings(project.get("dependencies"));
            if let Some(range) = project.get("requires-python").and_then(toml::Value::as_str) {
                let line = tree.line_with(FILE, "requires-python").unwrap_or(1);
                let text = format!("requires-python {range}");
                self.requires_python = Some((range.to_owned(), Evidence::at(FILE, line, text)));
            }
            let extras = project
                .get("optional-dependencies")
                .and_then(toml::Value::as_table);
            for (name, list) in extras.into_iter().flatten() {
                self.groups.push(group(name, true, strings(Some(list))));
            }
        } else if root.contains_key("build-system") && tool("poetry").is_none() {
            let packaged = tool("flit").is_some() || tree.has("setup.py") || tree.has("setup.cfg");
            self.installable = packaged.then(|| FILE.to_owned());
        }
        if let Some(groups) = root
            .get("dependency-groups")
            .and_then(toml::Value::as_table)
        {
            for name in groups.keys() {
                let list = included(groups, name, &mut BTreeSet::new());
                self.groups.push(group(name, false, list));
            }
        }
        if let Some(groups) = tool("pdm")
            .and_then(|pdm| pdm.get("dev-dependencies"))
            .and_then(toml::Value::as_table)
        {
            for (name, list) in groups {
                self.groups.push(group(name, false, strings(Some(list))));
            }
        }
        for manager in ["uv", "rye"] {
            let list = strings(tool(manager).and_then(|table| table.get("dev-dependencies")));
            if !list.is_empty() {
                self.groups.push(group("dev", false, list));
            }
        }
        let is_virtual = tool("rye").and_then(|rye| rye.get("virtual")?.as_bool());
        if is_virtual == Some(true) {
            // Rye installs what such a project needs, and not the project.
            self.installable = None;
        }
        let hatch = tool("hatch").and_then(|hatch| hatch.get("envs")?.as_table());
        for (name, table) in hatch.into_iter().flatten() {
            let mut list = strings(table.get("dependencies"));
            list.extend(strings(table.get("extra-dependencies")));
            for feature in strings(table.get("features")) {
                let extras = self.groups.iter().filter(|group| group.extra);
                let named = extras.filter(|group| group.name == feature);
                list.extend(named.flat_map(|group| group.requirements.clone()));
            }
            if !list.is_empty() {
                let name = if name == "default" { "dev" } else { name };
                self.groups.push(group(name, false, list));
            }
        }
        if let Some(poetry) = tool("poetry") {
            self.read_poetry(tree, poetry, root.contains_key("project"));
        }
    }

    fn read_poetry(&mut self, tree: &Tree, poetry: &toml::Value, has_project: bool) {
        const FILE: &str = "pyproject.toml";
        static PYTHON: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r"^\s*python\s*=").expect("a literal pattern"));
        let packaged = poetry.get("package-mode").and_then(toml::Value::as_bool) != Some(false);
        if !has_project {
            self.installable = packaged.then(|| FILE.to_owned());
            self.name = name_of(
                poetry
                    .get("name")
                    .and_then(toml::Value::as_str)
                    .unwrap_or_default(),
            );
            let main = poetry.get("dependencies").and_then(toml::Value::as_table);
            for (name, value) in main.into_iter().flatten() {
                if name == "python" {
                    let range = value.as_str().unwrap_or_default().to_owned();
                    if let Some((line, text)) = tree.line(FILE, &PYTHON) {
                        self.requires_python = Some((range, Evidence::at(FILE, line, text)));
                    }
                } else {
                    self.dependencies.extend(poetry_requirement(name, value));
                }
            }
            let extras = poetry.get("extras").and_then(toml::Value::as_table);
            for (name, list) in extras.into_iter().flatten() {
                self.groups.push(Group {
                    name: name.clone(),
                    file: FILE.to_owned(),
                    extra: true,
                    requirements: strings(Some(list)),
                });
            }
        }
        let groups = poetry.get("group").and_then(toml::Value::as_table);
        let legacy = poetry.get("dev-dependencies");
        let tables = groups
            .into_iter()
            .flatten()
            .filter_map(|(name, group)| Some((name.as_str(), group.get("dependencies")?)))
            .chain(legacy.map(|table| ("dev", table)));
        for (name, table) in tables {
            let list = table.as_table().into_iter().flatten();
            self.groups.push(Group {
                name: name.to_owned(),
                file: FILE.to_owned(),
                extra: false,
                requirements: list
                    .filter_map(|(name, value)| poetry_requirement(name, value))
                    .collect(),
            });
        }
    }

    fn read_setup_cfg(&mut self) {
        const FILE: &str = "setup.cfg";
        let cfg = &self.setup_cfg;
        if let Some(name) = cfg.value("metadata", "name") {
            self.installable.get_or_insert(FILE.to_owned());
            if self.name.is_empty() {
                self.name = name_of(&name.text);
            }
        }
        if let (None, Some(range)) = (
            &self.requires_python,
            cfg.value("options", "python_requires"),
        ) {
            let text = format!("python_requires {}", range.text);
            self.requires_python = Some((range.text.clone(), Evidence::at(FILE, range.line, text)));
        }
        let texts = |lines: &[Placed]| lines.iter().map(|line| line.text.clone()).collect();
        if self.dependencies.is_empty() {
            self.dependencies = texts(cfg.lines("options", "install_requires"));
        }
        if let Some(section) = cfg.sections.get("options.extras_require") {
            for (name, lines) in section {
                self.groups.push(Group {
                    name: name.clone(),
                    file: FILE.to_owned(),
                    extra: true,
                    requirements: texts(lines),
                });
            }
        }
        let required: Vec<String> = texts(cfg.lines("options", "tests_require"));
        if !required.is_empty() {
            self.groups.push(Group {
                name: "tests_require".to_owned(),
                file: FILE.to_owned(),
                extra: false,
                requirements: required,
            });
        }
    }

    /// `setup.py` is a program; only lists of literals are read out of it.
    fn read_setup_py(&mut self, tree: &Tree) {
        const FILE: &str = "setup.py";
        static LITERAL: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r#"["']([^"'\n]+)["']"#).expect("a literal pattern"));
        static RANGE: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r#"python_requires\s*=\s*["']([^"']+)["']"#).expect("a literal pattern")
        });
        static EXTRA: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r#"["']([A-Za-z0-9_-]+)["']\s*:\s*\[([^\]]*)\]"#).expect("a literal pattern")
        });
        static LIST: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r"(?i)(install_requires|tests_require|test_requires|tests_requires?|test_requirements)\s*=\s*\[([^\]]*)\]")
                .expect("a literal pattern")
        });
        let Some(text) = self.setup_py.clone() else {
            return;
        };
        self.installable.get_or_insert(FILE.to_owned());
        if let (None, Some((line, found))) = (&self.requires_python, tree.line(FILE, &RANGE))
            && let Some(range) = RANGE.captures(&found)
        {
            self.requires_python =
                Some((range[1].to_owned(), Evidence::at(FILE, line, found.clone())));
        }
        let literals = |list: &str| -> Vec<String> {
            LITERAL
                .captures_iter(list)
                .map(|found| found[1].to_owned())
                .collect()
        };
        for list in LIST.captures_iter(&text) {
            if &list[1] == "install_requires" {
                if self.dependencies.is_empty() {
                    self.dependencies = literals(&list[2]);
                }
            } else {
                self.groups.push(Group {
                    name: "tests_require".to_owned(),
                    file: FILE.to_owned(),
                    extra: false,
                    requirements: literals(&list[2]),
                });
            }
        }
        if let Some(at) = text.find("extras_require") {
            for found in EXTRA.captures_iter(&text[at..]) {
                self.groups.push(Group {
                    name: found[1].to_owned(),
                    file: FILE.to_owned(),
                    extra: true,
                    requirements: literals(&found[2]),
                });
            }
        }
    }

    /// All names that any manifest or requirements file mentions, with the file.
    pub(super) fn all_names(&self, tree: &Tree) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        let lists = ["Pipfile", "environment.yml", "environment.yaml"];
        let own = self
            .installable
            .clone()
            .or_else(|| tree.first(&lists).map(str::to_owned))
            .unwrap_or_default();
        for requirement in &self.dependencies {
            found.entry(name_of(requirement)).or_insert(own.clone());
        }
        for group in &self.groups {
            for requirement in &group.requirements {
                found
                    .entry(name_of(requirement))
                    .or_insert(group.file.clone());
            }
        }
        let files: Vec<&str> = tree
            .files()
            .filter(|path| {
                path.contains("requirements")
                    && [".txt", ".in"].iter().any(|end| path.ends_with(end))
                    && path.matches('/').count() < 2
            })
            .collect();
        for path in files {
            for line in tree.text(path).unwrap_or_default().lines() {
                found.entry(name_of(line)).or_insert(path.to_owned());
            }
        }
        for line in self.tox.lines("testenv", "deps") {
            let bare = strip_factors(&line.text);
            found.entry(name_of(bare)).or_insert(line.file.clone());
        }
        found.remove("");
        found
    }
}

/// A line of a `Pipfile` as a requirement of pip; paths and repositories are left out.
fn pipfile_requirement(name: &str, value: &toml::Value) -> Option<String> {
    let table = value.as_table();
    let version = match table {
        Some(table)
            if ["path", "git", "file"]
                .iter()
                .any(|key| table.contains_key(*key)) =>
        {
            return None;
        }
        Some(table) => table.get("version").and_then(toml::Value::as_str),
        None => value.as_str(),
    };
    let extras = strings(table.and_then(|table| table.get("extras")));
    let extras = match extras.as_slice() {
        [] => String::new(),
        some => format!("[{}]", some.join(",")),
    };
    let version = version
        .filter(|version| *version != "*")
        .unwrap_or_default();
    let marker = table
        .and_then(|table| table.get("markers")?.as_str())
        .map(|marker| format!("; {marker}"))
        .unwrap_or_default();
    Some(format!("{name}{extras}{version}{marker}"))
}

/// A dependency group with the groups it includes (PEP 735).
fn included(groups: &toml::Table, name: &str, seen: &mut BTreeSet<String>) -> Vec<String> {
    let mut found = Vec::new();
    // Groups may include each other in a ring.
    if !seen.insert(name.to_owned()) {
        return found;
    }
    for item in groups
        .get(name)
        .and_then(toml::Value::as_array)
        .into_iter()
        .flatten()
    {
        if let Some(text) = item.as_str() {
            found.push(text.to_owned());
        } else if let Some(other) = item.get("include-group").and_then(toml::Value::as_str) {
            found.extend(included(groups, other, seen));
        }
    }
    found
}

/// Poetry's own notation as a requirement of pip; sources other than an index are left out.
fn poetry_requirement(name: &str, value: &toml::Value) -> Option<String> {
    let (version, table) = match value {
        toml::Value::String(version) => (version.as_str(), None),
        toml::Value::Table(table) => (
            table.get("version").and_then(toml::Value::as_str)?,
            Some(table),
        ),
        // Alternatives by Python version: pip decides without them.
        toml::Value::Array(_) => return Some(name.to_owned()),
        _ => return None,
    };
    let extras = strings(table.and_then(|table| table.get("extras")));
    let extras = match extras.as_slice() {
        [] => String::new(),
        some => format!("[{}]", some.join(",")),
    };
    let text = format!("{name}{extras}{}", poetry_range(version));
    let mut markers: Vec<String> = Vec::new();
    let text_of = |key: &str| table.and_then(|table| table.get(key)?.as_str());
    if let Some(marker) = text_of("markers") {
        markers.push(format!("({marker})"));
    }
    if let Some(python) = text_of("python") {
        for clause in poetry_range(python)
            .split(',')
            .filter(|clause| !clause.is_empty())
        {
            let at = clause.find(|c: char| c.is_ascii_digit())?;
            let (operator, version) = clause.split_at(at);
            markers.push(format!("python_version {operator} '{version}'"));
        }
    }
    if markers.is_empty() {
        return Some(text);
    }
    Some(format!("{text}; {}", markers.join(" and ")))
}

/// `^1.2` -> `>=1.2,<2`, `~1.2` -> `>=1.2,<1.3`, `1.2` -> `==1.2`, `*` -> nothing.
fn poetry_range(range: &str) -> String {
    if range.contains("||") {
        return String::new();
    }
    let clause = |clause: &str| -> Option<String> {
        let clause = clause.trim();
        let (sign, version) = match clause.chars().next()? {
            sign @ ('^' | '~') if !clause.starts_with("~=") => (sign, &clause[1..]),
            c if c.is_ascii_digit() => ('=', clause),
            '*' => return None,
            _ => return Some(clause.replace(' ', "")),
        };
        let version = version.trim();
        let parts: Vec<u64> = version
            .split('.')
            .map_while(|part| part.parse().ok())
            .collect();
        if sign == '=' {
            return Some(format!("=={version}"));
        }
        let keep = if sign == '~' {
            parts.len().clamp(1, 2) - 1
        } else {
            parts
                .iter()
                .position(|part| *part > 0)
                .unwrap_or(parts.len().saturating_sub(1))
        };
        let mut upper = parts.get(..=keep)?.to_vec();
        *upper.last_mut()? += 1;
        let upper: Vec<String> = upper.iter().map(u64::to_string).collect();
        Some(format!(">={version},<{}", upper.join(".")))
    };
    range
        .split(',')
        .filter_map(clause)
        .collect::<Vec<_>>()
        .join(",")
}
