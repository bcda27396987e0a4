//! The server over a host of its own: in memory, the same each time, and with faults on demand.

mod client;
mod host;

mod episodes;
mod journal;
mod limits;
mod pool;
mod stopping;
mod tokens;
mod twice;
mod vanishing;
