//! Rows that become a Parquet file one after the other: memory holds those of one row group.

use super::shape::Shapes;
use super::{GROUP, Group, failed, new_writer};
use crate::row::Row;
use atlas_core::Error;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::TypePtr;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

const OPERATION: &str = "write dataset";

/// The columns of a file that is to be written. Each row is looked at once before the first is written: a column has one type.
#[derive(Clone, Debug, Default)]
pub struct ParquetColumns(Shapes);

impl ParquetColumns {
    /// Takes a row into account.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`](atlas_core::ErrorKind) for a value that no column can hold beside those of earlier rows.
    pub fn add(&mut self, row: &Row) -> Result<(), Error> {
        let path = Path::new("the rows");
        self.0.add(row).map_err(|why| failed(OPERATION, path, why))
    }

    /// Begins a file for these rows. It is not whole before [`ParquetRows::finish`].
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn create(&self, path: &Path) -> Result<ParquetRows, Error> {
        let wrong = |why: String| failed(OPERATION, path, why);
        let schema = self.0.schema().map_err(wrong)?;
        let file = File::create(path).map_err(|why| Error::io(OPERATION, path, why))?;
        Ok(ParquetRows {
            path: path.to_owned(),
            writer: new_writer(BufWriter::new(file), &schema).map_err(wrong)?,
            group: Group::new(&schema).map_err(wrong)?,
            schema,
        })
    }
}

/// A Parquet file while it is written: byte for byte what [`Dataset::write`](crate::Dataset::write) makes of the same rows.
pub struct ParquetRows {
    path: PathBuf,
    schema: TypePtr,
    writer: SerializedFileWriter<BufWriter<File>>,
    group: Group,
}

impl std::fmt::Debug for ParquetRows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ParquetRows")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl ParquetRows {
    /// Adds a row.
    ///
    /// # Errors
    /// A value that its column cannot hold; a file that cannot be written.
    pub fn add(&mut self, row: &Row) -> Result<(), Error> {
        let wrong = |why: String| failed(OPERATION, &self.path, why);
        self.group.add(row).map_err(wrong)?;
        if self.group.rows == GROUP {
            self.group.write(&mut self.writer).map_err(wrong)?;
            self.group = Group::new(&self.schema).map_err(wrong)?;
        }
        Ok(())
    }

    /// Ends the file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish(mut self) -> Result<(), Error> {
        let wrong = |why: String| failed(OPERATION, &self.path, why);
        if self.group.rows > 0 {
            self.group.write(&mut self.writer).map_err(wrong)?;
        }
        let out = self
            .writer
            .into_inner()
            .map_err(|why| wrong(why.to_string()))?;
        out.into_inner()
            .map(drop)
            .map_err(|why| Error::io(OPERATION, &self.path, why.into_error()))
    }
}
