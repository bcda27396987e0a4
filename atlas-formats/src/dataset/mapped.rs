//! Reading rows for what is made of them, without keeping them.

use super::{Found, ReadOptions, Seen, columns, extension, found, read_file, refuse_other_files};
use crate::fault::RowFault;
use crate::framing::{Line, Progress, begins_a_list};
use crate::row::{Place, Row};
use atlas_core::{Error, InstanceId};
use rayon::prelude::*;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Bytes that are read at once: many rows, and not so many that they leave the caches.
const PIECE: usize = 2 << 20;

/// What was made of the rows, and what is wrong with others.
type Rows<T> = (Vec<T>, Vec<RowFault>);

/// Reads a dataset as [`read_dataset`](crate::read_dataset) does and keeps what `make` makes of each
/// row, in their order, with what is wrong with others. Rows are made into something on all cores.
///
/// A `.jsonl` file is read piece by piece, so it may be larger than the memory. Its rows have no text:
/// [`Row::json`] is empty.
///
/// # Errors
/// As [`read_dataset`](crate::read_dataset).
pub fn map_rows<T: Send>(
    path: &Path,
    options: &ReadOptions,
    make: impl Fn(Row) -> T + Send + Sync,
) -> Result<Rows<T>, Error> {
    let dataset = match found(path, options)? {
        Found::Tasks(dataset) => dataset,
        Found::File(file) => match by_lines(&file, &make)? {
            Some(rows) => return Ok(rows),
            None => read_file(&file)?,
        },
    };
    let rows = dataset.rows.into_par_iter().map(make).collect();
    Ok((rows, dataset.faults))
}

/// The same for a file of lines; nothing for another.
fn by_lines<T: Send>(
    path: &Path,
    make: &(impl Fn(Row) -> T + Send + Sync),
) -> Result<Option<Rows<T>>, Error> {
    if !matches!(extension(path), Some("jsonl" | "ndjson")) {
        return Ok(None);
    }
    let failed = |why| Error::io("read dataset", path, why);
    let mut file = File::open(path).map_err(failed)?;
    let mut piece = Vec::new();
    let mut more = fill(&mut file, &mut piece).map_err(failed)?;
    refuse_other_files("read dataset", path, &piece)?;
    if begins_a_list(&piece) {
        return Ok(None);
    }
    let mut progress = Progress::default();
    let mut seen = Seen::default();
    let (mut all, mut faults) = (Vec::new(), Vec::new());
    let mut next = Vec::new();
    while !piece.is_empty() {
        let last_end = memchr::memrchr(b'\n', &piece).map(|at| at + 1);
        let whole = if more {
            last_end.unwrap_or(0)
        } else {
            piece.len()
        };
        next.clear();
        next.extend_from_slice(&piece[whole..]);
        let lines = progress.lines(&piece[..whole]);
        let of_line = |line: &Line<'_>| read_line(path, *line, make);
        // The next piece comes in while this one is worked on.
        let (read, done) = rayon::join(
            || {
                if more {
                    fill(&mut file, &mut next)
                } else {
                    Ok(false)
                }
            },
            || lines.par_iter().map(of_line).collect::<Vec<_>>(),
        );
        for (line_faults, row) in done {
            faults.extend(line_faults);
            match row {
                Ok((id, place, one)) => {
                    faults.extend(seen.add(&id, &place));
                    all.push(one);
                }
                Err(fault) => faults.push(*fault),
            }
        }
        more = read.map_err(failed)?;
        std::mem::swap(&mut piece, &mut next);
    }
    Ok(Some((all, faults)))
}

/// Reads on behind what is there already, as much again and at least a piece. Says whether there may be
/// more.
fn fill(file: &mut File, bytes: &mut Vec<u8>) -> std::io::Result<bool> {
    let wanted = PIECE.max(bytes.len());
    bytes.reserve(wanted);
    let limit = u64::try_from(wanted).unwrap_or(u64::MAX);
    let read = file.take(limit).read_to_end(bytes)?;
    Ok(read == wanted)
}

type Made<T> = Result<(InstanceId, Place, T), Box<RowFault>>;

fn read_line<T>(path: &Path, line: Line<'_>, make: impl Fn(Row) -> T) -> (Vec<RowFault>, Made<T>) {
    let place = Place {
        file: path.to_owned(),
        line: line.number,
        index: line.index,
    };
    let mut faults = Vec::new();
    let row = columns(line.body, None, &place, &mut faults).and_then(|columns| {
        Row::read(columns, String::new, Some(place.clone()))
            .map_err(|why| Box::new(RowFault::of_row(&place, &why)))
    });
    let done = row.map(|row| (row.id().clone(), place, make(row)));
    (faults, done)
}
