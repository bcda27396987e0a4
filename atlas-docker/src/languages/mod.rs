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
pub(crate) mod xml;

pub(crate) use cpp::native;
pub(crate) use java::COMPILE_FIRST;
pub(crate) use python::{Database, database};
pub(crate) use registry::BUILTIN;

use crate::facts::{Facts, Presence, Verdict};
use crate::tree::Tree;
use atlas_core::{Environment, EnvironmentPlan};
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
    /// Files of the build context that install replacements for packages whose registry cannot be reached, for engines
    /// with `[registries] substitute`. [`INSTALL_SUBSTITUTES`] runs as root, before the repository is there. `plan` is
    /// what is built: its `docker_specs` name the toolchain of the base image that was found.
    fn substitutes(
        &self,
        _facts: &Facts<'_>,
        _plan: &EnvironmentPlan,
    ) -> Vec<(&'static str, String)> {
        Vec::new()
    }
    /// Names in the plan's specs a toolchain that a substitute brought in the place of the base image's.
    fn name_substitutes(&self, _environment: &mut Environment) {}
}

/// Names in the plan's specs what substitutes brought, where there are any.
pub(crate) fn name_substitutes(environment: &mut Environment) {
    let of_plan = |language: &&&dyn Language| language.id() == environment.plan.language;
    if let Some(language) = BUILTIN.iter().find(of_plan)
        && !environment.lock.substitutes.is_empty()
    {
        language.name_substitutes(environment);
    }
}

/// The file that installs substitutes. It may call `say` with what it did.
pub(crate) const INSTALL_SUBSTITUTES: &str = "install.sh";

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
