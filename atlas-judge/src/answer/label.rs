//! The probability of a label.

use super::{Schema, Unreadable, align, schema};
use crate::metrics::{LabelMass, label_mass};
use atlas_core::{Completion, TokenLogprob};
use serde::{Deserialize, Serialize};

/// The two words between which a model chooses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Words", into = "Words")]
pub struct Labels {
    positive: String,
    negative: String,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    positive: String,
    negative: String,
}

/// The words cannot be told apart, or one of them is not one word.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "labels `{0}` and `{1}`: two single words that begin with different letters are needed, so that a token of \
     either can be told from one of the other"
)]
pub struct InvalidLabels(String, String);

impl Labels {
    /// Two words, compared without regard to case.
    ///
    /// ```
    /// use atlas_judge::answer::Labels;
    /// assert!(Labels::new("success", "failure").is_ok());
    /// assert!(Labels::new("accept", "abstain").is_err());
    /// ```
    ///
    /// # Errors
    /// [`InvalidLabels`] unless each is one word and their first letters differ: a first token `a` would
    /// belong to `accept` and `abstain` alike.
    pub fn new(positive: &str, negative: &str) -> Result<Self, InvalidLabels> {
        let plain = |word: &str| word.trim().to_lowercase();
        let (yes, no) = (plain(positive), plain(negative));
        let is_word = |word: &str| !word.is_empty() && !word.contains(char::is_whitespace);
        if !is_word(&yes) || !is_word(&no) || yes.chars().next() == no.chars().next() {
            return Err(InvalidLabels(positive.to_owned(), negative.to_owned()));
        }
        Ok(Self {
            positive: yes,
            negative: no,
        })
    }

    /// The word whose probability is asked for.
    pub fn positive(&self) -> &str {
        &self.positive
    }

    /// The other word.
    pub fn negative(&self) -> &str {
        &self.negative
    }

    /// Whether a text is the positive word (`true`) or the negative one; case, white space, quotes and
    /// punctuation around it do not count.
    ///
    /// # Errors
    /// [`Unreadable::NoLabel`] for any other text.
    pub fn read(&self, text: &str) -> Result<bool, Unreadable> {
        let around = |c: char| c.is_whitespace() || c.is_ascii_punctuation();
        let word = text.trim_matches(around).to_lowercase();
        if word == self.positive {
            Ok(true)
        } else if word == self.negative {
            Ok(false)
        } else {
            Err(Unreadable::NoLabel(super::unreadable::shorten(
                text.trim(),
                60,
            )))
        }
    }

    /// The mass of both words over the alternatives to one token. A token counts for a word of which it
    /// is a beginning, without regard to case and to white space around it: `S`, ` fail`, `success`.
    pub fn mass(&self, token: &TokenLogprob) -> LabelMass {
        label_mass(&alternatives(token), &self.positive, &self.negative)
    }

