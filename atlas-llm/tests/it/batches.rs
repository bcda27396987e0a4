//! Batches, on servers that speak as OpenAI's and Anthropic's do. The shapes of batches and results are those of
//! their public references and SDKs (openai-python 2.x `types/batch.py`, anthropic-sdk-typescript 0.71
//! `messages/batches.d.ts`), those of lines in OpenAI's files of its guide to batches (2025-08).

use crate::support::{answer, request};
use atlas_core::{CompletionRequest, Error, ErrorKind, LanguageModel as _, RunContext};
use atlas_llm::{
    BatchTally, Batches, Exchanges, Limits, ModelConfig, Price, Provider, Purse, RetryPolicy,
};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

/// What a server was sent, and what it does.
#[derive(Debug, Default)]
struct Server {
    /// Files that were uploaded.
    files: Vec<String>,
    /// Batches: our name, or none, and their entries.
    batches: Vec<(Option<String>, Vec<Value>)>,
    /// How often a batch is still worked on when it is looked at.
    looks: usize,
    /// Loses the answer to so many submissions, though it takes them.
    loses: usize,
}

impl Server {
    /// What becomes of a question, by its words.
    fn openai_line(entry: &Value) -> (bool, Value) {
        let name = &entry["custom_id"];
        let asked = entry["body"]["messages"][0]["content"].as_str().unwrap();
        let line = |response: Value, error: Value| json!({"id": "batch_req_1", "custom_id": name, "response": response, "error": error});
        let response = |status: u16, body: Value| {
            let response = json!({"status_code": status, "request_id": "req_1", "body": body});
            (status == 200, line(response, Value::Null))
        };
        if asked.contains("late") {
            let why = "This request could not be executed before the completion window expired.";
            return (
                false,
                line(
                    Value::Null,
                    json!({"code": "batch_expired", "message": why}),
                ),
            );
        }
        if asked.contains("broken") {
            return response(
                400,
                json!({"error": {"message": "this is broken", "type": "invalid_request_error"}}),
            );
        }
        if asked.contains("cold") && entry["body"].get("temperature").is_some() {
            let why = json!({"message": "'temperature' does not support 0 with this model",
                "param": "temperature", "code": "unsupported_value"});
            return response(400, json!({"error": why}));
        }
        response(200, answer(&format!("to {asked}"), 70, 30))
    }

    fn anthropic_line(entry: &Value) -> Value {
        let asked = entry["params"]["messages"][0]["content"].as_str().unwrap();
        let result = if asked.contains("late") {
            json!({"type": "expired"})
        } else if asked.contains("broken") {
            json!({"type": "errored", "error": {"type": "error",
                "error": {"type": "invalid_request_error", "message": "this is broken"}}})
        } else {
            json!({"type": "succeeded", "message": {"id": "msg_1", "type": "message", "role": "assistant",
                "model": "m", "content": [{"type": "text", "text": format!("to {asked}")}],
                "stop_reason": "end_turn", "stop_sequence": null,
                "usage": {"input_tokens": 60, "cache_read_input_tokens": 10, "output_tokens": 30}}})
        };
        json!({"custom_id": entry["custom_id"], "result": result})
    }

