//! GitHub's API as it answers on good days and on bad ones.

use crate::support::Lab;
use atlas_core::testing::code_host_contract;
use atlas_core::{AuthorClass, CodeHost, ErrorKind, RunContext};
use atlas_source::{ApiOptions, GithubHost, GithubRestHost};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use wiremock::matchers::{body_partial_json, header, method, path, query_param};
use wiremock::{Mock, MockServer, ResponseTemplate};

fn options(server: &str, tokens: &[&str]) -> ApiOptions {
    ApiOptions {
        tokens: tokens.iter().map(|token| (*token).to_owned()).collect(),
        longest_wait: Duration::from_secs(5),
        pause: Duration::from_millis(5),
        ..ApiOptions::new(server)
    }
}

fn host(server: &MockServer) -> GithubHost {
    GithubHost::open("owner/name", options(&server.uri(), &["secret-1"])).unwrap()
}

/// A pull request as GraphQL tells of it, with some of it changed.
fn node(number: u64, changes: &Value) -> Value {
    let digit = |digit: u64| format!("{digit:x}").repeat(40)[..40].to_owned();
    let mut whole = json!({
        "number": number, "title": format!("Change {number}"), "body": "Fixes #5\n\n`fixes #6`",
        "createdAt": "2024-03-02T00:00:00Z", "mergedAt": "2024-03-05T00:00:00Z",
        "authorAssociation": "CONTRIBUTOR", "author": {"__typename": "User", "login": "ann"},
        "baseRefOid": digit(1), "headRefOid": digit(2), "labels": {"nodes": [{"name": "bug"}]},
        "mergeCommit": {"oid": format!("{number:040x}"), "messageHeadline": format!("Change {number} (#{number})"),
                        "parents": {"nodes": [{"oid": digit(3)}]}},
        "commits": {"totalCount": 2, "nodes": [
            {"commit": {"oid": digit(4), "authoredDate": "2024-03-01T12:00:00+02:00", "messageHeadline": "one", "message": "one"}},
            {"commit": {"oid": digit(5), "authoredDate": "2024-02-29T12:00:00Z", "messageHeadline": "two", "message": "two\n\nresolves other/lib#9"}}]},
        "closingIssuesReferences": {"nodes": [{
            "number": 5, "title": "It is broken", "body": "Badly.", "createdAt": "2024-01-01T00:00:00Z",
            "authorAssociation": "NONE", "author": {"__typename": "User", "login": "bob"},
            "repository": {"nameWithOwner": "owner/name"}, "labels": {"nodes": [{"name": "bug"}]},
            "comments": {"nodes": [
                {"author": null, "authorAssociation": "NONE", "createdAt": "2024-02-01T00:00:00Z", "body": "I see it"},
                {"author": {"__typename": "User", "login": "cy"}, "authorAssociation": "MEMBER", "createdAt": "2024-03-03T00:00:00Z", "body": "use abs"}]}}]},
        "timelineItems": {"nodes": [
            {"__typename": "ConnectedEvent", "createdAt": "2024-03-03T00:00:00Z", "subject": {"number": 7, "repository": {"nameWithOwner": "owner/name"}}},
            {"__typename": "ConnectedEvent", "createdAt": "2024-03-03T00:00:00Z", "subject": {"number": 8, "repository": {"nameWithOwner": "owner/name"}}},
            {"__typename": "DisconnectedEvent", "createdAt": "2024-03-04T00:00:00Z", "subject": {"number": 8, "repository": {"nameWithOwner": "owner/name"}}},
            {"__typename": "ConnectedEvent", "createdAt": "2024-03-04T00:00:00Z", "subject": {}}]},
        "reviews": {"nodes": [
            {"author": {"__typename": "User", "login": "di"}, "authorAssociation": "OWNER", "submittedAt": "2024-03-04T00:00:00Z", "body": "Good",
             "comments": {"nodes": [{"author": null, "authorAssociation": "NONE", "createdAt": "2024-03-03T00:00:00Z", "body": "why?"}]}}]},
    });
    for (key, value) in changes.as_object().unwrap() {
        whole[key] = value.clone();
    }
    whole
}

