//! Asking, with what is done where log-probabilities are absent.

use super::{Labels, Schema, Shape, Unreadable, sequence_score};
use crate::Prompt;
use crate::metrics::LabelMass;
use atlas_core::{
    ChatMessage, Completion, CompletionRequest, Confidence, ConfidenceSource, Error, ErrorKind,
    FinishReason, LanguageModel, Role, RunContext,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

const LABEL_PERCENT: Prompt = Prompt::new(
    "label-percent",
    1,
    include_str!("prompts/label-percent.v1.md"),
);
const ANSWER_PERCENT: Prompt = Prompt::new(
    "answer-percent",
    1,
    include_str!("prompts/answer-percent.v1.md"),
);

const LABEL_JSON: Prompt = Prompt::new("label-json", 1, include_str!("prompts/label-json.v1.md"));
const CORRECTION: Prompt = Prompt::new("correction", 1, include_str!("prompts/correction.v1.md"));

/// The one field of a label that is asked for as JSON.
const LABEL_FIELD: &str = "answer";

/// Least room for a JSON object with one short field, fence and white space included: where one word was
/// asked for, there may be less.
const JSON_TOKENS: u32 = 64;

/// The form in which one of two labels is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LabelForm {
    /// The word alone, as the question says.
    #[default]
    Word,
    /// A JSON object with one field of two values: the form is added to the question, shown once with
    /// each word, and sent as a schema. For models that answer in sentences or fences whatever they are
    /// told: the probability is read where the value begins ([`Labels::mass_in`]).
    Json,
}

impl LabelForm {
    /// The version of the words that are added to the question; none for the word alone.
    pub fn prompt_version(self) -> Option<String> {
        (self == Self::Json).then(|| LABEL_JSON.version())
    }

    /// The question in this form.
    ///
    /// # Errors
    /// The prompt's.
    pub fn put(self, question: &[ChatMessage], labels: &Labels) -> Result<Vec<ChatMessage>, Error> {
        if self == Self::Word {
            return Ok(question.to_vec());
        }
        let words = json!({"positive": labels.positive(), "negative": labels.negative()});
        joined(question, LABEL_JSON.render(&words)?)
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
    fn is_word(&self) -> bool {
        *self == Self::Word
    }
}

/// The question with more words at its end: some servers refuse two messages of one role in a row.
fn joined(question: &[ChatMessage], more: Vec<ChatMessage>) -> Result<Vec<ChatMessage>, Error> {
    let mut messages = question.to_vec();
    match (messages.last_mut(), more.into_iter().next()) {
        (Some(last), Some(more)) => {
            last.content = format!("{}\n\n{}", last.content, more.content);
            Ok(messages)
        }
        _ => Err(Error::new(
            ErrorKind::InvalidInput,
            "ask for a label:",
            "there is no question",
        )),
    }
}

/// How a model is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct AskOptions {
    /// Most tokens of an answer; default 2,048. A label needs few, but a model that thinks first has
    /// to come to it.
    pub max_tokens: u32,
    /// Alternatives per token where a label is asked for, 1 to 20; default 20.
    pub top_logprobs: u8,
    /// Least probability that must be on the labels together; default 0.5.
    pub mass_floor: f64,
    /// Samples where there are no log-probabilities; default 5, 0 leaves them out.
    pub samples: u32,
    /// Temperature of these samples; default 1. Every other question is greedy.
    pub temperature: f64,
    /// Whether a number that the model says is the last resort; default yes.
    pub verbalised: bool,
    /// How often a model is told what is wrong with an answer of another form than was asked for, and
    /// asked again; default 2. An answer that was cut off would be cut off again, and is not.
    pub corrections: u32,
    /// Most characters of a free text within an answer of a set form, said in the schema; default none.
    /// Not every server takes such a schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_text: Option<u32>,
    /// The form in which a label is asked for; default the word alone.
    #[serde(skip_serializing_if = "LabelForm::is_word")]
    pub label_form: LabelForm,
    /// Seed, for models that take one; the samples have the ones that follow. Default 0.
    pub seed: u64,
}

