//! What stands behind `attempt`: agents that are words or Python's.

use crate::convert::{dumps, instance_ids, named, plain, to_python, to_value};
use crate::errors::{invalid, raised};
use crate::heard::Heard;
use crate::make::config;
use crate::run::{aside, run_heard};
use crate::traits::callable_name;
use async_trait::async_trait;
use atlas_core::{Error, ErrorKind, RunContext};
use atlas_pipeline::{AgentChoice, AttemptOptions, EvalOptions, PredictionSource, run_attempts};
use atlas_trajectory::{
    Agent, AgentEnd, AgentInfo, AgentTask, AttemptBudget, Room, answer_request,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use serde_json::{Value, json};
use std::fmt;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use tokio::sync::{mpsc, oneshot};

/// A request of an agent, and where its answer goes.
type Asked = (String, oneshot::Sender<String>);

/// The end of a Python agent: its exit status, or what it raised.
type Ended = Result<Option<String>, String>;

/// The room of a Python agent. `swe_atlas.Room` is its face.
#[pyclass(frozen, module = "swe_atlas._swe_atlas")]
#[derive(Debug)]
pub(crate) struct NativeRoom {
    requests: mpsc::UnboundedSender<Asked>,
    end: Mutex<Option<oneshot::Sender<Ended>>>,
}

impl NativeRoom {
    fn ends(&self, end: Ended) {
        let sender = self.end.lock();
        let sender = sender.unwrap_or_else(PoisonError::into_inner).take();
        // Nobody may be waiting any longer.
        if let Some(sender) = sender {
            let _unheard = sender.send(end);
        }
    }
}

#[pymethods]
impl NativeRoom {
    fn ask(&self, py: Python<'_>, request: &str) -> PyResult<String> {
        let over = || {
            let of = "the attempt is over";
            raised(&Error::new(ErrorKind::Cancelled, "ask a room:", of))
        };
        let (sender, answer) = oneshot::channel();
        let sent = self.requests.send((request.to_owned(), sender));
        sent.map_err(|_| over())?;
        py.detach(|| answer.blocking_recv()).map_err(|_| over())
    }

    fn ended(&self, status: Option<String>) {
        self.ends(Ok(status));
    }

    fn raised(&self, why: &str) {
        self.ends(Err(why.to_owned()));
    }
}

/// A callable `agent(task, room)`. Each attempt has a Python thread of its own.
pub(crate) struct PyAgent {
    name: String,
    settings: Value,
    call: Py<PyAny>,
}

impl fmt::Debug for PyAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PyAgent")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl PyAgent {
    pub(crate) fn new(agent: &Bound<'_, PyAny>) -> PyResult<Self> {
        let name = callable_name(agent);
        if name.is_empty() {
            return Err(invalid("agent", "its attribute `name` is empty"));
        }
        let settings = match agent.getattr("settings") {
            Ok(settings) if !settings.is_callable() => serde_json::from_str(&dumps(&settings)?)
                .map_err(|why| invalid("agent", format!("its attribute `settings`: {why}")))?,
            _ => Value::Null,
        };
        Ok(Self {
            name,
            settings,
            call: agent.clone().unbind(),
        })
    }

    fn start(&self, task: &AgentTask, budget: &AttemptBudget, room: NativeRoom) -> PyResult<()> {
        aside(|py| {
            let told = json!({
                "instance_id": task.instance_id,
                "attempt": task.attempt,
                "statement": task.statement,
                "folder": task.folder,
                "out": task.out,
                "steps": budget.steps,
                "seconds": budget.seconds,
                "tokens": budget.tokens,
                "cost_usd": budget.cost_usd,
            });
            py.import("swe_atlas._attempt")?
                .call_method1("start", (&self.call, plain(py, &told)?, room))?;
            Ok(())
        })
    }
}

#[async_trait]
impl Agent for PyAgent {
    fn info(&self) -> AgentInfo {
        AgentInfo {
            name: self.name.clone(),
            version: "unknown".to_owned(),
            ..AgentInfo::default()
        }
    }

    fn settings(&self) -> Value {
        self.settings.clone()
    }