/// An answer with these pull requests.
fn answer(nodes: &[Value], next: Option<&str>) -> Value {
    json!({"data": {"repository": {
        "nameWithOwner": "owner/name", "url": "https://github.com/owner/name", "isFork": false, "isArchived": false,
        "pushedAt": "2024-05-01T00:00:00Z", "stargazerCount": 123, "licenseInfo": {"spdxId": "MIT"},
        "primaryLanguage": {"name": "Python"}, "repositoryTopics": {"nodes": [{"topic": {"name": "cli"}}]},
        "pullRequests": {"pageInfo": {"endCursor": next.unwrap_or("end"), "hasNextPage": next.is_some()}, "nodes": nodes},
    }}})
}

fn good(nodes: &[Value], next: Option<&str>) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_json(answer(nodes, next))
}

/// The first so many requests are answered so.
async fn first(server: &MockServer, times: u64, template: ResponseTemplate) {
    let mock = Mock::given(method("POST"))
        .and(path("/graphql"))
        .respond_with(template);
    mock.up_to_n_times(times)
        .with_priority(1)
        .expect(times)
        .mount(server)
        .await;
}

/// All later ones are answered well.
async fn then_good(server: &MockServer) {
    let mock = Mock::given(method("POST")).and(path("/graphql"));
    mock.respond_with(good(&[node(1, &json!({}))], None))
        .with_priority(5)
        .mount(server)
        .await;
}

#[tokio::test]
async fn pages_give_every_pull_request_once_with_all_that_is_known() {
    let server = MockServer::start().await;
    let pages = [
        (Value::Null, [1, 2], Some("a")),
        (json!("a"), [3, 4], Some("b")),
        (json!("b"), [5, 6], None),
    ];
    for (after, numbers, next) in pages {
        let nodes: Vec<Value> = numbers
            .iter()
            .map(|number| node(*number, &json!({})))
            .collect();
        Mock::given(method("POST"))
            .and(path("/graphql"))
            .and(header("authorization", "Bearer secret-1"))
            .and(body_partial_json(
                json!({"variables": {"owner": "owner", "name": "name", "after": after}}),
            ))
            .respond_with(good(&nodes, next))
            // The contract asks each page twice.
            .expect(2)
            .mount(&server)
            .await;
    }
    let told = code_host_contract(&host(&server)).await;
    let numbers: Vec<_> = told.iter().filter_map(|one| one.number).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6]);
    let one = &told[0];
    assert_eq!(
        (one.base.as_str(), one.head.as_str()),
        ("3".repeat(40).as_str(), format!("{:040x}", 1).as_str())
    );
    assert_eq!(one.clone, "https://github.com/owner/name.git");
    assert_eq!(one.first_commit_at.as_deref(), Some("2024-02-29T12:00:00Z"));
    assert_eq!(one.author.as_ref().unwrap().class, AuthorClass::Contributor);
    let links: Vec<_> = one
        .issues
        .iter()
        .map(|issue| (issue.repo.as_str(), issue.number))
        .collect();
    assert_eq!(
        links,
        [("owner/name", 5), ("owner/name", 7), ("other/lib", 9)]
    );
    let evidence: Vec<_> = one.issues[0]
        .evidence
        .iter()
        .map(|proof| proof.source.as_str())
        .collect();
    assert_eq!(evidence, ["graphql closingIssuesReferences", "body"]);
    assert_eq!(one.issues[1].evidence[0].source, "timeline ConnectedEvent");
    assert_eq!(
        one.issues[0].comments[0].author.as_ref().unwrap().class,
        AuthorClass::Deleted
    );
    assert_eq!(
        one.hints_text(),
        "I see it",
        "what was said after the first commit is no hint"
    );
    let reviews: Vec<_> = one
        .reviews
        .iter()
        .map(|remark| remark.body.as_str())
        .collect();
    assert_eq!(reviews, ["why?", "Good"]);
    assert_eq!(
        (one.repository.stars, one.repository.licence.as_deref()),
        (Some(123), Some("MIT"))
    );
}

