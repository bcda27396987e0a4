//! What rendering promises: bytes from a repository stay inside their instruction.

use atlas_core::EnvironmentPlan;
use atlas_docker::{RenderError, context_files, languages, render};

fn plan() -> EnvironmentPlan {
    EnvironmentPlan {
        language: "python".to_owned(),
        base_image: "python:3.12-slim-bookworm".to_owned(),
        ..EnvironmentPlan::default()
    }
}

/// The instruction words of a Dockerfile, continuation lines joined.
fn instructions(dockerfile: &str) -> Vec<String> {
    dockerfile
        .replace("\\\n", " ")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_owned)
        .collect()
}

#[test]
fn no_command_can_begin_an_instruction() {
    for command in [
        "echo a\nUSER root",
        "echo a\r\nUSER root",
        "echo a \\",
        "--mount=type=secret,id=x cat /run/secrets/x",
        "[\"sh\", \"-c\", \"id\"]",
        "cat <<EOF\nUSER root\nEOF",
        "# USER root",
        "",
        "  USER root",
        "echo '\\' \"$PATH\" `id` ${IFS}",
    ] {
        let mut plan = plan();
        let without = instructions(&render(&plan).unwrap()).len();
        plan.build.push(command.to_owned());
        let dockerfile = render(&plan).unwrap();
        let found = instructions(&dockerfile);
        // Once with the sources, and once before with the manifests, which are copied for it as its
        // script is, where it has one.
        let files = context_files(&plan).unwrap();
        let scripts = files.keys().any(|path| path.starts_with("scripts/"));
        let more = if scripts { 4 } else { 3 };
        assert_eq!(found.len(), without + more, "{command:?}:\n{dockerfile}");
        if let Some(script) = context_files(&plan).unwrap().get("scripts/build-1.sh") {
            assert!(script.contains(command.trim_end()), "{script}");
        }
        let users = found.iter().filter(|line| line.starts_with("USER")).count();
        assert_eq!(users, 2, "{command:?}");
        assert!(!dockerfile.contains("RUN --"), "{command:?}");
        plan.build.clear();
        plan.prefetch.push(command.to_owned());
        let found = instructions(&render(&plan).unwrap());
        // A stage of its own, and the copies out of it.
        assert_eq!(found.len(), without + 7, "{command:?} as prefetch");
    }
}

/// What commits of a month share of the Dockerfile ends where the sources are added.
#[test]
fn commits_of_a_month_share_setup_and_dependencies() {
    let rendered = |day: &str, is_known: bool| {
        let mut plan = plan();
        plan.setup.push("bring-a-tool".to_owned());
        plan.build.push(format!(
            "install --day {day} -- nightly-2024-03-05 --note 'it is {day}'"
        ));
        plan.as_of = is_known.then(|| day.parse().unwrap());
        let dockerfile = render(&plan).unwrap();
        let (shared, own) = dockerfile.split_once("ADD ").unwrap();
        assert!(own.contains(&format!("RUN install --day {day} ")), "{own}");
        shared.to_owned()
    };
    let shared = rendered("2025-06-17", true);
    assert_eq!(shared, rendered("2025-06-30", true));
    assert_ne!(shared, rendered("2025-07-01", true));
    let tool = shared.find("RUN bring-a-tool\n").unwrap();
    assert!(tool < shared.find("COPY --chown=1000:1000 manifests/").unwrap());
    assert!(
        shared.contains("--day 2025-06-01 -- nightly-2024-03-05"),
        "{shared}"
    );
    // Plans of other writers do not say which of the words is the day.
    assert_ne!(rendered("2025-06-17", false), rendered("2025-06-30", false));
}

#[test]
fn only_the_variables_of_a_plan_are_expanded() {
    let mut plan = plan();
    for (name, value) in [
        ("A", "$ATLAS_ENV/x:${PATH}:$HOME"),
        ("B", "$SECRET ${SECRET} \"q\" \\ $"),
        ("C", "one\nUSER root"),
    ] {
        plan.env.insert(name.to_owned(), value.to_owned());
    }
    let dockerfile = render(&plan).unwrap();
    for line in [
        r#"ENV A="$ATLAS_ENV/x:${PATH}:$HOME""#,
        r#"ENV B="\$SECRET \${SECRET} \"q\" \\ \$""#,
        r#"ENV C="one USER root""#,
    ] {
        assert!(dockerfile.contains(line), "{line}\n{dockerfile}");
    }
    plan.env.insert("A B".to_owned(), String::new());
    assert!(matches!(render(&plan), Err(RenderError::Template(_))));
}

#[test]
fn plans_without_a_template_or_an_image_are_refused() {
    let mut stranger = plan();
    for language in ["cobol", "", "common"] {
        language.clone_into(&mut stranger.language);
        assert!(matches!(
            render(&stranger),
            Err(RenderError::UnknownLanguage(_))
        ));
    }
    for image in [
        "",
        "python:3 AS x",
        "python\nUSER root",
        "--platform=x",
        "$X",
    ] {
        let mut plan = plan();
        image.clone_into(&mut plan.base_image);
        assert!(
            matches!(render(&plan), Err(RenderError::BaseImage(_))),
            "{image:?}"
        );
    }
}

#[test]
fn every_template_is_for_the_classic_builder_and_ends_as_another_user() {
    for language in languages() {
        let mut plan = plan();
        language.clone_into(&mut plan.language);
        plan.prefetch.push("true".to_owned());
        let dockerfile = render(&plan).unwrap();
        assert_eq!(dockerfile, render(&plan).unwrap(), "same plan, same bytes");
        assert!(!dockerfile.contains("--mount"), "{language}");
        assert!(!dockerfile.contains("<<"), "{language}");
        let user = dockerfile
            .lines()
            .rfind(|line| line.starts_with("USER"))
            .unwrap();
        assert_eq!(user, "USER atlas", "{language}");
    }
}
