//! `Judge`.

use super::{Own, face, from_python, positional};
use crate::convert::{plain, to_python};
use crate::instance::Instance;
use async_trait::async_trait;
use atlas_core::{Error, ErrorKind, Judge, Judgement, RunContext, Subject};
use atlas_pipeline::CallersJudge;
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;

/// An object with `id` and `judge(subject)`.
#[derive(Clone, Debug)]
pub(super) struct PyJudge(Own);

impl PyJudge {
    pub(super) fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        Own::new("judge", object, ("id", &["judge"])).map(Self)
    }
}

/// A judge of the caller, and which version of it.
pub(crate) fn callers_judge(object: &Bound<'_, PyAny>) -> PyResult<CallersJudge> {
    let judge = PyJudge::new(object)?;
    Ok(CallersJudge {
        version: judge.0.version()?,
        judge: Arc::new(judge),
    })
}

#[async_trait]
impl Judge for PyJudge {
    fn id(&self) -> &str {
        self.0.name()
    }

    async fn judge(&self, cx: &RunContext, subject: &Subject) -> Result<Judgement, Error> {
        let arguments = Box::new(|py: Python<'_>| {
            let row = Instance::of(py, &subject.instance)?;
            let patch = subject
                .patch
                .as_ref()
                .map(|patch| String::from_utf8_lossy(patch.as_bytes()).into_owned());
            let attachments = to_python(py, &Value::Object(subject.attachments.clone()))?;
            let subject = face(
                py,
                "Subject",
                vec![
                    ("instance", row.into_any()),
                    ("patch", plain(py, &patch)?),
                    ("attachments", attachments),
                ],
            )?;
            positional(py, [subject])
        });
        let read = |answer: &Bound<'_, PyAny>| from_python::<Value>(answer);
        let mut said = self.0.call(cx, "judge", arguments, read).await?;
        complete(&mut said);
        serde_json::from_value(said).map_err(|why| {
            let what = format!("call `judge` of the judge `{}`: its answer:", self.id());
            Error::new(ErrorKind::ToolFailed, what, why.to_string())
        })
    }
}

/// Puts in what goes without saying: no evidence, no details, a number that a rule gives.
fn complete(judgement: &mut Value) {
    let Some(fields) = judgement.as_object_mut() else {
        return;
    };
    let confidence = match fields.get("confidence") {
        None | Some(Value::Null) => Some(json!({"value": null, "source": "missing"})),
        Some(Value::Number(number)) => Some(json!({"value": number, "source": "rule"})),
        Some(_) => None,
    };
    if let Some(confidence) = confidence {
        fields.insert("confidence".to_owned(), confidence);
    }
    for (name, empty) in [
        ("reasoning", json!("")),
        ("evidence", json!([])),
        ("details", json!({})),
    ] {
        fields.entry(name).or_insert(empty);
    }
}