    async fn attempt(
        &self,
        cx: &RunContext,
        task: &AgentTask,
        room: &Room<'_>,
    ) -> Result<AgentEnd, Error> {
        let (requests, mut asked) = mpsc::unbounded_channel::<Asked>();
        let (sender, mut ended) = oneshot::channel();
        let native = NativeRoom {
            requests,
            end: Mutex::new(Some(sender)),
        };
        self.start(task, room.budget(), native).map_err(|why| {
            let of = format!("`{}`", self.name);
            Error::new(ErrorKind::ToolFailed, "start the agent", of).with_source(why.to_string())
        })?;
        let end = loop {
            tokio::select! {
                end = &mut ended => break end.unwrap_or_else(|_| Err("its thread ended".to_owned())),
                Some((request, answer)) = asked.recv() => {
                    let told = answer_request(cx, room, request.as_bytes()).await;
                    // Who asked may have gone.
                    let _unheard = answer.send(told.to_string());
                }
            }
        };
        Ok(match end {
            Ok(status) => AgentEnd {
                exit_status: status.unwrap_or_else(|| "exited".to_owned()),
                ..AgentEnd::default()
            },
            Err(why) => AgentEnd {
                exit_status: "raised".to_owned(),
                notes: vec![format!("the agent raised {why}")],
                ..AgentEnd::default()
            },
        })
    }
}

/// An option's value.
fn option_of<'py, T: for<'a> FromPyObject<'a, 'py>>(
    value: Option<Bound<'py, PyAny>>,
    name: &str,
) -> PyResult<Option<T>> {
    let Some(value) = value else { return Ok(None) };
    let read = value.extract::<T>();
    read.map(Some).map_err(|why| {
        let why: PyErr = why.into();
        invalid(name, why)
    })
}

/// The same as `swe_atlas.attempt`, which is its face: options come as one mapping.
#[pyfunction]
#[pyo3(signature = (dataset, agent, run_id, options, config))]
pub(crate) fn _attempt<'py>(
    py: Python<'py>,
    dataset: PathBuf,
    agent: &Bound<'py, PyAny>,
    run_id: &str,
    options: &Bound<'py, PyDict>,
    config: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let get = |name: &str| -> PyResult<_> {
        Ok(options.get_item(name)?.filter(|value| !value.is_none()))
    };
    macro_rules! option {
        ($name:literal) => {
            option_of(get($name)?, $name)?
        };
    }
    let engine: String = option!("engine").unwrap_or_else(|| "auto".to_owned());
    let eval = EvalOptions {
        instances: instance_ids(option!("instance_ids"))?,
        engine: named("engine", &engine)?,
        jobs: option!("jobs").unwrap_or(1),
        out: option!("out").unwrap_or_else(|| PathBuf::from(".")),
        repos: option!("repos"),
        results: option!("results"),
        config: self::config(config)?,
        trust: option!("trust").unwrap_or(false),
        ..EvalOptions::new(dataset, PredictionSource::Null, run_id)
    };
    let budget = AttemptBudget::default();
    let options_of_all = AttemptOptions {
        attempts: option!("k").unwrap_or(1),
        budget: AttemptBudget {
            steps: option!("steps").unwrap_or(budget.steps),
            tokens: option!("tokens"),
            seconds: option!("seconds").unwrap_or(budget.seconds),
            cost_usd: option!("cost"),
            command_seconds: option!("command_seconds").unwrap_or(budget.command_seconds),
            output_bytes: budget.output_bytes,
        },
        hints: option!("hints"),
        only_unresolved: option!("only_unresolved").unwrap_or_default(),
        ..AttemptOptions::new(eval)
    };
    let agent: Box<dyn Agent> = if let Ok(words) = agent.cast::<PyString>() {
        let choice = AgentChoice {
            model: option!("model"),
            python: option!("python").unwrap_or_else(|| PathBuf::from("python3")),
            config: option!("agent_config"),
            name: option!("agent_name"),
            ..AgentChoice::new(words.to_cow()?)
        };
        Box::new(choice.open().map_err(|why| raised(&why))?)
    } else if agent.is_callable() {
        Box::new(PyAgent::new(agent)?)
    } else {
        return Err(invalid("agent", "a text or a callable expected"));
    };
    let progress = options.get_item("progress")?;
    let progress = Heard::of(progress.as_ref())?;
    let report = py.detach(|| {
        run_heard(&progress, async |cx| {
            Box::pin(run_attempts(cx, &*agent, &options_of_all)).await
        })
    })?;
    to_python(py, &to_value(&report)?)
}
