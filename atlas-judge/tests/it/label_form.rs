//! A label asked for as JSON: where its probability is read, and what is refused.

use crate::support::{InOrder, cx, said, said_with, token, with_top};
use atlas_core::ConfidenceSource::{LabelTopLogprobs, SampleFrequency, Verbalised};
use atlas_core::{ChatMessage, Completion, FinishReason, Role, TokenLogprob};
use atlas_judge::answer::{
    AskOptions, LabelForm, Labels, Schema, Shape, Unreadable, ask_label, ask_structured_label,
    one_source,
};

const WORDS: [(&str, f64); 4] = [
    ("success", -1.6),
    ("f", -0.9),
    ("failure", -2.3),
    ("The", -3.0),
];

fn labels() -> Labels {
    Labels::new("success", "failure").expect("two words")
}

fn form() -> Schema {
    let words = vec!["success".to_owned(), "failure".to_owned()];
    Schema::new([("answer", Shape::OneOf(words), "")])
}

fn plain(texts: &[&str]) -> Vec<TokenLogprob> {
    texts
        .iter()
        .map(|text| with_top(text, &[(*text, -0.1), ("The", -2.0)]))
        .collect()
}

/// Tokens before the word, the word's first token with alternatives, tokens behind it.
fn around(before: &[&str], word: TokenLogprob, behind: &[&str]) -> Vec<TokenLogprob> {
    let mut tokens = plain(before);
    tokens.push(word);
    tokens.extend(plain(behind));
    tokens
}

/// The probability of `success` and the mass of both.
fn read(answer: &Completion) -> Result<(f64, f64), Unreadable> {
    let mass = labels().mass_in(answer, &form(), "answer", 0.5)?;
    Ok((mass.positive, mass.total()))
}

#[track_caller]
fn check(text: &str, tokens: Vec<TokenLogprob>, success: f64, total: f64) {
    let (positive, both) = read(&said_with(text, tokens)).unwrap();
    assert!((positive - success).abs() < 1e-9, "{positive}");
    assert!((both - total).abs() < 1e-9, "{both}");
}

#[test]
fn read_where_the_value_begins() {
    let (yes, no) = ((-1.6_f64).exp(), (-0.9_f64).exp() + (-2.3_f64).exp());
    let text = "{\"answer\": \"success\"}";
    let word = || with_top("success", &WORDS);
    // A fence that the text does not hold, and the end token behind it.
    let tokens = around(
        &["```", "json", "\n", "{\"", "answer", "\":", " \""],
        word(),
        &["\"}", "\n", "```", ""],
    );
    check(text, tokens, yes, yes + no);
    // The same in the text: the fence is a part of the answer.
    let tokens = around(&["```json\n", "{\"answer\": \""], word(), &["\"}\n```"]);
    check(
        "```json\n{\"answer\": \"success\"}\n```",
        tokens,
        yes,
        yes + no,
    );
    // The word in two tokens: its first decides, which begins `failure` just as well.
    let split = with_top("f", &WORDS);
    let tokens = around(&["{\"answer\": \""], split, &["ailure", "\"}"]);
    check("{\"answer\": \"failure\"}", tokens, yes, yes + no);
    // White space that was trimmed from the text begins the first token.
    let tokens = around(&["\n {", "\"answer", "\": \""], word(), &["\"}"]);
    check(text, tokens, yes, yes + no);
}

