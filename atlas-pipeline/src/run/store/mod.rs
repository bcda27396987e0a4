//! The store of a run: one `SQLite` file.

mod environments;
mod import;
mod queue;
mod read;

pub use environments::RepositoryImages;
pub use import::ImportReport;
pub(super) use queue::{Choice, Claim, Ending};
pub(super) use read::{Story, ToldStep};

use atlas_core::{Error, ErrorKind};
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The form of the tables. Form 1 had no environments.
const FORM: i64 = 2;

/// How long somebody waits for another process's transaction.
const BUSY: Duration = Duration::from_secs(60);

/// Candidates and steps of a run. Several processes may use it at once: what changes it is one transaction.
#[derive(Debug)]
pub(super) struct Store {
    path: PathBuf,
    connection: Mutex<Connection>,
}

impl Store {
    /// The file in a run's folder.
    pub(super) fn file(folder: &Path) -> PathBuf {
        folder.join("run.sqlite")
    }

    /// Opens the store in a folder, a new one where there is none.
    ///
    /// # Errors
    /// It cannot be opened, or is of another form.
    pub(super) fn open(folder: &Path) -> Result<Self, Error> {
        std::fs::create_dir_all(folder).map_err(|why| Error::io("make", folder, why))?;
        let path = Self::file(folder);
        let opened = || -> rusqlite::Result<(Connection, i64)> {
            let mut connection = Connection::open(&path)?;
            connection.busy_timeout(BUSY)?;
            connection.pragma_update(None, "journal_mode", "WAL")?;
            // A step that is told to be done is done after a power cut, too.
            connection.pragma_update(None, "synchronous", "FULL")?;
            connection.pragma_update(None, "cache_size", -65_536)?;
            let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let mut form: i64 =
                change.pragma_query_value(None, "user_version", |row| row.get(0))?;
            if form == 0 {
                change.execute_batch(include_str!("schema.sql"))?;
                form = 1;
            }
            if form == 1 {
                change.execute_batch(include_str!("environments.sql"))?;
                change.pragma_update(None, "user_version", FORM)?;
                form = FORM;
            }
            change.commit()?;
            Ok((connection, form))
        };
        let (connection, form) = opened().map_err(|why| failed(&path, why))?;
        Self::of(path, connection, form)
    }

    /// Opens it to read only; nothing of it is changed, and nobody waits for the reader.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] where no run was; it cannot be opened, or is of another form.
    pub(super) fn read(folder: &Path) -> Result<Self, Error> {
        let path = Self::file(folder);
        if !path.exists() {
            let place = format!("`{}`: `atlas run` makes one", folder.display());
            return Err(Error::new(ErrorKind::NotFound, "find a run in", place));
        }
        let opened = || -> rusqlite::Result<(Connection, i64)> {
            let connection = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
            connection.busy_timeout(BUSY)?;
            let form = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
            Ok((connection, form))
        };
        let (connection, form) = opened().map_err(|why| failed(&path, why))?;
        if form < FORM {
            let said = format!(
                "`{}`: an earlier Atlas made it; `atlas run` brings it up to date, with its results",
                path.display()
            );
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "read the run's store",
                said,
            ));
        }
        Self::of(path, connection, form)
    }

    fn of(path: PathBuf, connection: Connection, form: i64) -> Result<Self, Error> {
        if form != FORM {
            let said = format!(
                "`{}`: its form is {form}, and this Atlas knows {FORM}; choose another `run.folder`",
                path.display()
            );
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "open the run's store",
                said,
            ));
        }
        Ok(Self {
            path,
            connection: Mutex::new(connection),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// One look, all of the same moment.
    fn look<T>(&self, look: impl FnOnce(&Transaction) -> rusqlite::Result<T>) -> Result<T, Error> {
        let mut connection = self.lock();
        let looked = || {
            let at = connection.transaction()?;
            look(&at)
        };
        looked().map_err(|why| failed(&self.path, why))
    }

    /// One change, whole or not at all.
    fn change<T>(
        &self,
        change: impl FnOnce(&Transaction) -> rusqlite::Result<T>,
    ) -> Result<T, Error> {
        let mut connection = self.lock();
        let changed = || {
            let at = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let made = change(&at)?;
            at.commit()?;
            Ok(made)
        };
        changed().map_err(|why| failed(&self.path, why))
    }
}

fn failed(path: &Path, why: rusqlite::Error) -> Error {
    let place = format!("`{}`", path.display());
    Error::new(ErrorKind::Io, "use the run's store", place).with_source(why)
}

/// Milliseconds since 1970.
pub(super) fn now() -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::Store;

    #[test]
    fn a_store_of_an_earlier_form_keeps_what_it_holds() {
        let folder = tempfile::tempdir().unwrap();
        let path = Store::file(folder.path());
        let old = rusqlite::Connection::open(&path).unwrap();
        old.execute_batch(include_str!("schema.sql")).unwrap();
        old.execute_batch(
            "UPDATE number SET value = 7 WHERE name = 'candidates'; PRAGMA user_version = 1",
        )
        .unwrap();
        drop(old);
        let why = Store::read(folder.path()).unwrap_err().chain();
        assert!(why.contains("brings it up to date"), "{why}");
        let store = Store::open(folder.path()).unwrap();
        assert!((store.number("candidates").unwrap() - 7.0).abs() < 1e-9);
        assert!(store.sharing(5).unwrap().is_empty());
        assert!(Store::read(folder.path()).is_ok());
        store
            .change(|at| at.pragma_update(None, "user_version", 3))
            .unwrap();
        let why = Store::open(folder.path()).unwrap_err().chain();
        assert!(why.contains("this Atlas knows 2"), "{why}");
    }
}
