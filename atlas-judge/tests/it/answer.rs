//! Reading answers: alignment, label mass, scores, structured answers, fallbacks.

use crate::support::{InOrder, cx, recorded, said, said_with, token, with_top};
use atlas_core::ConfidenceSource::{
    AvgLogprobOnly, LabelTopLogprobs, Missing, SampleFrequency, TokenLogprobs, Verbalised,
};
use atlas_core::{ChatMessage, Completion, FinishReason, Role, TokenLogprob};
use atlas_judge::answer::{
    AskOptions, Labels, Schema, Shape, Unreadable, align, ask_label, ask_lines, ask_structured,
    one_source, sequence_score,
};
use proptest::prelude::*;

fn labels() -> Labels {
    Labels::new("success", "failure").expect("two words")
}

fn review() -> Schema {
    Schema::new([
        ("is_bug_fixed", Shape::Bool, "whether"),
        ("explanation", Shape::Text, "why"),
    ])
}

fn question() -> Vec<ChatMessage> {
    vec![ChatMessage {
        role: Role::User,
        content: "Will it?".to_owned(),
    }]
}

const FIXED: &str = r#"{"is_bug_fixed": true, "explanation": "x"}"#;

#[test]
fn tokens_that_the_text_does_not_hold_are_left_out() {
    let answer = recorded("review_json_schema");
    let tokens = answer.logprobs.as_deref().unwrap();
    let found = align(&answer.text, tokens).unwrap();
    // "```", "json" and a line end before; a line end, "```" and the empty end token behind.
    assert_eq!((found.before, found.after), (3, 3));
    let spelt: Vec<u8> = found.tokens.iter().flat_map(|t| t.bytes.clone()).collect();
    assert_eq!(spelt, answer.text.as_bytes());

    let mean = |tokens: &[TokenLogprob]| {
        let count = f64::from(u32::try_from(tokens.len()).unwrap());
        tokens.iter().map(|t| t.logprob).sum::<f64>() / count
    };
    let score = sequence_score(&answer).unwrap();
    assert_eq!(score.source, TokenLogprobs);
    assert!((score.value.unwrap() - mean(found.tokens).exp()).abs() < 1e-12);
    let (all, mean) = (mean(tokens), mean(found.tokens));
    assert!((all - mean).abs() > 0.01, "the fence would have counted");
}

#[test]
fn partly_trimmed_tokens_and_written_end_tokens_align() {
    let tokens = [
        token(" suc", -0.1),
        token("cess", -0.2),
        token("<|im_end|>", -0.3),
    ];
    let found = align("success", &tokens).unwrap();
    assert_eq!((found.before, found.tokens.len(), found.after), (0, 2, 1));
    // A character cut into two tokens, neither of which is text.
    let whole = "é".as_bytes();
    let halves: Vec<TokenLogprob> = whole
        .iter()
        .map(|byte| TokenLogprob {
            bytes: vec![*byte],
            ..token("", -0.5)
        })
        .collect();
    assert_eq!(align("é", &halves).unwrap().tokens.len(), 2);
    // The text stands twice in the tokens; only one place leaves nothing but a fence outside.
    let twice = ["```", "a", "\n", "a", "\n", "```"].map(|text| token(text, -1.0));
    assert_eq!(align("a", &twice).unwrap().before, 3);
}

#[test]
fn tokens_of_another_text_are_refused_with_the_place() {
    let tokens = [token("{\"a\": ", -0.1), token("2}", -0.1)];
    let why = align("{\"a\": 1}", &tokens).unwrap_err();
    assert!(matches!(why, Unreadable::Misaligned { at: 6, .. }), "{why}");
    assert!(why.to_string().contains("`1}`"), "{why}");
    let more = [token("yes", -0.1), token(", but no", -0.1)];
    assert!(align("yes", &more).is_err());
    // A thought that the server kept out of the text is no fence.
    let thought = [token("I think", -0.1), token("yes", -0.1)];
    assert!(align("yes", &thought).is_err());
    assert_eq!(align("", &tokens), Err(Unreadable::Empty));
    assert!(align("yes", &[]).is_err());
}

