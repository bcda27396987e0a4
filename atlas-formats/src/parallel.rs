//! The same work on many pieces, on all cores.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Pieces that one core takes at a time: threads do not meet over every small one.
const AT_ONCE: usize = 16;

/// The results of all pieces of work, in their order; each core takes the next ones that are left.
pub(crate) fn on_all_cores<T: Sync, R: Send>(work: &[T], each: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let take = || {
        let mut done = Vec::new();
        loop {
            let from = next.fetch_add(AT_ONCE, Ordering::Relaxed);
            let Some(pieces) = work.get(from..work.len().min(from + AT_ONCE)) else {
                return done;
            };
            if pieces.is_empty() {
                return done;
            }
            done.push((from, pieces.iter().map(&each).collect::<Vec<R>>()));
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let mut all = std::thread::scope(|scope| {
        // This thread is one of them.
        let others: Vec<_> = (1..cores.min(work.len().div_ceil(AT_ONCE)))
            .map(|_| scope.spawn(take))
            .collect();
        let mut all = take();
        for other in others {
            match other.join() {
                Ok(done) => all.extend(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    });
    all.sort_by_key(|(from, _)| *from);
    all.into_iter().flat_map(|(_, results)| results).collect()
}

#[cfg(test)]
mod tests {
    use super::on_all_cores;

    #[test]
    fn results_keep_the_order_of_the_work() {
        for count in [0, 1, 15, 16, 17, 1_000] {
            let work: Vec<usize> = (0..count).collect();
            let doubled: Vec<usize> = work.iter().map(|piece| piece * 2).collect();
            assert_eq!(on_all_cores(&work, |piece| piece * 2), doubled);
        }
    }
}
