//! What stands for Parquet files in a build that has none: it says so.

use super::no_parquet;
use crate::row::Row;
use atlas_core::Error;
use std::path::Path;

/// The columns of a file that this build cannot write.
#[derive(Clone, Debug, Default)]
pub struct ParquetColumns(());

/// A file that this build cannot write: there is none.
#[derive(Debug)]
pub enum ParquetRows {}

impl ParquetColumns {
    /// Takes a row into account.
    ///
    /// # Errors
    /// Never in this build.
    pub fn add(&mut self, _: &Row) -> Result<(), Error> {
        Ok(())
    }

    /// Begins a file.
    ///
    /// # Errors
    /// Always in this build.
    pub fn create(&self, path: &Path) -> Result<ParquetRows, Error> {
        Err(no_parquet("write dataset", path))
    }
}

impl ParquetRows {
    /// Adds a row.
    ///
    /// # Errors
    /// Never: there is no file.
    pub fn add(&mut self, _: &Row) -> Result<(), Error> {
        match *self {}
    }

    /// Ends the file.
    ///
    /// # Errors
    /// Never: there is no file.
    pub fn finish(self) -> Result<(), Error> {
        match self {}
    }
}