    /// The mass of both words where the answer begins.
    ///
    /// # Errors
    /// [`Unreadable`]: a truncated answer that is no label, no log-probabilities, none of alternatives,
    /// tokens that do not spell the answer, less mass than `floor`.
    pub fn mass_of(&self, answer: &Completion, floor: f64) -> Result<LabelMass, Unreadable> {
        if answer.finish == atlas_core::FinishReason::Length && self.read(&answer.text).is_err() {
            return Err(Unreadable::Truncated);
        }
        let tokens = answer.logprobs.as_deref().ok_or(Unreadable::NoLogprobs)?;
        let aligned = align(&answer.text, tokens)?;
        // White space or a quote may be a token of its own; the word begins behind it.
        let first = aligned.tokens.iter().find(|token| {
            !String::from_utf8_lossy(&token.bytes)
                .trim_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '*'))
                .is_empty()
        });
        let first = first.ok_or(Unreadable::Empty)?;
        if first.top.is_empty() {
            return Err(Unreadable::NoAlternatives);
        }
        above(self.mass(first), floor)
    }

    /// The mass of both words where the value of a field begins, in an answer of a set form.
    ///
    /// Read at the token that holds the value's first byte. It may begin with the quotation mark
    /// (` "succ`): then only alternatives with the same beginning count, without it. One that also ends
    /// the value (`failure"}`) counts for the word only if it is the whole of it.
    ///
    /// Under a schema the text may be forced; the values of most servers are still those of the free
    /// model, and the floor refuses what it would never have written by itself.
    ///
    /// # Errors
    /// [`Unreadable`]: as [`Schema::parse`], a field that is not one of the words as it stands, and as
    /// [`Labels::mass_of`].
    pub fn mass_in(
        &self,
        answer: &Completion,
        form: &Schema,
        field: &str,
        floor: f64,
    ) -> Result<LabelMass, Unreadable> {
        form.parse(&answer.text).map_err(|why| {
            // Cut off behind the object, it is whole all the same.
            if answer.finish == atlas_core::FinishReason::Length {
                Unreadable::Truncated
            } else {
                why
            }
        })?;
        let value = schema::text_of_field(&answer.text, field)
            .filter(|place| self.is_word(&answer.text[place.clone()]))
            .ok_or_else(|| Unreadable::NoLabel(field.to_owned()))?;
        let tokens = answer.logprobs.as_deref().ok_or(Unreadable::NoLogprobs)?;
        let aligned = align(&answer.text, tokens)?;
        // Counted from where the first token begins, which may be before the text.
        let place = value.start + aligned.lead;
        let mut at = 0;
        let token = aligned.tokens.iter().find(|token| {
            at += token.bytes.len();
            at > place
        });
        let token = token.ok_or(Unreadable::Empty)?;
        if token.top.is_empty() {
            return Err(Unreadable::NoAlternatives);
        }
        let lead = token.bytes[..token.bytes.len() - (at - place)].trim_ascii_start();
        let begun: Vec<(&[u8], f64)> = alternatives(token)
            .into_iter()
            .filter_map(|(bytes, logprob)| {
                let rest = if lead.is_empty() {
                    bytes
                } else {
                    bytes.trim_ascii_start().strip_prefix(lead)?
                };
                let Some(end) = rest.iter().position(|byte| *byte == b'"') else {
                    return Some((rest, logprob));
                };
                let whole = std::str::from_utf8(&rest[..end]).ok()?;
                self.is_word(whole.trim())
                    .then_some((&rest[..end], logprob))
            })
            .collect();
        above(label_mass(&begun, &self.positive, &self.negative), floor)
    }

    /// Whether a text is one of the words and nothing else, case aside.
    fn is_word(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        text == self.positive || text == self.negative
    }
}

/// A token's alternatives, itself among them: some servers leave it out where it is an unlikely one.
fn alternatives(token: &TokenLogprob) -> Vec<(&[u8], f64)> {
    let is_listed = token.top.iter().any(|(bytes, _)| *bytes == token.bytes);
    let listed = token.top.iter().map(|(bytes, p)| (bytes.as_slice(), *p));
    let own = (!is_listed).then_some((token.bytes.as_slice(), token.logprob));
    listed.chain(own).collect()
}

fn above(mass: LabelMass, floor: f64) -> Result<LabelMass, Unreadable> {
    let on_labels = mass.total();
    if on_labels.is_nan() || on_labels < floor || on_labels <= 0.0 {
        return Err(Unreadable::LabelMass {
            mass: on_labels,
            floor,
        });
    }
    Ok(mass)
}

impl TryFrom<Words> for Labels {
    type Error = InvalidLabels;

    fn try_from(words: Words) -> Result<Self, Self::Error> {
        Self::new(&words.positive, &words.negative)
    }
}

impl From<Labels> for Words {
    fn from(labels: Labels) -> Self {
        Self {
            positive: labels.positive,
            negative: labels.negative,
        }
    }
}
