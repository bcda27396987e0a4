//! Reading rows for what is made of them, without keeping them.

use super::lists::{RowLists, take_out};
use super::plain::PlainRow;
use super::{
    DatasetPath, FirstPlaces, ReadOptions, columns, extension, found, read_file, refuse_other_files,
};
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

/// The same where one row is taken after the other, and nothing is gained by many.
const ONE_BY_ONE: usize = 128 << 10;

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
    map_rows_and_lists(path, options, &[], |row, _| make(row))
}

/// The same with lists of test ids beside the row: where one of these columns holds a list, the row may
/// have null there, and the list stands apart. It is read in half the time so.
///
/// # Errors
/// As [`read_dataset`](crate::read_dataset).
pub fn map_rows_and_lists<T: Send>(
    path: &Path,
    options: &ReadOptions,
    lists: &[&'static str],
    make: impl Fn(Row, RowLists) -> T + Send + Sync,
) -> Result<Rows<T>, Error> {
    map_any_rows(path, options, lists, None, &make)
}

/// The same, asking `plain` first for what it makes of a row of a file of lines that is a [`PlainRow`].
/// Where it makes nothing of it, it is `make` that is asked.
///
/// # Errors
/// As [`read_dataset`](crate::read_dataset).
pub fn map_plain_rows<T: Send>(
    path: &Path,
    options: &ReadOptions,
    lists: &[&'static str],
    plain: impl Fn(&PlainRow<'_>) -> Option<T> + Send + Sync,
    make: impl Fn(Row, RowLists) -> T + Send + Sync,
) -> Result<Rows<T>, Error> {
    map_any_rows(path, options, lists, Some(&plain), &make)
}

/// Reads a dataset as [`read_dataset`](crate::read_dataset) does and gives its rows to `take`, one after the other in their order, with
/// their text, and what is wrong with others.
///
/// A `.jsonl` file is read piece by piece, so it may be larger than the memory; other files are read whole first.
///
/// # Errors
/// As [`read_dataset`](crate::read_dataset), and those of `take`.
pub fn each_row(
    path: &Path,
    options: &ReadOptions,
    mut take: impl FnMut(Result<Row, RowFault>) -> Result<(), Error>,
) -> Result<(), Error> {
    let dataset = match found(path, options)? {
        DatasetPath::Tasks(dataset) => dataset,
        DatasetPath::File(file) => match lines_of(&file, ONE_BY_ONE)? {
            Some(pieces) => return each_line(&file, pieces, &mut take),
            None => read_file(&file)?,
        },
    };
    dataset
        .faults
        .into_iter()
        .map(Err)
        .try_for_each(&mut take)?;
    dataset.rows.into_iter().map(Ok).try_for_each(&mut take)
}

/// A file of lines, and its first piece of about this size with whether there may be more; nothing for another file.
fn lines_of(path: &Path, piece_size: usize) -> Result<Option<(File, Vec<u8>, bool)>, Error> {
    if !matches!(extension(path), Some("jsonl" | "ndjson")) {
        return Ok(None);
    }
    let failed = |why| Error::io("read dataset", path, why);
    let mut file = File::open(path).map_err(failed)?;
    let mut piece = Vec::new();
    let more = fill(&mut file, &mut piece, piece_size).map_err(failed)?;
    refuse_other_files("read dataset", path, &piece)?;
    Ok((!begins_a_list(&piece)).then_some((file, piece, more)))
}

/// How many bytes of a piece are whole lines.
fn whole_lines(piece: &[u8], more: bool) -> usize {
    if more {
        memchr::memrchr(b'\n', piece).map_or(0, |at| at + 1)
    } else {
        piece.len()
    }
}

fn each_line(
    path: &Path,
    (mut file, mut piece, mut more): (File, Vec<u8>, bool),
    take: &mut impl FnMut(Result<Row, RowFault>) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut progress = Progress::default();
    let mut seen = FirstPlaces::default();
    while !piece.is_empty() {
        let whole = whole_lines(&piece, more);
        for line in progress.lines(&piece[..whole]) {
            let place = place_of(path, line);
            let mut faults = Vec::new();
            let row = columns(line.body, None, &place, &mut faults).and_then(|columns| {
                let text = || String::from_utf8_lossy(line.body).into_owned();
                Row::read(columns, text, Some(place.clone()))
                    .map_err(|why| Box::new(RowFault::of_row(&place, &why)))
            });
            if let Ok(row) = &row {
                faults.extend(seen.add(row.id().clone(), place));
            }
            faults.into_iter().map(Err).try_for_each(&mut *take)?;
            take(row.map_err(|fault| *fault))?;
        }
        piece.drain(..whole);
        more = more
            && fill(&mut file, &mut piece, ONE_BY_ONE)
                .map_err(|why| Error::io("read dataset", path, why))?;
    }
    Ok(())
}

/// What makes something of a plain row.
type OfPlain<'a, T> = &'a (dyn Fn(&PlainRow<'_>) -> Option<T> + Send + Sync);

fn map_any_rows<T: Send>(
    path: &Path,
    options: &ReadOptions,
    lists: &[&'static str],
    plain: Option<OfPlain<'_, T>>,
    make: &(impl Fn(Row, RowLists) -> T + Send + Sync),
) -> Result<Rows<T>, Error> {
    let dataset = match found(path, options)? {
        DatasetPath::Tasks(dataset) => dataset,
        DatasetPath::File(file) => match by_lines(&file, lists, plain, make)? {
            Some(rows) => return Ok(rows),
            None => read_file(&file)?,
        },
    };
    let rows = dataset.rows.into_par_iter();
    let rows = rows.map(|row| make(row, RowLists::default())).collect();
    Ok((rows, dataset.faults))
}

/// The same for a file of lines; nothing for another.
fn by_lines<T: Send>(
    path: &Path,
    lists: &[&'static str],
    plain: Option<OfPlain<'_, T>>,
    make: &(impl Fn(Row, RowLists) -> T + Send + Sync),
) -> Result<Option<Rows<T>>, Error> {
    let failed = |why| Error::io("read dataset", path, why);
    let Some((mut file, mut piece, mut more)) = lines_of(path, PIECE)? else {
        return Ok(None);
    };
    let mut progress = Progress::default();
    let mut seen = FirstPlaces::default();
    let (mut all, mut faults) = (Vec::new(), Vec::new());
    let mut next = Vec::new();
    while !piece.is_empty() {
        let whole = whole_lines(&piece, more);
        next.clear();
        next.extend_from_slice(&piece[whole..]);
        let lines = progress.lines(&piece[..whole]);
        let of_line = |line: &Line<'_>| {
            let plain = plain.and_then(|plain| read_plain(path, *line, lists, plain));
            plain.unwrap_or_else(|| read_line(path, *line, lists, make))
        };
        // The next piece comes in while this one is worked on.
        let (read, done) = rayon::join(
            || {
                if more {
                    fill(&mut file, &mut next, PIECE)
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
                    faults.extend(seen.add(id, place));
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
fn fill(file: &mut File, bytes: &mut Vec<u8>, piece_size: usize) -> std::io::Result<bool> {
    let wanted = piece_size.max(bytes.len());
    bytes.reserve(wanted);
    let limit = u64::try_from(wanted).unwrap_or(u64::MAX);
    let read = file.take(limit).read_to_end(bytes)?;
    Ok(read == wanted)
}

/// What was made of a line, and what is odd about it.
type Made<T> = (Vec<RowFault>, Result<(InstanceId, Place, T), Box<RowFault>>);

fn place_of(path: &Path, line: Line<'_>) -> Place {
    Place {
        file: path.to_owned(),
        line: line.number,
        index: line.index,
    }
}

fn read_plain<T>(
    path: &Path,
    line: Line<'_>,
    lists: &[&'static str],
    plain: OfPlain<'_, T>,
) -> Option<Made<T>> {
    let text = simdutf8::basic::from_utf8(line.body).ok()?;
    let row = PlainRow::read(text, line.number, lists)?;
    let made = plain(&row)?;
    Some((
        Vec::new(),
        Ok((row.id().clone(), place_of(path, line), made)),
    ))
}

fn read_line<T>(
    path: &Path,
    line: Line<'_>,
    lists: &[&'static str],
    make: impl Fn(Row, RowLists) -> T,
) -> Made<T> {
    let place = place_of(path, line);
    let read = |body: &[u8], faults: &mut Vec<RowFault>| {
        let columns = columns(body, None, &place, faults)?;
        Row::read(columns, String::new, Some(place.clone()))
            .map_err(|why| Box::new(RowFault::of_row(&place, &why)))
    };
    let mut faults = Vec::new();
    // Of a row that is broken, the places are to be told in the whole of it.
    let apart = lists_apart(line.body, lists).and_then(|(left, lists)| {
        let row = read(left.as_bytes(), &mut faults);
        row.ok().map(|row| (row, lists))
    });
    let done = if let Some(done) = apart {
        Ok(done)
    } else {
        faults.clear();
        read(line.body, &mut faults).map(|row| (row, RowLists::default()))
    };
    let done = done.map(|(row, lists)| (row.id().clone(), place, make(row, lists)));
    (faults, done)
}

fn lists_apart(body: &[u8], lists: &[&'static str]) -> Option<(String, RowLists)> {
    if lists.is_empty() {
        return None;
    }
    take_out(simdutf8::basic::from_utf8(body).ok()?, lists)
}
