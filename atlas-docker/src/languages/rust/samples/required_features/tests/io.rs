#![cfg(feature = "std")]
