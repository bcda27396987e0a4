//! The judge.

use super::quality::{QualityRule, Scores};
use super::quote::{QuoteSource, Texts};
use crate::Prompt;
use crate::answer::{AskOptions, Schema, Shape, StructuredAnswer, ask_again};
use crate::validation::cut_middle;
use async_trait::async_trait;
use atlas_core::{
    ChatMessage, Error, ErrorKind, Evidence, Judge, Judgement, LanguageModel, RunContext, Subject,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

const ALIGNMENT: Prompt = Prompt::new("alignment", 1, include_str!("prompts/alignment.v1.md"));

/// The factors, with the score that they belong to.
const FACTORS: [(&str, &str); 6] = [
    ("success_criteria", "issue_clarity"),
    ("specificity", "issue_clarity"),
    ("context", "issue_clarity"),
    ("core_coverage", "test_to_issue_alignment"),
    ("rejects_correct", "test_to_issue_alignment"),
    ("accepts_wrong", "test_to_issue_alignment"),
];

/// How the judge is set up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct AlignmentOptions {
    /// How the model is asked. Default without samples and without a number that the model says: the
    /// decision is in the scores, and a confidence in them is read only where it costs nothing.
    pub ask: AskOptions,
    /// How often it is asked again after an answer that cannot be used: another form, a factor without
    /// evidence. Default 1.
    pub ask_again: u32,
    /// From scores to quality.
    pub quality: QualityRule,
    /// Fewest letters and digits of a quotation; default 6.
    pub least_quote: usize,
    /// Most tokens, of four bytes, of the problem statement and of either patch; default 16,000 each.
    /// What is longer is cut in its middle.
    pub limit: usize,
}

impl Default for AlignmentOptions {
    fn default() -> Self {
        Self {
            ask: AskOptions::plain(),
            ask_again: 1,
            quality: QualityRule::default(),
            least_quote: 6,
            limit: 16_000,
        }
    }
}

/// The prompt, for reading.
pub fn alignment_prompt() -> Prompt {
    ALIGNMENT
}

/// What the judge answers.
pub fn alignment_schema() -> Schema {
    let words = |words: &[&str]| Shape::OneOf(words.iter().map(|&word| word.to_owned()).collect());
    let sources: Vec<&str> = QuoteSource::ALL.iter().map(|one| one.as_str()).collect();
    let names: Vec<&str> = FACTORS.iter().map(|(name, _)| *name).collect();
    let quote = Schema::new([
        ("source", words(&sources), "the text it stands in"),
        ("quote", Shape::Text, "its words, unchanged"),
    ]);
    let factor = Schema::new([
        ("factor", words(&names), "its name"),
        ("assessment", Shape::Text, "one or two sentences"),
        (
            "evidence",
            Shape::List(Box::new(Shape::Object(quote))),
            "quotations that bear the assessment out",
        ),
    ]);
    let scores = Schema::new([
        ("issue_clarity", Shape::Whole(0, 3), "0 best, 3 worst"),
        (
            "test_to_issue_alignment",
            Shape::Whole(0, 3),
            "0 best, 3 worst",
        ),
    ]);
    Schema::new([
        (
            "factors",
            Shape::List(Box::new(Shape::Object(factor))),
            "one entry for each of the six factors",
        ),
        (
            "explanation",
            Shape::Text,
            "how the factors lead to the scores",
        ),
        ("scores", Shape::Object(scores), "the two scores"),
    ])
}

/// Judges a task by its problem statement, its tests and its gold patch: `high`, `medium` or `low`.
///
/// Reads the row's `problem_statement`, `test_patch` and `patch`. The confidence is the model's in its
/// whole answer, where it can be had.
///
/// Details: `scores`, `quality_rule`, `action` (`keep`, `curate`, `reject`), `factors` (each with its
/// `score` field's name, `assessment`, and the `evidence` that was found, with lines),
/// `dropped_quotes` (those that were not: a count for every answer that was asked for is in
/// `dropped_quotes_by_answer`), `faults` (answers that could not be used), `prompt_version`, `model`.
#[derive(Debug)]
pub struct Alignment<M> {
    model: M,
    options: AlignmentOptions,
}

impl<M: LanguageModel> Alignment<M> {
    /// A judge.
    pub fn new(model: M, options: AlignmentOptions) -> Self {
        Self { model, options }
    }

    /// How it is set up.
    pub fn options(&self) -> &AlignmentOptions {
        &self.options
    }

    /// What the model is told.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] naming the column that the row lacks.
    pub fn prompt(&self, subject: &Subject) -> Result<Vec<ChatMessage>, Error> {
        Columns::of(subject)?.prompt(self.options.limit)
    }
}

struct Columns {
    issue: String,
    tests: String,
    solution: String,
}

