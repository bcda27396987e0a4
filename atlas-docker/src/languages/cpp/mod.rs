//! C++: `CMake`, Meson, autotools, make.

pub(crate) mod native;

use super::Language;
use crate::facts::{Facts, Presence, Verdict};
use crate::tree::Tree;
use atlas_core::EnvironmentPlan;

/// C++.
#[derive(Debug)]
pub(crate) struct Cpp;

impl Language for Cpp {
    fn id(&self) -> &'static str {
        "cpp"
    }

    fn template(&self) -> &'static str {
        include_str!("../c/Dockerfile.j2")
    }

    fn inventory(&self) -> &'static str {
        include_str!("../c/inventory.sh")
    }

    fn image(&self) -> &'static str {
        "gcc:14-bookworm"
    }

    fn presence(&self, tree: &Tree) -> Presence {
        native::presence(tree, &["cc", "cpp", "cxx", "c++", "C", "hpp", "hh", "hxx"])
    }

    fn analyse(&self, facts: &Facts<'_>) -> Result<EnvironmentPlan, Verdict> {
        native::analyse(facts, self.id())
    }

    fn substitutes(
        &self,
        facts: &Facts<'_>,
        _plan: &EnvironmentPlan,
    ) -> Vec<(&'static str, String)> {
        native::substitutes(facts)
    }
}
