//! What a row calls its image.

use super::pull_request::PullRequest;
use super::{Journey, MakeOptions, Means};
use crate::ImageNameFields;
use atlas_core::{Environment, Error, ImageRef};

/// Refuses, before anything is built, a template that gives no name for this instance.
///
/// # Errors
/// It names the field.
pub(super) fn check(options: &MakeOptions, request: &PullRequest) -> Result<(), Error> {
    let Some(template) = &options.config.image.name else {
        return Ok(());
    };
    template.filled(&fields(request, &"0".repeat(16))).map(drop)
}

fn fields<'a>(request: &'a PullRequest, key: &'a str) -> ImageNameFields<'a> {
    ImageNameFields {
        instance_id: request.instance_id.as_str(),
        repo: &request.repo_name,
        base: request.base.as_str(),
        key,
    }
}

impl Journey<'_> {
    /// The image's name for the row: Atlas's own, or the one that the configuration wants, which it is given here.
    pub(super) async fn named(
        &mut self,
        means: &Means,
        environment: &Environment,
    ) -> Result<String, Error> {
        let template = self.options.config.image.name.as_ref();
        let ImageRef::Docker { id, tag } = &environment.image else {
            if template.is_some() {
                let said = "the local engine makes no image: `--image-name` names none";
                self.warnings.push(said.to_owned());
            }
            return Ok(String::new());
        };
        let (Some(template), Some(engine)) = (template, &means.engines.docker) else {
            return Ok(tag.clone());
        };
        let key = tag.rsplit(':').next().unwrap_or(tag);
        let name = template.filled(&fields(self.request, key))?;
        if let Some(other) = engine.name_image(id, &name).await? {
            self.warnings.push(format!(
                "`{name}` was the name of another image until now ({other}): rows that say it get this one. \
                 A template with {{instance_id}} or {{key}} has a name for each"
            ));
        }
        Ok(name)
    }
}