proptest! {
    #[test]
    fn any_split_into_tokens_aligns(
        text in "\\PC{1,40}",
        cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..12),
        fenced in any::<bool>(),
    ) {
        let tokens = split(text.as_bytes(), &cuts);
        let inner = tokens.len();
        let mut all = Vec::new();
        if fenced {
            all.extend(["```", "json", "\n"].map(|text| token(text, -2.0)));
        }
        all.extend(tokens);
        if fenced {
            all.extend(["\n", "```", ""].map(|text| token(text, -2.0)));
        }
        let found = align(&text, &all).unwrap();
        let spelt: Vec<u8> = found.tokens.iter().flat_map(|t| t.bytes.clone()).collect();
        prop_assert_eq!(spelt, text.as_bytes());
        prop_assert!(found.tokens.len() <= inner);
    }

    #[test]
    fn a_changed_byte_is_refused(
        text in "\\PC{1,40}",
        cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..12),
        place in any::<prop::sample::Index>(),
        by in 1_u8..=255,
    ) {
        let mut bytes = text.as_bytes().to_vec();
        let at = place.index(bytes.len());
        bytes[at] ^= by;
        prop_assert!(align(&text, &split(&bytes, &cuts)).is_err());
    }

    #[test]
    fn probabilities_stay_in_bounds(values in proptest::collection::vec((0_usize..6, -30.0_f64..0.0), 1..20)) {
        let words = ["s", "success", " Fail", "failure", "The", "f"];
        let top: Vec<(&str, f64)> = values.iter().map(|(word, value)| (words[*word], *value)).collect();
        let mass = labels().mass(&with_top("The", &top));
        if let Some(p) = mass.probability() {
            prop_assert!((0.0..=1.0).contains(&p));
        }
    }
}

fn split(bytes: &[u8], cuts: &[prop::sample::Index]) -> Vec<TokenLogprob> {
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    places
        .windows(2)
        .map(|pair| TokenLogprob {
            bytes: bytes[pair[0]..pair[1]].to_vec(),
            ..token("", -1.0)
        })
        .collect()
}

#[test]
fn the_mass_decides_not_the_likeliest_token() {
    // `success` is the likeliest single token, `f`, `fail` and `failure` together are likelier.
    let answer = recorded("r1_grammar_post_sampling_0");
    let first = &answer.logprobs.as_ref().unwrap()[0];
    let likeliest = first.top.iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
    assert_eq!(likeliest.0, b"success");
    let mass = labels().mass_of(&answer, 0.5).unwrap();
    assert!(mass.probability().unwrap() < 0.5, "{mass:?}");
    assert!((mass.negative - 0.57).abs() < 0.01, "{mass:?}");
}

#[test]
fn little_mass_on_the_labels_is_refused() {
    // Under a grammar the values are those of the free model, for which the labels were unlikely.
    for name in ["r1_grammar_raw_logprobs_0", "r1_grammar_raw_logprobs_1"] {
        let why = labels().mass_of(&recorded(name), 0.5).unwrap_err();
        assert!(matches!(why, Unreadable::LabelMass { .. }), "{name}: {why}");
        assert!(labels().mass_of(&recorded(name), 0.0).is_ok(), "{name}");
    }
    // It went on with a sentence until the limit.
    let why = labels().mass_of(&recorded("r1_free_text_disobeys"), 0.5);
    assert_eq!(why, Err(Unreadable::Truncated));
    let why = labels().mass_of(&recorded("top_logprobs_absent"), 0.5);
    assert_eq!(why, Err(Unreadable::Truncated));
    assert_eq!(
        labels().mass_of(&said("success"), 0.5),
        Err(Unreadable::NoLogprobs)
    );
    let bare = said_with("success", vec![token("success", -0.1)]);
    assert_eq!(
        labels().mass_of(&bare, 0.5),
        Err(Unreadable::NoAlternatives)
    );
}