#[tokio::test]
async fn limits_are_waited_out_by_what_they_say() {
    let limited = |status: u16| ResponseTemplate::new(status);
    let secondary = json!({"message": "You have exceeded a secondary rate limit."});
    let graphql =
        json!({"errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded"}]});
    for (name, template) in [
        (
            "403 secondary",
            limited(403)
                .insert_header("retry-after", "1")
                .set_body_json(&secondary),
        ),
        ("429", limited(429).insert_header("retry-after", "1")),
        (
            "403 primary",
            limited(403)
                .insert_header("x-ratelimit-remaining", "0")
                .insert_header("x-ratelimit-reset", "1709294400")
                .insert_header("date", "Fri, 01 Mar 2024 12:00:00 GMT"),
        ),
        (
            "GraphQL's own",
            limited(200)
                .insert_header("x-ratelimit-remaining", "0")
                .insert_header("x-ratelimit-reset", "1709294400")
                .insert_header("date", "Fri, 01 Mar 2024 12:00:00 GMT")
                .set_body_json(&graphql),
        ),
    ] {
        let server = MockServer::start().await;
        first(&server, 1, template).await;
        then_good(&server).await;
        let started = Instant::now();
        let page = host(&server)
            .page(&RunContext::new("test"), None)
            .await
            .unwrap();
        let waited = started.elapsed();
        assert_eq!((page.pull_requests.len(), page.requests), (1, 2), "{name}");
        assert!(
            (Duration::from_millis(950)..Duration::from_secs(4)).contains(&waited),
            "{name}: {waited:?}"
        );
    }
}

#[tokio::test]
async fn a_token_that_rests_or_is_refused_gives_way_to_the_next() {
    for template in [
        ResponseTemplate::new(429).insert_header("retry-after", "4"),
        ResponseTemplate::new(401).set_body_json(json!({"message": "Bad credentials"})),
    ] {
        let server = MockServer::start().await;
        Mock::given(header("authorization", "Bearer secret-1"))
            .respond_with(template)
            .expect(1)
            .mount(&server)
            .await;
        Mock::given(header("authorization", "Bearer secret-2"))
            .respond_with(good(&[node(1, &json!({}))], None))
            .expect(2)
            .mount(&server)
            .await;
        let host = GithubHost::open(
            "owner/name",
            options(&server.uri(), &["secret-1", "secret-2"]),
        )
        .unwrap();
        let started = Instant::now();
        for _ in 0..2 {
            host.page(&RunContext::new("test"), None).await.unwrap();
        }
        assert!(
            started.elapsed() < Duration::from_secs(2),
            "nothing was waited for"
        );
    }
}

#[tokio::test]
async fn what_will_not_change_is_an_error_that_says_the_way_out() {
    let not_found = json!({"data": {"repository": null}, "errors": [{"type": "NOT_FOUND", "path": ["repository"], "message": "Could not resolve to a Repository"}]});
    for (template, kind, words) in [
        (
            ResponseTemplate::new(401),
            ErrorKind::InvalidInput,
            "there is no other",
        ),
        (
            ResponseTemplate::new(403).set_body_string("Resource not accessible"),
            ErrorKind::InvalidInput,
            "Resource not accessible",
        ),
        (
            ResponseTemplate::new(404),
            ErrorKind::NotFound,
            "no GraphQL API",
        ),
        (
            ResponseTemplate::new(200).set_body_json(&not_found),
            ErrorKind::NotFound,
            "Could not resolve",
        ),
        (
            ResponseTemplate::new(429).insert_header("retry-after", "3600"),
            ErrorKind::TimedOut,
            "goes on from here",
        ),
        (
            ResponseTemplate::new(400).set_body_string("Problems parsing JSON"),
            ErrorKind::InvalidInput,
            "parsing JSON",
        ),
    ] {
        let server = MockServer::start().await;
        Mock::given(method("POST"))
            .respond_with(template)
            .expect(1)
            .mount(&server)
            .await;
        let why = host(&server)
            .page(&RunContext::new("test"), None)
            .await
            .unwrap_err();
        assert_eq!(why.kind(), kind, "{}", why.chain());
        assert!(why.chain().contains(words), "{}", why.chain());
        assert!(!why.chain().contains("secret"), "{}", why.chain());
    }
    for (repo, tokens, words) in [
        ("owner/name", &[][..], "token"),
        ("owner", &["t"], "owner/name"),
        ("a/b/c", &["t"], "owner/name"),
    ] {
        let why = GithubHost::open(repo, options("https://api.github.com", tokens)).unwrap_err();
        assert!(why.chain().contains(words), "{}", why.chain());
    }
    assert!(GithubHost::open("o/n", options("ftp://x", &["t"])).is_err());
}

