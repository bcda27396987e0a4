//! `atlas source` again the next day: what is new or changed is asked for and nothing else, and the files are those of one
//! reading of today.

use crate::support::{Place, git};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate, matchers::any};

/// A merged pull request at a host.
#[derive(Clone, Debug)]
struct Pull {
    number: u64,
    created: String,
    updated: String,
    body: String,
    has_commit: bool,
}

impl Pull {
    fn new(number: u64) -> Self {
        let created = format!("2024-01-{:02}T00:00:{:02}Z", number / 60 + 1, number % 60);
        Self {
            number,
            updated: created.clone(),
            created,
            body: format!("Fixes #{}", number + 1000),
            has_commit: true,
        }
    }
}

/// What a host has, and how it answers.
#[derive(Clone, Debug)]
struct World {
    name: String,
    stars: u64,
    pulls: Vec<Pull>,
    delay: Duration,
}

impl World {
    fn new(count: u64) -> Self {
        Self {
            name: "owner/name".to_owned(),
            stars: 7,
            pulls: (1..=count).map(Pull::new).collect(),
            delay: Duration::ZERO,
        }
    }

    fn pull(&mut self, number: u64) -> &mut Pull {
        let mut pulls = self.pulls.iter_mut();
        pulls.find(|pull| pull.number == number).unwrap()
    }

    /// All in the order that is asked for.
    fn ordered(&self, by_update: bool) -> Vec<&Pull> {
        let mut pulls: Vec<&Pull> = self.pulls.iter().collect();
        pulls.sort_by_key(|pull| (pull.created.clone(), pull.number));
        if by_update {
            pulls.sort_by(|one, other| other.updated.cmp(&one.updated));
        }
        pulls
    }

    fn graphql(&self, request: &Request) -> Value {
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        let asked = &body["variables"];
        let by_update = asked["order"]["field"] == "UPDATED_AT";
        let direction = if by_update { "DESC" } else { "ASC" };
        assert_eq!(asked["order"]["direction"], direction);
        let start: usize = asked["after"]
            .as_str()
            .map_or(0, |after| after.parse().unwrap());
        let first = usize::try_from(asked["first"].as_u64().unwrap()).unwrap();
        let pulls = self.ordered(by_update);
        let nodes: Vec<Value> = pulls.iter().skip(start).take(first).map(|pull| json!({
            "number": pull.number, "title": format!("Change {}", pull.number), "body": pull.body, "createdAt": pull.created,
            "mergedAt": pull.created, "updatedAt": pull.updated,
            "mergeCommit": pull.has_commit.then(|| json!({"oid": format!("{:040x}", pull.number), "messageHeadline": "t",
                "parents": {"nodes": [{"oid": "3".repeat(40)}]}})),
        })).collect();
        let end = start + nodes.len();
        let mut repository = json!({
            "nameWithOwner": self.name, "url": format!("https://github.com/{}", self.name), "stargazerCount": self.stars,
            "pullRequests": {"pageInfo": {"endCursor": end.to_string(), "hasNextPage": end < pulls.len()}, "nodes": nodes},
        });
        if asked["begin"] == true {
            let newest = self.ordered(true);
            let newest = newest
                .first()
                .map(|pull| json!({"updatedAt": pull.updated}));
            repository["newest"] = json!({"totalCount": pulls.len(), "nodes": newest.as_slice()});
        }
        json!({"data": {"repository": repository}})
    }

    /// GitHub's REST API, of what is asked for without a token.
    fn github(&self, request: &Request) -> ResponseTemplate {
        let path = request.url.path();
        let merged = |pull: &Pull| {
            json!({"number": pull.number, "title": "t", "body": "", "created_at": pull.created, "merged_at": pull.created,
                "updated_at": pull.updated, "merge_commit_sha": format!("{:040x}", pull.number)})
        };
        if path.ends_with("/pulls") {
            let (pulls, next) = self.listed(request, "updated");
            let list: Vec<Value> = pulls.iter().map(|pull| merged(pull)).collect();
            let tag = format!(
                "\"{}\"",
                pulls
                    .iter()
                    .map(|pull| pull.updated.as_str())
                    .max()
                    .unwrap_or("")
            );
            if request
                .headers
                .get("if-none-match")
                .is_some_and(|known| *known == *tag)
            {
                return ResponseTemplate::new(304);
            }
            return next.into_iter().fold(
                ResponseTemplate::new(200)
                    .set_body_json(list)
                    .insert_header("etag", tag.as_str()),
                |answer, link| answer.insert_header("link", link.as_str()),
            );
        }
        let value = if path.ends_with("/commits") {
            json!([{"commit": {"message": "one", "author": {"date": "2024-01-01T00:00:00Z"}}}])
        } else if path.contains("/git/commits/") {
            json!({"parents": [{"sha": "3".repeat(40)}], "message": "one"})
        } else {
            json!({"full_name": self.name, "clone_url": "https://github.com/owner/name.git", "stargazers_count": self.stars})
        };
        ResponseTemplate::new(200).set_body_json(value)
    }

