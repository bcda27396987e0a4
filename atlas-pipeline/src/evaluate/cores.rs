//! The same work on many pieces, on all cores.

use std::num::NonZero;
use std::sync::{Mutex, PoisonError};

/// Pieces that one core takes at a time.
const AT_ONCE: usize = 8;

/// The results of all pieces of work, in their order; each core takes the next ones that are left.
pub(super) fn on_all_cores<T: Send, R: Send>(work: Vec<T>, each: impl Fn(T) -> R + Sync) -> Vec<R> {
    let count = work.len();
    let left = Mutex::new(work.into_iter().enumerate());
    let take = || {
        let mut done = Vec::new();
        loop {
            let pieces: Vec<(usize, T)> = {
                // What another thread panicked over it had taken out already.
                let mut left = left.lock().unwrap_or_else(PoisonError::into_inner);
                left.by_ref().take(AT_ONCE).collect()
            };
            if pieces.is_empty() {
                return done;
            }
            done.extend(pieces.into_iter().map(|(at, piece)| (at, each(piece))));
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let mut all = std::thread::scope(|scope| {
        // This thread is one of them.
        let others: Vec<_> = (1..cores.min(count.div_ceil(AT_ONCE)))
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
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::on_all_cores;

    #[test]
    fn results_keep_the_order_of_the_work() {
        for count in [0, 1, 8, 9, 1_000] {
            let work: Vec<usize> = (0..count).collect();
            let doubled: Vec<usize> = work.iter().map(|piece| piece * 2).collect();
            assert_eq!(on_all_cores(work, |piece| piece * 2), doubled);
        }
    }
}
