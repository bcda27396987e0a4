//! The statistics of repeated runs.

use atlas_oracle::{
    PassRate, SequentialTest, Stability, detectable_fail_rate, miss_probability, runs_to_find,
};
use proptest::prelude::*;

fn close(left: f64, right: f64) {
    assert!((left - right).abs() < 5e-4, "{left} is not {right}");
}

/// Values of Clopper-Pearson intervals as textbooks and R's `binom.test` give them.
#[test]
fn intervals_are_the_exact_ones() {
    for (passes, runs, low, high) in [
        (0, 10, 0.0, 0.3085),
        (1, 10, 0.0025, 0.4450),
        (5, 10, 0.1871, 0.8129),
        (8, 10, 0.4439, 0.9748),
        (10, 10, 0.6915, 1.0),
        (2, 3, 0.0943, 0.9916),
        (95, 100, 0.8872, 0.9836),
    ] {
        let interval = PassRate { passes, runs }.interval(0.95);
        close(interval.low, low);
        close(interval.high, high);
    }
}

#[test]
fn a_number_of_runs_has_a_power() {
    for (rate, runs) in [(0.5, 6), (0.2, 14), (0.1, 29), (0.05, 59), (0.01, 299)] {
        assert_eq!(runs_to_find(rate, 0.95), Some(runs));
        assert!(miss_probability(rate, runs) <= 0.05);
        assert!(miss_probability(rate, runs - 1) > 0.05);
        assert!(detectable_fail_rate(runs, 0.95).unwrap() <= rate + 1e-9);
    }
    assert_eq!(detectable_fail_rate(1, 0.95), None);
    assert_eq!(runs_to_find(0.0, 0.95), None);
}

/// The exact probability that the sequential test ends with a given word for tests that deviate at
/// `rate`, by the distribution of deviations over runs that are still undecided.
fn ends_as(test: &SequentialTest, rate: f64, wanted: Stability, most: u32) -> f64 {
    let mut open = vec![1.0_f64];
    let mut found = 0.0;
    for runs in 1..=most {
        let mut next = vec![0.0; open.len() + 1];
        for (deviations, share) in open.iter().enumerate() {
            next[deviations] += share * (1.0 - rate);
            next[deviations + 1] += share * rate;
        }
        for (deviations, share) in next.iter_mut().enumerate() {
            let word = test.decide(u32::try_from(deviations).unwrap(), runs);
            if word != Stability::Open {
                if word == wanted {
                    found += *share;
                }
                *share = 0.0;
            }
        }
        open = next;
    }
    found
}

#[test]
fn the_sequential_test_keeps_its_promises() {
    let strict = SequentialTest::default();
    assert_eq!(strict.runs_if_stable(), 59);
    assert!(ends_as(&strict, strict.rate, Stability::Stable, 400) <= 0.05);
    let tolerant = SequentialTest {
        rate: 0.1,
        tolerated: 0.01,
        ..SequentialTest::default()
    };
    // Wald's bounds: miss / (1 - false alarm), and the other way round.
    let bound = 0.05 / 0.95 + 1e-9;
    assert!(ends_as(&tolerant, 0.1, Stability::Stable, 600) <= bound);
    assert!(ends_as(&tolerant, 0.01, Stability::Unstable, 600) <= bound);
    assert!(ends_as(&tolerant, 0.01, Stability::Stable, 600) > 0.9);
}

proptest! {
    #[test]
    fn an_interval_holds_the_share_and_widens_with_confidence(runs in 1..200_u32, share in 0.0..=1.0_f64) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to runs")]
        let passes = (f64::from(runs) * share) as u32;
        let rate = PassRate { passes, runs };
        let (narrow, wide) = (rate.interval(0.8), rate.interval(0.99));
        let seen = f64::from(passes) / f64::from(runs);
        prop_assert!(narrow.low <= seen + 1e-9 && seen <= narrow.high + 1e-9);
        prop_assert!(wide.low <= narrow.low + 1e-9 && narrow.high <= wide.high + 1e-9);
        prop_assert!((0.0..=1.0).contains(&wide.low) && (0.0..=1.0).contains(&wide.high));
    }
}
