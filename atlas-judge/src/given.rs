//! What a judge is given: columns of a row and attachments, with errors that name them.

use atlas_core::{Error, ErrorKind, Subject};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A subject while a judge reads it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SubjectReader<'s> {
    subject: &'s Subject,
    operation: &'static str,
}

impl<'s> SubjectReader<'s> {
    /// Reads a subject for an operation, whose name stands in every error.
    pub(crate) fn new(subject: &'s Subject, operation: &'static str) -> Self {
        Self { subject, operation }
    }

    /// An error about this subject.
    pub(crate) fn wrong(&self, why: impl Into<String>) -> Error {
        let id = self.subject.instance.id();
        let id = id.map_or_else(
            |_| "a row without a name".to_owned(),
            |id| format!("`{id}`"),
        );
        Error::new(ErrorKind::InvalidInput, self.operation, id).with_source(why.into())
    }

    /// A column of the row that holds a text; empty where there is none.
    pub(crate) fn column(&self, name: &str) -> Result<String, Error> {
        let text = self.subject.instance.text(name);
        let text = text.map_err(|why| self.wrong(why.to_string()))?;
        Ok(text.unwrap_or_default().to_owned())
    }

    /// An attachment that is not null.
    pub(crate) fn value(&self, name: &str) -> Option<&'s Value> {
        let value = self.subject.attachments.get(name);
        value.filter(|value| !value.is_null())
    }

    /// An attachment that holds a text.
    pub(crate) fn text(&self, name: &str) -> Result<Option<String>, Error> {
        self.value(name)
            .map(|value| {
                let text = value.as_str().map(str::to_owned);
                text.ok_or_else(|| self.wrong(format!("attachment `{name}`: a text expected")))
            })
            .transpose()
    }

    /// An attachment of a form.
    pub(crate) fn attached<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, Error> {
        self.read(name, T::deserialize)
    }

    /// An attachment as a reader takes it.
    pub(crate) fn read<T, E: std::fmt::Display>(
        &self,
        name: &str,
        read: impl FnOnce(&'s Value) -> Result<T, E>,
    ) -> Result<Option<T>, Error> {
        self.value(name)
            .map(read)
            .transpose()
            .map_err(|why| self.wrong(format!("attachment `{name}`: {why}")))
    }
}
