//! How likely a whole answer was, and the rule that scores of different origin do not mix.

use super::{Unreadable, align};
use atlas_core::{Completion, Confidence, ConfidenceSource};

/// `exp` of the mean log-probability of the answer's tokens (paper 002, section 3.2.5).
///
/// Over the tokens that spell the answer ([`align`]). A response that holds only the mean
/// ([`Completion::avg_logprob`]) gives the score of that mean, and the source says so: which tokens
/// went into it is not known.
///
/// # Errors
/// [`Unreadable`]: a truncated answer, no log-probabilities, tokens that do not spell the answer, a
/// value that is no log-probability.
pub fn sequence_score(answer: &Completion) -> Result<Confidence, Unreadable> {
    if answer.finish == atlas_core::FinishReason::Length {
        return Err(Unreadable::Truncated);
    }
    let (mean, source) = match (&answer.logprobs, answer.avg_logprob) {
        (Some(tokens), _) if !tokens.is_empty() => {
            let aligned = align(&answer.text, tokens)?;
            let mut sum = 0.0;
            for (at, token) in aligned.tokens.iter().enumerate() {
                check(aligned.before + at, token.logprob)?;
                sum += token.logprob;
            }
            (
                sum / count(aligned.tokens.len()),
                ConfidenceSource::TokenLogprobs,
            )
        }
        (_, Some(mean)) => {
            check(0, mean)?;
            (mean, ConfidenceSource::AvgLogprobOnly)
        }
        _ => return Err(Unreadable::NoLogprobs),
    };
    Ok(Confidence {
        value: Some(mean.exp().min(1.0)),
        source,
    })
}

/// Rounding may lift a log-probability a little above 0.
fn check(at: usize, logprob: f64) -> Result<(), Unreadable> {
    if logprob.is_nan() || logprob > 1e-6 {
        Err(Unreadable::NotALogprob(at, logprob))
    } else {
        Ok(())
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "an answer has far fewer than 2^52 tokens"
)]
fn count(tokens: usize) -> f64 {
    tokens as f64
}

/// Two scores whose values do not compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "scores from {first:?} and from {second:?} cannot stand in one population; score all of them in one way"
)]
pub struct MixedSources {
    /// Of the first score.
    pub first: ConfidenceSource,
    /// Of another one.
    pub second: ConfidenceSource,
}

/// The one source of all scores; `None` if there are none.
///
/// ```
/// use atlas_core::ConfidenceSource::{TokenLogprobs, Verbalised};
/// use atlas_judge::answer::one_source;
/// assert_eq!(one_source([TokenLogprobs, TokenLogprobs]), Ok(Some(TokenLogprobs)));
/// let why = one_source([TokenLogprobs, Verbalised]).unwrap_err().to_string();
/// assert!(why.contains("TokenLogprobs") && why.contains("Verbalised"));
/// ```
///
/// # Errors
/// [`MixedSources`] naming two that differ.
pub fn one_source(
    sources: impl IntoIterator<Item = ConfidenceSource>,
) -> Result<Option<ConfidenceSource>, MixedSources> {
    let mut sources = sources.into_iter();
    let Some(first) = sources.next() else {
        return Ok(None);
    };
    match sources.find(|source| *source != first) {
        Some(second) => Err(MixedSources { first, second }),
        None => Ok(Some(first)),
    }
}