#[test]
fn a_token_may_hold_more_than_the_word() {
    let text = "{\"answer\": \"success\"}";
    // The quotation mark in front: only what begins with it counts, spaces aside. `success` alone
    // would be another text.
    let quoted = with_top(
        " \"s",
        &[
            (" \"s", 0.4_f64.ln()),
            ("\"fail", 0.2_f64.ln()),
            (" \"", 0.1_f64.ln()),
            ("success", 0.2_f64.ln()),
        ],
    );
    let tokens = around(&["{\"answer\":"], quoted, &["uccess\"", "}"]);
    check(text, tokens, 0.4, 0.6);
    // The mark behind: `s"` is no word, `failure"` is.
    let closed = with_top(
        "success\"}",
        &[
            ("success\"}", 0.5_f64.ln()),
            ("failure\"", 0.25_f64.ln()),
            ("s\"", 0.2_f64.ln()),
        ],
    );
    let tokens = around(&["{\"answer\": \""], closed, &[""]);
    check(text, tokens, 0.5, 0.75);
    // The server leaves an unlikely token out of its own alternatives.
    let own = TokenLogprob {
        logprob: 0.01_f64.ln(),
        ..with_top("success", &[("failure", 0.9_f64.ln())])
    };
    let tokens = around(&["{\"answer\": \""], own, &["\"}"]);
    check(text, tokens, 0.01, 0.91);
}

#[test]
fn the_value_not_the_first_word_that_looks_like_it() {
    let yes = (-1.6_f64).exp();
    let both = yes + (-0.9_f64).exp() + (-2.3_f64).exp();
    let words = vec!["success".to_owned(), "failure".to_owned()];
    let form = Schema::new([
        ("why", Shape::Text, ""),
        ("steps", Shape::List(Box::new(Shape::Text)), ""),
        ("answer", Shape::OneOf(words), ""),
    ]);
    let before = r#"{"why": "no \"answer\": \"failure\" {", "steps": ["answer", "failure"], "\u0061nswer": ""#;
    let tokens = around(&[before], with_top("success", &WORDS), &["\"}"]);
    let answer = said_with(&format!("{before}success\"}}"), tokens);
    let mass = labels().mass_in(&answer, &form, "answer", 0.5).unwrap();
    assert!((mass.positive - yes).abs() < 1e-9 && (mass.total() - both).abs() < 1e-9);
}

#[test]
fn what_cannot_be_read_is_refused() {
    let refused = |answer: &Completion| read(answer).unwrap_err();
    let text = "{\"answer\": \"success\"}";
    let tokens = |word| around(&["{\"answer\": \""], word, &["\"}"]);
    assert_eq!(refused(&said(text)), Unreadable::NoLogprobs);
    let bare = said_with(text, tokens(token("success", -0.1)));
    assert_eq!(refused(&bare), Unreadable::NoAlternatives);
    let weak = with_top(
        "success",
        &[("success", 0.3_f64.ln()), ("no", 0.6_f64.ln())],
    );
    let why = refused(&said_with(text, tokens(weak)));
    assert!(matches!(why, Unreadable::LabelMass { .. }), "{why}");
    let other = said_with(text, tokens(with_top("failure", &WORDS)));
    assert!(matches!(refused(&other), Unreadable::Misaligned { .. }));

    let cut = |text: &str| Completion {
        finish: FinishReason::Length,
        ..said_with(
            text,
            around(&["{\"answer\": \""], with_top("succ", &WORDS), &[]),
        )
    };
    assert_eq!(refused(&cut("{\"answer\": \"succ")), Unreadable::Truncated);
    let whole = Completion {
        finish: FinishReason::Length,
        ..said_with(text, tokens(with_top("success", &WORDS)))
    };
    assert!(
        read(&whole).is_ok(),
        "only what follows the object is cut off"
    );

    // A server that ignores the schema, another word, a name given twice, a word in escapes.
    assert!(matches!(refused(&said("success")), Unreadable::NotJson(_)));
    let maybe = refused(&said("{\"answer\": \"maybe\"}"));
    assert!(matches!(maybe, Unreadable::Fields(_)), "{maybe}");
    for text in [
        "{\"answer\": \"failure\", \"answer\": \"success\"}",
        "{\"answer\": \"\\u0073uccess\"}",
    ] {
        let why = refused(&said_with(text, plain(&[text])));
        assert!(matches!(why, Unreadable::NoLabel(_)), "{text}: {why}");
    }
}

fn options() -> AskOptions {
    AskOptions {
        max_tokens: 16,
        samples: 2,
        label_form: LabelForm::Json,
        ..AskOptions::default()
    }
}

