//! What takes the place of packages that no registry gives: a setting of an engine, in no plan and no row.

use crate::analysis::with_facts;
use crate::facts::AnalysisOptions;
use crate::languages::{BUILTIN, INSTALL_SUBSTITUTES};
use atlas_core::{EnvironmentPlan, Error, Repository};
use std::collections::BTreeMap;

/// Where an engine takes packages from that no registry gives.
///
/// Each registry is asked first, while an image is built; what was taken instead stands in the
/// [`EnvironmentLock`](atlas_core::EnvironmentLock), field `substitutes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Substitute {
    /// Debian's packages: gems, PHP's libraries, C and C++ libraries that a build fetches, and a JDK that is newer
    /// than the base image's.
    Debian,
}

/// Where the files lie in an image.
const FOLDER: &str = "substitutes";

/// The instructions that install substitutes.
pub(crate) const INSTRUCTIONS: &str = "COPY substitutes/ /opt/atlas/substitutes/\n\
     RUN bash /opt/atlas/substitutes/install.sh\n";

const HEAD: &str = "\
# Debian's packages in the place of what no registry gives: a setting of the engine.
set -eo pipefail
cd /opt/atlas/substitutes
say() {
  echo \"atlas: $*\"
  echo \"$*\" >> used
}
";

/// Files for a build context; none where a plan's language has no substitutes.
///
/// # Errors
/// A checkout that cannot be listed.
pub(crate) fn files(
    repository: &Repository,
    plan: &EnvironmentPlan,
    what: Substitute,
) -> Result<BTreeMap<String, String>, Error> {
    let Substitute::Debian = what;
    let language = BUILTIN.iter().find(|known| known.id() == plan.language);
    let Some(language) = language else {
        return Ok(BTreeMap::new());
    };
    let files = with_facts(repository, &AnalysisOptions::default(), |facts| {
        language.substitutes(facts, plan)
    })?;
    let named = files.into_iter().map(|(name, text)| {
        let head = if name == INSTALL_SUBSTITUTES {
            HEAD
        } else {
            ""
        };
        (format!("{FOLDER}/{name}"), format!("{head}{text}"))
    });
    Ok(named.collect())
}
