//! Trajectories as training data (paper 001, section 4.3 and appendix G).
//!
//! A trajectory becomes a conversation: what was told, what the agent said and called, what came back. Each message of
//! the agent says whether it is to be learnt (`train`); nobody else's is.

mod atif;
mod chat;
mod mask;
mod mixture;
mod tokens;
mod tools;
mod tuning;
mod turns;
mod xml;

pub use mask::NoLoss;
pub use mixture::{Mixture, MixtureGroup};
#[cfg(feature = "tokenizers")]
pub use tokens::TokenizerFile;
pub use tokens::{TokenCounter, TokenError};
pub use tuning::{FineTuning, TuningConfig};

use crate::Trajectory;
use serde::Serialize;
use serde_json::{Map, Value};

/// The form of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExportForm {
    /// `OpenAI`'s messages, with tool calls and their results, and the tools as JSON Schema in a text.
    #[default]
    Chat,
    /// Messages of plain text; calls stand in them as `<function=NAME>` with `<parameter=NAME>`, as SWE-agent's XML
    /// parser reads them.
    SweAgentXml,
    /// ATIF; whether a step is to be learnt stands in its `extra`.
    Atif,
}

/// How trajectories become rows.
#[derive(Clone, Debug, Default)]
pub struct ExportOptions {
    /// The form. Default: chat.
    pub form: ExportForm,
    /// A row for each message that is to be learnt, with what came before it; only the last is learnt. Default: a row
    /// for each trajectory.
    pub per_step: bool,
    /// What is not learnt of what the agent said. Default: all is.
    pub no_loss: Vec<NoLoss>,
    /// Stands in the place of the recording's system message. Default: the recording's.
    pub system: Option<String>,
}

/// One row of training data.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportedRow {
    /// The step that is learnt, where each has a row of its own.
    pub step_id: Option<u64>,
    /// Messages (in ATIF steps) that are learnt.
    pub learnt: usize,
    /// Messages of the agent that no row has learnt, for the options say so.
    pub not_learnt: usize,
    /// Tokens of all messages, without those of a chat template; absent without a tokenizer.
    pub tokens: Option<usize>,
    /// Tokens of the messages that are learnt.
    pub learnt_tokens: Option<usize>,
    /// Its columns: `messages` and, in the chat form, `tools`; or an ATIF document.
    pub columns: Map<String, Value>,
}

/// Why a trajectory has no rows.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The agent said nothing that could be learnt.
    #[error("nothing of it is to be learnt")]
    NothingToLearn,
    /// A value holds the end of its own form.
    #[error(
        "step {step_id}: `{name}` holds `{text}`, which ends it in this form; take the chat form"
    )]
    EndsItself {
        /// The step.
        step_id: u64,
        /// The parameter, or `message`.
        name: String,
        /// What stands in it.
        text: &'static str,
    },
    /// The tokenizer fails.
    #[error(transparent)]
    Tokens(#[from] TokenError),
}

/// The rows of a trajectory. What comes after the agent's last message is left out: nothing is learnt from it.
///
/// Take the hint out before ([`without_hint`](crate::without_hint)).
///
/// # Errors
/// [`ExportError`].
pub fn export_rows(
    trajectory: &Trajectory,
    options: &ExportOptions,
    counter: Option<&dyn TokenCounter>,
) -> Result<Vec<ExportedRow>, ExportError> {
    if options.form == ExportForm::Atif {
        return atif::rows(trajectory, options, counter);
    }
    let turns = turns::turns(trajectory, options);
    let tools = tools::tools(trajectory);
    let messages = match options.form {
        ExportForm::SweAgentXml => xml::messages(turns, &tools)?,
        _ => chat::messages(turns),
    };
    let mut weighed = Vec::with_capacity(messages.len());
    for message in messages {
        let tokens = counter.map(|counter| counter.count(&message.text()));
        weighed.push((message, tokens.transpose()?));
    }
    let ends: Vec<usize> = (0..weighed.len())
        .filter(|at| weighed[*at].0.train)
        .collect();
    let Some(last) = ends.last() else {
        return Err(ExportError::NothingToLearn);
    };
    let ends = if options.per_step {
        &ends
    } else {
        &[*last][..]
    };
    let row = |end: usize| {
        let prefix = &weighed[..=end];
        let is_learnt = |at: usize| prefix[at].0.train && (!options.per_step || at == end);
        let learnt = (0..prefix.len()).filter(|at| is_learnt(*at)).count();
        let masked = prefix
            .iter()
            .filter(|(one, _)| one.role == "assistant" && !one.train);
        let sum = |only_learnt: bool| {
            let chosen = (0..prefix.len()).filter(|at| !only_learnt || is_learnt(*at));
            chosen.map(|at| prefix[at].1).sum::<Option<usize>>()
        };
        let values = prefix
            .iter()
            .enumerate()
            .map(|(at, (message, tokens))| message.value(options.form, is_learnt(at), *tokens));
        let mut columns = Map::new();
        columns.insert("messages".to_owned(), values.collect());
        if options.form == ExportForm::Chat {
            let text = Value::Array(tools.clone()).to_string();
            columns.insert("tools".to_owned(), text.into());
        }
        ExportedRow {
            step_id: options.per_step.then_some(prefix[end].0.step_id),
            learnt,
            not_learnt: masked.count(),
            tokens: sum(false),
            learnt_tokens: sum(true),
            columns,
        }
    };
    Ok(ends.iter().map(|end| row(*end)).collect())
}
