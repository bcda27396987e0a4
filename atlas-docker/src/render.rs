//! Rendering a plan into a Dockerfile.

use crate::languages::{BUILTIN, needs_no_sources};
use atlas_core::EnvironmentPlan;
use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, ErrorKind, UndefinedBehavior, context};
use std::sync::LazyLock;

const COMMON: &str = include_str!("languages/common.Dockerfile.j2");

static TEMPLATES: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut env = Environment::new();
    env.set_undefined_behavior(UndefinedBehavior::Strict);
    env.set_syntax(
        SyntaxConfig::builder()
            .trim_blocks(true)
            .lstrip_blocks(true)
            .keep_trailing_newline(true)
            .build()
            .expect("only white space is configured"),
    );
    env.add_filter("shq", |text: &str| shell_quote(text));
    env.add_filter("run", |command: &str| run(command));
    env.add_filter("envname", envname);
    env.add_filter("envvalue", |value: &str| envvalue(value));
    env.add_filter("prefetch", |commands: Vec<String>| prefetch(&commands));
    env.add_template("common", COMMON)
        .expect("the common template is tested");
    for language in BUILTIN {
        env.add_template(language.id(), language.template())
            .expect("a language's template is tested");
    }
    env
});

/// Why a plan has no Dockerfile.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RenderError {
    /// The plan's `language` has no template.
    #[error("plan field `language`: no Dockerfile template for `{0}`")]
    UnknownLanguage(String),
    /// The plan's `base_image` is no image reference.
    #[error(
        "plan field `base_image`: `{0}` is no image reference like `python:3.12-slim-bookworm`"
    )]
    BaseImage(String),
    /// A template refused a value; the source names it.
    #[error("render the Dockerfile template")]
    Template(#[source] minijinja::Error),
}

/// Renders the vetted template of the plan's language.
///
/// The same plan gives the same bytes. Whatever comes from the repository stands in the result
/// quoted, so that it can neither end an instruction nor begin another one. The result needs no
/// `BuildKit`. Commands are taken from `pre_install`, `build` and `prefetch`; `apt_packages` is for
/// readers, its command stands in `pre_install`.
///
/// # Errors
/// [`RenderError`] names the field of the plan.
pub fn render(plan: &EnvironmentPlan) -> Result<String, RenderError> {
    let template = TEMPLATES
        .get_template(&plan.language)
        .ok()
        .filter(|_| plan.language != "common")
        .ok_or_else(|| RenderError::UnknownLanguage(plan.language.clone()))?;
    let image_like = |c: char| c.is_ascii_alphanumeric() || "._-/:@".contains(c);
    if !plan
        .base_image
        .starts_with(|c: char| c.is_ascii_alphanumeric())
        || !plan.base_image.chars().all(image_like)
    {
        return Err(RenderError::BaseImage(plan.base_image.clone()));
    }
    // They stand below the manifests: the same for all commits.
    let own = plan
        .build
        .iter()
        .take_while(|command| needs_no_sources(command))
        .count();
    template
        .render(context! { plan => context! {
            base_image => &plan.base_image,
            pre_install => &plan.pre_install,
            setup => plan.build[..own].to_vec(),
            build => plan.build[own..].to_vec(),
            prefetch => &plan.prefetch,
            warm => warm(plan),
            objects => keeps_objects(plan),
            env => &plan.env,
        } })
        .map_err(RenderError::Template)
}

/// Whether compilers keep what they make, for the next commit's build. Where a pull request adds
/// dependencies the image has no stage between the base and the sources.
fn keeps_objects(plan: &EnvironmentPlan) -> bool {
    matches!(plan.language.as_str(), "c" | "cpp") && plan.prefetch.is_empty()
}

