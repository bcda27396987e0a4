//! Which tokens are the answer's.

use super::Unreadable;
use super::unreadable::shorten;
use atlas_core::TokenLogprob;
use regex::Regex;
use std::sync::LazyLock;

/// What may stand before an answer that its text does not hold: white space, the opening of a code
/// fence with its language.
static BEFORE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\s*(?:```[A-Za-z0-9_+-]*\s*)?$").expect("the pattern is tested")
});

/// What may stand behind it: white space, the closing fence, written-out end tokens.
static AFTER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\s*(?:```\s*)?(?:(?:<\|[^|<>\s]*\|>|</s>|<eos>|<end_of_turn>)\s*)*$")
        .expect("the pattern is tested")
});

/// The tokens that spell an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aligned<'a> {
    /// Every token with a byte of the answer in it.
    pub tokens: &'a [TokenLogprob],
    /// How many tokens before them were left out.
    pub before: usize,
    /// How many tokens behind them were left out.
    pub after: usize,
    /// How many bytes of the first token stand before the answer.
    pub lead: usize,
}

/// Finds the tokens that spell `answer`, byte by byte.
///
/// Servers return tokens that are not in the text: those of a code fence before and behind it, white
/// space that was trimmed, an end token of empty text. These are left out; a token that is partly
/// inside belongs to the answer. Any other difference is refused: a mean over other tokens than the
/// answer's would be a score of something else.
///
/// ```
/// # use atlas_core::TokenLogprob;
/// let token = |text: &str| TokenLogprob { bytes: text.into(), logprob: -1.0, top: Vec::new() };
/// let tokens = ["```", "json", "\n", "{", "}", "\n", "```", ""].map(token);
/// let found = atlas_judge::answer::align("{}", &tokens)?;
/// assert_eq!((found.before, found.tokens.len(), found.after), (3, 2, 3));
/// # Ok::<(), atlas_judge::answer::Unreadable>(())
/// ```
///
/// # Errors
/// [`Unreadable::Empty`], [`Unreadable::Misaligned`].
pub fn align<'a>(answer: &str, tokens: &'a [TokenLogprob]) -> Result<Aligned<'a>, Unreadable> {
    if answer.is_empty() {
        return Err(Unreadable::Empty);
    }
    let spelt: Vec<u8> = tokens
        .iter()
        .flat_map(|token| token.bytes.iter().copied())
        .collect();
    let place = places(&spelt, answer.as_bytes())
        .find(|at| fits(&BEFORE, &spelt[..*at]) && fits(&AFTER, &spelt[at + answer.len()..]));
    let Some(start) = place else {
        return Err(difference(answer, &spelt));
    };
    let end = start + answer.len();
    let (mut at, mut first, mut last, mut lead) = (0, tokens.len(), 0, 0);
    for (number, token) in tokens.iter().enumerate() {
        let next = at + token.bytes.len();
        if next > start && at < end && next > at {
            if number < first {
                (first, lead) = (number, start.saturating_sub(at));
            }
            last = number;
        }
        at = next;
    }
    Ok(Aligned {
        tokens: &tokens[first..=last],
        before: first,
        after: tokens.len() - last - 1,
        lead,
    })
}

/// Where `needle` begins in `hay`, places that overlap included.
fn places<'a>(hay: &'a [u8], needle: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
    (0..hay.len()).filter(move |at| hay[*at..].starts_with(needle))
}

fn fits(pattern: &Regex, bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| pattern.is_match(text))
}

/// Where the two part, counted from the most favourable beginning.
fn difference(answer: &str, spelt: &[u8]) -> Unreadable {
    let common = |from: usize| {
        spelt[from..]
            .iter()
            .zip(answer.as_bytes())
            .take_while(|(a, b)| a == b)
            .count()
    };
    let starts = (0..=spelt.len().min(64)).filter(|from| fits(&BEFORE, &spelt[..*from]));
    let best = starts.max_by_key(|from| (common(*from), std::cmp::Reverse(*from)));
    let from = best.unwrap_or(0);
    let at = common(from);
    let rest = |bytes: &[u8]| shorten(&String::from_utf8_lossy(bytes), 30);
    Unreadable::Misaligned {
        at,
        answer: rest(&answer.as_bytes()[at..]),
        tokens: rest(&spelt[from + at..]),
    }
}
