//! Answers that follow their schema, whatever the server claims.

use crate::failure::{CallFailure, FailureCause, add, shorten};
use async_trait::async_trait;
use atlas_core::{
    ChatMessage, Completion, CompletionRequest, Error, ErrorKind, FinishReason, LanguageModel,
    Role, RunContext, Usage,
};
use boon::{Compiler, SchemaIndex, Schemas, UrlLoader, ValidationError};
use serde_json::Value;

/// Validates the answer to a question with a JSON schema, and asks again, with what is wrong, where
/// the answer does not follow it. A question without a schema passes through.
///
/// The text of the answer is the JSON alone, without a code fence around it; its log-probabilities
/// are left as they came, those of a fence included. Its usage is that of all asks together.
///
/// Stands outside of [`Budget`](crate::Budget) and [`Recorded`](crate::Recorded): each ask counts,
/// and is recorded, by itself.
#[derive(Debug)]
pub struct Checked<M> {
    inner: M,
    again: u32,
}

impl<M: LanguageModel> Checked<M> {
    /// Asks at most twice again.
    pub fn new(inner: M) -> Self {
        Self { inner, again: 2 }
    }

    /// Asks at most so often again.
    #[must_use]
    pub fn asking_again(mut self, times: u32) -> Self {
        self.again = times;
        self
    }
}

#[async_trait]
impl<M: LanguageModel> LanguageModel for Checked<M> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn complete(
        &self,
        cx: &RunContext,
        request: &CompletionRequest,
    ) -> Result<Completion, Error> {
        let Some(schema) = &request.json_schema else {
            return self.inner.complete(cx, request).await;
        };
        let validator = Validator::of(schema)?;
        let mut asked = request.clone();
        let mut usage = Usage::default();
        for ask in 0..=self.again {
            let mut answer = self.inner.complete(cx, &asked).await?;
            usage = add(usage, answer.usage);
            let broken = |message: String| {
                let mut failure = CallFailure::new(FailureCause::SchemaBroken, message);
                failure.usage = Some(usage);
                Err(failure.into_error(self.name()))
            };
            let why = match check(&validator, &answer.text) {
                Ok(json) => {
                    let json = json.to_owned();
                    answer.text = json;
                    answer.usage = usage;
                    return Ok(answer);
                }
                Err(why) => why,
            };
            if answer.finish == FinishReason::Length {
                // It would be cut off at the same place.
                return broken(format!(
                    "the answer was cut off after {} tokens, its limit: {why}",
                    asked.max_tokens
                ));
            }
            if ask == self.again {
                return broken(format!("{why}, after {} asks", ask + 1));
            }
            tracing::debug!(
                model = self.name(),
                ask,
                "an answer did not follow its schema"
            );
            asked.messages.push(ChatMessage {
                role: Role::Assistant,
                content: answer.text,
            });
            asked.messages.push(ChatMessage {
                role: Role::User,
                content: format!(
                    "That answer does not follow the schema: {why}. Answer again, with nothing but JSON \
                     that follows it."
                ),
            });
        }
        Err(Error::new(
            ErrorKind::Internal,
            "ask the model",
            "no ask was made",
        ))
    }
}

/// Loads nothing: a schema cannot make it read a file or an address.
struct Nothing;

impl UrlLoader for Nothing {
    fn load(&self, url: &str) -> Result<Value, Box<dyn std::error::Error>> {
        Err(format!("`{url}`: schemas are not loaded from elsewhere").into())
    }
}

/// A schema, ready to hold answers against.
struct Validator {
    schemas: Schemas,
    schema: SchemaIndex,
}

impl Validator {
    fn of(schema: &Value) -> Result<Self, Error> {
        const NAME: &str = "atlas:answer.json";
        let mut compiler = Compiler::new();
        compiler.use_loader(Box::new(Nothing));
        let mut schemas = Schemas::new();
        let refused = |why: boon::CompileError| {
            Error::new(ErrorKind::InvalidInput, "read the answer's schema", "")
                .with_source(why.to_string())
        };
        compiler
            .add_resource(NAME, schema.clone())
            .map_err(refused)?;
        let schema = compiler.compile(NAME, &mut schemas).map_err(refused)?;
        Ok(Self { schemas, schema })
    }
}

/// The JSON in a text that follows the schema, or what is wrong with it.
fn check<'a>(validator: &Validator, text: &'a str) -> Result<&'a str, String> {
    let json = unfenced(text);
    let value: Value = serde_json::from_str(json)
        .map_err(|why| format!("it is no JSON ({why}): `{}`", shorten(text, 200)))?;
    match validator.schemas.validate(&value, validator.schema) {
        Ok(()) => Ok(json),
        Err(why) => {
            let mut problems = Vec::new();
            tell(&why, &mut problems);
            problems.truncate(5);
            Err(problems.join("; "))
        }
    }
}

/// What is wrong, each with its place: the innermost of errors within errors.
fn tell(why: &ValidationError<'_, '_>, problems: &mut Vec<String>) {
    if why.causes.is_empty() {
        let place = why.instance_location.to_string();
        let place = if place.is_empty() {
            "the answer".to_owned()
        } else {
            format!("`{place}`")
        };
        problems.push(format!("{place}: {}", shorten(&why.kind.to_string(), 200)));
    }
    for cause in &why.causes {
        tell(cause, problems);
    }
}

/// The text without white space and one code fence around it.
///
/// Some models put prose before or behind the fence: then the fenced part is taken.
fn unfenced(text: &str) -> &str {
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.starts_with(['{', '[', '"']) {
        return text;
    }
    let Some((_, fenced)) = text.split_once("```") else {
        return text;
    };
    // The fence's first line names the language.
    let Some((_, inside)) = fenced.split_once('\n') else {
        return text;
    };
    inside
        .rsplit_once("```")
        .map_or(inside, |(json, _)| json)
        .trim()
}
