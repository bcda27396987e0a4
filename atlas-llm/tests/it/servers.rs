//! What servers really answer: bodies in the shapes of vLLM, llama.cpp, Ollama, LiteLLM and `OpenRouter`
//! (`tests/servers/`), each with where it was seen and what is to be read of it.

use crate::support::{request, served};
use atlas_core::{FinishReason, LanguageModel as _, RunContext};
use atlas_llm::{CallFailure, RetryPolicy, open_model};
use serde_json::{Value, json};
use wiremock::matchers::method;
use wiremock::{Mock, MockServer, ResponseTemplate};

#[tokio::test]
async fn every_server_is_read() {
    let mut seen = 0;
    for file in std::fs::read_dir("tests/servers").unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let file: Value = serde_json::from_str(&text).unwrap();
        let (name, expected) = (path.display(), &file["expected"]);
        assert!(
            file["source"]
                .as_str()
                .is_some_and(|source| source.len() > 10),
            "{name}"
        );
        let server = MockServer::start().await;
        let status = u16::try_from(file["status"].as_u64().unwrap()).unwrap();
        Mock::given(method("POST"))
            .respond_with(ResponseTemplate::new(status).set_body_json(&file["body"]))
            .mount(&server)
            .await;
        let mut config = served(&format!("{}/v1", server.uri()));
        config.retry = RetryPolicy {
            retries: 0,
            ..config.retry
        };
        let mut question = request("hello");
        question.top_logprobs = Some(5);
        let model = open_model(&config).unwrap();
        let answer = model.complete(&RunContext::new("test"), &question).await;
        match answer {
            Ok(answer) => {
                let finish = match &answer.finish {
                    FinishReason::Stop => "stop",
                    FinishReason::Length => "length",
                    FinishReason::Other(word) => word,
                };
                let read = json!({
                    "text": answer.text, "finish": finish, "prompt_tokens": answer.usage.prompt_tokens,
                    "completion_tokens": answer.usage.completion_tokens,
                    "cached_tokens": answer.usage.cached_tokens,
                    "logprobs": answer.logprobs.map(|tokens| tokens.len()),
                });
                assert_eq!(&read, expected, "{name}");
            }
            Err(why) => {
                let failure = CallFailure::of(&why).unwrap_or_else(|| panic!("{name}: {why}"));
                assert_eq!(
                    format!("{:?}", failure.cause),
                    expected["cause"],
                    "{name}: {failure}"
                );
                let words = expected["words"].as_str().unwrap();
                assert!(failure.message.contains(words), "{name}: {failure}");
            }
        }
        seen += 1;
    }
    assert_eq!(seen, 18);
}