#[test]
fn labels_are_read_behind_fences_quotes_and_white_space() {
    let tops = [("success", -0.2), ("failure", -1.9)];
    for (text, before) in [
        ("success", &["```", "\n"][..]),
        ("\"success\"", &["\""]),
        (" success", &[" "]),
    ] {
        let mut tokens: Vec<TokenLogprob> = before.iter().map(|text| token(text, -1.0)).collect();
        tokens.push(with_top("success", &tops));
        if text.ends_with('"') {
            tokens.push(token("\"", -0.1));
        }
        let mass = labels().mass_of(&said_with(text, tokens), 0.5).unwrap();
        assert!(
            (mass.probability().unwrap() - 0.845_534_7).abs() < 1e-6,
            "{text}"
        );
    }
    // A token that is not among its own alternatives counts once; one that is counts once too.
    let outside = with_top("s", &[("f", -1.0)]);
    let mass = labels().mass(&TokenLogprob {
        logprob: -1.0,
        ..outside
    });
    assert!((mass.positive - mass.negative).abs() < 1e-12);
    assert!(labels().read("**Success.**\n").unwrap());
    assert!(!labels().read("'FAILURE'").unwrap());
    assert!(labels().read("successful").is_err());
    for (a, b) in [
        ("", "x"),
        ("two words", "x"),
        ("accept", "abstain"),
        ("Same", "same"),
    ] {
        assert!(Labels::new(a, b).is_err(), "{a}/{b}");
    }
}

#[test]
fn scores_say_where_they_come_from() {
    let answer = Completion {
        avg_logprob: Some(-0.5),
        ..said("x")
    };
    let score = sequence_score(&answer).unwrap();
    assert_eq!(
        (score.value, score.source),
        (Some((-0.5_f64).exp()), AvgLogprobOnly)
    );
    // Tokens are preferred to their mean over who knows what.
    let both = Completion {
        avg_logprob: Some(-9.0),
        ..said_with("x", vec![token("x", -0.5)])
    };
    assert_eq!(sequence_score(&both).unwrap().source, TokenLogprobs);
    assert_eq!(sequence_score(&said("x")), Err(Unreadable::NoLogprobs));
    assert_eq!(
        sequence_score(&recorded("review_json_schema_truncated")),
        Err(Unreadable::Truncated)
    );
    assert_eq!(
        sequence_score(&recorded("logprobs_only")),
        Err(Unreadable::Truncated)
    );
    for bad in [f64::NAN, 0.5] {
        let answer = said_with("x", vec![token("x", bad)]);
        assert!(matches!(
            sequence_score(&answer),
            Err(Unreadable::NotALogprob(0, _))
        ));
    }
    let why = one_source([TokenLogprobs, TokenLogprobs, AvgLogprobOnly]).unwrap_err();
    assert_eq!((why.first, why.second), (TokenLogprobs, AvgLogprobOnly));
}

#[test]
fn wrong_fields_are_all_named() {
    let schema = Schema::new([
        ("is_bug_fixed", Shape::Bool, ""),
        ("percent", Shape::Whole(0, 100), ""),
        (
            "class",
            Shape::OneOf(vec!["a".to_owned(), "b".to_owned()]),
            "",
        ),
        (
            "tests",
            Shape::List(Box::new(Shape::Object(Schema::new([(
                "id",
                Shape::Text,
                "",
            )])))),
            "",
        ),
    ]);
    let text = r#"{"is_bug_fixed": "true", "percent": 101, "class": "c", "tests": [{"id": 1}], "more": 1}"#;
    let why = schema.parse(text).unwrap_err().to_string();
    for name in ["is_bug_fixed", "percent", "class", "tests[0].id", "more"] {
        assert!(why.contains(&format!("`{name}`")), "{name}: {why}");
    }
    for (text, part) in [
        ("[true]", "an object expected"),
        ("{}", "`is_bug_fixed` is missing"),
        ("yes", "no JSON"),
        ("", "empty"),
        ("{\"is_bug_fixed\": true} and more", "no JSON"),
    ] {
        let why = review().parse(text).unwrap_err().to_string();
        assert!(why.contains(part), "{text}: {why}");
    }
    for text in [
        FIXED.to_owned(),
        format!("```json\n{FIXED}\n```"),
        format!("```\n{FIXED}```"),
        format!("\n```{FIXED}```\n"),
    ] {
        assert_eq!(
            review().parse(&text).unwrap()["is_bug_fixed"],
            true,
            "{text}"
        );
    }
    let json = review().to_json();
    assert_eq!(
        json["required"],
        serde_json::json!(["is_bug_fixed", "explanation"])
    );
    assert_eq!(json["additionalProperties"], false);
    // The decision comes first, as it is written in the form: what is generated before it would decide it.
    let fields = json["properties"].as_object().unwrap().keys();
    assert_eq!(fields.collect::<Vec<_>>(), ["is_bug_fixed", "explanation"]);
}

