//! Requests in, answers out.

use crate::Secret;
use crate::pending::Outcome;
use crate::refusal::Refusal;
use crate::server::Episodes;
use crate::wire::{NamedRequest, ResetRequest, StepRequest};
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, FromRequest, Json, Path, Request, State};
use axum::http::header::{AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, HOST};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Router, middleware};
use serde::de::DeserializeOwned;
use std::net::IpAddr;

/// Bytes of a request's body: a command may hold a file's text.
const BODY: usize = 4 << 20;

/// The routes. `is_local`: only requests that name this machine as their host are answered, so that no page of a
/// stranger reaches the server through a name of its own.
pub(crate) fn routes(episodes: Episodes, is_local: bool) -> Router {
    let mut routes = Router::new()
        .route("/health", get(health))
        .route("/metrics", get(metrics))
        .route("/instances", get(instances))
        .route("/episodes", post(reset))
        .route("/episodes/{episode}", get(state).delete(end))
        .route("/episodes/{episode}/step", post(step))
        .route("/episodes/{episode}/submit", post(submit))
        .route("/episodes/{episode}/fork", post(fork))
        .fallback(no_path)
        .method_not_allowed_fallback(no_method)
        .layer(DefaultBodyLimit::max(BODY));
    if is_local {
        routes = routes.layer(middleware::from_fn(only_this_machine));
    }
    routes
        .layer(from_fn_with_state(episodes.clone(), count))
        .with_state(episodes)
}

/// A body of JSON; what is wrong with one is told as JSON.
struct JsonBody<T>(T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for JsonBody<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, state: &S) -> Result<Self, Refusal> {
        match Json::<T>::from_request(request, state).await {
            Ok(Json(asked)) => Ok(Self(asked)),
            Err(why) => Err(Refusal::new(why.status(), "invalid_input", why.body_text())),
        }
    }
}

/// As [`JsonBody`]; without a type of content there is no body, and all is default.
struct MayAsk<T>(T);

impl<S: Send + Sync, T: DeserializeOwned + Default> FromRequest<S> for MayAsk<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, state: &S) -> Result<Self, Refusal> {
        if request.headers().contains_key(CONTENT_TYPE) {
            let JsonBody(asked) = JsonBody::from_request(request, state).await?;
            return Ok(Self(asked));
        }
        Ok(Self(T::default()))
    }
}

fn bearer(headers: &HeaderMap) -> &str {
    let value = headers.get(AUTHORIZATION).and_then(|it| it.to_str().ok());
    value
        .and_then(|value| value.strip_prefix("Bearer "))
        .unwrap_or_default()
}

/// Lets through whoever may begin episodes.
fn may_begin(episodes: &Episodes, headers: &HeaderMap) -> Result<(), Refusal> {
    let wanted: Option<&Secret> = episodes.options().bearer.as_ref();
    match wanted {
        Some(wanted) if !episodes.keys().is_same(wanted, bearer(headers)) => {
            Err(Refusal::no_bearer())
        }
        _ => Ok(()),
    }
}

/// Lets through whoever has the episode's token. Whether there is such an episode is not looked at before.
fn may_use(episodes: &Episodes, episode: &str, headers: &HeaderMap) -> Result<(), Refusal> {
    if episodes.keys().is_token(episode, bearer(headers)) {
        Ok(())
    } else {
        Err(Refusal::unknown())
    }
}

fn answered(outcome: Outcome) -> Result<Response, Refusal> {
    let mut response = Response::new(Body::from(outcome?));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

type Answer = Result<Response, Refusal>;

async fn reset(
    State(episodes): State<Episodes>,
    headers: HeaderMap,
    JsonBody(request): JsonBody<ResetRequest>,
) -> Answer {
    may_begin(&episodes, &headers)?;
    answered(episodes.reset(request).await)
}

async fn step(
    State(episodes): State<Episodes>,
    Path(episode): Path<String>,
    headers: HeaderMap,
    JsonBody(request): JsonBody<StepRequest>,
) -> Answer {
    may_use(&episodes, &episode, &headers)?;
    answered(episodes.step(&episode, request).await)
}

async fn submit(
    State(episodes): State<Episodes>,
    Path(episode): Path<String>,
    headers: HeaderMap,
    MayAsk(NamedRequest { request_id: _ }): MayAsk<NamedRequest>,
) -> Answer {
    may_use(&episodes, &episode, &headers)?;
    answered(episodes.submit(&episode).await)
}

async fn fork(
    State(episodes): State<Episodes>,
    Path(episode): Path<String>,
    headers: HeaderMap,
    MayAsk(request): MayAsk<NamedRequest>,
) -> Answer {
    may_use(&episodes, &episode, &headers)?;
    answered(episodes.fork(&episode, request).await)
}

async fn state(
    State(episodes): State<Episodes>,
    Path(episode): Path<String>,
    headers: HeaderMap,
) -> Answer {
    may_use(&episodes, &episode, &headers)?;
    answered(episodes.state(&episode).await)
}

async fn end(
    State(episodes): State<Episodes>,
    Path(episode): Path<String>,
    headers: HeaderMap,
) -> Answer {
    may_use(&episodes, &episode, &headers)?;
    answered(episodes.end(&episode).await)
}

async fn instances(State(episodes): State<Episodes>, headers: HeaderMap) -> Answer {
    may_begin(&episodes, &headers)?;
    Ok(Json(serde_json::json!({ "instances": episodes.instances() })).into_response())
}

async fn health(State(episodes): State<Episodes>) -> Response {
    if episodes.is_stopping() {
        return Refusal::stopping().into_response();
    }
    Json(serde_json::json!({ "status": "ok" })).into_response()
}

async fn metrics(State(episodes): State<Episodes>) -> Response {
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(CONTENT_TYPE, kind)], episodes.metrics().text()).into_response()
}

async fn no_path(uri: Uri) -> Refusal {
    let said = format!(
        "there is no `{}`: POST /episodes begins one, GET /instances lists what in",
        uri.path()
    );
    Refusal::new(StatusCode::NOT_FOUND, "unknown_path", said)
}

async fn no_method() -> Refusal {
    let said = "this path takes another method";
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "unknown_method", said)
}

async fn only_this_machine(request: Request, next: Next) -> Response {
    let host = request.headers().get(HOST).and_then(|it| it.to_str().ok());
    if is_this_machine(host.unwrap_or_default()) {
        return next.run(request).await;
    }
    let said = "only this machine is answered, by its own name";
    Refusal::new(StatusCode::FORBIDDEN, "foreign_host", said).into_response()
}

fn is_this_machine(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let name = name.trim_start_matches('[').trim_end_matches(']');
    name == "localhost" || name.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

/// Counts what was turned away.
async fn count(State(episodes): State<Episodes>, request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    if let Some(kind) = response.extensions().get::<crate::refusal::Kind>() {
        episodes.metrics().refused(kind.0);
    }
    response
}
