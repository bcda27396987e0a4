//! Looking quotations up.

use serde::{Deserialize, Serialize};

/// Where a quotation is said to come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QuoteSource {
    /// The problem statement.
    Issue,
    /// The test patch.
    Tests,
    /// The gold patch.
    Solution,
}

impl QuoteSource {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Issue, Self::Tests, Self::Solution];

    /// Its word in answers and evidence.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Issue => "issue",
            Self::Tests => "tests",
            Self::Solution => "solution",
        }
    }
}

/// A quotation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quote {
    /// Where it is said to come from.
    pub source: QuoteSource,
    /// The words.
    pub quote: String,
}

/// The texts that may be quoted.
///
/// ```
/// use atlas_judge::alignment::{QuoteSource, Texts};
/// let texts = Texts::new("It  crashes\non start.", "+    assert f() == 1\n", "", 4);
/// assert_eq!(texts.line_of(QuoteSource::Issue, "crashes on start"), Some(1));
/// assert_eq!(texts.line_of(QuoteSource::Tests, "assert f() == 1"), Some(1));
/// assert_eq!(texts.line_of(QuoteSource::Tests, "crashes on start"), None);
/// assert_eq!(texts.line_of(QuoteSource::Issue, "it crashes"), None);
/// assert_eq!(texts.line_of(QuoteSource::Issue, "It"), None, "too short to show anything");
/// ```
#[derive(Clone, Debug)]
pub struct Texts {
    texts: Vec<(QuoteSource, Vec<Plain>)>,
    least: usize,
}

/// A text with white space as single spaces, and the line of each of its bytes.
#[derive(Clone, Debug)]
struct Plain {
    text: String,
    lines: Vec<usize>,
}

impl Plain {
    fn of<'l>(lines: impl Iterator<Item = &'l str>) -> Self {
        let mut plain = Self {
            text: String::new(),
            lines: Vec::new(),
        };
        for (at, line) in lines.enumerate() {
            for word in line.split_whitespace() {
                if !plain.text.is_empty() {
                    plain.text.push(' ');
                }
                plain.text.push_str(word);
                plain.lines.resize(plain.text.len(), at + 1);
            }
        }
        plain
    }
}

impl Texts {
    /// The statement and both patches. A quotation shows something from `least` letters or digits on.
    pub fn new(issue: &str, tests: &str, solution: &str, least: usize) -> Self {
        let sources = QuoteSource::ALL.into_iter().zip([issue, tests, solution]);
        let all = sources.map(|(source, text)| {
            let mut forms = vec![Plain::of(text.lines())];
            if source != QuoteSource::Issue {
                // Models leave out the signs of a diff.
                let bare = text.lines().map(|line| line.get(1..).unwrap_or_default());
                forms.push(Plain::of(bare));
            }
            (source, forms)
        });
        Self {
            texts: all.collect(),
            least,
        }
    }

    /// The line, from 1, on which a quotation begins; none if the text does not hold it, letter by letter
    /// and in its case. Only the kind and the amount of white space do not matter.
    pub fn line_of(&self, source: QuoteSource, quote: &str) -> Option<usize> {
        let quote = quote.split_whitespace().collect::<Vec<_>>().join(" ");
        if quote.chars().filter(|c| c.is_alphanumeric()).count() < self.least.max(1) {
            return None;
        }
        let forms = self.texts.iter().filter(|(other, _)| *other == source);
        forms.flat_map(|(_, forms)| forms).find_map(|plain| {
            let at = plain.text.find(&quote)?;
            plain.lines.get(at).copied()
        })
    }
}
