use crate::support::{BASE, FIX, Place, make_args};

#[track_caller]
fn refused(place: &Place, args: &[&str], code: i32, says: &[&str]) {
    let done = place.run(args);
    assert_eq!(
        done.code(),
        code,
        "{args:?}: {}{}",
        done.stdout(),
        done.stderr()
    );
    for word in says {
        assert!(
            done.stderr().contains(word),
            "{args:?} should say {word}: {}",
            done.stderr()
        );
    }
    assert!(!done.stderr().contains("panicked"), "{}", done.stderr());
    if code == 1 {
        assert_eq!(
            done.stderr().trim_end().lines().count(),
            1,
            "one message: {}",
            done.stderr()
        );
    }
}

#[test]
fn the_folder_one_stands_in_has_a_name() {
    let place = Place::new();
    let repo = place.repository("lib", &[BASE, FIX]);
    let done = place
        .atlas(&[
            "plan", "--repo", ".", "--base", "HEAD~1", "--format", "json",
        ])
        .current_dir(repo)
        .output()
        .unwrap();
    let said: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(said["repository"], "lib", "{said}");
}

#[test]
fn wrong_input_is_one_clear_message() {
    let place = Place::new();
    let repo = place.repository("repo", &[BASE, FIX]);
    let repo = repo.to_str().unwrap();
    std::fs::create_dir(place.path("empty")).unwrap();
    let pair = ["--base", "HEAD~1", "--head", "HEAD", "--out", "out"];
    let with = |head: &[&'static str]| -> Vec<&str> { [head, &pair[..]].concat() };
    refused(
        &place,
        &with(&["make", "--repo", "nowhere"]),
        1,
        &["nowhere"],
    );
    refused(
        &place,
        &with(&["make", "--repo", "empty"]),
        1,
        &["empty", "repository"],
    );
    let wrong = "0123456789012345678901234567890123456789";
    let args = [
        "make", "--repo", repo, "--base", wrong, "--head", "HEAD", "--out", "out",
    ];
    refused(&place, &args, 1, &[wrong]);
    let args = ["make", "--repo", repo, "--pr", "77", "--out", "out"];
    refused(&place, &args, 1, &["77"]);
    let args = [
        "make", "--repo", repo, "--base", "HEAD", "--head", "HEAD", "--out", "out",
    ];
    refused(&place, &args, 1, &["same commit"]);
    refused(
        &place,
        &["make", "--repo", repo, "--base", "HEAD", "--out", "out"],
        2,
        &["--head"],
    );
    refused(
        &place,
        &["make", "--repo", repo, "--out", "out"],
        2,
        &["--base"],
    );
    refused(
        &place,
        &["make", "--repo", repo, "--engine", "cloud", "--out", "out"],
        2,
        &["cloud"],
    );
    refused(
        &place,
        &["parse", "--parser", "nose", "x.log"],
        1,
        &["x.log"],
    );
    refused(&place, &["frobnicate"], 2, &["frobnicate"]);
}

#[test]
fn a_configuration_that_cannot_be_read_names_file_line_and_key() {
    let place = Place::new();
    let repo = place.repository("repo", &[BASE, FIX]);
    let repo = repo.to_str().unwrap();
    refused(
        &place,
        &make_args(repo, &["--config", "absent.toml"]),
        1,
        &["absent.toml"],
    );
    std::fs::write(
        place.path("bad.toml"),
        "[limits]\nseconds = 5\nminutes = 3\n",
    )
    .unwrap();
    let done = place.run(&make_args(repo, &["--config", "bad.toml"]));
    assert_eq!(done.code(), 1);
    for word in ["bad.toml", "line 3", "minutes"] {
        assert!(done.stderr().contains(word), "{word}: {}", done.stderr());
    }
}

#[test]
fn an_unknown_parser_is_named_with_those_that_are_known() {
    let place = Place::new();
    std::fs::write(place.path("run.log"), "hello\n").unwrap();
    let done = place.run(&["parse", "--parser", "nose", "run.log"]);
    assert_eq!(done.code(), 1);
    assert!(
        done.stderr().contains("nose") && done.stderr().contains("pytest"),
        "{}",
        done.stderr()
    );
    let unknown = place.run(&["parse", "run.log"]);
    assert_eq!(unknown.code(), 1);
    assert!(
        unknown.stderr().contains("--parser"),
        "{}",
        unknown.stderr()
    );
}

#[test]
fn doctor_answers_for_programs() {
    let place = Place::new();
    let done = place.run(&["doctor", "--format", "json"]);
    assert!([0, 3].contains(&done.code()), "{}", done.stderr());
    let report = done.json();
    let abilities = report["abilities"].as_array().unwrap();
    assert_eq!(report["ready"].as_bool().unwrap(), done.code() == 0);
    assert!(
        abilities
            .iter()
            .all(|a| !a["note"].as_str().unwrap().is_empty()),
        "{report}"
    );
}