    /// GitLab's API.
    fn gitlab(&self, request: &Request) -> ResponseTemplate {
        let path = request.url.path();
        if path.ends_with("/merge_requests") {
            let (pulls, next) = self.listed(request, "updated_at");
            let list: Vec<Value> = pulls
                .iter()
                .map(|pull| json!({"iid": pull.number, "updated_at": pull.updated}))
                .collect();
            let answer = ResponseTemplate::new(200)
                .set_body_json(list)
                .insert_header("x-total", self.pulls.len().to_string().as_str());
            return next.into_iter().fold(answer, |answer, link| {
                answer.insert_header("link", link.as_str())
            });
        }
        let last = path.rsplit('/').next().unwrap_or_default();
        let of_one = path
            .rsplit_once("/merge_requests/")
            .and_then(|(_, rest)| rest.parse::<u64>().ok());
        let value = if let Some(number) = of_one {
            let found = self.pulls.iter().find(|pull| pull.number == number);
            let Some(pull) = found else {
                return ResponseTemplate::new(404);
            };
            json!({"iid": number, "title": "t", "description": pull.body, "created_at": pull.created, "merged_at": pull.created,
                "author": {"username": "ann"}, "merge_commit_sha": format!("{number:040x}")})
        } else if path.contains("/repository/commits/") {
            json!({"parent_ids": ["3".repeat(40)]})
        } else if ["commits", "notes", "closes_issues"].contains(&last) {
            json!([])
        } else {
            json!({"path_with_namespace": self.name, "http_url_to_repo": "https://gitlab.example/p.git", "star_count": self.stars})
        };
        ResponseTemplate::new(200).set_body_json(value)
    }

    /// A page of a list of a REST API, and the link to the next one.
    fn listed(&self, request: &Request, by: &str) -> (Vec<&Pull>, Option<String>) {
        let asked = |name: &str| {
            let mut pairs = request.url.query_pairs();
            pairs
                .find(|(key, _)| key == name)
                .map(|(_, value)| value.into_owned())
        };
        let by_update = ["sort", "order_by"]
            .iter()
            .any(|key| asked(key).as_deref() == Some(by));
        let size: usize = asked("per_page").unwrap().parse().unwrap();
        let page: usize = asked("page").unwrap().parse().unwrap();
        let pulls = self.ordered(by_update);
        let next = (page * size < pulls.len())
            .then(|| format!("<{}?page={}>; rel=\"next\"", request.url.path(), page + 1));
        (
            pulls
                .into_iter()
                .skip((page - 1) * size)
                .take(size)
                .collect(),
            next,
        )
    }
}

struct Answers(Arc<Mutex<World>>);

impl Respond for Answers {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let world = self.0.lock().unwrap().clone();
        let path = request.url.path();
        let answer = if path == "/graphql" {
            ResponseTemplate::new(200).set_body_json(world.graphql(request))
        } else if path.starts_with("/api/v4/") {
            world.gitlab(request)
        } else {
            world.github(request)
        };
        answer.set_delay(world.delay)
    }
}

/// A host, and a place at which it is asked.
struct Days {
    server: MockServer,
    world: Arc<Mutex<World>>,
    place: Place,
    read: usize,
}

impl Days {
    async fn new(count: u64, source: &str) -> Self {
        let world = Arc::new(Mutex::new(World::new(count)));
        let server = MockServer::start().await;
        Mock::given(any())
            .respond_with(Answers(Arc::clone(&world)))
            .mount(&server)
            .await;
        let place = Place::new();
        let config = source.replace("ADDRESS", &server.uri());
        std::fs::write(place.path("atlas.toml"), config).unwrap();
        Self {
            server,
            world,
            place,
            read: 0,
        }
    }

