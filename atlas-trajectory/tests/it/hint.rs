//! The hint goes out of what the agent was told, and nothing else does.

use atlas_trajectory::{Content, Source, Step, Trajectory, without_hint};
use serde_json::json;

const HINT: &str = "- `cart.py`: `def total(items, tax)`\n- `cart.py`: `TAX`\n";

fn check(told: &str, expected: &str, cut: usize) {
    let mut trajectory = Trajectory::new("me");
    trajectory.push(Step::new(Source::User, told));
    trajectory.push(Step::new(Source::Agent, told));
    let (clean, lines) = without_hint(&trajectory, HINT);
    assert_eq!(clean.steps[0].message.text(), expected);
    assert_eq!(lines, cut, "{told}");
    assert_eq!(
        clean.steps[1], trajectory.steps[1],
        "the agent's steps stay"
    );
}

#[test]
fn the_hint_goes_with_its_heading() {
    check(&format!("Repair it.\n\n{HINT}"), "Repair it.", 2);
    check(
        &format!("Repair it.\n\nHints:\n\n{HINT}\nBe quick."),
        "Repair it.\n\nBe quick.",
        3,
    );
    check(
        &format!("Repair it.\n<hints>\n{HINT}</hints>\nBe quick."),
        "Repair it.\nBe quick.",
        4,
    );
    check(
        &format!("A.\n# Hint\n{HINT}\nB.\n# Hint\n{HINT}"),
        "A.\n\nB.",
        6,
    );
    // As `atlas attempt` tells it.
    check(
        &format!("Repair it.\n\n## Names that the tests use\n\n{HINT}\nNow begin."),
        "Repair it.\n\nNow begin.",
        3,
    );
    // White space may differ.
    let indented = HINT.replace("- ", "   -  ");
    check(&format!("Repair it.\n{indented}"), "Repair it.", 2);
}

#[test]
fn lines_of_a_hint_that_was_torn_apart_go_one_by_one() {
    let told = "Repair it.\n- `cart.py`: `def total(items, tax)`\nBetween.\n- `cart.py`: `TAX`";
    check(told, "Repair it.\nBetween.\n- `cart.py`: `TAX`", 1);
}

#[test]
fn what_is_no_hint_stays() {
    for told in [
        "The hint that is shown on hover is wrong:\n    total(items)\n\n\nSee cart.py.\n",
        "# Hints\nThe tooltip's hints vanish.",
        "",
    ] {
        check(told, told, 0);
    }
    // A sentence before the hint is no heading.
    check(
        &format!("Type hints are missing.\n{HINT}"),
        "Type hints are missing.",
        2,
    );
}

#[test]
fn parts_of_a_message_are_looked_through() {
    let mut trajectory = Trajectory::new("me");
    let mut step = Step::new(Source::User, "");
    step.message = Content::Parts(vec![
        json!({"type": "text", "text": format!("A.\n{HINT}")}),
        json!({"type": "image"}),
    ]);
    trajectory.push(step);
    let (clean, cut) = without_hint(&trajectory, HINT);
    let expected = Content::Parts(vec![
        json!({"type": "text", "text": "A."}),
        json!({"type": "image"}),
    ]);
    assert_eq!((&clean.steps[0].message, cut), (&expected, 2));
    assert_eq!(
        without_hint(&trajectory, " \n").0,
        trajectory,
        "no hint was given"
    );
}
