//! The judge.

use super::scores::{Dimension, DimensionScore, TrajectoryRule};
use crate::Prompt;
use crate::alignment::{QuoteSource, Texts};
use crate::answer::{AskOptions, Schema, Shape, StructuredAnswer, ask_again};
use crate::given::SubjectReader;
use crate::validation::{Step, Trajectory, cut_middle};
use async_trait::async_trait;
use atlas_core::{
    ChatMessage, Error, Evidence, Judge, Judgement, LanguageModel, RunContext, Subject,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

const QUALITY: Prompt = Prompt::new(
    "trajectory-quality",
    1,
    include_str!("prompts/trajectory-quality.v1.md"),
);

/// How the judge is set up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrajectoryJudgeOptions {
    /// How the model is asked. Default without samples and without a number that the model says.
    pub ask: AskOptions,
    /// How often it is asked again after an answer that cannot be used: another form, a dimension without
    /// evidence. Default 1.
    pub ask_again: u32,
    /// From scores to quality.
    pub rule: TrajectoryRule,
    /// Fewest letters and digits of a quotation; default 4: commands are short.
    pub least_quote: usize,
    /// Most tokens, of four bytes, of the steps; default 64,000. The task and the patch have a quarter of it each.
    /// What is longer is cut in its middle.
    pub limit: usize,
}

impl Default for TrajectoryJudgeOptions {
    fn default() -> Self {
        Self {
            ask: AskOptions::plain(),
            ask_again: 1,
            rule: TrajectoryRule::default(),
            least_quote: 4,
            limit: 64_000,
        }
    }
}

/// The prompt, for reading.
pub fn trajectory_quality_prompt() -> Prompt {
    QUALITY
}

/// What the judge answers.
pub fn trajectory_quality_schema() -> Schema {
    let names = Dimension::ALL.map(|one| one.as_str().to_owned()).to_vec();
    let quote = Schema::new([
        ("step", Shape::Whole(0, 1_000_000), "the number of the step"),
        ("quote", Shape::Text, "its words, unchanged"),
    ]);
    let dimension = Schema::new([
        ("dimension", Shape::OneOf(names), "its name"),
        ("assessment", Shape::Text, "one or two sentences"),
        (
            "evidence",
            Shape::List(Box::new(Shape::Object(quote))),
            "quotations that bear the assessment out",
        ),
    ]);
    let score = |one: Dimension| (one.as_str(), Shape::Whole(0, 3), "0 best, 3 worst");
    Schema::new([
        (
            "is_bug_fix",
            Shape::Bool,
            "whether the task asks to repair a bug",
        ),
        (
            "dimensions",
            Shape::List(Box::new(Shape::Object(dimension))),
            "one entry for each of the four dimensions",
        ),
        (
            "explanation",
            Shape::Text,
            "how the dimensions lead to the scores",
        ),
        (
            "scores",
            Shape::Object(Schema::new(Dimension::ALL.map(score))),
            "the four scores",
        ),
    ])
}

/// Judges how an agent worked: `high` or `low`.
///
/// The model is shown the attachment `trajectory` ([`Trajectory::read`]), the row's `problem_statement` and the subject's
/// patch, if there is one. For a row without a statement the trajectory's system and user messages stand as the task.
/// The confidence is that of the whole answer, as [`AskOptions`] says.
///
/// Details: `dimensions` (a list of [`DimensionScore`]), `is_bug_fix`, `rule`, `dropped_quotes` (how many were not
/// found), `prompt_version`, `model`, `faults` (answers that could not be used).
#[derive(Debug)]
pub struct TrajectoryJudge<M> {
    model: M,
    options: TrajectoryJudgeOptions,
}

impl<M: LanguageModel> TrajectoryJudge<M> {
    /// A judge.
    pub fn new(model: M, options: TrajectoryJudgeOptions) -> Self {
        Self { model, options }
    }

    /// How it is set up.
    pub fn options(&self) -> &TrajectoryJudgeOptions {
        &self.options
    }

    /// What the model is told.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`](atlas_core::ErrorKind) where there is no trajectory, or one of no known form.
    pub fn prompt(&self, subject: &Subject) -> Result<Vec<ChatMessage>, Error> {
        Attempt::of(subject)?.prompt(self.options.limit)
    }
}

struct Attempt {
    task: String,
    trajectory: Trajectory,
    patch: String,
}

impl Attempt {
    fn of(subject: &Subject) -> Result<Self, Error> {
        let given = SubjectReader::new(subject, "judge a trajectory of");
        let mut trajectory = given
            .read("trajectory", Trajectory::read)?
            .ok_or_else(|| given.wrong("the attachment `trajectory` is missing"))?;
        if trajectory.steps.is_empty() {
            return Err(given.wrong("the agent did nothing: there are no steps to judge"));
        }
        let told = std::mem::take(&mut trajectory.prompts).join("\n\n");
        let statement = given.column("problem_statement")?;
        let patch = subject.patch.as_ref();
        Ok(Self {
            task: if statement.trim().is_empty() {
                told
            } else {
                statement
            },
            trajectory,
            patch: patch.map_or_else(String::new, |patch| {
                String::from_utf8_lossy(patch.as_bytes()).into_owned()
            }),
        })
    }

