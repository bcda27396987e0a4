//! Faults of the text alone.

mod cases;

use crate::support::Lab;
use atlas_source::{PatchFault, PatchFaultKind as Kind, examine};
pub(super) use cases::cases;
use cases::{GOOD, HEAD, NEW};
use proptest::prelude::*;
use std::io::Write;
use std::process::{Command, Stdio};

fn kinds(faults: &[PatchFault]) -> Vec<(Kind, Option<u32>)> {
    faults
        .iter()
        .map(|fault| (fault.kind, fault.line))
        .collect()
}

/// Whether `git apply` refuses a text on a tree made for these cases, or drops lines of it.
fn git_refuses(lab: &Lab, text: &str) -> bool {
    let mut child = Command::new("git")
        .args(["apply", "--cached", "--whitespace=nowarn", "-"])
        .current_dir(lab.path())
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("git runs");
    let mut input = child.stdin.take().expect("piped");
    // A git that stops early is an answer too.
    let _ = input.write_all(text.as_bytes());
    drop(input);
    !child.wait_with_output().expect("git ends").status.success()
}

#[test]
fn every_fault_is_found_where_it_is() {
    for case in cases() {
        let faults = examine(case.text.as_bytes());
        let found = faults
            .iter()
            .find(|fault| fault.kind == case.kind && fault.line == case.line);
        let Some(found) = found else {
            panic!(
                "{} at {:?} not in {:?}\n{}",
                case.kind,
                case.line,
                kinds(&faults),
                case.text
            );
        };
        assert_eq!(found.breaks, case.breaks, "{}\n{}", case.kind, case.text);
        assert!(!found.way_out.is_empty());
    }
}

/// What is said to break does break, and a text of which nothing is said to break fits its tree.
#[test]
fn git_agrees_on_what_breaks() {
    let lab = Lab::new();
    lab.write("x", "1\n2\n3\n4\n5\n6\n7\n").commit("base");
    for case in cases() {
        // These depend on the tree, or git makes something else of them than what was meant.
        let other = [
            Kind::CrlfEverywhere,
            Kind::CrlfInPlaces,
            Kind::BlankContext,
            Kind::HeadersDisagree,
            Kind::LineNumbers,
            Kind::NoNewlineMarker,
            Kind::Placeholder,
            Kind::NulBytes,
            Kind::HunkCounts,
            Kind::DuplicateSection,
        ];
        if other.contains(&case.kind) {
            continue;
        }
        let breaks = examine(case.text.as_bytes())
            .iter()
            .any(|fault| fault.breaks);
        lab.git(&["read-tree", "HEAD"]);
        assert_eq!(
            git_refuses(&lab, &case.text),
            breaks,
            "{}\n{}",
            case.kind,
            case.text
        );
    }
}

/// Git says nothing when a hunk is longer than its header says: it takes the counted lines only.
#[test]
fn lines_beyond_the_counts_are_dropped_in_silence() {
    let lab = Lab::new();
    lab.write("x", "1\n2\n3\n4\n").commit("base");
    let text = GOOD.replace(" 3\n", " 3\n+three and a half\n 4\n");
    assert!(!git_refuses(&lab, &text));
    assert!(!lab.git(&["diff", "--cached"]).contains("half"));
    let faults = examine(text.as_bytes());
    assert_eq!(kinds(&faults), [(Kind::HunkCounts, Some(4))]);
    assert!(faults[0].breaks);
    assert_eq!(
        faults[0].message,
        "hunk 1: the header counts 3 old and 3 new lines, 4 and 5 are there; git leaves out what is beyond the counts, or stops"
    );
}

