//! TypeScript, under Node as JavaScript is: the same analysis, told apart by its sources.

use super::{Language, javascript};
use crate::facts::{Facts, Presence, Verdict};
use crate::tree::Tree;
use atlas_core::EnvironmentPlan;

/// TypeScript.
#[derive(Debug)]
pub(crate) struct TypeScript;

impl Language for TypeScript {
    fn id(&self) -> &'static str {
        "typescript"
    }

    fn template(&self) -> &'static str {
        include_str!("../javascript/Dockerfile.j2")
    }

    fn inventory(&self) -> &'static str {
        include_str!("../javascript/inventory.sh")
    }

    fn image(&self) -> &'static str {
        "node:20-bookworm-slim"
    }

    fn presence(&self, tree: &Tree) -> Presence {
        javascript::presence(tree, true)
    }

    fn analyse(&self, facts: &Facts<'_>) -> Result<EnvironmentPlan, Verdict> {
        javascript::analyse(facts)
    }
}
