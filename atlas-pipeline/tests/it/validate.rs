use crate::support::{BASE, Done, FIX, Place, make_args};
use serde_json::{Value, json};

/// `atlas validate` on the dataset of `out`, with the local engine and two builds.
fn validate(place: &Place, more: &[&str]) -> Done {
    let mut args = vec!["validate", "out/dataset.jsonl", "--format", "json"];
    if !more.contains(&"docker") {
        args.extend(["--engine", "local", "--trust"]);
    }
    args.extend_from_slice(more);
    place.run(&args)
}

/// The last two commits as an instance.
fn made(commits: &[&[(&str, &str)]]) -> Place {
    let place = Place::new();
    let repo = place.repository("repo", commits);
    let more = ["--instance-id", "me__calc-1"];
    let done = place.run(&make_args(repo.to_str().unwrap(), &more));
    assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
    place
}

fn jobs(place: &Place) -> usize {
    let folder = place.path("out/.atlas/me__calc-1/jobs");
    std::fs::read_dir(folder).unwrap().count()
}

fn gate<'a>(report: &'a Value, name: &str) -> &'a Value {
    let verdicts = report["instances"][0]["verdicts"].as_array().unwrap();
    let found = verdicts.iter().find(|verdict| verdict["validator"] == name);
    found.unwrap_or_else(|| panic!("no verdict of {name}: {report}"))
}

fn row(place: &Place, file: &str) -> Value {
    let text = std::fs::read_to_string(place.path("out").join(file)).unwrap();
    serde_json::from_str(text.trim()).unwrap()
}

#[test]
fn a_sound_instance_passes_every_gate_and_shares_its_runs() {
    let place = made(&[BASE, FIX]);
    let before = jobs(&place);
    let done = validate(&place, &["--gates", "gold_patch,null_patch,strength"]);
    assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
    assert_eq!(
        jobs(&place),
        before,
        "the gold patch is After, and without its one part it is Before"
    );
    let done = validate(&place, &["--builds", "2"]);
    assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
    let report = done.json();
    assert_eq!(report["accepted"], 1, "{report}");
    assert_eq!(
        gate(&report, "oracle_consistency")["measurements"]["runs"],
        3
    );
    assert_eq!(gate(&report, "integrity")["measurements"]["git"], "read");
    assert_eq!(gate(&report, "strength")["measurements"]["score"], 1.0);
    let builds = &gate(&report, "environment_determinism")["measurements"];
    assert_eq!(builds["good_builds"], 2);
    let funnel = report["funnel"].as_array().unwrap();
    assert_eq!(funnel.len(), 7);
    assert!(
        funnel.iter().all(|step| step["accepted"] == 1),
        "{funnel:?}"
    );

    let (old, mut new) = (row(&place, "dataset.jsonl"), row(&place, "validated.jsonl"));
    assert_eq!(new["atlas"]["gates"]["gold_patch"], "accept");
    assert_eq!(new["atlas"]["strength"], 1.0);
    new["atlas"] = old["atlas"].clone();
    assert_eq!(new, old, "nothing else of the row is touched");
    assert!(place.path("out/me__calc-1/gates/integrity.json").exists());
    assert_eq!(place.leftovers(), Vec::<std::path::PathBuf>::new());
}

/// One environment and its lock is left of the builds from scratch.
#[test]
fn builds_from_scratch_leave_nothing() {
    let place = made(&[BASE, FIX]);
    let environments = || {
        let entries = std::fs::read_dir(place.path("cache/atlas/env")).unwrap();
        let folders = entries.filter(|entry| entry.as_ref().unwrap().path().is_dir());
        folders.count()
    };
    let before = environments();
    let done = validate(
        &place,
        &["--gates", "environment_determinism", "--builds", "2"],
    );
    assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
    assert_eq!(environments(), before);
}

/// Midnight of 1970 in another time zone is another hour.
#[test]
fn a_test_that_depends_on_the_time_zone_is_taken_out_of_the_row() {
    let zone = "import time\nimport unittest\n\n\nclass ZoneTest(unittest.TestCase):\n    def test_hour(self):\n        self.assertEqual(time.localtime(0).tm_hour, 0)\n";
    let mut base = BASE.to_vec();
    base.push(("tests/test_zone.py", zone));
    let place = made(&[&base, FIX]);
    let id = "test_hour (tests.test_zone.ZoneTest.test_hour)";
    let lists = |file: &str| -> Vec<String> {
        let row = row(&place, file);
        serde_json::from_str(row["PASS_TO_PASS"].as_str().unwrap()).unwrap()
    };
    assert!(lists("dataset.jsonl").iter().any(|test| test == id));
    let done = validate(
        &place,
        &["--gates", "oracle_consistency", "--perturb", "timezone"],
    );
    assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
    let report = done.json();
    assert_eq!(report["repaired"], 1);
    let verdict = gate(&report, "oracle_consistency");
    assert_eq!(verdict["findings"][0]["code"], "depends_on_timezone");
    assert!(!lists("validated.jsonl").iter().any(|test| test == id));
    let reason = row(&place, "validated.jsonl")["atlas"]["quarantine"][id].clone();
    assert!(
        reason.as_str().unwrap().starts_with("depends on timezone"),
        "{reason}"
    );
    // A verdict that was reached stands.
    let again = validate(
        &place,
        &["--gates", "oracle_consistency", "--perturb", "timezone"],
    );
    assert_eq!(
        again.json()["instances"][0]["verdicts"],
        report["instances"][0]["verdicts"]
    );
}