fn question() -> Vec<ChatMessage> {
    vec![ChatMessage {
        role: Role::User,
        content: "Will it?".to_owned(),
    }]
}

#[tokio::test]
async fn asked_for_in_the_form_and_passed_over_in_order() {
    let ask = async |model: &InOrder| {
        let answer = ask_label(&cx(), model, &question(), &labels(), &options()).await;
        answer.unwrap()
    };
    let text = "{\"answer\": \"success\"}";
    let sure = said_with(
        text,
        around(&["{\"answer\": \""], with_top("success", &WORDS), &["\"}"]),
    );
    let model = InOrder::new([sure]);
    let read = ask(&model).await;
    assert_eq!(
        (read.source, read.form),
        (LabelTopLogprobs, LabelForm::Json)
    );
    assert_eq!(read.said, text);
    {
        let asked = model.asked.lock().unwrap();
        let first = &asked[0];
        assert_eq!(first.messages.len(), 1, "no two messages of one role");
        assert!(first.messages[0].content.starts_with("Will it?\n\n"));
        assert!(
            first.messages[0]
                .content
                .contains("{\"answer\": \"failure\"}")
        );
        let schema = first.json_schema.as_ref().unwrap();
        let words = serde_json::json!(["success", "failure"]);
        assert_eq!(schema["properties"]["answer"]["enum"], words);
        assert!(first.max_tokens >= 64, "room for the object");
    }

    let model = InOrder::new([said(text), said("{\"answer\": \"failure\"}"), said(text)]);
    let sampled = ask(&model).await;
    assert_eq!(
        (sampled.source, sampled.probability),
        (SampleFrequency, 0.5)
    );
    assert!(sampled.passed_over[0].contains("no log-probabilities"));

    let model = InOrder::new([said(text), said("?"), said("?"), said("{\"percent\": 80}")]);
    let stated = ask(&model).await;
    assert_eq!((stated.source, stated.probability), (Verbalised, 0.8));
    let last = model.asked.lock().unwrap()[3].messages[0].content.clone();
    assert!(
        !last.contains("\"answer\""),
        "the other form is not asked for: {last}"
    );

    // What was read, counted and said makes no one population.
    for other in [&sampled, &stated] {
        assert!(one_source([read.source, other.source]).is_err());
    }
}

#[tokio::test]
async fn an_answer_of_several_fields_has_the_mass_of_its_decision() {
    let verdicts = Shape::OneOf(vec!["pass".to_owned(), "fail".to_owned()]);
    let form = Schema::new([("why", Shape::Text, ""), ("verdict", verdicts, "")]);
    let words = Labels::new("pass", "fail").unwrap();
    let ask = async |answer: Completion| {
        let model = InOrder::new([answer]);
        let options = AskOptions {
            samples: 0,
            verbalised: false,
            ..AskOptions::default()
        };
        let read = ask_structured_label(
            &cx(),
            &model,
            &question(),
            &form,
            "verdict",
            &words,
            &options,
        )
        .await;
        assert_eq!(model.asked.lock().unwrap()[0].top_logprobs, Some(20));
        read.unwrap()
    };
    let text = "{\"why\": \"pass?\", \"verdict\": \"fail\"}";
    let verdict = with_top("fail", &[("fail", 0.6_f64.ln()), ("p", 0.3_f64.ln())]);
    let tokens = around(&["{\"why\": \"pass?\", \"verdict\": \""], verdict, &["\"}"]);
    let found = ask(said_with(text, tokens)).await;
    let mass = found.label.unwrap().unwrap();
    assert!((mass.probability().unwrap() - 1.0 / 3.0).abs() < 1e-9);
    // No mass, no matter: the answer stands.
    let found = ask(said(text)).await;
    assert_eq!(found.label, Some(Err(Unreadable::NoLogprobs.to_string())));
    assert_eq!(found.fields["verdict"], "fail");
}
