//! Progress on a terminal; nothing where there is none.

use atlas_core::Progress;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, Write as _};
use std::time::Duration;

#[derive(Debug)]
pub(crate) struct Terminal {
    bar: Option<ProgressBar>,
}

impl Terminal {
    pub(crate) fn new() -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{spinner} {elapsed:>4} {prefix} {wide_msg}")
                .unwrap_or_else(|_| ProgressStyle::default_spinner());
            ProgressBar::new_spinner().with_style(style)
        });
        Self { bar }
    }

    /// Says that a signal has come and what it does.
    pub(crate) fn stopping(&self, signal: &str) {
        let say = || {
            let line = format!("atlas: {signal}: stopping in order; once more stops at once");
            let _ = writeln!(std::io::stderr(), "{line}");
        };
        match &self.bar {
            Some(bar) => bar.suspend(say),
            None => say(),
        }
    }

    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Progress for Terminal {
    fn phase(&self, name: &str) {
        tracing::debug!(phase = name);
        if let Some(bar) = &self.bar {
            if name.is_empty() {
                bar.finish_and_clear();
                return;
            }
            bar.set_prefix(name.to_owned());
            bar.set_message(String::new());
            bar.enable_steady_tick(Duration::from_millis(120));
        }
    }

    fn detail(&self, text: &str) {
        tracing::trace!(detail = text);
        if let Some(bar) = &self.bar {
            let line = text.lines().next_back().unwrap_or("");
            bar.set_message(
                line.chars()
                    .filter(|c| !c.is_control())
                    .take(200)
                    .collect::<String>(),
            );
        }
    }
}
