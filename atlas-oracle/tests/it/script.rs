use atlas_core::EnvironmentPlan;
use atlas_oracle::{cut, state_script};
use std::process::Command;

fn stream(name: &str, plan: &EnvironmentPlan, nonce: &str) -> Vec<u8> {
    let folder = std::env::temp_dir().join(format!("atlas-script-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("nonce"), format!("{nonce}\n")).unwrap();
    let done = Command::new("bash")
        .arg("-c")
        .arg(state_script(plan))
        .env("ATLAS_IN", &folder)
        .env("ATLAS_REPO", &folder)
        .output()
        .unwrap();
    assert!(
        !folder.join("nonce").exists(),
        "the nonce is gone before the tests start"
    );
    std::fs::remove_dir_all(&folder).unwrap();
    done.stdout
}

fn plan(rebuild: &[&str], test_cmd: &str) -> EnvironmentPlan {
    EnvironmentPlan {
        rebuild: rebuild.iter().map(|c| (*c).to_owned()).collect(),
        test_cmd: test_cmd.to_owned(),
        ..EnvironmentPlan::default()
    }
}

#[test]
fn the_marked_part_is_the_output_of_rebuild_and_tests() {
    let bytes = stream(
        "code",
        &plan(&["echo built >&2"], "printf 'no line end'; exit 3"),
        "aa1",
    );
    let marked = cut(&bytes, "aa1");
    assert_eq!(marked.log, b"built\nno line end");
    assert_eq!(marked.code, Some(3));
    assert_eq!(marked.faults, Vec::<String>::new());
}

#[test]
fn a_failing_rebuild_ends_the_state_with_its_code() {
    let bytes = stream(
        "rebuild",
        &plan(&["echo broken; exit 9"], "echo tests ran"),
        "aa2",
    );
    let marked = cut(&bytes, "aa2");
    assert_eq!((marked.log, marked.code), (&b"broken\n"[..], Some(9)));
    assert!(marked.rebuild_failed);
}

#[test]
fn the_code_cannot_see_the_nonce() {
    let look = "env; cat \"$ATLAS_IN\"/* 2>/dev/null; set";
    let bytes = stream("look", &plan(&[], look), "5ec2e7");
    let marked = cut(&bytes, "5ec2e7");
    let shown = String::from_utf8_lossy(marked.log);
    // `set` runs in a subshell of the script itself and does list the script's own variables, so
    // only what a child process sees counts here.
    let child = shown.split("BASH=").next().unwrap();
    assert!(
        child.contains("ATLAS_IN=") && !child.contains("5ec2e7"),
        "{child}"
    );
}

#[test]
fn forged_or_missing_markers_are_faults() {
    let log = |text: &str| cut(text.as_bytes(), "n").faults.len();
    assert_eq!(log("\n>>>>> atlas n begin\nx\n>>>>> atlas n end 0\n"), 0);
    assert_eq!(log("nothing"), 1);
    assert_eq!(log("\n>>>>> atlas n begin\nx"), 1);
    assert_eq!(
        log("\n>>>>> atlas n begin\n\n>>>>> atlas n end 0\n\n>>>>> atlas n end 1\n"),
        1
    );
    assert_eq!(log("\n>>>>> atlas n begin\n\n>>>>> atlas n end 0\nlate"), 1);
    assert_eq!(
        log("\n>>>>> atlas n begin\n\n>>>>> atlas n begin\n\n>>>>> atlas n end 0\n"),
        1
    );
    let other = cut(
        b"\n>>>>> atlas other begin\nPASSED a\n>>>>> atlas other end 0\n",
        "n",
    );
    assert_eq!(other.log, b"", "another nonce marks nothing");
}
