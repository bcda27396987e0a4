//! What stands around a patch, and what is given in the place of one.

use crate::doctor::fault::{PatchFault, PatchFaultKind as Kind};
use crate::doctor::scan::{Scan, is_signature};
use crate::doctor::unwrap;
use regex::Regex;
use std::sync::LazyLock;

fn pattern(text: &'static str) -> Regex {
    Regex::new(text).expect("a fixed pattern that the tests use")
}

static TAG: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\s*</?[A-Za-z][\w-]*>\s*$"));
static CONTEXT_RANGE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(\*\*\*|---) \d+(,\d+)? (\*\*\*\*|----)$"));
static NORMAL_COMMAND: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^\d+(,\d+)?([acd]\d+(,\d+)?|[acdi])$"));
static MESSAGE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(fatal: |error: |warning: |usage: |Traceback \(most recent|(/bin/)?(ba|z)?sh: |\$ |\+ git |git: '|diff: |patch: |cat: |sed: )",
    )
});
/// Lines that tools print between the files of a patch.
static KNOWN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(Index: |={20,}|Only in |diff |index [0-9a-f]|Binary files |Property changes on|_{20,}|Added: svn|File |\* |Common subdirectories)",
    )
});
static MAIL: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(From [0-9a-f]{40,64} |From: |Subject: |commit [0-9a-f]{40,64})"));

pub(super) fn examine(patch: &[u8], scan: &Scan<'_>, faults: &mut Vec<PatchFault>) {
    let before = faults.len();
    other_formats(scan, faults);
    escaped(patch, scan, faults);
    let explained = faults[before..].iter().any(|fault| fault.breaks);
    around(scan, faults);
    let unreadable = faults.iter().any(|fault| {
        fault.breaks && matches!(fault.kind, Kind::Utf16 | Kind::LoneCr | Kind::AnsiColours)
    });
    if scan.sections.is_empty() && !explained && !unreadable {
        faults.push(
            PatchFault::new(
                Kind::NoPatch,
                "there is no part of a patch in the text: no `diff --git`, `---`/`+++` or `@@` line",
                "give the output of `git diff`",
            )
            .breaking(),
        );
    }
}

/// Other ways of writing down a change.
fn other_formats(scan: &Scan<'_>, faults: &mut Vec<PatchFault>) {
    let alone = scan.sections.is_empty();
    let mut once = |kind, at: usize, message: &str, way_out: &str, breaks: bool| {
        if faults.iter().any(|fault| fault.kind == kind) {
            return;
        }
        let fault = PatchFault::new(kind, message, way_out).at(at);
        faults.push(if breaks { fault.breaking() } else { fault });
    };
    let in_body = scan.bodies();
    for (at, line) in scan.lines.iter().enumerate() {
        if in_body[at] {
            continue;
        }
        let text = line.lossy();
        let trimmed = text.trim();
        if [
            "*** Begin Patch",
            "*** Update File: ",
            "*** Add File: ",
            "*** Delete File: ",
        ]
        .iter()
        .any(|start| trimmed.starts_with(start))
        {
            once(
                Kind::ApplyPatchFormat,
                at,
                "the text is in the format of the `apply_patch` tool, which has no line numbers",
                "apply it with that tool and give the output of `git diff`",
                true,
            );
        } else if trimmed.starts_with("<<<<<<< ") || trimmed.starts_with(">>>>>>> ") {
            once(
                Kind::SearchReplace,
                at,
                "there are search-and-replace blocks or conflict markers outside the hunks",
                "make the replacements in the files and give the output of `git diff`",
                alone,
            );
        } else if CONTEXT_RANGE.is_match(trimmed) {
            once(
                Kind::ContextDiff,
                at,
                "this is a context diff, which git does not read",
                "give a unified diff, as `git diff` or `diff -u` prints it",
                true,
            );
        } else if NORMAL_COMMAND.is_match(trimmed) {
            once(
                Kind::NormalDiff,
                at,
                "this is a diff without context or an `ed` script, which git does not read",
                "give a unified diff, as `git diff` or `diff -u` prints it",
                alone,
            );
        } else if line.starts("diff --cc ") || line.starts("diff --combined ") || line.starts("@@@")
        {
            once(
                Kind::CombinedDiff,
                at,
                "this is the combined diff of a merge, which cannot be applied",
                "give the diff against one commit: `git diff BASE HEAD`",
                true,
            );
        }
    }
}

