//! Answers that lie in a file until they are asked for again.

use atlas_core::{Completion, Error, ErrorKind};
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};

/// Answers by the keys of their questions, in a file without a name: of many only their places are in memory. The file is
/// made with the first answer, and gone with the list, also after a kill.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    file: Option<File>,
    /// By a hash of the key: where it begins, and how long it is.
    places: HashMap<[u8; 32], (u64, usize)>,
    end: u64,
}

impl Answers {
    /// The answer to a question, if there is one.
    pub(crate) fn get(&mut self, key: &str) -> Result<Option<Completion>, Error> {
        let (Some((at, length)), Some(file)) = (self.places.get(&hash(key)), &mut self.file) else {
            return Ok(None);
        };
        let mut bytes = vec![0; *length];
        file.seek(SeekFrom::Start(*at))
            .and_then(|_| file.read_exact(&mut bytes))
            .map_err(|why| Error::io("read an answer again from", &std::env::temp_dir(), why))?;
        serde_json::from_slice(&bytes).map(Some).map_err(|why| {
            Error::new(ErrorKind::Internal, "decode", "an answer that was kept").with_source(why)
        })
    }

    /// Keeps an answer.
    pub(crate) fn put(&mut self, key: &str, answer: &Completion) -> Result<(), Error> {
        let bytes = serde_json::to_vec(answer).map_err(|why| {
            Error::new(ErrorKind::Internal, "encode", "an answer to be kept").with_source(why)
        })?;
        let fail = |why| Error::io("keep an answer in", &std::env::temp_dir(), why);
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile().map_err(fail)?),
        };
        file.seek(SeekFrom::Start(self.end))
            .and_then(|_| file.write_all(&bytes))
            .map_err(fail)?;
        self.places.insert(hash(key), (self.end, bytes.len()));
        self.end += bytes.len() as u64;
        Ok(())
    }
}

fn hash(key: &str) -> [u8; 32] {
    Sha256::digest(key).into()
}
