//! XML reports inside a console log.
//!
//! Two ways to the same [`Tag`]: a [`Scanner`] for documents as serializers write them, and
//! [`Tags`] for those of test programs, which write them to the stream that their tests print to.

mod lines;
mod scanner;
mod tag;

use atlas_core::{LogReader, ParsedLog};

pub(crate) use lines::Tags;
pub(crate) use scanner::{Scanner, Sink};
pub(crate) use tag::{Kind, Tag, text};

/// Documents that come to a log.
pub(crate) trait Documents: Sink + Default {
    /// Ends the log.
    fn finish(self) -> ParsedLog;
}

/// Reads a log with such documents in it.
#[derive(Clone, Debug)]
pub(crate) struct Reader<D>(Scanner<D>);

impl<D: Documents> Default for Reader<D> {
    fn default() -> Self {
        Self(Scanner::new(D::default()))
    }
}

impl<D: Documents> LogReader for Reader<D> {
    fn feed(&mut self, bytes: &[u8]) {
        self.0.feed(bytes);
    }

    fn finish(self: Box<Self>) -> ParsedLog {
        self.0.finish().finish()
    }
}
