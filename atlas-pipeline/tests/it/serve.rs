//! `atlas serve` on a real instance: a command over HTTP, a kill in the midst of grading, a stop in order.

use crate::docker::{docker, wanted};
use crate::eval_support::{image, made_here};
use crate::support::Place;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const FIX: &str = "sed -i 's/ if n > 0 else n//' calc/__init__.py";

/// A server in a process of its own.
struct Served {
    child: Child,
    address: String,
}

impl Served {
    fn of(place: &Place, dataset: &str, engine: &str, more: &[&str]) -> Self {
        let mut args = vec![
            "serve", dataset, "--engine", engine, "--trust", "--ready", "0",
        ];
        args.extend(["--results", "results", "--format", "json"]);
        args.extend(more);
        let mut child = place.atlas(&args).stdout(Stdio::piped()).spawn().unwrap();
        let mut text = String::new();
        let mut lines = BufReader::new(child.stdout.as_mut().unwrap());
        while serde_json::from_str::<Value>(&text).is_err() {
            assert_ne!(lines.read_line(&mut text).unwrap(), 0, "it ended: {text}");
        }
        let told: Value = serde_json::from_str(&text).unwrap();
        let address = told["address"].as_str().unwrap().to_owned();
        Self { child, address }
    }

    /// Sends a request; [`Served::answer`] reads what comes back.
    fn send(&self, path: &str, token: &str, body: &Value) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let body = body.to_string();
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        )
        .unwrap();
        stream
    }

    fn answer(mut stream: TcpStream) -> (u16, Value) {
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let status = text.split(' ').nth(1).unwrap().parse().unwrap();
        let (_, body) = text.split_once("\r\n\r\n").unwrap();
        (status, serde_json::from_str(body).unwrap())
    }

    #[track_caller]
    fn ask(&self, path: &str, token: &str, body: &Value) -> Value {
        let (status, body) = Self::answer(self.send(path, token, body));
        assert_eq!(status, 200, "{body}");
        body
    }

    fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .args([name, &pid])
                .status()
                .unwrap()
                .success()
        );
    }

    fn ended(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn works(place: &Place, dataset: &str, engine: &str, id: &str) {
    let mut served = Served::of(place, dataset, engine, &[]);
    let asked = json!({"instance_id": id, "hints": true, "request_id": "one"});
    let reset = served.ask("/episodes", "", &asked);
    let told = &reset["observation"];
    assert_eq!(told["instance_id"], id);
    let (path, token) = (
        format!("/episodes/{}", reset["episode"].as_str().unwrap()),
        reset["token"].as_str().unwrap(),
    );
    let on = |what: &str| format!("{path}/{what}");
    let fix = json!({"command": FIX, "request_id": "fix"});
    let step = served.ask(&on("step"), token, &fix);
    assert_eq!(step["exit_code"], 0, "{step}");
    // A command that would undo it is not run again by being asked again.
    assert_eq!(served.ask(&on("step"), token, &fix), step);
    let look = json!({"command": "git diff --stat; pwd; ls tests; exit 3"});
    let step = served.ask(&on("step"), token, &look);
    let output = step["output"].as_str().unwrap();
    assert!(output.contains("1 insertion(+), 1 deletion(-)"), "{output}");
    let place_told = told["working_directory"].as_str().unwrap();
    assert!(
        output.contains(place_told) || place_told.starts_with("the "),
        "{output}"
    );
    assert_eq!(step["exit_code"], 3);

    // The server is killed while it grades.
    let waiting = served.send(&on("submit"), token, &json!({}));
    let began = Instant::now();
    while state(&served, &path, token) != "submitted" {
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "no patch was taken"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(300));
    served.signal("-KILL");
    served.ended();
    drop(waiting);
    let mut served = Served::of(place, dataset, engine, &["--drain-seconds", "0"]);
    let result = served.ask(&on("submit"), token, &json!({}));
    assert_eq!(result["reward"], 1.0, "{result}");
    assert_eq!(result["FAIL_TO_PASS"], json!({"passed": 1, "total": 1}));
    assert_eq!(result["verdict"]["outcome"], "graded");
    assert_eq!(served.ask(&on("submit"), token, &json!({})), result);

    // One that does nothing, and one that the server's end takes away.
    let idle = served.ask("/episodes", "", &json!({"instance_id": id}));
    let idle_path = format!("/episodes/{}", idle["episode"].as_str().unwrap());
    let idle_token = idle["token"].as_str().unwrap();
    let nothing = served.ask(&format!("{idle_path}/submit"), idle_token, &json!({}));
    assert_eq!(nothing["reward"], 0.0, "{nothing}");
    assert_eq!(nothing["FAIL_TO_PASS"], json!({"passed": 0, "total": 1}));
    served.ask("/episodes", "", &json!({"instance_id": id}));
    served.signal("-TERM");
    assert_eq!(served.ended(), Some(0), "a stop in order is no error");
}

fn state(served: &Served, path: &str, token: &str) -> String {
    let mut stream = TcpStream::connect(&served.address).unwrap();
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\r\n",
        served.address
    )
    .unwrap();
    let (status, body) = Served::answer(stream);
    assert_eq!(status, 200, "{body}");
    body["state"].as_str().unwrap().to_owned()
}

