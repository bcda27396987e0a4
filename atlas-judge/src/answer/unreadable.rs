//! Why an answer cannot be used.

/// What is wrong with an answer. Its message names the reason and what could be done.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Unreadable {
    /// There is no text.
    #[error("the answer is empty")]
    Empty,
    /// The answer stops at the limit.
    #[error("the answer was cut off at its limit of tokens; allow more of them")]
    Truncated,
    /// The response held no log-probabilities.
    #[error("the response holds no log-probabilities")]
    NoLogprobs,
    /// The response held log-probabilities of the tokens, but none of alternatives to them.
    #[error("the response holds no alternatives to its tokens")]
    NoAlternatives,
    /// A log-probability is not a number, or the probability would be above 1.
    #[error("token {0} has a log-probability that is none: {1}")]
    NotALogprob(usize, f64),
    /// The tokens spell another text.
    #[error(
        "the tokens do not spell the answer: after {at} bytes it goes on with `{answer}`, they with `{tokens}`"
    )]
    Misaligned {
        /// Bytes of the answer that are spelt.
        at: usize,
        /// The answer from there, shortened.
        answer: String,
        /// The tokens from there, shortened.
        tokens: String,
    },
    /// Too little of the probability is on the labels.
    #[error("only {mass:.3} of the probability is on the labels, less than {floor}")]
    LabelMass {
        /// What is on them.
        mass: f64,
        /// The least that is accepted.
        floor: f64,
    },
    /// The answer is none of the labels.
    #[error("`{0}` is none of the labels")]
    NoLabel(String),
    /// Too few of the samples could be read.
    #[error("only {read} of {asked} samples could be read; the first that could not: {first}")]
    Samples {
        /// How many could.
        read: u32,
        /// How many there were.
        asked: u32,
        /// Why the first other one could not.
        first: String,
    },
    /// The answer is no JSON.
    #[error("the answer is no JSON: {0}")]
    NotJson(String),
    /// Fields of the answer are wrong.
    #[error("the answer does not have the form that was asked for: {}", .0.join("; "))]
    Fields(Vec<String>),
}

/// The beginning of a text on one line, for messages.
pub(crate) fn shorten(text: &str, most: usize) -> String {
    let mut short: String = text.chars().take(most).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short.escape_debug().to_string()
}
