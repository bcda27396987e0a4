//! What stands behind `attempt`: agents that are words or Python's.

use crate::convert::{dumps, plain};
use crate::errors::{invalid, raised};
use crate::options::Options;
use crate::run::{aside, run_heard};
use crate::traits::callable_name;
use async_trait::async_trait;
use atlas_core::{Error, ErrorKind, RunContext};
use atlas_pipeline::{AgentChoice, AttemptOptions, PredictionSource, run_attempts};
use atlas_trajectory::{
    Agent, AgentEnd, AgentInfo, AgentTask, AttemptBudget, Room, answer_request,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;
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

/// Words for the machine, or a callable.
fn agent_of(given: &Options<'_>) -> PyResult<Box<dyn Agent>> {
    let agent: Bound<'_, PyAny> = given.get("agent")?;
    if let Ok(words) = agent.cast::<PyString>() {
        let choice = AgentChoice {
            model: given.maybe("model")?,
            python: given.or("python", PathBuf::from("python3"))?,
            config: given.maybe("agent_config")?,
            name: given.maybe("agent_name")?,
            ..AgentChoice::new(words.to_cow()?)
        };
        return Ok(Box::new(choice.open().map_err(|why| raised(&why))?));
    }
    if agent.is_callable() {
        return Ok(Box::new(PyAgent::new(&agent)?));
    }
    Err(invalid("agent", "a text or a callable expected"))
}

fn options(given: &Options<'_>) -> PyResult<AttemptOptions> {
    Ok(AttemptOptions {
        attempts: given.get("k")?,
        budget: AttemptBudget {
            cost_usd: given.maybe("cost")?,
            ..given.fields()?
        },
        hints: given.maybe("hints")?,
        only_unresolved: given.or("only_unresolved", Vec::new())?,
        ..AttemptOptions::new(given.evaluation(PredictionSource::Null)?)
    })
}

#[pyfunction]
pub(crate) fn _attempt<'py>(py: Python<'py>, given: Options<'py>) -> PyResult<Bound<'py, PyAny>> {
    // An argument of another type is an argument that cannot be used.
    let options = options(&given).map_err(|why| {
        if why.is_instance_of::<PyTypeError>(py) {
            invalid("attempt", why)
        } else {
            why
        }
    })?;
    let agent = agent_of(&given)?;
    let progress = given.progress()?;
    let report = py.detach(|| {
        run_heard(&progress, async |cx| {
            Box::pin(run_attempts(cx, &*agent, &options)).await
        })
    })?;
    plain(py, &report)
}
