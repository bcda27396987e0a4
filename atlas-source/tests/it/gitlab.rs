//! GitLab's API as it answers.

use atlas_core::testing::code_host_contract;
use atlas_core::{AuthorClass, CodeHost, ErrorKind, RunContext};
use atlas_source::{ApiOptions, GitlabHost};
use serde_json::{Value, json};
use std::time::Duration;
use wiremock::matchers::{header, method, path, query_param};
use wiremock::{Mock, MockServer, ResponseTemplate};

fn host(server: &MockServer) -> GitlabHost {
    let options = ApiOptions {
        tokens: vec!["secret".to_owned()],
        longest_wait: Duration::from_secs(5),
        pause: Duration::from_millis(5),
        ..ApiOptions::new(server.uri())
    };
    GitlabHost::open("group/sub/project", options).unwrap()
}

const PROJECT: &str = "/api/v4/projects/group%2Fsub%2Fproject";

async fn give(server: &MockServer, rest: &str, value: Value) {
    Mock::given(method("GET"))
        .and(path(format!("{PROJECT}{rest}")))
        .and(header("private-token", "secret"))
        .respond_with(ResponseTemplate::new(200).set_body_json(value))
        .mount(server)
        .await;
}

async fn project(server: &MockServer) {
    give(server, "", json!({
        "path_with_namespace": "group/sub/project", "http_url_to_repo": "https://gitlab.example/group/sub/project.git",
        "star_count": 7, "topics": ["cli"], "license": {"key": "apache-2.0"}, "archived": false,
        "last_activity_at": "2024-05-01T00:00:00.123Z", "forked_from_project": null,
    })).await;
}

/// A merge request of which everything is told.
async fn merge_request(server: &MockServer, number: u64, changes: Value) {
    let mut whole = json!({
        "iid": number, "title": format!("Change {number}"), "description": "Closes #5 and other/lib#9",
        "created_at": "2024-03-02T00:00:00.000Z", "merged_at": "2024-03-05T00:00:00.000+01:00", "labels": ["bug"],
        "author": {"username": "ann", "bot": false}, "merge_commit_sha": format!("{number:040x}"),
    });
    for (key, value) in changes.as_object().unwrap() {
        whole[key] = value.clone();
    }
    let of = format!("/merge_requests/{number}");
    give(server, &of, whole).await;
    give(
        server,
        &format!("/repository/commits/{number:040x}"),
        json!({"parent_ids": ["3".repeat(40), "4".repeat(40)]}),
    )
    .await;
    give(server, &format!("{of}/commits"), json!([{"id": "5".repeat(40), "authored_date": "2024-03-01T00:00:00.000Z", "message": "one"}])).await;
    give(server, &format!("{of}/notes"), json!([
        {"system": true, "body": "added a commit", "author": {"username": "ann"}},
        {"system": false, "body": "Good", "created_at": "2024-03-04T00:00:00Z", "author": {"username": "di"}},
    ])).await;
    give(server, &format!("{of}/closes_issues"), json!([{
        "iid": 5, "title": "It is broken", "description": "Badly.", "labels": ["bug"], "created_at": "2024-01-01T00:00:00Z",
        "author": {"username": "ghost"}, "references": {"full": "group/sub/project#5"},
    }])).await;
    give(server, "/issues/5/notes", json!([
        {"system": false, "body": "I see it", "created_at": "2024-02-01T00:00:00Z", "author": {"username": "bob"}},
    ])).await;
}

#[tokio::test]
async fn merge_requests_come_page_by_page_with_the_issues_that_they_close() {
    let server = MockServer::start().await;
    project(&server).await;
    for (page, number, next) in [("1", 1_u64, true), ("2", 2, false)] {
        let mut template = ResponseTemplate::new(200).set_body_json(json!([{"iid": number}]));
        if next {
            let link = format!(
                "<{}{PROJECT}/merge_requests?page=2>; rel=\"next\", <x>; rel=\"last\"",
                server.uri()
            );
            template = template.insert_header("link", link.as_str());
        }
        Mock::given(path(format!("{PROJECT}/merge_requests")))
            .and(query_param("state", "merged"))
            .and(query_param("sort", "asc"))
            .and(query_param("page", page))
            .respond_with(template)
            .expect(2)
            .mount(&server)
            .await;
        merge_request(&server, number, json!({})).await;
    }
    let told = code_host_contract(&host(&server)).await;
    assert_eq!(
        told.iter().filter_map(|one| one.number).collect::<Vec<_>>(),
        [1, 2]
    );
    let one = &told[0];
    assert_eq!(
        (one.base.as_str(), one.head.as_str()),
        ("3".repeat(40).as_str(), format!("{:040x}", 1).as_str())
    );
    assert_eq!(one.merged_at.as_deref(), Some("2024-03-04T23:00:00Z"));
    assert_eq!(one.first_commit_at.as_deref(), Some("2024-03-01T00:00:00Z"));
    let links: Vec<_> = one
        .issues
        .iter()
        .map(|issue| (issue.repo.as_str(), issue.number, issue.evidence.len()))
        .collect();
    assert_eq!(links, [("group/sub/project", 5, 2), ("other/lib", 9, 1)]);
    assert_eq!(
        one.issues[0].author.as_ref().unwrap().class,
        AuthorClass::Deleted
    );
    assert_eq!(one.hints_text(), "I see it");
    assert_eq!(
        one.reviews.len(),
        1,
        "what the host notes itself is no review"
    );
    let facts = &one.repository;
    assert_eq!(
        (facts.stars, facts.licence.as_deref(), facts.fork),
        (Some(7), Some("Apache-2.0"), Some(false))
    );
}

