//! The stages in which a model reads the patch.

use super::stage::{LastTestCommand, PatchStage, StageOutcome, StageReport};
use super::{
    CommandOutcome, TestCommand, Trajectory, ValidationSubject, cut_middle, estimated_tokens,
};
use crate::Prompt;
use crate::answer::{AskOptions, Schema, Shape, StructuredAnswer, ask_lines, ask_structured};
use async_trait::async_trait;
use atlas_core::{ChatMessage, Error, Evidence, LanguageModel, RunContext};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const SPECIFICATION: Prompt = Prompt::new(
    "specification",
    1,
    include_str!("prompts/specification.v1.md"),
);
const REVIEW: Prompt = Prompt::new("review", 2, include_str!("prompts/review.v2.md"));
const TRAJECTORY: Prompt = Prompt::new(
    "review-trajectory",
    1,
    include_str!("prompts/review-trajectory.v1.md"),
);

/// How much of each part a prompt holds, in tokens of four bytes; what is longer is cut in its middle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PromptLimits {
    /// The bug's description; default 16,000.
    pub report: usize,
    /// The patch; default 16,000.
    pub patch: usize,
    /// All original files together, shared out evenly among those that are too long; default 48,000.
    pub files: usize,
    /// The output of all test commands together; default 16,000.
    pub tests: usize,
    /// The trajectory; default 96,000.
    pub trajectory: usize,
}

impl Default for PromptLimits {
    fn default() -> Self {
        Self {
            report: 16_000,
            patch: 16_000,
            files: 48_000,
            tests: 16_000,
            trajectory: 96_000,
        }
    }
}

/// Tokens of a question's frame: instructions, headings, schema.
const FRAME: usize = 2_000;

impl PromptLimits {
    /// The names of the parts.
    pub const PARTS: [&str; 5] = ["report", "patch", "files", "tests", "trajectory"];

    /// The limit of a part, by its name; none of another name.
    pub fn part_mut(&mut self, part: &str) -> Option<&mut usize> {
        match part {
            "report" => Some(&mut self.report),
            "patch" => Some(&mut self.patch),
            "files" => Some(&mut self.files),
            "tests" => Some(&mut self.tests),
            "trajectory" => Some(&mut self.trajectory),
            _ => None,
        }
    }

    /// Limits with which every question of the reviews fits into a model's context of so many tokens, beside an
    /// answer of `answer` tokens, an eighth of the context at most: the same where they do already, else all smaller
    /// by one factor. A quarter of the context is kept free, for a token of code has less than the four bytes that
    /// limits are measured by.
    ///
    /// ```
    /// use atlas_judge::validation::PromptLimits;
    /// let usual = PromptLimits::default();
    /// assert_eq!(usual.within(1_000_000, 1024), usual);
    /// let small = usual.within(32_768, 1024);
    /// assert!(usual.within(4_096, 4_096).patch > 200);
    /// assert!(small.report + small.trajectory + small.patch < 24_576 && small.patch > 2_000);
    /// ```
    #[must_use]
    pub fn within(self, window: u64, answer: u32) -> Self {
        let (room, answer) = (room(window, answer), answer_in(window, answer));
        // The specification, an answer itself, stands in the second question.
        let questions = [
            (self.report + self.files, room),
            (
                self.report + self.patch + self.tests,
                room.saturating_sub(answer),
            ),
            (self.report + self.trajectory + self.patch, room),
        ];
        let tight = questions.into_iter().filter(|(needed, room)| needed > room);
        // The question of which the smallest share fits.
        let tightest = tight.min_by(|(a, b), (c, d)| {
            let (one, other) = (wide(*b) * wide(*c), wide(*d) * wide(*a));
            one.cmp(&other)
        });
        let Some((needed, room)) = tightest else {
            return self;
        };
        let part = |tokens: usize| {
            let smaller = wide(tokens) * wide(room) / wide(needed);
            usize::try_from(smaller).unwrap_or(tokens)
        };
        Self {
            report: part(self.report),
            patch: part(self.patch),
            files: part(self.files),
            tests: part(self.tests),
            trajectory: part(self.trajectory),
        }
    }
}