    fn openai(&mut self, method: &str, path: &[&str], body: &str) -> ResponseTemplate {
        let ok = |body: Value| ResponseTemplate::new(200).set_body_json(body);
        let batch = |at: usize, name: &Option<String>, entries: &[Value], looks: usize| {
            let is_done = looks == 0;
            let files = (format!("out-{at}"), format!("err-{at}"));
            json!({"id": format!("batch_{at}"), "object": "batch", "endpoint": "/v1/chat/completions",
                "errors": null, "input_file_id": format!("file-{at}"), "completion_window": "24h",
                "status": if is_done { "completed" } else { "in_progress" },
                "output_file_id": is_done.then_some(files.0), "error_file_id": is_done.then_some(files.1),
                "created_at": 1_714_508_499, "metadata": {"atlas": name},
                "request_counts": {"total": entries.len(), "completed": 0, "failed": 0}})
        };
        match (method, path) {
            ("POST", ["v1", "files"]) => {
                assert!(body.contains("name=\"purpose\"\r\n\r\nbatch\r\n"), "{body}");
                let lines = body.lines().filter(|line| line.starts_with('{'));
                self.files.push(lines.collect::<Vec<_>>().join("\n"));
                ok(
                    json!({"id": format!("file-{}", self.files.len() - 1), "object": "file", "purpose": "batch"}),
                )
            }
            ("POST", ["v1", "batches"]) => {
                let sent: Value = serde_json::from_str(body).unwrap();
                assert_eq!(sent["endpoint"], "/v1/chat/completions");
                let at: usize = sent["input_file_id"].as_str().unwrap()[5..]
                    .parse()
                    .unwrap();
                let lines = self.files[at].lines();
                let entries = lines
                    .map(|line| serde_json::from_str(line).unwrap())
                    .collect();
                let name = sent["metadata"]["atlas"].as_str().map(str::to_owned);
                self.batches.push((name.clone(), entries));
                if self.loses > 0 {
                    self.loses -= 1;
                    return ResponseTemplate::new(500);
                }
                ok(batch(self.batches.len() - 1, &name, &[], 1))
            }
            ("GET", ["v1", "batches"]) => {
                let all = self.batches.iter().enumerate().rev();
                let all: Vec<Value> = all.map(|(at, one)| batch(at, &one.0, &one.1, 1)).collect();
                ok(json!({"object": "list", "data": all, "has_more": false}))
            }
            ("GET", ["v1", "batches", id]) => {
                let at: usize = id[6..].parse().unwrap();
                let (name, entries) = &self.batches[at];
                let looks = self.looks;
                let told = batch(at, name, entries, looks);
                self.looks = looks.saturating_sub(1);
                ok(told)
            }
            ("GET", ["v1", "files", id, "content"]) => {
                let entries = &self.batches[id[4..].parse::<usize>().unwrap()].1;
                let lines = entries.iter().rev().map(Self::openai_line);
                let wanted = lines.filter(|(fine, _)| *fine == id.starts_with("out"));
                let text: Vec<String> = wanted.map(|(_, line)| line.to_string()).collect();
                ResponseTemplate::new(200).set_body_string(text.join("\n"))
            }
            other => panic!("{other:?}"),
        }
    }

    fn anthropic(&mut self, method: &str, path: &[&str], body: &str) -> ResponseTemplate {
        let ok = |body: Value| ResponseTemplate::new(200).set_body_json(body);
        let batch = |at: usize, entries: &[Value], looks: usize| {
            let (ended, count) = (looks == 0, entries.len());
            json!({"id": format!("msgbatch_{at}"), "type": "message_batch",
                "processing_status": if ended { "ended" } else { "in_progress" },
                "request_counts": {"processing": if ended { 0 } else { count },
                    "succeeded": if ended { count } else { 0 }, "errored": 0, "canceled": 0, "expired": 0},
                "created_at": "2024-09-24T18:37:24.100435Z", "ended_at": null, "results_url": null})
        };
        match (method, path) {
            ("POST", ["v1", "messages", "batches"]) => {
                let sent: Value = serde_json::from_str(body).unwrap();
                let entries = sent["requests"].as_array().unwrap().clone();
                let told = batch(self.batches.len(), &entries, 1);
                self.batches.push((None, entries));
                if self.loses > 0 {
                    self.loses -= 1;
                    return ResponseTemplate::new(500);
                }
                ok(told)
            }
            ("GET", ["v1", "messages", "batches"]) => {
                let looks = self.looks;
                self.looks = looks.saturating_sub(1);
                let all = self.batches.iter().enumerate().rev();
                let all: Vec<Value> = all.map(|(at, one)| batch(at, &one.1, looks)).collect();
                ok(json!({"data": all, "has_more": false, "first_id": null, "last_id": null}))
            }
            ("GET", ["v1", "messages", "batches", id]) => {
                let at: usize = id[9..].parse().unwrap();
                let looks = self.looks;
                self.looks = looks.saturating_sub(1);
                ok(batch(at, &self.batches[at].1, looks))
            }
            ("GET", ["v1", "messages", "batches", id, "results"]) => {
                let entries = &self.batches[id[9..].parse::<usize>().unwrap()].1;
                let text: Vec<String> = entries
                    .iter()
                    .rev()
                    .map(|entry| Self::anthropic_line(entry).to_string())
                    .collect();
                ResponseTemplate::new(200).set_body_string(text.join("\n"))
            }
            other => panic!("{other:?}"),
        }
    }
}