#[tokio::test]
async fn label_probabilities_fall_back_in_order() {
    let options = AskOptions {
        samples: 3,
        ..AskOptions::default()
    };
    let ask = async |model: &InOrder, options: &AskOptions| {
        ask_label(&cx(), model, &question(), &labels(), options).await
    };

    let model = InOrder::new([recorded("r1_grammar_post_sampling_0")]);
    let answer = ask(&model, &options).await.unwrap();
    assert_eq!((answer.source, model.calls()), (LabelTopLogprobs, 1));
    assert_eq!(model.asked.lock().unwrap()[0].top_logprobs, Some(20));

    let model = InOrder::new([
        said("success"),
        said("success"),
        said("Failure."),
        said("{\"answer\": \"success\"}"),
    ]);
    let answer = ask(&model, &options).await.unwrap();
    assert_eq!(answer.source, SampleFrequency);
    assert!((answer.probability - 2.0 / 3.0).abs() < 1e-12);
    assert!(answer.passed_over[0].contains("no log-probabilities"));
    {
        let asked = model.asked.lock().unwrap();
        let seeds: Vec<_> = asked.iter().map(|request| request.seed.unwrap()).collect();
        assert_eq!(seeds, [0, 1, 2, 3]);
        assert!(asked[1..].iter().all(|request| request.temperature > 0.0));
    }

    let unclear = || said("It depends.");
    let model = InOrder::new([
        unclear(),
        unclear(),
        unclear(),
        said("success"),
        said("{\"percent\": 35}"),
    ]);
    let answer = ask(&model, &options).await.unwrap();
    assert_eq!((answer.source, answer.probability), (Verbalised, 0.35));
    assert!(
        answer.passed_over[1].contains("1 of 3"),
        "{:?}",
        answer.passed_over
    );
    assert_eq!(
        model.asked.lock().unwrap()[4].messages.len(),
        1,
        "no two messages of one role"
    );

    let model = InOrder::new([
        unclear(),
        unclear(),
        unclear(),
        unclear(),
        said("{\"percent\": 350}"),
    ]);
    let why = ask(&model, &options).await.unwrap_err().chain();
    for part in ["log-probabilities", "samples", "`percent`"] {
        assert!(why.contains(part), "{part}: {why}");
    }
    let neither = AskOptions {
        samples: 0,
        verbalised: false,
        ..options
    };
    assert!(ask(&InOrder::new([unclear()]), &neither).await.is_err());
}

