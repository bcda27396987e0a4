//! Whether two systems differ on the same tasks.

#![expect(
    clippy::cast_precision_loss,
    reason = "counts of tasks are far below 2^53"
)]

/// `McNemar`'s exact test, two-sided: the chance to see a split of the tasks that only one of two systems solves at least as uneven as this
/// one, if each were as likely to be either's. `only_first` and `only_second` count them; tasks that both or neither solve tell nothing. 1
/// without any.
///
/// ```
/// use atlas_judge::metrics::mcnemar_exact;
/// assert_eq!(mcnemar_exact(0, 5), 0.0625);
/// assert_eq!(mcnemar_exact(3, 3), 1.0);
/// ```
pub fn mcnemar_exact(only_first: u64, only_second: u64) -> f64 {
    let (few, all) = (only_first.min(only_second), only_first + only_second);
    // In logarithms, since the first term of many tasks is below the smallest number.
    let mut term = -(all as f64) * std::f64::consts::LN_2;
    let mut sum = term.exp();
    for at in 0..few {
        term += ((all - at) as f64 / (at + 1) as f64).ln();
        sum += term.exp();
    }
    (2.0 * sum).min(1.0)
}

/// The p-values of several tests, adjusted so that the chance of any false alarm among them stays what it is for one (Holm 1979).
pub fn holm(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|one, other| values[*one].total_cmp(&values[*other]));
    let mut adjusted = vec![0.0; values.len()];
    let mut highest: f64 = 0.0;
    for (done, at) in order.into_iter().enumerate() {
        let left = (values.len() - done) as f64;
        highest = highest.max((values[at] * left).min(1.0));
        adjusted[at] = highest;
    }
    adjusted
}