/// A server, a file of exchanges and a model.
struct World {
    state: Arc<Mutex<Server>>,
    _server: MockServer,
    config: ModelConfig,
    exchanges: Arc<Exchanges>,
    _folder: tempfile::TempDir,
}

impl World {
    async fn new(provider: Provider, state: Server) -> Self {
        let state = Arc::new(Mutex::new(state));
        let server = MockServer::start().await;
        let seen = Arc::clone(&state);
        let respond = move |request: &Request| {
            let path: Vec<&str> = request.url.path().trim_matches('/').split('/').collect();
            let body = String::from_utf8_lossy(&request.body);
            let mut state = seen.lock().unwrap();
            match provider {
                Provider::Anthropic => state.anthropic(request.method.as_str(), &path, &body),
                _ => state.openai(request.method.as_str(), &path, &body),
            }
        };
        Mock::given(any())
            .respond_with(respond)
            .mount(&server)
            .await;
        let folder = tempfile::tempdir().unwrap();
        let base = server.uri();
        let config = ModelConfig {
            base_url: Some(if provider == Provider::Anthropic {
                base
            } else {
                format!("{base}/v1")
            }),
            key_env: Some("PATH".to_owned()),
            price: Some(Price {
                input: 1000.0,
                output: 2000.0,
                cached_input: Some(100.0),
                batch: Some(0.5),
            }),
            retry: RetryPolicy {
                first_wait: 0.01,
                ..RetryPolicy::default()
            },
            ..ModelConfig::new(provider, "m")
        };
        Self {
            exchanges: Arc::new(Exchanges::open(&folder.path().join("x")).unwrap()),
            state,
            _server: server,
            config,
            _folder: folder,
        }
    }

    /// A process of a run.
    fn process(&self, run: &str, total: &str) -> (Arc<Purse>, Batches) {
        let total = if total.is_empty() {
            Limits::none()
        } else {
            total.parse().unwrap()
        };
        let exchanges = Arc::clone(&self.exchanges);
        let purse = Arc::new(Purse::of_run(Limits::none(), total, exchanges, run).unwrap());
        let batches = Batches::open(&self.config, &json!({}), &purse, 0.01).unwrap();
        (purse, batches)
    }

    fn sent(&self) -> Vec<usize> {
        let state = self.state.lock().unwrap();
        state
            .batches
            .iter()
            .map(|(_, entries)| entries.len())
            .collect()
    }
}

fn questions(words: &[&str]) -> Vec<CompletionRequest> {
    words.iter().map(|word| request(word)).collect()
}

/// One round of a run that asks these.
async fn round(batches: &Batches, asked: &[CompletionRequest]) -> Result<BatchTally, Error> {
    let cx = RunContext::new("test");
    let round = batches.round();
    for question in asked {
        let _ = round.model().complete(&cx, question).await;
    }
    batches.ask(&cx, &round).await
}

const BOTH: [Provider; 2] = [Provider::OpenAi, Provider::Anthropic];

