//! C sources that Cython makes of modules, where the build expects them and no commit has them.

use super::install::day;
use super::lists::Chosen;
use super::manifests::{Manifests, name_of};
use crate::facts::Facts;
use crate::quote::shell_quote;
use crate::toolbox::{INSTALL_PYTHON, call};
use atlas_core::Evidence;
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

static SOURCE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"["']([\w./-]+)\.(c|cpp)["']"#).expect("a literal pattern"));

/// How to make the sources that a build names: commands, and the line that proves each.
#[derive(Debug, Default)]
pub(super) struct Made {
    pub(super) commands: Vec<String>,
    pub(super) proofs: Vec<Evidence>,
}

/// The sources of extensions that are not there, while a module of that name is. A build that knows Cython makes
/// them itself.
pub(super) fn sources(facts: &Facts<'_>) -> Made {
    let mut made = Made::default();
    let mut seen = BTreeSet::new();
    for file in ["setup.py", "pyproject.toml"] {
        let Some(text) = facts.tree.text(file) else {
            continue;
        };
        if file == "setup.py" && (text.contains("ythonize(") || text.contains("Cython.")) {
            return Made::default();
        }
        for (number, line) in text.lines().enumerate() {
            for found in SOURCE.captures_iter(line) {
                let module = format!("{}.pyx", &found[1]);
                let source = format!("{}.{}", &found[1], &found[2]);
                if facts.tree.has(&source) || !facts.tree.has(&module) || !seen.insert(source) {
                    continue;
                }
                let option = if &found[2] == "cpp" { " --cplus" } else { "" };
                let command = format!("cython{option} {}", shell_quote(&module));
                made.commands.push(command);
                made.proofs
                    .push(Evidence::at(file, number + 1, line.trim()));
            }
        }
    }
    made
}

/// Brings Cython, in the version that the repository's lists name.
pub(super) fn install(facts: &Facts<'_>, manifests: &Manifests, chosen: &Chosen) -> String {
    let of_groups = manifests
        .groups
        .iter()
        .flat_map(|group| &group.requirements);
    let lists = chosen.files.iter().map(String::as_str);
    let of_files = lists
        .chain(["requirements.txt"])
        .filter_map(|file| facts.tree.text(file))
        .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>());
    let known = of_files
        .chain(of_groups.cloned())
        .find(|requirement| name_of(requirement) == "cython");
    let wanted = known.as_deref().unwrap_or("cython");
    let wanted = wanted.split(" #").next().unwrap_or(wanted).trim();
    format!(
        "{} --add{} {}",
        call(INSTALL_PYTHON),
        day(facts),
        shell_quote(wanted)
    )
}
