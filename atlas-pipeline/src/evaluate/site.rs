//! An instance that is ready to be run, for one prediction or for many.

use super::Host;
use super::canary::CanaryPlan;
use super::input::Item;
use super::strict::Prepared;
use crate::own_parser::ReadBy;
use crate::store::Workplace;
use atlas_core::{Error, ErrorKind, RunContext};
use atlas_oracle::Cause;
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::OnceCell;

/// An instance with its environment.
#[derive(Debug)]
pub(super) struct Site {
    pub(super) prepared: Prepared,
    /// The image, where somebody else built it.
    pub(super) image: Option<String>,
    /// Who reads its logs, where it is no shipped parser.
    pub(super) by: Option<ReadBy>,
    plan: OnceCell<CanaryPlan>,
}

impl Site {
    pub(super) fn new(prepared: Prepared, image: Option<String>, by: Option<ReadBy>) -> Self {
        Self {
            prepared,
            image,
            by,
            plan: OnceCell::new(),
        }
    }

    /// What the gold patch's run says of canaries; it runs once.
    pub(super) async fn calibrated(
        &self,
        cx: &RunContext,
        canaries: bool,
    ) -> Result<&CanaryPlan, Error> {
        let calibrate = async || {
            if canaries {
                self.prepared.calibrate(cx).await
            } else {
                Ok(CanaryPlan::none("switched off"))
            }
        };
        self.plan.get_or_try_init(calibrate).await
    }
}

/// What could not be prepared, and whose fault it is, is tried again by whoever asks next.
type Cell = Arc<OnceCell<Arc<Site>>>;

/// Instances that stay prepared until this goes.
#[derive(Debug, Default)]
pub(super) struct PreparedInstances {
    cells: Mutex<HashMap<String, Cell>>,
}

/// A failure of either kind, while a cell is filled.
enum Unprepared {
    Blamed(Cause, String),
    Error(Error),
}

impl PreparedInstances {
    /// The instance, prepared by the first who asks.
    pub(super) async fn site(
        &self,
        cx: &RunContext,
        host: &Host,
        item: &Item,
    ) -> Result<Result<Arc<Site>, (Cause, String)>, Error> {
        let cell = {
            let mut cells = self.cells.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(cells.entry(item.instance_id.clone()).or_default())
        };
        let made = cell.get_or_try_init(async || match host.site(cx, item).await {
            Ok(Ok(site)) => Ok(Arc::new(site)),
            Ok(Err((cause, why))) => Err(Unprepared::Blamed(cause, why)),
            Err(why) => Err(Unprepared::Error(why)),
        });
        match made.await {
            Ok(site) => Ok(Ok(Arc::clone(site))),
            Err(Unprepared::Blamed(cause, why)) => Ok(Err((cause, why))),
            Err(Unprepared::Error(why)) => Err(why),
        }
    }

    /// A place of its own, so that nobody who evaluates the same instance meanwhile waits for this.
    #[expect(
        clippy::unused_self,
        reason = "only who keeps instances may take such a place"
    )]
    pub(super) fn place(&self, results: &Path, instance: &str) -> Result<Workplace, Error> {
        const MOST: u32 = 256;
        for number in 0..MOST {
            let root = results.join("kept").join(number.to_string());
            match Workplace::take(&root, instance) {
                Err(why) if why.kind() == ErrorKind::InvalidInput => {}
                taken => return taken,
            }
        }
        Err(Error::new(
            ErrorKind::InvalidInput,
            format!("keep `{instance}` prepared in"),
            format!("`{}`: {MOST} others keep it", results.display()),
        ))
    }
}

impl Drop for PreparedInstances {
    fn drop(&mut self) {
        let cells = std::mem::take(self.cells.get_mut().unwrap_or_else(PoisonError::into_inner));
        for site in cells.values().filter_map(|cell| cell.get()) {
            if let Some(place) = &site.prepared.place
                && let Err(why) = place.clear_temporary()
            {
                tracing::debug!(cause = why.chain(), "left to whoever takes the place next");
            }
        }
    }
}
