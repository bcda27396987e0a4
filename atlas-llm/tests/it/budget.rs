//! Limits that hold when calls run side by side.

use crate::support::{answer, request, served};
use atlas_core::{
    Completion, CompletionRequest, Error, ErrorKind, LanguageModel, RunContext, Usage,
};
use atlas_llm::{
    Budget, BudgetExceeded, Exchanges, Ledger, Limits, ModelConfig, Noise, Price, Purse,
    open_model_within,
};
use std::error::Error as _;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wiremock::matchers::method;
use wiremock::{Mock, MockServer, ResponseTemplate};

const PRICE: Price = Price {
    input: 0.5,
    output: 2.0,
    cached_input: None,
    batch: None,
};

/// Forty calls side by side of a model that reads 100 tokens and writes 20 for each; how many were
/// answered, refused and sent.
async fn rush(limits: Limits) -> (usize, usize, usize, Ledger) {
    let server = MockServer::start().await;
    let response = ResponseTemplate::new(200)
        .set_body_json(answer("fine", 100, 20))
        .set_delay(Duration::from_millis(20));
    Mock::given(method("POST"))
        .respond_with(response)
        .mount(&server)
        .await;
    let purse = Arc::new(Purse::new(limits));
    let config = ModelConfig {
        price: Some(PRICE),
        ..served(&format!("{}/v1", server.uri()))
    };
    let model = open_model_within(&config, &purse).unwrap();
    let calls: Vec<_> = (0..40)
        .map(|at| {
            let model = Arc::clone(&model);
            let cx = RunContext::new("test");
            tokio::spawn(
                async move { model.complete(&cx, &request(&format!("number {at}"))).await },
            )
        })
        .collect();
    let (mut answered, mut refused) = (0, 0);
    for call in calls {
        match call.await.unwrap() {
            Ok(_) => answered += 1,
            Err(why) => {
                assert_eq!(why.kind(), ErrorKind::BudgetExceeded, "{}", why.chain());
                let limit = why
                    .source()
                    .unwrap()
                    .downcast_ref::<BudgetExceeded>()
                    .unwrap();
                assert!(limit.spent + limit.needed > limit.limit, "{limit}");
                refused += 1;
            }
        }
    }
    let sent = server.received_requests().await.unwrap().len();
    (answered, refused, sent, purse.ledger())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn calls_side_by_side_cannot_overdraw() {
    for limits in [
        Limits {
            calls: Some(9),
            ..Limits::none()
        },
        Limits {
            tokens: Some(1100),
            ..Limits::none()
        },
        // 90 millionths a call.
        Limits {
            money: Some(0.000_9),
            ..Limits::none()
        },
    ] {
        let (answered, refused, sent, ledger) = rush(limits).await;
        assert_eq!(answered, if limits.money.is_some() { 10 } else { 9 });
        assert_eq!((answered + refused, sent), (40, answered));
        let count = u64::try_from(answered).unwrap();
        assert_eq!(ledger.calls(), count);
        let usage = Usage {
            prompt_tokens: 100 * count,
            completion_tokens: 20 * count,
            ..Usage::default()
        };
        assert_eq!(ledger.usage(), usage);
        assert_eq!(ledger.tokens(), 120 * count);
        let money = f64::from(u32::try_from(count).unwrap()) * 90e-6;
        assert!((ledger.money().unwrap() - money).abs() < 1e-12);
        assert!(
            limits
                .money
                .is_none_or(|most| ledger.money().unwrap() <= most + 1e-12)
        );
    }
}

#[tokio::test]
async fn a_time_limit_cuts_off_what_is_under_way() {
    let server = MockServer::start().await;
    let slow = ResponseTemplate::new(200)
        .set_body_json(answer("fine", 1, 1))
        .set_delay(Duration::from_secs(30));
    Mock::given(method("POST"))
        .respond_with(slow)
        .mount(&server)
        .await;
    let purse = Arc::new(Purse::new("time=0.4s".parse().unwrap()));
    let model = open_model_within(&served(&format!("{}/v1", server.uri())), &purse).unwrap();
    let started = Instant::now();
    for _ in 0..2 {
        let why = model
            .complete(&RunContext::new("test"), &request("hello"))
            .await
            .unwrap_err();
        assert_eq!(why.kind(), ErrorKind::BudgetExceeded);
        assert!(why.chain().contains("seconds"), "{}", why.chain());
    }
    assert!(started.elapsed() < Duration::from_secs(25));
    // The first was sent and its answer lost, the second was never sent.
    let account = purse.ledger().models["m"];
    assert_eq!((account.calls, account.unreported_calls), (1, 1));
}

#[tokio::test]
async fn a_call_that_is_dropped_gives_back_what_it_held() {
    let server = MockServer::start().await;
    let slow = ResponseTemplate::new(200)
        .set_body_json(answer("fine", 3, 2))
        .set_delay(Duration::from_millis(300));
    Mock::given(method("POST"))
        .respond_with(slow)
        .mount(&server)
        .await;
    let purse = Arc::new(Purse::new("tokens=60".parse().unwrap()));
    let model = open_model_within(&served(&format!("{}/v1", server.uri())), &purse).unwrap();
    let cx = RunContext::new("test");
    let question = request("hello");
    let dropped = tokio::time::timeout(Duration::from_millis(50), model.complete(&cx, &question));
    assert!(dropped.await.is_err());
    // It counts at its estimate, so that it cannot be a way around the limit.
    let estimated = purse.ledger().tokens();
    assert!((10..30).contains(&estimated), "{estimated}");
    model.complete(&cx, &question).await.unwrap();
    assert_eq!(purse.ledger().tokens(), estimated + 5);
}

/// Processes of one run share its total, and those of another run that keeps its exchanges in the same file do not.
#[tokio::test]
async fn a_total_goes_on_where_an_earlier_process_ended() {
    let cx = RunContext::new("test");
    let folder = tempfile::tempdir().unwrap();
    let exchanges = Arc::new(Exchanges::open(&folder.path().join("x")).unwrap());
    let purse = |run: &str, limits: &str, total: &str| {
        let (limits, total) = (limits.parse().unwrap(), total.parse().unwrap());
        Arc::new(Purse::of_run(limits, total, Arc::clone(&exchanges), run).unwrap())
    };
    let first = purse("a", "calls=5", "calls=3");
    let model = Budget::sharing(Noise::new(1), Arc::clone(&first), PRICE);
    model.complete(&cx, &request("one?")).await.unwrap();
    model.complete(&cx, &request("two?")).await.unwrap();
    let text = serde_json::to_string(&first.ledger()).unwrap();
    let ledger: Ledger = serde_json::from_str(&text).unwrap();
    assert_eq!(ledger, first.ledger());
    assert_eq!(exchanges.paid("a").unwrap(), ledger);

    let second = purse("a", "calls=5", "calls=3");
    assert_eq!(second.spent_before(), ledger);
    assert_eq!(second.ledger(), Ledger::default());
    // Two models share it.
    let one = Budget::sharing(Noise::new(1), Arc::clone(&second), PRICE);
    let other = Budget::sharing(Noise::new(2), Arc::clone(&second), PRICE);
    other.complete(&cx, &request("three?")).await.unwrap();
    let why = one.complete(&cx, &request("four?")).await.unwrap_err();
    assert_eq!(why.kind(), ErrorKind::BudgetExceeded);
    let told = why.chain();
    assert!(
        told.contains("3 of 3 calls spent by all runs together"),
        "{told}"
    );
    assert!(told.contains("raise the total budget"), "{told}");
    let paid = exchanges.paid("a").unwrap();
    assert_eq!(
        (paid.models["noise:1"].calls, paid.models["noise:2"].calls),
        (2, 1)
    );
    assert_eq!(
        paid.money(),
        Some(ledger.money().unwrap() + second.ledger().money().unwrap())
    );

    // Tokens and money of all processes together, and another run.
    let spent = paid.tokens();
    for total in [
        format!("tokens={}", spent + 5),
        format!("money={}", paid.money().unwrap()),
    ] {
        let third = Budget::sharing(Noise::new(1), purse("a", "calls=9", &total), PRICE);
        let why = third.complete(&cx, &request("five?")).await.unwrap_err();
        assert_eq!(why.kind(), ErrorKind::BudgetExceeded, "{total}");
    }
    let elsewhere = Budget::sharing(Noise::new(1), purse("b", "calls=9", "calls=1"), PRICE);
    elsewhere.complete(&cx, &request("one?")).await.unwrap();

    // A process that is killed takes nothing back: its call is noted before it is made.
    let killed = Budget::sharing(Never, purse("c", "calls=9", "calls=9"), PRICE);
    let question = request("one?");
    let call = killed.complete(&cx, &question);
    tokio::pin!(call);
    assert!(
        tokio::time::timeout(Duration::from_millis(50), &mut call)
            .await
            .is_err()
    );
    let noted = exchanges.paid("c").unwrap().models["never"];
    assert_eq!(
        (noted.calls, noted.unreported_calls, noted.tokens() >= 10),
        (1, 1, true)
    );

    let time = Purse::of_run(Limits::none(), "time=1h".parse().unwrap(), exchanges, "a");
    assert!(
        time.unwrap_err()
            .chain()
            .contains("time is limited for each run")
    );
}

/// A model that never answers.
#[derive(Debug)]
struct Never;

#[async_trait::async_trait]
impl LanguageModel for Never {
    fn name(&self) -> &'static str {
        "never"
    }

    async fn complete(&self, _: &RunContext, _: &CompletionRequest) -> Result<Completion, Error> {
        std::future::pending().await
    }
}

#[test]
fn a_budget_in_words_says_what_it_does_not_understand() {
    let limits: Limits = "calls=10, tokens=1.5M,money=2.50,time=2h".parse().unwrap();
    let expected = Limits {
        calls: Some(10),
        tokens: Some(1_500_000),
        money: Some(2.5),
        seconds: Some(7200.0),
    };
    assert_eq!(limits, expected);
    for (text, words) in [
        ("", "has no `=`"),
        ("calls", "has no `=`"),
        ("calls=-1", "`-1` is no amount of calls"),
        ("tokens=1,tokens=2", "stands twice"),
        ("cost=1", "no limit on `cost`"),
        ("time=1d", "`1d` is no amount of time"),
        ("money=nan", "`nan` is no amount of money"),
    ] {
        let why = text.parse::<Limits>().unwrap_err();
        assert_eq!(why.kind(), ErrorKind::InvalidInput);
        assert!(why.chain().contains(words), "{}", why.chain());
    }
}
