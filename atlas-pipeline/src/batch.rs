//! One function over many items: some at once, with the count of those that are done.

use atlas_core::{Error, RunContext};
use futures_util::StreamExt as _;

/// How many items are worked on.
pub(crate) struct Batch<'a> {
    /// Whose cancellation stops the batch, and to whose progress it reports.
    pub(crate) cx: &'a RunContext,
    /// The name of the work in progress and errors: `evaluate`.
    pub(crate) name: &'a str,
    /// Items that go on at once; 0 counts as 1.
    pub(crate) jobs: usize,
    /// Items that earlier runs had done: they count as done, and are not among those given.
    pub(crate) known: usize,
}

impl Batch<'_> {
    /// What `work` gives for each item, in the order of the items.
    ///
    /// # Errors
    /// The first one of `work`, and [`Cancelled`](atlas_core::ErrorKind::Cancelled); what is under way is dropped.
    pub(crate) async fn run<I, T, F, R>(
        &self,
        items: impl IntoIterator<Item = I, IntoIter: ExactSizeIterator>,
        work: F,
    ) -> Result<Vec<T>, Error>
    where
        F: Fn(I) -> R,
        R: Future<Output = Result<T, Error>>,
    {
        let items = items.into_iter();
        let mut done = Vec::with_capacity(items.len());
        let numbered = items.enumerate();
        let work = |(at, item)| {
            let work = work(item);
            async move { (at, work.await) }
        };
        self.each(numbered, work, |(at, result), _| {
            self.cx.check(self.name)?;
            done.push((at, result?));
            Ok(())
        })
        .await?;
        done.sort_unstable_by_key(|(at, _)| *at);
        Ok(done.into_iter().map(|(_, result)| result).collect())
    }

    /// Gives what `work` says of an item to `settle` as soon as it is there, with how many are done by then.
    ///
    /// # Errors
    /// The first one of `settle`; what is under way is dropped.
    pub(crate) async fn each<I, T, F, R>(
        &self,
        items: impl IntoIterator<Item = I, IntoIter: ExactSizeIterator>,
        work: F,
        mut settle: impl FnMut(T, usize) -> Result<(), Error>,
    ) -> Result<(), Error>
    where
        F: Fn(I) -> R,
        R: Future<Output = T>,
    {
        let (items, mut done) = (items.into_iter(), self.known);
        let total = done + items.len();
        let show = |done: usize| {
            let phase = format!("{}, {done} of {total} done", self.name);
            // The counts are set before the phase: whoever reacts to a new phase reads the total.
            self.cx.progress.counted(done, total);
            self.cx.progress.phase(&phase);
        };
        show(done);
        let work = futures_util::stream::iter(items.map(work)).buffer_unordered(self.jobs.max(1));
        let mut work = std::pin::pin!(work);
        while let Some(result) = work.next().await {
            done += 1;
            show(done);
            settle(result, done)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Batch;
    use atlas_core::{Error, ErrorKind, RunContext};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    #[tokio::test]
    async fn results_come_in_the_order_of_the_items() {
        let cx = RunContext::new("test");
        let (going, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let batch = Batch {
            cx: &cx,
            name: "wait",
            jobs: 3,
            known: 0,
        };
        let work = |millis: u64| {
            let (going, most) = (&going, &most);
            async move {
                most.fetch_max(going.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                tokio::time::sleep(Duration::from_millis(millis)).await;
                going.fetch_sub(1, Ordering::SeqCst);
                Ok(millis)
            }
        };
        let done = batch.run([60, 5, 30, 1, 20], work).await.unwrap();
        assert_eq!(done, [60, 5, 30, 1, 20]);
        assert_eq!(most.load(Ordering::SeqCst), 3);
    }

    #[tokio::test]
    async fn the_first_error_and_a_stop_end_it() {
        let cx = RunContext::new("test");
        let batch = Batch {
            cx: &cx,
            name: "count",
            jobs: 1,
            known: 2,
        };
        let seen = AtomicUsize::new(0);
        let work = |number: u32| {
            seen.fetch_add(1, Ordering::SeqCst);
            async move {
                if number == 2 {
                    return Err(Error::new(ErrorKind::Internal, "count", "two"));
                }
                Ok(number)
            }
        };
        let failed = batch.run(1..10_u32, work).await.unwrap_err();
        assert_eq!(failed.kind(), ErrorKind::Internal);
        assert!(seen.load(Ordering::SeqCst) < 9);
        cx.cancel.cancel();
        let stopped = batch.run([1], async |number: u32| Ok(number)).await;
        assert_eq!(stopped.unwrap_err().kind(), ErrorKind::Cancelled);
    }
}
