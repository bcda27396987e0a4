//! A model that answers at random, in the form that was asked for.

mod form;

use crate::chance::Chance;
use crate::request_key;
use async_trait::async_trait;
use atlas_core::{
    Completion, CompletionRequest, Error, FinishReason, LanguageModel, RunContext, TokenLogprob,
    Usage,
};

/// Knows nothing and keeps to the form: a baseline, and a stand-in for a model where only the way
/// of its answers matters.
///
/// With a schema the answer is JSON that follows it, with values by chance. Without one, the answer
/// is one of the labels that the chat names between quotes or backquotes, or around an `or`, in the
/// last line that speaks of answering; with none, it is a few words. Log-probabilities, where asked
/// for, are by chance too and make sense: no token's alternatives add up to more than 1, and a
/// label's alternatives are the other labels.
///
/// The same request to a model with the same seed has the same answer, in every process.
#[derive(Clone, Debug)]
pub struct Noise {
    name: String,
    seed: u64,
    word: Option<char>,
}

impl Noise {
    /// A model whose chance follows from a seed.
    pub fn new(seed: u64) -> Self {
        Self {
            name: format!("noise:{seed}"),
            seed,
            word: None,
        }
    }

    /// A model whose free texts have this sign for every word.
    #[cfg(feature = "http")]
    pub(crate) fn saying(word: char) -> Self {
        Self {
            word: Some(word),
            ..Self::new(0)
        }
    }

    /// What is said in the place of a piece.
    fn said(&self, piece: Piece) -> Piece {
        let word = piece.text.trim_start();
        match self.word {
            Some(sign) if piece.others.is_empty() && form::WORDS.contains(&word) => {
                let blank = &piece.text[..piece.text.len() - word.len()];
                Piece::plain(format!("{blank}{sign}"))
            }
            _ => piece,
        }
    }
}

#[async_trait]
impl LanguageModel for Noise {
    fn name(&self) -> &str {
        &self.name
    }

    async fn complete(
        &self,
        cx: &RunContext,
        request: &CompletionRequest,
    ) -> Result<Completion, Error> {
        cx.check("ask the model")?;
        let mut chance = Chance::new(&request_key("noise", request), self.seed);
        let pieces = match &request.json_schema {
            Some(schema) => form::json(schema, &mut chance),
            None => form::words(request, &mut chance),
        };
        let pieces: Vec<Piece> = pieces.into_iter().map(|piece| self.said(piece)).collect();
        let most = usize::try_from(request.max_tokens).unwrap_or(usize::MAX);
        let finish = if pieces.len() > most {
            FinishReason::Length
        } else {
            FinishReason::Stop
        };
        let pieces = &pieces[..pieces.len().min(most)];
        let logprobs = request.top_logprobs.map(|top| {
            pieces
                .iter()
                .map(|piece| token(piece, usize::from(top), &mut chance))
                .collect()
        });
        let read: usize = request
            .messages
            .iter()
            .map(|message| message.content.len())
            .sum();
        let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        Ok(Completion {
            text: pieces.iter().map(|piece| piece.text.as_str()).collect(),
            logprobs,
            avg_logprob: None,
            finish,
            usage: Usage {
                prompt_tokens: count(read.div_ceil(4)).max(1),
                completion_tokens: count(pieces.len()),
                ..Usage::default()
            },
            model: self.name.clone(),
        })
    }
}

/// A piece of an answer with what might have stood there.
#[derive(Clone, Debug, PartialEq)]
struct Piece {
    text: String,
    others: Vec<String>,
}

impl Piece {
    fn plain(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            others: Vec::new(),
        }
    }
}

/// A token whose probability and its alternatives' add up to at most 1.
fn token(piece: &Piece, top: usize, chance: &mut Chance) -> TokenLogprob {
    let probability = if piece.others.is_empty() {
        0.9 + 0.0999 * chance.unit()
    } else {
        0.02 + 0.96 * chance.unit()
    };
    let mut left = 0.999 * (1.0 - probability);
    let mut all = vec![(piece.text.clone().into_bytes(), probability.ln())];
    for (at, other) in piece.others.iter().enumerate() {
        let share = if at + 1 == piece.others.len() {
            left
        } else {
            left * chance.unit()
        };
        left -= share;
        all.push((other.clone().into_bytes(), share.max(1e-9).ln()));
    }
    all.sort_by(|one, other| other.1.total_cmp(&one.1));
    all.truncate(top);
    TokenLogprob {
        bytes: piece.text.clone().into_bytes(),
        logprob: probability.ln(),
        top: all,
    }
}
