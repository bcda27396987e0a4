//! Configuration for fine-tuning with paper 001's values (appendix G).

use super::ExportForm;
use serde::Serialize;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Who trains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FineTuning {
    /// Axolotl. It reads the loss mask of each message.
    Axolotl,
    /// `LLaMA-Factory`. It knows no mask of single messages: all of the agent's are learnt, or with a row for each step the
    /// last. Of messages with calls it drops the text, so it is given the XML form only.
    LlamaFactory,
}

impl FineTuning {
    /// Whether rows of a form can be learnt from without loss.
    pub fn takes(self, form: ExportForm) -> bool {
        match self {
            Self::Axolotl => form != ExportForm::Atif,
            Self::LlamaFactory => form == ExportForm::SweAgentXml,
        }
    }
}

/// What a configuration says beside the values of appendix G.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TuningConfig {
    /// The model that is trained: a name or a folder.
    pub base_model: String,
    /// The form of the rows.
    pub form: ExportForm,
    /// Whether each step has a row of its own.
    pub per_step: bool,
    /// The rows that are learnt from, as seen from the configuration.
    pub train: String,
    /// The rows that are held back.
    pub test: Option<String>,
    /// The name of `LLaMA-Factory`'s template, which must be the model's. Default of Qwen's models: `qwen`.
    pub template: String,
}

/// What appendix G gives. The optimizer is not in it; both get the frameworks' common default.
const EPOCHS: &str = "3";
const LEARNING_RATE: &str = "0.00005";
const WEIGHT_DECAY: &str = "0.01";
const WARMUP: &str = "0.05";
const LENGTH: &str = "32768";

impl TuningConfig {
    /// Axolotl's YAML.
    pub fn axolotl(&self) -> String {
        let mut text = String::from(
            "# Values of paper 001, appendix G: full training, 8 devices give batches of 8.\n",
        );
        let _ = writeln!(text, "base_model: {}", quoted(&self.base_model));
        let mut dataset = |name: &str, file: &str| {
            let _ = write!(
                text,
                "{name}:\n  - path: {}\n    ds_type: json\n    split: train\n    type: chat_template\n    chat_template: tokenizer_default\n    \
                 field_messages: messages\n    message_field_training: train\n    roles_to_train: []\n    train_on_eos: turn\n",
                quoted(file)
            );
            if self.form == ExportForm::Chat {
                text.push_str("    field_tools: tools\n");
            }
        };
        dataset("datasets", &self.train);
        if let Some(test) = &self.test {
            dataset("test_datasets", test);
        }
        let _ = write!(
            text,
            "dataset_prepared_path: prepared\noutput_dir: out\nsequence_len: {LENGTH}\nexcess_length_strategy: truncate\nsample_packing: false\n\
             bf16: true\nnum_epochs: {EPOCHS}\nmicro_batch_size: 1\ngradient_accumulation_steps: 1\nlearning_rate: {LEARNING_RATE}\n\
             weight_decay: {WEIGHT_DECAY}\nlr_scheduler: cosine\nwarmup_ratio: {WARMUP}\noptimizer: adamw_torch\n"
        );
        text
    }

    /// `LLaMA-Factory`'s YAML; [`TuningConfig::dataset_info`] stands beside it.
    pub fn llama_factory(&self) -> String {
        let mut text = String::from(
            "# Values of paper 001, appendix G: full training, 8 devices give batches of 8.\n",
        );
        let _ = write!(
            text,
            "model_name_or_path: {}\nstage: sft\ndo_train: true\nfinetuning_type: full\ndataset_dir: .\ndataset: train\n",
            quoted(&self.base_model)
        );
        if self.test.is_some() {
            text.push_str(
                "eval_dataset: test\nper_device_eval_batch_size: 1\neval_strategy: epoch\n",
            );
        }
        let _ = write!(
            text,
            "template: {}\nmask_history: {}\ncutoff_len: {LENGTH}\noutput_dir: out\nbf16: true\nnum_train_epochs: {EPOCHS}\n\
             per_device_train_batch_size: 1\ngradient_accumulation_steps: 1\nlearning_rate: {LEARNING_RATE}\nweight_decay: {WEIGHT_DECAY}\n\
             lr_scheduler_type: cosine\nwarmup_ratio: {WARMUP}\noptim: adamw_torch\n",
            quoted(&self.template),
            self.per_step
        );
        text
    }

    /// `LLaMA-Factory`'s `dataset_info.json`.
    pub fn dataset_info(&self) -> Value {
        let entry = |file: &str| {
            json!({
                "file_name": file,
                "formatting": "sharegpt",
                "columns": {"messages": "messages"},
                "tags": {
                    "role_tag": "role",
                    "content_tag": "content",
                    "user_tag": "user",
                    "assistant_tag": "assistant",
                    "observation_tag": "tool",
                    "function_tag": "function_call",
                    "system_tag": "system",
                },
            })
        };
        let mut info = json!({ "train": entry(&self.train) });
        if let Some(test) = &self.test {
            info["test"] = entry(test);
        }
        info
    }
}

/// A text as YAML: JSON is a part of it.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
