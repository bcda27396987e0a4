//! What the pull request's manifests add or change goes into the same environment, as there is one
//! for all states.
//!
//! Prefetching runs in a scratch copy that is removed afterwards. A requirement that leads into
//! the copy (`-e .`, a path, the project's own name) would replace Base's own installation by a
//! link to nowhere or by the project as the pull request has it, so such lines are left out.

use super::install::day;
use super::lists::{Chosen, DEV_GROUPS, TEST_GROUPS, is_lint, of_tox};
use super::manifests::{Manifests, name_of};
use crate::facts::Facts;
use crate::quote::shell_quote;
use crate::toolbox::{INSTALL_PYTHON, call};
use crate::tree::resolved;
use atlas_core::{EnvironmentPlan, Evidence};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::LazyLock;

/// Writes the prefetch command, if the pull request's manifests ask for anything that Base's do not.
pub(super) fn prefetch(
    facts: &Facts<'_>,
    base: &Manifests,
    chosen: &Chosen,
    plan: &mut EnvironmentPlan,
) {
    if !facts.changes_manifests {
        return;
    }
    let head = Manifests::read(facts.head);
    let names = own_names(&[base, &head]);
    let mut files = Vec::new();
    let mut cuts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let installed: BTreeSet<String> = chosen.extras.iter().cloned().collect();
    let mut extras = installed.clone();
    for file in &chosen.files {
        let read = Reading::of(facts, file, &names);
        if read.changed {
            extras.extend(read.extras);
            files.push(file);
            cuts.extend(read.cuts);
        }
    }
    let lists = |manifests: &Manifests, extras: &BTreeSet<String>| -> BTreeSet<String> {
        let picked = manifests.groups.iter().filter(|group| {
            extras.contains(&group.name)
                || TEST_GROUPS.contains(&group.name.as_str())
                || DEV_GROUPS.contains(&group.name.as_str())
        });
        manifests
            .dependencies
            .iter()
            .chain(picked.flat_map(|group| &group.requirements))
            .cloned()
            .chain(of_tox(manifests))
            .filter(|item| !is_lint(item) && !is_own(item, &names))
            .collect()
    };
    let known = lists(base, &installed);
    let mut words: Vec<String> = lists(&head, &extras)
        .into_iter()
        .filter(|item| !known.contains(item) && !name_of(item).is_empty())
        .map(|item| shell_quote(&item))
        .collect();
    words.extend(files.iter().map(|file| format!("-r {}", shell_quote(file))));
    if words.is_empty() {
        return;
    }
    let mut command = String::new();
    for (file, lines) in &cuts {
        let (lines, file) = (shell_quote(&lines.join(";")), shell_quote(file));
        let _ = write!(command, "sed -i {lines} -- {file} && ");
    }
    let _ = write!(command, "{} --add{} ", call(INSTALL_PYTHON), day(facts));
    command.push_str(&words.join(" "));
    plan.prefetch.push(command);
    plan.drift.push(format!(
        "Base runs with requirements that the pull request adds or changes: {}",
        words.join(", ")
    ));
    plan.prove(
        "prefetch",
        Evidence::of("head", "manifests changed by the pull request"),
    );
}

/// The names under which the project may be asked for.
fn own_names(manifests: &[&Manifests]) -> BTreeSet<String> {
    static SETUP: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"(?m)\bname\s*=\s*["']([^"'\n]+)["']"#).expect("a literal pattern")
    });
    let mut names = BTreeSet::new();
    for manifests in manifests {
        names.insert(manifests.name.clone());
        let setup = manifests.setup_py.as_deref().unwrap_or_default();
        names.extend(SETUP.captures_iter(setup).map(|found| name_of(&found[1])));
    }
    names.remove("");
    names
}

/// Whether a requirement leads to a path on this machine or to the project itself.
fn is_own(requirement: &str, names: &BTreeSet<String>) -> bool {
    static ARCHIVE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)\.(whl|zip|tar|tgz|tar\.\w+)$").expect("a literal pattern")
    });
    static EGG: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"[#&]egg=([\w.-]+)").expect("a literal pattern"));
    let target = requirement.split(';').next().unwrap_or_default().trim();
    if target.contains("file:") || names.contains(&name_of(target)) {
        return true;
    }
    if target.contains("://") {
        // `git+https://host/owner/name.git@v1#egg=name`
        let address = target.split('#').next().unwrap_or_default();
        let last = address.trim_end_matches('/').rsplit('/').next();
        let last = last.and_then(|last| last.split('@').next());
        let last = last.map(|last| name_of(last.strip_suffix(".git").unwrap_or(last)));
        let egg = EGG.captures(target).map(|found| name_of(&found[1]));
        return [last, egg]
            .iter()
            .flatten()
            .any(|name| names.contains(name));
    }
    target.starts_with('.') || target.contains(['/', '\\']) || ARCHIVE.is_match(target)
}