#[tokio::test]
async fn questions_go_out_together_at_half_the_price() {
    for provider in BOTH {
        let world = World::new(
            provider,
            Server {
                looks: 2,
                ..Server::default()
            },
        )
        .await;
        let (purse, batches) = world.process("a", "");
        let asked = questions(&["one", "two", "broken", "one", "late"]);
        let tally = round(&batches, &asked).await.unwrap();
        let expected = BatchTally {
            batches: 1,
            questions: 4,
            answered: 2,
            failed: 1,
            not_asked: 1,
        };
        assert_eq!(tally, expected);
        assert_eq!(world.sent(), [4]);
        // What failed is left to the run, what came too late goes into one more batch.
        let tally = round(&batches, &asked).await.unwrap();
        assert_eq!((tally.questions, tally.not_asked), (1, 1));
        assert_eq!(
            round(&batches, &asked).await.unwrap(),
            BatchTally::default()
        );
        // The answers are where the run looks for them.
        let kept = batches.round().model();
        let found = kept
            .complete(&RunContext::new("test"), &asked[0])
            .await
            .unwrap();
        assert_eq!(
            (found.text.as_str(), found.usage.completion_tokens),
            ("to one", 30)
        );
        let ledger = purse.ledger();
        let account = ledger.models["m (batch)"];
        assert_eq!(
            (account.calls, account.failed_calls, account.prompt_tokens),
            (3, 1, 140)
        );
        // 70 read, 30 written, twice, at half the price; Anthropic had 10 of 70 in its cache.
        let whole = match provider {
            Provider::Anthropic => 2.0 * (60.0 * 1000.0 + 10.0 * 100.0 + 30.0 * 2000.0) / 1e6,
            _ => 2.0 * (70.0 * 1000.0 + 30.0 * 2000.0) / 1e6,
        };
        assert!(
            (ledger.money().unwrap() - whole / 2.0).abs() < 1e-9,
            "{ledger:?}"
        );
        assert_eq!(world.exchanges.paid("a").unwrap(), ledger);
        assert!(world.exchanges.waiting().unwrap().is_empty());
    }
}

/// The process ends while the server works; another one collects the same batch, once.
#[tokio::test]
async fn a_batch_outlives_its_process() {
    for provider in BOTH {
        let world = World::new(
            provider,
            Server {
                looks: 1_000_000,
                ..Server::default()
            },
        )
        .await;
        let asked = questions(&["one", "two"]);
        {
            let (purse, batches) = world.process("a", "calls=2");
            let waiting = round(&batches, &asked);
            let stopped = tokio::time::timeout(std::time::Duration::from_millis(300), waiting);
            assert!(stopped.await.is_err());
            assert_eq!(
                purse.ledger().calls(),
                0,
                "no bill has what is not answered"
            );
        }
        assert_eq!(world.exchanges.paid("a").unwrap().calls(), 2);
        let waiting = world.exchanges.waiting_for("m", &json!({})).unwrap();
        assert_eq!(
            (waiting.len(), waiting[0].questions, waiting[0].run.as_str()),
            (1, 2, "a")
        );
        world.state.lock().unwrap().looks = 1;
        // A run of another name collects it, too, and does not pay.
        let (other, elsewhere) = world.process("b", "calls=0");
        assert_eq!(
            elsewhere
                .resume(&RunContext::new("test"))
                .await
                .unwrap()
                .answered,
            2
        );
        assert_eq!(
            (
                other.ledger().calls(),
                world.exchanges.paid("b").unwrap().calls()
            ),
            (0, 0)
        );
        let (purse, batches) = world.process("a", "calls=2");
        assert_eq!(
            batches.resume(&RunContext::new("test")).await.unwrap(),
            BatchTally::default()
        );
        assert_eq!(
            round(&batches, &asked).await.unwrap(),
            BatchTally::default()
        );
        assert_eq!(purse.spent_before().models["m (batch)"].prompt_tokens, 140);
        assert_eq!(world.sent(), [2]);
    }
}

