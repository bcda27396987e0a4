//! From a model to a page.

use crate::model::Overview;
use atlas_core::{Error, ErrorKind};
use base64::Engine as _;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Value, context};
use sha2::{Digest as _, Sha256};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("table.js");
const TEMPLATE: &str = include_str!("overview.html");

/// The page about a run or a folder of instances.
///
/// # Errors
/// [`ErrorKind::Internal`] where the template does not fit its model.
pub fn overview(model: &Overview) -> Result<String, Error> {
    let failed = |why| Error::new(ErrorKind::Internal, "write page", "").with_source(why);
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.add_filter("fixed", |value: f64, digits: usize| {
        format!("{value:.digits$}")
    });
    environment
        .add_template("overview.html", TEMPLATE)
        .map_err(failed)?;
    let template = environment.get_template("overview.html").map_err(failed)?;
    let policy = format!(
        "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'",
        hash(STYLE),
        hash(SCRIPT)
    );
    template
        .render(context! {
            model => Value::from(Serde(model)),
            policy,
            style => Value::from_safe_string(STYLE.to_owned()),
            script => Value::from_safe_string(SCRIPT.to_owned()),
        })
        .map_err(failed)
}

/// By which a policy knows a text that stands in the page.
fn hash(text: &str) -> String {
    base64::engine::general_purpose::STANDARD.encode(Sha256::digest(text.as_bytes()))
}