impl Default for AskOptions {
    fn default() -> Self {
        Self {
            max_tokens: 2048,
            top_logprobs: 20,
            mass_floor: 0.5,
            samples: 5,
            temperature: 1.0,
            verbalised: true,
            corrections: 2,
            max_text: None,
            label_form: LabelForm::default(),
            seed: 0,
        }
    }
}

impl AskOptions {
    /// Those of judges whose decision needs no probability, such as scores: no samples, no number that the model
    /// says. Faults of form count among the judge's own `ask_again`, with all others.
    pub(crate) fn plain() -> Self {
        Self {
            samples: 0,
            verbalised: false,
            corrections: 0,
            ..Self::default()
        }
    }
}

/// What the samples said.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Samples {
    /// How many were asked for.
    pub asked: u32,
    /// How many could be read.
    pub read: u32,
    /// How many of those agreed: with the positive label, or with the first answer.
    pub agreed: u32,
    /// Their temperature.
    pub temperature: f64,
}

/// The probability of a label.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LabelAnswer {
    /// Of the positive label: from log-probabilities its own, whatever the other label has.
    pub probability: f64,
    /// Where it comes from.
    pub source: ConfidenceSource,
    /// The form that it was asked for in.
    #[serde(skip_serializing_if = "LabelForm::is_word")]
    pub form: LabelForm,
    /// Probability on either label, where it comes from log-probabilities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mass: Option<LabelMass>,
    /// The samples, where it comes from them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<Samples>,
    /// What the model answered first.
    pub said: String,
    /// Sources that come earlier in the order, each with the reason why it did not do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub passed_over: Vec<String>,
    /// The model, as it names itself.
    pub model: String,
}

impl LabelAnswer {
    /// The probability as a confidence.
    pub fn confidence(&self) -> Confidence {
        Confidence {
            value: Some(self.probability),
            source: self.source,
        }
    }
}

/// An answer of a set form, with how sure it is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StructuredAnswer {
    /// The fields.
    pub fields: Map<String, Value>,
    /// How likely the answer was; [`ConfidenceSource::Missing`] where nothing tells.
    pub confidence: Confidence,
    /// Probability on either label where the decision's value begins, if that was asked for; or why it
    /// cannot be read. The answer and its confidence stand either way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<Result<LabelMass, String>>,
    /// How often the answer was asked for again because it had another form. Fields and confidence are of the last one.
    #[serde(skip_serializing_if = "is_zero")]
    pub corrections: u32,
    /// The samples, where the confidence comes from them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<Samples>,
    /// Sources that come earlier in the order, each with the reason why it did not do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub passed_over: Vec<String>,
    /// The model, as it names itself.
    pub model: String,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// Asks for one of two labels, and how probable the positive one is.
