//! XML reports inside a console log.
//!
//! Two ways to the same [`Tag`]: a [`Scanner`] for documents as serializers write them, and
//! [`Tags`] for those of test programs, which write them to the stream that their tests print to.

mod lines;
mod scanner;
mod tag;

pub(crate) use lines::Tags;
pub(crate) use scanner::{Scanner, Sink};
pub(crate) use tag::{Kind, Tag, text};