#[tokio::test]
async fn what_the_server_gives_up_on_is_asked_for_in_smaller_pages() {
    let server = MockServer::start().await;
    // A server that can do eight at once.
    for (count, times) in [(25, 2), (8, 1)] {
        let small = count == 8;
        let template = if small {
            good(&[node(1, &json!({}))], None)
        } else {
            ResponseTemplate::new(502)
        };
        Mock::given(method("POST"))
            .and(body_partial_json(json!({"variables": {"first": count}})))
            .respond_with(template)
            .expect(times)
            .mount(&server)
            .await;
    }
    let page = host(&server)
        .page(&RunContext::new("test"), None)
        .await
        .unwrap();
    assert_eq!((page.pull_requests.len(), page.requests), (1, 3));

    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .respond_with(ResponseTemplate::new(502))
        .mount(&server)
        .await;
    let why = host(&server)
        .page(&RunContext::new("test"), None)
        .await
        .unwrap_err();
    assert_eq!(why.kind(), ErrorKind::EngineUnreachable);
    assert!(
        why.is_transient() && why.chain().contains("502"),
        "{}",
        why.chain()
    );
    // 25, 8 and 2 at once twice each, then one at once as often as is allowed.
    assert_eq!(
        server.received_requests().await.unwrap().len(),
        2 + 2 + 2 + 6
    );
}

#[tokio::test]
async fn broken_answers_are_asked_for_again() {
    let whole = answer(&[node(1, &json!({}))], None).to_string();
    let nothing = json!({"data": null, "errors": [{"message": "Something went wrong while executing your query."}]});
    for template in [
        ResponseTemplate::new(200).set_body_string(&whole[..whole.len() / 2]),
        ResponseTemplate::new(503),
        ResponseTemplate::new(200).set_body_json(&nothing),
    ] {
        let server = MockServer::start().await;
        first(&server, 1, template).await;
        then_good(&server).await;
        let page = host(&server)
            .page(&RunContext::new("test"), None)
            .await
            .unwrap();
        assert_eq!((page.pull_requests.len(), page.requests), (1, 2));
    }
}

#[tokio::test]
async fn a_connection_that_breaks_off_within_the_body_is_tried_again() {
    let whole = answer(&[node(1, &json!({}))], None).to_string();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let server = tokio::spawn(async move {
        for sent in [whole.len() / 2, whole.len()] {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = vec![0; 1 << 16];
            let mut read = 0;
            while !request[..read].ends_with(b"}") {
                read += stream.read(&mut request[read..]).await.unwrap();
            }
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                whole.len()
            );
            stream.write_all(head.as_bytes()).await.unwrap();
            stream.write_all(&whole.as_bytes()[..sent]).await.unwrap();
            stream.shutdown().await.unwrap();
        }
    });
    let host = GithubHost::open("owner/name", options(&address, &["t"])).unwrap();
    let page = host.page(&RunContext::new("test"), None).await.unwrap();
    assert_eq!((page.pull_requests.len(), page.requests), (1, 2));
    server.await.unwrap();
}

#[tokio::test]
async fn errors_beside_the_data_cost_what_they_name_and_no_more() {
    let server = MockServer::start().await;
    let untold = node(3, &json!({"reviews": null}));
    let mut body = answer(
        &[
            node(1, &json!({})),
            Value::Null,
            untold,
            node(4, &json!({"mergeCommit": null})),
        ],
        None,
    );
    body["errors"] = json!([
        {"message": "Something broke", "path": ["repository", "pullRequests", "nodes", 1]},
        {"message": "Timed out", "path": ["repository", "pullRequests", "nodes", 2, "reviews"]},
        {"message": "elsewhere", "path": ["rateLimit"]},
    ]);
    Mock::given(method("POST"))
        .respond_with(ResponseTemplate::new(200).set_body_json(body))
        .mount(&server)
        .await;
    let page = host(&server)
        .page(&RunContext::new("test"), None)
        .await
        .unwrap();
    let numbers: Vec<_> = page
        .pull_requests
        .iter()
        .filter_map(|one| one.number)
        .collect();
    assert_eq!(numbers, [1, 3]);
    assert_eq!(
        page.pull_requests[1].provenance["untold"],
        "reviews: Timed out"
    );
    assert!(page.pull_requests[1].reviews.is_empty());
    let skipped: Vec<_> = page
        .skipped
        .iter()
        .map(|one| (one.name.as_str(), one.reason.as_str()))
        .collect();
    assert_eq!(
        skipped,
        [
            (
                "owner/name, number 2 of a page",
                "pullRequest: Something broke"
            ),
            ("owner/name#4", "the host names no merge commit"),
        ]
    );
}

