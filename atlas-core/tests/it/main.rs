//! Tests of the core at the boundary its users see.

mod patch;
