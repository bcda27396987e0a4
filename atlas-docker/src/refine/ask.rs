//! One correction by a model: it may look at the repository first, then it writes a plan.

use super::answer::{self, Said};
use super::prompt::{self, Asked};
use super::tools::RepositoryTools;
use super::{Loop, Trouble};
use atlas_core::{
    AttemptOrigin, ChatMessage, Completion, CompletionRequest, EnvironmentPlan, Error, ErrorKind,
    LanguageModel, Role,
};
use std::sync::Arc;

/// What came of asking.
pub(super) enum Correction {
    /// A plan to try.
    Plan(Box<EnvironmentPlan>, AttemptOrigin),
    /// There is no model, or its corrections in this phase are used up.
    None,
    /// The budget ended before the model had answered: what was spent of it.
    BudgetEnded(String),
}

/// The model's turn in a conversation.
enum Turn {
    /// It wants to know no more.
    Answer(Completion, u32),
    BudgetEnded(String),
}

impl Loop<'_> {
    /// A model's plan for this trouble. What is no plan is sent back with the reason, as a correction of
    /// its own; questions about the repository are none.
    pub(super) async fn ask(
        &mut self,
        plan: Option<&EnvironmentPlan>,
        trouble: &Trouble,
    ) -> Result<Correction, Error> {
        let Some(model) = self.by.model.clone() else {
            return Ok(Correction::None);
        };
        let tools = self.tools().await?;
        let offers = tools.as_ref().map(|tools| tools.offers());
        let mut request = prompt::request(&Asked {
            repository: self.repository,
            tree: &self.tree,
            known_parsers: &self.by.options.known_parsers,
            plan,
            phase: trouble.phase,
            reason: &trouble.reason,
            text: &trouble.text,
            options: &self.by.refine,
            tools: offers.as_deref().unwrap_or_default(),
        });
        loop {
            let number = self.asked.entry(trouble.phase).or_default();
            if *number >= self.by.refine.corrections {
                return Ok(Correction::None);
            }
            let correction = *number + 1;
            let turn = self
                .converse(&*model, tools.as_deref(), &mut request)
                .await?;
            let (answer, questions) = match turn {
                Turn::Answer(answer, questions) => (answer, questions),
                Turn::BudgetEnded(why) => return Ok(Correction::BudgetEnded(why)),
            };
            // Only what was answered is a correction.
            self.asked.insert(trouble.phase, correction);
            let known = &self.by.options.known_parsers;
            match answer::plan(&answer, plan, known, &self.tree) {
                Ok(plan) => {
                    let origin = AttemptOrigin::Model {
                        phase: trouble.phase,
                        correction,
                        questions,
                        model: answer.model,
                    };
                    return Ok(Correction::Plan(Box::new(plan), origin));
                }
                Err(why) => {
                    tracing::info!(why, correction, "the model's answer is no plan");
                    let again =
                        format!("This cannot be used: {why}. Answer again with the whole plan.");
                    say(&mut request, answer.text, again);
                }
            }
        }
    }

    /// The tools over the repository, where there are some.
    async fn tools(&self) -> Result<Option<Arc<dyn RepositoryTools>>, Error> {
        match &self.by.tools {
            Some(source) if self.by.refine.tool_rounds > 0 => {
                source.open(self.repository).await.map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Answers the model's questions until it has none, or has asked as many as it may.
    async fn converse(
        &self,
        model: &dyn LanguageModel,
        tools: Option<&dyn RepositoryTools>,
        request: &mut CompletionRequest,
    ) -> Result<Turn, Error> {
        let most = self.by.refine.tool_rounds;
        let mut questions = 0;
        loop {
            self.cx.check("ask the model")?;
            self.cx.progress.phase("ask the model");
            let answer = match model.complete(self.cx, request).await {
                Err(why) if why.kind() == ErrorKind::BudgetExceeded => {
                    return Ok(Turn::BudgetEnded(why.chain()));
                }
                other => other?,
            };
            let (Some(tools), Said::Question(asked)) = (tools, answer::read(&answer)) else {
                return Ok(Turn::Answer(answer, questions));
            };
            // Who asks on after it was told so has given no plan.
            if questions > most {
                return Ok(Turn::Answer(answer, most));
            }
            questions += 1;
            let told = match asked {
                _ if questions > most => format!(
                    "No more questions: all {most} of this correction were asked. Answer with the plan now."
                ),
                Err(why) => format!("This question cannot be read: {why}."),
                Ok((tool, arguments)) => {
                    tracing::debug!(tool, questions, "the model looks at the repository");
                    match tools.call(&tool, arguments).await {
                        Ok(said) => {
                            let said = said.to_string();
                            format!("{tool} says:\n{}", self.bounded(&said))
                        }
                        Err(why) => format!("{tool} is refused: {}", self.bounded(&why)),
                    }
                }
            };
            say(request, answer.text, told);
        }
    }

    /// A tool's answer, cut where it is too long for the conversation.
    fn bounded(&self, said: &str) -> String {
        let most = self.by.refine.tool_bytes;
        if said.len() <= most {
            return said.to_owned();
        }
        format!(
            "{}\n… cut after {most} of {} bytes: ask for fewer lines, entries or matches",
            prompt::first(said, most),
            said.len()
        )
    }
}

/// Appends an answer, and what is said to it.
fn say(request: &mut CompletionRequest, answer: String, said: String) {
    for (role, content) in [(Role::Assistant, answer), (Role::User, said)] {
        request.messages.push(ChatMessage { role, content });
    }
}
