//! Pull requests that a clone's history tells of.

use crate::support::Lab;
use atlas_core::testing::code_host_contract;
use atlas_core::{AuthorClass, CodeHost, RunContext, SourcedPullRequest};
use atlas_source::{CloneHost, IssueTexts};

/// A day of March 2024, as git takes it.
fn on(lab: &Lab, day: u32, author: &str, message: &str) -> String {
    let date = format!("2024-03-{day:02}T12:00:00+02:00");
    lab.git(&["add", "--all"]);
    lab.git(&[
        "-c",
        &format!("user.name={author}"),
        "commit",
        "-q",
        "--allow-empty",
        "--date",
        &date,
        "-m",
        message,
    ]);
    lab.head().to_string()
}

/// A branch with these commits, merged with the message.
fn merge(lab: &Lab, message: &str, commits: &[(u32, &str, &str)]) -> String {
    lab.git(&["checkout", "-q", "-b", "side"]);
    for (day, author, subject) in commits {
        lab.write(&format!("src/{day}.py"), format!("a = {day}\n"));
        on(lab, *day, author, subject);
    }
    lab.git(&["checkout", "-q", "main"]);
    lab.git(&["merge", "-q", "--no-ff", "-m", message, "side"]);
    lab.git(&["branch", "-q", "-D", "side"]);
    lab.head().to_string()
}

/// A history with every form of merge.
fn history() -> (Lab, Vec<(&'static str, String)>) {
    let lab = Lab::new();
    lab.git(&[
        "remote",
        "add",
        "origin",
        "https://github.com/owner/name.git",
    ]);
    lab.write("pyproject.toml", "[tool.pytest.ini_options]\n")
        .write("src/a.py", "a = 1\nb = 2\n\n# remark\n");
    on(&lab, 1, "Ann", "Begin");
    let mut heads = Vec::new();
    lab.write("src/a.py", "a = 1\nb = 3\nc = 4\n")
        .write("tests/test_a.py", "def test_a():\n    assert True\n");
    heads.push((
        "squashed",
        on(&lab, 2, "Ann", "Fix b (#7)\n\n* one\n\nFixes #5"),
    ));
    on(&lab, 3, "Ann", "Tidy up");
    lab.write("src/b.py", "x = 1\n");
    heads.push(("single", on(&lab, 4, "Bob", "Add b\n\nCloses other/lib#9")));
    heads.push((
        "merged",
        merge(
            &lab,
            "Merge pull request #12 from cy/things\n\nThings",
            &[(10, "Cy", "First\n\nresolves #11"), (12, "Di", "Second")],
        ),
    ));
    lab.write("src/bot.py", "y = 1\n");
    heads.push(("bot", on(&lab, 13, "dependabot[bot]", "Bump y (#13)")));
    (lab, heads)
}

fn find<'a>(
    told: &'a [SourcedPullRequest],
    heads: &[(&str, String)],
    name: &str,
) -> &'a SourcedPullRequest {
    let (_, head) = heads.iter().find(|(known, _)| *known == name).unwrap();
    let found = told.iter().find(|one| one.head.as_str() == head);
    found.unwrap_or_else(|| panic!("{name} is not told of"))
}

#[tokio::test]
async fn every_form_of_merge_is_told_of_with_its_commits() {
    let (lab, heads) = history();
    let host = CloneHost::open(lab.path()).await.unwrap();
    let told = code_host_contract(&host).await;
    assert_eq!(told.len(), heads.len(), "{told:#?}");

    let squashed = find(&told, &heads, "squashed");
    assert_eq!(
        (squashed.repo.as_str(), squashed.number),
        ("owner/name", Some(7))
    );
    assert_eq!(squashed.title, "Fix b");
    assert_eq!(
        squashed.base.as_str(),
        lab.git(&["rev-parse", &format!("{}~", squashed.head)])
            .trim()
    );
    assert_eq!(squashed.issues[0].number, 5);
    assert_eq!(squashed.issues[0].evidence[0].text, "Fixes #5");
    assert_eq!(
        squashed.first_commit_at, None,
        "a squashed commit has the date of its merge"
    );
    let change = squashed.change.as_ref().unwrap();
    assert_eq!(
        (change.files, change.hunks, change.added, change.removed),
        (1, 1, 2, 3)
    );
    assert_eq!((change.test_files, change.test_added), (1, 2));
    assert_eq!(change.paths, ["src/a.py", "tests/test_a.py"]);
    assert_eq!(change.patch_id.as_ref().unwrap().len(), 40);

    let single = find(&told, &heads, "single");
    assert_eq!(
        (single.number, single.issues[0].repo.as_str()),
        (None, "other/lib")
    );
    assert_eq!(
        single.first_commit_at.as_deref(),
        Some("2024-03-04T10:00:00Z")
    );

    let merged = find(&told, &heads, "merged");
    assert_eq!((merged.number, merged.title.as_str()), (Some(12), "Things"));
    assert_eq!(
        merged.first_commit_at.as_deref(),
        Some("2024-03-10T10:00:00Z")
    );
    assert_eq!(merged.author.as_ref().unwrap().name.as_deref(), Some("Cy"));
    assert_eq!(merged.issues[0].number, 11);
    assert!(merged.issues[0].evidence[0].source.starts_with("commit "));
    assert_eq!(merged.change.as_ref().unwrap().files, 2);
    assert_eq!(
        find(&told, &heads, "bot").author.as_ref().unwrap().class,
        AuthorClass::Bot
    );

    let facts = &merged.repository;
    let counts = cfg!(feature = "count-lines");
    assert_eq!(facts.lines_of_code, counts.then_some(3 + 2 + 1 + 2 + 1));
    assert_eq!(facts.language.as_deref(), counts.then_some("Python"));
    assert_eq!(facts.test_frameworks, ["pytest"]);
}

