//! Hints as a judge, and the question to a model.

use super::find::{HintFindings, HintNeed, HintReport, HintRule, HintSubject, need};
use super::issue::mentions;
use super::leak::leak_verdict;
use super::surface::{Introduced, Sort};
use crate::Prompt;
use crate::answer::{AskOptions, Schema, Shape, StructuredAnswer, ask_again};
use crate::validation::cut_middle;
use async_trait::async_trait;
use atlas_core::{
    ChatMessage, Confidence, ConfidenceSource, Decision, Error, Evidence, Judge, Judgement,
    LanguageModel, RunContext, Subject,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const NEEDED: Prompt = Prompt::new("hint-needed", 1, include_str!("prompts/hint-needed.v1.md"));

/// Most names of the solution that a model is shown.
const NAMES: usize = 200;

/// How hints are looked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct HintOptions {
    /// How a model is asked.
    pub ask: AskOptions,
    /// How often it is asked again after an answer that cannot be used; default 1.
    pub ask_again: u32,
    /// Whether it is also asked where a rule has said that a hint is needed; it may then add names.
    /// Default no: a rule's word has its proof.
    pub always_ask: bool,
    /// Most tokens, of four bytes, of the problem statement and of the test patch; default 16,000 each.
    pub limit: usize,
}

impl Default for HintOptions {
    fn default() -> Self {
        Self {
            // A second opinion beside the rules: its probability decides nothing.
            ask: AskOptions::plain(),
            ask_again: 1,
            always_ask: false,
            limit: 16_000,
        }
    }
}

/// The prompt, for reading.
pub fn hint_prompt() -> Prompt {
    NEEDED
}

/// Says whether a hint is needed: `needed` or `not_needed`; `refused` where one is needed and what was
/// made tells more than names ([`leak_verdict`]), so that there is none.
///
/// Reads what [`HintSubject::of`] does. Its confidence is a rule's (1) unless a model was asked.
///
/// Details: `report` (the [`HintReport`]), `hint`, `problem_statement` (completed by the hint, where one
/// is needed); with a model also `prompt_version`, `model`, `unknown_names` (names that it said and
/// the gold patch does not bring) and `faults` (answers that could not be used); of a refused hint `leaks`,
/// the verdict with its evidence.
#[derive(Debug)]
pub struct HintJudge<M = Arc<dyn LanguageModel>> {
    model: Option<M>,
    options: HintOptions,
}

impl HintJudge {
    /// Rules only.
    pub fn rules() -> Self {
        Self {
            model: None,
            options: HintOptions::default(),
        }
    }
}

impl<M: LanguageModel> HintJudge<M> {
    /// Rules, then a model.
    pub fn new(model: M, options: HintOptions) -> Self {
        Self {
            model: Some(model),
            options,
        }
    }

    /// What the model is told.
    ///
    /// # Errors
    /// As [`find_hints`](super::find_hints); the prompt's.
    pub fn prompt(&self, subject: &HintSubject) -> Result<Vec<ChatMessage>, Error> {
        self.question(subject, &HintFindings::of(subject)?)
    }

