//! The state-differential test oracle: three states, one selection, one verdict with its evidence.