/// Tokens of four bytes for the parts of a question in a model's context of so many tokens, beside an answer and the
/// question's frame. A quarter of the context is kept free, for a token of code has less than four bytes.
pub(crate) fn room(window: u64, answer: u32) -> usize {
    let answer = answer_in(window, answer);
    let window = usize::try_from(window).unwrap_or(usize::MAX);
    let frame = FRAME.min(window / 8).saturating_add(answer);
    (window / 4 * 3).saturating_sub(frame)
}

/// An answer that may be longer than a small context is not as long in earnest: an eighth of it at most.
fn answer_in(window: u64, answer: u32) -> usize {
    usize::try_from(u64::from(answer).min(window / 8)).unwrap_or(usize::MAX)
}

fn wide(number: usize) -> u128 {
    u128::try_from(number).unwrap_or(u128::MAX)
}

/// How the reviews ask.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReviewOptions {
    /// How the model is asked.
    pub ask: AskOptions,
    /// How long the parts of a prompt may be.
    pub limits: PromptLimits,
    /// Names of the agent's own tools that run tests, beside the commands that are known.
    pub test_tools: Vec<String>,
}

/// The versions of all prompts of the reviews.
pub fn review_prompt_versions() -> Vec<String> {
    [SPECIFICATION, REVIEW, TRAJECTORY]
        .iter()
        .map(Prompt::version)
        .collect()
}

/// What a review answers.
pub fn review_schema() -> Schema {
    Schema::new([
        (
            "is_bug_fixed",
            Shape::Bool,
            "whether the patch repairs the bug completely and breaks nothing",
        ),
        (
            "explanation",
            Shape::Text,
            "what in the patch decides, in a few sentences",
        ),
    ])
}

/// First asks what a repair has to do, from the report and the original files; then whether the patch
/// does it (paper 002, section 3.2.3 and 3.2.4).
///
/// Details of its report: `score` (0 if the bug is not fixed, else the answer's confidence; null where
/// there is none), `is_bug_fixed`, `specification`, `prompt_versions`, `model`, `cut` (parts that were
/// too long; `specification` where the model ran into the limit of tokens, and the whole lines of it count),
/// `originals_missing`, `corrections` (how often the answer was asked for again for its form, where it was: the score is
/// of the last one), `passed_over`, `samples`.
#[derive(Debug)]
pub struct SpecificationReview<M> {
    model: M,
    options: ReviewOptions,
}

impl<M: LanguageModel> SpecificationReview<M> {
    /// The review over a model.
    pub fn new(model: M, options: ReviewOptions) -> Self {
        Self { model, options }
    }

    /// The first question.
    ///
    /// # Errors
    /// The prompt's.
    pub fn specification_prompt(
        &self,
        subject: &ValidationSubject,
    ) -> Result<Vec<ChatMessage>, Error> {
        let limits = &self.options.limits;
        let files = files(subject, limits.files);
        SPECIFICATION.render(&json!({
            "title": subject.report.title,
            "description": cut_middle(&subject.report.description, limits.report),
            "files": files,
        }))
    }

    /// The second question, with the answer to the first one.
    ///
    /// # Errors
    /// The prompt's.
    pub fn review_prompt(
        &self,
        subject: &ValidationSubject,
        specification: &str,
    ) -> Result<Vec<ChatMessage>, Error> {
        let limits = &self.options.limits;
        REVIEW.render(&json!({
            "title": subject.report.title,
            "description": cut_middle(&subject.report.description, limits.report),
            "patch": cut_middle(&subject.patch_text(), limits.patch),
            "attempts": attempts(subject, &self.options),
            "is_trajectory_known": subject.trajectory.is_some(),
            "specification": specification,
        }))
    }
}