///
/// From the log-probabilities where the answer begins; else from how often samples at a temperature
/// say it, one call each with a seed of its own (most servers refuse several answers to one call);
/// else from a number from 0 to 100 that the model says. The first that can be read counts.
///
/// # Errors
/// The model's; [`ErrorKind::Model`] with the reason of every source where none can be read.
///
/// # Cancellation
/// As the model; calls that were made are paid.
pub async fn ask_label(
    cx: &RunContext,
    model: &dyn LanguageModel,
    question: &[ChatMessage],
    labels: &Labels,
    options: &AskOptions,
) -> Result<LabelAnswer, Error> {
    let words = vec![labels.positive().to_owned(), labels.negative().to_owned()];
    let schema = Schema::new([(LABEL_FIELD, Shape::OneOf(words), "the one word")]);
    let mut request = CompletionRequest {
        messages: options.label_form.put(question, labels)?,
        max_tokens: options.max_tokens,
        temperature: 0.0,
        seed: Some(options.seed),
        top_logprobs: Some(options.top_logprobs),
        json_schema: None,
    };
    if options.label_form == LabelForm::Json {
        request.max_tokens = request.max_tokens.max(JSON_TOKENS);
        request.json_schema = Some(schema.to_json_within(options.max_text));
    }
    let first = model.complete(cx, &request).await?;
    let mut answer = LabelAnswer {
        probability: 0.0,
        source: ConfidenceSource::LabelTopLogprobs,
        form: options.label_form,
        mass: None,
        samples: None,
        said: first.text.clone(),
        passed_over: Vec::new(),
        model: first.model.clone(),
    };
    let mass = match options.label_form {
        LabelForm::Word => labels.mass_of(&first, options.mass_floor),
        LabelForm::Json => labels.mass_in(&first, &schema, LABEL_FIELD, options.mass_floor),
    };
    match mass {
        Ok(mass) => {
            // Paper 002, section 3.1.1: the probability of the label itself. A share of both labels would
            // rank an answer that hardly thinks of either above one that is nearly certain.
            answer.probability = mass.positive;
            answer.mass = Some(mass);
            return Ok(answer);
        }
        Err(why) => answer.passed_over.push(format!("log-probabilities: {why}")),
    }
    if options.samples > 0 {
        // With a schema, servers that enforce one keep a model to the words that does not obey by itself.
        let request = CompletionRequest {
            max_tokens: options.max_tokens.max(JSON_TOKENS),
            json_schema: Some(schema.to_json_within(options.max_text)),
            ..request
        };
        let read = |sample: &Completion| match parse(&schema, sample) {
            Ok(fields) => labels.read(fields[LABEL_FIELD].as_str().unwrap_or_default()),
            Err(Unreadable::Truncated) => Err(Unreadable::Truncated),
            Err(_) => labels.read(&sample.text),
        };
        match sampled(cx, model, &request, options, read).await? {
            Ok(samples) => {
                answer.probability = f64::from(samples.agreed) / f64::from(samples.read);
                answer.source = ConfidenceSource::SampleFrequency;
                answer.samples = Some(samples);
                return Ok(answer);
            }
            Err(why) => answer.passed_over.push(format!("samples: {why}")),
        }
    }
    if options.verbalised {
        let addition = LABEL_PERCENT.render(&json!({"label": labels.positive()}))?;
        let messages = joined(question, addition)?;
        match percent(cx, model, messages, options).await? {
            Ok(value) => {
                answer.probability = value;
                answer.source = ConfidenceSource::Verbalised;
                return Ok(answer);
            }
            Err(why) => answer.passed_over.push(format!("a number it says: {why}")),
        }
    }
    Err(Error::new(
        ErrorKind::Model,
        "read the probability of a label:",
        format!(
            "model `{}` gives none that can be read; {}",
            model.name(),
            answer.passed_over.join("; ")
        ),
    ))
}

/// Asks for an answer of a set form. `verdict` names the field that carries the decision: samples
/// agree where they agree in it.
///
/// Confidence is looked for as in [`ask_label`], from the mean log-probability of the whole answer
/// ([`sequence_score`]); where nothing tells, it is [`ConfidenceSource::Missing`] and the answer stands.
///
/// # Errors
/// The model's; [`ErrorKind::Model`] for an answer that is cut off, or has another form even after
/// [`AskOptions::corrections`], naming the fields.
///
/// # Cancellation
/// As the model; calls that were made are paid.
pub async fn ask_structured(
    cx: &RunContext,
    model: &dyn LanguageModel,
    question: &[ChatMessage],
    schema: &Schema,
    verdict: &str,
    options: &AskOptions,
) -> Result<StructuredAnswer, Error> {
    structured(cx, model, question, schema, (verdict, None), options).await
}

/// As [`ask_structured`], where the decision is one of two labels: also reads how probable each was
/// where its value begins ([`Labels::mass_in`]). It is the probability given all that the model wrote
/// before.
///
/// # Errors
/// As [`ask_structured`]; a mass that cannot be read is none.
///
/// # Cancellation
/// As the model; calls that were made are paid.
pub async fn ask_structured_label(
    cx: &RunContext,
    model: &dyn LanguageModel,
    question: &[ChatMessage],
    schema: &Schema,
    verdict: &str,
    labels: &Labels,
    options: &AskOptions,
) -> Result<StructuredAnswer, Error> {
    let decision = (verdict, Some(labels));
    structured(cx, model, question, schema, decision, options).await
}