#[tokio::test]
async fn deleted_people_programs_and_transferred_repositories_are_told_as_such() {
    let server = MockServer::start().await;
    let moved = json!({"body": "Fixes owner/name#11, closes new/home#12"});
    let nodes = [
        node(1, &json!({"author": null, "authorAssociation": "NONE"})),
        node(
            2,
            &json!({"author": {"__typename": "Bot", "login": "helper"}}),
        ),
        node(3, &moved),
    ];
    let mut body = answer(&nodes, None);
    body["data"]["repository"]["nameWithOwner"] = json!("new/home");
    Mock::given(method("POST"))
        .respond_with(ResponseTemplate::new(200).set_body_json(body))
        .mount(&server)
        .await;
    let told = code_host_contract(&host(&server)).await;
    let classes: Vec<_> = told
        .iter()
        .map(|one| one.author.as_ref().unwrap().class)
        .collect();
    assert_eq!(
        classes,
        [
            AuthorClass::Deleted,
            AuthorClass::Bot,
            AuthorClass::Contributor
        ]
    );
    assert_eq!(told[0].author.as_ref().unwrap().name, None);
    assert_eq!(told[2].repo, "new/home");
    assert!(told[2].provenance["repo"].contains("asked for as owner/name"));
    let own: Vec<_> = told[2]
        .issues
        .iter()
        .filter(|issue| issue.repo == "new/home")
        .map(|issue| issue.number)
        .collect();
    assert_eq!(own, [11, 12]);
}

#[tokio::test]
async fn a_clone_tells_shapes_and_says_what_it_lacks() {
    let lab = Lab::new();
    lab.write("a.py", "a = 1\n").commit("Begin");
    let base = lab.head().to_string();
    let change = |text: &str, message: &str| lab.write("a.py", text).commit(message).to_string();
    let one = change("a = 2\n", "one");
    let two = change("a = 3\n", "two");
    let squashed = change("a = 4\n", "Squashed (#2)");
    let commit = |oid: &str, headline: &str, parent: &str| json!({"oid": oid, "messageHeadline": headline, "parents": {"nodes": [{"oid": parent}]}});
    let commits = |headlines: &[&str]| json!({"totalCount": headlines.len(), "nodes": headlines.iter().map(|headline| json!({"commit": {"messageHeadline": headline}})).collect::<Vec<_>>()});
    let nodes = [
        node(
            1,
            &json!({"mergeCommit": commit(&two, "two", &one), "commits": commits(&["one", "two"])}),
        ),
        node(
            2,
            &json!({"mergeCommit": commit(&squashed, "Squashed (#2)", &two)}),
        ),
        node(3, &json!({})),
    ];
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .respond_with(good(&nodes, None))
        .mount(&server)
        .await;
    let host = host(&server).with_clone(lab.open().await, "/clones/name");
    let told = code_host_contract(&host).await;
    assert_eq!(
        told[0].base.as_str(),
        base,
        "two commits were rebased onto the branch"
    );
    assert!(told[0].provenance["base"].contains("2 commits"));
    let change = told[1].change.as_ref().unwrap();
    assert_eq!((change.files, change.added, change.removed), (1, 1, 1));
    assert_eq!(told[1].clone, "/clones/name");
    let counts = cfg!(feature = "count-lines");
    assert_eq!(told[1].repository.lines_of_code, counts.then_some(1));
    assert_eq!(told[2].change, None);
    assert!(
        told[2].provenance["change"].contains("the clone lacks"),
        "{:?}",
        told[2].provenance
    );
}

#[tokio::test]
async fn a_wait_ends_when_it_is_cancelled() {
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .respond_with(ResponseTemplate::new(429).insert_header("retry-after", "4"))
        .mount(&server)
        .await;
    let cx = RunContext::new("test");
    let cancel = cx.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(200)).await;
        cancel.cancel();
    });
    let started = Instant::now();
    let why = host(&server).page(&cx, None).await.unwrap_err();
    assert_eq!(why.kind(), ErrorKind::Cancelled);
    assert!(started.elapsed() < Duration::from_secs(2));
}

