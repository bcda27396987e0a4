//! What several topics need.

use async_trait::async_trait;
use atlas_core::{
    Candidate, Completion, CompletionRequest, Environment, EnvironmentLock, EnvironmentPlan, Error,
    FinishReason, ImageRef, Instance, InstanceId, LanguageModel, OracleReport, OracleTask, Overlay,
    Patch, RunContext, Subject, TokenLogprob, Usage,
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Mutex;

pub(crate) fn cx() -> RunContext {
    RunContext::new("test")
}

pub(crate) fn token(text: &str, logprob: f64) -> TokenLogprob {
    TokenLogprob {
        bytes: text.as_bytes().to_vec(),
        logprob,
        top: Vec::new(),
    }
}

/// A token with alternatives; its own value is the first one's.
pub(crate) fn with_top(text: &str, top: &[(&str, f64)]) -> TokenLogprob {
    let own = top.iter().find(|(other, _)| *other == text);
    TokenLogprob {
        bytes: text.as_bytes().to_vec(),
        logprob: own.map_or(-1.0, |(_, logprob)| *logprob),
        top: top
            .iter()
            .map(|(text, logprob)| (text.as_bytes().to_vec(), *logprob))
            .collect(),
    }
}

pub(crate) fn said(text: &str) -> Completion {
    Completion {
        text: text.to_owned(),
        logprobs: None,
        avg_logprob: None,
        finish: FinishReason::Stop,
        usage: Usage {
            prompt_tokens: 10,
            completion_tokens: 2,
            ..Usage::default()
        },
        model: "scripted".to_owned(),
    }
}

pub(crate) fn said_with(text: &str, tokens: Vec<TokenLogprob>) -> Completion {
    Completion {
        logprobs: Some(tokens),
        ..said(text)
    }
}

/// Answers in order, whatever is asked, and keeps the questions.
#[derive(Debug)]
pub(crate) struct InOrder {
    answers: Mutex<Vec<Completion>>,
    pub(crate) asked: Mutex<Vec<CompletionRequest>>,
}

impl InOrder {
    pub(crate) fn new(answers: impl IntoIterator<Item = Completion>) -> Self {
        let mut answers: Vec<Completion> = answers.into_iter().collect();
        answers.reverse();
        Self {
            answers: Mutex::new(answers),
            asked: Mutex::default(),
        }
    }

    pub(crate) fn calls(&self) -> usize {
        self.asked.lock().expect("no test panics here").len()
    }
}

#[async_trait]
impl LanguageModel for InOrder {
    fn name(&self) -> &'static str {
        "in-order"
    }

    async fn complete(
        &self,
        cx: &RunContext,
        request: &CompletionRequest,
    ) -> Result<Completion, Error> {
        cx.check("ask")?;
        self.asked
            .lock()
            .expect("no test panics here")
            .push(request.clone());
        let answer = self.answers.lock().expect("no test panics here").pop();
        Ok(answer.expect("no further question is expected"))
    }
}

pub(crate) fn subject(problem: &str, patch: Option<&str>, attachments: Value) -> Subject {
    let id: InstanceId = "owner__name-1".parse().expect("an id");
    let mut instance = Instance::new(&id);
    instance.set("problem_statement", problem);
    Subject {
        instance,
        patch: patch.map(Patch::new),
        attachments: match attachments {
            Value::Object(map) => map,
            _ => Map::new(),
        },
    }
}

/// A recorded exchange as the completion that a client makes of it.
pub(crate) fn recorded(name: &str) -> Completion {
    let path = format!(
        "{}/tests/golden/llm/{name}.json",
        env!("CARGO_MANIFEST_DIR")
    );
    let file: Value = serde_json::from_slice(&std::fs::read(path).expect("a recording"))
        .expect("the recording's form");
    let choice = &file["response"]["json"]["choices"][0];
    // `post_sampling_probs` gives probabilities under other names.
    let logprob = |token: &Value| -> f64 {
        token["logprob"]
            .as_f64()
            .or_else(|| token["prob"].as_f64().map(f64::ln))
            .expect("the recording's form")
    };
    let bytes = |token: &Value| -> Vec<u8> {
        serde_json::from_value(token["bytes"].clone()).expect("the recording's form")
    };
    let tokens = choice["logprobs"]["content"].as_array().map(|tokens| {
        tokens
            .iter()
            .map(|token| TokenLogprob {
                bytes: bytes(token),
                logprob: logprob(token),
                top: ["top_logprobs", "top_probs"]
                    .iter()
                    .filter_map(|name| token[*name].as_array())
                    .flatten()
                    .map(|other| (bytes(other), logprob(other)))
                    .collect(),
            })
            .collect()
    });
    Completion {
        logprobs: tokens,
        finish: match choice["finish_reason"]
            .as_str()
            .expect("the recording's form")
        {
            "stop" => FinishReason::Stop,
            "length" => FinishReason::Length,
            other => FinishReason::Other(other.to_owned()),
        },
        ..said(
            choice["message"]["content"]
                .as_str()
                .expect("the recording's form"),
        )
    }
}

pub(crate) fn no_attachments() -> Value {
    json!({})
}

/// A candidate with these patches and nothing that ran.
pub(crate) fn candidate(subject: &Subject, gold: &str, tests: &str) -> Candidate {
    let id = subject.instance.id().unwrap();
    Candidate {
        instance: subject.instance.clone(),
        environment: Environment {
            plan: EnvironmentPlan::default(),
            dockerfile: String::new(),
            image: ImageRef::Other {
                name: "none".to_owned(),
            },
            lock: EnvironmentLock::default(),
            attempts: Vec::new(),
        },
        task: OracleTask {
            instance_id: id,
            test_patch: Patch::new(tests),
            gold_patch: Patch::new(gold),
            before: Overlay::default(),
            after: Overlay::default(),
            modified_tests: Vec::new(),
            conditions: BTreeMap::new(),
        },
        oracle: OracleReport::of_lists(Vec::new(), Vec::new()),
    }
}