async fn structured(
    cx: &RunContext,
    model: &dyn LanguageModel,
    question: &[ChatMessage],
    schema: &Schema,
    (verdict, labels): (&str, Option<&Labels>),
    options: &AskOptions,
) -> Result<StructuredAnswer, Error> {
    let request = CompletionRequest {
        messages: question.to_vec(),
        max_tokens: options.max_tokens,
        temperature: 0.0,
        seed: Some(options.seed),
        // The score needs the tokens' own values; the least that every API can be asked for.
        top_logprobs: Some(labels.map_or(1, |_| options.top_logprobs)),
        json_schema: Some(schema.to_json_within(options.max_text)),
    };
    let (first, fields, corrections) =
        corrected(cx, model, request.clone(), schema, options).await?;
    let mut answer = StructuredAnswer {
        confidence: Confidence {
            value: None,
            source: ConfidenceSource::Missing,
        },
        label: labels.map(|labels| {
            let mass = labels.mass_in(&first, schema, verdict, options.mass_floor);
            mass.map_err(|why| why.to_string())
        }),
        corrections,
        samples: None,
        passed_over: Vec::new(),
        model: first.model.clone(),
        fields,
    };
    match sequence_score(&first) {
        Ok(confidence) => {
            answer.confidence = confidence;
            return Ok(answer);
        }
        Err(why) => answer.passed_over.push(format!("log-probabilities: {why}")),
    }
    if options.samples > 0 {
        let decided = answer.fields.get(verdict).cloned();
        let read =
            |sample: &Completion| Ok(parse(schema, sample)?.get(verdict) == decided.as_ref());
        match sampled(cx, model, &request, options, read).await? {
            Ok(samples) => {
                let share = f64::from(samples.agreed) / f64::from(samples.read);
                answer.confidence = Confidence {
                    value: Some(share),
                    source: ConfidenceSource::SampleFrequency,
                };
                answer.samples = Some(samples);
                return Ok(answer);
            }
            Err(why) => answer.passed_over.push(format!("samples: {why}")),
        }
    }
    if options.verbalised {
        let mut messages = question.to_vec();
        messages.push(ChatMessage {
            role: Role::Assistant,
            content: first.text.clone(),
        });
        messages.extend(ANSWER_PERCENT.render(&json!({"field": verdict}))?);
        match percent(cx, model, messages, options).await? {
            Ok(value) => {
                answer.confidence = Confidence {
                    value: Some(value),
                    source: ConfidenceSource::Verbalised,
                };
                return Ok(answer);
            }
            Err(why) => answer.passed_over.push(format!("a number it says: {why}")),
        }
    }
    Ok(answer)
}

/// A text of lines that stand each for itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lines {
    /// The lines that are whole.
    pub text: String,
    /// Whether the answer was cut off, and its last line is left out for that.
    pub is_cut: bool,
}

/// Asks for a list of lines, greedily. Of an answer that runs into the limit of tokens the whole lines count: they were
/// paid for, and each says something of its own.
///
/// # Errors
/// The model's; [`ErrorKind::Model`] for an answer without a whole line.
///
/// # Cancellation
/// As the model.
pub async fn ask_lines(
    cx: &RunContext,
    model: &dyn LanguageModel,
    question: &[ChatMessage],
    options: &AskOptions,
) -> Result<Lines, Error> {
    let request = CompletionRequest {
        messages: question.to_vec(),
        max_tokens: options.max_tokens,
        temperature: 0.0,
        seed: Some(options.seed),
        top_logprobs: None,
        json_schema: None,
    };
    let answer = model.complete(cx, &request).await?;
    let is_cut = answer.finish == FinishReason::Length;
    let text = match answer.text.rsplit_once('\n') {
        Some((whole, _)) if is_cut => whole.trim(),
        None if is_cut => "",
        _ => answer.text.trim(),
    };
    match text {
        "" if is_cut => Err(unreadable(model, &Unreadable::Truncated)),
        "" => Err(unreadable(model, &Unreadable::Empty)),
        text => Ok(Lines {
            text: text.to_owned(),
            is_cut,
        }),
    }
}