    fn prompt(&self, limit: usize) -> Result<Vec<ChatMessage>, Error> {
        let or_unknown = |text: &str| match text.trim() {
            "" => "Nothing is known of it.".to_owned(),
            _ => cut_middle(text, limit / 4),
        };
        QUALITY.render(&json!({
            "task": or_unknown(&self.task),
            "steps": cut_middle(&self.trajectory.text(), limit),
            "patch": or_unknown(&self.patch),
        }))
    }

    /// Where a quotation stands: the part of the step, and the line in it.
    fn find(&self, step: u64, quote: &str, least: usize) -> Option<Evidence> {
        let mut steps = self.trajectory.steps.iter().enumerate();
        let (_, one) = steps.find(|(at, one)| one.number(*at) == step)?;
        let parts = |one: &Step| {
            [
                ("thought", one.thought.clone()),
                ("action", one.action.clone()),
                ("observation", one.observation.clone()),
            ]
        };
        parts(one).iter().find_map(|(part, text)| {
            let line = Texts::new(text, "", "", least).line_of(QuoteSource::Issue, quote)?;
            Some(Evidence::at(
                format!("step {step} {part}"),
                line,
                quote.trim(),
            ))
        })
    }
}

/// An answer whose form is right.
#[derive(Deserialize)]
struct TrajectoryAnswer {
    is_bug_fix: bool,
    dimensions: Vec<DimensionAnswer>,
    explanation: String,
    scores: BTreeMap<Dimension, u8>,
}

#[derive(Deserialize)]
struct DimensionAnswer {
    dimension: Dimension,
    assessment: String,
    evidence: Vec<SaidQuote>,
}

#[derive(Deserialize)]
struct SaidQuote {
    step: u64,
    quote: String,
}

struct Checked {
    is_bug_fix: bool,
    dimensions: Vec<DimensionScore>,
    dropped: usize,
    explanation: String,
}

/// The dimensions in their order with what can be found of their evidence; an error names those that are missing, told
/// twice or without evidence.
fn check(answer: &StructuredAnswer, attempt: &Attempt, least: usize) -> Result<Checked, String> {
    let said: TrajectoryAnswer = serde_json::from_value(Value::Object(answer.fields.clone()))
        .map_err(|why| why.to_string())?;
    let mut checked = Checked {
        is_bug_fix: said.is_bug_fix,
        dimensions: Vec::new(),
        dropped: 0,
        explanation: said.explanation,
    };
    let mut faults = Vec::new();
    for dimension in Dimension::ALL {
        let name = dimension.as_str();
        let counts = said.is_bug_fix || dimension != Dimension::Reproduction;
        let mut named = said
            .dimensions
            .iter()
            .filter(|one| one.dimension == dimension);
        let (Some(one), None) = (named.next(), named.next()) else {
            faults.push(format!(
                "dimension `{name}` is missing, or is there more than once"
            ));
            continue;
        };
        let found: Vec<Evidence> = one
            .evidence
            .iter()
            .filter_map(|quote| attempt.find(quote.step, &quote.quote, least))
            .collect();
        checked.dropped += one.evidence.len() - found.len();
        if counts && found.is_empty() {
            faults.push(match one.evidence.len() {
                0 => format!("dimension `{name}` has no evidence"),
                _ => format!(
                    "none of the quotations of dimension `{name}` stands, word for word, in the step that it is said to \
                     come from"
                ),
            });
        }
        checked.dimensions.push(DimensionScore {
            dimension,
            // The form has all four scores.
            score: said.scores.get(&dimension).copied().unwrap_or(3),
            counts,
            assessment: one.assessment.clone(),
            evidence: found,
        });
    }
    if faults.is_empty() {
        Ok(checked)
    } else {
        Err(faults.join("; "))
    }
}

#[async_trait]
impl<M: LanguageModel> Judge for TrajectoryJudge<M> {
    fn id(&self) -> &'static str {
        "trajectory_quality"
    }

    async fn judge(&self, cx: &RunContext, subject: &Subject) -> Result<Judgement, Error> {
        let attempt = Attempt::of(subject)?;
        let question = attempt.prompt(self.options.limit)?;
        let agreed = ask_again(
            cx,
            &self.model,
            &question,
            &trajectory_quality_schema(),
            "scores",
            &self.options.ask,
            self.options.ask_again,
            |answer| check(answer, &attempt, self.options.least_quote),
        )
        .await?;
        let checked = &agreed.value;
        let quality = self.options.rule.quality(&checked.dimensions);
        let evidence = checked
            .dimensions
            .iter()
            .flat_map(|one| one.evidence.clone());
        let evidence = evidence.collect();
        let mut details = Map::new();
        let mut set = |name: &str, value: Value| details.insert(name.to_owned(), value);
        set("dimensions", json!(checked.dimensions));
        set("is_bug_fix", json!(checked.is_bug_fix));
        set("rule", json!(self.options.rule));
        set("dropped_quotes", json!(checked.dropped));
        agreed.tell(QUALITY, &mut details);
        Ok(Judgement {
            label: quality.as_str().to_owned(),
            confidence: agreed.answer.confidence,
            reasoning: checked.explanation.clone(),
            evidence,
            details,
        })
    }
}
