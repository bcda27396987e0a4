//! What models cost, and what is unknown.

use crate::support::{request, served};
use atlas_core::{ErrorKind, LanguageModel, RunContext};
use atlas_llm::{Limits, ModelConfig, Price, PriceTable, Purse, open_embedder, open_model_within};
use serde_json::{Value, json};
use std::sync::Arc;
use wiremock::matchers::method;
use wiremock::{Mock, MockServer, ResponseTemplate};

fn entry(more: &Value) -> Value {
    let mut entry = json!({
        "model": "m*", "input": 1.0, "output": 2.0, "currency": "USD", "as_of": "2026-11-01",
    });
    for (key, value) in more.as_object().unwrap() {
        entry[key] = value.clone();
    }
    entry
}

fn table(models: &[Value]) -> String {
    json!({"schema_version": 1, "models": models}).to_string()
}

#[test]
fn the_shipped_table_knows_models_at_their_own_address() {
    let table = PriceTable::builtin();
    let find = |text: &str| table.find(&text.parse::<ModelConfig>().unwrap()).cloned();
    let mini = find("openai:gpt-5-mini").unwrap();
    assert_eq!(
        (mini.as_of.as_str(), mini.context_window),
        ("2025-08", Some(400_000))
    );
    assert!(find("openai:gpt-4o-mini").unwrap().input < find("openai:gpt-4o").unwrap().input);
    let haiku = find("anthropic:claude-haiku-4-5-20251001").unwrap();
    assert_eq!(haiku.currency, "USD");
    for unknown in [
        "openai:gpt-5-pro",
        "openai:gpt-4o-audio-preview",
        "anthropic:gpt-4o",
        "noise:1",
    ] {
        assert_eq!(find(unknown), None, "{unknown}");
    }
    let mut config: ModelConfig = "openai:gpt-4o".parse().unwrap();
    config.base_url = Some("https://api.openai.com/v1/".to_owned());
    assert!(table.find(&config).is_some());
    config.base_url = Some("https://gateway.example/v1".to_owned());
    assert!(table.find(&config).is_none());
}

#[test]
fn what_a_model_s_own_table_says_goes_before() {
    let text = table(&[
        entry(&json!({"model": "*-small-?", "input": 9.0})),
        entry(&json!({"model": "m*l", "cached_input": 0.1, "context_window": 4096})),
        entry(&json!({})),
    ]);
    let table = PriceTable::parse(&text, "p.json").unwrap();
    let filled = table.fill(served("http://127.0.0.1:9/v1"));
    assert_eq!(filled.price.unwrap().cached_input, None);
    let mut config = served("http://127.0.0.1:9/v1");
    config.model = "m-small".to_owned();
    let filled = table.fill(config.clone());
    assert_eq!(filled.price.unwrap().cached_input, Some(0.1));
    assert_eq!(filled.context_window, Some(4096));
    let own = Price {
        input: 7.0,
        output: 8.0,
        cached_input: None,
        batch: None,
    };
    config.price = Some(own);
    config.context_window = Some(10);
    assert_eq!(table.fill(config.clone()), config);
}

#[test]
fn a_table_that_cannot_be_right_is_refused_with_file_and_key() {
    for (text, words) in [
        ("{", "line 1"),
        (
            r#"{"schema_version": 2, "models": []}"#,
            "`schema_version` is 2",
        ),
        (
            &table(&[entry(&json!({"input": -1.0}))]),
            "`models[0]`, `m*`: `input`",
        ),
        (
            &table(&[entry(&json!({"as_of": "yesterday"}))]),
            "`as_of`: a date expected",
        ),
        (&table(&[entry(&json!({"as_of": "2026-13"}))]), "`as_of`"),
        (
            &table(&[entry(&json!({})), entry(&json!({"currency": "EUR"}))]),
            "`models[1]`",
        ),
        (&table(&[entry(&json!({"model": ""}))]), "`model`"),
        (&table(&[entry(&json!({"prise": 1.0}))]), "prise"),
    ] {
        let why = PriceTable::parse(text, "own/prices.json").unwrap_err();
        assert_eq!(why.kind(), ErrorKind::InvalidInput);
        let chain = why.chain();
        assert!(
            chain.contains(words) && chain.contains("own/prices.json"),
            "{chain}"
        );
    }
}

async fn spent(body: Value, price: Option<Price>) -> atlas_llm::Ledger {
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .respond_with(ResponseTemplate::new(200).set_body_json(body))
        .mount(&server)
        .await;
    let purse = Arc::new(Purse::new(Limits::none()));
    let config = ModelConfig {
        price,
        ..served(&format!("{}/v1", server.uri()))
    };
    let model = open_model_within(&config, &purse).unwrap();
    model
        .complete(&RunContext::new("test"), &request("hello"))
        .await
        .unwrap();
    purse.ledger()
}

#[tokio::test]
async fn cached_tokens_cost_what_they_cost_and_unknown_prices_are_no_zero() {
    let mut body = crate::support::answer("fine", 1000, 100);
    body["usage"]["prompt_tokens_details"] = json!({"cached_tokens": 600});
    body["usage"]["completion_tokens_details"] = json!({"reasoning_tokens": 70});
    let price = |cached_input| {
        Some(Price {
            input: 10.0,
            output: 20.0,
            cached_input,
            batch: None,
        })
    };
    let near = |ledger: &atlas_llm::Ledger, money: f64| {
        assert!(
            (ledger.money().unwrap() - money).abs() < 1e-12,
            "{ledger:?}"
        );
    };
    let ledger = spent(body.clone(), price(Some(1.0))).await;
    assert_eq!(ledger.models["m"].cached_tokens, 600);
    assert_eq!(ledger.models["m"].reasoning_tokens, 70);
    near(&ledger, (400.0 * 10.0 + 600.0 + 100.0 * 20.0) / 1e6);
    near(
        &spent(body.clone(), price(None)).await,
        (1000.0 * 10.0 + 100.0 * 20.0) / 1e6,
    );
    let unknown = spent(body, None).await;
    assert_eq!(unknown.money(), None);
    assert_eq!(unknown.tokens(), 1100);
    // Ledgers of earlier versions are read.
    let account: atlas_llm::Account = serde_json::from_value(json!({
        "calls": 1, "failed_calls": 0, "prompt_tokens": 5, "completion_tokens": 1, "unreported_calls": 0,
        "estimated_prompt_tokens": 0, "estimated_completion_tokens": 0, "price": {"input": 1.0, "output": 0.0},
    }))
    .unwrap();
    assert_eq!((account.cached_tokens, account.money()), (0, Some(5e-6)));
}

#[test]
fn a_budget_in_money_needs_a_price_that_somebody_knows() {
    let purse = Arc::new(Purse::new("money=1".parse().unwrap()));
    let config: ModelConfig = "http://127.0.0.1:9/v1#m".parse().unwrap();
    assert!(open_model_within(&config, &purse).is_err());
    let text = table(&[entry(&json!({}))]);
    let config = PriceTable::parse(&text, "p.json").unwrap().fill(config);
    assert!(open_model_within(&config, &purse).is_ok());
    assert!(open_embedder(&config, &purse).is_ok());
}