/// Asks until the answer has its form, or as often as the options say; gives also how often it asked again.
async fn corrected(
    cx: &RunContext,
    model: &dyn LanguageModel,
    mut request: CompletionRequest,
    schema: &Schema,
    options: &AskOptions,
) -> Result<(Completion, Map<String, Value>, u32), Error> {
    let mut corrections = 0;
    loop {
        let answer = model.complete(cx, &request).await?;
        match parse(schema, &answer) {
            Ok(fields) => return Ok((answer, fields, corrections)),
            Err(why) if corrections == options.corrections || why == Unreadable::Truncated => {
                return Err(unreadable(model, &why));
            }
            Err(why) => {
                corrections += 1;
                let correction = CORRECTION.render(&json!({"why": why.to_string()}))?;
                // An empty message is refused by some servers.
                let said = match answer.text.trim() {
                    "" => "(nothing)".to_owned(),
                    text => text.to_owned(),
                };
                request.messages.push(ChatMessage {
                    role: Role::Assistant,
                    content: said,
                });
                request.messages.extend(correction);
            }
        }
    }
}

fn unreadable(model: &dyn LanguageModel, why: &Unreadable) -> Error {
    Error::new(
        ErrorKind::Model,
        "read the answer of model",
        format!("`{}`", model.name()),
    )
    .with_source(why.clone())
}

fn parse(schema: &Schema, answer: &Completion) -> Result<Map<String, Value>, Unreadable> {
    if answer.finish == FinishReason::Length {
        return Err(Unreadable::Truncated);
    }
    schema.parse(&answer.text)
}

/// Asks the same again, at a temperature. More than half of the samples must be readable.
async fn sampled(
    cx: &RunContext,
    model: &dyn LanguageModel,
    request: &CompletionRequest,
    options: &AskOptions,
    read: impl Fn(&Completion) -> Result<bool, Unreadable>,
) -> Result<Result<Samples, Unreadable>, Error> {
    let mut samples = Samples {
        asked: options.samples,
        read: 0,
        agreed: 0,
        temperature: options.temperature,
    };
    let mut first = None;
    for number in 1..=options.samples {
        let again = CompletionRequest {
            temperature: options.temperature,
            seed: Some(options.seed.wrapping_add(u64::from(number))),
            top_logprobs: None,
            ..request.clone()
        };
        match read(&model.complete(cx, &again).await?) {
            Ok(agrees) => {
                samples.read += 1;
                samples.agreed += u32::from(agrees);
            }
            Err(why) => {
                first.get_or_insert(why);
            }
        }
    }
    Ok(match first {
        Some(why) if samples.read * 2 <= samples.asked => Err(Unreadable::Samples {
            read: samples.read,
            asked: samples.asked,
            first: why.to_string(),
        }),
        _ => Ok(samples),
    })
}

/// Asks for a whole number from 0 to 100 and gives it as a share.
async fn percent(
    cx: &RunContext,
    model: &dyn LanguageModel,
    messages: Vec<ChatMessage>,
    options: &AskOptions,
) -> Result<Result<f64, Unreadable>, Error> {
    let schema = Schema::new([("percent", Shape::Number(0.0, 100.0), "from 0 to 100")]);
    let request = CompletionRequest {
        messages,
        max_tokens: options.max_tokens.max(JSON_TOKENS),
        temperature: 0.0,
        seed: Some(options.seed),
        top_logprobs: None,
        json_schema: Some(schema.to_json_within(options.max_text)),
    };
    let answer = model.complete(cx, &request).await?;
    Ok(
        parse(&schema, &answer)
            .map(|fields| fields["percent"].as_f64().unwrap_or_default() / 100.0),
    )
}
