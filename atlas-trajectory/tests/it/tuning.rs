//! Tokens of training data, and configuration of those who train.

use crate::export::{form, messages};
use crate::samples::honest;
use atlas_trajectory::{
    ExportForm, ExportOptions, FineTuning, TokenCounter, TokenError, TuningConfig, export_rows,
};
use serde_json::Value;
#[cfg(feature = "tokenizers")]
use serde_json::json;

/// Counts words.
#[derive(Debug)]
struct Words;

impl TokenCounter for Words {
    fn count(&self, text: &str) -> Result<usize, TokenError> {
        Ok(text.split_whitespace().count())
    }
}

#[test]
fn tokens_are_those_of_the_messages() {
    let row = |options: &ExportOptions| {
        export_rows(&honest(), options, Some(&Words))
            .unwrap()
            .remove(0)
    };
    let whole = row(&form(ExportForm::SweAgentXml));
    let counts: Vec<usize> = messages(&whole)
        .iter()
        .map(|one| one["content"].as_str().unwrap().split_whitespace().count())
        .collect();
    assert_eq!(whole.tokens, Some(counts.iter().sum()));
    let told: Vec<&Value> = messages(&whole).iter().map(|one| &one["tokens"]).collect();
    assert_eq!(told, counts);
    let learnt = messages(&whole).iter().filter(|one| one["train"] == true);
    let learnt: u64 = learnt.map(|one| one["tokens"].as_u64().unwrap()).sum();
    assert_eq!(whole.learnt_tokens, Some(usize::try_from(learnt).unwrap()));
    let steps = row(&ExportOptions {
        per_step: true,
        ..form(ExportForm::SweAgentXml)
    });
    assert!(steps.tokens < whole.tokens && steps.learnt_tokens < whole.learnt_tokens);
    let atif = row(&form(ExportForm::Atif));
    assert!(atif.tokens.unwrap() > atif.learnt_tokens.unwrap());
}

#[cfg(feature = "tokenizers")]
#[test]
fn a_tokenizer_file_counts() {
    use atlas_trajectory::TokenizerFile;
    let file = json!({
        "version": "1.0", "truncation": {"direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0}, "padding": null,
        "added_tokens": [], "normalizer": null, "pre_tokenizer": {"type": "Whitespace"}, "post_processor": null, "decoder": null,
        "model": {"type": "WordLevel", "vocab": {"[UNK]": 0, "total": 1, "tax": 2}, "unk_token": "[UNK]"},
    });
    let counter = TokenizerFile::read("`t.json`", file.to_string().as_bytes()).unwrap();
    assert_eq!(counter.count("total += tax").unwrap(), 3, "it does not cut");
    assert_eq!(counter.count("").unwrap(), 0);
    let why = TokenizerFile::read("`t.json`", b"{}").unwrap_err();
    assert!(why.to_string().starts_with("tokenizer `t.json`: "), "{why}");
}

#[test]
fn configurations_have_the_values_of_appendix_g() {
    let config = TuningConfig {
        base_model: "Qwen/Qwen2.5-Coder-7B".to_owned(),
        form: ExportForm::SweAgentXml,
        per_step: true,
        train: "train.jsonl".to_owned(),
        test: Some("test.jsonl".to_owned()),
        template: "qwen".to_owned(),
    };
    let has = |text: &str, lines: &[&str]| {
        for line in lines {
            assert!(text.lines().any(|one| one == *line), "{line} in {text}");
        }
    };
    let axolotl = config.axolotl();
    has(
        &axolotl,
        &[
            "bf16: true",
            "num_epochs: 3",
            "micro_batch_size: 1",
            "learning_rate: 0.00005",
            "weight_decay: 0.01",
            "lr_scheduler: cosine",
            "warmup_ratio: 0.05",
            "gradient_accumulation_steps: 1",
            "sequence_len: 32768",
            "excess_length_strategy: truncate",
            "    message_field_training: train",
            "test_datasets:",
        ],
    );
    assert!(
        !axolotl.contains("field_tools") && !axolotl.contains("adapter"),
        "{axolotl}"
    );
    let llama = config.llama_factory();
    has(
        &llama,
        &[
            "finetuning_type: full",
            "bf16: true",
            "num_train_epochs: 3",
            "per_device_train_batch_size: 1",
            "learning_rate: 0.00005",
            "weight_decay: 0.01",
            "lr_scheduler_type: cosine",
            "warmup_ratio: 0.05",
            "gradient_accumulation_steps: 1",
            "cutoff_len: 32768",
            "mask_history: true",
            "eval_dataset: test",
        ],
    );
    assert_eq!(config.dataset_info()["test"]["file_name"], "test.jsonl");
    assert!(FineTuning::LlamaFactory.takes(ExportForm::SweAgentXml));
    assert!(
        !FineTuning::LlamaFactory.takes(ExportForm::Chat)
            && !FineTuning::Axolotl.takes(ExportForm::Atif)
    );
}
