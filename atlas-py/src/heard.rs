//! Progress as Python hears it.

use atlas_core::Progress;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a run was doing at a moment.
#[derive(Clone, Debug, Default)]
struct Moment {
    phase: Option<String>,
    detail: Option<String>,
    counted: Option<(usize, usize)>,
    /// Whether nothing but the detail is new: then what comes next may take its place.
    is_detail: bool,
}

/// What was said and not heard yet. Any thread of a run says; the thread that called hears.
///
/// Details may come by the thousand: of those between two hearings the last one is kept. Phases and counts are all
/// kept.
#[derive(Debug, Default)]
struct Said {
    now: Mutex<Moment>,
    queue: Mutex<VecDeque<Moment>>,
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Said {
    fn say(&self, change: impl FnOnce(&mut Moment)) {
        let mut now = held(&self.now);
        now.is_detail = false;
        change(&mut now);
        let mut queue = held(&self.queue);
        if now.is_detail && queue.back().is_some_and(|last| last.is_detail) {
            queue.pop_back();
        }
        queue.push_back(now.clone());
    }
}

impl Progress for Said {
    fn phase(&self, name: &str) {
        self.say(|now| {
            now.phase = Some(name.to_owned());
            now.detail = None;
        });
    }

    fn detail(&self, text: &str) {
        self.say(|now| {
            now.detail = Some(text.to_owned());
            now.is_detail = true;
        });
    }

    fn counted(&self, done: usize, total: usize) {
        self.say(|now| now.counted = Some((done, total)));
    }
}

/// Who hears the progress of a run: a callable, a bar, or nobody.
#[derive(Debug)]
pub(crate) struct Heard {
    call: Option<Py<PyAny>>,
    said: Arc<Said>,
}

impl Heard {
    /// Nobody.
    pub(crate) fn nobody() -> Self {
        Self {
            call: None,
            said: Arc::default(),
        }
    }

    /// A caller's argument `progress`.
    pub(crate) fn of(progress: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let mut heard = Self::nobody();
        if let Some(progress) = progress {
            let module = progress.py().import("swe_atlas._progress")?;
            let call = module.call_method1("listener", (progress,))?;
            heard.call = (!call.is_none()).then(|| call.unbind());
        }
        Ok(heard)
    }

    /// What a run's context is given; none where nobody hears.
    pub(crate) fn progress(&self) -> Option<Arc<dyn Progress>> {
        let said: Arc<dyn Progress> = Arc::<Said>::clone(&self.said);
        self.call.is_some().then_some(said)
    }

    /// Tells what was said since, in the caller's thread.
    pub(crate) fn tell(&self) -> PyResult<()> {
        let Some(call) = &self.call else {
            return Ok(());
        };
        let news = std::mem::take(&mut *held(&self.said.queue));
        if news.is_empty() {
            return Ok(());
        }
        Python::attach(|py| {
            for moment in news {
                let told = PyDict::new(py);
                told.set_item("phase", moment.phase)?;
                told.set_item("detail", moment.detail)?;
                told.set_item("done", moment.counted.map(|(done, _)| done))?;
                told.set_item("total", moment.counted.map(|(_, total)| total))?;
                call.call1(py, (told,))?;
            }
            Ok(())
        })
    }

    /// Ends what was opened for the run: a bar.
    pub(crate) fn close(&self) {
        if let Some(call) = &self.call {
            // A bar that cannot be closed is not worth a run's result.
            let _unheard = Python::attach(|py| {
                let module = py.import("swe_atlas._progress")?;
                module.call_method1("close", (call,)).map(drop)
            });
        }
    }
}
