//! The critics that ask a model.

use super::CriticLimits;
use crate::Prompt;
use crate::answer::{AskOptions, Labels, Schema, Shape, ask_structured, ask_structured_label};
use crate::metrics::{LowConfidenceRule, TestPrediction};
use crate::validation::{cut_middle, estimated_tokens, share};
use crate::variant::{BaseFiles, Rendered, Variant, render};
use async_trait::async_trait;
use atlas_core::{
    ChatMessage, Confidence, ConfidenceSource, Error, ErrorKind, Evidence, Judge, Judgement,
    LanguageModel, Patch, PatchError, RunContext, Subject,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Mutex, PoisonError};

const ISOLATED: Prompt = Prompt::new(
    "critic-isolated",
    1,
    include_str!("prompts/critic-isolated.v1.md"),
);
const HOLISTIC: Prompt = Prompt::new(
    "critic-holistic",
    1,
    include_str!("prompts/critic-holistic.v1.md"),
);
const EQUIVALENCE: Prompt = Prompt::new(
    "critic-equivalence",
    1,
    include_str!("prompts/critic-equivalence.v1.md"),
);
const PROBLEM: Prompt = Prompt::new(
    "critic-problem",
    1,
    include_str!("prompts/critic-problem.v1.md"),
);

/// What a critic looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CriticMode {
    /// One unseen test a call: the paper's own critic.
    #[default]
    Isolated,
    /// All unseen tests in one call.
    Holistic,
    /// No test, but the gold patch: do both do the same?
    ChangeAware,
    /// Neither: only the problem statement.
    Problem,
    /// The problem statement and the hints.
    ProblemHints,
}

impl CriticMode {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Isolated,
        Self::Holistic,
        Self::ChangeAware,
        Self::Problem,
        Self::ProblemHints,
    ];

    /// A stable word for JSON and command lines.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Isolated => "isolated",
            Self::Holistic => "holistic",
            Self::ChangeAware => "change-aware",
            Self::Problem => "problem",
            Self::ProblemHints => "problem-hints",
        }
    }

    fn prompt(self) -> Prompt {
        match self {
            Self::Isolated => ISOLATED,
            Self::Holistic => HOLISTIC,
            Self::ChangeAware => EQUIVALENCE,
            Self::Problem | Self::ProblemHints => PROBLEM,
        }
    }
}

/// The prompts of all modes, for reading.
pub fn critic_prompts() -> [Prompt; 4] {
    [ISOLATED, HOLISTIC, EQUIVALENCE, PROBLEM]
}

/// How a critic is set up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CriticOptions {
    /// What it looks at. Default [`CriticMode::Isolated`].
    pub mode: CriticMode,
    /// How patches are shown, the gold patch too. Default [`Variant::Function`], the paper's best.
    pub variant: Variant,
    /// When an isolated critic that says `pass` is not believed; none believes it always. Default the
    /// paper's: at most 65, and more than 50 characters of test.
    pub rule: Option<LowConfidenceRule>,
    /// How the model is asked. Default greedily, at most 2,048 tokens, and again where the form of the
    /// answer is wrong; its `samples` and `verbalised` are not used, since the answer itself says a
    /// confidence.
    pub ask: AskOptions,
    /// Whether the probability of `pass` is also read where the verdict begins. Default no: some APIs
    /// refuse to be asked for alternatives. It changes neither the verdict nor its confidence.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub label_logprobs: bool,
    /// How long the parts of a prompt may be. Default: as long as they are.
    #[serde(skip_serializing_if = "CriticLimits::is_none")]
    pub limits: CriticLimits,
}

impl Default for CriticOptions {
    fn default() -> Self {
        Self {
            mode: CriticMode::default(),
            variant: Variant::Function,
            rule: Some(LowConfidenceRule::default()),
            ask: AskOptions::default(),
            label_logprobs: false,
            limits: CriticLimits::default(),
        }
    }
}

