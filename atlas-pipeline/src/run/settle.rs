//! What becomes of a step that ended.

use super::StepOutcome;
use super::event::RunEvent;
use super::resources::{free_bytes, is_disk_full, is_of_machine};
use super::scheduler::Runner;
use super::store::{Claim, Ending, now};
use atlas_core::{Error, ErrorKind, one_line};
use std::time::Duration;
use tokio::task::{Id, JoinError};

/// How a step ran.
pub(super) struct Ran {
    pub(super) result: Result<StepOutcome, Error>,
    pub(super) seconds: f64,
}

/// Below so many free bytes a disk counts as full, whatever `min_free` says.
const SPARE: u64 = 16 << 20;
/// So many steps in a row find no engine before the run ends.
const LOST: u32 = 5;

impl Runner<'_> {
    /// Writes down what a step came to.
    pub(super) async fn settle(
        &mut self,
        ended: Result<(Id, Ran), JoinError>,
    ) -> Result<(), Error> {
        let (id, ran) = match ended {
            Ok((id, ran)) => (id, ran),
            Err(why) => {
                let said = Error::new(ErrorKind::Internal, "run a step", "which panicked");
                let id = why.id();
                let ran = Ran {
                    result: Err(said.with_source(why)),
                    seconds: 0.0,
                };
                (id, ran)
            }
        };
        let Some((at, claim, since)) = self.flight.remove(&id) else {
            return Ok(());
        };
        let seconds = if ran.seconds > 0.0 {
            ran.seconds
        } else {
            since.elapsed().as_secs_f64()
        };
        let money = ran.result.as_ref().map_or(0.0, |outcome| outcome.money);
        let engine_is_gone =
            matches!(&ran.result, Err(why) if why.kind() == ErrorKind::EngineUnreachable);
        let why = ran.result.as_ref().err().map(Error::chain);
        let ending = self.ending(&claim, ran.result);
        self.write_ending(&claim, &ending, (seconds, money)).await?;
        self.tell(at, &claim, &ending, seconds);
        if engine_is_gone {
            self.lost += 1;
            if self.lost >= LOST {
                let said =
                    format!("{LOST} steps in a row; nothing is lost, and the same command goes on");
                return Err(Error::new(
                    ErrorKind::EngineUnreachable,
                    "run: no engine answers",
                    said,
                )
                .with_source(why.unwrap_or_default()));
            }
        } else if matches!(ending, Ending::Done { .. }) {
            self.lost = 0;
        }
        Ok(())
    }

    fn ending(&mut self, claim: &Claim, result: Result<StepOutcome, Error>) -> Ending {
        let why = match result {
            Ok(StepOutcome {
                passed,
                outcome,
                reason,
                evidence,
                bytes,
                environment,
                ..
            }) => {
                return Ending::Done {
                    passed,
                    outcome,
                    reason,
                    evidence,
                    bytes,
                    environment,
                };
            }
            Err(why) => why,
        };
        let reason = one_line(&why.chain(), 2_000);
        let kind = why.kind().as_str().to_owned();
        if why.kind() == ErrorKind::Cancelled && self.cx.cancel.is_cancelled() {
            return Ending::Returned {
                why: "stopped".to_owned(),
            };
        }
        if is_disk_full(&why) && self.is_short_of_disk() {
            self.hold_for(&reason, Duration::from_secs(1));
            return Ending::Returned { why: reason };
        }
        if why.kind() == ErrorKind::EngineUnreachable {
            self.hold_for(
                &reason,
                self.options.retry_pause * 2_u32.pow(self.lost.min(10)),
            );
            return Ending::Returned { why: reason };
        }
        if is_of_machine(&why) && claim.faults + 1 < self.options.attempts {
            let pause = self.options.retry_pause * 4_u32.pow(claim.faults.min(10));
            let pause = i64::try_from(pause.as_millis()).unwrap_or(i64::MAX);
            return Ending::Again {
                kind,
                reason,
                not_before: now().saturating_add(pause),
            };
        }
        Ending::Failed { kind, reason }
    }

    fn is_short_of_disk(&self) -> bool {
        let least = self.resources.min_free.max(SPARE);
        let mut places = self.resources.places.iter();
        places.any(|place| free_bytes(place).is_some_and(|free| free < least))
    }

    /// A result is worth waiting for: where the disk is too full for the store, it is written when there is room again.
    async fn write_ending(
        &mut self,
        claim: &Claim,
        ending: &Ending,
        took: (f64, f64),
    ) -> Result<(), Error> {
        loop {
            match self.store.end(claim, ending, took, &self.names) {
                Err(why) if self.is_short_of_disk() && !self.cx.cancel.is_cancelled() => {
                    self.hold_for(&why.chain(), Duration::from_secs(1));
                    tokio::time::sleep(Duration::from_millis(500)).await;
                }
                other => return other,
            }
        }
    }

    fn tell(&mut self, at: usize, claim: &Claim, ending: &Ending, seconds: f64) {
        let work = self
            .report
            .work
            .entry(self.names[at].to_owned())
            .or_default();
        work.seconds += seconds;
        let (count, outcome, reason) = match ending {
            Ending::Done {
                passed: true,
                outcome,
                ..
            } => (&mut work.passed, outcome.as_str(), ""),
            Ending::Done {
                outcome, reason, ..
            } => (&mut work.rejected, outcome.as_str(), reason.as_str()),
            Ending::Failed { kind, reason } => (&mut work.failed, kind.as_str(), reason.as_str()),
            Ending::Again { reason, .. } => (&mut work.returned, "tried again", reason.as_str()),
            Ending::Returned { why } => (&mut work.returned, "put back", why.as_str()),
        };
        *count += 1;
        let stage = self.names[at];
        tracing::info!(instance_id = claim.name, stage, outcome, seconds, "step");
        let id = claim.name.as_str();
        self.listener.hear(&RunEvent::Ended {
            stage,
            id,
            outcome,
            reason,
            seconds,
        });
    }
}
