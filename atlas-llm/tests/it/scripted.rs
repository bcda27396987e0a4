//! Scripts out of files.

use crate::support::request;
use atlas_core::{ErrorKind, FinishReason, LanguageModel, RunContext};
use atlas_llm::{ModelConfig, open_model};

fn script(text: &str) -> (tempfile::TempDir, ModelConfig) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("script.jsonl");
    std::fs::write(&path, text).unwrap();
    let config = format!("scripted:{}", path.display()).parse().unwrap();
    (folder, config)
}

#[tokio::test]
async fn a_rule_answers_as_often_as_it_says_in_any_order() {
    let (_folder, config) = script(concat!(
        r#"{"holds": "sky", "text": "blue"}"#,
        "\n\n",
        r#"{"holds": "sky", "text": "grey", "finish": "length", "usage": {"prompt_tokens": 3, "completion_tokens": 1}}"#,
        "\n",
        r#"{"holds": "grass", "text": "green", "times": 0, "logprobs": [{"bytes": [103], "logprob": -0.5, "top": []}]}"#,
        "\n",
    ));
    let model = open_model(&config).unwrap();
    let cx = RunContext::new("test");
    let mut said = Vec::new();
    for question in [
        "the grass?",
        "the sky?",
        "the grass?",
        "the sky?",
        "the grass?",
    ] {
        said.push(model.complete(&cx, &request(question)).await.unwrap());
    }
    let texts: Vec<&str> = said.iter().map(|answer| answer.text.as_str()).collect();
    assert_eq!(texts, ["green", "blue", "green", "grey", "green"]);
    assert_eq!(
        (said[3].finish.clone(), said[3].usage.prompt_tokens),
        (FinishReason::Length, 3)
    );
    assert_eq!(said[0].logprobs.as_ref().unwrap()[0].bytes, b"g");
    let why = model.complete(&cx, &request("the sky?")).await.unwrap_err();
    assert_eq!(why.kind(), ErrorKind::Model);
    assert!(why.chain().contains("the sky?"), "{}", why.chain());
}

#[test]
fn a_script_that_cannot_be_read_names_its_line() {
    for (text, words) in [
        (
            "{\"holds\": \"a\", \"text\": \"b\"}\n{\"holds\": 1}\n",
            "line 2",
        ),
        (
            "{\"holds\": \"a\", \"text\": \"b\", \"colour\": 1}",
            "colour",
        ),
        ("\n", "no rule"),
    ] {
        let (_folder, config) = script(text);
        let why = open_model(&config).unwrap_err();
        assert_eq!(why.kind(), ErrorKind::InvalidInput);
        assert!(why.chain().contains(words), "{}", why.chain());
    }
}
