//! Values that lie in a file until they are needed.

use atlas_core::{Error, ErrorKind};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::Write as _;
use std::marker::PhantomData;
use std::os::unix::fs::FileExt as _;

/// A list whose values lie in a file without a name, so that of many only those that are worked on are in memory. The
/// file is gone with the list, also after a kill.
#[derive(Debug)]
pub(crate) struct Spool<T> {
    file: File,
    places: Vec<Place>,
    of: PhantomData<fn() -> T>,
}

/// Where a text lies in a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) at: u64,
    pub(crate) bytes: usize,
}

impl Place {
    /// Reads what lies here.
    pub(crate) fn read(self, file: &File) -> std::io::Result<Vec<u8>> {
        let mut bytes = vec![0; self.bytes];
        file.read_exact_at(&mut bytes, self.at)?;
        Ok(bytes)
    }

    /// Where the next text begins.
    pub(crate) fn end(self) -> u64 {
        self.at + self.bytes as u64
    }
}

impl<T: Serialize + DeserializeOwned> Spool<T> {
    /// An empty list.
    pub(crate) fn new() -> Result<Self, Error> {
        let file = tempfile::tempfile()
            .map_err(|why| Error::io("make a file in", &std::env::temp_dir(), why))?;
        Ok(Self {
            file,
            places: Vec::new(),
            of: PhantomData,
        })
    }

    /// Adds a value and says where it stands in the list.
    pub(crate) fn push(&mut self, value: &T) -> Result<usize, Error> {
        let bytes = serde_json::to_vec(value).map_err(|why| {
            Error::new(ErrorKind::Internal, "encode", "a value to be kept").with_source(why)
        })?;
        self.file
            .write_all(&bytes)
            .map_err(|why| Error::io("write into", &std::env::temp_dir(), why))?;
        let at = self.places.last().map_or(0, |last| last.end());
        let bytes = bytes.len();
        self.places.push(Place { at, bytes });
        Ok(self.places.len() - 1)
    }

    /// The value at a place of the list that [`Spool::push`] gave.
    pub(crate) fn get(&self, at: usize) -> Result<T, Error> {
        let fail = |why| Error::io("read again from", &std::env::temp_dir(), why);
        let bytes = self.places[at].read(&self.file).map_err(fail)?;
        serde_json::from_slice(&bytes).map_err(|why| {
            Error::new(ErrorKind::Internal, "decode", "a value that was kept").with_source(why)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_in_any_order() {
        let mut all = Spool::new().unwrap();
        let values = ["", "ü\n", "a", &"x".repeat(100_000)].map(str::to_owned);
        let places: Vec<usize> = values.iter().map(|one| all.push(one).unwrap()).collect();
        assert_eq!(places, [0, 1, 2, 3]);
        for at in [3, 0, 2, 1] {
            assert_eq!(all.get(at).unwrap(), values[at]);
        }
    }
}
