//! Projects that stand in a folder of the repository instead of its root.

use crate::facts::{Facts, Project, Verdict, only_projects};
use crate::quote::shell_quote;
use crate::tree::Tree;
use crate::versions::Version;
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

/// What makes a project's plan.
type Analyse<'a> = &'a dyn Fn(&Facts<'_>) -> Result<EnvironmentPlan, Verdict>;

/// The plan of the project in a folder: its commands go there first, its evidence names files from
/// the repository's root.
pub(super) fn within(
    analyse: Analyse<'_>,
    facts: &Facts<'_>,
    folder: &str,
) -> Result<EnvironmentPlan, Verdict> {
    placed(
        analyse,
        facts,
        folder,
        "the root has no manifest: the project in",
    )
}

/// The same, with what the evidence says of the place.
fn placed(
    analyse: Analyse<'_>,
    facts: &Facts<'_>,
    folder: &str,
    why: &str,
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
    match analyse(&inner) {
        Ok(mut plan) => {
            let into = |command: &mut String| {
                *command = format!("cd {} && {{ {command}\n}}", shell_quote(folder));
            };
            plan.build.iter_mut().for_each(into);
            plan.prefetch.iter_mut().for_each(into);
            plan.rebuild.iter_mut().for_each(into);
            plan.test_cmd = format!("cd {} && {}", shell_quote(folder), plan.test_cmd);
            plan.evidence.values_mut().flatten().for_each(place);
            if let Some(scope) = &mut plan.test_scope {
                let places = scope.places.iter_mut();
                places.for_each(|inside| *inside = join(folder, inside));
            }
            plan.prove("test_cmd", Evidence::of(folder, format!("{why} {folder}")));
            Ok(plan)
        }
        Err(mut verdict) => {
            verdict.evidence.iter_mut().for_each(place);
            Err(verdict)
        }
    }
}

fn join(folder: &str, inside: &str) -> String {
    if inside.is_empty() {
        folder.to_owned()
    } else {
        format!("{folder}/{inside}")
    }
}

/// One plan for projects in several folders (empty for the root), each tested for itself in one environment: that of
/// the newest toolchain that one of them asks for. A project without a plan is left out and said.
pub(super) fn several(
    analyse: Analyse<'_>,
    facts: &Facts<'_>,
    folders: &[String],
) -> Result<EnvironmentPlan, Verdict> {
    let made = folders.iter().map(|folder| {
        let made = if folder.is_empty() {
            analyse(facts)
        } else {
            placed(analyse, facts, folder, "one of several projects:")
        };
        (folder.as_str(), made)
    });
    joined(made)
}

/// Of projects that are each tested for themselves those with tests that the pull request concerns; all with tests
/// where what it touches has none.
pub(super) fn tested(
    facts: &Facts<'_>,
    projects: &[Project<'_>],
    is_tested: impl Fn(usize) -> bool,
) -> Vec<usize> {
    let mut chosen = facts.concerned_alone(projects);
    chosen.retain(|at| is_tested(*at));
    if chosen.is_empty() {
        chosen = (0..projects.len()).filter(|at| is_tested(*at)).collect();
    }
    chosen
}

/// One plan of the chosen of `of` projects that have tests, each made by `analyse`.
pub(super) fn of_chosen<T>(
    chosen: &[T],
    of: usize,
    folder: impl Fn(&T) -> &str,
    analyse: impl Fn(&T) -> Result<EnvironmentPlan, Verdict>,
) -> Result<EnvironmentPlan, Verdict> {
    let folders: Vec<String> = chosen
        .iter()
        .map(|project| folder(project).trim_end_matches('/').to_owned())
        .collect();
    let made = folders.iter().zip(chosen);
    let mut plan = joined(made.map(|(folder, project)| (folder.as_str(), analyse(project))))?;
    if folders.len() < of {
        only_projects(&mut plan, folders, of);
    }
    Ok(plan)
}

/// One plan of those of projects in folders. A project without a plan is left out and said; the last such verdict where none
/// has a plan.
fn joined<'a>(
    made: impl Iterator<Item = (&'a str, Result<EnvironmentPlan, Verdict>)>,
) -> Result<EnvironmentPlan, Verdict> {
    let mut plans = Vec::new();
    let (mut left_out, mut last) = (Vec::new(), None);
    for (folder, made) in made {
        match made {
            Ok(plan) => plans.push(plan),
            Err(verdict) => {
                left_out.push(format!(
                    "left out: the project in {folder}: {}",
                    verdict.reason
                ));
                last = Some(verdict);
            }
        }
    }
    if let (true, Some(verdict)) = (plans.is_empty(), last) {
        return Err(verdict);
    }
    let mut plan = merged(plans);
    plan.drift.extend(left_out);
    Ok(plan)
}

/// Plans of one language as one.
fn merged(plans: Vec<EnvironmentPlan>) -> EnvironmentPlan {
    let newest = plans.iter().enumerate().max_by_key(|(at, plan)| {
        let version = plan.docker_specs.values().find_map(|value| value.as_str());
        (version.and_then(Version::parse), usize::MAX - at)
    });
    let mut plan = newest.map_or_else(EnvironmentPlan::default, |(_, plan)| EnvironmentPlan {
        docker_specs: plan.docker_specs.clone(),
        base_image: plan.base_image.clone(),
        products: plan.products.clone(),
        ..EnvironmentPlan::default()
    });
    let is_one = plans.len() == 1;
    // Projects that are set up otherwise are each set up before their own build.
    let is_set_up_alike = plans.windows(2).all(|two| two[0].setup == two[1].setup);
    let mut runs = Vec::new();
    let mut parsers: Vec<String> = Vec::new();
    for mut other in plans {
        if !is_set_up_alike {
            plan.build.append(&mut other.setup);
        }
        let lists = [
            (&mut plan.pre_install, other.pre_install),
            (&mut plan.setup, other.setup),
            (&mut plan.build, other.build),
            (&mut plan.prefetch, other.prefetch),
            (&mut plan.rebuild, other.rebuild),
            (&mut plan.drift, other.drift),
            (&mut plan.apt_packages, other.apt_packages),
            (&mut plan.tools, other.tools),
        ];
        for (list, more) in lists {
            for item in more {
                if !list.contains(&item) {
                    list.push(item);
                }
            }
        }
        for (name, value) in other.env {
            plan.env.entry(name).or_insert(value);
        }
        for (field, lines) in other.evidence {
            plan.evidence.entry(field).or_default().extend(lines);
        }
        let several = other.log_parser_name.split('+').map(str::to_owned);
        let more: Vec<String> = several.filter(|id| !parsers.contains(id)).collect();
        parsers.extend(more);
        // A report is one file; several projects would write over each other's.
        plan.report = other.report.filter(|_| is_one);
        plan.test_scope = plan.test_scope.or(other.test_scope);
        plan.as_of = plan.as_of.or(other.as_of);
        runs.push(other.test_cmd);
    }
    plan.apt_packages.sort();
    plan.tools.sort();
    plan.log_parser_name = parsers.join("+");
    plan.test_cmd = match runs.as_slice() {
        [only] => only.clone(),
        several => {
            let runs: Vec<String> = several
                .iter()
                .map(|run| format!("( {run} ) || failed=1"))
                .collect();
            format!("( failed=0; {}; exit $failed )", runs.join("; "))
        }
    };
    plan
}
