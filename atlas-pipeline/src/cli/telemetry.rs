//! Who hears what happens: the log on standard error, and with the feature `otel` a collector of spans.

use atlas_core::Error;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _};

/// What listens as long as it lives.
#[derive(Debug)]
pub(super) struct Telemetry {
    #[cfg(feature = "otel")]
    _spans: Option<spans::Collector>,
}

/// Listens: to what `ATLAS_LOG` says or the level, and for the collector that `OTEL_EXPORTER_OTLP_ENDPOINT` names.
///
/// # Errors
/// An address that is none.
#[cfg_attr(
    not(feature = "otel"),
    expect(clippy::unnecessary_wraps, reason = "only a collector can be wrong")
)]
pub(super) fn listen(level: &str) -> Result<Telemetry, Error> {
    let filter = EnvFilter::try_from_env("ATLAS_LOG").unwrap_or_else(|_| EnvFilter::new(level));
    let log = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
        .without_time()
        .with_filter(filter);
    let listeners = tracing_subscriber::registry().with(log);
    #[cfg(feature = "otel")]
    {
        let spans = spans::Collector::open()?;
        let layer = spans.as_ref().map(spans::Collector::layer);
        listeners.with(layer).init();
        Ok(Telemetry { _spans: spans })
    }
    #[cfg(not(feature = "otel"))]
    {
        listeners.init();
        Ok(Telemetry {})
    }
}

#[cfg(feature = "otel")]
mod spans {
    use async_trait::async_trait;
    use atlas_core::{Error, ErrorKind};
    use opentelemetry::trace::TracerProvider as _;
    use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
    use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _};
    use opentelemetry_sdk::Resource;
    use opentelemetry_sdk::trace::SdkTracerProvider;
    use std::time::Duration;
    use tokio::runtime::Runtime;
    use tracing::level_filters::LevelFilter;
    use tracing_subscriber::Layer;
    use tracing_subscriber::filter::Targets;
    use tracing_subscriber::registry::LookupSpan;

    /// The standard variables that name a collector; without one of them nothing is sent.
    const ENDPOINTS: [&str; 2] = [
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    ];

    /// How long one request may take, as the standard has it by default.
    const REQUEST: Duration = Duration::from_secs(10);

    /// How long the end of a command waits for a collector.
    const LAST_WAIT: Duration = Duration::from_secs(5);

    /// A collector of OpenTelemetry, spoken to over HTTP.
    #[derive(Debug)]
    pub(super) struct Collector {
        provider: SdkTracerProvider,
    }

    impl Collector {
        pub(super) fn open() -> Result<Option<Self>, Error> {
            let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
            if !ENDPOINTS.into_iter().any(is_set) {
                return Ok(None);
            }
            let exporter = SpanExporter::builder()
                .with_http()
                .with_protocol(Protocol::HttpBinary)
                .with_http_client(Sender::new()?)
                .build()
                .map_err(wrong)?;
            let mut about = Resource::builder();
            if !is_set("OTEL_SERVICE_NAME") {
                about = about.with_service_name("atlas");
            }
            let provider = SdkTracerProvider::builder()
                .with_batch_exporter(exporter)
                .with_resource(about.build())
                .build();
            Ok(Some(Self { provider }))
        }

        /// Hears Atlas's own spans, whatever the log is told to show.
        pub(super) fn layer<S>(&self) -> impl Layer<S> + use<S>
        where
            S: tracing::Subscriber + for<'s> LookupSpan<'s>,
        {
            let own = Targets::new().with_target("atlas", LevelFilter::INFO);
            tracing_opentelemetry::layer()
                .with_tracer(self.provider.tracer("atlas"))
                .with_filter(own)
        }
    }

    impl Drop for Collector {
        fn drop(&mut self) {
            if let Err(why) = self.provider.shutdown_with_timeout(LAST_WAIT) {
                tracing::warn!(cause = %why, "the last spans were not sent");
            }
        }
    }

    fn wrong(why: impl std::error::Error + Send + Sync + 'static) -> Error {
        let names = ENDPOINTS.join("` or `");
        Error::new(
            ErrorKind::InvalidInput,
            "open the collector that is named by",
            format!("`{names}`"),
        )
        .with_source(why)
    }

    /// Sends in a runtime of its own: the exporter's thread has none.
    #[derive(Debug)]
    struct Sender {
        client: reqwest::Client,
        runtime: Runtime,
    }

    impl Sender {
        fn new() -> Result<Self, Error> {
            // Refused if the program has chosen one before, which is as good.
            let _chosen = rustls::crypto::ring::default_provider().install_default();
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(1)
                .thread_name("spans")
                .enable_all()
                .build()
                .map_err(wrong)?;
            let client = reqwest::Client::builder().timeout(REQUEST).build();
            let client = client.map_err(wrong)?;
            Ok(Self { client, runtime })
        }
    }

    #[async_trait]
    impl HttpClient for Sender {
        async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
            let request = reqwest::Request::try_from(request)?;
            let client = self.client.clone();
            let sent = self.runtime.spawn(async move {
                let answer = client.execute(request).await?;
                let status = answer.status();
                answer.bytes().await.map(|body| (status, body))
            });
            let (status, body) = sent.await??;
            Ok(Response::builder().status(status).body(body)?)
        }
    }
}