#[tokio::test]
async fn a_squashed_one_is_as_old_as_the_host_s_ref_says() {
    let (lab, heads) = history();
    let (_, squashed) = &heads[0];
    lab.git(&["checkout", "-q", "-b", "side", &format!("{squashed}~")]);
    lab.write("src/a.py", "early\n");
    let early = on(&lab, 1, "Eve", "Early work");
    lab.git(&["update-ref", "refs/pull/7/head", &early]);
    lab.git(&["checkout", "-q", "main"]);
    let host = CloneHost::open(lab.path()).await.unwrap();
    let told = code_host_contract(&host).await;
    let found = find(&told, &heads, "squashed");
    assert_eq!(
        found.first_commit_at.as_deref(),
        Some("2024-03-01T10:00:00Z")
    );
    assert_eq!(found.author.as_ref().unwrap().name.as_deref(), Some("Eve"));
}

#[tokio::test]
async fn a_number_of_which_the_host_keeps_a_ref_is_no_issue() {
    let (lab, heads) = history();
    lab.git(&["update-ref", "refs/pull/5/head", "HEAD"]);
    let host = CloneHost::open(lab.path()).await.unwrap();
    let told = code_host_contract(&host).await;
    assert!(find(&told, &heads, "squashed").issues.is_empty());
}

#[tokio::test]
async fn a_history_that_breaks_off_is_said_to() {
    let (lab, heads) = history();
    let (_, merged) = &heads[2];
    let lost = lab.git(&["rev-parse", &format!("{merged}~3")]);
    let (folder, name) = lost.trim().split_at(2);
    std::fs::remove_file(lab.path().join(format!(".git/objects/{folder}/{name}"))).unwrap();
    let host = CloneHost::open(lab.path()).await.unwrap();
    let page = host.page(&RunContext::new("test"), None).await.unwrap();
    assert_eq!(page.next, None);
    assert!(
        page.skipped
            .iter()
            .any(|one| one.reason.contains("lacks objects")),
        "{:?}",
        page.skipped
    );
    assert_eq!(page.pull_requests.len(), 3, "those before it are told of");
}

#[tokio::test]
async fn a_file_that_the_clone_lacks_costs_the_change_that_needs_it() {
    let (lab, heads) = history();
    let (_, single) = &heads[1];
    let lost = lab.git(&["rev-parse", &format!("{single}:src/b.py")]);
    let (folder, name) = lost.trim().split_at(2);
    std::fs::remove_file(lab.path().join(format!(".git/objects/{folder}/{name}"))).unwrap();
    let host = CloneHost::open(lab.path()).await.unwrap();
    let page = host.page(&RunContext::new("test"), None).await.unwrap();
    assert_eq!(page.pull_requests.len(), heads.len() - 1);
    assert_eq!(page.skipped.len(), 1);
    assert!(
        page.skipped[0].reason.contains(&single[..12]),
        "{:?}",
        page.skipped
    );
}

#[tokio::test]
async fn what_make_finds_by_number_is_what_the_host_tells() {
    let (lab, heads) = history();
    let host = CloneHost::open(lab.path()).await.unwrap();
    let told = code_host_contract(&host).await;
    let repo = lab.open().await;
    for name in ["squashed", "merged", "bot"] {
        let sourced = find(&told, &heads, name);
        let found = repo.pull_request(sourced.number.unwrap()).await.unwrap();
        assert_eq!(
            (&found.base, &found.head),
            (&sourced.base, &sourced.head),
            "{name}"
        );
    }
}

