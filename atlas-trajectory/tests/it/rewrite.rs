//! Thoughts are written anew by a model that is never shown the hint.

use crate::samples::{HINT, honest};
use async_trait::async_trait;
use atlas_core::{
    Completion, CompletionRequest, Decision, Error, FinishReason, LanguageModel, RunContext,
};
use atlas_llm::{Rule, Scripted};
use atlas_trajectory::{
    Attempt, Content, HintTerms, RewriteOptions, RewrittenThoughts, Trajectory, TrajectoryGate,
    rewrite_thoughts,
};
use std::sync::Mutex;

/// Keeps what a model was asked.
#[derive(Debug)]
struct Heard {
    model: Scripted,
    questions: Mutex<Vec<CompletionRequest>>,
}

#[async_trait]
impl LanguageModel for Heard {
    fn name(&self) -> &str {
        self.model.name()
    }

    async fn complete(
        &self,
        cx: &RunContext,
        request: &CompletionRequest,
    ) -> Result<Completion, Error> {
        self.questions
            .lock()
            .expect("nobody panicked")
            .push(request.clone());
        self.model.complete(cx, request).await
    }
}

/// The honest attempt with a message and a reasoning that speak of the hint.
fn guided() -> Trajectory {
    let mut found = honest();
    found.steps[2].message = Content::Text(format!(
        "The hint says:\n{HINT}\nSo the parameter is missing."
    ));
    found.steps[3].reasoning_content = Some("As hinted, it passes.".to_owned());
    found
}

/// What the answers make of it, what was asked, and what the gate says.
async fn rewritten(rules: Vec<Rule>) -> (Trajectory, Vec<CompletionRequest>, Decision) {
    let cx = RunContext::new("rewrite");
    let model = Heard {
        model: Scripted::new(rules),
        questions: Mutex::default(),
    };
    let terms = HintTerms::new(HINT, &[]);
    let found = rewrite_thoughts(&cx, &model, &guided(), &terms, &RewriteOptions::default())
        .await
        .expect("an answer");
    assert!(model.model.unused().is_empty());
    let attempt = Attempt {
        trajectory: found.clone(),
        hint: HINT.to_owned(),
        original: Some(guided()),
    };
    let verdict = RewrittenThoughts::default()
        .check(&cx, &attempt)
        .await
        .expect("an answer");
    (
        found,
        model.questions.into_inner().expect("nobody panicked"),
        verdict.decision,
    )
}

#[tokio::test]
async fn thoughts_that_speak_of_the_hint_are_replaced_and_the_gate_accepts() {
    let rules = vec![
        Rule::text("parameter is missing", " total lacks the tax.\n"),
        Rule::text("it passes", "It should pass."),
    ];
    let (found, questions, decision) = rewritten(rules).await;
    assert_eq!(found.steps[2].message.text(), "total lacks the tax.");
    assert_eq!(
        found.steps[3].reasoning_content.as_deref(),
        Some("It should pass.")
    );
    assert_eq!(decision, Decision::Accept);
    assert_eq!(questions.len(), 2, "nothing is asked about other thoughts");
    for question in &questions {
        let shown: String = question
            .messages
            .iter()
            .map(|said| said.content.as_str())
            .collect();
        assert!(
            !shown.contains("def total(items, tax)"),
            "the hint is not shown: {shown}"
        );
        assert!(
            !shown.contains("Repair the cart"),
            "nor is what the agent was told"
        );
    }
}

#[tokio::test]
async fn answers_that_still_tell_are_asked_for_again_with_another_seed() {
    let mut cut = Rule::text("parameter is missing", "total lacks");
    cut.answer.finish = FinishReason::Length;
    let rules = vec![
        Rule::text("parameter is missing", "Without the hint one sees it."),
        cut,
        Rule::text("parameter is missing", "total lacks the tax."),
        Rule::text("it passes", "It should pass."),
    ];
    let (found, questions, decision) = rewritten(rules).await;
    assert_eq!(found.steps[2].message.text(), "total lacks the tax.");
    assert_eq!(decision, Decision::Accept);
    let seeds: Vec<_> = questions.iter().map(|question| question.seed).collect();
    assert_eq!(seeds, [Some(0), Some(1), Some(2), Some(0)]);
}

#[tokio::test]
async fn a_thought_that_no_answer_betters_stays_and_is_refused() {
    let mut rules = Vec::new();
    for answer in ["The hint.", "", "As the hints say."] {
        rules.push(Rule::text("parameter is missing", answer));
    }
    rules.push(Rule::text("it passes", "It should pass."));
    let (found, _, decision) = rewritten(rules).await;
    assert_eq!(found.steps[2], guided().steps[2]);
    assert_eq!(decision, Decision::Reject);
}

#[tokio::test]
async fn a_model_that_fails_is_an_error() {
    let cx = RunContext::new("rewrite");
    let terms = HintTerms::new(HINT, &[]);
    let options = RewriteOptions::default();
    let done = rewrite_thoughts(&cx, &Scripted::new([]), &guided(), &terms, &options).await;
    assert!(done.is_err(), "nobody answers");
    let none = rewrite_thoughts(&cx, &Scripted::new([]), &honest(), &terms, &options).await;
    assert_eq!(none.expect("an answer"), honest(), "nothing to ask about");
}
