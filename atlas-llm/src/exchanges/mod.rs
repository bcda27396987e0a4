//! Answers that were paid for, in a file that outlives the run.

mod batches;
mod calls;

use crate::Exchange;
use atlas_core::{Completion, Error, ErrorKind};
use rusqlite::{Connection, OptionalExtension as _, params};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub use batches::WaitingBatch;
#[cfg(feature = "http")]
pub(crate) use batches::{StoredBatch, StoredQuestion};

/// A file of exchanges (`SQLite`), found by what was asked of whom. Several processes may use it at once; a process
/// that is killed loses no answer that it had.
///
/// Beside the answers it holds what each run has paid, call by call ([`Exchanges::paid`]), and the batches that a server
/// works on ([`Exchanges::waiting`]).
#[derive(Debug)]
pub struct Exchanges {
    path: PathBuf,
    connection: Mutex<Connection>,
}

impl Exchanges {
    /// Opens a file, a new one where there is none.
    ///
    /// # Errors
    /// It cannot be opened or is no such file.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let opened = || -> rusqlite::Result<Connection> {
            let connection = Connection::open(path)?;
            connection.busy_timeout(Duration::from_secs(10))?;
            connection.pragma_update(None, "journal_mode", "WAL")?;
            connection.pragma_update(None, "synchronous", "NORMAL")?;
            connection.execute_batch(
                "CREATE TABLE IF NOT EXISTS exchange (key TEXT PRIMARY KEY, exchange TEXT NOT NULL) STRICT;
                 CREATE TABLE IF NOT EXISTS call (id INTEGER PRIMARY KEY, run TEXT NOT NULL, model TEXT NOT NULL,
                     account TEXT NOT NULL) STRICT;
                 CREATE INDEX IF NOT EXISTS call_by_run ON call (run);
                 CREATE TABLE IF NOT EXISTS batch (token TEXT PRIMARY KEY, asked TEXT NOT NULL, run TEXT NOT NULL,
                     id TEXT) STRICT;
                 CREATE TABLE IF NOT EXISTS batch_question (batch TEXT NOT NULL, number INTEGER NOT NULL,
                     key TEXT NOT NULL, request TEXT NOT NULL, call INTEGER NOT NULL,
                     PRIMARY KEY (batch, number)) STRICT;",
            )?;
            Ok(connection)
        };
        Ok(Self {
            connection: Mutex::new(opened().map_err(|why| failed(path, why))?),
            path: path.to_owned(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn failed(&self, why: impl std::error::Error + Send + Sync + 'static) -> Error {
        failed(&self.path, why)
    }

    /// The answer under a key.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn get(&self, key: &str) -> Result<Option<Completion>, Error> {
        let found: Option<String> = self
            .lock()
            .prepare_cached("SELECT exchange FROM exchange WHERE key = ?1")
            .and_then(|mut query| query.query_row([key], |row| row.get(0)).optional())
            .map_err(|why| self.failed(why))?;
        let exchange = found.map(|text| serde_json::from_str::<Exchange>(&text));
        let exchange = exchange.transpose().map_err(|why| self.failed(why))?;
        Ok(exchange.map(|exchange| exchange.completion))
    }

    /// Keeps an answer; one that is there already stays.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn put(&self, key: &str, exchange: &Exchange) -> Result<(), Error> {
        let text = serde_json::to_string(exchange).map_err(|why| self.failed(why))?;
        self.lock()
            .prepare_cached("INSERT OR IGNORE INTO exchange VALUES (?1, ?2)")
            .and_then(|mut insert| insert.execute(params![key, text]))
            .map_err(|why| self.failed(why))?;
        Ok(())
    }

    /// Writes all exchanges in the order in which they were made, one JSON object a line, as
    /// [`Replay`](crate::Replay) reads them.
    ///
    /// # Errors
    /// The file cannot be read, or `out` not be written.
    pub fn export(&self, mut out: impl Write) -> Result<u64, Error> {
        let connection = self.lock();
        let mut query = connection
            .prepare("SELECT exchange FROM exchange ORDER BY rowid")
            .map_err(|why| self.failed(why))?;
        let rows = query
            .query_map([], |row| row.get::<_, String>(0))
            .map_err(|why| self.failed(why))?;
        let mut count = 0;
        for row in rows {
            let text = row.map_err(|why| self.failed(why))?;
            writeln!(out, "{text}").map_err(|why| self.failed(why))?;
            count += 1;
        }
        Ok(count)
    }
}

/// Who is asked, as batches are kept by it: a model's name and its settings.
pub(crate) fn asked(name: &str, settings: &str) -> String {
    format!("{name} {settings}")
}

fn failed(path: &Path, why: impl std::error::Error + Send + Sync + 'static) -> Error {
    let place = format!("`{}`", path.display());
    Error::new(ErrorKind::Io, "use the file of exchanges", place).with_source(why)
}