    fn change(&self, change: impl FnOnce(&mut World)) {
        change(&mut self.world.lock().unwrap());
    }

    fn command(&self, out: &str) -> Command {
        let mut command = self
            .place
            .atlas(&["source", "--out", out, "--format", "json"]);
        command
            .env("OWN_TOKEN", "secret")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    async fn run(&self, out: &str) -> (Value, usize) {
        let before = self.server.received_requests().await.unwrap().len();
        let done = self.command(out).output().unwrap();
        assert!(
            done.status.success(),
            "{}",
            String::from_utf8_lossy(&done.stderr)
        );
        let report = serde_json::from_slice(&done.stdout).unwrap();
        (
            report,
            self.server.received_requests().await.unwrap().len() - before,
        )
    }

    /// Reads the host again: what it found, by how many requests. The files are those of a first reading.
    async fn day(&mut self) -> (Value, usize) {
        self.read += 1;
        let (report, requests) = self.run("living.jsonl").await;
        let fresh = format!("fresh{}.jsonl", self.read);
        let (first, _) = self.run(&fresh).await;
        for ending in ["jsonl", "sourced.jsonl", "funnel.json"] {
            let read = |name: &str| {
                let path = self.place.path(name).with_extension(ending);
                std::fs::read_to_string(path).unwrap()
            };
            assert_eq!(
                read("living.jsonl"),
                read(&fresh),
                "day {}: {ending}",
                self.read
            );
        }
        let only = |report: &Value, what: &str| -> Value {
            let all = report[what].as_object().cloned().unwrap_or_default();
            all.values().next().cloned().unwrap_or_default()
        };
        for count in ["told", "skipped", "mark"] {
            assert_eq!(
                only(&report, "hosts")[count],
                only(&first, "hosts")[count],
                "{count}"
            );
        }
        assert_eq!(report["requests"], json!(requests));
        (only(&report, "news"), requests)
    }
}

const GRAPHQL: &str = "[source.github]\nrepos = [\"owner/name\"]\naddress = \"ADDRESS\"\ntokens = [\"env:OWN_TOKEN\"]\n";

fn news(added: u64, changed: u64, gone: u64) -> Value {
    json!({"added": added, "changed": changed, "gone": gone})
}

#[tokio::test(flavor = "multi_thread")]
async fn github_is_asked_for_what_is_new_or_changed() {
    let mut days = Days::new(60, GRAPHQL).await;
    assert_eq!(days.day().await.1, 3, "the first reading, 25 a page");
    assert_eq!(days.day().await, (news(0, 0, 0), 1), "nothing is new");

    days.change(|world| world.pulls.push(Pull::new(61)));
    assert_eq!(days.day().await, (news(1, 0, 0), 1), "one is new");

    // One is edited, and one that was opened long ago is merged: it stands amid the others.
    days.change(|world| {
        world.pull(7).body = "Fixes #9, of course".to_owned();
        world.pull(7).updated = "2024-03-01T00:00:00Z".to_owned();
        let mut late = Pull::new(62);
        late.created = "2024-01-01T00:00:30Z".to_owned();
        late.updated = "2024-03-02T00:00:00Z".to_owned();
        world.pulls.push(late);
    });
    assert_eq!(days.day().await, (news(1, 1, 0), 1));

    // What is known of the repository stands in every line.
    days.change(|world| world.stars = 8);
    assert_eq!(days.day().await, (news(0, 0, 0), 1));

    // More than a page is new.
    days.change(|world| {
        for number in 100..140 {
            let mut pull = Pull::new(number);
            pull.updated = format!("2024-04-01T00:00:{:02}Z", number - 100);
            world.pulls.push(pull);
        }
    });
    assert_eq!(days.day().await, (news(40, 0, 0), 2));

    // Its merge commit is gone, and comes back.
    for has_commit in [false, true] {
        days.change(|world| {
            world.pull(5).has_commit = has_commit;
            world.pull(5).updated = format!("2024-05-0{}T00:00:00Z", 1 + u8::from(has_commit));
        });
        let expected = news(u64::from(has_commit), 0, u64::from(!has_commit));
        assert_eq!(days.day().await, (expected, 1), "{has_commit}");
    }
    assert_eq!(days.day().await, (news(0, 0, 0), 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_one_and_a_transferred_repository_are_found_and_read_anew() {
    let mut days = Days::new(60, GRAPHQL).await;
    days.day().await;
    days.change(|world| world.pulls.retain(|pull| pull.number != 30));
    let (found, requests) = days.day().await;
    assert_eq!(requests, 1 + 3, "one question, then all pages");
    assert_eq!((&found["added"], &found["gone"]), (&json!(59), &json!(60)));
    assert_eq!(found["anew"], "it has 1 fewer than were told of");
    assert_eq!(days.day().await, (news(0, 0, 0), 1));

    days.change(|world| world.name = "new/home".to_owned());
    let (found, requests) = days.day().await;
    assert_eq!(requests, 1 + 3);
    assert_eq!(found["anew"], "`owner/name` is `new/home` now");
    assert_eq!(days.day().await, (news(0, 0, 0), 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn github_without_a_token_is_asked_by_tag() {
    let source =
        "[source.github]\nrepos = [\"owner/name\"]\naddress = \"ADDRESS\"\nanonymous = true\n";
    let mut days = Days::new(4, source).await;
    days.day().await;
    assert_eq!(
        days.day().await,
        (news(0, 0, 0), 2),
        "the repository, and a list that is not sent"
    );
    let asked = days.server.received_requests().await.unwrap();
    let tags = asked
        .iter()
        .filter(|one| one.headers.contains_key("if-none-match"));
    assert_eq!(tags.count(), 1);
    days.change(|world| world.pulls.push(Pull::new(5)));
    // The one that was the latest is told again: it may have changed in the same second.
    assert_eq!(days.day().await, (news(1, 0, 0), 2 + 2 * 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn gitlab_is_asked_for_what_is_new_or_changed() {
    let source = "[source.gitlab]\nprojects = [\"owner/name\"]\naddress = \"ADDRESS\"\n";
    let mut days = Days::new(25, source).await;
    days.day().await;
    assert_eq!(
        days.day().await,
        (news(0, 0, 0), 2),
        "the project and one list"
    );
    // Of the new one five more: itself, its merged commit, its commits, issues and notes.
    days.change(|world| world.pulls.push(Pull::new(26)));
    assert_eq!(days.day().await, (news(1, 0, 0), 2 + 5));
    days.change(|world| {
        world.pull(3).body = "Closes #9".to_owned();
        world.pull(3).updated = "2024-03-01T00:00:00.123Z".to_owned();
    });
    assert_eq!(days.day().await, (news(0, 1, 0), 2 + 5));
    days.change(|world| world.pulls.retain(|pull| pull.number != 12));
    let (found, _) = days.day().await;
    assert_eq!(found["anew"], "it has 1 fewer than were told of");
    assert_eq!(days.day().await, (news(0, 0, 0), 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_later_reading_that_is_killed_at_any_moment_ends_in_the_same_files() {
    let mut days = Days::new(60, GRAPHQL).await;
    days.day().await;
    days.change(|world| {
        world.delay = Duration::from_millis(40);
        for number in 100..300 {
            let mut pull = Pull::new(number);
            pull.updated = format!("2024-04-01T00:0{}:{:02}Z", number / 60, number % 60);
            world.pulls.push(pull);
        }
        world.pull(7).updated = "2024-04-02T00:00:00Z".to_owned();
        world.pull(7).body = "Otherwise".to_owned();
    });
    let before = days.server.received_requests().await.unwrap().len();
    let mut kills = 0;
    for milliseconds in [60, 90, 120, 150, 180, 210, 240] {
        let mut child = days.command("living.jsonl").spawn().unwrap();
        std::thread::sleep(Duration::from_millis(milliseconds));
        kills += usize::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }
    days.run("living.jsonl").await;
    let requests = days.server.received_requests().await.unwrap().len() - before;
    // Nine pages; each death costs the page on its way, and a reading that had ended one question more.
    assert!(
        (9..=9 + kills + 7).contains(&requests),
        "{requests} with {kills} kills"
    );
    days.change(|world| world.delay = Duration::ZERO);
    assert_eq!(days.day().await, (news(0, 0, 0), 1));
}

/// The lines of a clone's first reading of now.
fn fresh(place: &Place, name: &str) -> String {
    let done = place.run(&["source", "--clone", "clone", "--out", name]);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    let file = Path::new(name).with_extension("sourced.jsonl");
    std::fs::read_to_string(place.path(file.to_str().unwrap())).unwrap()
}

#[test]
fn a_clone_tells_of_new_commits_and_of_a_forced_branch() {
    let place = Place::new();
    let root = place.path("clone");
    std::fs::create_dir_all(root.join("tests")).unwrap();
    let commit = |file: &str, message: &str| {
        std::fs::write(root.join(file), message).unwrap();
        git(&root, &["add", "--all"]);
        git(&root, &["commit", "-q", "-m", message]);
    };
    git(&root, &["init", "-q", "-b", "main", "."]);
    for number in 0..100 {
        commit("a.py", &format!("Change {number} (#{number})"));
    }
    let day = |name: &str| {
        let done = place.run(&[
            "source",
            "--clone",
            "clone",
            "--out",
            "living.jsonl",
            "--format",
            "json",
        ]);
        assert_eq!(done.code(), 0, "{}", done.stderr());
        let living = std::fs::read_to_string(place.path("living.sourced.jsonl")).unwrap();
        assert_eq!(living, fresh(&place, name), "{name}");
        let report = done.json();
        let news = report["news"].as_object();
        news.and_then(|news| news.values().next().cloned())
            .unwrap_or_default()
    };
    assert_eq!(day("first.jsonl"), Value::Null);
    assert_eq!(day("same.jsonl"), news(0, 0, 0));
    for number in 200..270 {
        commit("b.py", &format!("Change {number} (#{number})"));
    }
    assert_eq!(day("more.jsonl"), news(70, 0, 0));
    git(&root, &["reset", "-q", "--hard", "HEAD~3"]);
    commit("b.py", "Another way (#300)");
    let anew = day("forced.jsonl");
    assert!(
        anew["anew"].as_str().unwrap().contains("was forced"),
        "{anew}"
    );
    commit("test_b.py", "Tests elsewhere (#301)");
    commit("tests/test_c.py", "A folder of tests (#302)");
    let anew = day("rules.jsonl");
    assert_eq!(anew["anew"], "other folders hold tests now");
    assert_eq!(day("end.jsonl"), news(0, 0, 0));
}

#[test]
fn archived_files_are_read_again_where_one_is_new_or_another() {
    let place = Place::new();
    let event = |number: u64| {
        let told = json!({"number": number, "title": "t", "merged": true, "created_at": "2024-03-02T00:00:00Z",
            "base": {"sha": "1".repeat(40)}, "head": {"sha": format!("{number:040x}")}});
        json!({"type": "PullRequestEvent", "repo": {"name": "o/n"}, "payload": {"action": "closed", "pull_request": told}}).to_string()
    };
    let write = |name: &str, numbers: &[u64]| {
        let lines: Vec<String> = numbers.iter().map(|number| event(*number)).collect();
        std::fs::write(place.path(name), lines.join("\n")).unwrap();
    };
    let day = |files: &[&str]| {
        let mut args = vec!["source", "--out", "c.jsonl", "--format", "json"];
        args.extend(files.iter().flat_map(|file| ["--archive", file]));
        let done = place.run(&args);
        assert_eq!(done.code(), 0, "{}", done.stderr());
        let report = done.json();
        let news = report["news"].as_object();
        let news = news
            .and_then(|news| news.values().next().cloned())
            .unwrap_or_default();
        let told = std::fs::read_to_string(place.path("c.sourced.jsonl")).unwrap();
        (news, told.lines().count())
    };
    write("a.json", &[1, 2]);
    write("b.json", &[3]);
    assert_eq!(day(&["a.json"]), (Value::Null, 2));
    assert_eq!(day(&["a.json"]), (news(0, 0, 0), 2));
    let (found, told) = day(&["a.json", "b.json"]);
    assert_eq!((found["anew"].as_str(), told), (Some("`b.json` is new"), 3));
    // The same bytes at another time are the same.
    write("b.json", &[3]);
    assert_eq!(day(&["a.json", "b.json"]), (news(0, 0, 0), 3));
    write("b.json", &[3, 4]);
    let (found, told) = day(&["a.json", "b.json"]);
    assert_eq!(
        (found["anew"].as_str(), told),
        (Some("`b.json` has other bytes"), 4)
    );
}
