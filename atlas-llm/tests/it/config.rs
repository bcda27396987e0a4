//! How a model is named.

use atlas_core::{CompletionRequest, ErrorKind, LanguageModel, RunContext};
use atlas_llm::{HttpModel, ModelConfig, Price, Provider, Purse, open_model, open_model_within};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

#[derive(serde::Deserialize)]
struct File {
    models: BTreeMap<String, ModelConfig>,
}

const TABLES: &str = r#"
[models.judge]
provider = "openai"
model = "gpt-x"
price = { input = 0.15, output = 0.6 }
timeout = 60.0
omit = ["temperature"]
extra_body = { reasoning_effort = "low" }
retry = { retries = 1 }

[models.local]
provider = "llama"
base_url = "http://127.0.0.1:8080/v1"
"#;

#[test]
fn a_table_is_found_by_its_name_and_a_text_without_one() {
    let tables = toml::from_str::<File>(TABLES).unwrap().models;
    let judge = ModelConfig::resolve("judge", &tables).unwrap();
    assert_eq!(
        (judge.provider, judge.model.as_str()),
        (Provider::OpenAi, "gpt-x")
    );
    let price = Price {
        input: 0.15,
        output: 0.6,
        cached_input: None,
        batch: None,
    };
    assert_eq!(judge.price, Some(price));
    assert!((judge.retry.total - 900.0).abs() < 1e-9 && judge.retry.retries == 1);
    // A table that is written back is the same table.
    let again: ModelConfig = toml::from_str(&toml::to_string(&judge).unwrap()).unwrap();
    assert_eq!(again, judge);

    let noise = ModelConfig::resolve("noise:3", &tables).unwrap();
    assert_eq!((noise.provider, noise.seed), (Provider::Noise, 3));
    let why = ModelConfig::resolve("critic", &tables).unwrap_err();
    assert!(why.chain().contains("judge, local"), "{}", why.chain());
}

#[test]
fn a_limit_of_nothing_is_refused_with_its_key_and_the_way_out() {
    let table = "[models.m]\nprovider = \"openai\"\n";
    let read = |more: &str| toml::from_str::<File>(&format!("{table}{more}\n"));
    let limits = "requests_per_minute = 500\ntokens_per_minute = 200_000";
    let config = &read(limits).unwrap().models["m"];
    assert_eq!(config.requests_per_minute, Some(500));
    assert_eq!(config.tokens_per_minute, Some(200_000));
    for wrong in [
        "requests_per_minute = 0",
        "tokens_per_minute = -1",
        "requests_per_minute = 5_000_000_000",
    ] {
        let why = read(wrong).map(|_| ()).unwrap_err().to_string();
        let key = wrong.split(' ').next().unwrap();
        for word in [key, "line 3", "without the key there is no limit"] {
            assert!(why.contains(word), "{why}");
        }
    }
}

#[test]
fn headers_are_checked_where_they_are_written() {
    let read = |line: &str| {
        toml::from_str::<File>(&format!(
            "[models.m]\nprovider = \"compatible\"\nheaders = {line}\n"
        ))
    };
    let file = read("{ X-Team = \"hidden\", api-key = \"env:NO_SUCH_KEY\" }").unwrap();
    let config = &file.models["m"];
    let names: Vec<&str> = config.headers.names().collect();
    assert_eq!(names, ["api-key", "x-team"]);
    assert!(!format!("{config:?}").contains("hidden"), "{config:?}");
    assert!(!config.answer_settings().to_string().contains("hidden"));
    for (line, words) in [
        (
            "{ \"x team\" = \"a\" }",
            "`x team`: no header has such a name",
        ),
        (
            "{ Host = \"a\" }",
            "`Host`: Atlas sets it itself; leave it out",
        ),
        (
            "{ api-key = \"1234\" }",
            "`api-key`: its value is a secret; name the environment variable",
        ),
        ("{ X-Auth-Token = \"1234\" }", "as `env:NAME`"),
        ("{ api-key = \"env:\" }", "missing behind `env:`"),
        ("{ x-a = \"a\\n\" }", "no header may hold"),
        ("{ x-a = \"a\", X-A = \"b\" }", "stands twice"),
        ("[\"a\"]", "headers"),
    ] {
        let why = read(line).map(|_| ()).unwrap_err().to_string();
        assert!(why.contains(words) && why.contains("line 3"), "{why}");
    }
}