#[tokio::test]
async fn pages_go_on_in_another_process() {
    let lab = Lab::new();
    for number in 1..=150 {
        lab.commit(&format!("Change {number} (#{number})"));
    }
    let cx = RunContext::new("test");
    let (mut cursor, mut numbers) = (None, Vec::new());
    loop {
        // A new host knows nothing of the pages before.
        let host = CloneHost::open(lab.path()).await.unwrap();
        let page = host.page(&cx, cursor.as_deref()).await.unwrap();
        numbers.extend(page.pull_requests.iter().filter_map(|one| one.number));
        match page.next {
            Some(next) => cursor = Some(next),
            None => break,
        }
    }
    let expected: Vec<u64> = (2..=150).rev().collect();
    assert_eq!(numbers, expected, "the first commit has no base");
    let host = CloneHost::open(lab.path()).await.unwrap();
    for cursor in ["nonsense", "0123456789012345678901234567890123456789"] {
        assert!(host.page(&cx, Some(cursor)).await.is_err(), "{cursor}");
    }
}

#[tokio::test]
async fn texts_of_issues_come_from_a_file_in_either_form() {
    let (lab, heads) = history();
    let file = lab.path().join("issues.jsonl");
    let lines = [
        r#"{"number": 5, "title": "b is wrong", "body": "it is 2", "labels": ["bug"], "created_at": "2024-02-01T00:00:00Z", "comments": [{"created_at": "2024-02-02T00:00:00Z", "body": "yes"}]}"#,
        r#"{"repository_url": "https://api.github.com/repos/other/lib", "number": 9, "title": "Add b", "body": null, "labels": [{"name": "feature"}], "user": {"login": "ghost"}, "comments": 2}"#,
        r#"{"issue_url": "https://api.github.com/repos/other/lib/issues/9", "body": "later", "created_at": "2024-01-02T00:00:00+01:00", "user": {"login": "x", "type": "User"}, "author_association": "OWNER"}"#,
        r#"{"issue_url": "https://api.github.com/repos/other/lib/issues/9", "body": "sooner", "created_at": "2024-01-01T00:00:00Z", "user": null}"#,
        r#"{"number": 11, "title": "a pull request", "pull_request": {}}"#,
    ];
    std::fs::write(&file, lines.join("\n")).unwrap();
    let texts = IssueTexts::open(&file, "owner/name").unwrap();
    assert_eq!(texts.len(), 2);
    let host = CloneHost::open(lab.path())
        .await
        .unwrap()
        .with_issues(texts);
    let told = code_host_contract(&host).await;
    let own = &find(&told, &heads, "squashed").issues[0];
    assert_eq!(
        (own.title.as_str(), own.labels[0].as_str()),
        ("b is wrong", "bug")
    );
    let other = &find(&told, &heads, "single").issues[0];
    assert_eq!(other.author.as_ref().unwrap().class, AuthorClass::Deleted);
    let bodies: Vec<_> = other
        .comments
        .iter()
        .map(|remark| remark.body.as_str())
        .collect();
    assert_eq!(bodies, ["sooner", "later"]);
    assert_eq!(
        other.comments[1].created_at.as_deref(),
        Some("2024-01-01T23:00:00Z")
    );
    assert_eq!(
        other.comments[1].author.as_ref().unwrap().class,
        AuthorClass::Maintainer
    );
    assert_eq!(find(&told, &heads, "merged").issues[0].title, "");

    for (text, word) in [
        ("[{}]", "jq"),
        ("{}\n", "number"),
        ("{\"number\": 1}\n{", "line 2"),
    ] {
        std::fs::write(&file, text).unwrap();
        let why = IssueTexts::open(&file, "o/n").unwrap_err().chain();
        assert!(why.contains(word) && why.contains("issues.jsonl"), "{why}");
    }
}

#[tokio::test]
async fn inline_tests_of_rust_count_as_tests() {
    let lab = Lab::new();
    lab.write("Cargo.toml", "[package]\n")
        .write("src/lib.rs", "fn a() {}\n");
    // As it stands beside most code, without its appendix.
    let apache = include_str!("../../../LICENSE-APACHE");
    let (terms, _) = apache.split_once("   APPENDIX:").unwrap();
    lab.write("LICENSE-MIT", include_str!("../../../LICENSE-MIT"))
        .write("LICENSE-APACHE", terms);
    lab.commit("Begin");
    lab.write(
        "src/lib.rs",
        "fn a() {}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn b() {}\n}\n",
    );
    lab.commit("Test a (#1)");
    let host = CloneHost::open(lab.path()).await.unwrap();
    let told = code_host_contract(&host).await;
    let change = told[0].change.as_ref().unwrap();
    assert_eq!((change.files, change.test_files), (1, 1));
    let licence = told[0].repository.licence.as_deref();
    assert_eq!(licence, Some("Apache-2.0 OR MIT"));
    assert_eq!(told[0].repository.test_frameworks, ["cargo test"]);
}

