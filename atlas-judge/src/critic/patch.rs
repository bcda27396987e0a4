//! A patch judged test by test.

use super::extract::UnseenTest;
use super::judge::lacks;
use crate::metrics::{TestPrediction, aggregate_critic};
use atlas_core::{Error, ErrorKind, Judge, RunContext, Subject};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

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

/// Asks a critic that takes one test a call about every test, and sums up (paper 004, section 2.2).
/// The subject's attachment `test` is set for each call; the others stay.
///
/// # Errors
/// The first error of the critic; [`ErrorKind::InvalidInput`] without any test, from which neither
/// success nor failure follows.
///
/// # Cancellation
/// As the critic; the words on earlier tests are lost.
pub async fn critique_patch(
    cx: &RunContext,
    critic: &dyn Judge,
    subject: &Subject,
    tests: &[UnseenTest],
) -> Result<PatchCritique, Error> {
    let mut critiques = Vec::new();
    for test in tests {
        let mut one = subject.clone();
        let attachment = json!({ "id": test.id(), "source": test.source, "path": test.path });
        one.attachments.insert("test".to_owned(), attachment);
        let judgement = critic.judge(cx, &one).await?;
        let predicted = passes(critic, &judgement.label)?;
        let said = match judgement.details.get("said").and_then(Value::as_str) {
            Some(said) => passes(critic, said)?,
            None => predicted,
        };
        let cut = judgement.details.get("cut").and_then(Value::as_array);
        let cut = cut.into_iter().flatten().filter_map(Value::as_str);
        critiques.push(TestCritique {
            cut: cut.map(str::to_owned).collect(),
            id: test.id(),
            ids: test.ids.clone(),
            said,
            predicted,
            confidence: judgement
                .details
                .get("confidence_percent")
                .and_then(Value::as_f64),
            length: test.source.chars().count() as u64,
            reasoning: judgement.reasoning,
        });
    }
    // The critic has applied its rule: what it says is final.
    let predictions: Vec<TestPrediction> = critiques
        .iter()
        .map(|test| TestPrediction {
            passes: test.predicted,
            confidence: test.confidence.unwrap_or(100.0),
            length: Some(test.length),
        })
        .collect();
    let sum = aggregate_critic(&predictions, None)
        .map_err(|why| lacks(subject, "any test").with_source(why))?;
    Ok(PatchCritique {
        critic: critic.id().to_owned(),
        tests: critiques,
        build_success: sum.build_success,
        progress: sum.pass_rate,
    })
}

fn passes(critic: &dyn Judge, label: &str) -> Result<bool, Error> {
    match label {
        "pass" => Ok(true),
        "fail" => Ok(false),
        other => {
            let what = format!("`{}` said `{other}`, not `pass` or `fail`", critic.id());
            Err(Error::new(ErrorKind::InvalidInput, "ask a critic:", what))
        }
    }
}