/// A word for a POSIX shell; unquoted where that is the same.
pub(crate) fn shell_quote(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// A `RUN` instruction. The shell form is for people; what it cannot hold (several lines, a
/// here-document, a leading flag) goes into the exec form, whose JSON can hold anything.
fn run(command: &str) -> String {
    let plain = !command.contains(['\n', '\r'])
        && !command.contains("<<")
        && !command.trim_end().ends_with('\\')
        && command.starts_with(|c: char| c.is_alphanumeric() || "_/.({!\"'$:".contains(c));
    if plain {
        format!("RUN {command}")
    } else {
        let words = ["/bin/bash", "-eo", "pipefail", "-c", command];
        format!("RUN {}", serde_json::Value::from(words.to_vec()))
    }
}

/// A `RUN` instruction that installs dependencies by the build's own commands before the sources are
/// there. What fails without them is no failure. Of the repository's folder only what the language
/// names stays, and that only if its installation did not have to be helped: the sources are laid
/// out beside it, so that no product of an empty program is taken for theirs.
///
/// Nothing for languages whose tools keep nothing between builds.
fn warm(plan: &EnvironmentPlan) -> Option<String> {
    use std::fmt::Write as _;
    let Warm {
        before,
        kept,
        after,
    } = match plan.language.as_str() {
        "rust" => Warm {
            after: CARGO,
            ..Warm::default()
        },
        "javascript" | "typescript" => Warm {
            before: NO_SCRIPTS,
            kept: "\\( -name node_modules -o -path /testbed/.yarn/install-state.gz \\)",
            ..Warm::default()
        },
        "php" => Warm {
            kept: "\\( -name vendor -o -name composer.lock \\)",
            ..Warm::default()
        },
        "go" | "python" | "java" | "ruby" => Warm::default(),
        _ => return None,
    };
    let own = plan
        .build
        .iter()
        .take_while(|command| needs_no_sources(command))
        .count();
    if plan.build.len() == own {
        return None;
    }
    let mut script = format!("{{ {before}export ATLAS_WARM=1");
    for command in &plan.build[own..] {
        let quoted = shell_quote(&with_month(command));
        let _ = write!(script, " && bash -eo pipefail -c {quoted}");
    }
    let _ = write!(
        script,
        "; }} > /tmp/atlas-warm.log 2>&1 || echo 'atlas: the rest of the build needs the sources'; {after}"
    );
    let all = "find /testbed -mindepth 1 -delete";
    let _ = if kept.is_empty() {
        write!(script, "{all}")
    } else {
        // The folders that lead to what is kept are not empty and stay too.
        write!(
            script,
            "if grep -q 'atlas: the install failed' /tmp/atlas-warm.log; then {all}; \
             else find /testbed -mindepth 1 {kept} -prune -o ! -type d -exec rm -f {{}} +; \
             find /testbed -mindepth 1 -type d -empty -delete; fi"
        )
    };
    // Tools note in the user's own folder what they did.
    script.push_str("; find /tmp -mindepth 1 -user \"$(id -u)\" -delete");
    Some(run(&script))
}

/// How a language's dependencies are installed from manifests.
#[derive(Default)]
struct Warm {
    /// A command that goes before, with its separator.
    before: &'static str,
    /// What stays in the repository's folder, as an expression of `find`.
    kept: &'static str,
    /// A command that goes after, with its separator.
    after: &'static str,
}

/// What Cargo compiled for the repository's own packages.
const CARGO: &str = "for n in $(find /testbed -name Cargo.toml -exec sed -n 's/^name *= *\"\\([^\"]*\\)\".*/\\1/p' {} +); \
    do rm -rf \"${CARGO_TARGET_DIR:-/testbed/target}\"/*/.fingerprint/\"$n\"-*; done; ";

/// Scripts of the repository's own packages need its sources; those of the dependencies run.
const NO_SCRIPTS: &str = "find /testbed -name package.json -not -path '*/node_modules/*' -exec node -e \
    'for (const file of process.argv.slice(1)) try { const its = JSON.parse(fs.readFileSync(file)); delete its.scripts; fs.writeFileSync(file, JSON.stringify(its, null, 2)) } catch {}' \
    {} +; ";

/// Dates as the first of their month: what was resolved as of then is no younger than what is
/// asked for, and the commits of a month share it.
fn with_month(command: &str) -> String {
    static DATE: LazyLock<regex::Regex> = LazyLock::new(|| {
        regex::Regex::new(r"\b((?:19|20)[0-9]{2}-[01][0-9])-[0-3][0-9](?:T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:Z|[+-][0-9]{2}:[0-9]{2})?)?")
            .expect("the pattern is tested")
    });
    DATE.replace_all(command, "$1-01").into_owned()
}

fn prefetch(commands: &[String]) -> String {
    use std::fmt::Write as _;
    let mut script = "mkdir /tmp/atlas-prefetch && cp -a /testbed/. /tmp/atlas-prefetch/ \
        && cp -a /tmp/atlas-head/. /tmp/atlas-prefetch/ && cd /tmp/atlas-prefetch"
        .to_owned();
    for command in commands {
        // Each in its own shell: a syntax error in one is that one's failure.
        let quoted = shell_quote(command);
        let _ = write!(
            script,
            " && {{ bash -eo pipefail -c {quoted} || echo 'atlas: prefetch failed'; }}"
        );
    }
    script.push_str(" && cd / && rm -rf /tmp/atlas-prefetch");
    run(&script)
}

fn envname(name: &str) -> Result<String, minijinja::Error> {
    let good = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if good {
        Ok(name.to_owned())
    } else {
        Err(minijinja::Error::new(
            ErrorKind::InvalidOperation,
            format!("plan field `env`: `{name}` is no variable name"),
        ))
    }
}

/// A quoted value. Docker expands the variables that a plan may use and no other.
fn envvalue(value: &str) -> String {
    const OPEN: &[&str] = &["ATLAS_REPO", "ATLAS_ENV", "ATLAS_CACHE", "HOME", "PATH"];
    let mut text = String::from("\"");
    let mut rest = value;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            // A value of several lines would end the instruction.
            '\n' | '\r' => text.push(' '),
            '$' => {
                let after = after.strip_prefix('{').unwrap_or(after);
                let end = after
                    .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                    .unwrap_or(after.len());
                if !OPEN.contains(&&after[..end]) {
                    text.push('\\');
                }
                text.push('$');
            }
            c => text.push(c),
        }
        rest = after;
    }
    text.push('"');
    text
}