#[tokio::test]
async fn without_a_token_the_rest_api_tells_what_it_can() {
    let server = MockServer::start().await;
    let give = async |rest: &str, value: Value| {
        let mock = Mock::given(method("GET")).and(path(format!("/repos/new/home{rest}")));
        mock.respond_with(ResponseTemplate::new(200).set_body_json(value))
            .mount(&server)
            .await;
    };
    let home = json!({"full_name": "new/home", "clone_url": "https://github.com/new/home.git", "stargazers_count": 3, "license": {"spdx_id": "MIT"}});
    // The repository was transferred: asked for by its old name, the host points to the new one.
    Mock::given(path("/repos/owner/name"))
        .respond_with(ResponseTemplate::new(301).insert_header("location", "/repos/new/home"))
        .expect(1)
        .mount(&server)
        .await;
    give("", home).await;
    let pull = |number: u64, changes: Value| {
        let mut told = json!({"number": number, "title": "t", "body": "Fixes #5, fixes #6", "merged_at": "2024-03-05T00:00:00Z",
            "created_at": "2024-03-02T00:00:00Z", "merge_commit_sha": format!("{number:040x}"), "user": null, "labels": [{"name": "bug"}]});
        for (key, value) in changes.as_object().unwrap() {
            told[key] = value.clone();
        }
        told
    };
    for (page, pulls, next) in [
        (
            "1",
            json!([pull(1, json!({})), pull(2, json!({"merged_at": null}))]),
            true,
        ),
        (
            "2",
            json!([
                pull(3, json!({"merge_commit_sha": null})),
                pull(4, json!({"body": null, "base": {"sha": "9".repeat(40)}}))
            ]),
            false,
        ),
    ] {
        let mut template = ResponseTemplate::new(200).set_body_json(pulls);
        if next {
            template =
                template.insert_header("link", "</repos/new/home/pulls?page=2>; rel=\"next\"");
        }
        Mock::given(path("/repos/new/home/pulls"))
            .and(query_param("page", page))
            .respond_with(template)
            .mount(&server)
            .await;
    }
    for number in [1, 4] {
        give(
            &format!("/git/commits/{number:040x}"),
            json!({"parents": [{"sha": "3".repeat(40)}], "message": "two\n\nmore"}),
        )
        .await;
        let commit = |message: &str| json!({"commit": {"message": message, "author": {"date": "2024-03-01T00:00:00Z"}}});
        let commits = match number {
            1 => json!([commit("one")]),
            _ => json!([commit("one"), commit("two")]),
        };
        give(&format!("/pulls/{number}/commits"), commits).await;
    }
    give("/issues/5", json!({"number": 5, "title": "Broken", "body": "b", "user": {"login": "x", "type": "User"}})).await;
    give(
        "/issues/5/comments",
        json!([{"body": "yes", "created_at": "2024-02-01T00:00:00Z", "user": null}]),
    )
    .await;
    give(
        "/issues/6",
        json!({"number": 6, "title": "a pull request", "pull_request": {}}),
    )
    .await;
    let options = options(&server.uri(), &[]);
    let host = GithubRestHost::open("owner/name", options).unwrap();
    let told = code_host_contract(&host).await;
    assert_eq!(
        told.iter().filter_map(|one| one.number).collect::<Vec<_>>(),
        [1, 4]
    );
    let one = &told[0];
    assert_eq!(
        (one.repo.as_str(), one.base.as_str()),
        ("new/home", "3".repeat(40).as_str())
    );
    assert_eq!(
        told[1].base.as_str(),
        "9".repeat(40),
        "rebased in two commits"
    );
    let links: Vec<_> = one
        .issues
        .iter()
        .map(|issue| (issue.number, issue.title.as_str()))
        .collect();
    assert_eq!(links, [(5, "Broken")], "6 is no issue");
    assert_eq!(one.hints_text(), "yes");
    assert_eq!(one.author.as_ref().unwrap().class, AuthorClass::Deleted);
    let page = host
        .page(&RunContext::new("test"), Some("2"))
        .await
        .unwrap();
    assert_eq!((page.skipped.len(), page.requests), (1, 1 + 2));
    assert!(
        server
            .received_requests()
            .await
            .unwrap()
            .iter()
            .all(|one| !one.headers.contains_key("authorization"))
    );
}
