//! A patch judged test by test.

use super::extract::UnseenTest;
use super::judge::lacks;
use crate::ensemble::MemberWord;
use crate::metrics::{NoTests, TestPrediction, aggregate_critic};
use atlas_core::{
    Confidence, ConfidenceSource, Error, ErrorKind, Judge, Judgement, RunContext, Subject,
};
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::sync::atomic::{AtomicBool, Ordering};

/// What a critic says of one test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TestCritique {
    /// The test, by its first id, or by its place where no id is known.
    pub id: String,
    /// Every id that stands for it.
    pub ids: Vec<String>,
    /// Whether the critic says that it passes, before any rule.
    pub said: bool,
    /// Whether it is taken to pass, after the critic's rule.
    pub predicted: bool,
    /// 0 to 100, where the critic says one.
    pub confidence: Option<f64>,
    /// Characters of its source.
    pub length: u64,
    /// Why.
    pub reasoning: String,
    /// What each member said, where several critics are one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<MemberWord>,
    /// Parts of its question that were too long, and cut.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut: Vec<String>,
}

/// What a critic says of a patch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PatchCritique {
    /// The critic.
    pub critic: String,
    /// The tests, in the order given.
    pub tests: Vec<TestCritique>,
    /// Whether all of them are said to pass.
    pub build_success: bool,
    /// The share that is said to pass: the progress score.
    pub progress: f64,
}

impl TestCritique {
    /// A critic's judgement of one test.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] for a label that is neither `pass` nor `fail`.
    pub fn of(critic: &str, test: &UnseenTest, judgement: &Judgement) -> Result<Self, Error> {
        let length = test.source.chars().count() as u64;
        Self::about(critic, (test.id(), test.ids.clone(), length), judgement)
    }

    /// Another judgement of the same test.
    ///
    /// # Errors
    /// As [`TestCritique::of`].
    pub fn again(&self, critic: &str, judgement: &Judgement) -> Result<Self, Error> {
        let test = (self.id.clone(), self.ids.clone(), self.length);
        Self::about(critic, test, judgement)
    }

    /// The judgement that it was made of, as far as it is kept.
    pub fn judgement(&self) -> Judgement {
        let word = |passes| if passes { "pass" } else { "fail" };
        let mut details = Map::new();
        details.insert("test".to_owned(), json!(self.id));
        details.insert("test_length".to_owned(), json!(self.length));
        details.insert("said".to_owned(), json!(word(self.said)));
        if let Some(percent) = self.confidence {
            details.insert("confidence_percent".to_owned(), json!(percent));
        }
        Judgement {
            label: word(self.predicted).to_owned(),
            confidence: Confidence {
                value: self.confidence.map(|percent| percent / 100.0),
                source: match self.confidence {
                    Some(_) => ConfidenceSource::Verbalised,
                    None => ConfidenceSource::Missing,
                },
            },
            reasoning: self.reasoning.clone(),
            evidence: Vec::new(),
            details,
        }
    }

    fn about(
        critic: &str,
        (id, ids, length): (String, Vec<String>, u64),
        judgement: &Judgement,
    ) -> Result<Self, Error> {
        let predicted = passes(critic, &judgement.label)?;
        let details = &judgement.details;
        let said = match details.get("said").and_then(Value::as_str) {
            Some(said) => passes(critic, said)?,
            None => predicted,
        };
        let members = details.get("members").cloned().unwrap_or_default();
        Ok(Self {
            id,
            ids,
            said,
            predicted,
            confidence: details.get("confidence_percent").and_then(Value::as_f64),
            length,
            reasoning: judgement.reasoning.clone(),
            members: serde_json::from_value(members).unwrap_or_default(),
            cut: details
                .get("cut")
                .cloned()
                .and_then(|cut| serde_json::from_value(cut).ok())
                .unwrap_or_default(),
        })
    }
}

impl PatchCritique {
    /// What a critic's words on single tests come to.
    ///
    /// # Errors
    /// [`NoTests`] without any, from which neither success nor failure follows.
    pub fn of(critic: &str, tests: Vec<TestCritique>) -> Result<Self, NoTests> {
        // The critic has applied its rule: what it says is final.
        let predictions: Vec<TestPrediction> = tests
            .iter()
            .map(|test| TestPrediction {
                passes: test.predicted,
                confidence: test.confidence.unwrap_or(100.0),
                length: Some(test.length),
            })
            .collect();
        let sum = aggregate_critic(&predictions, None)?;
        Ok(Self {
            critic: critic.to_owned(),
            tests,
            build_success: sum.build_success,
            progress: sum.pass_rate,
        })
    }
}

/// Asks a critic that takes one test a call about every test, and sums up (paper 004, section 2.2).
/// The subject's attachment `test` is set for each call; the others stay. So many tests as `abreast` are asked about at
/// once; after an error none is begun any more, and those under way are waited for, since they are paid.
///
/// # Errors
/// The first error of the critic, in the order of the tests; [`ErrorKind::InvalidInput`] without any test, from which neither
/// success nor failure follows.
///
/// # Cancellation
/// As the critic; the words on earlier tests are lost.
pub async fn critique_patch(
    cx: &RunContext,
    critic: &dyn Judge,
    subject: &Subject,
    tests: &[UnseenTest],
    abreast: usize,
) -> Result<PatchCritique, Error> {
    let has_failed = AtomicBool::new(false);
    let ask = async |test: &UnseenTest| {
        if has_failed.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let mut one = subject.clone();
        let attachment = json!({ "id": test.id(), "source": test.source, "path": test.path });
        one.attachments.insert("test".to_owned(), attachment);
        let judged = critic.judge(cx, &one).await;
        let critique = judged.and_then(|said| TestCritique::of(critic.id(), test, &said));
        has_failed.fetch_or(critique.is_err(), Ordering::Relaxed);
        critique.map(Some)
    };
    let asked: Vec<_> = futures_util::stream::iter(tests)
        .map(ask)
        .buffered(abreast.max(1))
        .collect()
        .await;
    let critiques: Vec<Option<TestCritique>> = asked.into_iter().collect::<Result<_, _>>()?;
    let critiques = critiques.into_iter().flatten().collect();
    PatchCritique::of(critic.id(), critiques)
        .map_err(|why| lacks(subject, "any test").with_source(why))
}

fn passes(critic: &str, label: &str) -> Result<bool, Error> {
    match label {
        "pass" => Ok(true),
        "fail" => Ok(false),
        other => {
            let what = format!("`{critic}` said `{other}`, not `pass` or `fail`");
            Err(Error::new(ErrorKind::InvalidInput, "ask a critic:", what))
        }
    }
}