#[async_trait]
impl<M: LanguageModel> PatchStage for SpecificationReview<M> {
    fn id(&self) -> &'static str {
        "review-with-specification"
    }

    fn is_deterministic(&self) -> bool {
        false
    }

    async fn look(
        &self,
        cx: &RunContext,
        subject: &ValidationSubject,
    ) -> Result<StageReport, Error> {
        let question = self.specification_prompt(subject)?;
        let specification = ask_lines(cx, &self.model, &question, &self.options.ask).await?;
        let question = self.review_prompt(subject, &specification.text)?;
        let answer = ask_structured(
            cx,
            &self.model,
            &question,
            &review_schema(),
            "is_bug_fixed",
            &self.options.ask,
        )
        .await?;
        let versions = [SPECIFICATION.version(), REVIEW.version()];
        let mut report = report(self.id(), &answer, &versions);
        let limits = &self.options.limits;
        let mut cut = cut_parts(subject, limits);
        cut.retain(|part| *part != "trajectory");
        if is_output_cut(subject, &self.options) {
            cut.insert("tests");
        }
        if specification.is_cut {
            cut.insert("specification");
        }
        if !cut.is_empty() {
            report.details.insert("cut".to_owned(), json!(cut));
        }
        let missing = subject.missing_originals();
        if !missing.is_empty() {
            report
                .details
                .insert("originals_missing".to_owned(), json!(missing));
        }
        report
            .details
            .insert("specification".to_owned(), json!(specification.text));
        Ok(report)
    }
}

/// Asks once, with everything that the agent was told, thought, did and saw (paper 002's variant without
/// a specification).
///
/// Details of its report as [`SpecificationReview`], without the specification.
#[derive(Debug)]
pub struct TrajectoryReview<M> {
    model: M,
    options: ReviewOptions,
}

impl<M: LanguageModel> TrajectoryReview<M> {
    /// The review over a model.
    pub fn new(model: M, options: ReviewOptions) -> Self {
        Self { model, options }
    }

    /// The question.
    ///
    /// # Errors
    /// The prompt's.
    pub fn prompt(&self, subject: &ValidationSubject) -> Result<Vec<ChatMessage>, Error> {
        let limits = &self.options.limits;
        let trajectory = subject.trajectory.as_ref();
        let trajectory = trajectory.map(super::Trajectory::text).unwrap_or_default();
        TRAJECTORY.render(&json!({
            "title": subject.report.title,
            "description": cut_middle(&subject.report.description, limits.report),
            "trajectory": cut_middle(&trajectory, limits.trajectory),
            "patch": cut_middle(&subject.patch_text(), limits.patch),
        }))
    }
}

#[async_trait]
impl<M: LanguageModel> PatchStage for TrajectoryReview<M> {
    fn id(&self) -> &'static str {
        "review-of-trajectory"
    }

    fn is_deterministic(&self) -> bool {
        false
    }

    async fn look(
        &self,
        cx: &RunContext,
        subject: &ValidationSubject,
    ) -> Result<StageReport, Error> {
        if subject.trajectory.is_none() {
            return Err(Error::new(
                atlas_core::ErrorKind::InvalidInput,
                "review a trajectory:",
                "none was given; give it, or review with a specification",
            ));
        }
        let question = self.prompt(subject)?;
        let answer = ask_structured(
            cx,
            &self.model,
            &question,
            &review_schema(),
            "is_bug_fixed",
            &self.options.ask,
        )
        .await?;
        let mut report = report(self.id(), &answer, &[TRAJECTORY.version()]);
        let mut cut = cut_parts(subject, &self.options.limits);
        cut.remove("files");
        if !cut.is_empty() {
            report.details.insert("cut".to_owned(), json!(cut));
        }
        Ok(report)
    }
}

/// The score of paper 002, section 3.2.5: 0 unless the bug is fixed, else how likely the answer was.
fn report(stage: &str, answer: &StructuredAnswer, versions: &[String]) -> StageReport {
    let is_fixed = answer.fields.get("is_bug_fixed") == Some(&Value::Bool(true));
    let explanation = answer.fields.get("explanation").and_then(Value::as_str);
    let explanation = explanation.unwrap_or_default();
    let outcome = if is_fixed {
        StageOutcome::Passed
    } else {
        StageOutcome::Rejected
    };
    let mut report = StageReport::new(stage, outcome, explanation);
    report.confidence = Some(answer.confidence);
    if !explanation.is_empty() {
        let evidence = Evidence::of("the model's review", explanation);
        report.evidence.push(evidence);
    }
    let score = if is_fixed {
        answer.confidence.value
    } else {
        Some(0.0)
    };
    let details = &mut report.details;
    details.insert("is_bug_fixed".to_owned(), json!(is_fixed));
    details.insert("score".to_owned(), json!(score));
    details.insert("source".to_owned(), json!(answer.confidence.source));
    details.insert("model".to_owned(), json!(answer.model));
    details.insert("prompt_versions".to_owned(), json!(versions));
    if answer.corrections > 0 {
        details.insert("corrections".to_owned(), json!(answer.corrections));
    }
    if let Some(samples) = answer.samples {
        details.insert("samples".to_owned(), json!(samples));
    }
    if !answer.passed_over.is_empty() {
        details.insert("passed_over".to_owned(), json!(answer.passed_over));
    }
    report
}

