//! Taking back what steers the runner.

use crate::change::{Change, Context};
use crate::input::GuardInput;
use crate::places;
use crate::rules::{self, Ruling};
use crate::signal::{Signal, SignalAction, SignalKind, SignalSeverity};
use atlas_core::{FileMode, Overlay};
use std::collections::BTreeSet;

/// A prediction without what steers the runner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guarded {
    /// What is left, to be laid on Base.
    pub overlay: Overlay,
    /// What was noticed, by path.
    pub signals: Vec<Signal>,
}

/// Takes back the changes of a prediction that steer the runner instead of being the solution.
///
/// `prediction` is the difference to Base, with the instance's test patch laid on it or without:
/// files that the test patch alone touches are passed on as they come, for whoever lays patches out
/// gives them the instance's content. A prediction that touches nothing guarded comes back
/// identical and without signals.
///
/// Where the instance's own solution changes a guarded file or section too, a prediction may have
/// to: it stays, and is reported unless it is the very same change.
pub fn guard(input: &GuardInput<'_>, prediction: Overlay) -> Guarded {
    let context = Context::new(input);
    let mut signals = Vec::new();
    let mut overlay = prediction;
    take_out_impossible(&mut overlay, &context, &mut signals);
    let original = overlay.clone();
    let mut restored = BTreeSet::new();
    let paths: BTreeSet<&String> = original.write.keys().chain(&original.remove).collect();
    for path in paths {
        let change = Change {
            path,
            after: original.write.get(path),
            overlay: &original,
            context: &context,
        };
        let tests = &context.upstream;
        if tests.tests_touch(path) && !tests.gold_touches(path)
            || change.is(&change.wanted())
            || change.gold_touches() && change.is(&change.solved())
        {
            continue;
        }
        let Some((kind, ruling)) = rules::judge(&change) else {
            continue;
        };
        let (action, severity, message) = match ruling {
            Ruling::Keep(severity, message) => (SignalAction::Kept, severity, message),
            Ruling::TakeBack(severity, message) => {
                overlay.write.remove(path);
                overlay.remove.remove(path);
                restored.insert(path.clone());
                let action = if change.in_base() {
                    SignalAction::Restored
                } else {
                    SignalAction::Removed
                };
                (action, severity, message)
            }
            Ruling::Rewrite(bytes, severity, message) => {
                if let Some(file) = overlay.write.get_mut(path) {
                    file.bytes = bytes;
                }
                (SignalAction::SectionRestored, severity, message)
            }
        };
        signals.push(Signal {
            kind,
            path: path.clone(),
            message,
            action,
            severity,
        });
    }
    make_room(&mut overlay, &restored, &context, &mut signals);
    signals.sort_by(|a, b| (&a.path, a.kind, &a.message).cmp(&(&b.path, b.kind, &b.message)));
    Guarded { overlay, signals }
}

fn removed(path: &str, message: &str) -> Signal {
    Signal {
        kind: SignalKind::Repository,
        path: path.to_owned(),
        message: message.to_owned(),
        action: SignalAction::Removed,
        severity: SignalSeverity::Tamper,
    }
}

/// Paths that no patch of a source tree has: `.git`, those that leave the tree, and files below
/// another file or a link of the same prediction.
fn take_out_impossible(overlay: &mut Overlay, context: &Context<'_>, signals: &mut Vec<Signal>) {
    let bad = |path: &str| {
        path.starts_with('/')
            || path.contains('\0')
            || path
                .split('/')
                .any(|part| matches!(part, "" | "." | "..") || part.eq_ignore_ascii_case(".git"))
    };
    let paths: BTreeSet<String> = overlay
        .write
        .keys()
        .chain(&overlay.remove)
        .cloned()
        .collect();
    for path in &paths {
        let below = || {
            std::iter::successors(Some(places::folder_of(path)), |folder| {
                Some(places::folder_of(folder)).filter(|folder| !folder.is_empty())
            })
            .find(|folder| overlay.write.contains_key(*folder))
        };
        if bad(path) {
            overlay.write.remove(path);
            overlay.remove.remove(path);
            signals.push(removed(
                path,
                "the path leaves the source tree or belongs to git itself",
            ));
        } else if let Some(above) = below().filter(|_| overlay.write.contains_key(path)) {
            // A test of the instance keeps its place.
            let is_test = context.upstream.tests_touch(path);
            let path = if is_test { above } else { path };
            overlay.write.remove(path);
            signals.push(removed(
                path,
                "a file or a link and what lies below it cannot both be written",
            ));
        }
    }
    for (path, file) in &overlay.write {
        let target = String::from_utf8_lossy(&file.bytes);
        if file.mode == FileMode::Symlink && leaves(overlay, path, &target) {
            // A link that the instance's own patches write is part of its tree.
            let is_upstream =
                context.upstream.tests_touch(path) || context.upstream.gold_touches(path);
            let (action, severity) = if is_upstream {
                (SignalAction::Kept, SignalSeverity::Suspicious)
            } else {
                (SignalAction::Refused, SignalSeverity::Tamper)
            };
            signals.push(Signal {
                kind: SignalKind::Repository,
                path: path.clone(),
                message: format!("a symbolic link out of the repository, to `{target}`"),
                action,
                severity,
            });
        }
    }
}

/// Whether a link leads out of the tree. Git keeps no file below a link, so its own folder is real; `..`
/// behind another link of these files leads nobody knows where.
fn leaves(overlay: &Overlay, path: &str, target: &str) -> bool {
    if target.starts_with('/') {
        return true;
    }
    let folder = places::folder_of(path);
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    let is_link = |parts: &[&str]| {
        let file = overlay.write.get(&parts.join("/"));
        file.is_some_and(|file| file.mode == FileMode::Symlink)
    };
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                if is_link(&parts) || parts.pop().is_none() {
                    return true;
                }
            }
            part => parts.push(part),
        }
    }
    false
}

/// A file that is the instance's again needs its place: a folder or file that the prediction puts
/// there goes.
fn make_room(
    overlay: &mut Overlay,
    restored: &BTreeSet<String>,
    context: &Context<'_>,
    signals: &mut Vec<Signal>,
) {
    for path in restored.iter().filter(|path| context.base.exists(path)) {
        let in_the_way = |other: &String| {
            other
                .strip_prefix(path.as_str())
                .is_some_and(|rest| rest.starts_with('/'))
                || path
                    .strip_prefix(other.as_str())
                    .is_some_and(|rest| rest.starts_with('/'))
        };
        let others: Vec<String> = overlay
            .write
            .keys()
            .filter(|p| in_the_way(p))
            .cloned()
            .collect();
        for other in others {
            overlay.write.remove(&other);
            signals.push(Signal {
                kind: SignalKind::TestFile,
                message: format!("it stands in the place of `{path}`, which was restored"),
                path: other,
                action: SignalAction::Removed,
                severity: SignalSeverity::Suspicious,
            });
        }
    }
}
