//! From a configuration to a model.

use crate::pace::Pace;
use crate::{
    Budget, ModelConfig, Noise, Price, Provider, Purse, Recorded, Replay, Retry, Scripted,
};
use atlas_core::{Error, ErrorKind, LanguageModel};
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

/// What names a model: a [`ModelConfig`], or a text that is read as one.
pub trait ModelSource {
    /// The configuration.
    ///
    /// # Errors
    /// The text names no model.
    fn config(&self) -> Result<Cow<'_, ModelConfig>, Error>;
}

impl ModelSource for ModelConfig {
    fn config(&self) -> Result<Cow<'_, ModelConfig>, Error> {
        Ok(Cow::Borrowed(self))
    }
}

impl ModelSource for str {
    fn config(&self) -> Result<Cow<'_, ModelConfig>, Error> {
        self.parse().map(Cow::Owned)
    }
}

impl ModelSource for String {
    fn config(&self) -> Result<Cow<'_, ModelConfig>, Error> {
        self.as_str().config()
    }
}

/// Opens a model without a limit on what it may spend: [`open_model_within`] without a purse.
///
/// ```
/// let model = atlas_llm::open_model("noise:7")?;
/// assert_eq!(model.name(), "noise:7");
/// # Ok::<(), atlas_core::Error>(())
/// ```
///
/// # Errors
/// See [`open_model_within`].
pub fn open_model<S: ModelSource + ?Sized>(model: &S) -> Result<Arc<dyn LanguageModel>, Error> {
    open(model.config()?.as_ref(), None)
}

/// Opens a model that spends from a purse, which others may share. It asks again what failed for a
/// passing reason, and records where the configuration says so. Answers are not
/// [checked](crate::Checked) against their schemas: who asks for a schema wraps the model for it.
///
/// # Errors
/// [`ErrorKind::InvalidInput`]: the configuration cannot be used as it is; the message says why.
/// Other kinds where a file that it names cannot be read or written.
pub fn open_model_within<S: ModelSource + ?Sized>(
    model: &S,
    purse: &Arc<Purse>,
) -> Result<Arc<dyn LanguageModel>, Error> {
    open(model.config()?.as_ref(), Some(purse))
}

fn open(config: &ModelConfig, purse: Option<&Arc<Purse>>) -> Result<Arc<dyn LanguageModel>, Error> {
    let wrong = |why: String| {
        Error::new(
            ErrorKind::InvalidInput,
            "open the model",
            format!("`{}`", config.name()),
        )
        .with_source(why)
    };
    let file = || -> Result<&Path, Error> {
        config
            .file
            .as_deref()
            .ok_or_else(|| wrong(format!("`{}` needs a `file`", config.provider)))
    };
    config.retry.check().map_err(wrong)?;
    let (model, is_paid): (Arc<dyn LanguageModel>, bool) = match config.provider {
        Provider::Replay => (Arc::new(Replay::read(file()?)?), false),
        Provider::Scripted => (Arc::new(Scripted::read(file()?)?), false),
        Provider::Noise => (Arc::new(Noise::new(config.seed)), false),
        _ => (over_http(config)?, true),
    };
    let model: Arc<dyn LanguageModel> = match purse {
        None => model,
        Some(purse) => {
            if is_paid && config.price.is_none() && purse.limits_money() {
                return Err(wrong(
                    "a budget in money needs its `price`, which no table of prices knows: what a million \
                     tokens cost, as `{ input = 0.5, output = 2.0 }`; it may be 0"
                        .to_owned(),
                ));
            }
            // What answers on this machine costs nothing; of others it may be unknown.
            let price = config.price.or((!is_paid).then(Price::default));
            let amounts = price.map(|price| {
                let cached = price.cached_input.unwrap_or_default();
                [
                    price.input,
                    price.output,
                    cached,
                    price.batch.unwrap_or_default(),
                ]
            });
            let mut amounts = amounts.into_iter().flatten();
            if amounts.any(|amount| !amount.is_finite() || amount < 0.0) {
                return Err(wrong("its `price` is below 0 or no number".to_owned()));
            }
            Arc::new(Budget::sharing(model, Arc::clone(purse), price))
        }
    };
    // Outside of the budget, so that each try counts.
    let model: Arc<dyn LanguageModel> = if is_paid {
        let retry = Retry::new(model, config.retry);
        Arc::new(retry.paced(Pace::of(config), purse.cloned()))
    } else {
        model
    };
    Ok(match &config.record {
        None => model,
        Some(path) => Arc::new(Recorded::new(model, path)?),
    })
}

#[cfg(feature = "http")]
fn over_http(config: &ModelConfig) -> Result<Arc<dyn LanguageModel>, Error> {
    Ok(Arc::new(crate::HttpModel::open(config)?))
}

#[cfg(not(feature = "http"))]
fn over_http(config: &ModelConfig) -> Result<Arc<dyn LanguageModel>, Error> {
    Err(Error::new(
        ErrorKind::InvalidInput,
        "open the model",
        format!("`{}`: this program was built without HTTP", config.name()),
    ))
}
