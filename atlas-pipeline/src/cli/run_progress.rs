//! What `atlas run` says while it goes on: a bar for each stage on a terminal, a line for each event elsewhere.

use super::run::duration;
use atlas_pipeline::{GatheredCandidates, PublishReport, RunEvent, RunListener, RunStatus};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _};
use std::sync::{Arc, Mutex, PoisonError};

/// Speaks on standard error.
#[derive(Debug)]
pub(super) struct RunProgress {
    bars: Option<Bars>,
}

/// The bars of a terminal.
#[derive(Debug)]
struct Bars {
    all: MultiProgress,
    stages: Mutex<BTreeMap<String, ProgressBar>>,
}

pub(super) fn listener() -> Arc<RunProgress> {
    let bars = std::io::stderr().is_terminal().then(|| Bars {
        all: MultiProgress::new(),
        stages: Mutex::default(),
    });
    Arc::new(RunProgress { bars })
}

impl RunProgress {
    pub(super) fn finish(&self) {
        if let Some(bars) = &self.bars {
            let stages = bars.stages.lock().unwrap_or_else(PoisonError::into_inner);
            stages.values().for_each(ProgressBar::finish_and_clear);
        }
    }

    fn say(&self, line: &str) {
        let say = || {
            let _ = writeln!(std::io::stderr(), "{line}");
        };
        match &self.bars {
            Some(bars) => bars.all.suspend(say),
            None => say(),
        }
    }
}

impl Bars {
    fn bar(&self, stage: &str) -> ProgressBar {
        let mut stages = self.stages.lock().unwrap_or_else(PoisonError::into_inner);
        let made = || {
            let style =
                ProgressStyle::with_template("{prefix:<9} [{bar:24}] {pos}/{len} {wide_msg}")
                    .unwrap_or_else(|_| ProgressStyle::default_bar());
            let bar = self.all.add(ProgressBar::new(0).with_style(style));
            bar.set_prefix(stage.to_owned());
            bar
        };
        stages.entry(stage.to_owned()).or_insert_with(made).clone()
    }

    fn show(&self, status: &RunStatus) {
        for stage in &status.stages {
            let ended = stage.passed + stage.rejected + stage.failed;
            let open = stage.pending + stage.running;
            if ended + open == 0 {
                continue;
            }
            let bar = self.bar(&stage.stage);
            bar.set_length(ended + open);
            bar.set_position(ended);
            let mut text = format!("{} passed", stage.passed);
            if let Some(left) = stage.eta_seconds {
                let rate = stage.per_hour;
                let _ = write!(text, ", {rate:.0} an hour, {} left", duration(left));
            }
            for step in status
                .running
                .iter()
                .filter(|step| step.stage == stage.stage)
                .take(3)
            {
                let _ = write!(text, "  {} {}", step.candidate, duration(step.seconds));
            }
            bar.set_message(text);
        }
    }
}

/// One line on what was sourced and taken.
pub(super) fn gathered(gathered: &GatheredCandidates) -> String {
    let mut text = String::new();
    if let Some(source) = &gathered.source {
        let (kept, all) = (source.funnel.kept, source.funnel.sourced);
        let _ = write!(
            text,
            "sourced: {kept} of {all} pull requests pass the filters"
        );
        if source.requests > 0 {
            let _ = write!(text, ", {} requests", source.requests);
        }
        text.push_str("; ");
    }
    let taken = &gathered.taken;
    let _ = write!(text, "taken: {} of {}", taken.taken, taken.offered);
    if let Some(most) = taken.per_repo {
        let _ = write!(text, " (the newest {most} of each repository)");
    }
    text
}

/// One line on a release.
pub(super) fn released(release: &PublishReport) -> String {
    let (name, version, rows) = (&release.name, &release.version, release.rows);
    format!(
        "release: {name} {version}, {rows} rows in `{}`",
        release.out.display()
    )
}

impl RunListener for RunProgress {
    fn hear(&self, event: &RunEvent<'_>) {
        match event {
            RunEvent::Gathered(told) => self.say(&gathered(told)),
            RunEvent::Released(release) => self.say(&released(release)),
            RunEvent::Imported(import) if import.unchanged => {}
            RunEvent::Imported(import) => self.say(&format!(
                "candidates: {} new, {} changed, {} known, {} withdrawn, {} repeated, {} faulty",
                import.new, import.changed, import.known, import.withdrawn, import.repeated, import.faulty
            )),
            RunEvent::Stale { stage, steps } => self.say(&format!(
                "{stage}: {steps} steps are of another version or configuration; --stale does them anew"
            )),
            RunEvent::Freed { steps } => {
                self.say(&format!("{steps} steps of processes that ended are taken up again"));
            }
            RunEvent::Ended { stage, id, outcome, reason, seconds } => {
                let first = reason.lines().next().unwrap_or("");
                let because = if first.is_empty() { String::new() } else { format!(": {first}") };
                if self.bars.is_none() {
                    self.say(&format!("{stage} {id}: {outcome} in {}{because}", duration(*seconds)));
                }
            }
            RunEvent::Held { why } => self.say(&format!("held: {why}")),
            RunEvent::Resumed => self.say("goes on"),
            RunEvent::Reclaimed { id } => self.say(&format!("gave back the environment of {id}")),
            RunEvent::Dataset { rows } if self.bars.is_none() => {
                self.say(&format!("dataset: {rows} rows"));
            }
            RunEvent::Standing(status) => {
                if let Some(bars) = &self.bars {
                    bars.show(status);
                }
            }
            _ => {}
        }
    }
}