/// A critic over a model. Its labels, what it reads from a subject and the order of its modes stand
/// at the [module](crate::critic).
///
/// The confidence is what the model says, 0 to 100, over 100: its confidence in what *it* said, also
/// where the rule turns a `pass` into a `fail`.
///
/// Details: `mode`, `variant`, `variant_notes` (files that could not be shown that way), `cut` (parts that were too long),
/// `prompt_version`, `model`, `said` (the verdict before the rule), `confidence_percent`,
/// `answer_confidence` (from log-probabilities, if there were some); with
/// [`CriticOptions::label_logprobs`] also `pass_probability` and `label_mass`, or `label_passed_over`
/// with the reason; for the isolated critic also
/// `test`, `test_length` in characters and `rule_applied`.
#[derive(Debug)]
pub struct Critic<M> {
    model: M,
    options: CriticOptions,
    id: String,
    /// Patches as they were shown last: an isolated critic is asked about many tests of each.
    shown: Mutex<VecDeque<Shown>>,
}

/// A patch as it was shown, with a hash of the files that it was shown with.
#[derive(Debug)]
struct Shown {
    patch: Vec<u8>,
    files: u64,
    rendered: Rendered,
}

/// How many shown patches a critic remembers: more than are asked about at once.
const REMEMBERED: usize = 64;

impl<M: LanguageModel> Critic<M> {
    /// A critic.
    pub fn new(model: M, options: CriticOptions) -> Self {
        let (mode, variant) = (options.mode.as_str(), options.variant.as_str());
        Self {
            id: format!("critic-{mode}-{variant}"),
            model,
            options,
            shown: Mutex::default(),
        }
    }

    /// How it is set up.
    pub fn options(&self) -> &CriticOptions {
        &self.options
    }

    /// What the model is told, and files that could not be shown in the variant.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] naming what the subject lacks, or where its patch is none.
    pub fn prompt(&self, subject: &Subject) -> Result<(Vec<ChatMessage>, Vec<String>), Error> {
        let question = self.question(subject)?;
        Ok((question.messages, question.notes))
    }

    fn question(&self, subject: &Subject) -> Result<Question, Error> {
        let limits = &self.options.limits;
        let mut cut = Vec::new();
        let mut fit = |part: &'static str, text: String, limit: Option<usize>| match limit {
            Some(limit) if estimated_tokens(&text) > limit => {
                cut.push(part);
                cut_middle(&text, limit)
            }
            _ => text,
        };
        let files = base_files(subject)?;
        let patch = subject
            .patch
            .as_ref()
            .ok_or_else(|| lacks(subject, "a candidate patch"))?;
        let (shown, form, mut notes) = self.show(subject, "the candidate patch", patch, &files)?;
        let shown = fit("patch", shown, limits.patch);
        let mut values = json!({ "patch": shown, "form": form });
        let mut set = |name: &str, value: Value| {
            if let Value::Object(map) = &mut values {
                map.insert(name.to_owned(), value);
            }
        };
        match self.options.mode {
            CriticMode::Isolated => {
                let test = TestAttachment::one(subject)?;
                let source = fit("tests", test.source, limits.tests);
                set("test", json!(source));
                set("test_path", json!(test.path));
            }
            CriticMode::Holistic => {
                let mut tests = TestAttachment::all(subject)?;
                let lengths = tests.iter().map(|test| estimated_tokens(&test.source));
                let mut lengths: Vec<usize> = lengths.collect();
                lengths.sort_unstable();
                let each = limits.tests.map(|limit| share(&lengths, limit));
                for test in &mut tests {
                    test.source = fit("tests", std::mem::take(&mut test.source), each);
                }
                set("tests", json!(tests));
            }
            CriticMode::ChangeAware => {
                let gold = subject
                    .instance
                    .gold_patch()
                    .map_err(|why| row(subject, why))?;
                let (gold, form, more) = self.show(subject, "the gold patch", &gold, &files)?;
                set("gold", json!(fit("gold", gold, limits.gold)));
                set("gold_form", json!(form));
                notes.extend(more);
            }
            CriticMode::Problem | CriticMode::ProblemHints => {
                let column = |name: &str| {
                    let text = subject
                        .instance
                        .text(name)
                        .map_err(|why| row(subject, why))?;
                    Ok::<_, Error>(text.unwrap_or_default().to_owned())
                };
                let problem = column("problem_statement")?;
                if problem.trim().is_empty() {
                    return Err(lacks(subject, "a `problem_statement`"));
                }
                let with_hints = self.options.mode == CriticMode::ProblemHints;
                let hints = if with_hints {
                    column("hints_text")?
                } else {
                    String::new()
                };
                set("problem", json!(fit("problem", problem, limits.problem)));
                let hints = fit("hints", hints.trim().to_owned(), limits.hints);
                set("hints", json!(hints));
            }
        }
        cut.dedup();
        Ok(Question {
            messages: self.options.mode.prompt().render(&values)?,
            notes,
            cut,
        })
    }

    /// A patch in the variant, and how its title tells what it is.
    fn show(
        &self,
        subject: &Subject,
        what: &str,
        patch: &Patch,
        files: &BaseFiles,
    ) -> Result<(String, &'static str, Vec<String>), Error> {
        let shown = self.rendered(patch, files).map_err(|why| {
            Error::new(
                ErrorKind::InvalidInput,
                format!("read {what} of"),
                name(subject),
            )
            .with_source(why)
        })?;
        let form = match self.options.variant {
            Variant::Default => ", as a diff",
            Variant::Function => ", as a diff with the whole functions around it",
            Variant::PostCommit => ", as the functions that it leaves behind",
        };
        let text = if patch.as_bytes().trim_ascii().is_empty() {
            "(nothing is changed)".to_owned()
        } else {
            shown.text()
        };
        Ok((text, form, shown.notes))
    }
}