#[tokio::test]
async fn squashed_fast_forwarded_and_lost_ones_are_told_apart() {
    let server = MockServer::start().await;
    project(&server).await;
    let listed = json!([{"iid": 1}, {"iid": 2}, {"iid": 3}, {"iid": 4}]);
    give(&server, "/merge_requests", listed).await;
    let none = Value::Null;
    merge_request(
        &server,
        1,
        json!({"merge_commit_sha": none, "squash_commit_sha": format!("{:040x}", 1)}),
    )
    .await;
    merge_request(&server, 2, json!({"merge_commit_sha": none, "diff_refs": {"base_sha": "6".repeat(40), "head_sha": "7".repeat(40)}})).await;
    merge_request(&server, 3, json!({"merge_commit_sha": "8".repeat(40)})).await;
    let page = host(&server)
        .page(&RunContext::new("test"), None)
        .await
        .unwrap();
    let hows: Vec<_> = page
        .pull_requests
        .iter()
        .map(|one| one.provenance["base"].as_str())
        .collect();
    assert_eq!(
        hows,
        [
            "squash_commit_sha and its parent",
            "diff_refs: merged without a commit of its own"
        ]
    );
    let skipped: Vec<_> = page.skipped.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(skipped, ["group/sub/project!3", "group/sub/project!4"]);
    assert!(page.skipped[0].reason.contains("merged commit 8888"));
    // The project, the list by both orders, and of each of the first two six, of the third two, of the fourth one.
    assert_eq!(page.requests, 3 + 6 + 5 + 2 + 1);
}

#[tokio::test]
async fn a_project_that_moved_is_followed_and_limits_are_waited_out() {
    let server = MockServer::start().await;
    let once = |template: ResponseTemplate| {
        Mock::given(path(PROJECT))
            .respond_with(template)
            .up_to_n_times(1)
    };
    once(ResponseTemplate::new(429).insert_header("retry-after", "1"))
        .with_priority(1)
        .expect(1)
        .mount(&server)
        .await;
    once(ResponseTemplate::new(502))
        .with_priority(2)
        .expect(1)
        .mount(&server)
        .await;
    once(ResponseTemplate::new(301).insert_header("location", "/api/v4/projects/1"))
        .with_priority(3)
        .expect(1)
        .mount(&server)
        .await;
    Mock::given(path("/api/v4/projects/1"))
        .respond_with(
            ResponseTemplate::new(200)
                .set_body_json(json!({"path_with_namespace": "group/sub/project"})),
        )
        .expect(1)
        .mount(&server)
        .await;
    give(&server, "/merge_requests", json!([])).await;
    let page = host(&server)
        .page(&RunContext::new("test"), None)
        .await
        .unwrap();
    assert_eq!(
        (page.pull_requests.len(), page.requests, page.next),
        (0, 6, None)
    );
}

#[tokio::test]
async fn what_is_unchanged_is_not_sent_again() {
    let server = MockServer::start().await;
    project(&server).await;
    let list = format!("{PROJECT}/merge_requests");
    Mock::given(path(list.as_str()))
        .and(header("if-none-match", "\"v1\""))
        .respond_with(ResponseTemplate::new(304))
        .with_priority(1)
        .expect(2)
        .mount(&server)
        .await;
    Mock::given(path(list.as_str()))
        .respond_with(
            ResponseTemplate::new(200)
                .insert_header("etag", "\"v1\"")
                .set_body_json(json!([{"iid": 1}])),
        )
        // By both orders.
        .expect(2)
        .mount(&server)
        .await;
    merge_request(&server, 1, json!({})).await;
    let told = code_host_contract(&host(&server)).await;
    assert_eq!(told.len(), 1);
}

#[tokio::test]
async fn what_is_not_there_is_an_error() {
    let server = MockServer::start().await;
    let why = host(&server)
        .page(&RunContext::new("test"), None)
        .await
        .unwrap_err();
    assert_eq!(why.kind(), ErrorKind::NotFound);
    assert!(why.chain().contains("no such project"), "{}", why.chain());
    let why = host(&server)
        .page(&RunContext::new("test"), Some("x"))
        .await
        .unwrap_err();
    assert!(why.chain().contains("page `x`"), "{}", why.chain());
    for name in ["project", "/project", "group//project"] {
        assert!(
            GitlabHost::open(name, ApiOptions::new("https://gitlab.com")).is_err(),
            "{name}"
        );
    }
}
