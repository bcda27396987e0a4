//! Options by their names.

use crate::convert::{dumps, to_value};
use crate::errors::{invalid, raised_json};
use atlas_judge::answer::AskOptions;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
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
pub(super) fn ask(
    given: Option<&Bound<'_, PyDict>>,
    defaults: &AskOptions,
) -> PyResult<AskOptions> {
    let Some(given) = given else {
        return Ok(defaults.clone());
    };
    let mut value = to_value(defaults)?;
    let given: Map<String, Value> =
        serde_json::from_str(&dumps(given.as_any())?).map_err(raised_json)?;
    for (name, said) in given {
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

/// One of the words of a type; a dash is as good as an underscore.
pub(super) fn word<T: DeserializeOwned>(argument: &str, word: &str) -> PyResult<T> {
    let read = |word: String| serde_json::from_value(json!(word));
    read(word.replace('-', "_"))
        .or_else(|_| read(word.replace('_', "-")))
        .map_err(|why| invalid(argument, why))
}

/// Sets the limits of a prompt's parts; `part` gives the place of one by its name, `parts` are all names.
pub(super) fn limit<T>(
    limits: &mut T,
    given: Option<BTreeMap<String, usize>>,
    parts: &[&str],
    set: impl Fn(&mut T, &str, usize) -> bool,
) -> PyResult<()> {
    for (part, tokens) in given.into_iter().flatten() {
        if tokens == 0 || !set(limits, &part, tokens) {
            let parts = parts.join(", ");
            return Err(invalid(
                "limits",
                format!("the parts are {parts}, each with one token or more; not {part}={tokens}"),
            ));
        }
    }
    Ok(())
}