impl<M> Critic<M> {
    /// The patch in the variant, rendered once.
    fn rendered(&self, patch: &Patch, files: &BaseFiles) -> Result<Rendered, PatchError> {
        let mut hasher = DefaultHasher::new();
        files.hash(&mut hasher);
        let hash = hasher.finish();
        let known = || self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |one: &&Shown| one.files == hash && one.patch == patch.as_bytes();
        if let Some(one) = known().iter().find(is_it) {
            return Ok(one.rendered.clone());
        }
        let rendered = render(patch, files, self.options.variant)?;
        let mut shown = known();
        if shown.len() == REMEMBERED {
            shown.pop_front();
        }
        shown.push_back(Shown {
            patch: patch.as_bytes().to_vec(),
            files: hash,
            rendered: rendered.clone(),
        });
        Ok(rendered)
    }
}

/// What a critic asks.
struct Question {
    messages: Vec<ChatMessage>,
    /// Files that could not be shown in the variant.
    notes: Vec<String>,
    /// Parts that were too long.
    cut: Vec<&'static str>,
}

#[async_trait]
impl<M: LanguageModel> Judge for Critic<M> {
    fn id(&self) -> &str {
        &self.id
    }

    async fn judge(&self, cx: &RunContext, subject: &Subject) -> Result<Judgement, Error> {
        let Question {
            messages: question,
            notes,
            cut,
        } = self.question(subject)?;
        let ask = AskOptions {
            samples: 0,
            verbalised: false,
            ..self.options.ask.clone()
        };
        let (form, field) = (schema(), "verdict");
        let answer = if self.options.label_logprobs {
            let labels = Labels::new("pass", "fail").expect("two words with different letters");
            ask_structured_label(cx, &self.model, &question, &form, field, &labels, &ask).await?
        } else {
            ask_structured(cx, &self.model, &question, &form, field, &ask).await?
        };
        let field = |name: &str| answer.fields.get(name);
        let word = |name: &str| field(name).and_then(Value::as_str).unwrap_or_default();
        let percent = field("confidence")
            .and_then(Value::as_f64)
            .unwrap_or_default();
        let said = word("verdict").to_owned();
        let mut label = said.clone();
        let mut details = Map::new();
        details.insert("mode".to_owned(), json!(self.options.mode));
        details.insert("variant".to_owned(), json!(self.options.variant));
        if !notes.is_empty() {
            details.insert("variant_notes".to_owned(), json!(notes));
        }
        if !cut.is_empty() {
            details.insert("cut".to_owned(), json!(cut));
        }
        let version = self.options.mode.prompt().version();
        details.insert("prompt_version".to_owned(), json!(version));
        details.insert("model".to_owned(), json!(answer.model));
        details.insert("said".to_owned(), json!(said));
        details.insert("confidence_percent".to_owned(), json!(percent));
        if answer.confidence.value.is_some() {
            details.insert("answer_confidence".to_owned(), json!(answer.confidence));
        }
        match answer.label {
            None => {}
            Some(Ok(mass)) => {
                details.insert("pass_probability".to_owned(), json!(mass.probability()));
                details.insert("label_mass".to_owned(), json!(mass.total()));
            }
            Some(Err(why)) => {
                details.insert("label_passed_over".to_owned(), json!(why));
            }
        }
        if self.options.mode == CriticMode::Isolated {
            let test = TestAttachment::one(subject)?;
            let length = test.source.chars().count() as u64;
            let prediction = TestPrediction {
                passes: said == "pass",
                confidence: percent,
                length: Some(length),
            };
            let passes = match &self.options.rule {
                Some(rule) => rule.apply(&prediction),
                None => prediction.passes,
            };
            if passes { "pass" } else { "fail" }.clone_into(&mut label);
            details.insert("test".to_owned(), json!(test.id));
            details.insert("test_length".to_owned(), json!(length));
            let is_applied = passes != prediction.passes;
            details.insert("rule_applied".to_owned(), json!(is_applied));
        }
        Ok(Judgement {
            label,
            confidence: Confidence {
                value: Some(percent / 100.0),
                source: ConfidenceSource::Verbalised,
            },
            reasoning: word("reasoning").to_owned(),
            evidence: vec![Evidence::of("the model's verdict", said)],
            details,
        })
    }
}

