//! Critics, their baselines, and the tests that they are asked about.

use crate::support::{InOrder, cx, said};
use async_trait::async_trait;
use atlas_core::{
    Confidence, ConfidenceSource, Embedder as _, Error, ErrorKind, FinishReason, Instance,
    InstanceId, Judge, Judgement, Patch, RunContext, Subject, testing::judge_contract,
};
use atlas_judge::answer::AskOptions;
use atlas_judge::critic::{
    Critic, CriticLimits, CriticMode, CriticOptions, EmbeddingCritic, FirstCharacters,
    HashedNgrams, LikenessExample, UnseenTest, WeightedRandom, critic_prompts, critique_patch,
    extract_tests, fit_threshold, in_validation_split,
};
use atlas_judge::metrics::LowConfidenceRule;
use atlas_judge::variant::{BaseFiles, Variant};
use serde_json::{Map, Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const BASE: &str = "def add(a, b):\n    x = 1\n    y = 2\n    z = 3\n    w = 4\n    return a - b\n";
const PATCH: &str = "\
--- a/calc.py
+++ b/calc.py
@@ -4,3 +4,3 @@
     z = 3
     w = 4
-    return a - b
+    return a + b
";
const LONG_TEST: &str =
    "def test_add():\n    # long enough for the rule to look at it\n    assert add(1, 2) == 3\n";

fn subject() -> Subject {
    let row = json!({
        "instance_id": "o__calc-1",
        "patch": PATCH,
        "problem_statement": "add() subtracts",
        "hints_text": "look at calc.py",
    });
    let attachments = json!({
        "files": {"calc.py": BASE},
        "test": {"id": "t::test_add", "source": LONG_TEST, "path": "tests/test_calc.py"},
        "tests": [
            {"id": "t::test_add", "source": LONG_TEST, "path": "tests/test_calc.py"},
            {"id": "t::test_two", "source": "def test_two(): pass"},
        ],
    });
    let Value::Object(attachments) = attachments else {
        panic!("an object")
    };
    Subject {
        instance: row.to_string().parse::<Instance>().unwrap(),
        patch: Some(Patch::new(PATCH)),
        attachments,
    }
}

fn answer(verdict: &str, confidence: f64) -> String {
    json!({"reasoning": "because", "verdict": verdict, "confidence": confidence}).to_string()
}

/// Options of a critic that does not ask again for the form of an answer.
fn once(mode: CriticMode) -> CriticOptions {
    let ask = AskOptions {
        corrections: 0,
        ..AskOptions::default()
    };
    CriticOptions {
        mode,
        ask,
        ..CriticOptions::default()
    }
}

fn critic(mode: CriticMode, answers: &[String]) -> Critic<InOrder> {
    let answers: Vec<_> = answers.iter().map(|text| said(text)).collect();
    Critic::new(InOrder::new(answers), once(mode))
}

/// What is longer than its limit is cut, tests of one question together, and the details name it.
#[tokio::test]
async fn parts_that_are_too_long_are_cut() {
    let long = "    assert add(1, 2) == 3\n".repeat(200);
    let mut subject = subject();
    let test = json!({"id": "t::test_long", "source": long});
    let short = json!({"id": "t::test_two", "source": "def test_two(): pass"});
    subject.attachments.insert("test".to_owned(), test.clone());
    let tests = json!([test, short, test]);
    subject.attachments.insert("tests".to_owned(), tests);
    let limits = CriticLimits {
        tests: Some(400),
        gold: Some(10),
        ..CriticLimits::default()
    };
    for (mode, expected, cuts) in [
        (CriticMode::Isolated, json!(["tests"]), 1),
        (CriticMode::Holistic, json!(["tests"]), 2),
        (CriticMode::ChangeAware, json!(["gold"]), 1),
        (CriticMode::Problem, Value::Null, 0),
    ] {
        let options = CriticOptions {
            limits,
            ..once(mode)
        };
        let critic = Critic::new(InOrder::new([said(&answer("pass", 90.0))]), options);
        let (messages, _) = critic.prompt(&subject).unwrap();
        let shown = &messages[1].content;
        let found = shown.matches("are left out here").count();
        assert_eq!(found, cuts, "{shown}");
        assert!(mode != CriticMode::Holistic || shown.contains("def test_two(): pass"));
        let told = critic.judge(&cx(), &subject).await.unwrap();
        let cut = told.details.get("cut").cloned().unwrap_or_default();
        assert_eq!(cut, expected, "{mode:?}");
    }
}

#[tokio::test]
async fn every_mode_keeps_the_contract() {
    for mode in CriticMode::ALL {
        for variant in Variant::ALL {
            let options = CriticOptions {
                mode,
                variant,
                ..CriticOptions::default()
            };
            let model = InOrder::new([said(&answer("pass", 90.0))]);
            judge_contract(&Critic::new(model, options), &subject(), &["pass", "fail"]).await;
        }
    }
    let coin = WeightedRandom::new(0.85, 1).unwrap();
    judge_contract(&coin, &subject(), &["pass", "fail"]).await;
    let likeness = EmbeddingCritic::new(HashedNgrams::default(), 0.5);
    judge_contract(&likeness, &subject(), &["pass", "fail"]).await;
}

#[test]
fn prompts_show_what_the_mode_may_see() {
    let shown = |mode, variant| {
        let options = CriticOptions {
            mode,
            variant,
            ..CriticOptions::default()
        };
        let critic = Critic::new(InOrder::new([]), options);
        let (messages, notes) = critic.prompt(&subject()).unwrap();
        assert_eq!(notes, Vec::<String>::new());
        messages[1].content.clone()
    };
    let isolated = shown(CriticMode::Isolated, Variant::Function);
    assert!(
        isolated.contains(" def add(a, b):") && isolated.contains("long enough"),
        "{isolated}"
    );
    assert!(
        !isolated.contains("subtracts") && !isolated.contains("test_two"),
        "{isolated}"
    );
    let default = shown(CriticMode::Isolated, Variant::Default);
    assert!(!default.contains("def add(a, b)"), "{default}");
    let left = shown(CriticMode::Isolated, Variant::PostCommit);
    assert!(
        left.contains("return a + b") && !left.contains("return a - b"),
        "{left}"
    );
    let holistic = shown(CriticMode::Holistic, Variant::Function);
    assert!(
        holistic.contains("test_two") && holistic.contains("long enough"),
        "{holistic}"
    );
    let aware = shown(CriticMode::ChangeAware, Variant::Default);
    assert_eq!(aware.matches("+    return a + b").count(), 2, "{aware}");
    let problem = shown(CriticMode::Problem, Variant::Default);
    assert!(
        problem.contains("subtracts") && !problem.contains("look at"),
        "{problem}"
    );
    assert!(!problem.contains("test_add"), "{problem}");
    let hints = shown(CriticMode::ProblemHints, Variant::Default);
    assert!(
        hints.contains("subtracts") && hints.contains("look at calc.py"),
        "{hints}"
    );
    for prompt in critic_prompts() {
        assert!(prompt.version().contains(".v1") && prompt.source().contains("confidence"));
    }
}

#[tokio::test]
async fn a_pass_that_is_not_sure_is_a_fail() {
    let cases = [
        ("pass", 65.0, LONG_TEST, "fail", true),
        ("pass", 65.5, LONG_TEST, "pass", false),
        ("pass", 10.0, "short", "pass", false),
        ("fail", 10.0, LONG_TEST, "fail", false),
    ];
    for (verdict, confidence, source, expected, applied) in cases {
        let mut subject = subject();
        subject.attachments["test"]["source"] = json!(source);
        let critic = critic(CriticMode::Isolated, &[answer(verdict, confidence)]);
        let judgement = critic.judge(&cx(), &subject).await.unwrap();
        assert_eq!(judgement.label, expected, "{verdict} {confidence}");
        assert_eq!(judgement.details["rule_applied"], json!(applied));
        assert_eq!(judgement.details["said"], json!(verdict));
        assert_eq!(judgement.confidence.value, Some(confidence / 100.0));
        assert_eq!(judgement.confidence.source, ConfidenceSource::Verbalised);
        assert_eq!(judgement.reasoning, "because");
    }
    let options = CriticOptions {
        rule: Some(LowConfidenceRule {
            max_confidence: 95.0,
            longer_than: 0,
        }),
        ..CriticOptions::default()
    };
    let strict = Critic::new(InOrder::new([said(&answer("pass", 90.0))]), options);
    assert_eq!(strict.judge(&cx(), &subject()).await.unwrap().label, "fail");
}

#[tokio::test]
async fn what_cannot_be_read_or_is_missing_is_an_error() {
    let bad = [
        "",
        "pass",
        "{\"verdict\":\"pass\"}",
        &answer("maybe", 50.0),
        &answer("pass", 101.0),
    ];
    for text in bad {
        let critic = critic(CriticMode::Isolated, &[text.to_owned()]);
        let why = critic.judge(&cx(), &subject()).await.unwrap_err();
        assert_eq!(why.kind(), ErrorKind::Model, "{text}");
    }
    let mut cut = said(&answer("pass", 90.0));
    cut.finish = FinishReason::Length;
    let critic_cut = Critic::new(InOrder::new([cut]), once(CriticMode::Isolated));
    let why = critic_cut.judge(&cx(), &subject()).await.unwrap_err();
    assert!(why.chain().contains("cut off"), "{}", why.chain());

    let without = |key: &str| {
        let mut subject = subject();
        subject.attachments.remove(key);
        subject
    };
    for (mode, subject, says) in [
        (CriticMode::Isolated, without("test"), "`test`"),
        (CriticMode::Holistic, without("tests"), "`tests`"),
        (
            CriticMode::Isolated,
            Subject {
                patch: None,
                ..subject()
            },
            "candidate patch",
        ),
    ] {
        let why = critic(mode, &[]).judge(&cx(), &subject).await.unwrap_err();
        assert_eq!(why.kind(), ErrorKind::InvalidInput);
        assert!(
            why.chain().contains(says) && why.chain().contains("o__calc-1"),
            "{}",
            why.chain()
        );
    }
}

#[tokio::test]
async fn a_patch_passes_if_all_its_tests_do() {
    let test_patch = Patch::new(
        "--- /dev/null\n+++ b/tests/test_calc.py\n@@ -0,0 +1,8 @@\n+def test_add():\n+    assert add(1, 2) == 3\n+\n+def test_zero():\n+    assert add(0, 0) == 0\n+\n+def helper():\n+    pass\n",
    );
    let ids = [
        "tests/test_calc.py::test_add".to_owned(),
        "tests/test_calc.py::test_zero[a-1]".to_owned(),
    ];
    let found = extract_tests(&test_patch, &BaseFiles::new(), &ids, &[]).unwrap();
    assert_eq!(found.helpers, ["tests/test_calc.py::helper"]);
    assert_eq!(found.tests.len(), 2);
    let half = critic(
        CriticMode::Isolated,
        &[answer("pass", 90.0), answer("fail", 80.0)],
    );
    let critique = critique_patch(&cx(), &half, &subject(), &found.tests, 1)
        .await
        .unwrap();
    assert_eq!(
        (critique.build_success, critique.progress.to_bits()),
        (false, 0.5_f64.to_bits())
    );
    assert_eq!(critique.tests[1].id, ids[1]);
    assert_eq!(critique.tests[1].confidence, Some(80.0));
    let all = critic(
        CriticMode::Isolated,
        &[answer("pass", 90.0), answer("pass", 80.0)],
    );
    assert!(
        critique_patch(&cx(), &all, &subject(), &found.tests, 2)
            .await
            .unwrap()
            .build_success
    );
    let none = critic(CriticMode::Isolated, &[]);
    let why = critique_patch(&cx(), &none, &subject(), &[], 1)
        .await
        .unwrap_err();
    assert_eq!(why.kind(), ErrorKind::InvalidInput);
}

#[tokio::test]
async fn a_weighted_coin_falls_the_same_way_and_as_often_as_it_should() {
    let coin = WeightedRandom::new(0.85, 7).unwrap();
    let mut passes = 0;
    for number in 0..2000 {
        let mut subject = subject();
        subject.attachments["test"]["id"] = json!(format!("t::{number}"));
        let first = coin.judge(&cx(), &subject).await.unwrap();
        assert_eq!(first, coin.judge(&cx(), &subject).await.unwrap());
        passes += u32::from(first.label == "pass");
    }
    assert!((1640..1760).contains(&passes), "{passes} of 2000");
    assert!(WeightedRandom::new(1.1, 7).is_err());
    assert!(WeightedRandom::new(f64::NAN, 7).is_err());
}

#[tokio::test]
async fn likeness_with_a_threshold_from_a_validation_split() {
    let embedder = HashedNgrams::default();
    assert_eq!(embedder.name(), "hashed-ngrams-3-5-1024");
    let example = |candidate: &str, passes| LikenessExample {
        candidate: Patch::new(candidate),
        gold: Patch::new(PATCH),
        passes,
    };
    let near = PATCH.replace("a + b", "b + a");
    let far = "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-import os\n+import sys as system\n";
    let examples = [
        example(PATCH, true),
        example(&near, true),
        example(far, false),
        example("", false),
    ];
    let best = fit_threshold(&cx(), &embedder, &examples)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(best.f1.to_bits(), 1.0_f64.to_bits());
    let cut = FirstCharacters::new(&embedder, 10);
    assert_eq!(cut.name(), "hashed-ngrams-3-5-1024-first-10");
    let texts = ["0123456789-more".to_owned(), "é".repeat(11)];
    let vectors = cut.embed(&cx(), &texts).await.unwrap();
    assert_eq!(vectors[0], embedder.vector("0123456789"));
    assert_eq!(vectors[1], embedder.vector(&"é".repeat(10)));
    let critic = EmbeddingCritic::new(embedder, best.threshold);
    for example in &examples {
        let subject = Subject {
            patch: Some(example.candidate.clone()),
            ..subject()
        };
        let judgement = critic.judge(&cx(), &subject).await.unwrap();
        assert_eq!(judgement.label == "pass", example.passes, "{judgement:?}");
        assert_eq!(judgement.confidence.source, ConfidenceSource::Missing);
    }
    let ids: Vec<InstanceId> = (0..1000)
        .map(|n| format!("o__r-{n}").parse().unwrap())
        .collect();
    let split = ids
        .iter()
        .filter(|id| in_validation_split(id, 0.2, 3))
        .count();
    assert!((150..250).contains(&split), "{split}");
}

/// Names, ids and `+` for a changed test of an extraction.
fn listing(
    path: &str,
    before: &str,
    after: &str,
    fail: &[&str],
    pass: &[&str],
) -> (Vec<String>, Vec<String>) {
    let body = similar::TextDiff::from_lines(before, after)
        .unified_diff()
        .header(&format!("a/{path}"), &format!("b/{path}"))
        .to_string();
    let base = BaseFiles::from([(path.to_owned(), before.as_bytes().to_vec())]);
    let owned = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
    let found = extract_tests(&Patch::new(body), &base, &owned(fail), &owned(pass)).unwrap();
    let line = |test: &atlas_judge::critic::UnseenTest| {
        let sign = if test.changed { "+" } else { "=" };
        format!("{sign}{} <- {}", test.name, test.ids.join(" | "))
    };
    (
        found.tests.iter().map(line).collect(),
        found.unmatched_fail_to_pass,
    )
}

#[test]
fn tests_and_their_ids_in_several_languages() {
    let (python, unmatched) = listing(
        "tests/test_a.py",
        "class TestA:\n    def test_same(self):\n        keep()\n\n    def test_one(self):\n        pass\n",
        "VALUE = 2\n\nclass TestA:\n    def test_same(self):\n        keep()\n\n    def test_one(self):\n        assert 1\n\n\nclass TestB:\n    def test_one(self):\n        assert 2\n\n    def make(self):\n        pass\n",
        &[
            "tests/test_a.py::TestA::test_one",
            "tests/test_a.py::TestB::test_one[x-1]",
            "tests/test_a.py::TestA::test_same",
            "tests/test_z.py::test_none",
        ],
        &["tests/test_b.py::test_other"],
    );
    assert_eq!(
        python,
        [
            "+TestA.test_one <- tests/test_a.py::TestA::test_one",
            "+TestB.test_one <- tests/test_a.py::TestB::test_one[x-1]",
            "=TestA.test_same <- tests/test_a.py::TestA::test_same",
        ]
    );
    assert_eq!(unmatched, ["tests/test_z.py::test_none"]);

    let (go, _) = listing(
        "a_test.go",
        "package a\n",
        "package a\n\nfunc TestAdd(t *testing.T) {\n\tt.Run(\"x\", func(t *testing.T) {})\n}\n\nfunc TestAddMore(t *testing.T) {}\n\nfunc mustDo() {}\n",
        &["TestAdd", "TestAdd/x", "TestAddMore"],
        &[],
    );
    assert_eq!(
        go,
        [
            "+TestAdd <- TestAdd | TestAdd/x",
            "+TestAddMore <- TestAddMore"
        ]
    );

    let (script, _) = listing(
        "a.test.ts",
        "describe('math', () => {\n});\n",
        "describe('math', () => {\n  it('adds', () => { expect(1).toBe(1); });\n  it('adds numbers', () => { go(); });\n  it.each([1, 2])('counts to %d', (n) => { go(n); });\n});\n",
        &[
            "math > adds",
            "a.test.ts | math adds numbers",
            "math counts to 1",
            "math counts to 2",
        ],
        &[],
    );
    assert_eq!(
        script,
        [
            "+math.adds <- math > adds",
            "+math.adds numbers <- a.test.ts | math adds numbers",
            "+math.counts to %d <- math counts to 1 | math counts to 2",
        ]
    );

    let (java, _) = listing(
        "src/test/java/p/ATest.java",
        "package p;\nclass ATest {\n}\n",
        "package p;\nclass ATest {\n    @Test\n    void adds() { go(); }\n    @Test void other() { }\n    void helper() { }\n}\n",
        &["p.ATest.adds"],
        &["p.BTest.other"],
    );
    assert_eq!(
        java,
        [
            "+ATest.adds <- p.ATest.adds",
            "+ATest.other <- p.BTest.other"
        ]
    );

    let (rust, _) = listing(
        "src/lib.rs",
        "mod tests {\n}\n",
        "mod tests {\n    #[test]\n    fn adds() { go(); }\n    fn helper() {}\n}\n",
        &["tests::adds"],
        &[],
    );
    assert_eq!(rust, ["+tests.adds <- tests::adds"]);

    let (ruby, _) = listing(
        "spec/a_spec.rb",
        "describe 'A' do\nend\n",
        "describe 'A' do\n  context 'when big' do\n    it 'works' do\n      go\n    end\n  end\nend\n",
        &["A when big works"],
        &[],
    );
    assert_eq!(ruby, ["+A::when big.works <- A when big works"]);

    let (cpp, _) = listing(
        "test/a.cpp",
        "#include <a>\n",
        "#include <a>\n\nTEST(Suite, Works) {\n  EXPECT_EQ(1, 1);\n}\n\nTEST_CASE(\"adds numbers\") {\n  REQUIRE(true);\n}\n",
        &["Suite.Works", "adds numbers"],
        &[],
    );
    assert_eq!(
        cpp,
        [
            "+Suite.Works <- Suite.Works",
            "+adds numbers <- adds numbers"
        ]
    );
}

#[test]
fn a_subject_without_attachments_still_shows_the_patch() {
    let subject = Subject {
        attachments: Map::new(),
        ..subject()
    };
    let critic = Critic::new(
        InOrder::new([]),
        CriticOptions {
            mode: CriticMode::Problem,
            ..CriticOptions::default()
        },
    );
    let (messages, notes) = critic.prompt(&subject).unwrap();
    assert!(messages[1].content.contains("+    return a + b"));
    assert_eq!(
        notes,
        ["calc.py: the base content is not known, or no UTF-8 text"]
    );
}

/// Counts how many questions are under way; fails on one.
#[derive(Debug, Default)]
struct Counting {
    under_way: AtomicUsize,
    most: AtomicUsize,
    asked: AtomicUsize,
    fails_on: Option<&'static str>,
}

#[async_trait]
impl Judge for Counting {
    fn id(&self) -> &'static str {
        "counting"
    }

    async fn judge(&self, _: &RunContext, subject: &Subject) -> Result<Judgement, Error> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let now = self.under_way.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(20)).await;
        self.under_way.fetch_sub(1, Ordering::SeqCst);
        let id = subject.attachments["test"]["id"]
            .as_str()
            .unwrap_or_default();
        if self.fails_on.is_some_and(|test| id.ends_with(test)) {
            return Err(Error::new(ErrorKind::Model, "ask", id));
        }
        Ok(Judgement {
            label: "pass".to_owned(),
            confidence: Confidence {
                value: None,
                source: ConfidenceSource::Missing,
            },
            reasoning: id.to_owned(),
            evidence: Vec::new(),
            details: Map::new(),
        })
    }
}