#[test]
fn every_form_of_a_model_is_read() {
    let read = |text: &str| text.parse::<ModelConfig>().unwrap();
    for (text, provider, model, base) in [
        ("openai:gpt-x", Provider::OpenAi, "gpt-x", None),
        ("anthropic:claude-x", Provider::Anthropic, "claude-x", None),
        ("gemini:gemini-x", Provider::Gemini, "gemini-x", None),
        (
            "http://127.0.0.1:8080/v1#name",
            Provider::Compatible,
            "name",
            Some("http://127.0.0.1:8080/v1"),
        ),
        (
            "https://example.org/v1",
            Provider::Compatible,
            "",
            Some("https://example.org/v1"),
        ),
        (
            "llama:http://127.0.0.1:8080/v1#a/b",
            Provider::Llama,
            "a/b",
            Some("http://127.0.0.1:8080/v1"),
        ),
    ] {
        let config = read(text);
        assert_eq!(
            (config.provider, config.model.as_str()),
            (provider, model),
            "{text}"
        );
        assert_eq!(config.base_url.as_deref(), base);
    }
    assert_eq!(
        read("replay:a:b.jsonl").file.as_deref(),
        Some(Path::new("a:b.jsonl"))
    );
    assert_eq!(read("scripted:s.jsonl").provider, Provider::Scripted);
    for (text, words) in [
        ("gpt-x", "has no `:`"),
        ("openai:", "nothing stands behind"),
        ("noise:x", "no whole number"),
        ("azure:x", "no provider"),
        ("ftp://user:secret@host/#x", "no provider"),
    ] {
        let why = text.parse::<ModelConfig>().unwrap_err();
        assert_eq!(why.kind(), ErrorKind::InvalidInput);
        assert!(why.chain().contains(words), "{}", why.chain());
        assert!(!why.chain().contains("secret"), "{}", why.chain());
    }
}

#[test]
fn what_cannot_be_used_is_refused_when_it_is_opened() {
    let base = "http://127.0.0.1:9/v1";
    let served = |text: &str| text.parse::<ModelConfig>().unwrap();
    let with = |change: &dyn Fn(&mut ModelConfig)| {
        let mut config = served(&format!("{base}#m"));
        change(&mut config);
        config
    };
    let extra = |config: &mut ModelConfig, key: &str| {
        config.extra_body.insert(key.to_owned(), true.into());
    };
    for (config, words) in [
        (
            ModelConfig::new(Provider::Compatible, "m"),
            "needs a `base_url`",
        ),
        (ModelConfig::new(Provider::Replay, ""), "needs a `file`"),
        (
            with(&|config| config.base_url = Some("nowhere".into())),
            "no address",
        ),
        (
            with(&|config| config.base_url = Some("ftp://h/v1".into())),
            "neither http nor https",
        ),
        (
            with(&|config| config.base_url = Some("http://u:hidden@h/v1".into())),
            "a password",
        ),
        (
            with(&|config| config.base_url = Some("http://h/v1?key=hidden".into())),
            "a query",
        ),
        (
            with(&|config| config.base_url = Some("http://h/v1?api-version=1&Sig=hidden".into())),
            "`Sig`",
        ),
        (
            with(&|config| config.key_env = Some("NO_SUCH_KEY".into())),
            "`NO_SUCH_KEY`",
        ),
        (
            with(&|config| {
                let headers = [("api-key".to_owned(), "env:NO_SUCH_HEADER".to_owned())];
                config.headers = BTreeMap::from(headers).try_into().unwrap();
            }),
            "`NO_SUCH_HEADER`",
        ),
        (with(&|config| config.timeout = -1.0), "`timeout`"),
        (
            with(&|config| config.ca_file = Some("no/such.pem".into())),
            "no/such.pem",
        ),
        (with(&|config| extra(config, "messages")), "`messages`"),
        (
            // Anthropic ignores it without a word.
            with(&|config| {
                config.provider = Provider::Anthropic;
                extra(config, "logprobs");
            }),
            "`logprobs`",
        ),
        (
            with(&|config| {
                config.provider = Provider::Gemini;
                config.model.clear();
            }),
            "`model` is missing",
        ),
    ] {
        let why = open_model(&config).unwrap_err();
        assert!(why.chain().contains(words), "{}", why.chain());
        assert!(!why.chain().contains("hidden"), "{}", why.chain());
    }
    let purse = Arc::new(Purse::new("money=1".parse().unwrap()));
    let why = open_model_within(&served(&format!("{base}#m")), &purse).unwrap_err();
    assert!(why.chain().contains("`price`"), "{}", why.chain());
    assert_eq!(
        HttpModel::open(&served("noise:1")).unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
}

#[tokio::test]
async fn a_recorded_model_is_replayed_by_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("exchanges.jsonl");
    let recording = ModelConfig {
        record: Some(path.clone()),
        ..ModelConfig::new(Provider::Noise, "")
    };
    let request = CompletionRequest {
        top_logprobs: Some(3),
        ..crate::support::request("Answer `yes` or `no`.")
    };
    let cx = RunContext::new("test");
    let said = open_model(&recording)
        .unwrap()
        .complete(&cx, &request)
        .await
        .unwrap();
    let model = open_model(&format!("replay:{}", path.display())).unwrap();
    assert_eq!(model.name(), "noise:0");
    assert_eq!(model.complete(&cx, &request).await.unwrap(), said);
}