/// Three commits of a branch as they were, and the same rebased onto the branch behind another commit.
fn rebased(lab: &Lab, keep: usize) -> Vec<String> {
    on(lab, 1, "Ann", "Begin");
    lab.git(&["checkout", "-q", "-b", "side"]);
    for (day, subject) in [(2, "Add x"), (3, "Use x"), (4, "Test x\n\nFixes #5")] {
        lab.write(&format!("src/{day}.py"), format!("a = {day}\n"));
        on(lab, day, "Cy", subject);
    }
    lab.git(&["update-ref", "refs/pull/7/head", "side"]);
    lab.git(&["checkout", "-q", "main"]);
    lab.write("other.py", "b = 1\n");
    on(lab, 5, "Ann", "Something else");
    // Those that stay out are not part of the history.
    let first = format!("side~{keep}");
    lab.git(&["cherry-pick", &format!("{first}..side")]);
    let log = lab.git(&["log", "--format=%H", &format!("-{}", keep + 1)]);
    log.lines().map(str::to_owned).collect()
}

#[tokio::test]
async fn commits_that_were_rebased_are_one_pull_request_by_the_host_s_ref() {
    let lab = Lab::new();
    let log = rebased(&lab, 3);
    let host = CloneHost::open(lab.path()).await.unwrap();
    let told = code_host_contract(&host).await;
    let [one] = &told[..] else {
        panic!("{told:#?}")
    };
    assert_eq!((one.number, one.title.as_str()), (Some(7), "Add x"));
    assert_eq!(one.body, "* Add x\n* Use x\n* Test x");
    assert_eq!((one.base.as_str(), one.head.as_str()), (&*log[3], &*log[0]));
    assert_eq!(one.first_commit_at.as_deref(), Some("2024-03-02T10:00:00Z"));
    assert_eq!(one.author.as_ref().unwrap().name.as_deref(), Some("Cy"));
    assert_eq!(one.issues[0].number, 5);
    assert_eq!(one.change.as_ref().unwrap().files, 3);
    let how = &one.provenance["base"];
    assert!(
        how.starts_with("3 rebased up to") && how.ends_with("refs/pull/7/head has them"),
        "{how}"
    );
}

#[tokio::test]
async fn a_part_of_a_pull_request_s_commits_is_no_pull_request() {
    let lab = Lab::new();
    rebased(&lab, 2);
    let host = CloneHost::open(lab.path()).await.unwrap();
    let told = code_host_contract(&host).await;
    let [one] = &told[..] else {
        panic!("{told:#?}")
    };
    // The commit that closes an issue, as ever.
    assert_eq!((one.number, one.title.as_str()), (None, "Test x"));
    let how = &one.provenance["base"];
    assert!(
        how.contains("#7 ends in this commit, and 1 of its 3 commits"),
        "{how}"
    );
}

#[tokio::test]
async fn commits_under_one_number_are_one_where_they_were_committed_at_one_moment() {
    let lab = Lab::new();
    let commit = |day: u32, committed: &str, message: &str| {
        lab.write(&format!("src/{day}.py"), format!("a = {day}\n"));
        on(&lab, day, "Cy", "to be amended");
        let date = format!("2024-03-09T12:00:{committed}+00:00");
        let command = std::process::Command::new("git")
            .current_dir(lab.path())
            .env("GIT_COMMITTER_DATE", date)
            .env("GIT_COMMITTER_NAME", "Merger")
            .env("GIT_COMMITTER_EMAIL", "merger@example.org")
            .args(["commit", "-q", "--amend", "-m", message])
            .status();
        assert!(command.unwrap().success());
        lab.head().to_string()
    };
    let root = commit(1, "00", "Begin");
    commit(2, "01", "Add x\n\nPR-URL: https://github.com/o/n/pull/7");
    let second = commit(3, "02", "Test x\n\nPR-URL: https://github.com/o/n/pull/7");
    let third = commit(4, "03", "One (#8)");
    // The same number, and no rebase: a minute and a half later.
    let fourth = lab
        .write("src/5.py", "x = 1\n")
        .commit("Two (#8)")
        .to_string();
    let host = CloneHost::open(lab.path()).await.unwrap();
    let told = code_host_contract(&host).await;
    let ends: Vec<_> = told
        .iter()
        .map(|one| (one.number, one.base.as_str(), one.head.as_str()))
        .collect();
    assert_eq!(
        ends,
        [
            (Some(8), third.as_str(), fourth.as_str()),
            (Some(8), second.as_str(), third.as_str()),
            (Some(7), root.as_str(), second.as_str()),
        ]
    );
    assert!(told[2].provenance["base"].starts_with("2 rebased up to"));
    assert!(told[0].provenance["base"].contains("at another time"));
}
