//! Languages: one folder each, with its analysis, its Dockerfile template and its samples.

mod c;
mod cpp;
mod csharp;
mod go;
mod java;
mod javascript;
mod nested;
mod php;
mod python;
mod registry;
mod ruby;
mod rust;
mod typescript;
mod xml;

pub(crate) use java::COMPILE_FIRST;
pub(crate) use python::{Database, database};
pub(crate) use registry::BUILTIN;

use crate::analysis::{Facts, Presence, Verdict};
use crate::tree::Tree;
use atlas_core::EnvironmentPlan;
use std::fmt;

/// What Atlas knows of a language.
pub(crate) trait Language: fmt::Debug + Send + Sync {
    /// The id, as in a plan's `language`; also the name of the folder.
    fn id(&self) -> &'static str;
    /// The Dockerfile template, which extends the common one.
    fn template(&self) -> &'static str;
    /// A bash script that prints what an environment was made of.
    fn inventory(&self) -> &'static str;
    /// The base image where nothing is known of a repository but its language.
    fn image(&self) -> &'static str;
    /// How much of the language is there.
    fn presence(&self, tree: &Tree) -> Presence;
    /// Whether tests alone, without a manifest in the root, leave open how to run them.
    fn needs_manifest(&self) -> bool {
        true
    }
    /// The plan, or why there is none.
    fn analyse(&self, facts: &Facts<'_>) -> Result<EnvironmentPlan, Verdict>;
}

/// A bash script that prints what an environment of this language was made of: lines
/// `tool<TAB>name<TAB>version` and `dependency<TAB>text`. It needs no network and always exits
/// with 0. A language that is not known gets a script that prints nothing.
pub fn inventory_script(language: &str) -> &'static str {
    BUILTIN
        .iter()
        .find(|known| known.id() == language)
        .map_or("true", |known| known.inventory())
}

/// Ids of the languages that analysis and rendering know, in the order of the table.
pub fn languages() -> impl Iterator<Item = &'static str> {
    BUILTIN.iter().map(|language| language.id())
}

/// The build command that puts a shell script into the environment; [`call`] runs it.
pub(crate) fn install_script(name: &str, text: &str) -> String {
    format!(
        "mkdir -p \"$ATLAS_ENV/bin\" && cat > \"$ATLAS_ENV/bin/{name}\" <<'ATLAS_END'\n{}\nATLAS_END",
        text.trim_end()
    )
}

/// Whether a build command is one that is the same for every commit of a repository: it writes a
/// file of its own text, or makes or fills a folder outside the checkout without a look at it.
pub(crate) fn needs_no_sources(command: &str) -> bool {
    let node = command
        .strip_prefix("have=\"$(node -p 'process.versions.node.split(\".\")[0]')\"; ")
        .is_some_and(|rest| rest.ends_with("; fi") && rest.matches(';').count() == 3);
    let tool = command.strip_prefix(INSTALL_TOOL).is_some_and(|name| {
        name.chars()
            .all(|c| c.is_ascii_alphanumeric() || "@/._-^~".contains(c))
    });
    node || tool || command == MAKE_VENV || only_writes(command)
}

/// Whether a command does nothing but make folders of the environment and write its own text there.
fn only_writes(command: &str) -> bool {
    let place = |text: &str| {
        text.strip_prefix("\"$ATLAS_ENV/")
            .and_then(|rest| rest.strip_suffix('"'))
            .is_some_and(|path| {
                path.chars()
                    .all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c))
            })
    };
    if command.trim().is_empty() {
        return false;
    }
    let mut lines = command.lines();
    while let Some(line) = lines.next() {
        let mut parts = line.split(" && ").peekable();
        while let Some(part) = parts.next() {
            if part.strip_prefix("mkdir -p ").is_some_and(place) {
                continue;
            }
            let written = part
                .strip_prefix("cat > ")
                .and_then(|rest| rest.split_once(" <<"))
                .filter(|(path, _)| place(path) && parts.peek().is_none())
                .and_then(|(_, word)| word.strip_prefix('\'')?.strip_suffix('\''));
            let Some(end) = written else {
                return false;
            };
            if !lines.any(|line| line == end) {
                return false;
            }
        }
    }
    true
}

/// Installs a tool of JavaScript's, whose name and version follow.
pub(crate) const INSTALL_TOOL: &str =
    "npm install --prefix \"$ATLAS_ENV/tools\" --no-package-lock --no-audit --no-fund ";

/// Makes Python's virtual environment.
pub(crate) const MAKE_VENV: &str =
    "[ -x \"$ATLAS_ENV/venv/bin/python\" ] || python3 -m venv \"$ATLAS_ENV/venv\"";

/// Makes the folder for programs.
pub(crate) const MAKE_BIN: &str = "mkdir -p \"$ATLAS_ENV/bin\"";

/// The command that runs a script of the environment.
pub(crate) fn call(name: &str) -> String {
    format!("bash \"$ATLAS_ENV/bin/{name}\"")
}

/// The variables that every plan may use and every engine sets are not listed here; these are a
/// plan's own.
pub(crate) fn env<const N: usize>(
    pairs: [(&str, &str); N],
) -> std::collections::BTreeMap<String, String> {
    pairs
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{install_script, needs_no_sources};

    #[test]
    fn what_only_writes_its_own_text_needs_no_sources() {
        for command in [
            &install_script("x", "a && b\n"),
            "mkdir -p \"$ATLAS_ENV/bin\"",
            "mkdir -p \"$ATLAS_ENV/a\"\ncat > \"$ATLAS_ENV/a/b.awk\" <<'ATLAS'\nx\nATLAS\ncat > \"$ATLAS_ENV/a/c\" <<'ATLAS'\ny\nATLAS",
            "npm install --prefix \"$ATLAS_ENV/tools\" --no-package-lock --no-audit --no-fund pnpm@9",
        ] {
            assert!(needs_no_sources(command), "{command}");
        }
        for command in [
            "make",
            &format!("{}\nmake", install_script("x", "a")),
            "mkdir -p \"$ATLAS_ENV/bin\" && cp run \"$ATLAS_ENV/bin\"",
            "mkdir -p \"$ATLAS_ENV/$(cat name)\"",
            "cat > \"$ATLAS_ENV/x\" <<ATLAS\n$(cat README)\nATLAS",
            "cat > \"$ATLAS_ENV/x\" <<'ATLAS'\nno end",
            "npm install --prefix \"$ATLAS_ENV/tools\" --no-package-lock --no-audit --no-fund x; make",
        ] {
            assert!(!needs_no_sources(command), "{command}");
        }
    }
}
