#![doc = include_str!("../README.md")]

mod base;
mod signal;

mod guard;
mod input;

mod change;
mod command;
mod family;
mod places;
mod rules;
mod sections;
mod text;
mod upstream;

mod code;

mod canary;

pub use base::BaseFiles;
pub use canary::{Canary, Twin, Twins, canaries, canary, twins};
pub use code::suspicious_code;
pub use guard::{Guarded, guard};
pub use input::GuardInput;
pub use signal::{Signal, SignalAction, SignalKind, SignalSeverity};
