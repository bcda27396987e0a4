//! Pass@k, the one estimator that scores, policies and leaderboards share.

/// The chance that at least one of `k` runs, drawn without replacement from `n` of which `c`
/// succeed, succeeds: `1 - C(n-c, k) / C(n, k)`. The estimator of the field, without bias.
///
/// Counted with whole numbers as long as the binomials fit, else multiplied out, so that nothing
/// overflows for any `n`.
///
/// `None` where it is not defined: `c > n` or `k > n`.
///
/// ```
/// use atlas_core::pass_at_k;
/// assert_eq!(pass_at_k(20, 1, 5), Some(0.25));
/// assert_eq!(pass_at_k(5, 2, 4), Some(1.0)); // four of five cannot avoid both
/// assert_eq!(pass_at_k(3, 1, 5), None);
/// ```
#[expect(
    clippy::cast_precision_loss,
    reason = "both whole numbers are rounded once, which is all that a quotient in f64 can keep"
)]
pub fn pass_at_k(n: u64, c: u64, k: u64) -> Option<f64> {
    if c > n || k > n {
        return None;
    }
    if n - c < k {
        return Some(1.0);
    }
    if let (Some(all), Some(missing)) = (binomial(n, k), binomial(n - c, k)) {
        return Some((all - missing) as f64 / all as f64);
    }
    // The chance of missing all: the product over i in (n-c, n] of 1 - k/i, or the same with c and k
    // exchanged; the one with fewer factors. As a sum of logarithms it keeps the digits of a small
    // result, which 1 - product would lose.
    let (few, less) = (c.min(k), c.max(k));
    let mut sum = 0.0_f64;
    for i in n - few + 1..=n {
        sum += (-(less as f64 / i as f64)).ln_1p();
        if sum < -60.0 {
            return Some(1.0); // e^-60 is below half a unit of 1.0's last place
        }
    }
    Some((-sum.exp_m1()).clamp(0.0, 1.0))
}

/// `C(n, k)`, where every step of counting it fits.
fn binomial(n: u64, k: u64) -> Option<u128> {
    let k = k.min(n.saturating_sub(k));
    let mut found = 1_u128;
    for i in 0..k {
        // Exact at each step: a product of i+1 neighbours is divisible by (i+1)!.
        found = found.checked_mul(u128::from(n - i))? / u128::from(i + 1);
    }
    Some(found)
}