/// Takes a patch out of its wrapping.
type Decode = fn(&[u8]) -> Option<Vec<u8>>;

/// Text that went through an encoder, and patches behind a margin.
fn escaped(patch: &[u8], scan: &Scan<'_>, faults: &mut Vec<PatchFault>) {
    let cases: [(Kind, Decode, &str, &str); 4] = [
        (
            Kind::JsonEscaped,
            unwrap::json,
            "line ends are written as `\\n`: the text was encoded as JSON once too often",
            "decode it once more",
        ),
        (
            Kind::Indented,
            unwrap::indented,
            "every line of the patch is indented",
            "remove the margin",
        ),
        (
            Kind::Quoted,
            unwrap::quoted,
            "every line of the patch is quoted with `>`",
            "remove the quote marks",
        ),
        (
            Kind::LineNumbers,
            unwrap::numbered,
            "every line of the patch begins with its number",
            "remove the numbers",
        ),
    ];
    if scan.sections.is_empty() {
        for (kind, decode, message, way_out) in cases {
            if decode(patch).is_some() {
                faults.push(PatchFault::new(kind, message, way_out).breaking());
            }
        }
    }
    if unwrap::html(patch).is_some() {
        faults.push(PatchFault::new(
            Kind::HtmlEscaped,
            "`<` and `>` appear only as `&lt;` and `&gt;`: the text seems to be escaped as HTML",
            "decode it, unless the files have it so",
        ));
    }
}

/// Lines outside the sections.
fn around(scan: &Scan<'_>, faults: &mut Vec<PatchFault>) {
    let first = scan.sections.first().map(|section| section.span.start);
    let last = scan.sections.last().map(|section| section.span.end);
    let mail = scan.outside.iter().any(|at| {
        first.is_some_and(|first| *at < first) && MAIL.is_match(&scan.lines[*at].lossy())
    });
    let mut skip_to = 0;
    let mut seen: Vec<Kind> = Vec::new();
    for at in scan.outside.iter().copied() {
        let line = scan.lines[at];
        if at < skip_to || line.is_blank() {
            continue;
        }
        let text = line.lossy();
        let trimmed = text.trim();
        let fault = if is_signature(&scan.lines, at) {
            skip_to = at + 2;
            PatchFault::new(
                Kind::MailSignature,
                "git's mail signature stands behind the patch",
                "git passes over it; nothing needs to be done",
            )
        } else if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            PatchFault::new(
                Kind::MarkdownFence,
                "a fence of Markdown stands around the patch",
                "give what is inside the fence, with its last line end",
            )
        } else if TAG.is_match(trimmed) {
            PatchFault::new(
                Kind::Tags,
                format!("the tag `{trimmed}` stands around the patch"),
                "give what is inside the tags",
            )
        } else if MESSAGE.is_match(trimmed) {
            let fault = PatchFault::new(
                Kind::ProgramMessage,
                format!("this is what a program says: `{}`", shortened(trimmed)),
                "look whether the command that made the patch failed, and keep its errors out of it",
            );
            if first.is_none() {
                fault.breaking()
            } else {
                fault
            }
        } else if first.is_none() || KNOWN.is_match(trimmed) {
            continue;
        } else if first.is_some_and(|first| at < first) {
            if mail {
                continue;
            }
            PatchFault::new(
                Kind::ProseBefore,
                format!("text stands before the patch: `{}`", shortened(trimmed)),
                "git passes over it; leave it out",
            )
        } else if last.is_some_and(|last| at >= last) {
            PatchFault::new(
                Kind::ProseAfter,
                format!("text stands behind the patch: `{}`", shortened(trimmed)),
                "git passes over it; leave it out",
            )
        } else {
            prose_between(scan, at, trimmed)
        };
        if !seen.contains(&fault.kind) {
            seen.push(fault.kind);
            faults.push(fault.at(at));
        }
    }
}

/// Git passes over text between files, but a hunk behind text has no file.
fn prose_between(scan: &Scan<'_>, at: usize, text: &str) -> PatchFault {
    let orphan = scan
        .sections
        .iter()
        .find(|section| section.span.start > at)
        .is_some_and(|next| next.git.is_none() && next.old.is_none() && next.new.is_none());
    let fault = PatchFault::new(
        Kind::ProseBetween,
        format!("text stands inside the patch: `{}`", shortened(text)),
        "leave it out",
    );
    if orphan { fault.breaking() } else { fault }
}

fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(60).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
