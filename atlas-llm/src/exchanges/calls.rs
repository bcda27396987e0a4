//! What runs have paid, call by call.

use super::Exchanges;
use crate::{Account, Ledger};
use atlas_core::Error;
#[cfg(feature = "http")]
use rusqlite::OptionalExtension as _;
use rusqlite::params;

impl Exchanges {
    /// What all calls of a run have cost, those of its earlier processes too. A call whose process was killed counts
    /// at its estimate.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn paid(&self, run: &str) -> Result<Ledger, Error> {
        let mut ledger = Ledger::default();
        let connection = self.lock();
        let mut query = connection
            .prepare_cached("SELECT model, account FROM call WHERE run = ?1")
            .map_err(|why| self.failed(why))?;
        let rows = query
            .query_map([run], |row| {
                Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
            })
            .map_err(|why| self.failed(why))?;
        for row in rows {
            let (model, account) = row.map_err(|why| self.failed(why))?;
            let account: Account =
                serde_json::from_str(&account).map_err(|why| self.failed(why))?;
            ledger.models.entry(model).or_default().add(&account);
        }
        Ok(ledger)
    }

    /// Notes a call before it is made, at what it may cost.
    pub(crate) fn begin_call(
        &self,
        run: &str,
        model: &str,
        account: &Account,
    ) -> Result<i64, Error> {
        let text = serde_json::to_string(account).map_err(|why| self.failed(why))?;
        let connection = self.lock();
        connection
            .prepare_cached("INSERT INTO call (run, model, account) VALUES (?1, ?2, ?3)")
            .and_then(|mut insert| insert.insert(params![run, model, text]))
            .map_err(|why| self.failed(why))
    }

    /// Notes what a call came to.
    pub(crate) fn end_call(&self, id: i64, account: &Account) -> Result<(), Error> {
        let text = serde_json::to_string(account).map_err(|why| self.failed(why))?;
        self.lock()
            .prepare_cached("UPDATE call SET account = ?2 WHERE id = ?1")
            .and_then(|mut update| update.execute(params![id, text]))
            .map_err(|why| self.failed(why))?;
        Ok(())
    }

    /// What is noted of a call.
    #[cfg(feature = "http")]
    pub(crate) fn call(&self, id: i64) -> Result<Option<Account>, Error> {
        let found: Option<String> = self
            .lock()
            .prepare_cached("SELECT account FROM call WHERE id = ?1")
            .and_then(|mut query| query.query_row([id], |row| row.get(0)).optional())
            .map_err(|why| self.failed(why))?;
        let account = found.map(|text| serde_json::from_str(&text));
        account.transpose().map_err(|why| self.failed(why))
    }

    /// Strikes a call that was not made.
    #[cfg(feature = "http")]
    pub(crate) fn forget_call(&self, id: i64) -> Result<(), Error> {
        self.lock()
            .prepare_cached("DELETE FROM call WHERE id = ?1")
            .and_then(|mut delete| delete.execute([id]))
            .map_err(|why| self.failed(why))?;
        Ok(())
    }
}