#[test]
fn an_instance_that_its_gold_patch_does_not_resolve_is_rejected() {
    let place = made(&[BASE, FIX]);
    let mut row = row(&place, "dataset.jsonl");
    row["PASS_TO_PASS"] = "[\"test_gone (tests.test_calc.CalcTest.test_gone)\"]".into();
    std::fs::write(place.path("out/dataset.jsonl"), format!("{row}\n")).unwrap();
    let done = validate(&place, &["--gates", "gold_patch,null_patch"]);
    assert_eq!(done.code(), 3, "{}{}", done.stdout(), done.stderr());
    let report = done.json();
    assert_eq!(report["rejected"], 1);
    assert_eq!(
        report["funnel"][1]["entered"], 0,
        "the first no is the last word"
    );
    let evidence = &gate(&report, "gold_patch")["findings"][0]["evidence"][0];
    assert!(
        evidence["text"].as_str().unwrap().contains("test_gone"),
        "{evidence}"
    );
    let kept = std::fs::read_to_string(place.path("out/validated.jsonl")).unwrap();
    assert_eq!(kept, "");

    let done = validate(
        &place,
        &["--gates", "gold_patch,null_patch", "--keep-going"],
    );
    assert_eq!(done.json()["funnel"][1]["entered"], 1);
}

