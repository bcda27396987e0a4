//! What the server tells Prometheus.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use std::time::Instant;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Label {
    what: &'static str,
}

/// Counters, gauges and times.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    /// Open episodes.
    pub(crate) open: Gauge,
    /// Sessions that wait ready.
    pub(crate) ready: Gauge,
    /// Submissions without a verdict.
    pub(crate) grading: Gauge,
    begun: Family<Label, Counter>,
    ended: Family<Label, Counter>,
    refused: Family<Label, Counter>,
    rewards: Family<Label, Counter>,
    reset: Histogram,
    step: Histogram,
    submit: Histogram,
}

/// Bounds in seconds: from a command's milliseconds to a suite's hour.
const BOUNDS: [f64; 16] = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3600.0,
];

impl Metrics {
    pub(crate) fn new() -> Self {
        let histogram = || Histogram::new(BOUNDS);
        let mut made = Self {
            registry: Registry::with_prefix("atlas_serve"),
            open: Gauge::default(),
            ready: Gauge::default(),
            grading: Gauge::default(),
            begun: Family::default(),
            ended: Family::default(),
            refused: Family::default(),
            rewards: Family::default(),
            reset: histogram(),
            step: histogram(),
            submit: histogram(),
        };
        let registry = &mut made.registry;
        registry.register("episodes_open", "Open episodes", made.open.clone());
        let help = "Sessions that wait ready";
        registry.register("sessions_ready", help, made.ready.clone());
        let help = "Submissions whose verdict is not known yet";
        registry.register("submissions_grading", help, made.grading.clone());
        let help = "Episodes that began, by where their session came from";
        registry.register("episodes_begun", help, made.begun.clone());
        let help = "Episodes that ended, by how";
        registry.register("episodes_ended", help, made.ended.clone());
        let help = "Requests that were turned away, by kind";
        registry.register("requests_refused", help, made.refused.clone());
        let help = "Verdicts: resolved, unresolved, no_evidence";
        registry.register("verdicts", help, made.rewards.clone());
        for (name, help, of) in [
            ("reset", "From a reset to its answer", &made.reset),
            ("step", "From a step to its answer", &made.step),
            ("submit", "From a patch to its verdict", &made.submit),
        ] {
            registry.register_with_unit(name, help, Unit::Seconds, of.clone());
        }
        made
    }

    pub(crate) fn begun(&self, from: &'static str, since: Instant) {
        self.begun.get_or_create(&Label { what: from }).inc();
        self.reset.observe(since.elapsed().as_secs_f64());
    }

    pub(crate) fn stepped(&self, since: Instant) {
        self.step.observe(since.elapsed().as_secs_f64());
    }

    pub(crate) fn graded(&self, resolved: Option<bool>, since: Instant) {
        let what = match resolved {
            Some(true) => "resolved",
            Some(false) => "unresolved",
            None => "no_evidence",
        };
        self.rewards.get_or_create(&Label { what }).inc();
        self.submit.observe(since.elapsed().as_secs_f64());
    }

    pub(crate) fn ended(&self, what: &'static str) {
        self.ended.get_or_create(&Label { what }).inc();
    }

    pub(crate) fn refused(&self, what: &'static str) {
        self.refused.get_or_create(&Label { what }).inc();
    }

    /// All of it, in the text form of `OpenMetrics`.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        encode(&mut text, &self.registry).expect("a String takes any text");
        text
    }
}