/// Reasoning first: a verdict that is written first cannot follow from it.
fn schema() -> Schema {
    let verdicts = Shape::OneOf(vec!["pass".to_owned(), "fail".to_owned()]);
    Schema::new([
        ("reasoning", Shape::Text, "the steps, in a few sentences"),
        ("verdict", verdicts, ""),
        (
            "confidence",
            Shape::Number(0.0, 100.0),
            "how sure, 0 is a guess, 100 is certain",
        ),
    ])
}

/// A test in a subject's attachments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TestAttachment {
    pub(super) id: String,
    pub(super) source: String,
    #[serde(default)]
    pub(super) path: String,
}

impl TestAttachment {
    fn one(subject: &Subject) -> Result<Self, Error> {
        let test: Self = attachment(subject, "test")?;
        test.checked(subject)
    }

    fn all(subject: &Subject) -> Result<Vec<Self>, Error> {
        let tests: Vec<Self> = attachment(subject, "tests")?;
        if tests.is_empty() {
            return Err(lacks(subject, "any test: nothing follows from no test"));
        }
        tests
            .into_iter()
            .map(|test| test.checked(subject))
            .collect()
    }

    fn checked(self, subject: &Subject) -> Result<Self, Error> {
        if self.source.trim().is_empty() {
            return Err(lacks(
                subject,
                &format!("the source of the test `{}`", self.id),
            ));
        }
        Ok(self)
    }
}

/// The attachment `files`.
fn base_files(subject: &Subject) -> Result<BaseFiles, Error> {
    if !subject.attachments.contains_key("files") {
        return Ok(BaseFiles::new());
    }
    let files: std::collections::BTreeMap<String, String> = attachment(subject, "files")?;
    let bytes = |(path, text): (String, String)| (path, text.into_bytes());
    Ok(files.into_iter().map(bytes).collect())
}

fn attachment<T: for<'de> Deserialize<'de>>(subject: &Subject, key: &str) -> Result<T, Error> {
    let value = subject
        .attachments
        .get(key)
        .ok_or_else(|| lacks(subject, &format!("the attachment `{key}`")))?;
    T::deserialize(value).map_err(|why| {
        let what = format!("read the attachment `{key}` of");
        Error::new(ErrorKind::InvalidInput, what, name(subject)).with_source(why)
    })
}

pub(super) fn name(subject: &Subject) -> String {
    match subject.instance.id() {
        Ok(id) => format!("`{id}`"),
        Err(_) => "a row without a name".to_owned(),
    }
}

pub(super) fn lacks(subject: &Subject, what: &str) -> Error {
    let subject = format!("{} lacks {what}", name(subject));
    Error::new(ErrorKind::InvalidInput, "ask a critic:", subject)
}

pub(super) fn row(subject: &Subject, why: atlas_core::InstanceError) -> Error {
    Error::new(ErrorKind::InvalidInput, "read the row", name(subject)).with_source(why)
}
