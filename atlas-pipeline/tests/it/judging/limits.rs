//! How long the parts of a prompt may be.

use super::*;

/// What is too long is cut: by the limits that are given, and by the context that the model is known to have.
#[test]
fn parts_of_a_prompt_have_limits() {
    let place = Place::new();
    let mut long = row("1");
    long["problem_statement"] = json!(format!("Title\n\n{}", "a line of words\n".repeat(4000)));
    write_lines(&place, "rows.jsonl", &[long]);
    std::fs::write(
        place.path("atlas.toml"),
        "[models.small]\nprovider = \"scripted\"\ncontext_window = 8000\n[models.usual]\nprovider = \"scripted\"\n",
    )
    .unwrap();
    let run = |model: &str, more: &[&str]| {
        let mut args = vec!["review", "--dataset", "rows.jsonl", "--predictions", "gold"];
        args.extend(["--show-prompt", "--model", model]);
        args.extend(more);
        place.run(&args)
    };
    let told = |model: &str, more: &[&str]| {
        let done = run(model, more);
        assert_eq!(done.code(), 0, "{}", done.stderr());
        done.stdout()
    };
    let usual = told("usual", &[]);
    assert!(usual.len() > 64_000 && !usual.contains("left out here"));
    let given = told("usual", &["--limit", "report=500"]);
    assert!(
        given.contains("left out here") && given.len() < 15_000,
        "{}",
        given.len()
    );
    let small = told("small", &[]);
    assert!(
        small.contains("left out here") && small.len() < 8000 * 3,
        "{}",
        small.len()
    );
    let own = told("small", &["--limit", "report=17000"]);
    assert!(own == usual, "{} is not {}", own.len(), usual.len());
    for wrong in ["file=10", "files", "files=many", "files=0"] {
        let done = run("usual", &["--limit", wrong]);
        assert_eq!(done.code(), 2, "{wrong}");
        assert!(
            done.stderr()
                .contains("report, patch, files, tests, trajectory"),
            "{}",
            done.stderr()
        );
    }
}

/// Abstention and critics cut as reviews do, by `--limit` or by the model's context, and say so.
#[test]
fn abstention_and_critics_have_limits() {
    let place = Place::new();
    let mut long = row("1");
    long["problem_statement"] = json!(format!("Title\n\n{}", "a line of words\n".repeat(4000)));
    write_lines(&place, "rows.jsonl", &[long]);
    let verdict = json!({"reasoning": "so", "verdict": "pass", "confidence": 90}).to_string();
    write_lines(
        &place,
        "critic.script",
        &[json!({"holds": "e", "text": verdict})],
    );
    let table =
        |name: &str, more: &str| format!("[models.{name}]\nprovider = \"scripted\"\n{more}\n");
    let tables = [
        table("small", "context_window = 8000"),
        table("usual", ""),
        table("answers", "context_window = 8000\nfile = \"critic.script\""),
    ];
    std::fs::write(place.path("atlas.toml"), tables.join("\n")).unwrap();
    let abstain = ["abstain", "--dataset", "rows.jsonl"];
    let critic = [
        "critic",
        "--dataset",
        "rows.jsonl",
        "--predictions",
        "gold",
        "--mode",
        "problem",
        "--variant",
        "default",
    ];
    for (command, part) in [(&abstain[..], "report"), (&critic[..], "problem")] {
        let told = |model: &str, more: &[&str]| {
            let done = place.run(&[command, &["--show-prompt", "--model", model], more].concat());
            assert_eq!(done.code(), 0, "{}", done.stderr());
            done.stdout()
        };
        let usual = told("usual", &[]);
        assert!(usual.len() > 64_000 && !usual.contains("left out here"));
        let given = told("usual", &["--limit", &format!("{part}=500")]);
        assert!(
            given.contains("left out here") && given.len() < 8000,
            "{}",
            given.len()
        );
        let small = told("small", &[]);
        assert!(
            small.contains("left out here") && small.len() < 8000 * 3,
            "{}",
            small.len()
        );
        let own = told("small", &["--limit", &format!("{part}=17000")]);
        assert!(own == usual, "{} is not {}", own.len(), usual.len());
        let wrong = place.run(
            &[
                command,
                &["--out", "x", "--model", "usual", "--limit", "file=10"],
            ]
            .concat(),
        );
        assert!(
            wrong.code() == 2 && wrong.stderr().contains(part),
            "{}",
            wrong.stderr()
        );
    }
    let done = place.run(&[&critic[..], &["--model", "answers", "--out", "c.jsonl"]].concat());
    assert_eq!(done.code(), 0, "{}", done.stderr());
    assert_eq!(
        lines(&place, "c.jsonl")[0]["judgement"]["details"]["cut"],
        json!(["problem"])
    );
}