#[test]
fn a_good_patch_has_no_fault() {
    for good in [
        GOOD.to_owned(),
        NEW.to_owned(),
        format!("{GOOD}{NEW}"),
        format!("From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\nFrom: A <a@example.org>\nSubject: [PATCH] x\n\nWords.\n---\n x | 2 +-\n 1 file changed\n\n{GOOD}"),
        "diff --git a/x b/x\ndeleted file mode 100644\nindex 1..2\n--- a/x\n+++ /dev/null\n@@ -1,2 +0,0 @@\n--- old\n-+++ new\n".to_owned(),
        "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n".to_owned(),
        "diff --git \"a/\\303\\274\" \"b/\\303\\274\"\n--- \"a/\\303\\274\"\n+++ \"b/\\303\\274\"\n@@ -1 +1 @@\n-a\n+b\n".to_owned(),
    ] {
        assert_eq!(kinds(&examine(good.as_bytes())), [], "{good}");
    }
}

#[test]
fn bytes_that_are_no_text() {
    let latin = GOOD.replace("two", "caf\u{1}").into_bytes();
    let latin: Vec<u8> = latin
        .into_iter()
        .map(|byte| if byte == 1 { 0xe9 } else { byte })
        .collect();
    assert_eq!(kinds(&examine(&latin)), [(Kind::InvalidUtf8, Some(7))]);
    let utf16: Vec<u8> = [0xff, 0xfe]
        .into_iter()
        .chain(GOOD.encode_utf16().flat_map(u16::to_le_bytes))
        .collect();
    let faults = examine(&utf16);
    assert_eq!(kinds(&faults), [(Kind::Utf16, None)]);
    assert!(faults[0].breaks);
}

/// Git says nothing when two sections make one file: the last one wins.
#[test]
fn one_of_two_creations_is_lost_in_silence() {
    let lab = Lab::new();
    lab.commit("base");
    let text = format!("{NEW}{}", NEW.replace("+n", "+other"));
    assert!(!git_refuses(&lab, &text));
    assert_eq!(lab.git(&["show", ":n"]), "other\n");
    let faults = examine(text.as_bytes());
    assert_eq!(kinds(&faults), [(Kind::DuplicateSection, Some(7))]);
    assert!(faults[0].breaks);
}

/// A patch of which every hunk is wrong does not fill a report.
#[test]
fn faults_of_one_kind_are_limited() {
    let mut text = HEAD.to_owned();
    for _ in 0..500 {
        text.push_str("@@ -1,9 +1,9 @@\n 1\n-2\n+3\n");
    }
    let counts = examine(text.as_bytes())
        .iter()
        .filter(|fault| fault.kind == Kind::HunkCounts)
        .count();
    assert_eq!(counts, 20);
}

#[test]
fn words_are_those_of_json() {
    for kind in Kind::ALL {
        let json = serde_json::to_string(kind).expect("a word");
        assert_eq!(json, format!("\"{kind}\""));
    }
}

proptest! {
    /// Lines that matter, in any order, and any bytes at all.
    #[test]
    fn any_bytes_are_taken(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        for fault in examine(&bytes) {
            prop_assert!(!fault.message.is_empty());
        }
    }

    #[test]
    fn any_lines_are_taken(picks in proptest::collection::vec(0_usize..24, 0..40), cut in any::<proptest::sample::Index>()) {
        const LINES: [&str; 24] = [
            "diff --git a/x b/x\n", "--- a/x\n", "+++ b/x\n", "--- /dev/null\n", "@@ -1,3 +1,3 @@ f\n",
            "@@ -1 +1 @@\n", "@@ ... @@\n", "@@\n", " a\n", "-a\n", "+b\n", "\n", "\\ No newline at end of file\n",
            "GIT binary patch\n", "literal 3\n", "Kc$\n", "new file mode 120000\n", "-- \n", "2.39.5\n", "```\n",
            "\u{fc}\u{a0}\r\n", "@@ -18446744073709551615,18446744073709551615 +1,18446744073709551615 @@\n",
            "rename from x\n", "\u{1b}[31m",
        ];
        let text: String = picks.iter().map(|pick| LINES[*pick]).collect();
        let bytes = text.as_bytes();
        let lines = u32::try_from(text.lines().count()).expect("few") + 1;
        for fault in examine(bytes) {
            prop_assert!(fault.line.is_none_or(|line| (1..=lines).contains(&line)), "{fault:?}");
        }
        examine(&bytes[..cut.index(bytes.len() + 1)]);
    }
}