#[tokio::test]
async fn structured_answers_fall_back_and_stand_without_confidence() {
    let options = AskOptions {
        corrections: 0,
        samples: 2,
        ..AskOptions::default()
    };
    let ask = async |model: &InOrder, options: &AskOptions| {
        ask_structured(
            &cx(),
            model,
            &question(),
            &review(),
            "is_bug_fixed",
            options,
        )
        .await
    };
    let model = InOrder::new([recorded("review_json_schema")]);
    let answer = ask(&model, &options).await.unwrap();
    assert_eq!(answer.confidence.source, TokenLogprobs);
    assert_eq!(answer.fields["is_bug_fixed"], true);
    assert!(model.asked.lock().unwrap()[0].json_schema.is_some());

    let not = r#"{"is_bug_fixed": false, "explanation": "y"}"#;
    let model = InOrder::new([said(FIXED), said(not), said(FIXED)]);
    let answer = ask(&model, &options).await.unwrap();
    assert_eq!(
        (answer.confidence.source, answer.confidence.value),
        (SampleFrequency, Some(0.5))
    );

    let model = InOrder::new([said(FIXED), said("?"), said("?"), said("{\"percent\": 80}")]);
    let answer = ask(&model, &options).await.unwrap();
    assert_eq!(
        (answer.confidence.source, answer.confidence.value),
        (Verbalised, Some(0.8))
    );

    let model = InOrder::new([said(FIXED), said("?"), said("?"), said("very")]);
    let answer = ask(&model, &options).await.unwrap();
    assert_eq!(
        (answer.confidence.source, answer.confidence.value),
        (Missing, None)
    );
    assert_eq!(answer.passed_over.len(), 3);

    // Tokens of another text are no confidence, and the reason is kept.
    let other = said_with(FIXED, vec![token("{}", -0.1)]);
    let model = InOrder::new([other, said(FIXED), said(FIXED)]);
    let answer = ask(&model, &options).await.unwrap();
    assert!(
        answer.passed_over[0].contains("do not spell"),
        "{:?}",
        answer.passed_over
    );

    for (answer, part) in [
        (recorded("review_json_schema_truncated"), "cut off"),
        (
            said("{\"is_bug_fixed\": 1, \"explanation\": \"\"}"),
            "`is_bug_fixed`",
        ),
        (said("The bug is fixed."), "no JSON"),
    ] {
        let why = ask(&InOrder::new([answer]), &options)
            .await
            .unwrap_err()
            .chain();
        assert!(why.contains(part), "{part}: {why}");
    }
    let cut = Completion {
        finish: FinishReason::Length,
        ..said("A long")
    };
    let why = ask_lines(&cx(), &InOrder::new([cut]), &question(), &options).await;
    assert!(why.unwrap_err().chain().contains("cut off"));
}

#[tokio::test]
async fn an_answer_of_another_form_is_asked_for_again() {
    let options = AskOptions {
        corrections: 2,
        ..AskOptions::default()
    };
    let ask = async |model: &InOrder| {
        let schema = review();
        ask_structured(&cx(), model, &question(), &schema, "is_bug_fixed", &options).await
    };
    let good = said_with(FIXED, vec![token(FIXED, -0.5)]);
    let model = InOrder::new([said("Yes."), said("{\"is_bug_fixed\": 1}"), good]);
    let answer = ask(&model).await.unwrap();
    assert_eq!(answer.confidence.source, TokenLogprobs);
    assert_eq!(answer.corrections, 2);
    {
        let asked = model.asked.lock().unwrap();
        let last = &asked[2].messages;
        assert_eq!(last.len(), 5);
        assert!(last[2].content.contains("no JSON"), "{}", last[2].content);
        assert!(
            last[4].content.contains("`explanation`"),
            "{}",
            last[4].content
        );
    }
    let model = InOrder::new(["a", "b", "c"].map(said));
    let why = ask(&model).await.unwrap_err().chain();
    assert!(why.contains("no JSON") && model.calls() == 3, "{why}");
    // More of the same is cut off at the same place.
    let model = InOrder::new([recorded("review_json_schema_truncated")]);
    let why = ask(&model).await.unwrap_err().chain();
    assert!(why.contains("cut off") && model.calls() == 1, "{why}");
}

/// A model that would write on and on is held by the form, in texts and in lists; words to choose from have no length.
#[test]
fn texts_and_lists_have_limits_where_that_is_asked_for() {
    let entry = Schema::new([
        ("word", Shape::OneOf(vec!["a".to_owned()]), ""),
        ("why", Shape::Text, ""),
    ]);
    let list = Shape::List(Box::new(Shape::Object(entry)));
    let schema = Schema::new([("all", list, "")]);
    let all = |limit| schema.to_json_within(limit)["properties"]["all"].clone();
    let (free, bound) = (all(None), all(Some(5)));
    assert!(!free.to_string().contains("max"), "{free}");
    assert_eq!(bound["maxItems"], 12);
    let parts = &bound["items"]["properties"];
    assert_eq!(parts["why"]["maxLength"], 5);
    assert!(parts["word"].get("maxLength").is_none());
}
