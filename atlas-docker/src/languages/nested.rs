//! Projects that stand in a folder of the repository instead of its root.

use super::Language;
use crate::analysis::{Facts, Verdict};
use crate::render::shell_quote;
use crate::tree::Tree;
use atlas_core::{EnvironmentPlan, Evidence};

/// The folder nearest to the root that holds one of `manifests` (file names) and, below it, a file
/// that `tests` says is one; of several equally near the one with most such files.
pub(super) fn folder(
    tree: &Tree,
    manifests: &[&str],
    tests: impl Fn(&str) -> bool,
) -> Option<String> {
    let tested: Vec<&str> = tree.files().filter(|path| tests(path)).collect();
    let mut found: Vec<(usize, usize, &str)> = Vec::new();
    for path in tree.files() {
        let Some((folder, name)) = path.rsplit_once('/') else {
            continue;
        };
        if !manifests.contains(&name) || found.last().is_some_and(|(_, _, last)| *last == folder) {
            continue;
        }
        let prefix = format!("{folder}/");
        let count = tested
            .iter()
            .filter(|path| path.starts_with(&prefix))
            .count();
        if count > 0 {
            found.push((folder.matches('/').count(), usize::MAX - count, folder));
        }
    }
    let best = found.into_iter().min()?;
    Some(best.2.to_owned())
}

/// The plan of the project in a folder: its commands go there first, its evidence names files from
/// the repository's root.
pub(super) fn within(
    language: &dyn Language,
    facts: &Facts<'_>,
    folder: &str,
) -> Result<EnvironmentPlan, Verdict> {
    let (tree, head) = (facts.tree.below(folder), facts.head.below(folder));
    let prefix = format!("{folder}/");
    let touched: Vec<String> = facts
        .touched
        .iter()
        .filter_map(|path| path.strip_prefix(&prefix).map(str::to_owned))
        .collect();
    let inner = Facts {
        touched: &touched,
        tree: &tree,
        head: &head,
        changes_manifests: facts.changes_manifests,
        ci: facts.ci,
        name: facts.name,
        date: facts.date,
        options: facts.options,
    };
    let place = |line: &mut Evidence| {
        if tree.has(&line.source) || tree.has_folder(&line.source) {
            line.source = format!("{folder}/{}", line.source);
        }
    };
    match language.analyse(&inner) {
        Ok(mut plan) => {
            let into = |command: &mut String| {
                *command = format!("cd {} && {{ {command}\n}}", shell_quote(folder));
            };
            plan.build.iter_mut().for_each(into);
            plan.prefetch.iter_mut().for_each(into);
            plan.rebuild.iter_mut().for_each(into);
            plan.test_cmd = format!("cd {} && {}", shell_quote(folder), plan.test_cmd);
            plan.evidence.values_mut().flatten().for_each(place);
            let text = format!("the root has no manifest: the project in {folder}");
            plan.prove("test_cmd", Evidence::of(folder, text));
            Ok(plan)
        }
        Err(mut verdict) => {
            verdict.evidence.iter_mut().for_each(place);
            Err(verdict)
        }
    }
}