/// The same run takes its calls over, and its total holds.
#[tokio::test]
async fn a_total_counts_what_is_under_way() {
    let world = World::new(
        Provider::OpenAi,
        Server {
            looks: 1_000_000,
            ..Server::default()
        },
    )
    .await;
    let asked = questions(&["one", "two", "three"]);
    {
        let (_, batches) = world.process("a", "calls=2");
        let waiting = round(&batches, &asked);
        let _ = tokio::time::timeout(std::time::Duration::from_millis(300), waiting).await;
    }
    world.state.lock().unwrap().looks = 0;
    let (purse, batches) = world.process("a", "calls=2");
    assert_eq!(
        batches
            .resume(&RunContext::new("test"))
            .await
            .unwrap()
            .answered,
        2
    );
    assert_eq!(
        (purse.ledger().calls(), purse.spent_before().calls()),
        (2, 0)
    );
    assert_eq!(
        round(&batches, &asked).await.unwrap(),
        BatchTally::default()
    );
    assert_eq!(world.sent(), [2]);
    assert_eq!(world.exchanges.paid("a").unwrap(), purse.ledger());
}

/// The server takes a batch and its word of that is lost: it is found there, and not sent again.
#[tokio::test]
async fn a_batch_whose_name_was_lost_is_found() {
    for provider in BOTH {
        let state = Server {
            looks: 3,
            loses: 1,
            ..Server::default()
        };
        let world = World::new(provider, state).await;
        let (_, batches) = world.process("a", "");
        let tally = round(&batches, &questions(&["one", "two"])).await.unwrap();
        assert_eq!((tally.answered, world.sent()), (2, vec![2]));
    }
}

#[tokio::test]
async fn a_refused_field_is_learned_from_in_the_next_round() {
    let world = World::new(Provider::OpenAi, Server::default()).await;
    let (_, batches) = world.process("a", "");
    let asked = questions(&["cold one", "cold two"]);
    assert_eq!(round(&batches, &asked).await.unwrap().failed, 2);
    assert_eq!(round(&batches, &asked).await.unwrap().answered, 2);
    assert_eq!(
        round(&batches, &asked).await.unwrap(),
        BatchTally::default()
    );
}

/// What follows from an answer that is still to come is no question of this round.
#[tokio::test]
async fn later_questions_wait_for_their_round() {
    let world = World::new(Provider::OpenAi, Server::default()).await;
    let (_, batches) = world.process("a", "");
    let cx = RunContext::new("test");
    for expected in [2, 1, 0] {
        let round = batches.round();
        let model = round.model();
        let first = model.complete(&cx, &request("first")).await.unwrap();
        let then = model
            .complete(&cx, &request(&format!("then: {}", first.text)))
            .await;
        let apart = model.complete(&cx, &request("apart")).await;
        assert_eq!(then.is_err(), expected == 2);
        if let Err(why) = then {
            assert_eq!(why.kind(), ErrorKind::Cancelled);
        }
        assert!(apart.is_ok());
        assert_eq!(batches.ask(&cx, &round).await.unwrap().questions, expected);
    }
}

#[tokio::test]
async fn who_has_no_batches_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let exchanges = Arc::new(Exchanges::open(&folder.path().join("x")).unwrap());
    let purse = Purse::of_run(Limits::none(), Limits::none(), exchanges, "a").unwrap();
    let purse = Arc::new(purse);
    for model in ["gemini:m", "llama:http://127.0.0.1:1/v1#m", "noise:1"] {
        let config: ModelConfig = model.parse().unwrap();
        let why = Batches::open(&config, &json!({}), &purse, 1.0).unwrap_err();
        assert_eq!(why.kind(), ErrorKind::InvalidInput);
        assert!(
            why.chain().contains("has no batches that Atlas knows"),
            "{}",
            why.chain()
        );
    }
    // A server without `/v1/batches` takes nothing, and nothing waits or counts.
    let server = MockServer::start().await;
    let config: ModelConfig = format!("{}/v1#m", server.uri()).parse().unwrap();
    let batches = Batches::open(&config, &json!({}), &purse, 0.01).unwrap();
    let why = round(&batches, &questions(&["one"])).await.unwrap_err();
    assert!(
        why.chain().contains("leave `--batch` out"),
        "{}",
        why.chain()
    );
    let (exchanges, calls) = (
        Exchanges::open(&folder.path().join("x")).unwrap(),
        purse.ledger().calls(),
    );
    assert!(exchanges.waiting().unwrap().is_empty());
    assert_eq!((exchanges.paid("a").unwrap().calls(), calls), (0, 0));
}
