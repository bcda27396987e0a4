//! Why a patch does not apply, and what would mend it.

mod base;
mod climb;
mod diagnosis;
mod fault;
mod history;
mod ladder;
mod lines;
mod mend;
mod scan;
mod text;
mod tree;
mod unwrap;

pub use climb::{Tries, Try, climb_as};
pub use diagnosis::{Diagnosis, diagnose};
pub use fault::{PatchFault, PatchFaultKind};
pub use ladder::{LadderStep, TreeReset, ladder, ladder_script};
pub use mend::Mended;
pub use text::examine;

use atlas_core::Patch;
use scan::{Scan, without_prefix};
use std::collections::BTreeSet;

/// The paths that patches name, read from whatever headers there are, also where the patches are
/// broken. They are what [`FolderApplier`](crate::FolderApplier) needs to be given, as far as they
/// exist.
pub fn touched_paths(patches: &[&Patch]) -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    for patch in patches {
        if let Ok(files) = patch.files() {
            let named = files.iter().flat_map(atlas_core::FilePatch::paths);
            paths.extend(named.map(str::to_owned));
            continue;
        }
        let scan = Scan::of(patch.as_bytes());
        for section in &scan.sections {
            paths.extend(scan.path(section));
            for at in [section.old, section.new].into_iter().flatten() {
                paths.extend(scan.name(at).map(|name| without_prefix(&name).to_owned()));
            }
            for at in &section.extended {
                let line = scan.lines[*at].lossy();
                let moved = ["rename from ", "rename to ", "copy from ", "copy to "]
                    .iter()
                    .find_map(|start| line.strip_prefix(start));
                paths.extend(moved.map(str::to_owned));
            }
        }
    }
    paths.retain(|path| {
        !path.starts_with('/')
            && !path.contains('\0')
            && !path
                .split('/')
                .any(|part| matches!(part, "" | "." | "..") || part.eq_ignore_ascii_case(".git"))
    });
    paths
}
