//! C: `CMake`, Meson, autotools, make.

use super::Language;
use crate::facts::{Facts, Presence, Verdict};
use crate::languages::native;
use crate::tree::Tree;
use atlas_core::EnvironmentPlan;

/// C.
#[derive(Debug)]
pub(crate) struct C;

impl Language for C {
    fn id(&self) -> &'static str {
        "c"
    }

    fn template(&self) -> &'static str {
        include_str!("Dockerfile.j2")
    }

    fn inventory(&self) -> &'static str {
        include_str!("inventory.sh")
    }

    fn image(&self) -> &'static str {
        "gcc:14-bookworm"
    }

    fn presence(&self, tree: &Tree) -> Presence {
        native::presence(tree, &["c"])
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