    fn question(
        &self,
        subject: &HintSubject,
        found: &HintFindings,
    ) -> Result<Vec<ChatMessage>, Error> {
        #[derive(Serialize)]
        struct Brought<'i> {
            name: &'i str,
            signature: &'i str,
            path: &'i str,
        }
        let tests = String::from_utf8_lossy(subject.test_patch.as_bytes()).into_owned();
        let names = choosable(&found.introduced).take(NAMES).map(|one| Brought {
            name: &one.name,
            signature: &one.signature,
            path: &one.path,
        });
        NEEDED.render(&json!({
            "issue": cut_middle(&subject.issue, self.options.limit),
            "names": names.collect::<Vec<_>>(),
            "tests": cut_middle(&tests, self.options.limit),
        }))
    }

    /// Adds to `found` what the model says.
    async fn ask(
        &self,
        cx: &RunContext,
        model: &M,
        subject: &HintSubject,
        found: &mut HintFindings,
        details: &mut Map<String, Value>,
    ) -> Result<Confidence, Error> {
        let schema = Schema::new([
            ("reasoning", Shape::Text, "what decides"),
            ("is_hint_needed", Shape::Bool, "whether a hint is needed"),
            (
                "names",
                Shape::List(Box::new(Shape::Text)),
                "the names that need one",
            ),
        ]);
        let question = self.question(subject, found)?;
        let mut by_name: BTreeMap<&str, &Introduced> = BTreeMap::new();
        for one in choosable(&found.introduced) {
            by_name.entry(&one.name).or_insert(one);
        }
        let check = |answer: &StructuredAnswer| {
            let is_needed = answer.fields["is_hint_needed"] == Value::Bool(true);
            let said: BTreeSet<String> = answer.fields["names"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .map(|name| name.trim().trim_matches('`').to_owned())
                .collect();
            let (known, unknown): (BTreeSet<String>, BTreeSet<String>) = said
                .into_iter()
                .partition(|name| by_name.contains_key(name.as_str()));
            match (is_needed, known.is_empty()) {
                (true, true) => Err(
                    "`is_hint_needed` is true, but `names` has none of those that the solution brings".to_owned(),
                ),
                (false, false) => {
                    Err("`is_hint_needed` is false, but `names` is not empty".to_owned())
                }
                _ => Ok((known, unknown)),
            }
        };
        let options = &self.options;
        let agreed = ask_again(
            cx,
            model,
            &question,
            &schema,
            "is_hint_needed",
            &options.ask,
            options.ask_again,
            check,
        )
        .await?;
        agreed.tell(NEEDED, details);
        let (known, unknown) = agreed.value;
        details.insert(
            "reasoning".to_owned(),
            agreed.answer.fields["reasoning"].clone(),
        );
        if !unknown.is_empty() {
            details.insert("unknown_names".to_owned(), json!(unknown));
        }
        let mut added: Vec<HintNeed> = Vec::new();
        for name in known {
            let is_there = found.needs.iter().any(|need| need.name == name);
            if is_there {
                for need in found.needs.iter_mut().filter(|need| need.name == name) {
                    need.rules.insert(HintRule::Model);
                }
            } else if mentions(&subject.issue, &name) {
                found.named.insert(name);
            } else if let Some(one) = by_name.get(name.as_str()) {
                let text = agreed.answer.fields["reasoning"].as_str();
                let proof = Evidence::of("the model's answer", text.unwrap_or_default());
                added.push(need(one, BTreeSet::from([HintRule::Model]), vec![proof]));
            }
        }
        found.needs.extend(added);
        Ok(agreed.answer.confidence)
    }
}

/// What a hint can be made of.
fn choosable(all: &[Introduced]) -> impl Iterator<Item = &Introduced> {
    all.iter().filter(|one| one.sort != Sort::File)
}

#[async_trait]
impl<M: LanguageModel> Judge for HintJudge<M> {
    fn id(&self) -> &'static str {
        "hints"
    }

    async fn judge(&self, cx: &RunContext, subject: &Subject) -> Result<Judgement, Error> {
        let subject = HintSubject::of(subject)?;
        let mut found = HintFindings::of(&subject)?;
        let mut confidence = Confidence {
            value: Some(1.0),
            source: ConfidenceSource::Rule,
        };
        let mut details = Map::new();
        if let Some(model) = &self.model
            && (self.options.always_ask || found.needs.is_empty())
        {
            let said = self
                .ask(cx, model, &subject, &mut found, &mut details)
                .await?;
            // Names that a rule has shown do not become less sure.
            let is_shown = |need: &HintNeed| need.rules.iter().any(|rule| *rule != HintRule::Model);
            if !found.needs.iter().any(is_shown) {
                confidence = said;
            }
        }
        let mut report = HintReport::of(found.needs, found.named, found.notes);
        let reasoning = if report.is_hint_needed {
            let names: Vec<&str> = report.needs.iter().map(|need| need.name.as_str()).collect();
            format!(
                "the tests need names that the issue does not tell: {}",
                names.join(", ")
            )
        } else {
            "the tests need no name that the issue does not tell".to_owned()
        };
        let check = leak_verdict(&subject, &report.hint)?;
        let is_refused = check.decision == Decision::Reject;
        if is_refused {
            report.hint.clear();
        } else if report.is_hint_needed {
            details.insert(
                "problem_statement".to_owned(),
                json!(report.appended_to(&subject.issue)),
            );
        }
        details.insert("hint".to_owned(), json!(report.hint));
        details.insert("report".to_owned(), json!(report));
        let label = match (report.is_hint_needed, is_refused) {
            (true, true) => "refused",
            (true, false) => "needed",
            (false, _) => "not_needed",
        };
        let mut evidence: Vec<Evidence> = report
            .needs
            .into_iter()
            .flat_map(|need| need.evidence)
            .collect();
        if is_refused {
            let leaks = check.findings.iter();
            evidence = leaks.flat_map(|leak| leak.evidence.clone()).collect();
            details.insert("leaks".to_owned(), json!(check));
        }
        Ok(Judgement {
            label: label.to_owned(),
            confidence,
            reasoning,
            evidence,
            details,
        })
    }
}