/// A requirements file as the pull request has it, with all that it includes.
#[derive(Debug, Default)]
struct Reading {
    /// Whether one of the files differs from Base's.
    changed: bool,
    /// File -> what sed removes from it.
    cuts: BTreeMap<String, Vec<String>>,
    /// Extras of the project itself that lines left out ask for.
    extras: BTreeSet<String>,
}

impl Reading {
    fn of(facts: &Facts<'_>, file: &str, names: &BTreeSet<String>) -> Self {
        static INCLUDE: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r#"^(?:-r|-c|--requirement|--constraint)[\s=]*["']?([^"'\s]+)"#)
                .expect("a literal pattern")
        });
        static EDITABLE: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r#"^(?:-e|--editable)[\s=]*["']?([^"']*)"#).expect("a literal pattern")
        });
        let mut found = Self::default();
        let mut open = vec![file.to_owned()];
        // Files may include each other in a ring.
        let mut seen: BTreeSet<String> = open.iter().cloned().collect();
        while let Some(file) = open.pop() {
            let text = facts.head.text(&file);
            found.changed |= facts.tree.text(&file) != text;
            for (lines, line) in logical_lines(text.as_deref().unwrap_or_default()) {
                let cut = if let Some(include) = INCLUDE.captures(&line) {
                    let target = &include[1];
                    let known = below(&file, target).filter(|path| facts.head.has(path));
                    // What cannot be read here cannot be checked either.
                    let cut = known.is_none()
                        && !target.starts_with("https://")
                        && !target.starts_with("http://");
                    open.extend(known.filter(|path| seen.insert(path.clone())));
                    cut
                } else if let Some(editable) = EDITABLE.captures(&line) {
                    // pip keeps clones in the environment, not in the working folder.
                    found.note_extras(&editable[1], names);
                    !editable[1].contains("://") || is_own(&editable[1], names)
                } else {
                    found.note_extras(&line, names);
                    !line.starts_with('-') && is_own(&line, names)
                };
                if cut {
                    found.cuts.entry(file.clone()).or_default().push(lines);
                }
            }
        }
        found
    }

    /// `.[a,b]` or `name[a,b]`: what the extras hold is still wanted.
    fn note_extras(&mut self, target: &str, names: &BTreeSet<String>) {
        let Some((of, rest)) = target.split_once('[') else {
            return;
        };
        let itself = matches!(of.trim(), "." | "./") || names.contains(&name_of(of));
        if let Some((extras, _)) = rest.split_once(']').filter(|_| itself) {
            let extras = extras.split(',').map(|extra| extra.trim().to_owned());
            self.extras.extend(extras);
        }
    }
}

/// Lines as pip joins them, without comments, each with the sed command that removes it.
fn logical_lines(text: &str) -> Vec<(String, String)> {
    static COMMENT: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(^|\s)#.*$").expect("a literal pattern"));
    let mut found = Vec::new();
    let mut joined = String::new();
    let mut first = None;
    let count = text.lines().count();
    for (at, line) in text.lines().enumerate() {
        let (at, line) = (at + 1, line.trim_start_matches('\u{feff}'));
        let from = *first.get_or_insert(at);
        let continued = line
            .strip_suffix('\\')
            .filter(|line| !line.trim_start().starts_with('#') && at < count);
        if let Some(start) = continued {
            joined.push_str(start);
            continue;
        }
        joined.push_str(line.trim_end_matches('\\'));
        let clean = COMMENT.replace(&joined, "").trim().to_owned();
        let sed = if from == at {
            format!("{at}d")
        } else {
            format!("{from},{at}d")
        };
        if !clean.is_empty() {
            found.push((sed, clean));
        }
        joined.clear();
        first = None;
    }
    found
}

/// The path of an include, which is relative to the file that it stands in; `None` outside of the
/// repository.
fn below(file: &str, target: &str) -> Option<String> {
    if target.starts_with('/') {
        return None;
    }
    let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
    resolved(folder, target)
}
