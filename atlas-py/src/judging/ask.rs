//! How models are asked, by name.

use crate::convert::{dumps, to_value};
use crate::errors::{invalid, raised_json};
use crate::options::Options;
use atlas_judge::answer::AskOptions;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// What may be said of how a model is asked.
const NAMES: [&str; 9] = [
    "max_tokens",
    "samples",
    "temperature",
    "verbalised",
    "corrections",
    "max_text",
    "mass_floor",
    "label_form",
    "seed",
];

/// The defaults of a policy with what the caller says.
pub(super) fn ask(given: &Options<'_>, defaults: &AskOptions) -> PyResult<AskOptions> {
    let Some(said) = given.object("ask")? else {
        return Ok(defaults.clone());
    };
    let mut value = to_value(defaults)?;
    let said: Map<String, Value> = serde_json::from_str(&dumps(&said)?).map_err(raised_json)?;
    for (name, said) in said {
        if !NAMES.contains(&name.as_str()) {
            return Err(PyTypeError::new_err(format!(
                "unexpected keyword argument '{name}'; how a model is asked is said by {}",
                NAMES.join(", ")
            )));
        }
        value[name] = said;
    }
    let options: AskOptions = serde_json::from_value(value).map_err(|why| invalid("ask", why))?;
    if options.max_tokens == 0 {
        return Err(invalid("max_tokens", "1 or more expected"));
    }
    Ok(options)
}

/// Sets the `limits` of a prompt's parts; `set` gives one its tokens, `parts` are all names.
pub(super) fn limit(
    given: &Options<'_>,
    parts: &[&str],
    mut set: impl FnMut(&str, usize) -> bool,
) -> PyResult<()> {
    let limits: BTreeMap<String, usize> = given.or("limits", BTreeMap::new())?;
    for (part, tokens) in limits {
        if tokens == 0 || !set(&part, tokens) {
            let parts = parts.join(", ");
            return Err(invalid(
                "limits",
                format!("the parts are {parts}, each with one token or more; not {part}={tokens}"),
            ));
        }
    }
    Ok(())
}