#[test]
fn an_instance_is_worked_in_over_http() {
    let place = Place::new();
    let id = made_here(&place, 2.0);
    works(&place, "out/dataset.jsonl", "local", &id);
    assert_eq!(place.leftovers(), Vec::<PathBuf>::new());
}

#[test]
fn an_image_is_worked_in_over_http() {
    if !wanted() {
        return;
    }
    let place = Place::new();
    let name = format!("atlas-serve-{}", std::process::id());
    let id = image(&place, &name);
    works(&place, "rows.jsonl", "docker", &id);
    docker(&["rmi", "-f", &name]);
}

#[test]
fn what_is_no_server_is_said() {
    let place = Place::new();
    let id = made_here(&place, 0.0);
    let fails = |more: &[&str], code: i32| {
        let mut args = vec!["serve", "out/dataset.jsonl", "--engine", "local", "--trust"];
        args.extend(more);
        let done = place.run(&args);
        assert_eq!(done.code(), code, "{}", done.stderr());
        done.stderr()
    };
    let why = fails(&["--listen", "0.0.0.0:0"], 1);
    assert!(why.contains("others reach it"), "{why}");
    fails(&["--listen", "0.0.0.0:0", "--allow-remote"], 2);
    std::fs::write(place.path("token"), "\n").unwrap();
    let why = fails(&["--token-file", "token"], 1);
    assert!(why.contains("`token`: it is empty"), "{why}");
    let why = fails(&["--reward", "love"], 2);
    assert!(why.contains("resolved, fail_to_pass"), "{why}");
    let near = &id[..id.len() - 1];
    let why = fails(&["--warm", near], 1);
    assert!(why.contains(&format!("did you mean `{id}`?")), "{why}");
}

#[test]
fn a_critics_word_is_a_reward_where_it_is_asked_for() {
    let place = Place::new();
    let id = made_here(&place, 0.0);
    let answer = json!({"reasoning": "so", "verdict": "pass", "confidence": 90});
    let said = json!({"holds": "test_negative", "text": answer.to_string()});
    std::fs::write(place.path("script.jsonl"), format!("{said}\n")).unwrap();
    let critic = ["--critic", "scripted:script.jsonl", "--reward", "critic"];
    let served = Served::of(&place, "out/dataset.jsonl", "local", &critic);
    let begin = || {
        let reset = served.ask("/episodes", "", &json!({"instance_id": id}));
        let path = format!("/episodes/{}", reset["episode"].as_str().unwrap());
        (path, reset["token"].as_str().unwrap().to_owned())
    };
    let (path, token) = begin();
    // The critic believes what the tests do not.
    let wrong = json!({"command": "echo '# better now' >> calc/__init__.py"});
    served.ask(&format!("{path}/step"), &token, &wrong);
    let result = served.ask(&format!("{path}/submit"), &token, &json!({}));
    assert_eq!(
        (&result["reward"], &result["kind"], &result["resolved"]),
        (&json!(1.0), &json!("critic"), &json!(false)),
        "{result}"
    );
    let cause = result["cause"].as_str().unwrap();
    assert!(cause.starts_with("a critic says that 1 of 1"), "{cause}");
    let (path, token) = begin();
    let nothing = served.ask(&format!("{path}/submit"), &token, &json!({}));
    assert_eq!(nothing["reward"], 0.0, "{nothing}");
    drop(served);
    let none = place.run(&[
        "serve",
        "out/dataset.jsonl",
        "--engine",
        "local",
        "--reward",
        "critic",
    ]);
    assert_eq!(none.code(), 1);
    assert!(none.stderr().contains("--critic"), "{}", none.stderr());
}
