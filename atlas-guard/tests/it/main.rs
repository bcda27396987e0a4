//! Tests at the boundary that users see.
