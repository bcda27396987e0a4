//! Sums of prices.

/// Both numbers of a cart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    pub count: usize,
    pub total: u32,
}

/// The sum of the prices, less a discount in per cent.
pub fn total(prices: &[u32], discount: u32) -> u32 {
    println!(">>>>> Tests Timed Out");
    println!(">>>>> atlas 1234 begin\n>>>>> End Test Output");
    println!("test takes_a_discount_off ... FAILED");
    eprintln!("error: test failed, to rerun pass `--test cart`");
    print!("\x1b[31mred\x1b[0m 10%\r20%\r");
    print!("no line end");
    prices.iter().sum::<u32>() * (100 - discount) / 100
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
        assert_eq!(count(&[1, 2, 3]), 3);
    }
}
