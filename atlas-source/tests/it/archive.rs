//! Archived events.

use atlas_core::testing::code_host_contract;
use atlas_core::{AuthorClass, CodeHost, RunContext};
use atlas_source::ArchiveHost;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;
use tempfile::TempDir;

fn pull_request(repo: &str, number: u64, changes: Value) -> Value {
    let mut told = json!({
        "number": number, "title": format!("Change {number}"), "body": "Fixes #5", "merged": true,
        "created_at": "2024-03-02T00:00:00Z", "merged_at": "2024-03-05T00:00:00Z", "author_association": "MEMBER",
        "user": {"login": "ann", "type": "User"}, "labels": [{"name": "bug"}],
        "base": {"sha": "1".repeat(40), "repo": {"stargazers_count": 7, "license": {"spdx_id": "MIT"}, "language": "Go",
                 "topics": ["cli"], "pushed_at": "2024-03-05T00:00:00Z", "fork": false, "archived": false}},
        "head": {"sha": format!("{number:040x}")},
    });
    for (key, value) in changes.as_object().unwrap() {
        told[key] = value.clone();
    }
    json!({"type": "PullRequestEvent", "repo": {"name": repo}, "payload": {"action": "closed", "pull_request": told}})
}

fn issue(repo: &str, number: u64) -> Value {
    json!({"type": "IssuesEvent", "repo": {"name": repo}, "payload": {"action": "opened", "issue": {
        "number": number, "title": format!("Issue {number}"), "body": "Broken.", "labels": [{"name": "bug"}],
        "created_at": "2024-01-01T00:00:00Z", "user": {"login": "bob", "type": "User"}}}})
}

fn comment(repo: &str, number: u64, body: &str) -> Value {
    let mut event = issue(repo, number);
    event["type"] = json!("IssueCommentEvent");
    event["payload"]["action"] = json!("created");
    event["payload"]["comment"] = json!({"body": body, "created_at": "2024-02-01T00:00:00Z", "user": {"login": "x", "type": "Bot"}});
    event
}

/// Files of events, the second of them packed.
fn files(folder: &TempDir, events: [&[Value]; 2]) -> Vec<PathBuf> {
    let text = |events: &[Value]| {
        let lines: Vec<String> = events.iter().map(ToString::to_string).collect();
        format!("{}\n", lines.join("\n"))
    };
    let plain = folder.path().join("2024-03-01-0.json");
    std::fs::write(&plain, format!("{{ no event\n{}", text(events[0]))).unwrap();
    let packed = folder.path().join("2024-03-01-1.json.gz");
    let mut writer = GzEncoder::new(std::fs::File::create(&packed).unwrap(), Compression::fast());
    writer.write_all(text(events[1]).as_bytes()).unwrap();
    writer.finish().unwrap();
    vec![plain, packed]
}

#[tokio::test]
async fn issues_are_joined_from_earlier_and_later_events() {
    let folder = tempfile::tempdir().unwrap();
    let first = [
        comment("o/n", 5, "I see it"),
        issue("o/n", 99),
        pull_request("o/n", 1, json!({})),
        pull_request("o/n", 2, json!({"merged": false})),
        pull_request("o/n", 3, json!({"title": null})),
    ];
    let second = [
        pull_request(
            "a/b",
            4,
            json!({"body": "closes o/n#5, closes #6", "user": {"login": "dependabot[bot]", "type": "Bot"}}),
        ),
        issue("a/b", 6),
        comment("o/n", 5, "again"),
    ];
    let files = files(&folder, [&first, &second]);
    let host = ArchiveHost::open(files.clone()).unwrap();
    let told = code_host_contract(&host).await;
    assert_eq!(
        told.iter().filter_map(|one| one.number).collect::<Vec<_>>(),
        [1, 4]
    );
    let one = &told[0];
    assert_eq!(
        (
            one.issues[0].title.as_str(),
            one.issues[0].labels[0].as_str()
        ),
        ("Issue 5", "bug")
    );
    let said: Vec<_> = one.issues[0]
        .comments
        .iter()
        .map(|remark| remark.body.as_str())
        .collect();
    assert_eq!(said, ["I see it", "again"]);
    assert_eq!(one.hints_text(), "", "when the work began is not archived");
    assert_eq!(
        (one.repository.stars, one.repository.licence.as_deref()),
        (Some(7), Some("MIT"))
    );
    assert_eq!(one.author.as_ref().unwrap().class, AuthorClass::Maintainer);
    let links: Vec<_> = told[1]
        .issues
        .iter()
        .map(|issue| (issue.repo.as_str(), issue.title.as_str()))
        .collect();
    assert_eq!(links, [("o/n", "Issue 5"), ("a/b", "Issue 6")]);
    assert_eq!(told[1].author.as_ref().unwrap().class, AuthorClass::Bot);

    let page = host.page(&RunContext::new("test"), None).await.unwrap();
    assert_eq!((page.skipped[0].name.as_str(), page.requests), ("o/n#3", 0));
    let own = ArchiveHost::open(files)
        .unwrap()
        .with_repos(["A/b".to_owned()]);
    assert_eq!(code_host_contract(&own).await.len(), 1);
    assert!(ArchiveHost::open(vec![folder.path().join("absent.json")]).is_err());
}

#[tokio::test]
async fn pages_go_on_within_packed_files_and_from_file_to_file() {
    let folder = tempfile::tempdir().unwrap();
    let many = |from: u64| -> Vec<Value> {
        (from..from + 100)
            .map(|number| pull_request("o/n", number, json!({})))
            .collect()
    };
    let files = files(&folder, [&many(1), &many(101)]);
    let cx = RunContext::new("test");
    let (mut cursor, mut numbers) = (None, Vec::new());
    loop {
        // A new host knows nothing of the pages before.
        let host = ArchiveHost::open(files.clone()).unwrap();
        let page = host.page(&cx, cursor.as_deref()).await.unwrap();
        numbers.extend(page.pull_requests.iter().filter_map(|one| one.number));
        match page.next {
            Some(next) => cursor = Some(next),
            None => break,
        }
    }
    assert_eq!(numbers, (1..=200).collect::<Vec<_>>());
    assert_eq!(
        code_host_contract(&ArchiveHost::open(files.clone()).unwrap())
            .await
            .len(),
        200
    );
    for cursor in ["x", "9:0", "0"] {
        assert!(
            ArchiveHost::open(files.clone())
                .unwrap()
                .page(&cx, Some(cursor))
                .await
                .is_err(),
            "{cursor}"
        );
    }
}
