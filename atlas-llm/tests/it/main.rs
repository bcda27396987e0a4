//! Models as their users open and nest them, over real HTTP.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod batches;
mod budget;
mod checked;
mod config;
mod conversations;
mod embeddings;
mod faults;
mod live;
mod nesting;
mod noise;
mod pace;
mod prices;
mod providers;
mod recorded_exchanges;
mod responses;
mod scripted;
mod secrets;
mod servers;
mod streams;
mod support;
mod tls;