#[derive(Serialize)]
struct OriginalFile<'a> {
    path: &'a str,
    content: String,
}

/// The original files sorted by path. Short ones stay whole; the rest share what is left.
fn files(subject: &ValidationSubject, tokens: usize) -> Vec<OriginalFile<'_>> {
    let mut lengths: Vec<usize> = subject
        .originals
        .values()
        .map(|content| estimated_tokens(content))
        .collect();
    lengths.sort_unstable();
    let share = share(&lengths, tokens);
    subject
        .originals
        .iter()
        .map(|(path, content)| OriginalFile {
            path,
            content: cut_middle(content, share),
        })
        .collect()
}

/// The length that each may have so that all together have no more than `total`; `lengths` ascend.
pub(crate) fn share(lengths: &[usize], total: usize) -> usize {
    let mut left = total;
    for (at, length) in lengths.iter().enumerate() {
        let each = left / (lengths.len() - at);
        if *length > each {
            return each;
        }
        left -= length;
    }
    usize::MAX / 8
}

#[derive(Serialize)]
struct Attempt {
    number: usize,
    command: String,
    outcome: CommandOutcome,
    output: String,
}

/// The agent's test commands with their output, numbered; the output shares the limit.
fn attempts(subject: &ValidationSubject, options: &ReviewOptions) -> Vec<Attempt> {
    let finder = LastTestCommand::default().with_tools(&options.test_tools);
    let (Some(trajectory), commands) = (&subject.trajectory, finder.commands(subject)) else {
        return Vec::new();
    };
    let each = each_output(&commands, options);
    commands
        .into_iter()
        .enumerate()
        .map(|(at, command)| Attempt {
            number: at + 1,
            output: cut_middle(output_of(trajectory, &command), each),
            command: command.command,
            outcome: command.outcome,
        })
        .collect()
}

/// How long the output of each command may be.
fn each_output(commands: &[TestCommand], options: &ReviewOptions) -> usize {
    options.limits.tests / commands.len().max(1)
}

fn output_of<'a>(trajectory: &'a Trajectory, command: &TestCommand) -> &'a str {
    let step = trajectory.steps.get(command.step - 1);
    step.map_or("", |step| step.observation.trim())
}

/// Whether [`attempts`] leaves some output out.
fn is_output_cut(subject: &ValidationSubject, options: &ReviewOptions) -> bool {
    let finder = LastTestCommand::default().with_tools(&options.test_tools);
    let commands = finder.commands(subject);
    let each = each_output(&commands, options);
    subject.trajectory.as_ref().is_some_and(|trajectory| {
        let mut outputs = commands
            .iter()
            .map(|command| output_of(trajectory, command));
        outputs.any(|output| estimated_tokens(output) > each)
    })
}

/// Which parts of a subject are longer than they may be.
fn cut_parts(subject: &ValidationSubject, limits: &PromptLimits) -> BTreeSet<&'static str> {
    let files: usize = subject
        .originals
        .values()
        .map(|content| estimated_tokens(content))
        .sum();
    let trajectory = subject.trajectory.as_ref();
    let parts = [
        (
            "report",
            estimated_tokens(&subject.report.description),
            limits.report,
        ),
        (
            "patch",
            estimated_tokens(&subject.patch_text()),
            limits.patch,
        ),
        ("files", files, limits.files),
        (
            "trajectory",
            trajectory.map_or(0, |all| estimated_tokens(&all.text())),
            limits.trajectory,
        ),
    ];
    parts
        .into_iter()
        .filter(|(_, length, most)| length > most)
        .map(|(part, _, _)| part)
        .collect()
}
