//! `Sandbox`.

use super::{Own, face, from_python, positional};
use crate::convert::plain;
use crate::errors::{invalid, raised};
use async_trait::async_trait;
use atlas_core::{
    Environment, Error, ExitState, FileContent, Isolation, Job, JobResult, ResourceUsage,
    RunContext, Sandbox, SandboxInfo,
};
use atlas_pipeline::docker::Places;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyMapping};
use std::collections::BTreeMap;
use std::time::Instant;

/// An object with `engine` and `run(environment, job)`.
#[derive(Clone, Debug)]
pub(super) struct PySandbox {
    own: Own,
    version: String,
}

impl PySandbox {
    pub(super) fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let own = Own::new("sandbox", object, ("engine", &["run"]))?;
        Ok(Self {
            version: own.version()?,
            own,
        })
    }
}

#[async_trait]
impl Sandbox for PySandbox {
    fn info(&self) -> SandboxInfo {
        SandboxInfo {
            // What ran is remembered under this name, and another sandbox's results are not its.
            engine: format!(
                "{} {}",
                self.own.name(),
                &self.version[..16.min(self.version.len())]
            ),
            version: self.version.clone(),
        }
    }

    async fn run(
        &self,
        cx: &RunContext,
        environment: &Environment,
        job: &Job,
    ) -> Result<JobResult, Error> {
        let started = Instant::now();
        let arguments = Box::new(|py: Python<'_>| {
            let environment = plain(py, environment)?;
            positional(py, [environment, job_of(py, job)?])
        });
        let mut result = self.own.call(cx, "run", arguments, result_of).await?;
        let most = usize::try_from(job.limits.output_bytes).unwrap_or(usize::MAX);
        result.output.truncate(most);
        result.files.retain(|name, _| job.collect.contains(name));
        let all = started.elapsed().as_secs_f64();
        if result.seconds <= 0.0 {
            result.seconds = all;
        }
        result.overhead_seconds = (all - result.seconds).max(0.0);
        Ok(result)
    }
}

/// The face of `swe_atlas.protocols.Job.prelude`.
#[pyfunction]
pub(crate) fn _prelude(
    places: &Bound<'_, PyAny>,
    variables: Vec<BTreeMap<String, String>>,
    laid: Vec<String>,
) -> PyResult<String> {
    let places: Places = from_python(places).map_err(|why| invalid("places", why))?;
    let variables: Vec<&BTreeMap<String, String>> = variables.iter().collect();
    places
        .prelude(&variables, &laid)
        .map_err(|why| raised(&why))
}

fn content<'py>(py: Python<'py>, file: &FileContent) -> PyResult<Bound<'py, PyAny>> {
    face(
        py,
        "FileContent",
        vec![
            ("mode", plain(py, &file.mode)?),
            ("content", PyBytes::new(py, &file.bytes).into_any()),
        ],
    )
}

fn job_of<'py>(py: Python<'py>, job: &Job) -> PyResult<Bound<'py, PyAny>> {
    let (write, files) = (PyDict::new(py), PyDict::new(py));
    for (path, file) in &job.overlay.write {
        write.set_item(path, content(py, file)?)?;
    }
    for file in &job.files {
        files.set_item(&file.name, PyBytes::new(py, &file.bytes))?;
    }
    face(
        py,
        "Job",
        vec![
            ("label", plain(py, &job.label)?),
            ("script", plain(py, &job.script)?),
            ("write", write.into_any()),
            ("remove", plain(py, &job.overlay.remove)?),
            ("files", files.into_any()),
            ("collect", plain(py, &job.collect)?),
            ("env", plain(py, &job.env)?),
            ("limits", plain(py, &job.limits)?),
            ("network", plain(py, &job.network)?),
            ("user", plain(py, &job.user)?),
        ],
    )
}

/// `swe_atlas.protocols.JobResult`, or what has its attributes.
fn result_of(answer: &Bound<'_, PyAny>) -> Result<JobResult, String> {
    let field = |name: &str| answer.getattr(name).ok().filter(|value| !value.is_none());
    let Some(exit) = field("exit") else {
        let kind = answer
            .get_type()
            .qualname()
            .map_err(|why| why.to_string())?;
        return Err(format!(
            "{kind}; a JobResult is expected, with `exit` and `output`"
        ));
    };
    let exit = match (exit.extract::<i64>(), exit.extract::<String>().as_deref()) {
        (Ok(code), _) => ExitState::Exited { code },
        (_, Ok("timed_out")) => ExitState::TimedOut,
        (_, Ok("out_of_memory")) => ExitState::OutOfMemory,
        _ => return Err("`exit`: a code, `timed_out` or `out_of_memory` is expected".to_owned()),
    };
    let bytes = |value: &Bound<'_, PyAny>, name: &str| -> Result<Vec<u8>, String> {
        let bytes = value.extract::<Vec<u8>>();
        bytes.map_err(|_| format!("`{name}`: bytes are expected"))
    };
    let output = field("output").ok_or("it has no `output`")?;
    let output = bytes(&output, "output")?;
    let mut files = BTreeMap::new();
    if let Some(given) = field("files") {
        let given = given
            .cast::<PyMapping>()
            .map_err(|_| "`files` is no mapping".to_owned())?;
        for item in given.items().map_err(|why| why.to_string())? {
            let (name, content): (String, Bound<'_, PyAny>) = item
                .extract()
                .map_err(|_| "`files`: names and bytes are expected".to_owned())?;
            files.insert(name, bytes(&content, "files")?);
        }
    }
    let output_total = match field("output_total") {
        Some(total) => total
            .extract()
            .map_err(|_| "`output_total` is no number".to_owned())?,
        None => output.len() as u64,
    };
    let isolation = match field("isolation") {
        Some(isolation) => {
            from_python::<Isolation>(&isolation).map_err(|why| format!("`isolation`: {why}"))?
        }
        None => Isolation {
            kind: "unknown".to_owned(),
            missing: vec![
                "the caller's sandbox does not say how it keeps scripts apart".to_owned(),
            ],
            ..Isolation::default()
        },
    };
    Ok(JobResult {
        exit,
        output,
        output_total,
        files,
        seconds: field("seconds")
            .and_then(|seconds| seconds.extract().ok())
            .unwrap_or_default(),
        overhead_seconds: 0.0,
        isolation,
        usage: ResourceUsage::default(),
    })
}

/// A job's result for Python.
pub(super) fn told<'py>(py: Python<'py>, result: &JobResult) -> PyResult<Bound<'py, PyAny>> {
    let files = PyDict::new(py);
    for (name, bytes) in &result.files {
        files.set_item(name, PyBytes::new(py, bytes))?;
    }
    let exit = match result.exit {
        ExitState::Exited { code } => plain(py, &code)?,
        ExitState::TimedOut => plain(py, "timed_out")?,
        ExitState::OutOfMemory => plain(py, "out_of_memory")?,
    };
    face(
        py,
        "JobResult",
        vec![
            ("exit", exit),
            ("output", PyBytes::new(py, &result.output).into_any()),
            ("files", files.into_any()),
            ("output_total", plain(py, &result.output_total)?),
            ("seconds", plain(py, &result.seconds)?),
            ("isolation", plain(py, &result.isolation)?),
        ],
    )
}