#[tokio::test]
async fn tests_are_asked_about_abreast_and_none_after_a_failure() {
    let tests: Vec<UnseenTest> = (0..9)
        .map(|number| {
            let id = format!("t.py::test_{number}");
            UnseenTest {
                path: "t.py".to_owned(),
                name: format!("test_{number}"),
                source: "def t(): ...".to_owned(),
                added: true,
                changed: true,
                ids: vec![id],
            }
        })
        .collect();
    let judge = Counting::default();
    let critique = critique_patch(&cx(), &judge, &subject(), &tests, 3)
        .await
        .unwrap();
    assert_eq!(judge.most.load(Ordering::SeqCst), 3);
    let said: Vec<&str> = critique
        .tests
        .iter()
        .map(|test| test.reasoning.as_str())
        .collect();
    let ids: Vec<String> = tests.iter().map(UnseenTest::id).collect();
    assert_eq!(said, ids, "in the order of the tests");
    let judge = Counting {
        fails_on: Some("test_1"),
        ..Counting::default()
    };
    let why = critique_patch(&cx(), &judge, &subject(), &tests, 3)
        .await
        .unwrap_err();
    assert_eq!(why.subject(), "t.py::test_1");
    let asked = judge.asked.load(Ordering::SeqCst);
    assert!(asked < 9, "{asked} were asked, though the second failed");
    assert_eq!(
        judge.under_way.load(Ordering::SeqCst),
        0,
        "who was under way was waited for"
    );
}
