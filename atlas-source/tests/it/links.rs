//! Closing keywords and references.

use atlas_source::{LinkContext, TextKind, closing_links};
use proptest::prelude::*;
use std::time::{Duration, Instant};

fn check(text: &str, expected: &[(&str, u64)]) {
    let context = LinkContext::github("o/r");
    let links = closing_links(text, TextKind::Markdown, &context);
    let found: Vec<_> = links
        .iter()
        .map(|link| (link.repo.as_str(), link.number))
        .collect();
    assert_eq!(found, expected, "{text:?}");
}

#[test]
fn all_nine_keywords_of_github_count_in_any_case_with_a_colon_or_without() {
    for keyword in [
        "close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved",
    ] {
        for text in [
            format!("{keyword} #12"),
            format!("{}: #12", keyword.to_uppercase()),
            format!("({keyword} #12)."),
            format!("This **{keyword}** o/r#12, at last"),
            format!("{keyword} GH-12"),
            format!("{keyword} https://github.com/o/r/issues/12"),
            format!("{keyword} <https://github.com/o/r/issues/12>"),
        ] {
            check(&text, &[("o/r", 12)]);
        }
    }
}

#[test]
fn each_keyword_counts_with_its_own_reference() {
    check("Fixes #1, fixes #2", &[("o/r", 1), ("o/r", 2)]);
    check(
        "Fixes #1 and resolves a/b#2, closed GH-3",
        &[("o/r", 1), ("a/b", 2), ("o/r", 3)],
    );
    // As at the host: a list behind one keyword links its first alone.
    check("fixes #1, #2 and #3", &[("o/r", 1)]);
    check("fixes #1, fixes #1", &[("o/r", 1)]);
}

#[test]
fn what_is_no_reference_links_nothing() {
    for text in [
        "See #12",
        "fixes 12",
        "fixes # 12",
        "fixes #12abc",
        "fixes #0",
        "fixes #99999999999999999999999",
        "prefixes #12",
        "hot-fix #12",
        "fixing #12",
        "fixes\n\n#12",
        "fixes https://example.org/o/r/issues/12",
        "fixes https://github.com/o/r/pull/12",
        "fixes a/b/c#12",
    ] {
        check(text, &[]);
    }
}

#[test]
fn comments_code_and_quotes_say_nothing() {
    for text in [
        "<!-- fixes #1 -->",
        "text <!-- fixes #1 --> text",
        "<!--\nfixes #1\n\nfixes #2\n-->",
        "`fixes #1`",
        "``fixes `#1` ``",
        "```\nfixes #1\n```",
        "~~~text\nfixes #1\n",
        "text\n\n    fixes #1\n",
        "> fixes #1\nfixes #2 is quoted by laziness",
        "<pre>\nfixes #1\n</pre>",
        "[text](https://github.com/o/r/issues/1 \"fixes #1\")",
    ] {
        check(text, &[]);
    }
    check("<details>\nfixes #1\n</details>", &[("o/r", 1)]);
    check(
        "- item\n\n    fixes #1 in the item's paragraph",
        &[("o/r", 1)],
    );
    check("<!-- template -->\r\nFixes #7\r\n", &[("o/r", 7)]);
}

#[test]
fn evidence_is_the_words_with_their_line() {
    let context = LinkContext::github("o/r");
    let text = "Summary\n\n<!--\nhidden\n-->\n\nThis **fixes**:   a/b#2.";
    let links = closing_links(text, TextKind::Markdown, &context);
    let evidence = links[0].evidence("body");
    assert_eq!((evidence.source.as_str(), evidence.line), ("body", Some(7)));
    assert_eq!(links[0].words, "fixes**: a/b#2");
}

#[test]
fn a_commit_s_message_is_no_markdown() {
    let context = LinkContext::github("o/r");
    let text = "Subject\n\n    Fixes #1\n> fixes #2\n\nCloses: #3";
    let links = closing_links(text, TextKind::Plain, &context);
    let found: Vec<_> = links.iter().map(|link| (link.number, link.line)).collect();
    assert_eq!(found, [(1, 3), (3, 6)]);
}

#[test]
fn gitlab_takes_lists_and_groups() {
    let context = LinkContext::gitlab("g/p");
    for (text, expected) in [
        (
            "Closes #1, #2 and group/project#3",
            &[("g/p", 1), ("g/p", 2), ("group/project", 3)][..],
        ),
        (
            "Implements a/b/c#4 and closing #5",
            &[("a/b/c", 4), ("g/p", 5)],
        ),
        ("Fixing issue #6, issues #7", &[("g/p", 6), ("g/p", 7)]),
        ("Resolve https://gitlab.com/a/b/-/issues/8", &[("a/b", 8)]),
        ("Related to #9, CLOSES #10, closes !11", &[]),
    ] {
        let links = closing_links(text, TextKind::Markdown, &context);
        let found: Vec<_> = links
            .iter()
            .map(|link| (link.repo.as_str(), link.number))
            .collect();
        assert_eq!(found, expected, "{text:?}");
    }
}

proptest! {
    #[test]
    fn any_text_is_read_and_evidence_stands_in_it(text in "(?s)(fixes|closes|#1|o/r#2|GH-3|<!--|-->|```|`|>|\\n| |,|and|\u{e9}|<pre>|https://github.com/o/r/issues/4|.){0,60}") {
        for context in [LinkContext::github("o/r"), LinkContext::gitlab("o/r")] {
            for kind in [TextKind::Markdown, TextKind::Plain] {
                for link in closing_links(&text, kind, &context) {
                    let line = text.lines().nth(link.line - 1).expect("the line is there");
                    prop_assert!(line.contains(&link.number.to_string()));
                    prop_assert!(link.number > 0);
                }
            }
        }
    }
}

#[test]
fn hostile_texts_take_linear_time() {
    for piece in [
        "fixes ",
        "closes #1, ",
        "a/",
        "<!-- ",
        "> ",
        "```\n",
        "[",
        "fixes a/b/",
        "<",
        "*_",
        "closes #1 and ",
    ] {
        let text = piece.repeat(400_000 / piece.len());
        for context in [LinkContext::github("o/r"), LinkContext::gitlab("o/r")] {
            let started = Instant::now();
            let _ = closing_links(&text, TextKind::Markdown, &context);
            let _ = closing_links(&text, TextKind::Plain, &context);
            // Quadratic work on 400,000 bytes takes minutes.
            assert!(
                started.elapsed() < Duration::from_secs(20),
                "{piece:?}: {:?}",
                started.elapsed()
            );
        }
    }
}
