//! Sums of prices.

mod sums;

pub use sums::{count, summary, total, Summary};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts() {
        assert_eq!(count(&[1, 2, 3]), 3);
    }
}