#[test]
fn a_dataset_from_elsewhere_needs_a_clone() {
    let place = made(&[BASE, FIX]);
    std::fs::create_dir(place.path("other")).unwrap();
    std::fs::copy(
        place.path("out/dataset.jsonl"),
        place.path("other/rows.jsonl"),
    )
    .unwrap();
    let run = |more: &[&str]| {
        let mut args = vec!["validate", "other/rows.jsonl", "--format", "json"];
        args.extend(["--engine", "local", "--trust", "--gates", "gold_patch"]);
        args.extend_from_slice(more);
        place.run(&args)
    };
    let done = run(&[]);
    assert_eq!(done.code(), 1);
    let why = done.json()["instances"][0]["error"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(why.contains("give --repos"), "{why}");
    // The plan is found anew, and so are the tests of the three states.
    let done = run(&["--repos", "."]);
    assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
    assert_eq!(done.json()["accepted"], 1);
}

/// A statement that holds the solution: no rule can repair it, so its row is kept out.
#[test]
fn a_row_that_a_person_must_repair_is_kept_out_and_others_stay() {
    let place = made(&[BASE, FIX]);
    let row = row(&place, "dataset.jsonl");
    let mut leaking = row.clone();
    leaking["instance_id"] = "me__calc-2".into();
    leaking["problem_statement"] =
        format!("Apply this:\n{}", row["patch"].as_str().unwrap()).into();
    std::fs::write(
        place.path("out/dataset.jsonl"),
        format!("{row}\n{leaking}\n"),
    )
    .unwrap();
    let gates = ["--gates", "integrity", "--repos", "repo"];
    let done = validate(
        &place,
        &[&gates[..], &["--instance", "me__calc-1"]].concat(),
    );
    assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
    let done = validate(
        &place,
        &[&gates[..], &["--instance", "me__calc-2"]].concat(),
    );
    assert_eq!(done.code(), 3, "{}{}", done.stdout(), done.stderr());
    let report = done.json();
    assert_eq!(
        (report["repaired"].clone(), report["needs_repair"].clone()),
        (0.into(), 1.into())
    );
    let code = &gate(&report, "integrity")["findings"][0]["code"];
    assert_eq!(code, "solution_in_statement");
    let kept = std::fs::read_to_string(place.path("out/validated.jsonl")).unwrap();
    assert_eq!(kept.lines().count(), 1, "the row of the other run stays");
    assert!(kept.contains("me__calc-1"));

    let done = place.run(&[
        "validate",
        "out/validated.jsonl",
        "--engine",
        "local",
        "--trust",
    ]);
    assert_eq!(done.code(), 1);
    assert!(done.stderr().contains("give --out"), "{}", done.stderr());
    std::fs::write(place.path("twice.jsonl"), format!("{row}\n{row}\n")).unwrap();
    let done = validate_file(&place, "twice.jsonl");
    assert_eq!(done.code(), 1);
    let report = done.json();
    assert_eq!(report["total"], 1, "the first of the two is looked at");
    assert_eq!(report["faults"][0]["line"], 2, "{}", report["faults"]);
    std::fs::write(place.path("empty.jsonl"), "").unwrap();
    let done = place.run(&["validate", "empty.jsonl"]);
    assert!(
        done.stderr().contains("there is no row in it"),
        "{}",
        done.stderr()
    );
}

fn validate_file(place: &Place, file: &str) -> Done {
    let engine = ["--engine", "local", "--trust", "--gates", "integrity"];
    place.run(
        &[
            &["validate", file, "--repos", "repo", "--format", "json"],
            &engine[..],
        ]
        .concat(),
    )
}

#[test]
fn what_cannot_be_read_is_named() {
    let place = Place::new();
    let done = place.run(&["validate", "nowhere.jsonl"]);
    assert_eq!(done.code(), 1);
    assert!(done.stderr().contains("nowhere.jsonl"), "{}", done.stderr());
    std::fs::write(
        place.path("bad.jsonl"),
        "{\"instance_id\": \"a__b-1\"}\n{oops\n",
    )
    .unwrap();
    let done = validate_file(&place, "bad.jsonl");
    assert_eq!(done.code(), 1);
    let report = done.json();
    assert_eq!(
        (&report["total"], &report["errors"]),
        (&json!(1), &json!(1)),
        "the poor row is looked at, the broken line is an error"
    );
    assert_eq!(report["faults"][0]["line"], 2, "{}", report["faults"]);
    assert_eq!(report["faults"][0]["file"], "bad.jsonl");
    let done = place.run(&["validate", "bad.jsonl", "--engine", "local", "--trust"]);
    assert!(
        done.stdout().contains("input: bad.jsonl:2:"),
        "{}",
        done.stdout()
    );
    let done = place.run(&["validate", "bad.jsonl", "--gates", "weather"]);
    assert_eq!(done.code(), 2);
    assert!(
        done.stderr().contains("oracle_consistency"),
        "{}",
        done.stderr()
    );
    std::fs::write(place.path("one.jsonl"), "{\"instance_id\": \"a__b-1\"}\n").unwrap();
    let done = place.run(&["validate", "one.jsonl", "--instance", "c__d-2"]);
    assert!(
        done.stderr().contains("find `c__d-2` in"),
        "{}",
        done.stderr()
    );
}

/// Tests that hang on the clock, on a network, on the zone; each is found under its perturbation.
const HANGING: &str = "import datetime\nimport time\nimport unittest\n\n\nclass HangingTest(unittest.TestCase):\n    def test_year(self):\n        start = datetime.date.fromtimestamp(int(open('/proc/stat').read().split('btime ')[1].split()[0]))\n        self.assertLess((datetime.date.today() - start).days, 300)\n\n    def test_hour(self):\n        self.assertEqual(time.localtime(0).tm_hour, 0)\n\n    def test_route(self):\n        with open('/proc/net/route') as routes:\n            self.assertTrue(any(line.split()[1] == '00000000' for line in routes.readlines()[1:]))\n";

#[test]
fn on_docker_perturbations_and_builds_from_scratch_do_what_they_say() {
    if std::env::var("ATLAS_TEST_DOCKER").as_deref() != Ok("1") {
        eprintln!("skipped: needs a Docker engine; set ATLAS_TEST_DOCKER=1");
        return;
    }
    let mut base = BASE.to_vec();
    base.push(("tests/test_hanging.py", HANGING));
    let place = Place::new();
    let repo = place.repository("repo", &[&base, FIX]);
    let mut args = make_args(repo.to_str().unwrap(), &["--instance-id", "me__calc-1"]);
    args[6] = "docker";
    args.retain(|arg| *arg != "--trust");
    let done = place.run(&args);
    assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
    let images = || {
        let list = [
            "images",
            "--all",
            "--quiet",
            "--filter",
            "reference=atlas/repo",
        ];
        let done = std::process::Command::new("docker").args(list).output();
        String::from_utf8(done.unwrap().stdout)
            .unwrap()
            .lines()
            .count()
    };
    let before = images();
    let done = validate(
        &place,
        &[
            "--engine",
            "docker",
            "--builds",
            "2",
            "--perturb",
            "order,clock,timezone,network",
        ],
    );
    assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
    let report = done.json();
    let verdict = gate(&report, "oracle_consistency");
    let codes: Vec<&str> = verdict["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["code"].as_str().unwrap())
        .collect();
    let expected = [
        "depends_on_clock",
        "depends_on_timezone",
        "depends_on_network",
    ];
    assert_eq!(codes, expected, "{verdict}");
    // Unittest's order is that of its loader, which `order` changes.
    assert!(
        verdict["measurements"]["perturbations_unknown_to_the_runner"].is_null(),
        "{verdict}"
    );
    assert_eq!(
        gate(&report, "environment_determinism")["measurements"]["good_builds"],
        2
    );
    assert_eq!(images(), before, "builds from scratch are removed");
    let image = row(&place, "dataset.jsonl")["image"]
        .as_str()
        .unwrap()
        .to_owned();
    std::process::Command::new("docker")
        .args(["rmi", "--force", &image])
        .output()
        .unwrap();
}