impl Columns {
    fn of(subject: &Subject) -> Result<Self, Error> {
        let id = subject.instance.id();
        let id = id.map_or_else(
            |_| "a row without a name".to_owned(),
            |id| format!("`{id}`"),
        );
        let wrong =
            |why: String| Error::new(ErrorKind::InvalidInput, "judge", id.clone()).with_source(why);
        let column = |name: &str| {
            let text = subject.instance.required(name);
            let text = text.map_err(|why| wrong(why.to_string()))?;
            if text.trim().is_empty() {
                return Err(wrong(format!("column `{name}` is empty")));
            }
            Ok(text.to_owned())
        };
        Ok(Self {
            issue: column("problem_statement")?,
            tests: column("test_patch")?,
            solution: column("patch")?,
        })
    }

    fn prompt(&self, limit: usize) -> Result<Vec<ChatMessage>, Error> {
        ALIGNMENT.render(&json!({
            "issue": cut_middle(&self.issue, limit),
            "tests": cut_middle(&self.tests, limit),
            "solution": cut_middle(&self.solution, limit),
        }))
    }
}

/// A factor with the quotations that were found.
#[derive(Serialize)]
struct Factor {
    #[serde(rename = "factor")]
    name: String,
    score: &'static str,
    assessment: String,
    evidence: Vec<Evidence>,
}

/// An answer whose form is right.
#[derive(Deserialize)]
struct AlignmentAnswer {
    factors: Vec<FactorAnswer>,
    explanation: String,
    scores: Scores,
}

#[derive(Deserialize)]
struct FactorAnswer {
    #[serde(rename = "factor")]
    name: String,
    assessment: String,
    evidence: Vec<super::Quote>,
}

struct Checked {
    factors: Vec<Factor>,
    dropped: Vec<super::Quote>,
    explanation: String,
    scores: Scores,
}

/// The factors in their order with what can be found of their evidence; an error names those that are
/// missing, told twice or without evidence. `dropped` gets what was not found either way.
fn check(
    answer: &StructuredAnswer,
    texts: &Texts,
    dropped: &mut Vec<usize>,
) -> Result<Checked, String> {
    let said: AlignmentAnswer = serde_json::from_value(Value::Object(answer.fields.clone()))
        .map_err(|why| why.to_string())?;
    let mut checked = Checked {
        factors: Vec::new(),
        dropped: Vec::new(),
        explanation: said.explanation,
        scores: said.scores,
    };
    let mut faults = Vec::new();
    for (name, score) in FACTORS {
        let mut named = said.factors.iter().filter(|one| one.name == name);
        let Some(one) = named.next() else {
            faults.push(format!("factor `{name}` is missing"));
            continue;
        };
        if named.next().is_some() {
            faults.push(format!("factor `{name}` is there twice"));
        }
        let mut evidence = Vec::new();
        for quote in &one.evidence {
            match texts.line_of(quote.source, &quote.quote) {
                Some(line) => evidence.push(Evidence::at(
                    quote.source.as_str(),
                    line,
                    quote.quote.trim(),
                )),
                None => checked.dropped.push(quote.clone()),
            }
        }
        if evidence.is_empty() {
            faults.push(match one.evidence.len() {
                0 => format!("factor `{name}` has no evidence"),
                _ => format!(
                    "none of the quotations of factor `{name}` stands, word for word, in the text that it is said to come \
                     from"
                ),
            });
        }
        checked.factors.push(Factor {
            name: name.to_owned(),
            score,
            assessment: one.assessment.clone(),
            evidence,
        });
    }
    dropped.push(checked.dropped.len());
    if faults.is_empty() {
        Ok(checked)
    } else {
        Err(faults.join("; "))
    }
}

#[async_trait]
impl<M: LanguageModel> Judge for Alignment<M> {
    fn id(&self) -> &'static str {
        "alignment"
    }

    async fn judge(&self, cx: &RunContext, subject: &Subject) -> Result<Judgement, Error> {
        let columns = Columns::of(subject)?;
        let question = columns.prompt(self.options.limit)?;
        let texts = Texts::new(
            &columns.issue,
            &columns.tests,
            &columns.solution,
            self.options.least_quote,
        );
        let mut dropped = Vec::new();
        let agreed = ask_again(
            cx,
            &self.model,
            &question,
            &alignment_schema(),
            "scores",
            &self.options.ask,
            self.options.ask_again,
            |answer| check(answer, &texts, &mut dropped),
        )
        .await?;
        let checked = &agreed.value;
        let quality = self.options.quality.quality(checked.scores);
        let evidence = checked.factors.iter().flat_map(|one| one.evidence.clone());
        let evidence = evidence.collect();
        let mut details = Map::new();
        let mut set = |name: &str, value: Value| details.insert(name.to_owned(), value);
        set("scores", json!(checked.scores));
        set("quality_rule", json!(self.options.quality));
        set("action", json!(quality.action()));
        set("factors", json!(checked.factors));
        set("dropped_quotes", json!(checked.dropped));
        set("dropped_quotes_by_answer", json!(dropped));
        agreed.tell(ALIGNMENT, &mut details);
        Ok(Judgement {
            label: quality.as_str().to_owned(),
            confidence: agreed.answer.confidence,
            reasoning: checked.explanation.clone(),
            evidence,
            details,
        })
    }
}
