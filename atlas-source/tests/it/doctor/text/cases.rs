//! Broken texts, each with the fault it must show.

use atlas_source::PatchFaultKind as Kind;

pub(super) const GOOD: &str =
    "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n";
pub(super) const HEAD: &str = "diff --git a/x b/x\n--- a/x\n+++ b/x\n";
pub(super) const HUNK: &str = "@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n";
pub(super) const NEW: &str =
    "diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+n\n";

/// A text, the fault it must show, the line, and whether it breaks.
pub(crate) struct Case {
    pub(crate) kind: Kind,
    pub(super) text: String,
    pub(super) line: Option<u32>,
    pub(super) breaks: bool,
}

fn case(kind: Kind, text: impl Into<String>, line: impl Into<Option<u32>>, breaks: bool) -> Case {
    Case {
        kind,
        text: text.into(),
        line: line.into(),
        breaks,
    }
}

pub(crate) fn cases() -> Vec<Case> {
    let section = |lines: &str| format!("diff --git a/n b/n\n{lines}");
    vec![
        case(Kind::Empty, "", None, true),
        case(Kind::WhitespaceOnly, " \n\t\n", None, true),
        case(
            Kind::NoPatch,
            "I could not find the bug, sorry.\n",
            None,
            true,
        ),
        case(Kind::NoPatch, "def f():\n    return 1\n", None, true),
        case(Kind::ByteOrderMark, format!("\u{feff}{GOOD}"), 1, false),
        case(
            Kind::ByteOrderMark,
            format!("\u{feff}--- a/x\n+++ b/x\n{HUNK}"),
            1,
            true,
        ),
        case(Kind::NulBytes, GOOD.replace("two", "t\0o"), 7, false),
        case(
            Kind::CrlfEverywhere,
            GOOD.replace('\n', "\r\n"),
            None,
            false,
        ),
        case(
            Kind::CrlfInPlaces,
            format!("{HEAD}{}", HUNK.replace('\n', "\r\n")),
            5,
            false,
        ),
        case(
            Kind::CrInHeaders,
            format!("{}{HUNK}", HEAD.replace('\n', "\r\n")),
            1,
            false,
        ),
        case(
            Kind::CrInHeaders,
            format!("diff --git a/x b/x\r\nold mode 100644\nnew mode 100755\n{NEW}"),
            1,
            true,
        ),
        case(Kind::LoneCr, GOOD.replace("two", "t\rwo"), 7, false),
        case(Kind::LoneCr, GOOD.replace('\n', "\r"), 1, true),
        case(Kind::NoFinalNewline, GOOD.trim_end(), 8, true),
        case(
            Kind::AnsiColours,
            GOOD.replace("-2", "\u{1b}[31m-2\u{1b}[m"),
            6,
            true,
        ),
        case(Kind::OddSpaces, GOOD.replace(" 1", "\u{a0}1"), 5, true),
        case(
            Kind::OddSpaces,
            GOOD.replace("a/x\n+++", "a/x \n+++"),
            2,
            true,
        ),
        case(
            Kind::MarkdownFence,
            format!("```diff\n{GOOD}```\n"),
            1,
            false,
        ),
        case(Kind::MarkdownFence, format!("{GOOD}```"), 9, false),
        case(Kind::Tags, format!("<patch>\n{GOOD}</patch>\n"), 1, false),
        case(
            Kind::ProseBefore,
            format!("Here is the fix:\n\n{GOOD}"),
            1,
            false,
        ),
        case(
            Kind::ProseAfter,
            format!("{GOOD}\nThis renames the number.\n"),
            10,
            false,
        ),
        case(
            Kind::ProseBetween,
            format!("{GOOD}\nAnd:\n\n{NEW}"),
            10,
            false,
        ),
        case(
            Kind::ProseBetween,
            format!("{GOOD}\nAnd:\n\n{HUNK}"),
            10,
            true,
        ),
        case(
            Kind::ProgramMessage,
            "fatal: not a git repository\n",
            1,
            true,
        ),
        case(
            Kind::ProgramMessage,
            format!("warning: LF will be replaced\n{GOOD}"),
            1,
            false,
        ),
        case(
            Kind::ApplyPatchFormat,
            "*** Begin Patch\n*** Update File: x\n@@\n 1\n-2\n+two\n*** End Patch\n",
            1,
            true,
        ),
        case(
            Kind::SearchReplace,
            "x\n<<<<<<< SEARCH\n2\n=======\ntwo\n>>>>>>> REPLACE\n",
            2,
            true,
        ),
        case(
            Kind::ContextDiff,
            "*** a/x\n--- b/x\n***************\n*** 1,3 ****\n  1\n! 2\n  3\n--- 1,3 ----\n  1\n! two\n  3\n",
            4,
            true,
        ),
        case(Kind::NormalDiff, "2c2\n< 2\n---\n> two\n", 1, true),
        case(
            Kind::CombinedDiff,
            "diff --cc x\nindex 1,2..3\n--- a/x\n+++ b/x\n@@@ -1,2 -1,2 +1,2 @@@\n  1\n- 2\n++two\n",
            1,
            true,
        ),
        case(
            Kind::JsonEscaped,
            format!("\"{}\"", GOOD.replace('\n', "\\n")),
            None,
            true,
        ),
        case(
            Kind::HtmlEscaped,
            GOOD.replace("two", "a &lt; b"),
            None,
            false,
        ),
        case(Kind::Indented, indent(GOOD, "    "), None, true),
        case(Kind::Quoted, indent(GOOD, "> "), None, true),
        case(Kind::LineNumbers, numbered(GOOD), None, true),
        case(
            Kind::LineNumbers,
            "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n  1|1\n-  2|2\n+two\n  3|3\n",
            4,
            false,
        ),
        case(Kind::NoFileHeader, HUNK, 1, true),
        case(Kind::HalfFileHeader, format!("--- a/x\n{HUNK}"), 1, true),
        case(Kind::HalfFileHeader, format!("+++ b/x\n{HUNK}"), 1, true),
        case(
            Kind::NoNameLines,
            format!("diff --git a/x b/x\n{HUNK}"),
            1,
            true,
        ),
        case(
            Kind::HeadersDisagree,
            format!("--- a/x\n+++ b/y\n{HUNK}"),
            2,
            false,
        ),
        case(
            Kind::HeadersDisagree,
            GOOD.replace("a/x b/x", "a/y b/y"),
            1,
            false,
        ),
        case(
            Kind::UndeclaredCreation,
            NEW.replace("new file mode 100644\n", ""),
            1,
            true,
        ),
        case(
            Kind::UndeclaredCreation,
            NEW.replace("/dev/null", "a/n"),
            1,
            true,
        ),
        case(
            Kind::NoDiffGit,
            format!("--- a/x\n+++ b/x\n{HUNK}"),
            1,
            false,
        ),
        case(Kind::EmptySection, HEAD, 1, true),
        case(
            Kind::NoPathPrefix,
            format!("--- x\n+++ x\n{HUNK}"),
            1,
            false,
        ),
        case(
            Kind::NoPathPrefix,
            GOOD.replace("a/x", "x").replace("b/x", "x"),
            2,
            true,
        ),
        case(
            Kind::AbsolutePath,
            GOOD.replace("a/x", "a//home/x").replace("b/x", "b//home/x"),
            2,
            true,
        ),
        case(
            Kind::ParentPath,
            GOOD.replace("a/x", "a/../x").replace("b/x", "b/../x"),
            2,
            true,
        ),
        case(
            Kind::GitFolder,
            NEW.replace("/n", "/.git/n")
                .replace("/dev/.git/null", "/dev/null"),
            4,
            true,
        ),
        case(
            Kind::DuplicateSection,
            format!("{GOOD}{HEAD}@@ -5,3 +5,3 @@\n 5\n-6\n+six\n 7\n"),
            9,
            false,
        ),
        case(Kind::DuplicateSection, format!("{NEW}{NEW}"), 7, true),
        case(
            Kind::HunkHeader,
            GOOD.replace("@@ -1,3 +1,3 @@", "@@ ... @@"),
            4,
            true,
        ),
        case(
            Kind::HunkHeader,
            GOOD.replace("@@ -1,3 +1,3 @@", "@@"),
            4,
            true,
        ),
        case(Kind::HunkHeader, GOOD.replace("+1,3 @@", "+1,3"), 4, true),
        case(
            Kind::HunkCounts,
            GOOD.replace("-1,3 +1,3", "-1,2 +1,2"),
            4,
            true,
        ),
        case(
            Kind::HunkCounts,
            format!("{}{NEW}", GOOD.replace("-1,3 +1,3", "-1,7 +1,9")),
            4,
            true,
        ),
        case(
            Kind::Truncated,
            GOOD.replace("-1,3 +1,3", "-1,30 +1,33"),
            4,
            true,
        ),
        case(
            Kind::Placeholder,
            GOOD.replace(" 3\n", " # ... existing code ...\n"),
            8,
            false,
        ),
        case(Kind::ColumnLost, GOOD.replace(" 1\n", "1\n"), 5, true),
        case(Kind::BlankContext, GOOD.replace(" 1\n", "\n"), 5, false),
        case(
            Kind::NoChange,
            format!("{HEAD}@@ -1,3 +1,3 @@\n 1\n 2\n 3\n"),
            4,
            true,
        ),
        case(
            Kind::NoContext,
            format!("{HEAD}@@ -2 +2 @@\n-2\n+two\n"),
            4,
            true,
        ),
        case(
            Kind::HunkOrder,
            format!("{GOOD}@@ -2,3 +2,3 @@\n 2\n-3\n+three\n 4\n"),
            9,
            true,
        ),
        case(
            Kind::HunkOrder,
            format!("{HEAD}@@ -5,3 +5,3 @@\n 5\n-6\n+six\n 7\n{HUNK}"),
            9,
            false,
        ),
        case(
            Kind::NoNewlineMarker,
            GOOD.replace(" 1\n", " 1\n\\ No newline at end of file\n"),
            6,
            true,
        ),
        case(
            Kind::NoNewlineMarker,
            NEW.replace(
                "+1 @@\n+n\n",
                "+1,2 @@\n+n\n+\\ No newline at end of file\n",
            ),
            7,
            false,
        ),
        case(
            Kind::ConflictMarkers,
            GOOD.replace("+two", "+<<<<<<< HEAD"),
            7,
            false,
        ),
        case(
            Kind::BinaryWithoutData,
            section(
                "new file mode 100644\nindex 0000000..1234567\nBinary files /dev/null and b/n differ\n",
            ),
            4,
            true,
        ),
        case(
            Kind::BinaryBroken,
            section(
                "new file mode 100644\nindex 0000000..1234567\nGIT binary patch\nliteral 3\nKc${~{Vqyda00R&J\n\n",
            ),
            3,
            true,
        ),
        case(
            Kind::BinaryBroken,
            section(&format!(
                "new file mode 100644\nindex {}..{}\nGIT binary patch\nliteral 3\nKc$\n\n",
                "0".repeat(40),
                "1".repeat(40)
            )),
            6,
            true,
        ),
        case(
            Kind::Symlink,
            NEW.replace("100644", "120000")
                .replace("+n\n", "+x\n\\ No newline at end of file\n"),
            2,
            false,
        ),
        case(
            Kind::SymlinkOutside,
            NEW.replace("100644", "120000")
                .replace("+n\n", "+../secret\n\\ No newline at end of file\n"),
            2,
            false,
        ),
        case(
            Kind::Submodule,
            NEW.replace("100644", "160000")
                .replace("+n\n", &format!("+Subproject commit {}\n", "1".repeat(40))),
            2,
            false,
        ),
        case(
            Kind::ModeChange,
            "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n",
            2,
            false,
        ),
        case(
            Kind::RenameOnly,
            "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n",
            3,
            false,
        ),
        case(
            Kind::NestedPatch,
            NEW.replace(
                "+1 @@\n+n\n",
                "+1,4 @@\n+--- a/x\n++++ b/x\n+@@ -1 +1 @@\n+-1\n",
            ),
            8,
            false,
        ),
        case(
            Kind::MailSignature,
            format!("{GOOD}-- \n2.39.5\n\n"),
            9,
            false,
        ),
        case(
            Kind::BuildOutput,
            NEW.replace("b/n", "b/build/lib/n.py")
                .replace("a/n", "a/build/lib/n.py"),
            1,
            false,
        ),
    ]
}

fn indent(text: &str, margin: &str) -> String {
    let lines: Vec<String> = text
        .lines()
        .map(|line| format!("{margin}{line}\n"))
        .collect();
    lines.concat()
}

fn numbered(text: &str) -> String {
    let lines = (1..).zip(text.lines());
    let lines: Vec<String> = lines
        .map(|(number, line)| format!("{number:6}\t{line}\n"))
        .collect();
    lines.concat()
}
